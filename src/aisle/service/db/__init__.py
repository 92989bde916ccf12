"""Access to databases. Rules are written once, as coroutines over `Transaction`, and run on SQLite and PostgreSQL.

On SQLite a coroutine never waits: the writer thread, or the event loop for a short read, runs it to its end inside one
transaction. On PostgreSQL the same coroutine runs on an event loop. It must not know HTTP or the domain. Start reading
at `database_interface`, then `sqlite_database` and `postgres_database`.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from aisle.errors import UsageError
from aisle.service.db.database_interface import Database, DatabaseMonitor
from aisle.service.db.sqlite_database import SqliteDatabase

_POSTGRES_SCHEMES = ("postgresql", "postgres")


def parse_database_url(text: str) -> Path | str:
    """Return the file of a `sqlite:///relative.db` or `sqlite:////absolute.db` URL; return a PostgreSQL URL unchanged.

    Raise UsageError for any other text.
    """
    parts = urlsplit(text)
    if parts.scheme in _POSTGRES_SCHEMES:
        return text
    path = unquote(parts.path[1:])
    if parts.scheme != "sqlite" or parts.netloc or not path:
        kind = parts.scheme or "a path"
        raise UsageError(f"A database is sqlite:///path or postgresql://host/name; {kind!r} is neither.")
    return Path(path)


def open_database(database_address: Path | str, monitor: DatabaseMonitor | None = None) -> Database:
    """Open the database and migrate it to the newest schema. A file may share its `monitor` with later openings.

    Raise StorageError if it cannot be used, UsageError if the driver is not installed.
    """
    if isinstance(database_address, Path):
        return SqliteDatabase(database_address, monitor=monitor)
    try:
        from aisle.service.db.postgres_database import PostgresDatabase
    except ModuleNotFoundError as problem:
        raise UsageError("PostgreSQL needs asyncpg: install aisle[postgres].") from problem
    return PostgresDatabase(database_address)
