"""Sorting in memory: windows on lists that a person sorted by a column for which the cache has no index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from aisle.cache.row_values import WindowRows, window_bounds
from aisle.jobs.job import MAX_SORTED, Args, Json
from aisle.jobs.walk_order import natural_key

SortKey = tuple[int, Any]


def read_sorted(read: Callable[[Args], WindowRows[Json]], args: Args) -> WindowRows[Json]:
    """Return a window on the whole list, sorted by the field `order_by` of its rows. Empty fields come last.

    A list of more than `MAX_SORTED` rows keeps its own order.
    """
    whole = read({**args, "first": 0, "size": MAX_SORTED})
    if whole.total > len(whole.rows):
        return read(args)
    field, first_and_size = str(args["order_by"]), window_bounds(args)
    filled = [row for row in whole.rows if row.get(field) not in (None, "")]
    empty = [row for row in whole.rows if row.get(field) in (None, "")]
    filled.sort(key=lambda row: _sort_key(row[field]), reverse=bool(args.get("descending")))
    first, size = first_and_size
    return WindowRows([*filled, *empty][first : first + size], whole.total, whole.is_partial)


def _sort_key(value: Json) -> SortKey:
    """Return a key by which values of any type compare: numbers by size, then texts with A-2 before A-10."""
    if isinstance(value, int | float | Decimal):
        return 0, value
    if isinstance(value, Mapping | list | tuple):
        return 2, str(value)
    return 1, natural_key(str(value))
