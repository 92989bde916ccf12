"""Queries of picking where something does not fit, with pending operations laid over."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, LinkRow
from aisle.host.database import transaction
from aisle.jobs.job import Write
from aisle.named_tuple_json import from_text, to_text
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import CONFIRM, SEND
from tests.cache import service_rows
from tests.cache.service_rows import line, location, order, product, put_orders, stock
from tests.writes import ANNA, STORE, enqueue, intents, movement


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
    put_orders(
        cache,
        service_rows.order("O1", service_rows.line(1, "BOX", 3, 2, store_locations=kept)),
        service_rows.order("O2", service_rows.line(1, "CUP", 2), customer_name="Ms Bell"),
        service_rows.order("O3", service_rows.line(1, "CUP", 2, 2)),
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
    assert row == {"pools": {"1": Decimal(9), "3": Decimal(3)}, "quantity": Decimal(12), "held_goods": []}
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


# Queries of a shortage: free stock at other locations, with pending operations laid over


def entry(code: str, **by_pool: float) -> dict[str, Any]:
    """interface: Stock location entry; pools as `p1=3`."""
    pools = {f"stock_pool_{name[1:]}": quantity for name, quantity in by_pool.items()}
    return {"store_location_code": code, "quantity": sum(by_pool.values()), **pools}


def kept(code: str, quantity: float, number: str = "4101", line_: int = 1, **fields: Any) -> dict[str, Any]:
    """interface: Line location of goods that are held for a line."""
    held = {"customer_order_number": number, "customer_order_line_number": line_}
    return {"location_code": code, "quantity": quantity, **held, **fields}


@pytest.fixture
def outbox(outbox_db: apsw.Connection, cache: CacheWriter) -> OperationQueue:
    """Six places in a row with some of P1 on them, and an order that holds some."""
    cache.write_locations([location(f"A-{n}", n) for n in range(1, 7)])
    cache.write_products([product("P1")])
    entries = [
        entry("A-1", p1=2),
        entry("A-2", p1=3, p2=4),
        entry("A-3", p1=9),
        entry("A-4", p2=5),
        entry("A-5", p1=0),
        entry("A-6", p1=4),
    ]
    cache.write_stock([{**stock("P1", 27), "store_locations": entries}])
    held = [kept("A-2", 3, most_likely_pool_1=1, most_likely_pool_2=2), kept("A-6", 4, most_likely_pool_1=4)]
    lines = (line(1, "P1", 9, 7, store_locations=held), line(2, "P1", 6, 0))
    put_orders(cache, order("4101", *lines))
    return OperationQueue(outbox_db)


def picked(quantity: float, place: str = "A-1", line_: int = 2, was: float = 0) -> Write:
    said = {"line_number": line_, "product_number": "P1", "picked_quantity": Decimal(str(quantity))}
    said["base_picked_quantity"] = Decimal(str(was))
    body = {"orders": {"order_number": "4101", "order_lines": [{**said, "preferred_location_code": place}]}}
    return Write("update-customer-order", ("order/4101",), {"store_number": STORE}, {}, body)


def moved(source: str, target: str, quantity: float, **to: Any) -> Write:
    item = {
        "product_number": "P1",
        "quantity": Decimal(str(quantity)),
        "from_location": {"location_code": source},
        "to_location": {"location_code": target, **to},
    }
    return Write("create-movement", ("product/P1",), {"store_number": STORE}, {"AppUserName": "U1"}, [item])


def others(reads: CacheReader, place: str = "A-3", pools: tuple[int, ...] = ()) -> list[tuple[str, Any, int]]:
    rows, total = reads.query("other_locations", {"product_number": "P1", "location": place, "pools": list(pools)})
    assert total == len(rows)
    assert from_text(Any, to_text(rows)) == rows
    return [(row["location_code"], row["quantity"], row["pool"]) for row in rows]


def test_nearest_locations_first_without_current_one_and_held_stock(outbox: OperationQueue, reads: CacheReader) -> None:
    assert others(reads) == [("A-4", 5, 2), ("A-2", 4, 1), ("A-1", 2, 1)]
    assert others(reads, "a-3") == others(reads)
    assert others(reads, "A-1") == [("A-2", 4, 1), ("A-3", 9, 1), ("A-4", 5, 2)]
    assert others(reads, "other_locations") == others(reads, "")
    assert [code for code, _, _ in others(reads, "")] == ["A-1", "A-2", "A-3", "A-4"]


def test_only_pools_that_it_may_be_taken_from(outbox: OperationQueue, reads: CacheReader) -> None:
    assert others(reads, pools=(1,)) == [("A-2", 2, 1), ("A-1", 2, 1)]
    assert others(reads, pools=(2, 1)) == [("A-4", 5, 2), ("A-2", 4, 2), ("A-1", 2, 1)]
    assert others(reads, pools=(7,)) == []


def test_a_place_of_which_nobody_keeps_pools_has_no_pool(
    cache: CacheWriter, outbox: OperationQueue, reads: CacheReader
) -> None:
    bare = [{"store_location_code": "A-1", "quantity": 3}, {"store_location_code": "A-6", "quantity": 6}]
    cache.write_stock([{**stock("P1", 9), "store_locations": bare}])
    assert others(reads, pools=(1,)) == [("A-1", 3, 0), ("A-6", 2, 0)]


def test_what_waits_to_be_sent_is_laid_over_it(outbox: OperationQueue, reads: CacheReader) -> None:
    held = {"customer_order_number": "4101", "customer_order_line_number": 2}
    enqueue(outbox, moved("A-4", "A-5", 5), moved("A-2", "A-2", 1, **held))
    assert others(reads) == [("A-2", 3, 1), ("A-5", 5, 2), ("A-1", 2, 1)]


def test_what_was_picked_and_not_yet_told_is_gone_once(
    cache: CacheWriter, outbox: OperationQueue, reads: CacheReader
) -> None:
    first, second = enqueue(outbox, picked(1), picked(2, was=1))
    assert others(reads) == [("A-4", 5, 2), ("A-2", 4, 1)]
    enqueue(outbox, picked(4, "A-2", was=2), picked(3, "A-2", was=4))
    assert others(reads) == [("A-4", 5, 2), ("A-2", 3, 1)]
    for op_id in (first, second):
        with transaction(outbox._db):
            outbox._apply_event(op_id, SEND, sent_body=b"[]", sent=1)
            outbox._apply_event(op_id, CONFIRM)
    cache.write_stock([{**stock("P1", 27), "store_locations": [entry("A-1", p1=0), entry("A-2", p1=3, p2=4)]}], 0, 9e9)
    assert others(reads) == [("A-2", 3, 1)]


def test_nothing_is_known_of_a_stranger_nor_without_places(cache: CacheWriter, reads: CacheReader) -> None:
    assert others(reads) == []
    cache.write_products([product("P1")])
    cache.write_stock([stock("P1", 9)])
    assert others(reads) == []


def test_reasons_that_orders_and_lines_have_named(cache: CacheWriter, reads: CacheReader) -> None:
    named = {"rejection_reason_code": "7", "rejection_reason_code_description": "Customer cancelled"}
    spilt: dict[str, Any] = {"rejection_reason_code": "31", "rejection_reason_code_description": "Spilt"}
    mute: dict[str, Any] = {"rejection_reason_code": "8", "rejection_reason_code_description": ""}
    put_orders(
        cache,
        order("1", line(1, "P1"), is_rejected=True, **named),
        order("2", line(1, "P1", **spilt), line(2, "P2", **spilt)),
        order("3", line(1, "P1", **mute), is_rejected=True, **mute),
    )
    rows, _ = reads.query("short_reasons", {})
    assert rows == [{"code": "31", "text": "Spilt"}, {"code": "7", "text": "Customer cancelled"}]


def test_what_the_service_announces(cache: CacheWriter, reads: CacheReader) -> None:
    assert reads.query("features", {}) == ([], 0)
    cache.set_link(LinkRow(state="live", last_ok=1.0))
    assert reads.query("features", {}) == ([{"features": []}], 1)
    cache.set_link(LinkRow(features="idempotency=30d, Line-Reasons"))
    assert reads.query("features", {}) == ([{"features": ["idempotency", "line-reasons"]}], 1)
