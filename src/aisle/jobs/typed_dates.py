"""Dates as people type them: `0712`, `7.12`, `7 dec`, `+5`, `2026-12-07`, `12/2026`.

The day comes before the month, as in the dates that every language of aisle shows. Months have the names of all
languages.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Sequence
from datetime import date, timedelta

from aisle.barcode_numbers import are_digits, has_check_digit
from aisle.scan.gs1 import nearest_century, parse_expiry_label

_MONTHS = (
    "january januari januar janvier janner",
    "february februari februar fevrier",
    "march maart mrt marz maerz mars",
    "april avril",
    "may mei mai",
    "june juni juin",
    "july juli juillet",
    "august augustus aout",
    "september septembre",
    "october oktober octobre",
    "november novembre",
    "december dezember decembre",
)
"""Names of the months without accents. A beginning of three letters is enough, if it is that of one month."""

_DAYS_AHEAD = re.compile(r"\+\s*(\d{1,4})", re.ASCII)
_PART = re.compile(r"\d+|[a-z]+", re.ASCII)
_DATE = re.compile(r"[\da-z]+(?:[-./, ]+[\da-z]+)*[-./, ]*", re.ASCII)

MAX_YEARS_TYPED = 50
"""Years from today beyond which eight digits are no typed date."""

_DATE_LENGTHS = (4, 6, 8)
"""Digits of a date without signs."""

Parts = tuple[int, ...]
"""Day, month and, if it was typed, the year; the day is `LAST_DAY` if only month and year were."""

LAST_DAY = -1
"""Last day of the month; nobody can type this number."""


def parse_date(text: str, today: date, *, past_days: int = 0) -> date | None:
    """Return a typed date; None if the text is none. Without a year it is the next such day, or one at most
    `past_days` ago."""
    text = _without_accents(text)
    try:
        if ahead := _DAYS_AHEAD.fullmatch(text):
            return today + timedelta(days=int(ahead[1]))
        parts = _parse_parts(_PART.findall(text)) if _DATE.fullmatch(text) else ()
        if len(parts) == 3:
            return _make_date(*parts)
        return _nearest(parts[0], parts[1], today - timedelta(days=past_days)) if parts else None
    except (ValueError, OverflowError):
        return None


def parse_label_date(text: str, today: date, *, past_days: int = 0) -> date | None:
    """Return the expiry date of a label that has dates alone (`17261214`); None for other text, and for a date that may
    be typed."""
    typed, expiry = parse_date(text, today, past_days=past_days), parse_expiry_label(text)
    if not expiry or (typed and abs(typed.year - today.year) < MAX_YEARS_TYPED):
        return None
    return nearest_century(date.fromisoformat(expiry), today)


def is_date(text: str) -> bool:
    """Return True if a text is a date, on whatever day."""
    return parse_date(text, date(2000, 1, 1)) is not None


def has_length_of_date(text: str) -> bool:
    """Return True if a text is as many digits as a date without signs has, and no barcode."""
    return are_digits(text) and len(text) in _DATE_LENGTHS and not has_check_digit(text)


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _parse_parts(parts: Sequence[str]) -> Parts:
    """Return day, month and year of the digits and words of a text; empty if these are no date."""
    numbers = [part for part in parts if part.isdecimal()]
    months = [_month_of_name(part) for part in parts if not part.isdecimal()]
    if len(months) > 1 or 0 in months:
        return ()
    if months:
        return _with_named_month(numbers, months[0], is_first=not parts[0].isdecimal())
    return _split_digits(numbers[0]) if len(numbers) == 1 else _with_signs(numbers)


def _with_named_month(numbers: Sequence[str], month: int, *, is_first: bool) -> Parts:
    """Return the date of `7 dec`, `dec 7`, `7 dec 2026`, or of `dec 2026`."""
    match [len(number) for number in numbers]:
        case [1 | 2]:
            return int(numbers[0]), month
        case [1 | 2, 2 | 4]:
            return int(numbers[0]), month, _year(numbers[1])
        case [4] if is_first:
            return LAST_DAY, month, int(numbers[0])
    return ()


def _with_signs(numbers: Sequence[str]) -> Parts:
    """Return the date of numbers with signs between them: `7.12`, `7.12.26`, `2026-12-7`, `12/2026`."""
    match [len(number) for number in numbers]:
        case [1 | 2, 1 | 2]:
            return int(numbers[0]), int(numbers[1])
        case [1 | 2, 1 | 2, 2 | 4]:
            return int(numbers[0]), int(numbers[1]), _year(numbers[2])
        case [4, 1 | 2, 1 | 2]:
            return int(numbers[2]), int(numbers[1]), int(numbers[0])
        case [1 | 2, 4]:
            return LAST_DAY, int(numbers[0]), int(numbers[1])
    return ()


def _split_digits(digits: str) -> Parts:
    """Return the date of digits without signs: `0712`, `071226`, `07122026`, `20261207`."""
    if len(digits) == 8 and digits.startswith("20") and int(digits[2:4]) > 12:
        return int(digits[6:]), int(digits[4:6]), int(digits[:4])
    if len(digits) not in _DATE_LENGTHS:
        return ()
    year = (_year(digits[4:]),) if digits[4:] else ()
    return int(digits[:2]), int(digits[2:4]), *year


def _year(digits: str) -> int:
    return int(digits) + (2000 if len(digits) == 2 else 0)


def _month_of_name(word: str) -> int:
    """Return the month that a word begins to name; 0 for none or several."""
    found = [number for number, names in enumerate(_MONTHS, 1) if any(each.startswith(word) for each in names.split())]
    return found[0] if len(found) == 1 and len(word) >= 3 else 0


def _make_date(day: int, month: int, year: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1] if day == LAST_DAY else day)


def _nearest(day: int, month: int, first: date) -> date:
    """Return the first such day on or after this one; ValueError for a day that the year lacks."""
    is_next_year = (month, day) < (first.month, first.day)
    return date(first.year + is_next_year, month, day)
