"""What operators see: health, readiness, figures that tell of nobody, logs as JSON; and how a service leaves."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from aisle.service.app_options_and_limits import RateLimits, ServiceOptions
from aisle.service.auth.tokens_and_pins import create_token, list_tokens, revoke_token
from aisle.service.db.database_interface import DatabaseFailed
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.http import health_and_metrics, run_server
from aisle.service.http.access_and_service_logs import JsonFormatter, log_as_json
from aisle.service.http.app import App
from aisle.service.http.metrics import Metrics, _shrink_files
from aisle.service.http.worker_processes import METRICS_FOLDER_VARIABLE
from tests.service.serve_process import until
from tests.service.world import API, World
from tests.terminal.lifeline import Lifeline

LONG = 60.0


def client_of(world: World, *, host: str = "127.0.0.1", secret: str | None = None) -> httpx.AsyncClient:
    """A client on a host, of the same database with figures."""
    world.service.database.monitor.metrics = metrics = Metrics()
    options = ServiceOptions(lambda: world.now, RateLimits(0, 0), metrics=metrics)
    app = App(world.service.database, options)
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    transport = httpx.ASGITransport(app, client=(host, 5000))
    return httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers)


def figures(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample by its name and labels."""
    found = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in found}


async def test_figures_count_requests_by_operation_and_tell_nothing_of_anybody(world: World) -> None:
    async with client_of(world, secret=world.secret) as client:
        for path, status in (("/stores", 200), ("/stores/S1/locations", 200), ("/stores/NOPE-77/locations", 403)):
            assert (await client.get(API + path, params={"search_text": "Mrs Secret"})).status_code == status
        assert (await client.get("/nowhere/at/all")).status_code == 404
        assert (await client.request("BREW", "/coffee")).status_code == 404
        answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    found = figures(answer.text)

    def counted(operation: str, method: str, status: int) -> float:
        labels = (("method", method), ("operation", operation), ("status", str(status)))
        return found[("aisle_requests_total", labels)]

    assert counted("list-stores", "GET", 200) == 1
    assert counted("list-locations", "GET", 200) == 1
    assert counted("list-locations", "GET", 403) == 1
    assert counted("none", "GET", 404) == 1
    assert counted("none", "other", 404) == 1
    assert found[("aisle_request_seconds_count", (("operation", "list-locations"),))] == 2
    assert found[("aisle_answer_bytes_total", (("operation", "list-stores"),))] > 100
    assert found[("aisle_requests_running", ())] == 1, "this one"
    for secret in ("S1", "NOPE", "Secret", "nowhere", world.secret, "BREW"):
        assert secret not in answer.text


@pytest.mark.parametrize(
    ("host", "role", "stores", "headers", "status"),
    [
        ("127.0.0.1", None, None, {}, 200),
        ("::1", None, None, {}, 200),
        ("127.0.0.1", None, None, {"X-Forwarded-For": "10.0.0.9"}, 401),
        ("10.0.0.9", None, None, {}, 401),
        ("10.0.0.9", "integration", None, {}, 403),
        ("10.0.0.9", "admin", ["S1"], {}, 403),
        ("10.0.0.9", "admin", None, {}, 200),
        ("10.0.0.9", "metrics", None, {}, 200),
    ],
)
async def test_figures_are_for_this_machine_or_an_admin(
    world: World, host: str, role: str | None, stores: list[str] | None, headers: dict[str, str], status: int
) -> None:
    secret = world.token(role, stores) if role else None
    async with client_of(world, host=host, secret=secret) as client:
        answer = await client.get("/metrics", headers=headers)
    assert answer.status_code == status
    assert ("aisle_requests" in answer.text) == (status == 200)


async def test_a_repeated_key_is_counted_as_a_replay(world: World) -> None:
    async with client_of(world, secret=world.secret) as client:
        for replays in (0, 1, 2):
            headers = {"Idempotency-Key": '"0123456789abcdef"'}
            assert (await client.post(API + "/products", json={"products": []}, headers=headers)).status_code == 200
            found = figures((await client.get("/metrics")).text)
            assert found[("aisle_replays_total", ())] == replays


@pytest.mark.parametrize("host", ["10.0.0.9", "127.0.0.1"])
async def test_a_scrape_is_a_use_of_its_token(world: World, host: str) -> None:
    async with client_of(world, host=host, secret=world.token("metrics")) as client:
        assert (await client.get("/metrics")).is_success
    [used] = [token.last_used_on for token in list_tokens(world.service.database) if token.role == "metrics"]
    assert used == format_timestamp(world.now)


async def test_a_lost_database_is_seen_by_the_token_that_read_the_figures_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = world.service.database

    async def lost(*args: object, **options: object) -> None:
        database.monitor.report_failure("reads", error="lost")
        raise DatabaseFailed("No.")

    async with client_of(world, host="10.0.0.9", secret=world.token("metrics")) as client:
        assert (await client.get("/metrics")).is_success
        monkeypatch.setattr(database, "read", lost)
        world.now += 3600
        answer = await client.get("/metrics")
        assert "aisle_database_up" in answer.text
        others = [{"Authorization": f"Bearer {secret}"} for secret in ("a guess", world.secret)]
        refused = [(await client.get("/metrics", headers=headers)).status_code for headers in others]
        assert refused == [503, 503]


