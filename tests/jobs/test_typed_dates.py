"""Dates as people of four countries type them."""

from __future__ import annotations

from datetime import date

import pytest

from aisle.jobs.typed_numbers_dates_and_letters import parse_date

TODAY = date(2026, 11, 30)

SEVENTH = (
    *("0712", "07.12", "7.12", "7/12", "7-12", "7 12", "071226", "07122026", "7.12.26", "7.12.2026.", "7. 12. 2026"),
    *("2026-12-07", "20261207", "2026.12.7", "+7", "+ 7"),
    *("7 dec", "7dec", "Dec 7", "7 December", "7 dec 26", "December 7, 2026", "7. Dezember", "7 dez", "7 décembre"),
    *("7 déc. 2026", "7 DEC"),
)
"""The 7th of December, on the 30th of November."""

OTHERS = {
    "3011": "2026-11-30",
    "0101": "2027-01-01",
    "1 mrt": "2027-03-01",
    "1 maart": "2027-03-01",
    "1 März": "2027-03-01",
    "1 mar": "2027-03-01",
    "2 mei": "2027-05-02",
    "2 mai": "2027-05-02",
    "2 may": "2027-05-02",
    "3 juin": "2027-06-03",
    "3 juil": "2027-07-03",
    "4 août": "2027-08-04",
    "5 okt": "2027-10-05",
    "5 oct": "2027-10-05",
    "6 févr.": "2027-02-06",
    "12/2026": "2026-12-31",
    "02.2028": "2028-02-29",
    "dec 2026": "2026-12-31",
    "29.2.28": "2028-02-29",
    "+0": "2026-11-30",
    "2811": "2027-11-28",
}

NO_DATES = (
    *(
        "",
        "7",
        "12",
        "712",
        "3211",
        "0013",
        "31 feb",
        "29.2.27",
        "2902",
        "7 jui",
        "7 ma",
        "dec",
        "7 dec dec",
        "7/8/9/10",
    ),
    *(
        "4113",
        "+",
        "-5",
        "+99999",
        "7 dec 2",
        "8712345678906",
        "12345",
        "a7",
        "7*12",
        "٠٧١٢",
        "20261399",
        "0+712",
        "12,",
        "001226",
        "0.12.2026",
        "00.12",
    ),
)


@pytest.mark.every_case
@pytest.mark.parametrize("text", SEVENTH)
def test_one_day_in_every_form(text: str) -> None:
    assert parse_date(text, TODAY) == date(2026, 12, 7)


@pytest.mark.every_case
@pytest.mark.parametrize(("text", "day"), OTHERS.items())
def test_months_in_four_languages_and_the_next_such_day(text: str, day: str) -> None:
    assert parse_date(text, TODAY) == date.fromisoformat(day)


@pytest.mark.every_case
@pytest.mark.parametrize("text", NO_DATES)
def test_anything_else_is_no_date(text: str) -> None:
    assert parse_date(text, TODAY) is None


def test_leap_day_is_a_date_in_its_year_only() -> None:
    assert parse_date("2902", date(2027, 11, 30)) == date(2028, 2, 29)


@pytest.mark.parametrize(("text", "day"), [("2811", "2026-11-28"), ("0110", "2026-10-01"), ("3009", "2027-09-30")])
def test_day_that_has_just_passed_is_not_next_year(text: str, day: str) -> None:
    assert parse_date(text, TODAY, past_days=60) == date.fromisoformat(day)
