"""A scan during a look-up inside a count: the count takes it and is on the screen again, or the look-up shows it."""

from __future__ import annotations

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.count.count_state import CountState
from aisle.jobs.view import Frame
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import Session
from tests.session.scanner import Scanner
from tests.session.test_code_forms import EAN, ISSN, UPC_A, WEIGHED, at, home, open_job

__all__ = ["home"]

SCANS = (EAN, ISSN, UPC_A, "A-1", "A-2", WEIGHED, "4101", "9520001100017", f"]d201{EAN:0>14}21S1", f"3*{EAN}")


def typed(session: Session, text: str) -> Frame:
    """A line at the pace of a person."""
    return session.take([Line(text, "cr", 0.0, 0.5, 0.2)], 0.0)


def counted(session: Session) -> CountState:
    """What is counted."""
    state = next(each.state for each in session.stack.jobs if each.job.name == "count")
    assert isinstance(state, CountState)
    return state


@pytest.mark.parametrize("opening", ["?", f"?{EAN}", "?e", "?A-2"])
@pytest.mark.parametrize("before", [("A-1", EAN), ("A-1", EAN, "8888888"), (EAN,)])
def test_one_page_takes_the_scan_and_says_so(home: StoreFolder, opening: str, before: tuple[str, ...]) -> None:
    with at(home) as session:
        open_job(session, lambda text: typed(session, text), "count")  # type: ignore[arg-type]
        for each in before:
            typed(session, each)
        for code in SCANS:
            typed(session, opening)
            was = counted(session)
            assert session.stack.top.job.name != "count"
            frame = Scanner(session).send(f"{code}\r")
            if session.page.question.is_pending:
                assert counted(session) == was
                frame = typed(session, "2")
            is_count = session.stack.top.job.name == "count"
            assert is_count or counted(session) == was, code
            assert frame.verdict or not is_count, code
            while session.stack.top.job.name != "count":
                session.stack.jobs.pop()