async def test_figures_name_the_host_that_is_away_and_the_one_whose_token_is_refused(world: World) -> None:
    database = world.service.database
    made = {
        name: create_token(database, name=name, role="staff", store_numbers=["S1"], now=format_timestamp(world.now))
        for name in ("host-1", "host-2")
    }
    async with client_of(world) as client:

        async def work(secret: str) -> None:
            await client.get(f"{API}/stores", headers={"Authorization": f"Bearer {secret}"})

        for token in made.values():
            await work(token.secret)
        since = world.now
        revoke_token(database, made["host-2"].token_id, now=format_timestamp(world.now))
        await work(made["host-2"].secret)
        await work("a guess")
        world.now += 301
        await work(made["host-1"].secret)
        at = figures((await client.get("/metrics")).text)
        assert at[("aisle_token_seen_seconds", (("token", "host-1"),))] == since + 301
    refused = {dict(labels)["token"]: count for (name, labels), count in at.items() if "refused_tokens_total" in name}
    assert refused == {"host-2": 1, "": 1}


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("unknown", ["unknown token refused from 10.0.0.9"]),
        ("revoked", []),
        ("none", []),
    ],
)
async def test_a_refused_token_without_a_name_is_logged_with_its_address(
    world: World, caplog: pytest.LogCaptureFixture, kind: str, said: list[str]
) -> None:
    database, now = world.service.database, format_timestamp(world.now)
    made = create_token(database, name="host-1", role="staff", store_numbers=["S1"], now=now)
    revoke_token(database, made.token_id, now=now)
    secret = {"unknown": "a guess", "revoked": made.secret}.get(kind)
    async with client_of(world, host="10.0.0.9", secret=secret) as client:
        assert (await client.get(f"{API}/stores")).status_code == 401
    assert [one.getMessage() for one in caplog.records if "token" in one.getMessage()] == said


async def test_without_figures_there_is_no_route_for_them(world: World) -> None:
    assert (await world.client.get("/metrics")).status_code == 404


async def test_ready_until_it_is_about_to_end(world: World) -> None:
    async with world.open_client(None) as client:
        assert (await client.get("/aisle/v1/ready")).status_code == 200
        world.service.app.is_shutting_down = True
        try:
            answer = await client.get("/aisle/v1/ready")
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert (await client.get("/aisle/v1/health")).status_code == 200, "it lives"
        finally:
            world.service.app.is_shutting_down = False


