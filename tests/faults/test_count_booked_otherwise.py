"""A count whose expected stock changes because others undo something before it is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.jobs.view import ListView
from tests.faults.goods import CODES, STOCK
from tests.faults.world import world

AT, TO = "A-1", "B-1"
BEFORE = STOCK["P1"]


@pytest.mark.parametrize("kind", ["move", "loss"])
async def test_who_counted_before_an_undo_sees_the_difference_that_is_booked(memory: Path, kind: str) -> None:
    """A move or a loss of three is undone after goods were counted without them: four are missing, not one.

    The log names what is undone, so that the page shows it before it is sent.
    """
    async with world(memory) as shop:
        other = await shop.add_host()
        await shop.quiet()
        anna, ben = shop.host.person("dock-1", "anna"), other.person("dock-2", "ben")
        ben.open("home.move" if kind == "move" else "home.count")
        if kind == "move":
            ben.say(AT, f"3*{CODES['P1']}", TO)
        else:
            ben.say("1")
            ben.say(AT, CODES["P1"], "3", "1")
        await shop.quiet()
        await shop.step(60.0)
        anna.open("home.count")
        anna.say(AT, CODES["P1"])
        anna.count(BEFORE[AT] - 4)
        await shop.step(5.0)
        ben.say("u")
        await shop.quiet()
        await shop.step(60.0)
        await shop.quiet()
        anna.say("d")
        while anna.at == "count.missing":
            anna.answer("count.skip")
        if anna.at == "count.recount":
            anna.say("d")
        summary = anna.frame.view
        assert isinstance(summary, ListView)
        shown = dict(summary.rows[0].cells[1].args)["value"]
        anna.answer("count.send")
        told = set()
        for _ in range(5):
            await shop.step(10.0)
            await shop.quiet()
            anna.look()
            told.add(anna.told[1])
        assert shown == 4
        assert "count.booked_otherwise" not in told
        assert shop.lying()["P1", AT] == BEFORE[AT] - 4
