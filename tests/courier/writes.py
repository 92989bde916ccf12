"""Writes of orders and movements that a courier sends, as jobs make them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.job import Write
from aisle.outbox.operation_record import Author

STORE = "0001"
ANNA = Author(STORE, "U1")


def update(order: str, lines: Mapping[int, int | str], *, place: str = "", **header: Any) -> Write:
    """An update of an order as the pick job writes it: what each line stands at; line n is of product Pn."""
    body = []
    for line, picked in lines.items():
        entry = {"line_number": line, "product_number": f"P{line}", "picked_quantity": Decimal(picked)}
        body.append({**entry, "preferred_location_code": place, "stock_pool": 1} if place else entry)
    lane = f"order/{order}"
    orders = {"order_number": order, **header, "order_lines": body}
    return Write("update-customer-order", (lane,), {"store_number": STORE}, {}, {"orders": orders}, merge_key=lane)


def movement(product: str, quantity: int | str, frm: str, to: str, reference: str = "") -> Write:
    """A movement between two places."""
    item = {"product_number": product, "quantity": Decimal(quantity)}
    item |= {"from_location": {"location_code": frm}, "to_location": {"location_code": to}}
    item |= {"reference": reference} if reference else {}
    return Write("create-movement", (f"product/{product}",), {"store_number": STORE}, {"AppUserName": "U1"}, [item])
