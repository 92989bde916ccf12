"""Tokens, roles and stores; and what a request has to look like."""

import asyncio
import hashlib
import json
import logging
from typing import Any

import apsw
import httpx
import pytest

from aisle.errors import UsageError
from aisle.service.auth.tokens_and_pins import (
    create_token,
    generate_secret,
    is_well_formed_secret,
    list_tokens,
    revoke_token,
)
from aisle.service.db.database_interface import Busy, DatabaseFailed
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.errors import Refusal
from aisle.service.http.app import FEATURES
from aisle.service.http.parameters_and_headers import parse_integer
from aisle.service.http.rate_limit_and_turns_of_large_bodies import BRIEF
from aisle.service.http.request_body import MOST_BODY_BYTES
from tests.service.world import API, LOGS, World

ORDERS = "/stores/S1/orders/customerorders"


def test_a_token_is_random_and_carries_its_checksum() -> None:
    one, other = generate_secret(), generate_secret()
    assert one != other
    assert is_well_formed_secret(one)
    assert not is_well_formed_secret(one[:-1] + ("0" if one[-1] != "0" else "1"))
    assert not is_well_formed_secret(one.replace("aisle_", "other_"))
    assert not is_well_formed_secret("aisle_" + "é" * 50)


@pytest.mark.sqlite
async def test_only_the_hash_of_a_token_is_stored(world: World) -> None:
    await world.get("/stores")
    connection = apsw.Connection(str(world.path))
    [(stored,)] = connection.execute("SELECT token_hash FROM token").fetchall()
    connection.close()
    assert stored == hashlib.sha256(world.secret.encode()).hexdigest()
    for file in world.path.parent.iterdir():
        assert world.secret.encode() not in file.read_bytes()


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer x", "Basic abc", "Bearer aisle_\u00e9"])
async def test_without_a_good_token_there_is_no_answer(world: World, header: str | None) -> None:
    client = world.open_client(None)
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    for method, path in (("GET", "/stores"), ("POST", "/stores"), ("GET", "/stores/NONE/locations")):
        answer = await world.send(method, path, client=client, headers=headers)
        assert answer.status_code == 401
        assert answer.json()["success"] is False
        assert answer.headers["WWW-Authenticate"] == "Bearer"


async def test_a_token_may_stand_with_or_without_the_word_bearer(world: World) -> None:
    client = world.open_client(None)
    for header in (world.secret, f"Bearer {world.secret}", f"bearer  {world.secret} "):
        assert (await client.get(API + "/stores", headers={"Authorization": header})).status_code == 200


async def test_tokens_expire_and_are_revoked_at_once(world: World) -> None:
    short = world.client_for(expires_on=format_timestamp(world.now + 60))
    assert (await world.send("GET", "/stores", client=short)).status_code == 200
    world.now += 61
    assert (await world.send("GET", "/stores", client=short)).status_code == 401
    storage = world.service.database
    made = create_token(storage, name="x", role="staff", store_numbers=["S2", "S1"], now=format_timestamp(world.now))
    client = world.open_client(made.secret)
    assert (await world.send("GET", "/stores", client=client)).status_code == 200
    [info] = [one for one in list_tokens(storage) if one.token_id == made.token_id]
    assert (info.name, info.role, info.stores, info.revoked_on) == ("x", "staff", ("S1", "S2"), None)
    assert info.last_used_on == format_timestamp(world.now)
    assert revoke_token(storage, made.token_id, now=format_timestamp(world.now))
    assert not revoke_token(storage, made.token_id, now=format_timestamp(world.now))
    assert (await world.send("GET", "/stores", client=client)).status_code == 401


def test_a_token_needs_stores_that_exist_and_a_role_that_exists(tmp_path: Any) -> None:
    world = World(tmp_path)
    for role, stores in (("staff", ["NONE"]), ("staff", []), ("king", None)):
        with pytest.raises(UsageError):
            create_token(world.service.database, name="x", role=role, store_numbers=stores, now="")  # type: ignore[arg-type]
    world.service.close()


