"""Queries of exceptions: incremental lists equal a fresh read of everything."""

from __future__ import annotations

import json
import random
from contextlib import closing
from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache.log_entries_and_undo import is_undone, undone_entries
from aisle.cache.reader import CacheReader
from aisle.cache.row_parsing_and_writing import difference_of_count, entry_price, negative_stock
from aisle.cache.stored_row_values import prices_of
from aisle.cache.writer import CacheWriter, LinkRow
from aisle.host.database import fetch, transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import LocalNote, Write
from aisle.jobs.log_writes_and_refusals import log_write
from aisle.operation_body_types import UNDO_PREFIX
from aisle.outbox.local_notes import notes_of_topic, save_note
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Intent
from aisle.row_values import to_decimal
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.cache.service_rows import put_orders
from tests.writes import ANNA, update

Row = dict[str, Any]


def moment(second: int) -> str:
    return f"2026-03-05T09:{second // 60:02}:{second % 60:02}.000Z"


def random_entry(chance: random.Random, id_: int) -> Row:
    """A count, mostly, or one that takes an earlier one back by its number or by its moment."""
    usual = {"id": id_, "store_number": "0001", "product_number": f"P{chance.randrange(5)}", "location_code": "A-1"}
    usual |= {"app_user_name": chance.choice(("U1", "U2", "")), "created_on": moment(id_)}
    usual |= {"stock_pool": chance.choice((1, 2))} if chance.random() < 0.7 else {}
    if chance.random() < 0.1:
        late = {"quantity": 1, "source": "late", "created_on": moment(chance.randrange(max(1, id_)))}
        return {name: usual[name] for name in usual if name != "app_user_name"} | late
    if chance.random() < 0.25:
        earlier = chance.randrange(max(1, id_))
        return {**usual, "quantity": 1, "reference": f"{UNDO_PREFIX}{chance.choice((earlier, moment(earlier)))}"}
    counted: Row = {"counted_quantity": chance.randrange(4), "quantity": chance.choice((0, 2))}
    counted |= {"expected_quantity": chance.choice((0, 2, 2.5))} if chance.random() < 0.8 else {}
    counted |= {"price": chance.choice((1.5, 40))} if chance.random() < 0.3 else {}
    return {**usual, **counted, "review_status": chance.choice(("1", "1", "2"))}


def whole(cache: apsw.Connection, outbox: apsw.Connection) -> list[tuple[str, Decimal, bool]]:
    """(key, value, whether that is known) of all that the log has, as its order says."""
    seen, found = notes_of_topic(outbox, "review"), []
    late: list[tuple[str, int | None, str]] = []
    gone = undone_entries(cache, outbox, "2026-01-01T00:00:00.000Z")
    logged = {str(name) for (name,) in fetch(cache, "SELECT name FROM log_undo")}
    for key, at, product, user, raw in fetch(cache, "SELECT key, at, product_number, app_user_name, raw FROM log"):
        entry = json.loads(raw)
        row: Any = {"id": key, "said": at, "product_number": product, "location_code": "A-1", "app_user_name": user}
        pool = entry.get("stock_pool")
        late += [(product, pool, at)] if entry.get("source") == "late" else []
        if entry.get("counted_quantity") is None or is_undone(row, logged):
            continue
        if is_undone(row, gone):
            continue
        difference = difference_of_count(entry, user)
        if difference is None or key in seen:
            continue
        price = entry_price(entry) or prices_of(cache, [product]).get(product)
        value = difference * to_decimal(price)
        found.append((-abs(value), -abs(difference), key, value, price is not None, (product, pool, at)))
    return [
        (key, value, known)
        for _, _, key, value, known, count in sorted(found)
        if not any(takes_back(entry, count) for entry in late)
    ]


def takes_back(late: tuple[str, int | None, str], count: tuple[str, int | None, str]) -> bool:
    """Whether an entry (product, pool, time) takes back what a count of these goods changed."""
    (product, pool, at), (other_product, other_pool, other_at) = late, count
    return (product, at) == (other_product, other_at) and (None in (pool, other_pool) or pool == other_pool)


