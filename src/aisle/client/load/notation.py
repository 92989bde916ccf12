"""How the numbers and dates of a file are written: found from all of its cells, so that no cell is read by a guess.

`1,10` has a decimal comma and `1.10` a decimal point; `1,234` and `1.234` can be either, and are read only where other
cells of the file show which. Dates go the same way: `27/11/2026` has the day first, `05/06/2026` says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

POINT, COMMA = ".", ","
DAY_FIRST, MONTH_FIRST = "day first", "month first"

_BLANKS = "\\s\u200b\u2060\ufeff"
_GROUPED = re.compile(rf"([+-]?[1-9][0-9]{{0,2}})((?:[{_BLANKS}'\u2019][0-9]{{3}})+)(?![0-9])(.*)", re.DOTALL)
_CURRENCY = re.compile(r"\A\s*(?:EUR|USD|GBP|CHF)(?=[\s\d+-])|(?<=[\s\d])(?:EUR|USD|GBP|CHF)\s*\Z")
_PLAIN = re.compile(r"[+-]?\d+", re.ASCII)
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}", re.ASCII)


def _patterns(mark: str, other: str) -> tuple[re.Pattern[str], ...]:
    """Numbers whose decimal mark can be `mark` alone: too many or too few digits for a group, or groups before it."""
    dec, group = re.escape(mark), re.escape(other)
    return tuple(
        re.compile(pattern, re.ASCII)
        for pattern in (
            rf"[+-]?\d+{dec}(\d{{1,2}}|\d{{4,}})",
            rf"[+-]?(0\d*|\d{{4,}}){dec}\d+",
            rf"[+-]?[1-9]\d{{0,2}}({group}\d{{3}})+{dec}\d+",
            rf"[+-]?[1-9]\d{{0,2}}({group}\d{{3}}){{2,}}",
        )
    )


_SURE = {POINT: _patterns(POINT, COMMA), COMMA: _patterns(COMMA, POINT)}
_DOTTED = re.compile(r"\d+[.,]\d*[1-9]\d*", re.ASCII)
_DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([AaPp])\.?[Mm]\.?)?)?", re.ASCII
)
_YEAR_FIRST = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})((?:[ T].*)?)", re.ASCII)
_SERIAL = re.compile(r"[345]\d{4}([.,]\d+)?", re.ASCII)
_SHORT_YEAR = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{2})(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([AaPp])\.?[Mm]\.?)?)?", re.ASCII
)
_MINUS_BEHIND = re.compile(rf"([0-9](?:[0-9.,'\u2019{_BLANKS}]*[0-9])?)[{_BLANKS}]*-")
"""`5-`; not `5,-`, which is a price of five."""
YEARS_AHEAD = 20
"""A year of two digits is one of the hundred years up to so many from now."""
_LONGEST_MONTH = 31


class Notation:
    """What the cells of one file show of how it writes numbers and dates, and how each of them is read by that."""

    def __init__(self, dotted: set[str] | None = None) -> None:
        """`dotted` are codes with a point inside that files of the same load have shown."""
        self._dotted: set[str] = set() if dotted is None else dotted
        self._numbers: dict[str, tuple[int, str]] = {}
        self._either: tuple[int, str] | None = None
        self._dates: dict[str, tuple[int, str]] = {}
        self._short: tuple[int, str] | None = None
        self._has_year_last = False
        """A date with hyphens has a year of four digits at its end, or one that can be no day."""
        self._last_year = date.today().year + YEARS_AHEAD

    def see_number(self, line: int, cell: str) -> None:
        """Notes what a cell of a column of numbers shows."""
        if POINT in cell or COMMA in cell:
            bare = _bare(cell)
            mark = _shown(bare)
            if mark:
                self._numbers.setdefault(mark, (line, cell))
            elif self._either is None and _EITHER.fullmatch(bare):
                self._either = (line, bare)

    def see_code(self, cell: str) -> None:
        """Notes what a cell of a column of codes shows that may have a point inside."""
        if not self._dotted and _DOTTED.fullmatch(cell):
            self._dotted.add(cell)

    @property
    def has_dotted_codes(self) -> bool:
        """Whether codes have a point inside, so that `12.0` is one beside `12.5`, and not 12."""
        return bool(self._dotted)

    def see_date(self, line: int, cell: str) -> None:
        """Notes what a cell of a column of dates shows."""
        found = _DATE.fullmatch(cell) or _SHORT_YEAR.fullmatch(cell)
        if not found:
            return
        is_short = len(found[4]) == 2
        if found[2] == "-" and (not is_short or int(found[4]) > _LONGEST_MONTH):
            self._has_year_last = True
        if is_short and self._short is None:
            self._short = (line, cell)
        if (not is_short or found[2] != "-" or int(found[4]) > _LONGEST_MONTH) and (order := _order(found)):
            self._dates.setdefault(order, (line, cell))

    def assumed(self) -> tuple[str, ...]:
        """What all cells are read by, in words for the report."""
        said = []
        if set(self._numbers) == {COMMA}:
            said.append(f"decimal commas ({self._seen(COMMA)})")
        elif set(self._numbers) == {POINT} and self._either:
            said.append(f"decimal points ({self._seen(POINT)})")
        for order, (line, cell) in self._dates.items() if len(self._dates) == 1 else ():
            said.append(f"dates with the {order} ({cell} in row {line})")
        if self._short:
            line, cell = self._short
            last = self._last_year
            said.append(f"years of two digits as {last - 99} to {last} ({cell} in row {line})")
        return tuple(said)

    def _seen(self, mark: str) -> str:
        """Which cell shows the mark, and what another one is read as for that."""
        line, cell = self._numbers[mark]
        if self._either is None:
            return f"{cell} in row {line}"
        at, either = self._either
        return f"{cell} in row {line}; so {either} in row {at} is {_canonical(either, mark)}"

    def number(self, cell: str) -> str:
        """A number as digits and a point. Raises ValueError for one that can be read in two ways.

        What is no number at all comes back as it is.
        """
        bare = _bare(cell)
        if _PLAIN.fullmatch(bare):
            return bare
        if _EITHER.fullmatch(bare):
            return self._by_others(bare)
        mark = _shown(bare)
        if not mark:
            return cell
        if mark == COMMA and POINT in self._numbers:
            line, other = self._numbers[POINT]
            raise ValueError(f"{cell!r} has a decimal comma, and {other!r} in row {line} a point; write all in one way")
        return _canonical(bare, mark)

    def _by_others(self, bare: str) -> str:
        if len(self._numbers) == 1:
            (decimal,) = self._numbers
            return _canonical(bare, decimal)
        whole = re.sub(r"[.,]", "", bare)
        raise ValueError(
            f"{bare!r} can be {bare.replace(COMMA, POINT)} or {whole}; write it without a separator of thousands,"
            " and with a point where it has decimals"
        )

    def date(self, cell: str) -> str:
        """A date as ISO 8601. Raises ValueError for one that can be read in two ways; others come back as they are."""
        if found := _YEAR_FIRST.fullmatch(cell):
            return f"{found[1]}-{int(found[2]):02d}-{int(found[3]):02d}{found[4]}"
        if _SERIAL.fullmatch(cell):
            raise ValueError(f"{cell!r} is the number of a day in a spreadsheet; format the column as yyyy-mm-dd")
        found = _DATE.fullmatch(cell) or _SHORT_YEAR.fullmatch(cell)
        if not found:
            return _named_month(cell)
        if "00" in (found[1].zfill(2), found[3].zfill(2)):
            raise ValueError(f"{cell!r} is no day of the calendar; a spreadsheet writes it for an empty cell")
        order = _order(found) or self._only_order(found)
        if not order:
            raise ValueError(f"{cell!r} can have the day or the month first; write yyyy-mm-dd")
        if len(found[4]) == 4:
            return _iso(found, order, cell, int(found[4]))
        if found[2] == "-" and not self._has_year_last:
            raise ValueError(f"{cell!r} has a year of two digits, which can be the first or the last; write yyyy-mm-dd")
        return _iso(found, order, cell, self._last_year - (self._last_year - int(found[4])) % 100)

    def _only_order(self, found: re.Match[str]) -> str:
        if found[1] == found[3]:
            return DAY_FIRST
        return next(iter(self._dates)) if len(self._dates) == 1 else ""


_MONTHS = (
    "jan jän january januar januari janvier",
    "feb fév fev february februar februari février fevrier févr",
    "mar mrt mär mrz march märz maart mars",
    "apr avr april avril",
    "may mei mai",
    "jun june juni juin",
    "jul july juli juillet juil",
    "aug august augustus aoû aout août",
    "sep sept september septembre",
    "oct okt october oktober octobre",
    "nov november novembre",
    "dec dez déc december dezember décembre decembre",
)
_NUMBER_OF = {word: at for at, words in enumerate(_MONTHS, 1) for word in words.split()}
_WITH_MONTH = re.compile(r"(\d{1,2})[. -]+([^\W\d_]{3,})[. -]+(\d{4})")


def _named_month(cell: str) -> str:
    """A date with the name of its month as ISO 8601; other text as it is. Raises ValueError for a day that is none."""
    found = _WITH_MONTH.fullmatch(cell)
    month = _NUMBER_OF.get(found[2].casefold()) if found else None
    if found is None or month is None:
        if re.search(r"\d", cell) and not _ISO.match(cell):
            raise ValueError(f"{cell!r} is no date that can be read; write yyyy-mm-dd")
        return cell
    try:
        return date(int(found[3]), month, int(found[1])).isoformat()
    except ValueError:
        raise ValueError(f"{cell!r} is no day of the calendar") from None


_ISO = re.compile(r"\d{4}-?\d{2}-?\d{2}", re.ASCII)


def _without_currency(cell: str) -> str:
    return _CURRENCY.sub("", cell).strip(" \t\r\n\u00a0\u2007\u202f\u200b\u2060\ufeff€$£")


def _bare(cell: str) -> str:
    """A number without currency and blanks around it, and without blanks or apostrophes between its thousands."""
    bare = _without_currency(cell)
    if behind := _MINUS_BEHIND.fullmatch(bare):
        bare = f"-{behind[1]}"
    if found := _GROUPED.fullmatch(bare):
        return found[1] + re.sub(rf"[{_BLANKS}'\u2019]", "", found[2]) + found[3]
    return bare


def is_minus_behind(cell: str) -> bool:
    """Whether a number has its minus behind it."""
    return "-" in cell and _MINUS_BEHIND.fullmatch(_without_currency(cell)) is not None


def _shown(bare: str) -> str:
    """The decimal mark that a number can have alone; empty where it can be either, or is no number."""
    return next((mark for mark, sure in _SURE.items() if any(one.fullmatch(bare) for one in sure)), "")


def _canonical(bare: str, decimal: str) -> str:
    group = COMMA if decimal == POINT else POINT
    return bare.replace(group, "").replace(decimal, POINT)


def _order(found: re.Match[str]) -> str:
    """The order that a date has alone: the dotted form has the day first; a number over 12 is a day."""
    first, second = int(found[1]), int(found[3])
    if found[2] == "." or first > 12:
        return DAY_FIRST
    return MONTH_FIRST if second > 12 else ""


def _iso(found: re.Match[str], order: str, cell: str, year: int) -> str:
    numbers = (int(found[1]), int(found[3]))
    day, month = numbers if order == DAY_FIRST else numbers[::-1]
    try:
        text = date(year, month, day).isoformat()
    except ValueError:
        raise ValueError(f"{cell!r} is no day of the calendar") from None
    return text + _time(found)


def _time(found: re.Match[str]) -> str:
    if found[5] is None:
        return ""
    hour = int(found[5])
    if half := found[8]:
        hour = hour % 12 + 12 * (half in "Pp")
    return f"T{hour:02d}:{found[6]}:{found[7] or '00'}"


LOCAL_FLAGS: Mapping[str, str] = {
    **dict.fromkeys(("wahr", "waar", "vrai", "ja", "j", "yes", "y", "oui", "o"), "true"),
    **dict.fromkeys(("falsch", "onwaar", "faux", "nein", "nee", "n", "no", "non"), "false"),
}
"""What spreadsheets and people write for true and false in German, Dutch, French and English."""
