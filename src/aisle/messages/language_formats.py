"""Formats of numbers, dates and plurals, one row a language, so that a session loads no general locale data.

No language has thousands separators: a quantity has to look as people type it, and `.` and `,` both begin decimals.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from aisle.settings.setting_definitions import ENGLISH


class LanguageFormat(NamedTuple):
    """Formats of one language."""

    decimal_point: str
    """Sign between a number and its decimals."""
    day: str
    date: str
    time: str
    """Format strings with `day`, `month` (its name), `number` (of the month), `year`, `hour` and `minute`."""
    months: tuple[str, ...] = ()
    singular_below: int = 0
    """Limit below which quantities from 0 are singular, besides 1."""

    def format_number(self, text: str) -> str:
        """Return a number, given with a decimal point, in the language's notation."""
        return text.replace(".", self.decimal_point)

    def is_singular(self, value: object) -> bool:
        """Return True if the quantity is singular."""
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
"""Formats of every language of aisle."""
