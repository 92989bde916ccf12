"""Orders as they will be when what is on its way for them is done, each found out once: a list is drawn again after
every commit of anybody, and mostly that is about one of its orders, or about none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import apsw

from aisle.cache.order_overlay import Row, apply_to_order, to_decimal
from aisle.cache.row_values import parse_row
from aisle.host.database import fetch, fetch_one
from aisle.outbox.operation_record import Operation

PendingByOrder = Mapping[str, Sequence[Operation]]

MAX_KEPT_ORDERS = 100
"""So many orders are kept, more than any screen shows; where one more is read, all are read anew."""

_ORDER_HEADER = "SELECT raw, picked_quantity, lines_began, pickup FROM orders WHERE order_number = ?"
_ORDER_LINES = "SELECT line_number, raw FROM line WHERE order_number = ? ORDER BY line_number"
_LINES_OF_PRODUCT = (
    "SELECT line_number, raw FROM line WHERE order_number = ? AND product_number = ? ORDER BY line_number"
)


class OverlaidOrder(NamedTuple):
    """An order with what is on its way for it laid over; nobody may change `row` or `lines`."""

    header: tuple[Any, ...]
    cached_lines: Sequence[tuple[Any, ...]]
    """Its lines, as the cache has them."""
    operations: Sequence[Operation]
    row: Row
    lines: list[Row]


OverlaidOrders = dict[str, OverlaidOrder]
"""By their numbers; kept by whoever reads them."""


def load_order_header(
    cache: apsw.Connection, pending: PendingByOrder, number: str, overlaid: OverlaidOrders
) -> Row | None:
    """The header of an order with its progress; lines are read only where something is pending."""
    if number in pending:
        laid = _overlay_order(cache, pending[number], number, overlaid)
        return None if laid is None else {**laid.row}
    found = fetch_one(cache, _ORDER_HEADER, number)
    if found is None:
        return None
    raw, picked, began, pickup = found
    row = {**parse_header(raw, number, pickup), "lines_known": began is not None}
    row["picked_quantity"] = picked_quantity(row, picked)
    return row


def overlaid_lines(cache: apsw.Connection, pending: PendingByOrder, number: str, overlaid: OverlaidOrders) -> list[Row]:
    """The lines of an order for which something is pending; none where nobody knows them."""
    laid = overlaid_order(cache, pending, number, overlaid)
    return [] if laid is None else laid.lines


def overlaid_order(
    cache: apsw.Connection, pending: PendingByOrder, number: str, overlaid: OverlaidOrders
) -> OverlaidOrder | None:
    """An order for which something is pending."""
    return _overlay_order(cache, pending[number], number, overlaid)


def _overlay_order(
    cache: apsw.Connection, operations: Sequence[Operation], number: str, overlaid: OverlaidOrders
) -> OverlaidOrder | None:
    header = fetch_one(cache, _ORDER_HEADER, number)
    if header is None:
        return None
    raw, picked, began, pickup = header
    read = fetch(cache, _ORDER_LINES, number) if began is not None else []
    before = overlaid.get(number)
    if (
        before is not None
        and before.operations is operations
        and before.header == header
        and before.cached_lines == read
    ):
        return before
    row = {**parse_header(raw, number, pickup), "lines_known": began is not None}
    lines = [{**parse_row(raw), "line_number": line} for line, raw in read]
    apply_to_order(row, lines, operations, began)
    picked = sum((to_decimal(line.get("picked_quantity")) for line in lines), Decimal(0)) if lines else picked
    row["picked_quantity"] = picked_quantity(row, picked)
    if len(overlaid) >= MAX_KEPT_ORDERS:
        overlaid.clear()
    laid = overlaid[number] = OverlaidOrder(header, read, operations, row, lines)
    return laid


def parse_header(raw: str, number: str, pickup: str) -> Row:
    """The header of an order, with the fields that every order has."""
    row = parse_row(raw)
    row["order_number"] = number
    row.setdefault("pickup_date", "" if pickup == "~" else pickup)
    row["is_active"] = row.get("is_active") is not False
    for name in ("is_claimed", "is_picked", "is_rejected"):
        row[name] = bool(row.get(name))
    return row


def picked_quantity(row: Row, picked: Any) -> Decimal:
    """How much of an order is picked; `picked` is None where its lines are not known, and its header says it."""
    if picked is None:
        return to_decimal(row.get("total_quantity" if row["is_picked"] else "total_delivery_quantity"))
    return to_decimal(picked)


def load_lines(cache: apsw.Connection, number: str, product: str = "") -> list[Row]:
    """The plain lines of an order, or those of one product."""
    rows = fetch(cache, _LINES_OF_PRODUCT, number, product) if product else fetch(cache, _ORDER_LINES, number)
    return [{**parse_row(raw), "line_number": line} for line, raw in rows]
