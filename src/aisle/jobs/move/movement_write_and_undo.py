"""Movement of the goods in hand: the operation that creates it (Interface: Create movement), and its undo."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import names_in_messages
from aisle.jobs.job import Context, Json, Query, Refresh, Turn, Write, reply
from aisle.jobs.move import goods_in_hand
from aisle.jobs.move.goods_in_hand import split_over_takes
from aisle.jobs.move.move_state_and_rows import (
    ZERO,
    Goods,
    MoveChoice,
    MovementItem,
    MoveState,
    OrderNeed,
    PoolQuantity,
    Result,
    UndoStep,
    at_source,
    is_open_order,
    parse_held_goods,
    parse_stock_lines,
)
from aisle.jobs.names_in_messages import amount_of, unit_of
from aisle.jobs.view import ASK, GOOD, WRONG, Verdict, msg, undo_verdict

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import CountsSinceRow
    from aisle.operation_body_types import MovementEnd, MovementEntry


MOVEMENT_SOURCE = "aisle"


def movement_items(
    goods: Iterable[Goods], location: str, target_order: str = "", needs: tuple[OrderNeed, ...] = ()
) -> tuple[MovementItem, ...]:
    """Return the items of the movement that brings goods to a location, or to the lines of an order."""
    remaining_needs = list(needs)
    items: list[MovementItem] = []
    for part in goods:
        for piece, taken_at in split_over_takes(part):
            item = MovementItem(
                part.product, part.label, piece.quantity, part.location, piece.pool, part.order, part.line
            )
            item = item._replace(to_location=location, to_pool=part.to_pool, allow_overage=part.allow_overage)
            item = item._replace(taken_at=taken_at)
            if not target_order:
                items.append(item._replace(to_order=part.order, to_line=part.line) if part.stays_held else item)
                continue
            items += _split_over_lines(item._replace(to_order=target_order), remaining_needs)
    return tuple(items)


def reverse_item(item: MovementItem, moved_at: str) -> MovementItem:
    """Return the reverse of an item that was moved then, into the same pool. Goods of an order keep their pool."""
    return item._replace(
        location=item.to_location,
        pool=0 if item.to_order else item.to_pool or item.pool,
        order=item.to_order,
        line=item.to_line,
        to_location=item.location,
        to_pool=item.pool if item.to_pool else 0,
        to_order=item.order,
        to_line=item.line,
        allow_overage=False,
        taken_at="",
        undone_at=moved_at,
    )


def movement_write(movement_items: Iterable[MovementItem], store: str, user: str) -> Write:
    """Return the operation; the service applies all items or none. Interface: Create movement."""
    items: list[MovementEntry] = []
    orders: set[str] = set()
    products: set[str] = set()
    for movement_item in movement_items:
        item: MovementEntry = {
            "product_number": movement_item.product,
            "quantity": movement_item.quantity,
            "from_location": _movement_end(
                movement_item.location, movement_item.pool, movement_item.order, movement_item.line
            ),
            "to_location": _movement_end(
                movement_item.to_location, movement_item.to_pool, movement_item.to_order, movement_item.to_line
            ),
            "source": MOVEMENT_SOURCE,
        }
        if movement_item.allow_overage:
            item["allow_overage"] = True
        if movement_item.taken_at:
            item["taken_datetime"] = movement_item.taken_at
        if movement_item.undone_at:
            item["undone_datetime"] = movement_item.undone_at
        items.append(item)
        products.add(f"product/{movement_item.product}")
        orders.update(f"order/{order}" for order in (movement_item.order, movement_item.to_order) if order)
    lanes = (*sorted(orders), *sorted(products))
    return Write("create-movement", lanes, {"store_number": store}, {"AppUserName": user}, items)


def _movement_end(location: str, pool: int, order: str, line: int) -> MovementEnd:
    end: MovementEnd = {"location_code": location} if location else {}
    if pool:
        end["stock_pool"] = pool
    if order:
        end["customer_order_number"], end["customer_order_line_number"] = order, line
    return end


def _split_over_lines(item: MovementItem, needs: list[OrderNeed]) -> list[MovementItem]:
    """Return one item for each line that needs some of it; reduce `needs` accordingly."""
    items, rest = [], item.quantity
    for index, need in enumerate(needs):
        piece = min(rest, need.needed) if need.product == item.product else ZERO
        if piece > 0:
            items.append(item._replace(quantity=piece, to_line=need.line))
            needs[index] = need._replace(needed=need.needed - piece)
            rest -= piece
    return items


COUNTED_QUERY = "counted_since"
"""Id of the query for counts since the move that is undone."""

UNDO_PREFIX = "undo/"
"""Prefix of the ids of queries that check if a move can be undone; the location follows."""


def undo_step(state: MoveState, context: Context) -> Result:
    """Undo the last take, or the last move if the goods are still at its destination and nobody counted them since."""
    if not state.history:
        return reply(state, WRONG, "pick.nothing_to_undo")
    step = state.history[-1]
    if not step.items:
        return _undo_take(state, step)
    if step.at == context.now:  # the cached stock is older than this step, and nobody else has seen the goods yet
        return _undo_move(state, step, context)
    goods = [place for item in step.items for place in _counted_places(item)]
    args = {"since": step.at or state.opened_at, "goods": goods}
    return Turn(state._replace(is_undoing=True), (Query(COUNTED_QUERY, "counts_since", args),))


def _counted_places(item: MovementItem) -> list[list[Json]]:
    """Return the product with each location and pool that it left or reached."""
    places = (item.location, item.pool), (item.to_location, item.to_pool or item.pool)
    return [[item.product, location, pool] for location, pool in places if location]


def undo_unless_counted(state: MoveState, rows: tuple[CountsSinceRow, ...], context: Context) -> Result:
    """Undo nothing if somebody counted the goods at either end since; else check if they are still there."""
    if not state.is_undoing or not state.history:
        return Turn(state)
    step = state.history[-1]
    if rows:
        row, labels = rows[0], {item.product: item.label for item in step.items}
        label, place, counted = labels[row["product_number"]], row["location_code"], row["counted_quantity"]
        state = state._replace(is_undoing=False, history=())
        return reply(state, WRONG, "move.counted_since", label=label, place=place, counted=counted)
    item = step.items[0]
    if locations := _target_locations(step):
        return Turn(state, (_query_location(locations[0]),))
    if item.to_order:
        return Turn(state, (Query("undo_order", "order", {"order_number": item.to_order}),))
    return _undo_move(state, step, context)


def take_back_portion(state: MoveState) -> Result:
    """Take back the quantity said for the goods on the screen from the cart: all of them are put down next."""
    part = state.current_goods
    if part is None:
        return Turn(state._replace(portion=ZERO))
    text = msg("move.current_goods", label=part.label, quantity=amount_of(part, part.quantity))
    return Turn(state._replace(portion=ZERO), (), undo_verdict(text))


def select_goods(state: MoveState, index: int) -> MoveState:
    """Return the state with other goods on the cart selected, to be put down next; nothing is booked."""
    selection = (state.current_index, index, len(state.history))
    return state._replace(current_index=index, portion=ZERO, selection=selection)


def is_selection_last(state: MoveState) -> bool:
    """Return True if other goods were selected since the last step."""
    before, after, steps = state.selection
    is_same = (after, steps) == (state.current_index, len(state.history))
    return is_same and before != after and 0 <= before < len(state.in_hand)


def drop_selection(state: MoveState) -> Result:
    """Select again the goods before; what was booked stays."""
    state = state._replace(current_index=state.selection[0], selection=(-1, -1, -1), portion=ZERO)
    part = state.in_hand[state.current_index]
    text = msg("move.current_goods", label=part.label, quantity=amount_of(part, part.quantity))
    return Turn(state, (), undo_verdict(text))


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
        text = names_in_messages.goods_message(
            "move.take_undone",
            goods_in_hand.goods_amounts(parts),
            target=goods_in_hand.sources_text(parts),
        )
        if len(parts) > 1 and in_hand:
            text = msg("move.take_undone_rest", told=text, goods=goods_in_hand.name_goods(in_hand))
    else:
        text = names_in_messages.goods_message("move.back_in_hand", goods_in_hand.goods_amounts(parts))
    return Turn(state, (), undo_verdict(text))


def undo_if_unchanged(state: MoveState, row: Json | None, context: Context, location: str = "") -> Result:
    """Undo the move if its goods are still at their destinations, which are checked one after the other."""
    if not state.is_undoing or not state.history:
        return Turn(state)
    step = state.history[-1]
    if row is not None and not location and not row.get("lines_known", True):
        order = step.items[0].to_order
        refresh = Refresh("order", order)
        return reply(state._replace(is_undoing=False), WRONG, "pick.waiting", refresh, order=order)
    items = [item for item in step.items if item.to_location == location]
    quantities = _quantities_there(items, row)
    if row is None and location:
        quantities = [item.quantity for item in items]  # the location is unknown here: the service decides
    item = next((item for item, left in zip(items, quantities, strict=True) if left < item.quantity), None)
    if item is None:
        locations = _target_locations(step)
        remaining = locations[locations.index(location) + 1 :] if location else ()
        return Turn(state, (_query_location(remaining[0]),)) if remaining else _undo_move(state, step, context)
    where = item.to_location or item.to_order
    if not any(quantities) or len(items) < len(step.items):
        return _reject_undo(state._replace(is_undoing=False, history=()), step, item.label, where)
    return _ask_if_rest(state, _rest_of_step(step, quantities), item.label, where)


def _ask_if_rest(state: MoveState, rest: UndoStep, label: str, where: str) -> Result:
    """Ask whether to move back what is still there."""
    moved, part = state.history[-1].goods, rest.goods[0]
    left, quantity = (sum((each.quantity for each in goods), ZERO) for goods in (rest.goods, moved))
    state = state._replace(choices=(MoveChoice("undo_rest", where, left, unit=unit_of(part)),), undo_rest=rest)
    if len({each.product for each in moved}) > 1:
        return reply(state, ASK, "move.partly_moved_on_many", label=label, place=where)
    args = {"left": amount_of(part, left), "quantity": amount_of(part, quantity)}
    return reply(state, ASK, "move.partly_moved_on", label=label, place=where, **args)


def _rest_of_step(step: UndoStep, quantities: Sequence[Decimal]) -> UndoStep:
    """Return the step with these quantities of its items, which stand in the order of its goods."""
    items = [item._replace(quantity=left) for item, left in zip(step.items, quantities, strict=True)]
    pairs, goods = zip(step.items, items, strict=True), []
    for part in step.goods:
        missing, pools = part.quantity, list[PoolQuantity]()
        while missing > 0:
            moved, left = next(pairs)
            missing -= moved.quantity
            pools.append(PoolQuantity(left.pool, left.quantity))
        quantity = sum((each.quantity for each in pools), ZERO)
        if quantity:
            kept = goods_in_hand.add_pools((), pools, 1) if part.pools else ()
            available = max(quantity, part.available - part.quantity + quantity)
            available = available if part.available >= 0 else part.available
            goods.append(part._replace(quantity=quantity, available=available, pools=kept))
    return UndoStep(tuple(goods), tuple(item for item in items if item.quantity), step.at)


def _reject_undo(state: MoveState, step: UndoStep, label: str, location: str) -> Result:
    count = len({item.product for item in step.items})
    if count == 1:
        return reply(state, WRONG, "move.moved_on", label=label, place=location)
    return reply(state, WRONG, "move.moved_on_many", label=label, place=location, count=count)


def _quantities_there(items: Sequence[MovementItem], row: Json | None) -> list[Decimal]:
    """Return for each item the quantity that is still at its destination. Items of the same goods share it."""
    left: dict[tuple[str, int, str, int], Decimal] = {}
    quantities = []
    for item in items:
        key = item.product, item.to_pool or item.pool, item.to_order, item.to_line
        there = left[key] if key in left else _quantity_there(item, row)
        quantities.append(min(item.quantity, there))
        left[key] = there - quantities[-1]
    return quantities


def _quantity_there(item: MovementItem, row: Json | None) -> Decimal:
    """Return the quantity of an item's goods that is still at its destination."""
    if row is None:
        return ZERO
    if not item.to_location:
        found = [
            hold for stock_line in parse_held_goods(row, "") for hold in stock_line.held if hold.line == item.to_line
        ]
        return sum((hold.quantity for hold in found if not hold.location), ZERO) if is_open_order(row) else ZERO
    stock_line = next((each for each in parse_stock_lines(row) if each.product == item.product), None)
    if stock_line is None:
        return ZERO
    if item.to_order:
        held = (hold for hold in stock_line.held if (hold.order, hold.line) == (item.to_order, item.to_line))
        return sum((hold.quantity for hold in held), ZERO)
    pool = item.to_pool or item.pool
    by_pool = {each.pool: each.quantity for each in stock_line.pools}
    return max(ZERO, by_pool.get(pool, ZERO) if pool and by_pool else stock_line.free)


