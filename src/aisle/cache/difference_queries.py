"""Queries of the counts that differ from the expected quantity and that nobody has settled.

A difference is settled if it is approved or undone, or if the service does not use its count (see
`superseded_counts`). Later counts settle none: each difference has changed the stock. While a recount is ordered, the
recounts list it. The cache knows the settled differences of the log; this host may know more.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.cache.differences_and_negative_stock import difference_of_count, entry_price
from aisle.cache.list_window import QueryResult, read_along, read_window, window_bounds
from aisle.cache.log_undo_queries import undone_locally
from aisle.cache.parse_stored_row import parse_row, round_sum
from aisle.cache.product_names_and_prices import prices_of
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query
from aisle.cache.recount_queries import open_recounts, product_location
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.named_tuple_json import to_text
from aisle.outbox.local_notes import notes_of_topic

if TYPE_CHECKING:
    from aisle.jobs.row_types.exceptions_clearance_and_today import DifferencesRow

_DIFFERENCE_ENTRIES = """
SELECT l.key, l.at, l.product_number, l.app_user_name, l.raw, p.name, m.name FROM json_each(?) e
JOIN log l ON l.key = e.value LEFT JOIN product p ON p.product_number = l.product_number
LEFT JOIN person m ON m.user = l.app_user_name ORDER BY e.key
"""
_DIFFERENCE_TOTALS = "SELECT count(*), total(worth) FROM difference INDEXED BY difference_list WHERE is_settled = 0"
_DIFFERENCE_KEYS = "SELECT key FROM difference WHERE is_settled = 0"
_EXCLUDE_KEYS = " AND key NOT IN (SELECT value FROM json_each(?))"
_DIFFERENCE_ORDER = ("worth DESC", "size DESC", "key")
_RESOLVED_DIFFERENCES = """
SELECT d.key, d.worth FROM difference d WHERE d.is_settled = 0 AND d.key IN (
  SELECT value FROM json_each(?1)
  UNION SELECT n.key FROM json_each(?2) e JOIN difference n ON n.number_name = e.value AND n.number_name <> ''
  UNION SELECT n.key FROM json_each(?2) e JOIN difference n ON n.moment_name = e.value AND n.moment_name <> ''
)
"""

_GOODS_OF_DIFFERENCES = """
SELECT d.key, d.product_number, ifnull(l.raw ->> 'location_code', '') FROM json_each(?) e
JOIN difference d ON d.key = e.value JOIN log l ON l.key = d.key
"""

RECOUNT_ORDERED = "recount"
"""Text of the note on a difference of which a recount is ordered; any other text approves it."""


class ResolvedDifferences(NamedTuple):
    """Differences in the cache that this host knows to be resolved."""

    keys: list[str]
    value: float


@declare_query("differences", "keys first size")
def open_differences(context: QueryContext, args: Args) -> QueryResult[DifferencesRow]:
    """Return the counts of the last days that differ from the expected quantity and are neither approved nor undone.

    The highest value comes first. Return a window, or only those of the `keys`.
    """
    cache = context.cache
    resolved = resolved_differences(cache, context.outbox)
    hidden = [to_text(resolved.keys)] if resolved.keys else []
    among = f"{_DIFFERENCE_KEYS}{_EXCLUDE_KEYS if hidden else ''}"
    if args.get("keys"):
        sql = f"{among} AND key IN (SELECT value FROM json_each(?)) ORDER BY {', '.join(_DIFFERENCE_ORDER)}"  # noqa: S608
        rows = fetch(cache, sql, *hidden, to_text(list(args["keys"])))
        return _difference_rows(cache, [str(key) for (key,) in rows]), len(rows)

    total, _ = totals_without(cache, resolved)
    keys = read_window(read_along(cache, among, _DIFFERENCE_ORDER, *hidden), total, *window_bounds(args, 50))
    return _difference_rows(cache, [str(key) for (key,) in keys]), total


def totals_without(cache: apsw.Connection, resolved: ResolvedDifferences) -> tuple[int, Decimal]:
    """Return number and total value of the differences without the resolved ones."""
    ((count, value),) = fetch(cache, _DIFFERENCE_TOTALS)
    return int(count) - len(resolved.keys), round_sum(max(0.0, float(value - resolved.value)))


def resolved_differences(cache: apsw.Connection, outbox: apsw.Connection) -> ResolvedDifferences:
    """Return the differences that the log does not know to be settled.

    They are approved here, undone here, or a recount of them is ordered.
    """
    ((first,),) = fetch(cache, "SELECT min(at) FROM difference WHERE is_settled = 0 AND at <> ''")
    undone = undone_locally(outbox, str(first)) if first else set()
    notes = notes_of_topic(outbox, "review")
    ordered = {key for key, note in notes.items() if note.text == RECOUNT_ORDERED}
    keys = {*notes} - ordered | (_recounted_keys(cache, outbox, ordered) if ordered else set())
    found = fetch(cache, _RESOLVED_DIFFERENCES, to_text(list(keys)), to_text(list(undone))) if keys or undone else []
    return ResolvedDifferences([str(key) for key, _ in found], sum(each for _, each in found))


def _recounted_keys(cache: apsw.Connection, outbox: apsw.Connection, ordered: Iterable[str]) -> set[str]:
    """Return the differences of which a recount was ordered here that nobody has made, nor withdrawn."""
    recounts = {product_location(row) for row in open_recounts(cache, outbox)}
    found = fetch(cache, _GOODS_OF_DIFFERENCES, to_text(list(ordered)))
    return {str(key) for key, product, location in found if (str(product), str(location).casefold()) in recounts}


def _difference_rows(cache: apsw.Connection, keys: list[str]) -> list[DifferencesRow]:
    """Return the rows of these differences in the given order."""
    rows = [_difference_row(*entry) for entry in fetch(cache, _DIFFERENCE_ENTRIES, to_text(keys))]
    prices = prices_of(cache, {row["product_number"] for row in rows if row["price"] is None})
    for row in rows:
        price = prices.get(row["product_number"]) if row["price"] is None else row["price"]
        row["known"], row["value"] = price is not None, row["difference"] * (price or Decimal(0))
    return rows


def _difference_row(
    key: str, at: str, product: str, user: str, raw: str, name: str | None, person: str | None
) -> DifferencesRow:
    entry = parse_row(raw)
    price, expected = entry_price(entry), entry.get("expected_quantity")
    return {
        "key": str(key),
        "at": str(at),
        "user_name": str(person or user),
        "product_number": str(product),
        "label": str(name or product),
        "location_code": str(entry.get("location_code") or ""),
        "counted": to_decimal(entry["counted_quantity"]),
        "expected": None if expected is None else to_decimal(expected),
        "difference": difference_of_count(entry, user) or Decimal(0),
        "price": None if price is None else to_decimal(price),
        "review_status": str(entry.get("review_status") or ""),
        "known": False,  # set with the price
        "value": Decimal(0),
    }
