"""Counts set the stock and record the difference (README: Count); adjustments change it by lost and found goods.

Recounts that a count fulfils: `fulfilled_recounts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from aisle.service.domain.ledger import Ledger, StockKey
from aisle.service.domain.order_line import OrderLine
from aisle.service.domain.picking import adjust_origin
from aisle.service.domain.quantities import format_quantity
from aisle.service.domain.read_products_and_locations import NO_LOCATION, Location, Product
from aisle.service.errors import conflict


class CountDifference(NamedTuple):
    """Result for one counted pool: the expected figure at the time of the count, and the difference."""

    pool: int
    expected: int
    difference: int


async def count_free(
    ledger: Ledger, product: Product, location: Location | None, counted: Mapping[int, int]
) -> list[CountDifference]:
    """Set the free stock of pools at a location, or of the whole store if no location is given.

    At a location the count includes held goods, so free stock becomes counted − held. Without one, the stock at no
    location becomes counted − all other stock of the pool. Both may become negative.
    """
    stock = await _stock_at_count(ledger, product.number, is_total=location is None)
    code = location.code if location else NO_LOCATION
    found = []
    for pool, quantity in counted.items():
        expected = sum(
            stored
            for (stock_location, stock_pool), stored in stock.items()
            if stock_pool == pool and (location is None or stock_location == location.code)
        )
        await ledger.post("count", product.number, StockKey(code, pool), quantity - expected)
        ledger.record_count(product.number, code, pool)
        found.append(CountDifference(pool, expected, quantity - expected))
    return found


async def count_held(
    ledger: Ledger, line: OrderLine, location: Location | None, counted: Mapping[int, int]
) -> list[CountDifference]:
    """Set the goods held for a line at a location, or by the picker. `picked_quantity` changes by the same difference.

    Raise Refusal (409) if the line would hold more than was ordered.
    """
    code = location.code if location else NO_LOCATION
    held = dict(await ledger.held_for_line(line))
    found = []
    for pool, quantity in counted.items():
        key = StockKey(code, pool, *line.key)
        expected = held.get(key, 0)
        difference = quantity - expected
        await ledger.post("count", line.product_number, key, difference)
        await adjust_origin(ledger, line, key, difference)
        line.picked_quantity = line.picked_after(sum(held.values()), difference)
        held[key] = quantity
        found.append(CountDifference(pool, expected, difference))
    if line.picked_quantity > line.quantity:
        raise conflict(
            f"Line {line.line_number} is for {format_quantity(line.quantity)};"
            f" {format_quantity(line.picked_quantity)} cannot be held for it.",
            line=line.as_json(),
        )
    line.is_picked = line.is_fully_picked
    return found


async def _stock_at_count(ledger: Ledger, product: str, *, is_total: bool) -> dict[tuple[str, int], int]:
    """Return the product's stock by location and pool at the time of the count, without later legs.

    The total of the store includes goods that somebody was moving.
    """
    stock: dict[tuple[str, int], int] = {}
    for key, quantity in (await ledger.balances(product)).items():
        location_and_pool = (key.location, key.pool)
        stock[location_and_pool] = stock.get(location_and_pool, 0) + quantity
    if ledger.occurred_on < ledger.ctx.now:
        later = await ledger.changes_after(product, ledger.occurred_on)
        if is_total:
            later += await ledger.goods_under_way(product, ledger.occurred_on)
        for location, pool, quantity in later:
            stock[(location, pool)] = stock.get((location, pool), 0) - quantity
    return stock


AdjustmentKind = Literal["receipt", "change", "undo"]


async def adjust_free(
    ledger: Ledger, kind: AdjustmentKind, product: str, location: Location | None, pool: int, quantity: int
) -> None:
    """Add to the free stock at a location or none. It may become negative, since a loss is a fact."""
    await ledger.post(kind, product, StockKey(location.code if location else NO_LOCATION, pool), quantity)


async def adjust_held(
    ledger: Ledger,
    kind: AdjustmentKind,
    line: OrderLine,
    location: Location | None,
    pool: int,
    quantity: int,
    field: str,
    picked_change: int | None = None,
) -> int:
    """Add to the goods held for a line and to its `picked_quantity`. Return the quantity beyond what the line can take.

    `picked_quantity` changes by `picked_change` if that is given. Received goods beyond the line's need become free
    stock. For a line picked in the warehouse, the receipt brings the goods that were picked there. Raise Refusal (409)
    if other goods are too many, or more leave than are held.
    """
    balances = await ledger.held_for_line(line)
    held = sum(balances.values())
    key = StockKey(location.code if location else NO_LOCATION, pool, *line.key)
    held_at_location = balances.get(key, 0)
    capacity = line.quantity - (held if line.from_warehouse else line.picked_quantity)
    part = min(quantity, max(0, capacity)) if kind == "receipt" else quantity
    if part > capacity:
        raise conflict(f"The line can take {format_quantity(max(0, capacity))} more.", field, line=line.as_json())
    if held_at_location + part < 0:
        raise conflict(f"The line holds {format_quantity(held_at_location)} there.", field, line=line.as_json())
    await ledger.post(kind, line.product_number, key, part)
    if part:
        await adjust_origin(ledger, line, key, part)
    line.picked_quantity = (
        line.picked_after(held, part) if picked_change is None else line.picked_quantity + picked_change
    )
    line.is_picked = line.is_fully_picked
    await adjust_free(ledger, kind, line.product_number, location, pool, quantity - part)
    return quantity - part
