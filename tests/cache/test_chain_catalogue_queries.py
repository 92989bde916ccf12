"""Queries of the catalogue: filters, search, categories, variants and parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_queue import open_outbox
from tests.cache import service_rows
from tests.writes import STORE

Row = dict[str, Any]


def products() -> list[Row]:
    rows = [
        service_rows.product(f"P{n:02}", f"Tea no. {n}", category_code=f"C{n % 3}", supplier_id="S1") for n in range(12)
    ]
    rows[1] |= {"is_promotion": True, "supplier_id": "S2", "supplier_name": "Leaf-Co"}
    rows[2] |= {"is_active": False, "variant_family": "F", "size": "small"}
    rows[3] |= {"variant_family": "F", "size": "large", "color": "green", "variant_factor": 2}
    rows[4] |= {
        "is_set": True,
        "set_product": [
            {"set_item_quantity": "2", "set_product_number": "P01"},
            {"set_item_quantity": "1", "set_product_number": "X"},
        ],
    }
    return rows


@pytest.fixture
def cache(aisle_home: Path) -> CacheWriter:
    home = StoreFolder(aisle_home, "embedded", STORE)
    cache = CacheWriter(open_cache(home.folder, writer=True), STORE)
    cache.write_products(products(), 1)
    cache.write_stock([{**service_rows.stock("P00", 3), "category_name": "Black tea"}, service_rows.stock("P77", 1)])
    return cache


@pytest.fixture
def reads(cache: CacheWriter, aisle_home: Path) -> Iterator[CacheReader]:
    home = StoreFolder(aisle_home, "embedded", STORE)
    with closing(open_outbox(home.folder)) as outbox, closing(CacheReader(home, outbox)) as reads:
        yield reads


def numbers(reads: CacheReader, **args: Any) -> list[str]:
    rows, total = reads.query("catalogue", args)
    assert args.get("size") or total == len(rows)
    return [row["product_number"] for row in rows]


def test_products_are_listed_by_what_they_are(reads: CacheReader) -> None:
    assert numbers(reads, first=10, size=5) == ["P10", "P11", "P77"]
    assert numbers(reads, show="promotion") == ["P01"]
    assert numbers(reads, show="set") == ["P04"]
    assert numbers(reads, show="ended") == ["P02"]
    assert numbers(reads, category="C1", supplier="S1") == ["P04", "P07", "P10"]
    assert numbers(reads, category="C1", supplier="S1", search="tea 7") == ["P07"]
    assert numbers(reads, search="tea", supplier="S1", first=9, size=2, order_by="product_number") == ["P10", "P11"]
    assert numbers(reads, search="tea", order_by="product_name", descending=True, size=2) == ["P11", "P10"]
    assert numbers(reads, supplier="S2", show="ended") == []
    assert numbers(reads, among=["P03", "P01", "none"]) == ["P01", "P03"]
    rows, _ = reads.query("catalogue", {"size": 1})
    assert (rows[0]["in_store"], rows[0]["in_catalogue"], rows[0]["promotion"]) == (True, True, False)


def test_categories_and_suppliers_have_names_and_counts(reads: CacheReader) -> None:
    rows, total = reads.query("facets", {"kind": "category"})
    assert (total, rows[0]) == (3, {"code": "C0", "name": "Black tea", "count": 4})
    assert reads.query("facets", {"kind": "category", "search": "black"})[1] == 1
    assert reads.query("facets", {"kind": "supplier", "search": "leafco"})[1] == 1
    rows, _ = reads.query("facets", {"kind": "supplier"})
    assert [(row["code"], row["name"], row["count"]) for row in rows] == [("S1", "", 11), ("S2", "Leaf-Co", 1)]


def test_counts_follow_the_products(reads: CacheReader, cache: CacheWriter) -> None:
    def counts(kind: str) -> dict[str, int]:
        return {row["code"]: row["count"] for row in reads.query("facets", {"kind": kind})[0]}

    assert counts("category") == {"C0": 4, "C1": 4, "C2": 4}
    moved = [
        service_rows.product("P00", "Tea no. 0", category_code="C9", supplier_id="S2"),
        service_rows.product("P01", "Tea no. 1"),
    ]
    cache.write_products(moved, 2)
    assert (counts("category"), counts("supplier")) == ({"C0": 3, "C1": 3, "C2": 4, "C9": 1}, {"S1": 10, "S2": 1})
    assert cache.delete_unseen("product", 2)
    assert (counts("category"), counts("supplier")) == ({"C9": 1}, {"S2": 1})


def test_a_window_is_stepped_to_from_the_nearer_end(reads: CacheReader, cache: CacheWriter) -> None:
    asked: list[str] = []
    everything = numbers(reads, size=20)
    assert len(everything) == 13
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    for size in (1, 4, 5, 20):
        for first in range(16):
            assert numbers(reads, first=first, size=size) == everything[first : first + size], (first, size)
    reads._cache.trace_v2(0, None)
    assert any("product_number DESC" in sql for sql in asked)
    assert numbers(reads, first=3, size=1, category="C1") == ["P10"]


def test_variants_and_parts_have_names(reads: CacheReader, cache: CacheWriter) -> None:
    ((page,), _) = reads.query("catalogue_page", {"product_number": "P02"})
    assert [(row["product_number"], row["color"], row["size"]) for row in page["variants"]] == [
        ("P03", "green", "large")
    ]
    ((page,), _) = reads.query("catalogue_page", {"product_number": "P04"})
    assert [(row["product_number"], row["product_name"], row["quantity"]) for row in page["parts"]] == [
        ("P01", "Tea no. 1", "2"),
        ("X", "", "1"),
    ]
    ((page,), _) = reads.query("catalogue_page", {"product_number": "P77"})
    assert (page["catalogue"], page["in_catalogue"], page["variants"]) == ({}, False, [])
    assert reads.query("catalogue_page", {"product_number": "none"}) == ([], 0)
    rows = products()
    rows[3] |= {"variant_family": "", "is_promotion": True}
    cache.write_products(rows[1:4], 2)
    cache.delete_unseen("product", 2)
    assert numbers(reads, show="promotion") == ["P01", "P03"]
    ((page,), _) = reads.query("catalogue_page", {"product_number": "P02"})
    assert page["variants"] == []
    assert numbers(reads, category="C1") == ["P01"]


def test_no_filter_reads_the_whole_catalogue(cache: CacheWriter, reads: CacheReader) -> None:
    asked: list[str] = []
    db = reads.context.cache
    db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    for args in ({"category": "C1"}, {"supplier": "S1", "show": "set"}, {"show": "ended"}):
        reads.query("catalogue", args)
    for kind in ("category", "supplier"):
        reads.query("facets", {"kind": kind})
    db.trace_v2(0, None)
    assert len(asked) > 8
    assert sum("FROM facet" in sql for sql in asked) == 2, "what has how many is summed at the write"
    for sql in asked:
        plan = " ".join(str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", ("x",) * sql.count("?")))
        assert ("SEARCH facet USING PRIMARY KEY" if "FROM facet" in sql else "INDEX product_") in plan, (sql, plan)


def test_category_search_is_complete_despite_matches_elsewhere(reads: CacheReader, cache: CacheWriter) -> None:
    others = [
        service_rows.product(f"A{n:03}", f"Cheese {n}", category_code="MANY", supplier_id="S1") for n in range(130)
    ]
    few = [service_rows.product(f"Z{n}", f"Cheese, mild {n}", category_code="FEW", supplier_id="S9") for n in range(3)]
    cache.write_products([*products(), *others, *few], 2)
    assert len(numbers(reads, search="cheese", size=200)) == 100
    for words in ("cheese", "c", "ch", "mild cheese", "cheese mild"):
        assert numbers(reads, search=words, category="FEW", size=9) == ["Z0", "Z1", "Z2"], words
    assert numbers(reads, search="cheese", supplier="S9", size=9) == ["Z0", "Z1", "Z2"]
    assert numbers(reads, search="cheese 2", category="FEW", size=9) == ["Z2"]
    assert numbers(reads, search="tea", category="FEW", size=9) == []
    assert len(numbers(reads, search="cheese", category="MANY", size=200)) == 100
