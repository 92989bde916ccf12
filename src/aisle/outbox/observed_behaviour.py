"""What a service was seen to do where the interface is silent, and how late it was seen to be: kept in outbox.db.

It lies beside the operations because it decides whether one may be sent again; a home folder is one service's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import apsw

from aisle.host.database import fetch, fetch_one, transaction

YES, NO = "yes", "no"
EXACT, CONTAINS, IGNORED = "exact", "contains", "ignored"

LOG_FOUND_BY_REFERENCE = "log_readback"
"""Whether an entry of the log is found again by the reference that it was sent with: yes, no."""
MOVEMENT_FOUND_BY_REFERENCE = "movement_readback"
"""Whether a movement shows in the log under its reference: yes, no."""
BY_SOURCE_SUFFIX = "_by_source"
"""Appended to both: the same of entries that carry a reference of their own, and are named by their source alone."""
REFERENCE_FILTER = "reference_filter"
"""What the log's filter `reference` does: exact, contains, ignored."""
LOG_NEEDS_HISTORIC = "log_history"
"""Whether entries are only found with `is_historic=true`: yes, no."""
LISTS_INACTIVE_ORDERS = "inactive_list"
"""Whether `is_active=false` shows orders that are not active: yes, no."""
KEEPS_OMITTED_LINES = "omitted_lines"
"""Whether lines that an update of an order leaves out stay as they are: yes, no."""
SETTLING_S = "settle_s"
"""Seconds after which absence is believed, learnt from the latest answer that was seen; never below the setting."""

OBSERVATION_NAMES = (
    LOG_FOUND_BY_REFERENCE,
    LOG_FOUND_BY_REFERENCE + BY_SOURCE_SUFFIX,
    MOVEMENT_FOUND_BY_REFERENCE,
    MOVEMENT_FOUND_BY_REFERENCE + BY_SOURCE_SUFFIX,
    REFERENCE_FILTER,
    LOG_NEEDS_HISTORIC,
    LISTS_INACTIVE_ORDERS,
    KEEPS_OMITTED_LINES,
    SETTLING_S,
)


class Observation(NamedTuple):
    """One thing that was seen, and when (seconds since 1970)."""

    name: str
    value: str
    seen_at: float


class ObservedBehaviour:
    """What is known of the service."""

    def __init__(self, connection: apsw.Connection, *, clock: Callable[[], float] = time.time) -> None:
        self._db = connection
        self._clock = clock

    def get(self, name: str) -> str:
        """What was seen; empty where nothing was."""
        row = fetch_one(self._db, "SELECT value FROM probe WHERE name = ?", name)
        return "" if row is None else str(row[0])

    def record(self, name: str, value: str) -> None:
        """Keeps what was seen now."""
        if self.get(name) == value:
            return
        with transaction(self._db):
            self._db.execute(
                "INSERT INTO probe VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value,"
                " at = excluded.at",
                (name, value, self._clock()),
            )

    def all(self) -> list[Observation]:
        """All that is known, in the order of `NAMES`."""
        found = {str(row[0]): Observation(*row) for row in fetch(self._db, "SELECT name, value, at FROM probe")}
        return [found[name] for name in OBSERVATION_NAMES if name in found]
