"""What picking tells the service. Interface: Update customer order, Create movement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.job import Write
from aisle.jobs.pick import goods_in_hand, pick_state
from aisle.jobs.pick.pick_state import GoodsToReturn, PickState, PutDown, UndoStep, add_undo_step
from aisle.jobs.pick.stops import PickLine


def update_lines(before: PickState, state: PickState, indexes: Iterable[int], store: str) -> tuple[Write, ...]:
    """What these lines stand at, one operation for each order touched; quantities are absolute, and say what they were.

    An order is only called picked with the take that picks its last line, and no longer so with the undo of it: what
    somebody else does to other lines meanwhile is his to say.
    """
    lines: dict[str, list[dict[str, Any]]] = {}
    for index in indexes:
        take = state.lines[index]
        lines.setdefault(take.order, []).append(_line_body(before.lines[index], take))
    return tuple(
        _update_order(state, order, found, store, pick_state.is_order_picked(before, order))
        for order, found in lines.items()
    )


def _line_body(before: PickLine, after: PickLine) -> dict[str, Any]:
    line: dict[str, Any] = {"line_number": after.line, "product_number": after.product}
    line["base_picked_quantity"], line["picked_quantity"] = before.picked, after.picked
    line["is_picked"] = not after.is_open
    if after.location:
        line["preferred_location_code"] = after.location
    if after.pool:
        line["stock_pool"] = after.pool
    return line


def _update_order(state: PickState, order: str, lines: list[dict[str, Any]], store: str, was_full: bool) -> Write:
    body: dict[str, object] = {"order_number": order, "order_lines": lines}
    full = pick_state.is_order_picked(state, order)
    if full or was_full:
        body["is_picked"] = full
    return order_write(order, body, store)


def order_write(order: str, body: Mapping[str, object], store: str) -> Write:
    """An update of one order, in its lane; it is one with those before it that were not sent."""
    lane = f"order/{order}"
    return Write("update-customer-order", (lane,), {"store_number": store}, {}, {"orders": body}, merge_key=lane)


def claim_write(order: str, store: str, *, is_claimed: bool = True) -> Write:
    """Somebody works on the order, or does so no more; whoever it is and where goes beside it."""
    return order_write(order, {"order_number": order, "is_claimed": is_claimed}, store)


def reason_fields(reason_code: str, reason: str) -> dict[str, str]:
    """A reason as orders and lines say it; what is empty is not said."""
    why = {"rejection_reason_code": reason_code, "rejection_reason_code_description": reason}
    return {name: text for name, text in why.items() if text}


def reject_write(order: str, reason_code: str, reason: str, store: str) -> Write:
    """The order is not delivered, and why: a supervisor's to say, also in the middle of a round."""
    body = {"order_number": order, "is_rejected": True, **reason_fields(reason_code, reason)}
    return order_write(order, body, store)._replace(needs_supervisor=True)


def close_short(
    state: PickState, indexes: Collection[int], store: str, reason_code: str, reason: str
) -> tuple[PickState, tuple[Write, ...]]:
    """Lines closed with what is in their totes. Why stays with them where the service says that it keeps that; else
    the journal alone knows.
    """
    closed = pick_state.set_picked(state, {index: state.lines[index].picked for index in indexes}, is_closed=True)
    writes = update_lines(state, closed, indexes, store)
    for write in writes:
        for line in write.body["orders"]["order_lines"]:
            line.update(reason_fields(reason_code, reason))
    return closed, writes


def put_down_goods(
    state: PickState, location: str, store: str, user: str, *, includes_others: bool = False
) -> tuple[PickState, tuple[Write, ...]]:
    """What is in hand laid at a pick-up place, held by its order lines: of all totes, or of the one that was named.

    What somebody else has in hand who picks it too is his to put down, unless `others` says that it lies here as well.
    One operation an order, none when nothing is in hand.
    """
    meant = [take for take in state.lines if state.only_order in ("", take.order)]
    each = (
        (take, take.in_hand if includes_others else goods_in_hand.quantity_to_put_down(state, take)) for take in meant
    )
    laid = tuple(PutDown(take.order, take.line, quantity) for take, quantity in each if quantity)
    if not laid:
        return state, ()
    writes = _movements(_lines_with_quantity(state, laid), store, user, target={"location_code": location})
    down = pick_state.move_put_down(state, laid, 1, location)._replace(choices=(), only_order="")
    return add_undo_step(down, UndoStep(put_down=laid, location=location)), writes


