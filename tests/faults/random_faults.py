"""Bad weather by dice: what happens to each request of a long run, and how much of it has happened."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import httpx

from tests.faults import link
from tests.faults.link import Copy, Fault

WEIGHTS: Mapping[str, int] = {
    link.UNREACHED: 5,
    link.LOST_BEFORE: 16,
    link.LOST_AFTER: 16,
    link.LATE: 16,
    link.DOUBLED: 12,
    link.CUT: 16,
    link.GATEWAY_BEFORE: 10,
    link.GATEWAY_AFTER: 12,
    link.LIMITED: 3,
    link.CRASH: 16,
    link.CANCEL_BEFORE: 1,
    link.CANCEL_AFTER: 1,
    link.SLOW: 4,
}
"""How often each kind comes, beside the others."""

_STATEMENTS = 60
"""A crash comes before one of the first so many: our own service has up to forty in a write, the commit included."""


class Weather:
    """A plan for a line: so many of the writes and so many of the reads meet something."""

    def __init__(
        self,
        random: Random,
        *,
        writes: float = 0.9,
        reads: float = 0.25,
        copies: float = 0.67,
        tail_s: float = 20.0,
        longest_s: float = 600.0,
        weights: Mapping[str, int] = WEIGHTS,
        statements: int = _STATEMENTS,
    ) -> None:
        """`writes`, `reads`: shares of them that meet something; `copies`: the chance that a write which does is on its
        way once more, and then once more again; what is late comes `tail_s` seconds later on average, `longest_s` at
        the most; a crash comes before one of the first so many `statements`."""
        self.writes = 0
        """Faults that writes have met, without copies."""
        self.reads = 0
        self.copies = 0
        self._random = random
        self._rates = (writes, reads)
        self._copies = copies
        self._tail_s = tail_s
        self._longest_s = longest_s
        self._statements = statements
        self._kinds = tuple(weights)
        self._weights = tuple(weights.values())

    def __call__(self, request: httpx.Request) -> Fault:
        random, is_read = self._random, request.method == "GET"
        if random.random() >= self._rates[is_read]:
            return Fault()
        (kind,) = random.choices(self._kinds, self._weights)
        fault = Fault(kind, self._later(), random.randint(1, self._statements))
        if is_read:
            self.reads += 1
            return fault
        self.writes += 1
        copies: list[Copy] = []
        while random.random() < self._copies:
            copies.append(Copy(self._later(), random.randint(1, self._statements) if random.random() < 0.2 else 0))
        self.copies += len(copies)
        return fault._replace(copies=tuple(copies))

    def _later(self) -> float:
        return min(self._random.expovariate(1 / self._tail_s), self._longest_s)
