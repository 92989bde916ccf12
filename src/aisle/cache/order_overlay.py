"""Orders with pending operations applied, each computed once; and what these change in the lists of orders.

Picked quantities are absolute, or are added up (see `merge_and_rebase`) until they may have arrived: applied twice they
do no harm. Movements are always added up, so they must be applied until then and not longer.

A list is drawn again after every commit of any process; mostly the commit concerns one of its orders, or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import apsw

from aisle.cache.pending_operations import is_included
from aisle.cache.pools_and_locations_of_rows import held_locations
from aisle.cache.queries import QueryContext
from aisle.cache.schema import ORDER_CLOSED, ORDER_OPEN, ORDER_PICKED
from aisle.cache.stored_row_values import Row, parse_row
from aisle.host.database import fetch, fetch_one
from aisle.jobs.claim import is_later
from aisle.jobs.job import Json
from aisle.named_tuple_json import to_text
from aisle.outbox.merge_and_rebase import BASE, PICKED, has_base, is_picked, picked_change, rebase_line
from aisle.outbox.operation_record import REJECT_LINES, Operation
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderHeader
    from aisle.operation_body_types import LineRejection, LineUpdate, MovementEnd, MovementEntry


CLAIM_FIELDS = ("claimed_by", "claimed_name", "claimed_on", "claimed_terminal")
"""Fields of a claim that our own service sends beside `is_claimed`."""


def is_line_complete(line: Mapping[str, Json]) -> bool:
    """Return True if nothing of a line is left to pick."""
    return bool(line.get("is_picked")) or to_decimal(line.get("picked_quantity")) >= to_decimal(line.get("quantity"))


def apply_to_order(header: Row, lines: list[Row], operations: Iterable[Operation], read_began: float | None) -> None:
    """Apply operations to an order, in place.

    `read_began`: time at which the read of its lines began, None if they are unknown. Operations confirmed before then
    are included already.
    """
    touched, by_number = False, {line["line_number"]: line for line in lines}
    for operation in operations:
        if is_included(operation, read_began):
            continue
        touched = True
        if operation.operation == "update-customer-order":
            _apply_update(header, by_number, operation)
        elif operation.operation == REJECT_LINES:
            _apply_line_rejection(lines, operation.body["lines"])
        else:
            for item in operation.body:
                _apply_movement(str(header["order_number"]), lines, item)
    if touched and lines:
        header["is_picked"] = bool(header.get("is_picked")) or all(is_line_complete(line) for line in lines)


def _apply_update(header: Row, lines: Mapping[Json, Row], operation: Operation) -> None:
    order = operation.body["orders"]
    header.update({name: value for name, value in order.items() if name not in ("order_lines", "is_claimed")})
    if "is_claimed" in order:
        _apply_claim(header, operation, bool(order["is_claimed"]))
    added = False
    for change in order.get("order_lines") or ():
        line = lines.get(change["line_number"])
        if line is not None and has_base(change):
            _add_picked(line, change, may_be_included=operation.first_sent_at is not None)
            added = True
        elif line is not None:
            line.update(change)
    if added:  # the sender did not know the picks of others on these lines
        header["is_picked"] = all(is_line_complete(line) for line in lines.values())


def _apply_line_rejection(lines: list[Row], rejections: Iterable[LineRejection]) -> None:
    """Reject lines or reopen them, in place. Picked goods of a rejected line go back."""
    changes = {change["line_number"]: change for change in rejections}
    for line in lines:
        change = changes.get(line["line_number"])
        if change is not None:
            line.update(change)
            line["is_picked"] = change["is_rejected"]
            line[PICKED] = Decimal(0)


def _add_picked(line: Row, change: LineUpdate, *, may_be_included: bool) -> None:
    """Add a picker's share to a line, in place; a share that may be included already is not added again."""
    picked, ordered = to_decimal(line.get(PICKED)), to_decimal(line.get("quantity"))
    now = rebase_line(change, picked, ordered, to_decimal(line.get("moved_quantity")))
    if may_be_included:
        stated = to_decimal(change[PICKED])
        reached = (
            max(picked, min(stated, now.picked)) if picked_change(change) > 0 else min(picked, max(stated, now.picked))
        )
        now = now._replace(picked=reached)
    line.update({name: value for name, value in change.items() if name != BASE})
    line[PICKED], line["is_picked"] = now.picked, is_picked(change, now, ordered)


