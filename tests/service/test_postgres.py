"""PostgreSQL as an engine: what its storage promises, whatever the server does meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import asyncpg
import pytest

from aisle.errors import StorageError
from aisle.server.caller_turns import Caller
from aisle.service.db import schema_and_search_index
from aisle.service.db.database_interface import (
    CALLER,
    Busy,
    ConstraintViolated,
    DatabaseFailed,
    Transaction,
    ValueTooLong,
)
from aisle.service.db.postgres_connection import PostgresTransaction
from aisle.service.db.postgres_database import PostgresDatabase, lock_statement, redact_dsn
from aisle.service.db.schema_and_search_index import MIGRATIONS
from tests.service.citus import foreign_keys, split
from tests.service.postgres import Server, execute
from tests.service.test_statements import statements

ADD = "INSERT INTO counter (store_number, name, value) VALUES ($1, $2, 1)"
_WAITS = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE pid = $1 AND locktype = 'advisory' AND NOT granted)"
UP = "UPDATE counter SET value = value + 1 WHERE store_number = $1 AND name = $2 RETURNING value"


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    """A database with all tables and no rows."""
    made = server.fresh()
    PostgresDatabase(made).close()
    return made


@pytest.fixture
def storage(url: str) -> Iterator[PostgresDatabase]:
    """An opened storage over no counters."""
    execute(url, "DELETE FROM counter")
    with closing(PostgresDatabase(url, timeout_s=60)) as opened:
        yield opened


async def names(tx: Transaction) -> list[str]:
    """The counters there are."""
    return [row[0] for row in await tx.all("SELECT name FROM counter ORDER BY name")]


def adds(name: str, store: str = "S") -> Callable[[Transaction], Any]:
    """Work that makes a counter."""
    return lambda tx: tx.run(ADD, store, name)


@contextmanager
def other(url: str) -> Iterator[Callable[[str], Any]]:
    """Another client, on its own thread; what it is called with is carried out at once."""
    with ThreadPoolExecutor(1) as thread:
        loop = asyncio.new_event_loop()
        connection = thread.submit(loop.run_until_complete, asyncpg.connect(url, timeout=60)).result()

        def run(sql: str) -> Any:
            return thread.submit(loop.run_until_complete, connection.fetch(sql)).result()

        try:
            yield run
        finally:
            thread.submit(loop.run_until_complete, connection.close()).result()
            thread.submit(loop.close).result()


async def test_work_that_fails_takes_nothing_of_its_neighbours_with_it(storage: PostgresDatabase) -> None:
    async def bad(tx: Transaction) -> None:
        await tx.run(ADD, "S", "bad")
        raise ValueError("no")

    async def twice(tx: Transaction) -> None:
        await tx.run(ADD, "S", "twice")
        await tx.run(ADD, "S", "twice")

    async def partly(tx: Transaction) -> None:
        await tx.run(ADD, "S", "kept")
        try:
            async with tx.savepoint():
                await tx.run(ADD, "S", "gone")
                async with tx.savepoint():
                    await tx.run(ADD, "S", "kept")
        except ConstraintViolated:
            await tx.run(ADD, "S", "kept too")

    jobs = [storage.write(adds(str(n)), stores=["S"]) for n in range(5)]
    jobs[2:2] = [storage.write(one, stores=["S"]) for one in (bad, twice, partly)]
    answers = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(one) for one in answers if one is not None] == [ValueError, ConstraintViolated]
    assert await storage.read(names) == ["0", "1", "2", "3", "4", "kept", "kept too"]


@pytest.mark.parametrize("count", [1, 2, 32, 33])
async def test_statements_together_all_happen_or_none(storage: PostgresDatabase, count: int) -> None:
    odd = "é'; DROP TABLE counter; -- $1"
    moved = "UPDATE counter SET value = value + $3 WHERE store_number = $1 AND name = $2"
    fresh = [(ADD, ("S", f"{odd}{n}")) for n in range(count - 1)]

    async def work(tx: Transaction) -> list[tuple[Any, ...]]:
        await tx.run(ADD, "S", "there")
        await tx.run_batch([*fresh, (moved, ("S", "there", 5))])
        with pytest.raises(ConstraintViolated):
            async with tx.savepoint():
                await tx.run_batch([(moved, ("S", "there", 7)), *fresh, (ADD, ("S", "there"))])
        return await tx.all("SELECT name, value FROM counter ORDER BY name")

    assert await storage.write(work) == sorted([("there", 6), *((row[1], 1) for _, row in fresh)])


async def test_sums_and_texts_come_back_as_they_went(storage: PostgresDatabase) -> None:
    odd = "é\U0001f34f'; DROP TABLE counter; --"

    async def work(tx: Transaction) -> list[tuple[Any, ...]]:
        await tx.run_many(
            "INSERT INTO counter (store_number, name, value) VALUES ($1, $2, $3)",
            [(odd, "b", 2**53), (odd, "A", 2**53 + 1), (odd, "\u00e4", 0)],
        )
        await tx.run("DELETE FROM counter WHERE store_number = $1 AND name = ANY($2)", odd, ["none", odd])
        [total] = await tx.all("SELECT SUM(value) FROM counter WHERE store_number = $1", odd)
        return [total, *await tx.all("SELECT name, value FROM counter WHERE store_number = $1 ORDER BY name", odd)]

    # By their bytes, as SQLite has them, and every digit of them.
    expected = [(2**54 + 1,), ("A", 2**53 + 1), ("b", 2**53), ("\u00e4", 0)]
    assert await storage.write(work) == expected
    assert type(expected[0][0]) is int


async def test_a_reader_cannot_write_and_sees_one_moment(
    storage: PostgresDatabase, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(DatabaseFailed) as told:
        await storage.read(adds("x"))
    assert "ReadOnlySQLTransactionError" in caplog.text  # the kind is for the log, the server's words for nobody
    assert "read-only" not in f"{told.value} {caplog.text}"

    async def twice(tx: Transaction) -> tuple[list[str], list[str]]:
        before = await names(tx)
        await storage.write(adds("y"), stores=["S"])
        return before, await names(tx)

    assert await storage.read(twice) == ([], [])
    assert await storage.read(names) == ["y"]


async def test_writers_of_one_store_wait_for_each_other_and_for_nobody_else(url: str) -> None:
    execute(url, "DELETE FROM counter")
    with closing(PostgresDatabase(url, timeout_s=1.0)) as storage, other(url) as client:
        client("BEGIN")
        client(lock_statement(["S"]))
        with pytest.raises(Busy):
            await storage.write(adds("x"), stores=["S"])
        with pytest.raises(Busy):
            await storage.write(adds("x"))
        await storage.write(adds("other", "T"), stores=["T", "*"])
        assert await storage.read(names) == ["other"]
        client("COMMIT")
        await storage.write(adds("x"), stores=["T", "S"])
        client("BEGIN")
        client(lock_statement(None))
        with pytest.raises(Busy):
            await storage.write(adds("y", "T"), stores=["T"])
        with pytest.raises(Busy):
            await storage.write(adds("y", "T"), stores=())
        client("COMMIT")
        assert await storage.read(names) == ["other", "x"]


WRITERS = 4
"""Writing connections of a database, by default."""


@pytest.mark.parametrize("stores", ["the same", "others", "all"])
async def test_many_writes_of_one_caller_hold_up_none_of_another(storage: PostgresDatabase, stores: str) -> None:
    had = list[str]()

    async def write(caller: str, of: set[str] | None) -> None:
        CALLER.set(Caller(caller))

        async def note(tx: Transaction) -> None:
            had.append(caller)

        await storage.write(note, stores=of)

    gate, holding = threading.Event(), threading.Semaphore(0)

    async def hold(tx: Transaction) -> None:
        holding.release()
        await asyncio.to_thread(gate.wait)

    held = [asyncio.create_task(storage.write(hold, stores={f"H{n}"})) for n in range(WRITERS)]
    for _ in held:
        await asyncio.to_thread(holding.acquire)
    many = [{"the same": {"S1"}, "others": {f"T{n}"}, "all": None}[stores] for n in range(40)]
    waiting = [asyncio.create_task(write("a", of)) for of in many] + [asyncio.create_task(write("b", {"S1"}))]
    await asyncio.sleep(0)  # Each has asked for its turn.
    gate.set()
    await asyncio.gather(*held, *waiting)
    assert had.index("b") < 10


def test_more_stores_than_can_be_locked_one_by_one_are_locked_as_a_whole() -> None:
    assert lock_statement([str(n) for n in range(1000)]) == lock_statement(None)
    some = lock_statement(["b", "a", "b"])
    assert some == lock_statement(["a", "b"])
    assert some.count("pg_advisory_xact_lock(") == 2
    assert "shared" in some


async def test_a_request_given_up_before_its_turn_is_not_carried_out(storage: PostgresDatabase, url: str) -> None:
    with other(url) as client:
        client("BEGIN")
        client(lock_statement(["S"]))
        one = asyncio.create_task(storage.write(adds("first"), stores=["S"]))
        await until(url, "SELECT count(*) FROM pg_locks WHERE NOT granted")
        two = asyncio.create_task(storage.write(adds("second"), stores=["S"]))
        await asyncio.sleep(0)
        two.cancel()
        with pytest.raises(asyncio.CancelledError):
            await two
        client("COMMIT")
        await one
    assert await storage.read(names) == ["first"]


async def until(url: str, sql: str) -> None:
    """Wait until a number is above none."""
    connection = await asyncpg.connect(url, timeout=60)
    try:
        for _ in range(6000):
            if await connection.fetchval(sql):
                return
            await asyncio.sleep(0.01)
        pytest.fail(f"still none: {sql}")
    finally:
        await connection.close()


async def test_work_is_done_again_when_the_server_undid_it(storage: PostgresDatabase) -> None:
    await storage.write(adds("x"))
    tries: list[int] = []

    async def unlucky(tx: Transaction) -> int:
        [(value,)] = await tx.all(UP, "S", "x")
        tries.append(value)
        if len(tries) == 1:
            assert isinstance(tx, PostgresTransaction)
            # The connection goes in the middle, and with it what was done.
            await tx.run("SELECT pg_terminate_backend(pg_backend_pid())")
        if len(tries) == 2:
            raise asyncpg.DeadlockDetectedError("as the server says it")
        if len(tries) == 3:
            await tx.run("DO $$BEGIN RAISE SQLSTATE '40001'; END$$")
        return int(value)

    assert await storage.write(unlucky, stores=["S"]) == 2
    assert tries == [2, 2, 2, 2]


async def test_two_that_wait_for_each_other_both_come_through(storage: PostgresDatabase) -> None:
    # The locks of stores keep the rules from this; rows are locked by the server all the same.
    await storage.write(adds("a"))
    await storage.write(adds("b"))
    met = [asyncio.Event(), asyncio.Event()]

    def crossing(first: str, second: str, own: int) -> Callable[[Transaction], Any]:
        async def work(tx: Transaction) -> None:
            await tx.run(UP, "S", first)
            met[own].set()
            await asyncio.wait_for(met[1 - own].wait(), 30)
            await tx.run(UP, "S", second)

        return work

    await asyncio.gather(
        storage.write(crossing("a", "b", 0), stores=["1"]), storage.write(crossing("b", "a", 1), stores=["2"])
    )
    [values] = await storage.read(lambda tx: tx.all("SELECT array_agg(value) FROM counter"))
    assert values == ([3, 3],)


async def test_lost_commit_is_never_reported_as_stored(storage: PostgresDatabase, url: str) -> None:
    execute(
        url,
        """CREATE FUNCTION dies() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'""",
        """CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON counter DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION dies()""",
    )
    try:
        with pytest.raises(DatabaseFailed):
            await storage.write(adds("x"))
    finally:
        execute(url, "DROP TRIGGER dies ON counter", "DROP FUNCTION dies")
    assert await storage.read(names) == []
    await storage.write(adds("y"))


