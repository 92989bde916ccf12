"""Queries of a clearance: roles, tags, held goods, assignments and who works on them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

from aisle.cache.reader import CacheReader
from aisle.cache.store_lists_writer import ASSIGNMENTS_TOPIC
from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Write
from aisle.jobs.move.move_state_and_rows import ASSIGNMENT_PREFIX
from aisle.outbox.commit_journal import Journal, JournalBatch, NewJob
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.cache.service_rows import put_orders
from tests.clock import Clock
from tests.writes import STORE, enqueue

Row = dict[str, Any]


def assignment(id_: int, place: str = "BR-01", quantity: float = 6, **fields: Any) -> Row:
    names = {"product_number": "P1", "location_code": place, "customer_order_number": "4101", "stock_pool": 1}
    more = {"customer_order_line_number": 1, "location_tag": "backroom", "created_on": "2026-11-20T09:00:00Z"}
    return {"id": id_, "quantity": quantity, **names, **more, **fields}


class Store(NamedTuple):
    """A cache, an outbox, and what a session reads of them."""

    cache: CacheWriter
    outbox: OperationQueue
    journal: Journal
    reads: CacheReader
    clock: Clock

    def ask(self, name: str, **args: Any) -> list[Row]:
        return list(self.reads.query(name, args)[0])

    def move(self, quantity: int, place: str = "BR-01", *, is_back: bool = False) -> str:
        end = {"location_code": place, "customer_order_number": "4101", "customer_order_line_number": 1}
        item: dict[str, Any] = {"product_number": "P1", "quantity": Decimal(quantity)}
        there = {"location_code": "A-01"}
        item["from_location"], item["to_location"] = (there, end) if is_back else (end, there)
        write = Write("create-movement", ("product/P1",), {"store_number": STORE}, {}, [item])
        (op_id,) = enqueue(self.outbox, write)
        return op_id


@pytest.fixture
def store(aisle_home: Path) -> Iterator[Store]:
    home, clock = StoreFolder(aisle_home, "embedded", STORE), Clock()
    db, outbox = open_cache(home.folder, writer=True), open_outbox(home.folder)
    cache = CacheWriter(db, STORE)
    places: tuple[tuple[str, list[str]], ...] = (("BR-01", ["backroom"]), ("BR-02", ["backroom", "cold"]), ("A-01", []))
    cache.write_locations([{**service_rows.location(code, at), "tags": tags} for at, (code, tags) in enumerate(places)])
    cache.write_products([service_rows.product("P1", "Cola", category_code="110"), service_rows.product("P2", "Milk")])
    reads = CacheReader(home, outbox)
    yield Store(cache, OperationQueue(outbox, clock=clock), Journal(outbox, clock=clock), reads, clock)
    reads.close()
    outbox.close()
    db.close()


def test_who_may_and_what_the_service_tells(store: Store) -> None:
    assert store.ask("clearance_permission", user="U6") == [
        {"is_known": False, "people": False, "listed": False, "role": ""}
    ]
    store.cache.write_people([service_rows.person("U6", "Fred", role="supervisor")])
    store.cache.set_link(LinkRow(state="live", last_ok=1.0, features="people, assignments"))
    assert store.ask("clearance_permission", user="U6") == [
        {"is_known": True, "people": True, "listed": True, "role": "supervisor"}
    ]


def test_tags_and_the_categories_of_what_is_held_there(store: Store) -> None:
    assert store.ask("tags") == [{"tag": "backroom", "locations": 2}, {"tag": "cold", "locations": 1}]

    def line(number: int, product: str, place: str, quantity: float) -> Row:
        kept = {"location_code": place, "quantity": quantity, "customer_order_number": "4101"}
        moved = {"moved_quantity": quantity, "store_locations": [kept]}
        return service_rows.line(number, product, quantity, quantity, **moved)

    lines = (line(1, "P1", "BR-01", 2), line(2, "P1", "BR-02", 3), line(3, "P2", "BR-02", 4), line(4, "P1", "A-01", 5))
    put_orders(store.cache, service_rows.order("4101", *lines))
    assert store.ask("held_by_category", tag="backroom") == [
        {"category_code": "", "lines": 1, "quantity": 4},
        {"category_code": "110", "lines": 2, "quantity": 5},
    ]
    assert [row["category_code"] for row in store.ask("held_by_category", tag="cold")] == ["", "110"]
    assert store.ask("held_by_category", tag="shelf") == []


def test_tags_follow_their_places_and_no_place_is_read_for_them(store: Store) -> None:
    cache, asked = store.cache, list[str]()

    def note(told: dict[str, Any]) -> None:
        asked.append(told["sql"])

    def seen() -> tuple[dict[str, int], list[str]]:
        rows = store.ask("pickup_locations", like="")
        return {row["tag"]: row["locations"] for row in store.ask("tags")}, rows[0]["locations"] if rows else []

    cache.write_locations(
        [{**service_rows.location("BR-02", 1), "tags": ["Pickup", "cold", "cold", 7, None, ""]}], generation=1
    )
    store.reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, note)
    assert seen() == ({"7": 1, "Pickup": 1, "backroom": 1, "cold": 1}, ["BR-02"])
    assert store.ask("held_by_category", tag="cold") == []
    store.reads._cache.trace_v2(0, None)
    assert asked
    assert not [sql for sql in asked if "location l" in sql or "FROM location" in sql]
    cache.write_locations(
        [{**service_rows.location("BR-03", 1), "tags": "cold"}, service_rows.location("BR-02", 1)], generation=2
    )
    assert seen() == ({"backroom": 1}, [])
    cache.delete_unseen("location", 2)
    assert seen() == ({}, [])
    cache.write_locations([{**service_rows.location("BR-01", 1), "tags": ["cold"]}])
    assert seen() == ({"cold": 1}, [])


def test_what_is_under_way_leaves_the_list_until_the_list_knows_it(store: Store) -> None:
    store.cache.write_assignments([assignment(2), assignment(1, "BR-02", 4)])
    assert [(row["id"], row["quantity"], row["label"]) for row in store.ask("assignments")] == [
        ("2", 6, "Cola"),
        ("1", 4, "Cola"),
    ]
    op_id = store.move(2)
    assert [row["quantity"] for row in store.ask("assignments")] == [4, 4]
    store.move(4)
    assert [row["id"] for row in store.ask("assignments")] == ["1"]
    assert store.ask("assignments", tag="cold") == []
    store.outbox.begin_sending(op_id, b"{}")
    store.outbox.confirm(op_id, "")
    with store.cache.transaction():
        store.cache.write_assignments([assignment(2, quantity=4), assignment(1, "BR-02", 4)])
        store.cache.set_cursor(ASSIGNMENTS_TOPIC, store.clock.now + 1)
    assert [row["id"] for row in store.ask("assignments")] == ["1"], (
        "the second movement is still under way, the first is in it"
    )


def test_what_is_left_of_one_is_known_once_the_list_was_read(store: Store) -> None:
    store.cache.write_assignments([assignment(2), assignment(1, "BR-02", 4)])
    assert store.ask("assignment_left", id="2") == []
    with store.cache.transaction():
        store.cache.set_cursor(ASSIGNMENTS_TOPIC, store.clock.now - 1)
    assert store.ask("assignment_left", id="2") == [{"quantity": 6}]
    store.move(2)
    assert store.ask("assignment_left", id="2") == [{"quantity": 4}]
    assert store.ask("assignment_left", id="3") == [{"quantity": 0}]


def test_goods_of_an_order_that_was_handed_over_need_no_move(store: Store) -> None:
    """The order may be known before the list is read again."""
    with store.cache.transaction():
        store.cache.set_cursor(ASSIGNMENTS_TOPIC, store.clock.now - 1)
    store.cache.write_assignments([assignment(1), assignment(2, customer_order_number="4102")])
    for is_active, left in ((True, 6), (False, 0)):
        line = service_rows.line(1, "P1", 6, 6)
        put_orders(store.cache, service_rows.order("4101", line, is_active=is_active))
        assert store.ask("assignment_left", id="1") == [{"quantity": left}]
    assert [row["id"] for row in store.ask("assignments")] == ["2"]


def test_what_is_moved_back_is_left_again(store: Store) -> None:
    store.cache.write_assignments([assignment(1)])
    store.move(6)
    assert store.ask("assignments") == []
    store.move(4, is_back=True)
    assert [row["quantity"] for row in store.ask("assignments")] == [4]


def test_what_the_service_refused_is_there_again(store: Store) -> None:
    store.cache.write_assignments([assignment(1)])
    op_id = store.move(6)
    assert store.ask("assignments") == []
    store.outbox.begin_sending(op_id, b"{}")
    store.outbox.refuse(op_id, store_text("no"))
    assert [row["quantity"] for row in store.ask("assignments")] == [6]


def test_who_is_at_it_on_this_host_is_named(store: Store) -> None:
    store.cache.write_assignments([assignment(1)])
    store.cache.write_people([service_rows.person("U2", "Ben")])
    store.journal.sessions.begin_session("S1", terminal="dock", store=STORE, user="U2", version="1", pid=os.getpid())
    author = Author(STORE, "U2", terminal="dock")
    held: list[tuple[str, tuple[str, ...]]] = [("J1", (f"{ASSIGNMENT_PREFIX}1",))]
    store.journal.commit(JournalBatch("S1", "dock", author, opened=[NewJob("J1", "move", 5)], orders_in_work=held))
    assert [(row["taken_user"], row["taken_by"]) for row in store.ask("assignments")] == [("U2", "Ben")]
    store.journal.commit(JournalBatch("S1", "dock", author, closed=["J1"]))
    assert [row["taken_by"] for row in store.ask("assignments")] == [""]
