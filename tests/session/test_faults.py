"""A fault in aisle costs the input that met it, not the session: it is logged, said, and the next input goes on."""

from __future__ import annotations

from decimal import Decimal
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.reader import CacheReader
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import WRONG, Verdict
from aisle.session.session import Session
from tests.session.every_page import PAGES, on_page
from tests.session.test_session import BARCODES, at, home, say, sent, told

__all__ = ["home"]

FAULTS = (RecursionError("maximum recursion depth exceeded"), ValueError("secret 1234"), KeyError("P1"))
PLACES = ("handle", "view", "accepts")
"""Functions of a job that may be at fault."""


def failing(error: Exception) -> Any:
    """A function that fails."""

    def fail(*args: object, **kwargs: object) -> object:
        raise error

    return fail


def log_of(session: Session) -> list[str]:
    """The lines of the store's log on this host."""
    log = session.store.folder.courier_log
    return log.read_text().splitlines() if log.exists() else []


def is_reported(verdict: Verdict | None) -> bool:
    """Whether it says that the input did nothing because of a fault."""
    return verdict is not None and verdict.kind == WRONG and "session.why_fault" in repr(verdict.text)


@pytest.mark.parametrize("page", PAGES)
def test_an_input_that_fails_leaves_each_page_as_it_was(
    aisle_home: Path, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with on_page(aisle_home, page) as session:
        session.event_runner.commit()
        jobs, view = session.stack.snapshot(), session.frames.build().view
        job = session.stack.top.job
        with monkeypatch.context() as broken:
            broken.setattr(type(job), "handle", failing(FAULTS[0]))
            frame = say(session, "4106")
        assert session.stack.snapshot() == jobs
        assert frame.view == view
        if not is_reported(frame.verdict):
            assert log_of(session) == [], "the session answered it by itself"
        else:
            (line,) = log_of(session)
            assert "RecursionError" in line
        assert not is_reported(say(session, "4106").verdict), "the next one goes on"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_scan_that_fails_is_not_booked_and_said(
    home: StoreFolder, error: Exception, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at(home, user="U1") as session:
        before = say(session, "4101", BARCODES[1])
        with monkeypatch.context() as broken:
            session.page._cached_accepts = session.page._cached_view = None
            if place == "handle":
                broken.setattr(type(session.stack.top.job), place, failing(error))
            else:  # only the page after the scan cannot be shown
                fails_after(broken, session, place, error)
            frame = say(session, BARCODES[1])
        assert is_reported(frame.verdict), frame.verdict
        assert (frame.view, session.bells) == (before.view, 3)
        (line,) = log_of(session)
        assert type(error).__name__ in line
        assert "1234" not in line
        assert sent(home) == {2: Decimal(1)}
        assert told(say(session, BARCODES[1]))[1] == "pick.picked"
    assert sent(home) == {2: Decimal(2)}


def fails_after(patch: pytest.MonkeyPatch, session: Session, place: str, error: Exception) -> None:
    """Let a function of the job fail for the state after the next scan."""
    kind, known = type(session.stack.top.job), session.stack.top.state
    sound = getattr(kind, place)

    def ask(job: Any, state: Any) -> object:
        if state is not known:
            raise error
        return sound(job, state)

    patch.setattr(kind, place, ask)


def test_of_several_scans_the_lost_ones_are_counted(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[1])
        with monkeypatch.context() as broken:
            fails_after(broken, session, "view", FAULTS[0])
            frame = say(session, BARCODES[1], BARCODES[1], BARCODES[0])
        assert told(frame) == (WRONG, "session.inputs_not_saved")
        assert frame.verdict is not None
        assert dict(frame.verdict.text.args)["count"] == 3
        say(session, *[BARCODES[1]] * 3)
    assert sent(home) == {2: Decimal(4)}


def test_a_fault_in_changes_from_elsewhere_is_reported_once(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(home, user="U1") as session:
        shown = say(session, "4101", BARCODES[1])
        with monkeypatch.context() as broken:
            broken.setattr(type(session.store.notifications), "all_changes", failing(FAULTS[0]))
            frame = session.poll()
            assert frame is not None
            assert "pick.picked" in repr(frame.verdict), "the answer stands beside it"
            assert is_reported(frame.verdict)
            assert frame.view == shown.view
            assert told(say(session, BARCODES[1]))[1] == "pick.picked"
            again = session.poll()
            assert again is None or not is_reported(again.verdict)
        assert len(log_of(session)) == 1
    assert sent(home) == {2: Decimal(2)}


@pytest.mark.parametrize("part", ["tabs.note_changes", "store.journal.commit", "kept_pages.keep_question"])
def test_a_scan_whose_batch_meets_a_fault_is_booked_as_the_screen_says(
    home: StoreFolder, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[1])
        owner, _, name = part.rpartition(".")
        with monkeypatch.context() as broken:
            broken.setattr(type(attrgetter(owner)(session)), name, failing(FAULTS[0]))
            frame = say(session, BARCODES[1])
        is_kept = part == "kept_pages.keep_question"  # it comes after the commit
        assert is_reported(frame.verdict)
        assert ("pick.picked" in repr(frame.verdict)) == is_kept
        assert sent(home) == {2: Decimal(1 + is_kept)}
        assert told(say(session, BARCODES[1]))[1] == "pick.picked"
    assert sent(home) == {2: Decimal(2 + is_kept)}


def test_a_resize_that_fails_shows_the_page(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(home, user="U1") as session:
        shown = session.resize(40, 20)
        with monkeypatch.context() as broken:
            broken.setattr(CacheReader, "query_window", failing(FAULTS[0]))
            frame = session.resize(80, 24)
        assert is_reported(frame.verdict)
        assert frame.view.name == shown.view.name
        assert told(say(session, "4101"))[1] == "pick.opened"
