"""Movements between places, pools and order lines (README: Movement, Move to an order line)."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.service.amounts import number
from aisle.service.answers import against_rule, conflict
from aisle.service.sql import assignments
from aisle.service.sql import stock as sql
from aisle.service.stock.book import NO_PLACE, Place, Product
from aisle.service.stock.ledger import Ledger, Spot
from aisle.service.stock.line import OrderLine
from aisle.service.stock.order import refresh
from aisle.service.stock.origins import Taking
from aisle.service.stock.picking import keep, let_go
from aisle.tuples import NamedTuple


class End(NamedTuple):
    """One end of a movement: a place or none, a pool or whichever, an order line or free."""

    place: Place | None
    pool: int | None
    line: OrderLine | None

    @property
    def code(self) -> str:
        return self.place.code if self.place else NO_PLACE

    def spot(self, pool: int) -> Spot:
        """The balance that goods of this pool have here."""
        return Spot(self.code, pool, *self.line.key) if self.line else Spot(self.code, pool)


class Moved(NamedTuple):
    """How much of a movement left the hand of an order's picker and how much the named source, in thousandths."""

    from_hand: int
    from_source: int


async def move(
    ledger: Ledger, product: Product, source: End, target: End, quantity: int, *, allow_overage: bool, field: str
) -> Moved:
    """Move goods; how much of them left the hand. Raises Refusal: 409 too little, 422 when nothing would move."""
    if _same(source, target):
        raise against_rule("From and to are the same.", field)
    same_line = source.line is not None and target.line is not None and source.line.key == target.line.key
    from_hand = 0
    if target.line and target.place and source.line is None:
        for one in await let_go(ledger, target.line, quantity):
            hand = Spot(NO_PLACE, one.held_pool, *target.line.key)
            to = target.spot(target.pool or one.held_pool)
            await ledger.shift("move", product.number, hand, to, one.quantity)
            await keep(ledger, target.line, one.origin, to)
            from_hand += one.quantity
    rest = quantity - from_hand
    if target.line and not same_line and target.line.picked + rest > target.line.quantity:
        raise conflict(
            f"Line {target.line.line_number} is for {number(target.line.quantity)} and has"
            f" {number(target.line.picked)}; {number(rest)} more are too many.",
            field,
            line=target.line.as_answer(),
        )
    for taking in await _plan(ledger, product, source, target, rest, allow_overage, field):
        await _carry(ledger, product, source, target, taking)
    if not same_line:
        _account(source.line, -rest)
        _account(target.line, rest)
    for line in {end.line.key: end.line for end in (source, target) if end.line}.values():
        await refresh(ledger, line)
    if source.line is None and target.line is None and source.place is None and target.place:
        await _were_put_back(ledger, product.number, quantity)
    return Moved(from_hand, rest)


async def _plan(
    ledger: Ledger, product: Product, source: End, target: End, quantity: int, allow_overage: bool, field: str
) -> list[Taking]:
    """From which pools `quantity` leaves the source: the named one, or its default and then upwards."""
    if quantity == 0:
        return []
    balances = await (ledger.held(source.line) if source.line else ledger.free(product.number))
    have = _by_pool(balances, source)
    pools = [source.pool] if source.pool else _default_first(source, target, have)
    plan = []
    for pool in pools:
        part = min(quantity, max(0, have.get(pool, 0)))
        if part:
            plan.append(Taking(source.code, pool, part))
            quantity -= part
    if quantity and (source.line is not None or not allow_overage or not pools):
        there = sum(max(0, have.get(pool, 0)) for pool in pools)
        raise conflict(f"Only {number(there)} of {product.number} can be moved from there.", field)
    if quantity:
        plan.append(Taking(source.code, pools[0], quantity))
    return plan


def _by_pool(balances: Mapping[Spot, int], source: End) -> dict[int, int]:
    return {spot.pool: have for spot, have in balances.items() if spot == source.spot(spot.pool)}


def _default_first(source: End, target: End, have: Mapping[int, int]) -> list[int]:
    first = source.place.pool if source.place else 1
    # Goods that are in the wanted pool already do not move by changing pools in one place.
    stays = target.pool if source.spot(1) == target.spot(1) else None
    return [pool for pool in dict.fromkeys((first, *sorted(have))) if pool != stays]


async def _carry(ledger: Ledger, product: Product, source: End, target: End, taking: Taking) -> None:
    pool = target.pool or taking.pool
    origins = await _origins(ledger, source, taking)
    await ledger.shift("move", product.number, source.spot(taking.pool), target.spot(pool), taking.quantity)
    if source.line and source.place and target.line is None:
        spot = (product.number, source.place.code, taking.pool, *source.line.key, taking.quantity)
        await ledger.ctx.tx.run(assignments.ASSIGNMENT_CARRIED, ledger.store, *spot, ledger.ctx.now)
    if target.line:
        for origin in origins:
            await keep(ledger, target.line, origin, target.spot(pool))


async def _origins(ledger: Ledger, source: End, taking: Taking) -> list[Taking]:
    """Where goods came from that leave the source: it is the source itself unless they are held for a line there."""
    if source.line is None:
        return [taking]
    known = [one.origin for one in await let_go(ledger, source.line, taking.quantity, taking.pool, source.code)]
    rest = taking.quantity - sum(origin.quantity for origin in known)
    return [Taking(NO_PLACE, taking.pool, rest), *known] if rest else known


def _account(line: OrderLine | None, quantity: int) -> None:
    if line is None or quantity == 0:
        return
    line.picked += quantity
    line.is_picked = line.full


def _same(source: End, target: End) -> bool:
    keys = [end.line.key if end.line else None for end in (source, target)]
    pool_stays = target.pool is None or source.pool == target.pool
    return source.code == target.code and keys[0] == keys[1] and pool_stays


async def _were_put_back(ledger: Ledger, product: str, quantity: int) -> None:
    """Goods that a rejected order left in somebody's hand have found a place: strike them off the list."""
    for seq, listed in await ledger.ctx.tx.all(sql.PUT_BACKS_OF_PRODUCT, ledger.store, product):
        if quantity <= 0:
            break
        if listed <= quantity:
            await ledger.ctx.tx.run(sql.PUT_BACK_DROP, ledger.store, seq)
        else:
            await ledger.ctx.tx.run(sql.PUT_BACK_SET, ledger.store, seq, listed - quantity)
        quantity -= listed
