"""Adjustments: lost and found goods change the stock by a quantity."""

from __future__ import annotations

from typing import Literal

from aisle.service.domain.ledger import Ledger, StockKey
from aisle.service.domain.order_line import OrderLine
from aisle.service.domain.picking import adjust_origin
from aisle.service.domain.quantities import format_quantity
from aisle.service.domain.read_products_and_locations import NO_LOCATION, Location
from aisle.service.errors import conflict

AdjustmentKind = Literal["receipt", "change"]


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
) -> int:
    """Add to the goods held for a line and to its `picked_quantity`. Return the quantity beyond what the line can take.

    Received goods beyond the line's need become free stock. For a line picked in the warehouse, the receipt brings the
    goods that were picked there. Raise Refusal (409) if other goods are too many, or more leave than are held.
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
    arrived = line.from_warehouse and part > 0
    line.picked_quantity = max(line.picked_quantity, held + part) if arrived else line.picked_quantity + part
    line.is_picked = line.is_fully_picked
    await adjust_free(ledger, kind, line.product_number, location, pool, quantity - part)
    return quantity - part
