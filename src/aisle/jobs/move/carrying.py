"""What is in hand, what leaves it, and the operation that says so.

Interface: Create movement.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from aisle.jobs.base import Write
from aisle.jobs.feet import natural
from aisle.jobs.move.moving import HISTORY, UNKNOWN, ZERO, Did, Hold, InPool, Leg, Lying, Moving, Part, Wanting

SOURCE = "aisle"
"""What the movements name as their origin."""


# What is in hand


def key(part: Part) -> tuple[str, str, int, str, int]:
    """What tells goods in hand apart."""
    return part.product, part.place.casefold(), part.pool, part.order, part.line


def find(hand: tuple[Part, ...], wanted: Part) -> int:
    """Index of the goods that these belong to; -1 for none."""
    return next((index for index, part in enumerate(hand) if key(part) == key(wanted)), -1)


def put_in(hand: tuple[Part, ...], part: Part) -> tuple[Part, ...]:
    """The hand with these goods added to their like; a quantity below zero takes away."""
    index = find(hand, part)
    if index < 0:
        return (*hand, part) if part.quantity > 0 else hand
    quantity = hand[index].quantity + part.quantity
    rest = (hand[index]._replace(quantity=quantity),) if quantity > 0 else ()
    return (*hand[:index], *rest, *hand[index + 1 :])


def taken(state: Moving, part: Part, quantity: Decimal) -> Moving:
    """The goods in hand that are like `part` now are this many, and stand on the screen."""
    index = find(state.hand, part)
    before = state.hand[index].quantity if index >= 0 else ZERO
    delta = part._replace(quantity=quantity - before)
    if not delta.quantity:
        return state._replace(at=index, ways=())
    hand = put_in(state.hand, delta)
    fresh = tuple(renewed(each, part) if key(each) == key(part) else each for each in hand)
    at = find(fresh, part)
    return remember(state._replace(hand=fresh, at=at if at >= 0 else len(fresh) - 1, ways=()), Did((delta,)))


def renewed(old: Part, new: Part) -> Part:
    """Goods in hand with what the books say now."""
    return old._replace(books=new.books, pools=new.pools, over=old.over or new.over)


def remember(state: Moving, did: Did) -> Moving:
    """One more thing that can be undone."""
    return state._replace(history=(*state.history, did)[-HISTORY:])


def short(parts: Iterable[Part]) -> Part | None:
    """The first of these of which more is to be moved than the books have, and nobody said that it shall."""
    return next((part for part in parts if part.books >= 0 and part.quantity > part.books and not part.over), None)


def part_of(lying: Lying, place: str, pool: int) -> Part:
    """Free goods from here, from this pool (0: from any)."""
    part = Part(lying.product, lying.label, ZERO, place, pools=lying.pools, decimal=lying.decimal, unit=lying.unit)
    return from_pool(part._replace(books=max(ZERO, lying.free) if lying.free != UNKNOWN else UNKNOWN), pool)


def held_part(lying: Lying, hold: Hold, place: str) -> Part:
    """Goods that an order line has, in hand or at this place."""
    part = Part(lying.product, lying.label, ZERO, place, 0, hold.order, hold.line, books=hold.quantity)
    return part._replace(decimal=lying.decimal, unit=lying.unit)


def from_pool(part: Part, pool: int) -> Part:
    """The same goods, to come from this pool (0: from any)."""
    if part.order:
        return part
    if not part.pools:
        return part._replace(pool=pool)
    found = sum((each.quantity for each in part.pools if pool in (0, each.pool)), ZERO)
    return part._replace(pool=pool, books=found)


def repooled(state: Moving, pool: int) -> Moving:
    """All that is in hand, to come from this pool (0: from any); what was taken before cannot be undone by itself."""
    hand: tuple[Part, ...] = ()
    for part in state.hand:
        hand = put_in(hand, from_pool(part, pool))
    return state._replace(hand=hand, at=min(state.at, len(hand) - 1), history=() if state.hand else state.history)


def from_pools(part: Part) -> tuple[InPool, ...]:
    """Which pools these goods leave, so that they can come back to the same; pool 0 leaves it to the service."""
    if part.pool or part.order or not part.pools:
        return (InPool(part.pool, part.quantity),)
    rest, plan = part.quantity, []
    for each in part.pools:
        piece = min(rest, each.quantity)
        if piece > 0:
            plan.append(InPool(each.pool, piece))
            rest -= piece
    if rest > 0:
        first = plan[0] if plan else InPool(part.pools[0].pool, ZERO)
        plan = [first._replace(quantity=first.quantity + rest), *plan[1:]]
    return tuple(plan)


def without(pools: tuple[InPool, ...], taken_: Iterable[InPool]) -> tuple[InPool, ...]:
    """What is left in the pools."""
    gone = {each.pool: each.quantity for each in taken_}
    left = (each._replace(quantity=each.quantity - gone.get(each.pool, ZERO)) for each in pools)
    return tuple(each for each in left if each.quantity > 0)


def along(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Goods in the order in which feet bring them away."""
    return tuple(sorted(parts, key=lambda part: (part.home_order, natural(part.home), part.label)))


# Putting down


def legs_to(
    parts: Iterable[Part], place: str, to_pool: int, target: str = "", rooms: tuple[Wanting, ...] = ()
) -> tuple[Leg, ...]:
    """The items of the movement that brings goods to a place, or to the lines of an order."""
    left = list(rooms)
    legs: list[Leg] = []
    for part in parts:
        for piece in from_pools(part):
            leg = Leg(part.product, part.label, piece.quantity, part.place, piece.pool, part.order, part.line)
            leg = leg._replace(to_place=place, to_pool=to_pool, over=part.over)
            if not target:
                legs.append(leg._replace(to_order=part.order, to_line=part.line) if part.keep else leg)
                continue
            legs += _for_lines(leg._replace(to_order=target), left)
    return tuple(legs)


