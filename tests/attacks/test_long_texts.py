"""Texts without end: the service takes none, pages are bounded in bytes, a courier keeps none of another."""

import json
from collections.abc import Iterator, Mapping
from operator import attrgetter
from types import ModuleType
from typing import Any

import apsw
import pytest

from aisle.cache.writer import CacheWriter
from aisle.client import Client
from aisle.client.transport import asgi_transport
from aisle.contract.operations import Operation
from aisle.contract.request_bodies.extension_bodies import request_body_adapter
from aisle.host.database import fetch
from aisle.service.db import database_interface, sqlite_connection_and_transaction
from aisle.service.errors import Refusal
from aisle.service.handlers import list_page
from aisle.service.handlers.registry import served_operations
from aisle.service.http.parameters_and_headers import MAX_TEXT_LENGTH
from aisle.service.http.request_body import MAX_COMMENT_LENGTH, MAX_IMAGE_LENGTH, TEXT_LENGTHS, parse_body
from tests.cache.service_rows import location, order, product, stock
from tests.service.world import LOGS, World

ORDERS = "/stores/S1/orders/customerorders"
MEGABYTE = "x" * (1 << 20)


def entry(**fields: Any) -> dict[str, Any]:
    return {"storeproductlog": [{"product_number": "P1", "quantity": 1, **fields}]}


@pytest.mark.parametrize(
    ("path", "body", "field", "longest"),
    [
        (LOGS, entry(), "reference", MAX_TEXT_LENGTH),
        (LOGS, entry(), "source", MAX_TEXT_LENGTH),
        (LOGS, entry(), "loss_comment", MAX_COMMENT_LENGTH),
        (LOGS, entry(), "loss_image", TEXT_LENGTHS["loss_image"]),
        (ORDERS, {"orders": [{"order_number": "O1"}]}, "order_comment", MAX_COMMENT_LENGTH),
        (ORDERS, {"orders": [{"order_number": "O1"}]}, "customer_name", MAX_TEXT_LENGTH),
        ("/products", {"products": [{"product_number": "P9"}]}, "product_name", MAX_TEXT_LENGTH),
        ("/products", {"products": [{"product_number": "P9"}]}, "image_url", TEXT_LENGTHS["image_url"]),
    ],
)
async def test_a_text_has_a_limit(world: World, path: str, body: dict[str, Any], field: str, longest: int) -> None:
    [name] = body
    letter = "é" if longest <= MAX_COMMENT_LENGTH else "x"
    body[name][0][field] = letter * (longest + 1)
    answer = await world.post(path, body, 422)
    assert f"{longest:,}" in answer["detail"]
    assert answer["errors"][0]["field"] == f"{name}[0].{field}"
    body[name][0][field] = letter * longest
    await world.post(path, body)


@pytest.mark.parametrize(
    ("method", "path", "name", "where"),
    [
        ("POST", LOGS, "Aisle-App-User", "headers"),
        ("POST", LOGS, "Aisle-Terminal", "headers"),
        ("POST", LOGS, "appUserName", "query"),
        ("POST", "/stores/S1/storeproductlocation/movement", "AppUserName", "query"),
        ("GET", ORDERS, "search_text", "query"),
        ("GET", "/stores/S1/locations/A1/products", "Accept-Language", "headers"),
    ],
)
async def test_the_texts_of_headers_and_query_have_limits(
    world: World, method: str, path: str, name: str, where: str
) -> None:
    for length, statuses in ((MAX_TEXT_LENGTH + 1, {400}), (MAX_TEXT_LENGTH, {200})):
        text = ("é" if where == "query" else "x") * length
        answer = await world.send(
            method, path, ([] if "movement" in path else {}) if method == "POST" else None, **{where: {name: text}}
        )
        assert answer.status_code in statuses, answer.text
        if length > MAX_TEXT_LENGTH:
            assert (answer.json()["errors"][0]["field"], "1,000" in answer.json()["detail"]) == (name, True)


