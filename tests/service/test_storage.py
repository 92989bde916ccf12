"""SQLite: its engine, its file, several processes, and death in the middle of a commit."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.errors import StorageError
from aisle.host import database
from aisle.service.db import sqlite_database, sqlite_writer
from aisle.service.db.database_interface import Busy, ConstraintViolated, DatabaseFailed, Transaction
from aisle.service.db.schema_and_search_index import MIGRATIONS
from aisle.service.db.sqlite_connection_and_transaction import SqliteTransaction, _json_list, open_connection
from aisle.service.db.sqlite_database import MIN_SQLITE_VERSION, SqliteDatabase, check_sqlite_version
from aisle.service.db.statements import logs_and_changes as changes_sql
from aisle.service.db.statements import people_and_tokens as tokens_sql
from tests.service.world import World, assert_books

pytestmark = pytest.mark.sqlite
SECONDS = 60.0

WRITER = """
import asyncio, sys
from pathlib import Path
from tests.service.world import World

async def main(folder, secret, times, place):
    world = World(Path(folder), secret=secret)
    print("ready", flush=True)
    for n in range(times):
        await world.move("P1", 1, "A1", place)
        print(n, flush=True)
    await world.client.aclose()
    world.service.close()

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
"""


def test_a_file_that_another_is_just_making_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "service.db"
    with closing(apsw.Connection(str(path))) as other, ThreadPoolExecutor(1) as thread:
        other.execute("BEGIN EXCLUSIVE")
        opening = thread.submit(SqliteDatabase, path)
        done, _ = wait([opening], timeout=0.3)
        assert not done, opening.exception()
        other.execute("ROLLBACK")
        opening.result(30).close()


def test_database_being_filled_or_migrated_is_waited_for_at_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "service.db"
    with closing(apsw.Connection(str(path))) as other, ThreadPoolExecutor(1) as thread:
        other.execute("PRAGMA journal_mode = WAL").fetchall()
        other.execute("BEGIN IMMEDIATE")
        opening = thread.submit(SqliteDatabase, path, busy_ms=1)
        done, _ = wait([opening], timeout=0.3)
        assert not done, opening.exception()
        other.execute("COMMIT")
        opening.result().close()
        (version,) = other.execute("PRAGMA user_version").fetchone() or (0,)
        other.execute("PRAGMA user_version = 0")
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(sqlite_database, "_OPEN_TIMEOUT_MS", 1000)
        with pytest.raises(Busy, match="held by another process for 1 seconds"):
            SqliteDatabase(path, busy_ms=1)
        other.execute("COMMIT")
        other.execute(f"PRAGMA user_version = {version}")


def test_exclusively_locked_database_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "service.db"
    with closing(apsw.Connection(str(path))) as other:
        other.execute("CREATE TABLE x(y)")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Busy, match="has been held by another process for 0 seconds; start again when it is done"):
            open_connection(path, 1)
        other.execute("ROLLBACK")
    open_connection(path, 1).close()


async def test_a_list_is_asked_for_with_each_of_its_values(tmp_path: Path) -> None:
    path = tmp_path / "service.db"
    with closing(SqliteDatabase(path)) as storage:

        async def found(tx: Transaction, *lists: list[object]) -> list[str]:
            names = "SELECT name FROM counter WHERE store_number = ANY($1) AND value = ANY($2) ORDER BY name"
            return [row[0] for row in await tx.all(names, *lists)]

        async def work(tx: Transaction) -> list[list[str]]:
            await tx.run_many(changes_sql.COUNTER_ADD, [("S1", "a", 1), ("S2", "b", 2), ("1", "c", 1)])
            stores: list[list[object]] = [[], ["S1"], ["S2", "S1"], ["1"]]
            numbers: list[list[object]] = [[1], [1, 2], [2]]
            return [await found(tx, of, values) for of in stores for values in numbers]

        assert storage.write_now(work) == [[], [], [], ["a"], ["a"], [], ["a"], ["a", "b"], ["b"], ["c"], ["c"], []]


async def test_write_statements_are_planned_once(tmp_path: Path) -> None:
    looked_at: list[object] = []

    def allow(*what: object) -> int:
        looked_at.append(what)  # by the planner, not when a plan is carried out
        return apsw.SQLITE_OK

    async def enter(tx: Transaction) -> list[int]:
        assert isinstance(tx, SqliteTransaction)
        tx.connection.authorizer = allow
        seen = []
        for store in ("S1", "S2", "S3"):
            await tx.one(tokens_sql.AUTHORIZATION, "0" * 64, ["staff"], 0, store)
            seen.append(len(looked_at))
        return seen

    with closing(SqliteDatabase(tmp_path / "service.db")) as storage:
        seen = await storage.write(enter)
    assert seen[0] > 0
    assert seen == [seen[0]] * 3


async def test_writers_of_one_turn_share_one_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_writer, "_MAX_BATCH_SECONDS", SECONDS)
    commits: list[str] = []
    woken: list[object] = []
    loop = asyncio.get_running_loop()
    wake = loop.call_soon_threadsafe

    def noted(*work: Any, **options: Any) -> asyncio.Handle:
        woken.append(work)
        return wake(*work, **options)

    async def note(tx: Transaction, name: str) -> str:
        assert isinstance(tx, SqliteTransaction)
        if name == "first":
            tx.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda said: commits.append(said["sql"]))
        await tx.run("INSERT INTO counter (store_number, name, value) VALUES ($1, $2, $3)", "S1", name, 1)
        if name == "refused":
            raise ValueError(name)
        return name

    async def names(tx: Transaction) -> set[str]:
        return {row[0] for row in await tx.all("SELECT name FROM counter WHERE store_number = $1", "S1")}

    with closing(SqliteDatabase(tmp_path / "service.db")) as storage:
        monkeypatch.setattr(loop, "call_soon_threadsafe", noted)
        asked = [
            asyncio.create_task(storage.write(partial(note, name=name)))
            for name in ("first", "gone", "refused", "last")
        ]
        loop.call_soon(asked[1].cancel)  # it has sent what it wants, and nobody has begun with it
        answers = await asyncio.gather(*asked, return_exceptions=True)
        monkeypatch.undo()
        assert [type(answer).__name__ for answer in answers] == ["str", "CancelledError", "ValueError", "str"]
        assert commits.count("COMMIT") == 1
        assert len(woken) == 1, "the refusal, which stands only now, with the rest"
        assert await storage.read(names) == {"first", "last"}


def start(world: World, times: int, place: str) -> "subprocess.Popen[str]":
    """Another process that moves P1 one by one."""
    command = [sys.executable, "-c", WRITER, str(world.path.parent), world.secret, str(times), place]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def test_the_engine_is_new_enough_for_several_processes() -> None:
    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) >= MIN_SQLITE_VERSION
    with pytest.raises(StorageError, match=r"3\.40\.1"):
        check_sqlite_version("3.40.1")


def test_service_and_session_need_same_sqlite_version() -> None:
    # Neither may import the other; the floor of the engine is theirs in common.
    assert database.MIN_SQLITE_VERSION == MIN_SQLITE_VERSION


def test_every_connection_is_safe(tmp_path: Path) -> None:
    storage = SqliteDatabase(tmp_path / "service.db")

    async def pragmas(tx: Transaction) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "trusted_schema", "busy_timeout")
        found: dict[str, object] = {}
        for name in names:
            row = await tx.one(f"PRAGMA {name}")
            found[name] = row[0] if row else None
        row = await tx.one("PRAGMA mmap_size")
        return found | {"mmap_size": row[0] if row else 0}

    expected = {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "trusted_schema": 0,
        "busy_timeout": 5000,
        "mmap_size": 0,
    }
    assert storage.read_now(pragmas) == expected
    assert storage.write_now(pragmas) == expected | {"busy_timeout": 0}, "the writer waits by a handler of its own"
    storage.close()


@pytest.mark.parametrize(
    "said", [[], ["A1"], ['"', "\\", "\x01\n", "É 한 🎄", "\ud800"], [1, 2], ["1", 1, None, 1.5]], ids=repr
)
def test_a_list_reaches_the_database_as_it_is(said: list[object]) -> None:
    assert json.loads(_json_list(said)) == said


async def test_repeated_writes_are_checkpointed_once(tmp_path: Path) -> None:
    file = tmp_path / "service.db"
    with closing(SqliteDatabase(file)) as storage:
        written = file.stat().st_mtime_ns

        async def keep(tx: Transaction) -> None:
            for key in range(1500):
                await tx.run(changes_sql.RESPONSE_ADD, "S1", f"{key:016}", "", 200, b"x" * 4096, "2026-01-01")

        await storage.write(keep)
        assert file.with_name("service.db-wal").stat().st_size > 1500 * 4096
        assert file.stat().st_mtime_ns == written


def test_the_file_and_its_companions_are_their_owner_s_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        storage = SqliteDatabase(tmp_path / "deep" / "service.db")
    finally:
        os.umask(old)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "deep").iterdir()}
    assert set(modes.values()) == {0o600}
    assert "service.db-wal" in modes
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700
    storage.close()


def test_a_failing_disk_is_told_without_the_words_of_the_engine(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    storage = SqliteDatabase(tmp_path / "service.db")

    async def full(tx: Transaction) -> None:
        raise apsw.FullError(f"{tmp_path} is full")

    with pytest.raises(DatabaseFailed) as told:
        storage.write_now(full)
    storage.close()
    assert str(tmp_path) not in f"{told.value} {caplog.text}"
    assert "FullError" in caplog.text


def test_a_file_that_is_no_database_or_a_newer_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to be read as one" * 10)
    with pytest.raises(StorageError, match="text"):
        SqliteDatabase(tmp_path / "text")
    with pytest.raises(StorageError):
        SqliteDatabase(tmp_path)
    SqliteDatabase(tmp_path / "new.db").close()
    connection = apsw.Connection(str(tmp_path / "new.db"))
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(StorageError, match="newer"):
        SqliteDatabase(tmp_path / "new.db")


async def test_work_that_fails_takes_nothing_of_its_neighbours_with_it(tmp_path: Path) -> None:
    storage = SqliteDatabase(tmp_path / "service.db")

    async def good(tx: Transaction, n: int) -> int:
        await tx.run("INSERT INTO counter VALUES ('S', $1, 1)", str(n))
        return n

    async def bad(tx: Transaction) -> int:
        await tx.run("INSERT INTO counter VALUES ('S', 'bad', 1)")
        raise ValueError("no")

    async def twice(tx: Transaction) -> int:
        await tx.run("INSERT INTO counter VALUES ('S', 'twice', 1)")
        await tx.run("INSERT INTO counter VALUES ('S', 'twice', 1)")
        return 0

    async def waits(tx: Transaction) -> int:
        await asyncio.sleep(0)
        return 0

    jobs = [storage.write(lambda tx, n=n: good(tx, n)) for n in range(5)]  # type: ignore[misc]
    jobs[2:2] = [storage.write(bad), storage.write(twice), storage.write(waits)]
    answers = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(answer) for answer in answers] == [
        int,
        int,
        ValueError,
        ConstraintViolated,
        RuntimeError,
        int,
        int,
        int,
    ]

    async def names(tx: Transaction) -> list[str]:
        return [row[0] for row in await tx.all("SELECT name FROM counter WHERE store_number = 'S' ORDER BY name")]

    assert await storage.read(names) == ["0", "1", "2", "3", "4"]
    storage.close()


async def test_a_reader_cannot_write(tmp_path: Path) -> None:
    storage = SqliteDatabase(tmp_path / "service.db")

    async def write(tx: Transaction) -> None:
        await tx.run("INSERT INTO counter VALUES ('S', 'x', 1)")

    with pytest.raises(apsw.ReadOnlyError):
        await storage.read(write)
    storage.close()


async def test_a_request_given_up_before_its_turn_is_not_carried_out(tmp_path: Path) -> None:
    storage = SqliteDatabase(tmp_path / "service.db")
    holder = apsw.Connection(str(tmp_path / "service.db"))
    holder.execute("BEGIN IMMEDIATE")

    async def first(tx: Transaction) -> None:
        await tx.run("INSERT INTO counter VALUES ('S', 'first', 1)")

    async def second(tx: Transaction) -> None:
        await tx.run("INSERT INTO counter VALUES ('S', 'second', 1)")

    one, two = asyncio.create_task(storage.write(first)), asyncio.create_task(storage.write(second))
    await asyncio.sleep(0)
    two.cancel()
    holder.execute("COMMIT")
    holder.close()
    await one
    with pytest.raises(asyncio.CancelledError):
        await two

    async def names(tx: Transaction) -> list[str]:
        return [row[0] for row in await tx.all("SELECT name FROM counter WHERE store_number = 'S'")]

    assert await storage.read(names) == ["first"]
    storage.close()


async def test_two_processes_write_at_once_and_nothing_is_lost(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=120)
    other = start(world, 50, "A2")
    assert other.stdout is not None
    assert other.stdout.readline() == "ready\n"
    for _ in range(50):
        await world.move("P1", 1, "A1", "A10")
    out, _ = await asyncio.to_thread(other.communicate)
    assert other.returncode == 0, out
    assert world.books() == {("P1", "A1", 1): 20, ("P1", "A2", 1): 50, ("P1", "A10", 1): 50}
    rows = (await world.get("/products/stock/storeproductlogs", store_number="S1", page_size=1000))["list"]
    assert len({row["id"] for row in rows}) == len(rows) == 1 + 4 * 50


@pytest.mark.parametrize("seen", [1, 4, 9])
async def test_a_process_killed_in_the_middle_leaves_whole_operations(world: World, seen: int) -> None:
    await world.count("P1", "A1", stock_pool_1=5000)
    other = start(world, 5000, "A2")
    assert other.stdout is not None
    for _ in range(seen + 1):
        other.stdout.readline()
    other.send_signal(signal.SIGKILL)
    said, _ = await asyncio.to_thread(other.communicate)
    acknowledged = seen + len([line for line in said.splitlines() if line.strip().isdecimal()])
    assert_books(world.service)
    moved = world.books()[("P1", "A2", 1)]
    assert acknowledged <= moved <= acknowledged + 1
    assert world.books()[("P1", "A1", 1)] == 5000 - moved
    await world.move("P1", 1, "A1", "A2")
