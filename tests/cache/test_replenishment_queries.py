"""The list of moves from the backroom to the shop floor: what is missing, what lies there, what is under way."""

from __future__ import annotations

import os
import re
from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.jobs.job import Write
from aisle.jobs.move.move_state_and_rows import REPLENISHMENT_PREFIX
from aisle.jobs.supervisor.service_fields_and_values import update_write
from aisle.outbox.commit_journal import Journal, JournalBatch, NewJob
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Author
from aisle.stored_messages import NO_MESSAGE
from tests.cache.service_rows import line, location, order, person, product, put_orders, stock
from tests.writes import STORE, enqueue

POOLS = {"shop_floor": Decimal(1), "backroom": Decimal(2)}


def moves(reads: CacheReader, query: str = "replenishment", **args: Any) -> list[tuple[Any, ...]]:
    """Each move as product, source, quantity and destination."""
    rows, _ = reads.query(query, {**POOLS, **args})
    return [(row["product_number"], row["location_code"], row["quantity"], row["to_location"]) for row in rows]


def place(code: str, quantity: float | None, **pools: float) -> dict[str, Any]:
    return {"store_location_code": code, "quantity": quantity, **pools}


def levels(number: str, *places: dict[str, Any], level: float = 5, most: int = 10, **fields: Any) -> dict[str, Any]:
    return stock(number, order_level=level, min=2, max=most, store_locations=list(places), **fields)


def brought(product_number: str, quantity: int, source: str, target: str) -> Write:
    """A movement from the backroom to the shop floor."""
    ends = {"from_location": {"location_code": source}, "to_location": {"location_code": target}}
    item = {"product_number": product_number, "quantity": Decimal(quantity), **ends}
    return Write("create-movement", (f"product/{product_number}",), {"store_number": STORE}, {}, [item])


@pytest.fixture
def shop(cache: CacheWriter) -> CacheWriter:
    """Two shelves, two locations in the backroom, one for customers' orders; three products to bring."""
    pools = {"A-1": "1", "A-2": "1", "R-1": "2", "R-2": "2", "PU": "4"}
    cache.write_locations(
        [location(code, at, default_stock_pool=pool) for at, (code, pool) in enumerate(pools.items())]
    )
    cache.write_products([product(number) for number in ("P1", "P2", "P3", "P4", "P5")])
    cache.write_stock(
        [
            levels("P1", place("A-2", 3), place("R-2", 20)),
            levels("P2", place("A-1", 4), place("R-2", 9), place("R-1", 2)),
            levels("P3", place("A-1", 5), place("R-1", 9)),
            levels("P4", place("A-1", 1), place("PU", 9)),
            levels("P5", place("R-1", 4), place("PU", 50)),
        ]
    )
    return cache


def test_products_below_their_level_in_walking_order_of_the_backroom(shop: CacheWriter, reads: CacheReader) -> None:
    assert moves(reads) == [("P5", "R-1", 4, ""), ("P1", "R-2", 7, "A-2"), ("P2", "R-2", 6, "A-1")]
    assert moves(reads, first=1, size=1) == [("P1", "R-2", 7, "A-2")]
    rows, total = reads.query("replenishment", {**POOLS, "size": 1})
    assert (total, rows[0]["on_floor"], rows[0]["order_level"], rows[0]["available"]) == (3, 0, 5, 4)


def test_moves_from_a_product_on_and_those_of_one_product(shop: CacheWriter, reads: CacheReader) -> None:
    asked = {"query": "replenishment_moves", "product_number": "P1"}
    assert [row[0] for row in moves(reads, **asked)] == ["P1", "P2", "P5"]
    assert [row[0] for row in moves(reads, **asked, is_single=True)] == ["P1"]
    from_location = {"product_number": "", "location_code": "R-2"}
    assert [row[0] for row in moves(reads, "replenishment_moves", **from_location)] == ["P1", "P2", "P5"]
    asked["product_number"] = "P3"
    assert moves(reads, **asked, is_single=True) == [("P3", "R-1", 5, "A-1")], "its level is there, its maximum is not"
    shop.write_stock([levels("P3", place("A-1", 10), place("R-1", 9))])
    assert moves(reads, **asked, is_single=True) == []


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (levels("P1", place("A-1", 3), place("R-1", 9), level=0), []),
        (levels("P1", place("A-1", 1), place("R-1", 9), level=0), [("P1", "R-1", 9, "A-1")]),
        (levels("P1", place("A-1", None), place("R-1", 9)), []),
        (levels("P1", place("A-1", 1), place("R-1", None)), []),
        (levels("P1", place("A-1", 1), place("R-1", 9), is_stock=False), []),
        (levels("P1", place("A-1", -2), place("R-1", 99)), [("P1", "R-1", 12, "A-1")]),
        (levels("P1", place("A-1", 3), place("R-1", 99), most=2), [("P1", "R-1", 2, "A-1")]),
        (levels("P1", place("A-1", 1), place("R-1", 1), place("R-2", 9)), [("P1", "R-2", 9, "A-1")]),
        (levels("P1", place("A-1", 1), place("R-1", 2), place("R-2", 3)), [("P1", "R-2", 3, "A-1")]),
        (levels("P1", place("A-1", 1), place("R-1", 0.5)), []),
        (levels("P1", place("A-1", 1), place("R-1", 2.5)), [("P1", "R-1", 2, "A-1")]),
        (levels("P1", place("A-1", 1), place("R-1", 8, stock_pool_2=3, stock_pool_6=5)), [("P1", "R-1", 3, "A-1")]),
        (levels("P1", place("A-1", 1), place("R-1", 8, stock_pool_6=8)), []),
        (levels("P1", place("", 40), place("A-1", 1), place("R-1", 8)), [("P1", "R-1", 8, "A-1")]),
    ],
    ids=[
        "minimum in place of a level", "below the minimum", "unknown on the floor", "unknown in the backroom",
        "no stock kept", "negative on the floor", "maximum below the level", "first that has all", "the most",
        "no whole piece", "whole pieces", "goods of other pools", "only other pools", "goods at no location",
    ],
)  # fmt: skip
def test_what_is_missing(cache: CacheWriter, reads: CacheReader, entry: Any, expected: list[Any]) -> None:
    pools = {"A-1": "1", "R-1": "2", "R-2": "2"}
    cache.write_locations(
        [location(code, at, default_stock_pool=pool) for at, (code, pool) in enumerate(pools.items())]
    )
    cache.write_products([product("P1")])
    cache.write_stock([entry])
    assert moves(reads) == expected


