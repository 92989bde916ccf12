"""The service dies in the middle of its work, again and again: what it answered it has done, and a repeat does nothing.

Two processes serve one file and write as fast as they can, so the end also comes in the middle of a commit, and of a
commit that the other one waits for.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import aisle.service.http.app  # noqa: F401 - read once, here, and not by each child
from aisle.service.app_options_and_limits import RateLimits
from tests.host.child_process import Child, running
from tests.service.world import LOGS, World

ROUNDS = [8, pytest.param(1000, marks=pytest.mark.full)]


def writes(folder: Path, name: str) -> Callable[[Callable[[str], None]], None]:
    """A process that serves and writes one piece more with each request; it tells each key before and after."""

    async def serve(tell: Callable[[str], None]) -> None:
        world = World(folder)
        for number in count():
            key = f"{name}-{number:012d}"
            tell(f"asked {key}")
            answer = await world.send("POST", LOGS, _entry(key), headers={"Idempotency-Key": f'"{key}"'})
            tell(f"{answer.status_code} {key}")

    def work(tell: Callable[[str], None]) -> None:
        asyncio.run(serve(tell))

    return work


def _entry(key: str) -> dict[str, object]:
    return {"storeproductlog": [{"product_number": "P1", "location_code": "A1", "quantity": 1, "reference": key}]}


@pytest.mark.parametrize("rounds", ROUNDS)
def test_killed_in_the_middle_of_writing(tmp_path: Path, rounds: int) -> None:
    asyncio.run(_filled(tmp_path))
    dice = random.Random(11)
    said: list[str] = []
    for number in range(rounds):
        one, other = Child(writes(tmp_path, f"a{number:04d}")), Child(writes(tmp_path, f"b{number:04d}"))
        with running(one, other):
            assert one.hear(dice.randint(2, 12))
            assert other.hear(1)
            for child in dice.sample([one, other], 2):
                said += child.kill()
    asyncio.run(_check(tmp_path, said, rounds))


async def _filled(folder: Path) -> None:
    world = World(folder)
    await world.fill()
    await world.close()


async def _check(folder: Path, said: list[str], rounds: int) -> None:
    asked = {line.split()[1] for line in said if line.startswith("asked")}
    answered = {line.split()[1] for line in said if line.startswith("200")}
    assert {line.split()[0] for line in said} <= {"asked", "200"}
    assert len(answered) >= rounds
    world = World(folder)
    world.service.options = world.service.options._replace(
        rate_limits=RateLimits(0, 0)
    )  # All that was asked in a thousand lives is asked again at once
    del world.service.app
    world.client = world.open_client(world.secret)
    try:
        before = world.books()[("P1", "A1", 1)]
        replayed = set()
        for key in sorted(asked):
            again = await world.send("POST", LOGS, _entry(key), headers={"Idempotency-Key": f'"{key}"'})
            assert again.status_code == 200
            if "Idempotency-Replayed" in again.headers:
                replayed.add(key)
        assert answered <= replayed  # whatever was answered has been done
        assert before == len(replayed)  # and whatever has been done was kept with its answer
        assert world.books()[("P1", "A1", 1)] == len(asked)
    finally:
        await world.close()
