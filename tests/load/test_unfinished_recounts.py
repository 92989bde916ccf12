"""A recount that was cut off goes on with the rows of its stock.csv that it had not counted, whatever else changed."""

from collections.abc import Callable

import pytest

from aisle.client.csv_load.file_layouts_and_columns import LoadTarget
from tests.load.test_existing_stock import loaded
from tests.load.test_recounts import spots
from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked

BATCH = 5
NUMBERS = [f"X{at}" for at in range(2 * BATCH)]
COUNTED = [f"1,{one},A,1,50" for one in NUMBERS]


@pytest.fixture(autouse=True)
def _batches_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoadTarget, "batch_rows", BATCH)


async def cut_off(world: World, *rows: str, arrives: bool = False) -> None:
    """Loads stock of 30 of each product, and cuts off a recount of these rows after its first batch."""
    stocked(world, *(f"1,{one},A,1,30" for one in NUMBERS))
    world.write("products.csv", "product_number,price", "P,1", *(f"{one},2" for one in NUMBERS))
    await loaded(world)
    world.clear()
    world.write("stock.csv", STOCK_HEADER, *rows)
    assert await world.load(recount=True, cut=(0 if arrives else 1, arrives)) is None


def add_prices(world: World) -> None:
    world.write("prices.csv", "product_number,price", "X9,4")


def save_with_other_line_ends(world: World) -> None:
    world.write("stock.csv", *(f"{row}\r" for row in (STOCK_HEADER, *COUNTED)))


def quote_and_write_decimals(world: World) -> None:
    world.write("stock.csv", STOCK_HEADER, *(row.replace(",50", ',"50.0"') for row in COUNTED))


def sort_the_other_way(world: World) -> None:
    world.write("stock.csv", STOCK_HEADER, *reversed(COUNTED))


def add_a_row_above(world: World) -> None:
    world.write("stock.csv", STOCK_HEADER, "1,X1,B,1,0", *COUNTED)


def correct_a_row_not_counted_yet(world: World) -> None:
    world.write("stock.csv", STOCK_HEADER, *COUNTED[:-1], "1,X9,A,1,51")


def correct_a_counted_row(world: World) -> None:
    world.write("stock.csv", STOCK_HEADER, "1,X0,A,1,51", *COUNTED[1:])


CHANGES: list[Callable[[World], None]] = [
    add_prices,
    save_with_other_line_ends,
    quote_and_write_decimals,
    sort_the_other_way,
    add_a_row_above,
    correct_a_row_not_counted_yet,
    correct_a_counted_row,
]


@pytest.mark.parametrize("arrives", [False, True], ids=["answered", "in_doubt"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
async def test_rows_that_were_counted_keep_the_work_since(
    change: Callable[[World], None], arrives: bool, world: World
) -> None:
    await cut_off(world, *COUNTED, arrives=arrives)
    assert await world.stock("X1") == 50
    await world.lose("X1", 6)
    await world.lose("X8", 6)
    change(world)
    report = await loaded(world, recount=True)
    assert report.resumed
    assert (await world.stock("X1"), await world.stock("X8")) == (44, 50)
    assert await world.stock("X0") == (51 if change is correct_a_counted_row else 50)
    assert await world.stock("X9") == (51 if change is correct_a_row_not_counted_yet else 50)
    named = [line for line in report.lines() if "the row counts it again" in line]
    assert any("X8: -6" in line for line in named)
    assert report.is_all_loaded
    await loaded(world, recount=True)
    assert await world.stock("X1") == 50


async def test_a_counted_row_that_was_changed_is_counted_and_said(world: World) -> None:
    await cut_off(world, *COUNTED)
    await world.lose("X0", 6)
    correct_a_counted_row(world)
    report = await loaded(world, recount=True)
    said = [line for line in report.lines() if line.startswith("stock.csv")]
    assert await world.stock("X0") == 51
    assert any("warning: 1 row was counted before the recount was cut off, and changed" in line for line in said)
    assert any(line.startswith("stock.csv:2:") and "X0: -6" in line for line in said)


async def test_a_row_that_was_changed_and_changed_back_is_counted(world: World) -> None:
    await cut_off(world, "1,X0,A,1,50", *COUNTED[BATCH:])
    for quantity in (51, 50):
        world.write("stock.csv", STOCK_HEADER, f"1,X0,A,1,{quantity}", *COUNTED[BATCH:])
        assert await world.load(recount=True, cut=(1, False)) is None
        assert await world.stock("X0") == quantity


async def test_a_count_of_a_changed_row_that_others_made_is_named(world: World) -> None:
    await cut_off(world, *COUNTED)
    for product in ("X0", "X1"):
        await world.count({"product_number": product, "location_code": "A", "counted_quantity": 44})
    correct_a_counted_row(world)
    report = await loaded(world, recount=True)
    assert (await world.stock("X0"), await world.stock("X1")) == (51, 44)
    assert any(line.startswith("stock.csv:3:") and "counted there since" in line for line in report.lines())
    assert not report.is_all_loaded


async def test_goods_beside_places_and_pools_are_counted_once(world: World) -> None:
    rows = ["1,X0,A,1,5", "1,X0,,1,4", "1,X1,A,1,5", "1,X1,A,2,6", "1,X2,,,7"]
    await cut_off(world, *rows, *COUNTED[3:])
    await world.lose("X0", 1)
    await world.lose("X1", 1)
    world.write("stock.csv", STOCK_HEADER, *rows[:3], "1,X1,A,2,8", *rows[4:], "1,X3,A,1,9", *COUNTED[4:])
    await loaded(world, recount=True)
    assert await world.stock("X0") == 8
    assert await world.stock("X1") == 12
    assert await world.stock("X3") == 9


async def test_a_row_without_a_place_that_now_stands_beside_places_is_counted(world: World) -> None:
    rows = ["1,P,,,7", *COUNTED]
    await cut_off(world, *rows)
    assert await spots(world) == {("", 1): 7}
    world.write("stock.csv", STOCK_HEADER, *rows, "1,P,A,,3")
    report = await loaded(world, recount=True)
    assert any("warning: 1 row was counted before" in line for line in report.lines())
    assert await spots(world) == {("", 1): 7, ("A", 1): 3}
