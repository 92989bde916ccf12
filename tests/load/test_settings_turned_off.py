"""A setting that becomes false while goods or open work need it is taken and warned of."""

import pytest

from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked

STORES = "store_number,store_name,is_warehouse,is_active"
ORDERS = "store_number,order_number,line_number,product_number,quantity"
DELIVERIES = "store_number,order_number,no_of_containers,line_number,product_number,quantity"


async def begun(world: World, products: int = 0) -> None:
    """Load two stores: products with stock, parts, an order and a delivery, and one with nothing."""
    stocked(world, "1,P,A,1,40", "1,K,,1,9.5")
    world.write("stores.csv", STORES, "1,One,false,true", "2,Two,false,true")
    more = [f"X{at},true,true,false" for at in range(products)]
    flags = "product_number,is_active,is_stock,allow_decimal"
    world.write("products.csv", flags, *(f"{one},true,true,true" for one in "PQRKST"), *more)
    world.write("orders.csv", ORDERS, "1,O1,1,P,1", "1,O2,1,Q,1", "1,O3,1,S,1.5")
    world.write("deliveries.csv", DELIVERIES, "1,D1,1,1,Q,3", "1,D2,1,1,T,0.5")
    await notes(world)


async def notes(world: World) -> list[str]:
    report = await world.load()
    assert report is not None
    world.clear()
    return [note for file in report.files for note in file.notes if ": warning: " in note]


OUT = "of a store that it leaves out"


@pytest.mark.parametrize("others", [0, 25], ids=["few", "many"])
@pytest.mark.parametrize(
    ("column", "row", "words"),
    [
        ("stores_allowed", "P,2", [f"the stock {OUT}: P: 40", f"open orders {OUT}: P: O1"]),
        ("stores_not_allowed", "P,1", [f"the stock {OUT}: P: 40", f"open orders {OUT}: P: O1"]),
        ("stores_not_allowed", "Q,1|2", [f"open orders {OUT}: Q: O2", f"open deliveries {OUT}: Q: D1"]),
        ("stores_allowed", "P,1|2", []),
        ("stores_not_allowed", "P,2", []),
        ("stores_allowed", "R,2", []),
        ("stores_allowed", "NEW,2", []),
        ("stores_allowed", "P,(empty)", []),
    ],
)
async def test_a_product_that_is_no_longer_for_a_store(
    column: str, row: str, words: list[str], others: int, world: World
) -> None:
    await begun(world, others)
    becomes = f"products.csv:2: warning: {column} changes, while the product is in"
    for said in (words, []):
        world.write("products.csv", f"product_number,{column}", row, *(f"X{at},1|2" for at in range(others)))
        assert await notes(world) == [f"{becomes} {one} in store 1." for one in said]


GOODS = "the product has stock: P: 40 in store 1"


@pytest.mark.parametrize("others", [0, 25], ids=["few", "many"])
@pytest.mark.parametrize(
    ("column", "number", "words"),
    [
        (
            "is_active",
            "P",
            [GOODS, "the product is in open orders: P: O1 in store 1"],
        ),
        ("is_active", "Q", ["the product is in open orders: Q: O2 in store 1"]),
        ("is_stock", "P", [GOODS]),
        ("is_stock", "Q", ["the product is in open deliveries: Q: D1 in store 1"]),
        ("allow_decimal", "K", ["the product has stock with a fraction: K: 9.5 in store 1"]),
        ("allow_decimal", "S", ["the product is in open orders of a fraction: S: O3 in store 1"]),
        ("allow_decimal", "T", ["the product is in open deliveries of a fraction: T: D2 in store 1"]),
        ("allow_decimal", "P", []),
        ("is_active", "R", []),
        ("is_stock", "NEW", []),
    ],
)
async def test_a_product_with_goods_or_open_work(
    column: str, number: str, words: list[str], others: int, world: World
) -> None:
    await begun(world, others)
    rows = [f"{number},nee", *(f"X{at},false" for at in range(others))]
    for said in (words, []):  # the second time nothing changes
        world.write("products.csv", f"product_number,{column}", *rows)
        assert await notes(world) == [f"products.csv:2: warning: {column} becomes false, while {one}." for one in said]


