"""Comparison of the figures of an unconfirmed operation: before it, what it does, and what the service has now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.parse_stored_row import Row
from aisle.cache.pools_and_locations_of_rows import entry_quantity
from aisle.cache.stock_overlay import expected_changes, is_count, stock_items
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch, fetch_one
from aisle.named_tuple_json import from_text
from aisle.outbox.operation_record import CREATE_MOVEMENT, UPDATE_ORDER, UPDATE_STORE_PRODUCTS, Operation
from aisle.outbox.rebase_picks import BASE, PICKED
from aisle.store_product_settings import BASE_VALUES, parse_entry_values, parse_update_values

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import ComparedFigureRow
    from aisle.outbox.operation_record import OrderState


CONFLICT_STATUS = 409
"""HTTP status of an answer that the goods are not there."""


ORDER_FLAGS = ("is_active", "is_claimed", "is_picked", "is_rejected")
"""Flags that an update may set on a whole order."""


_FLAG_YES, _FLAG_NO = "yes", "no"


def items_of_operation(op: Operation) -> list[Row]:
    """Return the parts of an operation: entries of a log, items of a movement, lines of an order."""
    return list(op.body["orders"].get("order_lines") or () if op.operation == UPDATE_ORDER else stock_items(op))


def compare_figures(op: Operation, cache: apsw.Connection) -> Iterator[ComparedFigureRow]:
    """Yield the figures of both sides by location, by order line, or by field of an order.

    If the service was not asked for this operation, its figures come from the cache.
    """
    before, after = op.evidence.get("before") or {}, op.evidence.get("after") or {}
    if op.operation == UPDATE_ORDER:
        excess = from_text(Any, op.answer) if op.state == "rejected" and op.answer else {}
        now = after.get("order") or _cached_order(op, cache)
        yield from _compare_order(op, before.get("order") or {}, _excess_as_order(excess) if excess else now)
        return
    if op.operation == UPDATE_STORE_PRODUCTS:
        yield from _compare_settings(op, before.get("product") or {}, after.get("product"), cache)
        return
    yield from _compare_stock(op, before.get("stock") or {}, after.get("stock") or _cached_stock(op, cache))


def _compare_stock(op: Operation, stock: Row, now: Row) -> Iterator[ComparedFigureRow]:
    changes, counts = expected_changes(op), _counted_quantities(op)
    for product in dict.fromkeys((*stock, *now)):
        for location in dict.fromkeys((*stock.get(product, {}), *now.get(product, {}))):
            change, count = changes.get((product, location)), counts.get((product, location))
            ours = f"{change:+f}" if change is not None else None if count is None else f"={count.normalize():f}"
            if location or len({*stock.get(product, {}), *now.get(product, {})}) == 1:
                yield {
                    "subject": product,
                    "location": location,
                    "before": _format_number(stock.get(product, {}).get(location)),
                    "ours": ours,
                    "after": _format_number(now.get(product, {}).get(location)),
                }


def _compare_order(op: Operation, before: Row | OrderState, after: Row | OrderState) -> Iterator[ComparedFigureRow]:
    update = op.body["orders"]
    for name in ORDER_FLAGS:
        if name in update:
            before_value, after_value = (side.get("head", {}).get(name) for side in (before, after))
            yield {
                "subject": name,
                "location": "",
                "before": _format_flag(before_value),
                "ours": _format_flag(update[name]),
                "after": _format_flag(after_value),
            }
    for line in items_of_operation(op):
        number = str(line.get("line_number"))
        before_value, after_value = before.get("lines", {}).get(number, {}), after.get("lines", {}).get(number, {})
        yield {
            "subject": str(line.get("product_number") or ""),
            "location": "",
            "before": _format_number(before_value.get(PICKED, line.get(BASE))),
            "ours": _format_number(line.get(PICKED)),
            "after": _format_number(after_value.get(PICKED)),
        }


def _compare_settings(
    op: Operation, before: Row, after: Row | None, cache: apsw.Connection
) -> Iterator[ComparedFigureRow]:
    """Yield the figures by field of each product; None if unknown."""
    for item in items_of_operation(op):
        number = str(item.get("product_number") or "")
        row = fetch_one(
            cache, "SELECT s.raw FROM product p JOIN stock s ON s.id = p.id WHERE p.product_number = ?", number
        )
        cached = parse_entry_values(json.loads(row[0], parse_float=Decimal)) if row else {}
        before_values, now = (
            before.get(number) or item.get(BASE_VALUES) or {},
            cached if after is None else after.get(number, {}),
        )
        for name, ours in parse_update_values(item).items():
            yield {
                "subject": name,
                "location": "",
                "before": before_values.get(name),
                "ours": ours,
                "after": now.get(name),
            }


def _excess_as_order(line: Row) -> Row:
    """Return a line as it was when it could not take the excess, in the form of an order.

    See aisle.outbox.excess.
    """
    return {"lines": {str(line.get("line_number")): line}}


def _cached_order(op: Operation, cache: apsw.Connection) -> Row:
    number = str(op.body["orders"].get("order_number") or "")
    row = fetch_one(cache, "SELECT raw FROM orders WHERE order_number = ?", number)
    if row is None:
        return {}
    lines = fetch(cache, "SELECT line_number, raw FROM line WHERE order_number = ?", number)
    return {
        "head": json.loads(row[0]),
        "lines": {str(line): json.loads(raw, parse_float=Decimal) for line, raw in lines},
    }


def _cached_stock(op: Operation, cache: apsw.Connection) -> Row:
    """Return the cached stock of the operation's products at the locations that it names."""
    found: dict[str, dict[str, Decimal]] = {}
    for product, location in dict.fromkeys((*expected_changes(op), *_counted_quantities(op))):
        sql = "SELECT s.raw FROM product p JOIN stock s ON s.id = p.id WHERE p.product_number = ?"
        row = fetch_one(cache, sql, product)
        entries = json.loads(row[0], parse_float=Decimal).get("store_locations") if row else None
        if location and isinstance(entries, list):
            here = (entry for entry in entries if str(entry.get("store_location_code") or "") == location)
            quantities = (entry_quantity(entry, "stock_pool_") or Decimal(0) for entry in here)
            found.setdefault(product, {})[location] = sum(quantities, Decimal(0))
    return found


