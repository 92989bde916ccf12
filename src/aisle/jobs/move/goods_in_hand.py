"""What is in hand, what leaves it, and the operation that says so.

Interface: Create movement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.job import Query, Write
from aisle.jobs.move.move_state import (
    MAX_UNDO,
    UNKNOWN_QUANTITY,
    ZERO,
    Goods,
    HeldGoods,
    MovementItem,
    MoveState,
    OrderNeed,
    PoolQuantity,
    StockLine,
    UndoStep,
    parse_stock_lines,
)
from aisle.jobs.quantities import to_decimal
from aisle.jobs.walk_order import natural_key

MOVEMENT_SOURCE = "aisle"
"""What the movements name as their origin."""


# What is in hand


def goods_key(goods: Goods) -> tuple[str, str, int, str, int]:
    """What tells goods in hand apart."""
    return goods.product, goods.location.casefold(), goods.pool, goods.order, goods.line


def find_goods(in_hand: tuple[Goods, ...], goods: Goods) -> int:
    """Index of the goods that these belong to; -1 for none."""
    return next((index for index, part in enumerate(in_hand) if goods_key(part) == goods_key(goods)), -1)


def add_to_hand(in_hand: tuple[Goods, ...], goods: Goods) -> tuple[Goods, ...]:
    """The hand with these goods added to their like; a quantity below zero takes away."""
    index = find_goods(in_hand, goods)
    if index < 0:
        return (*in_hand, goods) if goods.quantity > 0 else in_hand
    quantity = in_hand[index].quantity + goods.quantity
    rest = (in_hand[index]._replace(quantity=quantity),) if quantity > 0 else ()
    return (*in_hand[:index], *rest, *in_hand[index + 1 :])


def set_in_hand(state: MoveState, goods: Goods, quantity: Decimal) -> MoveState:
    """The goods in hand that are like `part` now are this many, and stand on the screen."""
    index = find_goods(state.in_hand, goods)
    before = state.in_hand[index].quantity if index >= 0 else ZERO
    delta = goods._replace(quantity=quantity - before)
    if not delta.quantity:
        return state._replace(current_index=index, choices=())
    hand = add_to_hand(state.in_hand, delta)
    fresh = tuple(with_stock_of(each, goods) if goods_key(each) == goods_key(goods) else each for each in hand)
    at = find_goods(fresh, goods)
    return add_undo_step(
        state._replace(in_hand=fresh, current_index=at if at >= 0 else len(fresh) - 1, choices=()), UndoStep((delta,))
    )


def with_stock_of(goods: Goods, now: Goods) -> Goods:
    """Goods in hand with what the books say now."""
    return goods._replace(
        available=now.available, pools=now.pools, allow_overage=goods.allow_overage or now.allow_overage
    )


def add_undo_step(state: MoveState, step: UndoStep) -> MoveState:
    """One more thing that can be undone."""
    return state._replace(history=(*state.history, step)[-MAX_UNDO:])


def first_exceeding(goods: Iterable[Goods]) -> Goods | None:
    """The first of these of which more is to be moved than the books have, and nobody said that it shall."""
    return next(
        (part for part in goods if part.available >= 0 and part.quantity > part.available and not part.allow_overage),
        None,
    )


def free_goods(stock_line: StockLine, location: str, pool: int) -> Goods:
    """Free goods from here, from this pool (0: from any)."""
    part = Goods(
        stock_line.product,
        stock_line.label,
        ZERO,
        location,
        pools=stock_line.pools,
        allows_decimals=stock_line.allows_decimals,
        unit=stock_line.unit,
    )
    return with_pool(
        part._replace(
            available=max(ZERO, stock_line.free) if stock_line.free != UNKNOWN_QUANTITY else UNKNOWN_QUANTITY
        ),
        pool,
    )


def held_goods(stock_line: StockLine, held: HeldGoods, location: str) -> Goods:
    """Goods that an order line has, in hand or at this place."""
    part = Goods(
        stock_line.product, stock_line.label, ZERO, location, 0, held.order, held.line, available=held.quantity
    )
    return part._replace(allows_decimals=stock_line.allows_decimals, unit=stock_line.unit)


def with_pool(goods: Goods, pool: int) -> Goods:
    """The same goods, to come from this pool (0: from any)."""
    if goods.order:
        return goods
    if not goods.pools:
        return goods._replace(pool=pool)
    found = sum((each.quantity for each in goods.pools if pool in (0, each.pool)), ZERO)
    return goods._replace(pool=pool, available=found)


def change_pool(state: MoveState, pool: int) -> MoveState:
    """All that is in hand, to come from this pool (0: from any); what was taken before cannot be undone by itself."""
    hand: tuple[Goods, ...] = ()
    for part in state.in_hand:
        hand = add_to_hand(hand, with_pool(part, pool))
    return state._replace(
        in_hand=hand,
        current_index=min(state.current_index, len(hand) - 1),
        history=() if state.in_hand else state.history,
    )


def split_over_pools(goods: Goods) -> tuple[PoolQuantity, ...]:
    """Which pools these goods leave, so that they can come back to the same; pool 0 leaves it to the service."""
    if goods.pool or goods.order or not goods.pools:
        return (PoolQuantity(goods.pool, goods.quantity),)
    rest, plan = goods.quantity, []
    for each in goods.pools:
        piece = min(rest, each.quantity)
        if piece > 0:
            plan.append(PoolQuantity(each.pool, piece))
            rest -= piece
    if rest > 0:
        first = plan[0] if plan else PoolQuantity(goods.pools[0].pool, ZERO)
        plan = [first._replace(quantity=first.quantity + rest), *plan[1:]]
    return tuple(plan)


def remaining_pools(pools: tuple[PoolQuantity, ...], taken: Iterable[PoolQuantity]) -> tuple[PoolQuantity, ...]:
    """What is left in the pools."""
    gone = {each.pool: each.quantity for each in taken}
    left = (each._replace(quantity=each.quantity - gone.get(each.pool, ZERO)) for each in pools)
    return tuple(each for each in left if each.quantity > 0)


def in_walk_order(goods: tuple[Goods, ...]) -> tuple[Goods, ...]:
    """Goods in the order in which feet bring them away."""
    return tuple(
        sorted(goods, key=lambda part: (part.suggested_order, natural_key(part.suggested_location), part.label))
    )


# Putting down


def movement_items(
    goods: Iterable[Goods], location: str, to_pool: int, target_order: str = "", needs: tuple[OrderNeed, ...] = ()
) -> tuple[MovementItem, ...]:
    """The items of the movement that brings goods to a place, or to the lines of an order."""
    left = list(needs)
    legs: list[MovementItem] = []
    for part in goods:
        for piece in split_over_pools(part):
            leg = MovementItem(
                part.product, part.label, piece.quantity, part.location, piece.pool, part.order, part.line
            )
            leg = leg._replace(to_location=location, to_pool=to_pool, allow_overage=part.allow_overage)
            if not target_order:
                legs.append(leg._replace(to_order=part.order, to_line=part.line) if part.stays_held else leg)
                continue
            legs += _split_over_lines(leg._replace(to_order=target_order), left)
    return tuple(legs)


def _split_over_lines(item: MovementItem, needs: list[OrderNeed]) -> list[MovementItem]:
    """One leg for each line that takes some of it; `rooms` shrink."""
    found, rest = [], item.quantity
    for index, room in enumerate(needs):
        piece = min(rest, room.needed) if room.product == item.product else ZERO
        if piece > 0:
            found.append(item._replace(quantity=piece, to_line=room.line))
            needs[index] = room._replace(needed=room.needed - piece)
            rest -= piece
    return found


def is_no_change(item: MovementItem) -> bool:
    """Nothing would change by it."""
    same = (item.location.casefold(), item.order, item.line) == (
        item.to_location.casefold(),
        item.to_order,
        item.to_line,
    )
    return same and item.to_pool in (0, item.pool)


def reverse_item(item: MovementItem) -> MovementItem:
    """The way back, into the same pool. Goods of an order keep the pool that they have."""
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
    )


def put_down(state: MoveState, goods: tuple[Goods, ...], items: tuple[MovementItem, ...], now: str) -> MoveState:
    """These goods have left the hand, and the books of where they came from with them."""
    hand, gone = state.in_hand, []
    for part in goods:
        pools = split_over_pools(part)
        whole = hand[find_goods(hand, part)]
        books = max(ZERO, whole.available - part.quantity) if whole.available >= 0 else UNKNOWN_QUANTITY
        left = whole._replace(
            quantity=whole.quantity - part.quantity, available=books, pools=remaining_pools(whole.pools, pools)
        )
        hand = tuple(
            left if goods_key(each) == goods_key(part) else each
            for each in hand
            if goods_key(each) != goods_key(part) or left.quantity
        )
        gone.append(part._replace(pools=tuple(each for each in pools if each.pool)))
    shelf = shift_stock(state, gone, -1)
    at = state.current_index if state.current_index < len(hand) else 0 if hand else -1
    after = state._replace(
        in_hand=hand, source_stock=shelf, current_index=at, portion=ZERO, choices=(), target_order="", needs=()
    )
    return add_undo_step(after, UndoStep(tuple(gone), items, now))


def undo_put_down(state: MoveState, step: UndoStep) -> MoveState:
    """The goods of a move are in hand again, and in the books where they came from."""
    hand = state.in_hand
    for part in step.goods:
        index = find_goods(hand, part)
        if index < 0:
            hand = (*hand, part)
            continue
        mine = hand[index]
        pools = _add_pools(mine.pools, part.pools, 1)
        books = mine.available + part.quantity if mine.available >= 0 else UNKNOWN_QUANTITY
        whole = mine._replace(quantity=mine.quantity + part.quantity, available=books, pools=pools)
        hand = (*hand[:index], whole, *hand[index + 1 :])
    return state._replace(
        in_hand=hand, source_stock=shift_stock(state, step.goods, 1), current_index=find_goods(hand, step.goods[0])
    )


def shift_stock(state: MoveState, goods: Iterable[Goods], sign: int) -> tuple[StockLine, ...]:
    """The shelf with free goods of this place brought there or away."""
    shelf = list(state.source_stock)
    for part in goods:
        for index, lying in enumerate(shelf):
            here = part.location.casefold() == state.location.casefold() and lying.product == part.product
            if not here:
                continue
            if part.order:
                held = tuple(_shift_held(hold, part, sign) for hold in lying.held)
                shelf[index] = lying._replace(held=tuple(hold for hold in held if hold.quantity > 0))
            elif lying.free >= 0:
                pools = _add_pools(lying.pools, split_over_pools(part) if part.pools or part.pool else (), sign)
                shelf[index] = lying._replace(free=max(ZERO, lying.free + sign * part.quantity), pools=pools)
    return tuple(shelf)


def _shift_held(held: HeldGoods, goods: Goods, sign: int) -> HeldGoods:
    same = (held.order, held.line) == (goods.order, goods.line)
    return held._replace(quantity=held.quantity + sign * goods.quantity) if same else held


def _add_pools(pools: tuple[PoolQuantity, ...], more: Iterable[PoolQuantity], sign: int) -> tuple[PoolQuantity, ...]:
    found = {each.pool: each.quantity for each in pools}
    for each in more:
        if each.pool:
            found[each.pool] = found.get(each.pool, ZERO) + sign * each.quantity
    return tuple(PoolQuantity(pool, quantity) for pool, quantity in found.items() if quantity > 0)


# What is sent


def movement_write(movement_items: Iterable[MovementItem], store: str, user: str) -> Write:
    """The operation: all of these items or none. interface: Create movement."""
    items: list[dict[str, Any]] = []
    orders: set[str] = set()
    products: set[str] = set()
    for leg in movement_items:
        item: dict[str, Any] = {
            "product_number": leg.product,
            "quantity": leg.quantity,
            "from_location": _movement_end(leg.location, leg.pool, leg.order, leg.line),
            "to_location": _movement_end(leg.to_location, leg.to_pool, leg.to_order, leg.to_line),
            "source": MOVEMENT_SOURCE,
        }
        if leg.allow_overage:
            item["allow_overage"] = True
        items.append(item)
        products.add(f"product/{leg.product}")
        orders.update(f"order/{order}" for order in (leg.order, leg.to_order) if order)
    lanes = (*sorted(orders), *sorted(products))
    return Write("create-movement", lanes, {"store_number": store}, {"AppUserName": user}, items)


def _movement_end(location: str, pool: int, order: str, line: int) -> dict[str, Any]:
    end: dict[str, Any] = {"location_code": location} if location else {}
    if pool:
        end["stock_pool"] = pool
    if order:
        end.update(customer_order_number=order, customer_order_line_number=line)
    return end


MAX_PRODUCTS = 200
"""Products of a place that are read when goods are taken there; of more the others come when they are scanned."""

QUERY_ALL = "all"
"""The query for all that lies at a place, and its id."""

GOODS_QUESTIONS = ("fit", "over", "held", "forget")
"""Ways out of a question about goods that somebody has in his hands: until it is answered, nothing else is taken."""


def query_location(id_: str, location: str) -> Query:
    """Asks what lies there, as far as people see it at once."""
    return Query(id_, "place", {"location_code": location, "size": MAX_PRODUCTS})


def query_product_here(state: MoveState, product: str) -> Query:
    """Asks whether a product lies here of which nothing was read."""
    return Query("here", "place", {"location_code": state.location, "product_number": product})


def query_location_again(state: MoveState) -> Query:
    """Asks what of it lies here now."""
    return (
        query_location("again", state.location)
        if state.has_unread_stock
        else Query("again", "place", {"location_code": state.location})
    )


def query_all_here(state: MoveState) -> Query:
    """Asks for all of it."""
    return Query(QUERY_ALL, "place", {"location_code": state.location})


def is_goods_question_open(state: MoveState) -> bool:
    """Whether goods were counted that nobody has said yet how many of, or whose, are meant."""
    return any(way.kind in GOODS_QUESTIONS for way in state.choices)


def refresh_stock(state: MoveState, row: Mapping[str, Any] | None) -> MoveState:
    """What the books say now; what was taken here stands against that."""
    if row is None:
        return state._replace(
            source_stock=(), is_source_known=False, has_unread_stock=False, product_count=0, default_pool=0
        )
    shelf = parse_stock_lines(row)
    lying = int(to_decimal(row.get("total"), Decimal(len(shelf))))
    unnamed = bool(row.get("unnamed"))
    state = state._replace(
        is_source_known=True, has_unread_stock=lying > len(shelf), product_count=lying, are_locations_unknown=unnamed
    )
    shelf = (*shelf, *_goods_in_question(state, shelf))
    hand = tuple(_with_current_stock(part, shelf, state) for part in state.in_hand)
    return state._replace(source_stock=shelf, default_pool=int(to_decimal(row.get("default_stock_pool"))), in_hand=hand)


def with_product_here(state: MoveState, row: Mapping[str, Any] | None) -> MoveState:
    """The shelf with a product that was asked for by name, where it lies here."""
    return state._replace(source_stock=(*state.source_stock, *(parse_stock_lines(row) if row else ())))


def _goods_in_question(state: MoveState, stock: tuple[StockLine, ...]) -> tuple[StockLine, ...]:
    """What is asked about and does not lie here by the books: none of it, or its answer would take nothing. Where not
    all was read it is as it was."""
    product = state.pending_scan.key if is_goods_question_open(state) and state.pending_scan else ""
    if any(each.product == product for each in stock):
        return ()
    found = tuple(each for each in state.source_stock if each.product == product)
    return found if state.has_unread_stock else tuple(each._replace(free=ZERO, pools=(), held=()) for each in found)


def _with_current_stock(goods: Goods, stock: tuple[StockLine, ...], state: MoveState) -> Goods:
    if goods.location.casefold() != state.location.casefold():
        return goods
    lying = next((each for each in stock if each.product == goods.product), None)
    if lying is None and state.has_unread_stock:
        return goods
    if goods.order:
        held = [hold for hold in (lying.held if lying else ()) if (hold.order, hold.line) == (goods.order, goods.line)]
        return goods._replace(available=held[0].quantity if held else ZERO)
    if lying is None:
        return goods._replace(available=ZERO, pools=())
    fresh = free_goods(lying, goods.location, goods.pool)
    return goods._replace(available=fresh.available, pools=fresh.pools)
