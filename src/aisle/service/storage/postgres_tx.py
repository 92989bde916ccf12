"""One PostgreSQL connection seen as `Tx`, and what its failures mean to whoever asked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache, partial

import asyncpg

from aisle.service.storage.base import Busy, Duplicate, Row, Statement, Unfit, failed, grouped

# More parts are sent statement by statement; few combinations of few parts are met, and they are kept prepared.
_MOST_WOVEN = 16
_PARAMETER = re.compile(r"\$(\d+)")
# The server is gone, or goes; what was not committed has not happened.
_GONE = (
    OSError,
    # What the driver says of a connection that ended while it was asked for something.
    asyncpg.exceptions.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.exceptions.AdminShutdownError,
    asyncpg.exceptions.CrashShutdownError,
    asyncpg.exceptions.CannotConnectNowError,
    asyncpg.exceptions.IdleInTransactionSessionTimeoutError,
)
# Undone by the server for its own reasons: the same work may find a better moment.
_UNLUCKY = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.exceptions.OutdatedSchemaCacheError,
)
_BUSY = (
    TimeoutError,
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
    asyncpg.TooManyConnectionsError,
)
_BROKEN = (
    asyncpg.exceptions.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.exceptions.DataCorruptedError,
)


def gone(problem: BaseException) -> bool:
    """Whether the connection failed, and not the statement."""
    if isinstance(problem, asyncpg.InterfaceError):
        return "closed" in str(problem)
    return isinstance(problem, _GONE)


def may_repeat(problem: BaseException) -> bool:
    """Whether the same work, which was undone as a whole, may be done once more at once."""
    return not isinstance(problem, _BUSY) and (isinstance(problem, _UNLUCKY) or gone(problem))


def outside(problem: BaseException) -> BaseException:
    """The failure as callers know it, whatever the engine calls it."""
    if isinstance(problem, _BUSY):
        return Busy("Another writer holds the database; try again.")
    if isinstance(problem, _BROKEN):
        return failed(problem)
    if may_repeat(problem):
        return Busy("The database cannot be reached or is busy; try again.")
    return problem


@lru_cache(maxsize=1000)
def woven(texts: tuple[str, ...]) -> str:
    """Statements as one, which the server carries out in one go; each has its own parameters, one after the other's.

    All of it is text of the catalogue: values are parameters here, too.
    """
    parts, before = [], 0
    for n, text in enumerate(texts):
        numbers = [int(number) for number in _PARAMETER.findall(text)]
        parts.append(f"w{n} AS ({_PARAMETER.sub(partial(_later, before), text)})")
        before += max(numbers, default=0)
    return f"WITH {', '.join(parts)} SELECT 1"


def _later(by: int, match: re.Match[str]) -> str:
    return f"${int(match[1]) + by}"


class PostgresTx:
    """`Tx` over one connection; used by one task."""

    def __init__(self, connection: asyncpg.Connection, *, is_split: bool = False) -> None:
        """`is_split`: the database is split by store (Citus), and takes each statement by itself."""
        self.connection = connection
        self._is_split = is_split
        self._depth = 0

    async def all(self, sql: str, *args: object) -> list[Row]:
        try:
            return [tuple(record) for record in await self.connection.fetch(sql, *args)]
        except asyncpg.PostgresError as problem:
            raise _told(problem) from problem

    async def one(self, sql: str, *args: object) -> Row | None:
        rows = await self.all(sql, *args)
        return rows[0] if rows else None

    async def run(self, sql: str, *args: object) -> None:
        await self.all(sql, *args)

    async def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        try:
            await self.connection.executemany(sql, rows)
        except asyncpg.PostgresError as problem:
            raise _told(problem) from problem

    async def together(self, statements: Iterable[Statement]) -> None:
        parts = list(statements)
        if 1 < len(parts) <= _MOST_WOVEN and not self._is_split:
            await self.run(woven(tuple(sql for sql, _ in parts)), *(value for _, row in parts for value in row))
            return
        for sql, rows in grouped(parts).items():
            await self.many(sql, rows)

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        self._depth += 1
        name = f"s{self._depth}"
        await self.connection.execute(f"SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            self._depth -= 1
            if not self.connection.is_closed():
                await self.connection.execute(f"ROLLBACK TO {name}; RELEASE {name}")
            raise
        self._depth -= 1
        await self.connection.execute(f"RELEASE {name}")


def _told(problem: Exception) -> Exception:
    """What the rules know of refusals by the database; all else stays as it is until the transaction ends."""
    if isinstance(problem, asyncpg.IntegrityConstraintViolationError):
        return Duplicate(str(problem))
    if isinstance(problem, asyncpg.exceptions.ProgramLimitExceededError):
        return Unfit("This is longer than the database can hold under a key.")
    return problem
