"""How much and how often one may ask: headers, and buckets of requests that fill at a steady rate."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from threading import Lock
from time import monotonic
from typing import NamedTuple

from aisle.service.errors import Refusal, unprocessable

MAX_HEADERS = 100
MAX_HEADER_BYTES = 32 << 10
MAX_QUERY_BYTES = 16 << 10
MAX_CODE_LENGTH = 1000
"""Characters of what names a thing: no part of a path is longer."""
KEYS_KEPT_DAYS = 30
"""So long answers are kept under their keys at least: hosts rely on it."""
_FOR_EVER_DAYS = 36_500
_INVALID_CODES = ("", ".", "..")

# So many buckets are remembered; the one that was not used for longest is full again anyway.
_MAX_KEYS = 10_000
_BURST_SECONDS = 10


def keys_kept(days: Decimal) -> int:
    """So many days answers are kept under their keys where it is set to `days`; 0 for ever."""
    return max(KEYS_KEPT_DAYS, math.ceil(days)) if days else _FOR_EVER_DAYS


def is_valid_code(text: str) -> bool:
    """Whether a path can name a thing of this number or code."""
    return text not in _INVALID_CODES and len(text) <= MAX_CODE_LENGTH


def check_code(text: str, subject: str, field: str) -> None:
    """Raises Refusal (422) for what no path can name; `what` is such as "the number of a product"."""
    if not is_valid_code(text):
        why = "." if text in _INVALID_CODES else f": it has at most {MAX_CODE_LENGTH} characters."
        raise unprocessable(f"This cannot be {subject}{why}", field)


class RateLimits(NamedTuple):
    """Requests a second that are answered in the long run, ten seconds' worth of them at once; 0 for any number."""

    token: float = 300.0
    unauthenticated: float = 20.0
    sign_in: float = 1.0
    token_bytes: float = 8.0 * (1 << 20)
    """Bytes of bodies a second; any number where requests are not counted either."""


class RateLimiter:
    """One bucket for each key; used by several threads."""

    def __init__(self, rate: float, now: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._capacity = max(1.0, rate * _BURST_SECONDS)
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def count_request(self, key: str) -> None:
        """Count one request. Raises Refusal (429), which says in how many seconds the next one is answered."""
        level = self._changed(key, 1, least=1)
        if level < 1:
            wait = max(1, math.ceil((1 - level) / self._rate))
            raise Refusal(429, f"Too many requests; the next is answered in {wait} s.", retry_after=wait)

    def check(self, key: str) -> None:
        """Raises Refusal (429) where more was charged than there was."""
        level = self._changed(key, 0)
        if level < 0:
            wait = max(1, math.ceil(-level / self._rate))
            raise Refusal(429, f"Too much was sent; the next body is taken in {wait} s.", retry_after=wait)

    def charge(self, key: str, amount: float) -> None:
        """Count what has come already: the bucket may owe it."""
        self._changed(key, amount)

    def _changed(self, key: str, amount: float, least: float = float("-inf")) -> float:
        """What was there before so much of it went; nothing goes where less than `least` was there."""
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
