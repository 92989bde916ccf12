"""PostgreSQL engine with asyncpg: any number of workers on any number of hosts.

A writer names the stores that it changes and holds their locks until its commit. Writers of one store run one after the
other; those of other stores do not wait for them. Each statement sees the result of the one before (READ COMMITTED), so
the rules need no row locks. Ids increase in the order of commits. Readers see one state (REPEATABLE READ) and never
wait.

The connections belong to an event loop in its own thread, since callers may have a loop or none.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import threading
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

import asyncpg

from aisle.errors import StorageError
from aisle.service.db.database_interface import (
    GROWING_TABLES,
    Busy,
    DatabaseMonitor,
    DatabaseUnreachable,
    FairTurns,
    Work,
)
from aisle.service.db.postgres_connection import (
    REFUSED,
    SERVER_ERRORS,
    AnswerWatch,
    ClientReadTransaction,
    PostgresTransaction,
    ServerNotAnswering,
    is_connection_lost,
    is_retryable,
    public_error,
    roll_back_failed,
    run_transaction,
)
from aisle.service.db.schema_and_search_index import migrate_postgres

T = TypeVar("T")
_ResultCallback = Callable[[Any], None]

_ATTEMPTS = 5
_CONNECT_SECONDS = 15
# A writer of more stores locks all of them.
_MAX_STORE_LOCKS = 64
_EVERY_STORE = frozenset({""})
"""Name under which writers of all stores wait for each other."""
_BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SAVEPOINT s1"
# A batch of writes is one statement of each shape. The server keeps some 200 KB for a large one.
_WRITER_CACHED_STATEMENTS = 250
_SETTINGS = {
    "application_name": "aisle",
    "client_connection_check_interval": "1000",
    "idle_in_transaction_session_timeout": "60000",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "synchronous_commit": "on",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
_GROWING_TABLES = ", ".join(f"'{table}'" for table in GROWING_TABLES)
_ROWS_STATEMENT = (
    "SELECT relname::text, greatest(reltuples, 0)::bigint FROM pg_class"  # noqa: S608 - constants
    f" WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname IN ({_GROWING_TABLES})"
)
_BYTES_STATEMENT = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"""
# A server sharded by store (Citus) needs this to change tables of the chain after reading those of stores.
_WRITER_SETTINGS = {"citus.multi_shard_modify_mode": "sequential"}


