"""Windows on lists that an index of the cache keeps in order, with rows that are on their way put where they belong.

No list is read whole: a window is stepped to from the nearer end, and so costs at both ends what it costs of a short
list.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

SortKey = tuple[Any, ...]
"""What the list is sorted by; no two rows have the same."""

ReadKeys = Callable[[bool, int, int], Sequence[SortKey]]
"""(from the end, how many, how many to pass over) → keys, in the order in which they are met."""


def read_window(read: ReadKeys, total: int, first: int, size: int) -> list[SortKey]:
    """The keys of a window on a list of which the cache has `total` rows, in its order."""
    count = min(size, total - first)
    if count <= 0:
        return []
    behind = total - first - count
    from_end = behind < first
    rows = list(read(from_end, count, behind if from_end else first))
    return rows[::-1] if from_end else rows


def read_merged_window(read: ReadKeys, total: int, extra: Sequence[SortKey], first: int, size: int) -> list[SortKey]:
    """The same with rows that the cache has elsewhere, or not at all; `extra` in the order of the list. `total` is what
    the cache has without them."""
    if not extra:
        return read_window(read, total, first, size)
    # So many rows earlier is early enough: no more of the extra ones can stand before the window.
    early = max(0, first - len(extra))
    rows = read_window(read, total, early, first + size - early)
    if early and not rows:
        return []
    passed = bisect_left(extra, rows[0]) if early else 0
    within = sorted([*rows, *extra[passed:]])
    at = first - early - passed
    return within[at : at + size]
