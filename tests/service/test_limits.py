"""Limits are counted: size, items, depth, decimals, headers, requests a second; and the access log keeps secrets."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import httpx
import pytest

from aisle.errors import UsageError
from aisle.service.app_options_and_limits import (
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    MAX_QUERY_BYTES,
    RateLimits,
    ServiceOptions,
)
from aisle.service.errors import Refusal
from aisle.service.http.access_and_service_logs import AccessLog
from aisle.service.http.app import App
from aisle.service.http.parameters_and_headers import MAX_CODE_LENGTH
from aisle.service.http.rate_limit_and_turns_of_large_bodies import RateLimiter
from aisle.service.http.request_body import MAX_ITEMS, MOST_BODY_BYTES
from aisle.service.http.run_server import ServerOptions, run_server
from tests.service.world import API, LOGS, World

ORDERS = "/stores/S1/orders/customerorders"
STORE = {"store_name": "Long", "is_active": True, "is_active_data_exchange": True, "is_warehouse": False}


def client_of(world: World, **options: Any) -> httpx.AsyncClient:
    """A client of the same database behind other limits."""
    app = App(world.service.database, ServiceOptions(clock=lambda: world.now, **options))
    headers = {"Authorization": f"Bearer {world.secret}"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service", headers=headers)


def test_a_bucket_fills_at_its_rate_and_says_when_to_come_again() -> None:
    now = 100.0
    buckets = RateLimiter(0.5, lambda: now)
    for _ in range(5):
        buckets.count_request("a")
    with pytest.raises(Refusal) as refused:
        buckets.count_request("a")
    assert (refused.value.status, refused.value.retry_after) == (429, 2)
    buckets.count_request("b")
    now += 1.5
    with pytest.raises(Refusal):
        buckets.count_request("a")
    now += 0.5
    buckets.count_request("a")
    free = RateLimiter(0, lambda: now)
    for _ in range(100):
        free.count_request("a")


def test_buckets_that_nobody_uses_are_forgotten() -> None:
    buckets = RateLimiter(1, lambda: 0.0)
    for n in range(10_050):
        buckets.count_request(str(n))
    assert len(buckets._levels) == 10_000


async def test_a_token_that_asks_too_often_hears_when_to_come_again(world: World) -> None:
    other = world.token()
    async with client_of(world, rate_limits=RateLimits(token=0.2)) as client:
        answers = [await client.get(API + "/stores") for _ in range(3)]
        assert [one.status_code for one in answers] == [200, 200, 429]
        assert 1 <= int(answers[2].headers["Retry-After"]) <= 5
        assert answers[2].json()["success"] is False
        before = len(await world.rows(ORDERS))
        wrote = await client.post(API + ORDERS, json={"orders": [{"order_number": "LATE"}]})
        assert wrote.status_code == 429
        assert len(await world.rows(ORDERS)) == before
        bearer = {"Authorization": f"Bearer {other}"}
        assert (await client.get(API + "/stores", headers=bearer)).status_code == 200


def test_a_bucket_may_owe_what_has_come_and_then_takes_no_more() -> None:
    now = 100.0
    buckets = RateLimiter(10, lambda: now)
    buckets.check("a")
    buckets.charge("a", 120)
    with pytest.raises(Refusal) as refused:
        buckets.check("a")
    assert (refused.value.status, refused.value.retry_after) == (429, 2)
    buckets.check("b")
    now += 2
    buckets.check("a")


async def test_bytes_of_bodies_are_counted_by_token(world: World) -> None:
    bearer = {"Authorization": f"Bearer {world.token()}"}
    async with client_of(world, rate_limits=RateLimits(token_bytes=200)) as client:
        body = {"stores": [{**STORE, "store_number": "S1", "city": "x" * 900}]}
        answers = [await client.post(API + "/stores", json=body) for _ in range(3)]
        assert [one.status_code for one in answers] == [200, 200, 429]
        assert 1 <= int(answers[2].headers["Retry-After"]) <= 30
        assert (await client.get(API + "/stores")).status_code == 200, "what has no body is taken"
        assert (await client.post(API + "/stores", json=body, headers=bearer)).status_code == 200
    async with client_of(world, rate_limits=RateLimits(token=0, token_bytes=200)) as client:
        answers = [await client.post(API + "/stores", json=body) for _ in range(3)]
        assert [one.status_code for one in answers] == [200, 200, 200]


@pytest.mark.parametrize("role", ["staff", "supervisor", "integration", "admin"])
async def test_bodies_are_limited_in_size(world: World, role: str) -> None:
    entry = {"product_number": "NONE", "loss_comment": "x" * 9000}
    async with world.client_for(role) as client:
        few, many = ({"storeproductlog": [entry] * count} for count in (100, 120))
        assert (await world.send("POST", LOGS, few, client=client)).status_code == 422
        assert (await world.send("POST", LOGS, many, client=client)).status_code == 413


async def test_requests_are_answered_while_large_bodies_are_parsed(world: World) -> None:
    """Eight of the largest: nobody waits for one of them, and not for the other seven either."""
    details = {"product_details": "Leaves from the mountains. " * 10, "category_code": "tea", "price": 1.5}
    products = [{"product_number": f"P{n}", "product_name": "T" * 50, **details} for n in range(2_400)]
    products[-1]["price"] = "no number"
    raw = json.dumps({"products": products}).encode()
    assert len(raw) <= MOST_BODY_BYTES
    headers = {"Content-Type": "application/json"}
    waits: list[float] = []
    async with client_of(world, rate_limits=RateLimits(token=0)) as client:
        await client.get("/aisle/v1/health")
        writes = [asyncio.create_task(client.post(API + "/products", content=raw, headers=headers)) for _ in range(8)]
        while not all(write.done() for write in writes):
            began = monotonic()
            assert (await client.get("/aisle/v1/health")).status_code == 200
            waits.append(monotonic() - began)
            await asyncio.sleep(0.01)
    assert {(await write).status_code for write in writes} == {400}
    assert len(waits) > 10
    assert median(waits) < 0.1, "of the worst the machine's other work would be told"


async def test_a_write_counts_once(world: World) -> None:
    async with client_of(world, rate_limits=RateLimits(token=0.3)) as client:
        answers = [await client.post(API + "/stores", json={"stores": []}) for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429]


async def test_guessing_tokens_is_slowed_down_and_hurts_nobody_else(world: World) -> None:
    async with client_of(world, rate_limits=RateLimits(unauthenticated=0.2)) as client:
        bad = {"Authorization": "Bearer aisle_guess"}
        answers = [await client.get(API + "/stores", headers=bad) for _ in range(4)]
        assert [one.status_code for one in answers] == [401, 401, 429, 429]
        assert "Retry-After" in answers[2].headers
        assert (await client.get(API + "/stores")).status_code == 200


async def test_items_are_counted_with_their_lines(world: World) -> None:
    most = MAX_ITEMS
    item = {"product_number": "NONE"}
    assert (await world.send("POST", "/stores/S1/storeproductlocation/movement", [item] * most)).status_code == 422
    answer = await world.send("POST", "/stores/S1/storeproductlocation/movement", [item] * (most + 1))
    assert answer.status_code == 413
    lines = [{"line_number": n, "product_number": "P1", "quantity": 1} for n in range(most)]
    update = {"orders": {"order_number": "O", "order_lines": lines}}
    assert (await world.send("PUT", "/stores/S1/orders/customerorder", update)).status_code == 404
    update["orders"]["order_lines"] = [*lines, *lines[:1]]
    assert (await world.send("PUT", "/stores/S1/orders/customerorder", update)).status_code == 413
    for rows, status in ((most, 200), (most + 1, 413)):
        products = [{"product_number": f"N{n}", "product_name": "N"} for n in range(rows)]
        assert (await world.send("POST", "/products", {"products": products})).status_code == status


async def test_large_body_reports_first_invalid_object(world: World) -> None:
    """To collect all that is wrong with thousands takes as long as nobody else is answered."""
    bad = {f"f{n}": "x" * 20 for n in range(30)}
    good = {"product_number": "P1", "quantity": 1}
    answer = await world.post(LOGS, {"storeproductlog": [good, good, *[bad] * 1000]}, 400)
    assert [one["field"] for one in answer["errors"]] == [f"storeproductlog[2].{name}" for name in bad]
    line = {"line_number": 1, "product_number": "P1", "quantity": 1, "picking_stock_pool_array": ["1"]}
    wrong = line | {"quantity": "1", "picking_stock_pool_array": ["1", 2]}
    full = {"order_number": "O", "order_lines": [line] * 1000}
    orders = [full, full | {"order_lines": [*[line] * 7, wrong, *[wrong] * 1000]}, {}]
    answer = await world.post("/stores/S1/orders/customerorders", {"orders": orders}, 400)
    place = "orders[1].order_lines[7]"
    assert [one["field"] for one in answer["errors"]] == [f"{place}.quantity", f"{place}.picking_stock_pool_array[1]"]
    answer = await world.post("/stores/S1/orders/customerorders", {"orders": [full, full, {}]}, 400)
    assert [one["field"] for one in answer["errors"]] == ["orders[2].order_number"]
    settings = [{"product_number": "P1", "attention_codes": ["x" * 20]}] * 2000
    answer = await world.put("/stores/S1/storeproducts", [*settings, {"min": 1}, 1], 400)
    assert [one["field"] for one in answer["errors"]] == ["[2000].product_number"]
    answer = await world.put("/stores/S1/storeproducts", [*settings, 1, *settings], 400)
    assert [one["field"] for one in answer["errors"]] == ["[2000]"]
    await world.put("/stores/S1/storeproducts", settings)


async def test_objects_and_lists_that_no_body_has_are_refused(world: World) -> None:
    wide = {"storeproductlog": [{f"f{n}": 1 for n in range(201)}]}
    answer = await world.post(LOGS, wide, 400)
    assert answer["errors"] == [{"field": "storeproductlog[0]", "message": "No object has more than 200 fields here."}]
    for name in ("forecast_array", "attention_codes"):
        said = [{"product_number": "P1", name: [1] * 50_001}]
        answer = await world.put("/stores/S1/storeproducts", said, 413)
        assert answer["errors"][0]["field"] == f"[0].{name}"


@pytest.mark.parametrize(
    ("number", "status"),
    [
        ("1.234", 200),
        ("1.23400000", 200),
        ("1234e-3", 200),
        ("0.0000000", 200),
        ("0e-999999", 200),
        ("1.2345", 422),
        ("1e-4", 422),
        ("-0.0001", 422),
        ("999999999999", 200),
        ("1000000000001", 422),
        ("-1e13", 422),
        ("Infinity", 400),
        ("-Infinity", 400),
        ("NaN", 400),
        pytest.param("1e999999999999999999999", 400, marks=pytest.mark.drawn),
        ('"1"', 400),
        ("true", 400),
    ],
)
async def test_numbers_are_finite_and_have_three_decimal_places(world: World, number: str, status: int) -> None:
    body = '{"products":[{"product_number":"P1","price":' + number + "}]}"
    answer = await world.client.post(API + "/products", content=body.encode())
    assert answer.status_code == status, answer.text
    if status == 422:
        assert answer.json()["errors"][0]["field"] == "products[0].price"


async def test_headers_and_queries_have_a_length(world: World) -> None:
    good = {"X-Long": "x" * (MAX_HEADER_BYTES - 1000)}
    assert (await world.client.get(API + "/stores", headers=good)).status_code == 200
    answer = await world.client.get(API + "/stores", headers={"X-Long": "x" * MAX_HEADER_BYTES})
    assert (answer.status_code, answer.json()["success"]) == (431, False)
    many = {f"X-{n}": "x" for n in range(MAX_HEADERS)}
    assert (await world.client.get(API + "/stores", headers=many)).status_code == 431
    answer = await world.client.get(API + "/stores", params={"search_text": "x" * MAX_QUERY_BYTES})
    assert (answer.status_code, answer.json()["success"]) == (414, False)


OBJECT = 'an object is wanted, with its fields in braces: {"…": …}.'


@pytest.mark.parametrize(
    ("path", "body", "field", "says"),
    [
        ("/products", "[]", "body", f"This is a list; {OBJECT}"),
        ("/products", "null", "body", f"This is null; {OBJECT}"),
        ("/products", '{"products":[7]}', "products[0]", f"This is a number; {OBJECT}"),
        ("/products", '{"products":{}}', "products", "This is an object; a list is wanted, in brackets: […]."),
        (
            "/products",
            '{"products":[{"product_number":1.5}]}',
            "products[0].product_number",
            'This is a number; a text is wanted, in quotes: "…".',
        ),
        (
            "/products",
            '{"products":[{"product_number":"1","price":"2"}]}',
            "products[0].price",
            "This is a text; a number is wanted, without quotes.",
        ),
        (
            "/stores/S1/storeproductlocation/movement",
            '[{"allow_overage":"true"}]',
            "[0].allow_overage",
            "This is a text; true or false is wanted, without quotes.",
        ),
        ("/products", '{"products":[{}]}', "products[0].product_number", "This field is missing, and it is required."),
        ("/products", '{"product":[]}', "product", "There is no such field here. The nearest is products."),
        ("/products", "[" * 20_000, None, "The body is nested deeper than 32. Look for brackets that are not closed."),
        ("/products", "\udce9", None, "The body is not JSON: it is no valid UTF-8."),
    ],
)
async def test_body_error_names_field_sent_and_expected_value(
    world: World, path: str, body: str, field: str | None, says: str
) -> None:
    answer = await world.client.post(API + path, content=body.encode(errors="surrogateescape"))
    assert answer.status_code == 400
    told = answer.json()
    assert told["message"] == (f"{field}: {says}" if field else says)
    assert told["errors"][0]["message"] == says if field else "errors" not in told


async def test_names_in_a_body_are_text_too(world: World) -> None:
    answer = await world.client.post(API + "/stores", content=b'{"stores":[],"\\ud800":1}')
    assert answer.status_code == 400


async def test_number_of_any_length_is_refused_in_plain_words(world: World) -> None:
    body = b'{"products":[{"product_number":"P1","price":' + b"9" * 5000 + b"}]}"
    answer = await world.client.post(API + "/products", content=body)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": "products[0].price", "message": "This number is too large."}]


@pytest.mark.parametrize(
    ("at", "rows", "number", "more"),
    [
        (f"{API}/products", "products", "product_number", {}),
        (f"{API}/stores/S1/orders/customerorders", "orders", "order_number", {}),
        (f"{API}/stores/S1/orders/deliveries", "orders", "order_number", {"no_of_containers": 1}),
        (f"{API}/stores", "stores", "store_number", STORE),
        ("/aisle/v1/locations", "locations", "location_code", {"store_number": "S1"}),
    ],
)
async def test_codes_unusable_in_paths_are_refused(
    world: World, at: str, rows: str, number: str, more: dict[str, Any]
) -> None:
    for code in ("", ".", "..", "x" * (MAX_CODE_LENGTH + 1)):
        answer = await world.client.post(at, json={rows: [{**more, number: code}]})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["field"] == f"{rows}[0].{number}"
        assert len(answer.content) < 1000
    longest = await world.client.post(at, json={rows: [{**more, number: "x" * MAX_CODE_LENGTH}]})
    assert longest.status_code == 200, longest.text


@pytest.mark.parametrize("name", ["", "  "])
async def test_a_product_has_a_name(world: World, name: str) -> None:
    answer = await world.send("POST", "/products", {"products": [{"product_number": "P1", "product_name": name}]})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "products[0].product_name")


@pytest.mark.parametrize("name", ["", "  "])
async def test_a_store_has_a_name(world: World, name: str) -> None:
    stores = [STORE | {"store_number": "S8"}, STORE | {"store_number": "S9", "store_name": name}]
    answer = await world.send("POST", "/stores", {"stores": stores})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "stores[1].store_name")
    assert len(await world.rows("/stores")) == 4


async def test_a_body_is_taken_as_it_is(world: World) -> None:
    content, plain = gzip.compress(b'{"stores":[]}'), b'{"stores":[]}'
    answer = await world.client.post(API + "/stores", content=content, headers={"Content-Encoding": "gzip"})
    assert (answer.status_code, answer.json()["title"]) == (415, "Unsupported Media Type")
    answer = await world.client.post(API + "/stores", content=plain, headers={"Content-Encoding": "identity"})
    assert answer.status_code == 200


async def test_a_parameter_is_there_once(world: World) -> None:
    answer = await world.client.get(API + "/stores?page_size=1&page_size=2")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "page_size")
    answer = await world.client.get(API + "/stores?page_size=1&unknown=1&unknown=2")
    assert (answer.status_code, [one["field"] for one in answer.json()["errors"]]) == (400, ["unknown"])


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("Idempotency-Key", '"0123456789abcdef"', '"0123456789abcdeg"'),
        ("Authorization", "", "Bearer other"),
        ("Aisle-App-User", "bea", "ann"),
        ("If-Match", '"1"', '"2"'),
    ],
)
async def test_a_header_says_one_thing(world: World, name: str, one: str, other: str) -> None:
    one = one or f"Bearer {world.secret}"
    said = [] if name == "Authorization" else [("Authorization", f"Bearer {world.secret}")]
    async with world.open_client(None) as client:
        for second, status in ((other, 400), (one, 200)):
            headers = [*said, (name, one), (name, second)]
            answer = await client.post(API + "/stores", json={"stores": []}, headers=headers)
            assert answer.status_code == status, answer.text
            if status == 400:
                assert answer.json()["errors"][0]["field"] == name.lower()


# Keys, and what changes the effect


@pytest.mark.parametrize(
    "header",
    [
        {"container_override": "true"},
        {"Aisle-Occurred-At": "2026-05-28T01:00:00Z"},
        {"Aisle-App-User": "bea"},
        {"Aisle-Terminal": "T1"},
        {"If-Match": '"1"'},
    ],
    ids=lambda header: next(iter(header)),
)
async def test_a_key_is_for_one_effect_with_its_headers(world: World, header: dict[str, str]) -> None:
    path, key = "/stores/S1/orders/deliveries", {"Idempotency-Key": '"0123456789abcdef"'}
    body = {"orders": [{"order_number": "D1", "no_of_containers": 1}]}
    await world.post(path, body, headers=key)
    await world.post(path, body, 422, headers=key | header)
    again = await world.send("POST", path, body, headers=key)
    assert again.headers["Idempotency-Replayed"] == "true"


# The access log


async def test_access_log_shows_requests_without_secrets(world: World, tmp_path: Path) -> None:
    file = tmp_path / "access.log"
    with closing(AccessLog(file)) as log:
        async with client_of(world, record_request=log) as client:
            order = {"order_number": "CANARY1", "customer_name": "CANARY2", "customer_email": "CANARY3@x"}
            await client.post(API + ORDERS, json={"orders": [order]})
            await client.get(API + ORDERS, params={"search_text": "CANARY2", "order_number": "CANARY1"})
            await client.get(API + "/stores/S1/locations/CANARY4/products")
            await client.get(API + "/stores/S1/locations", params={"app_username": "bea"})
            await client.get(API + "/stores", headers={"Authorization": "Bearer aisle_CANARY5"})
            await client.get("/CANARY6")
            await client.get(API + "/stores/%00")
            await client.post(API + LOGS, content=b"{CANARY7")
    text = file.read_text()
    assert "CANARY" not in text
    assert world.secret not in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in text.splitlines()]
    seen = [(one["method"], one["status"], one.get("operation"), one.get("store")) for one in lines]
    assert seen == [
        ("POST", 200, "create-customer-orders-one-store", "S1"),
        ("GET", 200, "list-customer-orders", "S1"),
        ("GET", 404, "list-location-products", "S1"),
        ("GET", 200, "list-locations", "S1"),
        ("GET", 401, "list-stores", None),
        ("GET", 404, None, None),
        ("GET", 400, None, None),
        ("POST", 400, "create-store-product-logs", "S1"),
    ]
    assert [one.get("user") for one in lines[:4]] == [None, None, None, "bea"]
    assert {one.get("role") for one in lines} == {"admin", None}
    assert all(one["ms"] >= 0 and one["bytes"] > 0 and one["at"].startswith("2026-") for one in lines)


async def test_the_access_log_may_be_moved_away(world: World, tmp_path: Path) -> None:
    file = tmp_path / "access.log"
    with closing(AccessLog(file)) as log:
        async with client_of(world, record_request=log) as client:
            await client.get(API + "/stores")
            file.rename(tmp_path / "access.log.1")
            await client.get(API + "/stores")
    assert len(file.read_text().splitlines()) == len((tmp_path / "access.log.1").read_text().splitlines()) == 1


def test_an_access_log_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        AccessLog(tmp_path / "none" / "access.log")


# TLS


CERTIFICATE = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
SERVE = """
import sys
from pathlib import Path
from aisle.service.http.run_server import ServerOptions, run_server
folder = Path(sys.argv[1])
options = ServerOptions(f"sqlite:///{folder}/s.db", "0.0.0.0", 0, folder / "cert.pem", folder / "key.pem",
      access_file=folder / "access.log")
