"""SQLite on this host: opened one way, changed in one kind of transaction, brought up to date by numbered migrations.

apsw brings its own engine. SQLite before 3.51.3 can lose committed rows when several processes share one WAL file.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from aisle.errors import StorageError
from aisle.host.fair_lock import FairLock
from aisle.host.file_system import FileId, check_disk, file_id, is_locked, lock_folder, make_private_folder

MIN_SQLITE_VERSION = (3, 51, 3)
"""The first SQLite without the WAL-reset race."""

BUSY_TIMEOUT_S = 5.0
_COMMIT_S = 0.005
"""A commit of another is mostly over by then."""
_SHORT_POLL_NS, _LONG_POLL_NS = 500_000, 10_000_000
"""Between two looks at a lock, at most: of who has just come, and of who stands in a crowd without a line."""
_FIRST_POLL_NS = 1_500_000
"""The same of the first in the line."""
_QUEUE_WAIT_S = 0.25
"""The same, in seconds, of who stands in it."""
RECOVERY_TIMEOUT_S = 10.0
"""So long a newcomer waits for those who have open what was deleted: a courier looks every few seconds."""
WAL_SUFFIXES = ("-wal", "-shm")
MAX_WAL_BYTES = 64 << 20
LONG_WAL_PAGES = 4096
"""Pages of a log that is begun anew where it can be: 16 MB."""
WAL_RESTART_S = 0.2
"""So long writers stand still for that, at most."""
CACHE_KIB = 8000

_WRITABLE = apsw.SQLITE_OPEN_READWRITE
_STORAGE_ERRORS = (
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.BusyError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.CantOpenError,
    PermissionError,
    NotADirectoryError,
)


class FileReplaced(StorageError):
    """What is at the place of a precious database is not the file that was opened: nobody would read what is written
    to that one now. See aisle.host.file_recovery."""


class GuardedConnection(apsw.Connection):
    """A connection to a database that must not be written to once it has been deleted, or another put in its place.

    What was committed last is in its log alone, and who joins finds the log by its memory: they belong to it.
    """

    fair_lock: FairLock | None = None
    """Of those who wait for their turn to write to it."""
    file_id: FileId = None
    """What was opened; None for what no file system knows."""
    wal_ids: tuple[FileId, ...] = ()
    """Its log and that one's shared memory, as they were opened."""

    @property
    def is_replaced(self) -> bool:
        """Whether something else, or nothing, is at its place now, or at that of its log."""
        if self.file_id is None:
            return False
        return file_id(self.filename) != self.file_id or wal_file_ids(self.filename) != self.wal_ids


def is_replaced(connection: apsw.Connection) -> bool:
    """Whether this is a connection to a precious file that is not at its place any more."""
    return isinstance(connection, GuardedConnection) and connection.is_replaced


def connect(path: Path, *, guarded: bool = False, read_only: bool = False) -> apsw.Connection:
    """A connection to the WAL database at `path`; file (0600) and folder (0700) are made when they are missing.

    Precious: every commit is on the disk before it returns (synchronous=FULL). Nobody checkpoints by the way, neither
    in a commit nor at the close: that is `checkpoint`, called by the courier alone. Raises StorageError.
    """
    check_sqlite_version(apsw.sqlite_lib_version())
    with storage_errors(path):
        make_private_folder(path.parent)
        check_disk(path, guarded=guarded)
        if guarded:
            _wait_for_recovery(path)
            with lock_folder(path.parent):
                return _open_guarded(path)
        if not path.exists():
            _create(path)
        connection = apsw.Connection(os.fspath(path), flags=_WRITABLE)
        _configure(connection, guarded=False, read_only=read_only)
    return connection


def _open_guarded(path: Path) -> GuardedConnection:
    if not path.exists():
        for log in WAL_SUFFIXES:  # of one that was deleted: it must not be read into the new one
            path.with_name(path.name + log).unlink(missing_ok=True)
        _create(path)
    connection = GuardedConnection(os.fspath(path), flags=_WRITABLE)
    connection.fair_lock = FairLock(path.with_suffix(".line"))
    _configure(connection, guarded=True, read_only=False)
    schema_version(connection)  # opens its log, too, while nobody can put another file there
    connection.file_id, connection.wal_ids = file_id(path), wal_file_ids(path)
    return connection


def wal_file_ids(path: Path | str) -> tuple[FileId, ...]:
    """Which files of the log lie beside a database now; they are made at its first opening, and stay."""
    return tuple(file_id(f"{path}{log}") for log in WAL_SUFFIXES)


