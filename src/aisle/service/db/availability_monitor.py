"""Monitor of a database: its availability, whose changes are logged once, and waiting times."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Literal, Protocol

log = logging.getLogger("aisle.service")

AccessKind = Literal["reads", "writes"]


WaitKind = Literal["pool", "lock"]
"""Kind of a wait: for a connection of the pool or the writer thread, or for a lock of another writer."""


FULL_DISK_ERRORS = frozenset({"FullError", "DiskFullError"})
"""Errors of a full disk: SQLite's and PostgreSQL's."""


class DatabaseMetrics(Protocol):
    """Metrics that a monitor updates."""

    def set_database_up(self, *, up: bool) -> None:
        """Record that the database was lost or regained."""
        ...

    def count_full_disk(self) -> None:
        """Count a request that was refused because the disk of the database is full."""
        ...

    def observe_database_wait(self, kind: WaitKind, seconds: float) -> None:
        """Record a wait of this many seconds."""
        ...


QUIET_WRITES_S = 120.0
"""Seconds without a failed write after which writes count as regained.

A server on a full disk goes on to take small writes, and hosts try again after up to a minute.
"""


class DatabaseMonitor:
    """Record of the failures and successes of one database; threads may share it. Each change is logged once."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.metrics: DatabaseMetrics | None = None
        self._now = now
        self._failed: set[AccessKind] = set()
        self._is_lost = False
        self._lost_since = 0.0
        self._write_failed_at = -math.inf
        self._lock = Lock()

    @property
    def is_available(self) -> bool:
        """True if neither the last read nor the last write failed."""
        return not self._failed

    def report_failure(self, *parts: AccessKind, error: str) -> None:
        """Record that these accesses fail for a reason of the database. Only the kind of error is logged."""
        if error in FULL_DISK_ERRORS and self.metrics is not None:
            self.metrics.count_full_disk()
        with self._lock:
            self._failed.update(parts)
            if "writes" in parts:
                self._write_failed_at = self._now()
            if self._is_lost:
                return
            self._is_lost = True
            self._lost_since = self._now()
        log.error("database lost: %s of %s", error, " and ".join(parts))
        self._update_metrics(up=False)

    def report_success(self, *parts: AccessKind) -> None:
        """Record that these accesses succeeded. The call is cheap while nothing fails."""
        if not self._is_lost:
            return
        with self._lock:
            self._failed.difference_update(parts)
            now = self._now()
            if not self._is_lost or self._failed or now - self._write_failed_at < QUIET_WRITES_S:
                return
            self._is_lost = False
            seconds = now - self._lost_since
        log.warning("database regained after %.0f s", seconds)
        self._update_metrics(up=True)

    def report_wait(self, kind: WaitKind, seconds: float) -> None:
        """Record a wait."""
        if self.metrics is not None:
            self.metrics.observe_database_wait(kind, seconds)

    def _update_metrics(self, *, up: bool) -> None:
        if self.metrics is not None:
            self.metrics.set_database_up(up=up)
