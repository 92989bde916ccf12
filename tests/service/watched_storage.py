"""A storage that watches over the other: writers change what they said they would, and may be carried out twice."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any, TypeVar

from aisle.service.db.database_interface import Database, Row, Statement, Transaction, Work
from aisle.service.operation_context import CHAIN

T = TypeVar("T")

# Tables without a store in their key, and whose lock stands for them; tokens have none, for each is changed by itself.
_WHOSE = {"product": CHAIN, "product_code": CHAIN, "store": CHAIN, "token": None, "token_store": None}
_CHANGES = re.compile(r"\s*(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)")
# What is over for good is forgotten wherever it is.
_FORGETS = re.compile(r"DELETE FROM \w+\s+WHERE \w+ <")


class _Undone(Exception):
    """The first time, taken back."""


class Watched:
    """As the storage inside. With `twice`, all work is done once in vain before it counts."""

    def __init__(self, inner: Database, *, twice: bool = False) -> None:
        self.inner = inner
        self._twice = twice

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def read(self, work: Work[T]) -> T:
        return await self.inner.read(work)

    async def write(self, work: Work[T], *, stores: Collection[str] | None = None) -> T:
        return await self.inner.write(lambda tx: self._watched(tx, work, stores), stores=stores)

    def read_now(self, work: Work[T]) -> T:
        return self.inner.read_now(work)

    def write_now(self, work: Work[T]) -> T:
        return self.inner.write_now(work)

    def close(self) -> None:
        self.inner.close()

    async def _watched(self, tx: Transaction, work: Work[T], stores: Collection[str] | None) -> T:
        seen = _Tx(tx, stores)
        if self._twice:
            try:
                async with tx.savepoint():
                    await work(seen)
                    raise _Undone
            except _Undone:
                pass
        return await work(seen)


class _Tx:
    def __init__(self, inner: Transaction, stores: Collection[str] | None) -> None:
        self._inner = inner
        self._stores = stores

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def all(self, sql: str, *args: object) -> list[Row]:
        self._check(sql, args)
        return await self._inner.all(sql, *args)

    async def one(self, sql: str, *args: object) -> Row | None:
        self._check(sql, args)
        return await self._inner.one(sql, *args)

    async def run(self, sql: str, *args: object) -> None:
        self._check(sql, args)
        await self._inner.run(sql, *args)

    async def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        kept = list(rows)
        for row in kept:
            self._check(sql, row)
        await self._inner.run_many(sql, kept)

    async def run_batch(self, statements: Iterable[Statement]) -> None:
        kept = list(statements)
        for sql, row in kept:
            self._check(sql, row)
        await self._inner.run_batch(kept)

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self._inner.savepoint()

    def _check(self, sql: str, args: Sequence[object]) -> None:
        if self._stores is None or (changed := _changed(sql)) is None:
            return
        table, place = changed
        whose: object = args[place] if place is not None else _WHOSE[table]
        for store in whose if isinstance(whose, list) else [whose]:
            assert store is None or store in self._stores, f"{table} of {store!r}, but {sorted(self._stores)} is said"


@cache
def _changed(sql: str) -> tuple[str, int | None] | None:
    """The table that a statement changes, and which of its parameters is the store."""
    match = _CHANGES.match(sql)
    if match is None or _FORGETS.search(sql):
        return None
    table = match[1]
    if table in _WHOSE:
        return table, None
    if sql.lstrip().startswith("INSERT"):
        assert re.search(r"\(\s*store_number", sql), sql
        return table, 0
    named = re.search(r"store_number = (?:ANY\()?\$(\d+)", sql)
    assert named, sql
    return table, int(named[1]) - 1
