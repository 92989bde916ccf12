"""Backup and restore of a SQLite service database while services use it (`aisle backup`, `aisle restore`).

Both use SQLite's backup interface: a copy is one state of the database, a restore is one transaction of it. A copy is
checked before it is restored, and the replaced database is kept beside it.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from time import monotonic, sleep, strftime
from typing import NamedTuple

import apsw

from aisle.errors import StorageError
from aisle.service.db.schema_and_search_index import MIGRATIONS, migrate
from aisle.service.db.sqlite_connection_and_transaction import open_connection

_BUSY_MS = 5000
_TIMEOUT_S = 60.0
_MAX_NAMED = 20
_SQLITE_HEADER = b"SQLite format 3\0"
_FILE_ADVICE = "Name a file that 'aisle backup' made."

_BALANCE_KEY = "store_number, product_number, location_code, pool, order_number, line_number"
_UNBALANCED_LEDGER = f"""
    SELECT 1 FROM (SELECT {_BALANCE_KEY}, quantity FROM balance UNION ALL SELECT {_BALANCE_KEY}, -quantity FROM leg)
    GROUP BY {_BALANCE_KEY} HAVING SUM(quantity) <> 0 LIMIT 1"""  # noqa: S608 - constants


class BackupInfo(NamedTuple):
    """Content of a copy: bytes, stores and rows of the ledger."""

    size: int
    stores: int
    legs: int


class RestoreInfo(NamedTuple):
    """Result of a restore, and the file that keeps the replaced database; None if there was none."""

    backup: BackupInfo
    previous: Path | None


def back_up(database_file: Path, file: Path, *, replace: bool = False) -> BackupInfo:
    """Copy the current state of the database into `file` (0600), and check the copy.

    The file appears when it is complete. Raise StorageError if there is no database, the file exists (unless
    `replace`), cannot be written, or is damaged.
    """
    if not database_file.is_file():
        raise StorageError(f"There is no database at {database_file}.")
    if file.exists() and not replace:
        raise StorageError(f"{file} is there already; name another file, or say --replace.")
    fresh = _temporary_name(file, "part")
    try:
        _create(fresh)
        _copy(database_file, fresh)
        found = inspect_backup(fresh)
        os.replace(fresh, file)
        _sync(file.parent)
    finally:
        _remove(fresh)
    return found


def restore(file: Path, database_file: Path, *, allow_loss: bool = False) -> RestoreInfo:
    """Restore a copy in one transaction, which running services see as any other. Keep the replaced database.

    Raise StorageError without a change if the copy is damaged or newer than this program. Raise it also if the database
    has changes that the copy lacks (unless `allow_loss`), or stays busy.
    """
    if not file.is_file():
        raise StorageError(f"There is no file {file}.")
    _check_is_sqlite(file)
    fresh = _temporary_name(database_file, "restore")
    kept = None
    try:
        database_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create(fresh)
        _copy(file, fresh, is_immutable=not file.with_name(f"{file.name}-wal").exists())
        found = inspect_backup(fresh, file)
        _migrate(fresh)
        if _has_data(database_file):
            if not allow_loss and (lost := _lost_changes(fresh, database_file)):
                description = ", ".join(lost)
                raise StorageError(
                    f"{database_file} has what {file} does not know ({description}). Say --yes if that may go."
                )
            kept = database_file.with_name(
                f"{database_file.name}.before-{strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
            )
            back_up(database_file, kept)
        else:
            _create(database_file)
        _copy(fresh, database_file)
    finally:
        _remove(fresh)
    return RestoreInfo(found, kept)


def inspect_backup(copy: Path, file: Path | None = None) -> BackupInfo:
    """Return the content of a copy. Raise StorageError if it is damaged, not of a service, or newer than this program.

    Messages name `file` if `copy` is a temporary copy of it.
    """
    file = file or copy
    connection = open_connection(copy, _BUSY_MS)
    try:
        problems = connection.execute("PRAGMA integrity_check(5)").fetchall()
        if problems != [("ok",)]:
            raise StorageError(f"{file} is damaged: {problems[0][0]}.")
        [(version,)] = connection.execute("PRAGMA user_version").fetchall()
        if not isinstance(version, int) or version > len(MIGRATIONS):
            raise StorageError(f"{file} has schema {version}, this program knows {len(MIGRATIONS)}: use the newer one.")
        [(tables,)] = connection.execute(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('store', 'leg', 'balance', 'counter')"
        ).fetchall()
        if version < 1 or tables != 4:
            advice = f" {_FILE_ADVICE}" if file != copy else ""
            raise StorageError(f"{file} is no database of the service.{advice}")
        if connection.execute("PRAGMA foreign_key_check").fetchone():
            raise StorageError(f"{file} is damaged: rows name others that are not there.")
        if connection.execute(_UNBALANCED_LEDGER).fetchone():
            raise StorageError(f"{file} is damaged: its stock is not the sum of its ledger.")
        [(stores, legs)] = connection.execute("SELECT (SELECT count(*) FROM store), (SELECT count(*) FROM leg)")
        assert isinstance(stores, int)
        assert isinstance(legs, int)
    except apsw.Error as problem:
        raise StorageError(f"{file} cannot be read: {problem}.") from problem
    finally:
        connection.close()
    return BackupInfo(copy.stat().st_size, stores, legs)


def _lost_changes(copy: Path, database_file: Path) -> list[str]:
    """Describe the changes in the database that the copy lacks, by store; empty if there are none."""
    old, now = _counters(copy), _counters(database_file)
    lost = {key: value - old.get(key, 0) for key, value in now.items() if value > old.get(key, 0)}
    changes = [key for key in lost if key[1] == "change"]
    return [f"{lost[key]} times {key[1]} in {key[0]}" for key in sorted(changes or lost)][:_MAX_NAMED]


def _counters(file: Path) -> dict[tuple[str, str], int]:
    connection = open_connection(file, _BUSY_MS)
    try:
        rows = connection.execute("SELECT store_number, name, value FROM counter").fetchall()
    finally:
        connection.close()
    return {(str(store), str(name)): int(str(value)) for store, name, value in rows}


def _has_data(database_file: Path) -> bool:
    """Return True if there is a database. Raise StorageError if it cannot be read."""
    if not database_file.is_file() or not database_file.stat().st_size:
        return False
    inspect_backup(database_file)
    return True


def _migrate(file: Path) -> None:
    connection = open_connection(file, _BUSY_MS)
    try:
        migrate(connection)
    finally:
        connection.close()


def _copy(source: Path, target: Path, *, is_immutable: bool = False) -> None:
    """Copy all pages of one state of the source in one transaction of the target.

    Nobody may write to a source that `is_immutable`.
    """
    until = monotonic() + _TIMEOUT_S
    old = _open_immutable(source) if is_immutable else open_connection(source, _BUSY_MS)
    new = open_connection(target, _BUSY_MS)
    try:
        while True:
            try:
                with new.backup("main", old, "main") as backup:
                    backup.step(-1)
                return
            except (apsw.BusyError, apsw.LockedError) as problem:
                if monotonic() > until:
                    raise StorageError(f"{target} is busy all the time; try again.") from problem
                sleep(0.05)
    except apsw.Error as problem:
        raise StorageError(f"{source} cannot be copied to {target}: {_describe(problem)}.") from problem
    finally:
        new.close()
        old.close()


def _describe(error: apsw.Error) -> str:
    """Return the message of SQLite; if it has none, name the kind of error."""
    message = str(error)
    return (
        message if message and message != "not an error" else f"it is damaged, or no database ({type(error).__name__})"
    )


def _check_is_sqlite(file: Path) -> None:
    """Raise StorageError if the file is not a SQLite database."""
    try:
        with file.open("rb") as stream:
            begins = stream.read(len(_SQLITE_HEADER))
    except OSError as problem:
        raise StorageError(f"{file} cannot be read: {problem.strerror}.") from problem
    if begins != _SQLITE_HEADER:
        raise StorageError(f"{file} is no database, so nothing was restored. {_FILE_ADVICE}")


def _open_immutable(file: Path) -> apsw.Connection:
    """Open a file read-only, also in a folder where nothing can be written."""
    try:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"{file.absolute().as_uri()}?immutable=1", flags=flags)
    except apsw.Error as problem:
        raise StorageError(f"{file} cannot be read: {problem}.") from problem


def _temporary_name(file: Path, purpose: str) -> Path:
    return file.with_name(f".{file.name}.{purpose}-{secrets.token_hex(4)}")


def _create(file: Path) -> None:
    try:
        os.close(os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as problem:
        raise StorageError(f"{file} cannot be written: {problem.strerror}.") from problem


def _remove(file: Path) -> None:
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        file.with_name(name).unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