@pytest.mark.parametrize("seed", range(6))
def test_differences_are_those_of_the_whole_log(
    reads: CacheReader, cache: CacheWriter, cache_db: apsw.Connection, outbox_db: apsw.Connection, seed: int
) -> None:
    chance = random.Random(seed)
    cache.write_products([service_rows.product(f"P{n}", price=n) for n in range(5)])
    for step in range(8):
        cache.write_logs([random_entry(chance, chance.randrange(150)) for _ in range(25)], moment(step * 5))
        cache.write_stock([service_rows.stock(f"P{chance.randrange(4)}", 3, price=chance.choice((0, 7, 12.25)))])
        with transaction(outbox_db):
            save_note(outbox_db, LocalNote("review", str(chance.randrange(150)), "approved"), "U1", 1772704800.0)
            entry = {"product_number": f"P{step % 5}", "location_code": "a-1", "quantity": 1}
            entry |= {"reference": f"{UNDO_PREFIX}{chance.randrange(150)}", "app_user_name": "U2"}
            body = {"storeproductlog": [entry]}
            write = Write("create-store-product-logs", ("product/P",), {"store_number": "0001"}, {}, body)
            OperationQueue(outbox_db).enqueue([Intent(write)], ANNA)
        listed = whole(cache_db, outbox_db)
        for first in range(0, len(listed) + 4, 4):
            rows, total = reads.query("differences", {"first": first, "size": 4})
            assert [(row["key"], row["value"], row["known"]) for row in rows] == listed[first : first + 4]
            assert total == len(listed)
        some = [key for key, _, _ in chance.sample(listed, min(3, len(listed)))]
        named, _ = reads.query("differences", {"keys": [*some, "none"]})
        assert [row["key"] for row in named] == [key for key, _, _ in listed if key in some]
        (row,), _ = reads.query("exceptions", {"now": "2026-03-05T10:00:00+00:00", "minutes": 60})
        assert (row["differences"], row["value"]) == (len(listed), sum(abs(value) for _, value, _ in listed))


@pytest.mark.parametrize("seed", range(4))
def test_what_cannot_be_is_that_of_all_stock_and_all_lines(
    reads: CacheReader, cache: CacheWriter, cache_db: apsw.Connection, seed: int
) -> None:
    chance = random.Random(seed)
    for generation in range(1, 6):
        products = [
            service_rows.product(f"P{n}", chance.choice(("Apple", "Bread", ""))) for n in chance.sample(range(9), 5)
        ]
        cache.write_products(products)
        amounts = (-3, -1, 0, 2)
        stock = [
            service_rows.stock(f"P{n}", chance.choice(amounts), places={"A-1": chance.choice(amounts), "A-2": 1})
            for n in chance.sample(range(9), 6)
        ]
        cache.write_stock(stock, generation)
        if chance.random() < 0.5:
            cache.delete_unseen("stock", generation)
        picked = [chance.randrange(4) for _ in range(3)]
        lines = [service_rows.line(at, "P1", 2, of, moved_quantity=of) for at, of in enumerate(picked, 1)]
        cache.write_orders(
            [service_rows.order(str(chance.randrange(3)), *lines, is_active=chance.random() < 0.8)],
            lines_known=True,
            read_began=float(generation),
        )
        sql = """SELECT p.name, p.product_number, s.raw FROM stock s JOIN product p ON p.id = s.id
          WHERE instr(s.raw, ':-') ORDER BY 1, 2"""
        listed = [
            ("below", product, place, quantity)
            for _, product, raw in fetch(cache_db, sql)
            for place, quantity in negative_stock(json.loads(raw))
        ]
        sql = """SELECT l.product_number, l.raw FROM line l JOIN orders o ON o.order_number = l.order_number
          WHERE o.state < 2 ORDER BY l.order_number, l.line_number"""
        for product, raw in fetch(cache_db, sql):
            more = json.loads(raw)["picked_quantity"] - json.loads(raw)["quantity"]
            listed += [("more", product, "", more)] if more > 0 else []
        for first in range(0, len(listed) + 3, 3):
            rows, total = reads.query("negative_stock", {"first": first, "size": 3})
            found = [(row["kind"], row["product_number"], row["location_code"], row["quantity"]) for row in rows]
            assert (found, total) == (listed[first : first + 3], len(listed))


