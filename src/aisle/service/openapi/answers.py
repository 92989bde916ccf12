"""What each operation may answer, as the OpenAPI page shows it: the result, and every refusal (README: Answers)."""

from __future__ import annotations

from typing import Any

from aisle.service.answers import JSON, PROBLEM, TITLES

Schema = dict[str, Any]

PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "description": "The standard result with the members of RFC 9457. Assumed: the interface shows no errors.",
    "x-assumed": True,
    "required": ["success", "message", "type", "title", "status", "detail"],
    "properties": {
        "success": {"const": False},
        "message": {"type": "string", "description": "What is wrong, and where."},
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "description": "The fields that are wrong.",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "line": {"type": "object", "description": "409: the order line as it is now."},
        "order": {"type": "object", "description": "412: the order as it is now, with its lines."},
    },
}

_ALWAYS = (400, 401, 403, 413, 414, 429, 431, 500, 503)
_OF_CONNECTION = 408
"""Said by the connection itself, and without a body."""
_WRITES = (404, _OF_CONNECTION, 409, 415, 422, 425)
_RETRY: Schema = {
    "Retry-After": {"description": "In how many seconds to come again.", "schema": {"type": "integer", "minimum": 0}}
}
_HEADERS: dict[int, Schema] = {
    401: {"WWW-Authenticate": {"description": "Bearer", "schema": {"type": "string"}}},
    425: _RETRY,
    429: _RETRY,
    503: _RETRY,
}
_FEATURES: Schema = {
    "Aisle-Features": {"description": "The extensions that this service has.", "schema": {"type": "string"}}
}
_REPLAYED: Schema = {
    "Idempotency-Replayed": {
        "description": "true: this is what was answered the first time.",
        "schema": {"type": "string", "enum": ["true"]},
    }
}


def responses(result: Schema, *, write: bool, path: bool, versions: bool = False) -> dict[str, Schema]:
    """Every answer of an operation. `path`: it names what may not be there; `versions`: it hears `If-Match`."""
    good = {
        "description": "Done" if write else "What was asked for",
        "headers": _FEATURES | (_REPLAYED if write else {}),
        "content": {JSON: {"schema": result}},
    }
    statuses = {*_ALWAYS, *(_WRITES if write else ()), *((404,) if path else ()), *((412,) if versions else ())}
    return {"200": good} | {str(status): _refused(status) for status in sorted(statuses)}


def _refused(status: int) -> Schema:
    description = f"{TITLES[status]}. Assumed: the interface shows no status codes."
    if status == _OF_CONNECTION:
        return {"description": description}
    return {
        "description": description,
        "headers": _FEATURES | _HEADERS.get(status, {}),
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
