"""What a language does to numbers, dates and plurals; one row each, so that a session loads no tables of the world.

Thousands are not parted in any of them: a quantity has to look as people type it, and `.` and `,` both begin decimals
there.
"""

from __future__ import annotations

from decimal import Decimal

from aisle.settings import ENGLISH
from aisle.tuples import NamedTuple


class Tongue(NamedTuple):
    """How one language writes what is not a sentence."""

    point: str
    """Between a number and its decimals."""
    day: str
    date: str
    time: str
    """Made of `day`, `month` (its name), `number` (of the month), `year`, `hour` and `minute`."""
    months: tuple[str, ...] = ()
    below: int = 0
    """Besides 1, every quantity from 0 to below this one is singular."""

    def number(self, plain: str) -> str:
        """A number that has a point, if anything, before its decimals."""
        return plain.replace(".", self.point)

    def is_one(self, value: object) -> bool:
        """Whether a quantity is singular."""
        return value == 1 or (isinstance(value, int | Decimal) and 0 <= value < self.below)


_ENGLISH = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DUTCH = ("jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec")
_WORDS = ("{day} {month}", "{day} {month} {year}", "{hour}:{minute:02}")

TONGUES = {
    ENGLISH: Tongue(".", *_WORDS, _ENGLISH),
    "nl": Tongue(",", *_WORDS, _DUTCH),
    "de": Tongue(",", "{day}.{number}.", "{day}.{number}.{year}", "{hour}:{minute:02}"),
    "fr": Tongue(",", "{day:02}/{number:02}", "{day:02}/{number:02}/{year}", "{hour}h{minute:02}", below=2),
}
"""Every language that aisle speaks."""
