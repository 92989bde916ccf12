"""What the report of a load says of each kind of record: how many were new, changed, and there before."""

from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from aisle.client.csv_load import load as load_files
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.domain.quantities_times_and_json import TimeZones
from tests.load.test_load_report import DELIVERY, ORDER, load, loaded
from tests.load.test_repeated_loads import World, a_world, stocked

PERSON = "store_number,badge,user,name,role"
KINDS = {
    "stores.csv": ("store_number,store_name,is_warehouse", "5,Five,false", "6,Six,false", "5,Fünf,false"),
    "products.csv": ("product_number,product_name,price", "A,a,1", "B,b,2", "A,a,1.50"),
    "attributes.csv": ("product_number,brand_code", "P,x", "Q,x", "P,y"),
    "free_fields.csv": ("product_number,sort_order,key,value", "P,1,k,x", "Q,1,k,x", "P,1,k,y"),
    "prices.csv": ("product_number,price", "P,5", "Q,6", "P,7"),
    "discount_prices.csv": ("product_number,discount_price", "P,0.5", "Q,0.6", "P,0.7"),
    "locations.csv": ("store_number,location_code,location_order", "1,C,", "1,D,", "1,C,7"),
    "people.csv": (PERSON, "1,0012,anna,Anna,", "1,0013,bert,Bert,", "1,0012,anna,Ann,"),
    "store_products.csv": ("store_number,product_number,min", "1,P,1", "1,Q,1", "1,P,0"),
    "orders.csv": (ORDER, "1,O1,1,P,1,,,", "1,O2,1,P,1,,,", ""),
    "deliveries.csv": (DELIVERY, "1,D1,1,1,P,1,", "1,D2,1,1,P,1,", ""),
}
OF_PRODUCTS = ("attributes.csv", "free_fields.csv", "prices.csv", "discount_prices.csv")
"""Files that change products, of which no record is new."""

ATTRIBUTE_TEXTS = (
    *("product_name", "color", "color_code", "size", "size_code", "brand_code", "brand_description", "volume"),
    *("product_type", "product_details", "variant_code", "variant_family", "attention_code", "category_code"),
)
EXPIRY = "expiry_date_time changed in 1 record: 2027-03-01 00:00 before, 2027-01-10 00:00 now, of P in store 1."


@pytest.mark.parametrize("file", KINDS)
async def test_new_and_changed_records_and_those_before_are_counted(file: str, world: World) -> None:
    header, first, second, changed = KINDS[file]
    stocked(world)
    await loaded(world)
    word = "changed" if file in OF_PRODUCTS else "new"
    same = "there before with the same values."

    async def said(*rows: str) -> str:
        lines = (await load(world, file, header, *rows)).lines()
        return next(line.removeprefix(f"{file}: ") for line in lines if line.startswith(f"{file}: "))

    assert await said(first) == f"1 of 1 rows loaded (1 {word})."
    assert await said(first) == f"1 row, {same}"
    assert await said(first, second) == f"1 of 2 rows loaded (1 {word}), 1 {same}"
    assert await said(first, second) == f"2 rows, all {same}"
    assert await said(first, "bad" + "," * 20 + "x") == f"0 of 2 rows loaded, 1 {same}"
    if changed:
        assert await said(changed, second) == f"1 of 2 rows loaded (1 changed), 1 {same}"


@pytest.mark.parametrize(
    ("column", "row", "changed", "said"),
    [
        ("expiry_date_time", "P,1,2027-01-10", {"expiry_date_time": "2027-03-01"}, EXPIRY),
        ("min,max", "P,1,2,9", {"min": 4, "max": 9}, "min changed in 1 record: 4 before, 2 now, of P in store 1."),
        ("min", "P,1,2", {"max": 9}, ""),
    ],
)
async def test_fields_that_a_load_puts_back_are_named(
    column: str, row: str, changed: dict[str, Any], said: str, tmp_path: Path
) -> None:
    zones = TimeZones(ZoneInfo("America/New_York"), {})
    with a_world(tmp_path, ServiceOptions(time_zones=zones)) as world:
        stocked(world)
        world.write("store_products.csv", f"product_number,store_number,{column}", row)
        await loaded(world)
        async with world.client() as client:
            await client.call("update-store-products", [{"product_number": "P", **changed}], store_number="1")
        lines = (await loaded(world)).lines()
    assert [line for line in lines if " before, " in line] == [f"store_products.csv: {said}"] * bool(said)


@pytest.mark.parametrize(
    ("file", "header", "first", "then", "said"),
    [
        (
            *("store_products.csv", "product_number,store_number,min", "P,1,2", "P,1,3"),
            "min changed in 1 record: 2 before, 3 now, of P in store 1.",
        ),
        (
            *("people.csv", "store_number,badge,user,name,pin", "1,B1,ann,Ann,4711", "1,B1,ann,Ann,0815"),
            "pin changed in 1 record: set before, changed now, of B1 in store 1.",
        ),
    ],
)
async def test_a_changed_field_is_named_with_what_was_before(
    file: str, header: str, first: str, then: str, said: str, world: World
) -> None:
    stocked(world)
    await loaded(world)
    await load(world, file, header, first)
    lines = (await load(world, file, header, then)).lines()
    assert [line for line in lines if " before, " in line] == [f"{file}: {said}"]


async def test_fields_of_many_records_are_named_once(world: World) -> None:
    stocked(world)
    await loaded(world)
    lines = (await load(world, "products.csv", "product_number,price", "P,1", "Q,1.5", "R,1.5")).lines()
    assert "products.csv: price changed in 2 records, in the first: 2 before, 1.5 now, of Q." in lines


async def test_lines_of_an_order_are_one_record(world: World) -> None:
    stocked(world)
    await loaded(world)
    rows = ["1,O1,1,P,1,,,", "1,O1,2,Q,1,,,"]
    assert (
        "orders.csv: 2 of 2 rows loaded as 1 record (1 new)." in (await load(world, "orders.csv", ORDER, *rows)).lines()
    )
    again = await load(world, "orders.csv", ORDER, *rows)
    assert "orders.csv: 2 rows, all there before with the same values." in again.lines()
    more = await load(world, "orders.csv", ORDER, *rows, "1,O2,1,P,1,,,")
    assert "orders.csv: 3 of 3 rows loaded as 2 records (1 new), 1 there before with the same values." in more.lines()


async def test_a_load_of_what_is_there_loads_nothing(world: World) -> None:
    stocked(world)
    await loaded(world)
    world.clear()
    world.write("products.csv", "product_number,price", "P,1", "Q,2", "R,3")
    async with world.client() as client:
        report = await load_files(world.folder / "files", client, service_name="S")
    assert report.lines()[0] == "Nothing was loaded into S."


async def test_each_changed_column_is_named_figures_first(world: World) -> None:
    columns = [*ATTRIBUTE_TEXTS, "purchase_unit_quantity", "price"]
    header = ",".join(["product_number", *columns])
    for text, figure in (("a", "6"), ("b", "12")):
        row = ",".join(["P", *[text] * len(ATTRIBUTE_TEXTS), figure, figure])
        report = await load(world, "products.csv", header, row)
    said = " ".join(line for line in report.lines() if "changed" in line)
    assert all(f"{name} changed in 1 record: 6 before, 12 now" in said for name in columns[-2:])
    assert all(f" {name} changed in" in said or f" {name} (1)" in said for name in columns)
