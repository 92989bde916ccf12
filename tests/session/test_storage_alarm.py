"""Where nothing can be kept, the screen says so at every size, and what to do; and nothing of what is sent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from decimal import Decimal

import apsw
import pytest

from aisle.host.database import checkpoint
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import INFO, WRONG, Frame, LinkState, Msg, Verdict, msg
from aisle.outbox.operation_queue import open_outbox
from aisle.session.session import Session
from aisle.tui.layout.screen import layout_screen
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["home"]

SIZES = [(80, 24), (40, 20), (20, 16)]
ADVICE = {
    "session.why_full": ["free some"],
    "session.why_busy": ["try again"],
    "session.why_damaged": ["get help", "aisle doctor"],
    "session.why_not_writable": ["get help", "aisle doctor"],
}


def shown(frame: Frame, columns: int, rows: int) -> tuple[str, str]:
    """What is painted, in one line; and its last line."""
    lines = ["".join(text for text, _ in line) for line in layout_screen(frame, columns, rows).lines]
    return " ".join(" ".join(lines).split()), lines[-1]


def test_a_damaged_outbox_is_said_in_the_verdict_and_in_the_last_line(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
        with closing(open_outbox(home.folder)) as db:
            checkpoint(db, truncate=True)
        with home.outbox.open("r+b") as stream:
            stream.write(b"\xa5" * home.outbox.stat().st_size)
        session.store.journal._db.execute("PRAGMA shrink_memory").fetchall()  # it has to read again
        frame = say(session, BARCODES[1])
        watched = session.poll()
        assert watched is not None
        assert watched.link.state == "unkept"
        assert told(frame) == (WRONG, "session.not_saved")
        assert frame.verdict is not None
        assert dict(frame.verdict.text.args)["why"] == Msg("session.why_damaged")
        assert frame.link.state == "unkept"
        for columns, rows in SIZES:
            whole, last = shown(frame, columns, rows)
            assert any(advice in whole for advice in ADVICE["session.why_damaged"]), whole
            assert "sav" in last
            assert "sent" not in last
            assert "live" not in last


@pytest.mark.parametrize("why", ADVICE)
@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_the_advice_is_on_the_screen_at_every_size(home: StoreFolder, why: str, columns: int, rows: int) -> None:
    with at(home, user="U1") as session:
        frame = say(session, "4101")
    for text in (
        msg("session.not_saved", why=msg(why)),
        msg("session.inputs_not_saved", count=Decimal(12), why=msg(why)),
    ):
        said = frame._replace(verdict=Verdict(WRONG, text), scan_serial=112, link=LinkState("unkept", 100.0))
        whole, _ = shown(said, columns, rows)
        advice = [*ADVICE[why], *(["the last 12"] if text.id == "session.inputs_not_saved" else [])]
        assert any(words in whole for words in advice), whole
        assert "…" not in whole.partition("NO ")[2].partition("›")[0], whole


# And then it can be kept again


@contextmanager
def locked(home: StoreFolder) -> Iterator[None]:
    """Another process holds the file."""
    with closing(apsw.Connection(os.fspath(home.outbox))) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def frozen(home: StoreFolder) -> Iterator[None]:
    """The file system takes nothing from this process, as one with errors does."""
    connections = [each for each in apsw.connections() if each.filename == os.fspath(home.outbox)]
    for each in connections:
        each.execute("PRAGMA query_only=ON").fetchall()
    try:
        yield
    finally:
        for each in connections:
            each.execute("PRAGMA query_only=OFF").fetchall()


def looked(session: Session) -> tuple[str, str]:
    """What is said after a look at everything."""
    frame = session.poll()
    assert frame is not None
    return told(frame)


TROUBLES: dict[str, Callable[[StoreFolder], AbstractContextManager[None]]] = {"locked": locked, "frozen": frozen}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_alarm_ends_by_itself_and_no_sooner(
    home: StoreFolder, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.host.database.BUSY_TIMEOUT_S", 0.01)
    with at(home, user="U1") as session:
        say(session, "4101")
        with TROUBLES[trouble](home):
            assert told(say(session, BARCODES[0])) == (WRONG, "session.not_saved")
            for _ in range(3):
                frame = session.poll()
                assert frame is not None
                assert told(frame) == (WRONG, "session.not_saved")
                assert frame.link.state == "unkept"
        frame = session.poll()
        assert frame is not None
        assert told(frame) == (INFO, "session.redo_unsaved")
        assert frame.link.state != "unkept"
        for columns, rows in SIZES:
            whole, _ = shown(frame, columns, rows)
            assert "not saved" in whole or "unsaved" in whole, "what is to be scanned again, and nothing else"
        assert told(say(session, BARCODES[0]))[1] == "pick.picked"


def test_the_alarm_stands_while_the_disk_is_full_although_a_short_write_succeeds(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        with frozen(home):
            assert told(say(session, BARCODES[0])) == (WRONG, "session.not_saved")
        monkeypatch.setattr("aisle.outbox.sessions_and_open_jobs.has_room", lambda path: False)
        for _ in range(3):
            assert looked(session) == (WRONG, "session.not_saved")
        monkeypatch.undo()
        assert looked(session) == (INFO, "session.redo_unsaved")


@pytest.mark.parametrize(
    "last",
    [
        pytest.param(("3*", f"?{BARCODES[1]}"), id="multiplier"),
        pytest.param(("7", f"?{BARCODES[1]}"), id="quantity"),
        pytest.param(("3*", "?"), id="help"),
        pytest.param(("u", f"?{BARCODES[1]}"), id="undo"),
    ],
)
def test_a_page_that_opens_over_unsaved_work_adds_nothing_to_the_alarm(
    home: StoreFolder, last: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.host.database.BUSY_TIMEOUT_S", 0.01)
    with at(home, user="U1") as session:
        say(session, "4101")
        with locked(home):
            frame = say(session, BARCODES[0], *last, BARCODES[0])
        assert frame.verdict is not None
        lost = msg("session.inputs_not_saved", count=len(last) + 2, why=msg("session.why_busy"))
        assert frame.verdict.text == lost
        assert frame.view.name == "pick.product"


@pytest.mark.parametrize("trouble", TROUBLES)
def test_several_scans_that_were_lost_are_no_alarm_any_more(
    home: StoreFolder, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.host.database.BUSY_TIMEOUT_S", 0.01)
    with at(home, user="U1") as session:
        say(session, "4101")
        with TROUBLES[trouble](home):
            for _ in range(2):
                say(session, BARCODES[0], BARCODES[1])
            assert looked(session)[1] in ("session.inputs_not_saved", "session.not_saved")
        assert looked(session) == (INFO, "session.redo_unsaved")
        assert looked(session) == (INFO, "session.redo_unsaved"), "it stands until something is scanned"
