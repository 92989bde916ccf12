"""The tests of restores notice mistakes: with each of these, work is lost or doubled, and they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch
from weakref import WeakKeyDictionary

import pytest

from aisle.courier.push.outgoing_request import request_headers
from aisle.courier.service_features_and_lists import Features
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Operation
from aisle.outbox.replay_after_restore import RestoreReplay
from tests.faults.goods import CODES
from tests.faults.link import LOST_BEFORE, NONE, Fault
from tests.faults.restore_run import restored_life
from tests.faults.world import World, world
from tests.service.database_restore import copy_of, put_back

RESTORES, LIVES = 8, 6
"""Restores of a life, and lives at the most: which of them meets a mistake changes with the service's statements."""


@contextmanager
def noticed_by_the_cursor_alone() -> Iterator[None]:
    """A restore is noticed by how far the cursor has come, and by nothing else."""

    async def never(*_: Any) -> bool:
        return False

    with (
        patch.object(RestoreReplay, "newest_keys", lambda *_: []),
        patch("aisle.service.handlers.changes_lost_writes_and_audit._is_other_history", never),
    ):
        yield


@contextmanager
def nothing_sent_again() -> Iterator[None]:
    """A restore is noticed by the mark of the cursor, and nothing follows."""
    with (
        patch.object(RestoreReplay, "newest_keys", lambda *_: []),
        patch.object(RestoreReplay, "replay", lambda self, op_ids, how: 0),
    ):
        yield


@contextmanager
def sent_again_under_new_keys() -> Iterator[None]:
    """What is sent again has another key than it had before; a restore is noticed by the mark of the cursor."""

    def mutant(op: Operation, features: Features, *more: Any) -> dict[str, str]:
        headers = request_headers(op, features, *more)
        if op.replayed_at is not None and "Idempotency-Key" in headers:
            headers["Idempotency-Key"] = f'"{op.op_id[:-1]}{"A" if op.op_id[-1] != "A" else "B"}"'
        return headers

    with (
        patch.object(RestoreReplay, "newest_keys", lambda *_: []),
        patch("aisle.courier.push.push_loop.request_headers", mutant),
    ):
        yield


@contextmanager
def keys_forgotten_after_a_restart() -> Iterator[None]:
    """A courier knows of those keys alone that were sent in its own time."""
    newest, begun = RestoreReplay.newest_keys, WeakKeyDictionary[OperationQueue, float]()

    def mutant(self: OperationQueue, since: float, limit: int) -> list[str]:
        return newest(self, max(since, begun.setdefault(self, self._clock())), limit)

    with patch.object(RestoreReplay, "newest_keys", mutant):
        yield


class Case(NamedTuple):
    """A mistake, and the first life that is tried."""

    mutant: Callable[[], AbstractContextManager[None]]
    seed: int


CASES = (
    Case(noticed_by_the_cursor_alone, 2),
    Case(nothing_sent_again, 1),
    Case(sent_again_under_new_keys, 1),
)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.mutant.__name__)
async def test_a_life_with_a_mistake_does_not_pass(memory: Path, case: Case) -> None:
    said: list[str] = []
    for seed in range(case.seed, case.seed + LIVES):
        try:
            with case.mutant():
                await restored_life(memory / f"{seed}", seed, RESTORES, 1)
        except AssertionError as error:
            said.append(str(error))
            break
    assert any("unknown there" in each or "booked" in each for each in said), (
        said,
        f"{case.mutant.__name__} was not noticed in {LIVES} lives",
    )


# What shows in one moment only


async def _ended_before_the_next_look(shop: World, database: Path) -> None:
    """A courier ends between a confirmation and its next look at the cursor; the copy is of just before."""
    anna = shop.host.person("dock-1", "anna")
    anna.say("O-1", CODES["P1"])
    await shop.quiet()
    copy = copy_of(database)
    shop.host.line.plan = lambda request: Fault(LOST_BEFORE if request.method == "GET" else NONE)
    anna.say(CODES["P1"])
    await shop.step()
    await shop.host.stop()
    shop.host.line.still()
    put_back(database, copy)
    async with shop.integrator() as client:
        await shop.create_orders(client, {f"N-{n}": (("P4", 1),) for n in range(20)})
    await shop.host.start()
    await shop.quiet()
    shop.check()


async def test_a_courier_that_begins_anew_knows_what_was_confirmed_before(memory: Path) -> None:
    async with world(memory / "right") as shop:
        await _ended_before_the_next_look(shop, memory / "right" / "service.db")
    with keys_forgotten_after_a_restart():
        async with world(memory / "wrong") as shop:
            with pytest.raises(AssertionError, match="unknown there"):
                await _ended_before_the_next_look(shop, memory / "wrong" / "service.db")
