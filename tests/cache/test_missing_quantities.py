"""Quantities that a service leaves out: nothing is calculated from them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from itertools import product as every
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import OperationQueue
from tests.cache.service_rows import line, location, product, put_orders, stock
from tests.cache.test_stock_overlay import end, logs, move
from tests.clock import Clock
from tests.writes import enqueue

PLACES = {
    "no places": None,
    "a place": [{"store_location_code": "A-1", "quantity": 5}],
    "a place with pools": [{"store_location_code": "A-1", "quantity": 5, "stock_pool_1": 3, "stock_pool_2": 2}],
}
POOLS: dict[str, dict[str, int]] = {"no pools": {}, "pools": {"most_likely_pool_1": 12, "most_likely_pool_2": 8}}
TWENTY = 20


def counted(**entry: Any) -> Write:
    return logs(True, product_number="P1", **entry)


def changed(**entry: Any) -> Write:
    return logs(False, product_number="P1", **entry)


WRITES: dict[str, Write] = {
    "count": counted(counted_quantity=Decimal(14)),
    "count of a pool": counted(stock_pool_1=Decimal(14)),
    "count of two pools": counted(stock_pool_1=Decimal(14), stock_pool_2=Decimal(3)),
    "count at a place": counted(location_code="A-1", counted_quantity=Decimal(4)),
    "count of a pool at a place": counted(location_code="A-1", stock_pool_1=Decimal(4)),
    "count at another place": counted(location_code="B-1", counted_quantity=Decimal(4)),
    "loss": changed(quantity=Decimal(-2), reason_code=1),
    "loss at a place": changed(location_code="A-1", quantity=Decimal(-2), reason_code=1),
    "find of a pool": changed(stock_pool_2=Decimal(2), reason_code=1),
    "move": move("P1", 2, end("A-1"), end("B-1")),
    "move to another pool": move("P1", 2, end("A-1", 1), end("B-1", 2)),
}


@pytest.fixture
def outbox(outbox_db: apsw.Connection, cache: CacheWriter) -> OperationQueue:
    cache.write_locations([location("A-1", 1), location("B-1", 2)])
    cache.write_products([product("P1"), product("P2")])
    return OperationQueue(outbox_db, clock=Clock())


def _page(reads: CacheReader) -> Any:
    (row,), _ = reads.query("product", {"product_number": "P1"})
    return row


@pytest.mark.parametrize(("places", "pools", "write"), list(every(PLACES, POOLS, WRITES)))
def test_no_pool_has_a_figure_that_nobody_said(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, places: str, pools: str, write: str
) -> None:
    row = stock("P1", TWENTY) | POOLS[pools]
    if PLACES[places] is not None:
        row["store_locations"] = PLACES[places]
    cache.write_stock([row])
    enqueue(outbox, WRITES[write])
    page = _page(reads)
    if not POOLS[pools]:
        assert page["pools"] == []
    else:
        assert {pool["pool"] for pool in page["pools"]} <= {1, 2}
    if places != "a place with pools":
        assert all(not place["pools"] for place in page["locations"])
    if places == "no places":
        assert page["locations"] == []
    assert all(place["quantity"] >= 0 for place in page["locations"])
    assert page["most_likely_quantity"] >= 0
    if POOLS[pools] and write != "count at another place":
        assert sum(pool["quantity"] for pool in page["pools"]) <= max(TWENTY, page["most_likely_quantity"])


def test_the_count_of_two_pools_is_their_sum_where_nobody_keeps_pools(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader
) -> None:
    cache.write_stock([stock("P1", TWENTY)])
    enqueue(outbox, WRITES["count of two pools"])
    assert _page(reads)["most_likely_quantity"] == 17


@pytest.mark.parametrize("write", WRITES)
def test_what_was_reported_from_the_field(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, write: str
) -> None:
    """`Pool 1 ≈ -6` stood beside `≈ 14 in stock`."""
    cache.write_stock([stock("P1", TWENTY)])
    enqueue(outbox, WRITES[write])
    page = _page(reads)
    assert page["pools"] == []
    expected = {"count": 14, "count of a pool": 14, "count of two pools": 17, "loss": 18, "loss at a place": 18}
    assert page["most_likely_quantity"] == expected.get(write, 22 if write == "find of a pool" else 20)


def test_a_stock_entry_without_a_quantity_is_no_stock_of_none(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader
) -> None:
    row = stock("P1")
    del row["most_likely_quantity"]
    written = cache.write_stock([row, stock("P2", 3)])
    assert [(each.field, each.reason) for each in written.skipped] == [
        ("most_likely_quantity", "most_likely_quantity is missing")
    ]
    assert _page(reads)["most_likely_quantity"] is None
    found, _ = reads.query("search", {"search": "Product P1"})
    assert [hit["most_likely_quantity"] for hit in found] == [None]


def test_an_order_line_without_a_quantity_is_no_line_of_none(cache: CacheWriter, reads: CacheReader) -> None:
    line = {"id": 1, "line_number": 1, "product_number": "P1", "picked_quantity": 0}
    written = put_orders(cache, {"order_number": "O1", "is_active": True, "lines": [line]})
    assert [each.field for each in written.skipped] == ["quantity"]


def test_a_store_nearby_that_does_not_say_how_much_is_left_out(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_surrounding("P1", [{"store_number": "2", "is_warehouse": False}, _near("3", 4)], 1.0)
    (row,), _ = reads.query("surrounding", {"product_number": "P1"})
    assert [(each["store_number"], each["quantity"]) for each in row["stores"]] == [("3", 4)]


def _near(number: str, quantity: int) -> dict[str, Any]:
    return {"store_number": number, "is_warehouse": False, "most_likely_quantity": quantity}


def test_a_store_whose_stock_was_never_read_says_so_of_its_places(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_locations([location("A-1", 1)])
    (row,), _ = reads.query("location", {"location_code": "A-1"})
    assert row["is_stock_unknown"] is True
    cache.write_stock([stock("P2", 3)])
    (row,), _ = reads.query("location", {"location_code": "A-1"})
    assert row["is_stock_unknown"] is False


@pytest.mark.parametrize("expected", [None, 0, 5, 14])
@pytest.mark.parametrize("quantity", ["counted_quantity", "stock_pool_1"])
def test_the_log_of_this_host_has_no_difference_that_nobody_said(
    outbox: OperationQueue, reads: CacheReader, expected: int | None, quantity: str
) -> None:
    said = {} if expected is None else {"expected_quantity": Decimal(expected)}
    enqueue(outbox, counted(scanned_datetime=moment(), **{quantity: Decimal(14)}, **said))
    ((row,), _) = reads.query("my_entries", {"now": moment()})
    assert (row["counted_quantity"], row["difference"]) == (14, None if expected is None else 14 - expected)


LOGGED: dict[str, tuple[dict[str, Any], int | None]] = {
    "nothing": ({}, None),
    "a quantity": ({"quantity": -2}, -2),
    "a pool": ({"stock_pool_2": 3}, 3),
    "counted": ({"counted_quantity": 14}, None),
    "counted and expected": ({"counted_quantity": 14, "expected_quantity": 5}, 9),
    "counted and changed": ({"counted_quantity": 14, "quantity": 2}, 2),
    "expected alone": ({"expected_quantity": 5}, None),
    "null": ({"quantity": None, "counted_quantity": None}, None),
    "none": ({"quantity": 0}, 0),
    "counted in a pool": ({"counted_quantity": 14, "stock_pool_1": 14}, None),
}


@pytest.mark.parametrize("name", LOGGED)
def test_the_log_of_the_service_has_no_difference_that_nobody_said(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, name: str
) -> None:
    entry, difference = LOGGED[name]
    head = {"id": 1, "store_number": "0001", "product_number": "P1", "created_on": moment(), "reason_code": 1}
    cache.write_logs([head | entry], "1970-01-01T00:00:00Z")
    ((row,), _) = reads.query("my_entries", {"now": moment()})
    assert row["difference"] == difference


def moment() -> str:
    """Now, as the clock of these tests has it."""
    return datetime.fromtimestamp(Clock().now, UTC).isoformat()


# Locations without a quantity from the service: unknown, neither none nor empty


ENTRIES: dict[str, tuple[dict[str, Any], Decimal | None]] = {
    "missing": ({}, None),
    "null": ({"quantity": None}, None),
    "none": ({"quantity": 0}, Decimal(0)),
    "some": ({"quantity": 5}, Decimal(5)),
    "pools alone": ({"stock_pool_1": 3, "stock_pool_2": 2}, Decimal(5)),
    "null with pools": ({"quantity": None, "stock_pool_1": 3}, Decimal(3)),
    "a pool of none": ({"stock_pool_1": 0}, Decimal(0)),
    "null pools": ({"stock_pool_1": None}, None),
    "a fraction": ({"quantity": 0.5}, Decimal("0.5")),
    "less than none": ({"quantity": -2}, Decimal(-2)),
}


def _put(cache: CacheWriter, entry: dict[str, Any]) -> None:
    cache.write_stock([stock("P1", 20) | {"store_locations": [{"store_location_code": "A-1", **entry}]}])


def _asked(reads: CacheReader, name: str, **args: Any) -> Any:
    (row, *_), _ = reads.query(name, args)
    return row


@pytest.mark.parametrize("known", ENTRIES)
def test_every_read_of_a_place_says_what_was_said(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, known: str
) -> None:
    entry, quantity = ENTRIES[known]
    _put(cache, entry)
    (place,) = _asked(reads, "product", product_number="P1")["locations"]
    assert (place["location_code"], place["quantity"]) == ("A-1", quantity)
    page = _asked(reads, "location", location_code="A-1")
    lies = quantity is None or quantity != 0
    assert [row["quantity"] for row in page["products"]] == ([quantity] if lies else [])
    assert (page["total"], page["quantity"]) == (int(lies), quantity if lies else 0)
    home = _asked(reads, "locations_of_products", product_numbers=["P1"])
    assert (home["location_code"], home["quantity"]) == ("A-1", quantity)
    listed = _asked(reads, "locations", search="A-1")
    assert (listed["products"], listed["quantity"]) == (int(lies), quantity if lies else 0)


def test_the_sum_of_a_place_comes_back_once_it_is_said(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader
) -> None:
    cache.write_stock([stock("P2", 4, places={"A-1": 4})])
    _put(cache, {})
    assert _asked(reads, "locations", search="A-1")["quantity"] is None
    _put(cache, {"quantity": 5})
    assert _asked(reads, "locations", search="A-1")["quantity"] == 9
    _put(cache, {})
    cache.write_stock([stock("P1", 20, places={"B-1": 20})])
    assert _asked(reads, "locations", search="A-1")["quantity"] == 4


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("other", [None, {"store_location_code": "C-1", "quantity": 1, "stock_pool_1": 1}])
def test_what_waits_makes_no_figure_of_it_but_a_count(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, write: str, other: dict[str, Any] | None
) -> None:
    entries = [{"store_location_code": "A-1"}, *([other] if other else [])]
    cache.write_stock([stock("P1", 20) | {"store_locations": entries}])
    enqueue(outbox, WRITES[write])
    places = _asked(reads, "product", product_number="P1")["locations"]
    found = {place["location_code"]: place["quantity"] for place in places}
    assert found["A-1"] == (4 if write in ("count at a place", "count of a pool at a place") else None)
    assert {row["quantity"] for row in _asked(reads, "location", location_code="A-1")["products"]} == {found["A-1"]}


@pytest.mark.parametrize("known", ENTRIES)
def test_a_line_leads_to_a_place_that_does_not_say_how_much_lies_there(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, known: str
) -> None:
    entry, quantity = ENTRIES[known]
    named = {name.replace("stock_pool", "most_likely_pool"): value for name, value in entry.items()}
    places = [{"location_order": 1, "location_code": "A-1", **named}]
    row = {"order_number": "O1", "is_active": True, "lines": [line(1, "P1", store_locations=places)]}
    put_orders(cache, row)
    (found,) = _asked(reads, "order", order_number="O1")["lines"]
    assert [(place["location_code"], place["quantity"]) for place in found["locations"]] == [("A-1", quantity)]


@pytest.mark.parametrize("moved", [None, 0, 2, 3])
def test_what_an_order_has_at_such_a_place_is_in_no_hand_and_not_missing(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, moved: int | None
) -> None:
    places = [{"location_order": 1, "location_code": "A-1", "customer_order_number": "O1"}]
    said = line(1, "P1", 3, 3, store_locations=places) | ({} if moved is None else {"moved_quantity": moved})
    cache.write_stock([stock("P1", 20)])
    put_orders(cache, {"order_number": "O1", "is_active": True, "lines": [said]})
    (found,) = _asked(reads, "order", order_number="O1")["lines"]
    assert found["put_down"] == [{"location_code": "A-1", "quantity": None}]
    assert not _asked(reads, "product", product_number="P1").get("in_hand")
    assert reads.query("negative_stock", {}) == ([], 0)


def test_service_without_locations_differs_from_empty_location(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader
) -> None:
    cache.write_stock([stock("P1", 20)])
    assert _asked(reads, "location", location_code="A-1")["unnamed"]
    _put(cache, {"quantity": 5})
    assert not _asked(reads, "location", location_code="B-1")["unnamed"]
