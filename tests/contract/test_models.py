"""Answers are read with tolerance and never changed; requests are strict and send only what was set."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from aisle.contract.models import body_adapter, result_adapter, result_model
from aisle.contract.models.orders import CustomerOrder
from aisle.contract.models.stock import (
    Location,
    MovementItem,
)
from aisle.contract.models.stores import Store, StoreCreate
from aisle.contract.wire import OPERATIONS, encode_body, get_operation
from aisle.errors import ContractError

ORDER: dict[str, Any] = {
    "is_active": True, "is_claimed": False, "is_picked": False, "is_rejected": False,
    "status_id": 1, "total_lines": 2, "total_quantity": 3.5,
}  # fmt: skip


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


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_whole_answer_comes_through_unchanged_with_fields_nobody_knows(name: str) -> None:
    adapter = result_adapter(OPERATIONS[name])
    schema = adapter.json_schema()
    value = example(schema, schema.get("$defs", {}))
    target = value[0] if isinstance(value, list) else value
    target["a_new_field"] = {"deep": [1, None]}
    result = adapter.validate_json(json.dumps(value))
    assert adapter.dump_python(result, by_alias=True, exclude_unset=True) == value


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
    with pytest.raises(ContractError, match="no model 'Nothing' for Stores"):
        result_model(get_operation("list-stores")._replace(result="Nothing"))


@pytest.mark.parametrize(("sent", "read"), [(3, 3), (3.5, 3.5), ("12", 12), ("1.5", 1.5), (" 4 ", 4), (2**60, 2**60)])
def test_a_number_may_come_as_text_and_an_integer_stays_one(sent: object, read: float) -> None:
    order = CustomerOrder.model_validate(ORDER | {"total_delivery_quantity": sent})
    assert order.total_delivery_quantity == read
    assert type(order.total_delivery_quantity) is type(read)


@pytest.mark.parametrize("sent", [True, False, "many", "", "nan", "inf", float("nan"), [], {}])
def test_non_numeric_value_is_refused(sent: object) -> None:
    with pytest.raises(ValidationError, match="total_delivery_quantity"):
        CustomerOrder.model_validate(ORDER | {"total_delivery_quantity": sent})


@pytest.mark.parametrize("field", ORDER)
def test_a_required_field_may_not_be_missing(field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        CustomerOrder.model_validate({name: value for name, value in ORDER.items() if name != field})


def test_optional_fields_may_be_missing_or_null() -> None:
    order = CustomerOrder.model_validate(ORDER | {"lines": None})
    assert (order.lines, order.order_number, order.comment) == (None, None, None)


def test_numbers_in_place_of_codes_are_read_as_codes() -> None:
    assert Location.model_validate({"location_code": 12}).location_code == "12"


def test_the_store_list_is_camel_case_with_its_odd_spelling() -> None:
    store = Store.model_validate_json('{"storeName":"Noord","storeNo":"0042","isWarhouse":true,"areaId":"N"}')
    assert (store.store_name, store.store_no, store.is_warehouse, store.area_id) == ("Noord", "0042", True, "N")
    named = Store.model_validate({"store_name": "N", "store_no": "1", "is_warehouse": False})
    assert named.model_dump(exclude_unset=True) == {"storeName": "N", "storeNo": "1", "isWarhouse": False}


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
