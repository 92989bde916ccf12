"""What a language does to numbers, dates and plurals; one row each, so that a session loads no tables of the world.

Thousands are not parted in any of them: a quantity has to look as people type it, and `.` and `,` both begin decimals
there.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from aisle.settings import ENGLISH


class LanguageFormat(NamedTuple):
    """How one language writes what is not a sentence."""

    decimal_point: str
    """Between a number and its decimals."""
    day: str
    date: str
    time: str
    """Made of `day`, `month` (its name), `number` (of the month), `year`, `hour` and `minute`."""
    months: tuple[str, ...] = ()
    singular_below: int = 0
    """Besides 1, every quantity from 0 to below this one is singular."""

    def format_number(self, text: str) -> str:
        """A number that has a point, if anything, before its decimals."""
        return text.replace(".", self.decimal_point)

    def is_singular(self, value: object) -> bool:
        """Whether a quantity is singular."""
        return value == 1 or (isinstance(value, int | Decimal) and 0 <= value < self.singular_below)


_ENGLISH_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DUTCH_MONTHS = ("jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec")
_DATE_FORMATS = ("{day} {month}", "{day} {month} {year}", "{hour}:{minute:02}")

LANGUAGE_FORMATS = {
    ENGLISH: LanguageFormat(".", *_DATE_FORMATS, _ENGLISH_MONTHS),
    "nl": LanguageFormat(",", *_DATE_FORMATS, _DUTCH_MONTHS),
    "de": LanguageFormat(",", "{day}.{number}.", "{day}.{number}.{year}", "{hour}:{minute:02}"),
    "fr": LanguageFormat(
        ",", "{day:02}/{number:02}", "{day:02}/{number:02}/{year}", "{hour}h{minute:02}", singular_below=2
    ),
}
"""Every language that aisle speaks."""
