"""Files as spreadsheets write them: what is sure is undone and told, what is not is refused by row."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.barcode_numbers import expected_check_digit
from aisle.client.csv_load.local_number_and_date_notation import YEARS_AHEAD, Notation
from aisle.client.csv_load.records import BadRows, Record, open_tables, read_records, unknown_files
from aisle.client.csv_load.report import LoadError

Write = Callable[..., None]
NBSP, NARROW = "\u00a0", "\u202f"
EANS = ["9520001100024", "9520001100086", "9520001100093", "9520001100505"]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, *lines: str, encoding: str = "utf-8", end: str = "\r\n") -> None:
        (tmp_path / name).write_bytes((end.join(lines) + end).encode(encoding))

    return write_file


class Found:
    """What was read of a folder: the bodies of its records, the reasons of its bad rows, and the notes."""

    def __init__(self, folder: Path) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.bad: dict[int, str] = {}
        self.notes: list[str] = []
        for table in open_tables(folder):
            for item in read_records(table):
                if isinstance(item, Record):
                    self.bodies.append(item.body)
                elif isinstance(item, BadRows):
                    self.bad |= {row.line: row.reason for row in item.bad_rows}
            self.notes += table.notes.lines()


def product(write: Write, folder: Path, **cells: str) -> Found:
    """A file of one product with these cells."""
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells.values()]
    write("products.csv", ",".join(("product_number", *cells)), ",".join(("P", *quoted)))
    return Found(folder)


# What is sure is undone


@pytest.mark.parametrize(
    ("cell", "code", "words"),
    [
        ('="9520001100086"', "9520001100086", '="…" taken off'),
        ('= "9520001100086"', "9520001100086", '="…" taken off'),
        ("'9520001100093", "9520001100093", "apostrophe before it taken off"),
        ("\u20199520001100093", "9520001100093", "apostrophe before it taken off"),
        ("9520001100024.0", "9520001100024", ".0 behind it taken off"),
        ("9520001100024,00", "9520001100024", ",00 behind it taken off"),
        (" 9520001100024 ", "9520001100024", "blanks around it taken off"),
        (f"{NBSP}9520001100024{NBSP}", "9520001100024", "blanks around it taken off"),
        ("\ufeff9520001100024\u200b", "9520001100024", "blanks around it taken off"),
        ("9 520001 100024", "9520001100024", "blanks or hyphens between its digits taken out"),
        (f"9{NBSP}520001{NARROW}100024", "9520001100024", "blanks or hyphens between its digits taken out"),
        ("9-520001-100024", "9520001100024", "blanks or hyphens between its digits taken out"),
        ("9.520001100086E+12", "9520001100086", "E notation written out, all digits are there"),
        ("9,520001100086E+12", "9520001100086", "E notation written out, all digits are there"),
        ("\t9520001100024\r\n", "9520001100024", "blanks around it taken off"),
    ],
)
def test_a_damaged_barcode_is_read_as_it_was_meant(
    cell: str, code: str, words: str, write: Write, tmp_path: Path
) -> None:
    found = product(write, tmp_path, barcode=cell)
    assert found.bad == {}
    assert found.bodies == [{"product_number": "P", "barcode": code}]
    assert found.notes == [f"products.csv: changed in row 2: barcode: {words}."]


@pytest.mark.parametrize("word", ["NULL", "null", "n/a", "N/A", "nan", "None", "(null)", "\\N", "nil", "undefined"])
@pytest.mark.parametrize(
    "column", ["barcode", "barcodes_array", "price", "is_active", "category_code", "deprecation_date"]
)
def test_a_word_for_nothing_is_an_empty_cell(word: str, column: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: word})
    assert found.bodies == [{"product_number": "P"}]
    assert found.notes == [f"products.csv: changed in row 2: {column}: {word} read as an empty cell."]


@pytest.mark.parametrize("word", ["NULL", "null", "(null)", "n/a", "N/A", "n.a.", "undefined", "-", " - ", "--", "–"])
def test_a_word_for_nothing_is_no_name(word: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, product_name=word)
    assert found.bodies == [{"product_number": "P"}]
    assert found.notes[0] == f"products.csv: changed in row 2: product_name: {word.strip()} read as an empty cell."


@pytest.mark.parametrize("name", ["None", "Nan", "nil"])
def test_a_word_for_nothing_that_may_be_a_name_is_kept_and_warned_of(name: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, product_name=name)
    assert found.bodies[0]["product_name"] == name
    assert found.notes == [f"products.csv:2: warning: product_name is a word for nothing: {name!r}."]


@pytest.mark.parametrize(
    "cell", ["N/A;9520001100086", "9520001100086, n/a", "N/A|9520001100086|N/A", "N/A;9520001100086;NULL"]
)
def test_n_a_among_codes_is_left_out(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcodes_array=cell)
    assert found.bodies == [{"product_number": "P", "barcodes_array": "9520001100086"}]
    assert "n/a among the codes left out" in found.notes[0]


TOTALS = ["Summe", "Totaal", "Gesamtsumme", "Grand Total", "Total général", "Somme", "Sum:", "Subtotal", "TOTAL"]


@pytest.mark.parametrize("word", TOTALS)
def test_a_total_behind_the_store_is_no_location(word: str, write: Write, tmp_path: Path) -> None:
    write("locations.csv", "store_number,location_code", "1,A", f"1,{word}", "1,Totaal-Wand", "1,SUM-1")
    found = Found(tmp_path)
    assert [body["location_code"] for body in found.bodies] == ["A", "Totaal-Wand", "SUM-1"]
    assert "looks like a total" in found.bad[3]


@pytest.mark.parametrize("place", ["-", "–", "NULL", "n/a"])
def test_a_line_is_no_place(place: str, write: Write, tmp_path: Path) -> None:
    write("stock.csv", "store_number,product_number,location_code,quantity", f"1,P,{place},5")
    found = Found(tmp_path)
    assert [{**body} for body in found.bodies] == [{"product_number": "P", "counted_quantity": 5}]
    assert found.notes == [f"stock.csv: changed in row 2: location_code: {place} read as an empty cell."]


def test_full_width_digits_are_digits(write: Write, tmp_path: Path) -> None:
    write("stock.csv", "store_number,product_number,quantity", "1,\uff10\uff13\uff10\uff10,\uff15")
    found = Found(tmp_path)
    assert found.bodies == [{"product_number": "0300", "counted_quantity": 5}]
    assert [note.partition(": full")[2] for note in found.notes] == ["-width digits made 0 to 9."] * 2


@pytest.mark.parametrize("code", ["2026-01-03", "2026-01-03 00:00:00", "03-01-2026"])
def test_a_date_for_a_place_or_a_product_is_warned_of(code: str, write: Write, tmp_path: Path) -> None:
    write("stock.csv", "store_number,product_number,location_code,quantity", f"1,{code},{code},5")
    found = Found(tmp_path)
    said = [note for note in found.notes if "looks like a date that a spreadsheet has made of a code" in note]
    assert len(said) == 2


@pytest.mark.parametrize("name", ["'t Hof", "  Müsli ", "=) Smile", "#1 Best", "1.0", "Null-Bock", "9.52E+12"])
def test_names_stay_as_they_are(name: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, product_name=name)
    assert (found.bodies[0]["product_name"], found.notes, found.bad) == (name, [], {})


@pytest.mark.parametrize(
    ("cell", "flag"),
    [("WAHR", True), ("FALSCH", False), ("WAAR", True), ("ONWAAR", False), ("VRAI", True), ("FAUX", False)],
)
def test_true_and_false_of_a_local_spreadsheet(cell: str, flag: bool, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, is_active=cell).bodies == [{"product_number": "P", "is_active": flag}]


@pytest.mark.parametrize(
    "cell",
    [
        *("9520001100086,9520001100093", "9520001100086;9520001100093", "9520001100086|9520001100093"),
        *("9520001100086 9520001100093", "9520001100086 / 9520001100093", "9520001100086, 9520001100093"),
        *("9520001100086\n9520001100093", "'9520001100086,9520001100093", '="9520001100086;9520001100093"'),
        *("9 520001 100086; 9 520001 100093", f"{NBSP}9520001100086,{NBSP}9520001100093"),
    ],
)
def test_several_codes_in_one_cell_are_all_of_the_product(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=cell)
    assert found.bodies == [{"product_number": "P", "barcode": "9520001100086", "barcodes_array": "9520001100093"}]
    assert "2 codes in one cell" in found.notes[0]


@pytest.mark.parametrize(
    "cell",
    [
        *("9520001100086,9520001100093", "9520001100086|9520001100093", "9520001100086 9520001100093"),
        *("9520001100086/9520001100093", '="9520001100086";="9520001100093"', "'9520001100086,'9520001100093"),
        *("9520001100086.0;9520001100093.0", "9520001100086\r\n9520001100093", "9 520001 100086,9 520001 100093"),
        "9520001100086;NULL;9520001100093",
    ],
)
def test_further_codes_are_read_in_any_form(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcodes_array=cell)
    said = str(found.bodies[0]["barcodes_array"]).replace("|", ",").replace(" ", ",").replace("\r\n", ",")
    assert said == "9520001100086,9520001100093"


# What is not sure is refused, by row and column


@pytest.mark.parametrize(
    "cell", ["9.52E+12", "9,52E+12", "9.52E12", "9E+12", "9.52000110009E+12", "1.0E+1", "9.520001100087E+12"]
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array", "supplier_product_number", "category_code"])
def test_a_shortened_code_is_refused(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: cell})
    assert found.bodies == []
    assert found.bad[2].startswith(f"{column} ")
    assert "shortened by a spreadsheet" in found.bad[2]


@pytest.mark.parametrize(
    "word",
    [
        *("#N/A", "#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#NV", "#BEZUG!", "#WERT!", "#ZAHL!"),
        *("#N/B", "#VERW!", "#WAARDE!", "#GETAL!", "#NOM?", "#VALEUR!", "#NOMBRE!", "########", "#n/a", " #N/A "),
    ],
)
@pytest.mark.parametrize("column", ["barcode", "product_name", "price", "is_active", "free_fields"])
def test_an_error_of_the_spreadsheet_is_refused(word: str, column: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: word})
    assert found.bodies == []
    assert found.bad[2].startswith(f"{column} is ")
    assert "an error of the spreadsheet" in found.bad[2]


@pytest.mark.parametrize("word", ["NULL", "n/a", "", "  ", NBSP, "None"])
def test_a_row_without_its_key_is_refused(word: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,price", f"{word},1")
    said = f"{word!r}, which is read as an empty cell" if word.strip() else "empty"
    assert f"product_number is {said}, but every row needs it" in Found(tmp_path).bad[2]


@pytest.mark.parametrize("cell", ["=A1&B1", "=VLOOKUP(A1;B:C;2)", "=9520001100086"])
def test_a_formula_is_no_code(cell: str, write: Write, tmp_path: Path) -> None:
    assert "is a formula" in product(write, tmp_path, barcode=cell).bad[2]


@pytest.mark.parametrize(
    ("code", "right"),
    [
        *(("9520001100087", "6"), ("9520001100025", "4"), ("96385075", "4"), ("012345678906", "5")),
        *(("00012345678906", "5"), ("9520000000001", "4"), ("106141412345678906", "8")),
    ],
)
def test_a_wrong_check_digit_is_warned_of(code: str, right: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=code)
    assert found.bodies[0]["barcode"] == code
    assert found.notes == [f"products.csv:2: warning: barcode has a wrong check digit: {code} should end in {right}."]


@pytest.mark.parametrize(
    "code", ["04252614", "01234565", "06543217", "04904403", "12345670", "96385074", "40170725", "1234567", "X2345678"]
)
def test_a_right_check_digit_is_not_warned_of(code: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, barcode=code).notes == []


@given(st.integers(0, 10**17 - 1), st.sampled_from([7, 11, 12, 13, 16, 17]))
def test_every_wrong_digit_shows(number: int, length: int) -> None:
    body = str(number)[-length:].zfill(length)
    right = expected_check_digit(body + "0")
    assert expected_check_digit(body + right) == right
    assert sum(expected_check_digit(body + other) == other for other in "0123456789") == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("barcode", "barcode"), ("barcode", "barcodes_array"), ("barcodes_array", "barcode")),
        *(("barcode", "purchase_unit_barcode"), ("barcodes_array", "barcodes_array")),
    ],
)
def test_a_code_of_two_products_is_warned_of(first: str, second: str, write: Write, tmp_path: Path) -> None:
    columns = ["barcode", "barcodes_array", "purchase_unit_barcode"]
    rows = [
        [product, *(EANS[0] if name == column else "" for name in columns)]
        for product, column in (("P", first), ("Q", second))
    ]
    write("products.csv", ",".join(["product_number", *columns]), *(",".join(row) for row in rows))
    found = Found(tmp_path)
    assert len(found.bodies) == 2
    assert found.notes == [
        f"products.csv:3: warning: {second} is on two products: 9520001100024 of Q is also of P (row 2)."
    ]


def test_codes_that_differ_by_leading_zeros_are_one_code(write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,barcode", "P,012345678905", "Q,0012345678905", "P2,X1", "Q2,0X1")
    assert ["is on two products" in line for line in Found(tmp_path).notes] == [True]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("04252614", "042100005264"), ("042100005264", "04252614")),
        *(("(01)04006381333931", "4006381333931"), ("ABC-7", "abc-7"), ("*K9*", "K9"), ("k9", "*K9*")),
        *(("4006381-333931", "04006381333931"), ("012345", "12345"), ("123456", "00000000123456")),
        *(("X1", "x1"), ("4006381333931", "４００６３８１３３３９３１"), ("0 12345 67890 5", "12345678905")),
    ],
)
def test_codes_that_a_scan_takes_for_one_are_warned_of(one: str, other: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,barcode", f"P,{one}", f"Q,{other}")
    assert [line for line in Found(tmp_path).notes if "is on two products" in line] != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("X1", "0X1"), ("00001", "1"), ("ABC-7", "ABC7"), ("4006381333931", "4006381333932"), ("12 34", "1234x")),
        ("425261", "042100005264"),  # six digits are a UPC-E by a guess alone
    ],
)
def test_codes_that_a_scan_tells_apart_are_not_warned_of(one: str, other: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,barcode", f"P,{one}", f"Q,{other}")
    assert [line for line in Found(tmp_path).notes if "is on two products" in line] == []


# Keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("X208", "x208"), ("X208", "X 208"), ("X 208", "X  208"), ("X208", f"X{NBSP}208"), ("ab", "AB")),
        *(("X208 ", "x208"), (f"{NBSP}X 208", "X208"), ("é1", "É1"), ("a b", "A B"), ("X208\u200b", "x208")),
    ],
)
def test_keys_that_differ_by_blanks_or_case_are_refused(one: str, other: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,product_name", f'"{one}",One', "Y,Y", f'"{other}",Other')
    found = Found(tmp_path)
    assert [body["product_number"] for body in found.bodies] == ["Y"]
    assert sorted(found.bad) == [2, 4]
    assert "in row 4 differ by blanks or case alone" in found.bad[2]
    assert "in row 2 differ by blanks or case alone" in found.bad[4]


def test_a_key_with_blanks_around_it_is_the_key_without(write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,price", '"X208 ",1', f'"{NBSP}Y9{NBSP}",2')
    found = Found(tmp_path)
    assert [body["product_number"] for body in found.bodies] == ["X208", "Y9"]
    assert found.notes == ["products.csv: changed in 2 rows (2-3): product_number: blanks around it taken off."]


@pytest.mark.parametrize(
    ("name", "header", "first", "second"),
    [
        ("stores.csv", "store_number,store_name,is_warehouse", "1,A,0", "1,B,0"),
        ("products.csv", "product_number,price", "P,1", "P ,2"),
        ("attributes.csv", "product_number,size", "P,L", "P,M"),
        ("prices.csv", "product_number,price,store_number", "P,1,1", "P,2,1"),
        ("discount_prices.csv", "product_number,discount_price,is_promotion", "P,1,1", "P,2,1"),
        ("locations.csv", "store_number,location_code,location_order", "1,A,1", "1,A,2"),
        ("people.csv", "store_number,badge,user,name", "1,B,u,Ann", "1,B,u,Ben"),
        ("store_products.csv", "store_number,product_number,min", "1,P,1", "1,P,2"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(
    name: str, header: str, first: str, second: str, write: Write, tmp_path: Path
) -> None:
    write(name, header, first, second)
    found = Found(tmp_path)
    assert (found.bodies, sorted(found.bad)) == ([], [2, 3])
    assert "is also in row 3, with other values" in found.bad[2]
    write(name, header, first, first)
    again = Found(tmp_path)
    assert (len(again.bodies), again.bad) == (2, {})
    assert [note for note in again.notes if "old_price" not in note] == [
        f"{name}:3: warning: the same as an earlier row: row 2."
    ]


@pytest.mark.parametrize(
    ("name", "header", "first", "second"),
    [
        *(("products.csv", "product_number;price", "P;1,1", f"P;{price}") for price in ("1,10", "1,1 €", '"01,100"')),
        ("products.csv", "product_number;product_name;price", "P;N;", "P;N"),
        ("products.csv", "product_number;is_active", "P;ja", "P;true"),
        ("products.csv", "product_number;deprecation_date", "P;28-11-2026", "P;2026-11-28"),
        ("products.csv", "product_number;barcode", "P;9520001100024", "P;9 520001 100024"),
        (
            "products.csv",
            "product_number;barcodes_array",
            "P;9520001100024,9520001100086",
            "P;9520001100024 9520001100086",
        ),
        ("products.csv", "product_number;stores_allowed", "P;a|b", "P; a | b"),
        ("attributes.csv", "product_number;size", "P;1,5", 'P;"1,5"'),
        ("prices.csv", "product_number;price;store_number", "P;1;1", "P;1,0;1"),
        ("discount_prices.csv", "product_number;discount_price", "P;2,50", "P;2,5"),
        ("locations.csv", "store_number;location_code;location_order", "1;A;5", "1;A;5,0"),
        ("stores.csv", "store_number;store_name;is_warehouse", "1;A;0", "1;A;nee"),
        ("people.csv", "store_number;badge;user;name;role", "1;B;u;Ann;staff", "1;B;u;Ann;medewerker"),
        ("store_products.csv", "store_number;product_number;min;average_array", "1;P;1;1,50|2", "1;P;1,0;1,5|2"),
    ],
)
def test_rows_of_one_value_in_two_writings_repeat_each_other(
    name: str, header: str, first: str, second: str, write: Write, tmp_path: Path
) -> None:
    write(name, header, first, second)
    found = Found(tmp_path)
    assert (len(found.bodies), found.bad) == (2, {})
    assert f"{name}:3: warning: the same as an earlier row: row 2." in found.notes


def test_prices_of_several_stores_do_not_contradict_each_other(write: Write, tmp_path: Path) -> None:
    write("prices.csv", "product_number,price,store_number", "P,1,", "P,2,1", "P,3,2")
    assert (len(Found(tmp_path).bodies), Found(tmp_path).bad) == (3, {})


def test_orders_whose_numbers_differ_by_case_are_refused(write: Write, tmp_path: Path) -> None:
    header = "store_number,order_number,line_number,product_number,quantity"
    write("orders.csv", header, "1,o1,1,P,1", "1,O1,2,P,1", "1,O2 ,1,P,1", "1, O2,2,Q,1")
    found = Found(tmp_path)
    assert [(body["order_number"], len(body["order_lines"])) for body in found.bodies] == [("O2", 2)]
    assert sorted(found.bad) == [2, 3]


# How the file is written


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom", "utf-16-be-bom", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("is_said", [False, True], ids=["", "sep="])
def test_a_file_is_read_in_the_encodings_and_separators_of_spreadsheets(
    encoding: str, separator: str, is_said: bool, write: Write, tmp_path: Path
) -> None:
    lines = [separator.join(("product_number", "product_name", "price")), separator.join(("P", "Crème €", "2.50"))]
    text = "\r\n".join([f"sep={separator}"] * is_said + lines) + "\r\n"
    marks = {"utf-16-le-bom": ("utf-16-le", "\ufeff"), "utf-16-be-bom": ("utf-16-be", "\ufeff")}
    name, mark = marks.get(encoding, (encoding, ""))
    (tmp_path / "products.csv").write_bytes((mark + text).encode(name))
    found = Found(tmp_path)
    assert found.bad == {}
    assert found.bodies == [{"product_number": "P", "product_name": "Crème €", "price": Decimal("2.50")}]
    assumed = [
        word
        for word in ("UTF-16", "Windows-1252")
        if word.casefold()[:6] in encoding or (word == "Windows-1252" and encoding == "cp1252")
    ]
    assumed += {",": [], ";": ["semicolons"], "\t": ["tabs"], "|": ["bars"]}[separator]
    assert len(found.notes) == bool(assumed)
    assert all(word in found.notes[0] for word in assumed)


def test_rows_are_named_by_their_lines_also_below_a_separator_line(write: Write, tmp_path: Path) -> None:
    write("products.csv", "sep=;", "product_number;price", "P;1", "", "Q;cheap")
    assert sorted(Found(tmp_path).bad) == [5]


@pytest.mark.parametrize("is_said", [False, True], ids=["", "sep="])
@pytest.mark.parametrize("end", ["", "|"], ids=["", "bar at the end"])
def test_bars_between_cells_leave_quoted_bars_alone(is_said: bool, end: str, write: Write, tmp_path: Path) -> None:
    rows = ["product_number|product_name|price", '0300|"Melk | vol"|1.5', "0301|Melk, vol; 2 l|1.25"]
    write("products.csv", *["sep=|"] * is_said, *(row + end for row in rows))
    found = Found(tmp_path)
    assert found.bad == {}
    assert [tuple(map(str, body.values())) for body in found.bodies] == [
        ("0300", "Melk | vol", "1.5"),
        ("0301", "Melk, vol; 2 l", "1.25"),
    ]


@pytest.mark.parametrize("is_said", [False, True], ids=["", "sep="])
def test_a_list_with_bars_around_its_cells_is_read_below_a_separator_line(
    is_said: bool, write: Write, tmp_path: Path
) -> None:
    write("products.csv", *["sep=|"] * is_said, "|product_number |price |", "|--|--|", "|P  |1.50 |")
    assert Found(tmp_path).bodies == [{"product_number": "P", "price": Decimal("1.50")}]


@pytest.mark.parametrize("first", ["sep=/", "sep=x"])
def test_a_separator_that_none_can_be_ends_the_load(first: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", first, "product_number/price", "P/1")
    with pytest.raises(LoadError, match="separate the columns by commas or semicolons"):
        open_tables(tmp_path)


def test_a_utf16_file_that_is_damaged_is_named(tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_bytes("product_number\r\nP\r\n".encode("utf-16") + b"\x00\xd8x")
    with pytest.raises(LoadError, match="begins as UTF-16, and is damaged"):
        open_tables(tmp_path)


@pytest.mark.parametrize(
    "header",
    [
        *("Product_Number,PRICE", "product number,Price", " product_number , price ", "PRODUCT-NUMBER,price"),
        *(
            f"product{NBSP}number,price",
            "Product Number,Price",
            '"product_number","price"',
            "\ufeffproduct_number,price",
        ),
        *("product  number,price", "product_number,price,,", "product_number,price, ,"),
    ],
)
def test_headers_may_be_written_in_any_way(header: str, write: Write, tmp_path: Path) -> None:
    write("products.csv", header, "P,1")
    assert Found(tmp_path).bodies == [{"product_number": "P", "price": 1}]


def test_empty_columns_and_rows_are_no_error(write: Write, tmp_path: Path) -> None:
    write(
        "products.csv", "product_number,,price,", ",,,", "P,,1,", " , ,,", "", "Q,,2", f"{NBSP},,,", ",,,,,,", "R,,3,,,"
    )
    found = Found(tmp_path)
    assert found.bad == {}
    assert [body["product_number"] for body in found.bodies] == ["P", "Q", "R"]


def test_a_value_in_a_column_without_a_name_is_refused(write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,,price", "P,extra,1", "Q,,2,more")
    assert "in a column without a name" in Found(tmp_path).bad[2]
    assert "has 4 fields, the header has 3" in Found(tmp_path).bad[3]


@pytest.mark.parametrize("name", ["Products.csv", "PRODUCTS.CSV", "products.CSV"])
def test_file_names_are_read_in_any_case(name: str, write: Write, tmp_path: Path) -> None:
    write(name, "product_number", "P")
    assert Found(tmp_path).bodies == [{"product_number": "P"}]


def test_tables_that_are_no_csv_are_noticed(write: Write, tmp_path: Path) -> None:
    for name in (
        "products.xlsx",
        "stock.ods",
        "prices.csv.txt",
        "orders.tsv",
        "produkte.CSV",
        "notes.txt",
        "stores.csv",
    ):
        write(name, "x")
    assert set(unknown_files(tmp_path)) == {
        "products.xlsx",
        "stock.ods",
        "prices.csv.txt",
        "orders.tsv",
        "produkte.CSV",
    }


# Numbers


def prices(write: Write, folder: Path, *cells: str, separator: str = ";") -> Found:
    """A file of products with these prices."""
    lines = [separator.join((f"P{at}", f'"{cell}"')) for at, cell in enumerate(cells)]
    write("products.csv", separator.join(("product_number", "price")), *lines)
    return Found(folder)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("1,10", "2,50", "3"), ("1.10", "2.50", "3")),
        (("1.234,50", "7,5"), ("1234.50", "7.5")),
        (("1.234.567", "1,10"), ("1234567", "1.10")),
        (("1 234,50",), ("1234.50",)),
        ((f"1{NBSP}234,50", f"12{NARROW}345"), ("1234.50", "12345")),
        (("1'234,50", "0,5"), ("1234.50", "0.5")),
        (("1.234", "0,5"), ("1234", "0.5")),
        (("1,234", "0,5"), ("1.234", "0.5")),
        (("€ 1,10", "2,20 €"), ("1.10", "2.20")),
        (("1.10", "2.5"), ("1.10", "2.5")),
        (("1,234.50", "1,234"), ("1234.50", "1234")),
        (("1,234,567",), ("1234567",)),
        (("0.125", "1.234"), ("0.125", "1.234")),
        ((" 1,10 ", "'2,20", '=""3,30""'), ("1.10", "2.20", "3.30")),
        (("-0", "+7"), ("0", "7")),
        (("5-", "5", "0-"), ("-5", "5", "0")),
        (("1.234,50-", "7,5"), ("-1234.50", "7.5")),
        (("1,234.50-", "€ 2.20-", "3 - "), ("-1234.50", "-2.20", "-3")),
        ((f"1{NBSP}234,50-", "12,5- EUR"), ("-1234.50", "-12.5")),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_numbers_are_read_as_the_file_writes_them(
    cells: tuple[str, ...], values: tuple[str, ...], separator: str, write: Write, tmp_path: Path
) -> None:
    found = prices(write, tmp_path, *cells, separator=separator)
    assert found.bad == {}
    assert [body["price"] for body in found.bodies] == [Decimal(value) for value in values]


@pytest.mark.parametrize(
    ("cells", "bad"),
    [
        (("1,234",), [2]),
        (("1,234", "5,678"), [2, 3]),
        (("1.234", "7"), [2]),
        (("1,10", "2.50"), [2]),
        (("1.234", "0,5", "0.5"), [2, 3]),
        (("1,10", "1,234.50"), [2]),
        *((cells, [2]) for cells in (("1.000",), ("12.500",), ("+1.000",), ("-1,000",), ("1.000", "7", "0"))),
        (("1.000", "2.000", "12.250"), [2, 3, 4]),
        (("1.000", "2.50"), [2]),
        (("1,000", "2,50"), [2]),
        (("0.250", "1.000", "7"), [3]),
        (("1.5E+3",), [2]),
        (("12,34,56",), [2]),
        (("1.10.2026",), [2]),
        (("5,-", "5.-", "5--", "-5-", "+5-", "5-7", "-x"), [2, 3, 4, 5, 6, 7, 8]),
        (("ca. 5",), [2]),
    ],
)
def test_numbers_that_can_be_read_in_two_ways_are_refused(
    cells: tuple[str, ...], bad: list[int], write: Write, tmp_path: Path
) -> None:
    found = prices(write, tmp_path, *cells)
    assert sorted(found.bad) == bad
    assert all(reason.startswith("price ") for reason in found.bad.values())


def test_a_decimal_comma_is_said_in_one_line(write: Write, tmp_path: Path) -> None:
    found = prices(write, tmp_path, "5", "1,10", "2,20")
    assert found.notes == ["products.csv: read with columns separated by semicolons, decimal commas (1,10 in row 3)."]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("cells", "values", "words"),
    [
        (("1.250", "2.50"), ("1.25", "2.50"), "decimal points (2.50 in row 3; so 1.250 in row 2 is 1.250)"),
        (("0.250", "1.000"), ("0.250", 1), "decimal points (0.250 in row 2; so 1.000 in row 3 is 1.000)"),
        (("1,000", "2.50"), (1000, "2.50"), "decimal points (2.50 in row 3; so 1,000 in row 2 is 1000)"),
        (("1.000", "2,50"), (1000, "2.50"), "decimal commas (2,50 in row 3; so 1.000 in row 2 is 1000)"),
        (
            ("12,500", "1.234.567"),
            ("12.5", 1234567),
            "decimal commas (1.234.567 in row 3; so 12,500 in row 2 is 12.500)",
        ),
    ],
)
def test_note_names_the_cell_that_decided_the_notation(
    cells: tuple[str, ...], values: tuple[Any, ...], words: str, separator: str, write: Write, tmp_path: Path
) -> None:
    found = prices(write, tmp_path, *cells, separator=separator)
    assert found.bad == {}
    assert [body["price"] for body in found.bodies] == [Decimal(value) for value in values]
    assert words in found.notes[0]


@given(st.integers(-(10**7), 10**7), st.integers(0, 999), st.sampled_from([".", ","]), st.booleans())
def test_numbers_come_back_as_they_were_written(whole: int, part: int, mark: str, is_grouped: bool) -> None:
    group = "," if mark == "." else "."
    digits = f"{whole:,}".replace(",", group) if is_grouped else str(whole)
    cell = f"{digits}{mark}{part:03d}"
    notation = Notation()
    for line, seen in enumerate(("0" + mark + "500", cell), 2):
        notation.observe_number(line, seen)
    assert Decimal(notation.normalize_number(cell)) == Decimal(f"{whole}.{part:03d}")


# Dates


def dates(write: Write, folder: Path, *cells: str) -> Found:
    """A file of deliveries that are expected then."""
    header = "store_number,order_number,no_of_containers,datetime_expected,line_number,product_number,quantity"
    write("deliveries.csv", header, *(f'1,D{at},1,"{cell}",1,P,1' for at, cell in enumerate(cells)))
    return Found(folder)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("2026-11-27",), ("2026-11-27",)),
        (("27.11.2026", "5.6.2026"), ("2026-11-27", "2026-06-05")),
        (("27-11-2026", "05-06-2026"), ("2026-11-27", "2026-06-05")),
        (("27/11/2026", "05/06/2026"), ("2026-11-27", "2026-06-05")),
        (("11/27/2026", "05/06/2026"), ("2026-11-27", "2026-05-06")),
        (("27-11-2026 08:00",), ("2026-11-27T08:00:00",)),
        (("27.11.2026 18:30:05",), ("2026-11-27T18:30:05",)),
        (("11/27/2026 6:30 PM",), ("2026-11-27T18:30:00",)),
        (("11/27/2026 12:05 AM",), ("2026-11-27T00:05:00",)),
        (("2026/11/27",), ("2026-11-27",)),
        (("20261127", "2026-W48-5"), ("2026-11-27", "2026-11-27")),
        (("2026-W49", "2026W49"), ("2026-11-30", "2026-11-30")),
        (("05/05/2026",), ("2026-05-05",)),
        ((" 2026-11-27 ",), ("2026-11-27",)),
        (("2026-11-27T08:00:00Z",), ("2026-11-27T08:00:00Z",)),
        (("27.11.26", "5.6.27"), ("2026-11-27", "2027-06-05")),
        (("27.11.26 18:30",), ("2026-11-27T18:30:00",)),
        (("27/11/26", "05/06/26"), ("2026-11-27", "2026-06-05")),
        (("11/27/26", "05/06/26 6:30 PM"), ("2026-11-27", "2026-05-06T18:30:00")),
        (("27-11-2026", "05-06-26"), ("2026-11-27", "2026-06-05")),
        (("27-11-99", "05-06-26"), ("1999-11-27", "2026-06-05")),
        (("05/05/26",), ("2026-05-05",)),
        (("27-11-26", "26-11-27", "05-06-26"), ("2026-11-27", "2027-11-26", "2026-06-05")),
    ],
)
def test_dates_of_a_local_spreadsheet(
    cells: tuple[str, ...], values: tuple[str, ...], write: Write, tmp_path: Path
) -> None:
    found = dates(write, tmp_path, *cells)
    assert found.bad == {}
    assert tuple(body["datetime_expected"] for body in found.bodies) == values


@pytest.mark.parametrize(
    ("cells", "bad"),
    [
        (("05/06/2026",), [2]),
        (("27/11/2026", "11/27/2026", "05/06/2026"), [2, 3, 4]),
        (("31.02.2026",), [2]),
        (("41226", "51226", "61126", "20000", "79999,5"), [2, 3, 4, 5, 6]),
        (("27-11-26",), [2]),
        (("05/06/26",), [2]),
        (("27.11.26", "27-11-26"), [3]),
        (("27/11/26", "11/27/26", "05/06/26"), [2, 3, 4]),
        (("30/11/26", "11/30/2026", "2026-11-30", "11/11/2026"), [2, 3]),
        (("30.11.2026", "11/30/2026"), [2, 3]),
        (("30-11-2026 08:00", "11-30-2026", "11-29-2026"), [2, 3, 4]),
        (("31.02.26", "00.00.00", "13/13/26", "27.11.6", "27.11.026"), [2, 3, 4, 5, 6]),
        (("13/13/2026",), [2]),
    ],
)
def test_dates_that_can_be_read_in_two_ways_are_refused(
    cells: tuple[str, ...], bad: list[int], write: Write, tmp_path: Path
) -> None:
    found = dates(write, tmp_path, *cells)
    assert sorted(found.bad) == bad
    assert all(reason.startswith("datetime_expected ") for reason in found.bad.values())


def test_dates_of_both_orders_in_a_column_name_each_other(write: Write, tmp_path: Path) -> None:
    found = dates(write, tmp_path, "30/11/26", "11/30/2026")
    assert found.bad == {
        2: "datetime_expected '30/11/26' has the day first, and '11/30/2026' in row 3 the month first; write"
        " yyyy-mm-dd in all rows",
        3: "datetime_expected '11/30/2026' has the month first, and '30/11/26' in row 2 the day first; write"
        " yyyy-mm-dd in all rows",
    }
    assert not any("dates with" in note or "two digits" in note for note in found.notes)


def test_each_column_of_dates_has_its_own_order(write: Write, tmp_path: Path) -> None:
    header = "store_number,order_number,line_number,product_number,quantity,pickup_date,delivery_date"
    write("orders.csv", header, "1,O,1,P,1,30/11/2026,11/30/2026", "1,O,2,P,1,29/11/2026,")
    found = Found(tmp_path)
    assert found.bad == {}
    lines = found.bodies[0]["order_lines"]
    assert [line["pickup_date"] for line in lines] == ["2026-11-30", "2026-11-29"]
    assert lines[0]["delivery_date"] == "2026-11-30"


@given(st.integers(0, 99), st.integers(0, 500))
def test_a_year_of_two_digits_is_the_one_that_is_near(year: int, later: int) -> None:
    """Of the hundred years up to twenty from now, whenever now is."""
    notation = Notation()
    notation._last_year += later
    said = int(notation.normalize_date(f"27.11.{year:02}")[:4])
    assert said % 100 == year
    assert notation._last_year - 99 <= said <= notation._last_year


def test_two_digit_years_are_explained(write: Write, tmp_path: Path) -> None:
    last = datetime.now().year + YEARS_AHEAD
    notes = " ".join(dates(write, tmp_path, "2026-11-27", "27.11.26").notes)
    assert f"years of two digits as {last - 99} to {last} (27.11.26 in row 3 is 2026-11-27)" in notes
    assert "dates with the day first (27.11.26 in row 3 is 2026-11-27)" in notes
    assert "local date read as yyyy-mm-dd" in notes


def test_a_minus_behind_a_number_is_told(write: Write, tmp_path: Path) -> None:
    notes = prices(write, tmp_path, "5-", "5", "-5").notes
    assert "products.csv: changed in row 2: price: minus behind the number put before it." in notes


# Lists that SAP has saved

RULE = "-" * 40
HEADER, ROWS = (
    "|product_number |product_name     |    price|",
    ("|P1 |Tea | 1.234,50 |", "|P2 |Oat | 5,00- |", "|P3 ||  |"),
)


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ((HEADER, *ROWS), 2),
        ((RULE, HEADER, RULE, *ROWS, RULE), 4),
        (("01.11.2026   Dynamic list   1", "", RULE, HEADER, "|" + RULE + "|", *ROWS, RULE), 6),
        ((RULE, HEADER, "|---+----+---|", ROWS[0], RULE, ROWS[1], "", RULE, "|----|", ROWS[2]), 4),
        (("  " + HEADER + "  ", RULE, *("  " + row + " " for row in ROWS), RULE, ""), 3),
    ],
)
@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_list_with_bars_is_read(
    lines: tuple[str, ...], first: int, end: str, encoding: str, write: Write, tmp_path: Path
) -> None:
    write("products.csv", *lines, encoding=encoding, end=end)
    found = Found(tmp_path)
    assert found.bad == {}
    assert [(each["product_number"], each.get("product_name"), each.get("price")) for each in found.bodies] == [
        ("P1", "Tea", Decimal("1234.50")),
        ("P2", "Oat", Decimal("-5.00")),
        ("P3", None, None),
    ]
    assert "columns separated by vertical bars" in found.notes[0]
    assert ("without what is above it" in found.notes[0]) == (lines[0][0] == "0")
    assert len([note for note in found.notes if "minus behind" in note]) == 1


def test_rows_of_a_list_with_bars_are_named_by_their_lines(write: Write, tmp_path: Path) -> None:
    rows = (RULE, "|P1|1|", RULE, "|P2|x|", "||1|", RULE, "|P4|1|2|", "P5;1", "|P6|#N/A|")
    write("products.csv", RULE, "|product_number|price|", *rows)
    found = Found(tmp_path)
    assert sorted(found.bad) == [6, 7, 9, 10, 11]
    assert [body["product_number"] for body in found.bodies] == ["P1"]


def test_bars_inside_cells_are_no_separators(write: Write, tmp_path: Path) -> None:
    write("locations.csv", "store_number,location_code,tags", "1,A-1,shelf|front")
    found = Found(tmp_path)
    assert (found.bodies[0]["location_code"], found.bad) == ("A-1", {})
    assert not any("bars" in note for note in found.notes)


@pytest.mark.parametrize("code", ["1-Feb", "02-Jan", "Feb-01", "1-mrt", "3. Dez", "2026-02-01 00:00:00"])
def test_a_code_that_has_become_a_date_is_warned_of(code: str, write: Write, tmp_path: Path) -> None:
    write("locations.csv", "store_number,location_code", f"1,{code}")
    assert "looks like a date" in " ".join(Found(tmp_path).notes)


@pytest.mark.parametrize("code", ["A-01-2", "1.10", "FEB-A", "1-2", "M-01", "MAY"])
def test_ordinary_location_codes_stay(code: str, write: Write, tmp_path: Path) -> None:
    write("locations.csv", "store_number,location_code", f"1,{code}")
    found = Found(tmp_path)
    assert (found.bodies[0]["location_code"], found.notes) == (code, [])


def test_many_warnings_of_one_kind_are_told_in_short(write: Write, tmp_path: Path) -> None:
    write("products.csv", "product_number,barcode", *(f"P{n},{9520001100000 + n}" for n in range(100)))
    notes = [line for line in Found(tmp_path).notes if "check digit" in line]
    assert len(notes) == 21
    assert notes[-1].startswith("products.csv: warning: barcode has a wrong check digit in 70 rows (")


@given(st.lists(st.text(max_size=14), min_size=1, max_size=6), st.sampled_from([",", ";", "\t"]))
def test_no_cell_stops_a_load(tmp_path_factory: pytest.TempPathFactory, found: list[str], separator: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    names = ["product_number", "product_name", "barcode", "price", "deprecation_date", "barcodes_array"][: len(found)]
    cells = ['"' + cell.replace('"', '""') + '"' for cell in found]
    text = separator.join(names) + "\n" + separator.join(cells) + "\n"
    (folder / "products.csv").write_bytes(text.encode("utf-8", "surrogatepass"))
    read = Found(folder)
    assert len(read.bodies) + bool(read.bad) <= 1
