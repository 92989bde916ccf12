"""How far this host's clock is ahead of the service's: what is said by it means another moment there.

An answer names a whole second that had begun, in its `Date`, and comes a while later: of several differences the least
is the nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

OFF_S = 2.0
"""A clock that seems less off than this is right: a second is not told in parts, and an answer takes its time."""
WINDOW_S = 600.0
"""Clocks drift: differences of longer ago than two of these say nothing any more."""


class Compared:
    """Both clocks, as far as answers have told."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` is this host's, in seconds since 1970."""
        self._clock = clock
        self._since = clock()
        self._least: float | None = None
        self._before: float | None = None
        """The least difference of the window before."""

    def hear(self, headers: Mapping[str, str]) -> None:
        """An answer has just come; names of headers are in lower case."""
        now = self._clock()
        try:
            difference = now - parsedate_to_datetime(headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError, OverflowError):
            return
        if not 0 <= now - self._since < WINDOW_S:
            self._since, self._before, self._least = now, self._least, None
        self._least = difference if self._least is None else min(self._least, difference)

    @property
    def ahead_s(self) -> float:
        """Seconds; 0 where this host's clock is right as far as can be seen, or no answer has said what time it is."""
        known = [each for each in (self._least, self._before) if each is not None]
        ahead = min(known, default=0.0)
        return ahead if abs(ahead) > OFF_S else 0.0
