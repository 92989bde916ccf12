"""Reversals of what the service refused: a person undid it, or brought it back, before the refusal was known. Pure.

The refused operation changed nothing, so that its reversal must change nothing either. Counts and losses are not among
them: their undo names its entry (`aisle.courier.push.undo_as_booked`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from aisle.jobs.job import Json
from aisle.jobs.parse_and_judge_quantities import to_decimal
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, UPDATE_ORDER, Operation
from aisle.outbox.rebase_picks import BASE, PICKED, has_base, picked_change

if TYPE_CHECKING:
    from aisle.operation_body_types import LineUpdate, MovementEnd, MovementEntry

    Changes = dict[Hashable, Decimal]
    """Quantity by what it changes; that of its reversal has the other sign."""

_FIELDS_OF_PICK: Final = {
    "line_number", "product_number", BASE, PICKED, "is_picked", "preferred_location_code", "stock_pool",
}  # fmt: skip
_FIELDS_OF_HEADER: Final = {"order_number", "order_lines", "is_picked"}
_RECEIPT: Final = "is_from_receipt"


def line_key(order: str, line: int) -> Hashable:
    """Return the key of the picked quantity of an order line."""
    return order, line


def changes_of(op: Operation) -> Changes:
    """Return the quantities that an operation moves, picks or receives."""
    changes: Changes = {}
    for key, quantity, _ in _parts(op):
        changes[key] = changes.get(key, Decimal(0)) + quantity
    return changes


def without_reversal(op: Operation, refused: Changes) -> tuple[Json, Changes]:
    """Return the body of an operation without what reverses refused changes, and what of these is left.

    The body is None if nothing is left of it.
    """
    remaining, has_changed = dict(refused), False
    kept: list[tuple[Json, Decimal | None]] = []
    for key, quantity, part in _parts(op):
        open_change = remaining.get(key, Decimal(0))
        is_reversal = quantity * open_change < 0
        reversed_quantity = max(-abs(open_change), min(abs(open_change), -quantity)) if is_reversal else Decimal(0)
        remaining[key] = open_change - reversed_quantity
        has_changed = has_changed or is_reversal
        kept.append((part, quantity + reversed_quantity) if is_reversal else (part, None))
    return (_body_of(op, kept) if has_changed else op.body), {key: left for key, left in remaining.items() if left}


def _parts(op: Operation) -> Iterator[tuple[Hashable, Decimal, Json]]:
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


def _end_of(end: MovementEnd) -> tuple[str, ...]:
    names = ("location_code", "customer_order_number", "customer_order_line_number")
    return tuple(str(end.get(name) or "") for name in names)


def _body_of(op: Operation, parts: list[tuple[Json, Decimal | None]]) -> Json:
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


def _update_of(op: Operation, parts: list[tuple[LineUpdate, Decimal | None]]) -> Json:
    order = op.body["orders"]
    lines = [_with_change(line, change) for line, change in parts]
    is_header_empty = order.keys() <= _FIELDS_OF_HEADER and not order.get("is_picked")
    is_nothing = is_header_empty and all(map(_changes_nothing, lines))
    return None if is_nothing else {**op.body, "orders": {**order, "order_lines": lines}}


def _with_change(line: LineUpdate, change: Decimal | None) -> LineUpdate:
    return line if change is None else {**line, BASE: Decimal(line[PICKED]) - change}


def _changes_nothing(line: LineUpdate) -> bool:
    is_pick = has_base(line) and line.keys() <= _FIELDS_OF_PICK and not line.get("is_picked")
    return is_pick and not picked_change(line)
