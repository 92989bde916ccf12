"""Labels of totes in a batch: each form that shops print is taken, also where the tote is scanned in the pick."""

from __future__ import annotations

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK, GOOD, WRONG, Frame
from aisle.session.session import Session
from tests.session.scanner import Scanner
from tests.session.test_batch import CODES, at, home, say, state
from tests.session.test_session import told

__all__ = ["home"]

GRAI = "800309520001000010SER1"

LABELS = {
    "B7": "B7",
    "7B": "7B",
    "XY": "XY",
    "TOTE 9": "TOTE 9",
    "Bak 12": "Bak 12",
    "ROLLI 3 B": "ROLLI 3 B",
    "*T-7*": "T-7",
    "*TOTE9*": "TOTE9",
    "* T-7 *": "T-7",
    "*B7*": "B7",
    "https://id.gs1.org/8003/09520001000010SER1": GRAI,
    "HTTPS://ID.GS1.ORG/8003/09520001000010SER1?x=1": GRAI,
    "id.gs1.org/8003/09520001000010SER1": GRAI,
    "https://shop.example/a/8003/09520001000010SER1": GRAI,
    "(8003)09520001000010SER1": GRAI,
    "https://id.gs1.org/8004/0952000AB12": "80040952000AB12",
    "C12": "C12",
    "T.12": "T.12",
    "TOTE-1": "TOTE-1",
    "TOTE-12": "TOTE-12",
}


def scanned_at_batch(session: Session, label: str, pace: float) -> Frame:
    """The batch page with one order, after the scan of a label."""
    session.start_batch()
    session.event_runner.open(Start("batch", {}))
    session.event_runner.commit()
    say(session, "4101")
    return Scanner(session).send(f"{label}\r", pace)


@pytest.mark.parametrize("pace", [0.0, 0.006])
@pytest.mark.parametrize("label", LABELS)
def test_a_label_is_that_of_the_tote(home: StoreFolder, label: str, pace: float) -> None:
    with at(home) as session:
        assert told(scanned_at_batch(session, label, pace)) == (GOOD, "batch.tote")
        assert session.stack.top.state.orders[-1].tote_code == LABELS[label]
        say(session, "4102")
        say(session, "g")
        assert state(session).totes[0].code == LABELS[label]
        assert told(Scanner(session, 200.0).send(f"{label}\r", pace))[1] in (
            "batch.already_in_batch",
            "pick.choice_tote",
            "pick.no_tote",
        )


@pytest.mark.parametrize("code", ["a7", "b7", "honey 250", "TEA BOX", "tea 2", "R!", "5-", "**", "(01)09520001991011"])
def test_what_is_no_label_is_not_taken(home: StoreFolder, code: str) -> None:
    with at(home) as session:
        frame = scanned_at_batch(session, code, 0.006)
        assert told(frame)[0] in (WRONG, "")
        assert {each.tote_code for each in session.stack.top.state.orders} == {""}


@pytest.mark.parametrize("code", ["9520001991011", "99999", "*99999*", "009520001000000018", "99-99", "4.711", "99/1"])
def test_an_unknown_number_is_asked_about(home: StoreFolder, code: str) -> None:
    with at(home) as session:
        assert told(scanned_at_batch(session, code, 0.006))[0] == ASK
        assert session.stack.top.state.orders[-1].tote_code == ""


def test_the_letter_of_a_tote_names_its_label(home: StoreFolder) -> None:
    with at(home) as session:
        scanned_at_batch(session, "BOX3", 0.006)
        verdict = Scanner(session, 200.0).send("A\r", 0.006).verdict
        assert verdict is not None
        assert dict(verdict.text.args)["code"] == "BOX3"


@pytest.mark.parametrize("is_asked", [True, False])
@pytest.mark.parametrize("pace", [0.0, 0.006])
@pytest.mark.parametrize("label", ["B7", "XY", "TOTE 9", "*T-7*", "T.12", "ROLLI 3 B"])
def test_a_label_after_refused_lines_is_the_tote(home: StoreFolder, label: str, pace: float, is_asked: bool) -> None:
    with at(home) as session:
        scanned_at_batch(session, label, 0.006)
        say(session, "4102")
        say(session, "g")
        if is_asked:
            say(session, "A-2")
            assert told(say(session, CODES["P1"]))[1] == "pick.which_location"
        scan, refused = Scanner(session, 200.0), f"{CODES['P2']}\rNO-CODE\r{CODES['P2']}\r"
        alone = told(scan.send(f"{label}\r", pace))
        assert alone[1] == ("pick.location_first" if is_asked else "batch.already_in_batch")
        scan.rest(6.0)
        scan.send(refused)
        assert told(scan.send(f"{label}\r", pace)) == alone
