"""State of an action on orders: what is asked, whom it is for, and what became of it."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.order_operations import (
    OrderAction,
)
from aisle.jobs.pick.shortage_choices import Reason
from aisle.jobs.view import (
    Msg,
)

MIN_CHOICES = 6
"""Number of people or reasons that fit on any screen."""


class Person(NamedTuple):
    """Person who may get the order."""

    user: str
    name: str


class Outcome(NamedTuple):
    """Result of the action for one order."""

    order: str
    state: str
    """State of the operation; empty if nothing was written."""
    why: Msg | None = None


class OrderActionState(NamedTuple):
    """State of an action on orders."""

    orders: tuple[str, ...] = ()
    page: str = "action"
    """Name of the page without that of the job."""
    kind: str = ""
    line: int = 0
    label: str = ""
    """Name of the line's product."""
    picked: Decimal = Decimal(0)
    ordered: Decimal = Decimal(0)
    """Picked and ordered quantity of all orders."""
    reasons: tuple[Reason, ...] = ()
    people: tuple[Person, ...] = ()
    typed_name: str = ""
    """Name that was typed."""
    match_count: int = 0
    """Number of people who match. `people` has at most as many as can be paged through."""
    first_choice: int = 0
    """Index of the first person or reason on the page."""
    choices_per_page: int = MIN_CHOICES
    """Number of them that fit on the screen."""
    plan: tuple[tuple[str, OrderAction], ...] = ()
    """Action for each order, to be run once it is confirmed."""
    is_undo: bool = False
    done_at: str = ""
    """Time of the action, ISO 8601 UTC. Outcomes of earlier operations do not count."""
    outcomes: tuple[Outcome, ...] = ()
    undo: tuple[tuple[str, OrderAction], ...] = ()
    """Actions that undo it."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    size: int = 12
    """Number of results that fit on the screen."""
    is_one_key: bool = False
    """True if a letter alone began it, as words do that somebody types without a slash."""
    can_reject_lines: bool = False
    """True if the service accepts rejections of lines."""
    is_in_batch: bool = True
    """True if at least one of the orders is in a batch, or if that is not known yet."""

    @property
    def rows(self) -> tuple[Outcome, ...]:
        """Results on the screen."""
        return self.outcomes[self.first : self.first + self.size]

    @property
    def total(self) -> int:
        """Number of results."""
        return len(self.outcomes)
