"""Names of stock pools, and default pools: what has no name or changes while there is stock is warned of."""

import pytest

from tests.load.test_load_report import loaded
from tests.load.test_repeated_loads import STOCK_HEADER, World

STORES = "store_number,store_name,is_warehouse,store_stock_pool_1,store_stock_pool_2"
WORDS = "is a pool for which the store has no name"
ORDER = "store_number,order_number,line_number,product_number,quantity"
FILES = {
    "stock.csv": (STOCK_HEADER, "{store},Q,,{pool},4"),
    "orders.csv": (f"{ORDER},stock_pool", "{store},O,1,Q,1,{pool}"),
    "deliveries.csv": (f"{ORDER},no_of_containers,target_stock_pool", "{store},D,1,Q,1,1,{pool}"),
    "locations.csv": ("store_number,location_code,default_stock_pool", "{store},B,{pool}"),
}


async def begun(world: World) -> None:
    """Load a store with names of two pools, and one without, and stock in the second pool."""
    world.write("stores.csv", STORES, "1,One,false,Stock,Returns", "2,Two,false,,")
    world.write("products.csv", "product_number", "P", "Q")
    world.write("locations.csv", "store_number,location_code", "1,A")
    world.write("stock.csv", STOCK_HEADER, "1,P,A,2,12")
    await loaded(world)
    world.clear()


@pytest.mark.parametrize(
    ("store", "pool", "is_said"),
    [
        ("1", "3", True),
        ("1", "2", False),
        ("1", "02", False),
        ("1", "", False),
        ("1", "Returns", False),
        ("2", "3", False),
    ],
)
@pytest.mark.parametrize("file", FILES)
async def test_a_pool_without_a_name(file: str, store: str, pool: str, is_said: bool, world: World) -> None:
    await begun(world)
    header, row = FILES[file]
    world.write(file, header, row.format(store=store, pool=pool))
    column = next(name for name in header.split(",") if "pool" in name)
    found = [line for line in (await loaded(world)).lines() if WORDS in line]
    assert found == [f"{file}:2: warning: {column} {WORDS}: {pool} in store {store}."] * is_said


@pytest.mark.parametrize(
    ("store", "pool", "said"),
    [
        ("1", "Returns", "Returns is pool 2 of the store; write 2"),
        ("1", " returns", "returns is pool 2 of the store; write 2"),
        ("1", "Shelf", "'Shelf' is no stock pool; write 1 to 10"),
        ("2", "Returns", "'Returns' is no stock pool; write 1 to 10"),
    ],
)
@pytest.mark.parametrize("file", [file for file in FILES if file != "orders.csv"])
async def test_a_pool_that_is_named_by_its_name(file: str, store: str, pool: str, said: str, world: World) -> None:
    await begun(world)
    header, row = FILES[file]
    world.write(file, header, row.format(store=store, pool=pool))
    column = next(name for name in header.split(",") if "pool" in name)
    (bad,) = (await loaded(world)).bad
    assert bad.reason.startswith(f"{column} {said}")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("Returns,Stock", ["Returns then, Stock now"]),
        ("Stock,(empty)", ["Returns then, (empty) now"]),
        ("stock,RETURNS", []),
        ("Other,", []),
        (",", []),
    ],
)
async def test_a_name_of_a_pool_that_changes_under_stock(names: str, said: list[str], world: World) -> None:
    await begun(world)
    for expected in (said, []):
        world.write("stores.csv", STORES, f"1,One,false,{names}")
        found = [line for line in (await loaded(world)).lines() if "warning: store_stock_pool" in line]
        what = "stores.csv:2: warning: store_stock_pool_2 changes, while the store has stock in that pool: 1:"
        assert found == [f"{what} {one}; 12 of P." for one in expected]


@pytest.mark.parametrize(
    ("pool", "before", "is_said"),
    [("2", "", True), ("02", "2", False), ("1", "2", False), ("3", "2", True), ("", "2", False), ("1", "", False)],
)
async def test_a_default_pool_that_changes_under_stock_in_another(
    pool: str, before: str, is_said: bool, world: World
) -> None:
    header = "store_number,location_code,default_stock_pool"
    world.write("stores.csv", STORES, "1,One,false,,")
    world.write("products.csv", "product_number", "P")
    world.write("locations.csv", header, f"1,A,{before}", f"1,B,{before}")
    world.write("stock.csv", STOCK_HEADER, "1,P,A,1,12")
    await loaded(world)
    world.clear()
    for said in (is_said, False):
        world.write("locations.csv", header, f"1,A,{pool}", f"1,B,{pool}", f"1,NEW-1,{pool}")
        found = [line for line in (await loaded(world)).lines() if "default_stock_pool changes" in line]
        what = "default_stock_pool changes, while the location has stock in another pool"
        shown = f"{before or 1} then, {pool} now; stock in 1"
        assert found == [f"locations.csv:2: warning: {what}: A in store 1: {shown}."] * said
