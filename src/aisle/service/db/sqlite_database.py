"""SQLite engine with apsw: one writer and one reader thread in each process, and short reads on the event loop's.

Several processes share one file: WAL, `BEGIN IMMEDIATE` for every writer, no state in memory between transactions.

Short reads run on the event loop's own thread, longer ones on the reader's thread.

Waking another thread costs as much as a short read. Most reads are a few statements on some hundred rows. A longer one
is interrupted and repeated on a reader's thread. SQLite is checked while it runs. Python's work on the rows cannot be
interrupted, so their number is limited, and no statement starts after the time limit. The loop waits at most for this
time and for Python's work on the limited rows.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic, thread_time
from typing import NoReturn, TypeVar

import apsw

from aisle.errors import StorageError
from aisle.service.db.database_interface import AccessKind, DatabaseFailed, DatabaseMonitor, FairTurns, Row, Work
from aisle.service.db.schema_and_search_index import migrate, store_statistics
from aisle.service.db.sqlite_connection_and_transaction import (
    DISK_ERRORS,
    ReadTransaction,
    busy_error,
    open_connection,
    poll_often,
    public_error,
    run_sync,
)
from aisle.service.db.sqlite_writer import SqliteWriter

# Pages in the WAL after which the writer of the last one copies them to the database. The same few pages are written
# again and again, so a high number copies far fewer of them and waits less for the disk.
_CHECKPOINT_PAGES = 4000
# Milliseconds to wait at opening for another process that migrates or fills the database.
_OPEN_TIMEOUT_MS = 60_000
_READ_TURN_S = 30.0
"""Seconds that a read waits for a reader."""
# Before this version two processes could lose committed rows of one WAL file.
MIN_SQLITE_VERSION = (3, 51, 3)


def check_sqlite_version(version: str = apsw.sqlite_lib_version()) -> None:
    """Raise StorageError if the linked SQLite is older than `MIN_SQLITE_VERSION`."""
    if tuple(int(part) for part in version.split(".")) < MIN_SQLITE_VERSION:
        minimum = ".".join(map(str, MIN_SQLITE_VERSION))
        raise StorageError(
            f"SQLite {version} can lose rows that several processes share: apsw with {minimum} is needed."
        )


class SqliteDatabase:
    """Service database in one file, created with mode 0600 and migrated to the newest schema when it is opened.

    Raise StorageError if the file cannot be used or is newer than this program.
    """

    def __init__(self, path: Path, *, busy_ms: int = 5000, monitor: DatabaseMonitor | None = None) -> None:
        check_sqlite_version()
        self.path = path
        _create_private(path)
        self.monitor = monitor or DatabaseMonitor()
        self._writer = SqliteWriter(lambda: _open_for_writing(path, busy_ms), self.monitor)
        self._reader = ReaderThread(lambda: open_connection(path, busy_ms, read_only=True))
        self._turns = FairTurns(1)
        self._inline_reader = InlineReader(open_connection(path, busy_ms, read_only=True))

    @property
    def bytes_statement(self) -> str:
        """Statement of `Database.bytes_statement`."""
        return "SELECT p.page_count * s.page_size FROM pragma_page_count() p, pragma_page_size() s"

    async def read(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database: on this thread if it is short, else on the reader's."""
        try:
            if self.monitor.is_available:
                return self._inline_reader.run(work)
        except ReadTooLong:
            pass
        began = monotonic()
        async with self._turns.turn(_READ_TURN_S):

            def run() -> T:
                self.monitor.report_wait("pool", monotonic() - began)
                return self._reader.run(work)

            with self._monitored("reads"):
                return await asyncio.get_running_loop().run_in_executor(self._reader.thread, run)

    async def write(self, work: Work[T], *, stores: Collection[str] | None = None) -> T:
        """Run `work` as the only writer of all processes, whatever its stores are, and commit."""
        with self._monitored("writes"):
            return await self._writer.submit_async(work)

    def read_now(self, work: Work[T]) -> T:
        """Run `read`, for callers without an event loop."""
        with self._monitored("reads"):
            return self._reader.thread.submit(self._reader.run, work, is_for_clients=False).result()

    def write_now(self, work: Work[T]) -> T:
        """Run `write`, for callers without an event loop."""
        with self._monitored("writes"):
            return self._writer.submit(work).result()

    @contextmanager
    def _monitored(self, part: AccessKind) -> Iterator[None]:
        """Report to the monitor if the block fails for a reason of the database, or succeeds."""
        try:
            yield
        except DatabaseFailed as problem:
            if problem.engine_error:
                self.monitor.report_failure(part, error=problem.engine_error)
            raise
        self.monitor.report_success("reads", part)

    def close(self) -> None:
        """Finish the running transactions, close the connections and end the threads."""
        self._inline_reader.close()
        self._reader.close()
        self._writer.close()


class ReaderThread:
    """Read-only connection and the only thread that uses it."""

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self.thread = ThreadPoolExecutor(1, "aisle-read")
        self._connection = self.thread.submit(connect).result()
        self._transaction = ReadTransaction(self._connection)

    def run(self, work: Work[T], *, is_for_clients: bool = True) -> T:
        try:
            self._transaction.is_for_clients = is_for_clients
            self._transaction.begin("BEGIN")
            return run_sync(work(self._transaction))
        except (apsw.BusyError, *DISK_ERRORS) as problem:
            raise public_error(problem) from problem
        finally:
            self._transaction.end("COMMIT")

    def close(self) -> None:
        self.thread.submit(self._connection.close).result()
        self.thread.shutdown()


