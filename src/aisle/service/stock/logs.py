"""Entries of the store product log: collected during an operation, numbered and stored together."""

from __future__ import annotations

from typing import Any

from aisle.service.amounts import number
from aisle.service.encode import compact, fragment, joined, loaded, member, quoted
from aisle.service.sql import logs as sql
from aisle.service.states import NOTHING, TO_REVIEW
from aisle.service.stock.book import NO_PLACE, Place, Product
from aisle.service.stock.bookkeeping import bookkeeping, tag_of
from aisle.service.stock.ledger import Ledger
from aisle.service.stock.line import OrderLine
from aisle.service.stock.recount import Counted
from aisle.tuples import NamedTuple

IN_HAND = "in_hand"
"""Source of the entry, at no place, for goods that a pick takes into the hand or that leave it."""
FINISH = "finish"
"""Source of the entries for held goods that leave the store with a finished order."""
LATE = "late"
"""Source of the entry that undoes a late message at a place that was counted since."""


class Entry(NamedTuple):
    """One log entry; quantities in thousandths. `extra` holds further documented fields as they go out."""

    product: Product
    source: str
    quantity: int | None = None
    place: Place | None = None
    pool: int | None = None
    line: OrderLine | None = None
    reference: str | None = None
    reason_code: int | None = None
    reason: str | None = None
    app_user: str | None = None
    flagged: bool = False
    extra: dict[str, Any] | None = None
    data: dict[str, Any] | None = None


class LogWriter:
    """The log of one operation in one store. A reason that an entry only names by its code is called what it was called
    last."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.ctx = ledger.ctx
        self.store = ledger.book.store
        self.counts: list[Counted] = []
        """The free counts among the entries, for `close_recounts`."""
        self._entries: list[tuple[Entry, str]] = []
        """With the moment of each."""
        self._named: list[int] = []
        """Positions of the entries that a caller added; those for absorbed legs are not among them."""

    def note_count(self, product: Product, place: Place | None) -> None:
        """The entry that comes next is a free count."""
        code = place.code if place else NO_PLACE
        self.counts.append(Counted(len(self._named), product.number, code, self.ledger.occurred_on))

    def add(self, entry: Entry) -> None:
        """Take an entry down, with the time at which the ledger says that it happened."""
        self._named.append(len(self._entries))
        self._entries.append((entry, self.ledger.occurred_on))

    def complete(self, nth: int, extra: dict[str, Any]) -> None:
        """Further documented fields of the entry that was added as this one."""
        at = self._named[nth]
        entry, when = self._entries[at]
        self._entries[at] = entry._replace(extra={**(entry.extra or {}), **extra}), when

    async def settle(self) -> None:
        """Close an entry of the operation in the ledger, and add an entry for each place where late messages were
        absorbed."""
        await self.ledger.settle()
        book = self.ledger.book
        for (number_, code, pool), quantity in self.ledger.take_absorbed().items():
            product = await book.product(number_, "product_number")
            place = await book.known_place(code) if code else None
            self._entries.append((Entry(product, LATE, quantity, place, pool), self.ledger.occurred_on))

    async def store_all(self) -> list[int]:
        """Number the entries, which are stored when the operation ends. Return the ids of those that were added."""
        await self.settle()
        if not self._entries:
            return []
        reasons = await self._reasons()
        seq = await self.ctx.take(self.store.number, "log", len(self._entries))
        rows = [
            self._row(seq + n, entry, reason, moved_on)
            for n, ((entry, moved_on), reason) in enumerate(zip(self._entries, reasons, strict=True))
        ]
        self.ctx.later(sql.LOG_ADD, rows)
        ids = [self.store.wire_id(seq + n) for n in self._named]
        self._entries.clear()
        self._named.clear()
        return ids

    async def _reasons(self) -> list[str | None]:
        """What each entry calls its reason: as it says, else as the entry before it that named this code."""
        called: dict[int, str | None] = {}
        found = []
        for entry, _ in self._entries:
            reason, code = entry.reason, entry.reason_code
            if code is not None:
                if not reason and code not in called:
                    row = await self.ctx.tx.one(sql.LOG_REASON, self.store.number, code)
                    called[code] = loaded(row[0])["reason_code_description"] if row else None
                reason = called[code] = reason or called[code]
            found.append(reason or None)
        return found

    def _row(self, seq: int, entry: Entry, reason: str | None, moved_on: str) -> tuple[object, ...]:
        """A row of `stock_log`, in the order of `LOG_ADD`."""
        return (
            self.store.number,
            seq,
            self.store.ordinal,
            self.ctx.op_id,
            entry.product.number,
            entry.reference or "",
            entry.reason_code,
            TO_REVIEW if entry.flagged else NOTHING,
            self.ctx.now,
            self.ctx.now,
            self._item(entry, reason, moved_on),
            compact(entry.data) if entry.data else "{}",
        )

    def _reference_id(self, entry: Entry) -> str:
        """The id of the order line, where the reference is its order."""
        line = entry.line
        return f'"reference_id":{self.store.wire_id(line.seq)}' if line and entry.reference == line.order_number else ""

    def _item(self, entry: Entry, reason: str | None, moved_on: str) -> str:
        """The entry as JSON text, as it goes out."""
        line, place, extra = entry.line, entry.place, entry.extra or {}
        return joined(
            (
                f'"product_number":{quoted(entry.product.number)},"store_number":{quoted(self.store.number)}',
                member("app_user_name", entry.app_user or self.ctx.app_user),
                member("barcode", entry.product.barcode or None),
                f'"created_on":"{self.ctx.now}"',
                f'"customer_order_number":{quoted(line.order_number)},"customer_order_line_number":{line.line_number}'
                if line
                else "",
                f'"location":{self.store.wire_id(place.seq)},{member("location_code", place.code)}' if place else "",
                tag_of(place) if place else "",
                f'"moved_on":"{moved_on}"',
                "" if entry.quantity is None else f'"quantity":{number(entry.quantity)}',
                "" if entry.reason_code is None else f'"reason_code":{entry.reason_code}',
                member("reason_code_description", reason),
                member("reference", entry.reference),
                self._reference_id(entry) if "reference_id" not in extra else "",
                *bookkeeping(entry.product, entry.quantity, extra),
                member("source", entry.source),
                "" if entry.pool is None else f'"stock_pool":"{entry.pool}"',
                fragment(compact(extra)) if extra else "",
            )
        )
