"""A number at the pace of a scanner may be a code that was cut off: it is asked back."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, WRONG
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import HAM, JOBS, TEA, begun, shown
from tests.session.test_asked_quantity import home as store
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

home = store


PACES = (0.0, 0.001, 0.006, 0.012)
"""Seconds from byte to byte; none: all in one read."""


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("number", ["7", "12", "952", "9520", "017", "1234567", "3*4", "2x50", "１２"])
@pytest.mark.parametrize("job", JOBS)
def test_a_number_at_scanner_pace_is_asked_back(home: StoreFolder, job: str, number: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        scan.send(f"{TEA}\r", 0.006)
        before = quantities(session)
        scan.rest(2.5)
        assert told(scan.send(f"{number}\r", pace)) == (ASK, "input.confirm_fast_number")
        assert quantities(session) == before
        say(session, "x")
        say(session, "y")
        assert quantities(session) == before, "another input was said since"


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("text", ["1.65", "0,5", "500 g", "2,5lb"])
@pytest.mark.parametrize("job", JOBS)
def test_a_measure_at_scanner_pace_is_asked_back(home: StoreFolder, job: str, text: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        scan.send(f"{HAM}\r", 0.006)
        say(session, "1")
        before = quantities(session)
        scan.rest(2.5)
        assert told(scan.send(f"{text}\r", pace)) == (ASK, "input.confirm_fast_number")
        assert quantities(session) == before
        scan.send("y\r")
        assert quantities(session) != before


@pytest.mark.parametrize("pace", PACES)
def test_it_is_taken_with_y(home: StoreFolder, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        scan.send(f"{TEA}\r", 0.006)
        scan.rest(2.5)
        scan.send("120\r", pace)
        scan.send("y\r")
        assert quantities(session) == {"P4": Decimal(120)}


@pytest.mark.parametrize("between", ["BCD\n1\n", f"{HAM}\r1\r", "h\r", "\r", "952\n953\n", "AISLE:NEXT\r"])
def test_anything_between_it_and_y_drops_it(home: StoreFolder, between: str) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        scan.send(f"{TEA}\r")
        scan.rest(2.5)
        assert told(scan.send("120\r")) == (ASK, "input.confirm_fast_number")
        frame = scan.send(between)
        assert "1 ignored: 120" in re.sub(r"#\d+ ", "", shown(frame, 80, 24))  # without the number of the scan
        assert "y takes" not in shown(frame, 80, 24)
        scan.rest(2.5)
        scan.send("y\r")
        assert quantities(session) == {"P4": Decimal(1)}


@pytest.mark.parametrize("number", ["17", "7*7", "55"])
@pytest.mark.parametrize("pace", PACES)
def test_y_is_not_promised_for_a_number_after_a_refused_scan(home: StoreFolder, pace: float, number: str) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        scan.send(f"{TEA}\r")
        scan.send("4000000000006\r")
        scan.rest(2.5)
        frame = scan.send(f"{number}\r", pace)
        is_asked = number == "7*7"
        assert told(frame) == ((ASK, "input.number_after_refused_scan") if is_asked else (WRONG, "count.unknown"))
        assert (f"{number} × Tea" if is_asked else f"{number} is unknown") in shown(frame, 80, 24)
        scan.send("y\r")
        assert quantities(session) == {"P4": Decimal(1)}
        scan.rest(2.5)
        assert told(scan.send(f"{number}\r", pace)) == (ASK, "input.confirm_fast_number")
        scan.send("y\r", 0.1)
        assert quantities(session) == {"P4": Decimal(49 if number == "7*7" else int(number))}, "y takes what it says"


@pytest.mark.parametrize(("number", "pace"), [("7", 0.03), ("7", 0.1), ("12", 0.1), ("120", 0.1)])
def test_what_may_have_been_typed_is_taken(home: StoreFolder, number: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        scan.send(f"{TEA}\r", 0.006)
        scan.rest(2.5)
        scan.send(f"{number}\r", pace)
        assert quantities(session) == {"P4": Decimal(number)}


def test_a_weight_at_scanner_pace_is_asked_back_and_its_label_still_waits(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        scan.send(f"010{HAM}3403001250\r", 0.006)
        scan.rest(2.5)
        assert told(scan.send("952\r", 0.006)) == (ASK, "input.confirm_fast_number")
        say(session, "2")
        assert quantities(session) == {"P2": Decimal(2)}
