"""Rows whose own key cannot be read: no order, delivery or total to which they may belong is loaded without them."""

from __future__ import annotations

import pytest

from tests.load.test_divided_records import HEADERS, NOUNS, files, load
from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World, stocked

CLEARED = ["(leeg)", "(empty)", "(Leer)", "(vide)", " (blank) "]
DAMAGED = ["1E+05", "#N/A", "#WAARDE!", "#BEZUG!", "=A6", *CLEARED]
PLURALS = {"order": "orders", "delivery": "deliveries"}


@files
@pytest.mark.parametrize("number", DAMAGED)
async def test_record_above_a_damaged_number_is_left_out_whole(file: str, number: str, world: World) -> None:
    found, bad, _ = await load(world, file, "0301,D,1,P,1", f"0301,{number},2,P,1", "0301,E,1,P,1")
    assert found == {"0301": ["E.1"], "0303": []}
    assert [line.partition(": ")[0] for line in bad] == [f"{file}:3"]
    kept = f"; {NOUNS[file]} D, of which it may be a line, is left out whole, so that nobody takes it for complete"
    assert bad[0].endswith(kept)
    found, bad, _ = await load(world, file, "0301,D,1,P,1", "0301,D,2,P,1", "0301,E,1,P,1")
    assert (found, bad) == ({"0301": ["E.1", "D.1", "D.2"], "0303": []}, [])


@pytest.mark.parametrize(
    ("rows", "left"),
    [
        (["0301,D,1", "0301,#N/A,2", "0301,1E+05,3", "0301,E,1"], {"E"}),
        (["0301,D,1", "0301,#N/A,1", "0301,E,2", "0301,F,1"], {"D", "F"}),
        (["0301,D,1", "0301,#N/A,2", "0301,E,3"], set()),
        (["0301,D,1", "0301,#N/A,1", "0301,E,1"], {"D", "E"}),
        (["0301,D,1", "0301,#N/A,1", "0301,#N/A,2", "0301,E,1"], {"D", "E"}),
        (["0301,D,1", "0301,#N/A,x", "0301,E,1"], set()),
        (["0301,D,1", "0303,#N/A,2", "0301,E,1"], {"D", "E"}),
        (["0301,D,1", "#N/A,#N/A,2", "0303,E,1"], {"E"}),
        (["0301,D,10", "0301,#N/A,20", "0301,E,10", "0301,E,20"], {"E"}),
        (["0301,D,2", "0301,#N/A,1", "0301,E,2", "0301,E,1"], {"E"}),
        (["0301,D,1", "0301,E,1", "0301,D,2", "0301,#N/A,2", "0301,F,1", "0303,G,1"], {"D", "G"}),
        (["0301,#N/A,1", "0301,D,2"], set()),
        (["0301,D,1", "0301,D,2", "0301,#N/A,3"], set()),
        (["0301,#N/A,", "0301,D,1"], set()),
    ],
)
@files
async def test_records_that_may_lack_a_damaged_row(file: str, rows: list[str], left: set[str], world: World) -> None:
    found, bad, _ = await load(world, file, *(f"{row},P,1" for row in rows))
    assert {line.partition(".")[0] for lines in found.values() for line in lines} == left
    assert len(bad) == sum("#" in row or "1E" in row for row in rows)


@files
async def test_several_records_are_named(file: str, world: World) -> None:
    assert HEADERS[file]
    _, bad, _ = await load(world, file, "0301,D,1,P,1", "0301,#N/A,2,P,1", "0301,E,3,P,1")
    nouns = PLURALS[NOUNS[file]]
    assert f"{nouns} D, E, of which it may be a line, are left out whole, so that nobody takes them" in bad[0]


HELD = "quantity 9 without a place may be the total of the product's rows with places, and row 2 may be of the product"


UNREADABLE = ["#N/A,P,A,,7", ",P,A,,7", "1,#N/A,A,,7", "1,,A,,7", "1,1E+05,A,,7", "#N/A,#N/A,A,,7"]
UNKNOWN = ["1,PP,A,,7", "1,O,A,,7", "1,9520001100017,A,,7", "11,P,A,,7", "0099,P,A,,7", "11,PP,A,,7"]


@pytest.mark.parametrize("row", [*UNREADABLE, *UNKNOWN])
async def test_total_waits_for_a_row_that_may_be_of_its_product(row: str, world: World) -> None:
    stocked(world, row, "1,P,B,,2", "1,P,,,9", "1,Q,B,,3")
    report = await loaded(world)
    assert [bad.line for bad in report.bad] == [2, 4]
    assert HELD in report.bad[1].reason
    assert (await world.stock("P"), await world.stock("Q")) == (2, 3)
    stocked(world, "1,P,A,,7", "1,P,B,,2", "1,P,,,9")
    for recount in (False, True):
        await loaded(world, recount=recount)
        assert await world.stock("P") == 9


@pytest.mark.parametrize(
    ("rows", "stock"),
    [
        (["1,#N/A,A,,8", "1,P,B,,2", "1,P,,,9"], 11),
        (["1,#N/A,A,,7", "1,P,B,,20", "1,P,,,9"], 29),
        (["#N/A,Q,A,,7", "1,P,B,,2", "1,P,,,9"], 11),
        (["1,#N/A,A,,7", "1,P,,,9"], 9),
        (["1,PP,A,,8", "1,P,B,,2", "1,P,,,9"], 11),
        (["1,PP,A,,7", "1,P,,,9"], 9),
        (["1,Q,A,,7", "1,P,B,,2", "1,P,,,9"], 11),
        (["11,Q,A,,7", "1,P,B,,2", "1,P,,,9"], 11),
        (["1,#N/A,,,7", "1,P,B,,2", "1,P,,,9"], 11),
        (["1,#N/A,A,,7", "1,P,B,,9", "1,P,,,9"], 9),
    ],
)
async def test_goods_at_no_place_beside_a_damaged_row(rows: list[str], stock: int, world: World) -> None:
    stocked(world, *rows)
    await loaded(world)
    assert await world.stock("P") == stock


@pytest.mark.parametrize("store", ["#N/A", "", "11"])
async def test_count_without_place_waits_for_the_only_row_with_one(store: str, world: World) -> None:
    stocked(world, f"{store},P,A,,9", "1,P,,,9")
    report = await loaded(world)
    assert [bad.line for bad in report.bad] == [2, 3]
    assert "without a place is held back" in report.bad[1].reason
    stocked(world, "1,P,A,,9", "1,P,,,9")
    for recount in (False, True):
        await loaded(world, recount=recount)
        assert await world.stock("P") == 9
