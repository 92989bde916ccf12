"""The writing thread's end: whoever has asked it for something hears of it, done or refused, from whatever thread."""

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any

import apsw
import pytest

from aisle.service.db import sqlite_connection_and_transaction as connection_module
from aisle.service.db import sqlite_writer as writer_module
from aisle.service.db.database_interface import Busy, DatabaseFailed, DatabaseMonitor, Transaction, WaitKind
from aisle.service.db.sqlite_connection_and_transaction import NextWriter, SqliteTransaction, open_connection
from aisle.service.db.sqlite_writer import SqliteWriter
from aisle.service.errors import Refusal

pytestmark = pytest.mark.sqlite

LONG_S = 20
"""Nobody waits so long for an answer, unless there will never be one."""


def made(path: Path) -> apsw.Connection:
    """A database with one table, as it is opened."""
    path.touch()
    connection = open_connection(path, 5000)
    connection.execute("CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY)")
    return connection


@pytest.fixture
def writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteWriter]:
    monkeypatch.setattr(writer_module, "_MAX_BATCH_SECONDS", 60.0)
    found = SqliteWriter(lambda: made(tmp_path / "some.db"))
    yield found
    found.close()


async def keep(tx: Transaction, name: str) -> str:
    """Some work."""
    await tx.run("INSERT INTO kept VALUES ($1)", name)
    return name


def keep_as(name: str) -> Callable[[Transaction], Coroutine[Any, Any, str]]:
    """The same, to be sent."""
    return partial(keep, name=name)


async def names(tx: Transaction) -> set[str]:
    """What was kept."""
    return {row[0] for row in await tx.all("SELECT name FROM kept")}


async def heard(answer: "asyncio.Future[Any]") -> Any:
    """What became of it, the kind of a failure for one."""
    try:
        return await asyncio.wait_for(answer, LONG_S)
    except (Busy, DatabaseFailed) as problem:
        return type(problem)


async def test_work_after_close_is_refused(writer: SqliteWriter) -> None:
    writer.close()
    with pytest.raises(Busy):
        writer.submit(partial(keep, name="late")).result(LONG_S)
    assert await heard(writer.submit_async(partial(keep, name="late"))) is Busy
    writer.close()


async def test_work_sent_during_close_is_answered(writer: SqliteWriter) -> None:
    begun, let_go = threading.Event(), threading.Event()

    async def slow(tx: Transaction) -> str:
        begun.set()
        assert let_go.wait(LONG_S)
        return await keep(tx, "slow")

    with ThreadPoolExecutor(1) as other:
        first = writer.submit_async(slow)
        await asyncio.get_running_loop().run_in_executor(None, begun.wait, LONG_S)
        before = writer.submit_async(partial(keep, name="before"))  # the loop has not handed it over yet
        closing = other.submit(writer.close)
        answers = [before]
        async with asyncio.timeout(LONG_S):
            while not answers[-1].done():  # the thread is held, so that this is a refusal
                await asyncio.sleep(0.001)
                answers.append(writer.submit_async(partial(keep, name=f"{len(answers)}")))
        let_go.set()
        said = await asyncio.gather(heard(first), *map(heard, answers))
        closing.result(LONG_S)
    assert said[:2] == ["slow", "before"]
    assert said[-1] is Busy


def test_work_sent_during_close_is_always_answered(tmp_path: Path) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for turn in range(40):
            _race(SqliteWriter(lambda: made(tmp_path / "some.db")), turn)
    finally:
        sys.setswitchinterval(before)


def _race(writer: SqliteWriter, turn: int) -> None:
    """A loop sends, a thread submits, another one closes."""

    async def nothing(tx: Transaction) -> None:
        return None

    async def sends() -> None:
        answers: list[asyncio.Future[None]] = []
        for _ in range(30):
            answers += [writer.submit_async(nothing), writer.submit_async(nothing)]
            await asyncio.sleep(0)
        assert set(await asyncio.gather(*map(heard, answers))) <= {None, Busy}

    def submits() -> list[Future[None]]:
        return [writer.submit(nothing) for _ in range(60)]

    def closes() -> None:
        for _ in range(turn * 20):
            pass
        writer.close()

    with ThreadPoolExecutor(3) as others:
        sending = others.submit(asyncio.run, sends())
        submitting = others.submit(submits)
        closing = others.submit(closes)
        for answer in submitting.result(LONG_S):
            assert isinstance(answer.exception(LONG_S), Busy | None)
        sending.result(2 * LONG_S)
        closing.result(LONG_S)
    writer.close()


