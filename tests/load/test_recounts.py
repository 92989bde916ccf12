"""A recount gives the figures of its file: in all pools, or it says what lies elsewhere; so do the advised ones."""

import re
from decimal import Decimal

import pytest

from aisle.contract.request_encoding import QueryValue
from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked
from tests.load.test_stock_elsewhere import BESIDE, changed, noted

Spots = dict[tuple[str, int], Decimal]


async def spots(world: World) -> Spots:
    """Returns the stock of P by place (empty for none) and pool."""
    query: dict[str, QueryValue] = {"store_number": "1", "product_number": "P", "include_locations": True}
    async with world.client() as client:
        [row] = [row async for rows, _ in client.pages("list-store-products-stock", query=query) for row in rows]
    found: Spots = {}
    for pool in range(1, 11):
        rest = Decimal(str(row.get(f"most_likely_pool_{pool}") or 0))
        for place in row.get("store_locations") or ():
            here = Decimal(str(place.get(f"stock_pool_{pool}") or 0))
            found[place.get("store_location_code") or "", pool] = here
            rest -= here
        if rest:
            found["", pool] = found.get(("", pool), Decimal(0)) + rest
    return {spot: quantity for spot, quantity in found.items() if quantity}


def pool_of_places(world: World, pool: int) -> None:
    world.write("locations.csv", "store_number,location_code,default_stock_pool", f"1,A,{pool}", f"1,B,{pool}")


async def recounted(world: World, *rows: str) -> list[str]:
    world.clear()
    world.write("stock.csv", STOCK_HEADER, *rows)
    return (await loaded(world, recount=True)).lines()


@pytest.mark.parametrize("row", ["1,P,A,,25", "1,P,A,,20", "1,P,A,,0", "1,P,,,25", "1,P,,,20"])
@pytest.mark.parametrize("pools", [(2, 1), (1, 2), (3, 1)])
async def test_recount_without_pool_counts_the_pool_that_the_goods_are_in(
    row: str, pools: tuple[int, int], world: World
) -> None:
    stocked(world, "1,P,A,,20")
    pool_of_places(world, pools[0])
    await loaded(world)
    world.clear()
    pool_of_places(world, pools[1])
    world.write("stock.csv", STOCK_HEADER, row)
    report = await loaded(world)
    assert await world.stock("P") == 20
    assert not noted(report, "in pool")
    await loaded(world, recount=True)
    assert await world.stock("P") == int(row.rpartition(",")[2])


@pytest.mark.parametrize(
    ("row", "total", "refused"),
    [
        ("1,P,A,,40", 45, False),
        ("1,P,A,,41", 45, True),
        ("1,P,A,,0", 5, False),
        ("1,P,,,45", 45, False),
        ("1,P,,,40", 45, True),
        ("1,P,,,0", 45, False),
    ],
)
@pytest.mark.parametrize("pools", [(1, 2), (2, 3)])
async def test_recount_without_pool_of_goods_in_two_pools_asks(
    row: str, total: int, refused: bool, pools: tuple[int, int], world: World
) -> None:
    stocked(world, *(f"1,P,A,{pool},20" for pool in pools), f"1,P,B,{pools[0]},5")
    await loaded(world)
    lines = await recounted(world, row)
    assert await world.stock("P") == total
    reasons = [line for line in lines if "write a row for each pool" in line]
    assert len(reasons) == refused
    assert all(f"in pool {pool}" in reason for reason in reasons for pool in pools)
    assert any("write a row for each place" in line for line in lines) == (row == "1,P,,,0")
    if not refused and row.startswith("1,P,A"):
        assert any(f"P also lies at B (5); its total is now {total}." in line for line in lines)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1,P,A,1,10", "P also lies at A in pool 2 (20), B (5); its total is now 35."),
        ("1,P,A,3,10", "P also lies at A in pool 2 (20), B (5); its total is now 35."),
        ("1,P,A,2,10", "P also lies at B (5); its total is now 15."),
        ("1,P,B,2,10", "P also lies at A (20), B in pool 1 (5); its total is now 35."),
        ("1,P,B,1,10", "P also lies at A (20); its total is now 30."),
        ("1,P,B,,10", "P also lies at A (20); its total is now 30."),
    ],
)
async def test_recount_names_other_pools_and_places_with_the_total(row: str, words: str, world: World) -> None:
    stocked(world, "1,P,A,2,20", "1,P,B,1,5")
    await loaded(world)
    assert [line.partition(BESIDE)[2] for line in await recounted(world, row) if BESIDE in line] == [words]
    assert await world.stock("P") == int(re.findall(r"\d+", words)[-1])


