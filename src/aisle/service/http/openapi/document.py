"""OpenAPI document: operations, bodies, results and refusals (README: Answers).

Descriptions of extensions are the docstrings of their handlers.

`parameters.json`: text, example and perhaps schema (or its name here) of each parameter and header. `examples.json`:
bodies that the demo store accepts in this order. `links.json`: links by the operation that returns the answer.
`results.json`: shapes of the extensions' results (`contract.answer_schemas`). `problem.json`: the schema of a refusal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode
from pydantic.json_schema import JsonSchemaValue as Schema

from aisle.contract.answer_schemas import answer_schemas, shape_schema
from aisle.contract.operations import EXTENSION_AREA, OPERATIONS, Param
from aisle.contract.operations import Operation as Row
from aisle.contract.request_bodies.extension_bodies import is_optional_body, request_body_adapter
from aisle.contract.request_encoding import pool_fields
from aisle.service.domain.quantities_times_and_json import (
    INT32_FIELDS,
    INT32_LIMIT,
    INT64_LIMIT,
    NUMBER_LIMIT,
    QUANTITY_LIMIT,
)
from aisle.service.errors import JSON_TYPE, PROBLEM_TYPE
from aisle.service.handlers.list_page import MAX_COUNTED
from aisle.service.handlers.registry import ServedOperation, served_operations
from aisle.service.http.parameters_and_headers import (
    CLOCK_AHEAD,
    CONFIRMED_KEYS,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    LOG_READ,
    MAX_CODE_LENGTH,
    MAX_PAGE_NUMBER,
    MAX_TEXT_LENGTH,
    REPLAY,
    HeaderRule,
)
from aisle.service.http.request_body import COUNT_FIELDS, ID_FIELDS, PRICE_FIELDS
from aisle.service.operation_context import ParamValues

TIME_SCHEMA: Schema = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}
"""Schema of a time, or of a date, which means the start of the day."""
_TEXT_SCHEMA: Schema = {"type": "string", "maxLength": MAX_TEXT_LENGTH}
_INTEGER_SCHEMA: Schema = {"type": "integer", "minimum": -INT64_LIMIT, "maximum": INT64_LIMIT}
_PAGE_TEXT_SCHEMA: Schema = {"type": "string", "pattern": "^([1-9][0-9]{0,9})?$"}
_PATH_SEGMENT_SCHEMA: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_CODE_LENGTH,
    "not": {"enum": [".", ".."]},
}
_SCHEMA_OF_TYPE = {"string": _TEXT_SCHEMA, "number": _INTEGER_SCHEMA, "boolean": {"type": "boolean"}}
_NAMED_SCHEMAS: dict[str, Schema] = {
    "cursor": _INTEGER_SCHEMA | {"minimum": 0},
    "optional_time": {"anyOf": [*TIME_SCHEMA["anyOf"], {"type": "string", "maxLength": 0}]},
    "page_number": {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_NUMBER},
    "page_size": {"type": "integer", "minimum": 1, "maximum": INT64_LIMIT},
}


class ParameterText(NamedTuple):
    """Description of a parameter, beside its name and type."""

    text: str
    example: Any = None
    schema: Schema | str | None = None


class Example(NamedTuple):
    """Example body with its query."""

    name: str
    body: Any
    query: ParamValues = MappingProxyType({})


def _read(name: str) -> Any:
    return json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))


PARAMETER_TEXTS = {name: ParameterText(**fields) for name, fields in _read("parameters").items()}
EXAMPLES = {name: [Example(**fields) for fields in rows] for name, rows in _read("examples").items()}
LINKS: dict[str, dict[str, Schema]] = _read("links")
PROBLEM_SCHEMA: Schema = _read("problem")


RESULT_SCHEMAS = {name: shape_schema(shape) for name, shape in _read("results").items()}
"""Results of extensions that are not the standard result."""


def _header(name: str, schema: Schema) -> Schema:
    note = PARAMETER_TEXTS[name]
    text = f"Extension of this service; need not be sent. {note.text}"
    header = {"name": name, "in": "header", "description": text, "schema": schema}
    return header | ({} if note.example is None else {"example": note.example})


def _matching_header(rule: HeaderRule) -> Schema:
    return _header(rule.name, {"type": "string", "pattern": f"^{rule.pattern}$"})


WRITE_HEADERS = (
    _matching_header(IDEMPOTENCY_KEY),
    _header("Aisle-Occurred-At", TIME_SCHEMA),
    *map(_matching_header, (CLOCK_AHEAD, CONFIRMED_KEYS, REPLAY)),
    _header("Aisle-App-User", _TEXT_SCHEMA),
)
"""Headers of every write, beside the document's parameters."""
UPDATE_HEADERS = (_matching_header(IF_MATCH), _header("Aisle-Terminal", _TEXT_SCHEMA))
"""Further headers of an order's update."""
COUNT_HEADERS = (_matching_header(LOG_READ),)
"""Further headers of log entries."""
_OWN_HEADERS = {"update-customer-order": UPDATE_HEADERS, "create-store-product-logs": COUNT_HEADERS}