def test_goods_held_for_orders_are_neither_on_sale_nor_brought(shop: CacheWriter, reads: CacheReader) -> None:
    kept = [{"location_code": code, "quantity": 2, "customer_order_number": "O1"} for code in ("A-1", "R-1")]
    put_orders(shop, order("O1", line(1, "P3", 4, 4, moved_quantity=4, store_locations=kept)))
    shop.write_stock([levels("P3", place("A-1", 5), place("R-1", 9, stock_pool_2=9))])
    assert ("P3", "R-1", 7, "A-1") in moves(reads)


def test_movement_under_way_counts_and_its_refusal_brings_the_row_back(
    shop: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    outbox, all_moves = OperationQueue(outbox_db), moves(reads)
    (sent,) = enqueue(outbox, brought("P1", 7, "R-2", "A-2"))
    assert [row[0] for row in moves(reads)] == ["P5", "P2"]
    shop.write_stock([levels("P5", place("R-1", 3))])
    assert [row[:3] for row in moves(reads)] == [("P5", "R-1", 3), ("P2", "R-2", 6)]
    outbox.begin_sending(sent, b"[]")
    outbox.refuse(sent, NO_MESSAGE)
    assert [row for row in moves(reads) if row[0] != "P5"] == all_moves[1:]


def test_setting_under_way_counts(shop: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection) -> None:
    enqueue(OperationQueue(outbox_db), update_write("P3", STORE, {"order_level": Decimal(6)}, {}))
    assert ("P3", "R-1", 5, "A-1") in moves(reads)


def test_without_default_pools_no_backroom_is_known(shop: CacheWriter, reads: CacheReader) -> None:
    shop.write_locations([location("R-1", 2, default_stock_pool=None), location("R-2", 3, default_stock_pool=None)])
    assert moves(reads) == []


def test_other_pools_are_a_matter_of_settings(shop: CacheWriter, reads: CacheReader) -> None:
    assert moves(reads, backroom=Decimal(4)) == [("P5", "PU", 10, ""), ("P4", "PU", 9, "A-1")][::-1]


def test_who_has_it_on_the_cart_is_named(shop: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection) -> None:
    journal, author = Journal(outbox_db), Author(STORE, "U2", terminal="dock")
    shop.write_people([person("U2", "Ben")])
    journal.sessions.begin_session("S1", terminal="dock", store=STORE, user="U2", version="1", pid=os.getpid())
    held: list[tuple[str, tuple[str, ...]]] = [("J1", (f"{REPLENISHMENT_PREFIX}P1",))]
    journal.commit(JournalBatch("S1", "dock", author, opened=[NewJob("J1", "move", 5)], orders_in_work=held))
    rows, _ = reads.query("replenishment", POOLS)
    assert [(row["worker"], row["worker_name"]) for row in rows] == [("", ""), ("U2", "Ben"), ("", "")]


def test_only_products_that_changed_are_read_again(shop: CacheWriter, reads: CacheReader) -> None:
    asked: list[str] = []
    before = moves(reads)
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    shop.write_stock([levels("P3", place("A-1", 1), place("R-1", 9)), levels("P1", place("A-1", 9), place("R-1", 9))])
    assert moves(reads) == [("P3", "R-1", 9, "A-1"), *(row for row in before if row[0] != "P1")]
    kept = [{"location_code": "A-1", "quantity": 4, "customer_order_number": "O1"}]
    put_orders(shop, order("O1", line(1, "P2", 4, 4, moved_quantity=4, store_locations=kept)))
    assert ("P2", "R-2", 9, "") in moves(reads)
    assert not [sql for sql in asked if "order_level" in sql]
    shop.write_locations([location("R-1", 1, default_stock_pool="4")])
    assert moves(reads) == [("P2", "R-2", 9, "")]
    (sql,) = [each for each in asked if "order_level" in each]
    reads._cache.trace_v2(0, None)
    plan = [row[3] for row in reads._cache.execute(f"EXPLAIN QUERY PLAN {sql}", ("[]", "[]"))]
    assert not [step for step in plan if re.match(r"SCAN (s|p|x|f|stock\w*|product)\b", step)], plan