async def test_goods_at_no_place_are_named_beside_a_total(world: World) -> None:
    stocked(world, "1,P,,,5")
    await loaded(world)
    lines = await recounted(world, "1,P,,,6", "1,P,A,,6")
    assert any("P also lies at no place (5); its total is now 11." in line for line in lines)
    assert await world.stock("P") == 11


async def test_goods_received_into_another_pool_are_counted(world: World) -> None:
    stocked(world, "1,Q,A,,1")
    await loaded(world)
    await changed(world, "A", 9, pool=2)
    world.write("stock.csv", STOCK_HEADER, "1,P,A,,9")
    await loaded(world)
    assert await world.stock("P") == 9
    await recounted(world, "1,P,A,,8")
    assert await spots(world) == {("A", 2): 8}


async def test_goods_loaded_without_a_place_are_not_doubled_beside_their_total(world: World) -> None:
    stocked(world, "1,P,,,5")
    await loaded(world)
    for rows in (["1,P,A,,5", "1,P,,,5"], ["1,P,,,5", "1,P,A,,5"], ["1,P,,,5", "1,P,A,,2", "1,P,B,,3"]):
        stocked(world, *rows)
        lines = (await loaded(world)).lines()
        assert await world.stock("P") == 5
        assert any("P: no place then, A now" in line for line in lines)


_MOVED = re.compile(r"a row with 0 for each (place|pool) named here.*?\): P: (.*) then, (.*?)\.?$")


def _advised(row: str, lines: list[str]) -> list[str]:
    """Returns the rows to add to those of the file, as the report's advice says."""
    found: set[str] = set()
    for line in lines:
        if advice := _MOVED.search(line):
            names = advice[2].split(", ")
            if advice[1] == "place":
                found |= {f"1,P,{name if name != 'no place' else ''},,0" for name in names}
            else:
                found |= {f"1,P,{row.split(',')[2]},{name.rpartition(' ')[2]},0" for name in names}
    return sorted(found)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["1,P,,1,5"], ["1,P,A,1,5"]),
        (["1,P,,,5"], ["1,P,A,,5"]),
        (["1,P,,2,5"], ["1,P,A,1,6"]),
        (["1,P,A,1,5"], ["1,P,,1,6"]),
        (["1,P,A,2,5"], ["1,P,,,6"]),
        (["1,P,A,1,10"], ["1,P,B,1,12"]),
        (["1,P,A,2,10"], ["1,P,B,1,10"]),
        (["1,P,A,1,10", "1,P,,1,4"], ["1,P,B,1,14"]),
        (["1,P,A,1,10"], ["1,P,A,2,11"]),
        (["1,P,A,1,10", "1,P,A,2,4"], ["1,P,A,3,14"]),
        (["1,P,,1,10"], ["1,P,,2,11"]),
        (["1,P,A,,10"], ["1,P,A,,11"]),
        (["1,P,A,,10", "1,P,,,9"], ["1,P,A,,10", "1,P,,,8"]),
        (["1,P,A,,10", "1,P,B,,9"], ["1,P,A,,10", "1,P,B,,8"]),
        (["1,P,A,,10", "1,P,B,,9"], ["1,P,,,8"]),
        (["1,P,A,1,10", "1,P,A,2,9"], ["1,P,A,1,10", "1,P,A,2,8"]),
    ],
)
async def test_advice_of_a_report_gives_the_figures_of_the_file(
    first: list[str], second: list[str], world: World
) -> None:
    stocked(world, *first)
    await loaded(world)
    before = await world.stock("P")
    stocked(world, *second)
    lines = (await loaded(world)).lines()
    assert await world.stock("P") == before
    assert any("all its rows" in line or "put all rows of the product" in line for line in lines)
    await recounted(world, *second, *_advised(second[0], lines))
    wanted: Spots = {}
    for _, _, place, pool, quantity in (row.split(",") for row in second):
        wanted[place, int(pool or 1)] = Decimal(quantity)
    have = await spots(world)
    if any(not pool for _, _, _, pool, _ in (row.split(",") for row in second)):
        assert sum(have.values()) == sum(wanted.values())
    else:
        assert have == wanted


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("1,P,A,,25", ["P: 20 in pool 1, 25 in pool 2 then, 25 in the file."]),
        ("1,P,A,,45", []),
    ],
)
async def test_a_figure_that_was_never_loaded_is_not_said(rows: str, words: list[str], world: World) -> None:
    stocked(world, "1,P,A,1,20", "1,P,A,2,25")
    await loaded(world)
    stocked(world, rows)
    said = "the stock was loaded before with another figure, and is left as it is: "
    assert noted(await loaded(world), said) == words
