"""What some inputs do in the middle of whatever work: one's own badge, and so many of a code that nobody knows."""

from __future__ import annotations

import pytest

from aisle.jobs.view import GOOD, INFO, WRONG
from aisle.local.host.home import Home
from tests.local.test_session import BARCODES, at, home, say, told
from tests.local.test_session_care import opened

__all__ = ["home"]


@pytest.mark.parametrize(
    ("job", "scans"),
    [
        ("pick", ("4101", BARCODES[0], "12*")),
        ("pick", ("4101", "4102")),
        ("walk", ("4101",)),
        ("count", ("A-1",)),
        ("loss", (BARCODES[0],)),
        ("move", ("A-1", BARCODES[0])),
        ("receive", ()),
    ],
)
def test_ones_own_badge_changes_nothing_in_a_job(home: Home, job: str, scans: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        before = say(session, *scans) if job == "pick" else opened(session, job, *scans)
        frame = say(session, "BADGE-U1")
        assert told(frame) == (INFO, "sign_in.already")
        assert (frame.view, frame.typed, frame.user) == (before.view, before.typed, before.user)
        assert told(say(session, "BADGE-U2"))[0] == WRONG, "somebody else's is no sign-in in the middle of work"


def test_ones_own_badge_is_taken_where_badges_are(home: Home) -> None:
    with at(home, user="U1") as session:
        assert told(say(session, "BADGE-U1")) == (GOOD, "sign_in.done")
        assert told(say(session, "4101", "?BADGE-U1")) == (INFO, "lookup.is_person")


@pytest.mark.parametrize("code", ["12*123456", "7*00123"])
@pytest.mark.parametrize(
    ("job", "scans"),
    [
        ("pick", ("4101", BARCODES[1])),
        ("count", ("A-1", BARCODES[0])),
        ("loss", (BARCODES[0],)),
        ("move", ("A-1", BARCODES[0])),
    ],
)
def test_so_many_of_a_code_that_nobody_knows_are_no_quantity(
    home: Home, job: str, scans: tuple[str, ...], code: str
) -> None:
    with at(home, user="U1") as session:
        before = say(session, *scans) if job == "pick" else opened(session, job, *scans)
        top = session._stack.top
        assert top.job.open(top.state).quantity
        frame = say(session, code)
        kind, id_ = told(frame)
        assert (kind, id_.split(".")[1], frame.view) == (WRONG, "unknown", before.view)
