"""The OpenAPI page: all of the contract, every refusal, examples that are good, and nothing from another host."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from aisle.contract.operations import EXTENSIONS, OPERATIONS, SCROLL_PARAM, Operation
from aisle.contract.request_bodies.extension_bodies import request_body_adapter
from aisle.contract.request_encoding import build_path, encode_json, encode_query
from aisle.service.http.app import ASSETS
from aisle.service.http.openapi.document import EXAMPLES, PARAMETER_TEXTS, build_document
from aisle.service.http.parameters_and_headers import MAX_TEXT_LENGTH
from aisle.service.open_service_and_admin_token import open_service
from tests.service.world import prepare

OURS = {"Idempotency-Key", "Aisle-Occurred-At", "Aisle-Clock-Ahead", "Aisle-Follows", "Aisle-Replay", "Aisle-App-User"}


@pytest_asyncio.fixture
async def shop(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """An admin's client of a fresh demo store."""
    prepare(tmp_path / "service.db", demo=True)
    service = open_service(tmp_path / "service.db")
    try:
        headers = {"Authorization": f"Bearer {service.ensure_admin_token(tmp_path / 'token')}"}
        transport = httpx.ASGITransport(service.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
            yield client
    finally:
        service.close()


def test_lists_over_stores_say_that_their_total_has_an_end() -> None:
    said = {name for name, row in OPERATIONS.items() if "`total_count`" in _shown(row)["description"]}
    assert said == {"list-deliveries", "list-receipts", "list-store-products-stock", "list-store-product-logs"}


def _shown(row: Operation) -> dict[str, Any]:
    page: dict[str, Any] = build_document()["paths"][row.path][row.method.lower()]
    return page


@pytest.mark.parametrize("row", OPERATIONS.values(), ids=lambda row: row.name)
def test_an_operation_is_shown_whole(row: Operation) -> None:
    page = _shown(row)
    assert page["operationId"] == row.name
    params = [*row.params, *([SCROLL_PARAM] if row.paging == "envelope" else [])]
    shown = [(one["name"], one["in"], one.get("required", False)) for one in page["parameters"]]
    assert shown[: len(params)] == [(param.name, param.where, param.required) for param in params]
    ours = {name for name, _, _ in shown[len(params) :]}
    own = {
        "update-customer-order": {"If-Match", "Aisle-Terminal"},
        "create-store-product-logs": {"Aisle-Log-Read"},
    }.get(row.name, set())
    assert ours == (OURS | own if row.write else set())
    assert all(one["description"] for one in page["parameters"])
    for param, one in zip(params, page["parameters"], strict=False):
        assert one.get("x-assumed", False) == param.assumed
        assert ("Assumed" in one["description"]) == param.assumed
        types = {"string": {"string"}, "number": {"integer", "number"}, "boolean": {"boolean"}}[param.type]
        assert one["schema"].get("type", "string") in types
        is_text = one["schema"].keys() == {"type", "maxLength"}
        longest = MAX_TEXT_LENGTH if is_text and param.max_length is None else param.max_length
        assert longest == (one["schema"].get("maxLength") if param.where != "path" else None)
    assert page.get("x-assumed", []) == list(row.assumed)
    assert page["description"].count("Assumed") == len(row.assumed)


@pytest.mark.parametrize("row", OPERATIONS.values(), ids=lambda row: row.name)
def test_bodies_and_results_are_the_models(row: Operation) -> None:
    page, components = _shown(row), build_document()["components"]["schemas"]
    assert ("requestBody" in page) == (row.body is not None)
    result = page["responses"]["200"]["content"]["application/json"]["schema"]
    assert (result.get("type") == "array") == row.result_array
    assert (result["items"] if row.result_array else result)["$ref"].rpartition("/")[2] == row.result
    if row.body:
        assert page["requestBody"].get("x-assumed", False) == ("body" in row.assumed)
        content = page["requestBody"]["content"]["application/json"]
        schema = content["schema"]
        assert (schema.get("type") == "array") == row.body_array
        name = (schema["items"] if row.body_array else schema)["$ref"].rpartition("/")[2]
        assert set(components[name]["properties"]) == set(
            request_body_adapter(row).json_schema().get("properties") or components[name]["properties"]
        )
        assert content["examples"], "somebody has to see what it looks like"


def test_every_refusal_is_shown_with_its_form() -> None:
    components = build_document()["components"]["schemas"]
    told = set()
    for path in build_document()["paths"].values():
        for page in path.values():
            for status, answer in page["responses"].items():
                assert answer["description"]
                if status == "408":
                    told.add(408)
                    assert "content" not in answer, "the connection says it, which knows of no forms"
                elif status != "200":
                    told.add(int(status))
                    schema = answer["content"]["application/problem+json"]["schema"]
                    assert schema["$ref"].rpartition("/")[2] in components
    assert told == {400, 401, 403, 404, 408, 409, 412, 413, 414, 415, 422, 425, 429, 431, 500, 503}


def test_extensions_are_shown_as_such() -> None:
    for extension in EXTENSIONS.values():
        page = build_document()["paths"][extension.path][extension.method.lower()]
        assert page["operationId"] == extension.name
        assert page["description"].startswith("Extension of this service.")
        assert ("requestBody" in page) == bool(extension.body)


def test_no_reference_points_nowhere() -> None:
    found = set(re.findall(r"'\$ref': '([^']+)'", repr(build_document())))
    schemas = build_document()["components"]["schemas"]
    assert {ref.removeprefix("#/components/schemas/") for ref in found} <= set(schemas)


async def test_every_example_of_a_body_is_accepted(shop: httpx.AsyncClient) -> None:
    paths = {row.name: (row.method, row.path) for row in OPERATIONS.values()}
    paths |= {extension.name: (extension.method, extension.path) for extension in EXTENSIONS.values()}
    assert {row.name for row in OPERATIONS.values() if row.body} <= set(EXAMPLES)
    for name, examples in EXAMPLES.items():
        method, path = paths[name]
        for one in examples:
            query = {key: str(value).lower() if value is True else str(value) for key, value in one.query.items()}
            url = path.replace("{store_number}", "0001")
            answer = await shop.request(method, url, params=query, content=encode_json(one.body))
            assert answer.status_code == 200, (name, one.name, answer.text)
            assert answer.json().get("success", True), (name, one.name)


async def test_every_example_of_a_parameter_is_accepted(shop: httpx.AsyncClient) -> None:
    for row in (row for row in OPERATIONS.values() if not row.write):
        here = {param.name: str(PARAMETER_TEXTS[param.name].example) for param in row.params_in("path")}
        must = {param.name: PARAMETER_TEXTS[param.name].example for param in row.params_in("query") if param.required}
        for param in row.params_in("query"):
            query = encode_query(row, must | {param.name: PARAMETER_TEXTS[param.name].example})
            answer = await shop.get(f"{build_path(row, here)}?{query}")
            assert answer.status_code == 200, (row.name, param.name, answer.text)


async def test_the_page_is_served_from_here_alone(shop: httpx.AsyncClient) -> None:
    page = await shop.get("/docs")
    assert page.status_code == 200
    assert not re.findall(r"(?:https?:)?//[a-z]", page.text), "nothing of another host"
    named = set(re.findall(r"""(?:src|href)=["']([^"']+)""", page.text))
    assert named == {f"/docs/{name}" for name in ASSETS}
    assert "/openapi.json" in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    for name, kind in ASSETS.items():
        asset = await shop.get(f"/docs/{name}")
        assert asset.status_code == 200
        assert asset.headers["content-type"].startswith(kind)
        assert len(asset.content) > 500
        if name.endswith(".css"):
            assert not re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", asset.text)
    for name in ("index.html", "..%2Fapp.py", "LICENSE"):
        assert (await shop.get(f"/docs/{name}")).status_code in (400, 404)


async def test_the_page_and_the_schema_need_no_token(shop: httpx.AsyncClient) -> None:
    shop.headers.pop("Authorization")
    assert (await shop.get("/docs")).status_code == 200
    assert (await shop.get("/openapi.json")).json() == build_document()


async def test_a_wrong_method_hears_all_that_are_right(shop: httpx.AsyncClient) -> None:
    for path, page in build_document()["paths"].items():
        answer = await shop.request("PATCH", re.sub(r"\{\w+\}", "0001", path))
        assert answer.status_code == 405
        assert answer.headers["allow"] == ", ".join(sorted(method.upper() for method in page))