def _wait_for_recovery(path: Path) -> None:
    """Waits while the log of a file that others have open is missing: they put back what it held within seconds.

    A newcomer would begin another log beside theirs, and both would be lost. Raises StorageError.
    """
    until = time.monotonic() + RECOVERY_TIMEOUT_S
    while path.exists() and None in wal_file_ids(path) and is_locked(path):
        if time.monotonic() > until:
            raise StorageError(
                f"The log of {path} was deleted while other programs have it open, and none of them has put it back. "
                "Let a session there scan something; then try again.",
                kind="log_gone",
            )
        time.sleep(0.02)


def check_sqlite_version(version: str) -> None:
    """Raises StorageError for an SQLite that cannot share a WAL file between processes safely."""
    if tuple(int(part) for part in version.split(".")[:3]) < MIN_SQLITE_VERSION:
        floor = ".".join(str(part) for part in MIN_SQLITE_VERSION)
        raise StorageError(
            f"This apsw brings SQLite {version}, which can lose committed rows when several processes share a "
            f"database. At least {floor} is needed: install a newer apsw."
        )


def _create(path: Path) -> None:
    """Makes the file in a name of its own and links it, in WAL mode, so that nobody ever meets it half made.

    No descriptor of the database file is opened besides SQLite's: closing one would drop this process's locks on it.
    """
    mine = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        os.mknod(mine, stat.S_IFREG | 0o600)
        with closing(apsw.Connection(os.fspath(mine), flags=_WRITABLE)) as connection:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
        with suppress(FileExistsError):
            os.link(mine, path)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be made: {error.strerror}. Check the folder and its owner.", kind="shut"
        ) from error
    finally:
        mine.unlink(missing_ok=True)


class _BusyHandler:
    """Waits for another writer, for five seconds at most, or for those given: looks often while it may be one commit
    that it waits for, then stands in the line, if there is one, and looks often again when it is the first there.

    Nobody waits for one in the line that has been stopped: now and then all of them look. Without a line it looks less
    often than a newcomer, but often enough: SQLite's own waits grow to 100 ms.
    """

    def __init__(self, fair_lock: FairLock | None = None, timeout_s: float | None = None) -> None:
        self._fair_lock = fair_lock
        self._timeout_s = timeout_s
        """Seconds; None for the usual ones."""
        self._started_at = 0.0

    def __call__(self, attempts: int) -> bool:
        now = time.monotonic()
        if attempts == 0:
            self._started_at = now
        waited = now - self._started_at
        left = (BUSY_TIMEOUT_S if self._timeout_s is None else self._timeout_s) - waited
        if left <= 0:
            return False
        longest = _SHORT_POLL_NS
        if waited >= _COMMIT_S:
            if self._fair_lock and not self._fair_lock.is_held and self._fair_lock.wait(min(left, _QUEUE_WAIT_S)):
                return True
            longest = _FIRST_POLL_NS if self._fair_lock and self._fair_lock.is_held else _LONG_POLL_NS
        time.sleep(time.monotonic_ns() % longest / 1e9)
        return True