class PostgresDatabase:
    """Service database on a PostgreSQL server, migrated to the newest schema when it is opened.

    `dsn` is `postgresql://…` as libpq takes it; missing parts come from the PG… variables and the password file. Raise
    DatabaseUnreachable if the server does not answer, StorageError if the database cannot be used or is newer than this
    program.
    """

    def __init__(self, dsn: str, *, readers: int = 4, writers: int = 4, timeout_s: float = 5.0) -> None:
        self.monitor = DatabaseMonitor()
        self._dsn = dsn
        self._timeout_s = timeout_s
        self._queues: dict[str, _StoreQueue] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._answer_watch = AnswerWatch(dsn, self.monitor)
        self._closed = False
        self._turns = FairTurns(readers)
        self._writer_turns = FairTurns(writers)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="aisle-postgres", daemon=True)
        self._thread.start()
        try:
            opening = asyncio.run_coroutine_threadsafe(self._open(readers, writers), self._loop)
            self._readers, self._writers = opening.result()
        except BaseException as problem:
            self._end_thread()
            if isinstance(problem, StorageError) or not isinstance(problem, Exception):
                raise
            if is_connection_lost(problem) or isinstance(problem, TimeoutError | asyncpg.TooManyConnectionsError):
                raise DatabaseUnreachable(f"{redact_dsn(dsn)} cannot be reached: {_describe(problem)}") from problem
            raise StorageError(f"{redact_dsn(dsn)} cannot be used: {_describe(problem)}") from problem

    @property
    def bytes_statement(self) -> str:
        """Statement of `Database.bytes_statement`."""
        return _BYTES_STATEMENT

    async def read(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database."""
        began = monotonic()
        async with self._turns.turn(max(self._timeout_s, _CONNECT_SECONDS)) as waited:
            if waited:
                self.monitor.report_wait("pool", monotonic() - began)
            return await asyncio.wrap_future(self._submit(self._run_client_read, work))

    async def write(self, work: Work[T], *, stores: Collection[str] | None = None) -> T:
        """Run `work` as the only writer of these stores, and commit."""
        return await asyncio.wrap_future(self._submit(lambda job, answer: self._run_write(job, answer, stores), work))

    def read_now(self, work: Work[T]) -> T:
        """Run `read`, for callers without an event loop."""
        return self._submit(self._run_read, work).result()

    def write_now(self, work: Work[T]) -> T:
        """Run `write` over all stores, for callers without an event loop."""
        return self._submit(lambda job, answer: self._run_write(job, answer, None), work).result()

    def close(self) -> None:
        """Finish the running transactions, close the connections and end the thread."""
        if self._closed:
            return
        self._closed = True
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._end_thread()

    async def _open(self, readers: int, writers: int) -> tuple[asyncpg.Pool, asyncpg.Pool]:
        settings = _SETTINGS | {"lock_timeout": str(int(self._timeout_s * 1000))}
        connection = await asyncpg.connect(self._dsn, server_settings=settings, timeout=_CONNECT_SECONDS)
        try:
            await migrate_postgres(connection)
        finally:
            await connection.close(timeout=self._timeout_s)
        pools = (
            await self._pool(readers, settings),
            await self._pool(writers, settings | _WRITER_SETTINGS, _WRITER_CACHED_STATEMENTS),
        )
        self._answer_watch.start()
        return pools

    async def _pool(self, size: int, settings: dict[str, str], kept: int = 500) -> asyncpg.Pool:
        return await asyncpg.create_pool(
            self._dsn,
            min_size=0,
            max_size=size,
            server_settings=settings,
            statement_cache_size=kept,
            max_cached_statement_lifetime=0,
            timeout=_CONNECT_SECONDS,
            command_timeout=120,
            init=_set_codecs,
            reset=_skip_reset,
        )

    async def _close(self) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))
        await self._answer_watch.stop()
        for pool in (self._readers, self._writers):
            try:
                await asyncio.wait_for(pool.close(), self._timeout_s)
            except TimeoutError:
                pool.terminate()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _submit(self, run: Any, work: Work[T]) -> Future[T]:
        """Start `run(work, answer)` on the loop of the connections."""
        if self._closed:
            raise StorageError("The database was closed.")
        answer: Future[T] = Future()
        self._loop.call_soon_threadsafe(self._start_task, run(work, answer), answer)
        return answer

    def _start_task(self, job: Coroutine[Any, Any, None], future: Future[Any]) -> None:
        task = self._loop.create_task(_run_job(job, future))
        self._tasks.add(task)
        self._answer_watch.begin_job(task)
        task.add_done_callback(self._finish_task)

    def _finish_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._answer_watch.finish_job(task)

    async def _run_client_read(self, work: Work[Any], future: Future[Any]) -> None:
        await self._run_with_retries(
            self._readers, _BEGIN_READ, work, future, future.set_result, kind=ClientReadTransaction
        )

    async def _run_read(self, work: Work[Any], future: Future[Any]) -> None:
        await self._run_with_retries(self._readers, _BEGIN_READ, work, future, future.set_result)

    async def _run_write(self, work: Work[Any], future: Future[Any], stores: Collection[str] | None) -> None:
        begin = f"BEGIN ISOLATION LEVEL READ COMMITTED; {lock_statement(stores)}; SAVEPOINT s1"
        began = monotonic()
        async with self._wait_for_stores(stores):
            await self._run_with_retries(self._writers, begin, work, future, queued=monotonic() - began)

    @asynccontextmanager
    async def _wait_for_stores(self, stores: Collection[str] | None) -> AsyncIterator[None]:
        """Wait in this process for writers of the same stores, then for a connection.

        A busy store occupies one connection, and so do writers of all stores. Callers take turns at both.
        """
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self._timeout_s):
                    for store in sorted(_EVERY_STORE if stores is None else set(stores)):
                        queue = self._queues.setdefault(store, _StoreQueue())
                        queue.length += 1
                        held.callback(self._leave_queue, store, queue)
                        await held.enter_async_context(queue.turns.turn(self._timeout_s))
                    await held.enter_async_context(self._writer_turns.turn(self._timeout_s))
            except TimeoutError as problem:
                raise Busy("Many write to this store; try again.") from problem
            yield

    def _leave_queue(self, store: str, queue: _StoreQueue) -> None:
        queue.length -= 1
        if not queue.length:
            del self._queues[store]

    async def _run_with_retries(
        self,
        pool: asyncpg.Pool,
        begin: str,
        work: Work[Any],
        future: Future[Any],
        deliver: _ResultCallback | None = None,
        queued: float = 0.0,
        kind: type[PostgresTransaction] = PostgresTransaction,
    ) -> None:
        """Run `work`, again if the server undid it for its own reasons. A reader gets its result before the end."""
        is_running = False
        for attempt in range(_ATTEMPTS):
            try:
                connection = await self._acquire(pool)
                try:
                    is_running = is_running or future.set_running_or_notify_cancel()
                    if not is_running:
                        return
                    await self._begin_transaction(connection, begin, None if deliver else queued)
                    result = await run_transaction(kind(connection), work, deliver)
                finally:
                    await _release(pool, connection)
            except Exception as problem:
                if attempt + 1 == _ATTEMPTS or not is_retryable(problem):
                    self._report_failure(pool, problem)
                    raise public_error(problem) from problem
                await asyncio.sleep(random.uniform(0.0, 0.02 * 2**attempt))
            else:
                self._answer_watch.note_answer()
                self.monitor.report_success("reads", *(("writes",) if deliver is None else ()))
                if deliver is None:
                    future.set_result(result)
                return

    async def _acquire(self, pool: asyncpg.Pool) -> Any:
        """Return a connection of the pool.

        Raise TimeoutError if all stay in use, ServerNotAnswering if the server does not answer in time.
        """
        began = monotonic()
        try:
            return await pool.acquire(timeout=max(self._timeout_s, _CONNECT_SECONDS))
        except TimeoutError as problem:
            if pool.get_size() < pool.get_max_size():
                raise ServerNotAnswering from problem
            raise
        finally:
            self.monitor.report_wait("pool", monotonic() - began)

    async def _begin_transaction(self, connection: Any, begin: str, queued: float | None) -> None:
        """Begin a transaction. A writer waits here for its locks, after `queued` seconds in this process."""
        began = monotonic()
        try:
            await connection.execute(begin)
        except Exception as problem:
            await roll_back_failed(connection, problem)
            raise
        except BaseException:
            connection.terminate()
            raise
        finally:
            if queued is not None:
                self.monitor.report_wait("lock", queued + monotonic() - began)

    def _report_failure(self, pool: asyncpg.Pool, error: Exception) -> None:
        """Report a failure to the monitor if the database is its cause and not the statement."""
        if isinstance(error, (ServerNotAnswering, *REFUSED)) or (
            is_connection_lost(error) and not isinstance(error, TimeoutError)
        ):
            self.monitor.report_failure("reads", error=type(error).__name__)
        elif isinstance(error, SERVER_ERRORS):
            self.monitor.report_failure("reads" if pool is self._readers else "writes", error=type(error).__name__)


class _StoreQueue:
    """Writers of one store in this process: their turns and the number of those that have or await one."""

    def __init__(self) -> None:
        self.turns = FairTurns(1)
        self.length = 0


async def _run_job(job: Coroutine[Any, Any, None], future: Future[Any]) -> None:
    try:
        await job
    except BaseException as problem:
        if not future.done():
            future.set_exception(problem)
        if not isinstance(problem, Exception):
            raise


async def _release(pool: asyncpg.Pool, connection: Any) -> None:
    try:
        await pool.release(connection)
    except Exception:
        connection.terminate()


async def _skip_reset(connection: Any) -> None:
    """Skip the reset of a released connection. Every transaction leaves its connection clean."""


async def _set_codecs(connection: Any) -> None:
    """Decode sums of integers as integers; PostgreSQL returns them as decimals."""
    await connection.set_type_codec("numeric", schema="pg_catalog", encoder=str, decoder=int, format="text")


def lock_statement(stores: Collection[str] | None) -> str:
    """Return the statement that locks these stores until the end of the transaction; None locks all.

    The locks are taken in a fixed order, so that two writers never wait for each other. They are advisory locks: they
    write no rows, are granted in order of arrival, and end with the connection.
    """
    whole = _lock_number("")
    if stores is None or len(stores) > _MAX_STORE_LOCKS:
        return f"SELECT pg_advisory_xact_lock({whole:d})"
    numbers = sorted({_lock_number(store) for store in stores})
    each = "".join(f", pg_advisory_xact_lock({number:d})" for number in numbers)
    return f"SELECT pg_advisory_xact_lock_shared({whole:d}){each}"


def _lock_number(store: str) -> int:
    digest = hashlib.blake2b(b"aisle/" + store.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def read_sizes(dsn: str) -> dict[str, int]:
    """Return the rows by table, from the server's statistics, and under `*` the bytes, without migrating.

    Raise StorageError if the database cannot be read.
    """

    async def work() -> dict[str, int]:
        connection = await asyncpg.connect(dsn, server_settings=_SETTINGS, timeout=_CONNECT_SECONDS)
        try:
            rows = await connection.fetch(_ROWS_STATEMENT)
            return {name: int(count) for name, count in rows} | {"*": await connection.fetchval(_BYTES_STATEMENT)}
        finally:
            await connection.close(timeout=_CONNECT_SECONDS)

    try:
        return asyncio.run(work())
    except Exception as problem:
        raise StorageError(f"{redact_dsn(dsn)} cannot be checked: {_describe(problem)}") from problem


def redact_dsn(dsn: str) -> str:
    """Return the address of the database without user and password."""
    parts = urlsplit(dsn)
    hosts = ",".join(one.rpartition("@")[2] for one in parts.netloc.split(","))
    return f"postgresql://{hosts}{parts.path}"


def _describe(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text if text.endswith(".") else text + "."
