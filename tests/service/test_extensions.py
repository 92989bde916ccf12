"""Locations, people and what changed since."""

import re
from pathlib import Path
from typing import Any

import aisle.service
from aisle.service.db.database_interface import Transaction
from aisle.service.http.app import FEATURES
from aisle.service.http.openapi.document import build_document
from tests.service.world import STORES, World

PEOPLE = "/aisle/v1/stores/S1/people"
CHANGES = "/aisle/v1/stores/S1/changes"


async def follow(world: World, since: int, limit: int = 500) -> tuple[int, set[tuple[str, str]]]:
    """Everything since a cursor, page by page."""
    seen: set[tuple[str, str]] = set()
    while True:
        page = await world.get(CHANGES, since=since, limit=limit)
        assert len(page["changes"]) <= limit
        seen |= {(change["topic"], change["key"]) for change in page["changes"]}
        since = page["cursor"]
        if not page["more"]:
            return since, seen


async def test_locations_are_made_and_changed_by_their_named_fields(world: World) -> None:
    def body(**fields: Any) -> dict[str, Any]:
        return {"locations": [{"store_number": "S1", "location_code": "A1", **fields}]}

    before = {row["location_code"]: row for row in await world.rows("/stores/S1/locations")}
    await world.post("/aisle/v1/locations", body(location_order=99, default_stock_pool=3))
    after = {row["location_code"]: row for row in await world.rows("/stores/S1/locations")}
    assert list(after) == ["A2", "A10", "BACK", "DESK", "A1"]
    assert after["A1"] == before["A1"] | {"location_order": 99, "default_stock_pool": "3"}
    await world.post("/aisle/v1/locations", body(default_stock_pool="11"), 422)
    await world.post("/aisle/v1/locations", body(location_order=1.5), 422)


async def test_people_are_listed_without_secrets(world: World) -> None:
    people: list[dict[str, Any]] = [
        {"badge": "B1", "user": "u1", "name": "Ünal"},
        {"badge": "B2", "user": "u2", "name": "Bo", "role": "supervisor"},
    ]
    await world.post(PEOPLE, {"people": people})
    await world.post(PEOPLE, {"people": [people[0] | {"name": "Ann"}]})
    assert (await world.get(PEOPLE))["people"] == [
        {"badge": "B1", "user": "u1", "name": "Ann", "role": "staff", "has_pin": False},
        {"badge": "B2", "user": "u2", "name": "Bo", "role": "supervisor", "has_pin": False},
    ]
    await world.post(PEOPLE, {"people": [{"badge": "B3", "user": "u1", "name": "X"}]}, 422)
    taken = await world.post(PEOPLE, {"people": [{"badge": "B2", "user": "u3", "name": "Dora"}]}, 422)
    assert "Badge B2 is that of Bo (u2); give Dora another one, or remove u2." in str(taken)
    assert len((await world.get(PEOPLE))["people"]) == 2
    moved = [people[1] | {"is_active": False}, {"badge": "B2", "user": "u3", "name": "Dora"}]
    await world.post(PEOPLE, {"people": moved})
    await world.post(PEOPLE, {"people": [moved[1] | {"is_active": False}, people[1]]})
    await world.post(PEOPLE, {"people": [{"badge": "B3", "user": "u3", "name": "X", "role": "king"}]}, 400)
    staff = world.client_for("staff", ["S1"])
    assert (await world.send("GET", PEOPLE, client=staff)).status_code == 200
    assert (await world.send("POST", PEOPLE, {"people": []}, client=staff)).status_code == 403


async def test_followers_hear_each_key_once_and_in_the_end_everything(world: World) -> None:
    since, seen = await follow(world, 0, limit=2)
    told = await world.get(CHANGES)
    assert told.pop("mark"), "which writes made the last changes"
    assert told == {"cursor": since, "changes": [], "more": False, "restored": False, "unknown": [], "forgotten": False}
    assert {("store", number) for number, *_ in STORES} <= seen
    assert {("location", "A1"), ("product", "P1")} <= seen
    assert await follow(world, since) == (since, set())
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    since, seen = await follow(world, since)
    assert seen == {("product", "P1"), ("order", "O1")}
    await world.pick("O1", 1, "P1", 1)
    await world.pick("O1", 1, "P1", 2)
    since, seen = await follow(world, since)
    assert seen == {("product", "P1"), ("order", "O1")}
    await world.post("/products", {"products": [{"product_number": "P3", "product_name": "Jelly"}]})
    since, seen = await follow(world, since)
    assert seen == {("product", "P3")}
    await world.post("/products", {"products": [{"product_number": "P3", "product_name": "Jelly"}]})
    assert await follow(world, since) == (since, set())
    await world.update("O1", is_claimed=True)
    await world.put("/stores/S1/storeproducts", [{"product_number": "P2", "min": 1}])
    since, seen = await follow(world, since, limit=1)
    assert seen == {("order", "O1"), ("product", "P2")}


