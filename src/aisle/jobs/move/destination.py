"""Destination of a move: goods go to a location, a pool or an order in one movement; undo of that movement."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aisle.jobs import stored_messages
from aisle.jobs.job import Context, Json, Query, Refresh, Turn, reply
from aisle.jobs.move import goods_in_hand
from aisle.jobs.move.move_state import (
    ZERO,
    Goods,
    MoveChoice,
    MovementItem,
    MoveState,
    OrderNeed,
    PoolQuantity,
    UndoStep,
    at_source,
    parse_held_goods,
    parse_order_needs,
    parse_stock_lines,
)
from aisle.jobs.move.source import ask_exceeding, refuse_order
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw, undo_verdict
from aisle.scan.meaning import Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders_and_deliveries import OrderRow

Result = Turn[MoveState]

UNDO_PREFIX = "undo/"
"""Prefix of the ids of queries that check if a move can be undone; the location follows."""


# Destination


def put_at_location(state: MoveState, location: str, context: Context) -> Result:
    """Move the goods in hand, or those on the screen from the cart, to this location."""
    parts = state.goods_to_put_down
    if not parts:
        return reply(state, WRONG, "move.nothing_on_cart")
    exceeding = goods_in_hand.first_exceeding(parts)
    if exceeding is not None:
        return _ask_exceeding(_leave_location_question(state), exceeding)
    items = goods_in_hand.movement_items(parts, location, state.to_pool, state.target_order, state.needs)
    if any(goods_in_hand.is_no_change(item) for item in items):
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
    write = goods_in_hand.movement_write(items, context.store, context.user)
    state = goods_in_hand.put_down(
        _leave_location_question(state)._replace(target_order=target), goods, items, context.now
    )
    quantity = sum((part.quantity for part in goods), ZERO)
    label = goods[0].label
    destination = _destination_text(location, target, state)
    if state.phase == "put":
        return _next_on_cart(state, write, quantity, label, destination)
    if len(goods) > 1:
        return reply(state, GOOD, "move.moved_many", write, count=len(goods), target=destination)
    return reply(state, GOOD, "move.moved", write, label=label, quantity=quantity, target=destination)


def _next_on_cart(state: MoveState, write: Any, quantity: Decimal, label: str, where: Msg) -> Result:
    if not state.in_hand:
        state = state._replace(phase="load")
        return reply(state, GOOD, "move.cart_empty", write, label=label, quantity=quantity, target=where)
    state = state._replace(current_index=max(0, state.current_index))
    return reply(state, GOOD, "move.put", write, label=label, quantity=quantity, target=where, left=len(state.in_hand))


def _destination_text(location: str, order: str, state: MoveState) -> Msg:
    if order:
        return msg("move.to_order_at", order=order, place=location) if location else msg("move.to_order", order=order)
    if location:
        return raw(location)
    return msg("move.to_pool", pool=state.to_pool) if state.to_pool else msg("move.no_location_short")


def put_without_location(state: MoveState, context: Context) -> Result:
    """Finish without a location: the goods change their pool, or return from an order to stock."""
    if not state.in_hand:
        return reply(state, WRONG, "move.scan_first")
    if state.to_pool:
        # Each part keeps its location; parts from several locations still go in one movement.
        return _change_pool(state, context)
    if not state.uses_locations and all(part.order for part in state.in_hand):
        return put_at_location(state, "", context)
    if not state.uses_locations:
        state = state._replace(phase="pool", return_phase=state.phase, choosing_pool="from")
        return reply(state, ASK, "move.which_from_pool")
    return reply(state, WRONG, "move.scan_target")


def _change_pool(state: MoveState, context: Context) -> Result:
    exceeding = goods_in_hand.first_exceeding(state.in_hand)
    if exceeding is not None:
        return _ask_exceeding(state, exceeding)
    items = tuple(
        item for part in state.in_hand for item in goods_in_hand.movement_items((part,), part.location, state.to_pool)
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
            if _is_of_line(part, needed, order)
        )
        line_needs = [needed for needed in needs if needed.product == part.product]
        needed = part.quantity if own_needs else sum((each.needed for each in line_needs), ZERO)
        if not line_needs:
            return reply(state, WRONG, "move.not_on_order", label=part.label, order=order)
        if needed < sum((each.quantity for each in state.goods_to_put_down if each.product == part.product), ZERO):
            return _ask_order_full(state, part, order, needed)
        if own_needs:
            needs = (*own_needs, *(each for each in needs if each.line != part.line))
    state = state._replace(target_order=order, needs=needs)
    if state.uses_locations:
        return reply(state._replace(phase="where", return_phase=state.phase), ASK, "move.where_put", order=order)
    return put_at_location(state, "", context)


def _is_of_line(goods: Goods, need: OrderNeed, order: str) -> bool:
    """Return True if the goods already belong to this line and only change their location."""
    return goods.order == order and goods.line == need.line


def _ask_order_full(state: MoveState, goods: Goods, order: str, needed: Decimal) -> Result:
    index = goods_in_hand.find_goods(state.in_hand, goods)
    alone = sum(each.product == goods.product for each in state.goods_to_put_down) == 1
    choices = (MoveChoice("fit_order", order, needed),) if needed > 0 and index >= 0 and alone else ()
    state = state._replace(choices=choices, current_index=index if index >= 0 else state.current_index)
    kind = ASK if choices else WRONG
    return reply(state, kind, "move.order_full", label=goods.label, order=order, room=needed, quantity=goods.quantity)


def limit_to_order(state: MoveState, choice: MoveChoice, context: Context) -> Result:
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
        args = {"quantity": match.quantity, "there": part.quantity}
        return reply(
            state._replace(current_index=index, portion=ZERO), WRONG, "move.not_so_many", label=part.label, **args
        )
    portion = match.quantity if match.is_explicit and match.quantity < part.quantity else ZERO
    state = state._replace(current_index=index, portion=portion)
    return reply(state, INFO, "move.current_goods", label=part.label, quantity=portion or part.quantity)


# Undo


def undo_step(state: MoveState, context: Context) -> Result:
    """Undo the last take, or the last move if the goods are still at its destination."""
    if not state.history:
        return reply(state, WRONG, "pick.nothing_to_undo")
    step = state.history[-1]
    if not step.items:
        return _undo_take(state, step)
    if step.at == context.now:  # the cached stock is older than this step, and nobody else has seen the goods yet
        return _undo_move(state, step, context)
    state, item = state._replace(is_undoing=True), step.items[0]
    if locations := _target_locations(step):
        return Turn(state, (_query_location(locations[0]),))
    if item.to_order:
        return Turn(state, (Query("undo_order", "order", {"order_number": item.to_order}),))
    return _undo_move(state, step, context)


def _target_locations(step: UndoStep) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.to_location for item in step.items if item.to_location))


def _query_location(location: str) -> Query:
    return Query(f"{UNDO_PREFIX}{location}", "location", {"location_code": location})


def _undo_take(state: MoveState, step: UndoStep) -> Result:
    """Undo a take: the goods are no longer in hand; their stock never changed."""
    in_hand = state.in_hand
    for part in step.goods:
        in_hand = goods_in_hand.add_to_hand(in_hand, part._replace(quantity=-part.quantity))
    in_hand = tuple(map(goods_in_hand.without_unused_consent, in_hand))
    index = goods_in_hand.find_goods(in_hand, step.goods[0])
    index = index if index >= 0 else len(in_hand) - 1
    phase = "load" if state.phase == "put" and not in_hand else state.phase
    state = state._replace(
        in_hand=in_hand, history=state.history[:-1], current_index=index, portion=ZERO, phase=phase, is_undone=False
    )
    was_taken = step.goods[0].quantity > 0
    parts = [part._replace(quantity=abs(part.quantity)) for part in step.goods]
    if was_taken:
        text = stored_messages.goods_message(
            "move.take_undone", "move.take_undone_many", _goods_amounts(parts), target=_sources_text(parts)
        )
        if len(parts) > 1 and in_hand:
            text = msg("move.take_undone_rest", told=text, goods=_name_goods(in_hand))
    else:
        text = stored_messages.goods_message("move.back_in_hand", "move.back_in_hand_many", _goods_amounts(parts))
    return Turn(state, (), undo_verdict(text))


def undo_if_unchanged(state: MoveState, row: Json | None, context: Context, location: str = "") -> Result:
    """Undo the move if its goods are still at their destinations, which are checked one after the other."""
    if not state.is_undoing or not state.history:
        return Turn(state)
    step = state.history[-1]
    if row is not None and not location and not row.get("lines_known", True):
        order = step.items[0].to_order
        refresh = Refresh("order", order)
        return reply(state._replace(is_undoing=False), WRONG, "move.undo_order_loading", refresh, order=order)
    items = [item for item in step.items if item.to_location == location]
    quantities = [min(item.quantity, _quantity_there(item, row)) for item in items]
    if row is None and location:
        quantities = [item.quantity for item in items]  # the location is unknown here: the service decides
    item = next((item for item, left in zip(items, quantities, strict=True) if left < item.quantity), None)
    if item is None:
        locations = _target_locations(step)
        remaining = locations[locations.index(location) + 1 :] if location else ()
        return Turn(state, (_query_location(remaining[0]),)) if remaining else _undo_move(state, step, context)
    left = sum(quantities, ZERO)
    where = item.to_location or item.to_order
    if left <= 0 or len(step.items) > 1:
        state = state._replace(is_undoing=False, history=())
        return _reject_undo(state, step, item.label, where)
    ways = (MoveChoice("undo_rest", where, left),)
    state = state._replace(choices=ways, is_undoing=True)
    return reply(state, ASK, "move.partly_moved_on", label=item.label, place=where, left=left, quantity=item.quantity)


def _reject_undo(state: MoveState, step: UndoStep, label: str, location: str) -> Result:
    count = len({item.product for item in step.items})
    if count == 1:
        return reply(state, WRONG, "move.moved_on", label=label, place=location)
    return reply(state, WRONG, "move.moved_on_many", label=label, place=location, count=count)


def _quantity_there(item: MovementItem, row: Json | None) -> Decimal:
    """Return the quantity of an item's goods that is still at its destination."""
    if row is None:
        return ZERO
    if not item.to_location:
        closed = not row.get("is_active", True) or row.get("is_rejected")
        found = [
            hold for stock_line in parse_held_goods(row, "") for hold in stock_line.held if hold.line == item.to_line
        ]
        return ZERO if closed else sum((hold.quantity for hold in found if not hold.location), ZERO)
    stock_line = next((each for each in parse_stock_lines(row) if each.product == item.product), None)
    if stock_line is None:
        return ZERO
    if item.to_order:
        held = (hold for hold in stock_line.held if (hold.order, hold.line) == (item.to_order, item.to_line))
        return sum((hold.quantity for hold in held), ZERO)
    pool = item.to_pool or item.pool
    by_pool = {each.pool: each.quantity for each in stock_line.pools}
    return max(ZERO, by_pool.get(pool, ZERO) if pool and by_pool else stock_line.free)


