"""Observed behaviour of the service where the interface is silent, kept in outbox.db.

It lies beside the operations, because it decides if one may be sent again. A home folder belongs to one service.
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
"""Log entries can be found by the reference they were sent with: yes, no."""
MOVEMENT_FOUND_BY_REFERENCE = "movement_readback"
"""Movements appear in the log under their reference: yes, no."""
BY_SOURCE_SUFFIX = "_by_source"
"""Suffix of both for entries with a reference of their own, which are identified by their source alone."""
REFERENCE_FILTER = "reference_filter"
"""Effect of the log's filter `reference`: exact, contains, ignored."""
LOG_NEEDS_HISTORIC = "log_history"
"""Entries are only found with `is_historic=true`: yes, no."""
LISTS_INACTIVE_ORDERS = "inactive_list"
"""`is_active=false` lists inactive orders: yes, no."""
KEEPS_OMITTED_LINES = "omitted_lines"
"""Lines that an update of an order omits stay unchanged: yes, no."""
SETTLING_S = "settle_s"
"""Seconds after which absence is believed, learnt from the slowest answer; never below the setting."""

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
    """One observation with its time in seconds since 1970."""

    name: str
    value: str
    seen_at: float


class ObservedBehaviour:
    """Known behaviour of the service."""

    def __init__(self, connection: apsw.Connection, *, clock: Callable[[], float] = time.time) -> None:
        self._db = connection
        self._clock = clock

    def get(self, name: str) -> str:
        """Return the observed value; empty if there is none."""
        row = fetch_one(self._db, "SELECT value FROM observed_behaviour WHERE name = ?", name)
        return "" if row is None else str(row[0])

    def record(self, name: str, value: str) -> None:
        """Store an observation made now."""
        if self.get(name) == value:
            return
        with transaction(self._db):
            self._db.execute(
                "INSERT INTO observed_behaviour VALUES (?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at",
                (name, value, self._clock()),
            )

    def all(self) -> list[Observation]:
        """Return all observations in the order of `OBSERVATION_NAMES`."""
        found = {
            str(row[0]): Observation(*row) for row in fetch(self._db, "SELECT name, value, at FROM observed_behaviour")
        }
        return [found[name] for name in OBSERVATION_NAMES if name in found]