def test_late_orders_are_counted_as_they_are_listed(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    days = ("2026-03-04", "2026-03-05", "2026-03-05T09:00:00", "2026-03-05T11:00:00", "2026-03-06", "", "2025")
    orders = [
        service_rows.order(f"{number}", service_rows.line(1, "P1", 3, number % 3), pickup_date=days[number % 7])
        for number in range(1, 40)
    ]
    put_orders(cache, *orders)
    moved = [{**order, "pickup_date": "2026-03-01"} for order in orders[:5]]
    cache.write_orders([*moved, {**orders[7], "is_picked": True}], lines_known=True, read_began=2.0)
    cache.delete_absent_orders(["9"], read_began=3.0)
    with transaction(outbox_db):
        said = [Intent(update(number, {1: 3}, is_picked=True)) for number in ("1", "14")]
        OperationQueue(outbox_db).enqueue(said, ANNA)
    now = "2026-03-05T10:00:00+00:00"
    (row,), _ = reads.query("exceptions", {"now": now, "minutes": 60})
    late = {"status": ["open", "partial"], "late": True, "now": now, "size": 100}
    assert 0 < row["late"] == reads.query("order_board", late)[1]


def test_who_is_at_work_is_found_without_a_look_at_all_open_orders(reads: CacheReader) -> None:
    asked: list[str] = []
    reads.query("exceptions", {"now": "2026-03-05T10:00:00+00:00", "minutes": 60})
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    reads.query("stuck", {"now": "2026-03-05T10:00:00+00:00", "minutes": 60})
    reads._cache.trace_v2(0, None)
    plans = [
        str(step[3])
        for sql in asked
        if "orders_at_work" in sql
        for step in reads._cache.execute(f"EXPLAIN QUERY PLAN {sql}")
    ]
    assert any("orders_at_work" in step for step in plans)
    assert not any(step.startswith("SCAN orders") for step in plans), plans


OVERDRAWN = [
    # stock in all, at places, in hand of each order, stock read before the orders, more than there was
    (3, 3, (), False, 0),
    (3, 1, (2,), False, 0),
    (3, 0, (2, 1), False, 0),
    (3, 0, (2, 1, 2), False, 2),
    (1, 0, (2,), False, 1),
    (0, 0, (1,), False, 1),
    (0, 0, (), False, 0),
    (5, 3, (1, 1), False, 0),
    (5, 3, (1, 1, 1), False, 1),
    (3, 3, (2,), True, 0),
    (3, 0, (2, 1, 2), True, 0),
]


OURS = "changes, claims"
"""What our own service announces, as far as matters here."""


def overdrawn(reads: CacheReader) -> list[tuple[str, Decimal]]:
    """What more was picked of than the stock had, as the list tells it; the counter says as many."""
    rows, total = reads.query("negative_stock", {"first": 0, "size": 99})
    (row,), _ = reads.query("exceptions", {"now": "2026-03-05T10:00:00+00:00", "minutes": 60})
    assert row["negative_stock"] == total == len(rows)
    return [(row["product_number"], row["quantity"]) for row in rows if row["kind"] == "overdrawn"]


@pytest.mark.parametrize(("whole", "lying", "hands", "before", "more"), OVERDRAWN)
def test_more_in_hand_than_the_stock_had_is_an_exception(
    reads: CacheReader, cache: CacheWriter, whole: int, lying: int, hands: tuple[int, ...], before: bool, more: int
) -> None:
    cache.set_link(LinkRow(features=OURS))
    cache.write_products([service_rows.product("P1", "Apple")])
    cache.write_stock([service_rows.stock("P1", whole, places={"A-1": lying})], read_began=2.0 if before else 9.0)
    orders = [
        service_rows.order(f"O{n}", service_rows.line(1, "P1", quantity, quantity)) for n, quantity in enumerate(hands)
    ]
    cache.write_orders(orders, lines_known=True, read_began=5.0)
    assert overdrawn(reads) == ([("P1", Decimal(more))] if more else [])


NOT_OVERDRAWN: list[tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    # the case, what the service announces, and what stock entry, product and line say
    ("a bag that no stock is kept of", OURS, {"is_stock": False}, {}, {}),
    ("the same in words", OURS, {"is_stock": "false"}, {}, {}),
    ("a service, by the catalogue", OURS, {"is_stock": None}, {"is_stock": False}, {}),
    ("a line picked in the warehouse", OURS, {}, {}, {"aisle": {"is_picked_from_warehouse": True}}),
    ("the same beside all else", OURS, {}, {}, {"is_picked_from_warehouse": True}),
    ("fractions that add up to a little more", OURS, {"most_likely_quantity": 0.3}, {}, {"picked_quantity": 0.1}),
    ("another service, which may leave out what is picked", "", {}, {}, {}),
    ("stock that is below none, which is told for itself", OURS, {"most_likely_quantity": -1}, {}, {}),
]


@pytest.mark.parametrize(("features", "stock", "product", "line"), [case[1:] for case in NOT_OVERDRAWN])
def test_what_nobody_can_know_to_be_too_much_is_no_exception(
    reads: CacheReader,
    cache: CacheWriter,
    features: str,
    stock: dict[str, Any],
    product: dict[str, Any],
    line: dict[str, Any],
) -> None:
    cache.set_link(LinkRow(state="live", last_ok=900.0, features=features))
    cache.write_products([service_rows.product("P1", "Apple", **product)])
    cache.write_stock([service_rows.stock("P1", **{"quantity": 0, "places": {}, **stock})], read_began=9.0)
    orders = [service_rows.order(f"O{n}", service_rows.line(1, "P1", 2, 2) | line) for n in range(3)]
    cache.write_orders(orders, lines_known=True, read_began=5.0)
    assert overdrawn(reads) == []


@pytest.mark.parametrize("seed", range(6))
def test_incremental_overdrawn_list_matches_fresh_read(
    home: StoreFolder, outbox_db: apsw.Connection, reads: CacheReader, cache: CacheWriter, seed: int
) -> None:
    chance, found = random.Random(seed), 0
    cache.set_link(LinkRow(features=OURS))
    for turn in range(1, 40):
        some = chance.sample(range(6), chance.randrange(4))
        match chance.randrange(5):
            case 0:
                entries = [
                    service_rows.stock(f"P{n}", chance.randrange(5), places={"A-1": chance.randrange(3)}) for n in some
                ]
                cache.write_stock(entries, read_began=float(turn))
            case 1:
                cache.write_products([service_rows.product(f"P{n}", f"Apple {turn}") for n in some])
            case 2:
                cache.delete_absent_orders([f"O{n}" for n in some], read_began=float(turn))
            case _:
                for number in some:
                    picked = [service_rows.line(at, f"P{chance.randrange(6)}", 2, chance.randrange(3)) for at in (1, 2)]
                    order = service_rows.order(f"O{number}", *picked, is_active=chance.random() < 0.8)
                    cache.write_orders([order], lines_known=True, read_began=float(turn))
        with closing(CacheReader(home, outbox_db)) as fresh:
            assert overdrawn(reads) == overdrawn(fresh)
        found += bool(overdrawn(reads))
    assert found


def test_a_look_at_what_has_not_changed_goes_through_no_stock(reads: CacheReader, cache: CacheWriter) -> None:
    cache.set_link(LinkRow(features=OURS))
    cache.write_products([service_rows.product(f"P{n}", "Apple") for n in range(50)])
    cache.write_stock([service_rows.stock(f"P{n}", 9, places={"A-1": 2}) for n in range(50)], read_began=9.0)
    lines = [service_rows.line(n + 1, f"P{n}", 2, 2) for n in range(50)]
    cache.write_orders([service_rows.order("O1", *lines)], lines_known=True, read_began=5.0)
    overdrawn(reads)
    asked: list[str] = []
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    overdrawn(reads)
    reads._cache.trace_v2(0, None)
    assert not [sql for sql in asked if "in_hand" in sql]


def test_stock_that_was_read_long_before_is_believed(reads: CacheReader, cache: CacheWriter) -> None:
    cache.set_link(LinkRow(features=OURS))
    cache.write_products([service_rows.product("P1", "Apple")])
    cache.write_stock([service_rows.stock("P1", 3, places={"A-1": 0})], read_began=2.0)
    cache.write_orders([service_rows.order("O1", service_rows.line(1, "P1", 5, 5))], lines_known=True, read_began=5.0)
    assert reads.query("negative_stock", {})[1] == 0
    cache.set_link(LinkRow(state="live", last_ok=200.0))
    assert reads.query("negative_stock", {})[1] == 1


def to_review(reads: CacheReader, **window: int) -> list[str]:
    """The keys of the entries to review, counted as they are listed."""
    rows, total = reads.query("entries_to_review", window)
    (counts,), _ = reads.query("exceptions", {"now": "2026-03-05T10:00:00+00:00", "minutes": 60})
    assert counts["entries_to_review"] == total
    assert window or total == len(rows)
    return [row["key"] for row in rows]


def entry_of(id_: int, status: int = 1, **fields: Any) -> Row:
    """A log entry with this review status."""
    told = {"id": id_, "product_number": "P1", "location_code": "A-1", "quantity": -2, "created_on": moment(id_)}
    return {**told, "app_user_name": "U1", "review_status": str(status), **fields}


def test_entries_to_review_are_listed_until_reviewed(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    undone = {"quantity": 1, "reference": f"{UNDO_PREFIX}6"}
    differing = {"counted_quantity": 1, "expected_quantity": 3}
    kinds = [entry_of(4, **differing), entry_of(5, counted_quantity=3, expected_quantity=3), entry_of(6, **differing)]
    entries = [
        entry_of(1),
        entry_of(2, 2),
        entry_of(3, 0),
        *kinds,
        entry_of(7, 0, **undone),
        entry_of(8, source="pick"),
    ]
    cache.write_logs(entries, moment(0))
    assert to_review(reads) == [], "the service is not known to keep reviews"
    cache.set_link(LinkRow(state="live", last_ok=900.0, features="reviews"))
    assert to_review(reads) == ["8", "6", "5", "1"], "a difference is listed among the counts"
    assert to_review(reads, first=1, size=2) == ["6", "5"]
    for status, listed in ((2, ["6", "5", "1"]), (1, ["8", "6", "5", "1"]), (2, ["6", "5", "1"])):
        body = {"reviews": [{"id": 8, "review_status": status}]}
        with transaction(outbox_db):
            OperationQueue(outbox_db).enqueue([Intent(Write("review-logs", ("log/8",), {}, {}, body))], ANNA)
        assert to_review(reads) == listed
    cache.write_logs([entry_of(1, 2), entry_of(6, 2)], moment(0))
    assert to_review(reads) == ["5"]


def test_receipt_of_excess_is_no_entry_to_review(reads: CacheReader, cache: CacheWriter) -> None:
    cache.set_link(LinkRow(state="live", last_ok=900.0, features="reviews"))
    cache.write_logs([entry_of(1, source="receipt", reference="D1"), entry_of(2, source="pick")], moment(0))
    for received, listed, excess in ((5, ["2"], 1), (3, ["2", "1"], 0)):
        line = {"line_number": 1, "product_number": "P1", "quantity": 3, "received_quantity": received}
        cache.write_deliveries([{"order_number": "D1", "order_lines": [line]}], 900.0 - received)
        assert to_review(reads) == listed
        assert reads.query("excess_receipts", {})[1] == excess


def test_entries_to_review_are_found_by_their_index(reads: CacheReader, cache: CacheWriter) -> None:
    cache.set_link(LinkRow(state="live", last_ok=900.0, features="reviews"))
    cache.write_logs([entry_of(1)], moment(0))
    asked: list[str] = []
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    to_review(reads)
    reads._cache.trace_v2(0, None)
    for sql in (sql for sql in asked if "log_to_review" in sql):
        plan = [str(step[3]) for step in reads._cache.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))]
        assert plan[0].startswith("SCAN l USING ")
        assert "log_to_review" in plan[0]
        assert "USE TEMP B-TREE FOR ORDER BY" not in plan


