"""`Transaction` over one SQLite connection: SQL in SQLite's form, savepoints, and a runner of its coroutines."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from itertools import islice
from json.encoder import encode_basestring_ascii
from typing import Any, TypeVar, cast

import apsw

from aisle.service.db.database_interface import (
    ConstraintViolated,
    ResultSize,
    ResultTooLong,
    Row,
    Statement,
    group_by_statement,
)
from aisle.service.db.product_search_index import (
    INDEXED_AT_ONCE,
    PRODUCT_INSERT,
    index_waiting_products,
    narrow_by_index,
)

T = TypeVar("T")


_UNMEASURED_ROWS = 8
"""Number of rows that are read between two checks of that; the first ones are always read."""


@lru_cache(maxsize=2000)
def _to_sqlite(sql: str, single_values: tuple[int, ...] = ()) -> str:
    """Return common SQL in SQLite's form: numbered parameters, and lists as JSON, except those of one value."""
    for number in single_values:
        sql = sql.replace(f"= ANY(${number})", f"= ${number}")
    text = re.sub(r"= ANY\(\$(\d+)\)", r"IN (SELECT value FROM json_each(?\1))", sql)
    return re.sub(r"\$(\d+)", r"?\1", text)


def _to_sqlite_statement(sql: str, args: Sequence[object]) -> tuple[str, Sequence[apsw.SQLiteValue]]:
    """Return a statement and its parameters in SQLite's form. A list of one value becomes the value."""
    alone: tuple[int, ...] = ()
    if list in map(type, args):
        alone = tuple([n for n, arg in enumerate(args, 1) if isinstance(arg, list) and len(arg) == 1])
        args = tuple([(arg[0] if len(arg) == 1 else _json_list(arg)) if isinstance(arg, list) else arg for arg in args])
    return narrow_by_index(_to_sqlite(sql, alone), args), cast("Sequence[apsw.SQLiteValue]", args)


def _json_list(values: list[object]) -> str:
    """Return a list as JSON. Most have a few codes, for which a full encoder takes longer than the statement."""
    texts = [value for value in values if type(value) is str]
    return f"[{','.join(map(encode_basestring_ascii, texts))}]" if len(texts) == len(values) else json.dumps(values)


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits to its end. Raise RuntimeError if it does wait."""
    try:
        work.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    work.close()
    raise RuntimeError("Work inside a transaction waited for something outside of it.")


class SqliteTransaction:
    """`Transaction` over one connection, for one thread."""

    is_damaged = False
    """True if a part that failed could not be undone, so that the transaction must not be committed."""
    has_waiting_products = False
    """True if products may wait for the search index."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._depth = 0
        self._index_left = INDEXED_AT_ONCE

    async def all(self, sql: str, *args: object) -> list[Row]:
        return self._execute(sql, args)

    async def one(self, sql: str, *args: object) -> Row | None:
        # All rows are fetched: a statement that writes and returns rows must run to its end.
        rows = self._execute(sql, args)
        return rows[0] if rows else None

    async def run(self, sql: str, *args: object) -> None:
        self._execute(sql, args)

    async def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        try:
            self.connection.executemany(_to_sqlite(sql), cast("Iterable[Sequence[apsw.SQLiteValue]]", rows))
            if PRODUCT_INSERT in sql:
                self._index_products()
        except apsw.ConstraintError as problem:
            raise ConstraintViolated(str(problem)) from problem

    async def run_batch(self, statements: Iterable[Statement]) -> None:
        for sql, rows in group_by_statement(statements).items():
            await self.run_many(sql, rows)

    def _index_products(self) -> None:
        """Index the written products, but only the first of many."""
        while self._index_left > 0 and (indexed := index_waiting_products(self.connection, self._index_left)):
            self._index_left -= indexed
        self.has_waiting_products = self.has_waiting_products or self._index_left <= 0

    def _execute(self, sql: str, args: Sequence[object]) -> list[Row]:
        try:
            return self._query(*_to_sqlite_statement(sql, args))
        except apsw.ConstraintError as problem:
            raise ConstraintViolated(str(problem)) from problem

    def _query(self, text: str, args: Sequence[apsw.SQLiteValue]) -> list[Row]:
        return self.connection.execute(text, args).fetchall()

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """Open a savepoint."""
        self._depth += 1
        name = f"s{self._depth}"
        self.connection.execute(f"SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            self.is_damaged = True
            self._end_savepoint(f"ROLLBACK TO {name}", f"RELEASE {name}")
            self.is_damaged = False
            raise
        else:
            self._end_savepoint(f"RELEASE {name}")

    def _end_savepoint(self, *statements: str) -> None:
        self._depth -= 1
        if self.connection.in_transaction:
            for statement in statements:
                self.connection.execute(statement)

    def begin(self, statement: str) -> None:
        """Start a transaction."""
        self._depth = 0
        self.is_damaged = False
        self._index_left = INDEXED_AT_ONCE
        self.connection.execute(statement)

    def end(self, statement: str) -> None:
        """End the transaction, unless SQLite has ended it already."""
        if self.connection.in_transaction:
            self.connection.execute(statement)


class ReadTransaction(SqliteTransaction):
    """`Transaction` that only reads, and whose results are bounded if they are for clients."""

    is_for_clients = True

    def _query(self, text: str, args: Sequence[apsw.SQLiteValue]) -> list[Row]:
        if not self.is_for_clients:
            return super()._query(text, args)
        found, size = self.connection.execute(text, args), ResultSize()
        rows: list[Row] = list(islice(found, _UNMEASURED_ROWS))
        while part := list(islice(found, _UNMEASURED_ROWS)):
            rows += part
            try:
                size.add(part)
            except ResultTooLong:
                found.close(True)
                raise
        return rows
