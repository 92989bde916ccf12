"""What the look at products keeps: the list, and the page over it."""

from __future__ import annotations

from aisle.jobs import window
from aisle.jobs.sheet import Around, Coming, Holder, Sheet
from aisle.tuples import NamedTuple

WAYS = 3
"""Numbered choices on the page of a product."""


class Hit(NamedTuple):
    """One product of the list."""

    number: str
    name: str
    brand: str
    stock: str
    """Empty when the stock list does not have it."""
    unit: str


class Way(NamedTuple):
    """One numbered way on: `order` (its number) or `product` (the one that takes its place)."""

    kind: str
    key: str


class Lookup(NamedTuple):
    """The list of what was searched for, and the page of one product over it."""

    number: str = ""
    """The product whose page is open; empty for the list."""
    label: str = ""
    search: str = ""
    typed: str = ""
    """What is being typed, as far as it is a search: then the list is shown."""
    first: int = 0
    cursor: int = -1
    rows: tuple[Hit, ...] = ()
    total: int = 0
    partly: bool = False
    """There may be more than `total` that are searched for."""
    sheet: Sheet | None = None
    around: Around = Around()
    holders: tuple[Holder, ...] = ()
    coming: tuple[Coming, ...] = ()
    """The next deliveries that bring it."""
    page: int = 0
    asked: str = ""
    """The order that was scanned: its number is offered as a choice."""
    kept: tuple[Way, ...] | None = ()
    """The page's own ways on as they were when it was: what comes meanwhile takes nobody's number. None where that is
    not known, for a journal has none of what is live: then as they are, until something comes."""
    sought: str = ""
    """Words whose answer is on its way."""

    @property
    def listing(self) -> bool:
        """True while the list is on the screen."""
        return bool(self.typed) or not self.number

    @property
    def numbered(self) -> int:
        """So many rows of the list are choices; the ways on come behind them."""
        return window.numbered_rows(self) if self.listing else 0

    @property
    def ways(self) -> tuple[Way, ...]:
        """The numbered choices of the page beside the rows of the list; what was scanned is offered behind its own."""
        asked = (Way("order", self.asked),) if self.asked else ()
        if self.listing:
            return asked
        own = self.kept if self.asked and self.kept is not None else self._own
        return (*own, *(way for way in asked if way not in own))

    @property
    def _own(self) -> tuple[Way, ...]:
        instead = (Way("product", self.sheet.referral),) if self.sheet and self.sheet.referral else ()
        needing = [Way("order", one.order) for one in self.holders if one.needed > 0]
        return (*instead, *needing)[:WAYS]

    def offering(self, order: str) -> Lookup:
        """This page with one more way on, to an order that was scanned."""
        return self._replace(asked=order, kept=self._own)

    def holding(self) -> Lookup:
        """The same before it is looked at anew: from now on its ways on keep their numbers."""
        return self._replace(kept=self._own) if self.asked and self.kept is None else self
