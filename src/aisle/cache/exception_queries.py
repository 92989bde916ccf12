"""Queries of the exceptions page: over-picked products, negative stock, stuck and uncollected orders.

A product is over-picked if orders have more of it in hand than the store's stock holds outside its locations. Only our
own service is known to count goods in hand in `most_likely_quantity`. Another service may leave out picked goods; there
only negative stock is certain.

An order waits from its pick-up date on, or from its last event if that is later. The interface does not say when an
order was picked; the log and this host's operations do, else the first read of the order counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.cache.count_and_review_queries import (
    count_entries_to_review,
    open_recounts,
    resolved_differences,
    totals_without,
)
from aisle.cache.order_board_queries import OrderBoard, orders_by_number, query_order_board
from aisle.cache.order_event_queries import last_events
from aisle.cache.order_overlay import PendingOrders
from aisle.cache.order_writer import find_inconsistency
from aisle.cache.people_and_claim_queries import announces_features
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    declare_query,
    read_along,
    read_window,
    whole_topics,
    window_bounds,
)
from aisle.cache.reader import unread_lists
from aisle.cache.receipt_queries import find_excess_lines
from aisle.cache.row_parsing_and_writing import negative_stock as negative_locations
from aisle.cache.schema import ORDER_PICKED
from aisle.cache.stored_row_values import iso_time, parse_row
from aisle.cache.unconfirmed_operation_queries import count_needing_person
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.jobs.store_time import to_utc_text
from aisle.named_tuple_json import to_text
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.exceptions_clearance_and_today import ExceptionsRow, NegativeStockRow, PickedOrdersRow
    from aisle.jobs.row_types.orders import OrdersByNumberRow


REREAD_S = 120
"""Seconds within which changed stock and changed orders are both read again."""

_AT_LOCATIONS_SQL = "(SELECT ifnull(sum(max(0, quantity)), 0) FROM stock_location WHERE id = s.id)"
_EXCESS_SQL = f"round(sum(l.in_hand) - s.quantity + {_AT_LOCATIONS_SQL}, 6)"
"""Digits beyond the sixth are rounding errors of added fractions."""
_HAS_STOCK_SQL = "ifnull(s.raw ->> 'is_stock', ifnull(nullif(p.raw, '') ->> 'is_stock', 1)) NOT IN (0, 'false')"
_FROM_STORE_SQL = " AND ".join(
    f"ifnull(l.raw ->> '{path}', 0) NOT IN (1, 'true')"
    for path in ("$.is_picked_from_warehouse", "$.aisle.is_picked_from_warehouse")
)

_ALL_CANDIDATES = f"""
SELECT p.product_number FROM (
  SELECT l.product_number, sum(l.in_hand) AS hand FROM line l INDEXED BY line_in_hand
  JOIN orders o ON o.order_number = l.order_number WHERE l.in_hand > 0 AND o.state < 2 GROUP BY l.product_number
) h JOIN product p ON p.product_number = h.product_number JOIN stock s ON s.id = p.id
WHERE round(h.hand - s.quantity + {_AT_LOCATIONS_SQL}, 6) > 0
"""  # noqa: S608
"""Candidates for over-picked products, found without parsing JSON."""
_PICKED_OVER_STOCK = f"""
SELECT product_number, name, more FROM (
  SELECT l.product_number, p.name, s.read_began, max(o.lines_read_began) AS seen, {_EXCESS_SQL} AS more
  FROM json_each(?) e JOIN line l INDEXED BY line_in_hand ON l.product_number = e.value
  JOIN orders o ON o.order_number = l.order_number
  JOIN product p ON p.product_number = l.product_number JOIN stock s ON s.id = p.id
  WHERE l.in_hand > 0 AND o.state < 2 AND {_FROM_STORE_SQL} AND {_HAS_STOCK_SQL} GROUP BY l.product_number
)
WHERE more > 0 AND (read_began >= seen OR seen < ifnull((SELECT last_ok FROM link), 0) - {REREAD_S})
AND product_number NOT IN (SELECT product_number FROM negative_stock) ORDER BY name, product_number
"""  # noqa: S608
"""Over-picked products. Goods in hand are part of the stock and at no location.

