"""Known mistakes are noticed: what the checker says to each of them, and that it says nothing without them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from threading import Barrier, Thread
from typing import NamedTuple

import httpx
import pytest

from aisle.errors import StorageError
from aisle.outbox.commit_journal import EventEntry, Journal, JournalBatch
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from tests.faults import link, mutants
from tests.faults.goods import CODES
from tests.faults.link import CANCEL_AFTER, CANCEL_BEFORE, CRASH, LOST_BEFORE, UNREACHED, Fault
from tests.faults.own_program import life
from tests.faults.random_faults import WEIGHTS, Weather
from tests.faults.world import World, world
from tests.writes import ANNA, update

SEED, LIVES, FAULTS = 7, 20, 200
"""The first life that is tried, how many, and faults of each: which of them meets a mistake changes with the service's
statements."""
WEATHER = partial(
    Weather, writes=0.8, reads=0.2, copies=0.4, weights={**WEIGHTS, link.CANCEL_AFTER: 5, link.CANCEL_BEFORE: 2}
)


class Case(NamedTuple):
    """A mistake, and what is said when it is noticed."""

    mutant: Callable[[], AbstractContextManager[None]]
    said: str


CASES = (
    Case(mutants.two_couriers, "IllegalTransition"),
    Case(mutants.merged_with_what_was_sent, "is shown otherwise|was carried out too"),
    Case(mutants.resent_without_key, "is shown otherwise|nobody said these|unknown there"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.mutant.__name__)
async def test_a_life_with_a_mistake_does_not_pass(memory: Path, case: Case) -> None:
    for seed in range(SEED, SEED + LIVES):
        said = ""
        try:
            with case.mutant():
                await life(memory / f"{seed}", seed, FAULTS, WEATHER)
        except AssertionError as error:
            said = str(error)
        if said:
            assert re.search(case.said, said), said
            return
    pytest.fail(f"{case.mutant.__name__} was not noticed in {LIVES} lives")


async def test_the_same_life_without_a_mistake_passes(memory: Path) -> None:
    assert (await life(memory, SEED, FAULTS, WEATHER)).faults >= FAULTS


# What shows in one moment only


async def _cut_short(shop: World) -> None:
    """A courier ends when its request has been carried out, and no other reaches the service until more is picked."""
    anna = shop.host.person("dock-1", "anna")
    happens = iter([CANCEL_AFTER])
    shop.host.line.plan = lambda request: Fault(
        next(happens, UNREACHED) if request.method == "PUT" or shop.host.deaths else link.NONE
    )
    anna.say("O-1", CODES["P1"])
    await shop.step(1)
    assert shop.host.deaths == 1
    anna.say(CODES["P1"])
    await shop.step(5)
    await shop.quiet()
    shop.check()


async def _not_read_back(shop: World) -> None:
    """What is confirmed cannot be read back for a while."""
    anna = shop.host.person("dock-1", "anna")
    writes: list[httpx.Request] = []

    def plan(request: httpx.Request) -> Fault:
        if request.method == "GET":
            return Fault(LOST_BEFORE if writes else link.NONE)
        writes.append(request)
        return Fault()

    shop.host.line.plan = plan
    anna.say("O-1", CODES["P1"])
    await shop.step(5)
    assert [op.state for op in shop.host.operations()][-1] == "done"
    (row,) = shop.host.query("order", order_number="O-1")
    assert row["lines"][0]["picked_quantity"] == 1, "what was confirmed is not shown"
    await shop.quiet()
    shop.check()


async def _told_and_not_read(shop: World) -> None:
    """A courier ends when it has heard that an order is new, before it has read it."""
    happens = iter([CANCEL_BEFORE])
    shop.host.line.plan = lambda asked: Fault(
        next(happens, link.NONE) if b"order_number=O-9" in asked.url.query else link.NONE
    )
    async with shop.integrator() as client:
        await shop.create_orders(client, {"O-9": (("P1", 2),)})
    await shop.time.until(lambda: shop.host.deaths)
    await shop.quiet()
    shop.check()


async def _ended_at_each_statement(shop: World) -> None:
    """The service's process ends at the first statement of a write; asked again, at the second; and so on."""
    anna = shop.host.person("dock-1", "anna")
    asked: Counter[str] = Counter()

    def plan(request: httpx.Request) -> Fault:
        if request.method == "GET":
            return Fault()
        key = request.headers["Idempotency-Key"]
        asked[key] += 1
        return Fault(CRASH, statements=asked[key])

    shop.host.line.plan = plan
    anna.say("O-1", CODES["P1"])
    anna.open("home.move")
    anna.say("A-1", CODES["P3"], "A-2")
    await shop.time.until(shop.host.drained)
    assert shop.storage.crashes > 20
    await shop.quiet()
    shop.check()
    assert {op.state for op in shop.host.operations() if not op.superseded_by} == {"done"}


SCENES = (
    (
        mutants.key_in_a_second_transaction,
        _ended_at_each_statement,
        "was refused and carried out|booked|carried out|in_doubt",
    ),
    (mutants.sending_written_late, _cut_short, "was carried out too"),
    (mutants.cursor_ahead_of_rows, _told_and_not_read, r"\('O-9', 1\)"),
    (mutants.confirmed_is_enough, _not_read_back, "what was confirmed is not shown"),
)


@pytest.mark.parametrize(("mutant", "scene", "said"), SCENES)
async def test_a_scene_with_a_mistake_does_not_pass(
    memory: Path,
    mutant: Callable[[], AbstractContextManager[None]],
    scene: Callable[[World], asyncio.Future[None]],
    said: str,
) -> None:
    async with world(memory / "right") as shop:
        await scene(shop)
    with mutant():
        async with world(memory / "wrong") as shop:
            with pytest.raises(AssertionError, match=said):
                await scene(shop)


# What shows where several processes write at once


def _written_at_once(folder: Path, writers: int = 3, each: int = 60) -> None:
    """Sessions and couriers on one outbox: all that was acknowledged is there, and nobody is turned away."""
    folder.mkdir(mode=0o700, parents=True)
    refused: list[str] = []
    acknowledged: list[str] = []
    ready = Barrier(writers)
    open_outbox(folder).close()

    def work(name: int) -> None:
        connection = open_outbox(folder)
        journal, outbox = Journal(connection), OperationQueue(connection)
        ready.wait()
        for number in range(each):
            try:
                batch = JournalBatch(f"S{name}", f"T{name}", ANNA, entries=[EventEntry("J", 0.0, "", "1", "scan", "")])
                batch.writes.append((0, update(f"{name}-{number}", {1: 1})))
                done = journal.commit(batch)
                acknowledged.extend(done.op_ids)
                assert outbox.begin_sending(done.op_ids[0], b"{}", has_key=True)
                outbox.confirm(done.op_ids[0])
            except StorageError as error:
                refused.append(str(error))
        connection.close()

    threads = [Thread(target=work, args=(name,)) for name in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not refused, refused[0]
    connection = open_outbox(folder)
    states = {op.op_id: op.state for op in OperationQueue(connection).recent(100_000)}
    connection.close()
    assert states == dict.fromkeys(acknowledged, "done")


def test_deferred_transactions_are_noticed(memory: Path) -> None:
    _written_at_once(memory / "right")
    with mutants.deferred_transactions(), pytest.raises(AssertionError, match=r"(?i)locked|busy"):
        _written_at_once(memory / "wrong")
