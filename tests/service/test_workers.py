"""Several processes at one port: each is replaced when it dies, and none outlives the one that started them."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import httpx
import pytest

from aisle.errors import StorageError, UsageError
from aisle.server.http_server import listening
from aisle.service.http import worker_processes
from aisle.service.http.worker_processes import LEAVE, Commands, run_workers
from tests.service.idle_worker import COUNTED, NINTH, comes_up_once, ends_at_once
from tests.service.serve_process import SECONDS, command_of, served, until


def test_a_worker_that_dies_is_replaced_and_none_outlives_the_parent(tmp_path: Path) -> None:
    with served(f"sqlite:///{tmp_path}/service.db", tmp_path, 2) as [service]:
        until(lambda: len(service.workers()) == 2)
        first = service.workers()
        os.kill(first[0], signal.SIGKILL)
        until(lambda: len(set(service.workers()) - {first[0]}) == 2)
        second = service.workers()
        until(lambda: _healthy(service.url))
        service.process.kill()
        until(lambda: not any("spawn_main" in command_of(pid) for pid in second))
        until(lambda: _is_free(urlsplit(service.url)))  # who dies has no command line a moment before it lets go


def _is_free(address: SplitResult) -> bool:
    try:
        listening(address.hostname or "", address.port or 0).close()
    except UsageError:
        return False
    return True


def _healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/aisle/v1/health", timeout=SECONDS).status_code == 200
    except httpx.TransportError:
        return False


def test_a_port_that_is_taken_is_named() -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1 port {port}"):
            listening("127.0.0.1", port)


def test_workers_that_never_come_up_are_not_tried_for_ever() -> None:
    with listening("127.0.0.1", 0) as at, pytest.raises(StorageError, match="before they are ready"):
        run_workers(ends_at_once, 3, at, lambda: None, commands=Commands())


def test_workers_are_restarted_without_limit_after_first_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that is away for a while ends no service."""
    monkeypatch.setenv(COUNTED, str(tmp_path / "starts"))
    monkeypatch.setattr(worker_processes, "_PAUSE", 0.05)
    monkeypatch.setattr(worker_processes, "_LONGEST_PAUSE", 0.05)
    commands, answered = Commands(), []

    def leave() -> None:
        until(lambda: (tmp_path / "starts").exists() and (tmp_path / "starts").stat().st_size >= NINTH)
        commands.give(LEAVE)

    with listening("127.0.0.1", 0) as at:
        waiting = threading.Thread(target=leave)
        waiting.start()
        run_workers(comes_up_once, 1, at, lambda: answered.append(True), commands=commands)
        waiting.join()
    assert answered == [True]
