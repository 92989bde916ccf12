"""Totes verified by a scan, in sessions without a link: at the pace of a scanner, by hand, after a kill."""

from __future__ import annotations

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import GOOD, INFO, WRONG
from aisle.session.session import Session
from tests.session.scanner import Scanner
from tests.session.test_batch import CODES, at, home, say, sent, state
from tests.session.test_session import told

__all__ = ["home"]


def start_batch(session: Session) -> None:
    """Start a batch of two orders; only the first tote has a label."""
    say(session, "6", "4101", "TOTE-7", "4102", "g")
    assert [tote.code for tote in state(session).totes] == ["TOTE-7", ""]


@pytest.mark.parametrize("pace", [0.0, 0.006])
def test_the_next_scan_is_refused_and_the_question_stays(home: StoreFolder, pace: float) -> None:
    with at(home, verify_totes=True) as session:
        start_batch(session)
        scanner = Scanner(session, 200.0)
        assert told(scanner.send(f"{CODES['P1']}\r", pace)) == (GOOD, "pick.picked_for_tote")
        for code in (CODES["P2"], CODES["P1"], "B", "TOTE-8", "99999", "A-2", "4103"):
            frame = scanner.send(f"{code}\r", pace)
            assert (frame.view.name, told(frame)) == ("pick.tote", (WRONG, "pick.verify_tote_first")), code
            scanner.rest(6.0)
        assert sent(home) == {("4101", 1): 1}
        assert told(scanner.send("TOTE-7\r", pace)) == (GOOD, "pick.in_tote")
        assert told(scanner.send(f"3*{CODES['P1']}\r", pace)) == (GOOD, "pick.picked_for_totes")
        assert told(scanner.send("A\r", pace)) == (GOOD, "pick.in_tote"), "the letter of a tote is its label too"
        assert told(scanner.send("B\r", pace)) == (GOOD, "pick.in_tote")
        assert sent(home) == {("4101", 1): 3, ("4102", 1): 1}


@pytest.mark.parametrize("answer", ["y", "", "n", "b", "0", "3", "AISLE:OK", "AISLE:BACK"])
def test_no_answer_passes_the_tote(home: StoreFolder, answer: str) -> None:
    with at(home, verify_totes=True) as session:
        start_batch(session)
        say(session, CODES["P1"])
        assert say(session, answer).view.name == "pick.tote"
        assert told(say(session, "l")) == (INFO, "pair")
        assert session.frames.build().view.name == "pick.product"


def test_the_tote_is_asked_for_again_after_a_restart(home: StoreFolder) -> None:
    with at(home, verify_totes=True) as session:
        start_batch(session)
        say(session, f"5*{CODES['P1']}", "TOTE-7")
    with at(home, verify_totes=True) as session:
        assert session.frames.build().view.name == "pick.tote"
        assert state(session).totes_to_verify == ("4102",)
        assert sent(home) == {("4101", 1): 3, ("4102", 1): 2}
        assert told(say(session, CODES["P1"])) == (WRONG, "pick.verify_tote_first")
        assert told(say(session, "TOTE-7")) == (WRONG, "pick.verify_tote_first")
        assert told(say(session, "u"))[0] == GOOD
        assert state(session).totes_to_verify == ()
        assert not any(sent(home).values())


def test_a_look_up_leaves_the_question(home: StoreFolder) -> None:
    with at(home, verify_totes=True) as session:
        start_batch(session)
        say(session, CODES["P1"])
        assert say(session, f"?{CODES['P9']}").view.name == "look_up.product"
        assert say(session, "b").view.name == "pick.tote"
        assert told(say(session, "TOTE-7")) == (GOOD, "pick.in_tote")
