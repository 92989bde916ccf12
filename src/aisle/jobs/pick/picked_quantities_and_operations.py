"""Changes of the picked quantities of lines, their undo, and the operations that a pick sends for them.

First the lines of this stop are filled, tote by tote, then those at its location. Their order and the stop on the
screen: `stops_and_goods_in_hand`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.job import Write
from aisle.jobs.pick import pick_state, stops_and_goods_in_hand
from aisle.jobs.pick.pick_line import PickedFrom, PickLine
from aisle.jobs.pick.pick_state import (
    GoodsToReturn,
    LineBefore,
    LineSource,
    PickState,
    PutDown,
    UndoStep,
    add_undo_step,
)
from aisle.jobs.pick.stops_and_goods_in_hand import lines_of_stop, quantity_of_others

if TYPE_CHECKING:
    from aisle.operation_body_types import LineUpdate, MovementEnd, MovementEntry, OrderUpdate, RejectionReason


def lines_with_product(state: PickState, product: str) -> list[int]:
    """Return the indexes of the lines with this product: first those of the stop, then at its location, then others."""
    here = (state.location or (state.current_line.location if state.current_line else "")).casefold()
    stop = set(lines_of_stop(state, state.current_index))
    found = [index for index, line in enumerate(state.lines) if line.product == product]
    return sorted(found, key=lambda index: (index not in stop, state.lines[index].location.casefold() != here, index))


def open_lines_with_product(state: PickState, product: str) -> list[int]:
    """Return the indexes of those of them that are open."""
    return [index for index in lines_with_product(state, product) if state.lines[index].is_open]


def fillable_lines(state: PickState, product: str) -> list[int]:
    """Return the indexes of the lines that goods of this product fill, in order. They all have one location, because
    goods scanned together were picked together. Of measured goods they are of one order, because nobody divides a pack
    between totes."""
    open_ = open_lines_with_product(state, product)
    if not open_:
        return open_
    first = state.lines[open_[0]]
    here = [index for index in open_ if state.lines[index].location.casefold() == first.location.casefold()]
    return [index for index in here if not first.allows_decimals or state.lines[index].order == first.order]


def add_over_lines(state: PickState, indexes: Iterable[int], quantity: Decimal) -> dict[int, Decimal]:
    """Return the picked quantities by line after adding `quantity`; each line is filled before the next."""
    changes: dict[int, Decimal] = {}
    for index in indexes:
        part = min(quantity, state.lines[index].remaining)
        if part > 0:
            changes[index] = state.lines[index].picked + part
            quantity -= part
    return changes


def set_over_lines(state: PickState, indexes: Sequence[int], value: Decimal) -> dict[int, Decimal]:
    """Return the changed picked quantities by line for this picker's total of `value`. Goods put down and goods in
    other pickers' hands stay; lines fill in order."""
    left = value - sum((state.lines[index].moved for index in indexes), Decimal(0))
    changes: dict[int, Decimal] = {}
    for index in indexes:
        line = state.lines[index]
        kept = line.moved + quantity_of_others(state, line)
        part = max(Decimal(0), min(left, line.ordered - kept))
        changes[index] = kept + part
        left -= part
    return {index: picked for index, picked in changes.items() if picked != state.lines[index].picked}


def set_picked(
    state: PickState, changes: Mapping[int, Decimal], *, is_closed: bool = False, is_total: bool = False
) -> PickState:
    """Set the picked quantities of these lines, optionally closing them; add the step to the history. A weighed line
    that lacks no more than its tolerance is closed too. A total replaces the totals typed just before it."""
    lines = list(state.lines)
    before = []
    for index, picked in changes.items():
        line = lines[index]
        after = (_before_last_totals(state, line) if is_total else line).with_picked(picked)
        was = LineBefore(line.order, line.line, line.picked, line.is_closed, after.changes_since(line))
        before.append(was)
        own = max(Decimal(0), line.own_picked + picked - line.picked)
        is_closed_now = after.is_within_tolerance or (is_closed and picked < line.ordered)
        lines[index] = after._replace(own_picked=own, is_closed=is_closed_now)
    state = state._replace(lines=tuple(lines), choices=(), is_pack_asked=False)
    return add_undo_step(state, UndoStep(tuple(before), is_total=is_total))


def _before_last_totals(state: PickState, line: PickLine) -> PickLine:
    """Return the line as it was before the totals that were typed last."""
    for step in reversed(state.history):
        was = next((each for each in step.lines_before if (each.order, each.line) == (line.order, line.line)), None)
        if was is None or not step.is_total:
            break
        line = line.without_changes(was.changes, was.picked)
    return line


