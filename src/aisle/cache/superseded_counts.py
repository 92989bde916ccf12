"""Counts that a later count of the same goods supersedes. Pure.

The goods are a product at a location and in a pool, free or held for an order line. A service may get the later of two
counts first. Our own then takes back what the earlier one changes, by an entry of its own: it does not use that count.
The difference of a count that it has used stays, whoever counts later: each has changed the stock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from aisle.cache.parse_stored_row import Row
from aisle.decimal_of_row import to_decimal

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
