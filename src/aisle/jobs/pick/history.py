"""What of a round can be undone: its steps, last first, and what they left behind."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.count.counting import Change, Gone
from aisle.jobs.pick.walk import Take
from aisle.tuples import NamedTuple

HISTORY = 100
"""So many steps can be undone, last first."""


LAID = "laid"
"""Why goods in hand are asked for that somebody else says lie at a place (Back.why, Back.place)."""


class Before(NamedTuple):
    """What a line stood at before a step, for undo."""

    order: str
    line: int
    picked: Decimal
    closed: bool = False


class Laid(NamedTuple):
    """What was put down of a line."""

    order: str
    line: int
    quantity: Decimal


class Back(NamedTuple):
    """Goods in hand of an order that has left the round; `why` as in the messages: rejected, finished, claimed,
    given, left_over for what found no room on its line, or laid for what lies at its place by the word of another."""

    letter: str
    why: str
    product: str
    label: str
    quantity: Decimal
    place: str
    op_id: str = ""
    """The operation that could not be taken, to be settled once they are back."""
    order: str = ""
    pool: int = 0
    """The pool that they were taken from, as far as that was said."""
    line: Take | None = None
    """The line that they are picked for, as it stood when its order left."""
    passed: str = ""
    taken: str = ""
    """Of what is laid by the word of another: why it was in hand before, and its place then."""

    @property
    def passed_on(self) -> bool:
        """Whether somebody else picks the order now: what he gets stays picked, what goes back is picked no more."""
        return self.why in ("claimed", "given") and self.line is not None

    @property
    def free(self) -> bool:
        """Whether the books have it at no place, for no order: so it is with what was rejected."""
        return self.why.startswith("rejected") and bool(self.place)


class Stood(NamedTuple):
    """Where a line was to be taken before a step."""

    order: str
    line: int
    place: str
    pool: int
    barred: tuple[int, ...]
    walk: Decimal
    shelf: Decimal


class Did(NamedTuple):
    """One step that can be undone: lines that changed, goods that were put down, or put back, a stop that is taken
    elsewhere."""

    before: tuple[Before, ...] = ()
    laid: tuple[Laid, ...] = ()
    place: str = ""
    back: tuple[Back, ...] = ()
    gone: Gone | None = None
    """A count that was sent from here."""
    stood: tuple[Stood, ...] = ()
    """Lines that are taken at another place since."""
    at: str = ""
    """When goods were put down for orders that somebody else picks."""


def counted(answer: Mapping[str, Any]) -> Did:
    """A count as the job that made it answers."""
    return Did(gone=Gone(str(answer["what"]), tuple(Change(**change) for change in answer["changes"])))
