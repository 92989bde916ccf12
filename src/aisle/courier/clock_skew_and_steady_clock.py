"""Offset between the clock of this host and that of the service, and a clock that does not jump when it is set."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path

MIN_SKEW_S = 2.0
"""Seconds below which a skew counts as 0: `Date` has whole seconds, and a response takes time to arrive."""

SKEW_WINDOW_S = 600.0
"""Seconds of one measuring window. Clocks drift, so differences older than two windows are dropped."""


MAX_SKEW_S = 2e9
"""Seconds above which a `Date` is not believed; a host without a clock battery begins in 1970."""

_SURE_WITHIN_S = 60.0
"""Seconds within which a response agrees with those before it, however late it arrives."""


class ClockSkew:
    """Smallest difference between this host's clock and the service's, over the last one or two windows.

    The `Date` header names a whole second, and the response arrives later. So the smallest difference is the most
    accurate. One that is far from the others counts once the next response agrees with it.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Store `clock`, this host's clock in seconds since 1970."""
        self._clock = clock
        self._window_start = clock()
        self._min_difference: float | None = None
        self._previous_min: float | None = None
        """Smallest difference of the window before the current one."""
        self._doubtful: float | None = None
        """Last difference, if it is far from those before."""

    def record_response(self, headers: Mapping[str, str]) -> None:
        """Record the `Date` of a response that has just arrived. Header names are in lower case."""
        now = self._clock()
        try:
            difference = now - parsedate_to_datetime(headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError, OverflowError):
            return
        if abs(difference) > MAX_SKEW_S or not self._is_confirmed(difference):
            return
        if not 0 <= now - self._window_start < SKEW_WINDOW_S:
            self._window_start, self._previous_min, self._min_difference = now, self._min_difference, None
        self._min_difference = difference if self._min_difference is None else min(self._min_difference, difference)

    def _is_confirmed(self, difference: float) -> bool:
        """Return whether a difference counts; forget all others if two in a row contradict them."""
        known, doubtful, self._doubtful = self._smallest, self._doubtful, None
        if known is None or abs(difference - known) <= _SURE_WITHIN_S:
            return True
        if doubtful is None or abs(difference - doubtful) > _SURE_WITHIN_S:
            self._doubtful = difference
            return False
        self._min_difference = self._previous_min = None
        return True

    @property
    def _smallest(self) -> float | None:
        return min((each for each in (self._min_difference, self._previous_min) if each is not None), default=None)

    @property
    def skew_s(self) -> float:
        """Seconds that this host's clock is ahead; 0 if it is within `MIN_SKEW_S`, or no response had a date."""
        ahead = self._smallest or 0.0
        return ahead if abs(ahead) > MIN_SKEW_S else 0.0


MIN_JUMP_S = 2.0
"""Seconds below which a change of the clock is ignored."""

LONG_JUMP_S = 60.0
"""Seconds of a jump after which everything is read again: reads by time may have missed changes."""


class SteadyClock:
    """Clock in seconds since 1970 that follows the host's clock at creation and is not changed when that is set."""

    def __init__(
        self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] | None = None, boot_id: str = ""
    ) -> None:
        """Store the clocks.

        `monotonic` counts seconds since the host started, including those it slept; `boot_id` identifies that start.
        """
        self._wall = wall
        self._monotonic = monotonic or (lambda: time.clock_gettime(time.CLOCK_BOOTTIME))
        self.boot_id = boot_id or _read_boot_id()
        self.host_started_at = self._wall() - self._monotonic()
        """Start of the host in seconds since 1970, by the wall clock when this clock was made."""

    def __call__(self) -> float:
        return self._monotonic() + self.host_started_at

    def adjusted(self) -> SteadyClock:
        """Return a clock of the same kind, set to the host's present time."""
        return SteadyClock(self._wall, self._monotonic, self.boot_id)

    @property
    def has_jumped(self) -> bool:
        """True if the host's clock was set since this object was created."""
        return abs(self._wall() - self()) > MIN_JUMP_S


def to_steady_clock(clock: Callable[[], float]) -> Callable[[], float]:
    """Return a steady clock, set to the host's present time. A clock of another kind is returned unchanged."""
    if isinstance(clock, SteadyClock):
        return clock.adjusted()
    return SteadyClock() if clock is time.time else clock


def has_jumped(clock: Callable[[], float]) -> bool:
    """Return whether the courier has to restart because its clock was set."""
    return isinstance(clock, SteadyClock) and clock.has_jumped


_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")


def _read_boot_id() -> str:
    with suppress(OSError):
        return _BOOT_ID_FILE.read_text(encoding="ascii").strip()
    return ""