def parameter_objects(params: Iterable[Param], assumed: str = "") -> list[Schema]:
    """Return the parameters of an operation. `assumed` is the note on those that the document does not have."""
    return [_parameter_object(param, assumed) for param in params]


def _parameter_object(param: Param, assumed: str) -> Schema:
    note = PARAMETER_TEXTS.get(param.name, ParameterText(""))
    entry: Schema = {
        "name": param.name,
        "in": param.where,
        "required": param.required,
        "description": f"{note.text} {assumed}".strip() if param.assumed else note.text,
        "schema": _parameter_schema(param, note),
    }
    if note.example is not None:
        entry["example"] = str(note.example) if entry["schema"].get("type") == "string" else note.example
    return entry | ({"x-assumed": True} if param.assumed else {})


def _parameter_schema(param: Param, note: ParameterText) -> Schema:
    limit = {"maxLength": param.max_length} if param.max_length else {}
    if param.where == "path":
        return _PATH_SEGMENT_SCHEMA | limit
    if param.type == "string" and param.name in ("page_size", "page_start"):
        return _PAGE_TEXT_SCHEMA | limit
    named = _NAMED_SCHEMAS[note.schema] if isinstance(note.schema, str) else note.schema
    return (named or _SCHEMA_OF_TYPE[param.type]) | limit