def move_put_down(state: PickState, put_down: Iterable[PutDown], sign: int, location: str) -> PickState:
    """Record that goods were put down at a location, or with sign -1 that they are in hand again."""
    more = {(each.order, each.line): each.quantity * sign for each in put_down}
    lines = (_move_line(line, more.get(line.key, Decimal(0)), location) for line in state.lines)
    return state._replace(lines=tuple(lines))


def _move_line(line: PickLine, more: Decimal, location: str) -> PickLine:
    if not more:
        return line
    kept = tuple(code for code in line.put_down_at if code != location)
    kept = (*kept, location) if more > 0 else kept
    return line._replace(moved=line.moved + more, own_picked=max(Decimal(0), line.own_picked - more), put_down_at=kept)


def put_down_locations(state: PickState, order: str = "") -> tuple[str, ...]:
    """Return the locations where the goods of an order, or of all orders, were put down."""
    locations = (
        location
        for line in state.lines
        if order in ("", line.order) and line.moved > 0
        for location in line.put_down_at
    )
    return tuple(dict.fromkeys(locations))


def move_stop(state: PickState, index: int, move: Callable[[PickLine], PickLine]) -> tuple[PickState, list[PickLine]]:
    """Return the pick with the undo step for moving the open lines of a stop, and all lines after the move."""
    stop = [each for each in lines_of_stop(state, index) if state.lines[each].is_open]
    lines = [move(line) if each in stop else line for each, line in enumerate(state.lines)]
    return add_undo_step(state, moved_stop_step(state.lines[each] for each in stop)), lines


def moved_stop_step(lines: Iterable[PickLine]) -> UndoStep:
    """Return the undo step for moving these lines to another location."""
    return UndoStep(
        sources_before=tuple(
            LineSource(t.order, t.line, t.location, t.pool, t.barred_pools, t.walk_order, t.location_order)
            for t in lines
        )
    )


def restore_sources(state: PickState, step: UndoStep) -> tuple[list[PickLine], PickLine | None]:
    """Move the step's open lines back to their earlier locations. Return all lines and the first one moved; None if
    none of them is still open."""
    sources = {(each.order, each.line): each for each in step.sources_before}
    lines, first = list(state.lines), None
    for index, line in enumerate(lines):
        source = sources.get(line.key)
        if source and line.is_open:
            moved = line._replace(location=source.location, pool=source.pool, barred_pools=source.barred_pools)
            lines[index] = moved._replace(walk_order=source.walk_order, location_order=source.location_order)
            first = first or lines[index]
    return lines, first


def restore_lines(state: PickState, lines_before: Iterable[LineBefore]) -> tuple[PickState, tuple[int, ...]]:
    """Restore lines to their state before a step, at the locations where it changed them; return the new state and the
    indexes of the lines changed. Lines that have left the pick or are put down do not change."""
    lines = list(state.lines)
    touched = []
    by_line = {(each.order, each.line): each for each in lines_before}
    for index, line in enumerate(lines):
        was = by_line.get(line.key)
        picked = min(was.picked, line.ordered) if was else line.picked
        if was is None or picked < line.moved or (picked, was.is_closed) == (line.picked, line.is_closed):
            continue
        restored = line.without_changes(was.changes, picked)
        lines[index] = restored._replace(is_closed=was.is_closed and picked < line.ordered)
        touched.append(index)
    return state._replace(lines=tuple(lines), choices=()), tuple(touched)


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
    closed = set_picked(state, {index: state.lines[index].picked for index in indexes}, is_closed=True)
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
        (line, line.in_hand if includes_others else stops_and_goods_in_hand.quantity_to_put_down(state, line))
        for line in lines
    )
    put_down = tuple(PutDown(line.order, line.line, quantity) for line, quantity in quantities if quantity)
    if not put_down:
        return state, ()
    writes = _movements(_lines_with_quantity(state, put_down), store, user, target={"location_code": location})
    after = move_put_down(state, put_down, 1, location)._replace(choices=(), only_order="")
    return add_undo_step(after, UndoStep(put_down=put_down, location=location)), writes


def undo_put_down(state: PickState, step: UndoStep, store: str, user: str) -> tuple[PickState, tuple[Write, ...]]:
    """Take back into hand what a step put down, as far as it is still there."""
    moved = {line.key: line.moved for line in state.lines}
    put_down = tuple(each for each in step.put_down if moved.get((each.order, each.line), 0) >= each.quantity)
    if not put_down:
        return state, ()
    writes = _movements(_lines_with_quantity(state, put_down), store, user, source={"location_code": step.location})
    return move_put_down(state, put_down, -1, step.location), writes


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
