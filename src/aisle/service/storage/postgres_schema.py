"""The numbered migrations on PostgreSQL: each in one transaction, under a lock that all starting workers ask for."""

from __future__ import annotations

import re

import asyncpg

from aisle.errors import StorageError
from aisle.service.product_codes import keys_of
from aisle.service.sql.products import CODE_ADD
from aisle.service.sql.schema import CODES_ANEW, GRAMS, MEASURED, MIGRATIONS, REFOLDED
from aisle.service.sql.schema_fields import IN_DIALECT
from aisle.service.storage import grams
from aisle.service.text import measured, refolded

# Any number that no store's lock has: those are 8 bytes of a hash, this is short.
_LOCK = 0xA15_1E
_FLOOR = 150_000
_TEXTS = 20_000

# On SQLite it is read instead of the table; here it would only bound how long a product's texts may be.
_LEFT_OUT = re.compile(r"CREATE INDEX product_search\b")


async def migrate(connection: asyncpg.Connection) -> None:
    """Bring the database to the newest schema. Raises StorageError when it is newer still, or cannot be used."""
    await _check(connection)
    version = await _version(connection)
    if version > len(MIGRATIONS):
        raise StorageError(
            f"The database has schema {version}, this program knows {len(MIGRATIONS)}: use the newer program."
        )
    for number, statements in enumerate(MIGRATIONS, 1):
        if number > version:
            await _apply(connection, number, statements)


async def _apply(connection: asyncpg.Connection, number: int, statements: tuple[str, ...]) -> None:
    async with connection.transaction():
        # Another worker may be at it, however long that takes.
        await connection.execute(f"SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({_LOCK:d})")
        await connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)")
        if await _applied(connection) >= number:
            return
        for statement in statements:
            if statement in REFOLDED:
                await _refold(connection, *statement.split()[1:4:2])
            elif statement == MEASURED:
                await _measure(connection)
            elif statement == CODES_ANEW:
                await _key_codes(connection)
            elif text := dialect(statement):
                await connection.execute(text)
        await connection.execute("INSERT INTO schema_version (version) VALUES ($1)", number)


async def _refold(connection: asyncpg.Connection, table: str, column: str) -> None:
    """Texts that are searched, as the program keeps them now, some of them at a time."""
    texts = connection.cursor(f"SELECT DISTINCT {column} FROM {table}", prefetch=_TEXTS)  # noqa: S608 - of our own
    changed: dict[str, str] = {}
    async for (text,) in texts:
        if (words := refolded(text)) != text:
            changed[text] = words
        if len(changed) == _TEXTS:
            await _replace(connection, table, column, changed)
            changed.clear()
    if changed:
        await _replace(connection, table, column, changed)


async def _measure(connection: asyncpg.Connection) -> None:
    """Measures into what is searched of products, some of them at a time."""
    said = connection.cursor("SELECT product_number, search, detail, product_name FROM product", prefetch=_TEXTS)
    changed: list[tuple[str, str, str]] = []
    async for number, search, detail, name in said:
        texts = measured(search, name), measured(detail, name)
        if texts != (search, detail):
            changed.append((number, *texts))
        if len(changed) == _TEXTS:
            await _put(connection, changed)
            changed.clear()
    await _put(connection, changed)


async def _key_codes(connection: asyncpg.Connection) -> None:
    """The keys of the barcodes of all products, some of them at a time."""
    items = connection.cursor("SELECT product_number, item FROM product WHERE deleted_on IS NULL", prefetch=_TEXTS)
    keys: list[tuple[str, str]] = []
    async for number, item in items:
        keys += [(key, number) for key in keys_of(item)]
        if len(keys) >= _TEXTS:
            await connection.executemany(CODE_ADD, keys)
            keys.clear()
    await connection.executemany(CODE_ADD, keys)


async def _put(connection: asyncpg.Connection, texts: list[tuple[str, str, str]]) -> None:
    await connection.execute(
        "UPDATE product SET search = r.search, detail = r.detail"
        " FROM unnest($1::text[], $2::text[], $3::text[]) r (number, search, detail)"
        " WHERE product.product_number = r.number",
        *(list(column) for column in (zip(*texts, strict=True) if texts else ((), (), ()))),
    )


async def _replace(connection: asyncpg.Connection, table: str, column: str, texts: dict[str, str]) -> None:
    await connection.execute(
        f"UPDATE {table} SET {column} = r.new"  # noqa: S608 - names of our own
        f" FROM unnest($1::text[], $2::text[]) r (old, new) WHERE {table}.{column} = r.old",
        list(texts),
        list(texts.values()),
    )


async def _check(connection: asyncpg.Connection) -> None:
    number = int(await connection.fetchval("SHOW server_version_num"))
    if number < _FLOOR:
        raise StorageError(f"PostgreSQL {number // 10_000} is too old: {_FLOOR // 10_000} or newer is needed.")
    encoding = await connection.fetchval("SHOW server_encoding")
    if encoding != "UTF8":
        raise StorageError(f"The database keeps text as {encoding}: one with encoding UTF8 is needed.")


async def _version(connection: asyncpg.Connection) -> int:
    if await connection.fetchval("SELECT to_regclass('schema_version')") is None:
        return 0
    return await _applied(connection)


async def _applied(connection: asyncpg.Connection) -> int:
    """The table itself is read: whether it exists, a connection may still answer as it knew it before it waited."""
    return int(await connection.fetchval("SELECT coalesce(max(version), 0) FROM schema_version"))


def dialect(statement: str) -> str:
    """A statement of the schema as PostgreSQL takes it; '' where it has no use for it.

    Text is compared by its bytes, whatever the database's own order is, as keys and pages expect.
    """
    if statement == GRAMS:
        return grams.POSTGRES
    if statement in IN_DIALECT:
        return IN_DIALECT[statement]
    if _LEFT_OUT.match(statement) or statement in (*REFOLDED, MEASURED, CODES_ANEW):
        return ""
    if statement.startswith(("CREATE TABLE", "ALTER TABLE")):
        return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', statement)
    return statement
