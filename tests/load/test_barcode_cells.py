"""Cells of barcodes that hold more than a code: what is sure is cleaned, what is not is warned of by row and column."""

from pathlib import Path

import pytest

from tests.load.test_spreadsheets import Found, Write, product, write

__all__ = ["write"]

SEVERAL = "9520001100055,9520001100062"


@pytest.mark.parametrize(
    "cell",
    [
        *("9520001100055 en 9520001100062", "9520001100055 und 9520001100062", "9520001100055 et 9520001100062"),
        *("9520001100055 and 9520001100062", "9520001100055 & 9520001100062", "9520001100055 + 9520001100062"),
        *("9520001100055/9520001100062", "9520001100055 EN 9520001100062"),
        *("9520001100055 (oud), 9520001100062 (nieuw)", '"9520001100055";"9520001100062"'),
    ],
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array"])
def test_codes_with_words_between_are_taken_apart(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: cell})
    body = found.bodies[0]
    assert ",".join(filter(None, (body.get("barcode"), body.get("barcodes_array")))) == SEVERAL
    assert len(found.notes) == 1
    assert "changed in row 2" in found.notes[0]


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("-9520001100215", "9520001100215"),
        ("+9520001100222", "9520001100222"),
        ('"9520001100246"', "9520001100246"),
        ("“9520001100246”", "9520001100246"),
        ("«9520001100246»", "9520001100246"),
        ("9520001100260,", "9520001100260"),
        (";9520001100260;", "9520001100260"),
        ("9520001100277 (oud)", "9520001100277"),
        ("9520001100277 oud", "9520001100277"),
        ("EAN 9520001100284", "9520001100284"),
        ("EAN: 9520001100284", "9520001100284"),
        ("EAN-13: 9520001100284", "9520001100284"),
    ],
)
def test_a_code_beside_words_and_signs_is_taken_out(cell: str, code: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=cell)
    assert found.bodies == [{"product_number": "P", "barcode": code}]
    assert len(found.notes) == 1
    assert "changed in row 2" in found.notes[0]


@pytest.mark.parametrize(
    "cell",
    ["n.v.t.", "nvt", "geen", "kein", "keine", "aucun", "sans", "néant", "none", "-", "--", "—", "/", "0", "000", "?"],
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array", "purchase_unit_barcode"])
def test_words_for_no_code_are_empty_cells(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: cell})
    assert found.bodies == [{"product_number": "P"}]
    assert found.notes == [f"products.csv: changed in row 2: {column}: {cell} read as an empty cell."]