async def test_what_no_key_can_hold_is_refused(storage: PostgresDatabase) -> None:
    long = "".join(chr(0x4E00 + n * 7 % 20_000) for n in range(3000))
    with pytest.raises(ValueTooLong):
        await storage.write(adds(long))


def test_workers_that_start_at_once_make_the_tables_once(server: Server) -> None:
    fresh = server.fresh()
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(PostgresDatabase, [fresh] * 4))
    versions = opened[0].read_now(lambda tx: tx.all("SELECT version FROM schema_version ORDER BY version"))
    assert [row[0] for row in versions] == list(range(1, len(MIGRATIONS) + 1))
    for one in opened:
        one.close()
        one.close()
    execute(fresh, f"INSERT INTO schema_version VALUES ({len(MIGRATIONS) + 1})")
    with pytest.raises(StorageError, match="newer"):
        PostgresDatabase(fresh)


async def test_waiting_process_does_not_create_tables_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_and_search_index, "MIGRATIONS", (("CREATE TABLE made_once (name TEXT)",),))
    fresh = server.fresh()
    first, second = await asyncpg.connect(fresh), await asyncpg.connect(fresh)
    try:
        async with first.transaction():
            await schema_and_search_index.migrate_postgres(first)  # its lock is held until all of this is stored
            # Whoever begins now asks whether the tables are there, hears that they are not, and waits.
            waiting = asyncio.create_task(schema_and_search_index.migrate_postgres(second))
            while not await first.fetchval(_WAITS, second.get_server_pid()):
                assert not waiting.done()
                await asyncio.sleep(0)
        await waiting
        assert await second.fetchval("SELECT count(*) FROM schema_version") == 1
    finally:
        await first.close()
        await second.close()


