"""Goods in hand during a move: their quantities, the stock they come from, and their names."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from aisle.jobs import names_in_messages
from aisle.jobs.move.move_state_and_rows import (
    MAX_UNDO,
    UNKNOWN_QUANTITY,
    ZERO,
    Goods,
    HeldGoods,
    MovementItem,
    MoveState,
    PoolQuantity,
    StockLine,
    Take,
    UndoStep,
)
from aisle.jobs.store_time import seconds_since
from aisle.jobs.view import Msg, msg
from aisle.jobs.walk_order_sort_keys import natural_key


def goods_key(goods: Goods) -> tuple[str, str, int, int, str, int]:
    """Return the key that distinguishes goods in hand."""
    return goods.product, goods.location.casefold(), goods.pool, goods.to_pool, goods.order, goods.line


def find_goods(in_hand: tuple[Goods, ...], goods: Goods) -> int:
    """Return the index of the goods in hand with the same key; -1 for none."""
    return next((index for index, part in enumerate(in_hand) if goods_key(part) == goods_key(goods)), -1)


def count_products(state: MoveState) -> int:
    """Return the number of products in hand. Their quantities have different units, and no sum."""
    return len({part.product for part in state.in_hand})


def add_to_hand(in_hand: tuple[Goods, ...], goods: Goods) -> tuple[Goods, ...]:
    """Return the goods in hand with these added; a negative quantity subtracts."""
    index = find_goods(in_hand, goods)
    if index < 0:
        return (*in_hand, goods) if goods.quantity > 0 else in_hand
    quantity = in_hand[index].quantity + goods.quantity
    rest = (in_hand[index]._replace(quantity=quantity),) if quantity > 0 else ()
    return (*in_hand[:index], *rest, *in_hand[index + 1 :])


def set_in_hand(state: MoveState, goods: Goods, quantity: Decimal) -> MoveState:
    """Set the quantity of these goods in hand and show them. After 0 no goods are shown: a number typed next may be a
    correction, and is not for other goods."""
    index = find_goods(state.in_hand, goods)
    before = state.in_hand[index].quantity if index >= 0 else ZERO
    delta = goods._replace(quantity=quantity - before)
    if not delta.quantity:
        return state._replace(current_index=index, choices=())
    changed = add_to_hand(state.in_hand, delta)
    updated = tuple(with_stock_of(each, goods) if goods_key(each) == goods_key(goods) else each for each in changed)
    goods_index = find_goods(updated, goods)
    if goods_index < 0 and state.phase == "put":
        goods_index = len(updated) - 1
    shown = state._replace(in_hand=updated, current_index=goods_index, choices=())
    return add_undo_step(shown, UndoStep((delta,)))


def with_stock_of(goods: Goods, now: Goods) -> Goods:
    """Return goods in hand with the stock that is known now."""
    return goods._replace(
        available=now.available, pools=now.pools, allow_overage=goods.allow_overage or now.allow_overage
    )


def add_undo_step(state: MoveState, step: UndoStep) -> MoveState:
    """Add a step that can be undone."""
    return state._replace(history=(*state.history, step)[-MAX_UNDO:])


def first_exceeding(goods: Iterable[Goods]) -> Goods | None:
    """Return the first goods that exceed their stock without confirmation; None if none do."""
    return next(
        (part for part in goods if part.available >= 0 and part.quantity > part.available and not part.allow_overage),
        None,
    )


def without_unused_consent(goods: Goods) -> Goods:
    """Return goods without the consent to more than their stock if they do not exceed it."""
    is_used = 0 <= goods.available < goods.quantity
    return goods._replace(allow_overage=goods.allow_overage and is_used)


def _is_same_stock(goods: Goods, other: Goods) -> bool:
    """Return True if both come from the same stock, but not under the same choice of pools."""
    place, other_place = (goods.product, goods.location.casefold()), (other.product, other.location.casefold())
    return place == other_place and not (goods.order or other.order) and goods_key(goods) != goods_key(other)


def stock_left(state: MoveState, goods: Goods) -> Decimal:
    """Return the known stock of goods, without what is in hand of it under another choice of pools."""
    left = goods.available
    for other in state.in_hand if left >= 0 else ():
        if _is_same_stock(goods, other):
            left -= _quantity_from(split_over_pools(other), goods.pool)
    return left if goods.available < 0 else max(ZERO, left)


def _quantity_from(pieces: Iterable[PoolQuantity], pool: int) -> Decimal:
    """Return the quantity that these pieces take from a pool (0: any pool)."""
    return sum((each.quantity for each in pieces if pool in (0, each.pool) or not each.pool), ZERO)


def _shift_same_stock(in_hand: tuple[Goods, ...], moved: Goods, sign: int) -> tuple[Goods, ...]:
    """Return the goods in hand after adding moved goods to the stock that they share (`sign` 1) or subtracting them."""
    pieces = split_over_pools(moved)
    shifted = []
    for part in in_hand:
        if part.available >= 0 and _is_same_stock(moved, part):
            available = max(ZERO, part.available + sign * _quantity_from(pieces, part.pool))
            part = part._replace(available=available, pools=add_pools(part.pools, pieces, sign))
        shifted.append(part)
    return tuple(shifted)


def free_goods(stock_line: StockLine, location: str, pool: int) -> Goods:
    """Return an entry of quantity 0 for goods held for no order, from this pool (0: any pool)."""
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
    """Return an entry of quantity 0 for goods that an order line holds, in hand or at this location."""
    part = Goods(
        stock_line.product, stock_line.label, ZERO, location, 0, held.order, held.line, available=held.quantity
    )
    return part._replace(allows_decimals=stock_line.allows_decimals, unit=stock_line.unit)


def with_pool(goods: Goods, pool: int) -> Goods:
    """Return the goods with this pool (0: any pool) and its stock."""
    if goods.order:
        return goods
    if not goods.pools:
        return goods._replace(pool=pool)
    available = sum((each.quantity for each in goods.pools if pool in (0, each.pool)), ZERO)
    return goods._replace(pool=pool, available=available)


def change_pools(state: MoveState, pool: int, to_pool: int) -> MoveState:
    """Set the pools (0: any pool) of what is taken from now on. Goods on the cart keep theirs, and none of them is
    shown. Goods in hand change with them: earlier takes can no longer be undone one by one."""
    state = state._replace(from_pool=pool, to_pool=to_pool)
    if state.is_on_cart:
        return state._replace(current_index=-1)
    in_hand: tuple[Goods, ...] = ()
    changed = [with_pool(part, pool)._replace(to_pool=to_pool) for part in state.in_hand]
    for part in changed:
        in_hand = add_to_hand(in_hand, part)
    for index, whole in enumerate(in_hand):
        takes = [take for part in changed if goods_key(part) == goods_key(whole) for take in part.takes]
        whole = whole._replace(takes=tuple(sorted(takes, key=lambda take: take.at)))
        in_hand = (*in_hand[:index], whole, *in_hand[index + 1 :])
    return state._replace(
        in_hand=in_hand,
        current_index=min(state.current_index, len(in_hand) - 1),
        history=() if state.in_hand else state.history,
    )


def split_over_pools(goods: Goods) -> tuple[PoolQuantity, ...]:
    """Return the pools and quantities that these goods are taken from, so that an undo returns them there. Pool 0
    leaves the choice to the service."""
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


# Times


MAX_TAKE_S = Decimal(60)
"""Seconds from the first scan of goods within which further ones belong to the same take."""


def note_takes(goods: Goods, now: str) -> Goods:
    """Return goods in hand with the time of what was taken since. What was put back was taken last."""
    more = goods.quantity - sum((take.quantity for take in goods.takes), ZERO)
    if more < 0:
        return goods._replace(takes=_earlier_takes(goods.takes, goods.quantity))
    last = goods.takes[-1] if goods.takes else None
    if more and last and 0 <= seconds_since(last.at, now) < MAX_TAKE_S:
        return goods._replace(takes=(*goods.takes[:-1], last._replace(quantity=last.quantity + more)))
    return goods._replace(takes=(*goods.takes, Take(more, now))) if more else goods


def _earlier_takes(takes: tuple[Take, ...], quantity: Decimal) -> tuple[Take, ...]:
    """Return the earliest takes with this quantity in all."""
    earlier = []
    for take in takes:
        part = min(quantity, take.quantity)
        quantity -= part
        earlier += [take._replace(quantity=part)] if part else []
    return tuple(earlier)


def split_over_takes(goods: Goods) -> list[tuple[PoolQuantity, str]]:
    """Return the pools and quantities that these goods are taken from, each with the time at which it was. Goods that
    are at no location have none."""
    takes, pieces = list(goods.takes if goods.location else ()), []
    for pool, quantity in split_over_pools(goods):
        while quantity and takes:
            take = takes.pop(0)
            part = min(quantity, take.quantity)
            pieces.append((PoolQuantity(pool, part), take.at))
            quantity -= part
            if take.quantity > part:
                takes.insert(0, take._replace(quantity=take.quantity - part))
        if quantity:
            pieces.append((PoolQuantity(pool, quantity), ""))
    return pieces


def remaining_pools(pools: tuple[PoolQuantity, ...], taken: Iterable[PoolQuantity]) -> tuple[PoolQuantity, ...]:
    """Return the stock left in the pools after subtracting the taken quantities."""
    taken_by_pool = {each.pool: each.quantity for each in taken}
    left = (each._replace(quantity=each.quantity - taken_by_pool.get(each.pool, ZERO)) for each in pools)
    return tuple(each for each in left if each.quantity > 0)


def in_walk_order(goods: tuple[Goods, ...]) -> tuple[Goods, ...]:
    """Return goods in the walking order of their suggested locations."""
    return tuple(
        sorted(goods, key=lambda part: (part.suggested_order, natural_key(part.suggested_location), part.label))
    )


# Putting down


def is_no_change(item: MovementItem) -> bool:
    """Return True if the item changes nothing."""
    same_place = (item.location.casefold(), item.order, item.line) == (
        item.to_location.casefold(),
        item.to_order,
        item.to_line,
    )
    return same_place and item.to_pool in (0, item.pool)


def put_down(state: MoveState, goods: tuple[Goods, ...], items: tuple[MovementItem, ...], now: str) -> MoveState:
    """Remove these goods from hand, and from the stock of their source."""
    in_hand, moved = state.in_hand, []
    for part in goods:
        pools = split_over_pools(part)
        whole = in_hand[find_goods(in_hand, part)]
        available = max(ZERO, whole.available - part.quantity) if whole.available >= 0 else UNKNOWN_QUANTITY
        remaining = whole._replace(
            quantity=whole.quantity - part.quantity, available=available, pools=remaining_pools(whole.pools, pools)
        )
        remaining = remaining._replace(takes=_later_takes(whole.takes, part.quantity))
        in_hand = tuple(
            remaining if goods_key(each) == goods_key(part) else each
            for each in in_hand
            if goods_key(each) != goods_key(part) or remaining.quantity
        )
        in_hand = _shift_same_stock(in_hand, part, -1)
        moved.append(part._replace(pools=tuple(each for each in pools if each.pool)))
    state = state._replace(order_lines=_shift_order(state, moved, -1))
    stock = shift_stock(state, moved, -1)
    index = state.current_index if 0 <= state.current_index < len(in_hand) else 0 if in_hand else -1
    after = state._replace(
        in_hand=in_hand, source_stock=stock, current_index=index, portion=ZERO, choices=(), target_order="", needs=()
    )
    return add_undo_step(after, UndoStep(tuple(moved), items, now))


def _later_takes(takes: tuple[Take, ...], quantity: Decimal) -> tuple[Take, ...]:
    """Return the takes without this quantity of the earliest ones."""
    later = []
    for take in takes:
        part = min(quantity, take.quantity)
        quantity -= part
        later += [take._replace(quantity=take.quantity - part)] if take.quantity > part else []
    return tuple(later)


def undo_put_down(state: MoveState, step: UndoStep) -> MoveState:
    """Take the goods of a move back into hand, and into the stock of their source.

    They were taken from there when they were moved: the service undoes the move at that time.
    """
    in_hand = state.in_hand
    for part in step.goods:
        in_hand = _shift_same_stock(in_hand, part, 1)
        index, take = find_goods(in_hand, part), Take(part.quantity, step.at)
        if index < 0:
            in_hand = (*in_hand, part._replace(takes=(take,), later=None))
            continue
        present = in_hand[index]
        pools = add_pools(present.pools, part.pools, 1)
        available = present.available + part.quantity if present.available >= 0 else UNKNOWN_QUANTITY
        takes = tuple(sorted((*present.takes, take), key=lambda each: each.at))
        quantity = present.quantity + part.quantity
        whole = present._replace(quantity=quantity, available=available, pools=pools, takes=takes)
        in_hand = (*in_hand[:index], whole, *in_hand[index + 1 :])
    return state._replace(
        in_hand=in_hand,
        source_stock=shift_stock(state, step.goods, 1),
        order_lines=_shift_order(state, step.goods, 1),
        current_index=find_goods(in_hand, step.goods[0]),
    )


def shift_stock(state: MoveState, goods: Iterable[Goods], sign: int) -> tuple[StockLine, ...]:
    """Return the stock of the current location after adding these goods (`sign` 1) or subtracting them (-1)."""
    stock = list(state.source_stock)
    for part in goods:
        for index, line in enumerate(stock):
            is_same = part.location.casefold() == state.location.casefold() and line.product == part.product
            if not is_same:
                continue
            if part.order:
                held = tuple(_shift_held(hold, part, sign) for hold in line.held)
                stock[index] = line._replace(held=tuple(hold for hold in held if hold.quantity > 0))
            elif line.free >= 0:
                pools = add_pools(line.pools, split_over_pools(part) if part.pools or part.pool else (), sign)
                stock[index] = line._replace(free=max(ZERO, line.free + sign * part.quantity), pools=pools)
    return tuple(stock)


def _shift_order(state: MoveState, goods: Iterable[Goods], sign: int) -> tuple[StockLine, ...]:
    """Return the goods of the order at the source after adding these goods (`sign` 1) or subtracting them (-1)."""
    changes = {(part.order, part.line, part.location): sign * part.quantity for part in goods}
    return tuple(
        line._replace(
            held=tuple(
                hold._replace(quantity=hold.quantity + changes.get((hold.order, hold.line, hold.location), ZERO))
                for hold in line.held
            )
        )
        for line in state.order_lines
    )


def _shift_held(held: HeldGoods, goods: Goods, sign: int) -> HeldGoods:
    same = (held.order, held.line) == (goods.order, goods.line)
    return held._replace(quantity=held.quantity + sign * goods.quantity) if same else held


def add_pools(pools: tuple[PoolQuantity, ...], more: Iterable[PoolQuantity], sign: int) -> tuple[PoolQuantity, ...]:
    """Return the stock of pools after adding these quantities (`sign` 1) or subtracting them (-1)."""
    quantities = {each.pool: each.quantity for each in pools}
    for each in more:
        if each.pool:
            quantities[each.pool] = quantities.get(each.pool, ZERO) + sign * each.quantity
    return tuple(PoolQuantity(pool, quantity) for pool, quantity in quantities.items() if quantity > 0)


GOODS_QUESTIONS = ("fit", "over", "held", "forget")
"""Kinds of choices about goods that somebody has taken; nothing else is taken before the answer."""


def is_goods_question_open(state: MoveState) -> bool:
    """Return True if the quantity or the owner of taken goods is asked for."""
    return any(choice.kind in GOODS_QUESTIONS for choice in state.choices)


def goods_amounts(goods: Iterable[Goods]) -> list[names_in_messages.GoodsAmount]:
    return [
        names_in_messages.GoodsAmount(part.product, part.label, part.quantity, names_in_messages.unit_of(part))
        for part in goods
    ]


def name_goods(goods: Iterable[Goods]) -> Msg:
    amounts = names_in_messages.merge_goods(goods_amounts(goods))
    if len(amounts) > 1:
        return names_in_messages.list_goods(amounts)
    return msg("goods.one", quantity=names_in_messages.goods_quantity(amounts[0]), label=amounts[0].label)


def sources_text(parts: Iterable[Goods]) -> Msg:
    """Return the sources of these goods: locations, or orders that had them in hand."""
    return names_in_messages.list_locations(part.location or part.order for part in parts)
