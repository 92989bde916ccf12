"""Schema of the service (`schema.sql`), its migration, and the index for searching, on SQLite and PostgreSQL.

SQLite's query planner gets statistics (`planner_statistics.json`), which it would otherwise guess.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import apsw

from aisle.errors import StorageError
from aisle.search_text import decompose, index_text

if TYPE_CHECKING:
    import asyncpg


# Substrings of a product's texts; each engine has this index in its own form (`schema_and_search_index`).
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
        return SQLITE_PRODUCT_INDEX
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
        return POSTGRES_PRODUCT_INDEX
    if _UNUSED_INDEX.match(statement):
        return ""
    if statement.startswith(("CREATE TABLE", "ALTER TABLE")):
        return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', statement)
    return statement


_DIGITS = re.compile(r"\d+")


def sort_key(text: str) -> str:
    """Return the sort key of a text: without case and accents. Stored keys rely on it, so it must not change."""
    if text.isascii():
        return text.casefold()
    plain = "".join(decompose(text)).casefold()
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def search_key(parts: Iterable[object]) -> str:
    """Return the search text: the words of each part on its own line, so that no match spans two parts."""
    return refold_search_key("\n".join(str(part) for part in parts if part))


def refold_search_key(text: str) -> str:
    """Return the search text of a text with one part per line."""
    return "\n".join(words for line in text.split("\n") if (words := index_text(line)))


def natural_sort_key(code: str) -> str:
    """Return a key that sorts `A2` before `A10`."""
    return _DIGITS.sub(lambda digits: f"{len(digits[0].lstrip('0')):03d}{digits[0].lstrip('0')}", sort_key(code))


_PIECE_LENGTH = 6
# The shape of a statement depends on the caller; the least recently used one is built again.
_CACHED_STATEMENTS = 1000
# Shorter texts occur in so many products that reading all is quicker, except a digit beside a letter (`5g`), which is
# rare.
_MIN_SEARCH_LENGTH = 3
# More words narrow no further.
_MAX_PIECES = 12
_MAX_PATTERNS = 4


def _index_statements(which: str) -> tuple[str, ...]:
    """Return the statements that index the waiting products for which this is true."""
    return (
        f"""INSERT INTO product_sought (product_number) SELECT w.product_number FROM product_waiting w WHERE {which}
            ON CONFLICT DO NOTHING""",  # noqa: S608 - a constant
        f"""REPLACE INTO product_gram (rowid, pieces) SELECT s.id, pieces_of(p.search)
            FROM product_waiting w CROSS JOIN product_sought s ON s.product_number = w.product_number
            CROSS JOIN product p ON p.product_number = w.product_number WHERE {which}""",  # noqa: S608 - a constant
        f"DELETE FROM product_waiting AS w WHERE {which}",  # noqa: S608 - a constant
    )


WAITING_PRODUCTS = """SELECT w.product_number, coalesce(length(p.search), 0)
    FROM product_waiting w LEFT JOIN product p ON p.product_number = w.product_number LIMIT 200"""
"""Statement for some of the waiting products, and the lengths of their texts."""
INDEX_SOME_PRODUCTS = _index_statements("w.product_number IN (SELECT value FROM json_each(?1))")
"""Statements that index the waiting products of a JSON list."""
PRODUCT_INSERT = "INSERT INTO product ("
"""Text that every statement has that makes products wait for the index."""
# Products have their own numbers here, since SQLite does not guarantee row ids. A written product waits and is found
# nevertheless; many are indexed together, since FTS5 has a fixed cost per statement. Those of a large write are indexed
# after it, in short transactions, since the index of long texts takes longer than all the rest.
SQLITE_PRODUCT_INDEX = ";".join(
    (
        "CREATE TABLE product_sought (id INTEGER PRIMARY KEY, product_number TEXT NOT NULL UNIQUE)",
        "CREATE TABLE product_waiting (product_number TEXT PRIMARY KEY) WITHOUT ROWID",
        """CREATE VIRTUAL TABLE product_gram USING fts5 (
            pieces, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')""",
        """CREATE TRIGGER product_gram_new AFTER INSERT ON product BEGIN
            INSERT INTO product_waiting (product_number) VALUES (new.product_number) ON CONFLICT DO NOTHING;
        END""",
        """CREATE TRIGGER product_gram_set AFTER UPDATE OF search ON product WHEN new.search <> old.search BEGIN
            INSERT INTO product_waiting (product_number) VALUES (new.product_number) ON CONFLICT DO NOTHING;
        END""",
        "INSERT INTO product_waiting (product_number) SELECT product_number FROM product",
        *_index_statements("true"),
    )
)

