"""The trace of a session says what the screen said, and no disk that is full ends the work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aisle.errors import StorageError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import GOOD, WRONG
from aisle.scan.inputs_and_line_grouping import Line
from tests.session.test_batch import CODES, at, home, say, told

__all__ = ["home"]


def written(path: Path) -> list[tuple[str, str]]:
    """(raw, verdict) of each line of the trace."""
    return [(each["raw"], each["verdict"]) for each in map(json.loads, path.read_text().splitlines())]


def test_what_could_not_be_kept_is_not_said_to_be_picked(
    home: StoreFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace"
    with at(home, trace=str(path)) as session:
        say(session, "4102", CODES["P1"])
        session.on_painted((), 0.0)

        def fail(*_: object) -> None:
            raise StorageError("the disk is full")

        with monkeypatch.context() as broken:
            broken.setattr(session.store.journal, "commit", fail)
            say(session, CODES["P1"], CODES["P1"])
            session.on_painted((), 0.0)
        assert told(say(session, CODES["P1"])) == (GOOD, "pick.picked")
        session.on_painted((), 0.0)
    assert [verdict for _, verdict in written(path)] == [
        "pick.opened",
        "pick.picked",
        "session.not_saved",
        "session.not_saved",
        "pick.picked",
    ]


def test_a_scan_that_came_in_pieces_has_its_line_too(home: StoreFolder, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    with at(home, trace=str(path)) as session:
        say(session, "4102")
        frame = session.take([Line("X-7-7", "cr", 0.0, 0.0, 0.0, possible_prefix="[B")], 0.0)
        session.on_painted((), 0.0)
    assert written(path) == [("4102", "pick.opened"), ("X-7-7", "input.incomplete_scan")]
    assert told(frame) == (WRONG, "input.incomplete_scan")


def test_a_trace_that_cannot_be_written_ends_and_the_work_goes_on(home: StoreFolder) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this host has no device that is always full")
    with at(home, trace=str(full)) as session:
        for _ in range(3):
            say(session, "4102", CODES["P1"])
            session.on_painted((), 0.0)
        assert told(say(session, CODES["P1"])) == (GOOD, "pick.picked")
    assert session.is_ending is False
