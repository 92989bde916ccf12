"""What a hand-over sends: the end of the order, goods that go back into stock, and the undo of these.

Interface: Update customer order, Create movement. The service cannot reopen an order that was handed over.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.hand_over.hand_over_state import ZERO, HeldHere, LineGoods, PutBack
from aisle.jobs.job import Context, Write
from aisle.jobs.pick.operations import order_movement, order_write

if TYPE_CHECKING:
    from aisle.operation_body_types import LineUpdate, MovementEnd, MovementEntry


def finish_write(order: str, context: Context) -> Write:
    """Return the operation that ends an order: its goods leave the store."""
    return order_write(order, {"order_number": order, "is_active": False}, context.store)


def put_back_step(order: str, goods: LineGoods, quantity: Decimal, location: str) -> PutBack:
    """Return the step that puts goods of a line back: first those at a location, then those in hand."""
    moved, left = list[HeldHere](), quantity
    for held in goods.held:
        part = min(left, held.quantity)
        if part > 0:
            moved.append(held._replace(quantity=part))
            left -= part
    line = goods.line, goods.product, goods.label, goods.picked, goods.is_closed
    return PutBack(order, *line, tuple(moved), location, from_hand=left)


def put_back_writes(step: PutBack, context: Context, *, is_undo: bool = False) -> tuple[Write, ...]:
    """Return the operations that put goods back, or take them out again. The line stays closed, so that nobody picks
    it again."""
    moved = sum((each.quantity for each in step.moved), ZERO)
    movement = (_movement(step, context, is_undo=is_undo),) if step.moved else ()
    before, after = step.picked_before - moved, step.picked_before - step.quantity
    is_picked = True
    if is_undo:
        before, after, is_picked = step.picked_before - step.from_hand, step.picked_before, step.was_closed
    line: LineUpdate = {
        "line_number": step.line,
        "product_number": step.product,
        "base_picked_quantity": before,
        "picked_quantity": after,
        "is_picked": is_picked,
    }
    if step.location:  # the page names it for all of them
        line["preferred_location_code"] = step.location
    return (*movement, order_write(step.order, {"order_number": step.order, "order_lines": [line]}, context.store))


def _movement(step: PutBack, context: Context, *, is_undo: bool) -> Write:
    items: list[MovementEntry] = []
    for each in step.moved:
        holder: MovementEnd = {"customer_order_number": step.order, "customer_order_line_number": step.line}
        held: MovementEnd = {**holder, "location_code": each.location}
        stock: MovementEnd = {"location_code": step.location or each.location}
        source, target = (stock, held) if is_undo else (held, stock)
        item: MovementEntry = {"product_number": step.product, "quantity": each.quantity}
        items.append({**item, "from_location": source, "to_location": target})
    return order_movement(step.order, items, context.store, context.user)
