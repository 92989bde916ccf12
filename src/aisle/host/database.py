"""SQLite databases of this host: opening, transactions, migrations and checkpoints.

apsw has its own engine, because SQLite before 3.51.3 can lose committed rows when several processes share a WAL file.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from aisle.errors import StorageError
from aisle.host.file_locks import FairLock, FileId, file_id, is_locked, lock_folder
from aisle.host.store_and_database_folders import check_disk, make_private_folder

MIN_SQLITE_VERSION = (3, 51, 3)
"""First version of SQLite without the WAL-reset race."""

BUSY_TIMEOUT_S = 5.0
_COMMIT_S = 0.005
"""Seconds within which another writer's commit is mostly finished."""
_SHORT_POLL_NS, _LONG_POLL_NS = 500_000, 10_000_000
"""Greatest time between two tries of a lock: for a newcomer, and for one of many without a queue; nanoseconds."""
_FIRST_POLL_NS = 1_500_000
"""The same for the first in the queue."""
_QUEUE_WAIT_S = 0.25
"""Seconds for which a waiter in the queue waits before it tries the lock itself."""
RECOVERY_TIMEOUT_S = 10.0
"""Seconds for which a newcomer waits until others restore a deleted file; a courier checks every few seconds."""
WAL_SUFFIXES = ("-wal", "-shm")
MAX_WAL_BYTES = 64 << 20
LONG_WAL_PAGES = 4096
"""Pages (16 MB) of a write-ahead log that is restarted if possible."""
WAL_RESTART_S = 0.2
"""Greatest number of seconds for which writers wait for that."""
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
    """Error: the file at the path of a guarded database is not the opened one; nobody would read what is written now.

    See aisle.host.deleted_file_recovery.
    """


class GuardedConnection(apsw.Connection):
    """Connection to a database that must not be written once it was deleted or replaced.

    The last commits are only in its log, and a newcomer finds the log by its shared memory: both files belong to it.
    """

    fair_lock: FairLock | None = None
    """Queue of those who wait to write."""
    file_id: FileId = None
    """Identity of the opened file; None if it has no file."""
    wal_ids: tuple[FileId, ...] = ()
    """Identities of its log and of the log's shared memory when opened."""

    @property
    def is_replaced(self) -> bool:
        """True if the database or its log was deleted or replaced."""
        if self.file_id is None:
            return False
        return file_id(self.filename) != self.file_id or wal_file_ids(self.filename) != self.wal_ids


def is_replaced(connection: apsw.Connection) -> bool:
    """Return True if this is a guarded connection whose file was deleted or replaced."""
    return isinstance(connection, GuardedConnection) and connection.is_replaced


def connect(path: Path, *, guarded: bool = False, read_only: bool = False) -> apsw.Connection:
    """Open the WAL database at `path`; create file (0600) and folder (0700) if missing.

    Guarded: every commit is on the disk before it returns (synchronous=FULL). Neither a commit nor a close checkpoints;
    only the courier does, with `checkpoint`. Raise StorageError if the file cannot be opened.
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
        for log in WAL_SUFFIXES:  # left by a deleted database; SQLite must not read them into the new one
            path.with_name(path.name + log).unlink(missing_ok=True)
        _create(path)
    connection = GuardedConnection(os.fspath(path), flags=_WRITABLE)
    connection.fair_lock = FairLock(path.with_suffix(".line"))
    _configure(connection, guarded=True, read_only=False)
    schema_version(connection)  # opens the log too, while nobody can replace the file
    connection.file_id, connection.wal_ids = file_id(path), wal_file_ids(path)
    return connection


def wal_file_ids(path: Path | str) -> tuple[FileId, ...]:
    """Return the identities of a database's log files; SQLite creates them at the first opening and keeps them."""
    return tuple(file_id(f"{path}{log}") for log in WAL_SUFFIXES)


def _wait_for_recovery(path: Path) -> None:
    """Wait while the log of a file that others have open is missing; they restore it within seconds.

    A newcomer would begin another log beside theirs, and both would be lost. Raise StorageError after
    `RECOVERY_TIMEOUT_S`.
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
    """Raise StorageError for an SQLite that cannot share a WAL file between processes safely."""
    if tuple(int(part) for part in version.split(".")[:3]) < MIN_SQLITE_VERSION:
        floor = ".".join(str(part) for part in MIN_SQLITE_VERSION)
        raise StorageError(
            f"This apsw brings SQLite {version}, which can lose committed rows when several processes share a "
            f"database. At least {floor} is needed: install a newer apsw."
        )


def _create(path: Path) -> None:
    """Create the file under a temporary name in WAL mode, then link it, so that nobody opens an unfinished one.

    Only SQLite opens descriptors of the file: closing any other would drop this process's locks on it.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        os.mknod(temporary, stat.S_IFREG | 0o600)
        with closing(apsw.Connection(os.fspath(temporary), flags=_WRITABLE)) as connection:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
        with suppress(FileExistsError):
            os.link(temporary, path)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be made: {error.strerror}. Check the folder and its owner.", kind="shut"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


