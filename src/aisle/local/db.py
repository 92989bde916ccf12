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
from aisle.local.host.disk import FileId, alone_in, file_id, is_locked, private_folder, refuse_bad_disk
from aisle.local.line import Line

FLOOR = (3, 51, 3)
"""The first SQLite without the WAL-reset race."""

BUSY_S = 5.0
_ONE_COMMIT_S = 0.005
"""A commit of another is mostly over by then."""
_OFTEN_NS, _SELDOM_NS = 500_000, 10_000_000
"""Between two looks at a lock, at most: of who has just come, and of who stands in a crowd without a line."""
_FIRST_NS = 1_500_000
"""The same of the first in the line."""
_GLANCE_S = 0.25
"""The same, in seconds, of who stands in it."""
RESCUE_S = 10.0
"""So long a newcomer waits for those who have open what was deleted: a courier looks every few seconds."""
LOGS = ("-wal", "-shm")
JOURNAL_BYTES = 64 << 20
LONG_LOG = 4096
"""Pages of a log that is begun anew where it can be: 16 MB."""
RESTART_S = 0.2
"""So long writers stand still for that, at most."""
CACHE_KIB = 8000

_WRITABLE = apsw.SQLITE_OPEN_READWRITE
_UNUSABLE = (
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


class Gone(StorageError):
    """What is at the place of a precious database is not the file that was opened: nobody would read what is written
    to that one now. See aisle.local.host.rescue."""


class Precious(apsw.Connection):
    """A connection to a database that must not be written to once it has been deleted, or another put in its place.

    What was committed last is in its log alone, and who joins finds the log by its memory: they belong to it.
    """

    line: Line | None = None
    """Of those who wait for their turn to write to it."""
    file: FileId = None
    """What was opened; None for what no file system knows."""
    logs: tuple[FileId, ...] = ()
    """Its log and that one's shared memory, as they were opened."""

    @property
    def is_gone(self) -> bool:
        """Whether something else, or nothing, is at its place now, or at that of its log."""
        if self.file is None:
            return False
        return file_id(self.filename) != self.file or logs_of(self.filename) != self.logs


def is_gone(connection: apsw.Connection) -> bool:
    """Whether this is a connection to a precious file that is not at its place any more."""
    return isinstance(connection, Precious) and connection.is_gone


def connect(path: Path, *, precious: bool = False, read_only: bool = False) -> apsw.Connection:
    """A connection to the WAL database at `path`; file (0600) and folder (0700) are made when they are missing.

    Precious: every commit is on the disk before it returns (synchronous=FULL). Nobody checkpoints by the way, neither
    in a commit nor at the close: that is `checkpoint`, called by the courier alone. Raises StorageError.
    """
    refuse_old_engine(apsw.sqlite_lib_version())
    with usable(path):
        private_folder(path.parent)
        refuse_bad_disk(path, precious=precious)
        if precious:
            _await_rescue(path)
            with alone_in(path.parent):
                return _opened_precious(path)
        if not path.exists():
            _create(path)
        connection = apsw.Connection(os.fspath(path), flags=_WRITABLE)
        _prepare(connection, precious=False, read_only=read_only)
    return connection


def _opened_precious(path: Path) -> Precious:
    if not path.exists():
        for log in LOGS:  # of one that was deleted: it must not be read into the new one
            path.with_name(path.name + log).unlink(missing_ok=True)
        _create(path)
    connection = Precious(os.fspath(path), flags=_WRITABLE)
    connection.line = Line(path.with_suffix(".line"))
    _prepare(connection, precious=True, read_only=False)
    version(connection)  # opens its log, too, while nobody can put another file there
    connection.file, connection.logs = file_id(path), logs_of(path)
    return connection


def logs_of(path: Path | str) -> tuple[FileId, ...]:
    """Which files of the log lie beside a database now; they are made at its first opening, and stay."""
    return tuple(file_id(f"{path}{log}") for log in LOGS)


def _await_rescue(path: Path) -> None:
    """Waits while the log of a file that others have open is missing: they put back what it held within seconds.

    A newcomer would begin another log beside theirs, and both would be lost. Raises StorageError.
    """
    until = time.monotonic() + RESCUE_S
    while path.exists() and None in logs_of(path) and is_locked(path):
        if time.monotonic() > until:
            raise StorageError(
                f"The log of {path} was deleted while other programs have it open, and none of them has put it back. "
                "Let a session there scan something; then try again.",
                trouble="log_gone",
            )
        time.sleep(0.02)


def refuse_old_engine(version: str) -> None:
    """Raises StorageError for an SQLite that cannot share a WAL file between processes safely."""
    if tuple(int(part) for part in version.split(".")[:3]) < FLOOR:
        floor = ".".join(str(part) for part in FLOOR)
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
            f"{path} cannot be made: {error.strerror}. Check the folder and its owner.", trouble="shut"
        ) from error
    finally:
        mine.unlink(missing_ok=True)


