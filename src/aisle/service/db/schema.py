"""Schema of the service for both engines (`schema.sql`), and its migration on SQLite."""

from __future__ import annotations

import re
from pathlib import Path

import apsw

from aisle.errors import StorageError
from aisle.service.db import product_search_index

# Substrings of a product's texts; each engine has this index in its own form (`product_search_index`).
PRODUCT_SEARCH_INDEX = "CREATE INDEX product_gram ON product (search)"


def _read_statements(name: str) -> tuple[str, ...]:
    text = re.sub(r"^--.*\n", "", Path(__file__).with_name(name).read_text("utf-8"), flags=re.MULTILINE)
    return tuple(statement.strip() for statement in text.split(";\n") if statement.strip())


MIGRATIONS: tuple[tuple[str, ...], ...] = ((*_read_statements("schema.sql"), PRODUCT_SEARCH_INDEX),)
"""Statements of each version of the schema; a released one is never changed."""

# Tables whose rows are short and read by their whole key.
WITHOUT_ROWID_TABLES = frozenset(
    {"counter", "product_code", "balance", "line_origin", "last_count", "change", "token_store"}
)


def migrate(connection: apsw.Connection) -> None:
    """Migrate the database to the newest schema. Raise StorageError if it is newer still."""
    version = _read_version(connection)
    if version > len(MIGRATIONS):
        raise StorageError(
            f"The database has schema {version}, this program knows {len(MIGRATIONS)}: use the newer program."
        )
    while version < len(MIGRATIONS):
        _apply_migration(connection, version + 1, MIGRATIONS[version])
        version = _read_version(connection)  # Another process may have applied more migrations meanwhile.


def _apply_migration(connection: apsw.Connection, number: int, statements: tuple[str, ...]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have applied it while this one waited for the lock.
        if _read_version(connection) < number:
            for statement in statements:
                connection.execute(_to_sqlite(statement))
            connection.execute(f"PRAGMA user_version = {number:d}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _read_version(connection: apsw.Connection) -> int:
    row = connection.execute("PRAGMA user_version").fetchone()
    return int(row[0]) if row else 0


def _to_sqlite(statement: str) -> str:
    """Return a statement of the schema in SQLite's form.

    Narrow tables are stored in their primary key, so that a lookup reads one tree instead of two.
    """
    if statement == PRODUCT_SEARCH_INDEX:
        return product_search_index.SQLITE_PRODUCT_INDEX
    words = statement.split(None, 3)
    narrow = words[:2] == ["CREATE", "TABLE"] and words[2] in WITHOUT_ROWID_TABLES
    return f"{statement} WITHOUT ROWID" if narrow else statement
