"""A number that a spreadsheet has counted on makes no order or delivery of each line; gaps are warned of in both."""

from __future__ import annotations

import pytest

from tests.load.test_divided_records import HEADERS, files, load
from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World

GAPS = "the line numbers do not begin with 1, or have gaps; lines that are not here cannot be added by a load: "


@files
@pytest.mark.parametrize(
    ("rows", "left", "refused"),
    [
        (["8001,1", "8002,2", "8003,3"], set(), [2, 3, 4]),
        (["8001,1", "8002,2", "8003,3", "8010,1", "8010,2"], {"8010"}, [2, 3, 4]),
        (["8001,1", "8002,2", "8003,1", "8004,2"], set(), [2, 3, 4, 5]),
        (["8001,1", "8001,2", "8002,3"], set(), [3, 4]),
        (["SO-9,10", "SO-10,20", "SO-11,30"], set(), [2, 3, 4]),
        (["0099,0", "0100,1"], set(), [2, 3]),
        (["99,1", "100,2", "101,3"], set(), [2, 3, 4]),
        (["8010,1", "8020,2", "8030,3"], set(), [2, 3, 4]),
        (["9102,1", "9101,2", "9100,3"], set(), [2, 3, 4]),
        (["8010,10", "8020,20", "8030,30", "8040,40", "9000,1"], {"9000"}, [2, 3, 4, 5]),
        (["8010,1", "8020,2", "8040,3"], {"8010", "8020", "8040"}, []),
        (["8001,1", "8002,1", "8003,1"], {"8001", "8002", "8003"}, []),
        (["8001,1", "8002,2", "8002,1"], {"8001", "8002"}, []),
        (["8001,1", "8003,2"], {"8001", "8003"}, []),
        (["8002,1", "8001,2"], {"8001", "8002"}, []),
        (["A1,1", "B2,2"], {"A1", "B2"}, []),
        (["8001,1", "8002,3"], {"8001", "8002"}, []),
    ],
)
async def test_a_number_that_rises_with_the_line_number_is_refused_whole(
    file: str, rows: list[str], left: set[str], refused: list[int], world: World
) -> None:
    found, bad, _ = await load(world, file, *(f"0301,{row},P,1" for row in rows))
    assert {line.partition(".")[0] for line in found["0301"]} == left
    assert [int(line.split(":")[1]) for line in bad] == refused
    assert all("as where a spreadsheet fills a column" in line for line in bad)


@files
@pytest.mark.parametrize(
    ("rows", "warned"),
    [
        (["8001,1", "8001,2"], []),
        (["8001,10", "8001,20"], []),
        (["4300007,1", "430007,2"], ["430007 has 2, and 4300007 above it has 1"]),
        (["8001,1", "TRUE,2"], ["TRUE has 2, and 8001 above it has 1"]),
        (["8001,10", "8001a,20", "9001,1"], ["8001a has 20, and 8001 above it has 10"]),
        (["8001,1", "9001,3"], ["9001 has 3"]),
        (["8001,1", "8001,3"], ["8001 has 1, 3"]),
        (["8001,2", "9001,5"], ["8001 has 2", "9001 has 5"]),
    ],
)
async def test_gaps_of_new_line_numbers_are_warned_of_once(
    file: str, rows: list[str], warned: list[str], world: World
) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "1,One,false")
    world.write("products.csv", "product_number", "P")
    end = ",1" if file == "deliveries.csv" else ""
    world.write(file, HEADERS[file], *(f"1,{row},P,1{end}" for row in rows))
    for times in (1, 0):
        lines = (await loaded(world)).lines()
        assert [line.partition(GAPS)[2].rstrip(".") for line in lines if GAPS in line] == warned * times
