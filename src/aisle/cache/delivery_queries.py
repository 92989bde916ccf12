"""Deliveries as a session sees them: the announced lines and what was received, with this host's receipts overlaid.

A receipt adds to the received quantity of a line. It is overlaid until the delivery was read after the receipt was
confirmed. The quantities that the delivery itself lacks come from its receipt order. interface: Delivery order, Receipt
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import apsw

from aisle.cache.delivery_writer import (
    NO_DATE,
    STATUS_RECEIVED,
    ZERO,
    DeliveryLine,
    is_line_received,
    received_quantities,
)
from aisle.cache.order_overlay import overlaid_order
from aisle.cache.pending_operations import REFERENCE_FIELD, OverlayIndex, is_included
from aisle.cache.people_and_claim_queries import current_workers
from aisle.cache.product_code_writer import all_codes, decode_codes
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    SortKey,
    declare_query,
    page,
    read_along,
    read_merged_window,
    whole_topics,
    window_bounds,
)
from aisle.cache.schema import IS_MISSING_SQL
from aisle.cache.stored_row_values import Row, parse_row
from aisle.host.database import fetch
from aisle.host.notify_sockets import format_topic
from aisle.jobs.job import PARTLY_RECEIVED, Args, delivery_in_work
from aisle.jobs.pick.pick_line import is_from_warehouse
from aisle.jobs.store_time import start_of_today
from aisle.jobs.sums_of_goods_and_progress import LineQuantity, received_after, sum_by_key
from aisle.named_tuple_json import to_text
from aisle.outbox.local_notes import notes_of_topic
from aisle.outbox.operation_record import CREATE_LOGS, Operation
from aisle.row_values import to_decimal
from aisle.search_text import search_words

if TYPE_CHECKING:
    from aisle.jobs.row_types.deliveries import (
        DeliveriesExpectingRow,
        DeliveriesRow,
        DeliveryLineRow,
        DeliveryRow,
        OrderNeedRow,
        PartlyReceivedRow,
        ReceivedLine,
    )
    from aisle.jobs.row_types.products import NextDeliveriesRow
    from aisle.operation_body_types import LogEntry

_DELIVERIES_BY_NUMBER = """
SELECT d.order_number, d.expected, d.read_began, d.raw FROM json_each(?) e
JOIN delivery d ON d.order_number = e.value ORDER BY e.key
"""

_LINES_OF_DELIVERIES = """
SELECT l.order_number, l.line_number, l.product_number, l.quantity, l.received, l.raw, p.name, p.unit, p.allow_decimal
FROM json_each(?) e JOIN delivery_line l ON l.order_number = e.value
LEFT JOIN product p ON p.product_number = l.product_number
ORDER BY l.order_number, l.line_number
"""

_SUMS_OF_DELIVERIES = """
SELECT l.order_number, count(*), sum(l.quantity), sum(min(l.received, l.quantity)),
sum(CASE WHEN l.quantity IS NULL THEN l.received > 0 ELSE l.received >= l.quantity END),
sum(l.received IS NULL OR p.allow_decimal AND l.received > 0 AND l.received < l.quantity),
max(coalesce(p.allow_decimal, 0)), sum(l.quantity IS NULL), max(l.received) > 0
FROM json_each(?) e JOIN delivery_line l ON l.order_number = e.value
LEFT JOIN product p ON p.product_number = l.product_number GROUP BY l.order_number
"""


_DELIVERIES_NEARLY_RECEIVED = "SELECT order_number FROM delivery WHERE is_received = 0 AND lacks <= ?"


PRODUCT_NAMES = """
SELECT p.product_number, p.name, p.unit, p.allow_decimal FROM json_each(?) e
JOIN product p ON p.product_number = e.value
"""


AFTER_ALL_DATES = f"{NO_DATE}~"
"""Text that sorts after all dates, and after none."""


class DeliveryList(NamedTuple):
    """A list of deliveries with the index that serves it."""

    index_name: str
    """Name of the index."""
    where: str
    columns: tuple[str, ...]
    """Columns of the sort order; the last one identifies the delivery."""
    is_received: int | None = None
    """1: only fully received ones; 0: only the others; None: both."""
    is_backward: bool = False
    """True if the list is read from the end of the index."""
    due_before: str = AFTER_ALL_DATES
    """Only those due before this moment or day of the store."""


_LISTS_BY_STATE = {
    "": DeliveryList("delivery_list", "is_received BETWEEN 0 AND 1", ("is_received", "due", "sort", "order_number")),
    "open": DeliveryList("delivery_list", "is_received = 0", ("due", "sort", "order_number"), 0),
    STATUS_RECEIVED: DeliveryList(
        "delivery_received", "is_received = 1", ("expected", "sort", "order_number"), 1, is_backward=True
    ),
}


class DeliveryHeader(NamedTuple):
    """Header of a delivery."""

    number: str
    expected: str
    read_began: float
    raw: str


class DeliverySums(NamedTuple):
    """Sums over the lines of a delivery or a receipt."""

    lines: int
    quantity: Decimal
    received: Decimal
    """Received part of the announced quantity. Excess on one line fills no gap of another."""
    is_complete: bool
    complete_lines: int = 0
    """Number of lines that are received in full."""
    has_no_sum: bool = False
    """True if the sum says nothing: a line of measured goods, or one without a quantity."""
    has_received: bool = True
    """True if anything was received, announced or not."""
    is_unknown: bool = False
    """True if the received quantity of a line is unknown."""

    @property
    def state(self) -> str:
        """State of the delivery: `open`, `partial` or `received`."""
        if not self.has_received:
            return "open"
        return STATUS_RECEIVED if self.is_complete else "partial"


@declare_query("deliveries", "state now search first size", whole_topics("delivery"))
def list_deliveries(context: QueryContext, args: Args) -> QueryResult[DeliveriesRow]:
    """Return a window on the deliveries to be received (`state` open), those received in full (`received`), or all.

    `late` are those to be received whose day was before that of `now`.

    The earliest expected delivery comes first; of the received ones the youngest. `search` matches numbers, containers
    and suppliers.
    """
    cache, state = context.cache, str(args.get("state") or "")
    listed = _LISTS_BY_STATE.get(state, _LISTS_BY_STATE["open" if state else ""])
    if state == "late":
        listed = listed._replace(due_before=start_of_today(str(args["now"])).date().isoformat())
    words = search_words(str(args.get("search") or ""))
    pending_sums = _sums_differing_from_cache(context)
    pending_keys = sorted(_touched_keys(cache, listed, words, pending_sums))
    source = f"FROM delivery INDEXED BY {listed.index_name}"
    where = " AND ".join(
        [listed.where, *(["order_number NOT IN (SELECT value FROM json_each(?))"] if pending_sums else [])]
    )
    where += " AND instr(text, ?)" * len(words)
    values = [*([to_text(list(pending_sums))] if pending_sums else []), *words]
    is_late = listed.due_before != AFTER_ALL_DATES
    if is_late:
        where, values = f"{where} AND due < ?", [*values, listed.due_before]
    read = read_along(cache, f"SELECT {', '.join(listed.columns)} {source} WHERE {where}", listed.columns, *values)
    if words or pending_sums or is_late:
        cached_count = int(fetch(cache, f"SELECT count(*) {source} WHERE {where}", *values)[0][0])
    else:
        cached_count = int(fetch(cache, f"SELECT ifnull(sum(n), 0) FROM delivery_tally WHERE {listed.where}")[0][0])  # noqa: S608
    total = cached_count + len(pending_keys)
    first, size = window_bounds(args)
    if listed.is_backward:  # the same window, counted from the other end of the list
        size = min(size, max(0, total - first))
        keys = read_merged_window(read, cached_count, pending_keys, total - first - size, size)[::-1]
    else:
        keys = read_merged_window(read, cached_count, pending_keys, first, size)
    shown = _headers_with_sums(context, [str(key[-1]) for key in keys])
    return [_delivery_row(head, pending_sums.get(head.number, sums)) for head, sums in shown], total


def _sums_differing_from_cache(context: QueryContext) -> dict[str, DeliverySums]:
    """Return the sums of deliveries with pending operations, and of those received within the tolerance."""
    near = () if not context.weight_tolerance else _numbers_nearly_received(context)
    sums = {head.number: of for head, of in _headers_with_sums(context, near) if of.state == STATUS_RECEIVED}
    return sums | {head.number: of for head, of in _headers_with_sums(context, list(pending_receipts(context)))}


def _numbers_nearly_received(context: QueryContext) -> list[str]:
    """Return the deliveries of which no line lacks more than measured goods may, whether measured or not."""
    most = float(context.weight_tolerance) + _ROUNDING
    return [str(number) for (number,) in fetch(context.cache, _DELIVERIES_NEARLY_RECEIVED, most)]


_ROUNDING = 1e-6


def _touched_keys(
    cache: apsw.Connection, listed: DeliveryList, words: Sequence[str], touched_sums: Mapping[str, DeliverySums]
) -> Iterator[SortKey]:
    """Yield the sort keys of the deliveries whose state the cache does not have, as far as they are of the list."""
    sql = "SELECT d.expected, d.due, d.sort, d.order_number, d.text FROM json_each(?) e"
    sql += " JOIN delivery d ON d.order_number = e.value"
    for expected, due, sort, number, text in fetch(cache, sql, to_text(list(touched_sums))) if touched_sums else ():
        is_received = int(touched_sums[number].state == STATUS_RECEIVED)
        columns = {"is_received": is_received, "expected": expected, "due": due, "sort": sort, "order_number": number}
        is_in_time = str(due) >= listed.due_before
        if listed.is_received in (None, is_received) and not is_in_time and all(word in text for word in words):
            yield tuple(columns[column] for column in listed.columns)


def _topics_of_delivery(args: Args, rows: Sequence[Any]) -> list[str]:
    orders = {line["customer_order_number"] for row in rows for line in row["lines"]} - {""}
    delivery = format_topic("delivery", str(args.get("order_number") or ""))
    return [delivery, *(format_topic("order", order) for order in orders)]


@declare_query("delivery", "order_number", _topics_of_delivery)
def load_delivery(context: QueryContext, args: Args) -> QueryResult[DeliveryRow]:
    """Return one delivery with its `lines`, unannounced ones at the end, and who has it open on this host.

    An unannounced line has `line_number` 0 until the service numbers it.
    """
    cache, number = context.cache, str(args["order_number"])
    heads = load_headers(cache, [number])
    if not heads:
        return [], 0
    head = heads[0]
    lines = load_lines(context, [head], pending_receipts(context))[number]
    workers = current_workers(cache, context.outbox, delivery_in_work(head.number))
    needs = _order_needs(context, head, lines)
    row = _delivery_row(head, _sum_lines(lines, head))
    return [{**row, "lines": lines, "order_needs": needs, "at_work": workers}], 1


def _order_needs(context: QueryContext, head: DeliveryHeader, lines: Sequence[DeliveryLineRow]) -> list[OrderNeedRow]:
    """Return what the orders of these lines still need, less what pending receipts bring them."""
    received = _received_for_orders(lines)
    if not received:
        return []
    read = _received_for_orders(load_lines(context, [head], {})[head.number])
    needs: list[OrderNeedRow] = []
    for (order, product), quantity in received.items():
        needed = _need_of_order(context, order, product)
        if needed is not None:
            needed = max(ZERO, needed - quantity + read.get((order, product), ZERO))
            needs.append({"order_number": order, "product_number": product, "needed": needed})
    return needs


def _received_for_orders(lines: Iterable[DeliveryLineRow]) -> dict[tuple[str, str], Decimal]:
    """Return the received quantities by order and product; of lines for an order."""
    return sum_by_key(
        ((line["customer_order_number"], line["product_number"]), line["received"])
        for line in lines
        if line["customer_order_number"]
    )


def _need_of_order(context: QueryContext, number: str, product: str) -> Decimal | None:
    """Return what an order still needs of a product, nothing if it is closed; None if its lines are unknown.

    Goods that a receipt brings for a line picked in the warehouse are those picked there.
    """
    order = overlaid_order(context, number)
    if order is None or not order.lines:
        return None
    if not order.row.get("is_active", True) or order.row.get("is_rejected"):
        return ZERO
    lines = [line for line in order.lines if str(line.get("product_number")) == product]
    taken = ("moved_quantity" if is_from_warehouse(cast("Any", line)) else "picked_quantity" for line in lines)
    return sum(
        (
            max(ZERO, to_decimal(line.get("quantity")) - to_decimal(line.get(name)))
            for line, name in zip(lines, taken, strict=True)
        ),
        ZERO,
    )


def missing_quantity(lines: Iterable[ReceivedLine]) -> Decimal | None:
    """Return the quantity still to be received on these lines; None if unknown.

    It is unknown if a line names no quantity and received nothing, or if the received quantity of a line is unknown.
    """
    found = Decimal(0)
    for line in lines:
        if is_received_unknown(line):
            return None
        if line["quantity"] is not None:
            is_complete = is_line_received(line["received"], line["quantity"], line.get("may_lack", ZERO))
            found += ZERO if is_complete else line["quantity"] - line["received"]
        elif line["received"] <= 0:
            return None
    return found


def is_received_unknown(line: ReceivedLine) -> bool:
    """Return True if the received quantity of a line is unknown and no pending receipt adds to it."""
    return bool(line.get("is_quantity_unknown")) and line["received"] <= 0


def _delivery_row(header: DeliveryHeader, sums: DeliverySums) -> DeliveriesRow:
    raw = parse_row(header.raw)
    return {
        "order_number": header.number,
        "supplier_name": supplier_name(header),
        "datetime_expected": header.expected,
        "external_reference_number": str(raw.get("external_reference_number") or ""),
        "order_type": str(raw.get("order_type") or ""),
        "no_of_containers": raw.get("no_of_containers"),
        "store_origin": raw.get("store_origin"),
        "tracing_url": str(raw.get("tracing_url") or ""),
        "state": sums.state,
        "total_lines": sums.lines,
        "complete_lines": sums.complete_lines,
        "is_mixed": sums.has_no_sum,
        "quantity": sums.quantity,
        "received_quantity": None if sums.is_unknown else sums.received,
    }


def load_headers(cache: apsw.Connection, numbers: Iterable[str]) -> list[DeliveryHeader]:
    """Return the headers of these deliveries in the given order; unknown numbers are left out."""
    wanted = list(numbers)
    rows = fetch(cache, _DELIVERIES_BY_NUMBER, to_text(wanted)) if wanted else ()
    return [DeliveryHeader(*row) for row in rows]


def supplier_name(header: DeliveryHeader) -> str:
    """Return the name of a delivery's supplier, else its code."""
    raw = parse_row(header.raw)
    return str(raw.get("supplier_name") or raw.get("supplier_code") or "")