def _apply_claim(header: Row, operation: Operation, is_claimed: bool) -> None:
    """Apply a claim or release, in place. The latest claim wins; a release before it released an earlier claim."""
    if not is_claimed:
        same = (header.get("claimed_by"), header.get("claimed_terminal") or "") == (
            operation.app_user,
            operation.terminal,
        )
        if header.get("is_claimed") and not same and is_later(str(header.get("claimed_on")), operation.occurred_at):
            return
        header["is_claimed"] = False
        for name in CLAIM_FIELDS:
            header.pop(name, None)
    elif not is_later(str(header.get("claimed_on") or ""), operation.occurred_at):
        header["is_claimed"] = True
        header.pop("claimed_name", None)
        claim = (operation.app_user, operation.occurred_at, operation.terminal)
        header.update(zip(("claimed_by", "claimed_on", "claimed_terminal"), claim, strict=True))


def _apply_movement(order: str, lines: list[Row], item: MovementEntry) -> None:
    """Apply a movement to a location of a line or away from it, in place.

    More than was picked is picked with it. Goods put down from the line's own hand were picked before; applying that
    again to a line that includes it does no harm.
    """
    quantity = to_decimal(item.get("quantity"))
    source: MovementEnd = item.get("from_location") or {}
    target: MovementEnd = item.get("to_location") or {}
    for end, sign in ((source, -1), (target, 1)):
        if not end or end.get("customer_order_number") != order or not end.get("location_code"):
            continue
        for line in lines:
            if line["line_number"] != end.get("customer_order_line_number"):
                continue
            _add_held(line, str(end["location_code"]), sign * quantity)
            picked = to_decimal(line.get("picked_quantity"))
            moved = max(Decimal(0), to_decimal(line.get("moved_quantity")) + sign * quantity)
            if _comes_from_hand(source, order, line["line_number"]):
                line["moved_quantity"] = min(picked, moved)
            elif sign < 0 and not _is_held_by(target, order, line["line_number"]):
                line["moved_quantity"], line["picked_quantity"] = moved, max(Decimal(0), picked - quantity)
                line["is_picked"] = line["picked_quantity"] >= to_decimal(line.get("quantity"))
            else:
                line["moved_quantity"], line["picked_quantity"] = moved, max(picked, moved)


def _add_held(line: Row, code: str, change: Decimal) -> None:
    """Change the quantity held for the line at a location, in place, if these quantities were read."""
    held = line.get("put_down")
    if held is None:
        return
    for entry in held:
        if entry["location_code"] == code:
            entry["quantity"] = to_decimal(entry["quantity"]) + change
            return
    held.append({"location_code": code, "quantity": change})


def _comes_from_hand(end: MovementEnd, order: str, line: Json) -> bool:
    """Return True for goods that are picked for a line and at no location."""
    return _is_held_by(end, order, line) and not end.get("location_code")


def _is_held_by(end: MovementEnd, order: str, line: Json) -> bool:
    """Return True for goods of a line."""
    return (end.get("customer_order_number"), end.get("customer_order_line_number")) == (order, line)


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
    cache, operations, overlaid = context.cache, context.pending_orders.get(number, ()), context.keep(OverlaidOrders)
    header = fetch_one(cache, _ORDER_HEADER, number)
    if header is None:
        return None
    raw, picked, began, pickup = header
    cached_lines = fetch(cache, ORDER_LINES, number) if began is not None else []
    earlier = overlaid.get(number)
    if earlier and earlier.operations is operations and earlier[:2] == (header, cached_lines):
        return earlier
    row = {**parse_header(raw, number, pickup), "lines_known": began is not None}
    lines = [_line_with_put_down(parse_row(raw), number, line) for line, raw in cached_lines]
    apply_to_order(row, lines, operations, began)
    picked = sum((to_decimal(line.get("picked_quantity")) for line in lines), Decimal(0)) if lines else picked
    row["picked_quantity"] = picked_quantity(row, picked)
    if len(overlaid) >= MAX_KEPT_ORDERS:
        overlaid.clear()
    order = overlaid[number] = OverlaidOrder(header, cached_lines, operations, row, lines)
    return order


def _line_with_put_down(line: Row, order_number: str, line_number: int) -> Row:
    return {**line, "line_number": line_number, "put_down": held_locations(line, order_number)}


_PUT_DOWN = "SELECT DISTINCT location_code FROM put_down WHERE order_number = ? ORDER BY location_code"


