"""What the pages of today keep."""

from __future__ import annotations

from typing import Any

from aisle.tuples import NamedTuple

PHASES = ("hours", "places", "terminals")
"""What the numbers of the first page lead to."""

KINDS = ("pick", "short", "move")
"""What a map can be of."""


class Person(NamedTuple):
    """What somebody did, by the hour of the day."""

    name: str
    here: bool = False
    """Known on this host only."""
    hours: tuple[tuple[int, tuple[tuple[str, int], ...]], ...] = ()

    def of(self, kind: str) -> int:
        """How much of a kind in all."""
        return sum(count for _, kinds in self.hours for name, count in kinds if name == kind)


class Aisle(NamedTuple):
    """Places that stand behind each other, in the order of feet."""

    name: str
    counts: tuple[int, ...]
    hottest: str = ""
    """The place with the most."""


class Terminal(NamedTuple):
    """Somebody at work on this host."""

    terminal: str
    name: str
    job: str
    since: str
    last: float
    """Seconds since the last input; below 0 where none is known."""


class Today(NamedTuple):
    """One of four pages."""

    phase: str = "pulse"
    """`pulse`, or one of `PHASES`."""
    kind: str = KINDS[0]
    now: str = ""
    pulse: tuple[tuple[str, Any], ...] = ()
    """The fields of the read `today`."""
    people: tuple[Person, ...] = ()
    aisles: tuple[Aisle, ...] = ()
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Terminal, ...] = ()
    total: int = 0
    page: int = 0
    wished: str = ""
