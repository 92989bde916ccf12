"""Dates with hyphens and a year of two digits: the year is last where a date, the column or the file shows it."""

from datetime import date
from pathlib import Path

import pytest

from tests.load.test_spreadsheets import Found, Write, write

__all__ = ["write"]

YEAR = date.today().year % 100
THIS, NEXT, FAR = (f"{at % 100:02}" for at in (YEAR, YEAR + 1, YEAR + 5))
HEADER = "order_number;store_number;line_number;product_number;quantity;pickup_date;price"


def orders(write: Write, folder: Path, *cells: str, price: str = "1.50") -> Found:
    """A file of orders with these pickup dates."""
    write("orders.csv", HEADER, *(f"J{at};1;1;P;1;{cell};{price}" for at, cell in enumerate(cells)))
    return Found(folder)


def days(found: Found) -> list[str]:
    return [body["order_lines"][0]["pickup_date"] for body in found.bodies]


def iso(*parts: str) -> list[str]:
    """The days of `dd-mm-yy` in ISO 8601."""
    return ["-".join((f"20{year}", month, day)) for day, month, year in (part.split("-") for part in parts)]


SHOWN = {
    "years that are not near": [f"28-11-{THIS}", f"05-12-{THIS}", f"31-12-{THIS}", f"03-01-{NEXT}"],
    "one digit": [f"28-11-{THIS}", f"1-12-{THIS}"],
    "a day that is none": [f"27-02-{THIS}", f"02-03-{THIS}", f"{THIS}-11-{THIS}"],
    "one far year": [f"31-12-{THIS}", f"27-12-{NEXT}"],
}


@pytest.mark.parametrize("case", SHOWN)
def test_dates_of_a_column_show_that_the_year_is_last(case: str, write: Write, tmp_path: Path) -> None:
    found = orders(write, tmp_path, *SHOWN[case])
    padded = ["-".join(part.zfill(2) for part in cell.split("-")) for cell in SHOWN[case]]
    assert (days(found), found.bad) == (iso(*padded), {})
    assert any("dates with the day first" in note and "years of two digits as" in note for note in found.notes)


@pytest.mark.parametrize("cells", [(f"{NEXT}-11-{THIS}",), (f"05-12-{THIS}", f"03-01-{NEXT}")])
def test_file_with_decimal_commas_has_the_day_first(cells: tuple[str, ...], write: Write, tmp_path: Path) -> None:
    found = orders(write, tmp_path, *cells, price="1,50")
    assert (days(found), found.bad) == (iso(*cells), {})


@pytest.mark.parametrize("cell", ["za 05-12-26", "za. 5-12-26", "Sa., 05-12-26", "za 05-12-2026", "sam. 05/12/26"])
def test_week_day_shows_the_year_and_the_day(cell: str, write: Write, tmp_path: Path) -> None:
    found = orders(write, tmp_path, cell, "04-12-26")
    assert (days(found), found.bad) == (["2026-12-05", "2026-12-04"], {})


@pytest.mark.parametrize("cell", ["ma 05-12-26", "di 05-12-26", "vr 05-12-26", "Tue 05/12/26"])
def test_wrong_week_day_shows_nothing(cell: str, write: Write, tmp_path: Path) -> None:
    assert sorted(orders(write, tmp_path, cell, "04-11-26").bad) == [2, 3]


REFUSED = [
    ([f"{NEXT}-11-{THIS}"], "1.50"),
    ([f"{THIS}-11-27", f"{NEXT}-01-03"], "1,50"),
    ([f"{THIS}-11-{FAR}"], "1,50"),
    ([f"{THIS}-11-13", f"{THIS}-12-14"], "1.50"),
    ([f"{THIS}-11-31", f"{THIS}-12-03"], "1,50"),
    ([f"05-12-{THIS}", f"03-01-{NEXT}"], "1.50"),
]


@pytest.mark.parametrize(("cells", "price"), REFUSED)
def test_dates_with_two_meanings_are_refused_without_other_words(
    cells: list[str], price: str, write: Write, tmp_path: Path
) -> None:
    found = orders(write, tmp_path, *cells, price=price)
    assert sorted(found.bad) == list(range(2, 2 + len(cells)))
    assert all("write yyyy-mm-dd" in reason for reason in found.bad.values())
    assert not any("dates with" in note or "two digits" in note for note in found.notes)


def test_refusal_names_both_days(write: Write, tmp_path: Path) -> None:
    [reason] = orders(write, tmp_path, f"{NEXT}-11-{THIS}").bad.values()
    assert reason == (
        f"pickup_date '{NEXT}-11-{THIS}' has a year of two digits, which can be the first or the last number:"
        f" 20{THIS}-11-{NEXT} or 20{NEXT}-11-{THIS}; write yyyy-mm-dd"
    )


def test_day_with_one_meaning_is_read(write: Write, tmp_path: Path) -> None:
    assert days(orders(write, tmp_path, "26-11-26")) == ["2026-11-26"]