def undo_rest(state: MoveState, context: Context) -> Result:
    """Undo the move for the goods that are left; earlier steps can no longer be undone."""
    if not state.undo_rest:
        return Turn(state)
    return _undo_move(state._replace(history=(), undo_rest=None), state.undo_rest, context)


def _undo_move(state: MoveState, step: UndoStep, context: Context) -> Result:
    """Send the reverse movement; the goods are in hand again, and in stock where they came from."""
    write = movement_write([reverse_item(item, step.at) for item in step.items], context.store, context.user)
    state = goods_in_hand.undo_put_down(
        state._replace(is_undoing=False, history=state.history[:-1], portion=ZERO), step
    )
    if state.is_on_cart:
        state = state._replace(phase="put")  # they are put down next
    else:
        state = _return_to_source(state, step.goods[0])._replace(is_undone=True)
    source = names_in_messages.list_locations(item.to_location or item.to_order for item in step.items)
    args = {"source": source, "target": goods_in_hand.sources_text(step.goods)}
    text = names_in_messages.goods_message("move.undone", goods_in_hand.goods_amounts(step.goods), **args)
    return Turn(state, (write,), undo_verdict(text))


def ask_after_undo(state: MoveState, location: str) -> Result:
    """Ask about a location scanned after an undo: were the goods put back there, or do they go there now?"""
    quantity = sum((each.quantity for each in state.in_hand), ZERO)
    has_several = len({each.product for each in state.in_hand}) > 1
    put = MoveChoice("put", location, quantity, unit=unit_of(state.in_hand[0]))
    if has_several:
        put = MoveChoice("put_all", location, Decimal(len(state.in_hand)))
    state = state._replace(choices=(MoveChoice("put_down_there", location), put))
    text = names_in_messages.goods_message(
        "move.after_undo", goods_in_hand.goods_amounts(state.in_hand), place=location
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
