"""Goods that come or go: receipts, losses, corrections (README: Log change, Warehouse lines)."""

from __future__ import annotations

from typing import Literal

from aisle.service.amounts import number
from aisle.service.answers import conflict
from aisle.service.stock.book import NO_PLACE, Place
from aisle.service.stock.ledger import Ledger, Spot
from aisle.service.stock.line import OrderLine
from aisle.service.stock.picking import follow

Coming = Literal["receipt", "change"]


async def change_free(
    ledger: Ledger, kind: Coming, product: str, place: Place | None, pool: int, quantity: int
) -> None:
    """Add to the free stock at a place or none; it may fall below none, for a loss is a fact."""
    await ledger.post(kind, product, Spot(place.code if place else NO_PLACE, pool), quantity)


async def change_held(
    ledger: Ledger, kind: Coming, line: OrderLine, place: Place | None, pool: int, quantity: int, field: str
) -> int:
    """Add to what is held for a line, and to its `picked_quantity`; how much of it the line could not take.

    What is received beyond what the line wants stays free. For a line picked in the warehouse the receipt brings the
    goods that were picked there. Raises Refusal (409) when other goods are too many, or more leave than are held.
    """
    spots = await ledger.held(line)
    held = sum(spots.values())
    spot = Spot(place.code if place else NO_PLACE, pool, *line.key)
    here = spots.get(spot, 0)
    room = line.quantity - (held if line.from_warehouse else line.picked)
    part = min(quantity, max(0, room)) if kind == "receipt" else quantity
    if part > room:
        raise conflict(f"The line can take {number(max(0, room))} more.", field, line=line.as_answer())
    if here + part < 0:
        raise conflict(f"The line holds {number(here)} there.", field, line=line.as_answer())
    await ledger.post(kind, line.product_number, spot, part)
    if part:
        await follow(ledger, line, spot, part)
    arrived = line.from_warehouse and part > 0
    line.picked = max(line.picked, held + part) if arrived else line.picked + part
    line.is_picked = line.full
    await change_free(ledger, kind, line.product_number, place, pool, quantity - part)
    return quantity - part
