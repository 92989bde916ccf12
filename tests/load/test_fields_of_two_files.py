"""Two files of one folder that name the same field: that of the one matter counts; and prices that are taken away."""

from typing import Any

import pytest

from tests.load.test_existing_stock import loaded
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


@pytest.mark.parametrize("field", ["promotion", "promotion_week"])
async def test_what_belongs_to_a_refused_discount_is_held_back(field: str, world: World) -> None:
    stocked(world, "1,P,A,,1")
    world.write("products.csv", f"product_number,{field},size", "P,51,M", "Q,51,M")
    await loaded(world)
    world.write("products.csv", f"product_number,{field},size", "P,52,L", "Q,52,L")
    world.write("discount_prices.csv", "product_number,discount_price", "P,x", "Q,1")
    report = await loaded(world)
    async with world.client() as client:
        found = {one["product_number"]: one for one in (await client.call("list-products"))["records"]}
    assert [(found[one][field], found[one]["size"]) for one in "PQ"] == [("51", "L"), ("52", "L")]
    words = f"{field} belongs to the discount_price, which a refused row of discount_prices.csv has"
    assert [words in line for line in report.lines()].count(True) == 1


_PRICES = "product_number,price"
_OF_STORE = "product_number,store_number,price"
REFUSED_BY_SERVICE: dict[str, tuple[dict[str, str], str, str, tuple[str, ...]]] = {
    "a price of the chain": (
        {"products.csv": f"{_PRICES} P,3", "prices.csv": f"{_PRICES} P,-1"},
        "",
        "products.csv",
        ("price",),
    ),
    "a price and what belongs to it": (
        {"products.csv": f"{_PRICES},old_price P,3,4", "prices.csv": f"{_PRICES} P,-1"},
        "",
        "products.csv",
        ("price", "old_price"),
    ),
    "the same price": (
        {"products.csv": f"{_PRICES},size P,-1,L", "prices.csv": f"{_PRICES} P,-1"},
        "",
        "products.csv",
        ("price",),
    ),
    "a price of a store": (
        {"prices.csv": f"{_OF_STORE} P,1,-1", "store_products.csv": f"{_OF_STORE},min P,1,3,2"},
        "1",
        "store_products.csv",
        ("price",),
    ),
    "a price with a field that a store cannot have": (
        {
            "prices.csv": f"{_OF_STORE},price_compare_unit P,1,2,kg",
            "store_products.csv": f"{_OF_STORE},min P,1,3,2",
        },
        "1",
        "store_products.csv",
        ("price",),
    ),
    "a discount price of a store": (
        {
            "discount_prices.csv": "product_number,store_number,discount_price P,1,-1",
            "store_products.csv": "product_number,store_number,discount_price,min P,1,0.5,2",
        },
        "1",
        "store_products.csv",
        ("discount_price", "is_promotion"),
    ),
    "a size": (
        {"products.csv": "product_number,size P,L", "attributes.csv": f"product_number,size P,{'X' * 1001}"},
        "",
        "products.csv",
        ("size",),
    ),
}


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("case", "product"),
    [
        *((case, "P") for case in REFUSED_BY_SERVICE),
        *((case, "N") for case, of in REFUSED_BY_SERVICE.items() if not of[1]),
    ],
)
async def test_what_the_service_refuses_does_not_count(case: str, product: str, world: World) -> None:
    files, store, file, named = REFUSED_BY_SERVICE[case]
    stocked(world, "1,P,A,,1")
    world.write("products.csv", "product_number,price,size", "P,1.10,S")
    await loaded(world)
    world.clear()
    for name, text in files.items():
        world.write(name, *text.replace(" P,", f" {product},").split())
    report = await loaded(world)
    lines = report.lines()
    [bad] = report.bad
    assert bad.reason.startswith("the service refused")
    assert not any("is another in" in line for line in lines)
    for name in named:
        assert sum(f"{file}:2: warning: {name} " in line and "a refused row of" in line for line in lines) == 1, lines
    is_none = "the new product has none until" if product == "N" else "stays as it is until"
    assert sum(is_none in line for line in lines) == len(named)
    assert any("fields of row 2 are held back" in line for line in lines)
    row = await listed(world, store, product)
    assert float(row.get("price") or 0) == (0 if product == "N" else 1.1)


async def test_a_free_field_of_products_stays_where_the_other_is_refused(world: World) -> None:
    stocked(world, "1,P,A,,1")
    fields = '"[{""key"":""k"",""sort_order"":1,""value"":""a""}]"'
    world.write("products.csv", "product_number,free_fields", f"P,{fields}")
    world.write("free_fields.csv", "product_number,sort_order,key,value", f"P,1,k,{'x' * 1001}")
    report = await loaded(world)
    [bad] = report.bad
    assert bad.reason.startswith("the service refused")
    assert not any("which counts" in line for line in report.lines())
    assert [one["value"] for one in (await listed(world, ""))["free_fields"]] == ["a"]


@pytest.mark.parametrize(("row", "values"), [("P,2,bio,q", ["a", "q"]), ("P,0,bio,q", ["q", "a"]), ("P,1,k,b", ["b"])])
async def test_free_fields_of_both_files_stay_between_them(row: str, values: list[str], world: World) -> None:
    stocked(world)
    fields = '"[{""key"":""k"",""sort_order"":1,""value"":""a""}]"'
    world.write("products.csv", "product_number,free_fields", f"P,{fields}")
    world.write("free_fields.csv", "product_number,sort_order,key,value", row)
    await loaded(world)
    files = ("products.csv", "free_fields.csv")
    report = await loaded(world)
    assert [file.states["same"] for file in report.files if file.file in files] == [1, 1]
    assert await world.load(cut=(2, True)) is None
    assert [one["value"] for one in (await listed(world, ""))["free_fields"]] == values


@pytest.mark.parametrize(
    ("other", "is_warned"), [("1,2x", False), ("-1", False), ("1.2", False), ("", True), ("1,P,1.1", False)]
)
async def test_a_price_that_is_held_back_is_not_told_as_that_of_the_chain(
    other: str, is_warned: bool, world: World
) -> None:
    stocked(world, "1,P,A,,1")
    world.write("products.csv", _PRICES, "P,1.10")
    world.write("store_products.csv", "product_number,store_number,price,min", "P,1,1.50,2")
    await loaded(world)
    world.clear()
    world.write("products.csv", _PRICES, "P,3")
    if other:
        header = "store_number,product_number,price" if other.startswith("1,P") else _PRICES
        world.write("prices.csv", header, other if other.startswith("1,P") else f'P,"{other}"')
    lines = (await loaded(world)).lines()
    assert (
        any(line.startswith("products.csv:2: warning: the price is that of the chain") for line in lines) == is_warned
    )
