"""Query of the products whose expiry date is to be checked, in walking order.

The stock list has the day of each check in a column with an index, so that only due products are read. Checks made on
this host that are still under way are applied. interface: Store product stock entry.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.cache.people_and_claim_queries import announces_features
from aisle.cache.pools_and_locations_of_rows import stock_locations
from aisle.cache.queries import QueryContext, QueryResult, declare_query, topics_of_list, whole_topics, window_bounds
from aisle.cache.stored_row_values import Row, product_names
from aisle.host.database import fetch
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.job import Args
from aisle.outbox.operation_record import UPDATE_STORE_PRODUCTS
from aisle.row_values import to_decimal_or_none
from aisle.store_product_settings import entry_day, expiry_check_day

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import ExpiryCheckRow

_DUE = """
SELECT p.product_number, p.name, x.location_code FROM (
  SELECT id FROM stock INDEXED BY stock_expiry_check WHERE expiry_check <> '' AND expiry_check <= ?
) s JOIN product p ON p.id = s.id
LEFT JOIN stock_location x ON x.id = s.id AND x.has_goods AND x.location_code <> ''
"""


class _DueProduct(NamedTuple):
    """Product to check, with its place in the list. Those without a location come last."""

    position: float
    name: str
    product_number: str


_NOWHERE = float("inf")


@declare_query("expiry_checks", "day first size", whole_topics("product", "location", OUTBOX))
def query_expiry_checks(context: QueryContext, args: Args) -> QueryResult[ExpiryCheckRow]:
    """Return a window on the products whose check is due on `day` or earlier, in walking order."""
    day, (first, size) = str(args["day"]), window_bounds(args)
    positions = context.walk_order().position_by_code
    changed = _entries_with_pending_checks(context)
    due_now: dict[str, _DueProduct] = {}
    for number, (name, entry) in changed.items():
        if "" < expiry_check_day(entry) <= day:
            for code in _stocked_codes(entry) or [""]:
                _add_location(due_now, number, name, positions.get(code, _NOWHERE))
    due = context.keep(DueProducts).sorted_without(changed, context, day)
    for each in due_now.values():
        insort(due, each)
    return list(_rows_of(context, [each.product_number for each in due[first : first + size]])), len(due)


@declare_query("checked_products", "products", topics_of_list("product", "products"))
def query_checked_products(context: QueryContext, args: Args) -> QueryResult[ExpiryCheckRow]:
    """Return these products with the dates that stand, due or not."""
    rows = list(_rows_of(context, [str(each) for each in args["products"]]))
    return rows, len(rows)


@declare_query("due_checks", "day", whole_topics("recount"))
def count_due_checks(context: QueryContext, args: Args) -> QueryResult[ExpiryCheckRow]:
    """Return no rows, and the number of checks that are due; it is read again with the ordered recounts.

    A page that shows only the number is not woken by each change of stock.
    """
    return [], query_expiry_checks(context, {**args, "size": 1})[1]


class DueProducts:
    """Products that the cache has as due, in walking order; found again only if the cache or the day changed."""

    def __init__(self) -> None:
        self._source: tuple[apsw.Connection, int, str] | None = None
        self._by_number: dict[str, _DueProduct] = {}
        self._sorted: list[_DueProduct] = []

    def sorted_without(self, changed: Iterable[str], context: QueryContext, day: str) -> list[_DueProduct]:
        """Return the products that are due on a day, without those with a setting under way."""
        source = context.cache, context.cache_version, day
        if self._source != source:
            self._by_number = _find_due(context, day)
            self._sorted, self._source = sorted(self._by_number.values()), source
        due = self._sorted.copy()
        for number in changed:
            if number in self._by_number:
                del due[bisect_left(due, self._by_number[number])]
        return due


def _find_due(context: QueryContext, day: str) -> dict[str, _DueProduct]:
    positions, due = context.walk_order().position_by_code, dict[str, _DueProduct]()
    for number, name, code in fetch(context.cache, _DUE, day):
        _add_location(due, number, name, positions.get(code, _NOWHERE))
    return due


def _add_location(due: dict[str, _DueProduct], number: str, name: str, position: float) -> None:
    """Add a product, or a location of it: the first one in walking order counts."""
    known = due.get(number)
    if known is None or position < known.position:
        due[number] = _DueProduct(position, name, number)


def _stocked_codes(entry: Row) -> list[str]:
    """Return the locations that have goods of a stock entry."""
    return [str(each["location_code"]) for each in stock_locations(entry) if each["quantity"] != 0]


def _entries_with_pending_checks(context: QueryContext) -> dict[str, tuple[str, Row]]:
    """Return name and stock entry of each product with a setting under way, with that applied."""
    operations = context.overlay.operations(UPDATE_STORE_PRODUCTS)
    numbers = {str(item["product_number"]) for operation in operations for item in operation.body}
    return {number: (name, entry) for number, name, entry in _overlaid_entries(context, numbers)}


def _overlaid_entries(context: QueryContext, numbers: Iterable[str]) -> Iterator[tuple[str, str, Row]]:
    """Yield number, name and stock entry of these products, with what is under way applied."""
    asked = list(numbers)
    names = product_names(context.cache, asked)
    for number, entry in context.overlaid_stock(asked):
        yield number, names.get(number) or str(entry.get("product_description") or number), entry


def _rows_of(context: QueryContext, numbers: list[str]) -> Iterator[ExpiryCheckRow]:
    """Yield the rows of these products. Another service may mean something else by `last_expiry_datetime`."""
    is_own_service = announces_features(context.cache)
    positions = context.walk_order().position_by_code
    for number, name, entry in _overlaid_entries(context, numbers):
        codes = _stocked_codes(entry)
        yield {
            "product_number": number,
            "product_name": name,
            "location_code": min(codes, key=lambda code: positions.get(code, _NOWHERE), default=""),
            "due": expiry_check_day(entry),
            "expiry": entry_day(entry, "expiry_date_time") if is_own_service else "",
            "most_likely_quantity": to_decimal_or_none(entry.get("most_likely_quantity")),
        }