def _headers_with_sums(context: QueryContext, numbers: Sequence[str]) -> list[tuple[DeliveryHeader, DeliverySums]]:
    """Return these deliveries in the given order with their sums; unknown numbers are left out."""
    heads, pending = load_headers(context.cache, numbers), pending_receipts(context)
    sums = _load_sums(context.cache, to_text(list(numbers))) if heads else {}
    rest = [head for head in heads if head.number in pending or head.number not in sums]
    lines = load_lines(context, rest, pending) if rest else {}
    sums |= {head.number: _sum_lines(lines[head.number], head) for head in rest}
    return [(head, sums[head.number]) for head in heads]


def _load_sums(cache: apsw.Connection, numbers: str) -> dict[str, DeliverySums]:
    """Return the sums of those of these deliveries whose lines all name their received quantity, of measured goods none
    or all that was announced."""
    return {
        str(number): DeliverySums(
            int(lines),
            to_decimal(quantity),
            to_decimal(received),
            full == lines,
            int(full),
            bool(unmeasured or measured),
            bool(has_received),
        )
        for number, lines, quantity, received, full, of_lines, measured, unmeasured, has_received in fetch(
            cache, _SUMS_OF_DELIVERIES, numbers
        )
        if not of_lines
    }


class LineToSum(NamedTuple):
    """Quantities of a line of a delivery or a receipt."""

    announced: Decimal | None
    received: Decimal
    is_measured: bool
    is_unknown: bool = False
    """True if the received quantity is unknown."""
    may_lack: Decimal = ZERO
    """Part that the line may lack and be complete."""


