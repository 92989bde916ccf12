"""Prices of a product, and of lines of it, that are far from its price: a decimal comma was lost. Units of no piece."""

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World, stocked

FAR = "is more than 20 times the price, or as much below it"
OF_LINE = "of the line is more than 20 times that of the product, or as much below it"


async def warnings(world: World, name: str, header: str, *rows: str) -> list[str]:
    """Return the warnings of a load of these rows."""
    world.clear()
    world.write(name, header, *rows)
    report = await loaded(world)
    assert not report.bad
    return [note for file in report.files for note in file.notes if ": warning: " in note]


async def begun(world: World) -> None:
    """Load products at 4.50, of which one is 8 in store 1."""
    stocked(world, "1,P,A,,9")
    world.write("products.csv", "product_number,price,purchase_price", "P,4.50,2", "Q,4.50,", "R,4.50,")
    world.write("prices.csv", "product_number,store_number,price", "R,1,8")
    await loaded(world)


@pytest.mark.parametrize("name", ["special_price", "promotion_price"])
@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("450,", ["{} " + FAR + ": 450 and 4.5, of P", "{} is above the price: 450 and 4.5"]),
        ("0.02,", ["{} " + FAR + ": 0.02 and 4.5, of P"]),
        ("5,", ["{} is above the price: 5 and 4.5"]),
        ("4,", []),
        ("450,4.50", ["{} is above the price: 450 and 4.50", "{} " + FAR + ": 450 and 4.50"]),
        ("0.02,4.50", ["{} " + FAR + ": 0.02 and 4.50"]),
        ("90,90", []),
    ],
)
async def test_lower_prices_of_products(name: str, cells: str, words: list[str], world: World) -> None:
    await begun(world)
    found = await warnings(world, "products.csv", f"product_number,{name},price,is_promotion", f"P,{cells},true")
    expected = [f"products.csv:2: warning: {one.format(name)}." for one in words]
    assert [one for one in found if name in one] == expected


@pytest.mark.parametrize(
    ("before", "cells", "is_said"),
    [
        ("", "4,", True),
        ("false", "4,", True),
        ("true", "4,", False),
        ("", "4,true", False),
        ("", "4,false", False),
        ("", "0,", False),
        ("", "(empty),", False),
        ("", ",", False),
    ],
)
async def test_a_promotion_price_of_a_product_that_is_not_in_promotion(
    before: str, cells: str, is_said: bool, world: World
) -> None:
    await begun(world)
    if before:
        await warnings(world, "products.csv", "product_number,is_promotion", f"P,{before}")
    header = "product_number,promotion_price,is_promotion"
    found = await warnings(world, "products.csv", header, f"P,{cells}", f"NEW,{cells}")
    alone = "promotion_price alone starts no promotion; write is_promotion true to start one: 4 of"
    expected = [f"products.csv:2: warning: {alone} P."] * is_said
    expected += [f"products.csv:3: warning: {alone} NEW."] * (cells == "4,")
    assert [one for one in found if "alone" in one] == expected


async def test_a_first_discount_is_compared_with_the_price_and_the_next_one_with_it(world: World) -> None:
    await begun(world)
    for cell, words in (("0.02", f"{FAR}: 0.02 and 4.5, of P"), ("4", "is more than 20 times the one before")):
        [found] = await warnings(world, "discount_prices.csv", "product_number,discount_price", f"P,{cell}")
        assert words in found


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("P,,1.50", ["special_price, which stays, is above the price: 2.2 and 1.50, of P"]),
        ("P,,3", []),
        ("P,1,1.50", []),
        ("Q,,1.50", ["promotion_price, which stays, is above the price: 2.1 and 1.50, of Q"]),
        ("Q,1,1.50", ["promotion_price, which stays, is above the price: 2.1 and 1.50, of Q"]),
        ("R,1,7", ["special_price, which stays, is above the price: 7.5 and 7, of R"]),
        ("R,,7", []),
        ("S,,1.50", []),
    ],
)
async def test_a_price_below_those_that_stay(row: str, words: list[str], world: World) -> None:
    """A lower price that is for the whole chain, for the store, of a promotion, and of one that is not started."""
    await begun(world)
    header = "product_number,price,special_price,promotion_price,is_promotion"
    rows = ("P,4.50,2.20,,", "Q,4.50,,2.10,true", "S,4.50,,2.10,false")
    await warnings(world, "products.csv", header, *rows)
    await warnings(world, "prices.csv", "product_number,store_number,special_price,price", "R,1,7.50,8")
    found = await warnings(world, "prices.csv", "product_number,store_number,price", row)
    assert [one.partition(": warning: ")[2].removesuffix(".") for one in found if "stays" in one] == words


