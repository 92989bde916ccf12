"""Tokens made and revoked through the service, and the audit of them and of all else that somebody sets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from aisle.errors import UsageError
from aisle.service.auth.tokens_and_pins import create_token, list_tokens, revoke_token
from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.world import API, World, store_body

TOKENS, REVOKED, AUDIT = "/aisle/v1/tokens", "/aisle/v1/token-revocations", "/aisle/v1/audit"
MOVES = f"{API}/stores/S1/storeproductlocation/movement"
OF_STORE = "/aisle/v1/stores/S1/audit"


async def made(world: World, status: int = 200, **said: Any) -> Any:
    """A token, as the service makes it."""
    return await world.post(TOKENS, {"name": "dock", "role": "staff", "stores": ["S1"], **said}, status)


async def test_a_token_is_made_used_listed_and_revoked_without_the_database(world: World) -> None:
    answer = await made(world, days=7)
    assert answer["expires_on"] == format_timestamp(world.now + 7 * 86400)
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


async def test_expired_rows_are_deleted_every_five_minutes_however_many_ask(world: World) -> None:
    clients = [world.client_for("staff", ["S1"]) for _ in range(3)]
    with patch("aisle.service.http.endpoint.delete_expired", AsyncMock()) as delete:
        for minutes, times in ((0, 1), (4, 1), (2, 2)):
            world.now += minutes * 60
            reads = [client.get(f"{API}/stores/S1/locations") for client in clients for _ in range(5)]
            assert {answer.status_code for answer in await asyncio.gather(*reads)} == {200}
            assert delete.await_count == times


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


async def test_the_stores_of_a_token_are_said_and_not_assumed(world: World) -> None:
    before = await world.get(TOKENS)
    for role in ("staff", "admin", "metrics"):
        answer = await world.post(TOKENS, {"name": "dock", "role": role}, 400)
        assert answer["message"] == "stores: This field is missing, and it is required."
        assert "brackets" in (await made(world, 400, role=role, stores=None))["message"]
    assert (await made(world, 422, stores=[]))["message"] == "A token needs stores: name them, or * for all."
    assert await world.get(TOKENS) == before


async def test_names_of_tokens_in_force_are_unique(world: World) -> None:
    await made(world)
    await made(world, 422)
    now, storage = format_timestamp(world.now), world.service.database
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
        (found["audit"][0]["token_name"], "", format_timestamp(world.now))
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
    assert await entries(world, AUDIT, last_modified_date=format_timestamp(world.now + 60)) == []


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
        ("person", "B1", {"role": "staff", "pin": "set"}, {"role": "supervisor", "pin": "changed"}),
        ("person", "B1", {"user": "anna", "name": "Anna", "role": "supervisor", "pin": "set"}, {}),
    ]
    levels = [
        (before.get("max"), after.get("max")) for subject, _, before, after in found if subject == "store product"
    ]
    assert levels[-1] == (5, 6)
    assert "471" not in str(found)


async def test_order_decisions_are_audited_and_picks_are_not(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=9)
    lines = [{"product_number": "P1", "quantity": 4}, {"product_number": "P2", "quantity": 1}]
    for number in ("O1", "O2"):
        await world.order(number, *lines)
    asked = {"subject": "order"}
    async with world.client_for("staff") as staff:
        for said in (
            {"is_claimed": True},
            {"order_lines": [{"line_number": 1, "product_number": "P1", "picked_quantity": 2}]},
            {"is_claimed": False},
            {"is_claimed": True},
        ):
            body = {"orders": {"order_number": "O1", **said}}
            headers = {"Aisle-App-User": "anna"}
            answer = await world.send("PUT", "/stores/S1/orders/customerorder", body, client=staff, headers=headers)
            assert answer.status_code == 200
        assert await entries(world, OF_STORE, **asked) == [], "that is work"
        body = {"orders": {"order_number": "O1", "is_claimed": True}}
        headers = {"Aisle-App-User": "ben"}
        await world.send("PUT", "/stores/S1/orders/customerorder", body, client=staff, headers=headers)
    await world.update(
        "O1", {"line_number": 1, "product_number": "P1", "quantity": 3, "pickup_date": "2026-12-24"}, is_claimed=False
    )
    reason = {"rejection_reason_code": "7"}
    rejected = {"order_number": "O1", "lines": [{"line_number": 2, "is_rejected": True, **reason}]}
    await world.post("/aisle/v1/stores/S1/line-rejections", rejected)
    await world.update("O2", is_rejected=True, rejection_reason_code="7")
    await world.update("O2", is_rejected=False)
    await world.update("O1", is_active=False)
    assert await entries(world, OF_STORE, **asked) == [
        ("order", "O1", {"claimed_by": "anna"}, {"claimed_by": "ben"}),
        (
            "order",
            "O1",
            {"claimed_by": "ben", "line 1 quantity": 4},
            {"line 1 quantity": 3, "line 1 pickup_date": "2026-12-24"},
        ),
        (
            "order",
            "O1",
            {"line 2 is_rejected": False},
            {"line 2 is_rejected": True, "line 2 rejection_reason_code": "7"},
        ),
        ("order", "O2", {"is_rejected": False}, {"is_rejected": True, **reason}),
        ("order", "O2", {"is_rejected": True, **reason}, {"is_rejected": False}),
        ("order", "O1", {"is_active": True}, {"is_active": False}),
    ]
    assert [key for _, key, *_ in await entries(world, OF_STORE, **asked, key="O2")] == ["O2", "O2"]
    await world.post("/stores/S1/orders/customerorders", {"orders": []}, query={"flush": True})
    assert (await entries(world, OF_STORE, **asked))[-1] == ("order", "*", {"orders": 2}, {})


async def test_locations_new_products_and_first_prices_are_audited(world: World) -> None:
    places = "/aisle/v1/locations"
    place = {"store_number": "S1", "location_code": "Z9", "location_order": 5, "tags": ["cold"]}
    for said in (place, place, {**place, "location_order": 7, "default_stock_pool": "2"}):
        await world.post(places, {"locations": [said]})
    assert (await entries(world, OF_STORE, subject="location"))[-2:] == [
        ("location", "Z9", {}, {"location_order": 5, "tags": ["cold"]}),
        ("location", "Z9", {"location_order": 5}, {"location_order": 7, "default_stock_pool": 2}),
    ]
    await world.post("/products", {"products": [{"product_number": "P9", "product_name": "New", "price": 4}]})
    assert (await entries(world, AUDIT, subject="product"))[-1] == (
        "product",
        "P9",
        {},
        {"product_name": "New", "price": 4},
    )
    await world.post("/products/prices", {"products": [{"product_number": "P9", "store_number": "S1", "price": 3}]})
    assert (await entries(world, OF_STORE, subject="store product"))[-1] == (
        "store product",
        "P9",
        {},
        {"price": 3, "old_price": 4},
    )


async def test_stores_and_removals_are_audited(world: World) -> None:
    last = (await world.get(AUDIT))["audit"][-1]["number"]
    known = [store_body(number) for number in ("S1", "S2", "S3", "W")]
    await world.post("/stores", {"stores": [*known, store_body("S9", "Ninth")]})
    for name in ("Ninth", "Other"):
        await world.post("/stores", {"stores": [store_body("S9", name)]})
    await world.post("/stores", {"stores": known}, query={"flush": True})
    await world.send("DELETE", "/products", {"product_numbers": ["P3"]})
    new, renamed, removed = [row[1:] for row in await entries(world, AUDIT, after=last) if row[1] == "S9"]
    assert (new[0], new[1], new[2]["store_name"]) == ("S9", {}, "Ninth")
    assert renamed == ("S9", {"store_name": "Ninth"}, {"store_name": "Other"})
    assert removed == ("S9", {"is_there": True}, {})
    subject, key, before, after = (await entries(world, AUDIT, after=last))[-1]
    assert (subject, key, before["product_name"], after) == ("product", "P3", "Jam", {})


async def test_the_body_of_a_revoked_token_is_not_read(world: World) -> None:
    secret, taken = world.token("staff", ["S1"]), 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal taken
        taken += 1
        yield b"["

    async with world.open_client(secret) as client:
        assert (await client.post(MOVES, content=body())).status_code == 400
        [token] = [row for row in list_tokens(world.service.database) if row.role == "staff"]
        assert revoke_token(world.service.database, token.token_id, now="2026-01-01T00:00:00.000Z")
        assert (await client.post(MOVES, content=body())).status_code == 401
    assert taken == 1
