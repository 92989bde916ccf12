"""Telephone numbers, postal codes and customer numbers that have lost the zeros that others have."""

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World, stocked

HEADER = "store_number,order_number,line_number,product_number,quantity"
LOST = "may have lost zeros, which a spreadsheet takes off"


async def warnings(world: World) -> list[str]:
    return [line for line in (await loaded(world)).lines() if LOST in line]


@pytest.mark.parametrize(
    ("column", "before", "now"),
    [
        ("customer_zipcode", "01000", "1000"),
        ("delivery_zipcode", "01067", "1067"),
        ("customer_number", "000815", "815"),
        ("customer_phone", "0301234567", "301234567"),
        ("customer_phone", "030 123-4567", "301234567"),
    ],
)
async def test_zeros_that_the_service_has_are_missed(column: str, before: str, now: str, world: World) -> None:
    stocked(world, "1,P,A,,1")
    world.write("orders.csv", f"{HEADER},{column}", f"1,O1,1,P,1,{before}")
    assert await warnings(world) == []
    world.write("orders.csv", f"{HEADER},{column}", f"1,O2,1,P,1,{now}", "1,O3,1,P,1,99999")
    assert await warnings(world) == [f"orders.csv:2: warning: {column} {LOST}: {before} before, {now} now."]


@pytest.mark.parametrize("column", ["customer_zipcode", "customer_number", "delivery_zipcode"])
async def test_zeros_that_another_row_has_are_missed(column: str, world: World) -> None:
    stocked(world, "1,P,A,,1")
    rows = ["1,O1,1,P,1,1000", "1,O2,1,P,1,01000", "1,O3,1,P,1,1000 AB", "1,O4,1,P,1,10000", "1,O5,1,P,1,"]
    world.write("orders.csv", f"{HEADER},{column}", *rows)
    assert await warnings(world) == [f"orders.csv:2: warning: {column} {LOST}: 01000 before, 1000 now."]


async def test_zeros_of_a_store_are_missed(world: World) -> None:
    world.write(
        "stores.csv", "store_number,store_name,is_warehouse,postal_code", "1,One,false,01000", "2,Two,false,1000"
    )
    assert await warnings(world) == [f"stores.csv:3: warning: postal_code {LOST}: 01000 before, 1000 now."]


STORE_CODES = ("area_id", "postal_code", "phone_number", "store_gln", "cost_center", "country_code", "store_type_code")
PRODUCT_CODES = (
    *("category_code", "brand_code", "color_code", "size_code", "variant_code", "attention_code", "country_code"),
    *("supplier_id", "supplier_product_number", "smallest_product_number", "referral_product_id", "general_ledger"),
    *("promotion_week", "product_name", "size"),
)
DOTTED = ("category_code", "brand_code", "supplier_product_number", "size")


@pytest.mark.parametrize(("before", "now"), [("1.10", "1.1"), ("3.00", "3"), ("2.0", "2"), ("01.5", "1.5")])
async def test_zeros_behind_a_point_are_missed(before: str, now: str, world: World) -> None:
    header = f"product_number,{','.join(DOTTED)}"
    other = f"Q,{','.join(['1.15'] * len(DOTTED))}"
    world.write("products.csv", header, f"P,{','.join([before] * len(DOTTED))}", other)
    assert await warnings(world) == []
    assert await warnings(world) == []
    world.write("products.csv", header, f"P,{','.join([now] * len(DOTTED))}", other)
    assert sorted(await warnings(world)) == sorted(
        f"products.csv:2: warning: {column} {LOST}: {before} before, {now} now."
        for column in DOTTED
        if "." in now or column != "supplier_product_number"  # .0 behind it is taken off
    )


HELD = {
    "stores.csv": ("store_number,store_name,is_warehouse", "1,One,false", STORE_CODES),
    "products.csv": ("product_number", "P", PRODUCT_CODES),
    "attributes.csv": ("product_number", "P", PRODUCT_CODES[:7]),
    "free_fields.csv": ("product_number,sort_order,key", "P,1,bio", ("value",)),
    "discount_prices.csv": ("product_number,discount_price", "P,0.5", ("promotion_week",)),
}


@pytest.mark.parametrize("file", HELD)
async def test_zeros_that_the_record_has_are_missed(file: str, world: World) -> None:
    header, row, columns = HELD[file]
    stocked(world)
    await loaded(world)
    world.clear()
    for value in ("42", "0043"):
        world.write(file, ",".join((header, *columns)), ",".join((row, *[value] * len(columns))))
        assert await warnings(world) == []
    world.write(file, ",".join((header, *columns)), ",".join((row, *["43"] * len(columns))))
    found = await warnings(world)
    assert sorted(found) == sorted(f"{file}:2: warning: {column} {LOST}: 0043 before, 43 now." for column in columns)
