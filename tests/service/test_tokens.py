"""Tokens made and revoked through the service, and the audit of them and of all else that somebody sets."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.errors import UsageError
from aisle.service.times import moment
from aisle.service.tokens import create_token, list_tokens, revoke_token
from tests.service.world import API, World

TOKENS, REVOKED, AUDIT = "/aisle/v1/tokens", "/aisle/v1/token-revocations", "/aisle/v1/audit"
OF_STORE = "/aisle/v1/stores/S1/audit"


async def made(world: World, status: int = 200, **said: Any) -> Any:
    """A token, as the service makes it."""
    return await world.post(TOKENS, {"name": "dock", "role": "staff", "stores": ["S1"], **said}, status)


async def test_a_token_is_made_used_listed_and_revoked_without_the_database(world: World) -> None:
    answer = await made(world, days=7)
    assert answer["expires_on"] == moment(world.now + 7 * 86400)
    async with world.open_client(answer["token"]) as client:
        assert (await client.get(f"{API}/stores/S1/locations")).status_code == 200
        assert (await client.get(f"{API}/stores/S2/locations")).status_code == 403
        listed = await world.get(TOKENS)
        [dock] = [token for token in listed["tokens"] if token["name"] == "dock"]
        assert (dock["role"], dock["stores"], dock["revoked_on"]) == ("staff", ["S1"], None)
        assert answer["token"] not in str(listed)
        await world.post(REVOKED, {"name": "dock"})
        assert (await client.get(f"{API}/stores/S1/locations")).status_code == 401
    await world.post(REVOKED, {"name": "dock"}, 404)
    await made(world)


@pytest.mark.parametrize(
    "said",
    [
        {"stores": []},
        {"stores": ["S9"]},
        {"stores": ["*", "S1"]},
        {"name": " "},
        {"days": 0},
        {"days": 99_999},
        {"role": "metrics", "stores": ["S1"]},
    ],
)
async def test_what_is_no_token_is_refused(world: World, said: dict[str, Any]) -> None:
    before = await world.get(TOKENS)
    await made(world, 422, **said)
    assert await world.get(TOKENS) == before


async def test_names_of_tokens_in_force_are_unique(world: World) -> None:
    await made(world)
    await made(world, 422)
    now, storage = moment(world.now), world.service.storage
    with pytest.raises(UsageError, match="in force is called 'dock'"):
        create_token(storage, name="dock", role="staff", store_numbers=["S1"], now=now)
    [dock] = [token for token in list_tokens(storage) if token.name == "dock"]
    assert revoke_token(storage, dock.token_id, now=now)
    assert create_token(storage, name="dock", role="staff", store_numbers=["S1"], now=now, expires_on=now)
    assert create_token(storage, name="dock", role="staff", store_numbers=["S1"], now=now), "the other has expired"


async def entries(world: World, path: str, **query: Any) -> list[tuple[Any, ...]]:
    """The audit: subject, key, before, after."""
    found = await world.get(path, **query)
    return [(row["subject"], row["key"], row["before"], row["after"]) for row in found["audit"]]


async def test_the_audit_says_who_changed_what_from_what_to_what(world: World) -> None:
    start = (await world.get(AUDIT))["audit"]
    last = start[-1]["number"] if start else 0
    await world.post("/products", {"products": [{"product_number": "P1", "price": 2}]})
    await world.post("/products", {"products": [{"product_number": "P1", "price": 3}]})
    await world.post("/products", {"products": [{"product_number": "P1", "price": 3}]})
    token = await made(world)
    await world.post(REVOKED, {"name": token["token_id"]})
    found = await world.get(AUDIT, after=last)
    assert {(row["token_name"], row["app_user_name"], row["at"]) for row in found["audit"]} == {
        (found["audit"][0]["token_name"], "", moment(world.now))
    }
    said = {"name": "dock", "role": "staff", "stores": ["S1"]}
    assert (await entries(world, AUDIT, after=last))[1:] == [
        ("product", "P1", {"price": 2}, {"price": 3}),
        ("token", token["token_id"], {}, said),
        ("token", token["token_id"], said, {}),
    ]
    assert len((await world.get(AUDIT, after=last, limit=1))["audit"]) == 1
    assert (await world.get(AUDIT, after=last, limit=1))["more"]
    assert await entries(world, AUDIT, subject="person") == []
    assert await entries(world, AUDIT, last_modified_date=moment(world.now + 60)) == []


async def test_settings_people_and_pins_of_a_store_are_audited_without_any_pin(world: World) -> None:
    own = "/stores/S1/storeproducts"
    for level in (5, 6):
        await world.put(own, [{"product_number": "P1", "max": level}])
    people = "/aisle/v1/stores/S1/people"
    anna = {"badge": "B1", "user": "anna", "name": "Anna", "role": "staff"}
    for said in (
        anna,
        anna | {"pin": "4711"},
        anna | {"pin": "4712", "role": "supervisor"},
        anna | {"is_active": False},
    ):
        await world.post(people, {"people": [said]})
    found = await entries(world, OF_STORE)
    assert [(subject, key) for subject, key, *_ in found][-4:] == [("person", "B1")] * 4
    assert found[-3:] == [
        ("person", "B1", {}, {"pin": "set"}),
        ("person", "B1", {"role": "staff"}, {"role": "supervisor", "pin": "changed"}),
        ("person", "B1", {"user": "anna", "name": "Anna", "role": "supervisor", "pin": "set"}, {}),
    ]
    levels = [
        (before.get("max"), after.get("max")) for subject, _, before, after in found if subject == "store product"
    ]
    assert levels[-1] == (5, 6)
    assert "471" not in str(found)
