"""Counts: what somebody saw becomes what the books say, and the difference is recorded (README: Count)."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.service.amounts import number
from aisle.service.answers import conflict
from aisle.service.sql import products
from aisle.service.sql import stock as sql
from aisle.service.stock.book import NO_PLACE, Place, Product
from aisle.service.stock.ledger import Ledger, Spot
from aisle.service.stock.line import OrderLine
from aisle.service.stock.picking import follow
from aisle.tuples import NamedTuple


class Difference(NamedTuple):
    """What the books said of one pool when it was counted, and what the count added to it."""

    pool: int
    expected: int
    difference: int


async def count_free(
    ledger: Ledger, product: Product, place: Place | None, counted: Mapping[int, int]
) -> list[Difference]:
    """Set the free stock of pools at a place, or of the whole store where no place is given.

    At a place what is held there was counted along, so free becomes counted − held; without one, the stock at no place
    becomes counted − everything else of the pool. Both may fall below none.
    """
    then = await _book_then(ledger, product.number)
    code = place.code if place else NO_PLACE
    found = []
    for pool, quantity in counted.items():
        expected = sum(have for (at, of), have in then.items() if of == pool and (place is None or at == place.code))
        await ledger.post("count", product.number, Spot(code, pool), quantity - expected)
        ledger.note_count(product.number, code, pool)
        found.append(Difference(pool, expected, quantity - expected))
    await ledger.ctx.tx.run(products.STORE_PRODUCT_COUNTED, ledger.store, product.number, ledger.occurred_on)
    return found


async def count_held(
    ledger: Ledger, line: OrderLine, place: Place | None, counted: Mapping[int, int]
) -> list[Difference]:
    """Set what is held for a line at a place, or in hand; `picked_quantity` follows.

    Raises Refusal (409) when the line would hold more than was ordered.
    """
    code = place.code if place else NO_PLACE
    held = await ledger.held(line)
    found = []
    for pool, quantity in counted.items():
        spot = Spot(code, pool, *line.key)
        expected = held.get(spot, 0)
        difference = quantity - expected
        await ledger.post("count", line.product_number, spot, difference)
        await follow(ledger, line, spot, difference)
        line.picked += difference
        found.append(Difference(pool, expected, difference))
    if line.picked > line.quantity:
        raise conflict(
            f"Line {line.line_number} is for {number(line.quantity)}; {number(line.picked)} cannot be held for it.",
            line=line.as_answer(),
        )
    line.is_picked = line.full
    return found


async def _book_then(ledger: Ledger, product: str) -> dict[tuple[str, int], int]:
    """The product's stock by place and pool at the moment of the count, whatever was recorded since."""
    book: dict[tuple[str, int], int] = {}
    for spot, quantity in (await ledger.balances(product)).items():
        key = (spot.place, spot.pool)
        book[key] = book.get(key, 0) + quantity
    if ledger.occurred_on < ledger.ctx.now:
        rows = await ledger.ctx.tx.all(sql.LEGS_AFTER, ledger.store, product, ledger.occurred_on)
        for place, pool, quantity in rows:
            book[(place, pool)] = book.get((place, pool), 0) - quantity
    return book
