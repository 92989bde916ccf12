"""Digits that look like a date and are none, where a date is asked for: it is said that they are no date, at every
pace, and nothing is booked."""

from __future__ import annotations

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import WRONG
from tests.session.job_steps import stand
from tests.session.scanner import Scanner
from tests.session.test_session import at, home, told

__all__ = ["home"]

NO_DATES = ("0013", "3113", "0012", "3202", "3002", "310226", "290226", "001326", "310427", "29022027", "20261301")
"""Days and months that no year has, or not this one."""


@pytest.mark.every_case
@pytest.mark.parametrize("page", ["expiry.date", "expiry.confirm"])
@pytest.mark.parametrize("pace", [0.0, 0.003, 0.006, 0.03, 0.11, 0.3])
@pytest.mark.parametrize("text", NO_DATES)
def test_it_is_said_that_digits_are_no_date(home: StoreFolder, page: str, pace: float, text: str) -> None:
    with at(home, user="U1") as session:
        stand(home, session, page)
        scan = Scanner(session)
        scan.rest(5.0)
        frame = scan.send(f"{text}\r", pace)
        assert told(frame) == (WRONG, "expiry.no_date"), (text, pace, told(frame))
        assert frame.view.name == page
        assert not session.store.operations.unfinished()


@pytest.mark.parametrize("page", ["expiry.date", "expiry.confirm"])
@pytest.mark.parametrize("pace", [0.0, 0.006])
@pytest.mark.parametrize("code", ["96385081", "04252614", "4006381333955", "ABC-12345"])
def test_a_scanned_code_of_nothing_is_unknown(home: StoreFolder, page: str, pace: float, code: str) -> None:
    with at(home, user="U1") as session:
        stand(home, session, page)
        scan = Scanner(session)
        scan.rest(5.0)
        assert told(scan.send(f"{code}\r", pace)) == (WRONG, "count.unknown")
