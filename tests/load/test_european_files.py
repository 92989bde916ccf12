"""Files of a European spreadsheet: dates of the first days of a month, and rows wholly in quotation marks."""

from pathlib import Path

import pytest

from tests.load.test_spreadsheets import Found, Write, write

__all__ = ["write"]

HEADER = ("store_number", "order_number", "line_number", "product_number", "quantity", "price", "pickup_date")


def order(write: Write, folder: Path, date: str, price: str, separator: str, *further: str) -> Found:
    """A file of an order with this date and price, and of further ones with these dates."""
    rows = [("1", f"O{at}", "1", "P", "1", price, one) for at, one in enumerate((date, *further))]
    write("orders.csv", *(separator.join(row) for row in (HEADER, *rows)))
    return Found(folder)


DATES = [
    *(("1-12-2026", "2026-12-01"), ("01-12-2026", "2026-12-01"), ("1/12/2026", "2026-12-01")),
    *(("01/12/2026", "2026-12-01"), ("12-1-2026", "2026-01-12"), ("05/06/2026", "2026-06-05")),
    *(("1-12-2026 08:26", "2026-12-01T08:26:00"), ("1/12/2026 14.30", "2026-12-01T14:30:00")),
    *(("1-12-2026 0:00", "2026-12-01"), ("1/12/26", "2026-12-01")),
]


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize(("date", "day"), DATES)
def test_the_day_is_first_where_decimals_have_commas(
    date: str, day: str, separator: str, write: Write, tmp_path: Path
) -> None:
    found = order(write, tmp_path, date, "1,50", separator)
    assert found.bad == {}
    assert found.bodies[0]["order_lines"][0]["pickup_date"] == day
    [said] = [note for note in found.notes if "read with" in note]
    assert f"dates with the day first, as where decimals have commas ({date} in row 2 is {day})" in said


@pytest.mark.parametrize(("price", "separator"), [("1,50", ";"), ("1.50", ","), ("1.50", "\t"), ("15", ";")])
@pytest.mark.parametrize(("week_day", "is_read"), [("di", True), ("mon", False), ("wo", False)])
def test_a_day_of_the_week_shows_that_the_day_is_first(
    week_day: str, is_read: bool, price: str, separator: str, write: Write, tmp_path: Path
) -> None:
    """1 December 2026 is a Tuesday; 12 January is a Monday, but a wrong day would exchange day and month."""
    date = f"{week_day} 1-12-2026"
    found = order(write, tmp_path, date, price, separator)
    assert [body["order_lines"][0]["pickup_date"] for body in found.bodies] == ["2026-12-01"] * is_read
    words = f"dates with the day first ({date} in row 2 is 2026-12-01)"
    assert any(words in note for note in found.notes) == is_read


@pytest.mark.parametrize("date", [date for date, _ in DATES])
@pytest.mark.parametrize(
    ("price", "separator"), [("1.50", ","), ('"1,50"', ","), ("1.50", ";"), ("1.50", "\t"), ("15", ";"), ("1.500", ";")]
)
def test_the_day_is_not_first_elsewhere(date: str, price: str, separator: str, write: Write, tmp_path: Path) -> None:
    found = order(write, tmp_path, date, price, separator)
    assert found.bodies == []
    assert "can have the day or the month first" in found.bad[2] or "can be 1.500" in found.bad[2]


def test_dates_that_show_an_order_decide(write: Write, tmp_path: Path) -> None:
    found = order(write, tmp_path, "05/06/2026", "1,50", ";", "12/31/2026")
    assert found.bodies[0]["order_lines"][0]["pickup_date"] == "2026-05-06"
    both = order(write, tmp_path, "05/06/2026", "1,50", ";", "12/31/2026", "31/12/2026")
    assert set(both.bad) == {2, 3, 4}


def test_another_file_with_the_month_first_is_warned_of(write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,deprecation_date", "P,12/31/2026")
    found = order(write, tmp_path, "05/06/2026", "1,50", ";")
    assert any("its dates have the day first (05/06/2026 in row 2)" in note for note in found.notes)


WRAPPED = [
    ['"{a};{b};{c}"', '"P;Pea;1"'],
    ['"{a};{b};{c}"', '"P;Pea;1,00"'],
    ['"{a};{b};{c}"', '"P;""Pea"";1,00"'],
    ['"{a};{b};{c}"', "P;Pea;1"],
    ['"{a},{b},{c}"', '"P,Pea,1"'],
    ['"{a},{b},{c}"', '"P,Pea,1.00"'],
    ['"{a},{b},{c}"', '"P,Pea,""1,00"""'],
    ['"{a}\t{b}\t{c}"', '"P\tPea\t1,00"'],
    ['"{a}|{b}|{c}"', '"P|Pea|1"'],
    ['"Prices of Monday"', '"{a};{b};{c}"', '"P;Pea;1"'],
    ['"""{a}"";""{b}"";""{c}"""', '"""P"";""Pea"";1"'],
]


@pytest.mark.parametrize("lines", WRAPPED)
def test_rows_wholly_in_quotation_marks_are_read(lines: list[str], write: Write, tmp_path: Path) -> None:
    names = {"a": "product_number", "b": "product_name", "c": "price"}
    write("products.csv", *(line.format(**names) for line in lines))
    found = Found(tmp_path)
    assert found.bad == {}
    assert found.bodies == [{"product_number": "P", "product_name": "Pea", "price": 1}]
    assert "no quotation marks around whole rows" in found.notes[0]


@pytest.mark.parametrize(
    "rows", [['"P;Pea;1', 'Q;Quince;2"'], ['"P;Pea;1;2"'], ['"P;""Pea;1"'], ['"P;Pea;1,00', "Q;Quince;2"]]
)
def test_no_row_is_lost_between_quotation_marks(rows: list[str], write: Write, tmp_path: Path) -> None:
    write("products.csv", '"product_number;product_name;price"', *rows)
    found = Found(tmp_path)
    assert found.bodies == []
    assert 2 in found.bad