Stock and orders are read one after the other. Stock that was read before its picks counts only after `REREAD_S`, when
both must have been read again.
"""


class OverPickedProduct(NamedTuple):
    """A product with the quantity in hand beyond the stock."""

    product_number: str
    name: str
    excess: float


class PickedOverStock:
    """Over-picked products, found again only if the cache changed."""

    def __init__(self) -> None:
        self._cache: tuple[apsw.Connection, int] | None = None
        self._found: list[OverPickedProduct] = []

    def find(self, context: QueryContext) -> list[OverPickedProduct]:
        """Return all over-picked products by name; none if the service is not known to count goods in hand."""
        cache, version = context.cache, context.cache_version
        if self._cache != (cache, version):
            self._found = list(_find_over_picked(cache)) if announces_features(cache) else []
            self._cache = cache, version
        return self._found


def _find_over_picked(cache: apsw.Connection) -> Iterator[OverPickedProduct]:
    candidates = [number for (number,) in fetch(cache, _ALL_CANDIDATES)]
    for number, name, more in fetch(cache, _PICKED_OVER_STOCK, to_text(candidates)) if candidates else ():
        yield OverPickedProduct(str(number), str(name or number), float(more))


_NEGATIVE_STOCK = """
SELECT product_number, name, location_code, quantity FROM negative_stock
"""
_INCONSISTENT_LINES = """
FROM line l INDEXED BY line_inconsistent JOIN orders o ON o.order_number = l.order_number
LEFT JOIN product p ON p.product_number = l.product_number WHERE l.is_inconsistent AND o.state < 2
"""

_ORDERS_IN_WORK = """
SELECT order_number, CASE WHEN claimed THEN raw ->> 'claimed_on' END, first_read_began
FROM orders INDEXED BY orders_at_work
WHERE state = 0 AND status = 'partial'
UNION ALL
SELECT order_number, raw ->> 'claimed_on', first_read_began FROM orders INDEXED BY orders_at_work
WHERE state = 0 AND status = 'open' AND claimed = 1
"""
"""Two queries, because for both conditions at once SQLite scans all open orders."""


@declare_query("negative_stock", "first size")
def negative_stock(context: QueryContext, args: Args) -> QueryResult[NegativeStockRow]:
    """Return a window on impossible stock.

    Kinds: `below`: below zero at a location (empty code: in the whole store). `more`: more picked on a line than
    ordered. `missing`: more put down for a line than its locations hold. `overdrawn`: more in hand for orders than in
    stock.
    """
    cache = context.cache
    below, inconsistent = _count_cached(cache)
    over_picked_rows = [
        _negative_stock_row("overdrawn", each.product_number, each.name, "", to_decimal(each.excess))
        for each in context.keep(PickedOverStock).find(context)
    ]
    total = below + inconsistent + len(over_picked_rows)
    first, size = window_bounds(args, 50)
    rows = _below_zero_rows(cache, first, size, below)
    rows += _inconsistent_rows(cache, max(0, first - below), size - len(rows)) if len(rows) < size else []
    start = max(0, first - below - inconsistent)
    rows += over_picked_rows[start : start + size - len(rows)]
    return [{**row, "is_corrected": _is_corrected(context, row)} for row in rows], total


def _is_corrected(context: QueryContext, row: NegativeStockRow) -> bool:
    """Return True if a location has no negative stock any more once the operations that wait are done."""
    number = row["product_number"]
    if row["kind"] != "below" or number not in context.pending_products:
        return False
    return all(
        row["location_code"] not in dict(negative_locations(stock)) for _, stock in context.overlaid_stock([number])
    )


def _count_cached(cache: apsw.Connection) -> tuple[int, int]:
    ((below,),) = fetch(cache, "SELECT count(*) FROM negative_stock")
    ((inconsistent,),) = fetch(cache, f"SELECT count(*) {_INCONSISTENT_LINES}")
    return int(below), int(inconsistent)


def _below_zero_rows(cache: apsw.Connection, first: int, size: int, total: int) -> list[NegativeStockRow]:
    read = read_along(cache, _NEGATIVE_STOCK, ("name", "product_number", "n"))
    return [
        _negative_stock_row("below", str(product), str(name or product), str(location), to_decimal(quantity))
        for product, name, location, quantity in read_window(read, total, first, size)
    ]


def _inconsistent_rows(cache: apsw.Connection, first: int, size: int) -> list[NegativeStockRow]:
    sql = f"""SELECT l.order_number, l.line_number, l.product_number, l.raw, p.name {_INCONSISTENT_LINES}
      ORDER BY l.order_number, l.line_number LIMIT ? OFFSET ?"""
    return [_inconsistent_row(*found) for found in fetch(cache, sql, size, first)]


def _inconsistent_row(order: str, line: int, product: str, raw: str, name: str | None) -> NegativeStockRow:
    entry = parse_row(raw)
    kind, quantity, limit = find_inconsistency(order, entry) or ("more", Decimal(0), Decimal(0))
    label = str(entry.get("description") or name or product)
    return {
        **_negative_stock_row(kind, str(product), label, "", quantity),
        "key": f"{kind}/{order}/{line}",
        "order_number": str(order),
        "line_number": int(line),
        "picked": to_decimal(entry.get("picked_quantity")),
        "other_quantity": limit,
    }


def _negative_stock_row(kind: str, product: str, label: str, location: str, quantity: Decimal) -> NegativeStockRow:
    return {
        "key": f"{kind}/{product}/{location}",
        "kind": kind,
        "product_number": product,
        "label": label,
        "location_code": location,
        "quantity": quantity,
        "order_number": "",
        "line_number": 0,
        "picked": Decimal(0),
        "other_quantity": Decimal(0),
        "is_corrected": False,
    }


def stuck_orders(cache: apsw.Connection, outbox: apsw.Connection, args: Args) -> list[str]:
    """Return the orders in work without an event for so many `minutes` at `now`, longest silence first.

    An order is in work if it is claimed or partly picked. If no event is known, the time of its first read counts.
    """
    since = datetime.fromisoformat(str(args["now"])).astimezone(UTC) - timedelta(minutes=float(args["minutes"]))
    found = fetch(cache, _ORDERS_IN_WORK)
    last_event_by_order = last_events(cache, outbox, [str(number) for number, _, _ in found])
    stuck = []
    for number, claimed_on, first_read in found:
        last = max(to_utc_text(str(claimed_on or "")), last_event_by_order.get(number, "")) or iso_time(first_read)
        if last < to_utc_text(since.isoformat()):
            stuck.append((last, str(number)))
    return [number for _, number in sorted(stuck)]


@declare_query("stuck", "now minutes first size")
def query_stuck_orders(context: QueryContext, args: Args) -> QueryResult[OrdersByNumberRow]:
    """Return a window on the stuck orders."""
    numbers = stuck_orders(context.cache, context.outbox, args)
    first, size = window_bounds(args, 50)
    rows, _ = orders_by_number(context, {"orders": numbers[first : first + size]})
    for row in rows:
        row["idle_since"] = row["idle_since"] or row["seen_at"]
    return rows, len(numbers)


@declare_query("exceptions", "now minutes pickup_days")
def query_exceptions(context: QueryContext, args: Args) -> QueryResult[ExceptionsRow]:
    """Return one row with the number of each kind of exception."""
    cache, outbox = context.cache, context.outbox
    differences, value = totals_without(cache, resolved_differences(cache, outbox))
    row: ExceptionsRow = {
        "unconfirmed": count_needing_person(outbox),
        "differences": differences,
        "value": value,
        "negative_stock": sum(_count_cached(cache)) + len(context.keep(PickedOverStock).find(context)),
        "stuck": len(stuck_orders(cache, outbox, args)),
        "late": context.keep(OrderBoard).count_late(context, str(args["now"])),
        "recounts": len(open_recounts(cache, outbox)),
        "excess_receipts": len(find_excess_lines(context)),
        "entries_to_review": count_entries_to_review(cache, outbox),
        "uncollected": len(uncollected_orders(context, args)),
        "unread_lists": unread_lists(cache),
    }
    return [row], 1


_PICKED_AND_DUE = """
SELECT order_number, pickup, first_read_began FROM orders INDEXED BY orders_status
WHERE status = 'picked' AND (pickup < ? OR pickup = '~')
"""


def uncollected_orders(context: QueryContext, args: Args) -> list[tuple[str, str]]:
    """Return the picked orders that wait for `pickup_days` or more at `now`: since when, and number; longest first."""
    days = float(args.get("pickup_days") or 0)
    if not days:
        return []
    limit = datetime.fromisoformat(str(args["now"])).astimezone(UTC) - timedelta(days=days)
    due_before = limit.astimezone().replace(tzinfo=None).isoformat(timespec="seconds")
    found = fetch(context.cache, _PICKED_AND_DUE, due_before)
    pending = context.keep(PendingOrders).some(context, [str(number) for number, *_ in found])
    here = {number for number, order in pending.items() if order.now.state != ORDER_PICKED}
    events = last_events(context.cache, context.outbox, [str(number) for number, *_ in found])
    waiting = []
    for number, pickup, first_read in found:
        event = events.get(number, "") or iso_time(first_read)
        since = max(event, to_utc_text(pickup) if pickup != "~" else "")
        if number not in here and since < to_utc_text(limit.isoformat()):
            waiting.append((since, str(number)))
    return sorted(waiting)


@declare_query("picked_orders", "now pickup_days", whole_topics("order", "log", "outbox"))
def query_picked_orders(context: QueryContext, args: Args) -> QueryResult[PickedOrdersRow]:
    """Return one row: how many picked orders there are, how many wait too long, and the first one."""
    rows, picked = query_order_board(context, {"status": ["picked"], "now": args["now"], "size": 1})
    number, name = (str(rows[0].get(field) or "") if rows else "" for field in ("order_number", "customer_name"))
    uncollected = len(uncollected_orders(context, args))
    row: PickedOrdersRow = {
        "picked": picked, "uncollected": uncollected, "order_number": number, "customer_name": name
    }  # fmt: skip
    return [row], 1


@declare_query("uncollected", "now pickup_days first size", whole_topics("order", "log", "outbox"))
def query_uncollected(context: QueryContext, args: Args) -> QueryResult[OrdersByNumberRow]:
    """Return a window on these orders, with the time since which they wait as `idle_since`."""
    waiting = uncollected_orders(context, args)
    first, size = window_bounds(args, 50)
    since = {number: at for at, number in waiting[first : first + size]}
    rows, _ = orders_by_number(context, {"orders": list(since)})
    for row in rows:
        row["idle_since"] = since[row["order_number"]]
    return rows, len(waiting)