@pytest.mark.parametrize(("cell", "is_said"), [("2.20", True), ("(empty)", False), ("0", False), ("1.20", False)])
async def test_a_price_below_one_that_its_row_takes_away(cell: str, is_said: bool, world: World) -> None:
    await begun(world)
    await warnings(world, "products.csv", "product_number,special_price", "P,2.20")
    found = await warnings(world, "products.csv", "product_number,price,special_price", f"P,1.50,{cell}")
    assert any("above the price" in one for one in found) == is_said
    assert not any("stays" in one for one in found)


@pytest.mark.parametrize("before", ["", "new,"], ids=["there", "new"])
async def test_old_prices_of_products(before: str, world: World) -> None:
    await begun(world)
    found = await warnings(world, "products.csv", "product_number,old_price,price", f"{before[:3] or 'P'},450,4.50")
    assert found == [f"products.csv:2: warning: old_price {FAR}: 450 and 4.50."]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("P,150", "150 and 4.5, of P"),
        ("P,0.02", "0.02 and 4.5, of P"),
        ("P,0", ""),
        ("P,", ""),
        ("P,90", ""),
        ("R,150", ""),
        ("R,170", "170 and 8, of R"),
        ("S,150", ""),
    ],
)
async def test_prices_of_order_lines(line: str, words: str, world: World) -> None:
    await begun(world)
    await warnings(world, "products.csv", "product_number", "S")
    header = "store_number,order_number,line_number,quantity,product_number,price"
    what = f"orders.csv:2: warning: price {OF_LINE}: {words}."
    assert await warnings(world, "orders.csv", header, f"1,O,1,1,{line}") == [what] * bool(words)
    assert await warnings(world, "orders.csv", header, f"1,O,1,1,{line}") == []


@pytest.mark.parametrize(("line", "words"), [("P,150", "150 and 2, of P"), ("P,40", ""), ("Q,150", "")])
async def test_purchase_prices_of_delivery_lines(line: str, words: str, world: World) -> None:
    await begun(world)
    header = "store_number,order_number,no_of_containers,line_number,quantity,product_number,purchase_price"
    what = f"deliveries.csv:2: warning: purchase_price {OF_LINE}: {words}."
    assert await warnings(world, "deliveries.csv", header, f"1,D,1,1,1,{line}") == [what] * bool(words)


@pytest.mark.parametrize(
    ("column", "cell", "name"),
    [
        ("purchase_unit_quantity", "0", "purchase_unit_quantity"),
        ("purchase_unit_quantity", "6", ""),
        ("units", '"[{""unit_barcode"": ""C1"", ""unit_quantity"": 0}]"', "unit_quantity in units"),
        ("units", '"[{""unit_barcode"": ""C1"", ""unit_quantity"": 6}]"', ""),
    ],
)
async def test_units_of_no_piece(column: str, cell: str, name: str, world: World) -> None:
    what = f"products.csv:2: warning: {name} is 0, so that a scan of the unit finds no product: P."
    assert await warnings(world, "products.csv", f"product_number,{column}", f"P,{cell}") == [what] * bool(name)


PICKED = "the line comes picked with a picked_quantity of 0, so that nobody picks its goods"


@pytest.mark.parametrize(
    ("column", "line", "is_warned"),
    [
        ("is_picked", "2,0,ja", True),
        ("order_lines.is_picked", "2,0,ja", True),
        ("is_picked", "2,0,nee", False),
        ("is_picked", "2,0,", False),
        ("is_picked", "2,2,ja", False),
        ("is_picked", "2,,ja", False),
    ],
)
async def test_lines_that_come_picked_with_nothing(column: str, line: str, is_warned: bool, world: World) -> None:
    await begun(world)
    header = f"store_number,order_number,line_number,product_number,quantity,picked_quantity,{column}"
    found = await warnings(world, "orders.csv", header, f"1,O,1,P,{line}")
    assert [one for one in found if "of 0" in one] == [f"orders.csv:2: warning: {PICKED}: 2 of P."] * is_warned