def undo_rest(state: MoveState, choice: MoveChoice, context: Context) -> Result:
    """Undo the move for the quantity that is left; earlier steps can no longer be undone."""
    if not state.is_undoing or not state.history:
        return Turn(state)
    step = state.history[-1]
    item, part = step.items[0]._replace(quantity=choice.quantity), step.goods[0]
    pools = (PoolQuantity(item.pool, choice.quantity),) if item.pool and part.pools else ()
    missing = part.quantity - choice.quantity
    available = max(choice.quantity, part.available - missing) if part.available >= 0 else part.available
    rest_step = UndoStep((part._replace(quantity=choice.quantity, available=available, pools=pools),), (item,))
    return _undo_move(state._replace(history=()), rest_step, context)


def _undo_move(state: MoveState, step: UndoStep, context: Context) -> Result:
    """Send the reverse movement; the goods are in hand again, and in stock where they came from."""
    write = goods_in_hand.movement_write(
        [goods_in_hand.reverse_item(item) for item in step.items], context.store, context.user
    )
    is_on_cart = state.phase in ("load", "put")
    state = goods_in_hand.undo_put_down(
        state._replace(is_undoing=False, history=state.history[:-1], portion=ZERO), step
    )
    part = step.goods[0]
    if not is_on_cart:
        state = _return_to_source(state, part)._replace(is_undone=True)
    if is_on_cart and state.phase == "put":
        state = state._replace(current_index=max(0, goods_in_hand.find_goods(state.in_hand, part)))
    source = stored_messages.list_locations(item.to_location or item.to_order for item in step.items)
    args = {"source": source, "target": _sources_text(step.goods)}
    text = stored_messages.goods_message("move.undone", "move.undone_many", _goods_amounts(step.goods), **args)
    return Turn(state, (write,), undo_verdict(text))


