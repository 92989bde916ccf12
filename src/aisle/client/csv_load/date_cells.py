"""Dates in the cells of a file: in words, in numbers, with short years, or as the day number of a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from aisle.client.csv_load.clean_cells_and_keys import INVISIBLE, SIGNS
from aisle.client.csv_load.number_cells import COMMA, POINT

_MONTHS = (
    "jan janv jän january jänner januar januari janvier",
    "feb fév fev feber february februar februari février fevrier févr fevr",
    "mar mrt mär mrz march märz maerz maart mars",
    "apr avr april avril",
    "may mei mai",
    "jun june juni juin",
    "jul july juli juillet juil",
    "aug august augustus aoû aou aout août",
    "sep sept september septembre",
    "oct okt october oktober octobre",
    "nov november novembre",
    "dec dez déc december dezember décembre decembre",
)
_MONTH_NUMBERS = {word: at for at, words in enumerate(_MONTHS, 1) for word in words.split()}
MONTH_NAMES = tuple(_MONTH_NUMBERS)
"""Names of months and their short forms, in lower case."""
_WEEK_DAYS = (
    "mon monday mo montag ma maa maandag lu lun lundi",
    "tue tues tuesday di die dienstag din dinsdag ma mar mardi",
    "wed weds wednesday mi mit mittwoch wo woe woensdag me mer mercredi",
    "thu thur thurs thursday do don donnerstag donderdag je jeu jeudi",
    "fri friday fr fre freitag vr vri vrijdag ve ven vendredi",
    "sat saturday sa sam samstag sonnabend za zat zaterdag samedi",
    "sun sunday so son sonntag zo zon zondag di dim dimanche",
)
"""Week days and their short forms from Monday on; a short form can be two days (`di`: Dienstag, dinsdag, dimanche)."""
_DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FIRST_WORD = re.compile(r"([^\W\d_]{2,})\.?,?\s+(?=\S)")
_ARTICLE = re.compile(r"(?:den|der|le|the|de)\s+(?=\d)", re.IGNORECASE)
_DAY_AND_YEAR = re.compile(r"\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}", re.IGNORECASE | re.ASCII)
_HALF = r"\s*(?P<half>[ap])\.?\s?m\.?"
_HOUR_WORD = r"(?:uhr|uur|hrs?|[hu])"
_DAY_AND_TIME = re.compile(
    r"(?P<day>.*?\d)(?:T|\s*,\s*|\s+-\s+|\s+)(?:(?:at|um|om|à)\s+)?(?:"
    rf"(?P<h1>\d{{1,2}})(?:[:.](?P<m1>\d\d)(?:[:.](?P<s1>\d\d)(?P<f1>[.,]\d+)?)?)?{_HALF}"
    rf"|(?P<h2>\d{{1,2}})[:.](?P<m2>\d\d)(?:[:.](?P<s2>\d\d)(?P<f2>[.,]\d+)?)?(?:\s*{_HOUR_WORD}\.?)?"
    rf"|(?P<h3>\d{{1,2}})\s*{_HOUR_WORD}\.?(?:\s*(?P<m3>\d\d)(?:\s*min\.?)?)?)",
    re.IGNORECASE | re.ASCII,
)
"""Day with a time behind it: `14:30`, `14.30 Uhr`, `14h30`, `14 u 30`, `2.30pm`."""
_FORMS = {"h": "123", "m": "123", "s": "12"}
"""Numbers of the forms of a time that have hours, minutes and seconds."""
_NOON = 12
_HOURS, _MINUTES = range(24), range(60)
_BETWEEN = r"[\s./-]*"
_MONTH = r"(?P<month>[^\W\d_]{3,})"
_WITH_MONTH_NAME = (
    re.compile(
        rf"(?P<day>\d{{1,2}})(?:(?:st|nd|rd|th|er|e|ste|de)\s+(?:of\s+)?|{_BETWEEN}){_MONTH}\.?(?:\s*,\s*|{_BETWEEN})"
        r"(?P<year>\d{4}|'?\d{2})",
        re.IGNORECASE,
    ),
    re.compile(rf"{_MONTH}\.?{_BETWEEN}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s*,\s*|[\s./-]+)(?P<year>\d{{4}})", re.I),
    re.compile(rf"(?P<year>\d{{4}}){_BETWEEN}{_MONTH}\.?{_BETWEEN}(?P<day>\d{{1,2}})\.?", re.IGNORECASE),
)
"""Dates with the name of the month behind the day, before the day, and between year and day."""


class WrittenDate(NamedTuple):
    """Parts of a date: its day without the other parts, the time as in ISO 8601, and the days that a week day names.

    The time is None if there is none, and empty at midnight, which a spreadsheet writes beside a day.
    """

    day: str
    time: str | None = None
    week_days: tuple[int, ...] = ()

    def week_day_reason(self, iso_day: str) -> str:
        """Return why the week day and this day do not agree; empty if they do."""
        is_day = date.fromisoformat(iso_day).weekday()
        if not self.week_days or is_day in self.week_days:
            return ""
        named = " or ".join(_DAY_NAMES[one] for one in self.week_days)
        return f"names a {named}, and {iso_day} is a {_DAY_NAMES[is_day]}"


class NamedMonth(NamedTuple):
    """Day, month and digits of the year of a date with a month name."""

    day: int
    month: int
    year: str


def split_written_date(cell: str) -> WrittenDate:
    """Split the week day and the time of day off a date. Raise ValueError for a time that no clock shows."""
    found = _DAY_AND_TIME.fullmatch(cell)
    day, time = (found["day"], _iso_time(cell, found)) if found else (cell, None)
    week_days: tuple[int, ...] = ()
    if first := _FIRST_WORD.match(day):
        rest = _ARTICLE.sub("", day[first.end() :], count=1)
        is_month = first[1].casefold() in _MONTH_NUMBERS and _DAY_AND_YEAR.fullmatch(rest)
        week_days = () if is_month else _days_named(first[1])
        day = rest if week_days else day
    return WrittenDate(_ARTICLE.sub("", day, count=1) if _ARTICLE.match(day) else day, time, week_days)


def _days_named(word: str) -> tuple[int, ...]:
    return tuple(at for at, words in enumerate(_WEEK_DAYS) if word.casefold() in words.split())


def _iso_time(cell: str, found: re.Match[str]) -> str:
    hour, minute, second = (
        int(next(filter(None, (found[f"{part}{form}"] for form in _FORMS[part])), "0")) for part in "hms"
    )
    half = (found["half"] or "").casefold()
    if half and hour > _NOON and half == "a":
        raise ValueError(f"{cell!r} has a time before noon that is after it; write yyyy-mm-dd hh:mm")
    if half and hour <= _NOON:
        hour = hour % _NOON + _NOON * (half == "p")
    if hour not in _HOURS or minute not in _MINUTES or second not in _MINUTES:
        raise ValueError(f"{cell!r} is no day of the calendar, or has no such time; write yyyy-mm-dd")
    part = (found["f1"] or found["f2"] or "").replace(COMMA, POINT).rstrip("0.")
    return f"T{hour:02d}:{minute:02d}:{second:02d}{part}" if hour or minute or second or part else ""


def find_named_month(day: str) -> NamedMonth | None:
    """Return the parts of a date with a month name; None if it is none."""
    for pattern in _WITH_MONTH_NAME:
        if (found := pattern.fullmatch(day)) and (month := _MONTH_NUMBERS.get(found["month"].casefold())):
            return NamedMonth(int(found["day"]), month, found["year"].lstrip("'"))
    return None


DAY_FIRST, MONTH_FIRST = "day first", "month first"
YEAR_FIRST = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})((?:[ T].*)?)", re.ASCII | re.DOTALL)
_OTHER_YEAR_FIRST = re.compile(r"\A(\d{4})(?:\.|[年년])\s?(\d{1,2})(?:\.|[月월])\s?(\d{1,2})[.日일]?(?!\d)", re.ASCII)
"""Day with the year first as East Asia and Hungary write it: `2026.12.3`, `2026. 12. 3.`, `2026年12月3日`."""
SERIAL_DAY = re.compile(r"([2-7]\d{4})([.,]\d+)?", re.ASCII)
"""Number of a day in a spreadsheet, with a part of the day behind it."""
_DAY_ALONE = re.compile(r"\d{8}|\d{4}-?W\d\d(?:-?[1-7])?", re.ASCII)
"""Day in ISO 8601 in another form than with hyphens."""
SERIAL_START = datetime(1899, 12, 30)
_SERIALS = range(43_200, 50_000)
"""Numbers that can only be days: 2018 to 2036. Others can be a date like 41226 that has lost its zero (4-12-26)."""
_SECONDS_OF_DAY = 86_400
YEAR_DIGITS = 4


def plain_date(cell: str) -> str:
    """Return a date with the blanks and signs of a keyboard.

    With the year first it has hyphens (`2026-12-3`), in place of points or the signs of East Asia.
    """
    plain = cell if cell.isascii() else INVISIBLE.sub("", cell.translate(SIGNS))
    return _OTHER_YEAR_FIRST.sub(r"\1-\2-\3", re.sub(r"\s+", " ", plain), count=1)


def has_time(cell: str) -> bool:
    """Return True if a readable date has a time of day, also one of midnight."""
    return ":" in cell or split_written_date(plain_date(cell)).time is not None


def full_year(digits: str, last_year: int) -> int:
    """Return a year; of two digits, the last one up to `last_year`."""
    return int(digits) if len(digits) == YEAR_DIGITS else last_year - (last_year - int(digits)) % 100


def normalize_month_name(day: str, cell: str, last_year: int) -> str:
    """Return a date with a month name, or one in ISO 8601, as ISO 8601. Raise ValueError for an impossible day."""
    found = find_named_month(day)
    if found is None:
        return checked_date(day, cell)
    try:
        return date(full_year(found.year, last_year), found.month, found.day).isoformat()
    except ValueError:
        raise ValueError(f"{cell!r} is no day of the calendar") from None


def serial_day(found: re.Match[str]) -> str:
    """Return the day of a spreadsheet's number as ISO 8601. Raise ValueError if the number can be something else."""
    seconds = round(Decimal(f"0{(found[2] or '').replace(COMMA, POINT)}") * _SECONDS_OF_DAY)
    when = SERIAL_START + timedelta(days=int(found[1]), seconds=seconds)
    if int(found[1]) not in _SERIALS:
        raise ValueError(
            f"{found[0]!r} can be the number of a day in a spreadsheet, {when.date()}, or a date without signs; write"
            " yyyy-mm-dd"
        )
    return when.isoformat() if seconds else when.date().isoformat()


