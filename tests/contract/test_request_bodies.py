"""Requests are strict and send only what was set."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from aisle.contract.operations import OPERATIONS
from aisle.contract.request_bodies import body_adapter
from aisle.contract.request_bodies.store_products_logs_movements import MovementItem
from aisle.contract.request_bodies.stores import StoreCreate
from aisle.contract.request_encoding import encode_body, get_operation
from aisle.errors import ContractError


def example(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """A value for a JSON schema, with every field present."""
    if "$ref" in schema:
        return example(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return example(schema["anyOf"][0], definitions)
    if schema.get("type") == "array":
        return [example(schema["items"], definitions)]
    if "properties" in schema:
        return {name: example(field, definitions) for name, field in schema["properties"].items()}
    if schema.get("type") == "object":
        return {"key": ["value"]}
    return {"string": "text", "number": 7, "boolean": True}[schema["type"]]


@pytest.mark.parametrize("name", [name for name, op in OPERATIONS.items() if op.body])
def test_full_body_passes_unchanged_and_unknown_field_is_refused(name: str) -> None:
    op = OPERATIONS[name]
    adapter = body_adapter(op)
    schema = adapter.json_schema()
    value = example(schema, schema.get("$defs", {}))
    assert adapter.dump_python(adapter.validate_json(json.dumps(value)), exclude_unset=True) == value
    target = value[0] if isinstance(value, list) else value
    target["a_new_field"] = 1
    with pytest.raises(ValidationError, match="a_new_field"):
        adapter.validate_python(value)


def test_an_operation_without_a_body_has_no_model_for_one() -> None:
    with pytest.raises(ContractError, match="list-stores has no body"):
        body_adapter(get_operation("list-stores"))


def test_a_request_sends_only_what_was_set_and_null_only_when_it_was_set() -> None:
    operation = get_operation("update-customer-order")
    line = {"line_number": 1, "product_number": "P", "barcode": None, "picked_quantity": Decimal("2.50")}
    body = {"orders": {"order_number": "O1", "is_picked": True, "order_lines": [line]}}
    assert body_adapter(operation).validate_python(body) == body
    assert encode_body(operation, body) == (
        b'{"orders":{"order_number":"O1","is_picked":true,'
        b'"order_lines":[{"line_number":1,"product_number":"P","barcode":null,"picked_quantity":2.50}]}}'
    )


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (MovementItem, {"quantity": "1"}),
        (MovementItem, {"quantity": True}),
        (MovementItem, {"allow_overage": "true"}),
        (MovementItem, {"allow_overage": 1}),
        (MovementItem, {"product_number": 5}),
        (MovementItem, {"reason_code": 5}),
        (MovementItem, {"from_location": {"location": "A"}}),
        (StoreCreate, {"store_name": "N", "store_number": "1"}),
    ],
)
def test_a_request_that_does_not_fit_is_refused(model: Any, values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(model).validate_python(values)
