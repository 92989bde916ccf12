"""Cells of codes that a spreadsheet shows as numbers, puts in quotes, or fills with several codes."""

from pathlib import Path
from typing import Any

import pytest

from aisle.barcode_numbers import split_codes
from aisle.client.csv_load import cells_of_columns as kinds
from aisle.client.csv_load.file_layouts_and_columns import LAYOUTS, FileLayout
from tests.load.test_spreadsheets import Found, Write, product, write

__all__ = ["write"]

CODE, OTHER = "4006381333931", "9520001100086"


@pytest.mark.parametrize("sign", [",", ".", "'", "\u2019", "\u00b4", "`", "\u00b7", "_"])
@pytest.mark.parametrize("code", ["4{0}006{0}381{0}333{0}931", "96{0}385{0}074", "012{0}345{0}678{0}905", "4{0}711"])
@pytest.mark.parametrize("column", ["barcode", "barcodes_array", "purchase_unit_barcode"])
def test_a_barcode_with_signs_of_thousands_is_refused(
    sign: str, code: str, column: str, write: Write, tmp_path: Path
) -> None:
    found = product(write, tmp_path, **{column: code.format(sign)})
    assert found.bodies == []
    assert found.bad[2].startswith(f"{column} ")
    assert "has signs of thousands" in found.bad[2]


@pytest.mark.parametrize("cell", ["4,006,381,333,931.00", "4.006.381.333.931,00", "-4,006,381", '="4,006,381,333,931"'])
def test_a_barcode_as_an_amount_is_refused(cell: str, write: Write, tmp_path: Path) -> None:
    assert "has signs of thousands" in product(write, tmp_path, barcode=cell).bad[2]


