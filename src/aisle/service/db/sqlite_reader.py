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

from aisle.service.db.database import Row, Work
from aisle.service.db.sqlite_connection import DISK_ERRORS, SqliteTransaction, run_sync

T = TypeVar("T")

_STEPS_PER_CHECK = 200
"""Steps of SQLite between two looks at what a read has come to."""
_MAX_CHECKS = 100
"""So many looks are short: 20,000 steps, or about a millisecond."""
_MAX_ROWS = 320
"""So many rows in all are short to read and to write as JSON: a page of 100 with three balances each, and who asks."""
_MAX_SECONDS = 0.005
"""After so long nothing more is begun, where each step waits for a disk or Python makes much of a few rows. It is what
the interpreter gives to a thread at once."""
_SKIPS_OF_SLOW_STATEMENT = 31
"""The dearest statement of what was too long is left to the other threads so often before it is tried here again."""
_MAX_SLOW_STATEMENTS = 1000
# Its own search is one step of SQLite, however long.
_TEXT_SEARCH = " MATCH "


class ReadTooLong(Exception):
    """A read is not for the loop; nothing came of it, and it may be done elsewhere."""


class InlineReader:
    """A connection for short reads that waits for nobody. One read at a time; a second one is too long."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        connection.set_busy_timeout(0)
        self._transaction = _LimitedTransaction(connection)
        connection.set_progress_handler(self._transaction.is_over_limit, _STEPS_PER_CHECK)
        self._lock = Lock()

    def run(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database. Raises TooLong."""
        if not self._lock.acquire(blocking=False):
            raise ReadTooLong
        try:
            return self._run(work)
        finally:
            self._lock.release()

    def _run(self, work: Work[T]) -> T:
        try:
            self._transaction.set_limits(_MAX_ROWS, monotonic() + _MAX_SECONDS)
            self._transaction.begin("BEGIN")
            return run_sync(work(self._transaction))
        except apsw.InterruptError as problem:
            self._transaction.mark_slow_statement()
            raise ReadTooLong from problem
        except (apsw.BusyError, *DISK_ERRORS) as problem:
            raise ReadTooLong from problem
        finally:
            self._transaction.set_limits(0, inf)  # what ends it is not cut short
            self._transaction.end("COMMIT")

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            self._connection.close()


class _LimitedTransaction(SqliteTransaction):
    """`Tx` that knows what a read has come to, and which statements have been too dear."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._slow_statements: dict[str, int] = {}
        self._current_statement = ""
        self.set_limits(0, inf)

    def set_limits(self, rows: int, until: float) -> None:
        """A read may fetch so many rows, and begin statements until then."""
        self._checks_left, self._rows_left, self._until = _MAX_CHECKS, rows, until
        self._checks_by_statement: dict[str, int] = {}

    def is_over_limit(self) -> bool:
        """Asked by SQLite in the middle of a statement, after so many steps."""
        self._checks_left -= 1
        self._checks_by_statement[self._current_statement] = (
            self._checks_by_statement.get(self._current_statement, 0) + 1
        )
        return self._checks_left < 0 or monotonic() > self._until

    def mark_slow_statement(self) -> None:
        """The read is too long, by the statement that took most of its steps; by none where hardly any were taken."""
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
        if monotonic() > self._until:
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
