"""Waiting for a while, or until somebody rings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

Sleep = Callable[[float], Awaitable[None]]


class WakeEvent:
    """What a loop of the courier sleeps on. A ring while nobody sleeps is kept for the next wait."""

    def __init__(self, sleep: Sleep) -> None:
        self._sleep = sleep
        self._event = asyncio.Event()

    def set(self) -> None:
        """Ends the wait, or the next one."""
        self._event.set()

    async def wait(self, seconds: float | None) -> bool:
        """Waits so many seconds, None for ever; True when it was rung before they were over."""
        if not self._event.is_set() and (seconds is None or seconds > 0):
            await self._wait_with_timeout(seconds)
        rung = self._event.is_set()
        self._event.clear()
        return rung

    async def _wait_with_timeout(self, seconds: float | None) -> None:
        if seconds is None:
            await self._event.wait()
            return
        ring = asyncio.ensure_future(self._event.wait())
        time = asyncio.ensure_future(self._sleep(seconds))
        try:
            await asyncio.wait((ring, time), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ring.cancel()
            time.cancel()


RandomSource = Callable[[], float]
"""A random number in [0, 1)."""


def backoff_s(tries: int, random_fraction: float, first: float = 1.0, longest: float = 60.0) -> float:
    """Seconds: doubled with each try up to the longest, then anywhere between half of that and all of it.

    Many hosts that lost the service together do not come back together.
    """
    whole = min(longest, first * 2.0 ** min(max(tries - 1, 0), 32))
    return whole * (0.5 + 0.5 * random_fraction)


ORDER_READS = "order"
"""The name of orders that are asked for one by one, as wishes have it."""

LOOKUPS = "looks"
"""The name of what is asked for to find what may have arrived."""

MIN_REPEATS = 3
"""So often in a row patience is asked of everything; after that it is a matter of that list alone."""
_MIN_BACKOFF_S, _MAX_BACKOFF_S = 2.0, 60.0
"""How long such a list rests where the service does not say it; it doubles."""


class ListBackoffs:
    """How often in a row patience was asked at each list, and until when it is left alone."""

    def __init__(self) -> None:
        self._repeats: dict[str, int] = {}
        self._paused_until: dict[str, float] = {}

    def record_rate_limit(self, name: str, retry_after_s: float | None, now: float) -> bool:
        """Notes that patience was asked at this list; whether it was often enough to be a matter of the list alone,
        which rests then."""
        if not name:
            return False
        strikes = self._repeats[name] = self._repeats.get(name, 0) + 1
        if strikes < MIN_REPEATS:
            return False
        rest = min(_MAX_BACKOFF_S, _MIN_BACKOFF_S * 2.0 ** min(strikes - MIN_REPEATS, 16))
        self._paused_until[name] = now + min(max(rest, retry_after_s or 0.0), _MAX_BACKOFF_S)
        return True

    def paused_until(self, name: str) -> float:
        """The moment until which this list is left alone; 0 where it is not."""
        return self._paused_until.get(name, 0.0)

    def is_paused(self, name: str, now: float) -> bool:
        """Whether this list is left alone now."""
        return now < self.paused_until(name)

    def clear(self, name: str) -> None:
        """The list was read."""
        self._repeats.pop(name, None)
        self._paused_until.pop(name, None)


class PullIntervals(NamedTuple):
    """Seconds between two looks at the same thing."""

    changes: float = 2.0
    """The cursor of our own service."""
    people: float = 60.0
    headers: float = 60.0
    """From here on: a service without a cursor. Headers of all orders."""
    walked: float = 15.0
    """Lines of the orders that somebody works on."""
    stock: float = 60.0
    slow: float = 900.0
    """What changes unseen: lines of all orders, places, stores, catalogue."""


OWN_SERVICE_TASKS = ("changes", "people")
PLAIN_SERVICE_TASKS = ("headers", "walked", "stock", "slow")


class Timetable:
    """The next moment of each look. All moments are seconds since 1970."""

    def __init__(self, intervals: PullIntervals) -> None:
        self._intervals = intervals
        self._names: tuple[str, ...] = ()
        self._next: dict[str, float] = {}

    def select_tasks(self, is_own_service: bool, now: float) -> None:
        """Looks as our own service needs it, or as any other does; what is newly looked at is due at once.

        Only the slow round is not: a start that finds everything in the cache shall be a small one.
        """
        names = OWN_SERVICE_TASKS if is_own_service else PLAIN_SERVICE_TASKS
        if names != self._names:
            self._names = names
            self._next = {name: now + self._interval(name) if name == "slow" else now for name in names}

    def __contains__(self, name: str) -> bool:
        """Whether this is looked at at all."""
        return name in self._next

    def schedule_earlier(self, name: str, at: float = 0.0) -> bool:
        """This look is due at that moment, or at once, if it is looked at at all; whether it would have come later."""
        sooner = name in self._next and at < self._next[name]
        if sooner:
            self._next[name] = at
        return sooner

    def pop_due(self, now: float) -> tuple[str, ...]:
        """The looks that are due; each is due again after its pause."""
        due = tuple(name for name, at in self._next.items() if at <= now)
        self._next.update({name: now + self._interval(name) for name in due})
        return due

    def next_at(self) -> float | None:
        """When the first look is due."""
        return min(self._next.values(), default=None)

    def _interval(self, name: str) -> float:
        return float(getattr(self._intervals, name))
