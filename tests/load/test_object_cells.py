"""Cells with objects in JSON: their fields are read as columns of those names, and each example can be loaded."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from aisle.cli.load import example_cell
from aisle.client.csv_load.cells_of_columns import JSON, Column
from aisle.client.csv_load.file_layouts_and_columns import PRODUCTS, STORES
from tests.load.test_load_report import loaded
from tests.load.test_repeated_loads import World
from tests.load.test_spreadsheets import Found, Write, product, write

__all__ = ["write"]

RIGHT = "9520001100116"
ROWS = {"stores.csv": ("store_number,store_name,is_warehouse", "1,One,false"), "products.csv": ("product_number", "P")}
FIELDS = "sort_order (needed), key (needed), value"


def quoted(cell: str) -> str:
    return '"{}"'.format(cell.replace('"', '""'))


@pytest.mark.every_case
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
            f"the unit_barcode '{RIGHT}' twice",
        ),
        (
            "set_product",
            '[{"set_product_number": "Q", "set_item_quantity": "1"}, {"set_product_number": "Q"}]',
            "lacks set_item_quantity in object 2; the fields of an object are set_item_quantity (needed), set_product",
        ),
        ("units", f'[{{"unit_barcode": "{RIGHT} / 9520001100123", "unit_quantity": 6}}]', "has several codes"),
        ("units", f'[{{"unit_barcode": "{RIGHT}.0", "unit_quantity": 6}}]', f"write {RIGHT}"),
        ("units", f'[{{"unit_barcode": "=\\"{RIGHT}\\"", "unit_quantity": 6}}]', f"write {RIGHT}"),
        ("units", f'[{{"unit_barcode": " {RIGHT} ", "unit_quantity": 6}}]', f"write {RIGHT}"),
        (
            "units",
            '[{"unit_barcode": "9.52E+12", "unit_quantity": 6}]',
            "in object 1: unit_barcode '9.52E+12' was short",
        ),
        ("units", f'[{{"unit_barcode": {RIGHT}, "unit_quantity": 6}}]', f"unit_barcode is {RIGHT}; write a text"),
        ("units", '[{"unit_quantity": "6"}]', 'unit_quantity is "6"; write a number, without quotes'),
        ("units", '[{"unit_quantity": true}]', "unit_quantity is true; write a number"),
        ("units", '[{"unit_quantity": null}]', "lacks unit_quantity in object 1"),
        ("units", '[{"unit_quantity": 1e999}]', "'1e999' is no number with all its digits"),
        ("units", f'[{{"unit_quantity": {"9" * 5000}}}]', "is no number"),
        ("units", '[{"unit_quantity": NaN}]', "'NaN' is no number"),
        ("units", '[{"unit_quantity": -Infinity}]', "'-Infinity' is no number"),
        (
            "units",
            '[{"quantity": 6}]',
            "has an unknown field quantity in object 1; the fields of an object are",
        ),
        ("free_fields", '[{"sort_order": 1, "key": " a ", "value": "x"}]', "key is ' a '; write a"),
        ("free_fields", '[{"sort_order": 1, "key": "a", "value": "#N/A"}]', "value is '#N/A', an error of the spread"),
        ("free_fields", '[{"sort_order": 1, "key": "a", "value": "NULL"}]', "value is 'NULL'; leave it out"),
        (
            "free_fields",
            '[{"sort_order": 1, "value": "x"}]',
            f"lacks key in object 1; the fields of an object are {FIELDS}",
        ),
        ("free_fields", '[{"unit_quantity": 6}]', f"the fields of an object are {FIELDS}"),
        ("set_product", '[{"set_product_number": "Q ", "set_item_quantity": "2"}]', "'Q '; write Q"),
        (
            "set_product",
            '[{"set_product_number": "Q", "set_item_quantity": "abc"}]',
            "set_item_quantity 'abc' is no number",
        ),
        ("set_product", '[{"set_product_number": "Q", "set_item_quantity": "2,5"}]', "set_item_quantity "),
        (
            "set_product",
            '[{"set_product_number": "Q", "set_item_quantity": "0"}]',
            "is 0, and a set has more than none",
        ),
        (
            "set_product",
            '[{"set_product_number": "Q", "set_item_quantity": "-1"}]',
            "is -1, and a set has more than none",
        ),
        ("opening_hours", '[{"day": "monday"}]', "has an unknown field day in object 1"),
        ("opening_hours", '[{"key": "", "value": "8-18"}]', "lacks key in object 1"),
        ("opening_hours", '[{"key": "monday"}]', "lacks value in object 1"),
        (
            "opening_hours",
            '[{"key": "monday", "value": "8-18"}, {"key": "Monday", "value": "9-18"}]',
            "has the key 'Monday' twice; keep one of them",
        ),
        ("ordering_schema", '[{"delivery_offset": 2, "time": "10:30"}]', "lacks day in object 1"),
        ("store_printers", '[{"is_bluetooth": "ja"}]', 'is_bluetooth is "ja"; write true or false'),
    ],
)
def test_an_object_that_cannot_be_stored_as_it_is_is_refused(
    column: str, cell: str, words: str, write: Write, tmp_path: Path
) -> None:
    file = "stores.csv" if column in STORES.columns and column != "free_fields" else "products.csv"
    header, row = ROWS[file]
    write(file, f"{header},{column}", f"{row},{quoted(cell)}")
    reason = Found(tmp_path).bad[2]
    assert reason.startswith(f"{column} ")
    assert words in reason


@pytest.mark.parametrize(
    ("cell", "note"),
    [
        ("19520001100015", "has a wrong check digit: 19520001100015 should end in 4"),
        ("952OOO11OO116", "has letters where 9520001100116 has digits"),
        ("doos 6", "holds words beside digits, and is hardly a code: 'doos 6'"),
        ("19520001100014", ""),
        ("", ""),
    ],
)
def test_a_code_of_a_unit_is_warned_of_as_a_barcode(cell: str, note: str, write: Write, tmp_path: Path) -> None:
    found = product(write, tmp_path, units=f'[{{"unit_quantity": 6, "unit_barcode": "{cell}"}}]').notes
    assert [one.partition(note)[0] for one in found] == ["products.csv:2: warning: unit_barcode in units "] * bool(note)


OBJECTS: Mapping[str, Column] = {
    f"{layout.file}.{one.name}": one
    for layout in (STORES, PRODUCTS)
    for one in layout.columns.values()
    if one.kind == JSON
}


@pytest.mark.parametrize("name", OBJECTS)
async def test_each_example_of_objects_is_loaded_as_it_is_printed(name: str, world: World) -> None:
    file, column = name.rsplit(".", 1)
    header, row = ROWS[file]
    example = example_cell(OBJECTS[name])
    world.write(file, f"{header},{column}", f"{row},{quoted(example)}")
    report = await loaded(world)
    assert report.bad == ()
    assert all(f'"{field}"' in example for field in OBJECTS[name].fields)
    assert not any("warning" in line for line in report.lines() if "set_product" not in line)


async def test_a_refusal_of_the_service_names_the_object_and_its_column(world: World) -> None:
    world.write("products.csv", "product_number,units", 'P,"[{""unit_quantity"":6},{""unit_quantity"":-1}]"')
    [bad] = (await loaded(world)).bad
    assert "unit_quantity of object 2 in units: Write 0 or more" in bad.reason


@pytest.mark.parametrize(
    ("first", "last"), [("\u201c", "\u201d"), ("\u201e", "\u201c"), ("\u00ab", "\u00bb"), ("\u2018", "\u2019")]
)
async def test_quotation_marks_of_print_are_named(first: str, last: str, world: World) -> None:
    world.write("products.csv", "product_number,units", f"P,[{{{first}unit_quantity{last}:6}}]")
    [bad] = (await loaded(world)).bad
    assert "is no JSON (its quotes are those of print; write straight ones); write an array of objects" in bad.reason


async def test_another_error_beside_an_apostrophe_of_print_is_named(world: World) -> None:
    world.write("products.csv", "product_number,units", 'P,"[{""unit_name"": ""d\u2019or"" ""unit_quantity"": 6}]"')
    [bad] = (await loaded(world)).bad
    assert "is no JSON (Expecting ',' delimiter" in bad.reason