def sum_lines(lines: Sequence[LineToSum]) -> DeliverySums:
    """Return the sums of a delivery or a receipt, by the same rule: excess on one line fills no gap of another."""
    complete = sum(is_line_received(line.received, line.announced, line.may_lack) for line in lines)
    announced = [(line.announced, line.received) for line in lines if line.announced is not None]
    return DeliverySums(
        len(lines),
        sum((quantity for quantity, _ in announced), Decimal(0)),
        sum((min(received, quantity) for quantity, received in announced), Decimal(0)),
        complete == len(lines),
        complete,
        len(announced) < len(lines) or any(line.is_measured for line in lines),
        any(line.received > 0 for line in lines),
        any(line.is_unknown for line in lines),
    )


def _sum_lines(lines: Sequence[DeliveryLineRow], header: DeliveryHeader) -> DeliverySums:
    if not lines and parse_row(header.raw).get("status") == STATUS_RECEIVED:
        return DeliverySums(0, Decimal(0), Decimal(1), is_complete=True)
    return sum_lines(
        [
            LineToSum(
                line["quantity"],
                line["received"],
                line["allow_decimal"],
                is_received_unknown(line),
                line.get("may_lack", ZERO),
            )
            for line in lines
        ]
    )


# Lines


def load_lines(
    context: QueryContext, headers: Sequence[DeliveryHeader], pending: Mapping[str, Sequence[Operation]]
) -> dict[str, list[DeliveryLineRow]]:
    """Return the lines of these deliveries with the pending receipts overlaid."""
    cache, tolerance = context.cache, context.weight_tolerance
    numbers = to_text([head.number for head in headers])
    found: dict[str, list[DeliveryLineRow]] = {head.number: [] for head in headers}
    service_lines: dict[str, list[DeliveryLine]] = {}
    for number, line, product, quantity, received, text, *about in fetch(cache, _LINES_OF_DELIVERIES, numbers):
        raw = parse_row(text)
        found[number].append(_line_row(cache, line, product, quantity, received, raw, about))
        product, barcode = found[number][-1]["product_number"], str(raw.get("barcode") or "")
        service_lines.setdefault(number, []).append(DeliveryLine(line, product, barcode, quantity, received))
    for number, lines in service_lines.items():
        apply_service_receipt(cache, number, found[number], lines)
    for head in headers:
        apply_local_receipts(found[head.number], head.number, pending.get(head.number, ()), head.read_began)
        _name_unannounced(cache, found[head.number])
    for line in (line for lines in found.values() for line in lines if line["allow_decimal"]):
        line["may_lack"] = (line["quantity"] or ZERO) * tolerance / 100
    return found


