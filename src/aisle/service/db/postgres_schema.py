"""The numbered migrations on PostgreSQL: each in one transaction, under a lock that all starting workers ask for."""

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

# Any number that no store's lock has: those are 8 bytes of a hash, this is short.
_MIGRATION_LOCK = 0xA15_1E
_MIN_VERSION = 150_000
_BATCH_SIZE = 20_000

# On SQLite it is read instead of the table; here it would only bound how long a product's texts may be.
_UNUSED_INDEX = re.compile(r"CREATE INDEX product_search\b")


async def migrate(connection: asyncpg.Connection) -> None:
    """Bring the database to the newest schema. Raises StorageError when it is newer still, or cannot be used."""
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
        # Another worker may be at it, however long that takes.
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
    """Texts that are searched, as the program keeps them now, some of them at a time."""
    texts = connection.cursor(f"SELECT DISTINCT {column} FROM {table}", prefetch=_BATCH_SIZE)  # noqa: S608 - of our own
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
    """Measures into what is searched of products, some of them at a time."""
    said = connection.cursor("SELECT product_number, search, detail, product_name FROM product", prefetch=_BATCH_SIZE)
    changed: list[tuple[str, str, str]] = []
    async for number, search, detail, name in said:
        texts = add_measures(search, name), add_measures(detail, name)
        if texts != (search, detail):
            changed.append((number, *texts))
        if len(changed) == _BATCH_SIZE:
            await _update_products(connection, changed)
            changed.clear()
    await _update_products(connection, changed)


async def _rebuild_product_codes(connection: asyncpg.Connection) -> None:
    """The keys of the barcodes of all products, some of them at a time."""
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
        f"UPDATE {table} SET {column} = r.new"  # noqa: S608 - names of our own
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
    """The table itself is read: whether it exists, a connection may still answer as it knew it before it waited."""
    return int(await connection.fetchval("SELECT coalesce(max(version), 0) FROM schema_version"))


def to_postgres(statement: str) -> str:
    """A statement of the schema as PostgreSQL takes it; '' where it has no use for it.

    Text is compared by its bytes, whatever the database's own order is, as keys and pages expect.
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
