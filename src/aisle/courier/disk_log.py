"""Log of a full disk: one line when it begins, and one when there is room again."""

from __future__ import annotations

from collections.abc import Callable

from aisle.courier.operator_notices import OperatorNotices
from aisle.host.database import is_disk_full

QUIET_S = 60.0
"""Seconds without a failure after which room counts: the rest of a full disk still takes small writes."""


class DiskLog:
    """Log of the errors that a full disk causes. `has_room` tells whether the disk takes more."""

    def __init__(
        self, operator_notices: OperatorNotices, clock: Callable[[], float], has_room: Callable[[], bool]
    ) -> None:
        self._operator_notices = operator_notices
        self._clock = clock
        self._has_room = has_room
        self._full_since: float | None = None
        self._failed_at = 0.0

    def record(self, error: Exception) -> bool:
        """Return True if the disk is full and the error comes of it. The first one is logged."""
        if not is_disk_full(error):
            return False
        self._failed_at = self._clock()
        if self._full_since is None:
            self._full_since = self._failed_at
            self._operator_notices.add("disk full")
        return True

    def check(self) -> None:
        """Log that there is room again."""
        if self._full_since is None or self._clock() - self._failed_at < QUIET_S or not self._has_room():
            return
        self._operator_notices.add(f"disk regained after {self._clock() - self._full_since:.0f} s")
        self._full_since = None
