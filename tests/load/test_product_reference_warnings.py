"""Goods of a product that is not for the store are loaded, with a warning that names the row."""

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
