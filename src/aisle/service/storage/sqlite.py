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
from aisle.service.storage.base import GROWING, Lost, Work
from aisle.service.storage.connection import DISK, SqliteTx, drive, held, opened, outside
from aisle.service.storage.migrate import migrate
from aisle.service.storage.near import Near, TooLong
from aisle.service.storage.planner import inform
from aisle.service.storage.watch import Part, Watch
from aisle.service.storage.writer import Writer

T = TypeVar("T")

# What is stored is copied from the log to its place by whoever wrote the last of so many pages. The same few pages are
# written again and again, so that of four times as many far fewer have to be copied, and the disk is waited for less.
_LOG_PAGES = 4000
# So long who opens it waits for another process that brings it up, or fills it.
_OPENING_MS = 60_000
# Before this version two processes could lose committed rows of one WAL file.
SQLITE_FLOOR = (3, 51, 3)


def require_engine(version: str = apsw.sqlite_lib_version()) -> None:
    """Raises StorageError when the linked SQLite is older than `SQLITE_FLOOR`."""
    if tuple(int(part) for part in version.split(".")) < SQLITE_FLOOR:
        floor = ".".join(map(str, SQLITE_FLOOR))
        raise StorageError(f"SQLite {version} can lose rows that several processes share: apsw with {floor} is needed.")


class SqliteStorage:
    """A service database in one file, made (0600) and brought to the newest schema when it is opened.

    Raises StorageError when the file cannot be used or is newer than this program.
    """

    def __init__(self, path: Path, *, readers: int = 1, busy_ms: int = 5000) -> None:
        require_engine()
        self.path = path
        _create_private(path)
        self.watch = Watch()
        self._writer = Writer(lambda: _prepared(path, busy_ms), self.watch)
        self._readers = [
            _Reader(lambda: opened(path, busy_ms, read_only=True), f"aisle-read-{n}") for n in range(readers)
        ]
        self._next = cycle(self._readers)
        self._near = Near(opened(path, busy_ms, read_only=True))

    @property
    def sizes(self) -> tuple[str, ...]:
        """See Storage. Each table is counted by itself, so that no read goes on for long."""
        counts = (f"SELECT '{table}', count(*) FROM {table}" for table in GROWING)  # noqa: S608 - names of our own
        return (*counts, "SELECT '*', p.page_count * s.page_size FROM pragma_page_count() p, pragma_page_size() s")

    async def read(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database: here as long as it is short, else anew elsewhere."""
        try:
            if self.watch.is_up:
                return self._near.run(work)
        except TooLong:
            pass
        reader, began = next(self._next), monotonic()

        def run() -> T:
            self.watch.waited("pool", monotonic() - began)
            return reader.run(work)

        with self._watched("reads"):
            return await asyncio.get_running_loop().run_in_executor(reader.thread, run)

    async def write(self, work: Work[T], *, stores: Collection[str] | None = None) -> T:
        """Run `work` alone among all writers of all processes, whatever stores are theirs, and store what it did."""
        with self._watched("writes"):
            return await self._writer.send(work)

    def read_now(self, work: Work[T]) -> T:
        """`read` for callers without an event loop."""
        reader = next(self._next)
        with self._watched("reads"):
            return reader.thread.submit(reader.run, work).result()

    def write_now(self, work: Work[T]) -> T:
        """`write` for callers without an event loop."""
        with self._watched("writes"):
            return self._writer.submit(work).result()

    @contextmanager
    def _watched(self, part: Part) -> Iterator[None]:
        """Note whether it fails for a reason of the database's own, or works."""
        try:
            yield
        except Lost as problem:
            if problem.kind:
                self.watch.lost(part, kind=problem.kind)
            raise
        self.watch.works("reads", part)

    def close(self) -> None:
        """Finish what runs, close the connections, end the threads."""
        self._near.close()
        for reader in self._readers:
            reader.close()
        self._writer.close()


class _Reader:
    """One connection that only reads, and the thread that alone uses it."""

    def __init__(self, connect: Callable[[], apsw.Connection], name: str) -> None:
        self.thread = ThreadPoolExecutor(1, name)
        self._connection = self.thread.submit(connect).result()
        self._tx = SqliteTx(self._connection)

    def run(self, work: Work[T]) -> T:
        try:
            self._tx.begin("BEGIN")
            return drive(work(self._tx))
        except (apsw.BusyError, *DISK) as problem:
            raise outside(problem) from problem
        finally:
            self._tx.end("COMMIT")

    def close(self) -> None:
        self.thread.submit(self._connection.close).result()
        self.thread.shutdown()


def _prepared(path: Path, busy_ms: int) -> apsw.Connection:
    connection = opened(path, max(busy_ms, _OPENING_MS))
    try:
        migrate(connection)
        inform(connection)
        connection.set_busy_timeout(busy_ms)
        # Otherwise a statement that joins is planned again for each value, which takes far longer than it does itself.
        # Lists, whose values tell what index is good, are read elsewhere.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.wal_autocheckpoint(_LOG_PAGES)
    except apsw.BusyError as problem:
        connection.close()
        raise held(path, max(busy_ms, _OPENING_MS)) from problem
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
