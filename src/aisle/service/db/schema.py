"""Schema of the service for both engines (`schema.sql`), and its migration on SQLite.

SQLite's query planner gets statistics (`planner_statistics.json`), which it would otherwise guess.
"""

from __future__ import annotations

import json
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

PLANNER_STATISTICS: list[list[str]] = json.loads(Path(__file__).with_name("planner_statistics.json").read_text("utf-8"))
"""Rows of `sqlite_stat1`: table, index, and figures."""

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


def store_statistics(connection: apsw.Connection) -> None:
    """Store the planner's statistics, unless they are stored already."""
    if _stored_statistics(connection) == PLANNER_STATISTICS:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Creates the statistics table. Analysing one small table is quick.
        connection.execute("ANALYZE store")
        connection.execute("DELETE FROM sqlite_stat1")
        connection.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?1, ?2, ?3)", PLANNER_STATISTICS)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("ANALYZE sqlite_schema")


def _stored_statistics(connection: apsw.Connection) -> list[list[object]]:
    found = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").fetchall()
    rows = connection.execute("SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY rowid").fetchall() if found else []
    return [list(row) for row in rows]
