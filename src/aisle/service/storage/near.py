"""Reads on the event loop's own thread, for as long as they are short: to wake another thread costs as much as they do.

Most reads are a few statements on some hundred rows. One that comes to more is cut short and begins anew on a reader's
thread. What SQLite does is looked at while it does it; what Python makes of the rows cannot be cut short, so their
number is bounded, and no statement is begun once the time is over. So the loop waits no longer than that time, and than
Python then needs for a bounded number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from threading import Lock
from time import monotonic
from typing import NoReturn, TypeVar

import apsw

from aisle.service.storage.base import Row, Work
from aisle.service.storage.connection import DISK, SqliteTx, drive

T = TypeVar("T")

_STEPS = 200
"""Steps of SQLite between two looks at what a read has come to."""
_LOOKS = 100
"""So many looks are short: 20,000 steps, or about a millisecond."""
_ROWS = 320
"""So many rows in all are short to read and to write as JSON: a page of 100 with three balances each, and who asks."""
_SECONDS = 0.005
"""After so long nothing more is begun, where each step waits for a disk or Python makes much of a few rows. It is what
the interpreter gives to a thread at once."""
_PASSED_OVER = 31
"""The dearest statement of what was too long is left to the other threads so often before it is tried here again."""
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
        self._tx = _NearTx(connection)
        connection.set_progress_handler(self._tx.is_over, _STEPS)
        self._lock = Lock()

    def run(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database. Raises TooLong."""
        if not self._lock.acquire(blocking=False):
            raise TooLong
        try:
            return self._run(work)
        finally:
            self._lock.release()

    def _run(self, work: Work[T]) -> T:
        try:
            self._tx.allow(_ROWS, monotonic() + _SECONDS)
            self._tx.begin("BEGIN")
            return drive(work(self._tx))
        except apsw.InterruptError as problem:
            self._tx.pass_over()
            raise TooLong from problem
        except (apsw.BusyError, *DISK) as problem:
            raise TooLong from problem
        finally:
            self._tx.allow(0, inf)  # what ends it is not cut short
            self._tx.end("COMMIT")

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            self._connection.close()


class _NearTx(SqliteTx):
    """`Tx` that knows what a read has come to, and which statements have been too dear."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._long: dict[str, int] = {}
        self._last = ""
        self.allow(0, inf)

    def allow(self, rows: int, until: float) -> None:
        """A read may fetch so many rows, and begin statements until then."""
        self._looks, self._rows, self._until = _LOOKS, rows, until
        self._spent: dict[str, int] = {}

    def is_over(self) -> bool:
        """Asked by SQLite in the middle of a statement, after so many steps."""
        self._looks -= 1
        self._spent[self._last] = self._spent.get(self._last, 0) + 1
        return self._looks < 0 or monotonic() > self._until

    def pass_over(self) -> None:
        """The read is too long, by the statement that took most of its steps; by none where hardly any were taken."""
        if not self._spent:
            return
        if len(self._long) >= _REMEMBERED:
            self._long.clear()
        self._long[max(self._spent, key=self._spent.__getitem__)] = _PASSED_OVER

    def _execute(self, sql: str, args: Sequence[object]) -> list[Row]:
        if sql in self._long:
            self._long[sql] -= 1
            if self._long[sql] <= 0:
                del self._long[sql]
            raise TooLong
        if monotonic() > self._until:
            self._give_up()
        self._last = sql
        rows = super()._execute(sql, args)
        self._rows -= len(rows)
        if self._rows < 0:
            self._give_up()
        return rows

    def _give_up(self) -> NoReturn:
        self.pass_over()
        raise TooLong

    def _query(self, text: str, args: Sequence[apsw.SQLiteValue]) -> list[Row]:
        if _SEARCHES in text:
            raise TooLong
        return super()._query(text, args)
