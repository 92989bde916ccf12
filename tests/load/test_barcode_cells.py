"""Cells of barcodes that hold more than a code: what is sure is cleaned, what is not is warned of by row and column."""

from pathlib import Path

import pytest

from tests.load.test_load_report import loaded
from tests.load.test_repeated_loads import World, stocked
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


def units(code: str, quantity: int) -> str:
    return f'"[{{""unit_barcode"":""{code}"",""unit_quantity"":{quantity}}}]"'


PIECE, UNIT = "9520001100024", "19520001100014"


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({}, {"barcode": PIECE, "units": units(PIECE, 6)}, "unit_barcode in units is also the code of one piece"),
        ({}, {"barcode": PIECE, "units": units(PIECE, 1)}, ""),
        ({"barcode": PIECE}, {"units": units(f"0{PIECE}", 6)}, "unit_barcode in units is also the code of one piece"),
        (
            {"barcodes_array": f'"{PIECE},{UNIT}"'},
            {"purchase_unit_barcode": UNIT, "purchase_unit_quantity": "6"},
            "purchase_unit_barcode is also the code of one piece",
        ),
        ({"units": units(UNIT, 6)}, {"barcode": UNIT}, "unit_barcode in units is also the code of one piece"),
        (
            {"purchase_unit_barcode": UNIT, "purchase_unit_quantity": "6"},
            {"barcodes_array": UNIT},
            "purchase_unit_barcode is also the code of one piece",
        ),
        (
            {"units": units(UNIT, 6)},
            {"purchase_unit_barcode": UNIT, "purchase_unit_quantity": "12"},
            "purchase_unit_barcode is also the code of another unit",
        ),
        ({"units": units(UNIT, 6)}, {"purchase_unit_barcode": UNIT, "purchase_unit_quantity": "6"}, ""),
        ({"barcode": UNIT}, {"barcode": PIECE, "units": units(UNIT, 6)}, ""),
        ({"barcode": PIECE}, {"units": units(UNIT, 6)}, ""),
    ],
)
async def test_a_code_of_two_quantities_of_a_product(
    before: dict[str, str], now: dict[str, str], said: str, world: World
) -> None:
    for cells, words in ((before, ""), (now, said)):
        world.write("products.csv", ",".join(("product_number", *cells)), ",".join(("P", *cells.values())), "Q")
        found = [line for line in (await loaded(world)).lines() if "is also the code of" in line]
        assert [words in line for line in found] == [True] * bool(words)


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(
    ("before", "cells", "is_said"),
    [
        ("", f"{UNIT},", True),
        ("", f"{UNIT},6", False),
        ("", ",", False),
        ("", "(empty),", False),
        ("6", f"{UNIT},", False),
        ("6", f"{UNIT},12", False),
    ],
)
async def test_a_code_of_a_unit_without_a_quantity(
    before: str, cells: str, is_said: bool, is_new: bool, world: World
) -> None:
    if not is_new:
        world.write("products.csv", "product_number,purchase_unit_quantity", f"P,{before}")
        await loaded(world)
    world.write("products.csv", "product_number,purchase_unit_barcode,purchase_unit_quantity", f"P,{cells}")
    found = [
        line for line in (await loaded(world)).lines() if "purchase_unit_barcode has no purchase_unit_quantity" in line
    ]
    assert len(found) == (is_said or (is_new and cells == f"{UNIT},"))


async def test_a_code_of_a_unit_in_a_file_without_quantities(world: World) -> None:
    world.write("products.csv", "product_number,purchase_unit_barcode", f"P,{UNIT}")
    assert not any("purchase_unit_quantity" in line for line in (await loaded(world)).lines())


@pytest.mark.every_case
@pytest.mark.parametrize("file", ["locations.csv", "orders.csv", "products.csv"])
async def test_a_code_of_a_unit_that_means_something_else_is_warned_of(file: str, world: World) -> None:
    stocked(world)
    world.write("products.csv", "product_number,units", f"P,{units(UNIT, 6)}")
    await loaded(world)
    rows = {
        "locations.csv": ("store_number,location_code", f"1,{UNIT}"),
        "orders.csv": ("store_number,order_number,line_number,product_number,quantity", f"1,{UNIT},1,P,1"),
        "products.csv": ("product_number", UNIT),
    }
    world.write(file, *rows[file])
    lines = (await loaded(world)).lines()
    assert any("warning" in line and UNIT in line for line in lines), lines


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
    ("cell", "extra"),
    [
        *(
            (cell, "(00)")
            for cell in ("(00)501234500000000033", "(00) 5 0123450 000000003 3", "(00) 501234500000000033")
        ),
        *((cell, "00") for cell in ("00501234500000000033", "00 501234500000000033", "00-501234500000000033")),
        *(
            (cell, "00")
            for cell in ("00 5 0123450 000000003 3", "0050 1234 5000 0000 0033", "SSCC: 00501234500000000033")
        ),
        *((cell, "]C100") for cell in ("]C100501234500000000033", "]C1 00 5 0123450 000000003 3")),
        *(("]C1(00)501234500000000033", "]C1(00)"), ("SSCC ]C100501234500000000033", "]C100")),
        ("*00501234500000000033*", "00"),
        *(
            (cell, "(00) and further data")
            for cell in ("(00)501234500000000033(10)ABC", "(00) 501234500000000033 (02)1(37)2")
        ),
        ("]C10050123450000000003310ABC", "]C100 and further data"),
    ],
)
def test_a_container_code_is_stored_as_it_is_scanned(cell: str, extra: str, write: Write, tmp_path: Path) -> None:
    header = "store_number,order_number,no_of_containers,line_number,product_number,quantity,container_barcode"
    write("deliveries.csv", header, f"1,D,1,1,P,1,{cell}")
    found = Found(tmp_path)
    assert [line["container_barcode"] for line in found.bodies[0]["order_lines"]] == ["501234500000000033"]
    changes = [note for note in found.notes if "changed" in note]
    words = f"container_barcode: {extra} beside the code taken off."
    assert changes == [f"deliveries.csv: changed in row 2: {words}"]


@pytest.mark.parametrize("cell", ["]C1010952000110011617261231", "(01)09520001100116(10)ABC", "]C10050123450000000003"])
def test_a_code_of_goods_is_not_cut_to_a_container_number(cell: str, write: Write, tmp_path: Path) -> None:
    header = "store_number,order_number,no_of_containers,line_number,product_number,quantity,container_barcode"
    write("deliveries.csv", header, f"1,D,1,1,P,1,{cell}")
    found = Found(tmp_path)
    assert [line["container_barcode"] for line in found.bodies[0]["order_lines"]] == [cell]
    assert "holds signs that are hardly part of a code" in " ".join(found.notes)


@pytest.mark.parametrize("cell", ["9520001100055,(empty)", "(leer)|9520001100055"])
def test_a_word_for_no_value_among_codes_is_no_code(cell: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, barcodes_array=cell)
    assert found.bodies[0]["barcodes_array"] == "9520001100055"
    assert "read as an empty cell" in " ".join(found.notes)


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
