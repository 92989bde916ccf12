"""A stock row without a place beside rows with places: a total that is left out, or goods that lie at no place."""

from itertools import permutations

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World, stocked

TOTAL = "a row without a place is read as the total of the product's rows with places, and left out: "
AT_NO_PLACE = "a row without a place, beside rows with places, is read as the goods that lie at no place: "


@pytest.mark.sampled(3)
@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize(
    ("rows", "total", "words"),
    [
        (("1,P,A,,5", "1,P,B,,7", "1,P,,,0"), 12, AT_NO_PLACE),
        (("1,P,A,,5", "1,P,B,,7", "1,P,,,12"), 12, TOTAL),
        (("1,P,A,,5", "1,P,B,,7", "1,P,,,9"), 21, AT_NO_PLACE),
        (("1,P,A,,5", "1,P,B,,7", "1,P,,,20"), 32, AT_NO_PLACE),
        (("1,P,A,1,5", "1,P,A,2,7", "1,P,,2,7"), 12, TOTAL),
        (("1,P,A,1,5", "1,P,A,2,7", "1,P,,,12"), 12, TOTAL),
        (("1,P,A,1,5", "1,P,B,2,7", "1,P,,2,3"), 15, AT_NO_PLACE),
        (("1,P,A,,5", "1,P,B,,7", "1,P,,1,12"), 12, TOTAL),
        (("1,P,A,1,5", "1,P,B,1,7", "1,P,,2,3"), 15, ""),
    ],
)
async def test_row_without_location_means_the_same_in_any_order(
    rows: tuple[str, ...], total: int, words: str, order: tuple[int, ...], world: World
) -> None:
    stocked(world, *(rows[at] for at in order))
    report = await loaded(world)
    assert report.is_complete
    assert await world.stock("P") == total
    assert [line for line in report.lines() if TOTAL in line or AT_NO_PLACE in line] == [
        line for line in report.lines() if words and f"stock.csv:{2 + order.index(2)}: warning: {words}" in line
    ]
    assert report.files[-1].loaded_rows == (2 if words == TOTAL else 3)
    for recount in (False, True):
        await loaded(world, recount=recount)
        assert await world.stock("P") == total


@pytest.mark.parametrize("recount", [False, True])
async def test_a_place_that_is_refused_leaves_the_goods_at_no_place_right(recount: bool, world: World) -> None:
    stocked(world, "1,P,A,,5", "1,P,C,,7", "1,P,,,9")
    assert [row.line for row in (await loaded(world, recount=recount)).bad] == [3]
    assert await world.stock("P") == 14
    stocked(world, "1,P,A,,5", "1,P,B,,7", "1,P,,,9")
    await loaded(world, recount=recount)
    assert await world.stock("P") == 21


async def test_a_strict_load_goes_on_after_a_total(world: World) -> None:
    stocked(world, "1,P,A,,5", "1,P,,,5", "1,Q,A,,3")
    await loaded(world)
    assert await world.stock("Q") == 3


async def test_a_row_without_a_place_does_not_overrule_places_that_were_loaded(world: World) -> None:
    stocked(world, "1,P,A,,5", "1,P,B,,7")
    await loaded(world)
    for row in ("1,P,,,0", "1,P,,,9", "1,P,,,12"):
        stocked(world, row)
        assert (await loaded(world)).files[-1].loaded_rows == 0
        assert await world.stock("P") == 12


@pytest.mark.parametrize(
    ("bad", "total", "reason", "stock"),
    [
        ("1,P,C,,7", 5, "", 5),
        ("1,P,C,,7", 12, "row 3 is not loaded", 5),
        ("1,P,C,,7", 9, "", 14),
        ("1,P,B,,x", 5, "", 5),
        ("1,P,B,,x", 12, "row 3 is not loaded", 5),
        ("1,P,B,99,7", 12, "row 3 is not loaded", 5),
        ("1,P,B,,-1", 12, "row 3 is not loaded", 5),
        ("1,P,B,,-1", 5, "", 5),
        ("1,P,B,,3\n1,P,B,,4", 5, "", 5),
        ("1,P,B,,3\n1,P,B,,4", 12, "2 rows (3-4) are not loaded", 5),
    ],
)
@pytest.mark.parametrize("is_first", [False, True])
async def test_a_total_is_compared_with_rows_that_are_loaded(
    bad: str, total: int, reason: str, stock: int, is_first: bool, world: World
) -> None:
    whole = [f"1,P,,,{total}"]
    stocked(world, "1,P,A,,5", *bad.split("\n"), *([] if is_first else whole))
    if is_first:
        stocked(world, *whole, "1,P,A,,5", *bad.split("\n"))
    report = await loaded(world)
    reasons = {row.line: row.reason for row in report.bad}
    line = 2 if is_first else 3 + len(bad.split("\n"))
    said = reason.replace("(3-4)", "(4-5)").replace("row 3", "row 4") if is_first else reason
    assert said in reasons.get(line, "")
    assert (line in reasons) == bool(reason)
    if total == 5:
        assert f"stock.csv:{line}: warning: {TOTAL}5 of P; its rows with places have 5." in report.lines()
    else:
        assert not any(TOTAL in one for one in report.lines())
    assert await world.stock("P") == stock


async def test_totals_of_whole_goods_are_said_without_decimals(world: World) -> None:
    stocked(world, "1,P,A,,3.0", "1,P,B,,10.0", "1,P,,,13.0")
    report = await world.load()
    assert report is not None
    assert f"stock.csv:4: warning: {TOTAL}13 of P; its rows with places have 13." in report.lines()


@pytest.mark.parametrize("bad", ["1,P,C,,1", "1,P,A,,x", "1,P,A,99,1", "1,P,A,,3\n1,P,A,,4"])
@pytest.mark.parametrize("quantity", [0, 7, 9])
@pytest.mark.parametrize("recount", [False, True])
async def test_a_row_whose_reading_only_refused_rows_show_is_held_back(
    bad: str, quantity: int, recount: bool, world: World
) -> None:
    stocked(world, "1,P,,,5")
    await loaded(world)
    rows = bad.split("\n")
    stocked(world, *rows, f"1,P,,,{quantity}", "1,Q,A,,3")
    report = await loaded(world, recount=recount)
    reasons = {row.line: row.reason for row in report.bad}
    assert list(reasons) == [2, 3, 4][: len(rows) + 1]
    assert " not loaded; correct what is wrong there" in reasons[len(rows) + 2]
    assert (await world.stock("P"), await world.stock("Q")) == (5, 3)
    assert not any("P;" in line and "warning" in line for line in report.lines())


async def test_a_total_of_a_pool_is_compared_with_rows_of_the_pool(world: World) -> None:
    stocked(world, "1,P,A,1,1", "1,P,B,2,2", "1,P,,1,1")
    lines = (await loaded(world)).lines()
    assert f"stock.csv:4: warning: {TOTAL}1 of P; its rows with places have 1 in pool 1." in lines
