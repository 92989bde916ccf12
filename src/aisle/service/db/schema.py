"""Schema of the service (`schema.sql`) and its migration, on SQLite and on PostgreSQL.

SQLite's query planner gets statistics (`planner_statistics.json`), which it would otherwise guess.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from aisle.errors import StorageError
from aisle.service.db import product_search_index

if TYPE_CHECKING:
    import asyncpg

# Substrings of a product's texts; each engine has this index in its own form (`product_search_index`).
PRODUCT_SEARCH_INDEX = "CREATE INDEX product_gram ON product (search)"


def _read_statements(name: str) -> tuple[str, ...]:
    text = re.sub(r"^--.*\n", "", Path(__file__).with_name(name).read_text("utf-8"), flags=re.MULTILINE)
    return tuple(statement.strip() for statement in text.split(";\n") if statement.strip())


# Location that the picker named, of goods that its books lacked; '' for none.
_NAMED_LOCATION = "ALTER TABLE line_origin ADD COLUMN named_location TEXT NOT NULL DEFAULT ''"

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (*_read_statements("schema.sql"), PRODUCT_SEARCH_INDEX),
    (_NAMED_LOCATION,),
)
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


# Lock of migrations. Those of stores have 8 bytes of a hash, so that none has this number.
_MIGRATION_LOCK = 0xA15_1E


_MIN_POSTGRES_VERSION = 150_000


# SQLite reads this index instead of the table. Here it would only limit the length of a product's texts.
_UNUSED_INDEX = re.compile(r"CREATE INDEX product_search\b")


async def migrate_postgres(connection: asyncpg.Connection) -> None:
    """Migrate the database to the newest schema. Raise StorageError if it is newer still or cannot be used."""
    await _check_postgres_server(connection)
    version = await _read_postgres_version(connection)
    if version > len(MIGRATIONS):
        raise StorageError(
            f"The database has schema {version}, this program knows {len(MIGRATIONS)}: use the newer program."
        )
    for number, statements in enumerate(MIGRATIONS, 1):
        if number > version:
            await _apply_postgres_migration(connection, number, statements)


async def _apply_postgres_migration(connection: asyncpg.Connection, number: int, statements: tuple[str, ...]) -> None:
    async with connection.transaction():
        # Another worker may be migrating, however long that takes.
        await connection.execute(f"SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({_MIGRATION_LOCK:d})")
        await connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)")
        if await _applied_version(connection) >= number:
            return
        for statement in statements:
            if text := to_postgres(statement):
                await connection.execute(text)
        await connection.execute("INSERT INTO schema_version (version) VALUES ($1)", number)


async def _check_postgres_server(connection: asyncpg.Connection) -> None:
    number = int(await connection.fetchval("SHOW server_version_num"))
    if number < _MIN_POSTGRES_VERSION:
        raise StorageError(
            f"PostgreSQL {number // 10_000} is too old: {_MIN_POSTGRES_VERSION // 10_000} or newer is needed."
        )
    encoding = await connection.fetchval("SHOW server_encoding")
    if encoding != "UTF8":
        raise StorageError(f"The database keeps text as {encoding}: one with encoding UTF8 is needed.")


async def _read_postgres_version(connection: asyncpg.Connection) -> int:
    if await connection.fetchval("SELECT to_regclass('schema_version')") is None:
        return 0
    return await _applied_version(connection)


async def _applied_version(connection: asyncpg.Connection) -> int:
    """Return the version from the table itself.

    A connection may answer from before its wait for the lock when asked whether the table exists.
    """
    return int(await connection.fetchval("SELECT coalesce(max(version), 0) FROM schema_version"))


def to_postgres(statement: str) -> str:
    """Return a statement of the schema in PostgreSQL's form; '' if it is not needed there.

    Text is compared by its bytes, whatever the database's collation is, as keys and pages require.
    """
    if statement == PRODUCT_SEARCH_INDEX:
        return product_search_index.POSTGRES_PRODUCT_INDEX
    if _UNUSED_INDEX.match(statement):
        return ""
    if statement.startswith(("CREATE TABLE", "ALTER TABLE")):
        return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', statement)
    return statement