def _for_lines(leg: Leg, rooms: list[Wanting]) -> list[Leg]:
    """One leg for each line that takes some of it; `rooms` shrink."""
    found, rest = [], leg.quantity
    for index, room in enumerate(rooms):
        piece = min(rest, room.room) if room.product == leg.product else ZERO
        if piece > 0:
            found.append(leg._replace(quantity=piece, to_line=room.line))
            rooms[index] = room._replace(room=room.room - piece)
            rest -= piece
    return found


def still(leg: Leg) -> bool:
    """Nothing would change by it."""
    same = (leg.place.casefold(), leg.order, leg.line) == (leg.to_place.casefold(), leg.to_order, leg.to_line)
    return same and leg.to_pool in (0, leg.pool)


def reverse(leg: Leg) -> Leg:
    """The way back, into the same pool. Goods of an order keep the pool that they have."""
    return leg._replace(
        place=leg.to_place,
        pool=0 if leg.to_order else leg.to_pool or leg.pool,
        order=leg.to_order,
        line=leg.to_line,
        to_place=leg.place,
        to_pool=leg.pool if leg.to_pool else 0,
        to_order=leg.order,
        to_line=leg.line,
        over=False,
    )


def put_down(state: Moving, parts: tuple[Part, ...], legs: tuple[Leg, ...], moment: str) -> Moving:
    """These goods have left the hand, and the books of where they came from with them."""
    hand, gone = state.hand, []
    for part in parts:
        pools = from_pools(part)
        whole = hand[find(hand, part)]
        books = max(ZERO, whole.books - part.quantity) if whole.books >= 0 else UNKNOWN
        left = whole._replace(quantity=whole.quantity - part.quantity, books=books, pools=without(whole.pools, pools))
        hand = tuple(
            left if key(each) == key(part) else each for each in hand if key(each) != key(part) or left.quantity
        )
        gone.append(part._replace(pools=tuple(each for each in pools if each.pool)))
    shelf = shifted(state, gone, -1)
    at = state.at if state.at < len(hand) else 0 if hand else -1
    after = state._replace(hand=hand, shelf=shelf, at=at, portion=ZERO, ways=(), target="", rooms=())
    return remember(after, Did(tuple(gone), legs, moment))


def taken_back(state: Moving, did: Did) -> Moving:
    """The goods of a move are in hand again, and in the books where they came from."""
    hand = state.hand
    for part in did.parts:
        index = find(hand, part)
        if index < 0:
            hand = (*hand, part)
            continue
        mine = hand[index]
        pools = _joined(mine.pools, part.pools, 1)
        books = mine.books + part.quantity if mine.books >= 0 else UNKNOWN
        whole = mine._replace(quantity=mine.quantity + part.quantity, books=books, pools=pools)
        hand = (*hand[:index], whole, *hand[index + 1 :])
    return state._replace(hand=hand, shelf=shifted(state, did.parts, 1), at=find(hand, did.parts[0]))


def shifted(state: Moving, parts: Iterable[Part], sign: int) -> tuple[Lying, ...]:
    """The shelf with free goods of this place brought there or away."""
    shelf = list(state.shelf)
    for part in parts:
        for index, lying in enumerate(shelf):
            here = part.place.casefold() == state.place.casefold() and lying.product == part.product
            if not here:
                continue
            if part.order:
                held = tuple(_held(hold, part, sign) for hold in lying.held)
                shelf[index] = lying._replace(held=tuple(hold for hold in held if hold.quantity > 0))
            elif lying.free >= 0:
                pools = _joined(lying.pools, from_pools(part) if part.pools or part.pool else (), sign)
                shelf[index] = lying._replace(free=max(ZERO, lying.free + sign * part.quantity), pools=pools)
    return tuple(shelf)


def _held(hold: Hold, part: Part, sign: int) -> Hold:
    same = (hold.order, hold.line) == (part.order, part.line)
    return hold._replace(quantity=hold.quantity + sign * part.quantity) if same else hold


def _joined(pools: tuple[InPool, ...], more: Iterable[InPool], sign: int) -> tuple[InPool, ...]:
    found = {each.pool: each.quantity for each in pools}
    for each in more:
        if each.pool:
            found[each.pool] = found.get(each.pool, ZERO) + sign * each.quantity
    return tuple(InPool(pool, quantity) for pool, quantity in found.items() if quantity > 0)


# What is sent


def movement(legs: Iterable[Leg], store: str, user: str) -> Write:
    """The operation: all of these items or none. interface: Create movement."""
    items: list[dict[str, Any]] = []
    orders: set[str] = set()
    products: set[str] = set()
    for leg in legs:
        item: dict[str, Any] = {
            "product_number": leg.product,
            "quantity": leg.quantity,
            "from_location": _end(leg.place, leg.pool, leg.order, leg.line),
            "to_location": _end(leg.to_place, leg.to_pool, leg.to_order, leg.to_line),
            "source": SOURCE,
        }
        if leg.over:
            item["allow_overage"] = True
        items.append(item)
        products.add(f"product/{leg.product}")
        orders.update(f"order/{order}" for order in (leg.order, leg.to_order) if order)
    lanes = (*sorted(orders), *sorted(products))
    return Write("create-movement", lanes, {"store_number": store}, {"AppUserName": user}, items)


def _end(place: str, pool: int, order: str, line: int) -> dict[str, Any]:
    end: dict[str, Any] = {"location_code": place} if place else {}
    if pool:
        end["stock_pool"] = pool
    if order:
        end.update(customer_order_number=order, customer_order_line_number=line)
    return end
