"""Prefetch of the first queries of frequent writes, so that a remote database answers them at once.

Only queries that follow from the request are listed. Nothing depends on them: a missing one costs a round trip, an
unused one an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypedDict

from aisle.contract.models import ExactNumber
from aisle.contract.models.extension_bodies import ExtendedLogEntry, ExtendedOrderUpdateRequest
from aisle.contract.models.stock import MovementItem
from aisle.service.db import Statement
from aisle.service.db.statements import logs, orders, products, stock, stores
from aisle.service.db.statements import stock as sql
from aisle.service.handlers.logs import is_count
from aisle.service.operation_context import OperationCall

# Limit of rows with queries of their own. Nobody waits at a terminal for larger requests.
_MAX_ROWS = 8
_END_FIELDS: Final = ("from_location", "to_location")


class _OrderLineReference(TypedDict, total=False):
    customer_order_number: str
    customer_order_line_number: ExactNumber


class _WriteInput(NamedTuple):
    store_number: str
    call: OperationCall
    occurred_on: str
    now: str


def prefetch_statements(
    operation: str, store_number: str, call: OperationCall, occurred_on: str, now: str
) -> Iterator[Statement]:
    """Yield the queries that this write in a store will make if it happened on `occurred_on`."""
    if operation in _STATEMENTS_OF_OPERATION:
        yield from _STATEMENTS_OF_OPERATION[operation](_WriteInput(store_number, call, occurred_on, now))


def _update_statements(write: _WriteInput) -> Iterator[Statement]:
    request: ExtendedOrderUpdateRequest = write.call.body
    if "orders" not in request:
        return
    store, order = write.store_number, request["orders"]["order_number"]
    lines = request["orders"].get("order_lines", [])
    yield orders.ORDER_GET, (store, order)
    yield orders.LINES_OF_ORDER, (store, order)
    numbers = _unique_texts(line["product_number"] for line in lines)
    if not numbers:
        return
    yield from _product_statements(write, numbers, _unique_texts(line.get("preferred_location_code") for line in lines))
    yield stores.LOCATION_EXISTS, (store,)
    if len(lines) > 1:
        yield sql.HELD_FOR_ORDER, (store, order)
    for number in _first_whole_numbers(line["line_number"] for line in lines):
        if len(lines) == 1:
            yield sql.HELD_FOR_LINE, (store, order, number)
        yield sql.ORIGINS_OF_LINE, (store, order, number)


def _movement_statements(write: _WriteInput) -> Iterator[Statement]:
    items: list[MovementItem] = write.call.body
    ends = [item[name] for item in items for name in _END_FIELDS if name in item]
    numbers = _unique_texts(item.get("product_number") for item in items)
    yield from _product_statements(write, numbers, _unique_texts(end.get("location_code") for end in ends))
    yield from _order_line_statements(write, ends)
    if len(items) == 1 and not any(end.get("customer_order_number") for end in ends):
        yield from ((sql.PUT_BACKS_OF_PRODUCT, (write.store_number, number)) for number in numbers)


def _log_entry_statements(write: _WriteInput) -> Iterator[Statement]:
    entries: list[ExtendedLogEntry] = write.call.body.get("storeproductlog", [])
    store = write.store_number
    counted = [entry for entry in entries if is_count(write.call.query, entry)]
    numbers = _unique_texts(entry.get("product_number") for entry in entries)
    yield from _product_statements(write, numbers, _unique_texts(entry.get("location_code") for entry in entries))
    yield from _order_line_statements(write, entries)
    unnamed = (entry.get("reason_code") for entry in entries if not entry.get("loss_comment"))
    yield from ((logs.LOG_LAST_REASON, (store, code)) for code in _first_whole_numbers(unnamed))
    if counted:
        yield stock.RECOUNTS_OPEN, (store,)
    for number in _unique_texts(entry.get("product_number") for entry in counted)[:_MAX_ROWS]:
        yield sql.BALANCES, (store, number)
        if write.occurred_on < write.now:
            yield sql.LEGS_AFTER, (store, number, write.occurred_on)


def _product_statements(
    write: _WriteInput, product_numbers: list[str], location_codes: list[str]
) -> Iterator[Statement]:
    """Yield the queries for products, their free stock, and locations."""
    store = write.store_number
    if product_numbers:
        yield products.STORE_PRODUCTS, (store, product_numbers)
        yield sql.FREE_OF_PRODUCTS, (store, product_numbers)
        if write.occurred_on < write.now:
            yield sql.LAST_COUNTS_OF_PRODUCTS, (store, product_numbers)
    if location_codes:
        yield stores.LOCATIONS, (store, location_codes)


def _order_line_statements(write: _WriteInput, rows: Iterable[_OrderLineReference]) -> Iterator[Statement]:
    """Yield the queries for the named order lines and their held goods."""
    store = write.store_number
    lines = {
        (each["customer_order_number"], line): None
        for each in rows
        for line in _first_whole_numbers([each.get("customer_order_line_number")])
        if "customer_order_number" in each
    }
    for order, line in list(lines)[:_MAX_ROWS]:
        yield orders.ORDER_GET, (store, order)
        for statement in (orders.LINE_GET, sql.HELD_FOR_LINE, sql.ORIGINS_OF_LINE):
            yield statement, (store, order, line)


def _unique_texts(values: Iterable[str | None]) -> list[str]:
    return sorted({text for text in values if text})


def _first_whole_numbers(values: Iterable[ExactNumber | None]) -> list[int]:
    """Return the first of these numbers as integers. Fractions are left to the handler."""
    whole = (int(number) for number in values if number is not None and number == int(number))
    return list(dict.fromkeys(whole))[:_MAX_ROWS]


_STATEMENTS_OF_OPERATION: dict[str, Callable[[_WriteInput], Iterator[Statement]]] = {
    "update-customer-order": _update_statements,
    "create-movement": _movement_statements,
    "create-store-product-logs": _log_entry_statements,
}
