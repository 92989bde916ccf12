"""Our own service: whatever happens on the way, nothing is lost and nothing is doubled.

Each seed is one life of a shop. The default run has one of them and 1,500 faults, most of them copies. A long run
(`python -m tests.full tests/faults/test_own_service.py`) has a hundred of them, and a million faults.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.faults.conftest import Tell
from tests.faults.link import CANCEL_AFTER, CANCEL_BEFORE, CRASH, KINDS
from tests.faults.own_program import life
from tests.faults.random_faults import WEIGHTS, Weather
from tests.run_length import tries

FAULTS = tries(1_500, 10_000)
"""Of each life."""
SHORT = 1
SHORT_WEATHER = partial(Weather, copies=0.94, weights={**WEIGHTS, CANCEL_BEFORE: 4, CANCEL_AFTER: 4})
"""Faults of a short life: mostly copies, which are the cheapest to make, and enough of the rarest kinds."""
SEEDS = [pytest.param(seed, marks=() if seed < SHORT else pytest.mark.full) for seed in range(SHORT + 100)]


@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_is_lost_and_nothing_is_doubled(memory: Path, tell: Tell, seed: int) -> None:
    weather = SHORT_WEATHER if seed < SHORT else Weather
    tally = await life(memory, seed, FAULTS, weather)
    tell(tally)
    assert tally.faults >= FAULTS
    assert set(tally.kinds) == set(KINDS)
    assert tally.kinds[CRASH] > FAULTS // 100
    assert tally.operations > FAULTS // 100
