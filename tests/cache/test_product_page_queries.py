"""Queries of the product page: orders that need or hold it, and stock of stores nearby."""

from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import fetch, transaction
from aisle.jobs.product_page import parse_product
from aisle.json_codec import from_text, to_text
from aisle.outbox.operation_queue import OperationQueue
from tests.cache.service_rows import line, order, product, stock
from tests.clock import Clock
from tests.writes import ANNA, intents, update


def holders(reads: CacheReader, **args: Any) -> list[tuple[str, int, int]]:
    rows, _ = reads.query("orders_with_product", {"product_number": "P1", **args})
    return [(row["order_number"], int(row["needed"]), int(row["held"])) for row in rows]


def test_orders_that_need_a_product_come_before_those_that_only_hold_it(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_orders(
        [
            order("1", line(1, "P1", picked=3)),
            order("2", line(1, "P1", picked=1), line(2, "P1", 5), pickup_date="2026-03-04", customer_name="Ada"),
            order("3", line(1, "P1"), pickup_date="2026-03-03"),
            order("4", line(1, "P2")),
            order("5", line(1, "P1"), is_active=False),
            order("6", line(1, "P1"), is_rejected=True),
            order("7", line(1, "P1", picked=1, is_picked=True), is_picked=True),
        ],
        lines_known=True,
        read_began=1,
    )
    assert holders(reads) == [("3", 3, 0), ("2", 7, 1), ("1", 0, 3), ("7", 0, 1)]
    assert holders(reads, first=1, size=2) == [("2", 7, 1), ("1", 0, 3)]
    (row,) = reads.query("orders_with_product", {"product_number": "P1", "first": 1, "size": 1})[0]
    assert (row["customer_name"], row["pickup_date"]) == ("Ada", "2026-03-04")
    assert from_text(Any, to_text(row)) == row


def test_what_was_picked_here_counts_at_once(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    cache.write_orders([order("1", line(1, "P1")), order("2", line(1, "P1"))], lines_known=True, read_began=1)
    outbox = OperationQueue(outbox_db, clock=Clock(5.0))
    with transaction(outbox_db):
        outbox.enqueue(intents(update("1", {1: 3}), update("2", {}, is_active=False)), ANNA)
    assert holders(reads) == [("1", 0, 3)]


def test_nothing_is_known_of_the_stores_around_before_they_were_asked(cache: CacheWriter, reads: CacheReader) -> None:
    assert reads.query("surrounding", {"product_number": "P1"}) == ([], 0)
    cache.write_surrounding("P1", (), 0.0, "not told")
    (row,) = reads.query("surrounding", {"product_number": "P1"})[0]
    assert row == {"product_number": "P1", "stores": [], "read_at": "1970-01-01T00:00:00Z", "refused": "not told"}


def test_surroundings_are_kept_for_the_products_asked_for_last(
    cache: CacheWriter, cache_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.cache.product_writer.MAX_SURROUNDING", 3)
    for number in range(6):
        cache.write_surrounding(f"P{number}", (), float(number))
    assert fetch(cache_db, "SELECT product_number FROM surrounding ORDER BY 1") == [("P3",), ("P4",), ("P5",)]


def test_names_from_outside_pass_as_they_are(cache: CacheWriter, reads: CacheReader) -> None:
    entry = {"store_number": "9", "store_name": "\ud83d[/b]\x1b[2J", "is_warehouse": False, "most_likely_quantity": 1}
    cache.write_surrounding("P1", [entry], 1.0)
    (row,) = reads.query("surrounding", {"product_number": "P1"})[0]
    assert row["stores"][0]["store_name"] == "\ufffd[/b]\x1b[2J"


def test_the_page_takes_whatever_a_service_may_leave_out(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_stock([{"product_number": "S", "most_likely_quantity": 2}])
    cache.write_products([product("C"), product("D", units="none", barcodes_array=["1", "2"], barcode="1")])
    cache.write_stock([stock("D", 1, places={"A": 1})])
    for number, known in (("S", True), ("C", False), ("D", True)):
        (row,) = reads.query("product", {"product_number": number})[0]
        assert parse_product(row, "2026-11-20T10:00:00Z").is_stocked is known
    assert parse_product(row, "").codes == ("1", "2")