@pytest.mark.parametrize(
    "cell",
    [
        *("WAHR", "true", "123 oud", "doos 12", "9520001100278 (oud)", "(oud) 9520001100277 x2", "-123456", "12:34"),
        *("see below", "code 12 34x", "[1234567]"),
    ],
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array"])
def test_unlikely_code_is_warned_of(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    notes = product(write, tmp_path, **{column: cell}).notes
    assert any(note.startswith(f"products.csv:2: warning: {column} h") and "hardly" in note for note in notes)


@pytest.mark.parametrize("cell", ["AB-1234", "X9520001100284", "ABC", "12.34", "A/12", "9520001100024", "00012345"])
def test_codes_that_a_shop_may_have_are_left_alone(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcode=cell)
    assert found.bodies[0]["barcode"] == cell
    assert not any("hardly" in note or "changed" in note for note in found.notes)


@pytest.mark.parametrize("cell", ["9,52E+12/9520001100079", "9520001100079;9,52E+12", "9.52E+12 9520001100079"])
@pytest.mark.parametrize("column", ["barcode", "barcodes_array"])
def test_a_shortened_code_beside_another_is_refused(cell: str, column: str, write: Write, tmp_path: Path) -> None:
    assert "was shortened by a spreadsheet" in product(write, tmp_path, **{column: cell}).bad[2]


def test_one_code_for_a_piece_and_for_a_unit_is_warned_of(write: Write, tmp_path: Path) -> None:
    code = "9520001100024"
    header = "product_number,barcode,purchase_unit_barcode,purchase_unit_quantity"
    write("products.csv", header, f"A,{code},{code},6", "C,9520001100093,09520001100093,1")
    assert Found(tmp_path).notes == [
        "products.csv:2: warning: purchase_unit_barcode is also the code of one piece:"
        " 9520001100024: a scan of the unit counts one piece."
    ]


def test_a_unit_takes_one_code(write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, purchase_unit_barcode="9520001100055/9520001100062")
    assert found.bodies[0]["purchase_unit_barcode"] == "9520001100055"
    assert any("takes one code" in note and "9520001100062" in note for note in found.notes)


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ("(01)09520001100260", "09520001100260"),
        ("(01) 0 9520001 10026 0", "09520001100260"),
        ("(02)09520001100260", "09520001100260"),
        ("(01)9520001100260", "9520001100260"),
        ("(00)501234500000000033", "501234500000000033"),
        ("(01)09520001100055,(01)09520001100062", "09520001100055,09520001100062"),
    ],
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array", "purchase_unit_barcode"])
def test_brackets_of_a_printed_code_are_taken_off(
    cell: str, codes: str, column: str, write: Write, tmp_path: Path
) -> None:
    if "," in codes and column == "purchase_unit_barcode":
        return
    found = product(write, tmp_path, **{column: cell})
    body = found.bodies[0]
    assert ",".join(body[name] for name in (column, "barcodes_array")[: 1 + (len(body) > 2)]) == codes
    assert any("changed in row 2" in note for note in found.notes)


@pytest.mark.parametrize(
    "cell",
    [
        *("(00)501234500000000033", "(00) 5 0123450 000000003 3", "(00) 501234500000000033"),
        "00501234500000000033",
    ],
)
def test_a_container_code_is_stored_as_it_is_scanned(cell: str, write: Write, tmp_path: Path) -> None:
    header = "store_number,order_number,no_of_containers,line_number,product_number,quantity,container_barcode"
    write("deliveries.csv", header, f"1,D,1,1,P,1,{cell}")
    found = Found(tmp_path)
    assert [line["container_barcode"] for line in found.bodies[0]["order_lines"]] == ["501234500000000033"]
    changes = [note for note in found.notes if "changed" in note]
    words = f"container_barcode: {cell[:4] if cell[0] == '(' else '00'} beside the code taken off."
    assert changes == [f"deliveries.csv: changed in row 2: {words}"]


RIGHT, WRONG = "9520001100116", "9520001100118"
BETWEEN = [
    "/",
    " / ",
    "\\",
    " ",
    "\n",
    "\t",
    "+",
    " & ",
    " of ",
    " en ",
    "_",
    ":",
    ".",
    "*",
    ";",
    ",",
    "|",
    "-",
    " - ",
    "–",
    "x",
]


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize(("first", "second"), [(RIGHT, WRONG), (WRONG, RIGHT), (WRONG, "9520001100124")])
def test_two_codes_of_which_one_is_wrong_are_refused(
    first: str, second: str, between: str, write: Write, tmp_path: Path
) -> None:
    found = product(write, tmp_path, barcode=f"{first}{between}{second}")
    assert found.bodies == []
    assert "write one" in found.bad[2].lower()


@pytest.mark.parametrize(
    "part", ["/2", " / 2", "/p2", "\\2", "#2", "*2", "+2", "=2", ".2", ",2", ";2", "|2", " 2", "-2", "–2"]
)
@pytest.mark.parametrize("column", ["barcode", "barcodes_array", "purchase_unit_barcode"])
def test_a_code_with_a_part_behind_a_sign_is_refused(column: str, part: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, **{column: f"{RIGHT}{part}"})
    assert found.bodies == []
    assert f"{column} '{RIGHT}{part}'" in found.bad[2].replace("\\\\", "\\")


def test_two_codes_in_one_unit_are_refused(write: Write, tmp_path: Path) -> None:
    units = f'[{{"unit_barcode": "{RIGHT} / 9520001100123", "unit_quantity": 6}}]'
    assert "several codes in one unit_barcode" in product(write, tmp_path, units=units).bad[2]


@pytest.mark.parametrize(
    ("between", "note"),
    [
        *((sign, "commas put between codes") for sign in (";", " ", "|", "\n", " ; ")),
        ("/", "/ between codes"),
        (", ", ""),
    ],
)
def test_further_codes_are_stored_with_commas_between(between: str, note: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcodes_array=between.join(("9520001100055", "9520001100062")))
    assert found.bodies[0]["barcodes_array"] == "9520001100055,9520001100062"
    assert found.notes == ([f"products.csv: changed in row 2: barcodes_array: {note}."] if note else [])


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("units", '[{"unit_quantity": 6, "unit_quantity": 7}]', "unit_quantity twice"),
        ("units", f'[{{"unit_barcode": "{RIGHT}", "unit_quantity": 6, "unit_barcode": "x"}}]', "unit_barcode twice"),
        ("free_fields", '[{"key": "bio", "value": "1", "value": "2"}]', "value twice"),
        ("set_product", '[{"set_item_quantity": 1, "set_item_quantity": 2}]', "set_item_quantity twice"),
        (
            "units",
            f'[{{"unit_barcode": "{RIGHT}", "unit_quantity": 6}}, {{"unit_barcode": "{RIGHT}", "unit_quantity": 12}}]',
            f"unit_barcode {RIGHT} twice",
        ),
        ("units", f'[{{"unit_barcode": "{RIGHT}.0", "unit_quantity": 6}}]', f"write {RIGHT}"),
        ("units", f'[{{"unit_barcode": "=\\"{RIGHT}\\"", "unit_quantity": 6}}]', f"write {RIGHT}"),
        ("units", f'[{{"unit_barcode": " {RIGHT} ", "unit_quantity": 6}}]', f"write {RIGHT}"),
    ],
)
def test_an_object_with_two_values_of_a_name_or_a_changed_code_is_refused(
    column: str, cell: str, words: str, write: Write, tmp_path: Path
) -> None:
    assert words in product(write, tmp_path, **{column: cell}).bad[2]