@pytest.mark.parametrize("others", [0, 25], ids=["few", "many"])
@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("P,KG", []),
        ("P,kg.", []),
        ("P,", []),
        ("R,g", []),
        ("N,kg", ["stock, which is not converted: N: none then, kg now, at a price of 4; 7 in store 1"]),
        ("NEW,g", []),
        ("P,g", ["stock, which is not converted: P: kg then, g now, at a price of 2.5; 40 in store 1"]),
        ("P,(leeg)", ["stock, which is not converted: P: kg then, (leeg) now, at a price of 2.5; 40 in store 1"]),
    ],
)
async def test_a_unit_that_changes_under_stock(row: str, words: list[str], others: int, world: World) -> None:
    stocked(world, "1,P,A,1,40", "1,N,,1,7")
    more = [f"X{at},kg,1" for at in range(others)]
    world.write("products.csv", "product_number,base_unit_name,price", "P,kg,2.50", "R,kg,1", "N,,4", *more)
    await notes(world)
    for said in (words, []):
        world.write("products.csv", "product_number,base_unit_name", row, *(f"X{at},g" for at in range(others)))
        expected = [f"products.csv:2: warning: base_unit_name changes, while the product has {one}." for one in said]
        assert await notes(world) == expected


async def test_a_unit_that_changes_under_open_lines(world: World) -> None:
    await begun(world)
    becomes = "products.csv:2: warning: {} changes, while the product is in {}: Q: {} then, {} now; {} in store 1."
    of_first, of_unit = (
        [
            becomes.format("base_unit_name", f"{one}, which are not converted", *units, number)
            for one, number in (("open orders", "O2"), ("open deliveries", "D1"))
        ]
        for units in (("none", "st"), ("st", "doos"))
    )
    of_quantity = [becomes.format("purchase_unit_quantity", "open deliveries", 6, 12, "D1")]
    for cells, said in (("st,6", of_first), ("doos,6.0", of_unit), ("doos,12", of_quantity)):
        world.write("products.csv", "product_number,base_unit_name,purchase_unit_quantity", f"Q,{cells}")
        assert await notes(world) == said


@pytest.mark.parametrize(
    ("units", "said"),
    [
        ({"19520001100106": 12}, "6 in 19520001100106 then, 12 now"),
        ({"19520001100106": 6}, ""),
        ({"19520001100106": 6, "19520001100113": 24}, ""),
        ({"19520001100113": 24}, ""),
    ],
)
async def test_a_unit_of_a_barcode_that_changes_under_open_deliveries(
    units: dict[str, int], said: str, world: World
) -> None:
    def row(units: dict[str, int]) -> str:
        objects = [f'{{""unit_barcode"":""{code}"",""unit_quantity"":{count}}}' for code, count in units.items()]
        return f'Q,"[{",".join(objects)}]"'

    await begun(world)
    world.write("products.csv", "product_number,units", row({"19520001100106": 6}))
    await notes(world)
    for words in (said, ""):
        world.write("products.csv", "product_number,units", row(units))
        what = "products.csv:2: warning: units changes, while the product is in open deliveries: Q: "
        found = [note for note in await notes(world) if "units changes" in note]
        assert found == [f"{what}{words}; D1 in store 1."] * bool(words)


async def test_a_refused_row_turns_nothing_off(world: World) -> None:
    await begun(world)
    world.write("products.csv", "product_number,is_active,price", "P,false,dear")
    assert await notes(world) == []


async def test_a_store_that_becomes_inactive_and_gets_new_orders(world: World) -> None:
    await begun(world)
    rows = ["1,One,false,false", "2,Two,false,false"]
    world.write("stores.csv", STORES, *rows)
    world.write("orders.csv", ORDERS, "1,O1,1,P,1", "1,O4,1,P,1", "1,O4,2,Q,1")
    world.write("deliveries.csv", DELIVERIES, "2,D3,1,1,Q,3")
    world.write("stock.csv", STOCK_HEADER, "2,Q,,1,4")
    inactive = "is for a store that is inactive (its is_active is false)"
    becomes = "stores.csv:2: warning: is_active becomes false, while the store has"
    assert await notes(world) == [
        f"{becomes} stock: 1: 40 of P, 9.5 of K.",
        f"{becomes} open orders: 1: O1, O2, O3.",
        f"{becomes} open deliveries: 1: D1, D2.",
        f"stock.csv:2: warning: the stock {inactive}: Q of store 2.",
        f"orders.csv:3: warning: the new order {inactive}: O4 of store 1.",
        f"deliveries.csv:2: warning: the new delivery {inactive}: D3 of store 2.",
    ]
    world.write("stores.csv", STORES, *rows)
    assert await notes(world) == []


async def test_a_product_that_keeps_no_stock_in_one_store(world: World) -> None:
    await begun(world)
    rows = ["1,P,false", "1,Q,false", "2,P,false", "1,R,false"]
    becomes = "warning: is_stock becomes false, while"
    first = [
        f"store_products.csv:2: {becomes} the store has stock of the product: P: 40.",
        f"store_products.csv:3: {becomes} the product is in open deliveries of the store: Q: D1.",
    ]
    for said in (first, []):
        world.write("store_products.csv", "store_number,product_number,is_stock", *rows)
        assert await notes(world) == said
