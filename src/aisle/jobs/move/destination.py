"""The giving half of the move job: where the goods go, one movement for all that goes there, and the way back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import message
from aisle.jobs.job import Context, Query, Refresh, Turn
from aisle.jobs.move import goods_in_hand as carrying
from aisle.jobs.move.move_state import (
    ZERO,
    Goods,
    MoveChoice,
    MovementItem,
    MoveState,
    OrderNeed,
    PoolQuantity,
    UndoStep,
    parse_held_goods,
    parse_order_needs,
    parse_stock_lines,
    reply,
)
from aisle.jobs.move.source import ask_exceeding
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw, undo_verdict
from aisle.scan.meaning import Match

Result = Turn[MoveState]

UNDO_PREFIX = "undo/"
"""What the ids of queries begin with that ask what of a move can be taken back; the place follows."""


# Where to


def put_at_location(state: MoveState, location: str, context: Context) -> Result:
    """The goods in hand, or those on the screen from the cart, go here."""
    parts = state.goods_to_put_down
    if not parts:
        return reply(state, WRONG, "move.nothing_on_cart")
    lacking = carrying.first_exceeding(parts)
    if lacking is not None:
        return _ask_exceeding(_leave_location_question(state), lacking)
    legs = carrying.movement_items(parts, location, state.to_pool, state.target_order, state.needs)
    if any(carrying.is_no_change(leg) for leg in legs):
        return _reject_same_location(state, location)
    return _send(state, parts, legs, location, context)


def _ask_exceeding(state: MoveState, goods: Goods) -> Result:
    """The books have fewer than were taken, as it was known last."""
    whole = state.in_hand[carrying.find_goods(state.in_hand, goods)]
    return ask_exceeding(state, whole, whole.quantity)


def _leave_location_question(state: MoveState) -> MoveState:
    """From the question about an order's place to what was done before."""
    if state.phase != "where":
        return state
    return state._replace(phase=state.return_phase, return_phase="", target_order="", needs=())


def _reject_same_location(state: MoveState, location: str) -> Result:
    """Where they come from is no place to move them to, unless it is from pool to pool."""
    if state.target_order:
        return reply(state, WRONG, "move.same_order", order=state.target_order)
    ways = (MoveChoice("drop"),) if state.phase == "take" else ()
    return reply(state._replace(choices=ways), ASK if ways else WRONG, "move.same_place", place=location)


def _send(
    state: MoveState, goods: tuple[Goods, ...], items: tuple[MovementItem, ...], location: str, context: Context
) -> Result:
    target = state.target_order
    write = carrying.movement_write(items, context.store, context.user)
    state = carrying.put_down(_leave_location_question(state)._replace(target_order=target), goods, items, context.now)
    quantity = sum((part.quantity for part in goods), ZERO)
    what = goods[0].label
    where = _destination_text(location, target, state)
    if state.phase == "put":
        return _next_on_cart(state, write, quantity, what, where)
    id_ = "move.moved" if len(goods) == 1 else "move.moved_many"
    return reply(state, GOOD, id_, write, label=what, quantity=quantity, count=len(goods), target=where)


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
    return msg("move.to_pool", pool=state.to_pool) if state.to_pool else msg("move.no_place_short")


def put_without_location(state: MoveState, context: Context) -> Result:
    """Done, without another place: the goods change their pool, or an order gives them back."""
    if not state.in_hand:
        return reply(state, WRONG, "move.scan_first")
    if state.to_pool:
        # Each stays where it is; what was taken at several places goes in one movement all the same.
        return _change_pool(state, context)
    if not state.uses_locations and all(part.order for part in state.in_hand):
        return put_at_location(state, "", context)
    if not state.uses_locations:
        state = state._replace(phase="pool", return_phase=state.phase, choosing_pool="from")
        return reply(state, ASK, "move.which_from_pool")
    return reply(state, WRONG, "move.scan_target")


def _change_pool(state: MoveState, context: Context) -> Result:
    lacking = carrying.first_exceeding(state.in_hand)
    if lacking is not None:
        return _ask_exceeding(state, lacking)
    legs = tuple(
        leg for part in state.in_hand for leg in carrying.movement_items((part,), part.location, state.to_pool)
    )
    if any(carrying.is_no_change(leg) for leg in legs):
        return reply(state, WRONG, "move.same_pool", pool=state.to_pool)
    return _send(state, state.in_hand, legs, "", context)


