"""The power goes at any moment: what the outbox acknowledged is in the file afterwards, and the file always opens.

Each seed is one life of an `outbox.db` (sessions that commit, a courier that sends, checkpoints), cut at many moments.
One seed again: `AISLE_FULL=1 python -m pytest "tests/faults/test_power_loss.py::test_the_power_goes[17]"`.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from shutil import rmtree
from typing import NamedTuple

import apsw
import pytest

from aisle.host.database import checkpoint, fetch
from aisle.outbox.commit_journal import EventEntry, Journal, JournalBatch
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import CONFIRMED, QUEUED, SENDING
from tests.faults.power_loss import Disk, disk_under
from tests.writes import ANNA, movement, update

SEEDS = [pytest.param(seed, marks=() if seed < 2 else pytest.mark.full) for seed in range(100)]
CUTS = 100
"""Of each seed: 10,000 in the long run."""
STEPS = 40
RANK = {QUEUED: 0, SENDING: 1, CONFIRMED: 2}


class Told(NamedTuple):
    """What was acknowledged, and after how many of the disk's deeds."""

    moment: int
    raw: str = ""
    """Of an event that is kept."""
    op_id: str = ""
    state: str = ""
    """What the operation had come to, or beyond."""


class Life:
    """One outbox, used as sessions and courier use it."""

    def __init__(self, connection: apsw.Connection, disk: Disk, chance: Random) -> None:
        self.told: list[Told] = []
        self._connection = connection
        self._journal, self._outbox = Journal(connection), OperationQueue(connection)
        self._disk = disk
        self._chance = chance
        self._number = 0

    def step(self) -> None:
        """Something that happens in a shop."""
        luck = self._chance.random()
        if luck < 0.6:
            self._scan()
        elif luck < 0.9:
            self._send()
        else:
            checkpoint(self._connection, truncate=luck > 0.97)

    def _scan(self) -> None:
        self._number += 1
        number = self._number
        raws = [f"{number}-{part}" for part in range(self._chance.randint(1, 3))]
        entries = [EventEntry("J", 0.0, "", raw, "scan", "") for raw in raws]
        writes = [(0, movement(f"{number % 3}", f"P{number}") if number % 4 == 0 else update(str(number), {1: number}))]
        done = self._journal.commit(JournalBatch("S", "console", ANNA, entries=entries, writes=writes))
        for raw in raws:
            self._tell(raw=raw)
        for op_id in done.op_ids:
            self._tell(op_id=op_id, state=QUEUED)

    def _send(self) -> None:
        for row in self._outbox.sendable(2):
            if self._outbox.begin_sending(row.op_id, f"{row.op_id} {row.body}".encode()) is None:
                continue
            self._tell(op_id=row.op_id, state=SENDING)
            if self._chance.random() < 0.8:
                self._outbox.confirm(row.op_id)
                self._tell(op_id=row.op_id, state=CONFIRMED)

    def _tell(self, raw: str = "", op_id: str = "", state: str = "") -> None:
        self.told.append(Told(len(self._disk.done), raw, op_id, state))


def lived(folder: Path, seed: int, *, synchronous: str = "") -> tuple[Disk, list[Told]]:
    """One life of an outbox in this folder."""
    folder.mkdir(mode=0o700)
    open_outbox(folder).close()
    with disk_under(folder) as disk:
        connection = open_outbox(folder)
        if synchronous:
            connection.execute(f"PRAGMA synchronous={synchronous}").fetchall()
        life = Life(connection, disk, Random(seed))
        for _ in range(STEPS):
            life.step()
        connection.close()
    return disk, life.told


def lost(disk: Disk, told: list[Told], seed: int, folder: Path) -> list[str]:
    """What was acknowledged and is not there after a cut, over `CUTS` cuts of one life."""
    chance, missing = Random(seed), []
    for _ in range(CUTS):
        moment = chance.randint(0, len(disk.done))
        disk.after_cut(moment, chance, folder)
        missing += [f"cut {moment}: {what}" for what in _missing(folder, [row for row in told if row.moment <= moment])]
        rmtree(folder)
    return missing


def _missing(folder: Path, told: list[Told]) -> list[str]:
    connection = open_outbox(folder)
    try:
        if (found := fetch(connection, "PRAGMA integrity_check")) != [("ok",)]:
            return [f"damaged: {found}"]
        raws = [raw for (raw,) in fetch(connection, "SELECT raw FROM event ORDER BY seq")]
        states = dict(fetch(connection, "SELECT op_id, state FROM operation"))
    finally:
        connection.close()
    acknowledged = [row.raw for row in told if row.raw]
    lost = [] if raws[: len(acknowledged)] == acknowledged else ["events"]
    return lost + [row.op_id for row in told if row.op_id and not _has_come_to(states.get(row.op_id), row.state)]


def _has_come_to(state: str | None, acknowledged: str) -> bool:
    return state is not None and RANK[state] >= RANK[acknowledged]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_power_goes(tmp_path: Path, seed: int) -> None:
    disk, told = lived(tmp_path / "home", seed)
    assert any(row.state == CONFIRMED for row in told)
    assert lost(disk, told, seed, tmp_path / "after") == []


def test_commits_that_are_not_synced_are_caught(tmp_path: Path) -> None:
    """The checker sees what `synchronous=NORMAL` loses."""
    found = []
    for seed in range(3):
        disk, told = lived(tmp_path / f"home{seed}", seed, synchronous="NORMAL")
        found += lost(disk, told, seed, tmp_path / "after")
    assert found
    assert not any("damaged" in what for what in found)