def _line_row(
    cache: apsw.Connection, line: int, product: str, quantity: Any, received: Any, raw: Row, about: Sequence[Any]
) -> DeliveryLineRow:
    name, unit, decimals = about
    if not product:
        product = _product_of_barcode(cache, str(raw.get("barcode") or ""))
    return {
        "line_number": int(line),
        "product_number": product,
        "description": str(name or raw.get("description") or product or raw.get("barcode") or ""),
        "quantity": None if quantity is None else to_decimal(quantity),
        "received": to_decimal(received),
        "container_barcode": str(raw.get("container_barcode") or ""),
        "customer_order_number": str(raw.get("customer_order_number") or ""),
        "target_stock_pool": int(to_decimal(raw.get("target_stock_pool"))),
        "unit": str(unit or raw.get("base_unit") or ""),
        "allow_decimal": bool(decimals),
    }


def _product_of_barcode(cache: apsw.Connection, barcode: str) -> str:
    """Return the product of a line that names only a barcode; empty unless exactly one product has it."""
    rows = fetch(cache, "SELECT key FROM code WHERE code = ? AND kind = 'product'", barcode) if barcode else []
    return str(rows[0][0]) if len(rows) == 1 else ""


def apply_service_receipt(
    cache: apsw.Connection, number: str, rows: Iterable[ReceivedLine], lines: Sequence[DeliveryLine]
) -> None:
    """Set the received quantity of rows whose delivery does not name it, in place, from the receipt of the delivery.

    `lines` are the lines of the delivery as the service sent them. `is_quantity_unknown` becomes True if no receipt
    names it either.
    """
    if all(line.received is not None for line in lines):
        return
    found = fetch(cache, "SELECT raw FROM receipt WHERE order_number = ?", number)
    receipt = parse_row(str(found[0][0])).get("receipt_lines") if found else None
    for row, received in zip(rows, received_quantities(lines, receipt), strict=True):
        row["received"], row["is_quantity_unknown"] = to_decimal(received), received is None


