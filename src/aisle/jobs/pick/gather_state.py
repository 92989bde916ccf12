"""What is kept of a round that is gathered."""

from __future__ import annotations

from decimal import Decimal

from aisle.tuples import NamedTuple


class Chosen(NamedTuple):
    """One order of the round to be."""

    order: str
    who: str = ""
    pickup: str = ""
    lines: int = 0
    """Lines of it that are still open."""
    pieces: Decimal = Decimal(0)
    stops: tuple[tuple[str, str, int, str], ...] = ()
    """The stops that it has alone, as its lines call them (`Take.stop`)."""
    code: str = ""
    """What stands on its tote, if anybody said."""
    known: bool = False
    """Its lines are here."""
    sure: bool = False
    """It is to be picked here, whoever else said it was his."""


class Way(NamedTuple):
    """One way on: `out` (an order leaves), `all_the_same` (somebody else picks it), `is_tote` (a number, or a code that
    looks like an order), `many` (so many orders), `is_product` and its like (what that number is), `look_up`,
    `leave`."""

    kind: str
    key: str = ""


class Gathering(NamedTuple):
    """The orders so far, in the order of their totes."""

    chosen: tuple[Chosen, ...] = ()
    ways: tuple[Way, ...] = ()
    taking_out: bool = False
    """The orders are numbered: one of them is to be taken out."""
    wanted: int = 0
    """So many of the next open orders were asked for."""
    page: int = 0
    told: tuple[str, ...] = ()
    """Orders of other walks that were given to whoever gathers, and were told of."""

    @property
    def stops(self) -> tuple[int, int]:
        """(stops of the one walk, stops of all the single walks)."""
        return len({stop for each in self.chosen for stop in each.stops}), sum(len(each.stops) for each in self.chosen)

    @property
    def numbered(self) -> int:
        """How many choices are open."""
        return len(self.chosen) if self.taking_out else len(self.ways)
