"""Rows of a service for tests, with the field names of the interface."""

from typing import Any

from aisle.cache.writer import CacheWriter, WriteResult
from tests.writes import STORE


def product(number: str, name: str = "", barcode: str = "", **fields: Any) -> dict[str, Any]:
    """interface: Product (catalogue item)."""
    return {
        "product_number": number,
        "product_name": name or f"Product {number}",
        "barcode": barcode,
        "carrier_item_quantity": 1,
        "edit_min_max_percentage": 0,
        "price_compare_multiplier": 1,
        "shelf_label_quantity": 1,
        **fields,
    }


def stock(number: str, quantity: float = 12, barcode: str = "", places: Any = None, **fields: Any) -> dict[str, Any]:
    """interface: Store product stock entry; `places` maps location_code to quantity."""
    entry: dict[str, Any] = {
        "id": 1,
        "is_replenishment": True,
        "is_stock": True,
        "most_likely_quantity": quantity,
        "product_number": number,
        "store_number": STORE,
        "barcode": barcode,
        **fields,
    }
    if places is not None:
        entry["store_locations"] = [
            {"store_location_code": code, "quantity": held, "stock_pool_1": held} for code, held in places.items()
        ]
    return entry


def line(
    number: int, product_number: str = "", quantity: float = 3, picked: float = 0, **fields: Any
) -> dict[str, Any]:
    """interface: Order line."""
    return {
        "id": number,
        "explicit_order": False,
        "is_picked": picked >= quantity,
        "is_template": False,
        "line_number": number,
        "picked_quantity": picked,
        "price": 1.95,
        "quantity": quantity,
        "stock_pool": 1,
        "store_walking_order": number * 10,
        "product_number": product_number or f"P{number}",
        **fields,
    }


def order(number: str, *lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """interface: Customer order, with its lines."""
    return {
        "order_number": number,
        "is_active": True,
        "is_claimed": False,
        "is_picked": False,
        "is_rejected": False,
        "status_id": 1,
        "total_lines": len(lines),
        "total_quantity": sum(each["quantity"] for each in lines),
        "pickup_date": "2026-03-02",
        "store_number": STORE,
        "lines": list(lines),
        **fields,
    }


def location(code: str, order_: float | None = None, **fields: Any) -> dict[str, Any]:
    """interface: Location."""
    return {"location_code": code, "location_order": order_, "default_stock_pool": "1", **fields}


def person(user: str, name: str, role: str = "staff") -> dict[str, Any]:
    """A person of the store."""
    return {"user": user, "name": name, "badge": f"BADGE-{user}", "role": role, "stores": [STORE]}


def store(number: str, name: str, **fields: Any) -> dict[str, Any]:
    """interface: Store (list item)."""
    return {"storeNo": number, "storeName": name, "isWarhouse": False, **fields}


def put_orders(cache: CacheWriter, *orders: Any) -> WriteResult:
    """Write orders with their lines, read at second 1."""
    return cache.write_orders(orders, lines_known=True, read_began=1.0)
