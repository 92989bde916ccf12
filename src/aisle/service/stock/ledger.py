"""The ledger: every change of stock is legs of one operation, and the legs of a balance always sum up to it.

Goods that a count has seen already are not changed again by a message that comes late: such a leg is written, and
undone by an `absorbed` leg beside it (README: Conservation).

An operation is alone in its store. What it asks of the stock is read once and reckoned on from there, and what it has
done is written together: the store's other writers wait for every way to the database and back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from aisle.service.amounts import MOST_GOODS, ONE
from aisle.service.answers import conflict
from aisle.service.sql import assignments, products
from aisle.service.sql import stock as sql
from aisle.service.stock.book import NO_PLACE, Book
from aisle.service.stock.origins import Origins
from aisle.service.storage import Statement
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.service.stock.line import OrderLine

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


_FREE = ("", 0)
"""The owner of what belongs to no order line."""
Stock = dict[Spot, int]


class Ledger:
    """Writes the legs of one operation in one store."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.ctx = book.ctx
        self.store = book.store.number
        self.occurred_on = book.ctx.occurred_on
        self.negative = False
        self.origins = Origins(book.ctx, self.store)
        self.refreshed: dict[str, None] = {}
        """Orders with lines whose goods have changed, for `refresh_orders`."""
        self._stock: dict[tuple[str, str, int], Stock] = {}
        """What was read, by product and order line or none, as this operation has left it; no spot of a line is 0."""
        self._stored: dict[tuple[str, Spot], int | None] = {}
        """What the database has at the spots that this operation has changed; None for no row."""
        self._legs: list[tuple[object, ...]] = []
        self._anchors: dict[str, dict[tuple[str, int], str]] = {}
        """When each place and pool of a product was counted last."""
        self._unanchored: set[str] = set()
        """Products whose free stock was read, and of which that is not known yet."""
        self._counts: dict[tuple[str, str, int], str] = {}
        self._touched: dict[str, None] = {}
        self._net: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._absorbed: defaultdict[tuple[str, str, int], int] = defaultdict(int)
        """Sums of the absorbed legs by product, place and pool, for the log."""

    async def load(self, product_numbers: Iterable[str]) -> None:
        """Read the free stock of many products at once; what is asked for later costs nothing."""
        wanted = sorted({number for number in product_numbers if number and (number, *_FREE) not in self._stock})
        if not wanted:
            return
        self._stock |= {(number, *_FREE): {} for number in wanted}
        self._unanchored.update(wanted)
        for product, place, pool, quantity in await self.ctx.tx.all(sql.FREE_OF_PRODUCTS, self.store, wanted):
            self._stock[(product, *_FREE)][Spot(place, pool)] = quantity

    async def free(self, product: str) -> Mapping[Spot, int]:
        """What this store has of the product and holds for nobody, by spot."""
        return dict(await self._of(product, _FREE))

    async def held(self, line: OrderLine) -> Mapping[Spot, int]:
        """What is held for an order line, by spot."""
        return dict(await self._of(line.product_number, line.key))

    async def held_of(self, order: str, lines: Iterable[OrderLine]) -> list[tuple[str, Spot, int]]:
        """What is held for an order of these lines: product, spot and quantity, by line, place and pool."""
        owned = {(line.product_number, *line.key) for line in lines}
        if not owned <= self._stock.keys():
            await self.write_down()
            self._stock |= {key: {} for key in owned}
            for line, product, place, pool, quantity in await self.ctx.tx.all(sql.HELD_OF_ORDER, self.store, order):
                key = (product, order, line)
                self._stock.setdefault(key, {})[Spot(place, pool, order, line)] = quantity
        found = [(key[0], spot, quantity) for key in owned for spot, quantity in self._stock[key].items()]
        return sorted(found, key=lambda one: (one[1].line, one[1].place, one[1].pool))

    async def balances(self, product: str) -> Mapping[Spot, int]:
        """Everything this store has of the product, by spot."""
        await self.write_down()
        known: defaultdict[tuple[str, str, int], Stock] = defaultdict(dict, {(product, *_FREE): {}})
        for row in await self.ctx.tx.all(sql.BALANCES, self.store, product):
            spot = Spot(*row[:4])
            known[(product, spot.order, spot.line)][spot] = row[4]
        self._stock |= known
        return {spot: quantity for stock in known.values() for spot, quantity in stock.items()}

    async def post(self, kind: Kind, product: str, spot: Spot, quantity: int) -> None:
        """Add `quantity` thousandths (less than none takes away) to a spot. Notes when the spot falls below none."""
        if quantity == 0:
            return
        await self._write(kind, product, spot, quantity)
        if self.occurred_on >= self.ctx.now:
            return
        self._net[(product, spot.pool)] += quantity
        if spot.place and await self._counted_since(product, spot.place, spot.pool):
            await self._absorb(product, spot.place, spot.pool, quantity)
            self._net[(product, spot.pool)] -= quantity

    async def shift(self, kind: Kind, product: str, source: Spot, target: Spot, quantity: int) -> None:
        """Take from one spot what is added to another."""
        await self.post(kind, product, source, -quantity)
        await self.post(kind, product, target, quantity)

    def note_count(self, product: str, place: str, pool: int) -> None:
        """Free stock was counted there when the entry happened: what comes late from before is absorbed from now on."""
        spot = (product, place, pool)
        self._counts[spot] = max(self._counts.get(spot, ""), self.occurred_on)
        if product in self._anchors:
            self._anchor(*spot, self.occurred_on)

    async def settle(self) -> None:
        """Close an entry of the operation: what a count of the whole store has seen already is absorbed."""
        for (product, pool), quantity in list(self._net.items()):
            if quantity and await self._counted_since(product, NO_PLACE, pool):
                await self._absorb(product, NO_PLACE, pool, quantity)
        self._net.clear()

    async def finish(self) -> None:
        """Close the operation: what it did is written with the last of it, and on each product that stock changed."""
        await self.settle()
        self.ctx.all_later(self._undone())
        rows = [(self.store, product, self.ctx.now) for product in self._touched]
        self.ctx.later(products.STORE_PRODUCT_STOCK_CHANGED, rows)
        for product in self._touched:
            self.ctx.changed(self.store, "product", product)
        self._touched.clear()

    async def write_down(self) -> None:
        """Store what was done so far. Whoever sums legs or balances in the database asks for it first."""
        if statements := self._undone():
            await self.ctx.tx.together(statements)

    def take_flag(self) -> bool:
        """Whether a balance fell below none since this was asked last."""
        flag, self.negative = self.negative, False
        return flag

    def take_absorbed(self) -> dict[tuple[str, str, int], int]:
        """Return what was absorbed since the last call, by product, place and pool, in thousandths."""
        absorbed = {spot: quantity for spot, quantity in self._absorbed.items() if quantity}
        self._absorbed.clear()
        return absorbed

    def _undone(self) -> list[Statement]:
        """What is to be written, and counts as written from now on. Of balances, an empty free one stays."""
        statements: list[Statement] = [(sql.LEG_ADD, leg) for leg in self._legs]
        for (product, spot), was in self._stored.items():
            now = self._stock[(product, spot.order, spot.line)].get(spot)
            if now is None and was is not None:
                statements.append((sql.BALANCE_DROP, (self.store, product, *spot, was)))
                if spot.place:
                    over = (self.store, product, *spot, self.ctx.now)
                    statements.append((assignments.ASSIGNMENT_OVER, over))
            elif now is not None and now != was:
                statements.append((sql.BALANCE_ADD, (self.store, product, *spot, now - (was or 0))))
        statements += [(sql.ANCHOR_SET, (self.store, *spot, when)) for spot, when in self._counts.items()]
        self._legs, self._counts, self._stored = [], {}, {}
        return statements + self.origins.undone()

    async def _of(self, product: str, owner: tuple[str, int]) -> Stock:
        key = (product, *owner)
        if key in self._stock:
            return self._stock[key]
        if owner == _FREE:
            await self.load([product])
        else:
            rows = await self.ctx.tx.all(sql.HELD_OF_LINE, self.store, *owner)
            self._stock[key] = {Spot(place, pool, *owner): quantity for place, pool, quantity in rows}
        return self._stock[key]

    async def _write(self, kind: Kind, product: str, spot: Spot, quantity: int) -> None:
        stock = await self._of(product, (spot.order, spot.line))
        self.ctx.legs += 1
        leg = (self.store, self.ctx.op_id, self.ctx.legs, kind, product, *spot, quantity, self.ctx.now)
        self._legs.append((*leg, self.occurred_on))
        self._stored.setdefault((product, spot), stock.get(spot))
        before = stock.get(spot, 0)
        balance = stock[spot] = before + quantity
        if abs(balance) > max(MOST_GOODS * ONE, abs(before)):
            raise conflict(f"There would be more than {MOST_GOODS:,} of product {product} in one place.")
        if balance == 0 and not spot.free:
            del stock[spot]
        if balance < 0 and quantity < 0:
            self.negative = True
        self._touched[product] = None

    async def _absorb(self, product: str, place: str, pool: int, quantity: int) -> None:
        """Undo a change of free stock that a later count has seen already."""
        await self._write("absorbed", product, Spot(place, pool), -quantity)
        self._absorbed[(product, place, pool)] -= quantity

    async def _counted_since(self, product: str, place: str, pool: int) -> bool:
        if product not in self._anchors:
            await self._load_anchors(product)
        return self._anchors[product].get((place, pool), "") > self.occurred_on

    async def _load_anchors(self, product: str) -> None:
        """Those of this product, and of all whose free stock was read: they will be asked for, too."""
        wanted = sorted((self._unanchored | {product}) - self._anchors.keys())
        self._unanchored.clear()
        self._anchors |= {number: {} for number in wanted}
        for row in await self.ctx.tx.all(sql.ANCHORS_OF_PRODUCTS, self.store, wanted):
            self._anchor(*row)
        for spot, counted_on in self._counts.items():
            if spot[0] in wanted:
                self._anchor(*spot, counted_on)

    def _anchor(self, product: str, place: str, pool: int, counted_on: str) -> None:
        anchors = self._anchors[product]
        anchors[(place, pool)] = max(anchors.get((place, pool), ""), counted_on)
