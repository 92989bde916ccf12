"""The one door to a database. Rules are written once, as coroutines over `Tx`, and run on any engine.

On SQLite a coroutine never really waits: the storage's thread, or for a short read the event loop's, drives it to its
end inside one transaction. An engine with a network between runs the same coroutine on the event loop.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from aisle.errors import UsageError
from aisle.service.db.database import (
    Busy,
    ConstraintViolated,
    Database,
    DatabaseFailed,
    DatabaseUnreachable,
    Row,
    Statement,
    TooManyWaiting,
    Transaction,
    ValueTooLong,
    Work,
    tables_of,
)
from aisle.service.db.sqlite import MIN_SQLITE_VERSION, SqliteDatabase

__all__ = [
    "MIN_SQLITE_VERSION",
    "Busy",
    "ConstraintViolated",
    "Database",
    "DatabaseFailed",
    "DatabaseUnreachable",
    "Row",
    "SqliteDatabase",
    "Statement",
    "TooManyWaiting",
    "Transaction",
    "ValueTooLong",
    "Work",
    "open_database",
    "parse_database_url",
    "tables_of",
]


_POSTGRES_SCHEMES = ("postgresql", "postgres")


def parse_database_url(text: str) -> Path | str:
    """The file that `sqlite:///relative.db` or `sqlite:////absolute.db` names, or a PostgreSQL address as it is.

    Raises UsageError.
    """
    parts = urlsplit(text)
    if parts.scheme in _POSTGRES_SCHEMES:
        return text
    path = unquote(parts.path[1:])
    if parts.scheme != "sqlite" or parts.netloc or not path:
        kind = parts.scheme or "a path"
        raise UsageError(f"A database is sqlite:///path or postgresql://host/name; {kind!r} is neither.")
    return Path(path)


def open_database(database_address: Path | str) -> Database:
    """The database, brought to the newest schema. Raises StorageError; UsageError when the driver is not installed."""
    if isinstance(database_address, Path):
        return SqliteDatabase(database_address)
    try:
        from aisle.service.db.postgres import PostgresDatabase
    except ModuleNotFoundError as problem:
        raise UsageError("PostgreSQL needs asyncpg: install aisle[postgres].") from problem
    return PostgresDatabase(database_address)
