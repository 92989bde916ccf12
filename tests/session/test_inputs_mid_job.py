"""What some inputs do in the middle of whatever work: one's own badge, and so many of a code that nobody knows."""

from __future__ import annotations

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame
from aisle.scan.inputs_and_line_grouping import Line, OpenLine
from aisle.session.session import Session
from aisle.tui.message_text import MessageWriter
from tests.session.job_steps import announced, claimed
from tests.session.test_session import BARCODES, at, home, say, told
from tests.session.test_session_edge_cases import opened

__all__ = ["home"]


@pytest.mark.parametrize(
    ("job", "scans"),
    [
        ("pick", ("4101", BARCODES[0], "12*")),
        ("pick", ("4101", "4102")),
        ("batch", ("4101",)),
        ("count", ("A-1",)),
        ("adjust", (BARCODES[0],)),
        ("move", ("A-1", BARCODES[0])),
        ("receive", ()),
    ],
)
def test_ones_own_badge_changes_nothing_in_a_job(home: StoreFolder, job: str, scans: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        before = say(session, *scans) if job == "pick" else opened(session, job, *scans)
        frame = say(session, "BADGE-U1")
        assert told(frame) == (INFO, "sign_in.already")
        assert (frame.view, frame.typed, frame.user) == (before.view, before.typed, before.user)
        assert told(say(session, "BADGE-U2"))[0] == WRONG, "somebody else's is no sign-in in the middle of work"


def test_ones_own_badge_is_taken_where_badges_are(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        assert told(say(session, "BADGE-U1")) == (GOOD, "sign_in.done")
        assert told(say(session, "4101", "?BADGE-U1")) == (INFO, "page.not_this")


@pytest.mark.parametrize("code", ["12*123456", "7*00123"])
@pytest.mark.parametrize(
    ("job", "scans"),
    [
        ("pick", ("4101", BARCODES[1])),
        ("count", ("A-1", BARCODES[0])),
        ("adjust", (BARCODES[0],)),
        ("move", ("A-1", BARCODES[0])),
    ],
)
def test_so_many_of_a_code_that_nobody_knows_are_no_quantity(
    home: StoreFolder, job: str, scans: tuple[str, ...], code: str
) -> None:
    with at(home, user="U1") as session:
        before = say(session, *scans) if job == "pick" else opened(session, job, *scans)
        top = session.stack.top
        assert top.job.accepts(top.state).quantity
        frame = say(session, code)
        kind, id_ = told(frame)
        assert (kind, id_.split(".")[1], frame.view) == (WRONG, "unknown", before.view)


@pytest.mark.parametrize(
    ("job", "scans", "code", "why", "what"),
    [
        ("receive", ("7001",), "BADGE-U2", "page.not_this", "the badge of Anna Berg"),
        ("receive", ("7001",), "4102", "page.not_this", "order 4102"),
        ("count", (), "4102", "page.not_this", "order 4102"),
        ("count", ("2",), "A-1", "page.not_this", "location A-1"),
        ("move", ("A-1",), "BADGE-U2", "page.not_this", "the badge of Anna Berg"),
        ("move", ("A-1",), "7001", "page.not_this", "delivery 7001"),
        ("stores", (), "A-1", "stores.not_this", "location A-1"),
        ("batch", (), "7001", "page.not_this", "delivery 7001"),
    ],
)
def test_what_was_scanned_is_said_where_a_page_has_no_use_for_it(
    home: StoreFolder, job: str, scans: tuple[str, ...], code: str, why: str, what: str
) -> None:
    announced(home)
    with at(home, user="U1") as session:
        before = opened(session, job, *scans).view
        frame = say(session, code)
        assert (frame.view, told(frame)) == (before, (WRONG, why))
        assert frame.verdict
        said = MessageWriter().write(frame.verdict.text, 1)
        assert said.startswith(f"That is {what}. ")


def test_ones_own_badge_is_no_mistake_on_the_page_of_an_order(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        assert opened(session, "orders", "1").view.name == "order"
        assert told(say(session, "BADGE-U1")) == (INFO, "sign_in.already")
        assert session.bells == 0
        assert told(say(session, "BADGE-U2")) == (WRONG, "page.not_this")


def test_an_order_that_was_never_opened_does_not_go_on_from_anywhere(home: StoreFolder) -> None:
    claimed(home)
    with at(home, user="U1") as session:
        assert told(say(session, "4101")) == (ASK, "pick.claimed_plain")
        assert told(say(session, BARCODES[0])) == (WRONG, "pick.answer_first")
        assert told(say(session, "b")) == (INFO, "pick.left_viewed")
        assert told(say(session, "4102")) == (GOOD, "pick.opened")
        assert told(say(session, "b")) == (INFO, "pick.left")


@pytest.mark.parametrize("code", ["\x04", "\x1d\x1e", "\u200b"])
@pytest.mark.parametrize("scans", [(), ("4101",), ("3",), ("4101", f"?{BARCODES[2]}")])
def test_a_scan_of_nothing_that_can_be_read_says_so(home: StoreFolder, scans: tuple[str, ...], code: str) -> None:
    with at(home, user="U1") as session:
        before = say(session, *scans).view
        frame = say(session, code)
        assert (frame.view, told(frame)) == (before, (WRONG, "input.empty_scan"))


def test_a_delivery_that_is_scanned_in_a_pick_is_not_unknown(home: StoreFolder) -> None:
    announced(home)
    with at(home, user="U1") as session:
        before = say(session, "4101").view
        frame = say(session, "7001")
        assert (frame.view, told(frame)) == (before, (WRONG, "page.not_this"))


def left(session: Session, text: str, apart: int) -> Frame:
    """A line of which so many characters were typed a while before the rest was scanned."""
    return session.take([Line(text, "cr", 0.0, 1.5, 1.0, median_pause=0.001, before_pause=apart)], 1.5)


def test_a_letter_that_was_left_on_the_line_is_none_of_the_scan_behind_it(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        frame = left(session, f"n{BARCODES[0]}", 1)
        assert told(frame) == (GOOD, "shortage.join")
        assert frame.verdict
        assert "“n” was typed before this page opened: ignored" in MessageWriter().write(frame.verdict.text)
        assert session.stack.top.state.lines[0].picked == 1
        assert told(left(session, f"n{BARCODES[0]}", 0)) == (WRONG, "count.unknown"), "a scan of that is another code"
        assert told(left(session, "n123456789", 1)) == (WRONG, "count.unknown")
        assert told(left(session, f"nothing{BARCODES[0]}", 7)) == (WRONG, "count.unknown")
        assert session.stack.top.state.lines[0].picked == 1


def test_what_is_known_as_a_whole_is_that_whatever_pause_was_in_it(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        assert told(left(session, "BADGE-U1", 2)) == (INFO, "sign_in.already")


def test_the_enter_of_a_dropped_line_is_no_further_answer(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        session.inputs.apply(OpenLine("*"), 0.0)
        session.inputs.drop_typed(is_secret=True)
        before = session.frames.build()
        frame = session.take([Line("*", "cr", 0.0, 1.5, 1.0)], 1.5)
        assert (frame.verdict, frame.verdict_repeats, frame.scan_serial) == (before.verdict, 1, before.scan_serial)
