"""Entries of the log, with prices and accounts at their time (README: Fields), and of the audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from aisle.service.db.database_interface import Transaction
from aisle.service.db.statements import logs_and_changes as sql
from aisle.service.domain.ledger import Ledger
from aisle.service.domain.order_line import OrderLine
from aisle.service.domain.quantities_times_and_json import (
    format_quantity,
    join_members,
    object_members,
    quoted,
    text_member,
    to_json,
)
from aisle.service.domain.read_products_and_locations import NO_LOCATION, Location, Product
from aisle.service.domain.states import NOTHING_TO_REVIEW, TO_REVIEW
from aisle.service.operation_context import CHAIN, Context

_BOOKKEEPING_FIELDS = ("purchase_price", "purchase_unit_quantity")


def bookkeeping_members(
    product: Product, quantity: int | None, existing_members: Mapping[str, object]
) -> Iterator[str]:
    """Yield the bookkeeping members of an entry, except those in `existing_members`."""
    if product.price:
        yield f'"price":{product.price}'
    if product.own_price:
        yield f'"store_products_price":{product.own_price}'
    for name in _BOOKKEEPING_FIELDS:
        value = None if name in existing_members else product.catalogue_value(name)
        if value is not None:
            yield f'"{name}":{to_json(value)}'
    yield text_member("cost_center", product.cost_center or None)
    if quantity:
        # The product's account is debited for goods that arrive, and credited for goods that leave.
        side = "debit" if quantity > 0 else "credit"
        yield text_member(f"general_ledger_{side}", product.catalogue_value("general_ledger"))


def location_tag_member(location: Location) -> str:
    """Return the member with the tags of a location."""
    return text_member("location_tag", ",".join(json.loads(location.tags)) or None)


IN_HAND_SOURCE = "in_hand"
"""Source of the entry, without location, for goods that a pick gives to the picker or that leave the picker."""
FINISH_SOURCE = "finish"
"""Source of the entries for held goods that leave the store with a finished order."""
LATE_SOURCE = "late"
"""Source of the entry that undoes a late message at a location that was counted since.