def put_down_locations(context: QueryContext, number: str) -> list[str]:
    """Return the locations where goods of an order lie, with pending operations applied."""
    if number not in context.pending_orders:
        return [str(code) for (code,) in fetch(context.cache, _PUT_DOWN, number)]
    held = (each for line in overlaid_lines(context, number) for each in line["put_down"])
    return sorted({each["location_code"] for each in held if each["quantity"] is None or each["quantity"] > 0})


def picked_quantity(row: Row, picked: Any) -> Decimal:
    """Return the picked quantity of an order; `picked` is None if its lines are unknown, then its header states it."""
    if picked is None:
        return to_decimal(row.get("total_quantity" if row["is_picked"] else "total_delivery_quantity"))
    return to_decimal(picked)


# What pending operations change in the lists of orders

NO_CLAIMANT = "~"
"""Sort value of an order that nobody has claimed."""

MAX_KEPT_STATES = 500
"""Number of orders without pending operations that may be kept; beyond it they are dropped."""
ORDER_BATCH = 25
"""Orders whose operations are read at once."""

STATE_BY_STATUS = {
    "open": ORDER_OPEN,
    "partial": ORDER_OPEN,
    "picked": ORDER_PICKED,
    "rejected": ORDER_CLOSED,
    "finished": ORDER_CLOSED,
}
"""States of an order, in the words of our own service, and in the cache. interface: fulfillment_status."""


class OrderColumns(NamedTuple):
    """Cached columns of an order by which lists filter and sort; the reads' times change with every read of it."""

    order_number: str
    state: int
    status: str
    pickup: str
    sort: str
    first_read_began: float
    text: str
    reference: str
    claimed: int
    customer: str
    claimant: str
    progress: float
    header_read_began: float
    lines_read_began: float | None
    short: int = 0
    """Number of lines closed short; only set for an order with pending operations."""


class PendingOrder(NamedTuple):
    """An order with pending operations: its columns as cached and once these are done."""

    cached: OrderColumns
    now: OrderColumns
    revision: int
    """Revision of its pending operations (`OverlayIndex.revision`)."""


_COLUMNS_OF_ORDERS = f"""
SELECT {", ".join(f"o.{name}" for name in OrderColumns._fields[:-1])}
FROM json_each(?) e JOIN orders o ON o.order_number = e.value
"""  # noqa: S608 - names of our own

SortKey = tuple[str, str, str]
"""Sort key of the list of open orders: (pickup, sort, order_number)."""


class ListChange(NamedTuple):
    """Change of the list of open orders by pending operations."""

    hidden: frozenset[str]
    """Orders that leave it."""
    extra: list[SortKey]
    """Sorted keys of those that enter it."""


class PendingOrders:
    """All cached orders with pending operations. One is computed again only if its operations or its row changed."""

    def __init__(self) -> None:
        self._orders: dict[str, PendingOrder] = {}
        self._cache: tuple[apsw.Connection, int] | None = None
        """Cache and its version for which all orders were computed last."""
        self._revision = 0
        """Revision of the pending operations for which all orders were computed last."""

    def all(self, context: QueryContext) -> Mapping[str, PendingOrder]:
        """Return all of them by number."""
        pending, cache = context.pending_orders, (context.cache, context.cache_version)
        touched = pending.keys_changed_since(self._revision) if cache == self._cache else None
        if touched is None:
            touched = pending.possible_keys() | self._orders.keys()
        revision, self._cache = pending.current_revision(), None  # an exception leads to a full computation next time
        self.some(context, touched)
        self._cache, self._revision = cache, revision
        return self._orders

    def some(self, context: QueryContext, numbers: Iterable[str]) -> dict[str, PendingOrder]:
        """Return those of these orders that have pending operations."""
        pending, found = context.pending_orders, dict[str, PendingOrder]()
        wanted = [number for number in numbers if number in self._orders or pending.may_contain(number)]
        for first in range(0, len(wanted), ORDER_BATCH):
            found |= self._batch(context, wanted[first : first + ORDER_BATCH])
        if len(self._orders) > MAX_KEPT_STATES + len(pending.possible_keys()):
            self._orders = {number: each for number, each in self._orders.items() if pending.may_contain(number)}
        return found

    def _batch(self, context: QueryContext, numbers: Sequence[str]) -> dict[str, PendingOrder]:
        pending = context.pending_orders
        rows = (OrderColumns(*row) for row in fetch(context.cache, _COLUMNS_OF_ORDERS, to_text(numbers)))
        cached = {row.order_number: row for row in rows}
        known = {number: self._orders.pop(number) for number in numbers if number in self._orders}
        pending.preload(cached)
        for number, row in cached.items():
            order, revision = known.get(number), pending.revision(number)
            if order is None or (order.cached, order.revision) != (row, revision):
                order = _compute_pending(context, row, revision) if number in pending else None
            if order is not None:  # stored at once: the next order may raise
                self._orders[number] = order
        return {number: self._orders[number] for number in cached if number in self._orders}