def _open_for_writing(path: Path, busy_ms: int) -> apsw.Connection:
    connection = open_connection(path, max(busy_ms, _OPEN_TIMEOUT_MS))
    try:
        migrate(connection)
        store_statistics(connection)
        poll_often(connection, busy_ms)
        # Without it a statement with joins is planned again for each value, which takes far longer than running it.
        # Lists, whose best index depends on their values, use other connections.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.wal_autocheckpoint(_CHECKPOINT_PAGES)
    except apsw.BusyError as problem:
        connection.close()
        raise busy_error(path, max(busy_ms, _OPEN_TIMEOUT_MS)) from problem
    except BaseException:
        connection.close()
        raise
    return connection


def _create_private(path: Path) -> None:
    """Create the file with mode 0600 before SQLite opens it, since its WAL and shared memory get the same mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as problem:
        raise StorageError(f"{path} cannot be used as the service's database: {problem.strerror}.") from problem


T = TypeVar("T")

_STEPS_PER_CHECK = 200
"""SQLite steps between two checks of a read."""
_MAX_CHECKS = 100
"""Checks of a short read: 20,000 steps, about one millisecond."""
_MAX_ROWS = 320
"""Rows of a short read, quick to write as JSON: a page of 100 with three balances each, and the authorization."""
_MAX_CPU_SECONDS = 0.005
"""Seconds of this thread's CPU after which no further statement starts, for expensive rows.

Time in which other threads hold the interpreter does not count: a reader's thread would wait for it, too.
"""
_MAX_SECONDS = 0.05
"""Seconds after which no further statement starts, for slow disks."""
_SKIPS_OF_SLOW_STATEMENT = 31
"""Reads after which the most expensive statement of a long read is tried here again."""
_MAX_SLOW_STATEMENTS = 1000
# A full text search is one step of SQLite, however long it takes.
_TEXT_SEARCH = " MATCH "


class ReadTooLong(Exception):
    """Read that is too long for the loop. It has no effect and may run elsewhere."""


class InlineReader:
    """Connection for short reads that never waits. A second simultaneous read raises ReadTooLong."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        connection.set_busy_timeout(0)
        self._transaction = _LimitedTransaction(connection)
        connection.set_progress_handler(self._transaction.is_over_limit, _STEPS_PER_CHECK)
        self._lock = Lock()

    def run(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database. Raise ReadTooLong if it exceeds a limit."""
        if not self._lock.acquire(blocking=False):
            raise ReadTooLong
        try:
            return self._run(work)
        finally:
            self._lock.release()

    def _run(self, work: Work[T]) -> T:
        try:
            self._transaction.set_limits(_MAX_ROWS, thread_time() + _MAX_CPU_SECONDS, monotonic() + _MAX_SECONDS)
            self._transaction.begin("BEGIN")
            return run_sync(work(self._transaction))
        except apsw.InterruptError as problem:
            self._transaction.mark_slow_statement()
            raise ReadTooLong from problem
        except (apsw.BusyError, *DISK_ERRORS) as problem:
            raise ReadTooLong from problem
        finally:
            self._transaction.set_limits(0, inf, inf)  # The end of the transaction has no limits.
            self._transaction.end("COMMIT")

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


class _LimitedTransaction(ReadTransaction):
    """`Transaction` that measures a read and remembers the statements that were too expensive."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._slow_statements: dict[str, int] = {}
        self._current_statement = ""
        self.set_limits(0, inf, inf)

    def set_limits(self, rows: int, cpu_until: float, until: float) -> None:
        """Limit the read to this many rows, and its statements by the thread's CPU time and the monotonic clock."""
        self._checks_left, self._rows_left, self._cpu_until, self._until = _MAX_CHECKS, rows, cpu_until, until
        self._checks_by_statement: dict[str, int] = {}

    def is_over_limit(self) -> bool:
        """Return True to interrupt the running statement. SQLite calls it every `_STEPS_PER_CHECK` steps."""
        self._checks_left -= 1
        self._checks_by_statement[self._current_statement] = (
            self._checks_by_statement.get(self._current_statement, 0) + 1
        )
        return self._checks_left < 0 or self._is_late()

    def _is_late(self) -> bool:
        return monotonic() > self._until or thread_time() > self._cpu_until

    def mark_slow_statement(self) -> None:
        """Remember the statement that took most steps of a long read; none if hardly any were taken."""
        if not self._checks_by_statement:
            return
        if len(self._slow_statements) >= _MAX_SLOW_STATEMENTS:
            self._slow_statements.clear()
        self._slow_statements[max(self._checks_by_statement, key=self._checks_by_statement.__getitem__)] = (
            _SKIPS_OF_SLOW_STATEMENT
        )

    def _execute(self, sql: str, args: Sequence[object]) -> list[Row]:
        if sql in self._slow_statements:
            self._slow_statements[sql] -= 1
            if self._slow_statements[sql] <= 0:
                del self._slow_statements[sql]
            raise ReadTooLong
        if self._is_late():
            self._raise_too_long()
        self._current_statement = sql
        rows = super()._execute(sql, args)
        self._rows_left -= len(rows)
        if self._rows_left < 0:
            self._raise_too_long()
        return rows

    def _raise_too_long(self) -> NoReturn:
        self.mark_slow_statement()
        raise ReadTooLong

    def _query(self, text: str, args: Sequence[apsw.SQLiteValue]) -> list[Row]:
        if _TEXT_SEARCH in text:
            raise ReadTooLong
        return super()._query(text, args)