# To an order


def give_to_order(state: MoveState, row: Mapping[str, Any] | None, context: Context) -> Result:
    """The lines of this order take the goods; then the place where they are put, where there are places."""
    if row is None or not row.get("is_active", True) or row.get("is_rejected"):
        return reply(state, WRONG, "move.no_order", order=str((row or {}).get("order_number") or ""))
    order = str(row["order_number"])
    if not row.get("lines_known", True):
        return reply(state, WRONG, "move.lines_awaited", Refresh("order", order), order=order)
    rooms = parse_order_needs(row)
    for part in state.goods_to_put_down:
        own = tuple(
            OrderNeed(room.product, room.line, part.quantity) for room in rooms if _is_of_line(part, room, order)
        )
        mine = [room for room in rooms if room.product == part.product]
        room = part.quantity if own else sum((each.needed for each in mine), ZERO)
        if not mine:
            return reply(state, WRONG, "move.not_on_order", label=part.label, order=order)
        if room < sum((each.quantity for each in state.goods_to_put_down if each.product == part.product), ZERO):
            return _ask_order_full(state, part, order, room)
        if own:
            rooms = (*own, *(each for each in rooms if each.line != part.line))
    state = state._replace(target_order=order, needs=rooms)
    if state.uses_locations:
        return reply(state._replace(phase="where", return_phase=state.phase), ASK, "move.where_put", order=order)
    return put_at_location(state, "", context)


def _is_of_line(goods: Goods, need: OrderNeed, order: str) -> bool:
    """The goods are this line's already, and only go to another place."""
    return goods.order == order and goods.line == need.line


def _ask_order_full(state: MoveState, goods: Goods, order: str, needed: Decimal) -> Result:
    index = carrying.find_goods(state.in_hand, goods)
    alone = sum(each.product == goods.product for each in state.goods_to_put_down) == 1
    ways = (MoveChoice("fit_order", order, needed),) if needed > 0 and index >= 0 and alone else ()
    state = state._replace(choices=ways, current_index=index if index >= 0 else state.current_index)
    kind = ASK if ways else WRONG
    return reply(state, kind, "move.order_full", label=goods.label, order=order, room=needed, quantity=goods.quantity)


def limit_to_order(state: MoveState, choice: MoveChoice, context: Context) -> Result:
    """Only as many as the order takes, the rest stays in hand; then it is asked again."""
    part = state.current_goods
    if part is None:
        return Turn(state)
    portion = choice.quantity if choice.quantity < part.quantity else ZERO
    return Turn(state._replace(portion=portion), (Query("target", "order", {"order_number": choice.key}),))


# The cart


def start_unloading(state: MoveState) -> Result:
    """The cart is loaded: what goes where, in the order of feet."""
    if not state.in_hand:
        return reply(state, WRONG, "move.nothing_on_cart")
    hand = carrying.in_walk_order(state.in_hand)
    state = state._replace(in_hand=hand, phase="put", current_index=0, portion=ZERO, choices=())
    return reply(state, GOOD, "move.unload", count=len(hand))


def choose_on_cart(state: MoveState, match: Match) -> Result:
    """A scan of a product on the cart: that is put down next, or so many of it."""
    found = [index for index, part in enumerate(state.in_hand) if part.product == match.key]
    if not found:
        label = match.label or match.key
        return reply(state, WRONG, "move.not_on_cart", label=label, code=match.code or match.key)
    index = (
        found[(found.index(state.current_index) + 1) % len(found)]
        if state.current_index in found and len(found) > 1
        else found[0]
    )
    part = state.in_hand[index]
    if match.is_explicit and (match.quantity > part.quantity or (match.quantity % 1 and not part.allows_decimals)):
        there = {"quantity": match.quantity, "there": part.quantity}
        return reply(
            state._replace(current_index=index, portion=ZERO), WRONG, "move.not_so_many", label=part.label, **there
        )
    portion = match.quantity if match.is_explicit and match.quantity < part.quantity else ZERO
    state = state._replace(current_index=index, portion=portion)
    return reply(state, INFO, "move.now", label=part.label, quantity=portion or part.quantity)