If that count is undone, an opposite entry of the same source and time follows.
"""


class FreeCount(NamedTuple):
    """Free count: index of its entry in the operation, product, location ('' is the whole store) and time."""

    entry_index: int
    product: str
    location: str
    occurred_on: str


class LogEntry(NamedTuple):
    """Entry of the log. Quantities are thousandths; `extra` has further documented fields."""

    product: Product
    source: str
    quantity: int | None = None
    location: Location | None = None
    pool: int | None = None
    line: OrderLine | None = None
    reference: str | None = None
    reason_code: int | None = None
    reason: str | None = None
    app_user: str | None = None
    needs_review: bool = False
    extra: dict[str, object] | None = None
    data: dict[str, object] | None = None


class LogWriter:
    """Log of one operation in one store."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.ctx = ledger.ctx
        self.store = ledger.catalogue.store
        self.free_counts: list[FreeCount] = []
        """Free counts among the entries, for `close_recounts`."""
        self._entries: list[tuple[LogEntry, str]] = []
        """Entries, each with its time."""
        self._added_positions: list[int] = []
        """Positions of the entries that callers added, without those for absorbed legs."""

    def record_count(self, product: Product, location: Location | None) -> None:
        """Mark the next entry as a free count."""
        code = location.code if location else NO_LOCATION
        self.free_counts.append(FreeCount(len(self._added_positions), product.number, code, self.ledger.occurred_on))

    def add(self, entry: LogEntry, occurred_on: str = "") -> None:
        """Add an entry with this time, or the ledger's current one."""
        self._added_positions.append(len(self._entries))
        self._entries.append((entry, occurred_on or self.ledger.occurred_on))

    async def add_for_line(
        self,
        line: OrderLine,
        source: str,
        quantity: int,
        location_code: str = NO_LOCATION,
        pool: int | None = None,
        *,
        needs_review: bool = False,
        reason_code: int | None = None,
        reason: str | None = None,
    ) -> None:
        """Add an entry of an order line, whose reference is the order."""
        catalogue = self.ledger.catalogue
        product = await catalogue.get_product(line.product_number, "product_number")
        location = await catalogue.find_location(location_code) if location_code else None
        entry = LogEntry(product, source, quantity, location, pool, line, line.order_number, reason_code, reason)
        self.add(entry._replace(needs_review=needs_review))

    def add_fields(self, entry_index: int, extra: dict[str, object]) -> None:
        """Add documented fields to an entry, by its index among the added ones."""
        position = self._added_positions[entry_index]
        entry, moved_on = self._entries[position]
        self._entries[position] = entry._replace(extra={**(entry.extra or {}), **extra}), moved_on

    async def close_entry(self) -> None:
        """Close an entry of the operation in the ledger. Log each location where late messages were absorbed."""
        await self.ledger.close_entry()
        catalogue = self.ledger.catalogue
        for (number_, code, pool, moved_on), quantity in self.ledger.pop_absorbed().items():
            product = await catalogue.get_product(number_, "product_number")
            location = await catalogue.find_location(code) if code else None
            self._entries.append((LogEntry(product, LATE_SOURCE, quantity, location, pool), moved_on))

    async def save_all(self) -> list[int]:
        """Number the entries and defer them to the end of the operation. Return the wire ids of the added ones."""
        await self.close_entry()
        if not self._entries:
            return []
        seq = await self.ctx.next_numbers(self.store.number, "log", len(self._entries))
        rows = [self._row(seq + n, entry, moved_on) for n, (entry, moved_on) in enumerate(self._entries)]
        self.ctx.defer(sql.LOG_ADD, rows)
        ids = [self.store.wire_id(seq + n) for n in self._added_positions]
        self._entries.clear()
        self._added_positions.clear()
        return ids

    def _row(self, seq: int, entry: LogEntry, moved_on: str) -> tuple[object, ...]:
        """Return a row of `stock_log` in the order of `LOG_ADD`."""
        return (
            self.store.number,
            seq,
            self.store.ordinal,
            self.ctx.op_id,
            entry.product.number,
            entry.reference or "",
            entry.reason_code,
            TO_REVIEW if entry.needs_review else NOTHING_TO_REVIEW,
            self.ctx.now,
            self.ctx.now,
            self._entry_json(entry, moved_on),
            to_json(entry.data) if entry.data else "{}",
        )

    def _reference_id_member(self, entry: LogEntry) -> str:
        """Return the member with the id of the order line, if the reference is its order."""
        line = entry.line
        return f'"reference_id":{self.store.wire_id(line.seq)}' if line and entry.reference == line.order_number else ""

    def _entry_json(self, entry: LogEntry, moved_on: str) -> str:
        """Return the entry as JSON in its form on the wire."""
        line, location, extra = entry.line, entry.location, entry.extra or {}
        return join_members(
            (
                f'"product_number":{quoted(entry.product.number)},"store_number":{quoted(self.store.number)}',
                text_member("app_user_name", entry.app_user or self.ctx.app_user),
                text_member("barcode", entry.product.barcode or None),
                f'"created_on":"{self.ctx.now}"',
                f'"customer_order_number":{quoted(line.order_number)},"customer_order_line_number":{line.line_number}'
                if line
                else "",
                f'"location":{self.store.wire_id(location.seq)},{text_member("location_code", location.code)}'
                if location
                else "",
                location_tag_member(location) if location else "",
                f'"moved_on":"{moved_on}"',
                "" if entry.quantity is None else f'"quantity":{format_quantity(entry.quantity)}',
                "" if entry.reason_code is None else f'"reason_code":{entry.reason_code}',
                text_member("reason_code_description", entry.reason or None),
                text_member("reference", entry.reference),
                self._reference_id_member(entry) if "reference_id" not in extra else "",
                *bookkeeping_members(entry.product, entry.quantity, extra),
                text_member("source", entry.source),
                "" if entry.pool is None else f'"stock_pool":"{entry.pool}"',
                object_members(to_json(extra)) if extra else "",
            )
        )


