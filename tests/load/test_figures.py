"""Figures as people and spreadsheets write them: what is read differently is reported by row, the rest is refused."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.load.test_load_report import load, loaded
from tests.load.test_repeated_loads import World, stocked
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
        (("+,50",), "0.50", "0 put before the decimal mark"),
        (("Fr. 2.40",), "2.40", "currency Fr. taken off"),
        (("SFr. 1'234.50",), "1234.50", "currency SFr. taken off, separators of thousands taken out"),
        (("2.40 Fr.",), "2.40", "currency Fr. taken off"),
        (("Fr. 12.-",), "12", "a dash read as no cents, currency Fr. taken off"),
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
        (("1,00000000000000001",), "1", "the tail of a computer's fraction rounded off."),
        (("1.0000000000000002",), "1", "the tail of a computer's fraction rounded off."),
        (("1.234,0000000000001",), "1234", "the tail of a computer's fraction rounded off, separators of thousands"),
    ],
)
def test_price_that_is_read_differently_is_reported(
    cells: tuple[str, ...], value: str, words: str, write: Write, tmp_path: Path
) -> None:
    found = prices(write, tmp_path, *cells)
    assert found.bad == {}
    assert found.bodies[0]["price"] == Decimal(value)
    assert any(note.startswith(f"products.csv: changed in row 2: price: {words}") for note in found.notes)


ADVICE = re.compile(r"(?:write|this one as) ([0-9][0-9.,]*[0-9]|[0-9])(?: or ([0-9][0-9.,]*[0-9]))?")
"""Figures that a reason says to write."""


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("1.299,-",), {2: ["1299"]}),
        (("1.299,-", "1,299.00", "12.345,--", "1,299.-"), {2: ["1299"], 4: ["12345"], 5: ["1299"]}),
        (
            ("1.299,-", "2,50", "3,50", "7.50", "1,299.50", "€ 12.-", "4,50", "5,50"),
            {2: ["1299"], 5: ["7.5"], 6: ["1299.5"], 7: ["12"]},
        ),
        (("7.50", "1,299.50", "2,50", "3,50", "€ 1.299,-"), {2: ["7.5"], 3: ["1299.5"]}),
        (("1,299", "1.299"), {2: ["1.299", "1299"], 3: ["1.299", "1299"]}),
        (("1,299", "7,50", "2.50"), {2: ["1.299", "1299"], 3: ["7.5"]}),
        (("1.299", "7,50", "2,50", "2.50"), {2: ["1.299", "1299"], 5: ["2.5"]}),
        (("1,000", "2,50", "1.000"), {2: ["1", "1000"]}),
        (("(1.299,50)", "(1,299)", "( 12 )", "7.50"), {2: ["1299.5"], 3: ["1.299", "1299"], 4: ["12"]}),
        (("1'299,-", "1 299,-"), {2: ["1299"], 3: ["1299"]}),
    ],
)
def test_figure_that_a_reason_says_to_write_is_read(
    cells: tuple[str, ...], values: dict[int, list[str]], write: Write, tmp_path: Path
) -> None:
    bad = prices(write, tmp_path, *cells).bad
    advice = {
        line: [one for one in (found.groups() if found else ()) if one]
        for line, found in ((line, ADVICE.search(reason)) for line, reason in bad.items())
    }
    assert sorted(advice) == sorted(values)
    for line, expected in values.items():
        assert len(advice[line]) == len(expected)
        for text, value in zip(advice[line], expected, strict=True):
            again = list(cells)
            again[line - 2] = text
            found = prices(write, tmp_path, *again)
            assert line not in found.bad
            good = [body["price"] for body in found.bodies if body["product_number"] == f"P{line - 2}"]
            assert good == [Decimal(value)]


@pytest.mark.parametrize("cell", ["€ -", "€        -   ", "- €", "EUR -"])
def test_dash_of_an_accountant_is_no_amount(cell: str, write: Write, tmp_path: Path) -> None:
    assert prices(write, tmp_path, cell, "2,50").bad[2].endswith("; write 0, or empty the cell")


def test_decimal_commas_are_assumed_in_words_beside_other_numbers(write: Write, tmp_path: Path) -> None:
    found = prices(write, tmp_path, "2,50", "3,50", "4.50")
    assert list(found.bad) == [4]
    assert found.notes == ["products.csv: read with columns separated by semicolons, decimal commas (2,50 in row 2)."]


def test_reason_names_the_decimal_mark_of_the_file(write: Write, tmp_path: Path) -> None:
    assert prices(write, tmp_path, "x", "2,50").bad[2].endswith("write digits and, where needed, a comma")
    assert prices(write, tmp_path, "12€50", "2,50").bad[2].endswith("and a comma where it has decimals")
    assert prices(write, tmp_path, "x", "2.50").bad[2].endswith("write digits and, where needed, a point")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("cells", "price", "bad"),
    [
        (("1,000", "5"), "", [2]),
        (("1.000", "5"), "", [2]),
        (("1,000",), "1,99", [2]),
        (("1.000",), "1.99", [2]),
        (("1,000", "12,000", "250,000"), "1,99", [2, 3, 4]),
        (("1,000", "0,5"), "1,99", [2]),
        (("1,000", "0,500", "3"), "1,99", [2]),
        (("1,000", "1,250", "12"), "1,99", [2]),
    ],
)
def test_thousand_pieces_are_never_read_as_one(
    cells: tuple[str, ...], price: str, bad: list[int], separator: str, write: Write, tmp_path: Path
) -> None:
    header = separator.join(("product_number", "price", "purchase_unit_quantity"))
    rows = (separator.join((f"P{at}", f'"{price}"', f'"{cell}"')) for at, cell in enumerate(cells))
    write("products.csv", header, *rows)
    found = Found(tmp_path)
    assert sorted(found.bad) == bad
    for line in bad:
        cell = cells[line - 2]
        whole = cell[:-4]
        assert f"{cell!r} can be {whole}.000 or {whole}000; write {whole} or {whole}000" in found.bad[line]
    assert not any(f"so {cell} in" in note for note in found.notes for cell in cells)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("1,000", "0,500", "12,000"), ("1", "0.5", "12")),
        (("1,000", "1.234,000"), ("1", "1234")),
        (("1,000", "2.50"), ("1000", "2.5")),
        (("1.000", "2,50"), ("1000", "2.5")),
    ],
)
def test_column_that_shows_what_it_means_is_read(
    cells: tuple[str, ...], values: tuple[str, ...], write: Write, tmp_path: Path
) -> None:
    found = prices(write, tmp_path, *cells)
    assert found.bad == {}
    assert [body["price"] for body in found.bodies] == list(map(Decimal, values))


ORDER_LINE = "store_number,order_number,line_number,product_number,quantity,barcode"


@pytest.mark.parametrize(
    ("header", "rows", "line", "both"),
    [
        (ORDER_LINE, ("1,O,1,P,1,000",), 2, "1,000"),
        (ORDER_LINE, ("1,O,1,P,1,000", "1,O,2,Q,5,"), 2, "1,000"),
        (ORDER_LINE, ("1,O,1,P,1,500,", "1,O,2,Q,5,", "1,O,3,R,6,"), 2, "1,500"),
        ("store_number,product_number,quantity,location_code", ("1,P,12,500,", "1,Q,5,A", "1,R,6,A"), 2, "12,500"),
        ("product_number,price,product_name", ("P,1,000", "Q,5,Q"), 2, "1,000"),
    ],
)
def test_thousands_between_two_cells_are_never_one(
    header: str, rows: tuple[str, ...], line: int, both: str, write: Write, tmp_path: Path
) -> None:
    file = "orders.csv" if "order" in header else "stock.csv" if "location" in header else "products.csv"
    write(file, header, *rows)
    found = Found(tmp_path)
    assert f"has {both!r}, which can be the number {both.replace(',', '')} or two cells" in found.bad[line]
    digits = both.replace(",", "")
    rows = tuple(row.replace(both, digits) for row in rows)
    write(file, header, *rows)
    assert line not in Found(tmp_path).bad


@pytest.mark.parametrize("rows", [("1,P,5,100", "1,Q,5,A"), ("1,P,5,000", "1,Q,5,"), ("1,P,5,100,", "1,Q,5,A,")])
def test_location_of_three_digits_is_one(rows: tuple[str, ...], write: Write, tmp_path: Path) -> None:
    write("stock.csv", "store_number,product_number,quantity,location_code", *rows)
    found = Found(tmp_path)
    assert found.bad == {}
    assert [body["counted_quantity"] for body in found.bodies] == [5, 5]


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
        *((cell, "brackets are a minus to an accountant; write 12, if that is meant") for cell in ("(12)", "( 12 )")),
        *((cell, "a share of one; write the figure itself") for cell in ("12%", "12 %", "1,5 %")),
        *(
            (cell, "but money; look whether columns are mixed up")
            for cell in ("€ 12", "12 €", "1.10 EUR", "$5", "£5", "¥5")
        ),
        *((cell, "but one with the unit 'kg'") for cell in ("12 kg", "12kg", "1.234,5 kg", "-3 kg", f"12{NBSP}kg")),
        *((cell, "but one with the unit") for cell in ("12 Stk.", "12 pcs", "3 m²", "5 m2", "2 fl oz", "1 St")),
        *((cell, "is no number; write digits and") for cell in ("1.", "1,", "1/2", "x", "kg 12", "5,-")),
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


def with_units(world: World, *rows: str) -> None:
    """Writes a store whose products have units, and these rows of stock."""
    stocked(world, *rows)
    world.write("products.csv", "product_number,base_unit_name,allow_decimal", "P,kg,1", "Q,St.,0", "R,,0", "S,100 g,1")


@pytest.mark.parametrize(
    ("product", "cell", "stock"),
    [
        ("P", "12 kg", 12),
        ("P", "12kg", 12),
        ("P", "12 KG", 12),
        ("P", "12 kg.", 12),
        ("P", f"12{NBSP}kg", 12),
        ("P", '"12,5 kg"', 12.5),
        ("P", ".5 kg", 0.5),
        ("P", '"1.234,5 kg"', 1234.5),
        ("P", "2½ kg", 2.5),
        ("P", "½ kg", 0.5),
        ("Q", "7 St", 7),
        ("Q", "7 st.", 7),
    ],
)
async def test_unit_of_product_is_taken_off_and_reported(product: str, cell: str, stock: float, world: World) -> None:
    with_units(world, f"1,{product},A,1,{cell}")
    report = await world.load()
    assert report is not None
    assert report.bad == ()
    assert await world.stock(product) == stock
    assert any("in row 2: quantity: the unit " in note for note in report.files[-1].notes)


@pytest.mark.parametrize(
    ("product", "cell", "words"),
    [
        ("P", "12 g", "the unit 'g'; write the number alone, in 'kg', the product's base_unit_name"),
        ("P", "12 St", "the unit 'St'; write the number alone, in 'kg', the product's base_unit_name"),
        ("Q", "12 pcs", "the unit 'pcs'; write the number alone, in 'St.', the product's base_unit_name"),
        ("R", "12 Stk", "the unit 'Stk'; write the number alone (the product has no base_unit_name)"),
        ("S", "12 g", "the unit 'g'; write the number alone, in '100 g', the product's base_unit_name"),
        ("P", "1.000 kg", "'1.000' can be 1.000 or 1000"),
        ("P", "12 %", "a share of one"),
    ],
)
async def test_other_unit_is_refused(product: str, cell: str, words: str, world: World) -> None:
    with_units(world, f"1,{product},A,1,{cell}")
    report = await world.load()
    assert report is not None
    [row] = report.bad
    assert row.line == 2
    assert words in row.reason


async def test_units_of_many_products_are_read_at_once(world: World) -> None:
    stocked(world, *(f"1,P{n},A,1,{n} kg" for n in range(30)), "1,P0,B,1,5")
    world.write("products.csv", "product_number,base_unit_name", *(f"P{n},kg" for n in range(30)))
    report = await world.load()
    assert report is not None
    assert report.bad == ()
    assert await world.stock("P29") == 29


async def test_unit_of_ordered_and_delivered_quantity_is_read(world: World) -> None:
    with_units(world)
    world.write("orders.csv", "store_number,order_number,line_number,product_number,quantity", "1,O,1,P,2 kg")
    header = "store_number,order_number,no_of_containers,line_number,product_number,quantity"
    world.write("deliveries.csv", header, "1,D,1,1,P,3 kg", "1,E,1,1,P,3 g")
    report = await world.load()
    assert report is not None
    assert [(row.file, row.line) for row in report.bad] == [("deliveries.csv", 3)]
    assert [file.records for file in report.files[-2:]] == [1, 1]


PLAIN = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)
"""Number that is read as it stands."""


@given(
    st.one_of(
        st.text("0123456789.,'- +€%()kgE\u00a0\u2019", min_size=1, max_size=9),
        st.from_regex(r"\A[€$-]? ?[0-9]{1,4}[.,' ]?[0-9]{0,3}[.,]?[0-9]{0,3}-? ?(€|EUR|kg|%)?\Z", fullmatch=True),
    ),
    st.sampled_from(["products.csv", "stock.csv"]),
)
def test_no_figure_changes_without_a_word(tmp_path_factory: pytest.TempPathFactory, cell: str, file: str) -> None:
    folder = tmp_path_factory.mktemp("figure")
    header, key = {"products.csv": ("price", "P"), "stock.csv": ("store_number;quantity", "P;1")}[file]
    row = f'{key};"{cell}"\r\n'
    (folder / file).write_bytes(f"product_number;{header}\r\n{row}".encode())
    found = Found(folder)
    values = [body[name] for body in found.bodies for name in ("price", "counted_quantity") if name in body]
    if not values:
        assert found.bad or not cell.strip() or any("read as an empty cell" in note for note in found.notes)
    elif PLAIN.fullmatch(cell):
        assert values == [Decimal(cell)]
    else:
        assert any("in row 2" in note for note in found.notes), (cell, values, found.notes)


@given(st.text("0123456789./-: TZ", min_size=4, max_size=16) | st.dates().map(lambda day: day.strftime("%d/%m/%y")))
def test_no_date_changes_without_a_word(tmp_path_factory: pytest.TempPathFactory, cell: str) -> None:
    folder = tmp_path_factory.mktemp("date")
    header = "store_number;order_number;line_number;product_number;quantity;pickup_date"
    (folder / "orders.csv").write_bytes(f'{header}\r\n1;O;1;P;1;"{cell}"\r\n'.encode())
    found = Found(folder)
    if found.bodies and (day := found.bodies[0]["order_lines"][0].get("pickup_date")):
        assert day == cell or any("row 2" in note or "orders.csv:2: " in note for note in found.notes), (cell, day)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        *(
            (cell, 12)
            for cell in ("€ 12,-", "12,- €", "€12,--", "12.- CHF", "CHF 12.—", "EUR 12,–", "12,-EUR", "$12.-")
        ),
        ("€ 1.299,-", 1299),
        ("€ 12,-\u00a0", 12),
        ("-12,- €", -12),
    ],
)
def test_dash_in_the_place_of_cents_is_read(cell: str, value: int, write: Write, tmp_path: Path) -> None:
    write("prices.csv", "product_number;price", f"P;{cell}")
    found = Found(tmp_path)
    assert (found.bad, [body["price"] for body in found.bodies]) == ({}, [value])
    assert any("a dash read as no cents" in note for note in found.notes)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        *((cell, "if the dash stands for no cents, write 12") for cell in ("12,-", "12,--", "12.-", "12,–")),
        *((cell, "is no amount that can be read") for cell in ("12€50", "£0.99p", "12,50 €/kg", "€ 12 pro St")),
        ("12 €,-", "is no amount that can be read"),
    ],
)
@pytest.mark.parametrize("column", ["price", "special_price", "purchase_price"])
def test_amount_that_cannot_be_read_has_a_true_reason(
    cell: str, words: str, column: str, write: Write, tmp_path: Path
) -> None:
    write("products.csv", f"product_number;{column}", f"P;{cell}")
    [reason] = Found(tmp_path).bad.values()
    assert words in reason
    assert "mixed up" not in reason


@pytest.mark.parametrize(
    ("cells", "seen"),
    [
        (("1,99 €;$ 2,49", "£ 2,99;3,49 €"), "1,99 € in row 2, $ 2,49 in row 2, £ 2,99 in row 3"),
        (("£1.99;", "$1,299.00;"), "£1.99 in row 2, $1,299.00 in row 3"),
        (("CHF 1.95;", "2.95;EUR 3.95"), "CHF 1.95 in row 2, EUR 3.95 in row 3"),
        (("€ 1,99;2,99 EUR", "3,99;"), ""),
        (("1,99;2,99", "$ 3,99;"), ""),
    ],
)
def test_several_currencies_are_warned_of(cells: tuple[str, ...], seen: str, write: Write, tmp_path: Path) -> None:
    write("prices.csv", "product_number;price;old_price", *(f"P{at};{cell}" for at, cell in enumerate(cells)))
    warned = [note for note in Found(tmp_path).notes if "currencies" in note]
    told = f"prices.csv: warning: its prices have several currencies, and are taken as they are: {seen}."
    assert warned == ([told] if seen else [])


@pytest.mark.parametrize(
    "cell", ["-.95", "-,95", "CHF -.95", "Fr.-.95", "-.95 CHF", "--.95", "\u2013.95", "\u2014.95", "€ -,95"]
)
def test_dash_in_the_place_of_the_whole_is_refused(cell: str, write: Write, tmp_path: Path) -> None:
    """In Switzerland `-.95` is 95 cents, elsewhere it is below nothing."""
    write("discount_prices.csv", "product_number;discount_price", f"P;{cell}")
    found = Found(tmp_path)
    assert found.bodies == []
    assert "0.95 or -0.95" in found.bad[2] or "0,95 or -0,95" in found.bad[2]


def test_minus_before_a_zero_stays_a_minus(write: Write, tmp_path: Path) -> None:
    write("discount_prices.csv", "product_number;discount_price", "P;-0.95")
    assert Found(tmp_path).bodies[0]["discount_price"] == Decimal("-0.95")


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        *(("¥12.50", "12.50"), ("\uffe512.50", "12.50"), ("120円", "120"), ("12.50元", "12.50"), ("₩ 120", "120")),
        *(("US$4.5", "4.5"), ("NT$12.5", "12.5"), ("HK$9.9", "9.9"), ("CA$5", "5"), ("RM 4.50", "4.50")),
        *(("R 12.50", "12.50"), ("R12.50", "12.50"), ("ZAR 12.50", "12.50"), ("12.50 ZAR", "12.50")),
        *(("₹ 12.50", "12.50"), ("Rs. 12.50", "12.50"), ("12.50 kr.", "12.50"), ("12.50 zł", "12.50")),
    ],
)
def test_currencies_of_other_countries_are_taken_off(cell: str, value: str, write: Write, tmp_path: Path) -> None:
    found = prices(write, tmp_path, cell)
    assert (found.bad, [str(body["price"]) for body in found.bodies]) == ({}, [value])


@pytest.mark.parametrize("cell", ["99¢", "₿12"])
def test_an_unknown_currency_is_named_as_the_cause(cell: str, write: Write, tmp_path: Path) -> None:
    assert "has a currency that is not read" in prices(write, tmp_path, cell).bad[2]


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        *(("2026/12/5", "2026-12-05"), ("2026.12.11", "2026-12-11"), ("2026. 12. 3.", "2026-12-03")),
        *(("2026年12月3日", "2026-12-03"), ("2026년 12월 3일", "2026-12-03")),
        ("2026.12.3 14:30", "2026-12-03 14:30"),
    ],
)
def test_a_day_with_the_year_first_is_read(cell: str, day: str, write: Write, tmp_path: Path) -> None:
    found = dates(write, tmp_path, cell)
    assert (found.bad, [body["datetime_expected"] for body in found.bodies]) == ({}, [day])


def test_a_time_with_unknown_words_is_named_as_the_cause(write: Write, tmp_path: Path) -> None:
    assert "has a time with words that are not read" in dates(write, tmp_path, "2026/12/5 下午 3:30").bad[2]


@pytest.mark.parametrize("cell", [" -   ", "-", "–", "n/a"])
def test_a_sign_for_nothing_in_a_quantity_is_not_called_empty(cell: str, write: Write, tmp_path: Path) -> None:
    write("stock.csv", "store_number,product_number,quantity", f"1,P,{cell}")
    words = f"quantity is {cell.strip()!r}, which is no figure, but every row needs it; write 0, if that is meant"
    assert Found(tmp_path).bad[2] == words


FILES = {
    "orders.csv": ("store_number,order_number,line_number,product_number,quantity", "1,P,2"),
    "deliveries.csv": ("store_number,order_number,line_number,product_number,quantity,no_of_containers", "1,P,2,1"),
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("others", [0, 150], ids=["few", "many"])
async def test_number_that_is_open_in_another_store_is_warned_of(file: str, others: int, world: World) -> None:
    header, line = FILES[file]
    more = [f"2,X{at},{line}" for at in range(others)]
    stocked(world)
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false", "2,Two,false", "3,Three,false")
    await loaded(world)

    async def warned(*rows: str) -> list[str]:
        lines = (await load(world, file, header, *rows)).lines()
        return [one.rpartition(": ")[2] for one in lines if "of another store has this number" in one]

    assert await warned(f"1,N,{line}") == []
    assert await warned(f"1,N,{line}") == []
    assert await warned(f"1,N,{line}", f"2,N,{line}", *more) == []  # the file names both
    assert await warned(f"3,N,{line}", *(row.replace("X", "Y") for row in more)) == [
        "N is in store 1 too.",
        "N is in store 2 too.",
    ]


async def test_finished_order_of_another_store_is_not_warned_of(world: World) -> None:
    header, line = FILES["orders.csv"]
    stocked(world)
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false", "2,Two,false")
    world.write("orders.csv", f"{header},is_active", f"1,N,{line},false")
    await loaded(world)
    assert len((await load(world, "orders.csv", header, f"2,N,{line}")).lines()) == 1
