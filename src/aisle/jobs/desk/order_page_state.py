"""What the page of an order keeps, and what can be done to it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.desk import outdone
from aisle.jobs.desk.deeds import CALM, CLAIM, FINISH, REJECT, RELEASE, SPLIT, TAKE_BACK, URGENT
from aisle.jobs.desk.orders_rows import Listed
from aisle.tuples import NamedTuple

PICK = "pick"
"""The one thing on the page that is another job."""


class Line(NamedTuple):
    """One line."""

    number: int
    product: str
    label: str
    of: Decimal
    picked: Decimal
    moved: Decimal
    closed: bool
    by: str = ""
    """Who picked it last."""
    places: tuple[str, ...] = ()
    """Where free goods of it lie, in the order of feet."""
    kept: tuple[tuple[str, Decimal], ...] = ()
    """Where its picked goods lie."""
    why: str = ""

    @property
    def full(self) -> bool:
        """Whether nothing of it is missing."""
        return self.picked >= self.of


class Happened(NamedTuple):
    """One thing that happened to it."""

    at: str
    who: str
    what: str
    label: str = ""
    quantity: Decimal = Decimal(0)
    place: str = ""
    """Where, as far as anybody said."""
    why: str = ""
    word: str = ""
    """What became of it, where this host has said it."""


class Page(NamedTuple):
    """The order as far as it is here."""

    number: str = ""
    order: Listed | None = None
    customer: tuple[tuple[str, str], ...] = ()
    """What the interface says beside the figures: field and value."""
    lines: tuple[Line, ...] = ()
    lines_known: bool = True
    past: tuple[Happened, ...] = ()
    word: str = "confirmed"
    """What becomes of what was said of it last."""
    why: str = ""
    choosing: bool = False
    """Numbers choose a line."""
    page: int = 0
    undo: tuple[Mapping[str, Any], ...] = ()
    """What would undo the last thing that was done from here."""
    given: tuple[outdone.Given, ...] = ()
    """Whose it was made from here."""
    since: str = ""
    """When it was opened, and the service asked for it."""
    absent: bool = False
    """The service has said since then that it has no such order."""

    @property
    def ways(self) -> tuple[str, ...]:
        """What can be done to the order, in the order of its numbers; a claim that comes or goes moves none of them."""
        if self.order is None or self.order.status == "finished":
            return ()
        if self.order.status == "rejected":
            return (TAKE_BACK,)
        open_ = self.order.status in ("open", "partial")
        pick = (PICK,) if open_ else ()
        walk = (CALM if self.order.urgent else URGENT, SPLIT) if open_ else ()
        release = (RELEASE,) if self.order.claimed else ()
        finish = (FINISH,) if self.order.picked > 0 or self.order.status == "picked" else ()
        return (*pick, CLAIM, REJECT, *walk, *finish, *release)
