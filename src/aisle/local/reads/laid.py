"""Orders as they will be when what is on its way for them is done, each found out once: a list is drawn again after
every commit of anybody, and mostly that is about one of its orders, or about none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import apsw

from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.operation import Operation
from aisle.local.reads.overlay import Row, decimal, lay_over
from aisle.local.reads.rows import loaded
from aisle.tuples import NamedTuple

Pending = Mapping[str, Sequence[Operation]]

REMEMBERED = 100
"""So many orders are kept, more than any screen shows; where one more is read, all are read anew."""

_HEADER = "SELECT raw, picked_quantity, lines_began, pickup FROM orders WHERE order_number = ?"
_LINES = "SELECT line_number, raw FROM line WHERE order_number = ? ORDER BY line_number"
_OF_PRODUCT = "SELECT line_number, raw FROM line WHERE order_number = ? AND product_number = ? ORDER BY line_number"


class Laid(NamedTuple):
    """An order with what is on its way for it laid over; nobody may change `row` or `lines`."""

    header: tuple[Any, ...]
    read: Sequence[tuple[Any, ...]]
    """Its lines, as the cache has them."""
    operations: Sequence[Operation]
    row: Row
    lines: list[Row]


Known = dict[str, Laid]
"""By their numbers; kept by whoever reads them."""


def order_row(cache: apsw.Connection, pending: Pending, number: str, known: Known) -> Row | None:
    """The header of an order with its progress; lines are read only where something is pending."""
    if number in pending:
        laid = _laid(cache, pending[number], number, known)
        return None if laid is None else {**laid.row}
    found = fetch_one(cache, _HEADER, number)
    if found is None:
        return None
    raw, picked, began, pickup = found
    row = {**header_of(raw, number, pickup), "lines_known": began is not None}
    row["picked_quantity"] = progress(row, picked)
    return row


def laid_lines(cache: apsw.Connection, pending: Pending, number: str, known: Known) -> list[Row]:
    """The lines of an order for which something is pending; none where nobody knows them."""
    laid = laid_over(cache, pending, number, known)
    return [] if laid is None else laid.lines


def laid_over(cache: apsw.Connection, pending: Pending, number: str, known: Known) -> Laid | None:
    """An order for which something is pending."""
    return _laid(cache, pending[number], number, known)


def _laid(cache: apsw.Connection, operations: Sequence[Operation], number: str, known: Known) -> Laid | None:
    header = fetch_one(cache, _HEADER, number)
    if header is None:
        return None
    raw, picked, began, pickup = header
    read = fetch(cache, _LINES, number) if began is not None else []
    before = known.get(number)
    if before is not None and before.operations is operations and before.header == header and before.read == read:
        return before
    row = {**header_of(raw, number, pickup), "lines_known": began is not None}
    lines = [{**loaded(raw), "line_number": line} for line, raw in read]
    lay_over(row, lines, operations, began)
    picked = sum((decimal(line.get("picked_quantity")) for line in lines), Decimal(0)) if lines else picked
    row["picked_quantity"] = progress(row, picked)
    if len(known) >= REMEMBERED:
        known.clear()
    laid = known[number] = Laid(header, read, operations, row, lines)
    return laid


def header_of(raw: str, number: str, pickup: str) -> Row:
    """The header of an order, with the fields that every order has."""
    row = loaded(raw)
    row["order_number"] = number
    row.setdefault("pickup_date", "" if pickup == "~" else pickup)
    row["is_active"] = row.get("is_active") is not False
    for name in ("is_claimed", "is_picked", "is_rejected"):
        row[name] = bool(row.get(name))
    return row


def progress(row: Row, picked: Any) -> Decimal:
    """How much of an order is picked; `picked` is None where its lines are not known, and its header says it."""
    if picked is None:
        return decimal(row.get("total_quantity" if row["is_picked"] else "total_delivery_quantity"))
    return decimal(picked)


def lines_of(cache: apsw.Connection, number: str, product: str = "") -> list[Row]:
    """The plain lines of an order, or those of one product."""
    rows = fetch(cache, _OF_PRODUCT, number, product) if product else fetch(cache, _LINES, number)
    return [{**loaded(raw), "line_number": line} for line, raw in rows]