async def test_lists_over_the_chain_hold_the_token_s_stores_alone(world: World) -> None:
    for store in ("S1", "S2"):
        entry = {"product_number": "P1", "quantity": 1}
        await world.post(f"/stores/{store}/products/stock/storeproductlogs", {"storeproductlog": [entry]})
    client = world.client_for("staff", ["S2", "W"])
    seen = {}
    for path, field in (("/stores", "storeNo"), ("/storeproducts/stock", "store_number")):
        answer = (await world.send("GET", path, client=client)).json()
        seen[path] = [row[field] for row in answer["list"]]
        assert answer["total_count"] == len(answer["list"])
    logs = (await world.send("GET", "/products/stock/storeproductlogs", client=client)).json()
    assert seen == {"/stores": ["S2", "W"], "/storeproducts/stock": ["S2"]}
    assert [row["store_number"] for row in logs["list"]] == ["S2"]
    for path in ("/storeproducts/stock", "/products/stock/storeproductlogs", "/products"):
        answer = await world.send("GET", path, query={"store_number": "S1"}, client=client)
        assert answer.status_code == 403
    order = {"order_number": "O", "store_number": "S1"}
    makers = world.client_for("admin", ["S2"])
    assert (await world.send("POST", "/orders/customerorders", {"orders": [order]}, client=makers)).status_code == 403
    place = {"locations": [{"store_number": "S1", "location_code": "X"}]}
    assert (await world.send("POST", "/aisle/v1/locations", place, client=makers)).status_code == 403
    for area in ("stores", "products"):
        assert (await world.send("POST", f"/{area}", {area: []}, client=makers)).status_code == 403


async def test_every_answer_says_what_the_service_can_do(world: World) -> None:
    stranger = world.open_client(None)
    for path in ("/stores", "/stores/S1/locations", "/none", "/stores/../x"):
        assert (await world.send("GET", path)).headers["Aisle-Features"] == FEATURES
        assert (await world.send("GET", path, client=stranger)).headers["Aisle-Features"] == FEATURES


NO_SEGMENTS = ["%2E%2E", ".", "..", "", "%00", "a%00b", "%FF", "%ED%A0%80", "x" * 1025]


@pytest.mark.parametrize("part", NO_SEGMENTS)
async def test_a_path_that_names_nothing_is_refused(world: World, part: str) -> None:
    path = f"/stores/S1/locations/{part}/products"
    messages: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "raw_path": (API + path).encode(),
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {world.secret}".encode())],
        "http_version": "1.1",
        "scheme": "http",
        "server": ("service", 80),
        "client": None,
    }
    await world.service.app(scope, receive, send)
    assert messages[0]["status"] == 400
    assert json.loads(messages[1]["body"])["success"] is False


@pytest.mark.parametrize("code", ["", ".", ".."])
async def test_codes_that_could_not_stand_in_a_path_are_never_made(world: World, code: str) -> None:
    await world.post("/aisle/v1/locations", {"locations": [{"store_number": "S1", "location_code": code}]}, 422)
    await world.post("/products", {"products": [{"product_number": code}]}, 422)
    await world.post(ORDERS, {"orders": [{"order_number": code}]}, 422)


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"orders": NaN}', 400),
        (b'{"orders": [{"order_number": 5}]}', 400),
        (b'{"orders": [{"order_number": "A", "status_id": 1e400}]}', 422),
        (b'{"orders": [{"order_number": "A", "status_id": 1e999999999}]}', 422),
        (b'{"orders": [{"order_number": "A", "status_id": 1e-999999999}]}', 422),
        (b'{"orders": [{"order_number": "A", "status_id": ' + b"9" * 5000 + b"}]}", 422),
        (b'{"orders": [{"order_number": "\\ud800"}]}', 400),
        (b'{"orders": [{"order_number": "a\\u0000"}]}', 422),
        (b'{"orders": [{"order_number": "\xff"}]}', 400),
        pytest.param(b'{"orders": ' + b"[" * 40 + b"]" * 40 + b"}", 400, marks=pytest.mark.drawn),
        (b'{"orders": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 413),
        (b'{"orders": [{"order_number": "A", "nonsense": 1}]}', 400),
    ],
)
async def test_bodies_that_cannot_be_understood_change_nothing(world: World, raw: bytes, status: int) -> None:
    answer = await world.client.post(API + ORDERS, content=raw)
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body["success"] is False
    assert (body["status"], body["type"]) == (status, "about:blank")
    assert answer.headers["content-type"] == "application/problem+json"
    assert await world.rows(ORDERS) == []


async def test_an_error_says_which_field_and_all_that_are_wrong(world: World) -> None:
    bodies = [{"order_lines": [{"line_number": 1, "quantity": "x"}]}, {"order_number": "B", "odd": 1}]
    answer = await world.post(ORDERS, {"orders": bodies}, 400)
    assert [error["field"] for error in answer["errors"]] == [
        "orders[0].order_number",
        "orders[0].order_lines[0].product_number",
        "orders[0].order_lines[0].quantity",
        "orders[1].odd",
    ]


