"""Rights that somebody takes who has few: keys of others, and people of a higher role."""

from typing import Any

import pytest

from tests.service.world import World

PEOPLE = "/aisle/v1/stores/S1/people"
KEYED = {"Idempotency-Key": '"0123456789abcdef"'}
SIGN_IN = {"store_number": "S1", "user": "ann", "pin": "2468"}
ANN: dict[str, Any] = {"badge": "B1", "user": "ann", "name": "Ann", "role": "supervisor", "pin": "2468"}


@pytest.mark.parametrize(
    ("path", "body", "other"),
    [
        ("/aisle/v1/locations", {"locations": []}, {"locations": [{}]}),
        ("/products", {"products": [{"product_number": "P8"}]}, {"products": [{"product_number": "P9"}]}),
    ],
)
async def test_a_key_without_a_store_is_the_token_s_own(
    world: World, path: str, body: dict[str, Any], other: dict[str, Any]
) -> None:
    first = await world.send("POST", path, body, headers=KEYED)
    again = await world.send("POST", path, body, headers=KEYED)
    assert (first.status_code, again.headers.get("Idempotency-Replayed")) == (200, "true")
    async with world.client_for("admin") as stranger:
        theirs = await world.send("POST", path, body, headers=KEYED, client=stranger)
        assert (theirs.status_code, "Idempotency-Replayed" in theirs.headers) == (200, False)
    async with world.client_for("admin") as another:
        taken = await world.send("POST", path, other, headers=KEYED, client=another)
        assert "another request" not in taken.text


async def test_a_key_without_a_store_is_not_shared_by_the_people_of_two_stores(world: World) -> None:
    path, body = "/customerorders/clearance", dict[str, Any]()
    for store in ("S1", "S2"):
        people = {"people": [{**ANN, "badge": store}]}
        await world.post(f"/aisle/v1/stores/{store}/people", people)
        token = (await world.post("/aisle/v1/sign-in", {**SIGN_IN, "store_number": store}))["token"]
        async with world.open_client(token) as person:
            for replayed in (None, "true"):
                query = {"location_code_tag": f"tag of {store}"}
                answer = await world.send("POST", path, body, headers=KEYED, client=person, query=query)
                assert (answer.status_code, answer.headers.get("Idempotency-Replayed")) == (200, replayed)
        keys = {"keys": KEYED["Idempotency-Key"].strip('"')}
        assert (await world.get(f"/aisle/v1/stores/{store}/keys", **keys))["unknown"] == []
    assert (await world.get("/aisle/v1/stores/S3/keys", **keys))["unknown"] != []


async def test_an_integration_makes_nobody_whom_it_could_not_act_as(world: World) -> None:
    async with world.client_for("integration") as client:

        async def said(status: int, **fields: Any) -> None:
            answer = await world.send("POST", PEOPLE, {"people": [{**ANN, **fields}]}, client=client)
            assert answer.status_code == status, answer.text

        await said(403)
        assert (await world.get(PEOPLE))["people"] == []
        await said(200, role="staff")
        await said(403)
        await world.post(PEOPLE, {"people": [ANN]})
        await said(403, pin="1111")
        await said(403, pin="")
        await said(403, role="staff")
        await said(403, role="staff", pin=None)
        await said(200, pin=None, name="Ann Other")
        assert (await world.get(PEOPLE))["people"][0]["role"] == "supervisor"
        assert (await world.send("POST", "/aisle/v1/sign-in", SIGN_IN, client=client)).status_code == 200
        await said(200, pin=None, is_active=False)
    async with world.client_for("supervisor", ["S1"]) as client:
        await said(200)
