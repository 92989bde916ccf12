"""Example bodies that the demo store accepts in this order (a test sends each of them)."""

from __future__ import annotations

from typing import Any, NamedTuple

from aisle.service.query_values import QueryValues


class Example(NamedTuple):
    """Example body with its query."""

    name: str
    body: Any
    query: QueryValues = QueryValues()


def _order(number: str, **more: object) -> dict[str, object]:
    line = {"line_number": 1, "product_number": "110001", "quantity": 3, "pickup_date": "2026-05-04"}
    return {"order_number": number, "customer_name": "Ada Moss", "reference": "W1", "order_lines": [line], **more}


_DELIVERY_LINE = {"line_number": 1, "product_number": "110001", "quantity": 8, "container_barcode": "C-1"}
_STORE = {
    "store_number": "0042",
    "store_name": "Harbour",
    "is_active": True,
    "is_active_data_exchange": True,
    "is_warehouse": False,
    "store_stock_pool_1": "Shop floor",
    "opening_hours": [{"key": "monday", "sort_order": 1, "value": "08:00-20:00"}],
    "ordering_schema": [{"day": 1, "time": "10:00", "delivery_offset": 2}],
}
_PRODUCT = {"product_number": "990001", "product_name": "Sea salt 250 g", "barcode": "4006381333931", "price": 2.49}
_MOVEMENT_ITEM: dict[str, object] = {"product_number": "110002", "quantity": 2, "reference": "M-1"}

EXAMPLES: dict[str, tuple[Example, ...]] = {
    "create-stores": (Example("A store", {"stores": [_STORE]}),),
    "create-or-update-products": (
        Example("A product", {"products": [_PRODUCT]}),
        Example("One field of it", {"products": [{"product_number": "990001", "attention_code": "NEW"}]}),
    ),
    "create-store-products": (
        Example("Range it", {"store_products": [{"product_number": "990001", "min": 2, "max": 12}]}),
    ),
    "update-store-products": (
        Example("New levels", [{"product_number": "990001", "min": 3, "max": 12}]),
        Example("A price of the store", [{"product_number": "990001", "price": 2.29, "is_promotion": True}]),
    ),
    "create-customer-orders-one-store": (Example("An order", {"orders": [_order("W-1001")]}),),
    "create-customer-orders-several-stores": (
        Example("An order that names its store", {"orders": [_order("W-1002", store_number="0001")]}),
    ),
    "update-customer-order": (
        Example("Claim it", {"orders": {"order_number": "W-1001", "is_claimed": True}}),
        Example(
            "Pick two at a place",
            {
                "orders": {
                    "order_number": "W-1001",
                    "order_lines": [{"line_number": 1, "product_number": "110001", "picked_quantity": 2}],
                }
            },
        ),
        Example("All is picked", {"orders": {"order_number": "W-1001", "is_picked": True}}),
        Example("Handed over", {"orders": {"order_number": "W-1001", "is_active": False}}),
        Example(
            "Reject it",
            {
                "orders": {
                    "order_number": "W-1002",
                    "is_rejected": True,
                    "rejection_reason_code": "7",
                    "rejection_reason_code_description": "Not collected",
                }
            },
        ),
    ),
    "create-customer-order-clearance": (
        Example("Everything at those places", {}, {"location_code_tag": "shelf"}),
        Example("Some categories", {"category_codes": ["110"]}, {"location_code_tag": "shelf"}),
    ),
    "create-store-deliveries": (
        Example(
            "A delivery",
            {
                "orders": [
                    {
                        "order_number": "D-1",
                        "no_of_containers": 1,
                        "datetime_expected": "2026-05-04T08:00:00Z",
                        "order_lines": [_DELIVERY_LINE],
                    }
                ]
            },
        ),
    ),
    "create-multi-store-deliveries": (
        Example(
            "A delivery that names its store",
            {
                "orders": [
                    {
                        "order_number": "D-2",
                        "store_number": "0001",
                        "no_of_containers": 1,
                        "supplier_name": "Hillmoor",
                        "order_lines": [_DELIVERY_LINE],
                    }
                ]
            },
        ),
    ),
    "create-store-product-logs": (
        Example(
            "A count at a place",
            {"storeproductlog": [{"product_number": "110001", "location_code": "A-01-1", "counted_quantity": 12}]},
            {"is_counted_quantity": True},
        ),
        Example(
            "A loss",
            {"storeproductlog": [{"product_number": "110001", "location_code": "A-01-1", "quantity": -1}]},
        ),
        Example(
            "A receipt of a delivery",
            {"storeproductlog": [{"product_number": "110001", "quantity": 8, "reference": "D-1", "line_number": 1}]},
            {"is_from_receipt": True},
        ),
    ),
    "create-movement": (
        Example(
            "From place to place",
            [
                _MOVEMENT_ITEM
                | {"from_location": {"location_code": "A-01-1"}, "to_location": {"location_code": "BR-01"}}
            ],
        ),
    ),
    "update-product-attributes": (
        Example("What it is", {"products": [{"product_number": "990001", "brand_code": "HILLMOOR", "size": "250 g"}]}),
    ),
    "create-prices": (
        Example("Of the chain", {"products": [{"product_number": "990001", "price": 2.59}]}),
        Example("Of one store", {"products": [{"product_number": "990001", "price": 2.39, "store_number": "0001"}]}),
    ),
    "create-discount-prices": (
        Example("Of the chain", {"products": [{"product_number": "990001", "discount_price": 1.99}]}),
    ),
    "create-product-free-fields": (
        Example(
            "The name in another language",
            {
                "products": [
                    {
                        "product_number": "990001",
                        "free_fields": [{"sort_order": 1, "key": "product_name.nl", "value": "Zeezout 250 g"}],
                    }
                ]
            },
        ),
    ),
    "delete-products": (Example("Products without stock and orders", {"product_numbers": ["990001"]}),),
    "write-locations": (
        Example(
            "A place",
            {"locations": [{"store_number": "0001", "location_code": "A-99-1", "location_order": 9910}]},
        ),
    ),
    "mark-deliveries": (
        Example(
            "Downloaded by the purchasing system", {"deliveries": [{"order_number": "D-1", "is_downloaded": True}]}
        ),
    ),
    "write-people": (
        Example("Somebody", {"people": [{"badge": "BADGE-U9", "user": "U9", "name": "Ida Falk", "role": "staff"}]}),
    ),
}
"""Examples by operation, in the order in which they can be tried."""
