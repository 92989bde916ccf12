"""The line of those who wait for a file: in the order in which they came, whatever becomes of those before them."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aisle.local import db
from aisle.local.db import connect, fetch, transaction
from aisle.local.line import Line
from tests.local.children import Child, running

FOREVER_S = 30.0


def stands(path: Path) -> Callable[[Callable[[str], None]], None]:
    """A process that comes to the front of the line, tells it, and stays there."""

    def work(tell: Callable[[str], None]) -> None:
        mine = Line(path)
        tell("comes")
        while not mine.is_first:
            mine.stand(FOREVER_S)
        tell("first")
        signal.pause()

    return work


def test_who_comes_alone_is_the_first_at_once(tmp_path: Path) -> None:
    mine = Line(tmp_path / "x.line")
    assert not mine.is_first
    assert mine.stand(0.0)
    assert mine.is_first
    assert mine.stand(0.0)
    mine.leave()
    mine.leave()
    assert not mine.is_first
    assert (tmp_path / "x.line").stat().st_mode & 0o777 == 0o600


def test_they_come_to_the_front_one_after_the_other_and_keep_their_places(tmp_path: Path) -> None:
    everybody = [Line(tmp_path / "x.line") for _ in range(4)]
    for number, each in enumerate(everybody):
        assert each.stand(0.0)
        await_standing(tmp_path / "x.line", number)
    for number, each in enumerate(everybody):
        assert [one.is_first for one in everybody] == [one is each for one in everybody]
        each.leave()
        for later in everybody[number + 1 :][:1]:
            assert later.stand(FOREVER_S)


def test_a_place_that_was_given_up_holds_up_nobody(tmp_path: Path) -> None:
    first, second, third = (Line(tmp_path / "x.line") for _ in range(3))
    for each in (first, second, third):
        each.stand(0.0)
    second.leave()
    first.leave()
    assert third.stand(FOREVER_S)
    assert third.is_first
    third.leave()
    assert second.stand(FOREVER_S)
    assert second.is_first
    second.leave()


def test_who_dies_at_the_front_makes_room(tmp_path: Path) -> None:
    child = Child(stands(tmp_path / "x.line"))
    mine = Line(tmp_path / "x.line")
    with running(child):
        assert child.hear(2)
        assert mine.stand(0.0)
        assert not mine.is_first
        os.kill(child.pid, signal.SIGKILL)
        assert mine.stand(FOREVER_S)
        assert mine.is_first
    mine.leave()


def test_where_no_line_can_be_made_everybody_looks_for_himself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not Line(tmp_path / "nowhere" / "x.line").stand(0.0)

    def no_locks(*_: object) -> None:
        raise OSError

    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError

    before, mine = Line(tmp_path / "x.line"), Line(tmp_path / "x.line")
    before.stand(0.0)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread)
        assert not mine.stand(FOREVER_S)
    monkeypatch.setattr(fcntl, "flock", no_locks)
    assert not mine.stand(FOREVER_S)
    assert not mine.is_first
    before.leave()


def test_a_writer_that_waits_for_long_stands_in_the_line_until_it_has_written(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    first, second = connect(path, precious=True), connect(path, precious=True)
    first.execute("CREATE TABLE t (x)")
    third = Line(path.with_suffix(".line"))

    def write() -> None:
        with transaction(second):
            second.execute("INSERT INTO t VALUES (2)")
            third.stand(0.0)
            seen.append(third.is_first)

    seen: list[bool] = []
    writing = threading.Thread(target=write)
    with transaction(first):
        writing.start()
        while not is_taken(path.with_suffix(".line")):
            pass
        first.execute("INSERT INTO t VALUES (1)")
    writing.join()
    assert third.stand(FOREVER_S)
    assert (seen, third.is_first) == ([False], True)
    third.leave()
    assert fetch(first, "SELECT x FROM t") == [(1,), (2,)]


def test_one_at_the_front_that_has_been_stopped_keeps_nobody_from_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.db"
    first, second = connect(path, precious=True), connect(path, precious=True)
    first.execute("CREATE TABLE t (x)")
    stopped = Line(path.with_suffix(".line"))
    assert stopped.stand(0.0)
    monkeypatch.setattr(db, "BUSY_S", FOREVER_S)
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
    assert stopped.is_first
    stopped.leave()
    assert fetch(first, "SELECT x FROM t") == [(2,)]


def await_standing(path: Path, count: int) -> None:
    """Returns when so many wait for their turn: a thread that was started stands there a moment later."""
    file = f":{path.stat().st_ino} "
    deadline = time.monotonic() + FOREVER_S
    while sum(" -> " in held and file in held for held in Path("/proc/locks").read_text().splitlines()) < count:
        assert time.monotonic() < deadline


def is_taken(path: Path) -> bool:
    """Whether somebody is the first in the line there."""
    look = Line(path)
    if not path.exists():
        return False
    look.stand(0.0)
    taken = not look.is_first
    look.leave()
    return taken