run_server(options, token_file=folder / "token", ready=lambda url: print(url, flush=True))
"""


@pytest.fixture
def tls(tmp_path: Path) -> Path:
    """A folder with a certificate for 127.0.0.1."""
    names = ["-subj", "/CN=aisle", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    try:
        subprocess.run([*CERTIFICATE, *names, *files], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate with")
    return tmp_path


def test_with_a_certificate_it_serves_tls_and_nothing_else(tls: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", SERVE, str(tls)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        url = process.stdout.readline().strip().replace("0.0.0.0", "127.0.0.1")
        assert url.startswith("https://")
        context = ssl.create_default_context(cafile=str(tls / "cert.pem"))
        headers = {"Authorization": (tls / "token").read_text().strip()}
        answer = httpx.get(url + API + "/stores", verify=context, headers=headers)
        assert (answer.status_code, answer.json()["total_count"]) == (200, 0)
        with pytest.raises(httpx.HTTPError):
            httpx.get(url + API + "/stores", headers=headers)
        with pytest.raises(httpx.HTTPError):
            httpx.get(url.replace("https", "http") + API + "/stores", headers=headers)
    finally:
        process.terminate()
        process.wait(60)
        assert process.stdout
        process.stdout.close()
    assert json.loads((tls / "access.log").read_text().splitlines()[0])["operation"] == "list-stores"


def test_a_certificate_that_is_none_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    cert = tmp_path / "cert.pem"
    cert.write_text("no certificate")
    before = threading.active_count()
    with pytest.raises((UsageError, OSError)):
        run_server(ServerOptions(f"sqlite:///{tmp_path}/s.db", certificate=cert, private_key=cert, port=0))
    assert threading.active_count() == before