def test_a_database_that_is_not_there_is_named_without_its_password(server: Server) -> None:
    with pytest.raises(StorageError) as told:
        PostgresDatabase(f"postgresql://me:hunter2@/nowhere?host={server.folder}", timeout_s=30)
    assert "postgresql:///nowhere" in str(told.value)
    assert "hunter2" not in str(told.value)
    assert redact_dsn("postgresql://me:p@w@one:1,two:2/name?password=x") == "postgresql://one:1,two:2/name"
    with pytest.raises(StorageError):
        PostgresDatabase("postgresql://me@/x?host=/nonexistent")


async def test_a_database_that_is_renamed_is_lost_until_it_is_back(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    execute(server.url(), "CREATE DATABASE kept")
    storage = PostgresDatabase(server.url("public").replace("/postgres?", "/kept?"))
    try:
        execute(
            server.url(),
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'kept'",
            "ALTER DATABASE kept RENAME TO away",
        )
        for _ in range(2):
            with pytest.raises(Busy):
                await storage.read(names)
        execute(server.url(), "ALTER DATABASE away RENAME TO kept")
        await storage.read(names)
    finally:
        storage.close()
        execute(server.url(), "DROP DATABASE kept")
    said = [record.getMessage().partition(" after")[0] for record in caplog.records]
    assert said == ["database lost: InvalidCatalogNameError of reads", "database regained"]


async def test_every_statement_is_understood(url: str) -> None:
    connection = await asyncpg.connect(url, timeout=60)
    try:
        # Pages and groups are made of several texts; the tests of their lists send them.
        whole = [
            (name, text)
            for name, text in statements()
            if "page." not in text and not name.startswith("GOODS_AT_LOCATION")
        ]
        assert len(whole) > 100
        for _, text in whole:
            await connection.prepare(text)
    finally:
        await connection.close()


def test_a_schema_is_split_by_store_and_keeps_its_foreign_keys(server: Server) -> None:
    # What Citus does with each table is noted in its stead.
    made = server.fresh()
    with closing(PostgresDatabase(made, timeout_s=60)) as storage:
        before = storage.read_now(foreign_keys)
        execute(
            made,
            "CREATE TABLE said (text TEXT)",
            "CREATE FUNCTION create_reference_table(text) RETURNS void LANGUAGE sql AS 'INSERT INTO said VALUES ($1)'",
            """CREATE FUNCTION create_distributed_table(text, text, colocate_with text DEFAULT '-') RETURNS void
            LANGUAGE sql AS 'INSERT INTO said VALUES ($1 || '' by '' || $2 || '' with '' || $3)'""",
        )
        split(made)
        assert storage.read_now(foreign_keys) == before
        assert len(before) > 10
        said = [row[0] for row in storage.read_now(lambda tx: tx.all("SELECT text FROM said"))]
    assert sorted(said[:5]) == ["product", "product_code", "store", "token", "token_store"]
    assert said[5] == "assignment by store_number with -"
    assert {text.partition(" by ")[2] for text in said[6:]} == {"store_number with assignment"}
    assert len(said) > 20


async def test_reads_never_wait_for_writers(storage: PostgresDatabase, url: str) -> None:
    await storage.write(adds("x"))
    with other(url) as client:
        client("BEGIN")
        client(lock_statement(None))
        client("UPDATE counter SET value = 5")
        assert await storage.read(names) == ["x"]
        client("COMMIT")
