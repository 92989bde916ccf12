"""Opening of connections to SQLite with all safety options, and their errors. Transactions: `sqlite_transaction`."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import apsw

from aisle.errors import StorageError
from aisle.service.db.database_interface import (
    Busy,
    database_failure,
)
from aisle.service.db.product_search_index import (
    index_pieces,
    match_expression,
)

_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA mmap_size = 0",
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -4000",
    "PRAGMA journal_size_limit = 67108864",
)


def open_connection(path: Path, busy_ms: int, *, read_only: bool = False) -> apsw.Connection:
    """Open a connection with all safety options.

    Raise StorageError if the file is not a usable database, Busy if another process locks it for longer than `busy_ms`.
    """
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=400)
    except apsw.Error as problem:
        raise StorageError(f"{path} cannot be opened as a database: {problem}.") from problem
    try:
        connection.set_busy_timeout(busy_ms)
        mode = _enable_wal(connection, busy_ms)
        for pragma in _PRAGMAS:
            connection.execute(pragma).fetchall()
        connection.create_scalar_function(
            "words_of", lambda *said: match_expression(str(said[0])), 1, deterministic=True
        )
        connection.create_scalar_function("pieces_of", lambda *said: index_pieces(str(said[0])), 1, deterministic=True)
        if read_only:
            connection.execute("PRAGMA query_only = ON").fetchall()
    except apsw.BusyError as problem:
        connection.close()
        raise busy_error(path, busy_ms) from problem
    except apsw.Error as problem:
        connection.close()
        raise StorageError(f"{path} cannot be opened as a database: {problem}.") from problem
    if mode != [("wal",)]:
        connection.close()
        raise StorageError(f"{path} lies on a file system that several processes cannot share.")
    return connection


_POLL_S = 0.002
"""Seconds between two tries of a writer. SQLite's own pauses grow to 100 ms."""
_MAX_WAIT_S = 1.0
"""Seconds for the place of the next writer. Afterwards whoever holds it counts as stopped."""


class NextWriter:
    """Place of the next writer among the processes of one database.

    SQLite's lock has no queue: who writes without a pause would keep it from all others. Here it has to wait until the
    next one, which holds this place, has got the lock. Without locks of files everybody tries for itself.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._fd = os.open(path.with_name(f"{path.name}-next"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            self._fd = -1

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the place while the block waits for SQLite's lock."""
        until = monotonic() + _MAX_WAIT_S
        while not (is_held := self._try_lock()) and monotonic() < until:
            sleep(_POLL_S)
        try:
            yield
        finally:
            if is_held and self._fd >= 0:
                fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _try_lock(self) -> bool:
        """Return False if another process has the place."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except (OSError, ValueError):  # No file, or a file system without such locks.
            self.close()
        return True

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def poll_often(connection: apsw.Connection, busy_ms: int) -> None:
    """Wait for other writers in short steps, this long in all."""
    until = 0.0

    def wait(tries: int) -> bool:
        nonlocal until
        if not tries:
            until = monotonic() + busy_ms / 1000
        sleep(_POLL_S)
        return monotonic() < until

    connection.set_busy_handler(wait)


DISK_ERRORS = (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.CantOpenError)
"""Failures of the file or its disk, and not of a statement."""


def public_error(error: BaseException) -> BaseException:
    """Return the error that callers handle for an error of the engine."""
    if isinstance(error, apsw.BusyError):
        return Busy("Another writer holds the database; try again.")
    return database_failure(error) if isinstance(error, (*DISK_ERRORS, apsw.ReadOnlyError)) else error


def busy_error(path: Path, busy_ms: int) -> Busy:
    """Return the error for a file that another process locked for this many milliseconds."""
    seconds = f"{busy_ms / 1000:.0f} seconds"
    return Busy(f"{path} has been held by another process for {seconds}; start again when it is done.")


def _enable_wal(connection: apsw.Connection, busy_ms: int) -> list[tuple[apsw.SQLiteValue, ...]]:
    """Switch to WAL and return the resulting mode.

    SQLite applies no busy timeout to this statement, so it is retried here.
    """
    until = monotonic() + busy_ms / 1000
    while True:
        try:
            return connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except apsw.BusyError:
            if monotonic() > until:
                raise
            sleep(0.005)
