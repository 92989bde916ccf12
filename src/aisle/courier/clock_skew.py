"""Offset between this host's clock and the service's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

MIN_SKEW_S = 2.0
"""Seconds below which a skew counts as 0: `Date` has whole seconds, and a response takes time to arrive."""

SKEW_WINDOW_S = 600.0
"""Seconds of one measuring window. Clocks drift, so differences older than two windows are dropped."""


class ClockSkew:
    """Smallest difference between this host's clock and the service's, over the last one or two windows.

    The `Date` header names a whole second, and the response arrives later. So the smallest difference is the most
    accurate.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Store `clock`, this host's clock in seconds since 1970."""
        self._clock = clock
        self._window_start = clock()
        self._min_difference: float | None = None
        self._previous_min: float | None = None
        """Smallest difference of the window before the current one."""

    def record_response(self, headers: Mapping[str, str]) -> None:
        """Record the `Date` of a response that has just arrived. Header names are in lower case."""
        now = self._clock()
        try:
            difference = now - parsedate_to_datetime(headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError, OverflowError):
            return
        if not 0 <= now - self._window_start < SKEW_WINDOW_S:
            self._window_start, self._previous_min, self._min_difference = now, self._min_difference, None
        self._min_difference = difference if self._min_difference is None else min(self._min_difference, difference)

    @property
    def skew_s(self) -> float:
        """Seconds that this host's clock is ahead; 0 if it is within `MIN_SKEW_S`, or no response had a date."""
        differences = [each for each in (self._min_difference, self._previous_min) if each is not None]
        ahead = min(differences, default=0.0)
        return ahead if abs(ahead) > MIN_SKEW_S else 0.0
