"""One line for each thing that is lost, and one when it is back: database, certificate, workers; JSON all through."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import httpx
import pytest

from aisle.errors import StorageError
from aisle.server.tls_certificates_and_handshakes import CertificateFiles, CertificateWatch, good_until, renewed
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.db import postgres_connection
from aisle.service.db.database_interface import QUIET_WRITES_S, Database, DatabaseMonitor, Transaction
from aisle.service.db.postgres_connection import AnswerWatch
from aisle.service.db.postgres_database import PostgresDatabase
from aisle.service.db.sqlite_database import SqliteDatabase
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.http import health_and_metrics
from aisle.service.http.access_and_service_logs import AccessLog
from aisle.service.http.app import App
from aisle.service.http.metrics import Metrics
from tests.service.postgres import Server
from tests.service.serve_process import until
from tests.service.test_limits import CERTIFICATE
from tests.service.test_monitoring import LONG, client_of, figures, serving
from tests.service.world import API, World
from tests.terminal.lifeline import Lifeline


async def read(tx: Transaction) -> Any:
    return await tx.one(tokens_sql.HAS_DATA)


async def fails(tx: Transaction) -> Any:
    raise apsw.FullError("no room, and a value in these words")


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the service said of its database."""
    return [record.getMessage() for record in caplog.records if "database " in record.getMessage()]


