"""When to look at what again: pure, so that it can be read and tested like a timetable."""

from __future__ import annotations

from aisle.tuples import NamedTuple


class Pace(NamedTuple):
    """Seconds between two looks at the same thing."""

    changes: float = 2.0
    """The cursor of our own service."""
    people: float = 60.0
    headers: float = 60.0
    """From here on: a service without a cursor. Headers of all orders."""
    walked: float = 15.0
    """Lines of the orders that somebody works on."""
    stock: float = 60.0
    slow: float = 900.0
    """What changes unseen: lines of all orders, places, stores, catalogue."""


OWN = ("changes", "people")
DOCUMENT = ("headers", "walked", "stock", "slow")


class Timetable:
    """The next moment of each look. All moments are seconds since 1970."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._names: tuple[str, ...] = ()
        self._next: dict[str, float] = {}

    def follow(self, own: bool, now: float) -> None:
        """Looks as our own service needs it, or as any other does; what is newly looked at is due at once.

        Only the slow round is not: a start that finds everything in the cache shall be a small one.
        """
        names = OWN if own else DOCUMENT
        if names != self._names:
            self._names = names
            self._next = {name: now + self._pause(name) if name == "slow" else now for name in names}

    def __contains__(self, name: str) -> bool:
        """Whether this is looked at at all."""
        return name in self._next

    def hurry(self, name: str, at: float = 0.0) -> bool:
        """This look is due at that moment, or at once, if it is looked at at all; whether it would have come later."""
        sooner = name in self._next and at < self._next[name]
        if sooner:
            self._next[name] = at
        return sooner

    def take(self, now: float) -> tuple[str, ...]:
        """The looks that are due; each is due again after its pause."""
        due = tuple(name for name, at in self._next.items() if at <= now)
        self._next.update({name: now + self._pause(name) for name in due})
        return due

    def next_at(self) -> float | None:
        """When the first look is due."""
        return min(self._next.values(), default=None)

    def _pause(self, name: str) -> float:
        return float(getattr(self._pace, name))
