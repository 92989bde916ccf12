"""Figures of the day: sums kept in the cache equal those of its log after any change."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

from aisle.cache import today_queries as reads_today
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Write
from aisle.outbox.commit_journal import Journal, JournalBatch, NewJob
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author
from tests.cache import service_rows
from tests.cache.service_rows import put_orders
from tests.clock import Clock
from tests.writes import ANNA, STORE, intents, update

NOW = "2026-11-20T15:30:00Z"
NOON = 1795176000.0
"""2026-11-20T12:00:00Z."""

Row = dict[str, Any]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The host lives by UTC."""
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class Store(NamedTuple):
    """A cache and an outbox, and what a session reads of them."""

    cache: CacheWriter
    db: apsw.Connection
    outbox: apsw.Connection
    reads: CacheReader

    def row(self) -> Row:
        found: list[Row] = self.reads.query("today", {"now": NOW})[0]
        return found[0]

    def people(self) -> dict[str, Row]:
        return {row["user"]: row for row in self.reads.query("today_hours", {"now": NOW})[0]}

    def places(self, kind: str) -> dict[str, int]:
        rows, _ = self.reads.query("today_locations", {"now": NOW, "kind": kind})
        return {row["location"]: row["n"] for row in rows}


@pytest.fixture
def store(aisle_home: Path) -> Iterator[Store]:
    home = StoreFolder(aisle_home, "embedded", STORE)
    db, outbox = open_cache(home.folder, writer=True), open_outbox(home.folder)
    cache = CacheWriter(db, STORE)
    cache.write_locations([service_rows.location(code, at) for at, code in enumerate(("B-01", "A-02", "A-01"), 1)])
    cache.write_people([service_rows.person("U1", "Anna"), service_rows.person("U2", "Ben")])
    reads = CacheReader(home, outbox)
    yield Store(cache, db, outbox, reads)
    reads.close()
    outbox.close()
    db.close()


def entry(id_: int, source: str, hour: int, place: str = "A-01", user: str = "U1", **fields: Any) -> Row:
    """interface: Store product log entry."""
    names = {"id": id_, "store_number": STORE, "product_number": "P1", "app_user_name": user, "location_code": place}
    when = f"2026-11-20T{hour:02}:05:00Z"
    return {**names, "source": source, "created_on": when, "moved_on": when, "quantity": 1, **fields}


def test_work_is_counted_by_kind_person_hour_and_place(store: Store) -> None:
    rows = [
        entry(1, "pick", 8, quantity=-3),
        entry(2, "pick", 9, "A-02", "U2"),
        entry(3, "aisle", 9, counted_quantity=7),
        entry(4, "movement", 9, "A-01", quantity=-2),
        entry(5, "aisle/2", 9, "B-01", quantity=2),
        entry(6, "aisle", 10, reason_code=1, quantity=-1),
        entry(7, "demo", 10),
        entry(10, "aisle", 10, reference="D900", quantity=5),
        entry(8, "pick", 8, created_on="2026-11-19T08:00:00Z", moved_on="2026-11-19T08:00:00Z"),
        entry(9, "pick", 11, "Z-99"),
    ]
    store.cache.write_logs(rows, "2026-11-01")
    row = store.row()
    assert [row[f"work_{kind}"] for kind in reads_today.WORK_KINDS] == [3, 1, 1, 0]
    assert not [name for name in row if name.startswith("pieces")], "quantities of different units are never summed"
    people = store.people()
    assert people["U1"]["hours"] == {8: {"pick": 1}, 9: {"count": 1, "move": 1}, 11: {"pick": 1}}
    assert (people["U2"]["name"], people["U2"]["hours"]) == ("Ben", {9: {"pick": 1}})
    assert store.places("pick") == {"B-01": 0, "A-02": 1, "A-01": 1, "Z-99": 1}, "in the order of feet, strangers last"
    assert store.places("move") == {"B-01": 1, "A-02": 0, "A-01": 1}


def test_shorts_are_where_the_line_wanted_its_goods(store: Store) -> None:
    line = service_rows.line(1, "P1", 3, preferred_location_code="A-02")
    put_orders(store.cache, service_rows.order("4101", line))
    short = entry(1, "short", 9, customer_order_number="4101", customer_order_line_number=1)
    del short["location_code"]
    store.cache.write_logs([short], "2026-11-01")
    assert store.places("short") == {"B-01": 0, "A-02": 1, "A-01": 0}
    assert store.row()["work_short"] == 1
    store.cache.write_logs([short, {**short, "id": 2}], "2026-11-01")
    assert store.row()["work_short"] == 1, "its shortage was undone and marked again"
    assert store.places("short") == {"B-01": 0, "A-02": 1, "A-01": 0}


def test_sums_stay_those_of_the_log_whatever_happens_to_it(store: Store) -> None:
    chance = random.Random(7)
    kinds = ("pick", "movement", "count", "short", "demo")
    for _ in range(30):
        rows = []
        for _ in range(chance.randrange(1, 12)):
            day, source = chance.randrange(17, 21), chance.choice(kinds)
            fields: Row = {"counted_quantity": 3} if source == "count" else {}
            when = f"2026-11-{day}T{chance.randrange(24):02}:00:00Z"
            place, user = chance.choice(("A-01", "B-01")), chance.choice(("U1", "U2"))
            quantity = chance.choice((-2, 1))
            fields |= {"moved_on": when, "quantity": quantity}
            rows.append(entry(chance.randrange(40), source, 1, place, user, **fields))
        store.cache.write_logs(rows, f"2026-11-{chance.randrange(16, 20)}")
    assert sums(store) == reckoned(store)
    assert sum(sums(store).values()) > 10
    store.cache.write_logs([], "2026-12-01")
    assert (sums(store), store.db.execute("SELECT count(*) FROM log_location").fetchall()) == ({}, [(0,)])