@pytest.mark.parametrize(("counted", "is_corrected"), [(0, True), (4, True), (-1, False)])
def test_negative_stock_is_corrected_by_a_count_that_waits(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, counted: int, is_corrected: bool
) -> None:
    cache.write_products([service_rows.product("P1", "Sugar")])
    cache.write_stock([service_rows.stock("P1", -2, places={"A-1": -2})], read_began=2.0)
    entry: Any = {"product_number": "P1", "location_code": "A-1", "counted_quantity": counted}
    count = log_write([entry], ["P1"], "0001", "U1", is_count=True)
    for expected in (False, is_corrected):
        (row,), _ = reads.query("negative_stock", {})
        assert (row["quantity"], row["is_corrected"]) == (-2, expected)
        with transaction(outbox_db):
            OperationQueue(outbox_db).enqueue([Intent(count, occurred_at="2026-03-05T09:00:00Z")], ANNA)


def differences(reads: CacheReader) -> list[str]:
    """The keys of the listed differences, counted as they are listed."""
    rows, total = reads.query("differences", {})
    (counts,), _ = reads.query("exceptions", {"now": "2026-03-05T10:00:00+00:00", "minutes": 60})
    assert (counts["differences"], counts["value"]) == (total, sum(abs(row["value"]) for row in rows))
    return sorted(row["key"] for row in rows)


