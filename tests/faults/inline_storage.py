"""The service's storage in the caller's thread: the same statements in the same kind of file, no thread, and a crash
at any statement.

With it everything of a test runs on one event loop, so a seed leads to the same run each time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import apsw

from aisle.service.db.database_interface import DatabaseMonitor, Row, Work
from aisle.service.db.schema_and_search_index import migrate
from aisle.service.db.sqlite_connection_and_transaction import SqliteTransaction, open_connection, run_sync
from tests.service.world import prepare

T = TypeVar("T")

_BUSY_MS = 100


class Crash(BaseException):
    """The service's process ends here. Nothing in the service may catch it."""


class _Tx(SqliteTransaction):
    """Statements are counted, so that the process can end at one of them."""

    def __init__(self, connection: apsw.Connection, storage: Inline) -> None:
        super().__init__(connection)
        self._storage = storage

    async def all(self, sql: str, *args: object) -> list[Row]:
        self._storage.tick()
        return await super().all(sql, *args)

    async def one(self, sql: str, *args: object) -> Row | None:
        self._storage.tick()
        return await super().one(sql, *args)

    async def run(self, sql: str, *args: object) -> None:
        self._storage.tick()
        await super().run(sql, *args)

    async def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        self._storage.tick()
        await super().run_many(sql, rows)


class Inline:
    """A `Storage` over one file, for one thread."""

    def __init__(self, path: Path) -> None:
        self.crash_in: int | None = None
        """Statements until the process ends; the commit counts as one. None: it lives."""
        self.monitor = DatabaseMonitor()
        self.crashes = 0
        if not path.exists():
            prepare(path)
        connection = open_connection(path, _BUSY_MS)
        migrate(connection)
        self._writer = _Tx(connection, self)
        self._reader = _Tx(open_connection(path, _BUSY_MS, read_only=True), self)

    @property
    def bytes_statement(self) -> str:
        """Nobody asks."""
        return ""

    def tick(self) -> None:
        """One statement. Raises Crash when it is the one."""
        if self.crash_in is None:
            return
        self.crash_in -= 1
        if self.crash_in <= 0:
            self.crash_in = None
            self.crashes += 1
            raise Crash

    def read_now(self, work: Work[T]) -> T:
        """One consistent state of the database."""
        return self._run(self._reader, "BEGIN", work)

    def write_now(self, work: Work[T]) -> T:
        """Alone, and whole or not at all."""
        return self._run(self._writer, "BEGIN IMMEDIATE", work)

    async def read(self, work: Work[T]) -> T:
        """As `read_now`: nothing in a transaction ever waits."""
        return self.read_now(work)

    async def write(self, work: Work[T], *, stores: Collection[str] | None = None) -> T:
        """As `write_now`, whatever stores are written to."""
        return self.write_now(work)

    def close(self) -> None:
        """Lets go of the file."""
        self._reader.connection.close()
        self._writer.connection.close()

    def _run(self, tx: _Tx, begin: str, work: Work[T]) -> T:
        tx.begin(begin)
        try:
            answer = run_sync(work(tx))
            self.tick()
            tx.end("COMMIT")
        except BaseException:
            tx.end("ROLLBACK")
            raise
        return answer
