"""Pending movements, counts and losses laid over the cached stock, on every page at once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import SEND
from aisle.stored_messages import store_text
from tests.cache.service_rows import line, location, order, product, put_orders, stock
from tests.clock import Clock
from tests.writes import STORE, enqueue


@pytest.fixture
def outbox(outbox_db: apsw.Connection, cache: CacheWriter, clock: Clock) -> OperationQueue:
    """A store with two shelves, a pick-up place, and an order with goods there."""
    cache.write_locations([location("A-1", 1), location("B-1", 2), location("PU", 3)])
    cache.write_products([product("P1"), product("P2")])
    entry = {"store_location_code": "A-1", "quantity": 5, "stock_pool_1": 3, "stock_pool_2": 2}
    first = stock("P1", 10, most_likely_pool_1=8, most_likely_pool_2=2)
    cache.write_stock([{**first, "store_locations": [entry]}, stock("P2", 4, places={"PU": 4})])
    held = {"location_code": "PU", "quantity": 4, "customer_order_number": "4101", "customer_order_line_number": 1}
    put_orders(cache, order("4101", line(1, "P2", 5, 4, store_locations=[held])))
    return OperationQueue(outbox_db, clock=clock)


def send(outbox: OperationQueue, op_id: str) -> None:
    """It is on its way."""
    with transaction(outbox._db):
        outbox._apply_event(op_id, SEND, sent_body=b"[]", sent=1)


def end(place: str = "", pool: int = 0, order_: str = "", line_: int = 0) -> dict[str, Any]:
    fields = {"location_code": place, "stock_pool": pool, "customer_order_number": order_}
    return {name: value for name, value in {**fields, "customer_order_line_number": line_}.items() if value}


def move(number: str, quantity: int, source: dict[str, Any], target: dict[str, Any]) -> Write:
    item = {"product_number": number, "quantity": Decimal(quantity), "from_location": source, "to_location": target}
    return Write("create-movement", (f"product/{number}",), {"store_number": STORE}, {"AppUserName": "U1"}, [item])


def logs(counted: bool, **entry: Any) -> Write:
    query = {"appUserName": "U1", "is_counted_quantity": counted}
    lanes = (f"product/{entry['product_number']}",)
    return Write("create-store-product-logs", lanes, {"store_number": STORE}, query, {"storeproductlog": [entry]})


def lying(reads: CacheReader, code: str) -> dict[str, Any]:
    """(quantity, quantity by pool) of each product at a place."""
    rows, _ = reads.query("location", {"location_code": code})
    return {row["product_number"]: (row["quantity"], row["pools"]) for row in rows[0]["products"]}


def test_a_movement_shows_at_both_ends_and_leaves_when_it_is_refused(
    outbox: OperationQueue, reads: CacheReader
) -> None:
    (op_id,) = enqueue(outbox, move("P1", 4, end("A-1"), end("B-1")))
    assert lying(reads, "A-1") == {"P1": (1, {"2": 1})}
    assert lying(reads, "B-1") == {"P1": (4, {"1": 3, "2": 1})}
    rows, _ = reads.query("product", {"product_number": "P1"})
    assert [(row["location_code"], row["quantity"]) for row in rows[0]["locations"]] == [("A-1", 1), ("B-1", 4)]
    assert rows[0]["most_likely_quantity"] == 10
    places, _ = reads.query("locations", {})
    assert [row["quantity"] for row in places] == [1, 4, 4]
    homes, _ = reads.query("locations_of_products", {"product_numbers": ["P1", "P9"]})
    assert [(row["location_code"], row["location_order"]) for row in homes] == [("A-1", 1), ("B-1", 2)]
    send(outbox, op_id)
    outbox.refuse(op_id, store_text("Only 3 of P1 can be moved from there."))
    assert lying(reads, "A-1") == {"P1": (5, {"1": 3, "2": 2})}
    assert lying(reads, "B-1") == {}
    refused, _ = reads.query("refused_operations", {"operation": "create-movement", "since": "2026-01-01"})
    body = move("P1", 4, end("A-1"), end("B-1")).body
    why = "Only 3 of P1 can be moved from there."
    told = {"op_id": op_id, "user": "U1", "why": why, "label": "P1", "body": body, "left": {}}
    assert refused == [told]
    assert reads.query("refused_operations", {"operation": "create-movement", "since": "2027"}) == ([], 0)


def test_a_whole_place_is_empty_and_what_comes_back_is_there(outbox: OperationQueue, reads: CacheReader) -> None:
    enqueue(outbox, move("P1", 5, end("A-1"), end("B-1")))
    assert lying(reads, "A-1") == {}
    enqueue(outbox, move("P1", 2, end("B-1", 2), end("A-1")))
    assert lying(reads, "A-1") == {"P1": (2, {"2": 2})}
    assert lying(reads, "B-1") == {"P1": (3, {"1": 3})}


def test_a_number_is_looked_up(reads: CacheReader, outbox: OperationQueue) -> None:
    found, _ = reads.query("records_by_number", {"code": "4101"})
    assert [(row["kind"], row["key"]) for row in found] == [("order", "4101")]
    assert reads.query("records_by_number", {"code": "77"}) == ([], 0)


def test_from_pool_to_pool_moves_the_totals_with_it(outbox: OperationQueue, reads: CacheReader) -> None:
    enqueue(outbox, move("P1", 2, end("A-1", 1), end("A-1", 2)))
    assert lying(reads, "A-1") == {"P1": (5, {"1": 1, "2": 4})}
    rows, _ = reads.query("product", {"product_number": "P1"})
    assert [(row["pool"], row["quantity"]) for row in rows[0]["pools"]] == [(1, 6), (2, 4)]


def test_more_than_the_books_have_leaves_less_than_nothing(outbox: OperationQueue, reads: CacheReader) -> None:
    enqueue(outbox, move("P1", 9, end("A-1", 1), end("B-1")))
    assert lying(reads, "A-1") == {"P1": (-4, {"1": -6, "2": 2})}


@pytest.mark.parametrize("pool", [0, 1])
@pytest.mark.parametrize(
    ("taken", "counted", "left"), [("10:00", "10:05", 1), ("10:10", "10:05", -2), ("", "10:05", -2)]
)
def test_goods_that_left_before_a_count_leave_once(
    outbox: OperationQueue, reads: CacheReader, taken: str, counted: str, left: int, pool: int
) -> None:
    entry = {"product_number": "P1", "location_code": "A-1", "stock_pool_1" if pool else "counted_quantity": Decimal(1)}
    enqueue(outbox, logs(True, **entry, scanned_datetime=f"2026-11-20T{counted}:00Z"))
    moved = move("P1", 3, end("A-1", pool), end("B-1"))
    time = {"taken_datetime": f"2026-11-20T{taken}:00.000000Z"} if taken else {}
    enqueue(outbox, moved._replace(body=[moved.body[0] | time]))
    there, arrived = lying(reads, "A-1").get("P1", (0, {})), lying(reads, "B-1")["P1"]
    if left == 1:
        assert (there, arrived) == ((3, {"1": 1, "2": 2}), (3, {"1": 3}))
    else:
        assert (there[0], arrived[0]) == (0, 3)
    (row,), _ = reads.query("product", {"product_number": "P1"})
    assert row["most_likely_quantity"] == 10 - 2 + (3 if left == 1 else 0)


def test_what_is_held_moves_with_its_order(outbox: OperationQueue, reads: CacheReader) -> None:
    enqueue(outbox, move("P2", 3, end("PU", 0, "4101", 1), end("B-1", 0, "4101", 1)))
    for code, held in (("PU", 1), ("B-1", 3)):
        rows, _ = reads.query("location", {"location_code": code})
        assert [row["held"] for row in rows[0]["products"]] == [
            [{"order_number": "4101", "line_number": 1, "quantity": held}]
        ]
    orders, _ = reads.query("order", {"order_number": "4101"})
    assert [(row["location_code"], row["quantity"]) for row in orders[0]["lines"][0]["put_down"]] == [
        ("PU", 1),
        ("B-1", 3),
    ]


def test_counts_replace_and_losses_add(outbox: OperationQueue, reads: CacheReader) -> None:
    enqueue(outbox, logs(True, product_number="P1", location_code="A-1", stock_pool_1=Decimal(7)))
    assert lying(reads, "A-1") == {"P1": (9, {"1": 7, "2": 2})}
    enqueue(outbox, logs(True, product_number="P1", location_code="A-1", counted_quantity=Decimal(1)))
    enqueue(outbox, logs(False, product_number="P1", location_code="A-1", stock_pool_2=Decimal(-1)))
    assert lying(reads, "A-1") == {"P1": (2, {"1": 1, "2": 1})}
    rows, _ = reads.query("product", {"product_number": "P1"})
    assert rows[0]["most_likely_quantity"] == 7
    enqueue(outbox, logs(True, product_number="P2", counted_quantity=Decimal(6)))
    rows, _ = reads.query("product", {"product_number": "P2"})
    assert rows[0]["most_likely_quantity"] == 6
    found, _ = reads.query("search", {"search": "product"})
    assert {row["product_number"]: row["most_likely_quantity"] for row in found} == {"P1": 7, "P2": 6}


@pytest.mark.parametrize(
    ("count", "pools"),
    [
        ({"stock_pool_1": 3, "stock_pool_2": 4}, {"1": 3, "2": 4}),
        ({"stock_pool_1": 7}, {"1": 7}),
        ({"counted_quantity": 7}, {"1": 7}),
    ],
)
def test_counted_pools_replace_a_quantity_without_pools(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, count: dict[str, int], pools: dict[str, int]
) -> None:
    with_pools = {"store_location_code": "A-1", "quantity": 5, "stock_pool_1": 5}
    without = {"store_location_code": "B-1", "quantity": 5}
    cache.write_stock([{**stock("P1", 10), "store_locations": [with_pools, without]}])
    counted = {name: Decimal(quantity) for name, quantity in count.items()}
    enqueue(outbox, logs(True, product_number="P1", location_code="B-1", **counted))
    assert lying(reads, "B-1") == {"P1": (7, pools)}
    assert reads.query("product", {"product_number": "P1"})[0][0]["most_likely_quantity"] == 12


def test_count_of_two_pools_of_the_whole_store_is_their_sum(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader
) -> None:
    with_pools = {"store_location_code": "A-1", "quantity": 5, "stock_pool_1": 5}
    cache.write_stock([{**stock("P1", 20), "store_locations": [with_pools]}])
    enqueue(outbox, logs(True, product_number="P1", stock_pool_1=Decimal(3), stock_pool_2=Decimal(4)))
    assert reads.query("product", {"product_number": "P1"})[0][0]["most_likely_quantity"] == 7


def test_an_operation_that_was_read_back_is_not_laid_over_again(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader
) -> None:
    (op_id,) = enqueue(outbox, move("P1", 5, end("A-1"), end("B-1")))
    send(outbox, op_id)
    outbox.confirm(op_id)
    assert lying(reads, "B-1")["P1"][0] == 5
    cache.write_stock([stock("P1", 10, places={"B-1": 5})])
    outbox.mark_read_back(op_id)
    assert lying(reads, "B-1") == {"P1": (5, {"1": 5})}


def test_a_log_that_the_stock_has_already_is_not_laid_over_it(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, clock: Clock
) -> None:
    (op_id,) = enqueue(outbox, logs(False, product_number="P1", location_code="A-1", stock_pool_1=Decimal(-2)))
    send(outbox, op_id)
    outbox.confirm(op_id)
    assert lying(reads, "A-1") == {"P1": (3, {"1": 1, "2": 2})}
    entry = {"store_location_code": "A-1", "quantity": 3, "stock_pool_1": 1, "stock_pool_2": 2}
    fresh = [{**stock("P1", 8, most_likely_pool_1=6, most_likely_pool_2=2), "store_locations": [entry]}]
    cache.write_stock(fresh, 0, clock.now - 1)
    assert lying(reads, "A-1") == {"P1": (1, {"1": -1, "2": 2})}
    assert cache.write_stock(fresh, 0, clock.now + 1).changed == ()
    assert lying(reads, "A-1") == {"P1": (3, {"1": 1, "2": 2})}
    rows, _ = reads.query("product", {"product_number": "P1"})
    assert rows[0]["most_likely_quantity"] == 8
    assert reads.query("locations_of_products", {"product_numbers": ["P1"]})[0][0]["quantity"] == 3


def test_stock_read_without_locations_is_at_none(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, clock: Clock
) -> None:
    (op_id,) = enqueue(outbox, logs(False, product_number="P2", location_code="PU", quantity=Decimal(-1)))
    send(outbox, op_id)
    outbox.confirm(op_id)
    cache.write_stock([stock("P2", 3)], 0, clock.now + 1)
    assert lying(reads, "PU") == {}
    rows, _ = reads.query("product", {"product_number": "P2"})
    assert rows[0]["most_likely_quantity"] == 3


def test_what_is_held_is_as_old_as_the_lines_of_its_order(
    outbox: OperationQueue, cache: CacheWriter, reads: CacheReader, clock: Clock
) -> None:
    (op_id,) = enqueue(outbox, move("P2", 3, end("PU", 0, "4101", 1), end("B-1", 0, "4101", 1)))
    send(outbox, op_id)
    outbox.confirm(op_id)
    held = [
        {"location_code": code, "quantity": n, "customer_order_number": "4101", "customer_order_line_number": 1}
        for code, n in (("PU", 1), ("B-1", 3))
    ]
    cache.write_orders([order("4101", line(1, "P2", 5, 4, store_locations=held))], True, clock.now + 1)
    for code, there in (("PU", 1), ("B-1", 3)):
        rows, _ = reads.query("location", {"location_code": code})
        assert [row["held"][0]["quantity"] for row in rows[0]["products"]] == [there]


def test_what_is_under_way_is_known_by_its_products(outbox: OperationQueue, clock: Clock) -> None:
    first, second = enqueue(outbox, move("P1", 1, end("A-1"), end("B-1")), move("P/2", 1, end("PU"), end("B-1")))
    assert outbox.records_changed_since(0) == frozenset()
    send(outbox, first)
    send(outbox, second)
    assert outbox.records_changed_since(clock.now) == {"P1", "P/2"}
    outbox.confirm(first)
    assert outbox.records_changed_since(clock.now - 1) == {"P1", "P/2"}
    assert outbox.records_changed_since(clock.now) == {"P/2"}
    outbox.retry_later(second, store_text("no answer"), 0)
    assert outbox.records_changed_since(clock.now) == {"P/2"}
    send(outbox, second)
    outbox.refuse(second, store_text("No."))
    assert outbox.records_changed_since(clock.now) == frozenset()


def test_goods_go_where_they_lie_or_else_where_orders_would_have_them(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_locations([location("A-1", 1), location("B-1", 2)])
    cache.write_products([product("P1"), product("P2")])
    cache.write_stock([stock("P1", 2, places={"B-1": 2})])
    wanted = [
        order(number, line(1, "P1", preferred_location_code=first), line(2, "P2", preferred_location_code=second))
        for number, first, second in (("1", "B-1", "A-1"), ("2", "A-1", "B-1"), ("3", "A-1", "B-1"), ("4", "", None))
    ]
    put_orders(cache, *wanted)
    rows, total = reads.query("locations_of_products", {"product_numbers": ["P1", "P2"]})
    assert [(row["product_number"], row["location_code"], row["quantity"]) for row in rows] == [
        ("P1", "B-1", 2),
        ("P1", "A-1", 0),
        ("P2", "B-1", 0),
        ("P2", "A-1", 0),
    ]
    assert [row["location_order"] for row in rows] == [2, 1, 2, 1]
    assert total == 4


def test_arrived_items_of_partial_movement_leave_overlay(outbox: OperationQueue, reads: CacheReader) -> None:
    """Whoever has read it as a whole before hears of it too."""
    both = [move("P1", 2, end("A-1"), end("B-1")).body[0], move("P2", 1, end("PU"), end("B-1")).body[0]]
    (op_id,) = enqueue(outbox, move("P1", 2, end("A-1"), end("B-1"))._replace(body=both))
    send(outbox, op_id)
    outbox.mark_in_doubt(op_id, store_text("no answer"))
    assert sorted(lying(reads, "B-1")) == ["P1", "P2"]
    outbox.requeue(op_id, store_text("partly"), {}, (1,))
    assert sorted(lying(reads, "B-1")) == ["P2"]


def picked(was: int, now: int, place: str = "A-1", pool: int = 1) -> Write:
    """A line of an order, `was` picked of P1 before and `now` so much, at a place."""
    said: dict[str, Any] = {"line_number": 2, "product_number": "P1", "picked_quantity": Decimal(now)}
    said |= {"base_picked_quantity": Decimal(was), "preferred_location_code": place}
    said |= {"stock_pool": pool} if pool else {}
    body = {"orders": {"order_number": "4101", "order_lines": [said]}}
    return Write("update-customer-order", ("order/4101",), {"store_number": STORE}, {}, body)


def test_pick_leaves_location_and_stays_in_store_total_until_read(
    outbox: OperationQueue, reads: CacheReader, cache: CacheWriter, clock: Clock
) -> None:
    (op_id,) = enqueue(outbox, picked(0, 2))
    assert lying(reads, "A-1") == {"P1": (3, {"1": 1, "2": 2})}
    rows, _ = reads.query("product", {"product_number": "P1"})
    assert rows[0]["most_likely_quantity"] == 10
    assert [(row["location_code"], row["quantity"]) for row in rows[0]["locations"]] == [("A-1", 3)]
    assert reads.query("locations_of_products", {"product_numbers": ["P1"]})[0][0]["quantity"] == 3
    send(outbox, op_id)
    assert outbox.records_changed_since(clock.now) == {"P1"}
    outbox.confirm(op_id)
    assert lying(reads, "A-1") == {"P1": (3, {"1": 1, "2": 2})}
    entry = {"store_location_code": "A-1", "quantity": 3, "stock_pool_1": 1, "stock_pool_2": 2}
    cache.write_stock([{**stock("P1", 10), "store_locations": [entry]}], 0, clock.now + 1)
    assert lying(reads, "A-1") == {"P1": (3, {"1": 1, "2": 2})}
    enqueue(outbox, picked(2, 1))
    assert lying(reads, "A-1") == {"P1": (4, {"1": 2, "2": 2})}


def test_what_the_books_lack_is_picked_from_nowhere_and_goes_back_there(
    outbox: OperationQueue, reads: CacheReader
) -> None:
    (first,) = enqueue(outbox, picked(0, 4))
    assert lying(reads, "A-1") == {"P1": (2, {"2": 2})}
    send(outbox, first)
    enqueue(outbox, picked(4, 3))
    assert lying(reads, "A-1") == {"P1": (2, {"2": 2})}
    enqueue(outbox, picked(3, 1))
    assert lying(reads, "A-1") == {"P1": (4, {"1": 2, "2": 2})}


def test_a_count_after_a_pick_is_what_lies_there(outbox: OperationQueue, reads: CacheReader) -> None:
    enqueue(outbox, picked(0, 4, pool=0))
    assert lying(reads, "A-1") == {"P1": (1, {"2": 1})}
    enqueue(outbox, logs(True, product_number="P1", location_code="A-1", counted_quantity=Decimal(1), pool_location=2))
    assert lying(reads, "A-1") == {"P1": (1, {"2": 1})}
    assert reads.query("product", {"product_number": "P1"})[0][0]["most_likely_quantity"] == 10


def test_a_pick_at_a_place_that_the_books_do_not_have_changes_none(outbox: OperationQueue, reads: CacheReader) -> None:
    enqueue(outbox, picked(0, 2, "B-1"))
    assert lying(reads, "A-1") == {"P1": (5, {"1": 3, "2": 2})}
    assert lying(reads, "B-1") == {}


def test_pick_without_pools_reduces_location_total(
    outbox: OperationQueue, reads: CacheReader, cache: CacheWriter
) -> None:
    cache.write_stock([{**stock("P1", 5), "store_locations": [{"store_location_code": "A-1", "quantity": 5}]}])
    enqueue(outbox, picked(0, 3))
    assert lying(reads, "A-1") == {"P1": (2, {})}
    enqueue(outbox, picked(3, 2))
    assert lying(reads, "A-1") == {"P1": (3, {})}


@pytest.mark.parametrize(
    ("after", "read_at", "there"),
    [
        ({"A-1": "3", "B-1": "2"}, 9e9, 3),
        ({"A-1": "3", "B-1": "2"}, 1.0, 1),
        ({"A-1": "5", "B-1": "0"}, 9e9, 1),
        ({"A-1": "3", "B-1": "0"}, 9e9, 1),
        (None, 9e9, 1),
    ],
)
def test_a_doubt_that_the_stock_shows_is_not_laid_over_it_again(
    outbox: OperationQueue,
    cache: CacheWriter,
    reads: CacheReader,
    after: dict[str, str] | None,
    read_at: float,
    there: int,
) -> None:
    (op_id,) = enqueue(outbox, move("P1", 2, end("A-1", 1), end("B-1", 1)))
    assert lying(reads, "A-1")["P1"][0] == 3
    send(outbox, op_id)
    outbox.mark_in_doubt(op_id, store_text("no answer"))
    entries = [
        {"store_location_code": "A-1", "quantity": 3, "stock_pool_1": 1, "stock_pool_2": 2},
        {"store_location_code": "B-1", "quantity": 2, "stock_pool_1": 2},
    ]
    cache.write_stock([{**stock("P1", 10), "store_locations": entries}], 0, read_at)
    assert lying(reads, "A-1")["P1"][0] == 1, "nobody has looked yet"
    evidence: dict[str, Any] = {"before": {"stock": {"P1": {"A-1": "5", "B-1": "0"}}}, "looked_at": 5.0}
    outbox.ask_person(
        op_id, store_text("why"), evidence=evidence | ({"after": {"stock": {"P1": after}}} if after else {})
    )
    assert lying(reads, "A-1")["P1"][0] == there
