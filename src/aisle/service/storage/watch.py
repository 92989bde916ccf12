"""Whether a database can be used, said once when that changes, and how long its callers wait inside this process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Literal, Protocol

log = logging.getLogger("aisle.service")

Part = Literal["reads", "writes"]
Wait = Literal["pool", "lock"]
"""A wait for a connection of the pool or for the writing thread; a wait for a lock that another writer holds."""


class Figures(Protocol):
    """Counts what a watch sees."""

    def database_state(self, *, up: bool) -> None:
        """The database is lost, or back."""
        ...

    def database_waited(self, what: Wait, seconds: float) -> None:
        """Somebody waited for so long."""
        ...


class Watch:
    """Sees every failure and every success of one storage; used by several threads."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.figures: Figures | None = None
        self._now = now
        self._lost: set[Part] = set()
        self._since = 0.0
        self._lock = Lock()

    @property
    def is_up(self) -> bool:
        """Whether nothing is lost."""
        return not self._lost

    def lost(self, *parts: Part, kind: str) -> None:
        """These fail, for a reason of the database's own; of the reason only its kind is said."""
        with self._lock:
            first = not self._lost
            self._lost.update(parts)
            if not first:
                return
            self._since = self._now()
        log.error("database lost: %s of %s", kind, " and ".join(parts))
        self._tell(up=False)

    def works(self, *parts: Part) -> None:
        """These have succeeded. It costs nothing while nothing is lost."""
        if not self._lost:
            return
        with self._lock:
            before = bool(self._lost)
            self._lost.difference_update(parts)
            if self._lost or not before:
                return
            seconds = self._now() - self._since
        log.warning("database regained after %.0f s", seconds)
        self._tell(up=True)

    def waited(self, what: Wait, seconds: float) -> None:
        """Somebody has waited."""
        if self.figures is not None:
            self.figures.database_waited(what, seconds)

    def _tell(self, *, up: bool) -> None:
        if self.figures is not None:
            self.figures.database_state(up=up)
