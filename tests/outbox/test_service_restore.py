"""Replay of confirmed operations after a restore: which keys are named, and what is recorded."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from aisle.host.database import transaction
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.service_restore import DETECTED, RestoreReplay, list_restores
from tests.clock import Clock, seeded
from tests.writes import ANNA, intents, update


@pytest.fixture
def outbox(aisle_home: Path, clock: Clock) -> OperationQueue:
    """An empty one."""
    return OperationQueue(open_outbox(aisle_home), clock=clock, random=seeded())


def sent(outbox: OperationQueue, count: int) -> list[str]:
    """So many updates of different orders, on their way under their keys."""
    with transaction(outbox._db):
        ids = outbox.enqueue(intents(*(update(f"O{n}", {1: 1}) for n in range(count))), ANNA)
    for op_id in ids:
        outbox.begin_sending(op_id, b"{}", has_key=True)
    return list(ids)


def test_newest_key_is_named_despite_later_confirmed_older_ones(outbox: OperationQueue, clock: Clock) -> None:
    *older, youngest = sent(outbox, 30)
    for op_id in (youngest, *older):
        clock.now += 1
        outbox.confirm(op_id, "{}")
    known = outbox.newest_keys(0.0, 4)
    assert set(older[-4:]) | {youngest} <= set(known)
    assert len(known) == len(set(known)) <= 8


def test_what_goes_again_is_noted_with_it(outbox: OperationQueue) -> None:
    ids = sent(outbox, 150)
    for op_id in ids:
        outbox.confirm(op_id, "{}")
    begin_again, begun = RestoreReplay._reset_operation, []

    def ends(self: RestoreReplay, *args: object, **more: object) -> None:
        begun.append(args)
        if len(begun) == 120:
            raise KeyboardInterrupt
        begin_again(self, *args, **more)  # type: ignore[arg-type]

    with patch.object(RestoreReplay, "_reset_operation", ends), pytest.raises(KeyboardInterrupt):
        outbox.replay(ids, DETECTED)
    assert len(outbox.unfinished()) == 100
    assert [note.again for note in list_restores(outbox._db)] == [100]
    assert outbox.replay(ids, DETECTED) == 50
    assert [note.again for note in list_restores(outbox._db)] == [50, 100]


def test_a_restore_that_has_lost_nothing_is_noted_too(outbox: OperationQueue) -> None:
    assert outbox.replay([], DETECTED) == 0
    assert [(note.again, note.looked_for) for note in list_restores(outbox._db)] == [(0, 0)]
