"""Operations that picking sends to the service. Interface: Update customer order, Create movement."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.job import Write
from aisle.jobs.pick import goods_in_hand, pick_state, set_and_restore_picked_quantities
from aisle.jobs.pick.pick_line import PickedFrom, PickLine
from aisle.jobs.pick.pick_state import GoodsToReturn, PickState, PutDown, UndoStep, add_undo_step

if TYPE_CHECKING:
    from aisle.operation_body_types import LineUpdate, MovementEnd, MovementEntry, OrderUpdate, RejectionReason


def update_lines(before: PickState, state: PickState, indexes: Iterable[int], store: str) -> tuple[Write, ...]:
    """Return the operations for each order touched, with the state of these lines: one, or several if goods of a line
    go back to several locations. Quantities are absolute; `base_picked_quantity` is the quantity before. The order's
    `is_picked` is sent only by the pick of its last line and by the undo of that. Others report their own lines."""
    parts: dict[str, list[list[LineUpdate]]] = {}
    for index in indexes:
        line = state.lines[index]
        _add_to_parts(parts.setdefault(line.order, []), _line_bodies(before.lines[index], line))
    return tuple(
        _update_order(state, order, lines, store, pick_state.is_order_picked(before, order))
        if lines is updates[-1]
        else order_write(order, {"order_number": order, "order_lines": lines}, store)
        for order, updates in parts.items()
        for lines in updates
    )


def _add_to_parts(updates: list[list[LineUpdate]], bodies: list[LineUpdate]) -> None:
    """Add the parts of a line to the last updates of its order, so that the last one has its final state."""
    updates[:0] = [[] for _ in range(len(bodies) - len(updates))]
    for lines, body in zip(updates[len(updates) - len(bodies) :], bodies, strict=True):
        lines.append(body)


def _line_bodies(before: PickLine, after: PickLine) -> list[LineUpdate]:
    """Return an update for each location where goods of the line were taken or put back; one if there was none."""
    changes = after.changes_since(before) or (PickedFrom(after.location, after.pool, Decimal(0)),)
    bodies: list[LineUpdate] = []
    picked = before.picked
    for location, pool, quantity in changes:
        line: LineUpdate = {
            "line_number": after.line,
            "product_number": after.product,
            "base_picked_quantity": picked,
            "picked_quantity": picked + quantity,
            "is_picked": not after.is_incomplete and len(bodies) == len(changes) - 1,
        }
        if location:
            line["preferred_location_code"] = location
        if pool:
            line["stock_pool"] = pool
        bodies.append(line)
        picked += quantity
    return bodies


def _update_order(state: PickState, order: str, lines: list[LineUpdate], store: str, was_full: bool) -> Write:
    body: OrderUpdate = {"order_number": order, "order_lines": lines}
    full = pick_state.is_order_picked(state, order)
    if full or was_full:
        body["is_picked"] = full
    return order_write(order, body, store)


def order_write(order: str, body: OrderUpdate, store: str) -> Write:
    """Return an update of one order in its lane; it is merged with earlier updates that are still queued."""
    lane = f"order/{order}"
    return Write("update-customer-order", (lane,), {"store_number": store}, {}, {"orders": body}, merge_key=lane)


def claim_write(order: str, store: str, *, is_claimed: bool = True) -> Write:
    """Return the operation that claims or releases the order; user and terminal are added when it is sent."""
    return order_write(order, {"order_number": order, "is_claimed": is_claimed}, store)


def add_reason(body: RejectionReason, reason_code: str, reason: str) -> None:
    """Add a reason to an order or line, in place; empty fields are left out."""
    if reason_code:
        body["rejection_reason_code"] = reason_code
    if reason:
        body["rejection_reason_code_description"] = reason


def reject_write(order: str, reason_code: str, reason: str, store: str) -> Write:
    """Return the operation that rejects the order with a reason; it needs a supervisor, even during a pick."""
    body: OrderUpdate = {"order_number": order, "is_rejected": True}
    add_reason(body, reason_code, reason)
    return order_write(order, body, store)._replace(needs_supervisor=True)


def close_short(
    state: PickState, indexes: Collection[int], store: str, reason_code: str, reason: str
) -> tuple[PickState, tuple[Write, ...]]:
    """Close lines short, with the quantity that is in their totes. The reason is part of the update. If the service
    does not support it, only the local journal keeps it."""
    closed = set_and_restore_picked_quantities.set_picked(
        state, {index: state.lines[index].picked for index in indexes}, is_closed=True
    )
    writes = update_lines(state, closed, indexes, store)
    for write in writes:
        for line in write.body["orders"]["order_lines"]:
            add_reason(line, reason_code, reason)
    return closed, writes


def put_down_goods(
    state: PickState, location: str, store: str, user: str, *, includes_others: bool = False
) -> tuple[PickState, tuple[Write, ...]]:
    """Put goods in hand down at a pick-up location, held by their order lines: of all totes, or of the selected one.
    Goods in another picker's hand are included only if `includes_others` is True. Return one operation for each order;
    none if nothing is in hand."""
    lines = [line for line in state.lines if state.only_order in ("", line.order)]
    quantities = (
        (line, line.in_hand if includes_others else goods_in_hand.quantity_to_put_down(state, line)) for line in lines
    )
    put_down = tuple(PutDown(line.order, line.line, quantity) for line, quantity in quantities if quantity)
    if not put_down:
        return state, ()
    writes = _movements(_lines_with_quantity(state, put_down), store, user, target={"location_code": location})
    after = set_and_restore_picked_quantities.move_put_down(state, put_down, 1, location)._replace(
        choices=(), only_order=""
    )
    return add_undo_step(after, UndoStep(put_down=put_down, location=location)), writes


def undo_put_down(state: PickState, step: UndoStep, store: str, user: str) -> tuple[PickState, tuple[Write, ...]]:
    """Take back into hand what a step put down, as far as it is still there."""
    moved = {line.key: line.moved for line in state.lines}
    put_down = tuple(each for each in step.put_down if moved.get((each.order, each.line), 0) >= each.quantity)
    if not put_down:
        return state, ()
    writes = _movements(_lines_with_quantity(state, put_down), store, user, source={"location_code": step.location})
    return set_and_restore_picked_quantities.move_put_down(state, put_down, -1, step.location), writes


def _lines_with_quantity(state: PickState, put_down: Iterable[PutDown]) -> list[tuple[PickLine, Decimal]]:
    lines = {line.key: line for line in state.lines}
    return [(lines[each.order, each.line], each.quantity) for each in put_down]


def return_goods(goods: Iterable[GoodsToReturn], store: str, user: str, *, is_undo: bool = False) -> tuple[Write, ...]:
    """Return the operations that put goods of orders that left the pick back at their location, or undo it. Goods of a
    rejected order are moved from no location. Lines that another picker has are reduced. Surplus was never subtracted
    from stock, so it needs no operation."""
    goods = tuple(goods)
    returned = _unpick_lines([each for each in goods if each.is_for_other_picker], store, is_undo=is_undo)
    return (*returned, *_return_movements([each for each in goods if each.is_unassigned], store, user, is_undo=is_undo))


def put_down_for_others(
    goods: Iterable[GoodsToReturn], location: str, store: str, user: str, *, is_undo: bool = False
) -> tuple[Write, ...]:
    """Return the operations that put goods down at a location for orders that another picker has, or undo it."""
    end: MovementEnd = {"location_code": location}
    source, target = (end, None) if is_undo else (None, end)
    held = [(each.line, each.quantity) for each in goods if each.line]
    return _movements(held, store, user, source=source, target=target)


def _unpick_lines(goods: Iterable[GoodsToReturn], store: str, *, is_undo: bool) -> tuple[Write, ...]:
    changes: dict[tuple[str, int], tuple[PickLine, PickLine]] = {}
    for each in goods:
        if each.line:
            was, now = changes.get((each.order, each.line.line), (each.line, each.line))
            left = now.with_picked(now.picked - each.quantity, each.location, each.pool)
            changes[each.order, each.line.line] = was, left
    parts: dict[str, list[list[LineUpdate]]] = {}
    opened = set()
    for (order, _), (was, now) in changes.items():
        _add_to_parts(parts.setdefault(order, []), _line_bodies(now, was) if is_undo else _line_bodies(was, now))
        if now.is_incomplete and not is_undo:
            opened.add(order)
    return tuple(
        order_write(order, _order_body(order, lines, is_opened=order in opened), store)
        for order, updates in parts.items()
        for lines in updates
    )


def _order_body(order: str, lines: list[LineUpdate], *, is_opened: bool) -> OrderUpdate:
    body: OrderUpdate = {"order_number": order, "order_lines": lines}
    if is_opened:
        body["is_picked"] = False
    return body


def _return_movements(goods: Iterable[GoodsToReturn], store: str, user: str, *, is_undo: bool) -> tuple[Write, ...]:
    items: dict[str, list[MovementEntry]] = {}
    for each in goods:
        pool: MovementEnd = {"stock_pool": each.pool} if each.pool else {}
        ends: tuple[MovementEnd, MovementEnd] = (pool, {"location_code": each.location, **pool})
        source, to = ends[::-1] if is_undo else ends
        items.setdefault(each.order, []).append(
            {"product_number": each.product, "quantity": each.quantity, "from_location": source, "to_location": to}
        )
    return tuple(order_movement(order, found, store, user) for order, found in items.items())


def _movements(
    quantities: Iterable[tuple[PickLine, Decimal]],
    store: str,
    user: str,
    *,
    source: MovementEnd | None = None,
    target: MovementEnd | None = None,
) -> tuple[Write, ...]:
    """Return movements of order lines between locations; a missing location means in hand."""
    items: dict[str, list[MovementEntry]] = {}
    for line, quantity in quantities:
        holder: MovementEnd = {"customer_order_number": line.order, "customer_order_line_number": line.line}
        item: MovementEntry = {
            "product_number": line.product,
            "quantity": quantity,
            "from_location": {**holder, **source} if source else holder,
            "to_location": {**holder, **target} if target else holder,
        }
        items.setdefault(line.order, []).append(item)
    return tuple(order_movement(order, found, store, user) for order, found in items.items())


def order_movement(order: str, items: list[MovementEntry], store: str, user: str) -> Write:
    lanes = (f"order/{order}", *sorted({f"product/{item['product_number']}" for item in items}))
    return Write("create-movement", lanes, {"store_number": store}, {"AppUserName": user}, items)
