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
