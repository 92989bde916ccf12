"""SQLite engine with apsw: one writer thread and one reader thread in each process.

Several processes share one file: WAL, `BEGIN IMMEDIATE` for every writer, no state in memory between transactions.

Short reads run on the event loop's own thread (`sqlite_inline_reader`), longer ones on the reader's thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TypeVar

import apsw

from aisle.errors import StorageError
from aisle.service.db.availability_monitor import AccessKind, DatabaseMonitor
from aisle.service.db.database_interface import DatabaseFailed, Work
from aisle.service.db.fair_turns import FairTurns
from aisle.service.db.schema import migrate, store_statistics
from aisle.service.db.sqlite_connection import DISK_ERRORS, busy_error, open_connection, poll_often, public_error
from aisle.service.db.sqlite_inline_reader import InlineReader, ReadTooLong
from aisle.service.db.sqlite_transaction import ReadTransaction, run_sync
from aisle.service.db.sqlite_writer import SqliteWriter

T = TypeVar("T")

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