COUNTED = {"counted_quantity": 11, "expected_quantity": 12, "stock_pool": 1}
LATER: dict[str, tuple[Row, bool]] = {
    "another figure": ({"counted_quantity": 13}, True),
    "the same figure": ({}, True),
    "as expected": ({"expected_quantity": 11}, True),
    "approved": ({"review_status": "2"}, True),
    "of somebody else": ({"app_user_name": "U2"}, True),
    "location in other letters": ({"location_code": "a-1"}, True),
    "all pools": ({"stock_pool": None}, True),
    "pool as a field": ({"stock_pool": None, "stock_pool_1": 11}, True),
    "another pool": ({"stock_pool": 2}, False),
    "another location": ({"location_code": "A-2"}, False),
    "whole store": ({"location_code": ""}, False),
    "another product": ({"product_number": "P2"}, False),
    "goods held for an order": ({"customer_order_number": "4101", "customer_order_line_number": 1}, False),
    "loss": ({"counted_quantity": None, "reason_code": 1}, False),
    "made before": ({"created_on": moment(1)}, False),
    "at the same time": ({"created_on": moment(5)}, False),
    "at an unknown time": ({"created_on": ""}, False),
}
"""A second count, and whether it is a later one of the same goods."""


@pytest.mark.parametrize("is_used", [True, False])
@pytest.mark.parametrize("arrives_first", [False, True])
@pytest.mark.parametrize("name", LATER)
def test_only_a_count_that_the_service_does_not_use_has_no_difference(
    reads: CacheReader, cache: CacheWriter, name: str, arrives_first: bool, is_used: bool
) -> None:
    """Each count that it uses has changed the stock, whoever counts later."""
    fields, is_later = LATER[name]
    cache.write_products([service_rows.product(f"P{n}", price=n) for n in (1, 2)])
    late = {"id": 10, "source": "late", "created_on": moment(5), "quantity": 1, "stock_pool": 1}
    entries = [entry_of(5, **COUNTED), entry_of(9, **{**COUNTED, **fields})]
    entries += [] if is_used else [{**entry_of(10, quantity=1), **late}]
    for entry in reversed(entries) if arrives_first else entries:
        cache.write_logs([entry], moment(0))
    assert ("5" in differences(reads)) is is_used
    (row,), _ = reads.query("log", {"key": "5"})
    assert row["superseded_at"] == (moment(9) if is_later and not is_used else "")
    assert "5" not in to_review(reads)


