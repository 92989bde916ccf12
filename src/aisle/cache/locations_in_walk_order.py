"""All locations of the store in walking order, cached until one changes, appears or disappears."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

import apsw

from aisle.host.database import fetch
from aisle.jobs.job import Json
from aisle.named_tuple_json import to_text
from aisle.row_values import to_decimal
from aisle.search_text import natural_key, normalise_text

_LISTED_LOCATIONS = "SELECT location_code, location_order, 1 FROM location"
_STOCK_LOCATIONS = "SELECT DISTINCT location_code, NULL, 0 FROM stock_location WHERE location_code <> ''"

_LOCATIONS_OF_PRODUCTS = """
SELECT DISTINCT location_code FROM stock_location WHERE location_code <> '' AND id IN (
  SELECT id FROM product WHERE product_number IN (SELECT value FROM json_each(?))
)
"""

_MANY_STEPS, _MIN_INTERVAL_S = 10_000, 5.0
"""Number of locations above which the order is computed at most each so many seconds."""

LocationStep = tuple[str, Json, str]
"""A location: (location_code, location_order or None, search text)."""


class WalkOrder:
    """All locations in walking order. `is_listed` is True if the location list has all of them."""

    def __init__(self, steps: Sequence[LocationStep], *, is_listed: bool = True) -> None:
        self.steps = steps
        self.is_listed = is_listed

    @cached_property
    def position_by_code(self) -> Mapping[str, int]:
        """Position of each location by its code."""
        return {code: index for index, (code, _, _) in enumerate(self.steps)}

    @cached_property
    def position_by_folded_code(self) -> Mapping[str, int]:
        """Position of each location by its code in lower case."""
        return {code.casefold(): index for code, index in self.position_by_code.items()}


class WalkOrderCache:
    """The current walking order, computed again only if the change feed says that a location may have changed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._walk_order: WalkOrder | None = None
        self._clock = clock
        self._loaded_at = 0.0
        """Time of the last computation, in seconds by `clock`."""
        self._version, self._last_change = -1, 0

    def current(self, cache: apsw.Connection, version: int) -> WalkOrder:
        """Return all locations of the location list and of the stock list; `version` is that of the cache."""
        if self._walk_order is None or (version != self._version and not self._is_recent(self._walk_order)):
            first, last = fetch(cache, "SELECT ifnull(min(seq), 0), ifnull(max(seq), 0) FROM change")[0]
            # Changes that left the feed may have concerned any location.
            if (
                self._walk_order is None
                or not first <= self._last_change + 1 <= last + 1
                or not self._is_current(cache, self._walk_order)
            ):
                self._walk_order, self._loaded_at = _load_walk_order(cache), self._clock()
            self._version, self._last_change = version, int(last)
        return self._walk_order

    def _is_recent(self, walk_order: WalkOrder) -> bool:
        """Return whether a long order was computed a moment ago: that takes long, and each read page may change it."""
        return len(walk_order.steps) > _MANY_STEPS and self._clock() - self._loaded_at < _MIN_INTERVAL_S

    def _is_current(self, cache: apsw.Connection, walk_order: WalkOrder) -> bool:
        """Return True if no change since the last computation concerns the order."""
        rows = fetch(
            cache,
            "SELECT DISTINCT topic, key FROM change WHERE seq > ? AND topic IN ('location', 'product')",
            self._last_change,
        )
        if any(topic == "location" or not key for topic, key in rows):
            return False
        codes = fetch(cache, _LOCATIONS_OF_PRODUCTS, to_text([key for _, key in rows])) if rows else []
        return not rows or (walk_order.is_listed and all(code in walk_order.position_by_code for (code,) in codes))


def _load_walk_order(cache: apsw.Connection) -> WalkOrder:
    rows = fetch(cache, _LISTED_LOCATIONS)
    listed = {row[0] for row in rows}
    rows += [row for row in fetch(cache, _STOCK_LOCATIONS) if row[0] not in listed]
    rows.sort(key=_order_key)
    # Codes only break ties; most of them need not be parsed.
    groups = (list(group) for _, group in groupby(rows, key=_order_key))
    rows = [
        row
        for group in groups
        for row in (sorted(group, key=lambda each: natural_key(each[0])) if len(group) > 1 else group)
    ]
    steps = [(code, None if order is None else to_decimal(order), normalise_text(code)) for code, order, _ in rows]
    return WalkOrder(steps, is_listed=all(listed for *_, listed in rows))


def _order_key(row: tuple[str, Any, int]) -> tuple[bool, Any]:
    return row[1] is None, row[1] or 0
