"""Reads on the event loop's own thread, for as long as they are short: to wake another thread costs as much as they do.

Most reads are a few statements on some hundred rows. One that comes to more is cut short and begins anew on a reader's
thread, so the loop never waits longer than it does for the interpreter when other threads work.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from threading import Lock
from time import monotonic
from typing import TypeVar

import apsw

from aisle.service.storage.base import Row, Work
from aisle.service.storage.connection import SqliteTx, drive

T = TypeVar("T")

_STEPS = 200
"""Steps of SQLite between two looks at what a read has come to."""
_LOOKS = 100
"""So many looks are short: 20,000 steps, some 300 rows with all that belongs to them, or about a millisecond."""
_SECONDS = 0.005
"""And no longer than this, where each step waits for a disk. It is what the interpreter gives to a thread at once."""
_PASSED_OVER = 31
"""A statement that was cut short is left to the other threads so often before it is tried here again."""
_REMEMBERED = 1000
# Its own search is one step of SQLite, however long.
_SEARCHES = " MATCH "


class TooLong(Exception):
    """A read is not for the loop; nothing came of it, and it may be done elsewhere."""


class Near:
    """A connection for short reads that waits for nobody. One read at a time; a second one is too long."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        connection.set_busy_timeout(0)
        connection.set_progress_handler(self._is_over, _STEPS)
        self._tx = _NearTx(connection)
        self._lock = Lock()
        self._looks = 0
        self._until = 0.0

    def run(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database. Raises TooLong."""
        if not self._lock.acquire(blocking=False):
            raise TooLong
        try:
            return self._run(work)
        finally:
            self._lock.release()

    def _run(self, work: Work[T]) -> T:
        self._looks, self._until = _LOOKS, monotonic() + _SECONDS
        try:
            self._tx.begin("BEGIN")
            return drive(work(self._tx))
        except apsw.InterruptError as problem:
            self._tx.pass_over()
            raise TooLong from problem
        except apsw.BusyError as problem:
            raise TooLong from problem
        finally:
            self._looks, self._until = _LOOKS, inf  # what ends it is not cut short
            self._tx.end("COMMIT")

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            self._connection.close()

    def _is_over(self) -> bool:
        self._looks -= 1
        return self._looks < 0 or monotonic() > self._until


class _NearTx(SqliteTx):
    """`Tx` that knows which statements have been too long."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._last = ""
        self._long: dict[str, int] = {}

    def pass_over(self) -> None:
        """The last statement was cut short."""
        if len(self._long) >= _REMEMBERED:
            self._long.clear()
        self._long[self._last] = _PASSED_OVER

    def _execute(self, sql: str, args: Sequence[object]) -> list[Row]:
        if sql in self._long:
            self._long[sql] -= 1
            if self._long[sql] <= 0:
                del self._long[sql]
            raise TooLong
        self._last = sql
        return super()._execute(sql, args)

    def _query(self, text: str, args: Sequence[apsw.SQLiteValue]) -> list[Row]:
        if _SEARCHES in text:
            raise TooLong
        return super()._query(text, args)
