"""Reversals of what the service refused: a person undid it, or brought it back, before the refusal was known. Pure.

The refused operation changed nothing, so that its reversal must change nothing either. Counts and losses are not among
them: their undo names its entry (`aisle.courier.push.undo_as_booked`), which is found here while it was never sent.

Goods that are put back reverse the last pick of their line at the same location and pool, or else its last one. A pick
reverses goods put back only at the same location and pool: elsewhere it changes the stock of another location.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from aisle.decimal_of_row import to_decimal
from aisle.jobs.job import Json, Write
from aisle.jobs.store_time import to_utc_text
from aisle.operation_body_types import UNDO_PREFIX, is_undo
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, UPDATE_ORDER, Operation
from aisle.outbox.operation_states import QUEUED
from aisle.outbox.rebase_picks import BASE, PICKED, has_base, picked_change

if TYPE_CHECKING:
    from aisle.operation_body_types import LineUpdate, LogEntry, MovementEnd, MovementEntry

    Changes = dict[Hashable, Decimal]
    """Quantity by what it changes; that of its reversal has the other sign."""
    Sources = Mapping[Hashable, "Source"]
    """Source by what is changed."""

_FIELDS_OF_PICK: Final = {
    "line_number", "product_number", BASE, PICKED, "is_picked", "preferred_location_code", "stock_pool",
}  # fmt: skip
_FIELDS_OF_HEADER: Final = {"order_number", "order_lines", "is_picked"}
_RECEIPT: Final = "is_from_receipt"

UNREVERSED: Final = "unreversed"
"""Name in the evidence of a refused operation for its body without what was undone."""


def line_key(order: str, line: int) -> Hashable:
    """Return the key of the picked quantity of an order line."""
    return order, line


class Source(NamedTuple):
    """Source of picked goods."""

    location: str = ""
    """In lower case; empty if not named, or part of the key."""
    pool: int = 0
    """0 if not named."""

    def is_other(self, other: Source) -> bool:
        """Return whether both name a location, or both a pool, and not the same."""
        return any(mine and its and mine != its for mine, its in zip(self, other, strict=True))


def sources_of(op: Operation | Write) -> Sources:
    """Return the source of each change of an operation, as far as it names one."""
    return {key: source for key, _, part in _parts(op) if (source := _source_of(part)) != Source()}


def _source_of(part: Json) -> Source:
    """Return where an order line was picked; other parts have no such fields."""
    return Source(str(part.get("preferred_location_code") or "").casefold(), int(to_decimal(part.get("stock_pool"))))


def changes_of(op: Operation | Write) -> Changes:
    """Return the quantities that an operation moves, picks or receives."""
    changes: Changes = {}
    for key, quantity, _ in _parts(op):
        changes[key] = changes.get(key, Decimal(0)) + quantity
    return {key: quantity for key, quantity in changes.items() if quantity}


def without_reversals(
    refused: Changes, sources: Sources, later: Sequence[Operation | Write]
) -> tuple[list[Json], Changes]:
    """Return the bodies of later operations without what reverses refused changes, and what of these is left.

    A reversal undoes the latest change first. A body is None if nothing is left of it. Sent operations keep theirs.
    `sources`: those of the refused changes.
    """
    stacks = {
        key: [_Change(quantity, sources.get(key, Source()), is_refused=True)] for key, quantity in refused.items()
    }
    left = dict(refused)
    bodies = [_without_reversal(op, stacks, left) for op in later]
    return bodies, {key: quantity for key, quantity in left.items() if quantity}


def body_left(op: Operation, left: Changes) -> Json:
    """Return the body of a refused operation with the changes that are left; None if nothing is left of it."""
    rest = dict(left)
    reversed_keys = {key for key, quantity in changes_of(op).items() if left.get(key) != quantity}
    kept: list[tuple[Json, Decimal | None]] = []
    for key, quantity, part in _parts(op):
        if key not in reversed_keys:
            kept.append((part, None))
            continue
        available = rest.get(key, Decimal(0))
        change = min(abs(quantity), abs(available)).copy_sign(quantity) if quantity * available > 0 else Decimal(0)
        rest[key] = available - change
        kept.append((_line_left(part, change), None) if op.operation == UPDATE_ORDER else (part, change))
    return _body_of(op, kept)


def find_undone_entry(op: Operation, undo: LogEntry, undoing: Operation) -> int:
    """Return the index of the log entry that `undo`, of the operation `undoing`, names by its time; -1 for none."""
    moment = str(undo.get("reference") or "").removeprefix(UNDO_PREFIX)
    if not is_undo(undo) or "T" not in moment or op.store != undoing.store:
        return -1
    wanted = _identity_of(undo, undoing), to_utc_text(moment)
    entries = [
        (_pools_of(entry), at)
        for at, entry in enumerate(op.body["storeproductlog"])
        if (_identity_of(entry, op), to_utc_text(str(entry.get("scanned_datetime") or ""))) == wanted
        and not is_undo(entry)
    ]
    pools = _pools_of(undo)
    same = [at for each, at in entries if each == pools] or [at for each, at in entries if not (each and pools)]
    return same[0] if same else -1


def _identity_of(entry: LogEntry, op: Operation) -> tuple[str, str, str]:
    user = str(entry.get("app_user_name") or op.app_user)
    return str(entry.get("product_number")), str(entry.get("location_code") or "").casefold(), user


def _pools_of(entry: LogEntry) -> frozenset[str]:
    return frozenset(name for name in entry if name.startswith("stock_pool_"))


def as_left(op: Operation) -> Operation:
    """Return a refused operation with what is left of it; any other as it is."""
    return op._replace(body=op.evidence[UNREVERSED]) if op.evidence.get(UNREVERSED) else op


def undone_goods(op: Operation | Write) -> Changes:
    """Return the goods that an undo makes available to be booked again; negative for goods that are booked.

    Updates of orders have none: a pick that cannot be lowered is excess, which its picker is told.
    """
    goods: Changes = {}
    for key, quantity in _undone_parts(op):
        goods[key] = goods.get(key, Decimal(0)) + quantity
    return goods


def _undone_parts(op: Operation | Write) -> Iterator[tuple[Hashable, Decimal]]:
    """Yield goods by product, and by delivery or by the place from which they are moved, with their quantities."""
    if op.operation == CREATE_MOVEMENT:
        for item in op.body:
            is_undone = _is_undone(item)
            end = item.get("to_location") if is_undone else item.get("from_location")
            quantity = to_decimal(item["quantity"])
            yield (item["product_number"], _end_of(end)), quantity if is_undone else -quantity
    elif op.operation == CREATE_LOGS and op.query.get(_RECEIPT):
        for row in op.body["storeproductlog"]:
            yield (row["product_number"], row.get("reference")), -to_decimal(row.get("quantity"))
    elif op.operation == CREATE_LOGS:
        for row in op.body["storeproductlog"]:
            quantity = abs(to_decimal(row.get("quantity")))
            yield row["product_number"], quantity if is_undo(row) else -quantity


def _is_undone(item: MovementEntry) -> bool:
    """Return whether a moved item undoes an earlier one, or takes goods of an order into hand again."""
    target = item.get("to_location") or {}
    return "undone_datetime" in item or (not target.get("location_code") and "customer_order_number" in target)


class _Change(NamedTuple):
    quantity: Decimal
    source: Source
    is_refused: bool


def _without_reversal(op: Operation | Write, stacks: dict[Hashable, list[_Change]], left: Changes) -> Json:
    """Add the changes of an operation to the stacks; return its body without what reverses refused changes."""
    is_unsent = isinstance(op, Write) or (op.state == QUEUED and op.sent_body is None)
    kept: list[tuple[Json, Decimal | None]] = []
    for key, quantity, part in _parts(op):
        withdrawn = _push(stacks[key], quantity, _source_of(part)) if key in stacks else Decimal(0)
        if withdrawn and is_unsent:
            left[key] += withdrawn
            kept.append((part, quantity - withdrawn))
        else:
            kept.append((part, None))
    return op.body if all(quantity is None for _, quantity in kept) else _body_of(op, kept)


def _push(stack: list[_Change], quantity: Decimal, source: Source) -> Decimal:
    """Push a change, or remove what it reverses. Return the quantity that reverses a refused change."""
    withdrawn = Decimal(0)
    while quantity and (index := _find_reversed(stack, quantity, source)) is not None:
        latest = stack.pop(index)
        part = min(abs(latest.quantity), abs(quantity)).copy_sign(quantity)
        quantity -= part
        withdrawn += part if latest.is_refused else 0
        if latest.quantity + part:
            stack.insert(index, latest._replace(quantity=latest.quantity + part))
    if quantity:
        stack.append(_Change(quantity, source, is_refused=False))
    return withdrawn


def _find_reversed(stack: Sequence[_Change], quantity: Decimal, source: Source) -> int | None:
    """Return the index of the latest change that a quantity undoes, in whole or in part."""
    opposite = [index for index, each in enumerate(stack) if each.quantity * quantity < 0]
    same = [index for index in opposite if not source.is_other(stack[index].source)]
    found = same or (opposite if quantity < 0 else [])
    return found[-1] if found else None


def _parts(op: Operation | Write) -> Iterator[tuple[Hashable, Decimal, Json]]:
    """Yield the parts of an operation that have a quantity, each with its key and the quantity."""
    if op.operation == CREATE_MOVEMENT:
        for item in op.body:
            key, sign = _way_of(item)
            yield key, sign * to_decimal(item["quantity"]), item
    elif op.operation == CREATE_LOGS and op.query.get(_RECEIPT):
        for row in op.body["storeproductlog"]:
            names = ("product_number", "reference", "line_number", "location_code", "pool_location")
            yield tuple(row.get(name) for name in names), to_decimal(row.get("quantity")), row
    elif op.operation == UPDATE_ORDER:
        order = op.body["orders"]
        for line in order.get("order_lines") or ():
            quantity = picked_change(line) if has_base(line) else Decimal(0)
            yield line_key(order["order_number"], int(line["line_number"])), quantity, line


def _way_of(item: MovementEntry) -> tuple[Hashable, int]:
    """Return the way of a moved item, the same in both directions, and its direction.

    Pools count only if both ends are the same location.
    """
    source, target = item.get("from_location") or {}, item.get("to_location") or {}
    ends = _end_of(source), _end_of(target)
    if ends[0] == ends[1]:
        ends = (*ends[0], str(source.get("stock_pool"))), (*ends[1], str(target.get("stock_pool")))
    return (item["product_number"], min(ends), max(ends)), 1 if ends[0] <= ends[1] else -1


def _end_of(end: MovementEnd | None) -> tuple[str, ...]:
    names = ("location_code", "customer_order_number", "customer_order_line_number")
    return tuple(str((end or {}).get(name) or "") for name in names)


def _body_of(op: Operation | Write, parts: list[tuple[Json, Decimal | None]]) -> Json:
    """Return the body with the new quantities of these parts; None if nothing is left of it."""
    if op.operation == UPDATE_ORDER:
        return _update_of(op, parts)
    is_movement = op.operation == CREATE_MOVEMENT  # its quantities have no sign
    left = [
        part if quantity is None else {**part, "quantity": abs(quantity) if is_movement else quantity}
        for part, quantity in parts
        if quantity != 0
    ]
    if is_movement:
        return left or None
    return {**op.body, "storeproductlog": left} if left else None


def _update_of(op: Operation | Write, parts: list[tuple[LineUpdate, Decimal | None]]) -> Json:
    order = op.body["orders"]
    lines = [_with_change(line, change) for line, change in parts]
    is_header_empty = order.keys() <= _FIELDS_OF_HEADER and not order.get("is_picked")
    is_nothing = is_header_empty and all(map(_changes_nothing, lines))
    return None if is_nothing else {**op.body, "orders": {**order, "order_lines": lines}}


def _with_change(line: LineUpdate, change: Decimal | None) -> LineUpdate:
    return line if change is None else {**line, BASE: Decimal(line[PICKED]) - change}


def _line_left(line: LineUpdate, change: Decimal) -> LineUpdate:
    """Return a refused line with the change that is left. A pick that was undone does not close its line."""
    kept: LineUpdate = {**line, PICKED: Decimal(line[BASE]) + change}
    if not change:
        kept.pop("is_picked", None)
    return kept


def _changes_nothing(line: LineUpdate) -> bool:
    is_pick = has_base(line) and line.keys() <= _FIELDS_OF_PICK and not line.get("is_picked")
    return is_pick and not picked_change(line)
