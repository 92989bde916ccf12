"""An empty cell leaves what is there, and says so of codes; (empty) takes it away where the interface can."""

from typing import Any

import pytest

from tests.load.test_repeated_loads import World

HEADER = "product_number,product_name,barcode,barcodes_array,color,deprecation_date"


async def loaded(world: World, header: str, row: str) -> tuple[dict[str, Any], list[str], list[str]]:
    """The product P after the load of a row, the refusals and the notes."""
    world.clear()
    world.write("products.csv", header, row)
    report = await world.load()
    assert report is not None
    async with world.client() as client:
        answer = await client.request("list-products", query={"product_number": "P"})
    return answer.json()["records"][0], [row.reason for row in report.bad], list(report.files[0].notes)


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
