"""Queries of picking where something does not fit, with pending operations laid over."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.outbox.operation_queue import OperationQueue
from tests.cache import service_rows
from tests.writes import ANNA, intents, movement


@pytest.fixture
def stocked(cache: CacheWriter) -> CacheWriter:
    """A small store: a set and its part, a product that gave way to another, a template, and orders that need them."""
    cache.write_products(
        [
            service_rows.product("BOX", "Gift box", is_set=True, set_product=[{"set_product_number": "CUP"}]),
            service_rows.product("CUP", "Cup"),
            service_rows.product(
                "OLD", "Old cup", deprecation_date="20260101", referral_product_id="CUP", is_active=False
            ),
            service_rows.product("MODEL", "Any cup", is_template=True),
        ]
    )
    shelf = service_rows.stock("CUP", 12, places={"A-1": 9})
    shelf["store_locations"].append({"store_location_code": "A-1", "quantity": 3, "stock_pool_3": 3})
    cache.write_stock([shelf, service_rows.stock("BOX", 4, places={"PU-1": 2})])
    cache.write_locations(
        [
            service_rows.location("A-1", 1),
            service_rows.location("PU-1", 2, tags=["pickup"]),
            service_rows.location("E-1", 3),
            service_rows.location("PU-01", 4),
        ]
    )
    kept = [{"location_code": "PU-1", "quantity": 2, "customer_order_number": "O1", "customer_order_line_number": 1}]
    cache.write_orders(
        [
            service_rows.order("O1", service_rows.line(1, "BOX", 3, 2, store_locations=kept)),
            service_rows.order("O2", service_rows.line(1, "CUP", 2), customer_name="Ms Bell"),
            service_rows.order("O3", service_rows.line(1, "CUP", 2, 2)),
        ],
        lines_known=True,
        read_began=1.0,
    )
    return cache


def asked(reads: CacheReader, number: str, **args: object) -> Any:
    """What is known of a product that no order wants."""
    (row,), _ = reads.query(
        "unexpected_product", {"product_number": number, "orders": ["O1"], "products": ["BOX"], **args}
    )
    return row


def test_parts_and_sets(stocked: CacheWriter, reads: CacheReader) -> None:
    assert asked(reads, "CUP")["wholes"] == [{"product_number": "BOX", "label": "Gift box"}]
    assert asked(reads, "BOX", products=["CUP", "OLD"])["parts"] == [{"product_number": "CUP", "label": "Cup"}]


def test_what_gave_way_and_what_is_a_template(stocked: CacheWriter, reads: CacheReader) -> None:
    old = asked(reads, "OLD")
    assert (old["referral"], old["referral_label"], old["is_active"]) == ("CUP", "Cup", False)
    assert asked(reads, "MODEL")["is_template"] is True
    assert asked(reads, "NOBODY")["is_template"] is False


def test_other_orders_that_still_need_it(stocked: CacheWriter, reads: CacheReader) -> None:
    assert asked(reads, "CUP")["orders"] == [{"order_number": "O2", "customer_name": "Ms Bell"}]
    assert asked(reads, "CUP", orders=["O2"])["orders"] == []


def test_what_lies_at_a_place_by_pools(stocked: CacheWriter, reads: CacheReader) -> None:
    (row,), _ = reads.query("stock_at_location", {"product_number": "CUP", "location_code": "a-1"})
    assert row == {"pools": {"1": Decimal(9), "3": Decimal(3)}, "quantity": Decimal(12)}
    assert reads.query("stock_at_location", {"product_number": "CUP", "location_code": "B-9"}) == ([], 0)


def test_what_a_place_is_used_for(stocked: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection) -> None:
    def spot(code: str) -> Any:
        (row,), _ = reads.query("location_use", {"location_code": code})
        return row

    assert spot("A-1") == {"tags": [], "goods": 1, "is_used": False}
    assert spot("PU-1") == {"tags": ["pickup"], "goods": 0, "is_used": False}, "its tags say enough"
    assert spot("E-1") == {"tags": [], "goods": 0, "is_used": False}
    assert reads.query("location_use", {"location_code": "?"}) == ([], 0)
    assert spot("PU-01") == {"tags": [], "goods": 0, "is_used": False}
    with outbox_db:
        OperationQueue(outbox_db).enqueue(intents(movement("O3", "CUP", 2)), ANNA)
    assert spot("PU-01") == {"tags": [], "goods": 0, "is_used": True}