def _name_unannounced(cache: apsw.Connection, lines: list[DeliveryLineRow]) -> None:
    """Name unannounced products from the catalogue, in place."""
    new = {line["product_number"]: line for line in lines if not line["line_number"]}
    for product, name, unit, decimals in fetch(cache, PRODUCT_NAMES, to_text(list(new))) if new else ():
        line = new[product]
        line["description"], line["unit"], line["allow_decimal"] = name or product, str(unit or ""), bool(decimals)


# Deliveries that expect a product


DELIVERY_BATCH = 20
"""Deliveries that are read at once."""


_NEXT_DELIVERIES = f"""
SELECT DISTINCT d.due, d.sort, d.order_number, d.expected, d.read_began
FROM delivery_line l INDEXED BY delivery_line_missing JOIN delivery d ON d.order_number = l.order_number
WHERE l.product_number = ?1 AND ({IS_MISSING_SQL}) AND d.is_received = 0
UNION SELECT d.due, d.sort, d.order_number, d.expected, d.read_began
FROM json_each(?2) e JOIN delivery d ON d.order_number = e.value
UNION SELECT d.due, d.sort, d.order_number, d.expected, d.read_began
FROM json_each(?3) b CROSS JOIN delivery_line l INDEXED BY delivery_line_barcode
ON l.product_number = '' AND l.raw ->> 'barcode' = b.value JOIN delivery d ON d.order_number = l.order_number
WHERE ({IS_MISSING_SQL}) AND d.is_received = 0
"""  # noqa: S608 - a condition of our own


