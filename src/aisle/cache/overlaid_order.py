"""Orders with pending operations applied, each computed once.

A list is drawn again after every commit of any process; mostly the commit concerns one of its orders, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from aisle.cache.order_overlay import apply_to_order
from aisle.cache.query_context import QueryContext
from aisle.cache.stored_row_values import ORDER_LINES, Row, parse_header, parse_row
from aisle.host.database import fetch, fetch_one
from aisle.jobs.quantities_and_plausibility import to_decimal
from aisle.outbox.operation_record import Operation

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderHeader

MAX_KEPT_ORDERS = 100
"""Greatest number of kept orders, more than any screen shows. Beyond it all are dropped and computed again."""

_ORDER_HEADER = "SELECT raw, picked_quantity, lines_read_began, pickup FROM orders WHERE order_number = ?"


class OverlaidOrder(NamedTuple):
    """An order with its pending operations applied. Nobody may change `row` or `lines`."""

    header: tuple[Any, ...]
    cached_lines: Sequence[tuple[Any, ...]]
    """Its lines as cached."""
    operations: Sequence[Operation]
    row: Row
    lines: list[Row]


class OverlaidOrders(dict[str, OverlaidOrder]):
    """Overlaid orders by number, as read before."""


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
    cache, operations, overlaid = context.cache, context.pending_orders[number], context.keep(OverlaidOrders)
    header = fetch_one(cache, _ORDER_HEADER, number)
    if header is None:
        return None
    raw, picked, began, pickup = header
    cached_lines = fetch(cache, ORDER_LINES, number) if began is not None else []
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


def picked_quantity(row: Row, picked: Any) -> Decimal:
    """Return the picked quantity of an order; `picked` is None if its lines are unknown, then its header states it."""
    if picked is None:
        return to_decimal(row.get("total_quantity" if row["is_picked"] else "total_delivery_quantity"))
    return to_decimal(picked)
