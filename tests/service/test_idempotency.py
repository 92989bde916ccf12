"""Keys: an operation happens once, however often and from wherever it is sent."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aisle.service.db.database_interface import Transaction
from aisle.service.db.statements.logs_and_changes import LOG_ADD
from tests.service.world import LOGS, World

KEY = "0123456789abcdef"
ENTRY = {"storeproductlog": [{"product_number": "P1", "location_code": "A1", "quantity": 2}]}


def keyed(key: str = KEY) -> dict[str, str]:
    return {"Idempotency-Key": f'"{key}"'}


async def test_a_repeat_is_answered_without_being_done(world: World) -> None:
    first = await world.send("POST", LOGS, ENTRY, headers=keyed())
    again = await world.send("POST", LOGS, ENTRY, headers=keyed())
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.content == again.content
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert world.books() == {("P1", "A1", 1): 2}


async def test_without_a_key_it_is_done_again(world: World) -> None:
    await world.post(LOGS, ENTRY)
    await world.post(LOGS, ENTRY)
    assert world.books() == {("P1", "A1", 1): 4}


async def test_operation_without_key_is_named_by_time(world: World) -> None:
    """So that the rows of one moment stand side by side in the database."""

    async def named(tx: Transaction) -> list[Any]:
        return [row[0] for row in await tx.all("SELECT op_id FROM leg ORDER BY recorded_on, op_id")]

    for _ in range(3):
        await world.post(LOGS, ENTRY)
        world.now += 0.5
    names = await world.service.database.read(named)
    assert len({*names}) == 3
    assert [int(name[:14], 16) for name in names] == [int((world.now - 0.5 * n) * 1_000_000) for n in (3, 2, 1)]


@pytest.mark.parametrize("change", ["body", "query", "path", "method"])
async def test_the_same_key_for_another_request_is_refused(world: World, change: str) -> None:
    path, method = "/stores/S1/storeproducts", "POST"
    body: Any = {"store_products": []}
    if change == "query":
        path, body = LOGS, {"storeproductlog": []}
    await world.post(path, body, headers=keyed())
    query: dict[str, str] = {}
    if change == "body":
        body = {"store_products": [{"product_number": "P1"}]}
    elif change == "query":
        query = {"appUserName": "bea"}
    elif change == "path":
        path = "/stores/S1/orders/customerorders"
        body = {"orders": []}
    else:
        method, body = "PUT", []
    answer = await world.send(method, path, body, query=query, headers=keyed())
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"


async def test_the_order_of_query_parameters_makes_no_other_request(world: World) -> None:
    query = {"is_counted_quantity": "false", "appUserName": "a"}
    for said in (query, dict(reversed(query.items()))):
        await world.post(LOGS, ENTRY, query=said, headers=keyed())
    assert world.books() == {("P1", "A1", 1): 2}


async def test_refusals_by_rule_are_kept_and_malformed_requests_are_not(world: World) -> None:
    wanted = {"storeproductlog": [{"product_number": "NEW", "quantity": 2}]}
    first = await world.send("POST", LOGS, wanted, headers=keyed())
    await world.post("/products", {"products": [{"product_number": "NEW"}]})
    again = await world.send("POST", LOGS, wanted, headers=keyed())
    assert (first.status_code, again.status_code) == (422, 422)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.content == first.content
    other = keyed("fedcba9876543210")
    assert (await world.send("POST", LOGS, {"storeproductlog": 1}, headers=other)).status_code == 400
    assert (await world.send("POST", LOGS, wanted, headers=other)).status_code == 200


async def test_keys_belong_to_a_store(world: World) -> None:
    await world.post(LOGS, ENTRY, headers=keyed())
    entry = {"storeproductlog": [{"product_number": "P1", "quantity": 2}]}
    answer = await world.send("POST", LOGS.replace("S1", "S2"), entry, headers=keyed())
    assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (200, False)
    assert world.books() == {("P1", "A1", 1): 2}


async def test_a_token_in_another_s_place_repeats_what_that_one_sent(world: World) -> None:
    first = await world.send("POST", LOGS, ENTRY, headers=keyed())
    other = world.client_for("staff", ["S1"])
    again = await world.send("POST", LOGS, ENTRY, headers=keyed(), client=other)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
    assert again.content == first.content
    changed = {"storeproductlog": [{"product_number": "P1", "quantity": 1}]}
    assert (await world.send("POST", LOGS, changed, headers=keyed(), client=other)).status_code == 422
    world.now += 31 * 86400
    await world.get("/stores")
    assert (await world.send("POST", LOGS, ENTRY, headers=keyed(), client=other)).status_code == 409
    assert world.books() == {("P1", "A1", 1): 2}


async def test_a_service_s_own_token_may_be_lost_between_two_tries(world: World, tmp_path: Path) -> None:
    file = tmp_path / "token"
    for _ in range(2):
        client = world.open_client(world.service.ensure_admin_token(file))
        assert (await world.send("POST", LOGS, ENTRY, headers=keyed(), client=client)).status_code == 200
        file.unlink()
    assert world.books() == {("P1", "A1", 1): 2}


async def test_a_key_is_no_way_around_a_right(world: World) -> None:
    path, body = "/stores/S1/storeproducts", {"store_products": [{"product_number": "P1"}]}
    await world.post(path, body, headers=keyed())
    for role, stores in (("staff", ["S1"]), ("supervisor", ["S2"])):
        other = world.client_for(role, stores)
        assert (await world.send("POST", path, body, headers=keyed(), client=other)).status_code == 403


async def test_a_replay_asks_for_the_right_again(world: World) -> None:
    from aisle.service.auth.tokens_and_pins import list_tokens, revoke_token
    from aisle.service.domain.quantities_times_and_json import format_timestamp

    await world.post(LOGS, ENTRY, headers=keyed())
    [token] = list_tokens(world.service.database)
    revoke_token(world.service.database, token.token_id, now=format_timestamp(world.now))
    assert (await world.send("POST", LOGS, ENTRY, headers=keyed())).status_code == 401


async def test_twins_at_the_same_moment_happen_once(world: World) -> None:
    answers = await asyncio.gather(*(world.send("POST", LOGS, ENTRY, headers=keyed()) for _ in range(8)))
    assert {answer.content for answer in answers} == {answers[0].content}
    assert sum("Idempotency-Replayed" in answer.headers for answer in answers) == 7
    assert world.books() == {("P1", "A1", 1): 2}


@pytest.mark.parametrize("value", ["short", '"' + "x" * 65 + '"', '"white space is bad!"', ""])
async def test_a_key_that_is_none_is_malformed(world: World, value: str) -> None:
    answer = await world.send("POST", LOGS, ENTRY, headers={"Idempotency-Key": value})
    assert answer.status_code == 400
    assert world.books() == {}


async def test_the_ledger_remembers_longer_than_the_answers(world: World) -> None:
    await world.post(LOGS, ENTRY, headers=keyed())

    async def kept(tx: Transaction) -> int:
        return len(await tx.all("SELECT 1 FROM idempotency"))

    world.now += 29 * 86400
    await world.get("/stores")
    assert await world.service.database.read(kept) == 1
    world.now += 86400 + 1
    await world.get("/stores")
    assert await world.service.database.read(kept) == 0
    answer = await world.post(LOGS, ENTRY, 409, headers=keyed())
    assert answer["errors"][0]["field"] == "Idempotency-Key"
    assert world.books() == {("P1", "A1", 1): 2}


@pytest.mark.parametrize("wrong", ["SELECT nonsense", LOG_ADD.replace("VALUES ($1", "VALUES (NULL || $1")])
async def test_a_failure_is_not_kept(world: World, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("aisle.service.domain.log_and_audit_writer.sql.LOG_ADD", wrong)
        assert (await world.send("POST", LOGS, ENTRY, headers=keyed())).status_code == 500
    assert world.books() == {}
    answer = await world.send("POST", LOGS, ENTRY, headers=keyed())
    assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (200, False)


async def test_keys_of_requests_for_several_stores_and_for_the_chain(world: World) -> None:
    def order(number: str, store: str) -> dict[str, Any]:
        line = {"line_number": 1, "product_number": "P1", "quantity": 1}
        return {"order_number": number, "store_number": store, "order_lines": [line]}

    for path, body in (
        ("/orders/customerorders", {"orders": [order("A", "S2"), order("B", "S1")]}),
        ("/products", {"products": [{"product_number": "N"}]}),
        ("/aisle/v1/locations", {"locations": [{"store_number": "S2", "location_code": "Z"}]}),
    ):
        first = await world.send("POST", path, body, headers=keyed())
        again = await world.send("POST", path, body, headers=keyed())
        assert first.status_code == again.status_code == 200, first.text
        assert again.headers["Idempotency-Replayed"] == "true"
