"""The served OpenAPI document is valid by the specification's own schemas: links, examples and schemas too."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from aisle.contract.operations import OPERATIONS
from aisle.service.open_service_and_admin_token import open_service
from tests.service.world import prepare

STOCK = ("paths", "/api/v2/public/storeproducts/stock", "get")
METHODS = {"get", "post", "put", "delete"}


@pytest_asyncio.fixture
async def shop(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    prepare(tmp_path / "service.db", demo=True)
    service = open_service(tmp_path / "service.db")
    headers = {"Authorization": f"Bearer {service.ensure_admin_token(tmp_path / 'token')}"}
    transport = httpx.ASGITransport(service.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
        yield client
    service.close()


@pytest_asyncio.fixture
async def served(shop: httpx.AsyncClient) -> dict[str, Any]:
    answer = await shop.get("/openapi.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def operations(served: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every operation by its id, with its path and method."""
    return {
        page["operationId"]: page | {"path": path, "method": method}
        for path, pages in served["paths"].items()
        for method, page in pages.items()
        if method in METHODS
    }


def misfits(served: dict[str, Any], schema: Any, value: Any) -> list[str]:
    """What of a value does not fit a schema of the document."""
    whole = {"$ref": "#/wanted", "wanted": schema, "components": served["components"]}
    return [error.message for error in Draft202012Validator(whole).iter_errors(value)]


def places(value: Any, name: str) -> Iterator[Any]:
    """Every member of this name, wherever it stands."""
    if isinstance(value, dict):
        yield from ([value[name]] if name in value else [])
        for part in value.values():
            yield from places(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from places(part, name)


async def test_the_document_is_valid(served: dict[str, Any]) -> None:
    assert served["openapi"].startswith("3.1.")
    assert [
        f"{[*error.absolute_path]}: {error.message}" for error in OpenAPIV31SpecValidator(served).iter_errors()
    ] == []


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (("paths", "/api/v2/public/stores", "get", "responses"), {}),
        (("paths", "/api/v2/public/stores", "get", "parameters"), [{"name": "x", "in": "body"}]),
        (("components", "schemas", "Problem", "type"), "no type"),
        (
            ("paths", "/api/v2/public/storeproducts/stock", "get", "responses", "200", "links", "count", "parameters"),
            {"x": True},
        ),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "wrong",
)
async def test_the_validator_sees_what_is_not(served: dict[str, Any], place: tuple[str, ...], wrong: Any) -> None:
    part = served
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = wrong
    assert next(OpenAPIV31SpecValidator(served).iter_errors(), None)


async def test_every_schema_is_one(served: dict[str, Any]) -> None:
    schemas = [*served["components"]["schemas"].values(), *places(served["paths"], "schema")]
    assert len(schemas) > 300
    for schema in {json.dumps(schema): schema for schema in schemas}.values():
        Draft202012Validator.check_schema(schema)
        for ref in places(schema, "$ref"):
            assert ref.rpartition("/")[2] in served["components"]["schemas"], ref


async def test_every_example_fits_its_schema(served: dict[str, Any]) -> None:
    tried = 0
    for name, page in operations(served).items():
        for param in page.get("parameters", ()):
            if "example" in param:
                assert misfits(served, param["schema"], param["example"]) == [], (name, param["name"])
                tried += 1
        for content in page.get("requestBody", {}).get("content", {}).values():
            for title, example in content.get("examples", {}).items():
                assert misfits(served, content["schema"], example["value"]) == [], (name, title)
                tried += 1
    assert tried > 120


async def test_every_link_leads_to_an_operation_that_takes_it(shop: httpx.AsyncClient, served: dict[str, Any]) -> None:
    """Each expression of a link is found in a real answer, and what the link asks for then is answered."""
    known = operations(served)
    followed = 0
    for name, page in known.items():
        for title, link in page["responses"]["200"].get("links", {}).items():
            assert all(isinstance(value, str) for value in link["parameters"].values()), (name, title)
            target = known[link["operationId"]]
            taken = {(param["name"], param["in"]): param for param in target["parameters"]}
            names = {param: where for param, where in taken if param in link["parameters"]}
            assert set(names) == set(link["parameters"]), (name, title)
            asked, answer = await _asked(shop, page)
            said = {param: str(_value(text, asked, answer)) for param, text in link["parameters"].items()}
            for param, value in said.items():
                schema = taken[param, names[param]]["schema"]
                typed = json.loads(value) if schema.get("type") in ("boolean", "integer") else value
                assert misfits(served, schema, typed) == [], (name, title, param)
            body = _filled(link.get("requestBody"), asked, answer)
            if body is not None:
                assert misfits(served, target["requestBody"]["content"]["application/json"]["schema"], body) == []
            path = re.sub(r"\{(\w+)\}", lambda found, said=said: said[found[1]], target["path"])  # type: ignore[misc]
            query = {param: value for param, value in said.items() if names[param] == "query"}
            reply = await shop.request(target["method"].upper(), path, params=query, json=body)
            assert reply.status_code == 200, (name, title, reply.text)
            followed += 1
    assert followed >= 10


async def _asked(shop: httpx.AsyncClient, page: dict[str, Any]) -> tuple[dict[str, str], Any]:
    """The parameters of a request of this operation, by the document's examples, and its answer."""
    row = OPERATIONS[page["operationId"]]
    asked = {param["name"]: str(param["example"]) for param in page["parameters"] if param["in"] == "path"}
    query = {param.name: "0001" for param in row.params_in("query") if param.name == "store_number"}
    answer = await shop.get(re.sub(r"\{(\w+)\}", lambda found: asked[found[1]], page["path"]), params=query)
    assert answer.status_code == 200, answer.text
    return asked, answer.json()


def _value(text: str, asked: dict[str, str], answer: Any) -> Any:
    """A runtime expression's value; a text that is none stands for itself."""
    if text.startswith("$request.path."):
        return asked[text.removeprefix("$request.path.")]
    if not text.startswith("$"):
        return text
    assert text.startswith("$response.body#/"), text
    for part in text.removeprefix("$response.body#/").split("/"):
        answer = answer[int(part)] if isinstance(answer, list) else answer[part]
    return answer


def _filled(body: Any, asked: dict[str, str], answer: Any) -> Any:
    if isinstance(body, dict):
        return {name: _filled(part, asked, answer) for name, part in body.items()}
    if isinstance(body, list):
        return [_filled(part, asked, answer) for part in body]
    return _value(body, asked, answer) if isinstance(body, str) else body
