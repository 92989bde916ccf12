"""Origins of held goods: from which location and pool the goods of an order line were taken (README: Pick lowers)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from aisle.service.db.database import Statement
from aisle.service.db.statements import stock as sql
from aisle.service.operation_context import Context

if TYPE_CHECKING:
    from aisle.service.domain.order_line import OrderLine


_LineKey = tuple[str, int]


class SourceQuantity(NamedTuple):
    """Quantity from a location and pool."""

    location: str
    pool: int
    quantity: int


class HeldGoods(NamedTuple):
    """Goods held for a line: their origin, and the location and pool that hold them.

    The picker has those without location.
    """

    seq: int
    location: str
    pool: int
    held_location: str
    held_pool: int
    quantity: int

    @property
    def origin(self) -> SourceQuantity:
        """Origin and quantity."""
        return SourceQuantity(self.location, self.pool, self.quantity)


class HeldGoodsOrigins:
    """Origins of held goods in one operation in one store. `seq` of a line increases in the order of picking."""

    def __init__(self, ctx: Context, store: str) -> None:
        self._ctx = ctx
        self._store = store
        self._held: dict[_LineKey, dict[int, HeldGoods]] = {}
        self._stored: dict[_LineKey, dict[int, HeldGoods]] = {}
        self._changed_lines: dict[_LineKey, None] = {}
        """Lines with changes to write."""

    async def load_order(self, order: str, lines: Iterable[OrderLine]) -> None:
        """Read the goods held for all lines of an order, before the first of them is used."""
        for line in lines:
            self._held[line.key], self._stored[line.key] = {}, {}
        for number, *row in await self._ctx.tx.all(sql.ORIGINS_OF_ORDER, self._store, order):
            held = HeldGoods(*row)
            for rows in (self._held, self._stored):
                rows.setdefault((order, number), {})[held.seq] = held

    async def held_for_line(self, line: OrderLine) -> list[HeldGoods]:
        """Return all goods held for a line, in the order of picking."""
        if line.key not in self._held:
            rows = await self._ctx.tx.all(sql.ORIGINS_OF_LINE, self._store, *line.key)
            self._stored[line.key] = {row[0]: HeldGoods(*row) for row in rows}
            self._held[line.key] = dict(self._stored[line.key])
        return list(self._held[line.key].values())

    async def add(self, line: OrderLine, origin: SourceQuantity, location: str, pool: int) -> None:
        """Add goods held for a line, with their origin."""
        await self.held_for_line(line)
        # The number follows the stored ones too: a stored row that was removed must be deleted, not changed.
        n = max((*self._held[line.key], *self._stored[line.key]), default=0) + 1
        self._held[line.key][n] = HeldGoods(n, origin.location, origin.pool, location, pool, origin.quantity)
        self._changed_lines[line.key] = None

    async def reduce(self, line: OrderLine, held: HeldGoods, quantity: int) -> None:
        """Reduce one row of held goods by a quantity."""
        await self.held_for_line(line)
        self._changed_lines[line.key] = None
        if quantity == held.quantity:
            del self._held[line.key][held.seq]
        else:
            self._held[line.key][held.seq] = held._replace(quantity=held.quantity - quantity)

    async def delete_lines(self, order: str, lines: Iterable[int]) -> None:
        """Remove all goods held for these lines of an order."""
        for line in lines:
            self._held[(order, line)], self._stored[(order, line)] = {}, {}
            self._changed_lines.pop((order, line), None)
            await self._ctx.tx.run(sql.ORIGINS_OF_LINE_DELETE, self._store, order, line)

    async def delete_order(self, order: str) -> None:
        """Remove all goods held for an order."""
        for key in [key for key in self._held if key[0] == order]:
            self._held[key], self._stored[key] = {}, {}
            self._changed_lines.pop(key, None)
        await self._ctx.tx.run(sql.ORIGINS_OF_ORDER_DELETE, self._store, order)

    def pending_statements(self) -> list[Statement]:
        """Return the statements to write, and treat them as written."""
        statements: list[Statement] = []
        for key in self._changed_lines:
            rows, stored = self._held[key], self._stored[key]
            statements += [(sql.ORIGIN_DELETE, (self._store, *key, n)) for n in stored if n not in rows]
            for n, row in rows.items():
                if n not in stored:
                    statements.append((sql.ORIGIN_ADD, (self._store, *key, *row)))
                elif row != stored[n]:
                    statements.append((sql.ORIGIN_SET, (self._store, *key, n, row.quantity)))
            self._stored[key] = dict(rows)
        self._changed_lines.clear()
        return statements
