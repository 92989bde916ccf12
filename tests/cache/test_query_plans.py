"""Queries made at every scan use indexes and read no whole table of the outbox."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cache.pending_operations import Overlay
from aisle.cache.queries import SortKey, read_merged_window
from aisle.cache.reader import LISTS_SHOWN, CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull.full_sync_stages_and_progress import StagePosition, SyncProgress, save_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox import retention_and_archive
from aisle.outbox.commit_journal import Journal, JournalBatch, NewJob
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import CREATE_MOVEMENT
from aisle.stored_messages import NO_MESSAGE
from tests.cache.service_rows import order, product, put_orders, store
from tests.writes import ANNA, STORE, enqueue, movement, update


def test_what_waits_is_found_by_its_index(outbox_db: apsw.Connection) -> None:
    asked: list[str] = []

    def note(told: dict[str, Any]) -> None:
        asked.append(told["sql"])

    outbox_db.trace_v2(apsw.SQLITE_TRACE_STMT, note)
    assert "4101" not in Overlay(outbox_db).by_order()
    Overlay(outbox_db).operations(CREATE_MOVEMENT)
    OperationQueue(outbox_db).pending_operations()
    OperationQueue(outbox_db).pending_counts()
    outbox_db.trace_v2(0, None)
    queries = [sql for sql in asked if re.search(r"^\s*SELECT .*\boperation\b", sql, re.DOTALL)]
    assert len(queries) == 4
    for sql in queries:
        plan = [row[3] for row in outbox_db.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))]
        assert not [step for step in plan if step.startswith("SCAN") and "INDEX operation_live" not in step], sql


def test_no_write_reads_what_was_sent_before(outbox_db: apsw.Connection) -> None:
    """A month of it stays: neither what is merged with what waits, nor what moves along, looks through that."""
    asked: set[str] = set()
    outbox = OperationQueue(outbox_db)
    outbox_db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.add(told["sql"]))
    enqueue(outbox, update("4101", {1: 1}), update("4102", {1: 1}), movement("4101", "P9"))
    (merged,) = enqueue(outbox, update("4102", {1: 2}))
    outbox.begin_sending(merged, b"{}")
    outbox.confirm(merged)
    outbox.mark_read_back(merged)
    (first,) = outbox.sendable()
    outbox.begin_sending(first.op_id, b"{}")
    outbox.retry_later(first.op_id, NO_MESSAGE, 5.0)
    outbox.next_due_at()
    outbox.records_changed_since(0.0)
    outbox_db.trace_v2(0, None)
    of_operations = [sql for sql in asked if re.match(r"\s*(SELECT|UPDATE|DELETE)", sql) and "operation" in sql]
    assert any(sql.startswith("UPDATE operation SET depends_on") for sql in of_operations)
    for sql in of_operations:
        given = dict.fromkeys(re.findall(r":(\w+)", sql)) if "?" not in sql else [None] * sql.count("?")
        plan = [row[3] for row in outbox_db.execute(f"EXPLAIN QUERY PLAN {sql}", given)]
        whole = [step for step in plan if re.match(r"SCAN (o|other|operation)\b", step) and "INDEX" not in step]
        assert not whole, sql


@pytest.mark.parametrize("text", ["q", "qu", "quince", "quince dar", "31", "3141", "31415926535", "q-1", "quin-cey"])
@pytest.mark.parametrize("read", ["search", "orders", "stores", "records"])
def test_no_letter_of_a_search_reads_a_whole_table(
    cache: CacheWriter, reads: CacheReader, read: str, text: str
) -> None:
    """What has its index is asked of that, or goes along one that ends with its first hundred."""
    cache.write_products([product("1", "Quince")])
    cache.write_orders([order("1", customer_name="Quincey")], lines_known=False, read_began=1.0)
    cache.write_stores([store("1", "Quincy")])
    asked: list[str] = []
    args = {"search": text, "now": "2026-03-05T09:00:00Z"}
    reads.query(read, args)
    reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    reads.query(read, args)
    reads._cache.trace_v2(0, None)
    statements = [sql.strip() for sql in asked if sql.strip().startswith("SELECT")]
    plans = [
        row[3]
        for sql in statements
        for row in reads._cache.execute(
            f"EXPLAIN QUERY PLAN {sql}",
            [None] * sql.count("?") if "?" in sql else dict.fromkeys(re.findall(r":(\w+)", sql)),
        )
    ]
    assert plans
    assert not {"SCAN p", "SCAN product", "SCAN o", "SCAN orders", "SCAN store"}.intersection(plans)


def test_nobody_looks_through_all_sessions_or_all_that_waits(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    """Five weeks of sessions stay, and where the link is down much waits."""
    put_orders(cache, order("1", is_claimed=True, claimed_by="U1", claimed_terminal="elsewhere"))
    asked: list[str] = []
    outbox_db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    reads.query("orders", {})
    reads.query("unconfirmed", {})
    journal = Journal(outbox_db)
    journal.sessions.running_sessions()
    journal.sessions.is_terminal_in_use("elsewhere")
    outbox_db.trace_v2(0, None)
    queries = [sql for sql in asked if re.search(r"FROM (session|operation)\b", sql)]
    assert len([sql for sql in queries if "FROM session" in sql]) >= 3
    for sql in queries:
        plan = [row[3] for row in outbox_db.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))]
        whole = [step for step in plan if re.match(r"SCAN (session|operation)\b", step) and "INDEX" not in step]
        assert not whole, sql


def test_archive_finds_old_rows_without_scanning_recent_ones(outbox_db: apsw.Connection) -> None:
    """Every ten minutes, and once for each part of it that leaves: a month of operations stays."""
    asked: list[str] = []
    outbox_db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    retention_and_archive.delete_old_operations(outbox_db, 4_000_000_000.0)
    outbox_db.trace_v2(0, None)
    (sql,) = asked
    plan = [row[3] for row in outbox_db.execute(f"EXPLAIN QUERY PLAN {sql}", (0.0, 1, 0.0))]
    assert not [step for step in plan if "TEMP B-TREE" in step or step.startswith("SCAN later")], plan


def test_who_opens_an_order_or_leaves_looks_through_no_month_of_them(
    reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    """It is known for a month who worked on an order."""
    asked: list[str] = []
    outbox_db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    Journal(outbox_db).commit(
        JournalBatch("S", "dock", ANNA, opened=[NewJob("J", "pick", 1)], orders_in_work=[("J", ("O1",))])
    )
    reads.query("open_work", {"user": "U1", "now": "2026-03-02T12:00:00+00:00"})
    outbox_db.trace_v2(0, None)
    of_holds = [sql for sql in asked if re.search(r"FROM order_in_work\b", sql)]
    assert len(of_holds) == 2
    for sql in of_holds:
        plan = [row[3] for row in outbox_db.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))]
        assert any("INDEX order_in_work_since" in step for step in plan), plan
        assert not [step for step in plan if re.match(r"SCAN (hold|h)\b", step)], plan


# Windows along an index, merged with pending rows


@pytest.mark.parametrize("seed", range(20))
def test_a_window_is_that_of_the_whole_list_and_no_more_is_read(seed: int) -> None:
    chance = random.Random(seed)
    numbers = chance.sample(range(60), 30)
    kept = sorted((number,) for number in numbers[: chance.randrange(31)])
    extra = sorted((number,) for number in numbers[len(kept) :][: chance.randrange(6)])
    read: list[int] = []

    def along(from_end: bool, count: int, skip: int) -> Sequence[SortKey]:
        read.append(count)
        return (kept[::-1] if from_end else kept)[skip : skip + count]

    whole = sorted([*kept, *extra])
    for first in range(len(whole) + 3):
        for size in (0, 1, 7, 40):
            assert read_merged_window(along, len(kept), extra, first, size) == whole[first : first + size]
            assert all(count <= size + len(extra) for count in read)
            read.clear()


# Which lists were never read completely, from the sync progress


@pytest.mark.parametrize(
    ("progress", "left"),
    [
        (None, LISTS_SHOWN),
        (SyncProgress(("lines", "products"), StagePosition("headers", 1), full=True), ("headers", "lines", "products")),
        (SyncProgress(("products",), full=True, missing=("deliveries",)), ("deliveries", "products")),
        (SyncProgress(("deliveries", "receipts")), LISTS_SHOWN),
        (SyncProgress(("headers",), full=True, completed=5.0), ()),
    ],
)
def test_what_the_first_sync_has_not_reached_is_unread(aisle_home: Path, progress: Any, left: tuple[str, ...]) -> None:
    home = StoreFolder(aisle_home, "embedded", STORE)
    db, outbox = open_cache(home.folder, writer=True), open_outbox(home.folder)
    cache, reads = CacheWriter(db, STORE), CacheReader(home, outbox)
    try:
        if progress:
            save_progress(cache, progress)
        assert reads.link(0.0).unread_lists == (*left, "logs")
        assert [row["list"] for row in reads.query("unread_lists", {})[0]] == [*left, "logs"]
        cache.set_cursor("logs_span", {"since": "2026-11-13", "asked": 0.0})
        assert reads.link(0.0).unread_lists == left
    finally:
        reads.close()
        outbox.close()
        db.close()


def test_unconfirmed_operations_are_counted_by_their_state(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    first, _ = enqueue(OperationQueue(outbox_db), update("1", {1: 1}), update("2", {1: 1}))
    outbox_db.execute("UPDATE operation SET state = 'rejected' WHERE op_id = ?", (first,))
    for outcome, count in (("", 2), ("refused", 1), ("queued", 1), ("in_doubt", 0)):
        rows, total = reads.query("unconfirmed", {"outcome": outcome, "first": 0, "size": 5})
        assert (len(rows), total) == (count, count), outcome
