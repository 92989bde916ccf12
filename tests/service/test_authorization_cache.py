"""Who was let in a moment ago: the database is asked once less, and nothing else is different."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from aisle.service.auth.authorization_cache import AuthorizationCache, AuthorizationKey, CachedAuthorization
from aisle.service.auth.tokens import list_tokens, revoke_token
from tests.service.world import World

MOVES = "/api/v2/public/stores/S1/storeproductlocation/movement"
COME = AuthorizationKey("hash", "create-movement", "S1")
GUEST = CachedAuthorization("t1", "staff", "S1")


@pytest.fixture
def reads(world: World, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was asked of the database without writing."""
    asked: list[object] = []
    read: Callable[..., Awaitable[Any]] = world.service.database.read

    async def noted(work: Any) -> Any:
        asked.append(work)
        return await read(work)

    monkeypatch.setattr(world.service.database, "read", noted)
    return asked


async def test_second_write_is_authorised_only_when_carried_out(world: World, reads: list[object]) -> None:
    await world.count("P1", "A1", quantity=4)
    reads.clear()
    await world.move("P1", 1, "A1", "A2")
    assert len(reads) == 1
    await world.move("P1", 1, "A1", "A2")
    assert len(reads) == 1


async def test_a_token_that_ended_hears_nothing_but_that(world: World, reads: list[object]) -> None:
    secret = world.token("staff", ["S1"])
    item = {"product_number": "P1", "quantity": 1, "to_location": {"location_code": "A2"}}
    good = [item | {"from_location": {"location_code": "A1"}}]
    await world.count("P1", "A1", quantity=4)
    async with world.open_client(secret) as client:
        assert (await client.post(MOVES, json=good)).status_code == 200
        [token] = [row for row in list_tokens(world.service.database) if row.role == "staff"]
        assert revoke_token(world.service.database, token.token_id, now="2026-01-01T00:00:00.000Z")
        reads.clear()
        assert (await client.post(MOVES, json={"no": "list"})).status_code == 401
        assert len(reads) == 1
        assert (await client.post(MOVES, json=good)).status_code == 401
        # Now it is a stranger: its body is not even taken.
        reads.clear()
        assert (await client.post(MOVES, json=good)).status_code == 401
        assert len(reads) == 1


async def test_caller_with_refused_body_is_authorised_anew_each_time(world: World) -> None:
    secret = world.token("staff", ["S1"])
    taken = 0

    async def no_json() -> AsyncIterator[bytes]:
        nonlocal taken
        taken += 1
        yield b"["

    async with world.open_client(secret) as client:
        assert (await client.post(MOVES, content=no_json())).status_code == 400
        [token] = [row for row in list_tokens(world.service.database) if row.role == "staff"]
        assert revoke_token(world.service.database, token.token_id, now="2026-01-01T00:00:00.000Z")
        for _ in range(2):
            assert (await client.post(MOVES, content=no_json())).status_code == 401
    assert taken == 2  # the last body that it was a guest with


def test_a_guest_is_forgotten_after_a_while_or_when_turned_away() -> None:
    now = [0.0]
    step = AuthorizationCache(lambda: now[0])
    assert step.get(COME) is None
    step.add(COME, GUEST)
    assert step.get(COME) == GUEST
    assert step.get(COME._replace(store_number="S2")) is None
    assert step.get(COME._replace(operation="create-stores")) is None
    now[0] = 59.9
    assert step.get(COME) == GUEST
    now[0] = 60.0
    assert step.get(COME) is None
    step.add(COME, GUEST)
    step.remove(COME)
    assert step.get(COME) is None


def test_authorization_cache_is_bounded() -> None:
    step = AuthorizationCache(lambda: 0.0)
    for n in range(10_001):
        step.add(COME._replace(token_hash=str(n)), GUEST)
    assert step.get(COME._replace(token_hash="0")) is None
    assert step.get(COME._replace(token_hash="1")) == GUEST
