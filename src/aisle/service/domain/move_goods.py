"""Move goods at once between locations, pools and order lines (README: Movement).

Moves that a clearance assigns to people: `handlers/clearances_and_assignments`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from aisle.service.db.statements import assigned_moves_and_recounts as assignments_sql
from aisle.service.db.statements import stock as sql
from aisle.service.domain.ledger import Ledger, LocationQuantity, StockKey
from aisle.service.domain.order_line import OrderLine
from aisle.service.domain.orders import save_changed_line
from aisle.service.domain.picking import remove_held
from aisle.service.domain.quantities import format_quantity
from aisle.service.domain.read_products_and_locations import NO_LOCATION, Location, Product
from aisle.service.errors import conflict, unprocessable


class MovementEnd(NamedTuple):
    """End of a movement: location or none, pool or any, order line or free."""

    location: Location | None
    pool: int | None
    line: OrderLine | None

    @property
    def location_code(self) -> str:
        return self.location.code if self.location else NO_LOCATION

    def stock_key(self, pool: int) -> StockKey:
        """Return the key of the balance for goods of this pool."""
        return StockKey(self.location_code, pool, *self.line.key) if self.line else StockKey(self.location_code, pool)


class MovedQuantities(NamedTuple):
    """Thousandths of a movement that left the order's picker, and those that left the named source."""

    from_hand: int
    from_source: int


async def move_goods(
    ledger: Ledger,
    product: Product,
    source: MovementEnd,
    target: MovementEnd,
    quantity: int,
    *,
    allow_overage: bool,
    field: str,
    left_on: str = "",
) -> MovedQuantities:
    """Move goods, which may have left the source before (`left_on`). Return the quantities by origin.

    Raise Refusal: 409 if there are too few, 422 if nothing would move.
    """
    if _is_same_end(source, target):
        raise unprocessable("From and to are the same.", field)
    same_line = source.line is not None and target.line is not None and source.line.key == target.line.key
    from_hand = 0
    if target.line and target.location and source.line is None:
        for held in await remove_held(ledger, target.line, quantity):
            hand = StockKey(NO_LOCATION, held.pool, *target.line.key)
            to = target.stock_key(target.pool or held.pool)
            await ledger.transfer("move", product.number, hand, to, held.quantity)
            await ledger.origins.add(target.line, held.origin, to)
            from_hand += held.quantity
    rest = quantity - from_hand
    picked_after = 0
    if target.line and not same_line:
        held_before = sum((await ledger.held_for_line(target.line)).values())
        picked_after = target.line.picked_after(held_before, rest)
        if picked_after > target.line.quantity:
            raise conflict(
                f"Line {target.line.line_number} is for {format_quantity(target.line.quantity)} and has"
                f" {format_quantity(target.line.picked_quantity)}; {format_quantity(rest)} more are too many.",
                field,
                line=target.line.as_json(),
            )
    for planned in await _plan_sources(ledger, product, source, target, rest, allow_overage, field, left_on):
        await _transfer_goods(ledger, product, source, target, planned, left_on)
    if not same_line and rest:
        _set_picked(source.line, source.line.picked_quantity - rest if source.line else 0)
        _set_picked(target.line, picked_after)
    for line in {end.line.key: end.line for end in (source, target) if end.line}.values():
        await save_changed_line(ledger, line)
    if source.line is None and target.line is None and source.location is None and target.location:
        await _remove_put_backs(ledger, product.number, quantity)
    return MovedQuantities(from_hand, rest)


async def _plan_sources(
    ledger: Ledger,
    product: Product,
    source: MovementEnd,
    target: MovementEnd,
    quantity: int,
    allow_overage: bool,
    field: str,
    left_on: str,
) -> list[LocationQuantity]:
    """Return the pools from which `quantity` leaves: the named one, otherwise the default pool, then by number.

    Who counted the source after the goods had left did not find them there.
    """
    if quantity == 0:
        return []
    balances = await (ledger.held_for_line(source.line) if source.line else ledger.free_stock(product.number))
    quantities = {key.pool: held for key, held in balances.items() if key == source.stock_key(key.pool)}
    pools = [source.pool] if source.pool else _pools_default_first(source, target, quantities)
    plan = []
    for pool in pools:
        part = min(quantity, max(0, quantities.get(pool, 0)))
        if part:
            plan.append(LocationQuantity(source.location_code, pool, part))
            quantity -= part
    if pools and left_on and await ledger.is_counted_since(product.number, source.stock_key(pools[0]), left_on):
        allow_overage = True
    if quantity and (source.line is not None or not allow_overage or not pools):
        available = sum(max(0, quantities.get(pool, 0)) for pool in pools)
        raise conflict(f"Only {format_quantity(available)} of {product.number} can be moved from there.", field)
    if quantity:
        plan.append(LocationQuantity(source.location_code, pools[0], quantity))
    return plan


def _pools_default_first(source: MovementEnd, target: MovementEnd, quantities: Mapping[int, int]) -> list[int]:
    first = source.location.pool if source.location else 1
    # Goods that are in the target pool already do not change pool within one location.
    stays = target.pool if source.stock_key(1) == target.stock_key(1) else None
    return [pool for pool in dict.fromkeys((first, *sorted(quantities))) if pool != stays]


async def _transfer_goods(
    ledger: Ledger, product: Product, source: MovementEnd, target: MovementEnd, planned: LocationQuantity, left_on: str
) -> None:
    pool = target.pool or planned.pool
    origins = await _origins_of_source(ledger, source, planned)
    await ledger.transfer(
        "move", product.number, source.stock_key(planned.pool), target.stock_key(pool), planned.quantity, left_on
    )
    if source.line and source.location and target.line is None:
        args = (product.number, source.location.code, planned.pool, *source.line.key, planned.quantity)
        await ledger.ctx.tx.run(assignments_sql.ASSIGNMENT_MOVED_SET, ledger.store, *args, ledger.ctx.now)
    if target.line:
        for origin in origins:
            await ledger.origins.add(target.line, origin, target.stock_key(pool))


async def _origins_of_source(ledger: Ledger, source: MovementEnd, planned: LocationQuantity) -> list[LocationQuantity]:
    """Return the origins of goods that leave the source: the source itself, unless they are held for a line."""
    if source.line is None:
        return [planned]
    known = [
        one.origin
        for one in await remove_held(ledger, source.line, planned.quantity, planned.pool, source.location_code)
    ]
    rest = planned.quantity - sum(origin.quantity for origin in known)
    return [LocationQuantity(NO_LOCATION, planned.pool, rest), *known] if rest else known


def _set_picked(line: OrderLine | None, quantity: int) -> None:
    if line:
        line.picked_quantity = quantity
        line.is_picked = line.is_fully_picked


def _is_same_end(source: MovementEnd, target: MovementEnd) -> bool:
    keys = [end.line.key if end.line else None for end in (source, target)]
    pool_stays = target.pool is None or source.pool == target.pool
    return source.location_code == target.location_code and keys[0] == keys[1] and pool_stays


async def _remove_put_backs(ledger: Ledger, product: str, quantity: int) -> None:
    """Remove put-away goods of a rejected order from the list of goods to put back."""
    for seq, listed in await ledger.ctx.tx.all(sql.PUT_BACKS_OF_PRODUCT, ledger.store, product):
        if quantity <= 0:
            break
        if listed <= quantity:
            await ledger.ctx.tx.run(sql.PUT_BACK_DELETE, ledger.store, seq)
        else:
            await ledger.ctx.tx.run(sql.PUT_BACK_SET, ledger.store, seq, listed - quantity)
        quantity -= listed
