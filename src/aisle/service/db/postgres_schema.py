"""Migrations on PostgreSQL: each in one transaction, under a lock that all starting workers request."""

from __future__ import annotations

import re

import asyncpg

from aisle.errors import StorageError
from aisle.service.db import text_search
from aisle.service.db.product_codes import code_keys_of_json
from aisle.service.db.schema import (
    ADD_MEASURES,
    MIGRATIONS,
    POSTGRES_FORMS,
    PRODUCT_SEARCH_INDEX,
    REBUILD_PRODUCT_CODES,
    REFOLD_SEARCH_TEXTS,
)
from aisle.service.db.statements.products import CODE_ADD
from aisle.service.db.text_search import add_measures, refold_search_key

# Any number that no store's lock has: those are 8 bytes of a hash, this one is shorter.
_MIGRATION_LOCK = 0xA15_1E
_MIN_VERSION = 150_000
_BATCH_SIZE = 20_000

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
            if statement in REFOLD_SEARCH_TEXTS:
                await _refold_column(connection, *statement.split()[1:4:2])
            elif statement == ADD_MEASURES:
                await _add_measures(connection)
            elif statement == REBUILD_PRODUCT_CODES:
                await _rebuild_product_codes(connection)
            elif text := to_postgres(statement):
                await connection.execute(text)
        await connection.execute("INSERT INTO schema_version (version) VALUES ($1)", number)


async def _refold_column(connection: asyncpg.Connection, table: str, column: str) -> None:
    """Rewrite the search texts of a column in the current form, in batches."""
    texts = connection.cursor(f"SELECT DISTINCT {column} FROM {table}", prefetch=_BATCH_SIZE)  # noqa: S608 - constants
    changed: dict[str, str] = {}
    async for (text,) in texts:
        if (words := refold_search_key(text)) != text:
            changed[text] = words
        if len(changed) == _BATCH_SIZE:
            await _replace_texts(connection, table, column, changed)
            changed.clear()
    if changed:
        await _replace_texts(connection, table, column, changed)


async def _add_measures(connection: asyncpg.Connection) -> None:
    """Add measures to the search texts of products, in batches."""
    cursor = connection.cursor("SELECT product_number, search, detail, product_name FROM product", prefetch=_BATCH_SIZE)
    changed: list[tuple[str, str, str]] = []
    async for number, search, detail, name in cursor:
        texts = add_measures(search, name), add_measures(detail, name)
        if texts != (search, detail):
            changed.append((number, *texts))
        if len(changed) == _BATCH_SIZE:
            await _update_products(connection, changed)
            changed.clear()
    await _update_products(connection, changed)


async def _rebuild_product_codes(connection: asyncpg.Connection) -> None:
    """Insert the keys of the barcodes of all products, in batches."""
    items = connection.cursor("SELECT product_number, item FROM product WHERE deleted_on IS NULL", prefetch=_BATCH_SIZE)
    keys: list[tuple[str, str]] = []
    async for number, item in items:
        keys += [(key, number) for key in code_keys_of_json(item)]
        if len(keys) >= _BATCH_SIZE:
            await connection.executemany(CODE_ADD, keys)
            keys.clear()
    await connection.executemany(CODE_ADD, keys)


async def _update_products(connection: asyncpg.Connection, texts: list[tuple[str, str, str]]) -> None:
    await connection.execute(
        "UPDATE product SET search = r.search, detail = r.detail"
        " FROM unnest($1::text[], $2::text[], $3::text[]) r (number, search, detail)"
        " WHERE product.product_number = r.number",
        *(list(column) for column in (zip(*texts, strict=True) if texts else ((), (), ()))),
    )


async def _replace_texts(connection: asyncpg.Connection, table: str, column: str, texts: dict[str, str]) -> None:
    await connection.execute(
        f"UPDATE {table} SET {column} = r.new"  # noqa: S608 - constants
        f" FROM unnest($1::text[], $2::text[]) r (old, new) WHERE {table}.{column} = r.old",
        list(texts),
        list(texts.values()),
    )


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
    if statement in POSTGRES_FORMS:
        return POSTGRES_FORMS[statement]
    if _UNUSED_INDEX.match(statement) or statement in (*REFOLD_SEARCH_TEXTS, ADD_MEASURES, REBUILD_PRODUCT_CODES):
        return ""
    if statement.startswith(("CREATE TABLE", "ALTER TABLE")):
        return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', statement)
    return statement
