"""Counts of the log that a later count of the same goods supersedes.

The goods are a product at a location and in a pool, free or held for an order line. A service may get the later of two
counts first. Our own then takes back what the earlier one changes, by an entry of its own: it does not use that count.
The difference of a count that it has used stays, whoever counts later: each has changed the stock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

import apsw

from aisle.cache.log_schema import COUNT_MARK, LATE_SOURCE
from aisle.cache.parse_stored_row import Row, parse_row
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch
from aisle.named_tuple_json import to_text

_COUNTS_OF_PRODUCT = f"""
SELECT key, at, raw FROM log INDEXED BY log_counted
WHERE product_number = ? AND at > ? AND instr(raw, '{COUNT_MARK}') ORDER BY at
"""  # noqa: S608 - a word of our own

_TAKEN_BACK = f"""
SELECT c.key, c.raw, l.raw FROM json_each(?) e CROSS JOIN log c ON c.key = e.value
CROSS JOIN log l INDEXED BY log_at
ON l.at = c.at AND l.product_number = c.product_number AND l.raw ->> 'source' = '{LATE_SOURCE}' WHERE c.at <> ''
"""  # noqa: S608 - a word of our own

Goods = tuple[str, str, str, str]
"""Product, location in lower case, and order and line for which goods are held."""


class Count(NamedTuple):
    """A count of goods."""

    key: str
    goods: Goods
    pool: int
    """0 for any."""
    at: str
    """ISO 8601 UTC; empty if unknown."""


def count_of_entry(key: str, at: str, entry: Row) -> Count:
    """Return the count that a log entry states."""
    location = str(entry.get("location_code") or "").casefold()
    order, line = (str(entry.get(f"customer_order_{name}number") or "") for name in ("", "line_"))
    return Count(key, (str(entry.get("product_number") or ""), location, order, line), _pool_of(entry), at)


def _pool_of(entry: Row) -> int:
    pools = [pool for pool in range(1, 11) if entry.get(f"stock_pool_{pool}") is not None]
    named = entry.get("stock_pool") or entry.get("pool_location") or (pools[0] if len(pools) == 1 else 0)
    return int(to_decimal(named))


def counts_of_product(cache: apsw.Connection, product: str, after: str = "") -> Iterator[tuple[str, str, Row]]:
    """Yield key, time and row of the entries of a product after this time that state a count, oldest first."""
    for key, at, raw in fetch(cache, _COUNTS_OF_PRODUCT, product, after):
        entry = parse_row(raw)
        if entry.get("counted_quantity") is not None:
            yield str(key), str(at), entry


def taken_back(cache: apsw.Connection, keys: Iterable[str]) -> dict[str, Decimal]:
    """Return by key what our own service took back of these entries, because it had a later count; others are left out.

    If that count is undone, the service cancels it by an opposite entry: then it uses the earlier one.
    """
    sums: dict[str, Decimal] = {}
    for key, raw, late_raw in fetch(cache, _TAKEN_BACK, to_text(list(keys))):
        late = parse_row(late_raw)
        if is_same_goods(count_of_entry("", "", parse_row(raw)), count_of_entry("", "", late)):
            sums[str(key)] = sums.get(str(key), Decimal(0)) + to_decimal(late.get("quantity"))
    return {key: quantity for key, quantity in sums.items() if quantity}


def last_superseding(count: Count, standing: Iterable[Count]) -> Count | None:
    """Return the last of these counts if it supersedes a count; None without one."""
    later = [each for each in standing if each.at > count.at and is_same_goods(each, count)] if count.at else []
    return max(later, key=lambda each: each.at, default=None)


def is_same_goods(one: Count, other: Count) -> bool:
    """Return True if two counts are of the same goods."""
    return one.goods == other.goods and have_common_pool(one.pool, other.pool)


def have_common_pool(one: int, other: int) -> bool:
    """Return True if these are the same pool, or one of them is any pool (0)."""
    return not one or not other or one == other
