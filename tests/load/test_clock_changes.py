"""Times without a zone are those of the store: one that its clocks skip is refused, one they show twice is named."""

from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.domain.quantities_times_and_json import TimeZones
from tests.load.test_load_report import DELIVERY, load, loaded
from tests.load.test_repeated_loads import World, a_world, stocked

HEADER = f"{DELIVERY},datetime_expected"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A service in Amsterdam; the zone of this process is another."""
    zones = TimeZones(ZoneInfo("Europe/Amsterdam"), {"2": ZoneInfo("America/New_York")})
    with a_world(tmp_path, ServiceOptions(time_zones=zones)) as world:
        yield world


SKIPPED, TWICE = "clocks go forward then", "clocks go back then"
TIMES = [
    *(("2027-03-28 02:30", SKIPPED), ("2027-03-28T02:00:00", SKIPPED), ("28-3-2027 2:59", SKIPPED)),
    *(("zo 28 mrt 2027 2u30", SKIPPED), ("2027-03-28 01:59", ""), ("2027-03-28 03:00", ""), ("2027-03-28", "")),
    *(("2027-10-31 02:30", TWICE), ("31.10.2027 2.00 Uhr", TWICE), ("2027-10-31 02:59:59", TWICE)),
    *(("2027-10-31 01:59", ""), ("2027-10-31 03:00", ""), ("2027-10-31T02:30+01:00", ""), ("2027-10-31T02:30Z", "")),
    *(("2027-03-14 02:30", ""), ("2027-11-07 01:30", "")),
]


@pytest.mark.parametrize(("time", "words"), TIMES)
async def test_a_time_that_clocks_do_not_show_once(time: str, words: str, world: World) -> None:
    stocked(world)
    await loaded(world)
    report = await load(world, "deliveries.csv", HEADER, f"1,D,1,1,P,1,,{time}")
    told = [*map(str, report.bad), *(note for note in report.files[0].notes if "clocks" in note)]
    assert [words in line and line.startswith("deliveries.csv:2: ") for line in told] == [True] * bool(words)
    assert bool(report.bad) == (words == SKIPPED)


@pytest.mark.parametrize(("time", "words"), [("2027-03-14 02:30", SKIPPED), ("2027-03-28 02:30", "")])
async def test_a_store_has_its_own_clocks(time: str, words: str, world: World) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "2,Two,false")
    world.write("products.csv", "product_number", "P")
    await loaded(world)
    report = await load(world, "deliveries.csv", HEADER, f"2,D,1,1,P,1,,{time}")
    assert [words in row.reason for row in report.bad] == [True] * bool(words)


STORES = "store_number,store_name,is_warehouse,store_next_delivery_datetime"


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize(
    ("store", "time", "words"),
    [
        *(("1", time, words) for time, words in TIMES),
        *(("2", "2027-03-14 02:30", SKIPPED), ("2", "2027-11-07 01:30", TWICE), ("2", "2027-03-28 02:30", "")),
        ("2", "2027-10-31 02:30", ""),
    ],
)
@pytest.mark.parametrize("column", ["store_next_delivery_datetime", "store_next_ordering_datetime"])
async def test_times_of_a_new_store_are_read_as_those_of_a_known_one(
    column: str, store: str, time: str, words: str, is_known: bool, world: World
) -> None:
    if is_known:
        await load(world, "stores.csv", STORES, f"{store},Shop,false,")
    header = f"store_number,store_name,is_warehouse,{column}"
    report = await load(world, "stores.csv", header, f"{store},Shop,false,{time}")
    told = [*map(str, report.bad), *(note for note in report.files[0].notes if "clocks" in note)]
    assert [words in line and line.startswith("stores.csv:2: ") for line in told] == [True] * bool(words)
    assert bool(report.bad) == (words == SKIPPED)


@pytest.mark.parametrize(
    ("before", "after", "differences"),
    [
        ("2026-12-25 02:30", "2026-12-25 02:30", ""),
        ("2026-10-25 02:30", "25.10.2026 02:30", ""),
        ("2026-12-25T02:30Z", "2026-12-25 03:30", ""),
        ("2026-12-25 02:30", "2026-12-25 01:30", "datetime_expected is 2026-12-25 02:30 there and 2026-12-25 01:30"),
    ],
)
async def test_a_difference_is_told_in_the_zone_of_the_store(
    before: str, after: str, differences: str, world: World
) -> None:
    stocked(world)
    await loaded(world)
    await load(world, "deliveries.csv", HEADER, f"1,D,1,1,P,1,,{before}")
    report = await load(world, "deliveries.csv", HEADER, f"1,D,1,1,P,2,,{after}")
    [row] = report.bad
    assert "line 1 has quantity 1 there and 2 in the file" in row.reason
    assert ("datetime_expected" in row.reason) == bool(differences)
    assert differences in row.reason
