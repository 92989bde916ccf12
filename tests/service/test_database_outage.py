"""A database that is not there is waited for, said once; it ends no service, before it began or later."""

from __future__ import annotations

import json
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.errors import StorageError
from aisle.service.db.database_interface import DatabaseUnreachable
from aisle.service.db.postgres_database import PostgresDatabase
from aisle.service.http import run_server as waiting
from aisle.service.http.run_server import wait_for_database
from aisle.service.http.worker_processes import LEAVE, Commands
from tests.service.postgres import Server, execute
from tests.service.serve_process import SECONDS, Served, until


def test_outage_is_logged_once_and_recovery_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(waiting, "MIN_PAUSE_S", 0.001)
    answers: list[Exception | str] = [DatabaseUnreachable("No."), DatabaseUnreachable("Not yet."), "there"]

    def opened() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    caplog.set_level(logging.WARNING, "aisle.service")
    assert wait_for_database(opened, Commands()) == "there"
    assert [record.getMessage() for record in caplog.records] == [
        "database lost: No. The service waits for it.",
        "database regained after 0 s",
    ]


def test_pauses_between_attempts_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    class Clock(Commands):
        def wait(self, until: float | None, others: list[int | Connection]) -> frozenset[bytes]:
            assert until is not None
            pauses.append(until - now[0])
            now[0] = until
            return frozenset() if len(pauses) < 8 else frozenset({LEAVE})

    def away() -> None:
        raise DatabaseUnreachable("No.")

    now = [0.0]
    monkeypatch.setattr(waiting, "monotonic", lambda: now[0])
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    assert wait_for_database(away, Clock()) is None
    assert pauses == [0.5, 1, 2, 4, 8, waiting.MAX_PAUSE_S, waiting.MAX_PAUSE_S, waiting.MAX_PAUSE_S]


def test_permanent_error_is_not_waited_for() -> None:
    def opened() -> None:
        raise StorageError("It is of a newer program.")

    with pytest.raises(StorageError, match="newer"):
        wait_for_database(opened, Commands())


def test_who_waits_may_be_told_to_leave() -> None:
    def away() -> None:
        commands.give(LEAVE)
        raise DatabaseUnreachable("No.")

    commands = Commands()
    assert wait_for_database(away, commands) is None


def test_unreachable_server_is_waited_for_but_missing_database_is_not(server: Server) -> None:
    with pytest.raises(DatabaseUnreachable, match="cannot be reached"):
        PostgresDatabase("postgresql://aisle@127.0.0.1:1/none")
    with pytest.raises(StorageError, match="cannot be used") as told:
        PostgresDatabase(server.url().replace("/postgres?", "/none?"))
    assert not isinstance(told.value, DatabaseUnreachable)


def lines(service: Served) -> list[dict[str, Any]]:
    """What it said so far."""
    return [json.loads(line) for line in service.said.splitlines(keepends=True) if line.endswith("\n")]


def messages(service: Served, first: str) -> list[str]:
    """What it said with these first words."""
    return [line["message"] for line in lines(service) if line["message"].startswith(first)]


@contextmanager
def started(url: str, folder: Path, workers: int) -> Iterator[Served]:
    """A service that is started; it is ended with the test."""
    one = Served(folder / "home", "--database", url, "--json-logs", "--workers", str(workers))
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.full), 2])
def test_service_starts_before_database_and_survives_its_loss(mortal: Server, tmp_path: Path, workers: int) -> None:
    mortal.kill()
    with started(mortal.url(), tmp_path, workers) as service:
        until(lambda: messages(service, "database lost"))
        mortal.start()
        url = service.url
        assert len(messages(service, "database ")) == 2
        if workers == 2:
            _crash_beside_an_absent_database(mortal, service)
        until(lambda: _is_ready(url))
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(SECONDS) == 0


def _crash_beside_an_absent_database(server: Server, service: Served) -> None:
    until(lambda: len(service.workers()) == 2)
    before = set(service.workers())
    server.kill()
    os.kill(min(before), signal.SIGKILL)
    until(lambda: len(set(service.workers()) - before) == 1)
    until(lambda: len(messages(service, "database lost")) == 2)
    server.start()
    until(lambda: len(messages(service, "database regained")) == 2)
    assert len(messages(service, "worker ")) == 1, "the one that was killed"
    execute(server.url(), "SELECT 1")


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/aisle/v1/ready", timeout=SECONDS).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("end", ["SIGTERM", "SIGINT", "lifeline"])
def test_waiting_service_stops_on_request(tmp_path: Path, end: str) -> None:
    with started("postgresql://aisle@127.0.0.1:1/none", tmp_path, 1) as service:
        until(lambda: messages(service, "database lost"))
        if end == "lifeline":
            service.cut()
        else:
            service.process.send_signal(signal.Signals[end])
        assert service.process.wait(SECONDS) == 0
        [line] = lines(service)
        assert line["level"] == "error"
