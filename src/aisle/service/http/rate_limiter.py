"""Rate limiter: refuses requests with 429 once a caller has sent more than its rate allows (`service.options`)."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic

from aisle.service.errors import Refusal

# Maximum number of buckets. The least recently used one is full again anyway.
_MAX_KEYS = 10_000
_BURST_SECONDS = 10


class RateLimiter:
    """Rate limiter with one bucket per key; threads may share it."""

    def __init__(self, rate: float, now: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._capacity = max(1.0, rate * _BURST_SECONDS)
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def count_request(self, key: str) -> None:
        """Count one request. Raise Refusal (429) with the seconds until the next one is accepted."""
        level = self._changed(key, 1, least=1)
        if level < 1:
            wait = max(1, math.ceil((1 - level) / self._rate))
            raise Refusal(429, f"Too many requests; the next is answered in {wait} s.", retry_after=wait)

    def check(self, key: str) -> None:
        """Raise Refusal (429) if more was charged than the bucket had."""
        level = self._changed(key, 0)
        if level < 0:
            wait = max(1, math.ceil(-level / self._rate))
            raise Refusal(429, f"Too much was sent; the next body is taken in {wait} s.", retry_after=wait)

    def charge(self, key: str, amount: float) -> None:
        """Charge an amount that has arrived already. The level may become negative."""
        self._changed(key, amount)

    def _changed(self, key: str, amount: float, least: float = float("-inf")) -> float:
        """Subtract an amount if the level is at least `least`. Return the level before."""
        if self._rate <= 0:
            return self._capacity
        now = self._now()
        with self._lock:
            level, then = self._levels.pop(key, (self._capacity, now))
            level = min(self._capacity, level + (now - then) * self._rate)
            self._levels[key] = (level - amount if level >= least else level, now)
            if len(self._levels) > _MAX_KEYS:
                self._levels.popitem(last=False)
        return level
