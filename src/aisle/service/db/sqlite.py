"""The embedded engine: SQLite by apsw, one writing thread and some reading ones for each process.

Several processes share one file: WAL, `BEGIN IMMEDIATE` for every writer, nothing remembered here between transactions.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from time import monotonic
from typing import TypeVar

import apsw

from aisle.errors import StorageError
from aisle.service.db.database import GROWING_TABLES, AccessKind, DatabaseFailed, DatabaseMonitor, Work
from aisle.service.db.fair_turns import FairTurns
from aisle.service.db.sqlite_connection import (
    DISK_ERRORS,
    SqliteTransaction,
    busy_error,
    open_connection,
    public_error,
    run_sync,
)
from aisle.service.db.sqlite_reader import InlineReader, ReadTooLong
from aisle.service.db.sqlite_schema import migrate, store_statistics
from aisle.service.db.sqlite_writer import SqliteWriter

T = TypeVar("T")

# What is stored is copied from the log to its place by whoever wrote the last of so many pages. The same few pages are
# written again and again, so that of four times as many far fewer have to be copied, and the disk is waited for less.
_CHECKPOINT_PAGES = 4000
# So long who opens it waits for another process that brings it up, or fills it.
_OPEN_TIMEOUT_MS = 60_000
_READ_TURN_S = 30.0
"""So long a read waits for the readers."""
# Before this version two processes could lose committed rows of one WAL file.
MIN_SQLITE_VERSION = (3, 51, 3)


def check_sqlite_version(version: str = apsw.sqlite_lib_version()) -> None:
    """Raises StorageError when the linked SQLite is older than `SQLITE_FLOOR`."""
    if tuple(int(part) for part in version.split(".")) < MIN_SQLITE_VERSION:
        floor = ".".join(map(str, MIN_SQLITE_VERSION))
        raise StorageError(f"SQLite {version} can lose rows that several processes share: apsw with {floor} is needed.")


class SqliteDatabase:
    """A service database in one file, made (0600) and brought to the newest schema when it is opened.

    Raises StorageError when the file cannot be used or is newer than this program.
    """

    def __init__(self, path: Path, *, readers: int = 1, busy_ms: int = 5000) -> None:
        check_sqlite_version()
        self.path = path
        _create_private(path)
        self.monitor = DatabaseMonitor()
        self._writer = SqliteWriter(lambda: _open_for_writing(path, busy_ms), self.monitor)
        self._readers = [
            ReaderThread(lambda: open_connection(path, busy_ms, read_only=True), f"aisle-read-{n}")
            for n in range(readers)
        ]
        self._reader_cycle = cycle(self._readers)
        self._turns = FairTurns(readers)
        self._inline_reader = InlineReader(open_connection(path, busy_ms, read_only=True))

    @property
    def size_statements(self) -> tuple[str, ...]:
        """See Storage. Each table is counted by itself, so that no read goes on for long."""
        counts = (f"SELECT '{table}', count(*) FROM {table}" for table in GROWING_TABLES)  # noqa: S608 - names of our own
        return (*counts, "SELECT '*', p.page_count * s.page_size FROM pragma_page_count() p, pragma_page_size() s")

    async def read(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database: here as long as it is short, else anew elsewhere."""
        try:
            if self.monitor.is_available:
                return self._inline_reader.run(work)
        except ReadTooLong:
            pass
        began = monotonic()
        async with self._turns.turn(_READ_TURN_S):
            reader = next(self._reader_cycle)

            def run() -> T:
                self.monitor.report_wait("pool", monotonic() - began)
                return reader.run(work)

            with self._monitored("reads"):
                return await asyncio.get_running_loop().run_in_executor(reader.thread, run)

    async def write(self, work: Work[T], *, stores: Collection[str] | None = None) -> T:
        """Run `work` alone among all writers of all processes, whatever stores are theirs, and store what it did."""
        with self._monitored("writes"):
            return await self._writer.submit_async(work)

    def read_now(self, work: Work[T]) -> T:
        """`read` for callers without an event loop."""
        reader = next(self._reader_cycle)
        with self._monitored("reads"):
            return reader.thread.submit(reader.run, work).result()

    def write_now(self, work: Work[T]) -> T:
        """`write` for callers without an event loop."""
        with self._monitored("writes"):
            return self._writer.submit(work).result()

    @contextmanager
    def _monitored(self, part: AccessKind) -> Iterator[None]:
        """Note whether it fails for a reason of the database's own, or works."""
        try:
            yield
        except DatabaseFailed as problem:
            if problem.engine_error:
                self.monitor.report_failure(part, error=problem.engine_error)
            raise
        self.monitor.report_success("reads", part)

    def close(self) -> None:
        """Finish what runs, close the connections, end the threads."""
        self._inline_reader.close()
        for reader in self._readers:
            reader.close()
        self._writer.close()


class ReaderThread:
    """One connection that only reads, and the thread that alone uses it."""

    def __init__(self, connect: Callable[[], apsw.Connection], name: str) -> None:
        self.thread = ThreadPoolExecutor(1, name)
        self._connection = self.thread.submit(connect).result()
        self._transaction = SqliteTransaction(self._connection)

    def run(self, work: Work[T]) -> T:
        try:
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
        connection.set_busy_timeout(busy_ms)
        # Otherwise a statement that joins is planned again for each value, which takes far longer than it does itself.
        # Lists, whose values tell what index is good, are read elsewhere.
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
    """The file, readable by its owner alone, before SQLite sees it: its companions take over its mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as problem:
        raise StorageError(f"{path} cannot be used as the service's database: {problem.strerror}.") from problem
