"""The service is put back from an earlier copy, on either engine, with one to three hosts that come back in any order:
nothing that was confirmed is lost, and nothing is booked twice.

The default run has a hundred restores, a long one ten thousand (`python -m tests.full tests/faults/test_restores.py`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.service.db.postgres_database import PostgresDatabase
from tests.faults.restore_run import restored_life
from tests.run_length import IS_FULL, tries
from tests.service import postgres

RESTORES = {1: tries(78, 70), 2: tries(16, 30), 3: tries(6, 13)}
"""Of each life over a SQLite file, by the number of hosts: a life with more of them does more between two restores."""
ON_POSTGRES = {1: 200, 2: tries(1, 100), 3: 60}
SEEDS = range(tries(1, 90))
FULL = pytest.mark.full


@pytest.mark.parametrize("hosts", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_is_lost_and_nothing_is_doubled(memory: Path, seed: int, hosts: int) -> None:
    done = await restored_life(memory, seed, RESTORES[hosts], hosts)
    assert done.restores == RESTORES[hosts]
    assert done.replayed > 0


@pytest.mark.parametrize("hosts", [pytest.param(1, marks=FULL), 2, pytest.param(3, marks=FULL)])
async def test_nor_on_postgresql(memory: Path, server: postgres.Server, hosts: int) -> None:
    storage = PostgresDatabase(server.fresh(), timeout_s=60)
    try:
        done = await restored_life(memory, hosts, ON_POSTGRES[hosts], hosts, storage)
    finally:
        storage.close()
    assert done.restores == ON_POSTGRES[hosts]
    assert done.replayed > 0 or not IS_FULL  # one restore may find nothing that is newer than its copy
