"""Texts of the OpenAPI document: parameters, headers, example bodies, links and the results of extensions.

`parameters.json`: text, example and perhaps schema of each parameter, or the name of a schema here. `examples.json`:
bodies that the demo store accepts in this order. `links.json`: links by the operation that returns the answer.
`results.json`: shapes of the extensions' results (`contract.answers`). `problem.json`: the schema of a refusal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic.json_schema import JsonSchemaValue as Schema

from aisle.contract.answers import shape_schema
from aisle.contract.operations import Param
from aisle.service.domain.quantities import INT64_LIMIT
from aisle.service.http.request_parsing import (
    CLOCK_SKEW_PATTERN,
    CONFIRMED_KEYS_PATTERN,
    KEY_PATTERN,
    MAX_PAGE_NUMBER,
    REPLAY_PATTERN,
    VERSIONS_PATTERN,
)
from aisle.service.query_values import QueryValues
from aisle.service.rate_limits import MAX_CODE_LENGTH

TIME_SCHEMA: Schema = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}
"""Schema of a time, or of a date, which means the start of the day."""
_TEXT_SCHEMA: Schema = {"type": "string"}
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
    query: QueryValues = QueryValues()


def _read(name: str) -> Any:
    return json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))


PARAMETER_TEXTS = {name: ParameterText(**fields) for name, fields in _read("parameters").items()}
EXAMPLES = {name: [Example(**fields) for fields in rows] for name, rows in _read("examples").items()}
LINKS: dict[str, dict[str, Schema]] = _read("links")
PROBLEM_SCHEMA: Schema = _read("problem")


RESULT_SCHEMAS = {name: shape_schema(shape) for name, shape in _read("results").items()}
"""Results of extensions that are not the standard result."""


def _header(name: str, text: str, schema: Schema, example: str | None = None) -> Schema:
    header = {
        "name": name,
        "in": "header",
        "description": f"Extension of this service; need not be sent. {text}",
        "schema": schema,
    }
    return header | ({} if example is None else {"example": example})


def _matching(pattern: str) -> Schema:
    return {"type": "string", "pattern": f"^{pattern}$"}


WRITE_HEADERS = (
    _header(
        "Idempotency-Key",
        "The same request under the same key is carried out once (for as many days as `Aisle-Features` says).",
        _matching(KEY_PATTERN),
    ),
    _header("Aisle-Occurred-At", "When it happened; held between a week ago and now.", TIME_SCHEMA),
    _header(
        "Aisle-Clock-Ahead",
        "Seconds that the clock is ahead of the service's by which that, and the moments of log entries, are said.",
        _matching(CLOCK_SKEW_PATTERN),
        "-20.5",
    ),
    _header(
        "Aisle-Follows",
        "Keys that were confirmed before; 425 where the service has lost one of them.",
        _matching(CONFIRMED_KEYS_PATTERN),
    ),
    _header(
        "Aisle-Replay",
        "It was confirmed before the service was put back from an earlier copy: `all`, or what of its picks found no"
        " room then, by line.",
        _matching(f"({REPLAY_PATTERN})"),
        "all",
    ),
    _header("Aisle-App-User", "Who did it, where the interface has no field for it.", _TEXT_SCHEMA),
)
"""Headers of every write, beside the document's parameters."""
UPDATE_HEADERS = (
    _header(
        "If-Match", "The version that the order has to be at (its ETag), else 412.", _matching(VERSIONS_PATTERN), '"1"'
    ),
    _header("Aisle-Terminal", "At which terminal an order is claimed.", _TEXT_SCHEMA),
)
"""Further headers of an order's update."""


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
