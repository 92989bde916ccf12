"""What a clearance keeps, while it is chosen and while it is asked for."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.desk.tasks_state import Listed
from aisle.jobs.pin import FEWEST
from aisle.roles import may_supervise
from aisle.tuples import NamedTuple


class Tag(NamedTuple):
    """A tag of the store's places."""

    key: str
    places: int = 0


class Category(NamedTuple):
    """Goods of one category that are held at places with the tag; chosen or not."""

    key: str
    lines: int = 0
    quantity: Decimal = Decimal(0)
    typed: bool = False
    """Somebody typed it; nothing of it is known to be held."""


class Clearance(NamedTuple):
    """Which places and which goods."""

    heard: bool = True
    people: bool = True
    """The service knows who people are; where it does not, its token decides alone."""
    role: str = ""
    known: bool = False
    """What is above was read."""
    tag: str = ""
    """Empty while one is chosen."""
    rows: tuple[Tag | Category, ...] = ()
    """The window that is shown."""
    tags: tuple[Tag, ...] = ()
    categories: tuple[Category, ...] = ()
    chosen: tuple[str, ...] = ()
    """Categories; none for all."""
    first: int = 0
    cursor: int = -1
    search: str = ""
    typed: str = ""
    size: int = 12

    @property
    def everything(self) -> tuple[Tag | Category, ...]:
        """All rows of the page; none for who may not."""
        if self.known and not self.may:
            return ()
        return self.categories if self.tag else self.tags

    @property
    def total(self) -> int:
        """How many they are."""
        return len(self.everything)

    @property
    def may(self) -> bool:
        """Whether this person may clear, as far as it is known here."""
        return may_supervise(self.role, heard=self.known, people=self.people)


ENOUGH = 5
"""A shorter tag than that is typed over and over, until it is so long."""


class Clear(NamedTuple):
    """One clearance."""

    phase: str = "sure"
    """`sure`, `wait` or `done`."""
    tag: str = ""
    categories: tuple[str, ...] = ()
    lines: int = 0
    """Order lines of which something is held there, as far as it is known here."""
    people: bool = True
    """The service knows people, and wants the PIN of one."""
    listed: bool = False
    """It tells what is assigned."""
    ask_id: str = ""
    begun: bool = False
    at: str = ""
    """When it was asked."""
    how: str = ""
    """What became of it: `done`, `refused`, `role`, `not_sent`, `expired` or `unknown`."""
    why: str = ""
    fresh: int = -1
    """Goods that it newly wants moved; below 0 where nobody says."""
    tasks: tuple[Listed, ...] = ()
    total: int = 0
    page: int = 0


def asked_for(tag: str) -> str:
    """What has to be typed: the tag, and one that is too short to tell typing from a scan as often as it takes."""
    short = 0 < len(tag) < FEWEST
    return " ".join([tag] * (-(-(ENOUGH + 1) // (len(tag) + 1)))) if short else tag
