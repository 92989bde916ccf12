"""The fair lock serves waiting writers in order, whatever happens to those before them."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aisle.host import database
from aisle.host.database import connect, fetch, transaction
from aisle.host.file_locks import FairLock
from tests.host.child_process import Child, running

FOREVER_S = 30.0


def stands(path: Path) -> Callable[[Callable[[str], None]], None]:
    """A process that comes to the front of the line, tells it, and stays there."""

    def work(tell: Callable[[str], None]) -> None:
        mine = FairLock(path)
        tell("comes")
        while not mine.is_held:
            mine.wait(FOREVER_S)
        tell("first")
        signal.pause()

    return work


def test_single_waiter_gets_lock_at_once(tmp_path: Path) -> None:
    mine = FairLock(tmp_path / "x.line")
    assert not mine.is_held
    assert mine.wait(0.0)
    assert mine.is_held
    assert mine.wait(0.0)
    mine.release()
    mine.release()
    assert not mine.is_held
    assert (tmp_path / "x.line").stat().st_mode & 0o777 == 0o600


def test_waiters_reach_front_in_order_and_keep_turn(tmp_path: Path) -> None:
    everybody = [FairLock(tmp_path / "x.line") for _ in range(4)]
    for number, each in enumerate(everybody):
        assert each.wait(0.0)
        await_standing(tmp_path / "x.line", number)
    for number, each in enumerate(everybody):
        assert [one.is_held for one in everybody] == [one is each for one in everybody]
        each.release()
        for later in everybody[number + 1 :][:1]:
            assert later.wait(FOREVER_S)


def test_a_place_that_was_given_up_holds_up_nobody(tmp_path: Path) -> None:
    first, second, third = (FairLock(tmp_path / "x.line") for _ in range(3))
    for each in (first, second, third):
        each.wait(0.0)
    second.release()
    first.release()
    assert third.wait(FOREVER_S)
    assert third.is_held
    third.release()
    assert second.wait(FOREVER_S)
    assert second.is_held
    second.release()


def test_dead_waiter_at_front_makes_room(tmp_path: Path) -> None:
    child = Child(stands(tmp_path / "x.line"))
    mine = FairLock(tmp_path / "x.line")
    with running(child):
        assert child.hear(2)
        assert mine.wait(0.0)
        assert not mine.is_held
        os.kill(child.pid, signal.SIGKILL)
        assert mine.wait(FOREVER_S)
        assert mine.is_held
    mine.release()


def test_without_lock_file_everybody_polls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not FairLock(tmp_path / "nowhere" / "x.line").wait(0.0)

    def no_locks(*_: object) -> None:
        raise OSError

    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError

    before, mine = FairLock(tmp_path / "x.line"), FairLock(tmp_path / "x.line")
    before.wait(0.0)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread)
        assert not mine.wait(FOREVER_S)
    monkeypatch.setattr(fcntl, "flock", no_locks)
    assert not mine.wait(FOREVER_S)
    assert not mine.is_held
    before.release()


def test_long_waiting_writer_keeps_its_turn_until_written(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    first, second = connect(path, guarded=True), connect(path, guarded=True)
    first.execute("CREATE TABLE t (x)")
    third = FairLock(path.with_suffix(".line"))

    def write() -> None:
        with transaction(second):
            second.execute("INSERT INTO t VALUES (2)")
            third.wait(0.0)
            seen.append(third.is_held)

    seen: list[bool] = []
    writing = threading.Thread(target=write)
    with transaction(first):
        writing.start()
        while not is_taken(path.with_suffix(".line")):
            pass
        first.execute("INSERT INTO t VALUES (1)")
    writing.join()
    assert third.wait(FOREVER_S)
    assert (seen, third.is_held) == ([False], True)
    third.release()
    assert fetch(first, "SELECT x FROM t") == [(1,), (2,)]


def test_stopped_process_at_front_blocks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.db"
    first, second = connect(path, guarded=True), connect(path, guarded=True)
    first.execute("CREATE TABLE t (x)")
    stopped = FairLock(path.with_suffix(".line"))
    assert stopped.wait(0.0)
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", FOREVER_S)
    asked = threading.Event()

    def write() -> None:
        asked.set()
        with transaction(second):
            second.execute("INSERT INTO t VALUES (2)")

    writing = threading.Thread(target=write)
    with transaction(first):
        writing.start()
        asked.wait()
        writing.join(0.05)
    writing.join()
    assert stopped.is_held
    stopped.release()
    assert fetch(first, "SELECT x FROM t") == [(2,)]


def await_standing(path: Path, count: int) -> None:
    """Returns when so many wait for their turn: a thread that was started stands there a moment later."""
    file = f":{path.stat().st_ino} "
    deadline = time.monotonic() + FOREVER_S
    while sum(" -> " in held and file in held for held in Path("/proc/locks").read_text().splitlines()) < count:
        assert time.monotonic() < deadline


def is_taken(path: Path) -> bool:
    """Whether somebody is the first in the line there."""
    look = FairLock(path)
    if not path.exists():
        return False
    look.wait(0.0)
    taken = not look.is_held
    look.release()
    return taken