@pytest.mark.parametrize(
    "cell", ["4,711", "1,234,567", "0,012,345", "4'711", "1\u2019234\u2019567", "12,345", "1,234,567.00"]
)
@pytest.mark.parametrize("column", ["product_number", "supplier_product_number", "supplier_id", "category_code"])
def test_other_codes_with_signs_of_thousands_are_refused(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    write(
        "products.csv",
        f"product_number,product_name,{column}" if column != "product_number" else "product_number",
        f'P,N,"{cell}"' if column != "product_number" else f'"{cell}"',
    )
    assert "has signs of thousands" in Found(tmp_path).bad[2]


CELLS = {
    **dict.fromkeys((kinds.NUMBER, kinds.WHOLE, kinds.MONEY, kinds.POOL), "1"),
    **{kinds.FLAG: "true", kinds.DATE: "2026-12-01"},
}
"""Cells of the columns that a row needs, by kind; others have a code."""


def columns_of(*of_kinds: str) -> list[Any]:
    """Return the columns of these kinds, each with its file."""
    return [
        pytest.param(layout, column.name, id=f"{layout.file}-{column.name}")
        for layout in LAYOUTS
        for column in layout.columns.values()
        if column.kind in of_kinds
    ]


def write_cell(write: Write, layout: FileLayout, name: str, cell: str, separator: str = ",") -> None:
    """Write a file of one row, with this cell and the others that it needs."""
    columns = [column for column in layout.columns.values() if column.required or column.name == name]
    row = [f'"{cell}"' if one.name == name else CELLS.get(one.kind, "7") for one in columns]
    write(layout.file, separator.join(one.name for one in columns), separator.join(row))


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize(
    ("layout", "name"),
    columns_of(kinds.CODE, kinds.DOTTED_CODE, kinds.BARCODE, kinds.CONTAINER, kinds.BARCODES, kinds.ROLE),
)
def test_three_zeros_behind_a_sign_are_no_end_of_a_code(
    layout: FileLayout, name: str, separator: str, write: Write, tmp_path: Path
) -> None:
    """`11.000` is 11000 where a spreadsheet writes signs of thousands, and never 11."""
    for cell in ("1.000", "11,000", "100.000", "012.000", "1.000,00", "1,000.00"):
        write_cell(write, layout, name, cell, separator)
        found = Found(tmp_path)
        assert found.bodies == [], cell
        assert found.bad[2].startswith(f"{name} '{cell}' has signs of thousands"), cell


@pytest.mark.parametrize("tail", [".0", ",0", ".00", ",00", ".0000"])
@pytest.mark.parametrize("column", ["product_number", "supplier_id", "category_code", "barcode"])
def test_other_zeros_behind_a_code_are_taken_off_as_they_are(
    tail: str, column: str, write: Write, tmp_path: Path
) -> None:
    names = dict.fromkeys(("product_number", "product_name", column))
    row = (f"11{tail}" if name == column else "P" for name in names)
    write("products.csv", ";".join(names), ";".join(row))
    found = Found(tmp_path)
    assert [body[column] for body in found.bodies] == ["11"]
    assert f"products.csv: changed in row 2: {column}: {tail} behind it taken off." in found.notes


@pytest.mark.parametrize(("cell", "flag"), [("1.000", True), ("0,000", False)])
def test_a_flag_or_pool_has_no_thousands(cell: str, flag: bool, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, is_active=cell).bodies[0]["is_active"] is flag


@pytest.mark.parametrize("code", ["1.234.567", "604.123.45", "1.10", "030,12", "0,123", "A,123"])
def test_a_code_with_points_or_other_groups_is_left_alone(code: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, supplier_product_number=code).bodies[0]["supplier_product_number"] == code


@pytest.mark.parametrize("sign", [" ", "\u00a0", "\u202f", "\u2009", "-"])
def test_blanks_in_a_barcode_are_taken_out_and_told(sign: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=sign.join(("4", "006", "381", "333", "931")))
    assert found.bodies[0]["barcode"] == CODE
    assert found.notes == ["products.csv: changed in row 2: barcode: blanks or hyphens between its digits taken out."]


@pytest.mark.parametrize(
    "cell",
    [
        *('="{}"', '= "{}"', '"="{}""', '=""{}""', '"=""{}"""', "'{}'", '"{}"', "\u201c{}\u201d", "\u201e{}\u201c"),
        *("\u2018{}\u2019", "\u00ab{}\u00bb", "'{}", "\u2019{}", "`{}`", '"\'{}"', '="\'{}"', "'\"{}\"'", ' "{}" '),
    ],
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array", "supplier_product_number", "category_code"])
def test_all_marks_around_a_code_are_taken_off(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: cell.format("0400638133393")})
    assert found.bodies[0][column] == "0400638133393"
    assert "taken off" in found.notes[0]


@pytest.mark.parametrize("cell", ['="0400638133393', "=0400638133393", '="04"&"00"', "=A1", '=T("0400638133393")'])
@pytest.mark.parametrize("column", ["barcode", "supplier_product_number"])
def test_unquoted_equals_sign_is_a_formula(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    assert "is a formula" in product(write, tmp_path, **{column: cell}).bad[2]


@pytest.mark.parametrize(
    "sign", [" ", "\u00a0", "  ", "\n", ",", ", ", ";", "; ", "|", " | ", "/", " / ", " und ", " & ", "\t"]
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array"])
def test_right_codes_in_one_cell_are_taken_apart(sign: str, column: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: f"{CODE}{sign}{OTHER}"})
    body = found.bodies[0]
    codes = split_codes(f"{body.get('barcode', '')} {body.get('barcodes_array', '')}")
    assert codes == [CODE, OTHER]


@pytest.mark.parametrize(
    "cell",
    [
        *(f"{CODE} 9520001100087", f"{CODE},9520001100087", f"{CODE};9520001100087", f"{CODE}{OTHER}"),
        *(f"{CODE},95200", f"{CODE}|X1", f"{CODE}.{OTHER}", "4006381,333931", "95200 0110008695200 01100093"),
        *(f"{CODE} {OTHER} 123", f"{CODE}\n95200", "12345678,12345678", "1,2", "123;456"),
    ],
)
def test_cell_that_is_no_code_list_is_refused(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=cell)
    assert found.bodies == []
    assert found.bad[2].startswith("barcode ")


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("9771234567898 05", "9771234567898"),
        ("977123456789805", "9771234567898"),
        ("9783161484100 51299", "9783161484100"),
        ("0109520001100024", "0109520001100024"),
        ("106141412345678908", "106141412345678908"),
        ("00106141412345678908", "106141412345678908"),
        ("ABC-123456789012345678", "ABC-123456789012345678"),
        ("808080808080104", "808080808080104"),
        ("01034009363584541720090010826753", "01034009363584541720090010826753"),
    ],
)
def test_longer_codes_that_are_known_are_taken(cell: str, code: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, barcode=cell).bodies[0]["barcode"] == code


