"""How much of a product is picked for open orders and lies at no place: it is theirs, also before that was sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from typing import Any

import apsw

from aisle.cache.claim_queries import add_claims
from aisle.cache.order_overlay import Row, orders_of_operation, to_decimal
from aisle.cache.order_queries import ListChange, load_order
from aisle.cache.overlaid_order import OverlaidOrders, PendingByOrder, overlaid_order
from aisle.cache.schema import MIN_SEARCH_PART
from aisle.host.database import fetch
from aisle.jobs.claims import is_later
from aisle.jobs.job import Json
from aisle.jobs.pick.stops import parse_lines, sum_in_hand, sum_own_in_hand
from aisle.json_codec import from_text, to_text
from aisle.outbox.local_notes import NOT_PUT_DOWN, find_note
from aisle.outbox.operation_record import Operation
from aisle.outbox.rebase import has_base, picked_change
from aisle.search_text import normalise_text

_LINES_IN_HAND = """
SELECT l.order_number, l.in_hand FROM line l INDEXED BY line_in_hand
JOIN orders o ON o.order_number = l.order_number
WHERE l.product_number = ? AND l.in_hand > 0 AND o.state < 2
"""


def product_in_hand(
    cache: apsw.Connection,
    orders: PendingByOrder,
    overlaid: OverlaidOrders,
    operations: Iterable[Operation],
    product: str,
) -> Decimal:
    """By what the service said of the orders, and of those that are named by `operations`, which are on their way for
    the product, by what they will be then."""
    moved = {number for operation in operations for number in orders_of_operation(operation) if number in orders}
    said = fetch(cache, _LINES_IN_HAND, product)
    found = sum((to_decimal(quantity) for number, quantity in said if number not in moved), Decimal(0))
    return found + sum(
        (_product_in_hand_of_order(cache, orders, overlaid, number, product) for number in moved), Decimal(0)
    )


def _product_in_hand_of_order(
    cache: apsw.Connection, orders: PendingByOrder, overlaid: OverlaidOrders, number: str, product: str
) -> Decimal:
    laid = overlaid_order(cache, orders, number, overlaid)
    if laid is None or laid.row["is_rejected"] or not laid.row["is_active"]:
        return Decimal(0)
    lines = (line for line in laid.lines if line.get("product_number") == product)
    return sum((_line_in_hand(line, number) for line in lines), Decimal(0))


def _line_in_hand(line: Row, number: str) -> Decimal:
    """What of a line is picked, and neither moved nor at a place."""
    said = line.get("store_locations")
    lying = [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []
    mine = [each for each in lying if each.get("customer_order_number") == number and each.get("location_code")]
    if any(each.get("quantity") is None for each in mine):  # so much of it lies there as is in no hand
        return Decimal(0)
    laid = sum((to_decimal(each.get("quantity")) for each in mine), Decimal(0))
    return max(Decimal(0), to_decimal(line.get("picked_quantity")) - max(to_decimal(line.get("moved_quantity")), laid))


MAX_LISTED = 5
"""So many of them are listed; whoever looks for another finds it by its words."""

_FIND_IN_HAND = """
SELECT o.order_number FROM orders o WHERE o.id IN (SELECT rowid FROM order_search WHERE order_search MATCH ? LIMIT 500)
AND o.state = 1 AND EXISTS (SELECT 1 FROM line l WHERE l.order_number = o.order_number AND l.in_hand > 0)
ORDER BY o.pickup, o.sort, o.order_number LIMIT 20
"""

_ORDER_KEYS = """
SELECT order_number, pickup, sort, text, state FROM orders
WHERE order_number IN (SELECT value FROM json_each(?)) AND state < 2
"""


def add_orders_in_hand(
    cache: apsw.Connection,
    pending: PendingByOrder,
    list_change: ListChange,
    args: Mapping[str, Json],
    not_put_down: Sequence[str],
) -> tuple[ListChange, dict[str, Decimal]]:
    """The list of open orders with those of these that were `left` here, or that are searched for; and how many pieces
    of each are in hand."""
    hidden, extra = list_change
    words = normalise_text(str(args.get("search") or "")).split()
    parts = " AND ".join(f'"{word}"*' for word in words if len(word) >= MIN_SEARCH_PART)
    named = [str(row[0]) for row in fetch(cache, _FIND_IN_HAND, parts)] if parts else []
    keys = {
        str(number): (pickup, sort, str(number))
        for number, pickup, sort, text, state in fetch(cache, _ORDER_KEYS, to_text([*not_put_down, *named]))
        if (state or number in hidden) and all(word in text for word in words)
    }
    counts = (
        (number, _order_in_hand(cache, pending, number))
        for number in dict.fromkeys((*not_put_down, *named))
        if number in keys
    )
    found = dict(islice(((number, count) for number, count in counts if count), MAX_LISTED))
    listed = {key[2] for key in extra}
    more = [keys[number] for number in found if number not in hidden and number not in listed]
    return (hidden.difference(found), sorted([*extra, *more])), found


def _order_in_hand(cache: apsw.Connection, pending: PendingByOrder, number: str) -> Decimal:
    """Where nobody keeps places nothing is ever put down."""
    rows, _ = load_order(cache, pending, number)
    if not rows or rows[0]["is_rejected"] or not rows[0]["is_active"]:
        return Decimal(0)
    lines = parse_lines(rows[0]["lines"])
    return sum_in_hand(lines) if any(line.location for line in lines) else Decimal(0)


WORK_SHIFT_S = 16 * 3600.0
"""What was opened before that is somebody else's matter by now."""

