"""The next deliveries that bring a product: which, how much of it still comes, and when.

Read along the index of what is still missing of it, with no other line of a delivery but its own: a page asks for it at
every look. interface: Delivery order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.cache.came import Line
from aisle.local.cache.schema import MISSING
from aisle.local.db import fetch
from aisle.local.outbox.operation import Operation
from aisle.local.reads.deliveries import lay_receipts, missing_of, receipts_of, say_receipt
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.rows import Result, window
from aisle.tuples import NamedTuple

SIZE = 3
"""Rows of a window when nobody says how many."""

PART = 20
"""Deliveries that are looked through at one go."""

_WITH = f"""
SELECT DISTINCT d.due, d.sort, d.order_number, d.expected, d.began
FROM delivery_line l INDEXED BY delivery_line_missing JOIN delivery d ON d.order_number = l.order_number
WHERE l.product_number = ?1 AND ({MISSING}) AND d.came = 0
UNION SELECT d.due, d.sort, d.order_number, d.expected, d.began
FROM json_each(?2) e JOIN delivery d ON d.order_number = e.value
ORDER BY 1, 2, 3 LIMIT ?3 OFFSET ?4
"""  # noqa: S608 - a condition of our own

_LINES = """
SELECT l.order_number, l.line_number, l.quantity, l.received, ifnull(l.raw ->> 'barcode', '') FROM json_each(?2) e
JOIN delivery_line l INDEXED BY delivery_line_product ON l.product_number = ?1 AND l.order_number = e.value
ORDER BY l.order_number, l.line_number
"""


class _Head(NamedTuple):
    due: str
    sort: str
    number: str
    expected: str
    began: float


def coming(cache: apsw.Connection, pending: Mapping[str, Iterable[Operation]], args: Mapping[str, Json]) -> Result:
    """The next deliveries that bring a product: `order_number`, `missing` and `datetime_expected`, the earliest first.

    `missing` is None where nobody says it.

    `pending` is what is on its way of each product: receipts of it are laid over. The total counts these rows alone.
    """
    product = str(args["product_number"])
    receipts = [operation for operation in pending.get(product, ()) if any(receipts_of(operation))]
    touched = to_text(sorted({number for operation in receipts for number in receipts_of(operation)}))
    _, size = window(args, SIZE)
    rows: list[Row] = []
    skip = 0
    while len(rows) < size:
        heads = [_Head(*row) for row in fetch(cache, _WITH, product, touched, PART, skip)]
        rows += _rows(cache, product, heads, receipts)
        skip += PART
        if len(heads) < PART:
            break
    return rows[:size], len(rows[:size])


def _rows(cache: apsw.Connection, product: str, heads: Sequence[_Head], receipts: Iterable[Operation]) -> list[Row]:
    lines: dict[str, list[Row]] = {head.number: [] for head in heads}
    said: dict[str, list[Line]] = {head.number: [] for head in heads}
    for number, line, quantity, received, barcode in fetch(cache, _LINES, product, to_text(list(lines))):
        announced = None if quantity is None else decimal(quantity)
        known = {"line_number": int(line), "product_number": product, "quantity": announced}
        lines[number].append({**known, "received": decimal(received)})
        said[number].append(Line(int(line), product, str(barcode), quantity, received))
    rows = []
    for head in heads:
        mine = lines[head.number]
        say_receipt(cache, head.number, mine, said[head.number])
        lay_receipts(mine, head.number, receipts, head.began)
        missing = missing_of(line for line in mine if line["product_number"] == product)
        if missing is None or missing > 0:
            rows.append({"order_number": head.number, "missing": missing, "datetime_expected": head.expected})
    return rows
