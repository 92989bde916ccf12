"""What is kept of a shortage."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from aisle.jobs.pick.short_ways import Reason, Spot, Way
from aisle.jobs.sheet import Around, Coming, Sheet
from aisle.tuples import NamedTuple


class Need(NamedTuple):
    """What one order of the stop lacks; the tote where there are several."""

    order: str
    line: int
    tote: str
    rest: Decimal


class Shortage(NamedTuple):
    """What is missing, and what can be done about it."""

    needs: tuple[Need, ...] = ()
    product: str = ""
    label: str = ""
    place: str = ""
    pool: int = 0
    pools: tuple[int, ...] = ()
    """The pools that it may be taken from; none: all."""
    of: Decimal = Decimal(0)
    rest: Decimal = Decimal(0)
    unit: str = ""
    """Empty for pieces."""
    phase: str = "ways"
    """`ways`; to reject: `which` order where there are several, and `why`."""
    order: str = ""
    """The order to be rejected."""
    spots: tuple[Spot, ...] = ()
    reasons: tuple[Reason, ...] = ()
    ways: tuple[Way, ...] = ()
    """Each keeps its number for as long as the page is open: what is heard of later comes behind."""
    known: bool = False
    """The books have been asked."""
    asked: Way | None = None
    page: int = 0
    sheet: Sheet | None = None
    around: Around = Around()
    coming: tuple[Coming, ...] = ()
    """The next deliveries that bring it."""
    kept: bool = True
    """The service keeps the reason of a line, as far as is known; else it is known on this host only."""

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders of the stop, each once."""
        return tuple(dict.fromkeys(need.order for need in self.needs))

    @property
    def numbered(self) -> int:
        """How many numbers are open."""
        return 1 if self.sure else len(self.own) + int(self.asked is not None)

    @property
    def own(self) -> tuple[Any, ...]:
        """What the page itself gives to choose from, by its numbers: what a scan led to is offered behind it."""
        return {"ways": self.ways, "which": self.orders, "why": self.reasons}[self.phase]

    @property
    def sure(self) -> bool:
        """Whether it is asked if the order is really to be rejected: a page of its own."""
        return self.asked is not None and self.asked.kind == "reject"
