"""How much of a product is picked for open orders and lies at no place: it is theirs, also before that was sent."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import apsw

from aisle.local.db import fetch
from aisle.local.outbox.operation import Operation
from aisle.local.reads.laid import Known, Pending, laid_over
from aisle.local.reads.overlay import Row, decimal, orders_of

_IN_HAND = """
SELECT l.order_number, l.in_hand FROM line l INDEXED BY line_in_hand
JOIN orders o ON o.order_number = l.order_number
WHERE l.product_number = ? AND l.in_hand > 0 AND o.state < 2
"""


def in_hand(
    cache: apsw.Connection, orders: Pending, known: Known, operations: Iterable[Operation], product: str
) -> Decimal:
    """By what the service said of the orders, and of those that are named by `operations`, which are on their way for
    the product, by what they will be then."""
    moved = {number for operation in operations for number in orders_of(operation) if number in orders}
    said = fetch(cache, _IN_HAND, product)
    found = sum((decimal(quantity) for number, quantity in said if number not in moved), Decimal(0))
    return found + sum((_of(cache, orders, known, number, product) for number in moved), Decimal(0))


def _of(cache: apsw.Connection, orders: Pending, known: Known, number: str, product: str) -> Decimal:
    laid = laid_over(cache, orders, number, known)
    if laid is None or laid.row["is_rejected"] or not laid.row["is_active"]:
        return Decimal(0)
    lines = (line for line in laid.lines if line.get("product_number") == product)
    return sum((_hand(line, number) for line in lines), Decimal(0))


def _hand(line: Row, number: str) -> Decimal:
    """What of a line is picked, and neither moved nor at a place."""
    said = line.get("store_locations")
    lying = [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []
    mine = [each for each in lying if each.get("customer_order_number") == number and each.get("location_code")]
    if any(each.get("quantity") is None for each in mine):  # so much of it lies there as is in no hand
        return Decimal(0)
    laid = sum((decimal(each.get("quantity")) for each in mine), Decimal(0))
    return max(Decimal(0), decimal(line.get("picked_quantity")) - max(decimal(line.get("moved_quantity")), laid))
