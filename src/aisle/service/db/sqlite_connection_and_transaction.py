"""Connections to SQLite, opened with all safety options, their errors, and `Transaction` over one of them."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache
from itertools import islice
from json.encoder import encode_basestring_ascii
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar, cast

import apsw

from aisle.errors import StorageError
from aisle.service.db.database_interface import (
    Busy,
    ConstraintViolated,
    ResultSize,
    ResultTooLong,
    Row,
    Statement,
    database_failure,
    group_by_statement,
)
from aisle.service.db.schema_and_search_index import (
    INDEXED_AT_ONCE,
    PRODUCT_INSERT,
    index_pieces,
    index_waiting_products,
    match_expression,
    narrow_by_index,
)

_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA mmap_size = 0",
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -4000",
    "PRAGMA journal_size_limit = 67108864",
)


def open_connection(path: Path, busy_ms: int, *, read_only: bool = False) -> apsw.Connection:
    """Open a connection with all safety options.

    Raise StorageError if the file is not a usable database, Busy if another process locks it for longer than `busy_ms`.
    """
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=400)
    except apsw.Error as problem:
        raise StorageError(f"{path} cannot be opened as a database: {problem}.") from problem
    try:
        connection.set_busy_timeout(busy_ms)
        mode = _enable_wal(connection, busy_ms)
        for pragma in _PRAGMAS:
            connection.execute(pragma).fetchall()
        connection.create_scalar_function(
            "words_of", lambda *said: match_expression(str(said[0])), 1, deterministic=True
        )
        connection.create_scalar_function("pieces_of", lambda *said: index_pieces(str(said[0])), 1, deterministic=True)
        if read_only:
            connection.execute("PRAGMA query_only = ON").fetchall()
    except apsw.BusyError as problem:
        connection.close()
        raise busy_error(path, busy_ms) from problem
    except apsw.Error as problem:
        connection.close()
        raise StorageError(f"{path} cannot be opened as a database: {problem}.") from problem
    if mode != [("wal",)]:
        connection.close()
        raise StorageError(f"{path} lies on a file system that several processes cannot share.")
    return connection


_POLL_S = 0.002
"""Seconds between two tries of a writer. SQLite's own pauses grow to 100 ms."""
_MAX_WAIT_S = 1.0
"""Seconds for the place of the next writer. Afterwards whoever holds it counts as stopped."""


class NextWriter:
    """Place of the next writer among the processes of one database.

    SQLite's lock has no queue: who writes without a pause would keep it from all others. Here it has to wait until the
    next one, which holds this place, has got the lock. Without locks of files everybody tries for itself.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._fd = os.open(path.with_name(f"{path.name}-next"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            self._fd = -1

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the place while the block waits for SQLite's lock."""
        until = monotonic() + _MAX_WAIT_S
        while not (is_held := self._try_lock()) and monotonic() < until:
            sleep(_POLL_S)
        try:
            yield
        finally:
            if is_held and self._fd >= 0:
                fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _try_lock(self) -> bool:
        """Return False if another process has the place."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except (OSError, ValueError):  # No file, or a file system without such locks.
            self.close()
        return True

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def poll_often(connection: apsw.Connection, busy_ms: int) -> None:
    """Wait for other writers in short steps, this long in all."""
    until = 0.0

    def wait(tries: int) -> bool:
        nonlocal until
        if not tries:
            until = monotonic() + busy_ms / 1000
        sleep(_POLL_S)
        return monotonic() < until

    connection.set_busy_handler(wait)


DISK_ERRORS = (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.CantOpenError)
"""Failures of the file or its disk, and not of a statement."""


def public_error(error: BaseException) -> BaseException:
    """Return the error that callers handle for an error of the engine."""
    if isinstance(error, apsw.BusyError):
        return Busy("Another writer holds the database; try again.")
    return database_failure(error) if isinstance(error, (*DISK_ERRORS, apsw.ReadOnlyError)) else error


def busy_error(path: Path, busy_ms: int) -> Busy:
    """Return the error for a file that another process locked for this many milliseconds."""
    seconds = f"{busy_ms / 1000:.0f} seconds"
    return Busy(f"{path} has been held by another process for {seconds}; start again when it is done.")


def _enable_wal(connection: apsw.Connection, busy_ms: int) -> list[tuple[apsw.SQLiteValue, ...]]:
    """Switch to WAL and return the resulting mode.

    SQLite applies no busy timeout to this statement, so it is retried here.
    """
    until = monotonic() + busy_ms / 1000
    while True:
        try:
            return connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except apsw.BusyError:
            if monotonic() > until:
                raise
            sleep(0.005)


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
