"""A character left on the line without Enter, and a short label that is scanned over a second later."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from aisle.jobs.view import ASK, WRONG
from aisle.session.pending_question import CONFIRM_FAST_NUMBER
from tests.session.every_page import on_page
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import shown
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_one_digit_numbers import STEPS
from tests.session.test_one_letter_locations import write_locations
from tests.session.test_session import told

LABELS = "1EY"
PACES = (0.0, 0.003, 0.03)
"""Seconds between the characters of a label: in one read, or slow."""


def leave_and_scan(scanner: Scanner, left: str, label: str, pace: float) -> None:
    """Type something without Enter, and scan a label a while later."""
    scanner.rest(6.0)
    scanner.write(left, 0.12)
    scanner.rest(1.0)
    scanner.send(f"{label}\r", pace)


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("left", ["1", "3", "11"])
@pytest.mark.parametrize("page", STEPS)
def test_a_digit_and_a_label_of_digits_are_no_number_in_silence(
    aisle_home: Path, page: str, left: str, pace: float
) -> None:
    with on_page(aisle_home, page) as session:
        write_locations(aisle_home, LABELS)
        scanner = Scanner(session)
        if STEPS[page]:
            scanner.send(f"{STEPS[page]}\r")
        before = quantities(session)
        leave_and_scan(scanner, left, "1", pace)
        frame = session.frames.build()
        assert told(frame)[0] in (ASK, WRONG), shown(frame)
        assert f"{left}1" in shown(frame)
        assert quantities(session) == before


@pytest.mark.parametrize("page", STEPS)
def test_a_number_that_a_person_types_with_a_pause_is_one(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        write_locations(aisle_home, LABELS)
        scanner = Scanner(session)
        if STEPS[page]:
            scanner.send(f"{STEPS[page]}\r")
        scanner.rest(6.0)
        scanner.write("3", 0.11)
        scanner.rest(1.0)
        frame = scanner.send("1\r", 0.11)
        assert told(frame)[1] != CONFIRM_FAST_NUMBER
        assert Decimal(31) in quantities(session).values() or "31" in shown(frame)


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize(
    ("page", "left", "label", "name"),
    [
        ("home", "m", "E", "locations.location"),
        ("home", "1", "E", "locations.location"),
        ("home", "3", "A-1", "locations.location"),
        ("home", "me", "A-1", "locations.location"),
        ("count.product", "1", "A-1", ""),
        ("move.take", "3", "E", ""),
    ],
)
def test_a_label_is_scanned_behind_what_was_typed(
    aisle_home: Path, page: str, left: str, label: str, name: str, pace: float
) -> None:
    with on_page(aisle_home, page) as session:
        write_locations(aisle_home, LABELS)
        leave_and_scan(Scanner(session), left, label, pace)
        frame = session.frames.build()
        assert "unknown" not in shown(frame), shown(frame)
        assert name in ("", frame.view.name), shown(frame)
        assert label in shown(frame)
        for size in ((40, 20), (20, 16)):
            assert re.search(rf"([Nn]ot|[Ii]gnored:) {left}\b|“{left}”", shown(frame, *size)), shown(frame, *size)


@pytest.mark.parametrize(("columns", "rows"), [(20, 16), (40, 20)])
@pytest.mark.parametrize("page", ["count.product", "move.take", "pick.product"])
def test_a_number_that_is_not_taken_is_named_on_every_screen(
    aisle_home: Path, page: str, columns: int, rows: int
) -> None:
    with on_page(aisle_home, page) as session:
        scanner = Scanner(session)
        for text, pace in ((STEPS[page], 0.0), ("ZZZ-77", 0.003), ("19", 0.12), ("A-1", 0.003)):
            scanner.rest(6.0)
            scanner.send(f"{text}\r", pace)
        assert re.search(r"(not|ignored:) 19", shown(session.frames.build(), columns, rows))
