"""The catalogue of statements: constants that the engine understands and knows how to plan."""

import ast
import re
from pathlib import Path
from types import ModuleType
from unittest.mock import Mock

import apsw
import pytest

import aisle.service.db.statements
from aisle.service.db.list_query_builder import filter_query, like_pattern, page_query
from aisle.service.db.schema_and_search_index import PLANNER_STATISTICS
from aisle.service.db.sqlite_connection_and_transaction import _to_sqlite
from aisle.service.db.sqlite_database import SqliteDatabase
from aisle.service.db.statements import logs_and_changes, orders_and_deliveries, stock, stores_and_products
from aisle.service.db.statements import stores_and_products as locations
from aisle.service.db.statements.logs_and_changes import AUDIT_ADD
from aisle.service.db.statements.retention import AUDIT_OLD
from tests.service.test_shards import MODULES

FOLDER = Path(aisle.service.db.statements.__file__).parent


def statements() -> list[tuple[str, str]]:
    """Every whole statement, by name."""
    found = []
    for module in MODULES:
        for name, value in vars(module).items():
            texts = value if isinstance(value, tuple) else (value,)
            found += [
                (name, text)
                for text in texts
                if isinstance(text, str) and re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE)\b", text) and name.isupper()
            ]
    return found


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.name)
def test_no_value_is_ever_written_into_a_statement(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        assert not isinstance(node, ast.JoinedStr), f"line {node.lineno}"
        assert not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "format")
        assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))


def test_every_statement_is_understood_by_the_engine(tmp_path: Path) -> None:
    SqliteDatabase(tmp_path / "s.db").close()
    connection = apsw.Connection(str(tmp_path / "s.db"))
    assert len(statements()) > 70
    for name, text in statements():
        if name.endswith(("_PAGE", "_PAGE_WITH_LOCATIONS")) and "page." in text:
            rows = "delivery" if name == "DELIVERY_PAGE" else "location CROSS JOIN store_product"
            text = "WITH page AS (SELECT * FROM " + rows + ") " + text
        if name == "GOODS_AT_LOCATION_COUNT":
            text += ") counted"
        count = len(set(re.findall(r"\$(\d+)", text)))
        connection.execute("EXPLAIN " + _to_sqlite(text), ("[]",) * count)
    connection.close()


@pytest.mark.parametrize(
    "module",
    [orders_and_deliveries, locations, logs_and_changes, stock],
    ids=lambda module: module.__name__,
)
def test_lists_of_a_store_s_rows_can_be_asked_for_one_store(module: ModuleType) -> None:
    named = {
        name: value for name, value in vars(module).items() if name.endswith("_FILTERS") and isinstance(value, dict)
    }
    filters = [conditions for name, conditions in named.items() if name != "STORE_FILTERS"]
    assert filters
    assert all("store_number = $?" in conditions["store"] for conditions in filters)


def test_the_planner_is_told_of_every_index_that_it_has(tmp_path: Path) -> None:
    SqliteDatabase(tmp_path / "s.db").close()
    SqliteDatabase(tmp_path / "s.db").close()
    connection = apsw.Connection(str(tmp_path / "s.db"))
    narrow = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    indexes = {
        (row[0], row[1]) for row in connection.execute("SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index'")
    }
    for table, index, _ in PLANNER_STATISTICS:
        assert (table, index) in indexes or (table == index and table in narrow), index
    assert [list(row) for row in connection.execute("SELECT tbl, idx, stat FROM sqlite_stat1")] == PLANNER_STATISTICS
    connection.close()


def plan(connection: apsw.Connection, sql: str, args: tuple[object, ...]) -> str:
    """How the engine goes about it."""
    rows = connection.execute("EXPLAIN QUERY PLAN " + _to_sqlite(sql), args)
    return "\n".join(str(row[3]) for row in rows)


