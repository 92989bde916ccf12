"""Schema of the service for both engines (`schema.sql`), its migration on SQLite, and the planner's statistics.

A released schema changes by a new migration. A database that is newer than the program is not touched."""

from __future__ import annotations

import re
from pathlib import Path

import apsw

from aisle.errors import StorageError
from aisle.service.db import text_search

# Substrings of a product's texts; each engine has this index in its own form (`text_search`).
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
        return text_search.SQLITE_PRODUCT_INDEX
    words = statement.split(None, 3)
    narrow = words[:2] == ["CREATE", "TABLE"] and words[2] in WITHOUT_ROWID_TABLES
    return f"{statement} WITHOUT ROWID" if narrow else statement


PLANNER_STATISTICS = {
    ("store", "sqlite_autoindex_store_1"): "100 1",
    ("product", "sqlite_autoindex_product_1"): "50000 1",
    ("product_code", "product_code"): "100000 1 1",
    ("product_code", "product_code_of"): "100000 2 1",
    ("token_store", "token_store"): "1000 10 1",
    ("change", "change"): "2000000 20000 5000 1",
    ("change", "change_seq"): "2000000 20000 1",
    ("store_product", "sqlite_autoindex_store_product_1"): "2000000 20000 1",
    ("store_product", "store_product_seq"): "2000000 20000 1",
    ("store_product", "store_product_chain"): "2000000 100 1 1",
    ("store_product", "store_product_of"): "2000000 40",
    ("location", "sqlite_autoindex_location_1"): "100000 1000 1",
    ("location", "location_walk"): "100000 1000 5 1 1",
    ("customer_order", "sqlite_autoindex_customer_order_1"): "2000000 20000 1",
    ("customer_order", "customer_order_seq"): "2000000 20000 1",
    ("customer_order", "customer_order_open"): "2000000 20000 2000 1",
    ("customer_order", "customer_order_reference"): "2000000 20000 2",
    ("order_line", "sqlite_autoindex_order_line_1"): "20000000 200000 10 1",
    ("order_line", "order_line_wanted"): "2000000 20000 10 5 2 1",
    ("order_line", "order_line_reference"): "200000 2000 2",
    ("balance", "balance"): "5000000 50000 3 2 1 1 1",
    ("balance", "balance_place"): "5000000 50000 50 1",
    ("balance", "balance_held"): "100000 1000 10 2",
    ("leg", "sqlite_autoindex_leg_1"): "50000000 500000 4 1",
    ("leg", "leg_product"): "50000000 500000 50 1",
    ("stock_log", "sqlite_autoindex_stock_log_1"): "20000000 200000 1",
    ("stock_log", "stock_log_chain"): "20000000 100 1 1",
    ("stock_log", "stock_log_reference"): "2000000 20000 2",
    ("stock_log", "stock_log_reason"): "2000000 200000 100 1 1",
    ("stock_log", "stock_log_reasons"): "2000000 20000 2000 1",
    ("stock_log", "stock_log_product"): "20000000 200000 10 1",
    ("stock_log", "stock_log_month"): "20000000 2000000 40 1 1 1",
    ("stock_log", "stock_log_article"): "20000000 4000 400 2 1 1 1",
    ("stock_log", "stock_log_months"): "20000000 200000 20000 1 1 1",
}


def store_statistics(connection: apsw.Connection) -> None:
    """Store the planner's statistics, unless they are stored already."""
    if _stored_statistics(connection) == PLANNER_STATISTICS:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Creates the statistics table. Analysing one small table is quick.
        connection.execute("ANALYZE store")
        connection.execute("DELETE FROM sqlite_stat1")
        rows = [(table, index, stat) for (table, index), stat in PLANNER_STATISTICS.items()]
        connection.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?1, ?2, ?3)", rows)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("ANALYZE sqlite_schema")


def _stored_statistics(connection: apsw.Connection) -> dict[tuple[str, str], str]:
    found = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").fetchall()
    rows = connection.execute("SELECT tbl, idx, stat FROM sqlite_stat1").fetchall() if found else []
    return {(str(row[0]), str(row[1])): str(row[2]) for row in rows}
