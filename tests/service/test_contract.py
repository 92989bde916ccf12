"""The service and the contract: routes, answers and the OpenAPI page come from one table."""

from typing import Any

import jsonschema

from aisle.contract.answer_schemas import answer_schemas, shape_schema
from aisle.contract.operations import OPERATIONS
from aisle.contract.request_bodies.extension_bodies import request_body_adapter
from aisle.service.http.request_body import parse_body
from tests.service.world import World, line_end


def test_null_counts_as_not_given_at_any_depth() -> None:
    body = b'{"products":[{"product_number":"1","price":null,"free_fields":[{"sort_order":1,"key":null}]}]}'
    adapter = request_body_adapter(OPERATIONS["create-or-update-products"])
    assert parse_body(body, adapter) == {"products": [{"product_number": "1", "free_fields": [{"sort_order": 1}]}]}


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without a reference and without the alternative null."""
    schema = schema.get("anyOf", [schema])[0]
    return answer_schemas()[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _unknown(value: Any, schema: dict[str, Any], where: str = "") -> list[str]:
    """Fields of an answer that the contract does not know."""
    schema = _schema(schema)
    if isinstance(value, list):
        return [found for item in value for found in _unknown(item, schema["items"], where)]
    known = schema.get("properties", {}) if isinstance(value, dict) else {}
    if not known:
        return []
    found = [f"{where}.{name}" for name in value if name not in known]
    for name in value.keys() & known.keys():
        found += _unknown(value[name], known[name], f"{where}.{name}")
    return found


# What we add to documented answers. Clients keep or ignore it.
ADDED: dict[str, set[str]] = {
    "list-store-products-stock": {".list.discount_price", ".list.is_promotion", ".list.default_salesorder_type"},
    "list-customer-orders": {
        ".list.lines.full_fillment_status",
        ".list.version",
        ".list.aisle",
        ".list.lines.aisle",
        *(f".list.claimed_{name}" for name in ("by", "on", "terminal")),
    },
    "list-locations": {".list.tags"},
    "list-deliveries": {".list.order_lines.customer_order_line_number", ".list.aisle", ".list.order_lines.aisle"},
}


async def test_every_answer_fits_its_schema(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5, stock_pool_2=1)
    await world.order(
        "O1",
        {"product_number": "P1", "quantity": 3, "full_fillment_status": "x", "picking_stock_pool_array": ["2"]},
        customer_name="A",
        reference="R",
    )
    await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"))
    await world.update("O1", is_claimed=True, headers={"Aisle-Terminal": "T"})
    setting = {"product_number": "P1", "min": 1, "max": 4, "discount_price": 1, "is_promotion": True}
    await world.put("/stores/S1/storeproducts", [setting | {"default_salesorder_type": "D", "forecast_array": [1]}])
    await world.log(product_number="P1", quantity=1, reference="R", reason_code=1, stock_pool_3=1)
    line = {"product_number": "P1", "quantity": 4, "container_barcode": "C", "target_stock_pool": 2}
    line |= {"customer_order_number": "O1", "customer_order_line_number": 1}
    delivery = {"order_number": "D1", "no_of_containers": 1, "order_lines": [line], "supplier_name": "S"}
    await world.post("/stores/S1/orders/deliveries", {"orders": [delivery | {"datetime_expected": "2026-06-01"}]})
    await world.log(query={"is_from_receipt": True}, product_number="P1", quantity=1, reference="D1")
    query = {"include_locations": True, "show_lines": True, "receipt_type": 1, "location_code_tag": "shelf"}
    for name, row in OPERATIONS.items():
        known = {param.name for param in row.params_in("query")}
        answer = await world.call(name, query={one: value for one, value in query.items() if one in known})
        assert answer.status_code == 200, name
        schema, value = shape_schema([row.result] if row.result_array else row.result), answer.json()
        jsonschema.validate(value, schema | {"components": {"schemas": answer_schemas()}})
        if row.paging:
            assert value["records" if row.paging == "products" else "list"], f"{name} has a row to look at"
        assert set(_unknown(value, schema)) <= ADDED.get(name, set()), name