def _configure(connection: apsw.Connection, *, guarded: bool, read_only: bool) -> None:
    connection.set_busy_handler(_BusyHandler())
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
    connection.wal_autocheckpoint(0)
    for pragma in (
        f"synchronous={'FULL' if guarded else 'NORMAL'}",
        "mmap_size=0",
        f"journal_size_limit={MAX_WAL_BYTES}",
        f"cache_size=-{CACHE_KIB}",
        f"query_only={'ON' if read_only else 'OFF'}",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """One write transaction: BEGIN IMMEDIATE, then COMMIT, or ROLLBACK when the block raises.

    IMMEDIATE waits for other writers; a deferred one would fail at its first write without waiting.
    Raises StorageError when the database cannot be written (disk full, busy beyond 5 s, damaged); Gone, and nothing is
    written, when a precious one is not at its place any more.
    """
    with storage_errors(connection.filename), _queue_for_lock(connection):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if is_replaced(connection):
                raise FileReplaced(f"{connection.filename} was deleted, or another file was put in its place.")
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def try_write(connection: apsw.Connection, sql: str, *values: Any) -> bool:
    """Carries out one statement durably where that can be done at once; whether it could. Nobody is waited for."""
    connection.set_busy_handler(None)
    try:
        if is_replaced(connection):
            return False
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(sql, values)
        connection.execute("COMMIT")
    except (apsw.Error, *_STORAGE_ERRORS):
        return False
    finally:
        with suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        connection.set_busy_handler(_BusyHandler())
    return True


@contextmanager
def _queue_for_lock(connection: apsw.Connection) -> Iterator[None]:
    """Whoever had to wait for his turn in this block lets the next one come when he is done."""
    line = connection.fair_lock if isinstance(connection, GuardedConnection) else None
    if line is None:
        yield
        return
    connection.set_busy_handler(_BusyHandler(line))
    try:
        yield
    finally:
        line.release()
        connection.set_busy_handler(_BusyHandler())


@contextmanager
def storage_errors(path: Path | str) -> Iterator[None]:
    """Makes a StorageError of what keeps a database from being used; it says what to do."""
    try:
        yield
    except _STORAGE_ERRORS as error:
        trouble = _error_kind(error)
        text = f"{_ADVICE_BY_KIND[trouble]} The database {path} cannot be used: {error}."
        raise StorageError(text, kind=trouble) from error


_ADVICE_BY_KIND = {
    "full": "The disk is full: free some space; nothing that was shown as done is lost.",
    "busy": "Another process has kept it locked for five seconds: try again. `courier.log` beside it may say more.",
    "damaged": "The file is damaged: keep a copy of it. `courier.log` beside it may say more.",
    "shut": "Check that its folder can be written by this account.",
}


def _error_kind(error: Exception) -> str:
    if isinstance(error, apsw.FullError):
        return "full"
    if isinstance(error, apsw.BusyError):
        return "busy"
    return "damaged" if isinstance(error, apsw.CorruptError | apsw.NotADBError) else "shut"


def fetch(connection: apsw.Connection, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """All rows of a query at once, so that no reader stands still in the way of a checkpoint."""
    return connection.execute(sql, values).fetchall()


def fetch_one(connection: apsw.Connection, sql: str, *values: Any) -> tuple[Any, ...] | None:
    """The first row of a query, or None."""
    cursor = connection.execute(sql, values)
    row = cursor.fetchone()
    cursor.close()
    return row


def migrate(connection: apsw.Connection, migrations: Sequence[str]) -> None:
    """Brings the schema up to date; migration n (SQL text) leads to user_version n, all of them in one transaction.

    Raises StorageError, naming the file, when a newer program has been there.
    """
    if schema_version(connection) == len(migrations):
        return
    check_not_newer(connection, len(migrations))
    with transaction(connection):
        for number in range(schema_version(connection), len(migrations)):
            connection.execute(migrations[number]).fetchall()
            connection.execute(f"PRAGMA user_version={number + 1}").fetchall()


def schema_version(connection: apsw.Connection) -> int:
    """The number of migrations that this database has seen."""
    row = fetch_one(connection, "PRAGMA user_version")
    return int(row[0]) if row else 0


def known_columns(row: Sequence[Any], fields: Sequence[str]) -> Sequence[Any]:
    """The columns of a whole row that this program knows: a newer one adds its own behind them."""
    return row[: len(fields)]


def check_not_newer(connection: apsw.Connection, supported_version: int) -> None:
    """Raises StorageError when the database is of a newer version than this program knows."""
    found = schema_version(connection)
    if found > supported_version:
        raise StorageError(
            f"{connection.filename} is of version {found}; this aisle knows {supported_version} at most. A newer"
            " aisle has been used on this host: start that one, nothing in the file is lost.",
            kind="newer",
        )


def empty_database(path: Path) -> None:
    """Empties a database in place, whatever state it is in; other connections to it see the empty one from then on.

    Unlinking the file would leave them reading a ghost, and a newcomer could meet one file's log beside another.
    """
    with storage_errors(path), closing(apsw.Connection(os.fspath(path), flags=_WRITABLE)) as connection:
        connection.set_busy_handler(_BusyHandler())
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
        connection.execute("VACUUM").fetchall()
        connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)
        connection.execute("PRAGMA journal_mode=WAL").fetchall()


def checkpoint(connection: apsw.Connection, *, truncate: bool = False) -> tuple[int, int]:
    """Moves the log into the database: (pages in the log, pages moved). Truncating waits for readers: only when alone.

    Somebody else's lock is no error, it gives (-1, -1): the next call gets further. A log that others write to and read
    all the time is never moved whole, and would grow for ever: a long one is finished while the writers wait a moment,
    and the next of them begins it anew.
    """
    mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if truncate else apsw.SQLITE_CHECKPOINT_PASSIVE
    moved = _run_checkpoint(connection, mode)
    if truncate or moved[0] < LONG_WAL_PAGES:
        return moved
    connection.set_busy_handler(_BusyHandler(timeout_s=WAL_RESTART_S))
    try:
        return _run_checkpoint(connection, apsw.SQLITE_CHECKPOINT_RESTART)
    finally:
        connection.set_busy_handler(_BusyHandler())


def _run_checkpoint(connection: apsw.Connection, mode: int) -> tuple[int, int]:
    try:
        return connection.wal_checkpoint(mode=mode)
    except apsw.BusyError:
        return (-1, -1)