# Without the extension the service works, only slower. An installed one may be in any schema.
POSTGRES_PRODUCT_INDEX = """DO $gram$ BEGIN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
        EXECUTE format('CREATE INDEX product_gram ON product USING gin (search %I.gin_trgm_ops)',
            (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
             WHERE e.extname = 'pg_trgm'));
    EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR undefined_object THEN
        RAISE NOTICE 'searches look through all products: pg_trgm cannot be had';
    END $gram$"""

_FROM_PRODUCT = "FROM product p"
_LIKE_PATTERN = r"p\.search LIKE \?(\d+) ESCAPE '\\'"
_ALTERNATIVE = r"\(p\.search LIKE [^()]+\)"
_SEARCH_CONDITION = re.compile(rf"\({_ALTERNATIVE}(?: OR {_ALTERNATIVE})*\)")
_NARROWED_CONDITION = """p.product_number IN (
    {ways} UNION ALL SELECT w.product_number FROM product_waiting w) AND """
_INDEX_QUERY = """SELECT s.product_number FROM product_gram g CROSS JOIN product_sought s ON s.id = g.rowid
    WHERE g.product_gram MATCH {words}"""


@lru_cache(maxsize=_CACHED_STATEMENTS)
def _search_parameters(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the parameters of each alternative of a product search; empty for other statements."""
    found = _SEARCH_CONDITION.search(text) if _FROM_PRODUCT in text else None
    return (
        tuple(
            tuple(map(int, re.findall(_LIKE_PATTERN, alternative)))
            for alternative in re.findall(_ALTERNATIVE, found[0])
        )
        if found
        else ()
    )


@lru_cache(maxsize=_CACHED_STATEMENTS)
def _narrow_statement(text: str, alternatives: tuple[tuple[int, ...], ...]) -> str:
    """Return the statement with its search narrowed by the index for these parameters."""
    words = (" || ' ' || ".join(f"words_of(?{number})" for number in numbers) for numbers in alternatives)
    joined = " UNION ALL ".join(_INDEX_QUERY.format(words=word) for word in words)
    return _SEARCH_CONDITION.sub(lambda found: "(" + _NARROWED_CONDITION.format(ways=joined) + found[0] + ")", text)


def narrow_by_index(text: str, args: Sequence[object]) -> str:
    """Return the statement narrowed by the index if it searches products for texts that are long enough."""
    if not (searched := _search_parameters(text)):
        return text
    alternatives = tuple(
        tuple(number for number in numbers if _is_selective(text_of_pattern(str(args[number - 1]))))[:_MAX_PATTERNS]
        for numbers in searched
    )
    return _narrow_statement(text, alternatives) if all(alternatives) else text


def _is_selective(text: str) -> bool:
    return len(text) >= _MIN_SEARCH_LENGTH or (len(text) == 2 and text[0].isdigit() != text[1].isdigit())


def text_of_pattern(pattern: str) -> str:
    """Return the text that a LIKE pattern of a search looks for."""
    return re.sub(r"\\(.)", r"\1", pattern[1:-1], flags=re.DOTALL)


def match_expression(pattern: str) -> str:
    """Return the FTS5 expression for a pattern: pieces that every matching text has."""
    text = text_of_pattern(pattern)
    if len(text) < _PIECE_LENGTH:
        return f'"{_hex_of_piece(text)}" *'
    last = len(text) - _PIECE_LENGTH
    starts = range(0, last + 1, last // _MAX_PIECES + 1)
    return " ".join(
        dict.fromkeys(f'"{_hex_of_piece(text[start : start + _PIECE_LENGTH])}"' for start in (*starts, last))
    )


def index_pieces(text: str) -> str:
    """Return all pieces of a text for the index, each once; at its end also shorter ones.

    Statements of SQLite would cut a long text much more slowly, since they look for each place from its start.
    """
    return " ".join(map(_hex_of_piece, {text[start : start + _PIECE_LENGTH] for start in range(len(text))}))


def _hex_of_piece(piece: str) -> str:
    return piece.encode("utf-8", "surrogatepass").hex()


INDEXED_AT_ONCE = 20_000
"""Characters of products that one transaction adds to the search index, which takes some 50 ms."""


_INDEXED_EACH = 50
"""Characters that a product counts in addition, however short it is."""


def are_products_waiting(connection: apsw.Connection) -> bool:
    """Return True if a product is not in the search index yet."""
    return bool(connection.execute(WAITING_PRODUCTS).fetchall())


def index_waiting_products(connection: apsw.Connection, most: int = INDEXED_AT_ONCE) -> int:
    """Add products that were written since to the search index, in all about `most` characters.

    Return the number of characters; 0 if no product waits.
    """
    numbers, size = list[str](), 0
    for number, length in cast("Iterable[tuple[str, int]]", connection.execute(WAITING_PRODUCTS).fetchall()):
        if size >= most:
            break
        numbers.append(number)
        size += length + _INDEXED_EACH
    if numbers:
        for statement in INDEX_SOME_PRODUCTS:
            connection.execute(statement, (json.dumps(numbers),))
    return size
