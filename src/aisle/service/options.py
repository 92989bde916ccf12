"""Options of the service, and its limits of requests, headers and codes."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from threading import Lock
from time import monotonic, time
from typing import TYPE_CHECKING, NamedTuple

from aisle.service.domain.timestamps import HOST_TIME_ZONE, Clock, TimeZones
from aisle.service.errors import Refusal
from aisle.service.http.json_logging import RequestRecorder

if TYPE_CHECKING:
    from aisle.service.http.metrics import Metrics

MAX_HEADERS = 100
MAX_HEADER_BYTES = 32 << 10
MAX_QUERY_BYTES = 16 << 10
KEYS_KEPT_DAYS = 30
"""Minimum days that answers are stored under their keys. Hosts rely on it."""
_FOR_EVER_DAYS = 36_500

# Maximum number of buckets. The least recently used one is full again anyway.
_MAX_KEYS = 10_000
_BURST_SECONDS = 10


def keys_kept(days: Decimal) -> int:
    """Return the days that answers are stored under keys for a setting of `days`; 0 is for ever."""
    return max(KEYS_KEPT_DAYS, math.ceil(days)) if days else _FOR_EVER_DAYS


class RateLimits(NamedTuple):
    """Requests per second in the long run, with bursts of ten seconds; 0 is no limit."""

    token: float = 300.0
    unauthenticated: float = 20.0
    sign_in: float = 1.0
    token_bytes: float = 8.0 * (1 << 20)
    """Bytes of bodies per second; no limit if requests have none."""


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


class ServiceOptions(NamedTuple):
    """Options of the service."""

    clock: Clock = time
    rate_limits: RateLimits = RateLimits()
    record_request: RequestRecorder | None = None
    """Callback that receives a record of each request."""
    metrics: Metrics | None = None
    """Metrics that count requests and are served at `/metrics`."""
    time_zones: TimeZones = HOST_TIME_ZONE
    """Time zones by which dates and times without a zone are read."""
    lenient: bool = False
    """True if unknown query parameters are ignored."""
    keys_days: int = KEYS_KEPT_DAYS
    """Days that answers are stored under keys."""
    has_demo_store: bool = False
    """True if the database has the demo store, which the service announces."""


DEFAULT_OPTIONS = ServiceOptions()
