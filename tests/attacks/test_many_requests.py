"""Many requests at once, or in a row on one connection: they take little memory, and whoever else asks has his turn."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import h11
import pytest

from aisle.caller_addresses import address_key
from aisle.server.caller_turns import FairStarts, KnownClients
from aisle.server.connections import _REQUEST_BYTES, ConnectionLimits, LimitedConnection, RepeatFilter, repeats_filtered
from aisle.service.db.database_interface import Busy, DatabaseFailed, FairTurns, Transaction
from aisle.service.db.sqlite_connection_and_transaction import SqliteTransaction
from aisle.service.db.statements import logs_and_changes as changes_sql
from aisle.service.db.statements import people_and_tokens as people_sql
from aisle.service.http import app as service_app
from aisle.service.http.access_and_service_logs import AccessLog, RequestRecord
from aisle.service.http.metrics import Metrics
from tests.run_length import tries
from tests.service.serve_process import until
from tests.service.test_connections import CHUNKED, SECONDS, WHOLE, answers, app, connected, ended, serving
from tests.service.test_monitoring import figures
from tests.service.world import API, World

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def held(server: Any) -> int:
    """Bytes that connections hold of what has not come to its end."""
    connections = list(server.server_state.connections)
    assert all(isinstance(one, LimitedConnection) for one in connections)
    return sum(len(one.conn.trailing_data[0]) for one in connections)


def test_pipelined_requests_wait_for_the_current_answer() -> None:
    may = threading.Event()

    async def later(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.to_thread(may.wait, SECONDS)
        await app(scope, receive, send)

    with serving(ConnectionLimits(), later) as (port, server), ExitStack() as opened:
        callers = [opened.enter_context(closing(connected(port))) for _ in range(3)]
        for caller in callers:
            caller.setblocking(False)
            caller.send(GET * tries(2_000, 10_000))
        until = monotonic() + SECONDS
        while len(server.server_state.tasks) < len(callers) and monotonic() < until:
            sleep(0.01)
        sleep(0.1)
        assert 0 < held(server) <= len(callers) * (32 << 10)
        may.set()
        callers[0].settimeout(SECONDS)
        heard = b""
        while heard.count(b"HTTP/1.1 200") < tries(100, 1_000):
            part = callers[0].recv(1 << 16)
            assert part
            heard += part


def test_a_body_is_not_read_before_it_is_taken() -> None:
    may = threading.Event()

    async def later(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.to_thread(may.wait, SECONDS)
        size, more = 0, True
        while more:
            message = await receive()
            size, more = size + len(message["body"]), message["more_body"]
        assert size == 300_000
        await app(scope, receive, send)

    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n"
    with serving(ConnectionLimits(), later) as (port, server), closing(connected(port, head)) as caller:
        caller.sendall(bytes(300_000))
        sleep(0.1)
        [one] = server.server_state.connections
        assert isinstance(one, LimitedConnection)
        assert 0 < len(one.cycle.body) <= 64 << 10
        may.set()
        assert caller.recv(100).startswith(b"HTTP/1.1 200")


def test_heads_without_their_end_have_a_limit_of_all() -> None:
    limits = ConnectionLimits(unfinished_bytes=100_000)
    with serving(limits) as (port, server), ExitStack() as opened:
        half = GET[:-2] + b"X: " + b"x" * 15_000
        for _ in range(40):
            opened.enter_context(closing(connected(port, half)))
        until(lambda: 0 < held(server) <= limits.unfinished_bytes + len(half))
        with closing(connected(port, GET[:-2])) as visitor:
            sleep(0.02)
            visitor.sendall(b"\r\n")
            assert visitor.recv(100).startswith(b"HTTP/1.1 200")


def test_requests_that_await_their_body_have_a_limit_of_all() -> None:
    async def read(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.request":
            await app(scope, receive, send)

    limits = ConnectionLimits(awaited_bytes=300_000, body_seconds=1e6)
    with serving(limits, read) as (port, server), ExitStack() as opened:
        callers = [opened.enter_context(closing(connected(port, WHOLE))) for _ in range(40)]
        until(lambda: len(server.server_state.connections) < 300_000 // _REQUEST_BYTES)
        assert ended(callers[0]) == b"", "the oldest ones are closed"
        callers[-1].sendall(bytes(1_000))
        assert callers[-1].recv(100).startswith(b"HTTP/1.1 200")
        head = WHOLE[:-2] + b"".join(b"%x: x\r\n" % n for n in range(90)) + b"\r\n"
        callers = [opened.enter_context(closing(connected(port, head))) for _ in range(12)]
        until(lambda: len(server.server_state.connections) - 1 <= 300_000 // (_REQUEST_BYTES + 90 * 160))


def test_bodies_that_wait_for_their_turn_are_no_heads() -> None:
    async def read(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await app(scope, receive, send)

    size = 500_000
    said = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size + bytes(size)

    def post(port: int) -> list[bytes]:
        with closing(connected(port, said)) as caller:
            return answers(caller, 1)

    with serving(ConnectionLimits(unfinished_bytes=100_000), read) as (port, _), ThreadPoolExecutor(30) as senders:
        assert set(map(tuple, senders.map(post, [port] * 30))) == {(b"200",)}


async def test_a_request_of_somebody_else_begins_in_the_next_rounds() -> None:
    begun: list[str] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        begun.append(scope["client"][0])

    starts = FairStarts(note, KnownClients())
    async with asyncio.TaskGroup() as tasks:
        for host in ["10.0.0.1"] * 200 + ["10.0.0.2"]:
            tasks.create_task(starts({"type": "http", "client": (host, 1)}, None, None))  # type: ignore[arg-type]
    assert begun.index("10.0.0.2") < 20
    assert len(begun) == 201


async def test_strangers_of_many_addresses_have_one_turn_beside_a_known_client() -> None:
    begun: list[str] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        begun.append(scope["client"][0])

    known = KnownClients()
    known.add("10.1.0.1")
    starts = FairStarts(note, known)
    async with asyncio.TaskGroup() as tasks:
        for host in [f"10.0.0.{number % 50}" for number in range(200)] + ["10.1.0.1"] * 20:
            tasks.create_task(starts({"type": "http", "client": (host, 1)}, None, None))  # type: ignore[arg-type]
    assert begun.index("10.1.0.1") < 20
    assert len(begun) - begun[::-1].index("10.1.0.1") < 60, "each second turn is its own"
    assert len(begun) == 220


async def test_a_long_read_waits_only_so_long() -> None:
    turns = FairTurns(1)
    async with turns.turn(SECONDS):
        with pytest.raises(Busy):
            async with turns.turn(0.01):
                pass
    assert turns._free == 0
    await asyncio.sleep(0)
    async with turns.turn(SECONDS) as waited:
        assert not waited


async def test_too_many_waiting_long_reads_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisle.service.db.database_interface.MOST_WAITING", 2)
    monkeypatch.setattr("aisle.service.http.endpoint._TOO_MANY_WAIT_S", 0)
    monkeypatch.setattr("aisle.service.db.sqlite_database._MAX_ROWS", 0)
    async with world.client_for("staff", ["S1"]) as other:
        many = [world.client.get(API + "/stores") for _ in range(20)]
        first, *answers = await asyncio.gather(other.get(API + "/stores"), *many)
    assert first.status_code == 200
    refused = [answer for answer in answers if answer.status_code == 429]
    assert {answer.status_code for answer in answers} == {200, 429}
    assert {answer.headers["Retry-After"] for answer in refused} == {"1"}


def test_unauthorised_requests_do_not_fill_access_log(tmp_path: Path) -> None:
    now, file = [0.0], tmp_path / "access.log"
    log = AccessLog(file, lambda: now[0])
    known = tries(2_000, 5_000)
    for number in range(known):
        log({"client": f"10.0.{number % 7}.1", "status": 401, "operation": "list-stores", "request": "r" * 64})
        log({"client": f"2001:db8::{number:x}", "status": 200, "request": "r" * 64})
    for number in range(2_000):
        log({"client": f"10.{number // 250}.{number % 250}.2", "status": 404, "request": "r" * 64})
    assert file.stat().st_size < 1 << 18
    log({"client": "10.9.9.9", "status": 200, "token": "t", "operation": "list-stores"})
    assert json.loads(file.read_text().splitlines()[-1])["token"] == "t"
    now[0] = 60
    log({"client": "10.0.0.1", "status": 401, "operation": "list-stores"})
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert sum(line.get("repeats", 1) for line in lines) == 2 * known + 2_000 + 2
    assert lines[-1]["client"] == "10.0.0.1"
    log({"client": "10.0.0.1", "status": 401, "operation": "list-stores"})
    log.close()


@pytest.mark.parametrize("writers", [1, pytest.param(2, marks=pytest.mark.full), 4])
def test_access_log_grows_by_less_than_a_megabyte_a_minute(tmp_path: Path, writers: int) -> None:
    now, file, each = [0.0], tmp_path / "access.log", tries(1_000, 4_000)
    log, *others = [AccessLog(file, lambda: now[0], writers=writers) for _ in range(writers)]
    many: RequestRecord = {
        "status": 200,
        "client": "10.0.0.1",
        "request": "r" * 64,
        "user": "é" * 100,
        "store": "s" * 100,
    }
    for other in others:
        for number in range(each):
            other({"operation": "o", **many, "status": 401, "client": f"10.1.{number % 250}.1"})
            other({"token": f"t{number % 500}", "operation": "o", **many})
    for number in range(each):
        log({"token": "busy", "operation": f"o{number % 3}", **many})
        log({"token": f"t{number % 500}", "operation": f"o{number % 3}", **many})
        log({"operation": "o", **many, "status": 401, "client": f"10.0.{number % 250}.1"})
    assert file.stat().st_size < 1_000_000
    now[0] = 60
    log({"token": "busy", "operation": "o0", "status": 200})
    assert file.stat().st_size < 1_000_000
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    if not others:
        assert sum(line.get("repeats", 1) for line in lines) == 3 * each + 1
    busy = [line for line in lines if line.get("token") == "busy"]
    assert len([line for line in busy if "repeats" not in line]) <= 241
    assert {line["operation"] for line in busy if "repeats" in line} == {"o0", "o1", "o2"}
    for one in (log, *others):
        one.close()


def test_access_log_on_a_full_disk_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "access.log"
    file.symlink_to("/dev/full")
    metrics, up = Metrics(), ("aisle_access_log_up", ())
    log = AccessLog(file, on_change=metrics.set_access_log_up)
    assert figures(metrics.render().decode())[up] == 1
    for number in range(300):
        log({"token": "t", "status": 200, "request": str(number)})
    assert [record.getMessage() for record in caplog.records] == ["access log lost: No space left on device"]
    assert figures(metrics.render().decode())[up] == 0
    file.unlink()
    log({"token": "u", "status": 200})
    assert figures(metrics.render().decode())[up] == 1
    assert caplog.records[-1].getMessage() == "access log regained"
    assert '"u"' in file.read_text()
    file.unlink()
    file.symlink_to("/dev/full")
    log({"token": "u", "status": 200})
    log.close()
    assert capsys.readouterr().err == ""


def test_repeated_host_messages_are_limited_to_one_a_minute() -> None:
    now = [0.0]
    repeats = RepeatFilter(lambda: now[0])

    def passes(message: str, *args: object) -> bool:
        return repeats.filter(logging.LogRecord("aisle.service", logging.WARNING, "", 0, message, args, None))

    lost = "A host of store %s with token %s knows what this database does not: it was restored from an earlier copy."
    assert [passes(lost, "S1", "t1"), passes(lost, "S1", "t2"), passes(lost, "S2", "t1")] == [True, False, True]
    assert [passes("%s failed; request %s", "list-stores", n) for n in range(3)] == [True, False, False]
    assert [passes("Invalid UTF-8 sequence received from client.") for _ in range(2)] == [True, False]
    assert [passes("SSL connection is closed") for _ in range(2)] == [True, False]
    assert passes("database lost: %s of %s", "x", "y")
    assert passes("database lost: %s of %s", "x", "y")
    now[0] = 61
    assert passes(lost, "S1", "t1")
    with repeats_filtered():
        assert any(isinstance(one, RepeatFilter) for one in logging.getLogger("aisle.service").filters)


@pytest.mark.sqlite
async def test_a_transaction_begins_no_request_after_a_long_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisle.service.db.sqlite_writer._MAX_BATCH_SECONDS", 0.0)
    begun, begin = list[str](), SqliteTransaction.begin

    def note(self: SqliteTransaction, statement: str) -> None:
        begun.append(statement)
        begin(self, statement)

    monkeypatch.setattr(SqliteTransaction, "begin", note)

    async def nothing(tx: Transaction) -> None:
        pass

    await asyncio.gather(*(world.service.database.write(nothing, stores={"S1"}) for _ in range(5)))
    assert len(begun) == 5


def test_an_address_of_the_newer_kind_stands_for_its_network() -> None:
    assert address_key("2001:db8::1") == address_key("2001:db8::ffff:2") != address_key("2001:db8:0:1::1")
    assert address_key("::ffff:10.0.0.1") == address_key("10.0.0.1") == "10.0.0.1"
    assert address_key("here") == "here"


async def test_a_long_answer_goes_out_in_parts() -> None:
    body = bytes(200_000)

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message)

    await FairStarts(answer, KnownClients())({"type": "http"}, None, send)  # type: ignore[arg-type]
    parts = [message["body"] for message in said[1:]]
    assert b"".join(parts) == body
    assert max(map(len, parts)) <= 64 << 10
    assert [message["more_body"] for message in said[1:]] == [True] * (len(parts) - 1) + [False]


async def test_the_document_is_made_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, int]] = []

    def build() -> dict[str, int]:
        assert threading.current_thread() is not threading.main_thread(), "others wait for it"
        made.append({"a": 1})
        return made[-1]

    monkeypatch.setattr(service_app, "build_document", build)
    service_app._document.cache_clear()
    try:
        for _ in range(2):
            assert (await world.client.get("/openapi.json")).json() == {"a": 1}
    finally:
        service_app._document.cache_clear()
    assert len(made) == 1


async def test_a_database_that_cannot_be_written_to_is_not_ready(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisle.service.http.health_and_metrics.WRITE_PROBE_S", 0)
    monkeypatch.setattr("aisle.service.http.health_and_metrics.FAILED_WRITE_PROBE_S", 0)
    database, problems = world.service.database, [DatabaseFailed("full"), Busy("busy"), DatabaseFailed("full")]
    write = database.write

    async def fail(work: Any, **options: Any) -> Any:
        if problems:
            raise problems.pop(0)
        return await write(work, **options)

    monkeypatch.setattr(database, "write", fail)
    answers = [await world.client.get("/aisle/v1/ready") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [503, 503, 503, 200]
    assert "written" in answers[0].json()["detail"]


OLD = [f"2020-01-01T00:00:{n // 2:02}Z" for n in range(45)]


@pytest.mark.parametrize(
    ("table", "add", "rows", "left"),
    [
        (
            "latest_write",
            changes_sql.LATEST_WRITE_SET,
            [("S1", "x", f"k{n}", on) for n, on in enumerate([*OLD, "9"])],
            1,
        ),
        (
            "write_history",
            changes_sql.WRITE_HISTORY_ADD,
            [("S1", n, f"w{n}", on) for n, on in enumerate([*OLD, OLD[0]])],
            1,
        ),
    ],
)
async def test_old_rows_are_deleted_in_short_transactions(
    world: World, monkeypatch: pytest.MonkeyPatch, table: str, add: str, rows: list[Any], left: int
) -> None:
    monkeypatch.setattr("aisle.service.retention._EXPIRED_ROWS_PER_BATCH", 10)
    database = world.service.database

    async def fill(tx: Transaction) -> None:
        await tx.run(f"DELETE FROM {table}")
        await tx.run_many(add, rows)
        await tx.run(changes_sql.COUNTER_SET, "S1", "change", len(rows) - 1)
        await tx.run("UPDATE token SET last_used_on = NULL")

    await database.write(fill)
    counts = await counts_of_rows(world, monkeypatch, table)
    assert counts[-1] == left
    assert max(before - after for before, after in pairwise(counts)) <= 12


async def counts_of_rows(world: World, monkeypatch: pytest.MonkeyPatch, table: str) -> list[int]:
    """Numbers of rows before a request and after each transaction that follows from it."""
    database, counts = world.service.database, list[int]()
    write = database.write

    async def count(work: Any, **options: Any) -> Any:
        async def counted(tx: Transaction) -> Any:
            counts[:] = counts or [len(await tx.all(f"SELECT 1 FROM {table}"))]
            done = await work(tx)
            counts.append(len(await tx.all(f"SELECT 1 FROM {table}")))
            return done

        return await write(counted, **options)

    monkeypatch.setattr(database, "write", count)
    answered = await world.client.get(API + "/stores")
    assert answered.status_code == 200
    return counts


@pytest.mark.parametrize(
    ("table", "add", "rows"),
    [
        (
            "token",
            people_sql.TOKEN_ADD,
            [(f"t{n}", f"h{n}", "x", "staff", 0, OLD[0], OLD[0], "p", "S1", "b") for n in range(45)],
        ),
        ("token_store", people_sql.TOKEN_STORE_ADD, [(f"t{n}", "S1") for n in range(45)]),
        (
            "sign_in_failure",
            people_sql.SIGN_IN_FAILURES_SET,
            [("S1", f"w{n}", 1, OLD[0], OLD[0]) for n in range(45)],
        ),
    ],
)
async def test_expired_sign_ins_are_deleted_in_short_transactions(
    world: World, monkeypatch: pytest.MonkeyPatch, table: str, add: str, rows: list[Any]
) -> None:
    monkeypatch.setattr("aisle.service.retention._EXPIRED_ROWS_PER_BATCH", 10)

    async def fill(tx: Transaction) -> None:
        if table == "token_store":
            tokens = [(name, f"h{name}", "x", "staff", 0, OLD[0], OLD[0], "p", "S1", "b") for name, _ in rows]
            await tx.run_many(people_sql.TOKEN_ADD, tokens)
        await tx.run_many(add, rows)
        await tx.run(people_sql.SIGN_IN_FAILURES_SET, "S1", "locked", 1, OLD[0], "9")
        await tx.run("UPDATE token SET last_used_on = NULL")

    await world.service.database.write(fill)
    counts = await counts_of_rows(world, monkeypatch, table)
    assert counts[0] - counts[-1] == len(rows)
    assert max(before - after for before, after in pairwise(counts)) <= 10


@pytest.mark.parametrize("is_read", [True, False], ids=["a body that is read", "a body that nobody wants"])
def test_small_parts_of_bodies_are_read_in_turn(monkeypatch: pytest.MonkeyPatch, *, is_read: bool) -> None:
    rounds, read, parse = [0], Counter[int](), h11.Connection.next_event
    tasks: list[asyncio.Task[None]] = []

    def count(self: h11.Connection) -> Any:
        read[rounds[0]] += 1
        return parse(self)

    async def tick() -> None:
        while True:
            rounds[0] += 1
            await asyncio.sleep(0)

    async def sink(scope: Any, receive: Any, send: Any) -> None:
        tasks.append(asyncio.create_task(tick()))
        while is_read and (await receive()).get("more_body"):
            pass
        await app(scope, receive, send)

    monkeypatch.setattr(h11.Connection, "next_event", count)
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    with serving(ConnectionLimits(), sink) as (port, _), closing(connected(port, head)) as caller:
        caller.sendall(b"1\r\nx\r\n" * 5_000 + CHUNKED + GET)
        assert answers(caller, 2) == [b"200", b"200"]
    assert sum(read.values()) > 5_000
    assert max(read.values()) < 1_000


def test_noise_behind_an_early_answer_only_ends_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    with serving(ConnectionLimits()) as (port, _), closing(connected(port, head)) as caller:
        assert answers(caller, 1) == [b"200"]
        caller.sendall(b"zz\r\n")
        assert ended(caller) == b""
    assert not [one for one in caplog.records if one.exc_info]
