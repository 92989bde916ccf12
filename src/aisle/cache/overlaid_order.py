"""Orders with pending operations applied, each computed once.

A list is drawn again after every commit of any process; mostly the commit concerns one of its orders, or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import apsw

from aisle.cache.order_overlay import Row, apply_to_order
from aisle.cache.row_values import parse_row
from aisle.host.database import fetch, fetch_one
from aisle.jobs.quantities import to_decimal
from aisle.outbox.operation_record import Operation

if TYPE_CHECKING:
    from aisle.cache.query_context import QueryContext
    from aisle.jobs.row_types.orders import OrderHeader

PendingByOrder = Mapping[str, Sequence[Operation]]

MAX_KEPT_ORDERS = 100
"""Greatest number of kept orders, more than any screen shows. Beyond it all are dropped and computed again."""

_ORDER_HEADER = "SELECT raw, picked_quantity, lines_read_began, pickup FROM orders WHERE order_number = ?"
_ORDER_LINES = "SELECT line_number, raw FROM line WHERE order_number = ? ORDER BY line_number"
_LINES_OF_PRODUCT = (
    "SELECT line_number, raw FROM line WHERE order_number = ? AND product_number = ? ORDER BY line_number"
)


class OverlaidOrder(NamedTuple):
    """An order with its pending operations applied. Nobody may change `row` or `lines`."""

    header: tuple[Any, ...]
    cached_lines: Sequence[tuple[Any, ...]]
    """Its lines as cached."""
    operations: Sequence[Operation]
    row: Row
    lines: list[Row]


OverlaidOrders = dict[str, OverlaidOrder]
"""Overlaid orders by number."""


def load_order_header(context: QueryContext, number: str) -> OrderHeader | None:
    """Return the header of an order with its progress; None if unknown.

    Lines are read only if operations are pending.
    """
    if number in context.pending_orders:
        order = overlaid_order(context, number)
        return None if order is None else cast("OrderHeader", {**order.row})
    found = fetch_one(context.cache, _ORDER_HEADER, number)
    if found is None:
        return None
    raw, picked, began, pickup = found
    row = {**parse_header(raw, number, pickup), "lines_known": began is not None}
    row["picked_quantity"] = picked_quantity(row, picked)
    return cast("OrderHeader", row)


def overlaid_lines(context: QueryContext, number: str) -> list[Row]:
    """Return the lines of an order with pending operations; empty if they are unknown."""
    order = overlaid_order(context, number)
    return [] if order is None else order.lines


def overlaid_order(context: QueryContext, number: str) -> OverlaidOrder | None:
    """Return an order with pending operations; None if it is not cached."""
    cache, operations, overlaid = context.cache, context.pending_orders[number], context.overlaid_orders
    header = fetch_one(cache, _ORDER_HEADER, number)
    if header is None:
        return None
    raw, picked, began, pickup = header
    cached_lines = fetch(cache, _ORDER_LINES, number) if began is not None else []
    earlier = overlaid.get(number)
    if earlier and earlier.operations is operations and earlier[:2] == (header, cached_lines):
        return earlier
    row = {**parse_header(raw, number, pickup), "lines_known": began is not None}
    lines = [{**parse_row(raw), "line_number": line} for line, raw in cached_lines]
    apply_to_order(row, lines, operations, began)
    picked = sum((to_decimal(line.get("picked_quantity")) for line in lines), Decimal(0)) if lines else picked
    row["picked_quantity"] = picked_quantity(row, picked)
    if len(overlaid) >= MAX_KEPT_ORDERS:
        overlaid.clear()
    order = overlaid[number] = OverlaidOrder(header, cached_lines, operations, row, lines)
    return order


def parse_header(raw: str, number: str, pickup: str) -> Row:
    """Parse the header of an order and set the fields that every order has."""
    row = parse_row(raw)
    row["order_number"] = number
    row.setdefault("pickup_date", "" if pickup == "~" else pickup)
    row["is_active"] = row.get("is_active") is not False
    for name in ("is_claimed", "is_picked", "is_rejected"):
        row[name] = bool(row.get(name))
    return row


def picked_quantity(row: Row, picked: Any) -> Decimal:
    """Return the picked quantity of an order; `picked` is None if its lines are unknown, then its header states it."""
    if picked is None:
        return to_decimal(row.get("total_quantity" if row["is_picked"] else "total_delivery_quantity"))
    return to_decimal(picked)


def load_lines(cache: apsw.Connection, number: str, product: str = "") -> list[Row]:
    """Return the cached lines of an order, or those of one product."""
    rows = fetch(cache, _LINES_OF_PRODUCT, number, product) if product else fetch(cache, _ORDER_LINES, number)
    return [{**parse_row(raw), "line_number": line} for line, raw in rows]