@pytest.mark.parametrize(
    "cell",
    [
        *("EAN9520001100086", "EAN:9520001100086", "ean 9520001100086", "GTIN:9520001100086", "GTIN9520001100086"),
        *("EAN139520001100086", "EAN-13 9520001100086", "EAN13:9520001100086", "Gtin: 9 520001 100086"),
        *("Barcode: 9520001100086", "Strichcode 9520001100086", "EAN-Nr. 9520001100086"),
    ],
)
def test_the_name_of_its_kind_before_a_code_is_taken_off(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=cell)
    assert found.bodies[0]["barcode"] == OTHER
    assert "changed in row 2" in found.notes[0]


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("EAN8 96385074", "96385074"),
        ("EAN896385074", "96385074"),
        ("UPC012345678905", "012345678905"),
        ("UPC-A 012345678905", "012345678905"),
        ("EAN9520001100087", "9520001100087"),
    ],
)
def test_the_same_of_other_kinds(cell: str, code: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, barcode=cell).bodies[0]["barcode"] == code


@pytest.mark.parametrize("code", ["CODE39", "EAN12", "X9520001100086", "UP-123", "CODE-1234567X", "EANS1234567"])
def test_letters_of_a_code_stay(code: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, barcode=code).bodies[0]["barcode"] == code


@pytest.mark.parametrize(
    "cell",
    [
        *("2026-11-28", "28.11.2026", "28/11/2026", "1-2-2026", "2026/11/28", "2026-11-28 00:00:00"),
        "28.11.2026 00:00",
    ],
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array"])
def test_a_date_is_no_barcode(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    assert "looks like a date" in product(write, tmp_path, **{column: cell}).bad[2]


@pytest.mark.parametrize("cell", ["<{}>", "#{}", "{}#", "{}-", "{}.", "!{}!", "*{}", "~{}"])
def test_signs_beside_a_right_code_are_taken_off(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=cell.format(CODE))
    assert found.bodies[0]["barcode"] == CODE
    assert "changed in row 2" in found.notes[0]


@pytest.mark.parametrize("sign", [",", ";", " ", "|", "\n"])
def test_a_code_twice_in_a_cell_is_one_code(sign: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=f"{CODE}{sign}{CODE}")
    assert found.bodies == [{"product_number": "P", "barcode": CODE}]


@pytest.mark.parametrize("cell", [f"{CODE}, 4,006", f"4,006,381,333,931;{OTHER}", "12,345|X1", "X1, 1,234,567"])
def test_signs_of_thousands_beside_other_codes_are_refused(cell: str, write: Write, tmp_path: Path) -> None:
    assert "has signs of thousands" in product(write, tmp_path, barcodes_array=cell).bad[2]


@pytest.mark.parametrize("cell", [f"[{CODE},{OTHER}]", f'["{CODE}", "{OTHER}"]', f"[ {CODE} , {OTHER} ]"])
def test_brackets_around_further_codes_are_taken_off(cell: str, write: Write, tmp_path: Path) -> None:
    assert product(write, tmp_path, barcodes_array=cell).bodies[0]["barcodes_array"] == f"{CODE},{OTHER}"


@pytest.mark.parametrize("sign", [",", ";", " ", "|"])
def test_every_further_code_is_looked_at(sign: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcodes_array=f"{CODE}{sign}9520001100087")
    assert any("9520001100087 should end in 6" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("1234,5678", ["1234", "5678"]),
        ("A-12;B.3", ["A-12", "B.3"]),
        ("9520001100086/4006381333931", [OTHER, CODE]),
        ("A/12|B", ["A/12", "B"]),
        ('["9520001100086","X 1"]', [OTHER, "X", "1"]),
        ("", []),
        (" , ;", []),
    ],
)
def test_further_codes_are_split_in_one_way(text: str, codes: list[str]) -> None:
    assert split_codes(text) == codes