class _Patience:
    """Waits for another writer, for five seconds at most, or for those given: looks often while it may be one commit
    that it waits for, then stands in the line, if there is one, and looks often again when it is the first there.

    Nobody waits for one in the line that has been stopped: now and then all of them look. Without a line it looks less
    often than a newcomer, but often enough: SQLite's own waits grow to 100 ms.
    """

    def __init__(self, line: Line | None = None, at_most: float | None = None) -> None:
        self._line = line
        self._at_most = at_most
        """Seconds; None for the usual ones."""
        self._began = 0.0

    def __call__(self, tried: int) -> bool:
        now = time.monotonic()
        if tried == 0:
            self._began = now
        waited = now - self._began
        left = (BUSY_S if self._at_most is None else self._at_most) - waited
        if left <= 0:
            return False
        longest = _OFTEN_NS
        if waited >= _ONE_COMMIT_S:
            if self._line and not self._line.is_first and self._line.stand(min(left, _GLANCE_S)):
                return True
            longest = _FIRST_NS if self._line and self._line.is_first else _SELDOM_NS
        time.sleep(time.monotonic_ns() % longest / 1e9)
        return True


def _prepare(connection: apsw.Connection, *, precious: bool, read_only: bool) -> None:
    connection.set_busy_handler(_Patience())
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
    connection.wal_autocheckpoint(0)
    for pragma in (
        f"synchronous={'FULL' if precious else 'NORMAL'}",
        "mmap_size=0",
        f"journal_size_limit={JOURNAL_BYTES}",
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
    with usable(connection.filename), _in_line(connection):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if is_gone(connection):
                raise Gone(f"{connection.filename} was deleted, or another file was put in its place.")
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def writes_now(connection: apsw.Connection, sql: str, *values: Any) -> bool:
    """Carries out one statement durably where that can be done at once; whether it could. Nobody is waited for."""
    connection.set_busy_handler(None)
    try:
        if is_gone(connection):
            return False
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(sql, values)
        connection.execute("COMMIT")
    except (apsw.Error, *_UNUSABLE):
        return False
    finally:
        with suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        connection.set_busy_handler(_Patience())
    return True


@contextmanager
def _in_line(connection: apsw.Connection) -> Iterator[None]:
    """Whoever had to wait for his turn in this block lets the next one come when he is done."""
    line = connection.line if isinstance(connection, Precious) else None
    if line is None:
        yield
        return
    connection.set_busy_handler(_Patience(line))
    try:
        yield
    finally:
        line.leave()
        connection.set_busy_handler(_Patience())


@contextmanager
def usable(path: Path | str) -> Iterator[None]:
    """Makes a StorageError of what keeps a database from being used; it says what to do."""
    try:
        yield
    except _UNUSABLE as error:
        trouble = _trouble(error)
        text = f"{_ADVICE[trouble]} The database {path} cannot be used: {error}."
        raise StorageError(text, trouble=trouble) from error


_ADVICE = {
    "full": "The disk is full: free some space; nothing that was shown as done is lost.",
    "busy": "Another process has kept it locked for five seconds: try again. `courier.log` beside it may say more.",
    "damaged": "The file is damaged: keep a copy of it. `courier.log` beside it may say more.",
    "shut": "Check that its folder can be written by this account.",
}


def _trouble(error: Exception) -> str:
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
    if version(connection) == len(migrations):
        return
    refuse_newer(connection, len(migrations))
    with transaction(connection):
        for number in range(version(connection), len(migrations)):
            connection.execute(migrations[number]).fetchall()
            connection.execute(f"PRAGMA user_version={number + 1}").fetchall()


def version(connection: apsw.Connection) -> int:
    """The number of migrations that this database has seen."""
    row = fetch_one(connection, "PRAGMA user_version")
    return int(row[0]) if row else 0


def known(row: Sequence[Any], fields: Sequence[str]) -> Sequence[Any]:
    """The columns of a whole row that this program knows: a newer one adds its own behind them."""
    return row[: len(fields)]


def refuse_newer(connection: apsw.Connection, known: int) -> None:
    """Raises StorageError when the database is of a newer version than this program knows."""
    found = version(connection)
    if found > known:
        raise StorageError(
            f"{connection.filename} is of version {found}; this aisle knows {known} at most. A newer aisle has been "
            "used on this host: start that one, nothing in the file is lost.",
            trouble="newer",
        )


def reset(path: Path) -> None:
    """Empties a database in place, whatever state it is in; other connections to it see the empty one from then on.

    Unlinking the file would leave them reading a ghost, and a newcomer could meet one file's log beside another.
    """
    with usable(path), closing(apsw.Connection(os.fspath(path), flags=_WRITABLE)) as connection:
        connection.set_busy_handler(_Patience())
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
    moved = _moved(connection, mode)
    if truncate or moved[0] < LONG_LOG:
        return moved
    connection.set_busy_handler(_Patience(at_most=RESTART_S))
    try:
        return _moved(connection, apsw.SQLITE_CHECKPOINT_RESTART)
    finally:
        connection.set_busy_handler(_Patience())


def _moved(connection: apsw.Connection, mode: int) -> tuple[int, int]:
    try:
        return connection.wal_checkpoint(mode=mode)
    except apsw.BusyError:
        return (-1, -1)