def _goods_amounts(goods: Iterable[Goods]) -> list[stored_messages.GoodsAmount]:
    return [
        stored_messages.GoodsAmount(part.product, part.label, part.quantity, part.unit if part.allows_decimals else "")
        for part in goods
    ]


def _name_goods(goods: Iterable[Goods]) -> Msg:
    amounts = stored_messages.merge_goods(_goods_amounts(goods))
    if len(amounts) > 1:
        return stored_messages.list_goods(amounts)
    return msg("goods.one", quantity=stored_messages.goods_quantity(amounts[0]), label=amounts[0].label)


def _sources_text(parts: Iterable[Goods]) -> Msg:
    """Return the sources of these goods: locations, or orders that had them in hand."""
    return stored_messages.list_locations(part.location or part.order for part in parts)


def ask_after_undo(state: MoveState, location: str) -> Result:
    """Ask about a location scanned after an undo: were the goods put back there, or do they go there now?"""
    quantity = sum((each.quantity for each in state.in_hand), ZERO)
    has_several = len({each.product for each in state.in_hand}) > 1
    put = MoveChoice(
        "put_all" if has_several else "put", location, Decimal(len(state.in_hand)) if has_several else quantity
    )
    state = state._replace(choices=(MoveChoice("put_down_there", location), put))
    text = stored_messages.goods_message(
        "move.after_undo", "move.after_undo_many", _goods_amounts(state.in_hand), place=location
    )
    return Turn(state, (), Verdict(ASK, text))


def is_asked_after_undo(state: MoveState) -> bool:
    """Return True if it is asked whether undone goods are in hand or were put back at a scanned location."""
    return any(choice.kind == "put_down_there" for choice in state.choices)


def keep_question_after_undo(asked: MoveState, turn: Result) -> Result:
    """Ask again about the location scanned after an undo if a typed quantity has changed the goods in hand."""
    if not is_asked_after_undo(asked) or turn.state.choices or not turn.state.in_hand:
        return turn
    question = ask_after_undo(turn.state, asked.choices[0].key)
    return question._replace(effects=turn.effects) if turn.verdict and turn.verdict.kind == GOOD else turn


def _return_to_source(state: MoveState, goods: Goods) -> MoveState:
    if state.is_started and state.location.casefold() == goods.location.casefold():
        return state._replace(phase="take")
    source = at_source(state, goods.location)
    return source._replace(phase="take", has_unread_stock=state.has_unread_stock)
