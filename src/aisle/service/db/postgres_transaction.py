"""`Transaction` over one PostgreSQL connection, and the translation of its errors."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache, partial

import asyncpg

from aisle.service.db.database import (
    Busy,
    CacheKey,
    ConstraintViolated,
    Row,
    Statement,
    ValueTooLong,
    cache_key,
    database_failure,
    group_by_statement,
    tables_of,
)

# Larger batches run statement by statement. Few combinations of few parts occur, and they stay prepared.
_MAX_BATCH = 32
_ROW_OF_ARRAYS, _ARRAY_OF_ROWS = "VALUES ({})", "ARRAY(SELECT q FROM ({}) q)"
_PARAMETER = re.compile(r"\$(\d+)")
# The server is gone or shuts down. What was not committed has not happened.
_CONNECTION_ERRORS = (
    OSError,
    # The driver's error for a connection that ended while a statement ran.
    asyncpg.exceptions.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.exceptions.AdminShutdownError,
    asyncpg.exceptions.CrashShutdownError,
    asyncpg.exceptions.CannotConnectNowError,
    asyncpg.exceptions.IdleInTransactionSessionTimeoutError,
)
# Undone by the server for its own reasons: the same work may succeed when repeated.
_RETRYABLE_ERRORS = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.exceptions.OutdatedSchemaCacheError,
)
_BUSY_ERRORS = (
    TimeoutError,
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
    asyncpg.TooManyConnectionsError,
)
SERVER_ERRORS = (
    asyncpg.exceptions.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.exceptions.DataCorruptedError,
)

REFUSED = (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError)
"""Errors of a refused login or a missing database. An operator can correct them while the caller waits."""


def is_connection_lost(error: BaseException) -> bool:
    """Return True if the connection failed, and not the statement."""
    if isinstance(error, asyncpg.InterfaceError):
        return "closed" in str(error)
    return isinstance(error, _CONNECTION_ERRORS)


def is_retryable(error: BaseException) -> bool:
    """Return True if the same work, which was undone as a whole, may be repeated at once."""
    return not isinstance(error, _BUSY_ERRORS) and (isinstance(error, _RETRYABLE_ERRORS) or is_connection_lost(error))


def public_error(error: BaseException) -> BaseException:
    """Return the error that callers handle for an error of the engine."""
    if isinstance(error, _BUSY_ERRORS):
        return Busy("Another writer holds the database; try again.")
    if isinstance(error, SERVER_ERRORS):
        return database_failure(error)
    if is_retryable(error) or isinstance(error, REFUSED):
        return Busy("The database cannot be reached or is busy; try again.")
    return error


@lru_cache(maxsize=1000)
def batch_writes(texts: tuple[str, ...]) -> str:
    """Combine statements into one with consecutive parameters, which the server runs at once.

    The result has no text but that of `db.statements`; values stay parameters.
    """
    parts = [f"w{n} AS ({text})" for n, text in enumerate(_renumber_parameters(texts))]
    return f"WITH {', '.join(parts)} SELECT 1"


@lru_cache(maxsize=1000)
def batch_reads(texts: tuple[str, ...]) -> str:
    """Combine queries into one, whose only row has the rows of each query as an array."""
    return _ROW_OF_ARRAYS.format(", ".join(map(_ARRAY_OF_ROWS.format, _renumber_parameters(texts))))


def _renumber_parameters(texts: Iterable[str]) -> Iterator[str]:
    """Yield each text with its parameters numbered after those of the texts before it."""
    before = 0
    for text in texts:
        yield _PARAMETER.sub(partial(_shift_parameter, before), text)
        before += max((int(number) for number in _PARAMETER.findall(text)), default=0)


def _shift_parameter(by: int, match: re.Match[str]) -> str:
    return f"${int(match[1]) + by}"


class PostgresTransaction:
    """`Transaction` over one connection, for one task."""

    def __init__(self, connection: asyncpg.Connection, *, is_sharded: bool = False) -> None:
        """Wrap a connection. A sharded database (Citus) takes each statement separately."""
        self.connection = connection
        self._is_sharded = is_sharded
        self._depth = 0
        self._has_written = False
        self._prefetched: dict[CacheKey, list[Row]] = {}

    async def all(self, sql: str, *args: object) -> list[Row]:
        if self._prefetched and (known := self._prefetched.get(cache_key(sql, args))) is not None:
            return list(known)
        self._invalidate_cache(sql)
        return await self._fetch(sql, args)

    async def _fetch(self, sql: str, args: Sequence[object]) -> list[Row]:
        try:
            return [tuple(record) for record in await self.connection.fetch(sql, *args)]
        except asyncpg.PostgresError as problem:
            raise _known_error(problem) from problem

    async def one(self, sql: str, *args: object) -> Row | None:
        rows = await self.all(sql, *args)
        return rows[0] if rows else None

    async def run(self, sql: str, *args: object) -> None:
        await self.all(sql, *args)

    async def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        self._invalidate_cache(sql)
        try:
            await self.connection.executemany(sql, rows)
        except asyncpg.PostgresError as problem:
            raise _known_error(problem) from problem

    async def prefetch(self, statements: Iterable[Statement]) -> None:
        if self._is_sharded:
            return
        parts = list(dict.fromkeys(cache_key(*one) for one in statements))
        for part in (parts[n : n + _MAX_BATCH] for n in range(0, len(parts), _MAX_BATCH)):
            [found] = await self._fetch(*_combine(batch_reads, part))
            self._prefetched |= {one: [tuple(row) for row in rows] for one, rows in zip(part, found, strict=True)}

    async def run_batch(self, statements: Iterable[Statement]) -> None:
        parts = list(statements)
        if 1 < len(parts) <= _MAX_BATCH and not self._is_sharded:
            parts.sort(key=_sql_of)  # The same statements form the same text, in whatever order they came.
            sql, args = _combine(batch_writes, parts)
            await self.run(sql, *args)
            return
        for sql, rows in group_by_statement(parts).items():
            await self.run_many(sql, rows)

    def _invalidate_cache(self, sql: str) -> None:
        """Drop prefetched answers from the tables that a statement writes."""
        if sql.lstrip().startswith("SELECT"):
            return
        self._has_written = True
        if self._prefetched:
            written = tables_of(sql)
            self._prefetched = {
                one: rows for one, rows in self._prefetched.items() if written.isdisjoint(tables_of(one[0]))
            }

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        # The first savepoint exists since the transaction began, and is not set again if nothing was written since.
        # None is released: the end of the transaction does that, and a later one hides earlier ones of its name.
        name = f"s{self._depth + 1}"
        if self._depth or self._has_written:
            await self.connection.execute(f"SAVEPOINT {name}")
        self._depth += 1
        try:
            yield
        except BaseException:
            if not self.connection.is_closed():
                await self.connection.execute(f"ROLLBACK TO {name}")
            raise
        finally:
            self._depth -= 1


def _sql_of(statement: Statement) -> str:
    return statement[0]


def _combine(combine: Callable[[tuple[str, ...]], str], parts: Iterable[Statement]) -> Statement:
    texts, rows = zip(*parts, strict=True)
    return combine(texts), [value for row in rows for value in row]


def _known_error(error: Exception) -> Exception:
    """Translate constraint errors for the rules. Other errors stay as they are until the transaction ends."""
    if isinstance(error, asyncpg.IntegrityConstraintViolationError):
        return ConstraintViolated(str(error))
    if isinstance(error, asyncpg.exceptions.ProgramLimitExceededError):
        return ValueTooLong("This is longer than the database can hold under a key.")
    return error