async def test_bodies_are_counted_while_they_come(world: World) -> None:
    limit = MOST_BODY_BYTES
    path = API + "/stores/S1/storeproductlocation/movement"
    assert (await world.client.post(path, content=b" " * (limit + 1))).status_code == 413

    async def pieces() -> Any:
        for _ in range(limit // 65536 + 1):
            yield b" " * 65536

    assert (await world.client.post(path, content=pieces())).status_code == 413
    said = (await world.client.post(path, content=b"{}")).status_code
    for odd, status in (("²", said), ("9" * 5000, 413), ("-1", said)):
        headers = {b"Content-Length": odd.encode("latin-1", "replace")}
        assert (await world.client.post(path, content=b"{}", headers=headers)).status_code == status
    long = [{"product_number": f"BIG{n}", "product_details": "x" * 10_000} for n in range(limit // 10_100)]
    for products, status in ((long, 200), ([*long, *long[:2]], 413)):
        assert (await world.send("POST", "/products", {"products": products})).status_code == status


NO_QUERIES = [
    "page_size=-1",
    "show_lines=perhaps",
    "page_start=1e99",
    "search_text=%00",
    "is_picked=",
    "search_text=%FF",
    "pickup_offset=nan",
    "&".join(f"a{n}=1" for n in range(200)),
]


@pytest.mark.parametrize("query", NO_QUERIES)
async def test_queries_that_cannot_be_understood_are_refused(world: World, query: str) -> None:
    answer = await world.client.get(f"{API}{ORDERS}?{query}")
    assert answer.status_code == 400, answer.text


@pytest.mark.parametrize(
    ("path", "asked", "says"),
    [
        (ORDERS, "page_start=1099511627777", "1099511627776 is the largest"),
        (ORDERS, f"page_start={'9' * 900}", "1099511627776 is the largest"),
        (ORDERS, f"page_start=-{'9' * 30}", "1 is the smallest"),
        (ORDERS, f"page_start=-{'9' * 5}", "counted from 1"),
        (ORDERS, f"page_size={1 << 63}", f"{(1 << 63) - 1} is the largest"),
        ("/stores", f"page_start={'9' * 30}.0", "1099511627776 is the largest"),
        ("/products", f"page_number={'9' * 30}", "1099511627776 is the largest"),
        ("/storeproducts/stock", f"from_id={1 << 63}", f"{(1 << 63) - 1} is the largest"),
        ("/storeproducts/stock", f"to_id=-{1 << 63}", f"-{(1 << 63) - 1} is the smallest"),
        ("/storeproducts/stock", "to_id=9e9", "'9e9' is not a whole number"),
    ],
)
async def test_a_whole_number_that_is_too_large_hears_which_is_the_largest(
    world: World, path: str, asked: str, says: str
) -> None:
    answer = await world.client.get(f"{API}{path}?{asked}")
    assert answer.status_code == 400, answer.text
    assert says in answer.text
    assert asked.partition("=")[0] in answer.text


def test_zeros_without_end_are_read_once() -> None:
    """A reader that begins anew at each of them stands still for an hour here."""
    zeros = "0" * 300_000
    assert parse_integer(f"{zeros}7", "page_size") == 7
    with pytest.raises(Refusal):
        parse_integer(f"{zeros}x", "page_size")


@pytest.mark.parametrize("asked", [f"page_start={'0' * 40}1", "page_start=1099511627776", f"page_size={(1 << 63) - 1}"])
async def test_a_whole_number_that_is_large_enough_for_nothing_is_taken(world: World, asked: str) -> None:
    answer = await world.client.get(f"{API}{ORDERS}?{asked}")
    assert answer.status_code == 200, answer.text


_WRITE = b'{"storeproductlog":[{"product_number":"P1","quantity":1,"reason_code":1}]}'


@pytest.mark.parametrize(
    "part",
    [{"body": _WRITE, "more_body": True}, {"body": _WRITE.ljust(2 * BRIEF)}],
    ids=["within its body", "while it waits for its turn"],
)
async def test_a_request_whose_client_has_left_is_not_begun(
    world: World, caplog: pytest.LogCaptureFixture, part: dict[str, object]
) -> None:
    """Nothing is done, and no failure is reported."""
    said = iter([{"type": "http.request", **part}, {"type": "http.disconnect"}])
    answered: list[Any] = []
    before, running = await world.rows("/products/stock/storeproductlogs"), world.service.app.endpoint._turns.running

    async def receive() -> Any:
        return next(said)

    async def send(message: Any) -> None:
        answered.append(message)

    headers = [(b"host", b"service"), (b"authorization", f"Bearer {world.secret}".encode())]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": f"{API}{LOGS}",
        "raw_path": f"{API}{LOGS}".encode(),
        "query_string": b"",
        "headers": headers,
    }
    async with running.turn(1):
        task = asyncio.create_task(world.service.app(scope, receive, send))
        while not running._waiting and not task.done():  # noqa: ASYNC110
            await asyncio.sleep(0)
    await task
    assert answered[0]["status"] == 400
    assert b"The client ended the request" in answered[1]["body"]
    assert await world.rows("/products/stock/storeproductlogs") == before
    assert not caplog.records


async def test_a_parameter_that_is_there_twice_is_refused(world: World) -> None:
    answer = await world.client.get(f"{API}/stores?search_text=second&search_text=first&secondary_key=")
    assert answer.status_code == 400
    assert "search_text" in answer.json()["message"]


async def test_other_methods_and_paths_have_the_same_kind_of_answer(world: World) -> None:
    for method, path, status in (("GET", "/none", 404), ("PATCH", "/stores", 405), ("DELETE", "/stores", 405)):
        answer = await world.send(method, path)
        assert answer.status_code == status
        assert answer.json()["success"] is False
    assert "Allow" in (await world.send("PATCH", "/stores")).headers


async def test_a_failure_inside_says_nothing_of_the_inside(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("aisle.service.handlers.stores_and_locations.stores_sql.STORE_COUNT", "SELECT nonsense")
    with caplog.at_level(logging.ERROR, "aisle.service"):
        answer = await world.send("GET", "/stores")
    assert answer.status_code == 500
    assert "nonsense" not in answer.text
    assert "nonsense" in caplog.text
    assert world.secret not in caplog.text


@pytest.mark.sqlite
async def test_a_busy_database_is_not_a_failure(world: World) -> None:
    world.service.database._writer.submit(_short_patience).result()  # type: ignore[attr-defined]
    other = apsw.Connection(str(world.path))
    other.execute("BEGIN IMMEDIATE")
    answer = await world.send("POST", "/stores", {"stores": []})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    other.execute("COMMIT")
    other.close()
    assert (await world.send("POST", "/stores", {"stores": []})).status_code == 200


def _notes_fail(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Makes every write fail that notes a token's use; says what was tried."""
    write = world.service.database.write
    tried: list[str] = []

    async def failing(work: Any, **options: Any) -> Any:
        tried.append(work.__name__)
        if work.__name__ == "note":
            raise Busy("Somebody else writes.")
        return await write(work, **options)

    monkeypatch.setattr(world.service.database, "write", failing)
    return tried


async def test_write_succeeds_though_token_use_cannot_be_noted(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = _notes_fail(world, monkeypatch)
    world.now += 3600
    with caplog.at_level(logging.WARNING, "aisle.service"):
        await world.log(product_number="P1", quantity=2)
        assert (await world.send("GET", "/stores")).status_code == 200
    assert tried == ["work", "note", "note"]
    assert world.books() == {("P1", "", 1): 2}
    assert "noted another time: Busy" in caplog.text


async def test_nobody_waits_for_notes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    write, answered = world.service.database.write, asyncio.Event()

    async def slow(work: Any, **options: Any) -> Any:
        if work.__name__ == "note":
            await asyncio.wait_for(answered.wait(), 10)
        return await write(work, **options)

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        async def seen(message: Any) -> None:
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                answered.set()

        await world.service.app(scope, receive, seen)

    monkeypatch.setattr(world.service.database, "write", slow)
    world.now += 3600
    async with httpx.AsyncClient(transport=httpx.ASGITransport(watched), base_url="http://service") as client:
        client.headers["Authorization"] = f"Bearer {world.secret}"
        assert (await world.send("GET", "/stores", client=client)).status_code == 200
    [token] = list_tokens(world.service.database)
    assert token.last_used_on == format_timestamp(world.now)


async def test_a_service_whose_database_fails_lives_and_is_not_ready(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(work: Any) -> Any:
        raise DatabaseFailed("no disk")

    monkeypatch.setattr(world.service.database, "read", broken)
    assert (await world.send("GET", "/aisle/v1/ready")).status_code == 503
    assert (await world.send("GET", "/aisle/v1/health")).status_code == 200
    assert (await world.send("GET", "/stores")).status_code == 503


async def _short_patience(tx: Any) -> None:
    tx.connection.set_busy_timeout(1)


async def test_many_at_once_are_all_answered(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=100)
    item = {"product_number": "P1", "quantity": 1}
    item |= {"from_location": {"location_code": "A1"}, "to_location": {"location_code": "A2"}}
    path = "/stores/S1/storeproductlocation/movement"
    answers = await asyncio.gather(*(world.send("POST", path, [item]) for _ in range(110)))
    assert sorted(answer.status_code for answer in answers) == [200] * 100 + [409] * 10
    assert world.books() == {("P1", "A2", 1): 100}
