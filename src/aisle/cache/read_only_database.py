"""The file cache.db for its readers, which neither create nor change it."""

from __future__ import annotations

from pathlib import Path

import apsw

from aisle.cache.schema import CACHE_TABLES, SCHEMA_VERSION
from aisle.errors import StorageError
from aisle.host.database import check_not_newer, connect, schema_version


def open_for_reading(folder: Path) -> apsw.Connection:
    """Open the cache of a home folder as it is. Raise StorageError if there is none that this program can read."""
    path = folder / "cache.db"
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
