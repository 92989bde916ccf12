"""Windows on long lists: the requested rows, of a list read from an index, merged with others, or sorted in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

import apsw

from aisle.host.database import fetch
from aisle.jobs.job import MAX_SORTED, Args, Json
from aisle.jobs.walk_order_sort_keys import natural_key

R = TypeVar("R")
"""Type of the rows of a query, of aisle.jobs.row_types."""

M = TypeVar("M", bound=Mapping[str, Any])

QueryResult = tuple[list[R], int]
"""Rows and the total number."""


class WindowRows(NamedTuple, Generic[R]):
    """Result of a query that stops counting at a limit."""

    rows: list[R]
    total: int
    is_partial: bool = False
    """True if there may be more than were counted."""


def window_bounds(args: Args, size: int = 20) -> tuple[int, int]:
    """Return (first, size) of the requested window; `size` if the query names no size."""
    first, requested = args.get("first"), args.get("size")
    return max(0, int(first or 0)), size if requested is None else max(0, int(requested))


SortKey = tuple[Any, ...]
"""Sort key of the list; no two rows share one, as its last part identifies the row."""

ReadKeys = Callable[[bool, int, int], Sequence[SortKey]]
"""Function (from the end, count, skip) that returns keys in reading direction."""


def read_along(connection: apsw.Connection, select: str, order: Sequence[str], *values: Any) -> ReadKeys:
    """Return a function that reads the rows of a query in this order: columns, each perhaps with ` DESC`."""

    def read(from_end: bool, count: int, skip: int) -> list[SortKey]:
        by = ", ".join(_reverse(column) if from_end else column for column in order)
        return fetch(connection, f"{select} ORDER BY {by} LIMIT ? OFFSET ?", *values, count, skip)

    return read


def _reverse(column: str) -> str:
    return column.removesuffix(" DESC") if column.endswith(" DESC") else f"{column} DESC"


def page(rows: list[R], args: Args, size: int = 20) -> QueryResult[R]:
    """Return the requested window on rows that are all known."""
    first, size = window_bounds(args, size)
    return rows[first : first + size], len(rows)


def read_window(read: ReadKeys, total: int, first: int, size: int) -> list[SortKey]:
    """Return the keys of a window on a list with `total` cached rows, in the order of the list."""
    count = min(size, total - first)
    if count <= 0:
        return []
    behind = total - first - count
    from_end = behind < first
    rows = list(read(from_end, count, behind if from_end else first))
    return rows[::-1] if from_end else rows


def read_merged_window(read: ReadKeys, total: int, extra: Sequence[SortKey], first: int, size: int) -> list[SortKey]:
    """Return the keys of a window with `extra` rows merged in, which are sorted like the list.

    `total` is the number of cached rows without the extra ones.
    """
    if not extra:
        return read_window(read, total, first, size)
    # Reading this many rows earlier suffices: no more extra rows can precede the window.
    start = max(0, first - len(extra))
    rows = read_window(read, total, start, first + size - start)
    if start and not rows:
        return []
    extra_before = bisect_left(extra, rows[0]) if start else 0
    merged = sorted([*rows, *extra[extra_before:]])
    offset = first - start - extra_before
    return merged[offset : offset + size]


ValueKey = tuple[int, Any]


class SortedList:
    """Last list that was sorted in memory, kept for its next window until `stamp` changes."""

    def __init__(self) -> None:
        self._source: tuple[Args, object] | None = None
        self._whole: WindowRows[Json] = WindowRows([], 0)

    def window(self, read: Callable[[Args], WindowRows[Json]], args: Args, stamp: object) -> WindowRows[Json]:
        """Return a window on the whole list, sorted by the field `order_by` of its rows. Empty fields come last.

        A list of more than `MAX_SORTED` rows keeps its own order.
        """
        unsorted = {**args, "order_by": "", "descending": False}
        source = {**args, "first": 0, "size": MAX_SORTED}, stamp
        if self._source != source:
            if read({**unsorted, "first": 0, "size": 0}).total > MAX_SORTED:
                return read(unsorted)
            whole = read({**unsorted, "first": 0, "size": MAX_SORTED})
            self._source, self._whole = source, whole._replace(rows=sort_rows(whole.rows, args))
        first, size = window_bounds(args)
        return self._whole._replace(rows=[{**row} for row in self._whole.rows[first : first + size]])


def sort_rows(rows: Sequence[M], args: Args) -> list[M]:
    """Return rows sorted by their field `order_by`, in reverse if `descending`. Empty fields come last."""
    field = str(args["order_by"])
    filled = [row for row in rows if row.get(field) not in (None, "")]
    empty = [row for row in rows if row.get(field) in (None, "")]
    return [*sorted(filled, key=lambda row: _sort_key(row[field]), reverse=bool(args.get("descending"))), *empty]


def _sort_key(value: Json) -> ValueKey:
    """Return a key by which values of any type compare: numbers by size, then texts with A-2 before A-10."""
    if isinstance(value, int | float | Decimal):
        return 0, value
    if isinstance(value, Mapping | list | tuple):
        return 2, str(value)
    return 1, natural_key(str(value))
