"""Reader of SQLite for short reads, on the event loop's own thread.

Waking another thread costs as much as a short read. Most reads are a few statements on some hundred rows. A longer one
is interrupted and repeated on a reader's thread. SQLite is checked while it runs. Python's work on the rows cannot be
interrupted, so their number is limited, and no statement starts after the time limit. The loop waits at most for this
time and for Python's work on the limited rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from threading import Lock
from time import monotonic, thread_time
from typing import NoReturn, TypeVar

import apsw

from aisle.service.db.database_interface import Row, Work
from aisle.service.db.sqlite_connection import DISK_ERRORS
from aisle.service.db.sqlite_transaction import ReadTransaction, run_sync

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
