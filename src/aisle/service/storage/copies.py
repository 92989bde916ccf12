"""Copies of a SQLite service database, made and put back while services use it (`aisle backup`, `aisle restore`).

Both go through SQLite's own backup: a copy is one moment of the database, and a restore one transaction of it. What is
put back was looked at first, and what it replaces is kept beside it.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from time import monotonic, sleep, strftime

import apsw

from aisle.errors import StorageError
from aisle.service.sql.schema import MIGRATIONS
from aisle.service.storage.connection import opened
from aisle.service.storage.migrate import migrate
from aisle.tuples import NamedTuple

_BUSY_MS = 5000
_PATIENCE = 60.0
_SAMPLE = 20
_MAGIC = b"SQLite format 3\0"
_NAME_ANOTHER = "Name a file that 'aisle backup' made."

_SPOT = "store_number, product_number, location_code, pool, order_number, line_number"
_UNEVEN = f"""
    SELECT 1 FROM (SELECT {_SPOT}, quantity FROM balance UNION ALL SELECT {_SPOT}, -quantity FROM leg)
    GROUP BY {_SPOT} HAVING SUM(quantity) <> 0 LIMIT 1"""  # noqa: S608 - constants


class Copied(NamedTuple):
    """What a copy holds: bytes, stores, and rows of the ledger."""

    size: int
    stores: int
    legs: int


class Restored(NamedTuple):
    """What was put back, and the file in which what was there before is kept; None where there was nothing."""

    copied: Copied
    kept: Path | None


def back_up(database: Path, file: Path, *, replace: bool = False) -> Copied:
    """Copy the database as it is at this moment into `file` (0600), and look the copy through.

    The file appears when it is whole. Raises StorageError when there is no database, the file is there already (unless
    `replace`), cannot be written, or is not sound.
    """
    if not database.is_file():
        raise StorageError(f"There is no database at {database}.")
    if file.exists() and not replace:
        raise StorageError(f"{file} is there already; name another file, or say --replace.")
    fresh = _beside(file, "part")
    try:
        _create(fresh)
        _copy(database, fresh)
        found = inspect(fresh)
        os.replace(fresh, file)
        _sync(file.parent)
    finally:
        _remove(fresh)
    return found


def restore(file: Path, database: Path, *, newer: bool = False) -> Restored:
    """Put a copy back, in one transaction that services which run see as any other; what was there is kept beside.

    Raises StorageError, and has changed nothing, when the copy is not sound or newer than this program, when the
    database has what the copy does not know (unless `newer` says that this may go), or is busy all the time.
    """
    if not file.is_file():
        raise StorageError(f"There is no file {file}.")
    _refuse_other_files(file)
    fresh = _beside(database, "restore")
    kept = None
    try:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create(fresh)
        _copy(file, fresh, still=not file.with_name(f"{file.name}-wal").exists())
        found = inspect(fresh, file)
        _prepare(fresh)
        if _holds_something(database):
            if not newer and (lost := _unknown_to(fresh, database)):
                told = ", ".join(lost)
                raise StorageError(f"{database} has what {file} does not know ({told}). Say --yes if that may go.")
            kept = database.with_name(f"{database.name}.before-{strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}")
            back_up(database, kept)
        else:
            _create(database)
        _copy(fresh, database)
    finally:
        _remove(fresh)
    return Restored(found, kept)


def inspect(copy: Path, file: Path | None = None) -> Copied:
    """What a copy holds. Raises StorageError when it is damaged, no service's, or newer than this program.

    `file` is the one that its reader knows, where `copy` was made of it.
    """
    file = file or copy
    connection = opened(copy, _BUSY_MS)
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
            advice = f" {_NAME_ANOTHER}" if file != copy else ""
            raise StorageError(f"{file} is no database of the service.{advice}")
        if connection.execute("PRAGMA foreign_key_check").fetchone():
            raise StorageError(f"{file} is damaged: rows name others that are not there.")
        if connection.execute(_UNEVEN).fetchone():
            raise StorageError(f"{file} is damaged: its stock is not the sum of its ledger.")
        [(stores, legs)] = connection.execute("SELECT (SELECT count(*) FROM store), (SELECT count(*) FROM leg)")
        assert isinstance(stores, int)
        assert isinstance(legs, int)
    except apsw.Error as problem:
        raise StorageError(f"{file} cannot be read: {problem}.") from problem
    finally:
        connection.close()
    return Copied(copy.stat().st_size, stores, legs)


def _unknown_to(copy: Path, database: Path) -> list[str]:
    """What the database counted beyond the copy, by store: nothing where the copy is as young, or younger."""
    old, now = _counters(copy), _counters(database)
    lost = {key: value - old.get(key, 0) for key, value in now.items() if value > old.get(key, 0)}
    changes = [key for key in lost if key[1] == "change"]
    return [f"{lost[key]} times {key[1]} in {key[0]}" for key in sorted(changes or lost)][:_SAMPLE]


def _counters(file: Path) -> dict[tuple[str, str], int]:
    connection = opened(file, _BUSY_MS)
    try:
        rows = connection.execute("SELECT store_number, name, value FROM counter").fetchall()
    finally:
        connection.close()
    return {(str(store), str(name)): int(str(value)) for store, name, value in rows}


def _holds_something(database: Path) -> bool:
    """Whether there is a database at all; one that cannot be read is an error, and stays."""
    if not database.is_file() or not database.stat().st_size:
        return False
    inspect(database)
    return True


def _prepare(file: Path) -> None:
    connection = opened(file, _BUSY_MS)
    try:
        migrate(connection)
    finally:
        connection.close()


def _copy(source: Path, target: Path, *, still: bool = False) -> None:
    """Every page of the source, at one moment of it, as one transaction of the target. A `still` one nobody writes."""
    until = monotonic() + _PATIENCE
    old = _still(source) if still else opened(source, _BUSY_MS)
    new = opened(target, _BUSY_MS)
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
        raise StorageError(f"{source} cannot be copied to {target}: {_told(problem)}.") from problem
    finally:
        new.close()
        old.close()


def _told(problem: apsw.Error) -> str:
    """What SQLite says of it; where it says nothing, the kind of it has to do."""
    said = str(problem)
    return said if said and said != "not an error" else f"it is damaged, or no database ({type(problem).__name__})"


def _refuse_other_files(file: Path) -> None:
    """Raises StorageError for what is no SQLite database at all."""
    try:
        with file.open("rb") as stream:
            begins = stream.read(len(_MAGIC))
    except OSError as problem:
        raise StorageError(f"{file} cannot be read: {problem.strerror}.") from problem
    if begins != _MAGIC:
        raise StorageError(f"{file} is no database, so nothing was put back. {_NAME_ANOTHER}")


def _still(file: Path) -> apsw.Connection:
    """A file that may lie where nothing can be written."""
    try:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"{file.absolute().as_uri()}?immutable=1", flags=flags)
    except apsw.Error as problem:
        raise StorageError(f"{file} cannot be read: {problem}.") from problem


def _beside(file: Path, what: str) -> Path:
    return file.with_name(f".{file.name}.{what}-{secrets.token_hex(4)}")


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
