"""The interface as OpenAPI 3.1, made from the contract's table, its models and ours (`/openapi.json`).

What the document does not show, and we chose, says "Assumed" and is marked `x-assumed`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from aisle.contract.models import result_adapter
from aisle.contract.operation import Operation as Row
from aisle.contract.operation import Param
from aisle.contract.wire import OPERATIONS, pool_fields
from aisle.service.amounts import INT32, INT32_LIMIT, LARGEST, LIMIT, MOST_GOODS
from aisle.service.answers import JSON
from aisle.service.bodies import may_be_left_out, read_body
from aisle.service.extensions import EXTENSIONS, Extension
from aisle.service.openapi.answers import PROBLEM_SCHEMA, Schema, responses
from aisle.service.openapi.examples import EXAMPLES
from aisle.service.openapi.links import LINKS
from aisle.service.openapi.params import HEADERS, IF_MATCH, TERMINAL, TIME, shown
from aisle.service.openapi.results import result_of
from aisle.service.pages import MOST_COUNTED, SCROLL
from aisle.service.values import COUNTS, IDS, PRICES

HEALTH = "/aisle/v1/health"
READY = "/aisle/v1/ready"
_REF = "#/components/schemas/{model}"
_ASSUMED = {
    "params": "Assumed: the interface does not show the parameters of this operation.",
    "body": "Assumed: the interface does not show the body of this operation.",
}
_LEFT_OUT = "Where it is not there, it is taken as {}; with flush=true it has to be there."
_OVER_STORES = (
    f"Over several stores, pages of a list that is longer than {MOST_COUNTED:,} rows have no `total_count`;"
    " `next_page` tells whether there are more."
)
_ABOUT = (
    "The Store Operations Service Interface as this service answers it. Where the interface is silent, this page says"
    " what was assumed; operations below /aisle/v1 are extensions. Numbers have at most three decimal places, but for"
    " figures that are reckoned ahead, such as `forecast_array`; texts have no NUL character. A query parameter or a"
    " field that an operation does not have is refused (400). Examples are good in the demo store."
)
# Texts of bodies that are read as moments; a text that is none is refused.
_TIMES = {
    "datetime_created",
    "datetime_expected",
    "delivery_date",
    "expiry_date_time",
    "last_order_line_exported_on",
    "modification_datetime",
    "next_delivery_date",
    "next_ordering_date",
    "order_after_date",
    "ordering_datetime",
    "pickup_date",
    "scanned_datetime",
    "store_next_delivery_datetime",
    "store_next_ordering_datetime",
    "validate_expiry_date_time",
}

# How large numbers may be that are not what others are.
_GOODS = ("counted_quantity", "picked_quantity", "quantity", *pool_fields("stock_pool_"))
_MOST = dict.fromkeys(IDS, LARGEST) | dict.fromkeys(INT32, INT32_LIMIT) | dict.fromkeys(_GOODS, MOST_GOODS)
# Flagged as a moment by the interface, and described as yyyyMMdd; it is told as it was said.
_DAY = "deprecation_date"


@cache
def document() -> Schema:
    """The whole page as data, made once."""
    adapters = _adapters()
    keys: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [(key, "validation", adapters[key]) for key in adapters]
    made, definitions = TypeAdapter.json_schemas(keys, ref_template=_REF)
    schemas = {key: schema for (key, _), schema in made.items()}
    components = {name: _plain(schema) for name, schema in definitions["$defs"].items()}
    paths: dict[str, dict[str, Schema]] = {}
    for row in OPERATIONS.values():
        paths.setdefault(row.path, {})[row.method.lower()] = _contract(row, schemas)
    for extension in EXTENSIONS:
        paths.setdefault(extension.path, {})[extension.method.lower()] = _extension(extension, schemas)
    paths[HEALTH] = {"get": _open_read("health", "Whether this process lives; the database is not asked.")}
    paths[READY] = {
        "get": _open_read(
            "ready",
            "Whether requests should come here: not while the process is leaving or its database does not answer.",
        )
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Store Operations Service", "version": "2", "description": _ABOUT},
        "paths": paths,
        "components": {
            "schemas": components | {"Problem": PROBLEM_SCHEMA},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Assumed: the word Bearer before the token; it may be left out.",
                    "x-assumed": True,
                }
            },
        },
        "security": [{"token": []}],
        "tags": [{"name": name} for name in dict.fromkeys(row.area for row in OPERATIONS.values())]
        + [{"name": "aisle", "description": "Extensions of this service."}],
    }


def _adapters() -> dict[str, TypeAdapter[Any]]:
    """What is read and answered, by `name body` and `name result`."""
    found = {f"{row.name} result": result_adapter(row) for row in OPERATIONS.values()}
    found |= {f"{row.name} body": read_body(row) for row in OPERATIONS.values() if row.body}
    found |= {f"{one.name} body": one.adapter for one in EXTENSIONS if one.adapter}
    for adapter in found.values():
        adapter.rebuild()
    return found


def _contract(row: Row, schemas: dict[str, Any]) -> Schema:
    params = (*row.params, SCROLL) if row.paging == "envelope" else row.params
    path = any(param.name in ("product_number", "location_code") for param in row.of("path"))
    text = f"{_sentence(row.name)}, as the interface has it."
    over = [_OVER_STORES] if _goes_over_stores(row) else []
    page = _page(row.name, row.area, " ".join([text, *over, *(_ASSUMED[part] for part in row.assumed)]))
    page["parameters"] = _parameters(row.name, params, write=row.write)
    if row.body:
        schema = schemas[f"{row.name} body"]
        page["requestBody"] = _body(row.name, schema, read_body(row), assumed="body" in row.assumed)
    versions = row.name == "update-customer-order"
    result = _plain(schemas[f"{row.name} result"])
    page["responses"] = responses(result, write=row.write, path=path, versions=versions)
    if row.name in LINKS:
        page["responses"]["200"]["links"] = LINKS[row.name]
    if row.assumed:
        page["x-assumed"] = list(row.assumed)
    return page


def _goes_over_stores(row: Row) -> bool:
    """Whether it lists rows of stores, and the store may be left out."""
    return row.paging in ("envelope", "reduced") and any(param.name == "store_number" for param in row.of("query"))


def _extension(extension: Extension, schemas: dict[str, Any]) -> Schema:
    write = extension.method != "GET"
    about = " ".join((extension.handler.run.__doc__ or "").split())
    page = _page(extension.name, "aisle", f"Extension of this service. {about}".strip())
    page["parameters"] = _parameters(extension.name, extension.params, write=write)
    if extension.adapter:
        schema = schemas[f"{extension.name} body"]
        page["requestBody"] = _body(extension.name, schema, extension.adapter, assumed=False)
    page["responses"] = responses(result_of(extension), write=write, path=extension.names_row)
    return page


def _open_read(name: str, text: str) -> Schema:
    page = _page(name, "aisle", f"Extension of this service. {text} Needs no token.")
    answers = responses({"type": "object", "properties": {"success": {"const": True}}}, write=False, path=False)
    page["responses"] = {status: answer for status, answer in answers.items() if status not in ("401", "403", "429")}
    return page | {"security": []}


def _page(name: str, tag: str, text: str) -> Schema:
    return {"operationId": name, "summary": _sentence(name), "description": text, "tags": [tag]}


def _sentence(name: str) -> str:
    return name.replace("-", " ").capitalize()


def _parameters(name: str, params: Iterable[Param], *, write: bool) -> list[Schema]:
    shown_ = shown(params, _ASSUMED["params"])
    return [*shown_, *(HEADERS if write else ()), *((IF_MATCH, TERMINAL) if name == "update-customer-order" else ())]


def _body(name: str, schema: Any, adapter: TypeAdapter[Any], *, assumed: bool) -> Schema:
    content: Schema = {"schema": _plain(schema)}
    if name in EXAMPLES:
        content["examples"] = {one.name: {"value": one.body} for one in EXAMPLES[name]}
    optional = may_be_left_out(adapter)
    text = " ".join([*([_ASSUMED["body"]] if assumed else []), *([_LEFT_OUT] if optional else [])])
    body: Schema = {"required": not optional, "content": {JSON: content}}
    return body | ({"description": text} if text else {}) | ({"x-assumed": True} if assumed else {})


def _plain(schema: Any, name: str = "") -> Any:
    """A schema without what says nothing, and with what the service holds all numbers and times to."""
    if isinstance(schema, list):
        return [_plain(item, name) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key != "title" and (key, value) != ("default", None)}
    if "properties" in kept:
        asked = kept.get("additionalProperties") is False
        named = {one: one if asked or one == _DAY else "" for one in kept["properties"]}
        properties = {one: _plain(part, named[one]) for one, part in kept.pop("properties").items()}
        described = {key: _plain(part) for key, part in kept.items()}
        return described | {
            "properties": {one: _held(part, one) if asked else part for one, part in properties.items()}
        }
    if name in _TIMES and kept.get("type") == "string":
        return TIME
    if name == _DAY:
        kept.pop("format", None)
    return {key: _plain(part, name) for key, part in kept.items()}


def _held(schema: Any, name: str) -> Any:
    """A field of a request: how large its numbers may be, and how small."""
    if isinstance(schema, list):
        return [_held(part, name) for part in schema]
    if not isinstance(schema, dict):
        return schema
    held = {key: _held(part, name) for key, part in schema.items()}
    if held.get("type") == "number":
        most = _MOST.get(name, int(LIMIT))
        held |= {"minimum": 0 if name in PRICES | COUNTS else -most, "maximum": most}
    return held
