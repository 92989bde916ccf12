"""What the writes of the floor ask first, told before they are carried out: a far database is asked for it at once.

Here stands only what follows from the request itself. Nothing depends on it: what is left out, or not asked for in
the end, costs a way to the database or an answer for nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

from aisle.service.context import Call
from aisle.service.encode import without_none
from aisle.service.handlers.logs import is_count
from aisle.service.sql import locations, logs, orders, products, recounts
from aisle.service.sql import stock as sql
from aisle.service.storage import Statement
from aisle.tuples import NamedTuple

Body = dict[str, Any]
# What is asked for each row alone is told of so many; who sends more is not waiting with goods in his hand.
_MOST_ROWS = 8
_ENDS = ("from_location", "to_location")


class _Write(NamedTuple):
    store: str
    call: Call
    occurred_on: str
    now: str


def questions(operation: str, store_number: str, call: Call, occurred_on: str, now: str) -> Iterator[Statement]:
    """What this write in a store will ask of it, having happened on `occurred_on`."""
    if operation in _OF:
        yield from _OF[operation](_Write(store_number, call, occurred_on, now))


def _of_update(write: _Write) -> Iterator[Statement]:
    body, store = write.call.body.get("orders") or {}, write.store
    order, lines = body.get("order_number"), _rows(body.get("order_lines"))
    if not isinstance(order, str):
        return
    yield orders.ORDER_GET, (store, order)
    yield orders.LINES_OF_ORDER, (store, order)
    numbers = _texts(line.get("product_number") for line in lines)
    if not numbers:
        return
    yield from _goods(write, numbers, _texts(line.get("preferred_location_code") for line in lines))
    yield locations.PLACES_ANY, (store,)
    if len(lines) > 1:
        yield sql.HELD_OF_ORDER, (store, order)
    for number in _few(line.get("line_number") for line in lines):
        if len(lines) == 1:
            yield sql.HELD_OF_LINE, (store, order, number)
        yield sql.TAKEN_OF_LINE, (store, order, number)


def _of_movement(write: _Write) -> Iterator[Statement]:
    items = _rows(write.call.body)
    ends = [end for item in items for name in _ENDS if isinstance(end := item.get(name), dict)]
    numbers = _texts(item.get("product_number") for item in items)
    yield from _goods(write, numbers, _texts(end.get("location_code") for end in ends))
    yield from _held(write, ends)
    if len(items) == 1 and not any(end.get("customer_order_number") for end in ends):
        yield from ((sql.PUT_BACKS_OF_PRODUCT, (write.store, number)) for number in numbers)


def _of_entries(write: _Write) -> Iterator[Statement]:
    entries, store = _rows(write.call.body.get("storeproductlog")), write.store
    counted = [entry for entry in entries if is_count(write.call.query, without_none(entry))]
    numbers = _texts(entry.get("product_number") for entry in entries)
    yield from _goods(write, numbers, _texts(entry.get("location_code") for entry in entries))
    yield from _held(write, entries)
    unnamed = (entry.get("reason_code") for entry in entries if not entry.get("loss_comment"))
    yield from ((logs.LOG_REASON, (store, code)) for code in _few(unnamed))
    if counted:
        yield recounts.RECOUNTS_OPEN, (store,)
    for number in _texts(entry.get("product_number") for entry in counted)[:_MOST_ROWS]:
        yield sql.BALANCES, (store, number)
        if write.occurred_on < write.now:
            yield sql.LEGS_AFTER, (store, number, write.occurred_on)


def _goods(write: _Write, numbers: list[str], codes: list[str]) -> Iterator[Statement]:
    """The products with what is free of them, and the places."""
    store = write.store
    if numbers:
        yield products.STORE_PRODUCTS_OF, (store, numbers)
        yield sql.FREE_OF_PRODUCTS, (store, numbers)
        if write.occurred_on < write.now:
            yield sql.ANCHORS_OF_PRODUCTS, (store, numbers)
    if codes:
        yield locations.PLACES, (store, codes)


def _held(write: _Write, named: Iterable[Body]) -> Iterator[Statement]:
    """The order lines that are named, with what is held for them."""
    store = write.store
    lines = {
        (each["customer_order_number"], line): None
        for each in named
        for line in _few([each.get("customer_order_line_number")])
        if isinstance(each.get("customer_order_number"), str)
    }
    for order, line in list(lines)[:_MOST_ROWS]:
        yield orders.ORDER_GET, (store, order)
        for statement in (orders.LINE_GET, sql.HELD_OF_LINE, sql.TAKEN_OF_LINE):
            yield statement, (store, order, line)


def _rows(said: Any) -> list[Body]:
    return [row for row in said or () if isinstance(row, dict)]


def _texts(said: Iterable[Any]) -> list[str]:
    return sorted({text for text in said if text and isinstance(text, str)})


def _few(said: Iterable[Any]) -> list[int]:
    """The first of these numbers, as the database has them; whatever is no whole one is left to the rules."""
    whole = (int(number) for number in said if isinstance(number, int | Decimal) and number == int(number))
    return list(dict.fromkeys(whole))[:_MOST_ROWS]


_OF: dict[str, Callable[[_Write], Iterator[Statement]]] = {
    "update-customer-order": _of_update,
    "create-movement": _of_movement,
    "create-store-product-logs": _of_entries,
}