@pytest.mark.parametrize(
    ("figures", "value"),
    [
        (((10, 5), (5, 5)), 5),  # counted again
        (((13, 12), (12, 11)), 2),
        (((10, 4), (4, 6)), 8),
    ],
)
def test_differences_of_the_same_goods_stay_until_each_is_approved(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, figures: tuple[tuple[int, int], ...], value: int
) -> None:
    cache.write_products([service_rows.product("P1", price=1)])
    counts = [{**COUNTED, "expected_quantity": was, "counted_quantity": now} for was, now in figures]
    cache.write_logs([entry_of(5 + n, **each) for n, each in enumerate(counts)], moment(0))
    keys = [str(5 + n) for n, (was, now) in enumerate(figures) if was != now]
    assert differences(reads) == keys
    (row,), _ = reads.query("exceptions", {"now": "2026-03-05T10:00:00+00:00", "minutes": 60})
    assert row["value"] == value
    for key in list(keys):
        with transaction(outbox_db):
            save_note(outbox_db, LocalNote("review", key, "approved"), "U1", 1772704800.0)
        keys.remove(key)
        assert differences(reads) == keys


RECOUNTS: dict[str, bool] = {
    "ordered": True,
    "being ordered": True,
    "on this host": True,
    "elsewhere": False,
    "made": False,
    "made here": False,
    "withdrawn": False,
    "being withdrawn": False,
}
"""What became of a recount that was ordered of a difference, and whether that is left to the recount."""


