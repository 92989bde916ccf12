"""All places of the store in the order of feet, kept for as long as none of them changes, comes or goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.db import fetch
from aisle.local.fold import natural
from aisle.local.reads.overlay import decimal
from aisle.words import fold

_LISTED = "SELECT location_code, location_order, 1 FROM location"
_USED = "SELECT DISTINCT location_code, NULL, 0 FROM place WHERE location_code <> ''"

_OF_PRODUCTS = """
SELECT DISTINCT location_code FROM place WHERE location_code <> '' AND id IN (
  SELECT id FROM product WHERE product_number IN (SELECT value FROM json_each(?))
)
"""

Step = tuple[str, Json, str]
"""(location_code, location_order or None, text to be searched) of a place."""


class Walk:
    """All places in the order of feet; `is_listed`: the location list names every one of them."""

    def __init__(self, steps: Sequence[Step], *, is_listed: bool = True) -> None:
        self.steps = steps
        self.is_listed = is_listed

    @cached_property
    def at(self) -> Mapping[str, int]:
        """Where each place stands in it, by its code."""
        return {code: index for index, (code, _, _) in enumerate(self.steps)}

    @cached_property
    def at_folded(self) -> Mapping[str, int]:
        """The same by its code in small letters."""
        return {code.casefold(): index for code, index in self.at.items()}


class Walks:
    """The walk as of now. It is made anew when the cache's own feed says that a place may have changed."""

    def __init__(self) -> None:
        self._walk: Walk | None = None
        self._version, self._seq = -1, 0

    def of(self, cache: apsw.Connection, version: int) -> Walk:
        """All places, those of the location list and those that only the stock list names; `version` of the cache."""
        if self._walk is None or version != self._version:
            first, last = fetch(cache, "SELECT ifnull(min(seq), 0), ifnull(max(seq), 0) FROM change")[0]
            # What is no longer in the feed may have been anything.
            if self._walk is None or not first <= self._seq + 1 <= last + 1 or not self._stands(cache, self._walk):
                self._walk = _made(cache)
            self._version, self._seq = version, int(last)
        return self._walk

    def _stands(self, cache: apsw.Connection, walk: Walk) -> bool:
        """Whether none of the changes since then concerns it."""
        rows = fetch(
            cache,
            "SELECT DISTINCT topic, key FROM change WHERE seq > ? AND topic IN ('location', 'product')",
            self._seq,
        )
        if any(topic == "location" or not key for topic, key in rows):
            return False
        codes = fetch(cache, _OF_PRODUCTS, to_text([key for _, key in rows])) if rows else []
        return not rows or (walk.is_listed and all(code in walk.at for (code,) in codes))


def _made(cache: apsw.Connection) -> Walk:
    rows = fetch(cache, _LISTED)
    listed = {row[0] for row in rows}
    rows += [row for row in fetch(cache, _USED) if row[0] not in listed]
    rows.sort(key=_order)
    # Only where several have the same order, or none, the codes say which comes first: most of them need not be read.
    rows = [row for _, group in groupby(rows, key=_order) for row in _sorted(list(group))]
    steps = [(code, None if order is None else decimal(order), fold(code)) for code, order, _ in rows]
    return Walk(steps, is_listed=all(listed for *_, listed in rows))


def _order(row: tuple[str, Any, int]) -> tuple[bool, Any]:
    return row[1] is None, row[1] or 0


def _sorted(rows: list[tuple[str, Any, int]]) -> list[tuple[str, Any, int]]:
    return sorted(rows, key=lambda row: natural(row[0])) if len(rows) > 1 else rows