_LINE_COLUMNS = "l.order_number, l.line_number, l.quantity, l.received, ifnull(l.raw ->> 'barcode', '')"
_LINES_OF_PRODUCT = f"""
SELECT {_LINE_COLUMNS} FROM json_each(?2) e
JOIN delivery_line l INDEXED BY delivery_line_product ON l.product_number = ?1 AND l.order_number = e.value
UNION SELECT {_LINE_COLUMNS} FROM json_each(?3) b CROSS JOIN delivery_line l INDEXED BY delivery_line_barcode
ON l.product_number = '' AND l.raw ->> 'barcode' = b.value WHERE l.order_number IN (SELECT value FROM json_each(?2))
ORDER BY 1, 2
"""  # noqa: S608 - columns of our own


class _NextDelivery(NamedTuple):
    due: str
    sort: str
    number: str
    expected: str
    read_began: float


def expecting_deliveries(context: QueryContext, product: str) -> Iterator[NextDeliveriesRow]:
    """Yield the deliveries that still expect a product, each with the quantity (`missing`), earliest first.

    They are found by the index of missing quantities, without reading lines of other products, because pages repeat it.
    """
    receipts = [
        operation for operation in context.pending_products.get(product, ()) if any(deliveries_of_receipt(operation))
    ]
    touched = to_text(sorted({number for operation in receipts for number in deliveries_of_receipt(operation)}))
    barcodes = to_text(_barcodes_of_product(context.cache, product))
    found = sorted(_NextDelivery(*row) for row in fetch(context.cache, _NEXT_DELIVERIES, product, touched, barcodes))
    for first in range(0, len(found), DELIVERY_BATCH):
        yield from _next_delivery_rows(context, product, barcodes, found[first : first + DELIVERY_BATCH], receipts)


def _barcodes_of_product(cache: apsw.Connection, product: str) -> list[str]:
    """Return the codes by which a line of a delivery can name a product (see `_product_of_barcode`)."""
    sql = """SELECT p.codes, ifnull(s.barcode, '') FROM product p LEFT JOIN stock s ON s.id = p.id
      WHERE p.product_number = ?"""
    codes = {code for found, barcode in fetch(cache, sql, product) for code in all_codes(decode_codes(found), barcode)}
    return sorted(code for code in codes if _product_of_barcode(cache, code) == product)


