"""Goods in hand: picked for open orders and at no location. They belong to the order, even before the pick was sent."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.order_overlay import overlaid_order
from aisle.cache.order_queries import load_order
from aisle.cache.order_writer import in_hand_and_held
from aisle.cache.pending_operations import orders_of_operation
from aisle.cache.people_and_claim_queries import WORK_SHIFT_S, add_claims, add_workers, orders_of_user
from aisle.cache.queries import QueryContext, QueryResult, declare_query, whole_topics
from aisle.cache.stored_row_values import Row, iso_time
from aisle.host.database import fetch
from aisle.jobs.claim import is_later
from aisle.jobs.job import Args
from aisle.jobs.pick.pick_line import parse_lines, sum_in_hand, sum_own_in_hand
from aisle.named_tuple_json import from_text
from aisle.outbox.local_notes import NOT_PUT_DOWN, find_note
from aisle.outbox.merge_and_rebase import has_base, picked_change
from aisle.outbox.operation_queue import OperationQueue
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import OpenWorkRow
    from aisle.jobs.row_types.orders import OrderRow

_LINES_IN_HAND = """
SELECT l.order_number, l.in_hand FROM line l INDEXED BY line_in_hand
JOIN orders o ON o.order_number = l.order_number
WHERE l.product_number = ? AND l.in_hand > 0 AND o.state < 2
"""


def product_in_hand(context: QueryContext, product: str) -> Decimal:
    """Return the quantity of a product in hand for all open orders.

    Orders that pending operations of the product touch count with these operations applied, all others as cached.
    """
    orders, operations = context.pending_orders, context.pending_products.get(product, ())
    moved = {number for operation in operations for number in orders_of_operation(operation) if number in orders}
    cached = fetch(context.cache, _LINES_IN_HAND, product)
    found = sum((to_decimal(quantity) for number, quantity in cached if number not in moved), Decimal(0))
    return found + sum((_product_in_hand_of_order(context, number, product) for number in moved), Decimal(0))


def _product_in_hand_of_order(context: QueryContext, number: str, product: str) -> Decimal:
    order_now = overlaid_order(context, number)
    if order_now is None or order_now.row["is_rejected"] or not order_now.row["is_active"]:
        return Decimal(0)
    lines = (line for line in order_now.lines if line.get("product_number") == product)
    return sum((_line_in_hand(line, number) for line in lines), Decimal(0))


def _line_in_hand(line: Row, number: str) -> Decimal:
    picked = to_decimal(line.get("picked_quantity"))
    return to_decimal(in_hand_and_held(number, line["line_number"], line, picked)[0])


_UPDATES_OF_USER = """
SELECT body, merge_key = '' FROM operation
WHERE operation = 'update-customer-order' AND body ->> '$.orders.order_number' = ? AND app_user = ?
AND superseded_by = '' AND (merge_key = '' OR state <> 'rejected')
"""
"""Updates with an empty merge key are excess that no line could take (aisle.outbox.merge_and_rebase)."""


_MOVEMENTS_OF_USER = """
SELECT body FROM operation
WHERE created_at > ? AND operation = 'create-movement' AND app_user = ? AND superseded_by = '' AND state <> 'rejected'
"""


@declare_query("open_work", "user now", whole_topics())
def user_in_hand(context: QueryContext, args: Args) -> QueryResult[OpenWorkRow]:
    """Return the orders that `user` picked here lately, last one first, with the pieces (`count`) in hand.

    `now` is ISO 8601. In hand means picked and at no location. Without locations nothing is ever put down, so none is
    listed. The total is the number of operations that are not confirmed.
    """
    cache, outbox, user = context.cache, context.outbox, str(args.get("user") or "")
    waiting = OperationQueue(outbox).pending_counts()[0]
    if not user:
        return [], waiting
    found: list[OpenWorkRow] = []
    since = datetime.fromisoformat(str(args["now"])).timestamp() - WORK_SHIFT_S
    for number in orders_of_user(outbox, user, since):
        rows, _ = load_order(context, number)
        add_claims(cache, outbox, rows)
        add_workers(cache, outbox, rows)
        count = _count_in_hand(rows[0], user, outbox, since) if rows else Decimal(0)
        if count:
            found.append({"order_number": number, "count": count})
    return found, waiting


def _count_in_hand(row: OrderRow, user: str, outbox: apsw.Connection, since: float) -> Decimal:
    """Return the quantity of an open order in this user's hand.

    It is all of the order if the user has claimed it and nobody else works on it, else what they picked themselves. It
    is 0 if another person took the order over.
    """
    owner = row.get("claimed_by") if row["is_claimed"] else None
    if row["is_rejected"] or not row["is_active"]:
        return Decimal(0)
    if owner not in (None, user) and not _continued_after_take_over(row, user, outbox):
        return Decimal(0)
    lines = parse_lines(row["lines"])
    if not any(line.location for line in lines):
        return Decimal(0)
    if owner != user or any(each["user"] != user for each in row["at_work"]):
        picked = _picked_by_user(outbox, str(row["order_number"]), user, since)
        lines = tuple(line._replace(own_picked=picked.get(line.line, Decimal(0))) for line in lines)
        return sum_own_in_hand(lines)
    return sum_in_hand(lines)


def _continued_after_take_over(row: OrderRow, user: str, outbox: apsw.Connection) -> bool:
    """Return True if the user went on picking after another person took the order over.

    They then left it with goods in hand after the take-over.
    """
    note = find_note(outbox, NOT_PUT_DOWN, str(row["order_number"]))
    if note is None or note.text != user:
        return False
    return is_later(iso_time(note.at), str(row.get("claimed_on") or ""))


def _picked_by_user(outbox: apsw.Connection, order: str, user: str, since: float) -> dict[int, Decimal]:
    """Return the quantity of each line that a user picked on this host and has not put down since.

    All operations count that the service accepted or may still accept.
    """
    picked: dict[int, Decimal] = {}
    for body, remains in fetch(outbox, _UPDATES_OF_USER, order, user):
        for line in filter(has_base, from_text(Any, body)["orders"].get("order_lines") or ()):
            _add_to_line(picked, line["line_number"], -picked_change(line) if remains else picked_change(line))
    for (body,) in fetch(outbox, _MOVEMENTS_OF_USER, since, user):
        for item in from_text(Any, body) if order in body else ():
            for side, sign in (("from_location", -1), ("to_location", 1)):
                end = item.get(side) or {}
                if end.get("customer_order_number") == order and not end.get("location_code"):
                    _add_to_line(picked, end.get("customer_order_line_number"), sign * to_decimal(item.get("quantity")))
    return picked


def _add_to_line(own: dict[int, Decimal], line: Any, quantity: Decimal) -> None:
    own[int(line)] = own.get(int(line), Decimal(0)) + quantity
