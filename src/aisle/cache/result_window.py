"""Windows on lists that an index of the cache sorts, with rows of pending operations merged in.

No list is read whole: a window is reached from the nearer end, so both ends of a long list cost as little as a short
list.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

SortKey = tuple[Any, ...]
"""Sort key of the list; no two rows share one."""

ReadKeys = Callable[[bool, int, int], Sequence[SortKey]]
"""Function (from the end, count, skip) that returns keys in reading direction."""


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