_COMMON_STATUSES = (400, 401, 403, 413, 414, 429, 431, 500, 503)
_OF_CONNECTION = 408
"""Status that the connection itself sends, without a body."""
_WRITE_STATUSES = (404, _OF_CONNECTION, 409, 415, 422, 425)
_RETRY_HEADER: Schema = {
    "Retry-After": {"description": "In how many seconds to come again.", "schema": {"type": "integer", "minimum": 0}}
}
_HEADERS_OF_STATUS: dict[int, Schema] = {
    401: {"WWW-Authenticate": {"description": "Bearer", "schema": {"type": "string"}}},
    425: _RETRY_HEADER,
    429: _RETRY_HEADER,
    503: _RETRY_HEADER,
}
_FEATURES_HEADER: Schema = {
    "Aisle-Features": {"description": "The extensions that this service has.", "schema": {"type": "string"}}
}
_HEADERS_OF_WRITE: Schema = {
    "Aisle-Changes": {
        "description": (
            "Changed fields of records, figures and flags first: the number of these, and, of the first 12 fields,"
            " store (* for the chain) and key of the first record, and where its values begin to differ."
        ),
        "schema": {"type": "string", "examples": ['{"price": [2, "*", "0226", "1.5", "1.6"]}']},
    },
    "Aisle-Records": {
        "description": "How many records were new, changed and the same before; of writes of records.",
        "schema": {"type": "string", "examples": ["new=1, changed=0, same=2"]},
    },
    "Idempotency-Replayed": {
        "description": "true: this is what was answered the first time.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}


def responses(result: Schema, *, write: bool, names_resource: bool, checks_version: bool = False) -> dict[str, Schema]:
    """Return every answer of an operation.

    `names_resource`: its path names something that may be missing. `checks_version`: it supports `If-Match`.
    """
    success = {
        "description": "Done" if write else "What was asked for",
        "headers": _FEATURES_HEADER | (_HEADERS_OF_WRITE if write else {}),
        "content": {JSON_TYPE: {"schema": result}},
    }
    statuses = {
        *_COMMON_STATUSES,
        *(_WRITE_STATUSES if write else ()),
        *((404,) if names_resource else ()),
        *((412,) if checks_version else ()),
    }
    return {"200": success} | {str(status): _refusal_response(status) for status in sorted(statuses)}


def _refusal_response(status: int) -> Schema:
    description = f"{HTTPStatus(status).phrase}. Assumed: the interface shows no status codes."
    if status == _OF_CONNECTION:
        return {"description": description}
    return {
        "description": description,
        "headers": _FEATURES_HEADER | _HEADERS_OF_STATUS.get(status, {}),
        "content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


HEALTH_PATH = "/aisle/v1/health"
READY_PATH = "/aisle/v1/ready"
_ROW_BY_ID = "retrieve-log-entry"
_RESOURCES = ("product_number", "location_code")
"""Parameters of paths that name something that may be missing."""
_MODEL_REFERENCE = "#/components/schemas/{model}"
_ASSUMED = {
    "params": "Assumed: the interface does not show the parameters of this operation.",
    "body": "Assumed: the interface does not show the body of this operation.",
}
_OPTIONAL_BODY = "Where it is not there, it is taken as {}; with flush=true it has to be there."
_MULTI_STORE_NOTE = (
    f"Over several stores, pages of a list that is longer than {MAX_COUNTED:,} rows have no `total_count`;"
    " `next_page` tells whether there are more."
)
_DESCRIPTION = (
    "The Store Operations Service Interface as this service answers it. Where the interface is silent, this page says"
    " what was assumed; operations below /aisle/v1 are extensions. Numbers have at most three decimal places, but for"
    " figures that are reckoned ahead, such as `forecast_array`; texts have no NUL character. A query parameter or a"
    " field that an operation does not have is refused (400). Examples are good in the demo store."
)
# Text fields of bodies that are parsed as times; invalid ones are refused.
_TIME_FIELDS = {
    "datetime_created",
    "datetime_expected",
    "delivery_date",
    "expiry_date_time",
    "label_check_date",
    "label_expiry_date",
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
    "taken_datetime",
    "undone_datetime",
    "undone_expiry_date",
    "validate_expiry_date_time",
}

# Limits of numbers that differ from the general limit.
_QUANTITY_FIELDS = ("counted_quantity", "picked_quantity", "quantity", *pool_fields("stock_pool_"))
_FIELD_LIMITS = (
    dict.fromkeys(ID_FIELDS, INT64_LIMIT)
    | dict.fromkeys(INT32_FIELDS, INT32_LIMIT)
    | dict.fromkeys(_QUANTITY_FIELDS, QUANTITY_LIMIT)
)
# The interface marks it as a date-time and describes yyyyMMdd; it is returned as it was sent.
_DATE_FIELD = "deprecation_date"


@cache
def build_document() -> Schema:
    """Return the document, built once."""
    adapters = _body_adapters()
    keys: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [(key, "validation", adapters[key]) for key in adapters]
    made, definitions = TypeAdapter.json_schemas(keys, ref_template=_MODEL_REFERENCE)
    schemas = {key: schema for (key, _), schema in made.items()}
    components = {name: _clean_schema(schema) for name, schema in (answer_schemas() | definitions["$defs"]).items()}
    paths: dict[str, dict[str, Schema]] = {}
    for served in served_operations():
        row = served.operation
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(served, schemas)
    paths[HEALTH_PATH] = {"get": _public_read("health", "Whether this process lives; the database is not asked.")}
    paths[READY_PATH] = {
        "get": _public_read(
            "ready",
            "Whether requests should come here: not while the process is leaving or its database does not answer.",
        )
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Store Operations Service", "version": "2", "description": _DESCRIPTION},
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


def _body_adapters() -> dict[str, TypeAdapter[Any]]:
    """Return the validators of bodies by operation."""
    rows = [served.operation for served in served_operations()]
    found = {row.name: request_body_adapter(row) for row in rows if row.body}
    for adapter in found.values():
        adapter.rebuild()
    return found


def _operation(served: ServedOperation, schemas: dict[str, Schema]) -> Schema:
    row = served.operation
    page = _operation_object(row.name, row.area, _description(served))
    page["parameters"] = _parameter_list(row.name, served.params, write=row.write)
    if row.body:
        adapter = request_body_adapter(row)
        page["requestBody"] = _request_body(row.name, schemas[row.name], adapter, assumed="body" in row.assumed)
    result = RESULT_SCHEMAS.get(row.name) or shape_schema([row.result] if row.result_array else row.result)
    page["responses"] = responses(
        result,
        write=row.write,
        names_resource=row.name == _ROW_BY_ID or any(param.name in _RESOURCES for param in row.params_in("path")),
        checks_version=row.name == "update-customer-order",
    )
    if row.name in LINKS:
        page["responses"]["200"]["links"] = LINKS[row.name]
    return page | ({"x-assumed": list(row.assumed)} if row.assumed else {})


def _description(served: ServedOperation) -> str:
    row = served.operation
    if row.area == EXTENSION_AREA:
        return " ".join(["Extension of this service.", *(served.handler.run.__doc__ or "").split()])
    notes = [_MULTI_STORE_NOTE] if _is_multi_store_list(row) else []
    return " ".join(
        [f"{_summary(row.name)}, as the interface has it.", *notes, *map(_ASSUMED.__getitem__, row.assumed)]
    )


def _is_multi_store_list(row: Row) -> bool:
    """Return True if the operation lists rows of stores and its store is optional."""
    return row.paging in ("envelope", "reduced") and any(
        param.name == "store_number" for param in row.params_in("query")
    )


def _public_read(name: str, text: str) -> Schema:
    page = _operation_object(name, "aisle", f"Extension of this service. {text} Needs no token.")
    answers = responses(
        {"type": "object", "properties": {"success": {"const": True}}}, write=False, names_resource=False
    )
    page["responses"] = {status: answer for status, answer in answers.items() if status not in ("401", "403", "429")}
    return page | {"security": []}


def _operation_object(name: str, tag: str, text: str) -> Schema:
    return {"operationId": name, "summary": _summary(name), "description": text, "tags": [tag]}


def _summary(name: str) -> str:
    return name.replace("-", " ").capitalize()


def _parameter_list(name: str, params: Iterable[Param], *, write: bool) -> list[Schema]:
    shown_ = parameter_objects(params, _ASSUMED["params"])
    return [*shown_, *(WRITE_HEADERS if write else ()), *_OWN_HEADERS.get(name, ())]


def _request_body(name: str, schema: Any, adapter: TypeAdapter[Any], *, assumed: bool) -> Schema:
    content: Schema = {"schema": _clean_schema(schema)}
    if name in EXAMPLES:
        content["examples"] = {one.name: {"value": one.body} for one in EXAMPLES[name]}
    optional = is_optional_body(adapter)
    text = " ".join([*([_ASSUMED["body"]] if assumed else []), *([_OPTIONAL_BODY] if optional else [])])
    body: Schema = {"required": not optional, "content": {JSON_TYPE: content}}
    return body | ({"description": text} if text else {}) | ({"x-assumed": True} if assumed else {})


def _clean_schema(schema: Any, name: str = "") -> Any:
    """Return a schema without empty statements, with the service's limits of numbers and times."""
    if isinstance(schema, list):
        return [_clean_schema(item, name) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key != "title" and (key, value) != ("default", None)}
    if "properties" in kept:
        is_closed = kept.get("additionalProperties") is False
        named = {one: one if is_closed or one == _DATE_FIELD else "" for one in kept["properties"]}
        properties = {one: _clean_schema(part, named[one]) for one, part in kept.pop("properties").items()}
        described = {key: _clean_schema(part) for key, part in kept.items()}
        return described | {
            "properties": {one: _add_limits(part, one) if is_closed else part for one, part in properties.items()}
        }
    if name in _TIME_FIELDS and kept.get("type") == "string":
        return TIME_SCHEMA
    if name == _DATE_FIELD:
        kept.pop("format", None)
    return {key: _clean_schema(part, name) for key, part in kept.items()}


def _add_limits(schema: Any, name: str) -> Any:
    """Add the limits of numbers to a field of a request."""
    if isinstance(schema, list):
        return [_add_limits(part, name) for part in schema]
    if not isinstance(schema, dict):
        return schema
    held = {key: _add_limits(part, name) for key, part in schema.items()}
    if held.get("type") == "number":
        most = _FIELD_LIMITS.get(name, int(NUMBER_LIMIT))
        held |= {"minimum": 0 if name in PRICE_FIELDS | COUNT_FIELDS else -most, "maximum": most}
    return held
