"""The time zones of the stores: one for all, and those of stores that lie elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.service.times import Zone
from aisle.tuples import NamedTuple


class Zones(NamedTuple):
    """By which time zone each store reads dates and times that name none."""

    default: Zone = None
    stores: Mapping[str, Zone] = {}

    def of(self, store_number: str | None = None) -> Zone:
        """The zone of a store; without one, or where nothing is said of it, that of all."""
        return self.stores.get(store_number, self.default) if store_number else self.default


HOST = Zones()
"""All stores live by the time in which this process works."""
