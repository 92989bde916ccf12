"""Lists with other signs, `.0` behind codes of all kinds, and what a formula has left in texts."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.load.test_spreadsheets import Found, Write, product, write

__all__ = ["write"]


@pytest.mark.parametrize(
    "cell",
    [
        *("0001|0002", "0001;0002", "0001/0002", "0001,0002", "0001\n0002", "0001\r\n0002", "0001 0002", "0001, 0002"),
        *(
            "0001 | 0002",
            "0001 ; 0002;",
            "'0001'|'0002'",
            '"0001";"0002"',
            '["0001", "0002"]',
            "|0001|0002|",
            "0001\n\n0002",
        ),
        *(" 0001;0002 ", '="0001|0002"', "0001 / 0002"),
    ],
)
@pytest.mark.parametrize("column", ["stores_allowed", "stores_not_allowed", "promo_stores_allowed"])
def test_a_list_is_taken_apart_at_any_sign(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, **{column: cell}).bodies[0][column] == ["0001", "0002"]


@pytest.mark.parametrize(
    ("cell", "tags", "words"),
    [
        ("shelf|front", ["shelf", "front"], ""),
        ("shelf;front", ["shelf", "front"], "semicolons between its parts made bars"),
        ("shelf/front", ["shelf", "front"], "slashes between its parts made bars"),
        ("shelf,front", ["shelf", "front"], "commas between its parts made bars"),
        ("shelf\nfront", ["shelf", "front"], "line ends between its parts made bars"),
        ("top shelf|front/left", ["top shelf", "front/left"], ""),
        ("top shelf;a/b", ["top shelf", "a/b"], "semicolons between its parts made bars"),
        ("top shelf", ["top shelf"], ""),
    ],
)
def test_tags_are_taken_apart_and_that_is_told(
    cell: str, tags: list[str], words: str, write: Write, tmp_path: Path
) -> None:
    write("locations.csv", "store_number,location_code,tags", f'1,A,"{cell}"')
    found = Found(tmp_path)
    assert found.bodies[0]["tags"] == tags
    assert found.notes == ([f"locations.csv: changed in row 2: tags: {words}."] if words else [])


@pytest.mark.parametrize("cell", ["1|2.5|3", "1;2.5;3", "1/2.5/3", "1\n2.5\n3", "1, 2.5, 3", "1 | 2.5 |3"])
def test_numbers_of_a_cell_are_taken_apart(cell: str, write: Write, tmp_path: Path) -> None:
    write("store_products.csv", "store_number,product_number,forecast_array", f'1,P,"{cell}"')
    [body] = Found(tmp_path).bodies
    assert [float(one) for one in body["forecast_array"]] == [1, 2.5, 3]


def test_numbers_with_commas_alone_between_are_refused(write: Write, tmp_path: Path) -> None:
    write("store_products.csv", "store_number,product_number,forecast_array", '1,P,"1,2,3"')
    assert "is no number" in Found(tmp_path).bad[2]


CODES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "badge": ("people.csv", "store_number,badge,user,name", {"badge": "12345", "user": "u"}),
    "user": ("people.csv", "store_number,user,badge,name", {"user": "12345", "badge": "B"}),
    "location_code": ("locations.csv", "store_number,location_code", {"location_code": "12345"}),
    "order_number": ("orders.csv", "store_number,order_number,line_number,product_number,quantity", {}),
    "product_number": ("products.csv", "product_number,product_name", {"product_number": "12345"}),
    "delivery": (
        "deliveries.csv",
        "store_number,order_number,no_of_containers,line_number,product_number,quantity",
        {},
    ),
}
ROWS = {
    "badge": "1,{},u,Ann",
    "user": "1,{},B,Ann",
    "location_code": "1,{}",
    "order_number": "1,{},1,P,1",
    "product_number": "{},Pea",
    "delivery": "1,{},1,1,P,1",
}


@pytest.mark.parametrize("cell", ["12345.0", "12345,0", "12345.00", " 12345.0 ", "'12345.0"])
@pytest.mark.parametrize("code", CODES)
def test_point_zero_behind_a_code_is_taken_off(code: str, cell: str, write: Write, tmp_path: Path) -> None:
    name, header, body = CODES[code]
    write(name, header, ROWS[code].format(f'"{cell}"'))
    found = Found(tmp_path)
    body = body or {"order_number": "12345"}
    assert {key: found.bodies[0][key] for key in body} == body
    assert f"{cell.strip()[cell.strip().index('5') + 1 :]} behind it taken off" in found.notes[0]


@pytest.mark.parametrize("column", ["customer_zipcode", "delivery_zipcode", "customer_phone", "reference"])
def test_point_zero_behind_numbers_of_customers_is_taken_off(column: str, write: Write, tmp_path: Path) -> None:
    header = f"store_number,order_number,line_number,product_number,quantity,{column}"
    write("orders.csv", header, "1,O,1,P,1,12345.0", "1,Q,1,P,1,4.9E+11")
    found = Found(tmp_path)
    assert found.bodies[0].get(column, found.bodies[0]["order_lines"][0].get(column)) == "12345"
    assert "was shortened by a spreadsheet" in found.bad[3]


@pytest.mark.parametrize("phone", ["+49 30 123456", "030/123 456", "030.123.456", "(030) 123-456", "0170-1234567"])
def test_a_phone_number_stays(phone: str, write: Write, tmp_path: Path) -> None:
    write(
        "orders.csv",
        "store_number,order_number,line_number,product_number,quantity,customer_phone",
        f"1,O,1,P,1,{phone}",
    )
    assert Found(tmp_path).bodies[0]["customer_phone"] == phone


@pytest.mark.parametrize("code", ["9.52E+12", "4,006,381,333,931", "4006381333931;95200", "=A1", "#N/A"])
def test_the_barcode_of_a_unit_is_looked_at(code: str, write: Write, tmp_path: Path) -> None:
    cell = f'"[{{""unit_name"": ""box"", ""unit_quantity"": 6, ""unit_barcode"": ""{code}""}}]"'
    write("products.csv", "product_number,units", f"P,{cell}", f"Q,{cell.replace(code, '9520001100086')}")
    found = Found(tmp_path)
    assert [body["product_number"] for body in found.bodies] == ["Q"]
    assert found.bad[2].startswith("units ")


@pytest.mark.parametrize("other", ["12.5", "7.25", "1.1"])
@pytest.mark.parametrize("first", [True, False])
def test_a_code_with_a_point_keeps_its_zero_beside_others(
    other: str, first: bool, write: Write, tmp_path: Path
) -> None:
    codes = [other, "12.0"] if first else ["12.0", other]
    write("locations.csv", "store_number,location_code", *(f"1,{code}" for code in codes))
    write("stock.csv", "store_number,product_number,location_code,quantity", "1,P,12.0,1")
    found = Found(tmp_path)
    assert [body["location_code"] for body in found.bodies] == [*codes, "12.0"]
    assert found.notes == []


ERRORS = [
    *("#REF!", "#BEZUG!", "#VALUE!", "#WERT!", "#NAME?", "#N/A", "#NV", "#DIV/0!", "#NUM!", "#NULL!", "########"),
    *("Err:502", "Err:508", "err:522", "Fout:502", "Err: 509", "#NOM ?", "#VALEUR\u00a0!", "#\u00a1REF!", "#RIF!"),
]
FORMULAS = [
    *("=SUM(A1:A3)", "=SUMME(A1:A3)", "=A1", "=$B$2", "=A1&B1", "=Sheet1!A1", "='My shop'!A1", "=1+1", "=(A1)", "=-A1"),
    *("+SUM(A1:A2)", "@SUM(A1)", '="a"&"b"', "=VLOOKUP(A1;B:C;2;0)", "= SUM(A1)", "=_xlfn.CONCAT(A1)"),
]


@pytest.mark.parametrize("cell", [*ERRORS, *FORMULAS])
@pytest.mark.parametrize("column", ["product_name", "brand_description", "base_unit_name", "color"])
def test_formula_error_in_text_is_refused(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: cell})
    assert found.bodies == []
    words = "is a formula; write its value" if cell in FORMULAS else "an error of the spreadsheet; write the value"
    assert found.bad[2].startswith(f"{column} ")
    assert words in found.bad[2]


@pytest.mark.parametrize(
    "name",
    [
        "=) Smile",
        "= Mix =",
        "=>new",
        "#1 Best",
        "Error: 404",
        "Err",
        "-10 % Pea",
        "+ Plus",
        "@home",
        "E10",
        "Fair Trade",
    ],
)
def test_a_text_with_such_signs_stays(name: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, product_name=name)
    assert (found.bodies, found.notes) == ([{"product_number": "P", "product_name": name}], [])


def numbers(write: Write, folder: Path, cell: str, price: str = "") -> Found:
    write("store_products.csv", "store_number;product_number;average_array;price", f"1;P;{cell};{price}")
    return Found(folder)


@pytest.mark.parametrize("cell", ["1,2", "10,25", "-1,2", "0,5", "12,3456"])
@pytest.mark.parametrize("column", ["average_array", "forecast_array", "history_array"])
def test_a_comma_alone_among_numbers_is_asked_about(column: str, cell: str, write: Write, tmp_path: Path) -> None:
    write("store_products.csv", f"store_number;product_number;{column}", f"1;P;{cell}", f"1;Q;{cell}|")
    found = Found(tmp_path)
    bars = cell.replace(",", "|")
    assert f"{column} '{cell}' can be one number or two; write {bars} for two, {cell}| for one" in found.bad[2]
    assert 3 not in found.bad


def test_a_comma_alone_among_numbers_shows_no_decimal_comma(write: Write, tmp_path: Path) -> None:
    assert "price '1,234' can be 1.234 or 1234" in numbers(write, tmp_path, "1,2", "1,234").bad[2]
    assert numbers(write, tmp_path, "1,5|2,5", "1,234").bodies[0]["price"] == Decimal("1.234")


@pytest.mark.parametrize("cell", ["NL BE", "NL en BE", "NL&BE", "1", "Nederland"])
@pytest.mark.parametrize("column", ["countries_allowed", "countries_not_allowed"])
def test_what_is_no_country_is_warned_of(column: str, cell: str, write: Write, tmp_path: Path) -> None:
    what = f"products.csv:2: warning: {column} names what is no code of a country: {cell!r}."
    assert what in product(write, tmp_path, **{column: cell}).notes
    assert not any("country" in note for note in product(write, tmp_path, **{column: "NL|be|DEU"}).notes)


@pytest.mark.parametrize(
    ("cell", "is_one"),
    [
        *((one, False) for one in ("XX", "ZZ", "0226", "NK", "XXA", "NLDX")),
        *((one, True) for one in ("NL", "be", "DEU", "XK", "UK")),
    ],
)
@pytest.mark.parametrize("file", ["products.csv", "attributes.csv", "stores.csv"])
def test_a_code_of_no_country_is_warned_of(file: str, cell: str, is_one: bool, write: Write, tmp_path: Path) -> None:
    header, row = (
        ("store_number,store_name,is_warehouse", "1,One,0") if file == "stores.csv" else ("product_number", "P")
    )
    write(file, f"{header},country_code", f"{row},{cell}")
    what = f"{file}:2: warning: country_code names what is no code of a country: {cell!r}."
    assert [note for note in Found(tmp_path).notes if "country" in note] == [what] * (not is_one)


@pytest.mark.parametrize("cell", ["5||7", "|5|7", "5|NULL|7", "5|-|7", "5;;7", "5| |7"])
@pytest.mark.parametrize("column", ["average_array", "forecast_array", "history_array", "history_keys"])
def test_a_gap_in_a_list_is_refused(column: str, cell: str, write: Write, tmp_path: Path) -> None:
    write("store_products.csv", f"store_number,product_number,{column}", f"1,P,{cell}", "1,Q,5|7|")
    found = Found(tmp_path)
    assert "has an empty part, and what follows would move to its place" in found.bad[2]
    assert [str(value) for value in found.bodies[-1][column]] == ["5", "7"]


_STORE_PRODUCT = ("store_products.csv", "store_number;product_number", "1;P")
_KEYS = ("history_keys", "average_keys", "forecast_keys")
LISTS = {
    "tags": ("locations.csv", "store_number;location_code", "1;A"),
    **dict.fromkeys(("attention_codes", *_KEYS), _STORE_PRODUCT),
    **dict.fromkeys(("stores_allowed", "promo_stores_not_allowed"), ("products.csv", "product_number", "P")),
}


def list_cell(write: Write, folder: Path, column: str, cell: str) -> Found:
    name, header, keys = LISTS[column]
    write(name, f"{header};{column}", f'{keys};"{cell}"')
    return Found(folder)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        *((cell, "was shortened by a spreadsheet") for cell in ("1,20E+03", "1.20E+03", "A|1,20E+03", "A,12E+20")),
        *(
            (cell, "an error of the spreadsheet")
            for cell in ("A|#N/A", "A|#N/A|NULL", "A|#VERW!", "A/#N/A", "A,#DIV/0!")
        ),
        *((cell, "has an empty part") for cell in ("(empty)|A", "NULL|A", "A|-|B", "A|nan|B")),
        *((cell, "twice; keep one of them") for cell in ("A|A", "a|A", "A|B|a", "A;B;A", "12|12.0")),
        *((cell, "can be one number or two") for cell in ("12,5", "1,20", "0,5", "12,0")),
        *((cell, "has signs of thousands") for cell in ("A|1,234", "A|1.000")),
        *((cell, "is a formula") for cell in ("A|=B1", "A|=SUM(B1:B2)")),
    ],
)
@pytest.mark.parametrize("column", LISTS)
def test_a_part_of_a_list_is_refused_as_a_code_is(
    column: str, cell: str, words: str, write: Write, tmp_path: Path
) -> None:
    found = list_cell(write, tmp_path, column, cell)
    assert found.bodies == []
    assert words in found.bad[2]


@pytest.mark.parametrize(
    ("cell", "parts", "words"),
    [
        ("12.0", ["12"], ".0 behind it taken off"),
        ("A|12.0", ["A", "12"], ".0 behind it taken off"),
        ("12.0|12.5", ["12.0", "12.5"], ""),
        ("A|NULL", ["A"], "NULL read as an empty cell"),
        ("A|(empty)", ["A"], "(empty) read as an empty cell"),
        ("9,520001100086E+12|A", ["9520001100086", "A"], "E notation written out"),
        ("9,520001100086E+12", ["9520001100086"], "E notation written out"),
        ("0042,0043", ["0042", "0043"], "commas between its parts made bars"),
        ("1,2,3", ["1", "2", "3"], "commas between its parts made bars"),
        ("A|top shelf", ["A", "top shelf"], ""),
    ],
)
@pytest.mark.parametrize("column", LISTS)
def test_a_part_of_a_list_is_read_as_a_code_is(
    column: str, cell: str, parts: list[str], words: str, write: Write, tmp_path: Path
) -> None:
    found = list_cell(write, tmp_path, column, cell)
    assert found.bodies[0][column] == parts
    changed = [note for note in found.notes if "changed in row 2" in note]
    assert len(changed) == bool(words)
    assert all(words in note for note in changed)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("mrt-26", "looks like a date that a spreadsheet has made of a code: mrt-26"),
        ("A|2026-03-01", "looks like a date that a spreadsheet has made of a code: 2026-03-01"),
        ("A|12,5", "looks like a number, time or word that a spreadsheet has made of a code: 12,5"),
        ("A|WAAR", "looks like a number, time or word that a spreadsheet has made of a code: WAAR"),
        ("A|123456789012345000", "has only zeros after its 15th digit"),
    ],
)
@pytest.mark.parametrize("column", LISTS)
def test_a_part_of_a_list_is_warned_of_as_a_code_is(
    column: str, cell: str, words: str, write: Write, tmp_path: Path
) -> None:
    notes = list_cell(write, tmp_path, column, cell).notes
    is_checked = not column.endswith("_keys")
    assert any(f"{column} {words}" in note for note in notes) == is_checked


@pytest.mark.parametrize("error", ["#N/A", "#DIV/0!", "#DEEL/0!"])
def test_an_error_among_numbers_is_named_whole(error: str, write: Write, tmp_path: Path) -> None:
    assert f"is '{error}', an error of the spreadsheet" in numbers(write, tmp_path, f"1|{error}").bad[2]
