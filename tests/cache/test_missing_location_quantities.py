"""Locations without a quantity from the service: unknown, neither none nor empty."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.outbox.operation_queue import OperationQueue
from tests.cache.service_rows import line, location, product, stock
from tests.cache.test_missing_quantities import WRITES
from tests.clock import Clock
from tests.writes import ANNA, intents

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


@pytest.fixture
def outbox(outbox_db: apsw.Connection, cache: CacheWriter) -> OperationQueue:
    cache.write_locations([location("A-1", 1), location("B-1", 2)])
    cache.write_products([product("P1"), product("P2")])
    return OperationQueue(outbox_db, clock=Clock())


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
    with transaction(outbox._db):
        outbox.enqueue(intents(WRITES[write]), ANNA)
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
    cache.write_orders([row], True, 1.0)
    (found,) = _asked(reads, "order", order_number="O1")["lines"]
    assert [(place["location_code"], place["quantity"]) for place in found["locations"]] == [("A-1", quantity)]


@pytest.mark.parametrize("moved", [None, 0, 2, 3])
def test_what_an_order_has_at_such_a_place_is_in_no_hand_and_not_missing(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, moved: int | None
) -> None:
    places = [{"location_order": 1, "location_code": "A-1", "customer_order_number": "O1"}]
    said = line(1, "P1", 3, 3, store_locations=places) | ({} if moved is None else {"moved_quantity": moved})
    cache.write_stock([stock("P1", 20)])
    cache.write_orders([{"order_number": "O1", "is_active": True, "lines": [said]}], True, 1.0)
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