def test_a_writer_of_another_process_is_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's lock has no queue, so that who writes without a pause would keep it."""
    monkeypatch.setattr(writer_module, "_MAX_BATCH", 1)
    wrote, is_sent = list[str](), threading.Event()

    async def write(tx: Transaction, name: str) -> None:
        await keep(tx, name)
        wrote.append(name)
        is_sent.wait(LONG_S)
        threading.Event().wait(0.005)

    busy, other = (SqliteWriter(lambda: made(tmp_path / "some.db")) for _ in range(2))
    try:
        answers = [busy.submit(partial(write, name=f"a{number}")) for number in range(100)]
        while not wrote:
            sleep(0.001)
        answers.append(other.submit(partial(write, name="b")))
        is_sent.set()
        for answer in answers:
            answer.result(LONG_S)
    finally:
        busy.close()
        other.close()
    assert wrote.index("b") < 10


async def test_all_that_waited_for_a_lock_in_vain_are_told_at_once(tmp_path: Path) -> None:
    waits: list[WaitKind] = []

    class Monitor(DatabaseMonitor):
        def report_wait(self, kind: WaitKind, seconds: float) -> None:
            waits.append(kind)

    def connect() -> apsw.Connection:
        connection = made(tmp_path / "some.db")
        connection.set_busy_timeout(1)
        return connection

    writer = SqliteWriter(connect, Monitor())
    with closing(apsw.Connection(str(tmp_path / "some.db"))) as other:
        other.execute("BEGIN IMMEDIATE")
        answers = [writer.submit_async(keep_as(name)) for name in "abc"]
        assert [await heard(answer) for answer in answers] == [Busy] * 3
    assert await heard(writer.submit_async(keep_as("d"))) == "d"
    writer.close()
    assert sorted(waits) == ["lock", "lock", "pool"], "one of them waited in vain for all"


def test_writers_need_no_place_for_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "_MAX_WAIT_S", 0.01)
    file = tmp_path / "some.db"
    with NextWriter(file).taken(), closing(SqliteWriter(lambda: made(file))) as one:
        assert one.submit(partial(keep, name="beside a stopped one")).result(LONG_S)
    (tmp_path / "other.db-next").mkdir()
    with closing(SqliteWriter(lambda: made(tmp_path / "other.db"))) as one:
        assert one.submit(partial(keep, name="without a file")).result(LONG_S)


async def test_work_that_ends_like_a_thread_takes_nobody_with_it(writer: SqliteWriter) -> None:
    async def leaves(tx: Transaction) -> str:
        await keep(tx, "half")
        raise asyncio.CancelledError

    answers = [
        writer.submit_async(partial(keep, name="a")),
        writer.submit_async(leaves),
        writer.submit_async(partial(keep, name="b")),
    ]
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(answers[1], LONG_S)
    assert [await heard(answers[0]), await heard(answers[2])] == ["a", "b"]
    assert await heard(writer.submit_async(names)) == {"a", "b"}


async def test_failed_write_leaves_nothing_and_others_stay(writer: SqliteWriter) -> None:
    async def is_refused(tx: Transaction) -> None:
        raise Refusal(409, "no")

    async def fails(tx: Transaction) -> None:
        await keep(tx, "half")
        raise Refusal(409, "too late")

    for wrong in (is_refused, fails):
        kept = writer.submit(partial(keep, name=f"{wrong.__name__} submitted"))
        jobs = [keep_as(f"{wrong.__name__} before"), wrong, keep_as(f"{wrong.__name__} after")]
        answers = await asyncio.gather(*map(writer.submit_async, jobs), return_exceptions=True)
        assert isinstance(answers[1], Refusal)
        assert kept.result(LONG_S) in await writer.submit_async(names)
    every = await writer.submit_async(names)
    assert every == {f"{one} {when}" for one in ("is_refused", "fails") for when in ("submitted", "before", "after")}