def texts(schema: Any, known: Mapping[str, Any]) -> Iterator[str]:
    """A body in JSON for each text that a schema has, with `TEXT` in its place and nothing beside."""
    schema = known[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    for choice in schema.get("anyOf", ()):
        yield from texts(choice, known)
    if schema.get("type") == "string" and "enum" not in schema:
        yield '"TEXT"'
    for inner in texts(schema["items"], known) if "items" in schema else ():
        yield f"[{inner}]"
    for name, field in schema.get("properties", {}).items():
        yield from (f'{{"{name}":{inner}}}' for inner in texts(field, known))


@pytest.mark.parametrize(
    "operation", [one.operation for one in served_operations() if one.operation.write], ids=attrgetter("name")
)
def test_no_text_of_a_body_is_without_a_limit(operation: Operation) -> None:
    adapter = request_body_adapter(operation)
    schema, long = adapter.json_schema(), "x" * (MAX_IMAGE_LENGTH + 1)
    for body in texts(schema, schema.get("$defs", {})):
        with pytest.raises(Refusal, match="characters") as refused:
            parse_body(body.replace("TEXT", long).encode(), adapter)
        assert refused.value.status == 422


async def test_the_texts_of_a_list_and_names_of_fields_have_limits(world: World) -> None:
    place = {"store_number": "S1", "location_code": "Z", "tags": ["x" * (MAX_TEXT_LENGTH + 1)]}
    await world.post("/aisle/v1/locations", {"locations": [place]}, 422)
    await world.post("/products", {"products": [{"product_number": "P9", "x" * 2000: 1}]}, 422)


@pytest.mark.parametrize("limit", [(list_page, "MAX_PAGE_BYTES"), (database_interface, "MAX_RESULT_BYTES")])
async def test_a_page_is_bounded_in_bytes_and_read_in_smaller_ones(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: tuple[ModuleType, str]
) -> None:
    for number in range(7):
        await world.log(product_number="P1", quantity=1, reference=f"{number}" * 900)
        line = {"product_number": "P1", "quantity": 1, "description": "d" * 900}
        await world.order(f"O{number}", line, order_comment="c" * 900)
    monkeypatch.setattr(*limit, 4000)
    monkeypatch.setattr(sqlite_connection_and_transaction, "_UNMEASURED_ROWS", 2)
    answer = await world.send("GET", ORDERS, query={"page_size": 6, "show_lines": True})
    assert (answer.status_code, "page_size" in answer.json()["message"]) == (413, True)
    async with Client("http://127.0.0.1:1", world.secret, transport=asgi_transport(world.service.app)) as client:
        for scroll in (False, True):
            asked = {"show_lines": True, "page_size": 6}
            walk = client.pages("list-customer-orders", path={"store_number": "S1"}, query=asked, scroll=scroll)
            found = [[row["order_number"] for row in rows] async for rows, _ in walk]
            assert found == [["O0", "O1", "O2", "O3", "O4", "O5"], ["O6"]]
        logs = client.pages("list-store-product-logs", query={"store_number": "S1", "page_size": 6}, by="id")
        assert len([row async for rows, _ in logs for row in rows]) == 7
        one = client.pages("list-customer-orders", path={"store_number": "S1"}, query={"page_size": 1})
        assert len([row async for rows, _ in one for row in rows]) == 7
    monkeypatch.undo()


@pytest.mark.parametrize("long", [MEGABYTE, '"' * 20_000, "é" * 20_000])
def test_a_courier_keeps_no_endless_text_of_a_service(cache: CacheWriter, cache_db: apsw.Connection, long: str) -> None:
    names: dict[str, Any] = {
        "product_name": long,
        "product_details": long,
        "image_url": long,
        "units": [{"unit_name": long}],
    }
    cache.write_products([product("P1", **names), product("P2")])
    cache.write_stock([stock("P1", product_description=long, places={"A": 1})])
    cache.write_locations([{**location("A"), "tags": [long]}])
    cache.write_orders([{**order("O1"), "comment": long, "customer_name": long, long: 1}], True, 1.0)
    left = cache.write_products([product(long), product("P3", **{f"f{n}": "x" * 900 for n in range(2000)})])
    assert [skipped.field for skipped in left.skipped] == ["product_number", ""]
    for table, most in (("product", 60_000), ("stock", 2_000), ("location", 2_000), ("orders", 20_000)):
        rows = [raw for (raw,) in fetch(cache_db, f"SELECT raw FROM {table}")]
        assert rows, table
        assert max(map(len, rows)) < most * (2 if '"' in long else 1), table
    kept = json.loads(fetch(cache_db, "SELECT raw FROM product WHERE product_number = 'P1'")[0][0])
    assert kept["product_name"] == long[:999] + "…"
    assert len(kept["product_details"]) == MAX_COMMENT_LENGTH
    assert kept["image_url"] in ("", long)