async def test_a_database_that_hangs_is_asked_once_and_holds_up_no_probe(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    async def hangs(work: Any) -> Any:
        asked.append(work)
        await asyncio.Event().wait()

    monkeypatch.setattr(world.service.database, "read", hangs)
    monkeypatch.setattr(health_and_metrics, "READY_TIMEOUT_S", 0.05)
    async with world.open_client(None) as client:
        paths = ["ready"] * 20 + ["health"]
        answers = await asyncio.wait_for(asyncio.gather(*(client.get(f"/aisle/v1/{path}") for path in paths)), LONG)
    assert [answer.status_code for answer in answers] == [503] * 20 + [200]
    assert len(asked) == 1


async def test_a_write_that_hangs_holds_up_no_probe(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def hangs(*_: Any, **__: Any) -> None:
        await asyncio.Event().wait()

    async def wait(tasks: Any, *, timeout: float) -> Any:
        waits.append(timeout)
        return await asyncio.wait(tasks, timeout=0.05 if len(waits) % 2 == 0 else LONG)

    monkeypatch.setattr(world.service.database, "write", hangs)
    monkeypatch.setattr(health_and_metrics, "asyncio", SimpleNamespace(wait=wait, create_task=asyncio.create_task))
    async with world.open_client(None) as client:
        for _ in range(2):
            answer = await asyncio.wait_for(client.get("/aisle/v1/ready"), LONG)
            assert answer.status_code == 200, "a write that waits for others has not failed"
    assert waits == [health_and_metrics.READY_TIMEOUT_S, health_and_metrics.WRITE_TIMEOUT_S] * 2
    assert sum(waits[:2]) < 2


def test_logs_are_lines_of_json_without_what_an_exception_says(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    with log_as_json():
        logging.getLogger("aisle.service").info("%s came", "it")
        try:
            raise ValueError("Mrs Secret, 12 High Street")
        except ValueError:
            logging.getLogger("aisle.service").exception("%s failed", "list-stores")
    said, failed = (json.loads(line) for line in written.getvalue().splitlines())
    assert (said["level"], said["message"], said["logger"]) == ("info", "it came", "aisle.service")
    assert (failed["level"], failed["exception"]) == ("error", "ValueError")
    assert failed["where"][0].startswith(__file__)
    assert "Secret" not in written.getvalue()
    assert not any(isinstance(one.formatter, JsonFormatter) for one in logging.getLogger("aisle").handlers)


@contextmanager
def serving(home: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`aisle serve` as a process, and its address; it is ended with the test."""
    command = [sys.executable, "-m", "aisle", "serve", "--port", "0", *arguments]
    fd = int(os.environ["AISLE_LIFELINE_FD"])
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, pass_fds=(fd,))
    try:
        yield process, _address(process)
    finally:
        process.kill()
        process.communicate()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        said = json.loads(line)["message"] if line.startswith("{") else line
        if said.startswith("aisle serves at "):
            return str(said.split()[-1])
    raise AssertionError("it never served")


def _get(url: str, headers: dict[str, str]) -> Any:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=LONG) as answer:
        return answer.read().decode()


def test_shutdown_finishes_running_and_refuses_new_requests(aisle_home: Path, lifeline: Lifeline) -> None:
    with serving(aisle_home, "--json-logs") as (process, url):
        [token] = list(aisle_home.rglob("embedded.token"))
        secret = token.read_text().strip()
        assert json.loads(_get(f"{url}/aisle/v1/ready", {})) == {"success": True}
        host, _, port = url.removeprefix("http://").partition(":")
        body = json.dumps({"storeproductlog": [{"product_number": "110001", "quantity": 1}]}).encode()
        head = f"POST {API}/stores/0001/products/stock/storeproductlogs HTTP/1.1\r\nHost: x\r\n"
        head += f"Authorization: Bearer {secret}\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection((host, int(port)), timeout=LONG) as running:
            running.sendall(head.encode() + body[:10])
            until(lambda: figures(_get(f"{url}/metrics", {}))[("aisle_requests_running", ())] >= 2)
            process.send_signal(signal.SIGTERM)
            _until_refused(host, int(port))
            assert process.poll() is None, "one request still runs"
            running.sendall(body[10:])
            answer = running.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 200 "), "it was carried out"
        assert process.wait(LONG) == 0
        assert process.stderr is not None
        lines = [json.loads(line) for line in process.stderr.read().splitlines()]
        assert lines[-1]["message"].startswith("Stopped;")


def _until_refused(host: str, port: int) -> None:
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        try:
            socket.create_connection((host, port), timeout=LONG).close()
        except OSError:
            return
        time.sleep(0.05)
    raise AssertionError("it still takes connections")


def test_workers_tell_their_figures_together(
    aisle_home: Path, lifeline: Lifeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 12
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving(aisle_home, "--workers", "2", "--empty") as (process, url):
        files = list(tmp_path.glob("aisle-metrics-*/*.db"))
        assert len(files) >= 5
        for file in files:
            kept = file.stat()
            assert kept.st_blocks * 512 >= kept.st_size, "on a full disk a missing page would end the process"
        [token] = list(aisle_home.rglob("embedded.token"))
        headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
        for _ in range(asked):
            _get(f"{url}{API}/stores", headers)
        # An answer is on its way a moment before it is counted.
        labels = (("method", "GET"), ("operation", "list-stores"), ("status", "200"))
        until = time.monotonic() + LONG
        while figures(_get(f"{url}/metrics", {})).get(("aisle_requests_total", labels)) != asked:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert httpx.get(f"{url}{API}/stores").status_code == 401
        types = re.compile("^# TYPE .*$", re.MULTILINE)
        told = set(types.findall(_get(f"{url}/metrics", {})))
        assert told == set(types.findall(Metrics().render().decode())), "they have the names of one process"
        process.send_signal(signal.SIGTERM)
        assert process.wait(LONG) == 0
    assert not list(tmp_path.glob("aisle-metrics-*"))


def test_figures_without_room_are_those_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(METRICS_FOLDER_VARIABLE, str(tmp_path / "none"))
    run_server.reserve_metrics_files("counter")
    assert METRICS_FOLDER_VARIABLE not in os.environ
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with run_server._shared_metrics_folder():
        run_server.reserve_metrics_files("counter")
        assert METRICS_FOLDER_VARIABLE not in os.environ
    lost = "metrics lost: No such file or directory; each scrape has those of one worker"
    assert [record.getMessage() for record in caplog.records] == [lost, lost]


def test_files_of_a_worker_that_has_ended_are_cut_to_their_use(tmp_path: Path) -> None:
    for kind, used in (("counter", 24), ("histogram", 0)):
        (tmp_path / f"{kind}_7.db").write_bytes(used.to_bytes(4, sys.byteorder) + bytes(4092))
    (tmp_path / "counter_77.db").write_bytes(bytes(4096))
    _shrink_files(tmp_path, 7)
    assert {file.name: file.stat().st_size for file in tmp_path.iterdir()} == {
        "counter_7.db": 24,
        "histogram_7.db": 8,
        "counter_77.db": 4096,
    }
