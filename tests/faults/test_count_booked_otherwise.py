"""A count whose difference the service books otherwise than its page showed."""

from __future__ import annotations

from pathlib import Path

from tests.faults.goods import CODES, STOCK
from tests.faults.world import world

AT, TO = "A-1", "B-1"
BEFORE = STOCK["P1"]


async def test_who_counted_before_a_move_is_undone_learns_the_booked_difference(memory: Path) -> None:
    """A move of three is undone after goods were counted without them: three more are missing than the page said."""
    async with world(memory) as shop:
        other = await shop.add_host()
        await shop.quiet()
        anna, ben = shop.host.person("dock-1", "anna"), other.person("dock-2", "ben")
        ben.open("home.move")
        ben.say(AT, f"3*{CODES['P1']}", TO)
        await shop.quiet()
        await shop.step(60.0)
        anna.open("home.count")
        anna.say(AT, CODES["P1"])
        anna.count(BEFORE[AT] - 4)
        await shop.step(5.0)
        ben.say("u")
        await shop.quiet()
        anna.say("d")
        while anna.at == "count.missing":
            anna.answer("count.skip")
        if anna.at == "count.recount":
            anna.say("d")
        anna.answer("count.send")
        for _ in range(5):
            await shop.step(10.0)
            await shop.quiet()
            anna.look()
        assert anna.told[1] == "count.booked_otherwise"