def _compute_pending(context: QueryContext, cached: OrderColumns, revision: int) -> PendingOrder | None:
    order = overlaid_order(context, cached.order_number)
    if order is None:
        return None
    row, status = order.row, order_status(order.row)
    picked, ordered = to_decimal(row.get("picked_quantity")), to_decimal(row.get("total_quantity"))
    now = cached._replace(
        state=STATE_BY_STATUS[status],
        status=status,
        claimed=int(bool(row.get("is_claimed"))),
        claimant=str(row.get("claimed_by") or "").lower() if row.get("is_claimed") else NO_CLAIMANT,
        progress=float(min(Decimal(1), picked / ordered)) if ordered > 0 else 0.0,
        short=count_short_lines(context, order.lines),
    )
    return PendingOrder(cached, now, revision)


def closed_orders(context: QueryContext, numbers: Iterable[str]) -> set[str]:
    """Return those of these orders that were rejected or finished here."""
    found = context.keep(PendingOrders).some(context, numbers)
    return {number for number, order in found.items() if order.now.state == ORDER_CLOSED}


def list_change(context: QueryContext) -> ListChange:
    """Return the change of the list of open orders by pending operations."""
    orders = context.keep(PendingOrders).all(context).values()
    changed = [order for order in orders if order.cached.state != order.now.state]
    hidden = frozenset(order.cached.order_number for order in changed if order.cached.state == ORDER_OPEN)
    extra = [
        (order.now.pickup, order.now.sort, order.now.order_number) for order in changed if order.now.state == ORDER_OPEN
    ]
    return ListChange(hidden, sorted(extra))


def order_status(row: OrderHeader | Row) -> str:
    """Return the state of an order, one of `STATE_BY_STATUS`."""
    if row.get("is_rejected") and row.get("is_active", True):
        return "rejected"
    if not row.get("is_active", True):
        return "finished"
    if row.get("is_picked"):
        return "picked"
    return "partial" if to_decimal(row.get("picked_quantity")) > 0 else "open"


def count_short_lines(context: QueryContext, lines: Iterable[Row]) -> int:
    """Return the number of lines closed short of the ordered quantity, by more than goods by weight may lack."""
    return sum(is_line_complete(line) and not _is_picked_enough(context, line) for line in lines)


_IS_MEASURED = "SELECT 1 FROM product WHERE product_number = ? AND allow_decimal"


def _is_picked_enough(context: QueryContext, line: Row) -> bool:
    picked, ordered = to_decimal(line.get("picked_quantity")), to_decimal(line.get("quantity"))
    is_near = ordered - picked <= ordered * context.weight_tolerance / 100
    return picked >= ordered or (
        is_near and fetch_one(context.cache, _IS_MEASURED, str(line.get("product_number"))) is not None
    )


ORDER_LINES = "SELECT line_number, raw FROM line WHERE order_number = ? ORDER BY line_number"


def parse_header(raw: str, number: str, pickup: str) -> Row:
    """Parse the header of an order and set the fields that every order has."""
    row = parse_row(raw)
    row["order_number"] = number
    row.setdefault("pickup_date", "" if pickup == "~" else pickup)
    row["is_active"] = row.get("is_active") is not False
    for name in ("is_claimed", "is_picked", "is_rejected"):
        row[name] = bool(row.get(name))
    return row


_LINES_OF_PRODUCT = (
    "SELECT line_number, raw FROM line WHERE order_number = ? AND product_number = ? ORDER BY line_number"
)


def load_lines_of_product(cache: apsw.Connection, number: str, product: str) -> list[Row]:
    """Return the cached lines of an order with this product."""
    found = fetch(cache, _LINES_OF_PRODUCT, number, product)
    return [{**parse_row(raw), "line_number": line} for line, raw in found]
