"""People sign in with a PIN and get a token of their own; guessing is slow, and tells nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.service.app_options_and_limits import RateLimits
from aisle.service.auth import tokens_and_pins
from aisle.service.auth.tokens_and_pins import list_tokens, revoke_token
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.handlers.people_and_tokens import TOKEN_SECONDS
from tests.service.world import World

SIGN_IN = "/aisle/v1/sign-in"
PEOPLE = "/aisle/v1/stores/S1/people"
ANN: dict[str, Any] = {"badge": "B1", "user": "ann", "name": "Ann", "role": "supervisor", "pin": "2468"}
BO: dict[str, Any] = {"badge": "B2", "user": "bo", "name": "Bo"}


async def people(world: World, *named: dict[str, Any], status: int = 200) -> Any:
    return await world.post(PEOPLE, {"people": list(named or (ANN, BO))}, status)


async def sign_in(world: World, client: httpx.AsyncClient, pin: str = "2468", **who: str) -> httpx.Response:
    body = {"store_number": "S1", "pin": pin} | (who or {"user": "ann"})
    return await world.send("POST", SIGN_IN, body, client=client)


@pytest.fixture
def patient(world: World) -> None:
    """As many tries as one likes: what is asked here is not how fast they come."""
    world.service.options = world.service.options._replace(rate_limits=RateLimits(0, 0, 0))
    del world.service.app


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("by", [{"user": "ann"}, {"badge": "B1"}])
async def test_pin_gives_token_with_role_for_store_and_one_hour(world: World, by: dict[str, str]) -> None:
    await people(world)
    await world.order("O1", {"product_number": "P1", "quantity": 1})
    async with world.client_for("staff", ["S1", "S2"]) as desk:
        reject = {"orders": {"order_number": "O1", "is_rejected": True}}
        assert (await world.send("PUT", "/stores/S1/orders/customerorder", reject, client=desk)).status_code == 403
        answer = await sign_in(world, desk, **by)
        assert answer.status_code == 200, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        said = answer.json()
        until = format_timestamp(world.now + TOKEN_SECONDS)
        assert {name: said[name] for name in said if name != "token"} == {
            "expires_on": until,
            "store_number": "S1",
            "user": "ann",
            "name": "Ann",
            "role": "supervisor",
        }
    async with world.open_client(said["token"]) as ann:
        done = await world.send("PUT", "/stores/S1/orders/customerorder", reject, client=ann)
        assert done.status_code == 200, done.text
        assert (await world.send("GET", "/stores/S2/locations", client=ann)).status_code == 403
        world.now += TOKEN_SECONDS
        assert (await world.send("GET", "/stores", client=ann)).status_code == 401


@pytest.mark.usefixtures("patient")
async def test_failed_sign_ins_have_equal_answers(world: World) -> None:
    await people(world)
    async with world.client_for("staff", ["S1"]) as desk:
        answers = [
            await sign_in(world, desk, "1357"),
            await sign_in(world, desk, "1357", badge="B1"),
            await sign_in(world, desk, "2468", user="nobody"),
            await sign_in(world, desk, "2468", user="bo"),  # who has no PIN
            await sign_in(world, desk, ""),
            await sign_in(world, desk, "no digits"),
            await sign_in(world, desk, "2468\u0661"),
        ]
        assert {(answer.status_code, answer.content) for answer in answers} == {(403, answers[0].content)}
        foreign = [
            await world.send("POST", SIGN_IN, {"store_number": store, "user": "ann", "pin": "2468"}, client=desk)
            for store in ("S2", "NONE")
        ]
        assert foreign[0].status_code == 403
        assert foreign[0].content == foreign[1].content
        for body in ({"pin": "2468"}, {"pin": "2468", "user": "ann", "badge": "B1"}):
            both = await world.send("POST", SIGN_IN, {"store_number": "S1"} | body, client=desk)
            assert both.status_code == 422


@pytest.mark.usefixtures("patient")
async def test_every_try_hashes_once_whoever_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await people(world)
    hashed: list[str] = []
    again = tokens_and_pins.rehash

    def counted(pin: str, stored: str) -> str:
        hashed.append(stored)
        return again(pin, stored)

    monkeypatch.setattr(tokens_and_pins, "rehash", counted)
    async with world.client_for("staff", ["S1"]) as desk:
        for who in ("ann", "bo", "nobody"):
            await sign_in(world, desk, "1357", user=who)
    assert len(hashed) == 3
    assert {stored.split("$")[1] for stored in hashed} == {tokens_and_pins.DUMMY_HASH.split("$")[1]}


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("who", ["ann", "nobody"])
async def test_too_many_wrong_pins_lock_the_person_longer_each_time(world: World, who: str) -> None:
    await people(world)
    async with world.client_for("staff", ["S1"]) as desk:
        for _ in range(tokens_and_pins.FREE_ATTEMPTS):
            assert (await sign_in(world, desk, "1357", user=who)).status_code == 403
        locked = await sign_in(world, desk, user=who)
        assert (locked.status_code, locked.headers["Retry-After"]) == (429, "60")
        world.now += 21
        locked = await sign_in(world, desk, user=who)
        assert (locked.status_code, locked.headers["Retry-After"]) == (429, "39"), "what is left of it"
        world.now -= 21
        assert (await sign_in(world, desk, "1357", badge="B9")).status_code == 403, "others may try"
        world.now += 61
        assert (await sign_in(world, desk, "1357", user=who)).status_code == 403
        world.now += 61
        assert (await sign_in(world, desk, user=who)).status_code == 429, "twice as long"
        world.now += 60
        assert (await sign_in(world, desk, user=who)).status_code == (200 if who == "ann" else 403)
    if who == "ann":
        async with world.client_for("staff", ["S1"]) as desk:
            assert (await sign_in(world, desk, "1357")).status_code == 403
            assert (await sign_in(world, desk)).status_code == 200, "the right PIN begins the count anew"


@pytest.mark.usefixtures("patient")
async def test_badge_and_name_are_one_person(world: World) -> None:
    await people(world)
    async with world.client_for("staff", ["S1"]) as desk:
        for n in range(tokens_and_pins.FREE_ATTEMPTS):
            await sign_in(world, desk, "1357", **({"badge": "B1"} if n % 2 else {"user": "ann"}))
        assert (await sign_in(world, desk, badge="B1")).status_code == 429
        await people(world, ANN | {"pin": "9999"})
        assert (await sign_in(world, desk, "9999", badge="B1")).status_code == 200, "a new PIN unlocks"


async def test_a_token_guesses_slowly(world: World) -> None:
    world.service.options = world.service.options._replace(rate_limits=RateLimits(0, 0, 0.001))
    del world.service.app
    await people(world)
    async with world.client_for("staff", ["S1"]) as desk:
        answers = [await sign_in(world, desk, "1357", user=f"u{n}") for n in range(5)]
        assert [answer.status_code for answer in answers] == [403, 429, 429, 429, 429]
        assert all(int(answer.headers["Retry-After"]) >= 1 for answer in answers[1:])
        assert (await world.send("GET", "/stores", client=desk)).status_code == 200, "work goes on"


@pytest.mark.usefixtures("patient")
async def test_user_token_ends_with_person_pin_role_or_parent_token(world: World) -> None:
    for change in (
        ANN | {"pin": "1111"},
        ANN | {"role": "staff", "pin": None},
        ANN | {"is_active": False, "pin": None},
    ):
        await people(world, ANN)
        async with world.client_for("staff", ["S1"]) as desk:
            secret = (await sign_in(world, desk)).json()["token"]
        async with world.open_client(secret) as ann:
            await people(world, ANN | {"pin": None, "name": "Anna"})
            assert (await world.send("GET", "/stores", client=ann)).status_code == 200, "a name is no right"
            await people(world, change)
            assert (await world.send("GET", "/stores", client=ann)).status_code == 401, change
        await people(world, ANN | {"is_active": False})
    await people(world, ANN)
    async with world.client_for("staff", ["S1"]) as desk:
        secret = (await sign_in(world, desk)).json()["token"]
    async with world.open_client(secret) as ann:
        second = (await sign_in(world, ann)).json()["token"]
        revoked = [one.token_id for one in list_tokens(world.service.database) if one.role == "staff"]
        for token_id in revoked:
            revoke_token(world.service.database, token_id, now=format_timestamp(world.now))
        assert (await world.send("GET", "/stores", client=ann)).status_code == 401
    async with world.open_client(second) as ann:
        assert (await world.send("GET", "/stores", client=ann)).status_code == 401, "one got through the other as well"


async def test_person_without_role_keeps_it_and_nobody_is_removed_twice(world: World) -> None:
    await people(world, ANN)
    for said, counts in (
        ({"name": "Anna"}, "new=0, changed=1, same=0"),
        ({"is_active": False}, "new=0, changed=1, same=0"),
        ({"is_active": False}, "new=0, changed=0, same=1"),
        ({}, "new=1, changed=0, same=0"),
    ):
        body = {name: value for name, value in ANN.items() if name not in ("role", "pin")} | said
        answer = await world.send("POST", PEOPLE, {"people": [body]})
        assert answer.headers["Aisle-Records"] == counts
        roles = [person["role"] for person in (await world.get(PEOPLE))["people"]]
        assert roles == ([] if "is_active" in said else ["supervisor" if said else "staff"])


@pytest.mark.usefixtures("patient")
async def test_a_person_s_token_lasts_no_longer_than_the_one_it_came_through(world: World) -> None:
    await people(world)
    soon = format_timestamp(world.now + 60)
    async with world.client_for("staff", ["S1"], expires_on=soon) as desk:
        assert (await sign_in(world, desk)).json()["expires_on"] == soon


@pytest.mark.sqlite
@pytest.mark.usefixtures("patient")
async def test_neither_pin_nor_token_is_stored_anywhere_not_even_under_a_key(world: World, tmp_path: Path) -> None:
    await people(world, ANN | {"pin": "86420975"})
    key = {"Idempotency-Key": '"sign-in-sign-in-1"'}
    body = {"store_number": "S1", "user": "ann", "pin": "86420975"}
    secrets = [(await world.post(SIGN_IN, body, headers=key))["token"] for _ in range(2)]
    assert secrets[0] != secrets[1]
    people_key = {"Idempotency-Key": '"people-people-people"'}
    await world.post(PEOPLE, {"people": [ANN | {"pin": "86420975"}]}, headers=people_key)
    for file in sorted(tmp_path.iterdir()):  # noqa: ASYNC240
        kept = file.read_bytes()
        assert b"86420975" not in kept, file
        assert not any(secret.encode() in kept for secret in secrets), file


async def test_tokens_of_people_are_forgotten_a_day_after_their_end(world: World) -> None:
    await people(world)
    await world.post(SIGN_IN, {"store_number": "S1", "user": "ann", "pin": "2468"})
    assert {one.name.split()[0] for one in list_tokens(world.service.database)} == {"admin", "ann"}
    world.now += TOKEN_SECONDS + 86400 + 1
    await world.get("/stores")
    assert {one.name.split()[0] for one in list_tokens(world.service.database)} == {"admin"}


async def test_invalid_pin_is_refused_and_people_list_shows_has_pin(world: World) -> None:
    for pin in ("123", "1234567890123", "12a4", "１２３４"):
        await people(world, ANN | {"pin": pin}, status=422)
    too_many = [{"badge": f"B{n}", "user": f"u{n}", "name": "x", "pin": "1234"} for n in range(201)]
    await people(world, *too_many, status=422)
    await people(world)
    assert [(row["user"], row["has_pin"]) for row in (await world.get(PEOPLE))["people"]] == [
        ("ann", True),
        ("bo", False),
    ]
    await people(world, ANN | {"pin": ""})
    assert [row["has_pin"] for row in (await world.get(PEOPLE))["people"]] == [False, False]
    for said in ("false", "no", "0"):  # which would else be heard as true
        await people(world, BO | {"is_active": said}, status=400)
    await people(world, BO | {"is_active": None})
    assert len((await world.get(PEOPLE))["people"]) == 2
    await people(world, BO | {"is_active": False})
    assert [row["user"] for row in (await world.get(PEOPLE))["people"]] == ["ann"]
    await people(world, BO | {"user": "ann"}, status=422)


def test_locks_double_and_end() -> None:
    waits = [tokens_and_pins.lock_seconds(failures) for failures in range(40)]
    assert waits[: tokens_and_pins.FREE_ATTEMPTS] == [0.0] * tokens_and_pins.FREE_ATTEMPTS
    assert waits[tokens_and_pins.FREE_ATTEMPTS : tokens_and_pins.FREE_ATTEMPTS + 3] == [60, 120, 240]
    assert max(waits) == waits[-1] == 86400


def test_a_pin_is_kept_as_a_slow_hash_with_a_salt_of_its_own() -> None:
    one, other = tokens_and_pins.hash_pin("1234"), tokens_and_pins.hash_pin("1234")
    assert one != other
    assert tokens_and_pins.are_equal(tokens_and_pins.rehash("1234", one), one)
    assert not tokens_and_pins.are_equal(tokens_and_pins.rehash("1235", one), one)
    assert not tokens_and_pins.are_equal(
        tokens_and_pins.rehash("", tokens_and_pins.DUMMY_HASH), tokens_and_pins.DUMMY_HASH
    )


async def test_a_store_goes_with_its_people_and_what_they_got(world: World) -> None:
    await world.post("/aisle/v1/stores/S3/people", {"people": [ANN]})
    made = await world.post(SIGN_IN, {"store_number": "S3", "user": "ann", "pin": "2468"})
    stores = [await world.get(f"/aisle/v1/stores/{number}") for number in ("S1", "S2", "W")]
    await world.post("/stores", {"stores": stores}, query={"flush": True})
    async with world.open_client(made["token"]) as ann:
        answer = await world.send("GET", "/stores", client=ann)
        assert (answer.status_code, answer.json()["list"]) == (200, [])
        assert (await world.send("GET", "/stores/S3/locations", client=ann)).status_code == 403
