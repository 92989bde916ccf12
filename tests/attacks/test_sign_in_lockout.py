"""Strangers at the web door: whom they lock out there signs in at the terminals of the store all the same."""

import asyncio
from threading import get_ident
from typing import Any

import pytest

from aisle.client import Client
from aisle.client.sign_in_and_token_file import WEB_CHANNEL, NotSignedIn, SignedIn, sign_in
from aisle.client.transport import asgi_transport
from aisle.service.app_options_and_limits import RateLimits
from aisle.service.auth import tokens_and_pins
from tests.service.world import World

PEOPLE = "/aisle/v1/stores/S1/people"
ANN: dict[str, Any] = {"badge": "B1", "user": "ann", "name": "Ann", "role": "supervisor", "pin": "2468"}


@pytest.mark.parametrize("locked", ["", WEB_CHANNEL])
async def test_the_lock_of_one_door_is_not_that_of_another(world: World, locked: str) -> None:
    world.service.options = world.service.options._replace(rate_limits=RateLimits(0, 0, 0))
    del world.service.app
    await world.post(PEOPLE, {"people": [ANN]})
    other = "" if locked else WEB_CHANNEL
    token = world.token("staff", ["S1"])
    async with Client("http://127.0.0.1:1", token, transport=asgi_transport(world.service.app)) as client:

        async def tried(door: str, pin: str, **who: str) -> SignedIn | NotSignedIn:
            return await sign_in(client, "S1", who or {"user": "ann"}, pin, channel=door)

        for _ in range(tokens_and_pins.FREE_ATTEMPTS):
            assert isinstance(await tried(locked, "0000"), NotSignedIn)
        for who in ({"user": "ann"}, {"badge": "B1"}):
            later = await tried(locked, "2468", **who)
            assert isinstance(later, NotSignedIn)
            assert later.has_too_many_attempts
        assert isinstance(await tried(other, "2468"), SignedIn)
        assert isinstance(await tried(locked, "2468"), NotSignedIn), "one door unlocked the other"
        await world.post(PEOPLE, {"people": [ANN]})
        assert isinstance(await tried(locked, "2468"), SignedIn), "a new PIN ends the lock of both"


async def test_unknown_sign_in_channel_gets_no_own_limit(world: World) -> None:
    world.service.options = world.service.options._replace(rate_limits=RateLimits(0, 0, 0))
    del world.service.app
    await world.post(PEOPLE, {"people": [ANN]})
    async with world.client_for("staff", ["S1"]) as client:
        for number in range(tokens_and_pins.FREE_ATTEMPTS):
            body = {"store_number": "S1", "user": "ann", "pin": "0000"}
            headers = {"Aisle-Door": f"door {number}"}
            answer = await world.send("POST", "/aisle/v1/sign-in", body, client=client, headers=headers)
            assert answer.status_code == 403
        right = await world.send("POST", "/aisle/v1/sign-in", {**body, "pin": "2468"}, client=client)
        assert right.status_code == 429


async def test_pins_at_once_are_hashed_one_after_the_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.service.options = world.service.options._replace(rate_limits=RateLimits(0, 0, 0))
    del world.service.app
    threads, rehash = set[int](), tokens_and_pins.rehash

    def note(pin: str, stored: str) -> str:
        threads.add(get_ident())
        return rehash(pin, stored)

    monkeypatch.setattr(tokens_and_pins, "rehash", note)
    async with world.client_for("staff", ["S1"]) as client:
        body = {"store_number": "S1", "pin": "0000"}
        tries = [world.send("POST", "/aisle/v1/sign-in", {**body, "user": f"u{n}"}, client=client) for n in range(12)]
        assert {answer.status_code for answer in await asyncio.gather(*tries)} == {403}
    assert len(threads) == 1


async def test_people_who_signed_in_share_the_attempts_of_their_host(world: World) -> None:
    """Each sign-in makes a token, and each token would have attempts of its own."""
    await world.post(PEOPLE, {"people": [ANN]})
    body = {"store_number": "S1", "user": "ann", "pin": "2468"}
    async with world.client_for("staff", ["S1"]) as host:
        first = await world.send("POST", "/aisle/v1/sign-in", body, client=host)
    async with world.open_client(first.json()["token"]) as client:
        tries = [await world.send("POST", "/aisle/v1/sign-in", body, client=client) for _ in range(10)]
    assert [answer.status_code for answer in tries] == [200] * 9 + [429]
