"""A refused row of a user is named at the row of the same user that is loaded: its PIN, role or badge are missing."""

from __future__ import annotations

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import World

WORDS = "another row of the user is refused, and its PIN, role and badge are not loaded: "


@pytest.mark.parametrize("store", ["#N/A", "", "0099", "=A6"])
@pytest.mark.parametrize("user", ["jos", "Jos", " jos "])
@pytest.mark.parametrize("is_first", [False, True])
async def test_a_refused_row_of_a_user_is_named_at_the_other(
    store: str, user: str, is_first: bool, world: World
) -> None:
    world.write("stores.csv", "store_number,store_name,is_warehouse", "0042,One,false")
    rows = [f'"{store}",0012371,{user},Jos,staff,1234', "0042,0012372,jos,Jos,staff,"]
    rows = rows if is_first else rows[::-1]
    world.write("people.csv", "store_number,badge,user,name,role,pin", *rows, "0042,0012373,kim,Kim,staff,")
    report = await loaded(world)
    bad, good = (2, 3) if is_first else (3, 2)
    assert [row.line for row in report.bad] == [bad]
    said = [line.partition(WORDS) for line in report.lines() if WORDS in line]
    assert [(before.split(":")[1], value) for before, _, value in said] == [(str(good), f"jos, row {bad}.")]