def is_recent_day(cell: str) -> bool:
    """Return True if a cell is the number of a day of 2000 to 2049 in a spreadsheet."""
    return len(cell) == len(_LAST_DAY) and cell.isdecimal() and _FIRST_DAY <= cell <= _LAST_DAY


_FIRST_DAY, _LAST_DAY = "36526", "54788"


def is_serial_day(cell: str) -> bool:
    """Return True if a cell of a column of dates has the number of a day in a spreadsheet."""
    return SERIAL_DAY.fullmatch(cell) is not None


_NO_DATE = "no date that can be read, as 29-11-2026, 29 November 2026 or 2026-11-29 14:30 are"


def checked_date(text: str, cell: str) -> str:
    """Return a date in ISO 8601. Raise ValueError if it is none, or no day of the calendar."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        is_shaped = YEAR_FIRST.fullmatch(text) is not None
        problem = "no day of the calendar, or has no such time" if is_shaped else _NO_DATE
        raise ValueError(f"{cell!r} is {problem}; write yyyy-mm-dd") from None
    return found.date().isoformat() if _DAY_ALONE.fullmatch(text) else text


def date_order(found: re.Match[str]) -> str:
    """Return the only possible order of a date: dotted dates have the day first; a number over 12 is a day."""
    first, second = int(found[1]), int(found[3])
    if found[2] == "." or first > 12:
        return DAY_FIRST
    return MONTH_FIRST if second > 12 else ""


def to_iso(found: re.Match[str], order: str, cell: str, year: int) -> str:
    numbers = (int(found[1]), int(found[3]))
    day, month = numbers if order == DAY_FIRST else numbers[::-1]
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        raise ValueError(f"{cell!r} is no day of the calendar") from None


_YEARS_NEAR = 3
"""Years from now within which the dates of a load are expected."""


class ShortYears:
    """Dates of one column with hyphens and at most two digits in each part, and what they show of their years."""

    def __init__(self, this_year: int, last_year: int) -> None:
        """Store the present year, and the last one that two digits can mean."""
        self._near = range(this_year - _YEARS_NEAR, this_year + _YEARS_NEAR + 1)
        self._last_year = last_year
        self._is_last = self._is_first = False
        """True if a date can only have its year there, by the number of digits or its week day."""
        self._has_impossible = False
        """True if a date is none of the calendar with its year first."""
        self._has_far_first = self._has_far_last = False
        """True if a date has a year that is not near, where it is the first or last number."""

    def see(self, first: str, second: str, last: str, week_days: Collection[int]) -> None:
        """Record a date by its three numbers and the days of the week that it names."""
        of_first, of_last = self.with_year_first(first, second, last), self.with_year_last(first, second, last)
        if week_days:
            of_first = [one for one in of_first if one.weekday() in week_days]
            of_last = [one for one in of_last if one.weekday() in week_days]
        if not of_last:
            self._is_first = self._is_first or bool(of_first)
            return
        self._is_last = self._is_last or len(first) == 1 or (bool(week_days) and not of_first)
        self._has_impossible = self._has_impossible or not of_first
        self._has_far_first = self._has_far_first or any(one.year not in self._near for one in of_first)
        self._has_far_last = self._has_far_last or any(one.year not in self._near for one in of_last)

    def is_year_last(self, *, is_local: bool) -> bool:
        """Return True if the year is surely the last number, or usually so in a file of a country with decimal commas.

        Years that are all near where they are last, and not where they are first, show it too.
        """
        if self._is_last or self._is_first:
            return self._is_last and not self._is_first
        return not self._has_far_last and (self._has_impossible or self._has_far_first or is_local)

    def with_year_first(self, first: str, second: str, last: str) -> list[date]:
        """Return the day that the numbers are as year, month and day; none if there is no such day."""
        return _days((full_year(first, self._last_year), second, last))

    def with_year_last(self, first: str, second: str, last: str) -> list[date]:
        """Return the days that the numbers are as day and month, in either order, and year."""
        year = full_year(last, self._last_year)
        return _days((year, second, first), (year, first, second))


def _days(*parts: tuple[int, str, str]) -> list[date]:
    found: dict[date, None] = {}
    for year, month, day in parts:
        try:
            found[date(year, int(month), int(day))] = None
        except ValueError:
            continue
    return list(found)
