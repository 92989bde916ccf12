"""The service's clock goes forward and back: nothing is booked twice, no list misses a row, no lock lasts for days."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.service.app_options_and_limits import RateLimits
from aisle.service.auth import tokens_and_pins
from tests.attacks.test_sign_in_lockout import ANN, PEOPLE
from tests.service.world import LOGS, World

HOUR, DAY = 3600.0, 86_400.0
START = 1_800_000_000.0
SIGN_IN = "/aisle/v1/sign-in"


@pytest.fixture
def jumping(world: World) -> World:
    """A world whose clock is set by `set_clock`."""
    world.service.options = world.service.options._replace(rate_limits=RateLimits(0, 0, 0))
    set_clock(world, START)
    return world


def set_clock(world: World, now: float) -> None:
    world.service.options = world.service.options._replace(clock=lambda: now)
    del world.service.app
    world.client = world.open_client(world.secret)


@pytest.mark.parametrize("jump", [-DAY, -HOUR, HOUR, DAY])
async def test_a_lock_ends_in_its_time_after_a_jump(jumping: World, jump: float) -> None:
    await jumping.post(PEOPLE, {"people": [ANN]})

    async def tried(pin: str) -> Any:
        body = {"store_number": "S1", "user": "ann", "pin": pin}
        return await jumping.send("POST", SIGN_IN, body)

    for _ in range(tokens_and_pins.FREE_ATTEMPTS):
        assert (await tried("0000")).status_code == 403
    assert (await tried("2468")).status_code == 429
    set_clock(jumping, START + jump)
    first = await tried("2468")
    if jump > 0:
        assert first.status_code == 200
        return
    assert (first.status_code, first.headers["Retry-After"]) == (429, "60")
    set_clock(jumping, START + jump + 59)
    assert (await tried("2468")).status_code == 429
    set_clock(jumping, START + jump + 61)
    assert (await tried("2468")).status_code == 200


async def test_a_key_is_known_and_ids_rise_whatever_the_clock_says(jumping: World) -> None:
    ids = []
    for number, jump in enumerate((0, HOUR, -HOUR, DAY, -DAY)):
        set_clock(jumping, START + jump)
        entry = {"product_number": "P1", "location_code": "A1", "quantity": 1, "reference": f"r{number}"}
        for repeat in (False, True):
            answer = await jumping.send(
                "POST", LOGS, {"storeproductlog": [entry]}, headers={"Idempotency-Key": f'"{number:020d}"'}
            )
            assert answer.status_code == 200
            assert ("Idempotency-Replayed" in answer.headers) == repeat
        set_clock(jumping, START - jump)
        again = await jumping.send(
            "POST", LOGS, {"storeproductlog": [entry]}, headers={"Idempotency-Key": f'"{number:020d}"'}
        )
        assert "Idempotency-Replayed" in again.headers
    listed = await jumping.client.get(
        "/api/v2/public/products/stock/storeproductlogs", params={"store_number": "S1", "from_id": 1}
    )
    rows = listed.json()["list"]
    ids = [row["id"] for row in rows]
    assert sorted(ids) in (ids, ids[::-1])
    assert {row["reference"] for row in rows} == {f"r{number}" for number in range(5)}
    assert jumping.books()[("P1", "A1", 1)] == 5