# Undo


def undo_step(state: MoveState, context: Context) -> Result:
    """Takes back the last take, or the last move, if the goods are still where they went."""
    if not state.history:
        return reply(state, WRONG, "pick.nothing_to_undo")
    did = state.history[-1]
    if not did.items:
        return _undo_take(state, did)
    if did.at == context.now:  # the books would say what was there before: nobody else has seen these goods yet
        return _undo_move(state, did, context)
    state, leg = state._replace(is_undoing=True), did.items[0]
    if places := _target_locations(did):
        return Turn(state, (_query_location(places[0]),))
    if leg.to_order:
        return Turn(state, (Query("undo_order", "order", {"order_number": leg.to_order}),))
    return _undo_move(state, did, context)


def _target_locations(step: UndoStep) -> tuple[str, ...]:
    """Where the goods of a move went, each once."""
    return tuple(dict.fromkeys(leg.to_location for leg in step.items if leg.to_location))


def _query_location(location: str) -> Query:
    """Asks what lies there of what was moved."""
    return Query(f"{UNDO_PREFIX}{location}", "place", {"location_code": location})


def _undo_take(state: MoveState, step: UndoStep) -> Result:
    """Goods go out of the hand again; in the books they have never left."""
    hand = state.in_hand
    for part in step.goods:
        hand = carrying.add_to_hand(hand, part._replace(quantity=-part.quantity))
    at = carrying.find_goods(hand, step.goods[0])
    at = at if at >= 0 else len(hand) - 1
    phase = "load" if state.phase == "put" and not hand else state.phase
    state = state._replace(
        in_hand=hand, history=state.history[:-1], current_index=at, portion=ZERO, phase=phase, is_undone=False
    )
    back = step.goods[0].quantity > 0
    parts = [part._replace(quantity=abs(part.quantity)) for part in step.goods]
    if back:
        text = message.goods_message(
            "move.untaken", "move.untaken_many", _goods_amounts(parts), target=_sources_text(parts)
        )
    else:
        text = message.goods_message("move.retaken", "move.retaken_many", _goods_amounts(parts))
    return Turn(state, (), undo_verdict(text))


def undo_if_unchanged(state: MoveState, row: Mapping[str, Any] | None, context: Context, location: str = "") -> Result:
    """What of the moved goods is still where they went, at one place after the other."""
    if not state.is_undoing or not state.history:
        return Turn(state)
    did = state.history[-1]
    if row is not None and not location and not row.get("lines_known", True):
        order = did.items[0].to_order
        wish = Refresh("order", order)
        return reply(state._replace(is_undoing=False), WRONG, "move.undo_awaited", wish, order=order)
    legs = [leg for leg in did.items if leg.to_location == location]
    there = [min(leg.quantity, _quantity_there(leg, row)) for leg in legs]
    if row is None and location:
        there = [leg.quantity for leg in legs]  # nobody here knows the place: the service decides
    leg = next((leg for leg, left in zip(legs, there, strict=True) if left < leg.quantity), None)
    if leg is None:
        places = _target_locations(did)
        on = places[places.index(location) + 1 :] if location else ()
        return Turn(state, (_query_location(on[0]),)) if on else _undo_move(state, did, context)
    left = sum(there, ZERO)
    where = leg.to_location or leg.to_order
    if left <= 0 or len(did.items) > 1:
        state = state._replace(is_undoing=False, history=())
        return _reject_undo(state, did, leg.label, where)
    ways = (MoveChoice("undo_rest", where, left),)
    state = state._replace(choices=ways, is_undoing=True)
    return reply(state, ASK, "move.partly_late", label=leg.label, place=where, left=left, quantity=leg.quantity)


def _reject_undo(state: MoveState, step: UndoStep, label: str, location: str) -> Result:
    """Nothing of a move is moved back, since some of it is not where it went."""
    count = len({leg.product for leg in step.items})
    if count == 1:
        return reply(state, WRONG, "move.too_late", label=label, place=location)
    text = msg("move.too_late_many", label=label, place=location, count=count)
    return Turn(state, (), Verdict(WRONG, text))


