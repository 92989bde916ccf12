"""New keys with fewer digits than others that begin with zeros, and codes cut at 15 digits, are warned of."""

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World

ORDERS = "store_number,order_number,line_number,product_number,quantity"
HEADERS = {
    "stores.csv": "store_number,store_name,is_warehouse",
    "products.csv": "product_number,product_name",
    "locations.csv": "store_number,location_code",
    "people.csv": "store_number,badge,user,name",
    "orders.csv": ORDERS,
    "deliveries.csv": f"{ORDERS},no_of_containers",
}
CELLS = {
    "stores.csv": "{},One,false",
    "products.csv": "{},Tea",
    "locations.csv": "0042,{}",
    "people.csv": "0042,{0},u{0},U",
    "orders.csv": "0042,{},1,P,1",
    "deliveries.csv": "0042,{},1,P,1,1",
}
NOUNS = {"stores.csv": "store", "products.csv": "product", "locations.csv": "location", "people.csv": "badge"}
LOST = "may have lost the zeros with which others begin; if so, write it as text"


async def warnings(world: World, name: str, keys: list[str]) -> list[str]:
    """Return the warnings of a load of these keys."""
    world.clear()
    world.write(name, HEADERS[name], *map(CELLS[name].format, keys))
    report = await loaded(world)
    assert not report.bad
    return [note for file in report.files for note in file.notes if "warning" in note and " zero" in note]


async def begun(world: World) -> None:
    world.write("stores.csv", HEADERS["stores.csv"], "0042,One,false")
    world.write("products.csv", HEADERS["products.csv"], "P,Tea")
    await loaded(world)


@pytest.mark.every_case
@pytest.mark.parametrize("name", CELLS)
async def test_new_keys_of_each_file(name: str, world: World) -> None:
    await begun(world)
    noun = NOUNS.get(name, "order" if name == "orders.csv" else "delivery")
    assert await warnings(world, name, ["004711", "004712", "4713"]) == [
        f"{name}:4: warning: {noun} {LOST}: 4713 beside 004711."
    ]
    assert await warnings(world, name, ["4713"]) == []


@pytest.mark.parametrize(
    ("before", "keys", "lost"),
    [
        ([], ["0301", "0302", "303"], {4: "303 beside 0301"}),
        ([], ["303", "0301"], {2: "303 beside 0301"}),
        ([], ["301", "302", "0303"], {}),
        ([], ["301", "302", "303"], {}),
        (["0226", "0227"], ["303", "304"], {2: "303 beside 0226", 3: "304 beside 0226"}),
        (["0226"], ["303", "304"], {}),
        (["0226"], ["9"], {}),
        (["0226", "0227"], ["9"], {2: "9 beside 0226"}),
        (["0226", "0227", "100"], ["303"], {}),
        (["100", "0226"], ["0301", "303"], {}),
        (["100"], ["0301", "0302", "303"], {4: "303 beside 0301"}),
        (["0226", "1100"], ["110001", "1101"], {}),
        (["0095200011000"], ["42"], {}),
        (["A0226"], ["303"], {}),
    ],
)
async def test_new_products_beside_those_of_the_service(
    before: list[str], keys: list[str], lost: dict[int, str], world: World
) -> None:
    await begun(world)
    if before:
        await warnings(world, "products.csv", before)
    found = await warnings(world, "products.csv", keys)
    assert found == [f"products.csv:{line}: warning: product {LOST}: {value}." for line, value in lost.items()]


@pytest.mark.parametrize("column", ["order_number", "customer_number", "reference"])
@pytest.mark.parametrize(
    ("code", "is_cut"),
    [("1234567890123450", True), ("1234567890123456", False), ("12345678901234500", True), ("123456789012340", False)],
)
async def test_a_code_of_16_digits_that_ends_with_made_zeros(
    column: str, code: str, is_cut: bool, world: World
) -> None:
    await begun(world)
    world.clear()
    number, more, cell = (code, "", "") if column == "order_number" else ("O-1", f",{column}", f",{code}")
    world.write("orders.csv", ORDERS + more, f"0042,{number},1,P,1{cell}")
    what = f"{column} has only zeros after its 15th digit, as where a spreadsheet has cut it"
    lines = (await loaded(world)).lines()
    assert [line for line in lines if "15th" in line] == [f"orders.csv:2: warning: {what}: {code}."] * is_cut