def _next_delivery_rows(
    context: QueryContext,
    product: str,
    barcodes: str,
    deliveries: Sequence[_NextDelivery],
    receipts: Iterable[Operation],
) -> list[NextDeliveriesRow]:
    cache, tolerance = context.cache, _tolerance_of(context, product)
    lines: dict[str, list[ReceivedLine]] = {head.number: [] for head in deliveries}
    service_lines: dict[str, list[DeliveryLine]] = {head.number: [] for head in deliveries}
    found = fetch(cache, _LINES_OF_PRODUCT, product, to_text(list(lines)), barcodes)
    for number, line, quantity, received, barcode in found:
        announced = None if quantity is None else to_decimal(quantity)
        lines[number].append(
            {
                "line_number": int(line),
                "product_number": product,
                "quantity": announced,
                "received": to_decimal(received),
                "may_lack": (announced or ZERO) * tolerance / 100,
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


def _tolerance_of(context: QueryContext, product: str) -> Decimal:
    """Return the percentage that the product's lines may lack, which is 0 unless it is measured."""
    ((*_, is_measured),) = fetch(context.cache, PRODUCT_NAMES, to_text([product])) or [(0,)]
    return context.weight_tolerance if is_measured else ZERO


@declare_query("next_deliveries", "product_number size", whole_topics("delivery"))
def next_deliveries(context: QueryContext, args: Args) -> QueryResult[NextDeliveriesRow]:
    """Return the next deliveries of a product, earliest first. The total counts only the returned rows."""
    _, size = window_bounds(args, 3)
    rows = list(islice(expecting_deliveries(context, str(args["product_number"])), size))
    return rows, len(rows)


@declare_query("deliveries_expecting", "product_number first size", whole_topics("delivery"))
def deliveries_expecting(context: QueryContext, args: Args) -> QueryResult[DeliveriesExpectingRow]:
    """Return a window on the deliveries that still expect a product, each with the quantity (`missing`)."""
    shown, total = page(list(expecting_deliveries(context, str(args["product_number"]))), args)
    missing = {row["order_number"]: row["missing"] for row in shown}
    found = _headers_with_sums(context, list(missing))
    return [{**_delivery_row(head, sums), "missing": missing[head.number]} for head, sums in found], total


# Pending operations


def deliveries_of_receipt(operation: Operation) -> Iterator[str]:
    """Yield the deliveries that a receipt operation refers to."""
    if operation.operation == CREATE_LOGS and operation.query.get("is_from_receipt"):
        yield from (str(entry["reference"]) for entry in log_entries_of(operation) if entry.get("reference"))


def pending_receipts(context: QueryContext) -> OverlayIndex:
    """Return the index of pending receipts by delivery."""
    return context.overlay.index_by(REFERENCE_FIELD, deliveries_of_receipt)


def log_entries_of(operation: Operation) -> Sequence[LogEntry]:
    """Return the log entries of an operation."""
    return operation.body.get("storeproductlog") or ()


D = TypeVar("D", bound="ReceivedLine")


def apply_local_receipts(
    lines: list[D], number: str, operations: Iterable[Operation], read_began: float | None
) -> None:
    """Add the received quantities of these operations to the lines of a delivery, in place."""
    for operation in operations:
        if is_included(operation, read_began):
            continue
        for entry in log_entries_of(operation):
            if str(entry.get("reference") or "") == number:
                _apply_entry(lines, str(entry.get("product_number")), to_decimal(entry.get("quantity")), entry)


def _apply_entry(lines: list[D], product: str, quantity: Decimal, entry: LogEntry) -> None:
    """Apply an entry as our service does."""
    own_lines = [line for line in lines if line["product_number"] == product]
    if not own_lines:
        own_lines = [cast("D", unannounced_line(product))]
        lines.append(own_lines[0])
    named = next((at for at, line in enumerate(own_lines) if line["line_number"] == entry.get("line_number")), None)
    quantities = [
        LineQuantity(line["quantity"], line["received"], bool(line.get("customer_order_number"))) for line in own_lines
    ]
    for line, received in zip(own_lines, received_after(quantities, quantity, named), strict=True):
        line["received"] = received


def unannounced_line(product: str) -> DeliveryLineRow:
    """Return a line for a product that nobody announced."""
    return {
        "line_number": 0,
        "product_number": product,
        "description": product,
        "quantity": Decimal(0),
        "received": Decimal(0),
        "container_barcode": "",
        "customer_order_number": "",
        "target_stock_pool": 0,
        "unit": "",
        "allow_decimal": False,
    }


@declare_query("partly_received", "", whole_topics("delivery"))
def partly_received_deliveries(context: QueryContext, _: Args) -> QueryResult[PartlyReceivedRow]:
    """Return the numbers of the partly received deliveries, the one left last first."""
    notes = sorted(notes_of_topic(context.outbox, PARTLY_RECEIVED).values(), key=lambda each: each.at, reverse=True)
    numbers = [each.key for each in notes]
    found = _headers_with_sums(context, numbers) if numbers else ()
    received = {head.number for head, sums in found if sums.state == STATUS_RECEIVED}
    rows: list[PartlyReceivedRow] = [{"order_number": number} for number in numbers if number not in received]
    return rows, len(rows)