MAX_ORDERS = 20
"""Orders that are looked at, the last ones first."""

_ORDERS_OF_USER = """
SELECT h.order_number FROM hold h INDEXED BY hold_since JOIN job j ON j.job_id = h.job_id
WHERE j.user = ? AND j.name = 'pick' AND h.since > ? GROUP BY 1 ORDER BY max(h.since) DESC LIMIT ?
"""

_UPDATES_OF_USER = """
SELECT body, merge_key = '' FROM operation
WHERE operation = 'update-customer-order' AND body ->> '$.orders.order_number' = ? AND app_user = ?
AND superseded_by = '' AND (merge_key = '' OR state <> 'rejected')
"""
"""What is never merged is what found no room (aisle.outbox.rebase_excess)."""


_MOVEMENTS_OF_USER = """
SELECT body FROM operation
WHERE created_at > ? AND operation = 'create-movement' AND app_user = ? AND superseded_by = '' AND state <> 'rejected'
"""


def user_in_hand(
    cache: apsw.Connection, outbox: apsw.Connection, pending: PendingByOrder, args: Mapping[str, Json]
) -> list[Row]:
    """The orders that this `user` picked here lately (`now`: ISO 8601), and how many pieces (`count`) of each are in
    his hand: picked and at no place, the last order first. Where nobody keeps places nothing is ever put down."""
    user = str(args.get("user") or "")
    if not user:
        return []
    found: list[Row] = []
    since = datetime.fromisoformat(str(args["now"])).timestamp() - WORK_SHIFT_S
    for (number,) in fetch(outbox, _ORDERS_OF_USER, user, since, MAX_ORDERS):
        rows, _ = load_order(cache, pending, str(number))
        add_claims(cache, outbox, rows)
        count = _count_in_hand(rows[0], user, outbox, since) if rows else Decimal(0)
        if count:
            found.append({"order_number": str(number), "count": count})
    return found


def _count_in_hand(row: Mapping[str, Any], user: str, outbox: apsw.Connection, since: float) -> Decimal:
    """Of an open order: all of it where it is his, and nobody works on it beside him; else what he has picked himself.
    Nothing of what he has left to somebody else."""
    owner = row.get("claimed_by") if row["is_claimed"] else None
    if row["is_rejected"] or not row["is_active"]:
        return Decimal(0)
    if owner not in (None, user) and not _continued_after_take_over(row, user, outbox):
        return Decimal(0)
    lines = parse_lines(row["lines"])
    if not any(line.location for line in lines):
        return Decimal(0)
    if owner != user or any(each["user"] != user for each in row["at_work"]):
        own = _picked_by_user(outbox, str(row["order_number"]), user, since)
        lines = tuple(line._replace(own_picked=own.get(line.line, Decimal(0))) for line in lines)
        return sum_own_in_hand(lines)
    return sum_in_hand(lines)


def _continued_after_take_over(row: Mapping[str, Any], user: str, outbox: apsw.Connection) -> bool:
    """Whether he has picked on in somebody else's order: he left it with goods in his hand after it was taken over."""
    left = find_note(outbox, NOT_PUT_DOWN, str(row["order_number"]))
    if left is None or left.text != user:
        return False
    return is_later(datetime.fromtimestamp(left.at, UTC).isoformat(), str(row.get("claimed_on") or ""))


def _picked_by_user(outbox: apsw.Connection, order: str, user: str, since: float) -> dict[int, Decimal]:
    """How much of each line somebody has picked on this host, by all that the service took or may still take, and not
    laid down since then."""
    own: dict[int, Decimal] = {}
    for body, remains in fetch(outbox, _UPDATES_OF_USER, order, user):
        for line in filter(has_base, from_text(Any, body)["orders"].get("order_lines") or ()):
            _add_to_line(own, line["line_number"], -picked_change(line) if remains else picked_change(line))
    for (body,) in fetch(outbox, _MOVEMENTS_OF_USER, since, user):
        for item in from_text(Any, body) if order in body else ():
            for side, sign in (("from_location", -1), ("to_location", 1)):
                end = item.get(side) or {}
                if end.get("customer_order_number") == order and not end.get("location_code"):
                    _add_to_line(own, end.get("customer_order_line_number"), sign * to_decimal(item.get("quantity")))
    return own


def _add_to_line(own: dict[int, Decimal], line: Any, quantity: Decimal) -> None:
    own[int(line)] = own.get(int(line), Decimal(0)) + quantity
