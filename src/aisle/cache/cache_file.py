"""The file of the cache: made, emptied and opened. Light, because every session imports it."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import apsw

from aisle.cache.schema import CACHE_TABLES, SCHEMA_VERSION
from aisle.errors import StorageError
from aisle.host.database import check_not_newer, connect, empty_database, schema_version, transaction

WAL_PAGES = 4096
"""So many pages the log has when its one writer moves them into the database: a full sync writes them a hundredfold."""


def open_cache(folder: Path, *, writer: bool) -> apsw.Connection:
    """The cache of a home folder.

    The writer makes it, and empties one that is damaged or of an older version; the change feed of the new one goes on
    above that of the old one. It keeps days and times by the zone in which this process works. One of a newer program
    is left alone, whoever opens it. A reader gets it as it is. Raises StorageError, also when there is none that can be
    read.
    """
    path = folder / "cache.db"
    if not writer:
        return _open_readable(path)
    if not path.exists():
        for log in ("-wal", "-shm"):  # of one that was deleted: it must not be read into the new one
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
    from aisle.cache.zone_change import recompute_times  # with all that writes; no session pays for it

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
    """A cache in memory in which nothing is known: what a session reads while there is no other."""
    connection = apsw.Connection(":memory:")
    connection.execute(CACHE_TABLES).fetchall()
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}").fetchall()
    return connection