def sums(store: Store) -> dict[tuple[Any, ...], int]:
    return {row[:3]: int(str(row[3])) for row in store.db.execute("SELECT hour, kind, app_user, n FROM log_hour")}


def reckoned(store: Store) -> dict[tuple[Any, ...], int]:
    """The same by looking at every entry."""
    found: Counter[tuple[Any, ...]] = Counter()
    rows = store.db.execute("SELECT at, app_user_name, raw ->> 'source', raw ->> 'quantity' FROM log").fetchall()
    for at, user, source, quantity in rows:
        kind = {"movement": "move", "demo": ""}.get(str(source), str(source))
        if kind and (kind != "move" or float(str(quantity)) > 0):
            found[str(at)[:13], kind, user] += 1
    return dict(found)


def test_orders_of_the_day_and_late_ones(store: Store) -> None:
    def order(number: str, pickup: str, picked: float = 0, **fields: Any) -> Row:
        return service_rows.order(number, service_rows.line(1, "P1", 3, picked), pickup_date=pickup, **fields)

    today = "2026-11-20T18:00:00"
    old = [order("1", "2026-11-19T10:00:00"), order("2", today, is_picked=True, status_id=2)]
    store.cache.write_orders(old, lines_known=True, read_began=NOON - 2 * 86400)
    store.cache.write_orders([order("3", today), order("4", today, 1)], lines_known=True, read_began=NOON)
    row = store.row()
    assert (row["orders_in"], row["seen_all_day"], row["due"], row["due_done"], row["late"]) == (2, True, 3, 1, 1)
    assert [row[f"orders_{name}"] for name in ("open", "partial", "picked")] == [2, 1, 1]


def test_date_only_counts_as_day_and_rejected_is_neither_due_nor_picked(store: Store) -> None:
    def order(number: str, pickup: str, picked: float = 0, **fields: Any) -> Row:
        return service_rows.order(number, service_rows.line(1, "P1", 3, picked), pickup_date=pickup, **fields)

    days = ("2026-11-19", "2026-11-20", "2026-11-21", "2026-11-21T00:00:00")
    orders = [order(str(at), day) for at, day in enumerate(days, 1)]
    orders.append(order("5", "2026-11-20", is_picked=True, status_id=2))
    orders.append(order("6", "2026-11-20", is_rejected=True))
    store.cache.write_orders(orders, lines_known=True, read_began=NOON)
    row = store.row()
    assert (row["due"], row["due_done"]) == (2, 1)


def test_who_is_known_on_this_host_alone_is_told_so(store: Store) -> None:
    box = OperationQueue(store.outbox, clock=Clock(NOON))
    with transaction(store.outbox):
        count = Write("create-store-product-logs", ("product/P1",), {}, {}, {"storeproductlog": []})
        claim = update("4102", {}, merge=False, is_claimed=True)
        box.enqueue(intents(update("4101", {1: 1}, merge=False), count, claim), ANNA)
    people = store.people()
    assert (people["U1"]["is_here"], people["U1"]["hours"]) == (True, {12: {"pick": 1, "count": 1}})
    store.cache.write_logs([entry(1, "pick", 8)], "2026-11-01")
    assert store.people()["U1"]["is_here"] is False
    assert store.row()["outbox"] == {"queued": 3}


def test_the_terminals_of_this_host(store: Store) -> None:
    clock = Clock(NOON)
    journal = Journal(store.outbox, clock=clock)
    import os

    journal.sessions.begin_session("S1", terminal="dock", store=STORE, user="U1", version="1", pid=os.getpid())
    journal.sessions.begin_session("S2", terminal="desk", store=STORE, user="U2", version="1", pid=os.getpid())
    journal.sessions.begin_session("S3", terminal="gone", store=STORE, user="U2", version="1", pid=os.getpid())
    journal.sessions.end_session("S3")
    clock.pass_(60)
    author = Author(STORE, "U1", terminal="dock")
    journal.commit(JournalBatch("S1", "dock", author, opened=[NewJob("J1", "pick", 1)]))
    rows, total = store.reads.query("today_terminals", {})
    assert total == 2
    assert [(row["terminal"], row["name"], row["job"]) for row in rows] == [
        ("dock", "Anna", "pick"),
        ("desk", "Ben", ""),
    ]
    assert rows[0]["since"] == NOON + 60


def test_link_courier_and_cache(store: Store) -> None:
    store.cache.set_link(LinkRow(state="offline", last_ok=NOON, server="No route."))
    row = store.row()
    assert (row["link"], row["last_ok"], row["why"], row["courier_at"]) == ("offline", NOON, "No route.", 0.0)


@pytest.mark.parametrize(
    "sql",
    [
        reads_today._SHORTAGES_BY_LOCATION,
        reads_today._WORK_BY_LOCATION,
        reads_today._WORK_BY_HOUR,
        reads_today._WORK_SUMS,
    ],
)
def test_nothing_looks_at_a_whole_log(store: Store, sql: str) -> None:
    plan = [str(step[3]) for step in store.db.execute(f"EXPLAIN QUERY PLAN {sql}", ("2026", "pick")[: sql.count("?")])]
    assert plan
    assert not [step for step in plan if step.startswith("SCAN")], plan


def test_the_day_of_this_host_is_found_by_an_index(store: Store) -> None:
    plan = [str(step[3]) for step in store.outbox.execute(f"EXPLAIN QUERY PLAN {reads_today._LOCAL_USERS}", (0.0,))]
    assert any("COVERING INDEX operation_day" in step for step in plan), plan
