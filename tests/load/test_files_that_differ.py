"""Two files of one folder that name the same field: that of the one matter counts, and the other is never written."""

from typing import Any

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_removed_prices import listed
from tests.load.test_repeated_loads import World, stocked


def write_all(world: World, files: dict[str, str]) -> None:
    stocked(world, "1,P,A,,1")
    for name, text in files.items():
        world.write(name, *text.split())


PRODUCT = "product_number,price,size,is_promotion,promotion_price,old_price"
CASES: dict[str, tuple[dict[str, str], str, dict[str, Any], tuple[str, ...]]] = {
    "a price": (
        {"products.csv": "product_number,price P,27", "prices.csv": "product_number,price P,26"},
        "",
        {"price": 26},
        ("price",),
    ),
    "the same price": (
        {"products.csv": "product_number,price P,26.0", "prices.csv": "product_number,price P,26"},
        "",
        {"price": 26},
        (),
    ),
    "a size": (
        {"products.csv": "product_number,size P,L", "attributes.csv": "product_number,size P,XL"},
        "",
        {"size": "XL"},
        ("size",),
    ),
    "a promotion": (
        {
            "products.csv": "product_number,is_promotion,promotion_price P,0,19",
            "discount_prices.csv": "product_number,discount_price P,20",
        },
        "",
        {"promotion_price": 20, "is_promotion": True},
        ("is_promotion", "promotion_price"),
    ),
    "an old price": (
        {"products.csv": "product_number,old_price P,31", "prices.csv": "product_number,price P,26"},
        "",
        {"price": 26, "old_price": 31},
        (),
    ),
    "a price of a store": (
        {
            "prices.csv": "store_number,product_number,price 1,P,7",
            "store_products.csv": "store_number,product_number,price,min 1,P,8,2",
        },
        "1",
        {"price": 7},
        ("price",),
    ),
    "a discount of a store": (
        {
            "discount_prices.csv": "store_number,product_number,discount_price 1,P,5",
            "store_products.csv": "store_number,product_number,discount_price,is_promotion 1,P,6,0",
        },
        "1",
        {"promotion_price": 5, "is_promotion": True},
        ("discount_price", "is_promotion"),
    ),
    "a free field": (
        {
            "products.csv": 'product_number,free_fields P,"[{""key"":""k"",""sort_order"":1,""value"":""a""}]"',
            "free_fields.csv": "product_number,sort_order,key,value P,1,k,b",
        },
        "",
        {"is_promotion": None},
        ("the",),
    ),
    "a row of a store leaves the chain's": (
        {"products.csv": "product_number,price P,27", "prices.csv": "store_number,product_number,price 1,P,5"},
        "",
        {"price": 27},
        (),
    ),
    "other columns": (
        {"products.csv": "product_number,price P,27", "attributes.csv": "product_number,size P,XL"},
        "",
        {"price": 27, "size": "XL"},
        (),
    ),
}


@pytest.mark.every_case
@pytest.mark.parametrize("case", CASES)
async def test_file_of_the_matter_counts_and_is_named(case: str, world: World) -> None:
    files, store, expected, named = CASES[case]
    write_all(world, files)
    for _ in range(2):  # again, nothing is changed for a moment
        lines = (await loaded(world)).lines()
        row = await listed(world, store)
        assert {name: row.get(name) for name in expected} == expected
        warned = [line for line in lines if "which counts" in line]
        assert {line.split(" ")[2] for line in warned} == set(named), lines
        assert all("row 2 there" in line for line in warned)
    assert sum("there before" in line for line in lines) >= 2


async def test_an_old_price_is_one_that_was_in_force(world: World) -> None:
    seen = []
    for price, in_prices in (("27", "30"), ("", "26"), ("27", "26"), ("27", "25"), ("27", "25")):
        world.clear()
        write_all(world, {"prices.csv": f"product_number,price P,{in_prices}"})
        world.write("products.csv", "product_number,price", f"P,{price}")
        await loaded(world)
        row = await listed(world, "")
        seen.append((row["price"], row.get("old_price")))
    assert seen == [(30, None), (26, 30), (26, 30), (25, 26), (25, 26)]
