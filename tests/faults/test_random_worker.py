"""Somebody of the fault suite counts what the screen agrees to, also where it asks first."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.faults.goods import CODES
from tests.faults.random_worker import Order, Said, Worker
from tests.faults.world import world


@pytest.mark.parametrize(
    ("places", "told"),
    [
        (("A-1",), "pair"),
        (("A-2", ""), "pick.picked"),  # no stock is known there: the screen asks once more
        (("PU-01", ""), "pick.picked"),
    ],
)
async def test_a_pick_counts_when_its_place_is_said(aisle_home: Path, places: tuple[str, ...], told: str) -> None:
    async with world(aisle_home / "shop") as shop:
        said = Said()
        anna = Worker(shop.host, "dock-1", "anna", Random(1), said, CODES)
        anna.orders = (Order("O-3", ("P4", "P1")),)
        anna._pick()
        anna._take("P4", 1)
        anna._take("P1", 1)
        anna._take("P1", 1)
        assert anna.person.told[1] == "pick.which_location"
        for place in places:
            assert said.picked == {("O-3", "P4"): 1}
            anna._say(place or anna.last_letter())
        assert anna.person.told[1] == told
        assert said.picked == {("O-3", "P4"): 1, ("O-3", "P1"): 2}
        await shop.quiet()
        shop.check()