def _quantity_there(item: MovementItem, row: Mapping[str, Any] | None) -> Decimal:
    """How much of a leg's goods is where it went."""
    if row is None:
        return ZERO
    if not item.to_location:
        closed = not row.get("is_active", True) or row.get("is_rejected")
        found = [hold for lying in parse_held_goods(row, "") for hold in lying.held if hold.line == item.to_line]
        return ZERO if closed else sum((hold.quantity for hold in found if not hold.location), ZERO)
    lying = next((each for each in parse_stock_lines(row) if each.product == item.product), None)
    if lying is None:
        return ZERO
    if item.to_order:
        held = (hold for hold in lying.held if (hold.order, hold.line) == (item.to_order, item.to_line))
        return sum((hold.quantity for hold in held), ZERO)
    pool = item.to_pool or item.pool
    by_pool = {each.pool: each.quantity for each in lying.pools}
    return max(ZERO, by_pool.get(pool, ZERO) if pool and by_pool else lying.free)


def undo_rest(state: MoveState, choice: MoveChoice, context: Context) -> Result:
    """Moves back what is left of it; what was before that is history."""
    if not state.is_undoing or not state.history:
        return Turn(state)
    did = state.history[-1]
    leg, part = did.items[0]._replace(quantity=choice.quantity), did.goods[0]
    pools = (PoolQuantity(leg.pool, choice.quantity),) if leg.pool and part.pools else ()
    gone = part.quantity - choice.quantity
    books = max(choice.quantity, part.available - gone) if part.available >= 0 else part.available
    rest = UndoStep((part._replace(quantity=choice.quantity, available=books, pools=pools),), (leg,))
    return _undo_move(state._replace(history=()), rest, context)


def _undo_move(state: MoveState, step: UndoStep, context: Context) -> Result:
    """The goods are in hand again, and in the books where they came from."""
    write = carrying.movement_write([carrying.reverse_item(leg) for leg in step.items], context.store, context.user)
    cart = state.phase in ("load", "put")
    state = carrying.undo_put_down(state._replace(is_undoing=False, history=state.history[:-1], portion=ZERO), step)
    part = step.goods[0]
    if not cart:
        state = _return_to_source(state, part)._replace(is_undone=True)
    if cart and state.phase == "put":
        state = state._replace(current_index=max(0, carrying.find_goods(state.in_hand, part)))
    source = message.list_locations(leg.to_location or leg.to_order for leg in step.items)
    args = {"source": source, "target": _sources_text(step.goods)}
    text = message.goods_message("move.undone", "move.undone_many", _goods_amounts(step.goods), **args)
    return Turn(state, (write,), undo_verdict(text))


def _goods_amounts(goods_in_hand: Iterable[Goods]) -> list[message.GoodsAmount]:
    """The goods of a message."""
    return [
        message.GoodsAmount(part.product, part.label, part.quantity, part.unit if part.allows_decimals else "")
        for part in goods_in_hand
    ]


def _sources_text(parts: Iterable[Goods]) -> Msg:
    """Where these goods were taken: places, or orders that had them in hand."""
    return message.list_locations(part.location or part.order for part in parts)


def ask_after_undo(state: MoveState, location: str) -> Result:
    """A place after a move was taken back: the goods were put back meanwhile, or they go there now. Who knows, says."""
    quantity = sum((each.quantity for each in state.in_hand), ZERO)
    several = len({each.product for each in state.in_hand}) > 1
    put = MoveChoice("put_all" if several else "put", location, Decimal(len(state.in_hand)) if several else quantity)
    state = state._replace(choices=(MoveChoice("lying", location), put))
    text = message.goods_message(
        "move.after_undo", "move.after_undo_many", _goods_amounts(state.in_hand), place=location
    )
    return Turn(state, (), Verdict(ASK, text))


def _return_to_source(state: MoveState, goods: Goods) -> MoveState:
    """Goods that came back into the hand are taken on from where they came."""
    if state.is_started and state.location.casefold() == goods.location.casefold():
        return state._replace(phase="take")
    return state._replace(
        phase="take",
        is_started=True,
        location=goods.location,
        order="",
        order_lines=(),
        source_stock=(),
        is_source_known=False,
        default_pool=0,
    )
