"""The list of products to check: what is due, where it lies, and what was checked here a moment ago."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, LinkRow
from aisle.jobs.supervisor.service_fields_and_values import update_write
from aisle.outbox.operation_queue import OperationQueue
from aisle.stored_messages import NO_MESSAGE
from tests.cache.service_rows import location, product, stock
from tests.writes import STORE, enqueue

DAY = "2026-11-30"


def due(reads: CacheReader, day: str = DAY, **args: Any) -> list[str]:
    rows, _ = reads.query("expiry_checks", {"day": day, **args})
    return [row["product_number"] for row in rows]


@pytest.fixture
def shelf(cache: CacheWriter) -> CacheWriter:
    """Five products, three of them due."""
    cache.write_locations([location("B-1", 10), location("A-1", 20)])
    cache.write_products([product(number) for number in ("P1", "P2", "P3", "P4", "P5")])
    checks = {
        "P1": ({"A-1": 3}, f"{DAY}T00:00:00Z"),
        "P2": ({"B-1": 2, "A-1": 1}, "2026-11-01T00:00:00Z"),
        "P3": ({}, f"{DAY}T00:00:00Z"),
        "P4": ({"B-1": 1}, "2026-12-01T00:00:00Z"),
        "P5": ({"B-1": 1}, "0001-01-01T00:00:00Z"),
    }
    cache.write_stock(
        [
            stock(number, places=places, validate_expiry_datetime=at, last_expiry_datetime="2026-12-02T00:00:00Z")
            for number, (places, at) in checks.items()
        ],
    )
    return cache


def test_due_products_in_walking_order_and_those_nowhere_last(shelf: CacheWriter, reads: CacheReader) -> None:
    assert due(reads) == ["P2", "P1", "P3"]
    assert due(reads, first=1, size=1) == ["P1"]
    assert due(reads, "2026-12-01") == ["P2", "P4", "P1", "P3"]
    assert due(reads, "2026-10-31") == []
    rows, total = reads.query("expiry_checks", {"day": DAY, "size": 1})
    assert total == 3
    assert reads.query("due_checks", {"day": DAY}) == ([], 3)
    assert rows == [
        {
            "product_number": "P2",
            "product_name": "Product P2",
            "location_code": "B-1",
            "due": "2026-11-01",
            "expiry": "",
            "most_likely_quantity": 12,
        }
    ]
    shelf.set_link(LinkRow("live", last_ok=1.0, features="people"))
    assert reads.query("expiry_checks", {"day": DAY, "size": 1})[0][0]["expiry"] == "2026-12-02"


def test_check_under_way_leaves_the_list_and_its_undo_brings_it_back(
    shelf: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    outbox = OperationQueue(outbox_db)
    later = {"validate_expiry_date_time": "2026-12-04T00:00:00Z"}
    (sent,) = enqueue(outbox, update_write("P2", STORE, later, {}, needs_supervisor=False))
    assert due(reads) == ["P1", "P3"]
    assert due(reads, "2026-12-04") == ["P2", "P4", "P1", "P3"]
    enqueue(outbox, update_write("P2", STORE, {"validate_expiry_date_time": "2026-11-01T00:00:00Z"}, {}))
    assert due(reads) == ["P2", "P1", "P3"]
    outbox.begin_sending(sent, b"[]")
    outbox.refuse(sent, NO_MESSAGE)
    assert due(reads) == ["P2", "P1", "P3"]


def test_setting_under_way_leaves_a_product_at_its_location_with_goods(
    shelf: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    today = f"{DAY}T00:00:00Z"
    shelf.write_stock([stock("P1", places={"B-1": 0, "A-1": 3}, validate_expiry_datetime=today)])
    enqueue(OperationQueue(outbox_db), update_write("P1", STORE, {"validate_expiry_date_time": today}, {}))
    assert due(reads) == ["P2", "P1", "P3"]


def test_due_products_are_sorted_once_for_each_state_of_the_cache(
    shelf: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    asked: list[str] = []
    due(reads)
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    later = {"validate_expiry_date_time": "2026-12-04T00:00:00Z"}
    enqueue(OperationQueue(outbox_db), update_write("P2", STORE, later, {}, needs_supervisor=False))
    assert (due(reads, first=1, size=1), due(reads, size=1)) == (["P3"], ["P1"])
    assert not [sql for sql in asked if "stock_expiry_check" in sql]
    shelf.write_stock([stock("P3", places={}, validate_expiry_datetime="2027-01-01T00:00:00Z")])
    assert due(reads) == ["P1"]
    reads._cache.trace_v2(0, None)


def test_due_products_are_found_without_reading_the_whole_stock(shelf: CacheWriter, reads: CacheReader) -> None:
    asked: list[str] = []
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    due(reads)
    reads._cache.trace_v2(0, None)
    (sql,) = [each for each in asked if "stock_expiry_check" in each]
    plan = [row[3] for row in reads._cache.execute(f"EXPLAIN QUERY PLAN {sql}", (DAY,))]
    assert not [step for step in plan if step.startswith("SCAN")], plan
