"""Migrations on PostgreSQL: each in one transaction, under a lock that all starting workers request."""

from __future__ import annotations

import re

import asyncpg

from aisle.errors import StorageError
from aisle.service.db import text_search
from aisle.service.db.schema import MIGRATIONS, PRODUCT_SEARCH_INDEX

# Any number that no store's lock has: those are 8 bytes of a hash, this one is shorter.
_MIGRATION_LOCK = 0xA15_1E
_MIN_VERSION = 150_000

# SQLite reads this index instead of the table. Here it would only limit the length of a product's texts.
_UNUSED_INDEX = re.compile(r"CREATE INDEX product_search\b")


async def migrate(connection: asyncpg.Connection) -> None:
    """Migrate the database to the newest schema. Raise StorageError if it is newer still or cannot be used."""
    await _check_server(connection)
    version = await _read_version(connection)
    if version > len(MIGRATIONS):
        raise StorageError(
            f"The database has schema {version}, this program knows {len(MIGRATIONS)}: use the newer program."
        )
    for number, statements in enumerate(MIGRATIONS, 1):
        if number > version:
            await _apply_migration(connection, number, statements)


async def _apply_migration(connection: asyncpg.Connection, number: int, statements: tuple[str, ...]) -> None:
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


async def _check_server(connection: asyncpg.Connection) -> None:
    number = int(await connection.fetchval("SHOW server_version_num"))
    if number < _MIN_VERSION:
        raise StorageError(f"PostgreSQL {number // 10_000} is too old: {_MIN_VERSION // 10_000} or newer is needed.")
    encoding = await connection.fetchval("SHOW server_encoding")
    if encoding != "UTF8":
        raise StorageError(f"The database keeps text as {encoding}: one with encoding UTF8 is needed.")


async def _read_version(connection: asyncpg.Connection) -> int:
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
        return text_search.POSTGRES_PRODUCT_INDEX
    if _UNUSED_INDEX.match(statement):
        return ""
    if statement.startswith("CREATE TABLE"):
        return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', statement)
    return statement
