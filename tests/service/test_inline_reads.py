"""Short reads are done on the event loop; no other one stays there."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.service.app_options_and_limits import RateLimits
from aisle.service.db import sqlite_database as nearby
from aisle.service.db.database_interface import Transaction
from aisle.service.db.sqlite_connection_and_transaction import open_connection
from aisle.service.db.sqlite_database import InlineReader, ReadTooLong, SqliteDatabase
from tests.service.test_limits import client_of
from tests.service.world import API, LOGS, World

pytestmark = pytest.mark.sqlite

COUNTING = """
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < $1)
    SELECT count(*) FROM number"""
ROWS = f"WITH RECURSIVE {COUNTING.split('RECURSIVE')[1].replace('count(*)', 'n')}"
LONG = 100_000


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(tmp_path / "service.db")) as made:
        yield made


@pytest.fixture
def near(storage: SqliteDatabase) -> Iterator[InlineReader]:
    with closing(InlineReader(open_connection(storage.path, 5000, read_only=True))) as made:
        yield made


def noting(said: list[str]) -> Callable[[apsw.Cursor, str, Any], bool]:
    """Puts down each statement that a connection is asked."""

    def note(_cursor: apsw.Cursor, sql: str, _given: Any) -> bool:
        said.append(sql)
        return True

    return note


async def long(tx: Transaction) -> int:
    return await upto(tx, LONG)


async def upto(tx: Transaction, last: int) -> int:
    row = await tx.one(COUNTING, last)
    return int(row[0]) if row else 0


async def test_a_long_read_is_done_elsewhere_and_the_loop_goes_on_meanwhile(storage: SqliteDatabase) -> None:
    here, went_on, seen = threading.current_thread(), threading.Event(), []

    async def work(tx: Transaction) -> int:
        seen.append(threading.current_thread() is here)
        if not seen[-1]:
            assert went_on.wait(30)
        return await long(tx)

    asyncio.get_running_loop().call_soon(went_on.set)
    assert await storage.read(work) == LONG
    assert seen == [True, False]


async def test_a_short_read_wakes_no_thread(storage: SqliteDatabase) -> None:
    async def work(tx: Transaction) -> tuple[int, threading.Thread]:
        return await upto(tx, 100), threading.current_thread()

    assert await storage.read(work) == (100, threading.current_thread())


def test_slow_statement_goes_to_reader_threads_for_a_while(near: InlineReader) -> None:
    tried: list[str] = []

    near._connection.exec_trace = noting(tried)
    with pytest.raises(ReadTooLong):
        near.run(long)
    assert len([sql for sql in tried if "number" in sql]) == 1
    for _ in range(nearby._SKIPS_OF_SLOW_STATEMENT):
        with pytest.raises(ReadTooLong):
            near.run(lambda tx: upto(tx, 100))
    assert len([sql for sql in tried if "number" in sql]) == 1
    assert near.run(lambda tx: upto(tx, 100)) == 100
    assert not near._connection.in_transaction


def test_interrupted_long_read_leaves_nothing_behind(near: InlineReader) -> None:
    for last in range(LONG, LONG + 300):
        with pytest.raises(ReadTooLong):
            near.run(long)
        near._transaction._slow_statements.clear()
        assert not near._connection.in_transaction, last
        assert near.run(lambda tx: upto(tx, 100)) == 100


def test_a_read_that_waits_for_its_disk_is_too_long_too(near: InlineReader, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = count()
    monkeypatch.setattr(nearby, "monotonic", lambda: float(next(moments)))
    with pytest.raises(ReadTooLong):
        near.run(lambda tx: upto(tx, 1000))


def test_converting_many_rows_leaves_event_loop(near: InlineReader) -> None:
    made: list[int] = []

    async def rows(tx: Transaction, each: int, times: int) -> None:
        for _ in range(times):
            made.append(len(await tx.all(ROWS, each)))

    near.run(lambda tx: rows(tx, nearby._MAX_ROWS, 1))
    for each, times, fetched in (
        (nearby._MAX_ROWS + 1, 1, []),
        (nearby._MAX_ROWS // 4 + 1, 5, [nearby._MAX_ROWS // 4 + 1] * 3),
    ):
        made.clear()
        near._transaction._slow_statements.clear()
        with pytest.raises(ReadTooLong):
            near.run(partial(rows, each=each, times=times))
        assert made == fetched
        assert list(near._transaction._slow_statements) == [ROWS]


def test_no_statement_begins_after_time_limit(near: InlineReader, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(tx: Transaction) -> None:
        await upto(tx, 100)
        monkeypatch.setattr(nearby, "monotonic", lambda: 1.0)  # Python took so long
        await tx.one("SELECT 1")

    with pytest.raises(ReadTooLong):
        near.run(work)
    assert list(near._transaction._slow_statements) == [COUNTING]


def test_the_dearest_statement_is_passed_over_and_not_the_last(near: InlineReader) -> None:
    shared = f"{COUNTING} WHERE n > 0"

    async def work(tx: Transaction) -> None:
        for sql, last in ((shared, 20), (COUNTING, 1000), (shared, 1000)):
            await tx.one(sql, last)

    with pytest.raises(ReadTooLong):
        near.run(work)
    assert list(near._transaction._slow_statements) == [COUNTING]


async def test_blocked_read_waits_off_event_loop(storage: SqliteDatabase) -> None:
    here = threading.current_thread()

    async def work(tx: Transaction) -> str:
        if threading.current_thread() is here:
            raise apsw.BusyError("another one recovers the file")
        return "read"

    assert await storage.read(work) == "read"

    async def within(tx: Transaction) -> threading.Thread:
        return threading.current_thread()

    with storage._inline_reader._lock:
        assert await storage.read(within) is not here


async def test_a_search_is_done_elsewhere_and_counts_as_one_request(world: World) -> None:
    storage: Any = world.service.database
    asked: list[str] = []

    storage._inline_reader._connection.exec_trace = noting(asked)
    async with client_of(world, rate_limits=RateLimits(token=0.1)) as client:
        found = await client.get(f"{API}/products", params={"search_text": "muesli"})
        refused = await client.get(f"{API}/products")
    assert found.status_code == 200
    assert refused.status_code == 429
    assert asked, "it was begun on the loop"
    assert not any("MATCH" in sql for sql in asked)


async def test_page_of_100_stock_entries_is_read_on_event_loop(world: World) -> None:
    storage: Any = world.service.database
    elsewhere: list[str] = []

    numbers = [f"N{n}" for n in range(100)]
    await world.post("/products", {"products": [{"product_number": n, "product_name": "More"} for n in numbers]})
    for place in ("A1", "A2", "A10"):
        logs = [{"product_number": n, "location_code": place, "stock_pool_1": 7} for n in numbers]
        await world.post(LOGS, {"storeproductlog": logs}, query={"is_counted_quantity": True})
    storage._reader._connection.exec_trace = noting(elsewhere)
    found = await world.rows("/storeproducts/stock", store_number="S1", page_size=100, include_locations=True)
    assert [len(entry["store_locations"]) for entry in found] == [3] * 100
    assert not elsewhere
