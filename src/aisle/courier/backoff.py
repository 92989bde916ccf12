"""How long to wait before something is tried again."""

from __future__ import annotations

from collections.abc import Callable

Roll = Callable[[], float]
"""A random number in [0, 1)."""


def backoff(tries: int, roll: float, first: float = 1.0, longest: float = 60.0) -> float:
    """Seconds: doubled with each try up to the longest, then anywhere between half of that and all of it.

    Many hosts that lost the service together do not come back together.
    """
    whole = min(longest, first * 2.0 ** min(max(tries - 1, 0), 32))
    return whole * (0.5 + 0.5 * roll)
