"""Timetable of the periodic reads, and their intervals."""

from __future__ import annotations

from typing import NamedTuple


class PullIntervals(NamedTuple):
    """Seconds between two reads of the same data."""

    changes: float = 2.0
    """Changes by the cursor of our own service."""
    people: float = 60.0
    headers: float = 60.0
    """Headers of all orders. From here on: services without a change cursor."""
    worked_on: float = 15.0
    """Lines of the orders that somebody works on."""
    stock: float = 60.0
    unannounced: float = 900.0
    """Data whose changes are not announced: lines of all orders, locations, stores, catalogue."""


OWN_SERVICE_TASKS = ("changes", "people")

PLAIN_SERVICE_TASKS = ("headers", "worked_on", "stock", "unannounced")


class Timetable:
    """Next time of each periodic read, in seconds since 1970."""

    def __init__(self, intervals: PullIntervals) -> None:
        self._intervals = intervals
        self._names: tuple[str, ...] = ()
        self._next: dict[str, float] = {}

    def select_tasks(self, is_own_service: bool, now: float) -> None:
        """Choose the periodic reads of our own service, or of any other. New ones are due at once.

        Only reads of what is not announced are not: a start with a full cache must cause few requests.
        """
        names = OWN_SERVICE_TASKS if is_own_service else PLAIN_SERVICE_TASKS
        if names != self._names:
            self._names = names
            self._next = {name: now + self._interval(name) if name == "unannounced" else now for name in names}

    def __contains__(self, name: str) -> bool:
        """Return whether this read is scheduled."""
        return name in self._next

    def schedule_earlier(self, name: str, at: float = 0.0) -> bool:
        """Make this read due at `at`, or at once. Return whether it is scheduled and was due later."""
        sooner = name in self._next and at < self._next[name]
        if sooner:
            self._next[name] = at
        return sooner

    def pop_due(self, now: float) -> tuple[str, ...]:
        """Return the names of due reads, and schedule each again after its interval."""
        due = tuple(name for name, at in self._next.items() if at <= now)
        self._next.update({name: now + self._interval(name) for name in due})
        return due

    def next_at(self) -> float | None:
        """Return the time of the next read; None if none is scheduled."""
        return min(self._next.values(), default=None)

    def _interval(self, name: str) -> float:
        return float(getattr(self._intervals, name))
