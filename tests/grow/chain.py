"""The stores of a chain: each has the rows of one store that was filled through the interface.

They are copied within the server, from a schema that lies beside the chain's own in the same database.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import quote

import asyncpg

from tests.grow.store import FIRST, store_number

_BESIDE = "_one"


async def make_beside(url: str) -> None:
    """A new schema, for one store alone, beside that of this address."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f'CREATE SCHEMA "{await _schema(connection)}{_BESIDE}"')
    finally:
        await connection.close()


async def address_beside(url: str) -> str:
    """The address of the one store's schema beside that of this address."""
    connection = await asyncpg.connect(url)
    try:
        name = await _schema(connection) + _BESIDE
    finally:
        await connection.close()
    bare, _, query = url.partition("?")
    others = [part for part in query.split("&") if part and not part.startswith("search_path=")]
    return f"{bare}?{'&'.join([*others, f'search_path={quote(name)}'])}"


async def _schema(connection: Any) -> str:
    return str(await connection.fetchval("SELECT current_schema()"))


async def copied(url: str, stores: int) -> int:
    """Gives stores 1 to so many what the one store beside has; the number of rows.

    The chain has its stores and products already. Keys and indexes are taken off and made anew, all in one transaction;
    after it the server knows the tables as it does by itself in time.
    """
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            count = await _Copier(connection, await _schema(connection)).all(stores)
        await connection.execute("VACUUM ANALYZE")
        return count
    finally:
        await connection.close()


class _Made(NamedTuple):
    """A key or an index: of which table, its name, and the words that make it."""

    table: str
    name: str
    text: str


class _Copier:
    def __init__(self, connection: Any, schema: str) -> None:
        self._connection = connection
        self._beside = f'"{schema}{_BESIDE}"'

    async def all(self, stores: int) -> int:
        """Every table in which the one store has rows."""
        count = 0
        foreign = await self._made(_FOREIGN_KEYS)
        keys, indexes = await self._made(_KEYS), await self._made(_INDEXES)
        await self._drop(foreign)
        for table in await self._tables():
            own = [key for key in keys if key.table == table]
            sorted_by = [index for index in indexes if index.table == table]
            await self._drop(own)
            for index in sorted_by:
                await self._connection.execute(f"DROP INDEX {index.name}")
            count += await self._fill(table, stores)
            await self._add(own)
            for index in sorted_by:
                await self._connection.execute(index.text)
        await self._add(foreign)
        return count

    async def _made(self, sql: str) -> list[_Made]:
        return [_Made(*row) for row in await self._connection.fetch(sql)]

    async def _drop(self, keys: list[_Made]) -> None:
        for key in keys:
            await self._connection.execute(f"ALTER TABLE {key.table} DROP CONSTRAINT {key.name}")

    async def _add(self, keys: list[_Made]) -> None:
        for key in keys:
            await self._connection.execute(f"ALTER TABLE {key.table} ADD CONSTRAINT {key.name} {key.text}")

    async def _tables(self) -> list[str]:
        found = []
        for (table,) in await self._connection.fetch(_TABLES):
            if await self._connection.fetchval(
                f"SELECT 1 FROM {self._beside}.{table} WHERE store_number = $1 LIMIT 1", FIRST
            ):
                found.append(table)
        return found

    async def _fill(self, table: str, stores: int) -> int:
        """Store by store, so that the rows of each lie together."""
        if not await self._connection.fetchval(f"SELECT 1 FROM {table} LIMIT 1"):
            # What comes in the transaction that emptied a table need not be logged (with `wal_level` minimal).
            await self._connection.execute(f"TRUNCATE {table}")
        columns = await self._connection.fetch(_COLUMNS, table)
        said = {name: f"replace({name}, '{FIRST}', $1)" for name, kind in columns if kind == "text"}
        said |= {"store_number": "$1", "ordinal": "$2"}
        values = ", ".join(said.get(name, name) for name, _ in columns)
        names = ", ".join(name for name, _ in columns)
        statement = await self._connection.prepare(
            f"""INSERT INTO {table} ({names}) SELECT {values} FROM {self._beside}.{table}
            WHERE store_number = $3 AND $2::bigint > 0"""
        )
        count = 0
        for number in range(1, stores + 1):
            await statement.fetch(store_number(number), number, FIRST, timeout=600)
            count += int(statement.get_statusmsg().rpartition(" ")[2])
        return count


_FOREIGN_KEYS = """SELECT conrelid::regclass::text, conname::text, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2"""
_KEYS = """SELECT conrelid::regclass::text, conname::text, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype IN ('p', 'u') AND connamespace = current_schema()::regnamespace ORDER BY 1, 2"""
_INDEXES = """SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = current_schema()::regnamespace
        AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid) ORDER BY 1, 2"""
_TABLES = """SELECT table_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name = 'store_number'
        AND table_name NOT IN ('store', 'token_store') ORDER BY 1"""
_COLUMNS = """SELECT column_name, data_type FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position"""
