"""What a long run comes to, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


class Tally(NamedTuple):
    """What happened in one life of the shop."""

    seed: int
    kinds: Counter[str]
    """Faults by kind."""
    writes: int
    """Faults that writes met; the others met reads."""
    requests: int
    operations: int
    refused: int
    asked: int
    """Operations that were given to a person after all tries."""
    deaths: int
    """Couriers that ended in the middle of something."""
    scans: int
    hours: float
    """Of the shop's clock."""

    @property
    def faults(self) -> int:
        """All of them."""
        return sum(self.kinds.values())

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in self.kinds.most_common())
        return (
            f"seed {self.seed}: {self.faults:,} faults ({self.writes:,} of them on writes)"
            f" in {self.requests:,} requests; {self.scans:,} scans and entries, {self.operations:,} operations,"
            f" {self.refused:,} refused,"
            f" {self.asked:,} given to a person; {self.deaths:,} couriers ended; {self.hours:.1f} h ({kinds})"
        )


def total(tallies: Iterable[Tally]) -> Tally:
    """All lives together; the seed is their number."""
    lives = list(tallies)
    kinds: Counter[str] = Counter()
    for life in lives:
        kinds.update(life.kinds)
    sums = [sum(column) for column in list(zip(*lives, strict=True))[2:]]
    return Tally(len(lives), kinds, *sums)