class _BusyHandler:
    """Busy handler: waits for another writer for at most five seconds, or the given time.

    First it tries often, because the other may be in a single commit. Then it waits in the queue, if there is one, and
    tries often again once it is first. All in the queue try now and then, because the first may have been stopped.
    Without a queue it tries less often than a newcomer, but more often than SQLite, whose waits grow to 100 ms.
    """

    def __init__(self, fair_lock: FairLock | None = None, timeout_s: float | None = None) -> None:
        self._fair_lock = fair_lock
        self._timeout_s = timeout_s
        """Timeout in seconds; None for the default."""
        self._started_at = 0.0

    def __call__(self, attempts: int) -> bool:
        now = time.monotonic()
        if attempts == 0:
            self._started_at = now
        waited = now - self._started_at
        remaining = (BUSY_TIMEOUT_S if self._timeout_s is None else self._timeout_s) - waited
        if remaining <= 0:
            return False
        longest = _SHORT_POLL_NS
        if waited >= _COMMIT_S:
            if self._fair_lock and not self._fair_lock.is_held and self._fair_lock.wait(min(remaining, _QUEUE_WAIT_S)):
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
    """Run the block in one write transaction: BEGIN IMMEDIATE, then COMMIT, or ROLLBACK if it raises.

    IMMEDIATE waits for other writers; a deferred transaction would fail at its first write without waiting. Raise
    StorageError if the database cannot be written (disk full, busy beyond 5 s, damaged). Raise FileReplaced, with
    nothing written, if a guarded file was deleted or replaced.
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
    """Execute and commit one statement if that is possible without waiting. Return True on success."""
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
    """Let the next waiter of the queue proceed at the end of the block, if this one had to wait."""
    fair_lock = connection.fair_lock if isinstance(connection, GuardedConnection) else None
    if fair_lock is None:
        yield
        return
    connection.set_busy_handler(_BusyHandler(fair_lock))
    try:
        yield
    finally:
        fair_lock.release()
        connection.set_busy_handler(_BusyHandler())


@contextmanager
def storage_errors(path: Path | str) -> Iterator[None]:
    """Convert errors that make a database unusable into a StorageError that says what to do."""
    try:
        yield
    except _STORAGE_ERRORS as error:
        kind = _error_kind(error)
        text = f"{_ADVICE_BY_KIND[kind]} The database {path} cannot be used: {error}."
        raise StorageError(text, kind=kind) from error


_ADVICE_BY_KIND = {
    "full": "The disk is full: free some space; nothing that was shown as done is lost.",
    "busy": "Another process has kept it locked for five seconds: try again. `courier.log` beside it may say more.",
    "damaged": "The file is damaged: keep a copy of it. `courier.log` beside it may say more.",
    "shut": "Check that its folder can be written by this account.",
}


def is_disk_full(error: Exception) -> bool:
    """Return True if an error means that the disk, or the account's part of it, is full."""
    if isinstance(error, StorageError):
        return error.kind == "full"
    is_refused = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return is_refused or isinstance(error, apsw.FullError)


def _error_kind(error: Exception) -> str:
    if isinstance(error, apsw.FullError):
        return "full"
    if isinstance(error, apsw.BusyError):
        return "busy"
    return "damaged" if isinstance(error, apsw.CorruptError | apsw.NotADBError) else "shut"


def fetch(connection: apsw.Connection, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return all rows of a query at once, so that no open cursor blocks a checkpoint."""
    return connection.execute(sql, values).fetchall()


def fetch_one(connection: apsw.Connection, sql: str, *values: Any) -> tuple[Any, ...] | None:
    """Return the first row of a query, or None."""
    cursor = connection.execute(sql, values)
    row = cursor.fetchone()
    cursor.close()
    return row


def migrate(connection: apsw.Connection, migrations: Sequence[str]) -> None:
    """Migrate the schema in one transaction; migration n (SQL text) leads to user_version n.

    Raise StorageError with the file's name if a newer program has migrated it further.
    """
    if schema_version(connection) == len(migrations):
        return
    check_not_newer(connection, len(migrations))
    with transaction(connection):
        for number in range(schema_version(connection), len(migrations)):
            connection.execute(migrations[number]).fetchall()
            connection.execute(f"PRAGMA user_version={number + 1}").fetchall()


def schema_version(connection: apsw.Connection) -> int:
    """Return the number of migrations that this database has had."""
    row = fetch_one(connection, "PRAGMA user_version")
    return int(row[0]) if row else 0


def known_columns(row: Sequence[Any], fields: Sequence[str]) -> Sequence[Any]:
    """Return the columns of a whole row that this program knows; a newer one appends its own."""
    return row[: len(fields)]


def check_not_newer(connection: apsw.Connection, supported_version: int) -> None:
    """Raise StorageError if the database has a newer version than this program knows."""
    found = schema_version(connection)
    if found > supported_version:
        raise StorageError(
            f"{connection.filename} is of version {found}; this aisle knows {supported_version} at most. A newer"
            " aisle has been used on this host: start that one, nothing in the file is lost.",
            kind="newer",
        )


def empty_database(path: Path) -> None:
    """Empty a database in place, whatever its state; other connections then see the empty one.

    Deleting the file would leave them on the old one, and a newcomer could combine a file with another one's log.
    """
    with storage_errors(path), closing(apsw.Connection(os.fspath(path), flags=_WRITABLE)) as connection:
        connection.set_busy_handler(_BusyHandler())
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
        connection.execute("VACUUM").fetchall()
        connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)
        connection.execute("PRAGMA journal_mode=WAL").fetchall()


def checkpoint(connection: apsw.Connection, *, truncate: bool = False) -> tuple[int, int]:
    """Move the write-ahead log into the database. Return (pages in the log, pages moved).

    Truncating waits for readers, so do it only when alone. A lock of another process is no error and returns (-1, -1);
    the next call gets further. A log that others write and read all the time is never moved whole, and would grow
    without limit. So a long one is finished while writers wait a moment, and the next writer restarts it.
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