def test_a_watch_says_each_loss_and_each_return_once(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    watch = DatabaseMonitor(lambda: now[0])
    watch.report_success("reads", "writes")
    for _ in range(3):
        watch.report_failure("writes", error="FullError")
        watch.report_success("reads")
    watch.report_failure("reads", error="IOError")
    now[0] = QUIET_WRITES_S + 5
    watch.report_success("reads")
    assert not watch.is_available
    watch.report_success("reads", "writes")
    watch.report_success("reads", "writes")
    assert watch.is_available
    assert lines(caplog) == ["database lost: FullError of writes", "database regained after 125 s"]


def test_small_writes_on_a_full_disk_are_no_return(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    watch = DatabaseMonitor(lambda: now[0])
    for now[0] in range(0, 600, 60):
        watch.report_failure("writes", error="DiskFullError")
        watch.report_success("reads", "writes")
        assert watch.is_available, "as the last write says"
    assert lines(caplog) == ["database lost: DiskFullError of writes"]
    now[0] += QUIET_WRITES_S
    watch.report_success("reads")
    assert lines(caplog)[1:] == ["database regained after 660 s"]


def test_of_all_losses_those_by_a_full_disk_are_counted_each() -> None:
    watch, refusals = DatabaseMonitor(lambda: 0.0), ("aisle_full_disk_refusals_total", ())
    watch.metrics = metrics = Metrics()
    assert figures(metrics.render().decode())[refusals] == 0
    for error in ("ConnectionRefusedError", "DiskFullError", "IOError", "FullError"):
        watch.report_failure("writes", error=error)
    assert figures(metrics.render().decode())[refusals] == 2


def test_where_there_is_no_certificate_no_figure_says_that_it_ended() -> None:
    metrics, until_ = Metrics(), ("aisle_certificate_until_seconds", ())
    assert until_ not in figures(metrics.render().decode())
    for told in (1_900_000_000.0, 0.0):
        metrics.set_certificate_expiry(told)
        assert figures(metrics.render().decode())[until_] == told


def test_a_server_that_returns_is_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    watch = DatabaseMonitor(lambda: 0.0)
    watch.report_failure("reads", error="ConnectionRefusedError")
    watch.report_success("reads", "writes")
    assert lines(caplog)[1:] == ["database regained after 0 s"]


async def _lose(storage: Database) -> None:
    for _ in range(3):
        with pytest.raises(StorageError):
            await storage.write(fails)


async def test_a_full_disk_is_said_once_and_seen_in_the_figures(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = SqliteDatabase(tmp_path / "some.db")
    storage.monitor.metrics = metrics = Metrics()
    up = ("aisle_database_up", ())
    try:
        assert figures(metrics.render().decode())[up] == 1
        await _lose(storage)
        await storage.read(read)
        found = figures(metrics.render().decode())
        assert (found[up], found[("aisle_database_losses_total", ())]) == (0, 1)
        assert found[("aisle_full_disk_refusals_total", ())] == 3
        monkeypatch.setattr("aisle.service.db.database_interface.QUIET_WRITES_S", 0.0)
        await storage.write(read)
        found = figures(metrics.render().decode())
        assert found[up] == 1
        for what in ("pool", "lock"):
            assert found[("aisle_database_wait_seconds_count", (("what", what),))] > 0
    finally:
        storage.close()
    said = lines(caplog)
    assert said == ["database lost: FullError of writes", "database regained after 0 s"]


async def test_a_server_that_dies_is_said_once(mortal: Server, caplog: pytest.LogCaptureFixture) -> None:
    storage = PostgresDatabase(mortal.url())
    storage.monitor.metrics = metrics = Metrics()
    try:
        await storage.write(read, stores=["S1"])
        mortal.kill()
        for _ in range(2):
            with pytest.raises(StorageError):
                await storage.read(read)
            with pytest.raises(StorageError):
                await storage.write(read, stores=["S1"])
        mortal.start()
        await _until_read(storage)
    finally:
        storage.close()
    lost, regained = lines(caplog)
    assert lost.startswith("database lost: ")
    assert regained.startswith("database regained after ")
    found = figures(metrics.render().decode())
    for what in ("pool", "lock"):
        assert found[("aisle_database_wait_seconds_count", (("what", what),))] > 0


async def test_a_server_that_hangs_is_said_once_and_the_figures_come_without_it(
    mortal: Server, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connection, "PATIENCE_S", 0.2)
    monkeypatch.setattr(health_and_metrics, "READY_TIMEOUT_S", 0.5)
    up, bytes_used = ("aisle_database_up", ()), ("aisle_database_bytes", ())
    world = World(mortal.url())
    async with client_of(world, host="10.0.0.9", secret=world.token("metrics")) as client:

        async def scraped() -> dict[Any, float]:
            answer = await client.get("/metrics")
            assert answer.status_code == 200
            return figures(answer.text)

        await scraped()
        found = await scraped()
        assert (found[up], bytes_used in found) == (1, True)
        mortal.pause()
        try:
            assert not {bytes_used, *_tokens_seen(found)} & set(await scraped())
            while (await scraped())[up]:
                pass
            assert (await client.get("/metrics", headers={"Authorization": "Bearer a guess"})).status_code == 503
        finally:
            mortal.go_on()
        while not (await scraped())[up]:
            pass
        assert bytes_used in await scraped()
    await world.close()
    lost, regained = lines(caplog)
    assert lost == "database lost: ServerNotAnswering of reads"
    assert regained.startswith("database regained after ")


def _tokens_seen(found: dict[Any, float]) -> set[Any]:
    seen = {key for key in found if key[0] == "aisle_token_seen_seconds"}
    assert seen
    return seen


async def test_a_long_transaction_is_no_loss(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_connection, "PATIENCE_S", 0.0)
    storage = PostgresDatabase(server.fresh())
    answered = asyncio.Event()
    is_answering = AnswerWatch._is_answering

    async def asked(watch: AnswerWatch) -> bool:
        monkeypatch.setattr(postgres_connection, "PATIENCE_S", LONG)
        found = await is_answering(watch)
        loop.call_soon_threadsafe(answered.set)
        return found

    async def waits(tx: Transaction) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(answered.wait(), loop))

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(AnswerWatch, "_is_answering", asked)
    try:
        await storage.read(waits)
        assert storage.monitor.is_available
    finally:
        storage.close()


async def _until_read(storage: Database) -> None:
    until = time.monotonic() + LONG
    while True:
        try:
            await storage.read(read)
        except StorageError:
            assert time.monotonic() < until
        else:
            return


def test_a_certificate_that_ends_is_said_once_and_so_is_its_successor(caplog: pytest.LogCaptureFixture) -> None:
    day = 86400.0
    answers: list[float | Exception] = [90 * day, 9 * day, 8 * day, FileNotFoundError(2, "No such file"), 90 * day]
    told: list[float] = []

    def look() -> float:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    watch = CertificateWatch(look, told.append, lambda: 0.0)
    for _ in range(5):
        watch.look()
    said = [record.getMessage() for record in caplog.records]
    assert said == [
        "certificate ends in 9 days",
        "certificate lost: No such file",
        "certificate regained: it is good for 90 days",
    ]
    assert told == [90 * day, 9 * day, 8 * day, 0.0, 90 * day]


def test_the_end_of_a_certificate_is_found_by_its_files(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = [*CERTIFICATE, "-subj", "/CN=x", "-days", "30", "-keyout", str(key), "-out", str(certificate)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate with")
    assert abs(good_until(certificate, key) - time.time() - 30 * 86400) < 3600
    with pytest.raises(OSError):  # noqa: PT011 - whatever OpenSSL says
        good_until(certificate, certificate)


def test_a_worker_that_dies_is_said_once_in_json_and_counted(aisle_home: Path, lifeline: Lifeline) -> None:
    with serving(aisle_home, "--empty", "--workers", "2", "--json-logs", "--access-log", "-") as (process, url):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        victim = next(pid for pid in children if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text())
        _send_nonsense(url)
        os.kill(int(victim), signal.SIGKILL)
        restarts = ("aisle_worker_restarts_total", ())
        until(lambda: figures(_figures(url)).get(restarts) == 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(LONG) == 0
        assert process.stderr is not None
        said = [json.loads(line) for line in process.stderr.read().splitlines()]
    died = [record["message"] for record in said if "died" in record.get("message", "")]
    assert died == [f"worker {victim} died (signal SIGKILL); another one takes its place"]
    assert "Invalid HTTP request received." in [record.get("message") for record in said], "of the server's library too"


def _send_nonsense(url: str) -> None:
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=LONG) as stranger:
        stranger.sendall(b"nonsense\r\n\r\n")
        stranger.recv(100)


def _figures(url: str) -> str:
    return httpx.get(f"{url}/metrics", timeout=LONG).text


def test_startup_error_is_json_too(aisle_home: Path, tmp_path: Path) -> None:
    (tmp_path / "none.db").write_text("no database at all, and long enough to be looked at" * 50)
    command = [sys.executable, "-m", "aisle", "serve", "--json-logs", "--database", f"sqlite:///{tmp_path}/none.db"]
    found = subprocess.run([*command, "--port", "0"], capture_output=True, text=True, timeout=LONG)
    assert found.returncode == 1
    [line] = found.stderr.splitlines()
    assert json.loads(line)["level"] == "critical"


async def test_the_access_log_says_from_where_and_which_request(world: World) -> None:
    heard: list[Any] = []
    app = App(world.service.database, ServiceOptions(clock=lambda: world.now, record_request=heard.append))
    transport = httpx.ASGITransport(app, client=("192.0.2.7", 5000))
    headers = {"Authorization": f"Bearer {world.secret}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
        given = await client.get(f"{API}/stores", headers={"X-Request-Id": "balancer-7.1"})
        made = await client.get(f"{API}/stores", headers={"X-Request-Id": "no\tid of ours"})
    assert [record["client"] for record in heard] == ["192.0.2.7"] * 2
    assert [record["request"] for record in heard] == ["balancer-7.1", made.headers["x-request-id"]]
    assert given.headers["x-request-id"] == "balancer-7.1"
    assert len(made.headers["x-request-id"]) == 16


async def test_a_failure_names_its_request(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object) -> Any:
        raise ValueError("inside")

    monkeypatch.setattr(world.service.database, "read", fail)
    async with client_of(world, secret=world.secret) as client:
        answer = await client.get(f"{API}/stores", headers={"X-Request-Id": "r1"})
    assert answer.status_code == 500
    assert any(record.getMessage() == "list-stores failed; request r1" for record in caplog.records)


def test_the_access_log_is_private_after_it_was_moved_away(tmp_path: Path) -> None:
    file = tmp_path / "access.log"
    old = os.umask(0)
    try:
        log = AccessLog(file)
        log({"request": "1"})
        file.rename(tmp_path / "access.log.1")
        log({"request": "2"})
        log.close()
    finally:
        os.umask(old)
    assert [json.loads(line)["request"] for line in file.read_text().splitlines()] == ["2"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert logging.getLogger("aisle.access").handlers == []


def test_of_several_workers_their_parent_alone_says_what_becomes_of_a_certificate(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    quiet = CertificateWatch(lambda: 0.0, lambda _: None, is_quiet=True)
    assert quiet.look()
    assert not renewed(tmp_path / "none", None, is_quiet=True)
    assert not [one for one in caplog.records if one.levelno > logging.DEBUG]
    files = CertificateFiles(tmp_path / "none", None, watch_seconds=0.01)
    with files.watched():
        time.sleep(0.1)
    assert [one.getMessage() for one in caplog.records if one.levelno > logging.DEBUG] == [
        "certificate lost: No such file or directory"
    ]
    assert not files.renewed()
