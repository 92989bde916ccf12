"""Picking: goods go into somebody's hand for an order line, and back (README: Pick raises, Pick lowers)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aisle.service.amounts import number
from aisle.service.answers import conflict
from aisle.service.stock.book import NO_PLACE, Place
from aisle.service.stock.ledger import Ledger, Spot
from aisle.service.stock.line import OrderLine
from aisle.service.stock.origins import Taken, Taking


def plan_taking(
    free: Mapping[Spot, int],
    walk: Sequence[Place],
    pools: Sequence[int],
    quantity: int,
    named: str | None = None,
) -> list[Taking]:
    """From where `quantity` is taken: pool by pool, in each along the walk, then from no place.

    With `named`, from that place alone. What the books lack comes from no place, in the first pool, below none.
    """
    codes = [place.code for place in walk] if named is None else [named]
    if named is None:
        codes.append(NO_PLACE)
    takings: list[Taking] = []
    for pool in pools:
        for code in codes:
            part = min(quantity, max(0, free.get(Spot(code, pool), 0)))
            if part:
                takings.append(Taking(code, pool, part))
                quantity -= part
    if quantity:
        takings.append(Taking(NO_PLACE, pools[0], quantity))
    return takings


async def raise_pick(
    ledger: Ledger, line: OrderLine, quantity: int, place: Place | None = None, pool: int | None = None
) -> list[Taking]:
    """Take `quantity` into the hand for the line, from the named place and pool or along the walk."""
    free = await ledger.free(line.product_number)
    pools = line.picking_pools(pool)
    walk: list[Place] = []
    if place is None:
        walk = await walking_order(ledger, (spot.place for spot, have in free.items() if have > 0))
        # The place that the order's creator had in mind comes first.
        walk.sort(key=lambda one: (one.code != line.preferred_location_code, one))
    takings = plan_taking(free, walk, pools, quantity, place.code if place else None)
    for taking in takings:
        await _into_hand(ledger, line, taking)
    line.picked += quantity
    return takings


async def lower_pick(ledger: Ledger, line: OrderLine, quantity: int) -> list[Taking]:
    """Put `quantity` of the goods in hand back where they came from, the last first.

    Raises Refusal (409) when some of it was moved to a place already.
    """
    stack = await taken(ledger, line)
    in_hand = sum(one.quantity for one in stack)
    if quantity > in_hand:
        raise conflict(
            f"Line {line.line_number}: {number(line.moved)} moved, move them back first.", line=line.as_answer()
        )
    returned = []
    for one in reversed(stack):
        part = min(quantity, one.quantity)
        if part == 0:
            break
        await ledger.origins.lessen(line, one, part)
        source = Spot(NO_PLACE, one.held_pool, *line.key)
        await ledger.shift("unpick", line.product_number, source, Spot(one.place, one.pool), part)
        returned.append(Taking(one.place, one.pool, part))
        quantity -= part
        line.picked -= part
    return returned


async def taken(ledger: Ledger, line: OrderLine, place: str = NO_PLACE) -> list[Taken]:
    """The goods held for a line at a place, the first taken first; at no place they are all that is held there."""
    return [one for one in await ledger.origins.of(line) if one.held_place == place]


async def let_go(
    ledger: Ledger, line: OrderLine, quantity: int, pool: int | None = None, place: str = NO_PLACE
) -> list[Taken]:
    """Use up to `quantity` of the goods held at a place (of one pool); their legs are the caller's.

    Of what is in hand, the first taken goes first; of what was put down, the last. Said in the order of taking.
    """
    held = [one for one in await taken(ledger, line, place) if pool in (None, one.held_pool)]
    used = []
    for one in reversed(held) if place else held:
        part = min(quantity, one.quantity)
        if part == 0:
            break
        await ledger.origins.lessen(line, one, part)
        used.append(one._replace(quantity=part))
        quantity -= part
    return used[::-1] if place else used


async def keep(ledger: Ledger, line: OrderLine, origin: Taking, held: Spot) -> None:
    """Remember where goods that are held now came from; their legs are posted by the caller."""
    await ledger.origins.add(line, origin, held.place, held.pool)


async def follow(ledger: Ledger, line: OrderLine, held: Spot, quantity: int) -> None:
    """So many more, or fewer, are held there, from nowhere that is known; their legs are posted by the caller."""
    if quantity > 0:
        await keep(ledger, line, Taking(NO_PLACE, held.pool, quantity), held)
    else:
        await let_go(ledger, line, -quantity, held.pool, held.place)


async def walking_order(ledger: Ledger, codes: Iterable[str]) -> list[Place]:
    """These places, without "no place", as a picker meets them."""
    wanted = {code for code in codes if code}
    await ledger.book.load((), wanted)
    return sorted(filter(None, [await ledger.book.known_place(code) for code in wanted]))


async def _into_hand(ledger: Ledger, line: OrderLine, taking: Taking) -> None:
    source = Spot(taking.place, taking.pool)
    target = Spot(NO_PLACE, taking.pool, *line.key)
    await ledger.shift("pick", line.product_number, source, target, taking.quantity)
    await keep(ledger, line, taking, target)