def test_category_and_order_searches_use_indexes(tmp_path: Path) -> None:
    SqliteDatabase(tmp_path / "s.db").close()
    SqliteDatabase(tmp_path / "s.db").close()
    connection = apsw.Connection(str(tmp_path / "s.db"))
    for name in ("category_code", "parent_category_code"):
        index = f"product_{name.removesuffix('_code')}"
        asked: dict[str, object] = {name: "c"}
        here = {**asked, "store": "S1", "catalogue": ()}
        entries = filter_query(stock.STOCK_KEYS_CATALOGUE, stock.STOCK_FILTERS, here, stock.STOCK_SORT_STORE)
        found = [page_query(entries, 100, 0), filter_query(stock.STOCK_COUNT_CATALOGUE, stock.STOCK_FILTERS, here)]
        if name in stores_and_products.PRODUCT_FILTERS:
            listed = filter_query(
                stores_and_products.PRODUCT_LIST, stores_and_products.PRODUCT_FILTERS, {"known": (), **asked}
            )
            found.append(page_query(listed._replace(sql=listed.sql + stores_and_products.PRODUCT_SORT), 100, 0))
        for query in found:
            assert f"SEARCH p USING INDEX {index}" in plan(connection, query.sql, query.args).replace("COVERING ", "")
    said = plan(connection, stores_and_products.PRODUCTS_IN_OPEN_ORDERS, ('["P1"]',))
    assert "SEARCH o USING " in said
    assert "SEARCH ol USING " in said
    assert "SCAN o" not in said
    connection.close()


def test_young_entries_of_the_audit_are_not_looked_through_for_old_ones(tmp_path: Path) -> None:
    SqliteDatabase(tmp_path / "s.db").close()
    connection = apsw.Connection(str(tmp_path / "s.db"))
    rows = [("S1", n, "2026-11-28", "", "", "", "product", "P1", "{}", "{}") for n in range(20_000)]
    with connection:
        connection.executemany(_to_sqlite(AUDIT_ADD), rows)
    looks = Mock(return_value=False)
    connection.set_progress_handler(looks, 1000)
    assert connection.execute(_to_sqlite(AUDIT_OLD), ("S1", "2026-01-01", 1000)).fetchall() == []
    assert looks.call_count < 20
    connection.close()


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        ({"store": "S1", "reason_code": 1, "beyond": 0, "until": 9}, "stock_log_reasons"),
        ({"store": "S1", "review_status": 1, "beyond": 0, "until": 9}, "stock_log_review"),
        ({"store": "S1", "reviewed": 2, "beyond": 0, "until": 9}, "stock_log_review"),
        ({"reason_code": 1, "since": "2026"}, "stock_log_reason"),
        ({"review_status": 1, "since": "2026"}, "stock_log_review"),
        ({"reviewed": 2, "token": "t", "since": "2026"}, "stock_log_review"),
    ],
)
def test_entries_of_a_reason_or_to_review_are_found_by_indexes(
    tmp_path: Path, asked: dict[str, object], index: str
) -> None:
    SqliteDatabase(tmp_path / "s.db").close()
    SqliteDatabase(tmp_path / "s.db").close()
    connection = apsw.Connection(str(tmp_path / "s.db"))
    head, order = (
        (logs_and_changes.LOG_LIST, logs_and_changes.LOG_SORT_STORE)
        if "store" in asked
        else (logs_and_changes.LOG_KEYS, logs_and_changes.LOG_SORT_CHAIN)
    )
    query = page_query(filter_query(head, logs_and_changes.LOG_FILTERS, asked, order), 100, 0)
    assert f" {index} (" in plan(connection, query.sql, query.args)
    connection.close()


def test_filters_are_numbered_in_the_order_of_their_values() -> None:
    query = page_query(
        filter_query(
            "SELECT 1 FROM t",
            {"a": "(a = $? OR b = $?)", "c": "c > $?", "d": "d"},
            {"c": 3, "a": (1, 2), "d": ()},
            "ORDER BY a",
        ),
        5,
        10,
    )
    assert query.sql == "SELECT 1 FROM t WHERE c > $1 AND (a = $2 OR b = $3) AND d ORDER BY a LIMIT $4 OFFSET $5"
    assert query.args == (3, 1, 2, 5, 10)
    plain = filter_query("SELECT 1 FROM t", {"store": "s = $?"}, {"store": "S1"})
    assert page_query(plain, 5, 0)[:2] == ("SELECT 1 FROM t WHERE s = $1  LIMIT 5", ("S1",))
    assert page_query(plain, 5, 10)[:2] == ("SELECT 1 FROM t WHERE s = $1  LIMIT $2 OFFSET $3", ("S1", 5, 10))
    assert like_pattern("50%_\\") == "%50\\%\\_\\\\%"