@pytest.mark.parametrize("recount", RECOUNTS)
def test_difference_is_left_to_its_recount_until_that_is_made_or_withdrawn(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, recount: str
) -> None:
    """A second count confirms or corrects the first one; it approves nothing."""
    cache.write_logs([entry_of(5, **COUNTED)], moment(0))
    outbox, location = OperationQueue(outbox_db), "A-2" if recount == "elsewhere" else "a-1"
    ordered = {"id": 1, "product_number": "P1", "location_code": location, "ordered_on": moment(30), "state": "open"}

    def write(operation: str, body: Row) -> None:
        made = Write(operation, ("recount",), {"store_number": "0001"}, {}, body)
        with transaction(outbox_db):
            outbox.enqueue([Intent(made, occurred_at="2026-03-05T10:00:00Z")], ANNA)

    with transaction(outbox_db):
        save_note(outbox_db, LocalNote("review", "5", "recount"), "U1", 1772704800.0)
        if recount in ("on this host", "made here"):
            save_note(outbox_db, LocalNote("recount", "P1/A-1", "P1"), "U1", 1772704800.0)
    if recount in ("ordered", "elsewhere", "being withdrawn"):
        cache.write_recounts([ordered])
    if recount == "being ordered":
        write("write-recounts", {"recounts": [{"log_id": 5}]})
    if recount == "being withdrawn":
        write("write-recounts", {"recounts": [{"id": 1, "state": "withdrawn"}]})
    if recount == "made here":
        cache.write_logs([{**entry_of(9, **COUNTED), "created_on": "2026-03-05T11:00:00Z"}], moment(0))
    if recount == "made":
        cache.write_logs([entry_of(40, **{**COUNTED, "expected_quantity": 11})], moment(0))
    assert ("5" not in differences(reads)) is RECOUNTS[recount]


@pytest.mark.parametrize("state", ["queued", "sending", "done", "read back", "rejected", "undone"])
@pytest.mark.parametrize("location", ["A-1", "A-2"])
def test_count_of_this_host_settles_no_difference(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, state: str, location: str
) -> None:
    """The log does not have that count yet."""
    at = "2026-03-05T09:30:00.000Z"
    cache.write_logs([entry_of(5, **COUNTED), entry_of(6, quantity=-1)], moment(0))
    count: Any = {"product_number": "P1", "location_code": location, "stock_pool_1": 13, "scanned_datetime": at}
    undo: Any = {"product_number": "P1", "location_code": location, "quantity": 1, "reference": f"{UNDO_PREFIX}{at}"}
    outbox = OperationQueue(outbox_db)
    writes = [
        log_write([count], ["P1"], "0001", "U1", is_count=True),
        *([log_write([undo], ["P1"], "0001", "U1")] if state == "undone" else []),
    ]
    with transaction(outbox_db):
        op_id, *_ = outbox.enqueue([Intent(write) for write in writes], ANNA)
    if state in ("sending", "done", "read back", "rejected"):
        outbox.begin_sending(op_id, b"{}")
    if state in ("done", "read back"):
        outbox.confirm(op_id, "{}")
    if state == "read back":
        outbox.mark_read_back(op_id)
    if state == "rejected":
        outbox.refuse(op_id, store_text("no"))
    assert differences(reads) == ["5"]


def test_count_in_the_log_is_not_superseded_by_its_own_operation(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    """The service says another time than the host: its clock was late."""
    outbox = OperationQueue(outbox_db)
    count: Any = {"product_number": "P1", "location_code": "A-1", "stock_pool_1": 13, "scanned_datetime": moment(50)}
    with transaction(outbox_db):
        (op_id,) = outbox.enqueue([Intent(log_write([count], ["P1"], "0001", "U1", is_count=True))], ANNA)
    outbox.begin_sending(op_id, b"{}")
    outbox.confirm(op_id, json.dumps({"data": [5]}))
    cache.write_logs([entry_of(5, **COUNTED)], moment(0))
    assert differences(reads) == ["5"]


def test_differences_are_unknown_until_the_log_was_read(reads: CacheReader, cache: CacheWriter) -> None:
    args = {"now": "2026-03-05T10:00:00+00:00", "minutes": 60}
    assert "logs" in reads.query("exceptions", args)[0][0]["unread_lists"]
    cache.set_cursor("logs_span", {"since": "2026-03-01"})
    assert "logs" not in reads.query("exceptions", args)[0][0]["unread_lists"]
