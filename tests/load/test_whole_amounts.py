"""Amounts without cents: three digits behind a sign are thousands where the currency or the column leaves no choice."""

from pathlib import Path
from typing import Any

import pytest

from tests.load.test_spreadsheets import Found, Write, write

__all__ = ["write"]


def prices(write: Write, folder: Path, *cells: str, header: str = "product_number,price") -> tuple[list[Any], Found]:
    """The prices that are read of a file with these cells, None for a refused row."""
    write("prices.csv", header, *(f'P{at},"{cell}"' for at, cell in enumerate(cells)))
    found = Found(folder)
    read = {body["product_number"]: body["price"] for body in found.bodies}
    return [read.get(f"P{at}") for at in range(len(cells))], found


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("cell", "price"),
    [
        *[
            (cell, 1200)
            for cell in ("¥1,200", "\uffe51,200", "¥ 1,200", "1,200円", "1,200 JPY", "JPY 1,200", "1.200円")
        ],
        *[(cell, 1200) for cell in ("₩1,200", "1,200원", "KRW 1,200", "1.200 Ft", "HUF 1,200", "1.200 ISK")],
        *[(cell, 12500) for cell in ("Rp 12.500", "Rp. 12.500", "IDR 12.500", "12.500 ₫", "VND 12,500", "CLP 12.500")],
        *[(cell, None) for cell in ("¥1.200", "1,200元", "€1,234", "$1,234", "£1.234", "1,200", "1,200 kr")],
    ],
)
def test_a_currency_without_cents_decides(cell: str, price: int | None, write: Write, tmp_path: Path) -> None:
    read, found = prices(write, tmp_path, cell)
    assert read == [price]
    assert price is not None or "can be" in found.bad[2]
    assert price is None or "separators of thousands taken out" in " ".join(found.notes)


def test_decimals_beside_a_currency_without_cents_are_asked(write: Write, tmp_path: Path) -> None:
    read, found = prices(write, tmp_path, "¥1,200", "12,50")
    assert [str(one) for one in read] == ["None", "12.50"]
    assert "can be" in found.bad[2]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("$1,200", "$980"), [1200, 980]),
        (("€ 1.200", "€ 980", "€ 12.345"), [1200, 980, 12345]),
        (("1,200 USD", "980"), [1200, 980]),
        (("$1,200", "$2,345", "$100"), [1200, 2345, 100]),
        (("$1,234", "$980"), [None, 980]),  # decimals without zeros behind them
        (("$1,200", "$3,450"), [None, None]),  # three decimals throughout
        (("1,200", "980"), [None, 980]),  # a weight or an amount
        (("$1,200", "$1500"), [None, 1500]),  # thousands have no sign
        (("$1,200", "$9"), [None, 9]),
        (("$1,200", "€1.200", "$980"), [None, None, 980]),
        (("$1,200", "1,250", "$980"), [None, None, 980]),
        (("€ 1,200", "€ 3,5", "€ 980"), ["1.200", "3.5", 980]),
    ],
)
def test_a_column_decides_only_if_no_other_reading_is_left(
    cells: tuple[str, ...], expected: list[Any], write: Write, tmp_path: Path
) -> None:
    read, found = prices(write, tmp_path, *cells)
    assert [str(one) for one in read] == [str(one) for one in expected]
    is_shown = any("signs of thousands (" in note for note in found.notes)
    assert is_shown == (not found.bad and str(expected[0]) != "1.200")


def test_an_amount_with_a_dash_is_shown_as_the_file_has_it(write: Write, tmp_path: Path) -> None:
    write("prices.csv", "product_number;price", "P;€ 1.200,-")
    assert "decimal commas (€ 1.200,- in row 2)" in " ".join(Found(tmp_path).notes)


@pytest.mark.every_case
@pytest.mark.parametrize("column", ["min", "max", "no_of_containers", "location_order", "sort_order"])
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("1.837",), [1837]),
        (("1,837",), [1837]),
        (("-12.345",), [-12345]),
        (("1.837", "1.000"), [1837, 1000]),
        (("1.000", "250"), [1000, 250]),
        (("1.837", "1500"), [1837, 1500]),
        (("1.000",), [None]),
        (("1.000", "0"), [None, 0]),  # zeros alone may be decimals
        (("1.000", "1500"), [None, 1500]),
        (("1.000", "0.000"), ["1.000", "0.000"]),
        (("1.837", "12.0"), ["1.837", "12.0"]),  # the service refuses it
    ],
)
def test_thousands_of_whole_numbers_are_read(
    column: str, cells: tuple[str, ...], expected: list[Any], write: Write, tmp_path: Path
) -> None:
    file, *others = {
        "no_of_containers": ("deliveries.csv", "store_number", "order_number", "line_number", "quantity"),
        "location_order": ("locations.csv", "store_number", "location_code"),
        "sort_order": ("free_fields.csv", "key"),
    }.get(column, ("store_products.csv", "store_number"))
    product = [] if file == "locations.csv" else ["product_number"]
    rows = (f"{cell};{';'.join(str(at) for _ in (*others, *product))}" for at, cell in enumerate(cells, 1))
    write(file, ";".join((column, *others, *product)), *rows)
    found = Found(tmp_path)
    bodies = iter(found.bodies)
    read = [None if at in found.bad else _figure(next(bodies), column) for at in range(2, len(cells) + 2)]
    assert [str(one) for one in read] == [str(one) for one in expected]
    is_said = f"signs of thousands in whole numbers ({cells[0]} in row 2 is {expected[0]})" in found.notes[0]
    assert is_said == (isinstance(expected[0], int))
    assert expected[0] is not None or f"{cells[0]!r} can be {cells[0]} or 1000; write 1 or 1000," in found.bad[2]


def _figure(body: dict[str, Any], column: str) -> Any:
    return body["free_fields"][0][column] if "free_fields" in body else body[column]


def test_a_file_with_decimal_commas_says_why_a_thousand_is_refused(write: Write, tmp_path: Path) -> None:
    header = "store_number;order_number;line_number;product_number;quantity;price"
    write("orders.csv", header, "1;O;1;P;1;1,10", "1;Q;1;P;1,000;2")
    assert Found(tmp_path).bad[3] == (
        "quantity '1,000' can be 1.000 or 1000; write 1 or 1000, without a separator of thousands (1,10 in row 2 has a"
        " decimal comma, but three zeros can be thousands all the same)"
    )