async def test_change_feed_separates_chain_and_store_changes(world: World) -> None:
    since, _ = await follow(world, 0)
    await world.count("P1", "A1", stock_pool_1=5)
    await world.post("/products", {"products": [{"product_number": "P1", "product_name": "Jelly"}]})
    told = await world.get(CHANGES, since=since)
    assert told["changes"] == [
        {"topic": "product", "key": "P1", "chain": False},
        {"topic": "product", "key": "P1", "chain": True},
    ]
    page = build_document()["paths"]["/aisle/v1/stores/{store_number}/changes"]["get"]
    shown = page["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["changes"]["items"]
    assert set(shown["properties"]) == set(told["changes"][0])


async def test_a_refused_request_tells_nobody(world: World) -> None:
    since, _ = await follow(world, 0)
    await world.order("O1", {"product_number": "NONE", "quantity": 3}, status=422)
    entry = {"storeproductlog": [{"product_number": "P1", "quantity": 1}, {"product_number": "NONE", "quantity": 1}]}
    await world.post("/stores/S1/products/stock/storeproductlogs", entry, 422)
    assert await follow(world, since) == (since, set())


async def test_cursor_from_the_future_reveals_earlier_copy(world: World) -> None:
    last = await world.get(CHANGES)
    for later in (last["cursor"] + 1, last["cursor"] + (1 << 40)):
        assert await world.get(CHANGES, since=later) == {**last, "restored": True}


async def test_change_cursor_beyond_short_range_is_followed(world: World) -> None:
    """A million products that are loaded every night have done so within weeks."""
    fits = 1 << 25

    async def aged(tx: Transaction) -> None:
        await tx.run("UPDATE counter SET value = value + $1 WHERE store_number = '*' AND name = 'change'", fits - 3)
        await tx.run("UPDATE change SET seq = seq + $1 WHERE store_number = '*'", fits - 3)

    world.service.database.write_now(aged)
    since, _ = await follow(world, 0, limit=2)
    for number in range(6):
        await world.post("/products", {"products": [{"product_number": "P1", "product_name": f"Jelly {number}"}]})
        assert not (await world.get(CHANGES, since=since))["restored"]
        since, seen = await follow(world, since)
        assert seen == {("product", "P1")}
        assert await follow(world, since) == (since, set())
    assert (await follow(world, 0, limit=2))[0] == since
    assert (await world.get(CHANGES, since=since + 1))["restored"]


async def test_another_store_s_changes_are_not_told(world: World) -> None:
    since, _ = await follow(world, 0)
    entry = {"storeproductlog": [{"product_number": "P1", "quantity": 1}]}
    await world.post("/stores/S2/products/stock/storeproductlogs", entry)
    assert await follow(world, since) == (since, set())


async def test_a_cursor_that_is_none_is_refused(world: World) -> None:
    for query in ({"since": -1}, {"limit": 0}, {"limit": 1001}, {"since": "x"}):
        assert (await world.send("GET", CHANGES, query=query)).status_code == 400


async def test_health_needs_no_token(world: World) -> None:
    stranger = world.open_client(None)
    answer = await world.send("GET", "/aisle/v1/health", client=stranger)
    assert (answer.status_code, answer.json()) == (200, {"success": True})


def test_announced_features_match_readme() -> None:
    readme = (Path(aisle.service.__file__).parent / "README.md").read_text()
    table = readme.partition("\n## Extensions\n")[2].partition("\n## ")[0]
    told = {row.partition("=")[0] for row in re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)}
    announced = {word.strip().partition("=")[0] for word in FEATURES.split(",")}
    assert announced == told
