"""Undo of a count: its absorbed messages count again, its date and recount go back (README: Undo of a count).

An undo is a change whose `reference` names the entry that it undoes, by its number or its time. Without the count the
stock is what it was before, with all movements. A count that was not used because of the undone one stays unused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from aisle.operation_body_types import UNDO_PREFIX
from aisle.service.db.statements import logs as sql
from aisle.service.domain.fulfilled_recounts import reopen_recount
from aisle.service.domain.json_fragments import parse_json_object
from aisle.service.domain.ledger import Ledger
from aisle.service.domain.log_writer import LATE_SOURCE
from aisle.service.domain.quantities import THOUSANDTHS_PER_UNIT
from aisle.service.domain.timestamps import parse_timestamp, subtract_seconds
from aisle.service.errors import Refusal
from aisle.service.operation_context import split_wire_id

_DAYS_READ = 40
"""Days of the log that are read first: messages of a replay are at most a month late."""

_MAX_DIGITS = 17
"""Digits of the number of an entry are fewer."""


class Undo(NamedTuple):
    """Change of free stock at a location or none (''), with the text that names the entry that it undoes."""

    product: str
    location: str
    user: str
    reference: str
    changes: Mapping[int, int]
    """Thousandths by pool."""


class _Logged(NamedTuple):
    """Entry of the log of the undone product: a count, an undo or a late part."""

    seq: int
    item: Mapping[str, object]

    @property
    def location(self) -> str:
        return str(self.item.get("location_code") or "")

    @property
    def user(self) -> str:
        return str(self.item.get("app_user_name") or "")

    @property
    def moved_on(self) -> str:
        return str(self.item["moved_on"])

    @property
    def is_free_count(self) -> bool:
        return "counted_quantity" in self.item and "customer_order_number" not in self.item

    @property
    def is_late_part(self) -> bool:
        return self.item.get("source") == LATE_SOURCE

    @property
    def undone_entry(self) -> str:
        """Number or time of the entry that this one undoes; empty for none."""
        reference = str(self.item.get("reference") or "")
        return reference.removeprefix(UNDO_PREFIX) if reference.startswith(UNDO_PREFIX) else ""


async def time_of_undone_entry(ledger: Ledger, product: str, reference: str) -> str:
    """Return the time of the entry that an undo of this product names; empty if it is unknown.

    A count between the two did not see what is undone: the undo changes the stock at the time of the undone entry, so
    that it does not matter which of them arrives first.
    """
    name = reference.removeprefix(UNDO_PREFIX)
    if not reference.startswith(UNDO_PREFIX):
        return ""
    if "T" in name:
        return _parse_moment(ledger, name)
    if not (name.isascii() and name.isdecimal() and len(name) < _MAX_DIGITS):
        return ""
    row = await ledger.ctx.tx.one(sql.LOG_ENTRY, ledger.store, split_wire_id(int(name))[0])
    entry = _Logged(row[0], parse_json_object(row[4])) if row else None
    is_named = entry and _is_number_of(ledger, name, entry) and entry.item["product_number"] == product
    return entry.moved_on if entry and is_named else ""


async def take_back_undone_count(ledger: Ledger, undo: Undo) -> None:
    """Take back the count that an undo names, if it is the last one there.

    What it absorbed changes the stock, unless another count that stands absorbs it too.
    """
    if not undo.reference.startswith(UNDO_PREFIX):
        return
    counted = [pool for pool in undo.changes if await ledger.last_count(undo.product, undo.location, pool)]
    if not counted:
        return
    logged = await _read_log(ledger, undo, subtract_seconds(ledger.ctx.now, _DAYS_READ * 86400))
    counts = [each for each in logged if each.is_free_count]
    named = _named_count(ledger, counts, undo)
    if named is None:
        return
    is_taken_back = False
    for pool in counted:
        if await ledger.last_count(undo.product, undo.location, pool) == named.moved_on and _is_in_pool(named, pool):
            before = _last_standing_before(ledger, named, logged, pool)
            before = before or _last_standing_before(ledger, named, await _read_log(ledger, undo), pool)
            await ledger.take_back_count(undo.product, undo.location, pool, named.moved_on, before)
            is_taken_back = True
    if is_taken_back:
        await reopen_recount(ledger.ctx, ledger.catalogue.store, named.seq, named.item)


async def _read_log(ledger: Ledger, undo: Undo, since: str = "") -> list[_Logged]:
    """Return the counts, undos and late parts of the product at the location since then, or all."""
    rows = await ledger.ctx.tx.all(sql.LOG_COUNTS_AND_UNDOS, ledger.store, undo.product, since)
    entries = (_Logged(seq, parse_json_object(item)) for seq, item in rows)
    return [each for each in entries if each.location == undo.location]


def _named_count(ledger: Ledger, counts: Iterable[_Logged], undo: Undo) -> _Logged | None:
    """Return the count that an undo names.

    The clock of the host may have been set since: then it is the nearest count of that person with this difference.
    """
    name = undo.reference.removeprefix(UNDO_PREFIX)
    if "T" not in name:
        return next((each for each in counts if _is_number_of(ledger, name, each)), None)
    moment = _parse_moment(ledger, name)
    change = Decimal(-sum(undo.changes.values())) / THOUSANDTHS_PER_UNIT
    found = [each for each in counts if each.user == undo.user and moment in ("", each.moved_on)]
    near = [each for each in counts if each.user == undo.user and each.item.get("quantity") == change]
    return next(iter(found), None) or min(near, key=lambda each: _seconds_between(each.moved_on, moment), default=None)


def _last_standing_before(ledger: Ledger, count: _Logged, logged: list[_Logged], pool: int) -> str:
    """Return the time of the last used count before a count; empty without one."""
    undone = {(each.undone_entry, each.user) for each in logged if each.undone_entry}
    moments = {(_parse_moment(ledger, name), user) for name, user in undone if "T" in name}
    late = {each.moved_on for each in logged if each.is_late_part and each.item.get("stock_pool") == str(pool)}
    return max(
        (
            each.moved_on
            for each in logged
            if each.is_free_count
            and each.moved_on < count.moved_on
            and _is_in_pool(each, pool)
            and each.moved_on not in late
            and (each.moved_on, each.user) not in moments
            and not any(_is_number_of(ledger, name, each) for name, _ in undone)
        ),
        default="",
    )


def _is_in_pool(count: _Logged, pool: int) -> bool:
    return f"stock_pool_{pool}" in count.item


def _is_number_of(ledger: Ledger, name: str, entry: _Logged) -> bool:
    return name == str(ledger.catalogue.store.wire_id(entry.seq))


def _parse_moment(ledger: Ledger, text: str) -> str:
    """Return a time of the sender's clock as a timestamp of ours; empty if it is none."""
    ctx = ledger.ctx
    try:
        moment = parse_timestamp(text, "reference", ctx.time_zone())
    except Refusal:
        return ""
    skew = ctx.headers.clock_skew
    return subtract_seconds(moment, skew) if skew else moment


def _seconds_between(one: str, other: str) -> float:
    return abs((datetime.fromisoformat(one) - datetime.fromisoformat(other)).total_seconds())
