"""Somebody of the fault suite counts what the screen agrees to, also where it asks first."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.faults.goods import CODES
from tests.faults.random_worker import Order, Said, Worker
from tests.faults.world import world


async def test_a_pick_counts_when_its_place_is_said(aisle_home: Path) -> None:
    async with world(aisle_home / "shop") as shop:
        said = Said()
        anna = Worker(shop.host, "dock-1", "anna", Random(1), said, CODES)
        anna.orders = (Order("O-3", ("P4", "P1")),)
        anna._pick()
        anna._take("P4", 1)
        anna._take("P1", 1)
        anna._take("P1", 1)
        assert anna.person.told[1] == "pick.which_location"
        assert said.picked == {("O-3", "P4"): 1}
        anna._say("A-1")
        assert said.picked == {("O-3", "P4"): 1, ("O-3", "P1"): 2}
        await shop.quiet()
        shop.check()
