"""Queries for a product's pages: next deliveries, and the settings of the store with their pending changes.

Deliveries are found by the index of missing quantities, without reading lines of other products, because a page repeats
the query often. interface: Delivery order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.cache.delivery_queries import (
    apply_local_receipts,
    apply_service_receipt,
    deliveries_of_receipt,
    missing_quantity,
)
from aisle.cache.delivery_writer import DeliveryLine
from aisle.cache.operation_queries import OUTCOME_BY_STATE
from aisle.cache.people_queries import announces_features, load_person_rights, names_by_user
from aisle.cache.product_search import query_product
from aisle.cache.query_context import QueryContext, declare_query, topic_of, whole_topics
from aisle.cache.row_values import QueryResult, iso_time, window_bounds
from aisle.cache.schema import IS_MISSING_SQL
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.job import Args
from aisle.jobs.quantities import to_decimal
from aisle.jobs.store_time import to_utc_text
from aisle.jobs.supervisor.store_product_fields import BASE_VALUES, parse_update_values
from aisle.json_codec import to_text
from aisle.outbox.operation_record import Operation, operation_from_row

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import ReceivedLine
    from aisle.jobs.row_types.products import NextDeliveriesRow, PendingChangeRow, StoreProductRow

DELIVERY_BATCH = 20
"""Deliveries that are read at once."""

_NEXT_DELIVERIES = f"""
SELECT DISTINCT d.due, d.sort, d.order_number, d.expected, d.read_began
FROM delivery_line l INDEXED BY delivery_line_missing JOIN delivery d ON d.order_number = l.order_number
WHERE l.product_number = ?1 AND ({IS_MISSING_SQL}) AND d.is_received = 0
UNION SELECT d.due, d.sort, d.order_number, d.expected, d.read_began
FROM json_each(?2) e JOIN delivery d ON d.order_number = e.value
ORDER BY 1, 2, 3 LIMIT ?3 OFFSET ?4
"""  # noqa: S608 - a condition of our own

_LINES_OF_PRODUCT = """
SELECT l.order_number, l.line_number, l.quantity, l.received, ifnull(l.raw ->> 'barcode', '') FROM json_each(?2) e
JOIN delivery_line l INDEXED BY delivery_line_product ON l.product_number = ?1 AND l.order_number = e.value
ORDER BY l.order_number, l.line_number
"""


class _NextDelivery(NamedTuple):
    due: str
    sort: str
    number: str
    expected: str
    read_began: float


@declare_query("next_deliveries", "product_number size", whole_topics("delivery"))
def next_deliveries(context: QueryContext, args: Args) -> QueryResult[NextDeliveriesRow]:
    """Return the next deliveries of a product, earliest first.

    Pending receipts are overlaid. The total counts only the returned rows.
    """
    cache, product = context.cache, str(args["product_number"])
    receipts = [
        operation for operation in context.pending_products.get(product, ()) if any(deliveries_of_receipt(operation))
    ]
    touched = to_text(sorted({number for operation in receipts for number in deliveries_of_receipt(operation)}))
    _, size = window_bounds(args, 3)
    rows: list[NextDeliveriesRow] = []
    skip = 0
    while len(rows) < size:
        heads = [_NextDelivery(*row) for row in fetch(cache, _NEXT_DELIVERIES, product, touched, DELIVERY_BATCH, skip)]
        rows += _next_delivery_rows(cache, product, heads, receipts)
        skip += DELIVERY_BATCH
        if len(heads) < DELIVERY_BATCH:
            break
    return rows[:size], len(rows[:size])


def _next_delivery_rows(
    cache: apsw.Connection, product: str, deliveries: Sequence[_NextDelivery], receipts: Iterable[Operation]
) -> list[NextDeliveriesRow]:
    lines: dict[str, list[ReceivedLine]] = {head.number: [] for head in deliveries}
    service_lines: dict[str, list[DeliveryLine]] = {head.number: [] for head in deliveries}
    for number, line, quantity, received, barcode in fetch(cache, _LINES_OF_PRODUCT, product, to_text(list(lines))):
        announced = None if quantity is None else to_decimal(quantity)
        lines[number].append(
            {
                "line_number": int(line),
                "product_number": product,
                "quantity": announced,
                "received": to_decimal(received),
            }
        )
        service_lines[number].append(DeliveryLine(int(line), product, str(barcode), quantity, received))
    rows: list[NextDeliveriesRow] = []
    for head in deliveries:
        own_lines = lines[head.number]
        apply_service_receipt(cache, head.number, own_lines, service_lines[head.number])
        apply_local_receipts(own_lines, head.number, receipts, head.read_began)
        missing = missing_quantity(line for line in own_lines if line["product_number"] == product)
        if missing is None or missing > 0:
            rows.append({"order_number": head.number, "missing": missing, "datetime_expected": head.expected})
    return rows


_FIELD_PREFIX = re.compile(r"^\[\d+\]\.\w+: ")
"""Position of an invalid field in a request; our own service puts it before the error text."""

MAX_CHANGES = 8
"""Greatest number of changes of a product that are shown."""

_CHANGES_OF_PRODUCT = """
SELECT * FROM operation INDEXED BY operation_settings
WHERE operation = 'update-store-products' AND body ->> '$[0].product_number' = ? AND closed_by = ''
ORDER BY n DESC LIMIT ?
"""


@declare_query("store_product", "product_number user", topic_of("product", "product_number", OUTBOX))
def load_store_product(context: QueryContext, args: Args) -> QueryResult[StoreProductRow]:
    """Return the row of the query `product` (product_number) with the store's settings."""
    rows, total = query_product(context, args)
    if not rows:
        return [], total
    cache, number = context.cache, str(args["product_number"])
    stock = fetch_one(
        cache, "SELECT s.read_began FROM product p JOIN stock s ON s.id = p.id WHERE p.product_number = ?", number
    )
    row: StoreProductRow = {
        **rows[0],
        "is_ranged": stock is not None,
        "read_at": iso_time(stock[0]) if stock else "",
        "may_edit": load_person_rights(cache, str(args.get("user") or "")).may_supervise,
        "keeps_all": announces_features(cache),
        "said": list(_change_rows(cache, context.outbox, number)),
    }
    return [row], total


def _change_rows(cache: apsw.Connection, outbox: apsw.Connection, number: str) -> Iterator[PendingChangeRow]:
    names = names_by_user(cache)
    for found in fetch(outbox, _CHANGES_OF_PRODUCT, number, MAX_CHANGES):
        op = operation_from_row(found)
        fields = list(_changed_fields(op, number))
        if fields:
            yield {
                "op_id": op.op_id,
                "outcome": OUTCOME_BY_STATE[op.state],
                "fields": fields,
                "user_name": names.get(op.app_user) or op.app_user,
                "at": to_utc_text(op.occurred_at),
                "why": _FIELD_PREFIX.sub("", op.last_error) if op.state != "done" else "",
            }


def _changed_fields(op: Operation, number: str) -> Iterator[tuple[str, str, str]]:
    for item in op.body:
        if str(item.get("product_number")) == number:
            base = item.get(BASE_VALUES) or {}
            yield from ((name, str(base.get(name) or ""), text) for name, text in parse_update_values(item).items())
