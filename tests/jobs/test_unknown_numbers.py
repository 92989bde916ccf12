"""Which unknown numbers were meant as a quantity: one rule for all jobs. And which texts name a day."""

from __future__ import annotations

from datetime import datetime

import pytest

from aisle.jobs.typed_numbers_dates_and_letters import is_too_short_for_code
from aisle.row_values import is_date, is_utc_midnight

CODES = {
    "1": True, "12": True, "123": True, "1234": False, "12345": False, "0": True, "0001": False, "00001": False,
    "1.5": True, "1,5": True, "12.5": True, "1.55": True, "12.55": False, ".5": True, "5.": True, "1.2.3": False,
    "1,2,3": False, "": False, ".": False, ",": False, "-1": False, "+1": False, "1e3": False, "A12": False,
    "１２": False, "٣": False, "²": False, "1 2": False, "96385074": False,
}  # fmt: skip


@pytest.mark.parametrize("code", CODES)
def test_few_digits_are_no_code(code: str) -> None:
    assert is_too_short_for_code(code) is CODES[code]


DATES = {
    "2026-11-27": True, " 2026-11-27 ": True, "2026-11-27T00:00:00Z": False, "2026-13-01": False, "27.11.2026": False,
    "20261127": True, "": False, "2026": False,
}  # fmt: skip


@pytest.mark.parametrize("text", DATES)
def test_a_date_alone_is_a_day(text: str) -> None:
    assert is_date(text) is DATES[text]


MOMENTS = {
    "2026-11-27T00:00:00Z": True, "2026-11-27T00:00:00+00:00": True, "2026-11-27T00:00:00": False,
    "2026-11-27T00:00:00+01:00": False, "2026-11-27T00:00:01Z": False, "2026-11-27T23:00:00-01:00": False,
}  # fmt: skip


@pytest.mark.parametrize("text", MOMENTS)
def test_a_midnight_of_utc_names_a_day(text: str) -> None:
    assert is_utc_midnight(datetime.fromisoformat(text)) is MOMENTS[text]
