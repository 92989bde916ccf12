"""Prices that a file takes away: the old price and the discount price, by 0 or a word for an empty value."""

from typing import Any

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World, stocked


async def listed(world: World, store: str, product: str = "P") -> dict[str, Any]:
    async with world.client() as client:
        query = {"product_number": product} | ({"store_number": "1"} if store else {})
        pages = client.pages("list-products", query=query)
        (row,) = [row async for rows, _ in pages for row in rows]
    return dict(row)


@pytest.mark.parametrize("cell", ["0", "0.00", "(vide)", "(leeg)", "(empty)"])
@pytest.mark.parametrize("store", ["", "1"])
async def test_old_and_discount_prices_are_taken_away(cell: str, store: str, world: World) -> None:
    stocked(world, "1,P,A,,1")
    world.write("prices.csv", "product_number,store_number,price,old_price", f"P,{store},1.95,2.45")
    world.write("discount_prices.csv", "product_number,store_number,discount_price", f"P,{store},1.50")
    await loaded(world)
    row = await listed(world, store)
    assert (row["old_price"], row["promotion_price"]) == (2.45, 1.5)
    world.write("prices.csv", "product_number,store_number,price,old_price", f"P,{store},1.95,{cell}")
    world.write("discount_prices.csv", "product_number,store_number,discount_price", f"P,{store},{cell}")
    report = await loaded(world)
    assert report.bad == ()
    row = await listed(world, store)
    assert (row["price"], row.get("old_price"), row.get("promotion_price")) == (1.95, None, None)
    assert row["is_promotion"] is False
    assert any(
        "discount_price is 0, and takes away the discount price, if there is one: P." in line for line in report.lines()
    )


@pytest.mark.parametrize("cell", ["(vide)", "(leeg)"])
async def test_a_price_is_not_taken_away(cell: str, world: World) -> None:
    stocked(world, "1,P,A,,1")
    world.write("prices.csv", "product_number,price", f"P,{cell}")
    assert [row.reason for row in (await loaded(world)).bad] == [f"price is {cell}, but every row needs it"]


@pytest.mark.parametrize("cell", ["0", "0,00", "(vide)", "(leer)", "(empty)"])
@pytest.mark.parametrize("name", ["special_price", "promotion_price"])
@pytest.mark.parametrize("before", ["", "0", "1.50"])
async def test_a_price_is_said_to_be_taken_away_where_there_was_one(
    before: str, name: str, cell: str, world: World
) -> None:
    header = f"product_number;{name}"
    world.write("products.csv", header, f"P;{before}")
    await loaded(world)
    world.write("products.csv", header, f"P;{cell}", f"New;{cell}")
    report = await loaded(world)
    words = f"products.csv:2: warning: {name} is 0, and takes away the {name.replace('_', ' ')}: P."
    assert [line for line in report.lines() if "takes away" in line] == [words] * (before == "1.50")