Subject = Literal["product", "store product", "store", "location", "order", "person", "token"]
COMMAND_TOKEN_NAME = "command line"
"""Name of the token in entries of commands that change the database directly."""

_AUDIT_COUNTER = "audit"
_NO_CHANGE = ("{}", "{}")
_MAX_HEADER_VALUE = 24
"""Number of characters of a value in a header."""
_SHOWN_BEFORE = 8
"""Number of characters before the first difference of two long values."""
_FIGURES = (int, float, Decimal, bool)
_MAX_VALUE_LENGTH = 500
"""Maximum number of stored characters of a value."""


class AuditChange(NamedTuple):
    """Change of one object: its fields before and after. A new object has no fields before."""

    subject: Subject
    key: str
    before: Mapping[str, object]
    after: Mapping[str, object]

    @property
    def changed_names(self) -> list[str]:
        """Names of the changed fields."""
        return [name for name in {**self.before, **self.after} if self.before.get(name) != self.after.get(name)]

    @property
    def changed_fields(self) -> tuple[str, str]:
        """JSON of the changed fields, before and after; both empty objects if nothing changed."""
        names = self.changed_names
        return _fields_json(self.before, names), _fields_json(self.after, names)


async def record_changes(ctx: Context, store_number: str, changes: Iterable[AuditChange]) -> None:
    """Record changes of a store, or of the chain, at the end of the operation. Equal fields are left out."""
    found = [(change, change.changed_fields) for change in changes]
    rows = [(change, values) for change, values in found if values != _NO_CHANGE]
    if not rows:
        return
    ctx.count_field_changes(
        (name, (store_number, change.key, *_header_values(*values)), any(isinstance(one, _FIGURES) for one in values))
        for change, _ in rows
        if change.before and change.after and change.subject != "order"
        for name in change.changed_names
        if (values := (change.before.get(name), change.after.get(name)))
    )
    first = await ctx.next_numbers(store_number, _AUDIT_COUNTER, len(rows))
    author = (ctx.principal.token_id, ctx.principal.name, ctx.app_user or "")
    ctx.defer(
        sql.AUDIT_ADD,
        [
            (store_number, first + n, ctx.now, *author, change.subject, change.key, *values)
            for n, (change, values) in enumerate(rows)
        ],
    )


async def record_command(tx: Transaction, change: AuditChange, now: str) -> None:
    """Record one change of the chain that a command makes in the database."""
    row = await tx.one(sql.COUNTER_NEXT, CHAIN, _AUDIT_COUNTER, 1)
    assert row is not None
    await tx.run(
        sql.AUDIT_ADD,
        CHAIN,
        row[0],
        now,
        "",
        COMMAND_TOKEN_NAME,
        "",
        change.subject,
        change.key,
        *change.changed_fields,
    )


def _header_values(before: object, after: object) -> list[str]:
    """Return the parts of two values with which they begin to differ as texts, for a header; empty for none."""
    texts = ["" if value is None else value if isinstance(value, str) else to_json(value) for value in (before, after)]
    differing = (at for at, (one, other) in enumerate(zip(*texts, strict=False)) if one != other)
    same = next(differing, min(map(len, texts)))
    if same < _MAX_HEADER_VALUE // 2 or max(map(len, texts)) <= _MAX_HEADER_VALUE:
        return [text[:_MAX_HEADER_VALUE] for text in texts]
    skipped = same - _SHOWN_BEFORE
    return [f"…{text[skipped:]}"[:_MAX_HEADER_VALUE] for text in texts]


def _fields_json(fields: Mapping[str, object], names: Iterable[str]) -> str:
    return to_json({name: _shorten(fields[name]) for name in names if name in fields})


def _shorten(value: Any) -> Any:
    """Return a long value as the start of its text."""
    text = value if isinstance(value, str) else to_json(value)
    return value if len(text) <= _MAX_VALUE_LENGTH else text[:_MAX_VALUE_LENGTH] + "…"
