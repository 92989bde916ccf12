"""OpenAPI links: values of an answer that are parameters of another operation."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import JsonSchemaValue as Schema

_STORE_OF_PATH = {"store_number": "$request.path.store_number"}
_ORDER_OF_FIRST_ROW = "$response.body#/list/0/order_number"
_STORE_OF_FIRST_ROW = {"store_number": "$response.body#/list/0/store_number"}
_PRODUCT_OF_FIRST_ROW = "$response.body#/list/0/product_number"
# Parameters of links are text, whatever their type (OpenAPI 3.1: Link Object).
_TRUE = "true"


def _link(operation: str, text: str, parameters: Schema, body: Any = None) -> Schema:
    link: Schema = {"operationId": operation, "description": text, "parameters": parameters}
    return link | ({} if body is None else {"requestBody": body})


_STORE_OF_FIRST_STORE = {"store_number": "$response.body#/list/0/storeNo"}

LINKS: dict[str, dict[str, Schema]] = {
    "list-stores": {
        "orders": _link("list-customer-orders", "The orders of the store.", _STORE_OF_FIRST_STORE),
        "locations": _link("list-locations", "The places of the store.", _STORE_OF_FIRST_STORE),
    },
    "list-customer-orders": {
        "claim": _link(
            "update-customer-order",
            "Say that the order is being worked on.",
            _STORE_OF_PATH,
            {"orders": {"order_number": _ORDER_OF_FIRST_ROW, "is_claimed": True}},
        ),
        "pick": _link(
            "update-customer-order",
            "All of the order is picked.",
            _STORE_OF_PATH,
            {"orders": {"order_number": _ORDER_OF_FIRST_ROW, "is_picked": True}},
        ),
    },
    "list-locations": {
        "products": _link(
            "list-location-products",
            "What lies at the place.",
            _STORE_OF_PATH | {"location_code": "$response.body#/list/0/location_code"},
        ),
    },
    "list-store-products-stock": {
        "stock": _link(
            "retrieve-store-product-stock",
            "Its stock in the store.",
            _STORE_OF_FIRST_ROW | {"product_number": _PRODUCT_OF_FIRST_ROW},
        ),
        "surrounding": _link(
            "retrieve-store-product-surrounding",
            "Its stock around.",
            _STORE_OF_FIRST_ROW | {"product_number": _PRODUCT_OF_FIRST_ROW},
        ),
        "count": _link(
            "create-store-product-logs",
            "Count it.",
            _STORE_OF_FIRST_ROW | {"is_counted_quantity": _TRUE},
            {"storeproductlog": [{"product_number": _PRODUCT_OF_FIRST_ROW, "counted_quantity": 1}]},
        ),
    },
    "list-deliveries": {
        "receive": _link(
            "create-store-product-logs",
            "Receive what came.",
            _STORE_OF_FIRST_ROW | {"is_from_receipt": _TRUE},
            {
                "storeproductlog": [
                    {
                        "reference": _ORDER_OF_FIRST_ROW,
                        "product_number": "$response.body#/list/0/order_lines/0/product_number",
                        "quantity": 1,
                    }
                ]
            },
        ),
    },
    "retrieve-store-product-stock": {
        "levels": _link(
            "update-store-products",
            "Set its levels.",
            _STORE_OF_PATH,
            [
                {
                    "product_number": "$request.path.product_number",
                    "min": "$response.body#/products/0/min",
                    "max": "$response.body#/products/0/max",
                }
            ],
        ),
    },
}
"""Links by the operation that returns the answer."""
