"""Statistics for SQLite's query planner, which it would otherwise guess."""

from __future__ import annotations

import apsw

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
