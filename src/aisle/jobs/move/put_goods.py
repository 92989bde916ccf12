"""Destination of a move: goods go to a location, a pool or an order in one movement; unloading of the cart."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aisle.jobs.job import Context, Query, Turn, reply
from aisle.jobs.move import goods_in_hand, movement_write_and_undo
from aisle.jobs.move.move_state_and_rows import (
    ZERO,
    Goods,
    MoveChoice,
    MovementItem,
    MoveState,
    OrderNeed,
    Result,
    parse_order_needs,
)
from aisle.jobs.move.take_goods import ask_exceeding, refuse_order
from aisle.jobs.names_in_messages import amount_of, unit_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, msg, raw
from aisle.scan.grammar_and_meaning_types import Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderRow


def put_at_location(state: MoveState, location: str, context: Context) -> Result:
    """Move the goods in hand, or those on the screen from the cart, to this location."""
    parts = state.goods_to_put_down
    if not parts:
        return reply(state, WRONG, "move.nothing_on_cart")
    exceeding = goods_in_hand.first_exceeding(parts)
    if exceeding is not None:
        return _ask_exceeding(_leave_location_question(state), exceeding)
    items = movement_write_and_undo.movement_items(parts, location, state.target_order, state.needs)
    is_left_there = state.task is not None and location.casefold() == state.task.location.casefold()
    if is_left_there or any(goods_in_hand.is_no_change(item) for item in items):
        return _reject_same_location(state, location)
    return _send(state, parts, items, location, context)


def _ask_exceeding(state: MoveState, goods: Goods) -> Result:
    whole = state.in_hand[goods_in_hand.find_goods(state.in_hand, goods)]
    return ask_exceeding(state, whole, whole.quantity)


def _leave_location_question(state: MoveState) -> MoveState:
    if state.phase != "where":
        return state
    return state._replace(phase=state.return_phase, return_phase="", target_order="", needs=())


def _reject_same_location(state: MoveState, location: str) -> Result:
    if state.target_order:
        return reply(state, WRONG, "move.same_order", order=state.target_order)
    choices = (MoveChoice("drop"),) if state.phase == "take" else ()
    return reply(state._replace(choices=choices), ASK if choices else WRONG, "move.same_location", place=location)


def _send(
    state: MoveState, goods: tuple[Goods, ...], items: tuple[MovementItem, ...], location: str, context: Context
) -> Result:
    target = state.target_order
    write = movement_write_and_undo.movement_write(items, context.store, context.user)
    state = goods_in_hand.put_down(
        _leave_location_question(state)._replace(target_order=target), goods, items, context.now
    )
    quantity = amount_of(goods[0], sum((part.quantity for part in goods), ZERO))
    label = goods[0].label
    destination = _destination_text(location, target, state)
    if state.phase == "put":
        return _next_on_cart(state, write, quantity, label, destination)
    if len(goods) > 1:
        return reply(state, GOOD, "move.moved_many", write, count=len(goods), target=destination)
    return reply(state, GOOD, "move.moved", write, label=label, quantity=quantity, target=destination)


def _next_on_cart(state: MoveState, write: Any, quantity: Decimal | Msg, label: str, where: Msg) -> Result:
    if not state.in_hand:
        state = state._replace(phase="load")
        return reply(state, GOOD, "move.cart_empty", write, label=label, quantity=quantity, target=where)
    state = state._replace(current_index=max(0, state.current_index))
    left = goods_in_hand.count_products(state)
    return reply(state, GOOD, "move.put", write, label=label, quantity=quantity, target=where, left=left)


def _destination_text(location: str, order: str, state: MoveState) -> Msg:
    if order:
        return msg("move.to_order_at", order=order, place=location) if location else msg("move.to_order", order=order)
    if location:
        return raw(location)
    return msg("locations.default_pool", pool=state.to_pool) if state.to_pool else msg("move.no_location_short")


def put_without_location(state: MoveState, context: Context) -> Result:
    """Finish without a location: the goods change their pool, or return from an order to stock."""
    if not state.in_hand:
        return reply(state, WRONG, "receive.scan_first")
    if all(part.to_pool for part in state.in_hand):
        # Each part keeps its location; parts from several locations still go in one movement.
        return _change_pool(state, context)
    if not state.uses_locations and all(part.order for part in state.in_hand):
        return put_at_location(state, "", context)
    if not state.uses_locations:
        state = state._replace(phase="pool", return_phase=state.phase, choosing_pool="from")
        return reply(state, ASK, "move.note_from_pool")
    return reply(state, WRONG, "move.scan_target")


def _change_pool(state: MoveState, context: Context) -> Result:
    exceeding = goods_in_hand.first_exceeding(state.in_hand)
    if exceeding is not None:
        return _ask_exceeding(state, exceeding)
    items = tuple(
        item for part in state.in_hand for item in movement_write_and_undo.movement_items((part,), part.location)
    )
    if any(goods_in_hand.is_no_change(item) for item in items):
        return reply(state, WRONG, "move.same_pool", pool=state.to_pool)
    return _send(state, state.in_hand, items, "", context)


# To an order


def give_to_order(state: MoveState, row: OrderRow | None, context: Context) -> Result:
    """Assign the goods to the lines of this order; ask for the location if the store has locations."""
    if refused := refuse_order(state, row):
        return refused
    assert row is not None
    order, needs = str(row["order_number"]), parse_order_needs(row)
    for part in state.goods_to_put_down:
        own_needs = tuple(
            OrderNeed(needed.product, needed.line, part.quantity)
            for needed in needs
            if part.order == order and part.line == needed.line
        )
        line_needs = [needed for needed in needs if needed.product == part.product]
        needed = part.quantity if own_needs else sum((each.needed for each in line_needs), ZERO)
        if not line_needs:
            return reply(state, WRONG, "pick.not_here", label=part.label, order=order)
        if needed < sum((each.quantity for each in state.goods_to_put_down if each.product == part.product), ZERO):
            return _ask_order_full(state, part, order, needed)
        if own_needs:
            needs = (*own_needs, *(each for each in needs if each.line != part.line))
    state = state._replace(target_order=order, needs=needs)
    if state.uses_locations:
        return reply(state._replace(phase="where", return_phase=state.phase), ASK, "move.where_put", order=order)
    return put_at_location(state, "", context)


def _ask_order_full(state: MoveState, goods: Goods, order: str, needed: Decimal) -> Result:
    index = goods_in_hand.find_goods(state.in_hand, goods)
    alone = sum(each.product == goods.product for each in state.goods_to_put_down) == 1
    choices = (
        (MoveChoice("fit_order", order, needed, unit=unit_of(goods)),) if needed > 0 and index >= 0 and alone else ()
    )
    state = state._replace(choices=choices, current_index=index if index >= 0 else state.current_index)
    kind = ASK if choices else WRONG
    amounts = {"room": amount_of(goods, needed), "quantity": amount_of(goods, goods.quantity)}
    return reply(state, kind, "move.order_full", label=goods.label, order=order, **amounts)


def limit_to_order(state: MoveState, choice: MoveChoice) -> Result:
    """Assign only the quantity that the order needs; the rest stays in hand."""
    part = state.current_goods
    if part is None:
        return Turn(state)
    portion = choice.quantity if choice.quantity < part.quantity else ZERO
    return Turn(state._replace(portion=portion), (Query("target", "order", {"order_number": choice.key}),))


# Cart


def start_unloading(state: MoveState) -> Result:
    """Start to unload the cart, in walking order."""
    if not state.in_hand:
        return reply(state, WRONG, "move.nothing_on_cart")
    in_hand = goods_in_hand.in_walk_order(state.in_hand)
    state = state._replace(in_hand=in_hand, phase="put", current_index=0, portion=ZERO, choices=())
    return reply(state, GOOD, "move.to_put_away", count=len(in_hand))


def choose_on_cart(state: MoveState, match: Match) -> Result:
    """Select a scanned product on the cart, or part of its quantity, to be put down next."""
    indexes = [index for index, part in enumerate(state.in_hand) if part.product == match.key]
    if not indexes:
        label = match.label or match.key
        return reply(state, WRONG, "move.not_on_cart", label=label, code=match.code or match.key)
    index = (
        indexes[(indexes.index(state.current_index) + 1) % len(indexes)]
        if state.current_index in indexes and len(indexes) > 1
        else indexes[0]
    )
    part = state.in_hand[index]
    if match.is_explicit and (match.quantity > part.quantity or (match.quantity % 1 and not part.allows_decimals)):
        args = {"quantity": amount_of(part, match.quantity), "there": amount_of(part, part.quantity)}
        return reply(
            state._replace(current_index=index, portion=ZERO), WRONG, "move.not_so_many", label=part.label, **args
        )
    portion = match.quantity if match.is_explicit else ZERO
    state = movement_write_and_undo.select_goods(state, index)._replace(portion=portion)
    return reply(
        state, INFO, "move.current_goods", label=part.label, quantity=amount_of(part, portion or part.quantity)
    )
