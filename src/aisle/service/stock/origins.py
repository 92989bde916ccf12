"""Where the goods came from that are held for order lines (README: Pick lowers), while an operation works on it.

Read once for a line and reckoned on from there, as the ledger's stock is, and written with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from aisle.service.context import Context
from aisle.service.sql import stock as sql
from aisle.service.storage import Statement
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.service.stock.line import OrderLine

_Key = tuple[str, int]


class Taking(NamedTuple):
    """So much from there."""

    place: str
    pool: int
    quantity: int


class Taken(NamedTuple):
    """Goods held for a line: where they came from, and where and in which pool they are held; no place is the hand."""

    n: int
    place: str
    pool: int
    held_place: str
    held_pool: int
    quantity: int

    @property
    def origin(self) -> Taking:
        """So much came from there."""
        return Taking(self.place, self.pool, self.quantity)


class Origins:
    """What is known of this in one operation in one store; `n` of a line rises in the order of taking."""

    def __init__(self, ctx: Context, store: str) -> None:
        self._ctx = ctx
        self._store = store
        self._rows: dict[_Key, dict[int, Taken]] = {}
        self._stored: dict[_Key, dict[int, Taken]] = {}
        self._news: dict[_Key, None] = {}
        """Lines of which something is to be written."""

    async def of(self, line: OrderLine) -> list[Taken]:
        """All that is held for a line, the first taken first."""
        if line.key not in self._rows:
            rows = await self._ctx.tx.all(sql.TAKEN_OF_LINE, self._store, *line.key)
            self._stored[line.key] = {row[0]: Taken(*row) for row in rows}
            self._rows[line.key] = dict(self._stored[line.key])
        return list(self._rows[line.key].values())

    async def add(self, line: OrderLine, origin: Taking, place: str, pool: int) -> None:
        """So much more is held for a line, there, and came from there."""
        await self.of(line)
        # Behind those that are stored too: a row of theirs that goes is not one that is changed.
        n = max((*self._rows[line.key], *self._stored[line.key]), default=0) + 1
        self._rows[line.key][n] = Taken(n, origin.place, origin.pool, place, pool, origin.quantity)
        self._news[line.key] = None

    async def lessen(self, line: OrderLine, one: Taken, part: int) -> None:
        """So much of one of them is not held any more."""
        await self.of(line)
        self._news[line.key] = None
        if part == one.quantity:
            del self._rows[line.key][one.n]
        else:
            self._rows[line.key][one.n] = one._replace(quantity=one.quantity - part)

    async def drop(self, order: str, lines: Iterable[int]) -> None:
        """Nothing is held for these lines of an order any more."""
        for line in lines:
            self._rows[(order, line)], self._stored[(order, line)] = {}, {}
            self._news.pop((order, line), None)
            await self._ctx.tx.run(sql.TAKEN_DROP_LINE, self._store, order, line)

    async def drop_all(self, order: str) -> None:
        """Nor for any of its lines."""
        for key in [key for key in self._rows if key[0] == order]:
            self._rows[key], self._stored[key] = {}, {}
            self._news.pop(key, None)
        await self._ctx.tx.run(sql.TAKEN_DROP_ORDER, self._store, order)

    def undone(self) -> list[Statement]:
        """What is to be written, and counts as written from now on."""
        statements: list[Statement] = []
        for key in self._news:
            rows, stored = self._rows[key], self._stored[key]
            statements += [(sql.TAKEN_DROP, (self._store, *key, n)) for n in stored if n not in rows]
            for n, row in rows.items():
                if n not in stored:
                    statements.append((sql.TAKEN_ADD, (self._store, *key, *row)))
                elif row != stored[n]:
                    statements.append((sql.TAKEN_SET, (self._store, *key, n, row.quantity)))
            self._stored[key] = dict(rows)
        self._news.clear()
        return statements
