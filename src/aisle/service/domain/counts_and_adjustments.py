"""Counts (README: Count), the recounts that they fulfil and their undo (README: Undo of a count); adjustments.

An undo is a change whose `reference` names the entry that it undoes, by its number or its time. Without the count the
stock is what it was before, with all movements. A count that was not used because of the undone one stays unused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from aisle.operation_body_types import UNDO_PREFIX
from aisle.service.db.statements import logs_and_changes as sql
from aisle.service.db.statements import stock as recounts_sql
from aisle.service.domain.ledger import Ledger, StockKey
from aisle.service.domain.log_and_audit_writer import LATE_SOURCE, FreeCount
from aisle.service.domain.order_line import OrderLine
from aisle.service.domain.picking_and_moves import adjust_origin
from aisle.service.domain.quantities_times_and_json import (
    THOUSANDTHS_PER_UNIT,
    format_quantity,
    parse_json_object,
    parse_timestamp,
    subtract_seconds,
)
from aisle.service.domain.read_products_and_locations import NO_LOCATION, Location, Product
from aisle.service.domain.states import RECOUNT_COUNTED
from aisle.service.errors import Refusal, conflict
from aisle.service.operation_context import Context, Store, split_wire_id


class CountDifference(NamedTuple):
    """Result for one counted pool: the expected figure at the time of the count, and the difference."""

    pool: int
    expected: int
    difference: int


async def count_free(
    ledger: Ledger, product: Product, location: Location | None, counted: Mapping[int, int]
) -> list[CountDifference]:
    """Set the free stock of pools at a location, or of the whole store if no location is given.

    At a location the count includes held goods, so free stock becomes counted − held. Without one, the stock at no
    location becomes counted − all other stock of the pool. Both may become negative.
    """
    stock = await _stock_at_count(ledger, product.number, is_total=location is None)
    code = location.code if location else NO_LOCATION
    found = []
    for pool, quantity in counted.items():
        expected = sum(
            stored
            for (stock_location, stock_pool), stored in stock.items()
            if stock_pool == pool and (location is None or stock_location == location.code)
        )
        await ledger.post("count", product.number, StockKey(code, pool), quantity - expected)
        ledger.record_count(product.number, code, pool)
        found.append(CountDifference(pool, expected, quantity - expected))
    return found


async def count_held(
    ledger: Ledger, line: OrderLine, location: Location | None, counted: Mapping[int, int]
) -> list[CountDifference]:
    """Set the goods held for a line at a location, or by the picker. `picked_quantity` changes by the same difference.

    Raise Refusal (409) if the line would hold more than was ordered.
    """
    code = location.code if location else NO_LOCATION
    held = dict(await ledger.held_for_line(line))
    found = []
    for pool, quantity in counted.items():
        key = StockKey(code, pool, *line.key)
        expected = held.get(key, 0)
        difference = quantity - expected
        await ledger.post("count", line.product_number, key, difference)
        await adjust_origin(ledger, line, key, difference)
        line.picked_quantity = line.picked_after(sum(held.values()), difference)
        held[key] = quantity
        found.append(CountDifference(pool, expected, difference))
    if line.picked_quantity > line.quantity:
        raise conflict(
            f"Line {line.line_number} is for {format_quantity(line.quantity)};"
            f" {format_quantity(line.picked_quantity)} cannot be held for it.",
            line=line.as_json(),
        )
    line.is_picked = line.is_fully_picked
    return found


async def _stock_at_count(ledger: Ledger, product: str, *, is_total: bool) -> dict[tuple[str, int], int]:
    """Return the product's stock by location and pool at the time of the count, without later legs.

    The total of the store includes goods that somebody was moving.
    """
    stock: dict[tuple[str, int], int] = {}
    for key, quantity in (await ledger.balances(product)).items():
        location_and_pool = (key.location, key.pool)
        stock[location_and_pool] = stock.get(location_and_pool, 0) + quantity
    if ledger.occurred_on < ledger.ctx.now:
        later = await ledger.changes_after(product, ledger.occurred_on)
        if is_total:
            later += await ledger.goods_under_way(product, ledger.occurred_on)
        for location, pool, quantity in later:
            stock[(location, pool)] = stock.get((location, pool), 0) - quantity
    return stock


AdjustmentKind = Literal["receipt", "change", "undo"]


async def adjust_free(
    ledger: Ledger, kind: AdjustmentKind, product: str, location: Location | None, pool: int, quantity: int
) -> None:
    """Add to the free stock at a location or none. It may become negative, since a loss is a fact."""
    await ledger.post(kind, product, StockKey(location.code if location else NO_LOCATION, pool), quantity)


async def adjust_held(
    ledger: Ledger,
    kind: AdjustmentKind,
    line: OrderLine,
    location: Location | None,
    pool: int,
    quantity: int,
    field: str,
    picked_change: int | None = None,
) -> int:
    """Add to the goods held for a line and to its `picked_quantity`. Return the quantity beyond what the line can take.

    `picked_quantity` changes by `picked_change` if that is given. Received goods beyond the line's need become free
    stock. For a line picked in the warehouse, the receipt brings the goods that were picked there. Raise Refusal (409)
    if other goods are too many, or more leave than are held.
    """
    balances = await ledger.held_for_line(line)
    held = sum(balances.values())
    key = StockKey(location.code if location else NO_LOCATION, pool, *line.key)
    held_at_location = balances.get(key, 0)
    capacity = line.quantity - (held if line.from_warehouse else line.picked_quantity)
    part = min(quantity, max(0, capacity)) if kind == "receipt" else quantity
    if part > capacity:
        raise conflict(f"The line can take {format_quantity(max(0, capacity))} more.", field, line=line.as_json())
    if held_at_location + part < 0:
        raise conflict(f"The line holds {format_quantity(held_at_location)} there.", field, line=line.as_json())
    await ledger.post(kind, line.product_number, key, part)
    if part:
        await adjust_origin(ledger, line, key, part)
    line.picked_quantity = (
        line.picked_after(held, part) if picked_change is None else line.picked_quantity + picked_change
    )
    line.is_picked = line.is_fully_picked
    await adjust_free(ledger, kind, line.product_number, location, pool, quantity - part)
    return quantity - part


class FulfilledRecount(NamedTuple):
    """Recount that a count fulfils: index of the entry, its number, and the pools of the remaining recounts."""

    entry_index: int
    seq: int
    remaining: tuple[int, ...]

    def log_fields(self, store: Store) -> dict[str, object]:
        """Return the log fields of the count."""
        pools = Counter(f"stock_pool_{pool}" for pool in self.remaining)
        return {
            "counting_assignment_id": store.wire_id(self.seq),
            "counting_lines_remaining": len(self.remaining),
            "counting_lines_remaining_stockpool": dict(sorted(pools.items())),
        }


async def find_fulfilled_recounts(ctx: Context, store: Store, counts: Iterable[FreeCount]) -> list[FulfilledRecount]:
    """Return the open recounts that these counts fulfil. A count made before the recount was ordered is ignored.

    A recount is of the location's default pool, otherwise of pool 1, like a count without a pool.
    """
    counted = list(counts)
    if not counted:
        return []
    rows = await ctx.tx.all(recounts_sql.RECOUNTS_OPEN, store.number)
    wanted = {(row[0], row[1]): (row[2], row[3], row[4] or 1) for row in rows}
    found = []
    for one in counted:
        seq, ordered_on, _ = wanted.get((one.product, one.location), (0, "", 1))
        if seq and one.occurred_on >= ordered_on:
            del wanted[(one.product, one.location)]
            found.append(FulfilledRecount(one.entry_index, seq, tuple(pool for _, _, pool in wanted.values())))
    return found


async def close_recounts(ctx: Context, store: Store, fulfilled: Iterable[FulfilledRecount], ids: list[int]) -> None:
    """Close the fulfilled recounts; `ids` are the wire ids of the log entries."""
    user = ctx.app_user or ctx.principal.name
    for one in fulfilled:
        entry, _ = split_wire_id(ids[one.entry_index])
        await ctx.tx.run(recounts_sql.RECOUNT_END, store.number, one.seq, RECOUNT_COUNTED, user, ctx.now, entry)
        ctx.mark_changed(store.number, "recount", str(store.wire_id(one.seq)))


async def reopen_recount(ctx: Context, store: Store, count_seq: int, count: Mapping[str, object]) -> None:
    """Open the recount that an undone count had fulfilled, unless another one was ordered since.

    `count`: log entry of the count, `count_seq` its number.
    """
    wire_id = count.get("counting_assignment_id")
    if isinstance(wire_id, int):
        await ctx.tx.run(recounts_sql.RECOUNT_REOPEN, store.number, split_wire_id(wire_id)[0], count_seq)
        ctx.mark_changed(store.number, "recount", str(wire_id))


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
