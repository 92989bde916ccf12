"""The parts of orders and lines that only come and go: as lists show them, and as searches find them."""

from __future__ import annotations

from typing import Any

from aisle.service.encode import without_none
from aisle.service.sql.schema_fields import OF_ORDERS
from aisle.service.stock.book import Product
from aisle.service.text import search_key
from aisle.service.times import parsed

# Fields of a line that a list shows, by the name under which they come in.
_LINE = {
    "barcode": "barcode",
    "delivery_date": "delivery_date",
    "description": "description",
    "full_fillment_status": "full_fillment_status",
    "ordering_datetime": "next_ordering_datetime",
    "pickup_date": "pickup_date",
    "price": "price",
    "reference": "reference",
}
_TIMES = ("delivery_date", "ordering_datetime", "pickup_date")
_HEAD = {
    "order_comment": "comment",
    "customer_name": "customer_name",
    "description": "description",
    "order_number": "order_number",
    "order_type": "order_type_code",
    "order_type_code": "order_type_code",
    "order_type_description": "order_type_description",
    "reference": "reference",
    "sales_order_id": "sales_order_id",
}
# What the interface takes of an order and tells nowhere.
_ASIDE = ("order_type", *OF_ORDERS)
_NOT_SEARCHED = frozenset({"order_lines", "is_active", "is_picked", "is_rejected", "status_id", "store_number"})


def line_item(given: dict[str, Any], product: Product, field: str) -> dict[str, Any]:
    """A new line's further fields; what it does not say of itself, the catalogue says."""
    return {
        "product_number": product.number,
        "barcode": product.barcode,
        "description": product.name,
        "price": 0,
        "explicit_order": False,
        "is_template": False,
        "picking_stock_pool_array": [str(pool) for pool in given.get("picking_stock_pool_array", ())],
    } | changed_item(given, field)


def changed_item(given: dict[str, Any], field: str) -> dict[str, Any]:
    """The further fields that a request names. Raises Refusal (400) for a date or time that is none."""
    for name in _TIMES:
        if given.get(name):
            parsed(given[name], f"{field}.{name}")
    return {shown: given[name] for name, shown in _LINE.items() if name in given}


def head_item(body: dict[str, Any], store_number: str, pickup: str) -> dict[str, Any]:
    """What a list shows of the order itself."""
    item = {shown: body[name] for name, shown in _HEAD.items() if name in body}
    allowed = body.get("stores_allowed")
    aside = {name: body[name] for name in _ASIDE if name in body}
    if aside.get("order_type") == item.get("order_type_code"):
        aside.pop("order_type", None)
    return without_none(
        item
        | {
            "store_number": store_number,
            "stores_allowed": None if allowed is None else ",".join(allowed),
            "pickup_date": pickup or None,
            "aisle": aside or None,
        }
    )


def head_search(body: dict[str, Any]) -> str:
    """What a search looks through: everything the order says of itself and of its customer."""
    parts = [value for name, value in body.items() if name not in _NOT_SEARCHED]
    return search_key(" ".join(part) if isinstance(part, list) else part for part in parts)
