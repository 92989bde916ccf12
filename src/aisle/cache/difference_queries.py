"""Queries of the counts that differ from the expected quantity and that nobody has settled.

A difference is settled if it is approved or undone, or if a later count supersedes it (see `superseded_counts`). The
cache knows the settled differences of the log; this host may know more.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.cache.differences_and_negative_stock import difference_of_count, entry_price
from aisle.cache.list_window import QueryResult, read_along, read_window, window_bounds
from aisle.cache.log_entry_rows import local_rows
from aisle.cache.log_undo_queries import is_undone, undone_locally
from aisle.cache.parse_stored_row import parse_row, round_sum
from aisle.cache.product_names_and_prices import prices_of
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query
from aisle.cache.superseded_counts import count_of_entry, superseded_keys
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.named_tuple_json import to_text
from aisle.outbox.local_notes import notes_of_topic

if TYPE_CHECKING:
    from aisle.jobs.row_types.exceptions_clearance_and_today import DifferencesRow
    from aisle.jobs.row_types.log import EntryRow

_DIFFERENCE_ENTRIES = """
SELECT l.key, l.at, l.product_number, l.app_user_name, l.raw, p.name, m.name FROM json_each(?) e
JOIN log l ON l.key = e.value LEFT JOIN product p ON p.product_number = l.product_number
LEFT JOIN person m ON m.user = l.app_user_name ORDER BY e.key
"""
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

_DIFFERENCES_OF_PRODUCTS = """
SELECT d.key, d.at, l.raw FROM json_each(?) e JOIN difference d ON d.product_number = e.value AND d.is_settled = 0
JOIN log l ON l.key = d.key
"""
_UNLOGGED_COUNTS = """
SELECT * FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at > ?1 - 86400 AND state NOT IN ('rejected', 'closed')
AND query ->> 'is_counted_quantity' AND (live = 1 OR created_at >= ?2)
"""
"""Counts that are not read back, or are younger than the newest entry of the log.

A count is stored within a day of its own time, also if the clock of the host was set.
"""


_LOGGED_KEYS = "SELECT key FROM log WHERE key IN (SELECT value FROM json_each(?))"


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
    ((n, sum_),) = fetch(cache, "SELECT n, worth FROM difference_tally")
    return int(n) - len(resolved.keys), round_sum(max(0.0, float(sum_ - resolved.value)))


def resolved_differences(cache: apsw.Connection, outbox: apsw.Connection) -> ResolvedDifferences:
    """Return the differences that the log does not know to be settled.

    They are approved here, undone here, or superseded by a count of this host.
    """
    ((first,),) = fetch(cache, "SELECT min(at) FROM difference WHERE is_settled = 0 AND at <> ''")
    undone = undone_locally(outbox, str(first)) if first else set()
    keys = {*notes_of_topic(outbox, "review"), *(_superseded_here(cache, outbox, str(first), undone) if first else ())}
    found = fetch(cache, _RESOLVED_DIFFERENCES, to_text(list(keys)), to_text(list(undone))) if keys or undone else []
    return ResolvedDifferences([str(key) for key, _ in found], sum(each for _, each in found))


def _superseded_here(cache: apsw.Connection, outbox: apsw.Connection, first: str, undone: set[str]) -> list[str]:
    """Return the differences since `first` that a count of this host supersedes (see `superseded_counts`).

    The log may lack that count yet.
    """
    standing = [
        count_of_entry(row["key"], row["at"], {**row, "stock_pool": row["pool"]})
        for row in _counts_of_host(cache, outbox, first)
        if not is_undone(row, undone)
    ]
    products = to_text(list({count.goods[0] for count in standing}))
    listed = fetch(cache, _DIFFERENCES_OF_PRODUCTS, products) if standing else []
    return superseded_keys((count_of_entry(str(key), str(at), parse_row(raw)) for key, at, raw in listed), standing)


def _counts_of_host(cache: apsw.Connection, outbox: apsw.Connection, first: str) -> list[EntryRow]:
    """Return the counts of this host since `first` that the log lacks."""
    ((newest,),) = fetch(cache, "SELECT max(at) FROM log")
    rows = list(local_rows(fetch(outbox, _UNLOGGED_COUNTS, *map(_to_seconds, (first, newest or first)))))
    ids = to_text([row["id"] for row in rows])
    logged = {str(key) for (key,) in fetch(cache, _LOGGED_KEYS, ids)} if rows else set()
    return [row for row in rows if row["id"] not in logged]


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


def _to_seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
