"""Pauses of the courier's loops: backoff after failures, rate-limited lists, and the event that ends a pause."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

RandomSource = Callable[[], float]
"""Function that returns a random number in [0, 1)."""


def backoff_s(tries: int, random_fraction: float, first: float = 1.0, longest: float = 60.0) -> float:
    """Return the seconds before the next try: doubled each time up to `longest`, then reduced by up to a half at
    random.

    So hosts that lost the service together do not return together.
    """
    wait_s = min(longest, first * 2.0 ** min(max(tries - 1, 0), 32))
    return wait_s * (0.5 + 0.5 * random_fraction)


ORDER_READS = "order"
"""Name of reads of single orders, for `ListBackoffs`."""

LOOKUPS = "lookups"
"""Name of lookups of operations in doubt, for `ListBackoffs`."""


MIN_REPEATS = 3
"""Number of rate limits in a row after which only the list is paused, and no longer all requests."""

_MIN_BACKOFF_S, _MAX_BACKOFF_S = 2.0, 60.0
"""Seconds that such a list is paused if the service names no time; the first value doubles up to the second."""


class ListBackoffs:
    """Rate limits in a row of each list, and the pauses that follow from them."""

    def __init__(self) -> None:
        self._repeats: dict[str, int] = {}
        self._paused_until: dict[str, float] = {}

    def record_rate_limit(self, name: str, retry_after_s: float | None, now: float) -> bool:
        """Count a rate limit of this list. Return whether the list alone is paused from now on."""
        if not name:
            return False
        repeats = self._repeats[name] = self._repeats.get(name, 0) + 1
        if repeats < MIN_REPEATS:
            return False
        pause_s = backoff_s(repeats - MIN_REPEATS + 1, 1.0, _MIN_BACKOFF_S, _MAX_BACKOFF_S)
        self._paused_until[name] = now + min(max(pause_s, retry_after_s or 0.0), _MAX_BACKOFF_S)
        return True

    def paused_until(self, name: str) -> float:
        """Return the time until which this list is paused, in seconds since 1970; 0 if it is not."""
        return self._paused_until.get(name, 0.0)

    def is_paused(self, name: str, now: float) -> bool:
        """Return whether this list is paused now."""
        return now < self.paused_until(name)

    def clear(self, name: str) -> None:
        """Reset this list after a successful read."""
        self._repeats.pop(name, None)
        self._paused_until.pop(name, None)


MAX_RETRY_S = 900.0
"""Longest interval in seconds between two tries of what cannot be read."""

_MIN_RETRY_S = 60.0
"""Seconds after which a failed read is tried again.

The interval grows, except where an operation waits for the read.
"""


def retry_wait_s(tries: int) -> float:
    """Return the seconds until a read that failed `tries` times is tried again."""
    return backoff_s(tries, 1.0, _MIN_RETRY_S, MAX_RETRY_S)


class MissingLists:
    """Missing lists with the time of their next try, in seconds since 1970."""

    def __init__(self) -> None:
        self._tries: dict[str, int] = {}
        self._next: dict[str, float] = {}

    def pop_due(self, missing: Iterable[str], now: float) -> tuple[str, ...]:
        """Return the lists that are due; each is due again after a longer interval.

        Lists that are not in `missing` are forgotten.
        """
        self._next = {name: self._next.get(name, now + retry_wait_s(1)) for name in missing}
        self._tries = {name: self._tries.get(name, 1) for name in self._next}
        due = tuple(name for name, at in self._next.items() if at <= now)
        for name in due:
            self._tries[name] += 1
            self._next[name] = now + retry_wait_s(self._tries[name])
        return due


Sleep = Callable[[float], Awaitable[None]]


class WakeEvent:
    """Event that a loop of the courier sleeps on. If nobody waits, it stays set for the next wait."""

    def __init__(self, sleep: Sleep) -> None:
        self._sleep = sleep
        self._event = asyncio.Event()

    def set(self) -> None:
        """End the wait, or the next one."""
        self._event.set()

    async def wait(self, seconds: float | None) -> bool:
        """Wait for `seconds` (None: without limit). Return whether the event was set before they passed."""
        if not self._event.is_set() and (seconds is None or seconds > 0):
            await self._wait_with_timeout(seconds)
        was_set = self._event.is_set()
        self._event.clear()
        return was_set

    async def _wait_with_timeout(self, seconds: float | None) -> None:
        if seconds is None:
            await self._event.wait()
            return
        woken = asyncio.ensure_future(self._event.wait())
        timeout = asyncio.ensure_future(self._sleep(seconds))
        try:
            await asyncio.wait((woken, timeout), return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()
            timeout.cancel()
