"""The file cache.db: create, empty and open it. Keep the imports few, because every session imports this module."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import apsw

from aisle.cache.schema import CACHE_TABLES, SCHEMA_VERSION
from aisle.cache.time_zone_change import recompute_times
from aisle.errors import StorageError
from aisle.host.database import check_not_newer, connect, empty_database, schema_version, transaction

WAL_PAGES = 4096
"""Pages of the write-ahead log at which the one writer checkpoints. A full sync writes a hundred times as many."""


def open_cache(folder: Path, *, writer: bool) -> apsw.Connection:
    """Open the cache of a home folder. Raise StorageError if there is none that can be read.

    The writer creates the file, and empties one that is damaged or of an older version. The change feed of the new file
    continues above the numbers of the old one. The writer also recomputes days and times if the zone of this process is
    another one. A file of a newer program is never changed. A reader gets the file as it is.
    """
    path = folder / "cache.db"
    if not writer:
        return _open_readable(path)
    if not path.exists():
        for log in ("-wal", "-shm"):  # left by a deleted database; SQLite must not read them into the new one
            path.with_name(path.name + log).unlink(missing_ok=True)
    try:
        connection = connect(path)
        found = schema_version(connection)
    except StorageError as error:
        if not isinstance(error.__cause__, apsw.CorruptError | apsw.NotADBError):
            raise
        found = -1
    if found > SCHEMA_VERSION:
        with closing(connection):
            check_not_newer(connection, SCHEMA_VERSION)
    if found not in (0, SCHEMA_VERSION):
        empty_database(path)
        connection = connect(path)
    if schema_version(connection) == 0:
        with transaction(connection):
            connection.execute(CACHE_TABLES).fetchall()
            connection.execute("INSERT INTO sqlite_sequence VALUES ('change', ?)", (int(time.time() * 1000),))
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}").fetchall()
    connection.wal_autocheckpoint(WAL_PAGES)

    recompute_times(connection)
    return connection


def _open_readable(path: Path) -> apsw.Connection:
    if not path.exists():
        raise StorageError(f"{path} is not there yet. The courier makes it.")
    connection = connect(path, read_only=True)
    check_not_newer(connection, SCHEMA_VERSION)
    if schema_version(connection) != SCHEMA_VERSION:
        raise StorageError(f"{path} is of another version. The courier makes it anew.")
    return connection


def empty_cache() -> apsw.Connection:
    """Return an empty cache in memory, for a session to read while there is no file."""
    connection = apsw.Connection(":memory:")
    connection.execute(CACHE_TABLES).fetchall()
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}").fetchall()
    return connection
