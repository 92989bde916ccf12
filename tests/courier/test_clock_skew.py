"""The offset between the clocks of host and service, from answers that may come late."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from aisle.courier.clock import MIN_SKEW_S, SKEW_WINDOW_S, ClockSkew
from aisle.courier.push.request import request_headers
from aisle.courier.service_features import parse_features
from tests.courier.test_rebase import based, operation


class Two:
    """The clocks of a host and of its service, and what the one hears of the other."""

    def __init__(self, ahead: float) -> None:
        self.time, self.ahead = 1_780_000_000.25, ahead
        self.compared = ClockSkew(lambda: self.time + self.ahead)

    def answers(self, after_s: float, late_s: float = 0.05) -> float:
        """An answer is written after so long, and heard so much later; how far the host's clock is ahead by that."""
        self.time += after_s
        date = formatdate(self.time // 1, usegmt=True)
        self.time += late_s
        self.compared.record_response({"date": date})
        return self.compared.skew_s


@pytest.mark.parametrize("ahead", [-1e9, -86_400.0, -20.0, 20.0, 86_400.0])
def test_a_clock_that_is_off_is_known_to_a_second_at_once_and_soon_better(ahead: float) -> None:
    two = Two(ahead)
    assert two.answers(1.0, late_s=0.2) == pytest.approx(ahead + 0.6, abs=0.6)
    for _ in range(40):
        two.answers(2.07, late_s=1.5)  # most come late
        found = two.answers(1.3)
    assert found == pytest.approx(ahead + 0.1, abs=0.1)


@pytest.mark.parametrize("ahead", [-0.9, 0.0, 0.9])
def test_a_clock_that_is_right_is_none_to_reckon_with(ahead: float) -> None:
    two = Two(ahead)
    assert [two.answers(1.9) for _ in range(20)] == [0.0] * 20


def test_a_clock_that_drifts_is_followed() -> None:
    two = Two(0.0)
    for _ in range(300):
        two.ahead += 0.1
        two.answers(SKEW_WINDOW_S / 20)
    assert two.compared.skew_s == pytest.approx(30.0, abs=2 * 20 * 0.1 + MIN_SKEW_S)


def test_what_says_no_time_says_nothing() -> None:
    compared = ClockSkew(lambda: 0.0)
    for headers in ({}, {"date": ""}, {"date": "today"}, {"date": "Thu, 99 Jan 1970 00:16:40 GMT"}):
        compared.record_response(headers)
    assert compared.skew_s == 0.0


def test_clock_skew_header_is_sent_where_announced() -> None:
    features = parse_features("idempotency=30d, occurred-at, clock-ahead")
    op = operation(based("O1", 0, 1), occurred_at="2026-05-28T20:10:00Z")
    assert request_headers(op, features, -20.26)["Aisle-Clock-Ahead"] == "-20.3"
    assert "Aisle-Clock-Ahead" not in request_headers(op, features)
    assert "Aisle-Clock-Ahead" not in request_headers(op, features._replace(clock_skew=False), -20.0)