def undo_put_down(state: PickState, step: UndoStep, store: str, user: str) -> tuple[PickState, tuple[Write, ...]]:
    """What was put down is in hand again, as far as it still lies there."""
    lying = {(take.order, take.line): take.moved for take in state.lines}
    laid = tuple(each for each in step.put_down if lying.get((each.order, each.line), 0) >= each.quantity)
    if not laid:
        return state, ()
    writes = _movements(_lines_with_quantity(state, laid), store, user, source={"location_code": step.location})
    return pick_state.move_put_down(state, laid, -1, step.location), writes


def _lines_with_quantity(state: PickState, put_down: Iterable[PutDown]) -> list[tuple[PickLine, Decimal]]:
    takes = {(take.order, take.line): take for take in state.lines}
    return [(takes[each.order, each.line], each.quantity) for each in put_down]


def return_goods(goods: Iterable[GoodsToReturn], store: str, user: str, *, is_undo: bool = False) -> tuple[Write, ...]:
    """What orders that have left the round left in the hand lies where it was again, or is in hand after all.

    Of a rejected one the books have it at no place; for one that somebody else picks it counts as picked. What found no
    room on its line they never took away.
    """
    goods = tuple(goods)
    returned = _unpick_lines([back for back in goods if back.is_for_other_picker], store, is_undo=is_undo)
    return (*returned, *_return_movements([back for back in goods if back.is_unassigned], store, user, is_undo=is_undo))


def put_down_for_others(
    goods: Iterable[GoodsToReturn], location: str, store: str, user: str, *, is_undo: bool = False
) -> tuple[Write, ...]:
    """Goods of orders that somebody else picks now are laid at a place for their lines, or are in hand again."""
    there: Mapping[str, str] = {"location_code": location}
    came, to = (there, {}) if is_undo else ({}, there)
    held = [(back.line, back.quantity) for back in goods if back.line]
    return _movements(held, store, user, source=came, target=to)


def _unpick_lines(goods: Iterable[GoodsToReturn], store: str, *, is_undo: bool) -> tuple[Write, ...]:
    """Goods of lines that somebody else picks now are picked no more, or are again."""
    stood: dict[tuple[str, int], tuple[PickLine, PickLine]] = {}
    for back in goods:
        if back.line:
            was, now = stood.get((back.order, back.line.line), (back.line, back.line))
            stood[back.order, back.line.line] = was, now.with_picked(now.picked - back.quantity)
    bodies: dict[str, dict[str, Any]] = {}
    for (order, _), (was, now) in stood.items():
        body = bodies.setdefault(order, {"order_number": order, "order_lines": []})
        body["order_lines"].append(_line_body(now, was) if is_undo else _line_body(was, now))
        if now.is_open and not is_undo:
            body["is_picked"] = False
    return tuple(order_write(order, body, store) for order, body in bodies.items())


def _return_movements(goods: Iterable[GoodsToReturn], store: str, user: str, *, is_undo: bool) -> tuple[Write, ...]:
    items: dict[str, list[dict[str, Any]]] = {}
    for back in goods:
        pool = {"stock_pool": back.pool} if back.pool else {}
        ends: tuple[dict[str, Any], dict[str, Any]] = (pool, {"location_code": back.location, **pool})
        came, to = ends[::-1] if is_undo else ends
        item = {"product_number": back.product, "quantity": back.quantity, "from_location": came, "to_location": to}
        items.setdefault(back.order, []).append(item)
    return tuple(_movement(order, found, store, user) for order, found in items.items())


def _movements(
    quantities: Iterable[tuple[PickLine, Decimal]],
    store: str,
    user: str,
    *,
    source: Mapping[str, str] | None = None,
    target: Mapping[str, str] | None = None,
) -> tuple[Write, ...]:
    """Goods of order lines from one place to another; no place is the hand."""
    items: dict[str, list[dict[str, Any]]] = {}
    for take, quantity in quantities:
        holder = {"customer_order_number": take.order, "customer_order_line_number": take.line}
        item = {
            "product_number": take.product,
            "quantity": quantity,
            "from_location": {**holder, **(source or {})},
            "to_location": {**holder, **(target or {})},
        }
        items.setdefault(take.order, []).append(item)
    return tuple(_movement(order, found, store, user) for order, found in items.items())


def _movement(order: str, items: list[dict[str, Any]], store: str, user: str) -> Write:
    lanes = (f"order/{order}", *sorted({f"product/{item['product_number']}" for item in items}))
    return Write("create-movement", lanes, {"store_number": store}, {"AppUserName": user}, items)
