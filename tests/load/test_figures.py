"""Figures as people and spreadsheets write them: what is read differently is reported by row, the rest is refused."""

from decimal import Decimal
from pathlib import Path

import pytest

from tests.load.test_spreadsheets import NARROW, NBSP, Found, Write, dates, prices, write

__all__ = ["write"]

SERIAL = "datetime_expected was the number of a day in a spreadsheet, and is read as this day"


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("45987", "2025-11-26"),
        ("45987.0", "2025-11-26"),
        ("45987,5", "2025-11-26T12:00:00"),
        ("45987.5", "2025-11-26T12:00:00"),
        ("45987.354166666664", "2025-11-26T08:30:00"),
        ("46352.99999999", "2026-11-27T00:00:00"),
        ("46353", "2026-11-27"),
        (" 46353 ", "2026-11-27"),
        ('=""46353""', "2026-11-27"),
        ("43200", "2018-04-10"),
        ("49999", "2036-11-20"),
    ],
)
def test_day_number_of_spreadsheet_is_reported_by_row(cell: str, day: str, write: Write, tmp_path: Path) -> None:
    found = dates(write, tmp_path, "2026-11-27", cell)
    assert [body["datetime_expected"] for body in found.bodies] == ["2026-11-27", day]
    assert f"deliveries.csv:3: warning: {SERIAL}: '{day}'." in found.notes


@pytest.mark.parametrize("cell", ["20000", "30126", "41226", "43199", "50000", "51226", "61126", "79999", "79999,25"])
def test_digits_that_can_be_another_date_are_refused(cell: str, write: Write, tmp_path: Path) -> None:
    found = dates(write, tmp_path, cell)
    assert found.bodies == []
    assert "can be the number of a day in a spreadsheet, " in found.bad[2]
    assert found.bad[2].endswith("or a date without signs; write yyyy-mm-dd")


@pytest.mark.parametrize(
    ("cells", "value", "words"),
    [
        ((".5",), "0.5", "0 put before the decimal mark"),
        ((",5",), "0.5", "0 put before the decimal mark"),
        (("-,50",), "-0.50", "0 put before the decimal mark"),
        ((",500", "1,10"), "0.500", "0 put before the decimal mark"),
        (("€ 1,10",), "1.10", "currency € taken off"),
        (("1.10 EUR",), "1.10", "currency EUR taken off"),
        (("CHF.50",), "0.50", "currency CHF taken off, 0 put before the decimal mark"),
        (("$1.10",), "1.10", "currency $ taken off"),
        (("1,10 £",), "1.10", "currency £ taken off"),
        (("12-",), "-12", "minus behind the number put before it"),
        (("EUR 1.234,50-",), "-1234.50", "currency EUR taken off, minus behind the number put before it, separators"),
        (("1.234,50",), "1234.50", "separators of thousands taken out"),
        (("1,234.50",), "1234.50", "separators of thousands taken out"),
        (("1'234.50",), "1234.50", "separators of thousands taken out"),
        (("1\u2019234",), "1234", "separators of thousands taken out"),
        (("1 234",), "1234", "separators of thousands taken out"),
        ((f"12{NARROW}345,5",), "12345.5", "separators of thousands taken out"),
        ((f"1{NBSP}234,50",), "1234.50", "separators of thousands taken out"),
        (("1.234", "0,5"), "1234", "separators of thousands taken out"),
    ],
)
def test_price_that_is_read_differently_is_reported(
    cells: tuple[str, ...], value: str, words: str, write: Write, tmp_path: Path
) -> None:
    found = prices(write, tmp_path, *cells)
    assert found.bad == {}
    assert found.bodies[0]["price"] == Decimal(value)
    assert any(note.startswith(f"products.csv: changed in row 2: price: {words}") for note in found.notes)


@pytest.mark.parametrize("cell", ["5", "5.50", "5,50", "0", "1.2345", "-5", "+5", "1234,50"])
def test_plain_number_is_not_reported(cell: str, write: Write, tmp_path: Path) -> None:
    found = prices(write, tmp_path, cell)
    assert found.bad == {}
    assert not any("changed" in note for note in found.notes)


STOCK = "store_number;product_number;quantity"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        *((cell, "a spreadsheet has shortened it; write them all") for cell in ("1E+02", "1e2", "1,5E+01", "2.5E-1")),
        *((cell, "brackets are a minus to an accountant; write -12 or 12") for cell in ("(12)", "( 12 )")),
        *((cell, "a share of one; write the figure itself") for cell in ("12%", "12 %", "1,5 %")),
        *((cell, "but money; look whether columns are mixed up") for cell in ("€ 12", "12 €", "1.10 EUR", "$5", "£5")),
        *((cell, "but one with the unit 'kg'") for cell in ("12 kg", "12kg", "1.234,5 kg", "-3 kg", f"12{NBSP}kg")),
        *((cell, "but one with the unit") for cell in ("12 Stk.", "12 pcs", "3 m²", "5 m2", "2 fl oz", "1 St")),
        *((cell, "is no number; write digits and") for cell in ("1.", "1,", "1/2", "x", "½", "¥5", "kg 12", "5,-")),
    ],
)
@pytest.mark.parametrize("file", ["stock.csv", "orders.csv"])
def test_refused_figure_says_why(cell: str, words: str, file: str, write: Write, tmp_path: Path) -> None:
    lines = {
        "stock.csv": (STOCK, f"1;P;{cell}"),
        "orders.csv": ("store_number;order_number;line_number;product_number;quantity", f"1;O;1;P;{cell}"),
    }[file]
    write(file, *lines)
    found = Found(tmp_path)
    assert found.bodies == []
    assert found.bad[2].startswith("quantity ")
    assert words in found.bad[2]