def _counted_quantities(op: Operation) -> dict[tuple[str, str], Decimal]:
    """Return the counted quantity by product and location; pools are added up."""
    found: dict[tuple[str, str], Decimal] = {}
    for each in items_of_operation(op) if is_count(op) else ():
        at = str(each.get("product_number") or ""), str(each.get("location_code") or "")
        names = ("counted_quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))
        found[at] = found.get(at, Decimal(0)) + sum((to_decimal(each.get(name)) for name in names), Decimal(0))
    return found


def lacks_stock(op: Operation, cache: apsw.Connection) -> bool:
    """Return True if a movement may have been refused for too little free stock at its source.

    The answer's status or the known stock there decide. Goods of an order can never be too few.
    """
    if op.operation != CREATE_MOVEMENT:
        return False
    if any((item.get("from_location") or {}).get("customer_order_number") for item in op.body):
        return False
    if op.evidence.get("status") == CONFLICT_STATUS:
        return True
    stock = (op.evidence.get("after") or {}).get("stock") or _cached_stock(op, cache)
    leaving = [(at, -change) for at, change in expected_changes(op).items() if change < 0]
    found = [(stock.get(product, {}).get(location), quantity) for (product, location), quantity in leaving]
    return not found or any(available is None or to_decimal(available) < quantity for available, quantity in found)


def _format_flag(value: Any) -> str | None:
    return None if value is None else _FLAG_YES if value else _FLAG_NO


def _format_number(value: Any) -> str | None:
    return None if value is None else f"{to_decimal(value).normalize():f}"