async def test_part_that_cannot_be_undone_undoes_all(writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(tx: Transaction) -> None:
        await keep(tx, "half")
        raise Refusal(409, "too late")

    def breaks(self: SqliteTransaction, *statements: str) -> None:
        if statements[0].startswith("ROLLBACK"):
            raise apsw.IOError

    monkeypatch.setattr(SqliteTransaction, "_end_savepoint", breaks)
    jobs = [keep_as("before"), fails, keep_as("after")]
    answers = await asyncio.gather(*map(writer.submit_async, jobs), return_exceptions=True)
    monkeypatch.undo()
    assert [type(answer) for answer in answers[:2]] == [DatabaseFailed] * 2
    assert await writer.submit_async(names) == ({"after"} if answers[2] == "after" else set())


async def test_a_part_that_fails_is_undone_and_the_rest_of_its_work_kept(writer: SqliteWriter) -> None:
    async def half(tx: Transaction) -> None:
        await keep(tx, "first")
        with suppress(Refusal):
            async with tx.savepoint():
                await keep(tx, "undone")
                raise Refusal(422, "never")
        await keep(tx, "last")

    await asyncio.gather(*map(writer.submit_async, (keep_as("before"), half, keep_as("after"))))
    assert await writer.submit_async(names) == {"before", "first", "last", "after"}


async def test_failed_commit_keeps_only_refusals_without_writes(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = SqliteTransaction.end

    def fails(self: SqliteTransaction, statement: str) -> None:
        if statement == "COMMIT":
            raise apsw.IOError
        ends(self, statement)

    async def is_refused(tx: Transaction) -> None:
        raise Refusal(409, "no")

    monkeypatch.setattr(SqliteTransaction, "end", fails)
    with pytest.raises(Refusal):
        await writer.submit_async(is_refused)
    jobs = [is_refused, keep_as("a"), is_refused, keep_as("b")]
    answers = await asyncio.gather(*map(writer.submit_async, jobs), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Refusal, DatabaseFailed, DatabaseFailed, DatabaseFailed]
    monkeypatch.undo()
    assert await writer.submit_async(names) == set()


async def test_a_disk_that_can_neither_keep_nor_undo_is_told_to_all(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = SqliteTransaction.end

    def fails(self: SqliteTransaction, statement: str) -> None:
        if self.connection.in_transaction:
            if statement == "ROLLBACK":
                ends(self, statement)
            raise apsw.IOError

    monkeypatch.setattr(SqliteTransaction, "end", fails)
    answers = [writer.submit_async(partial(keep, name="a")), writer.submit_async(partial(keep, name="b"))]
    assert [await heard(answer) for answer in answers] == [DatabaseFailed, DatabaseFailed]
    monkeypatch.undo()
    assert await heard(writer.submit_async(partial(keep, name="c"))) == "c"


async def test_open_transaction_is_rolled_back_before_next_work(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: SqliteTransaction, statement: str) -> None:
        if self.connection.in_transaction:
            raise apsw.IOError

    monkeypatch.setattr(SqliteTransaction, "end", fails)
    assert await heard(writer.submit_async(partial(keep, name="a"))) is DatabaseFailed
    monkeypatch.undo()
    assert await heard(writer.submit_async(partial(keep, name="b"))) == "b"


async def test_a_thread_that_breaks_down_refuses_what_waits_and_what_comes(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(self: SqliteTransaction, statement: str) -> None:
        raise MemoryError

    monkeypatch.setattr(SqliteTransaction, "begin", breaks)
    answers = [writer.submit_async(partial(keep, name="a")), writer.submit_async(partial(keep, name="b"))]
    assert [await heard(answer) for answer in answers] == [DatabaseFailed, DatabaseFailed]
    assert await heard(writer.submit_async(partial(keep, name="c"))) is Busy


async def test_out_of_memory_in_rollback_is_reported_to_all(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_at = {"COMMIT", "ROLLBACK"}
    ends = SqliteTransaction.end

    def fails(self: SqliteTransaction, statement: str) -> None:
        if self.connection.in_transaction and statement in fails_at:
            fails_at.discard(statement)
            raise MemoryError
        ends(self, statement)

    monkeypatch.setattr(SqliteTransaction, "end", fails)
    answers = [writer.submit_async(keep_as("a")), writer.submit_async(keep_as("b"))]
    for answer in answers:
        with pytest.raises(MemoryError):
            await asyncio.wait_for(answer, LONG_S)
    assert await heard(writer.submit_async(keep_as("c"))) == "c"
    assert not fails_at
    assert await heard(writer.submit_async(names)) == {"c"}


@pytest.mark.parametrize("statement", ["COMMIT", "ROLLBACK"])
async def test_a_thread_that_ends_while_it_stores_has_told_all(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    def leaves(self: SqliteTransaction, said: str) -> None:
        if self.connection.in_transaction:
            raise SystemExit if said == statement else apsw.IOError

    monkeypatch.setattr(SqliteTransaction, "end", leaves)
    answers = [writer.submit_async(keep_as("a")), writer.submit_async(keep_as("b"))]
    said = await asyncio.wait_for(asyncio.gather(*answers, return_exceptions=True), LONG_S)
    assert {type(each) for each in said} <= {DatabaseFailed, SystemExit}


async def test_work_beside_a_thread_failure_is_answered_too(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was carried out, and not stored yet."""
    begins, begun = writer_module._Job.is_wanted, count()

    def breaks(self: Any) -> bool:
        if next(begun) == 1:
            raise MemoryError
        return begins(self)

    monkeypatch.setattr(writer_module._Job, "is_wanted", breaks)
    answers = [writer.submit_async(keep_as(name)) for name in "abc"]
    assert [await heard(answer) for answer in answers] == [DatabaseFailed, DatabaseFailed, DatabaseFailed]
    assert await heard(writer.submit_async(keep_as("d"))) is Busy
