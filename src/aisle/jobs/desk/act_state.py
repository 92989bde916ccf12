"""What doing something to orders keeps: what, to which, and what came of it."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.desk.deeds import Deed
from aisle.jobs.pick.short_ways import Reason
from aisle.jobs.view import Msg
from aisle.tuples import NamedTuple

WHAT, WHY, WHO, SURE, WAIT, RESULTS = "what", "why", "who", "sure", "wait", "results"
"""The pages."""

PAGE = 6
"""People or reasons that any screen shows."""


class Person(NamedTuple):
    """Somebody whose the order may become."""

    user: str
    name: str


class Outcome(NamedTuple):
    """What came of it for one order."""

    order: str
    word: str
    """One of the five words for what becomes of a piece of work; empty where nothing was written."""
    why: Msg | None = None


class Acting(NamedTuple):
    """What is to be done, as far as it is known."""

    orders: tuple[str, ...] = ()
    page: str = WHAT
    kind: str = ""
    line: int = 0
    label: str = ""
    """What the line is for."""
    picked: Decimal = Decimal(0)
    of: Decimal = Decimal(0)
    """What the orders stand at."""
    reasons: tuple[Reason, ...] = ()
    people: tuple[Person, ...] = ()
    sought: str = ""
    """The name that was typed."""
    known: int = 0
    """How many have it; no more than can be leafed through are in `people`."""
    top: int = 0
    """Where the page of people or reasons begins."""
    page_rows: int = PAGE
    """So many of them the screen has room for."""
    plan: tuple[tuple[str, Deed], ...] = ()
    """What is to be done to each order, once that is sure."""
    undoing: bool = False
    done_at: str = ""
    """When it was done, ISO 8601 UTC: what was said before comes to nothing here."""
    outcomes: tuple[Outcome, ...] = ()
    undo: tuple[tuple[str, Deed], ...] = ()
    """What would undo it."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    size: int = 12
    """Results that fit on the screen."""
    rejects: bool = False
    """The service takes rejections of lines."""
    walked: bool = True
    """One of them at least is in somebody's walk, as far as that was read."""

    @property
    def rows(self) -> tuple[Outcome, ...]:
        """The results in sight."""
        return self.outcomes[self.first : self.first + self.size]

    @property
    def total(self) -> int:
        """How many results there are."""
        return len(self.outcomes)
