"""A clock that stands still until it is moved, and repeatable random bytes."""

import random
from collections.abc import Callable


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        """Lets time pass."""
        self.now += seconds


def seeded(seed: int = 1) -> Callable[[int], bytes]:
    """Random bytes that are the same in every run."""
    return random.Random(seed).randbytes
