"""Goods of a product that is not for the store, or inactive, are loaded, with a warning that names the row."""

from __future__ import annotations

import pytest

from tests.load.test_divided_records import HEADERS
from tests.load.test_existing_stock import FEW, loaded
from tests.load.test_repeated_loads import STOCK_HEADER, World

WORDS = "the product is not for the store"
FILES = {
    **HEADERS,
    "stock.csv": STOCK_HEADER.replace(",stock_pool", ""),
    "store_products.csv": "store_number,product_number,min",
}
ROWS = {
    "orders.csv": "{store},O{at},1,{product},1",
    "deliveries.csv": "{store},D{at},1,{product},1,1",
    "stock.csv": "{store},{product},,1",
    "store_products.csv": "{store},{product},1",
}


@pytest.mark.parametrize("others", [0, FEW + 5], ids=["few", "many"])
@pytest.mark.parametrize("file", FILES)
async def test_a_product_that_is_not_for_the_store_is_warned_of(file: str, others: int, world: World) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false", "2,Two,false")
    more = [f"X{at},," for at in range(others)]
    products = ["P,,1", "Q,2,", "R,1,2", "S,,"]
    world.write("products.csv", "product_number,stores_allowed,stores_not_allowed", *products, *more)
    await loaded(world)
    world.clear()
    rows = [
        ROWS[file].format(store=store, product=product, at=at)
        for at, (store, product) in enumerate([("1", one) for one in "PQRS"] + [("2", one) for one in "PQRS"])
    ]
    world.write(
        file, FILES[file], *rows, *(ROWS[file].format(store="1", product=f"X{at}", at=f"x{at}") for at in range(others))
    )
    report = await loaded(world)
    said = {int(line.split(":")[1]) for line in report.lines() if WORDS in line}
    assert said | {bad.line for bad in report.bad} == {2, 3, 8}
    assert (said == set()) == (file == "store_products.csv")


@pytest.mark.parametrize("others", [0, FEW + 5], ids=["few", "many"])
@pytest.mark.parametrize("in_one_folder", [True, False])
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("orders.csv", {"the new order is of a product whose is_active is false": [2]}),
        (
            "deliveries.csv",
            {
                "the new delivery is of a product whose is_active is false": [2],
                "the new delivery is of a product whose is_stock is false": [3],
            },
        ),
        ("stock.csv", {"the stock is of a product whose is_active is false": [2]}),
    ],
)
async def test_goods_of_a_product_that_is_inactive_or_keeps_no_stock(
    file: str, said: dict[str, list[int]], in_one_folder: bool, others: int, world: World
) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    more = [f"X{at},true,true" for at in range(others)]
    world.write("products.csv", "product_number,is_active,is_stock", "P,false,true", "Q,true,false", "R,,", *more)
    if not in_one_folder:
        await loaded(world)
        world.clear()
    numbers = ["P", "Q", "R", *(f"X{at}" for at in range(others))]
    rows = [ROWS[file].format(store="1", product=product, at=product) for product in numbers]
    for expected in (said, {}):  # the second time nothing is new
        world.write(file, FILES[file], *rows)
        lines = [line for line in (await loaded(world)).lines() if "of a product whose" in line]
        found: dict[str, list[int]] = {}
        for line in lines:
            found.setdefault(line.split(": ")[2], []).append(int(line.split(":")[1]))
        assert found == expected


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            '"[{""set_product_number"":""P"",""set_item_quantity"":""2""}]"',
            "set_product has the set itself as a part: P",
        ),
        ('"[{""set_product_number"":""R1"",""set_item_quantity"":""2""}]"', "the service does not have: R1; R-1?"),
        ('"[{""set_product_number"":""Q"",""set_item_quantity"":""2.5""}]"', ""),
    ],
)
async def test_parts_of_a_set(parts: str, said: str, world: World) -> None:
    world.write("products.csv", "product_number,is_set,set_product", "Q,,", "R-1,,", f"P,true,{parts}")
    found = [line for line in (await loaded(world)).lines() if "set_product" in line]
    assert [line.endswith(f"{said}.") for line in found] == [True] * bool(said)


@pytest.mark.parametrize(
    ("column", "is_said"),
    [("purchase_unit_product_number", True), ("referral_product_id", True), ("smallest_product_number", False)],
)
async def test_a_product_that_refers_to_itself(column: str, is_said: bool, world: World) -> None:
    world.write("products.csv", f"product_number,{column}", "P,P", "Q,P")
    found = [line for line in (await loaded(world)).lines() if "itself" in line]
    assert found == [f"products.csv:2: warning: {column} is the product itself: P."] * is_said


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ("2", ""),
        ("1", "store_origin is the store itself: 1"),
        ("9", "store_origin names a store that the service does not have: 9"),
        ("", ""),
    ],
)
async def test_the_store_from_which_a_delivery_comes(origin: str, said: str, world: World) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "0001,One,false", "0002,Two,false")
    world.write("products.csv", "product_number", "P")
    header = "store_number,order_number,no_of_containers,line_number,product_number,quantity,store_origin"
    world.write("deliveries.csv", header, f"0001,D,1,1,P,1,{origin}")
    found = [line for line in (await loaded(world)).lines() if "store_origin" in line]
    assert found == [f"deliveries.csv:2: warning: {said}."] * bool(said)
