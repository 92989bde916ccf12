"""An empty cell leaves what is there, and says so of codes; (empty) takes it away where the interface can."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from aisle.client.csv_load import cells_of_columns as kinds
from aisle.client.csv_load.file_layouts_and_columns import (
    DELIVERIES,
    DISCOUNT_PRICES,
    LAYOUTS,
    ORDERS,
    STOCK,
    FileLayout,
)
from tests.load.test_repeated_loads import World

HEADER = "product_number,product_name,barcode,barcodes_array,color,deprecation_date"


async def loaded(world: World, header: str, row: str) -> tuple[dict[str, Any], list[str], list[str]]:
    """The product P after the load of a row, the refusals, and the notes but those on changed fields."""
    world.clear()
    world.write("products.csv", header, row)
    report = await world.load()
    assert report is not None
    async with world.client() as client:
        answer = await client.request("list-products", query={"product_number": "P"})
    notes = [note for note in report.files[0].notes if " changed in " not in note]
    return answer.json()["records"][0], [row.reason for row in report.bad], notes


FIRST = "P,Een,9520001100109,9520001100086;9520001100093,red,2027-01-31"


async def test_an_empty_cell_leaves_the_value_and_tells_of_codes(world: World) -> None:
    before, _, _ = await loaded(world, HEADER, FIRST)
    after, bad, notes = await loaded(world, HEADER, "P,Een,,,,")
    assert (after, bad) == (before, [])
    keeps = "is empty, and the service keeps its codes; write (empty) to take them away"
    assert notes == [
        f"products.csv:2: warning: barcode {keeps}: 9520001100109 of P.",
        f"products.csv:2: warning: barcodes_array {keeps}: {before['barcodes_array']} of P.",
    ]


@pytest.mark.parametrize("word", ["(empty)", "(leeg)", "(Leer)", "(vide)", " (empty) "])
async def test_a_value_is_taken_away(word: str, world: World) -> None:
    await loaded(world, HEADER, FIRST)
    after, bad, notes = await loaded(world, HEADER, f"P,Een,{word},{word},{word},{word}")
    assert (bad, notes) == ([], [])
    assert not any(after.get(name) for name in ("barcode", "barcodes_array", "color", "deprecation_date"))
    async with world.client() as client:
        found = (await client.request("list-products", query={"barcode": "9520001100086"})).json()
    assert found["records"] == []


async def test_further_codes_are_replaced_by_what_the_cell_says(world: World) -> None:
    await loaded(world, HEADER, FIRST)
    after, _, notes = await loaded(world, HEADER, "P,Een,9520001100109,9520001100055,,")
    assert (after["barcodes_array"], notes) == ("9520001100055", [])


async def test_further_codes_that_came_in_one_cell_and_stay_are_told(world: World) -> None:
    await loaded(world, "product_number,barcode", "P,9520001100109/9520001100086")
    _, _, notes = await loaded(world, "product_number,barcode", "P,9520001100055")
    assert notes == [
        "products.csv:2: warning: barcodes_array is empty, and the service keeps its codes; write (empty) to take them"
        " away: 9520001100086 of P."
    ]
    _, _, notes = await loaded(world, "product_number,barcode", "P,9520001100109/9520001100086")
    assert not any("keeps" in note for note in notes)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("price", "cannot be emptied; write the value that it is to have"),
        ("is_active", "cannot be emptied; write the value that it is to have"),
        ("product_name", "A product has a name"),
    ],
)
async def test_empty_marker_is_refused_where_value_is_required(column: str, words: str, world: World) -> None:
    await loaded(world, HEADER, FIRST)
    _, bad, _ = await loaded(world, f"product_number,{column}", "P,(empty)")
    assert len(bad) == 1
    assert words in bad[0]


async def test_a_key_cannot_be_taken_away(world: World) -> None:
    await loaded(world, HEADER, FIRST)
    _, bad, _ = await loaded(world, "product_number,color", "(empty),red")
    assert bad == ["product_number is (empty), but every row needs it"]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("product_number,sort_order,key,value", "P,1,bio,"),
        ("product_number,sort_order,key,value", "P,1,bio,NULL"),
        ("product_number,sort_order,key", "P,1,bio"),
    ],
)
async def test_an_empty_or_absent_value_of_a_free_field_stays(header: str, row: str, world: World) -> None:
    world.write("products.csv", "product_number,product_name", "P,Een")
    world.write("free_fields.csv", "product_number,sort_order,key,value", "P,1,bio,yes", "P,2,origin,Spain")
    assert await world.load()
    after, bad, _ = await loaded(world, "product_number,product_name", "P,Een")
    assert bad == []
    world.write("free_fields.csv", header, row)
    await world.load()
    async with world.client() as client:
        answer = await client.request("list-products", query={"product_number": "P"})
    assert answer.json()["records"][0]["free_fields"] == after["free_fields"]
    assert [field["value"] for field in after["free_fields"]] == ["yes", "Spain"]


@pytest.mark.parametrize(("header", "cells"), [("", ""), (",is_active,is_active_data_exchange", ",,")])
async def test_an_empty_or_absent_flag_of_a_store_stays(header: str, cells: str, world: World) -> None:
    names = "store_number,store_name,is_warehouse"
    world.write("stores.csv", f"{names},is_active,is_active_data_exchange", "1,Een,false,false,false")
    await world.load()
    world.write("stores.csv", f"{names}{header}", f"1,Twee,false{cells}", f"2,Drie,false{cells}")
    report = await world.load()
    assert report is not None
    assert report.bad == ()
    async with world.client() as client:
        stores = [(await client.request_extension("GET", f"/aisle/v1/stores/{one}")).json() for one in (1, 2)]
    flags = [(store["is_active"], store["is_active_data_exchange"]) for store in stores]
    assert ([store["store_name"] for store in stores], flags) == (["Twee", "Drie"], [(False, False), (True, True)])


_CELLS = {
    **{kinds.TEXT: "x", kinds.CODE: "7", kinds.DOTTED_CODE: "x", kinds.BARCODE: "9520001100109", kinds.JSON: ""},
    **{kinds.BARCODES: "9520001100086", kinds.NUMBER: "3", kinds.MONEY: "3", kinds.NUMBERS: "5|6", kinds.POOL: "2"},
    **{kinds.WHOLE: "3", kinds.FLAG: "false", kinds.DATE: "2027-01-31", kinds.LIST: "a|b", kinds.ROLE: "staff"},
}
_OWN_CELLS = {
    **{"product_number": "P", "store_number": "1", "location_code": "A", "role": "supervisor", "pin": "1234"},
    **{"max": "9", "original_max": "9", "edit_min_max_percentage": "50", "price": "30", "old_price": "40"},
    **{"free_fields": '"[{""sort_order"":1,""key"":""k"",""value"":""v""}]"', "units": '"[{""unit_quantity"":6}]"'},
    **{"stores_allowed": "1", "stores_not_allowed": "2", "is_active": "true", "is_store_product": "true"},
    **{"price_compare_unit": "", "price_compare_multiplier": "", "ordering_schema": ""},
}
_TABLES = ("store", "product", "store_product", "location", "person")


def _held(world: World) -> list[str]:
    """What the service holds, without the times of changes."""
    with closing(sqlite3.connect(world.folder / "service.db")) as connection:
        cursors = [connection.execute(f"SELECT * FROM {table}") for table in _TABLES]
        names = [[one[0] for one in cursor.description] for cursor in cursors]
        rows = [dict(zip(of, row, strict=True)) for of, cursor in zip(names, cursors, strict=True) for row in cursor]
    return [str({name: row[name] for name in row if "modified" not in name and "changed" not in name}) for row in rows]


@pytest.mark.parametrize(
    "layout", [one for one in LAYOUTS if one not in (STOCK, ORDERS, DELIVERIES)], ids=lambda one: one.file
)
async def test_no_empty_cell_and_no_absent_column_changes_what_the_service_holds(
    layout: FileLayout, world: World
) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,Een,false", "2,Twee,false")
    world.write("products.csv", "product_number,product_name,price", "P,Een,30")
    await world.load()
    world.clear()
    cells = {name: _OWN_CELLS.get(name, _CELLS[column.kind]) for name, column in layout.columns.items()}
    if layout is DISCOUNT_PRICES:
        cells["is_promotion"] = "true"  # a discount starts its promotion
    needed = {name for name, one in layout.columns.items() if one.required or name in layout.key_columns}
    emptied = {name: cell if name in needed else "" for name, cell in cells.items()}
    held = []
    for row in (cells, cells, emptied, {name: cells[name] for name in needed}):
        world.write(layout.file, ",".join(row), ",".join(row.values()))
        report = await world.load()
        assert report is not None
        assert report.bad == ()
        held.append(_held(world))
    assert held[2:] == [held[1]] * 2
