"""Which engine a database belongs to."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from aisle.errors import UsageError
from aisle.service.storage.base import Storage
from aisle.service.storage.sqlite import SqliteStorage

_POSTGRES = ("postgresql", "postgres")


def named_database(text: str) -> Path | str:
    """The file that `sqlite:///relative.db` or `sqlite:////absolute.db` names, or a PostgreSQL address as it is.

    Raises UsageError.
    """
    parts = urlsplit(text)
    if parts.scheme in _POSTGRES:
        return text
    path = unquote(parts.path[1:])
    if parts.scheme != "sqlite" or parts.netloc or not path:
        kind = parts.scheme or "a path"
        raise UsageError(f"A database is sqlite:///path or postgresql://host/name; {kind!r} is neither.")
    return Path(path)


def open_storage(database: Path | str) -> Storage:
    """The database, brought to the newest schema. Raises StorageError; UsageError when the driver is not installed."""
    if isinstance(database, Path):
        return SqliteStorage(database)
    try:
        from aisle.service.storage.postgres import PostgresStorage
    except ModuleNotFoundError as problem:
        raise UsageError("PostgreSQL needs asyncpg: install aisle[postgres].") from problem
    return PostgresStorage(database)
