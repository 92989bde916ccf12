"""One PostgreSQL connection seen as `Tx`, and what its failures mean to whoever asked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache, partial

import asyncpg

from aisle.service.storage.base import (
    Busy,
    Duplicate,
    Question,
    Row,
    Statement,
    Unfit,
    failed,
    grouped,
    question,
    tables_of,
)

# More parts are sent statement by statement; few combinations of few parts are met, and they are kept prepared.
_MOST_WOVEN = 32
_ROW, _ROWS_OF = "VALUES ({})", "ARRAY(SELECT q FROM ({}) q)"
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
BROKEN = (
    asyncpg.exceptions.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.exceptions.DataCorruptedError,
)

REFUSED = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
)
"""Who connects is not let in, or the database is not there: its operator can mend that while this one waits."""


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
    if isinstance(problem, BROKEN):
        return failed(problem)
    if may_repeat(problem) or isinstance(problem, REFUSED):
        return Busy("The database cannot be reached or is busy; try again.")
    return problem


@lru_cache(maxsize=1000)
def woven(texts: tuple[str, ...]) -> str:
    """Statements as one, which the server carries out in one go; each has its own parameters, one after the other's.

    All of it is text of the catalogue: values are parameters here, too.
    """
    parts = [f"w{n} AS ({text})" for n, text in enumerate(_renumbered(texts))]
    return f"WITH {', '.join(parts)} SELECT 1"


@lru_cache(maxsize=1000)
def gathered(texts: tuple[str, ...]) -> str:
    """Queries as one, whose only row has the rows of each as an array."""
    return _ROW.format(", ".join(map(_ROWS_OF.format, _renumbered(texts))))


def _renumbered(texts: Iterable[str]) -> Iterator[str]:
    """Each with parameters behind those of the ones before it."""
    before = 0
    for text in texts:
        yield _PARAMETER.sub(partial(_later, before), text)
        before += max((int(number) for number in _PARAMETER.findall(text)), default=0)


def _later(by: int, match: re.Match[str]) -> str:
    return f"${int(match[1]) + by}"


class PostgresTx:
    """`Tx` over one connection; used by one task."""

    def __init__(self, connection: asyncpg.Connection, *, is_split: bool = False) -> None:
        """`is_split`: the database is split by store (Citus), and takes each statement by itself."""
        self.connection = connection
        self._is_split = is_split
        self._depth = 0
        self._wrote = False
        self._known: dict[Question, list[Row]] = {}

    async def all(self, sql: str, *args: object) -> list[Row]:
        if self._known and (known := self._known.get(question(sql, args))) is not None:
            return list(known)
        self._note(sql)
        return await self._asked(sql, args)

    async def _asked(self, sql: str, args: Sequence[object]) -> list[Row]:
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
        self._note(sql)
        try:
            await self.connection.executemany(sql, rows)
        except asyncpg.PostgresError as problem:
            raise _told(problem) from problem

    async def ahead(self, questions: Iterable[Statement]) -> None:
        if self._is_split:
            return
        parts = list(dict.fromkeys(question(*one) for one in questions))
        for part in (parts[n : n + _MOST_WOVEN] for n in range(0, len(parts), _MOST_WOVEN)):
            [found] = await self._asked(*_as_one(gathered, part))
            self._known |= {one: [tuple(row) for row in rows] for one, rows in zip(part, found, strict=True)}

    async def together(self, statements: Iterable[Statement]) -> None:
        parts = list(statements)
        if 1 < len(parts) <= _MOST_WOVEN and not self._is_split:
            parts.sort(key=_text)  # the same ones are one statement to the server, in whatever order they came
            sql, args = _as_one(woven, parts)
            await self.run(sql, *args)
            return
        for sql, rows in grouped(parts).items():
            await self.many(sql, rows)

    def _note(self, sql: str) -> None:
        """What a statement writes to is not as it was asked ahead."""
        if sql.lstrip().startswith("SELECT"):
            return
        self._wrote = True
        if self._known:
            written = tables_of(sql)
            self._known = {one: rows for one, rows in self._known.items() if written.isdisjoint(tables_of(one[0]))}

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        # The first stands since the transaction began, and is not set again where nothing was written since. None is
        # released: the end of the transaction does that, and one of the same name hides those before it.
        name = f"s{self._depth + 1}"
        if self._depth or self._wrote:
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


def _text(statement: Statement) -> str:
    return statement[0]


def _as_one(how: Callable[[tuple[str, ...]], str], parts: Iterable[Statement]) -> Statement:
    texts, rows = zip(*parts, strict=True)
    return how(texts), [value for row in rows for value in row]


def _told(problem: Exception) -> Exception:
    """What the rules know of refusals by the database; all else stays as it is until the transaction ends."""
    if isinstance(problem, asyncpg.IntegrityConstraintViolationError):
        return Duplicate(str(problem))
    if isinstance(problem, asyncpg.exceptions.ProgramLimitExceededError):
        return Unfit("This is longer than the database can hold under a key.")
    return problem
