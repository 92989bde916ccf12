"""Connection to PostgreSQL: its transaction, its errors translated, and the watch for a server that answers nothing."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Any, TypeVar

import asyncpg

from aisle.service.db.database_interface import (
    Busy,
    ConstraintViolated,
    DatabaseFailed,
    DatabaseMonitor,
    ResultSize,
    Row,
    Statement,
    ValueTooLong,
    Work,
    database_failure,
    group_by_statement,
)

T = TypeVar("T")

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


STEP_ROWS = 128
"""Number of rows that are read at once for clients. Each step is a round trip; a page of 100 takes one."""


class PostgresTransaction:
    """`Transaction` over one connection, for one task."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self.connection = connection
        self._depth = 0
        self._has_written = False

    async def all(self, sql: str, *args: object) -> list[Row]:
        return await self._fetch(sql, args)

    async def _fetch(self, sql: str, args: Sequence[object]) -> list[Row]:
        self._has_written = self._has_written or not sql.lstrip().startswith("SELECT")
        try:
            return [tuple(record) for record in await self.connection.fetch(sql, *args)]
        except asyncpg.PostgresError as problem:
            raise _known_error(problem) from problem

    async def one(self, sql: str, *args: object) -> Row | None:
        rows = await self._fetch(sql, args)
        return rows[0] if rows else None

    async def run(self, sql: str, *args: object) -> None:
        await self._fetch(sql, args)

    async def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        self._has_written = True
        try:
            await self.connection.executemany(sql, rows)
        except asyncpg.PostgresError as problem:
            raise _known_error(problem) from problem

    async def run_batch(self, statements: Iterable[Statement]) -> None:
        for sql, rows in group_by_statement(statements).items():
            await self.run_many(sql, rows)

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


class ClientReadTransaction(PostgresTransaction):
    """`Transaction` that only reads, for clients. Its results are read in steps and bounded."""

    async def all(self, sql: str, *args: object) -> list[Row]:
        rows, size = list[Row](), ResultSize()
        try:
            cursor = await self.connection.cursor(sql, *args)
            while part := [tuple(record) for record in await cursor.fetch(STEP_ROWS)]:
                rows += part
                size.add(part)
                if len(part) < STEP_ROWS:
                    break
        except asyncpg.PostgresError as problem:
            raise _known_error(problem) from problem
        return rows


def _known_error(error: Exception) -> Exception:
    """Translate constraint errors for the rules. Other errors stay as they are until the transaction ends."""
    if isinstance(error, asyncpg.IntegrityConstraintViolationError):
        return ConstraintViolated(str(error))
    if isinstance(error, asyncpg.exceptions.ProgramLimitExceededError):
        return ValueTooLong("This is longer than the database can hold under a key.")
    return error


async def run_transaction(transaction: PostgresTransaction, work: Work[T], deliver: Callable[[T], None] | None) -> T:
    """Run `work` and commit. Raise DatabaseFailed if the outcome of the commit is unknown.

    A reader gets its result before the end of the transaction, on which the result does not depend.
    """
    connection = transaction.connection
    try:
        result = await work(transaction)
    except Exception as problem:
        await roll_back_failed(connection, problem)
        raise
    except BaseException:
        connection.terminate()
        raise
    if deliver is not None:
        deliver(result)
        await roll_back(connection)
        return result
    try:
        status = await connection.execute("COMMIT")
    except Exception as problem:
        if is_connection_lost(problem):
            raise DatabaseFailed("The database was lost while the request was being stored.") from problem
        await roll_back(connection)
        raise
    if status != "COMMIT":
        raise DatabaseFailed("The database undid the transaction.")
    return result


async def roll_back_failed(connection: Any, error: Exception) -> None:
    """Roll back a failed transaction. Raise ConnectionResetError if its connection ended."""
    if connection.is_closed():
        raise ConnectionResetError("The connection to the database ended.") from error
    await roll_back(connection)


async def roll_back(connection: Any) -> None:
    """Roll back the transaction; terminate the connection if that fails."""
    if connection.is_closed():
        return
    try:
        await connection.execute("ROLLBACK")
    except Exception:
        connection.terminate()


PATIENCE_S = 5.0
"""Seconds without a finished transaction while one runs, after which a new connection is tried; and that it gets."""
_INTERVAL_S = 1.0


class ServerNotAnswering(TimeoutError):
    """Server that does not answer although the pool has free connections."""


class AnswerWatch:
    """Watch of one server for an event loop, in which all its methods are called.

    A transaction may last, so a long one proves nothing. Then a new connection shows whether the server answers.
    """

    def __init__(self, dsn: str, monitor: DatabaseMonitor) -> None:
        self._dsn = dsn
        self._monitor = monitor
        self._began_at: dict[object, float] = {}
        """Beginning of each job that runs, the oldest first."""
        self._answered_at = -math.inf
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Watch no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def begin_job(self, job: object) -> None:
        """Record that a job begins, which waits for the server."""
        self._began_at[job] = monotonic()

    def finish_job(self, job: object) -> None:
        """Record that a job has ended."""
        self._began_at.pop(job, None)

    def note_answer(self) -> None:
        """Record that the server has finished a transaction."""
        self._answered_at = monotonic()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_INTERVAL_S)
            asked_at = monotonic()
            waits_since = max(next(iter(self._began_at.values()), math.inf), self._answered_at)
            if asked_at - waits_since < PATIENCE_S or await self._is_answering() or self._answered_at > asked_at:
                continue
            self._monitor.report_failure("reads", error=ServerNotAnswering.__name__)

    async def _is_answering(self) -> bool:
        """Return False if a new connection gets no answer in time. Jobs report other failures themselves."""
        try:
            connection = await asyncpg.connect(self._dsn, timeout=PATIENCE_S)
        except TimeoutError:
            return False
        except Exception:
            return True
        with suppress(Exception):
            await connection.close(timeout=PATIENCE_S)
        return True
