"""A service that does its worst: sync and delivery live through it, and what cannot be read costs what it would have
said, by name, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from aisle.host.database import fetch_one
from tests.faults.conftest import Tell
from tests.faults.document_host import ORDER, foreign
from tests.faults.document_program import life
from tests.faults.document_service import Ways
from tests.faults.goods import CODES
from tests.faults.hostile_service import Hostile, Moods
from tests.faults.link import Fault
from tests.run_length import tries

FAULTS = tries(200, 2_500)
"""Of each life."""
SHORT = 1
SEEDS = [pytest.param(seed, marks=() if seed < SHORT else pytest.mark.full) for seed in range(SHORT + 20)]


@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_is_lost_and_nothing_is_doubled(memory: Path, tell: Tell, seed: int) -> None:
    tally = await life(memory, seed, FAULTS, make=partial(Hostile, random=Random(f"{seed}/moods")))
    tell(tally)
    assert tally.faults >= FAULTS


LISTS = {
    "list-customer-orders": "orders",
    "list-locations": "location",
    "list-store-products-stock": "stock",
    "list-stores": "store",
}
"""The lists of a sync, and the table of the cache that each of them fills."""


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_that_never_makes_sense_costs_itself_alone_and_is_named(memory: Path, name: str) -> None:
    def make(_: Ways, clock: Callable[[], float]) -> Hostile:
        made = Hostile(Ways(), clock, Random(1), Moods())
        made.always = (name, "no page")
        return made

    async with foreign(memory, make=make) as shop:
        host = shop.host
        assert host.courier is not None
        assert host.courier.full_sync.progress.missing
        assert any(name in notice.text for notice in host.notices)
        read = {what for what in LISTS.values() if fetch_one(host.courier._cache_db, f"SELECT 1 FROM {what} LIMIT 1")}
        assert read == {*LISTS.values()} - {LISTS[name]}


@pytest.mark.parametrize("mood", Moods._fields)
async def test_in_each_mood_everything_is_read_and_written(memory: Path, mood: str) -> None:
    moods = Moods(**{mood: True})
    async with foreign(memory, make=lambda _, clock: Hostile(Ways(), clock, Random(1), moods)) as shop:
        shop.host.line.plan = lambda _: Fault()
        anna = shop.host.person("dock-1", "anna")
        anna.say(ORDER, "2*" + CODES["P1"])
        await shop.quiet()
        shop.check()
        assert shop.transport.orders[ORDER]["lines"][1]["picked_quantity"] == 2
        assert {op.state for op in shop.host.operations() if not op.superseded_by} == {"done"}
        assert shop.host.courier is not None
        assert "stock" not in shop.host.courier.full_sync.progress.missing
