"""The ledger: every change of stock is legs of one operation, and the legs of a balance always sum up to it.

Goods that a count has seen already are not changed again by a message that comes late: such a leg is written, and
undone by an `absorbed` leg beside it (README: Conservation).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Literal, NamedTuple

from aisle.service.sql import products
from aisle.service.sql import stock as sql
from aisle.service.stock.book import NO_PLACE, Book

Kind = Literal["pick", "unpick", "move", "count", "change", "receipt", "finish", "release", "absorbed"]


class Spot(NamedTuple):
    """Where stock stands: at a place or none, in a pool, for an order line or free."""

    place: str
    pool: int
    order: str = ""
    line: int = 0

    @property
    def free(self) -> bool:
        """Whether these goods belong to no order line."""
        return not self.order


class Ledger:
    """Writes the legs of one operation in one store."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.ctx = book.ctx
        self.store = book.store.number
        self.occurred_on = book.ctx.occurred_on
        self.negative = False
        self._touched: dict[str, None] = {}
        self._net: defaultdict[tuple[str, int], int] = defaultdict(int)

    async def balances(self, product: str) -> dict[Spot, int]:
        """Everything this store has of the product, by spot."""
        rows = await self.ctx.tx.all(sql.BALANCES, self.store, product)
        return {Spot(*row[:4]): row[4] for row in rows}

    async def post(self, kind: Kind, product: str, spot: Spot, quantity: int) -> None:
        """Add `quantity` thousandths (less than none takes away) to a spot. Notes when the spot falls below none."""
        if quantity == 0:
            return
        await self._write(kind, product, spot, quantity)
        if self.occurred_on >= self.ctx.now:
            return
        self._net[(product, spot.pool)] += quantity
        if spot.place and await self._counted_since(product, spot.place, spot.pool):
            await self._write("absorbed", product, Spot(spot.place, spot.pool), -quantity)
            self._net[(product, spot.pool)] -= quantity

    async def shift(self, kind: Kind, product: str, source: Spot, target: Spot, quantity: int) -> None:
        """Take from one spot what is added to another."""
        await self.post(kind, product, source, -quantity)
        await self.post(kind, product, target, quantity)

    async def settle(self) -> None:
        """Close an entry of the operation: what a count of the whole store has seen already is absorbed."""
        for (product, pool), quantity in list(self._net.items()):
            if quantity and await self._counted_since(product, NO_PLACE, pool):
                await self._write("absorbed", product, Spot(NO_PLACE, pool), -quantity)
        self._net.clear()

    async def finish(self) -> None:
        """Close the operation: note on each product that its stock changed."""
        await self.settle()
        for product in self._touched:
            await self.ctx.tx.run(products.STORE_PRODUCT_STOCK_CHANGED, self.store, product, self.ctx.now)
            self.ctx.changed(self.store, "product", product)
        self._touched.clear()

    def take_flag(self) -> bool:
        """Whether a balance fell below none since this was asked last."""
        flag, self.negative = self.negative, False
        return flag

    async def _write(self, kind: Kind, product: str, spot: Spot, quantity: int) -> None:
        self.ctx.legs += 1
        leg = (self.store, self.ctx.op_id, self.ctx.legs, kind, product, *spot, quantity, self.ctx.now)
        await self.ctx.tx.run(sql.LEG_ADD, *leg, self.occurred_on)
        row = await self.ctx.tx.one(sql.BALANCE_ADD, self.store, product, *spot, quantity)
        balance = row[0] if row else 0
        if balance == 0 and not spot.free:
            await self.ctx.tx.run(sql.BALANCE_DROP_EMPTY, self.store, product, *spot)
        if balance < 0 and quantity < 0:
            self.negative = True
        self._touched[product] = None

    async def _counted_since(self, product: str, place: str, pool: int) -> bool:
        row = await self.ctx.tx.one(sql.ANCHOR_AFTER, self.store, product, place, pool, self.occurred_on)
        return row is not None
