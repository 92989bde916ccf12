"""What the extensions answer, as the OpenAPI page shows it."""

from __future__ import annotations

from typing import Any

from aisle.service.extensions import Extension

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}


def _object(required: dict[str, Schema]) -> Schema:
    return {"type": "object", "required": list(required), "properties": required}


def _rows(name: str, row: Schema) -> Schema:
    return _object({name: {"type": "array", "items": row}})


_GOODS = {"product_number": _TEXT, "quantity": _NUMBER}
_PERSON = {"badge": _TEXT, "user": _TEXT, "name": _TEXT, "role": {"type": "string"}}
_CHANGE = {
    "topic": {"type": "string", "description": "order, product, location, store and so on"},
    "key": _TEXT,
    "chain": {"type": "boolean", "description": "whether the chain has changed it; of a product, its catalogue entry"},
}
_RECOUNT = {"id": _NUMBER, "product_number": _TEXT, "state": _TEXT, "ordered_by": _TEXT, "ordered_on": _TEXT}

_CHANGED = {"number": _NUMBER, "at": _TEXT, "subject": _TEXT, "key": _TEXT, "token_name": _TEXT}
_AUDIT = _object({"audit": {"type": "array", "items": _object(_CHANGED)}, "more": {"type": "boolean"}})

_RESULTS: dict[str, Schema] = {
    "retrieve-log-entry": _object({"id": _NUMBER, "product_number": _TEXT, "aisle": {"type": "object"}}),
    "retrieve-store": _object({"store_number": _TEXT, "store_name": _TEXT}),
    "list-people": _rows("people", _object(_PERSON)),
    "list-changes": _object(
        {
            "cursor": {"type": "integer"},
            "mark": {"type": "string", "description": "the writes that made the last changes; to be said with since"},
            "changes": {"type": "array", "items": _object(_CHANGE)},
            "more": {"type": "boolean"},
            "restored": {"type": "boolean"},
            "unknown": {"type": "array", "items": _TEXT},
            "forgotten": {"type": "boolean", "description": "changes behind the cursor are gone; read all lists"},
        }
    ),
    "list-unknown-keys": _object({"unknown": {"type": "array", "items": _TEXT}}),
    "list-recounts": _object({"recounts": {"type": "array", "items": _object(_RECOUNT)}, "more": {"type": "boolean"}}),
    "write-recounts": _object({"success": {"const": True}, "data": {"type": "array", "items": _NUMBER}}),
    "list-named-orders": _object(
        {
            "list": {"type": "array", "items": {"type": "object", "description": "customer order"}},
            "server_time": _TEXT,
        }
    ),
    "list-put-backs": _rows("put_backs", _object(_GOODS)),
    "list-assignments": _rows("assignments", _object(_GOODS)),
    "list-tokens": _rows("tokens", _object({"token_id": _TEXT, "name": _TEXT, "role": _TEXT})),
    "create-token": _object({"token_id": _TEXT, "token": _TEXT}),
    "list-audit": _AUDIT,
    "list-chain-audit": _AUDIT,
}
_WRITTEN: Schema = {"$ref": "#/components/schemas/StandardResult"}


def result_of(extension: Extension) -> Schema:
    """The answer of an extension: its own, or the standard result of a write."""
    return _RESULTS.get(extension.name) or (_WRITTEN if extension.method != "GET" else {"type": "object"})
