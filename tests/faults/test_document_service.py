"""A service of the document alone, as it may be: whatever happens on the way, nothing is lost, nothing is doubled, and
what nobody can know is on the list of doubts.

Each seed is one life of a shop at a service with ways of its own. A long run has eighty of them, and 200,000 faults
(`python -m tests.full faults`, or `python -m tests.full tests/faults/test_document_service.py`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.conftest import Tell
from tests.faults.document_program import life
from tests.faults.link import KINDS
from tests.run_length import tries

FAULTS = tries(300, 2_500)
"""Of each life."""
SHORT = 1
SEEDS = [pytest.param(seed, marks=() if seed < SHORT else pytest.mark.full) for seed in range(SHORT + 80)]


@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_is_lost_and_nothing_is_doubled(memory: Path, tell: Tell, seed: int) -> None:
    tally = await life(memory, seed, FAULTS)
    tell(tally)
    assert tally.faults >= FAULTS
    assert set(tally.kinds) <= set(KINDS)
    assert len(tally.kinds) > 10
    assert tally.operations > FAULTS // 20
