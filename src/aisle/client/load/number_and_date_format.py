"""Notation of numbers and dates in a file, learnt from all of its cells, so that no cell is guessed.

`1,10` has a decimal comma and `1.10` a decimal point. `1,234` and `1.234` can be either, and are read only if other
cells of the file decide. The same holds for dates: `27/11/2026` has the day first, `05/06/2026` is ambiguous.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

from aisle.client.load.currencies import CURRENCY, CURRENCY_SIGNS, currency_of
from aisle.client.load.dates_in_words import find_named_month, split_written_date
from aisle.client.load.thousands_marks import AmountsOfColumn, has_no_cents

POINT, COMMA = ".", ","
_MARK_NAMES = {POINT: "point", COMMA: "comma"}
DAY_FIRST, MONTH_FIRST = "day first", "month first"

_BLANKS = "\\s\u200b\u2060\ufeff"
_THOUSANDS = re.compile(rf"([+-]?[1-9][0-9]{{0,2}})((?:[{_BLANKS}'\u2019][0-9]{{3}})+)(?![0-9])(.*)", re.DOTALL)
_NO_ZERO = re.compile(r"([+-]?)([.,]\d+)", re.ASCII)
"""Number without a digit before its decimal mark."""
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_AMBIGUOUS_NUMBER = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}", re.ASCII)
_THREE_DECIMALS = re.compile(r".*[.,]\d{3}", re.ASCII)
_ZERO_DECIMALS = re.compile(r".*[.,]000", re.ASCII)


def _decimal_patterns(mark: str, other: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns of numbers whose decimal mark can only be `mark`, by the number of digits or their groups."""
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


_UNAMBIGUOUS_NUMBERS = {POINT: _decimal_patterns(POINT, COMMA), COMMA: _decimal_patterns(COMMA, POINT)}
_DOTTED_CODE = re.compile(r"\d+[.,]\d*[1-9]\d*", re.ASCII)
_DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})", re.ASCII)
_YEAR_FIRST = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})((?:[ T].*)?)", re.ASCII | re.DOTALL)
_OTHER_YEAR_FIRST = re.compile(r"(\d{4})(?:\.|[年년])\s?(\d{1,2})(?:\.|[月월])\s?(\d{1,2})[.日일]?(?!\d)", re.ASCII)
"""Day with the year first as East Asia and Hungary write it: `2026.12.3`, `2026. 12. 3.`, `2026年12月3日`."""
_SERIAL_DAY = re.compile(r"([2-7]\d{4})([.,]\d+)?", re.ASCII)
"""Number of a day in a spreadsheet, with a part of the day behind it."""
_DAY_ALONE = re.compile(r"\d{8}|\d{4}-?W\d\d(?:-?[1-7])?", re.ASCII)
"""Day in ISO 8601 in another form than with hyphens."""
_SERIAL_START = datetime(1899, 12, 30)
_SERIALS = range(43_200, 50_000)
"""Numbers that can only be days: 2018 to 2036. Others can be a date like 41226 that has lost its zero (4-12-26)."""
_SECONDS_OF_DAY = 86_400
_MINUS_BEHIND = re.compile(rf"([0-9](?:[0-9.,'\u2019{_BLANKS}]*[0-9])?)[{_BLANKS}]*-")
"""Trailing minus, `5-`; not `5,-`, which is a price of five."""
YEARS_AHEAD = 20
"""Years from now that a year of two digits may lie ahead, within a span of a hundred years."""
_NO_CENTS = re.compile(rf"(\d[.,])(?:[-\u2013\u2014]{{1,2}}|=)(?=[{_BLANKS}]*(?:\Z|[^\W\d_]|[{CURRENCY_SIGNS}]))")
"""Dash in the place of cents: `12,-` is a price of twelve."""
_DASH_AND_CENTS = re.compile(rf"[-\u2013\u2014]{{1,2}}[{_BLANKS}]*([.,]\d+)", re.ASCII)
"""Dash in the place of the whole: `-.95` is ninety-five cents in Switzerland, and a minus elsewhere."""
_MIDNIGHT = re.compile(r"[ T]+0?0:00(?::00(?:\.0+)?)?")
_ISO_TIME = re.compile(
    r"(?:[ T]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?(?: ?Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII | re.IGNORECASE
)
"""Time behind a day as ISO 8601 has it; empty too. Python also reads `14.30`, as 14 hours."""
_YEAR_DIGITS = 4
_SHORT_YEAR = 2
_LONGEST_MONTH = 31
_MONTHS_OF_YEAR = 12


class Notation:
    """Notation of numbers and dates in one file, as its cells show it, and conversion by it."""

    def __init__(self, dotted_codes: set[str] | None = None, *, is_local: bool = False) -> None:
        """Store `dotted_codes`, which files of the same load share: codes with a point inside.

        `is_local` is True if the columns are separated as a spreadsheet with decimal commas does it.
        """
        self._is_local = is_local
        self._dotted_codes: set[str] = set() if dotted_codes is None else dotted_codes
        self._column = 0
        self._numbers: dict[str, tuple[int, str]] = {}
        self._three_decimals: tuple[tuple[int, str], ...] = ()
        """Columns with a number that surely has three decimals, and its decimal mark."""
        self._fewer_decimals: tuple[int, ...] = ()
        """Columns with a number that has other than three digits behind its last mark, or no mark."""
        self._marks: Counter[str] = Counter()
        self._amounts: dict[int, AmountsOfColumn] = {}
        self._ambiguous_number: tuple[int, str, int] | None = None
        """Row, cell and column of the first number that can be read in two ways."""
        self._dates: dict[str, tuple[int, str]] = {}
        self._column_dates: dict[int, dict[str, tuple[int, str]]] = {}
        self._ambiguous_date: tuple[int, str] | None = None
        """Row and cell of the first date of which the day and the month can be meant by either number."""
        self._short: tuple[int, str] | None = None
        self._has_year_last = False
        """True if a date with hyphens has four digits, or more than 31, at its end."""
        self._day_second: tuple[int, str] | None = None
        """Date with the year first whose second number can only be a day."""
        self._last_year = date.today().year + YEARS_AHEAD

    def of_column(self, column: int) -> Notation:
        """Return the notation for the next cells, which are of this column."""
        self._column = column
        return self

    def observe_amount(self, line: int, cell: str, column: int) -> None:
        """Record what a cell of a column of amounts of money shows about signs between thousands."""
        self._amounts.setdefault(column, AmountsOfColumn()).see(line, cell, _strip_currency(cell))

    def observe_number(self, line: int, cell: str, column: int = 0, shown: str = "") -> None:
        """Record what a cell of a column of numbers shows; `shown` is the cell as the file has it."""
        if column not in self._fewer_decimals and not _THREE_DECIMALS.fullmatch(cell):
            self._fewer_decimals += (column,)
        if POINT in cell or COMMA in cell:
            bare = _strip_currency(cell)
            mark = _decimal_mark(bare)
            if mark:
                is_seen = (column, mark) in self._three_decimals
                if not is_seen and _THREE_DECIMALS.fullmatch(bare) and bare[-4] == mark:
                    self._three_decimals += ((column, mark),)
                self._numbers.setdefault(mark, (line, shown or cell))
                self._marks[mark] += 1
            elif self._ambiguous_number is None and _AMBIGUOUS_NUMBER.fullmatch(bare):
                self._ambiguous_number = (line, bare, column)

    def observe_code(self, cell: str) -> None:
        """Record a cell of a column of codes that may contain a point."""
        if not self._dotted_codes and _DOTTED_CODE.fullmatch(cell):
            self._dotted_codes.add(cell)

    @property
    def has_dotted_codes(self) -> bool:
        """True if codes contain a point, so that `12.0` is a code like `12.5`, and not 12."""
        return bool(self._dotted_codes)

    @property
    def has_decimal_points(self) -> bool:
        """True if a number of the file has a decimal point."""
        return POINT in self._numbers

    def observe_date(self, line: int, cell: str, column: int = 0) -> None:
        """Record what a cell of a column of dates shows."""
        if first := _YEAR_FIRST.match(_with_hyphens(cell)):
            if self._day_second is None and int(first[2]) > _MONTHS_OF_YEAR >= int(first[3]):
                self._day_second = (line, cell)
            return
        try:
            day = split_written_date(cell).day
        except ValueError:
            return  # the row will be refused with a reason
        found = _DATE.fullmatch(day)
        if not found:
            named = find_named_month(day)
            if named and len(named.year) == _SHORT_YEAR and self._short is None:
                self._short = (line, cell)
            return
        is_short = len(found[4]) == _SHORT_YEAR
        if found[2] == "-" and (not is_short or int(found[4]) > _LONGEST_MONTH):
            self._has_year_last = True
        if is_short and self._short is None:
            self._short = (line, cell)
        if is_short and found[2] == "-" and int(found[4]) <= _LONGEST_MONTH:
            return
        if order := _date_order(found):
            self._dates.setdefault(order, (line, cell))
            self._column_dates.setdefault(column, {}).setdefault(order, (line, cell))
        elif self._ambiguous_date is None and found[1].zfill(2) != found[3].zfill(2):
            self._ambiguous_date = (line, cell)

    def date_orders(self) -> dict[str, str]:
        """Return each order that the file's dates have, with the date that shows it, or is read so, and its row."""
        orders = self._dates
        if self._ambiguous_date and self._is_day_first:
            orders = {DAY_FIRST: self._ambiguous_date}
        return {order: f"{cell} in row {line}" for order, (line, cell) in orders.items()}

    @property
    def _is_day_first(self) -> bool:
        """True if no date shows an order, and the file is one of a country with decimal commas, where the day is first.

        `;` between columns and decimal commas are written there alone.
        """
        return not self._dates and self._is_local and set(self._numbers) == {COMMA}

    def describe_assumptions(self) -> tuple[str, ...]:
        """Return the assumptions by which all cells are read, as text for the report."""
        assumptions = []
        consequence = self._describe_ambiguous()
        if self._usual_mark == COMMA:
            assumptions.append(f"decimal commas ({self._describe_evidence(COMMA)}{consequence})")
        elif set(self._numbers) == {POINT} and consequence:
            assumptions.append(f"decimal points ({self._describe_evidence(POINT)}{consequence})")
        if not self._numbers:
            assumptions += filter(None, (amounts.describe() for amounts in self._amounts.values()))
        refused = {date for dates in self._column_dates.values() if len(dates) > 1 for date in dates.values()}
        for order, (line, cell) in self._dates.items():
            if (line, cell) not in refused:
                assumptions.append(f"dates with the {order} ({self._describe_date(line, cell)})")
        if self._ambiguous_date and self._is_day_first:
            shown = self._describe_date(*self._ambiguous_date)
            assumptions.append(f"dates with the day first, as where decimals have commas ({shown})")
        if self._short and self._short not in refused:
            line, cell = self._short
            last = self._last_year
            assumptions.append(f"years of two digits as {last - 99} to {last} ({self._describe_date(line, cell)})")
        return tuple(assumptions)

    def _describe_date(self, line: int, cell: str) -> str:
        """Return a date with its row, and as what it is read."""
        try:
            return f"{cell} in row {line} is {self.normalize_date(cell)}"
        except ValueError:
            return f"{cell} in row {line}"

    def _describe_evidence(self, mark: str) -> str:
        """Return which cell shows the mark."""
        line, cell = self._numbers[mark]
        return f"{cell} in row {line}"

    def _describe_ambiguous(self) -> str:
        """Return how an ambiguous number is read; empty if there is none, or it is refused."""
        if self._ambiguous_number is None:
            return ""
        line, cell, column = self._ambiguous_number
        try:
            return f"; so {cell} in row {line} is {self.of_column(column).normalize_number(cell)}"
        except ValueError:
            return ""

    def normalize_number(self, cell: str, shown: str = "") -> str:
        """Return a number with digits and a point. Raise ValueError if it is ambiguous.

        What is no number comes back unchanged. `shown` is the cell as the file has it.
        """
        bare = _strip_currency(cell)
        if _INTEGER.fullmatch(bare):
            return bare
        if _AMBIGUOUS_NUMBER.fullmatch(bare):
            return self._normalize_ambiguous(bare, cell)
        mark = _decimal_mark(bare)
        if not mark:
            return cell
        if mark != self._usual_mark and self._usual_mark in self._numbers:
            line, other = self._numbers[self._usual_mark]
            raise ValueError(
                f"{shown or cell!r} has a decimal {_MARK_NAMES[mark]}, and {other!r} in row {line} a"
                f" {self.mark_name}; write all in one way, this one as {self.readings(cell)}"
            )
        return _to_decimal_point(bare, mark)

    @property
    def _usual_mark(self) -> str:
        return COMMA if self._marks[COMMA] > self._marks[POINT] else POINT

    @property
    def mark_name(self) -> str:
        """Return the name of the decimal mark that the file uses most."""
        return _MARK_NAMES[self._usual_mark]

    def readings(self, cell: str) -> str:
        """Return every number that a cell can be, so that the file surely has it when it is written there.

        The text is empty if the cell is no number.
        """
        bare = _strip_currency(cell)
        if _AMBIGUOUS_NUMBER.fullmatch(bare):
            found = [bare.replace(COMMA, POINT), re.sub(r"[.,]", "", bare)]
        elif _INTEGER.fullmatch(bare):
            found = [bare]
        else:
            found = [_to_decimal_point(bare, mark)] if (mark := _decimal_mark(bare)) else []
        return " or ".join(self._write(Decimal(number)) for number in found)

    def _write(self, number: Decimal) -> str:
        """Return a number as a text that has one meaning in the file: three decimals get a zero behind them."""
        if number == number.to_integral_value():
            return f"{number.to_integral_value():f}"
        text = f"{number:f}"
        text = f"{text}0" if _AMBIGUOUS_NUMBER.fullmatch(text) else text
        return text.replace(POINT, self._usual_mark)

    def _normalize_ambiguous(self, bare: str, cell: str) -> str:
        is_whole = has_no_cents(cell, bare[-4])
        if self._is_of_thousands(bare[-4], is_whole=is_whole):
            return re.sub(r"[.,]", "", bare)
        if len(self._numbers) == 1 and not is_whole:
            (decimal,) = self._numbers
            if decimal not in bare or not _ZERO_DECIMALS.fullmatch(bare) or self._has_three_decimals(decimal):
                return _to_decimal_point(bare, decimal)
        whole = re.sub(r"[.,]", "", bare)
        raise ValueError(
            f"{bare!r} can be {bare.replace(COMMA, POINT)} or {whole}; write {self.readings(bare)}, without a separator"
            " of thousands"
        )

    def _is_of_thousands(self, mark: str, *, is_whole: bool) -> bool:
        """Return True if the sign in an amount can only stand between thousands; `is_whole` if it can have no cents."""
        amounts = self._amounts.get(self._column)
        is_shown = not self._numbers and amounts is not None and amounts.mark_of_thousands == mark
        return is_shown or (is_whole and mark not in self._numbers)

    def _has_three_decimals(self, mark: str) -> bool:
        """Return True if all numbers of the column have three digits behind a mark, and one of them surely decimals.

        `1,000` can be one only there: elsewhere a program or person who writes `5` has no reason for the zeros.
        """
        return (self._column, mark) in self._three_decimals and self._column not in self._fewer_decimals

    def normalize_date(self, cell: str) -> str:
        """Return a date as ISO 8601. Raise ValueError if it is none, or ambiguous."""
        if serial := _SERIAL_DAY.fullmatch(cell):
            return _serial_day(serial)
        plain = _with_hyphens(cell)
        if (found := _YEAR_FIRST.fullmatch(plain)) and _ISO_TIME.fullmatch(found[4]):
            return self._normalize_year_first(found, found[4], cell)
        parts = split_written_date(plain)
        if parts.time is None and not parts.week_days:
            return self._normalize_day(parts.day, cell)
        day = self._normalize_day(parts.day, cell)[: len("yyyy-mm-dd")]
        if reason := parts.week_day_reason(day):
            raise ValueError(f"{cell!r} {reason}; write yyyy-mm-dd")
        return day + (parts.time or "")

    def _normalize_day(self, day: str, cell: str) -> str:
        """Return a day without a week day and a time, in whatever form, as ISO 8601."""
        if found := _YEAR_FIRST.fullmatch(day):
            if any(map(str.isalpha, found[4].strip().lstrip("T"))):
                raise ValueError(f"{cell!r} has a time with words that are not read; write yyyy-mm-dd hh:mm")
            return self._normalize_year_first(found, found[4], cell)
        found = _DATE.fullmatch(day)
        if not found:
            return _normalize_month_name(day, cell, self._last_year)
        if "00" in (found[1].zfill(2), found[3].zfill(2)):
            raise ValueError(f"{cell!r} is no day of the calendar; a spreadsheet writes it for an empty cell")
        order = _date_order(found) or self._assumed_order(found)
        self._refuse_other_order(cell, order if found[1] != found[3] else "")
        if not order:
            raise ValueError(f"{cell!r} can have the day or the month first; write yyyy-mm-dd")
        if len(found[4]) == _YEAR_DIGITS:
            return _to_iso(found, order, cell, int(found[4]))
        if found[2] == "-" and not self._has_year_last:
            raise ValueError(f"{cell!r} has a year of two digits, which can be the first or the last; write yyyy-mm-dd")
        return _to_iso(found, order, cell, _full_year(found[4], self._last_year))

    def _normalize_year_first(self, found: re.Match[str], time: str, cell: str) -> str:
        month, day = int(found[2]), int(found[3])
        if self._day_second and month != day and 0 < day <= _MONTHS_OF_YEAR >= month:
            line, other = self._day_second
            raise ValueError(
                f"{cell!r} can have the day before the month, as {other!r} in row {line} has; write yyyy-mm-dd"
            )
        return _checked(f"{found[1]}-{month:02d}-{day:02d}{'' if _MIDNIGHT.fullmatch(time) else time}", cell)

    def _refuse_other_order(self, cell: str, order: str) -> None:
        """Raise ValueError for a date whose column has dates of the other order too."""
        orders = self._column_dates.get(self._column, {})
        if order and len(orders) > 1:
            other = MONTH_FIRST if order == DAY_FIRST else DAY_FIRST
            line, its = orders[other]
            raise ValueError(
                f"{cell!r} has the {order}, and {its!r} in row {line} the {other}; write yyyy-mm-dd in all rows"
            )

    def _assumed_order(self, found: re.Match[str]) -> str:
        if found[1] == found[3] or self._is_day_first:
            return DAY_FIRST
        return next(iter(self._dates)) if len(self._dates) == 1 else ""


def _with_hyphens(cell: str) -> str:
    """Return a date with the year first as `2026-12-3`, if it has points or the signs of East Asia."""
    return _OTHER_YEAR_FIRST.sub(r"\1-\2-\3", cell, count=1) if _OTHER_YEAR_FIRST.match(cell) else cell


def _full_year(digits: str, last_year: int) -> int:
    """Return a year; of two digits, the last one up to `last_year`."""
    return int(digits) if len(digits) == _YEAR_DIGITS else last_year - (last_year - int(digits)) % 100


def _normalize_month_name(day: str, cell: str, last_year: int) -> str:
    """Return a date with a month name, or one in ISO 8601, as ISO 8601. Raise ValueError for an impossible day."""
    found = find_named_month(day)
    if found is None:
        return _checked(day, cell)
    try:
        return date(_full_year(found.year, last_year), found.month, found.day).isoformat()
    except ValueError:
        raise ValueError(f"{cell!r} is no day of the calendar") from None


def _serial_day(found: re.Match[str]) -> str:
    """Return the day of a spreadsheet's number as ISO 8601. Raise ValueError if the number can be something else."""
    seconds = round(Decimal(f"0{(found[2] or '').replace(COMMA, POINT)}") * _SECONDS_OF_DAY)
    when = _SERIAL_START + timedelta(days=int(found[1]), seconds=seconds)
    if int(found[1]) not in _SERIALS:
        raise ValueError(
            f"{found[0]!r} can be the number of a day in a spreadsheet, {when.date()}, or a date without signs; write"
            " yyyy-mm-dd"
        )
    return when.isoformat() if seconds else when.date().isoformat()


def is_serial_day(cell: str) -> bool:
    """Return True if a cell of a column of dates has the number of a day in a spreadsheet."""
    return _SERIAL_DAY.fullmatch(cell) is not None


_NO_DATE = "no date that can be read, as 29-11-2026, 29 November 2026 or 2026-11-29 14:30 are"


def _checked(text: str, cell: str) -> str:
    """Return a date in ISO 8601. Raise ValueError if it is none, or no day of the calendar."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        is_shaped = _YEAR_FIRST.fullmatch(text) is not None
        problem = "no day of the calendar, or has no such time" if is_shaped else _NO_DATE
        raise ValueError(f"{cell!r} is {problem}; write yyyy-mm-dd") from None
    return found.date().isoformat() if _DAY_ALONE.fullmatch(text) else text


_OUTER_BLANKS = " \t\r\n\u00a0\u2007\u202f\u200b\u2060\ufeff"


def _without_currency(cell: str) -> str:
    return CURRENCY.sub("", cell).strip(_OUTER_BLANKS + CURRENCY_SIGNS)


def with_cents(cell: str) -> str:
    """Return an amount with its currency and zeros for a dash in the place of cents: `€ 12,-` is `€ 12,00`.

    Without a currency the dash may be a minus, and the cell is returned as it is.
    """
    return _NO_CENTS.sub(r"\g<1>00", cell) if currency_of(cell) else cell


def cents_alone(cell: str) -> str:
    """Return an amount below one of which a dash stands before the mark (`-.95`), with a zero; empty if it is none."""
    found = _DASH_AND_CENTS.fullmatch(_without_currency(cell))
    return f"0{found[1]}" if found else ""


def number_changes(cell: str, value: str) -> list[str]:
    """Return what was changed in a cell to read it as this number, as texts for the report."""
    bare = _without_currency(cell)
    inside = bare.removesuffix("-").rstrip(_OUTER_BLANKS)
    signs = len(re.findall(r"[^\d+-]", inside, re.ASCII)) - (POINT in value)
    said = [f"currency {currency} taken off"] if (currency := currency_of(cell)) else []
    said += ["zeros before the number taken off"] if re.match(r"[+-]?0\d", bare, re.ASCII) else []
    said += ["minus behind the number put before it"] if is_minus_behind(cell) else []
    said += ["0 put before the decimal mark"] if _NO_ZERO.fullmatch(bare) else []
    return said + (["separators of thousands taken out"] if signs > 0 else [])


_SHARE = re.compile(r"[^%]*%")
_IN_BRACKETS = re.compile(r"\(\s*([\d.,]+)\s*\)", re.ASCII)
_SHORTENED = re.compile(r"[+-]?\d*[.,]?\d*E[+-]?\d+", re.IGNORECASE | re.ASCII)
_QUANTITY_AND_UNIT = re.compile(r"([+-]?[\d.,'\u2019\s]*\d)\s*([^\W\d_][^\d%]*|[^\W\d_]+[23\u00b2\u00b3])")
"""Number with a unit behind it."""


def split_unit(cell: str) -> tuple[str, str]:
    """Return a number and the unit behind it; the cell and an empty text if there is no unit."""
    found = _QUANTITY_AND_UNIT.fullmatch(cell)
    return (found[1], found[2]) if found and not _SHORTENED.fullmatch(cell) else (cell, "")


def no_number_reason(cell: str, notation: Notation, *, is_money: bool = False) -> str:
    """Return why a cell is no number, and what to do. With `is_money`, the column takes amounts of money.

    What a reason says to write is read in the file of this notation.
    """
    if (found := _IN_BRACKETS.fullmatch(cell)) and (readings := notation.readings(found[1])):
        return f"{cell!r} is no number: brackets are a minus to an accountant; write {readings}, if that is meant"
    if _SHARE.fullmatch(cell):
        return f"{cell!r} is no number, but a share of one; write the figure itself"
    if _SHORTENED.fullmatch(cell):
        return f"{cell!r} is no number with all its digits, because a spreadsheet has shortened it; write them all"
    if is_money and (readings := notation.readings(_NO_CENTS.sub(r"\g<1>00", cell))):
        return f"{cell!r} is no number; if the dash stands for no cents, write {readings}"
    if is_money and not any(map(str.isdecimal, cell)) and currency_of(cell):
        return f"{cell!r} is no number: an accountant writes a dash for nothing; write 0, or empty the cell"
    if is_money and any(unicodedata.category(sign) == "Sc" and sign not in CURRENCY_SIGNS for sign in cell):
        return f"{cell!r} has a currency that is not read; write the amount in digits, in the currency of the prices"
    if currency_of(cell) and is_money:
        return (
            f"{cell!r} is no amount that can be read; write its digits alone, and a {notation.mark_name} where it has"
            " decimals"
        )
    if currency_of(cell):
        return f"{cell!r} is no number of things, but money; look whether columns are mixed up, and write the number"
    if found := _QUANTITY_AND_UNIT.fullmatch(cell):
        return f"{cell!r} is no number, but one with the unit {found[2]!r}; write the number alone"
    return f"{cell!r} is no number; write digits and, where needed, a {notation.mark_name}"


def _strip_currency(cell: str) -> str:
    """Return a number without currency, blanks around it, and thousands separators of blanks or apostrophes."""
    bare = _without_currency(cell)
    if short := _NO_ZERO.fullmatch(bare):
        bare = f"{short[1]}0{short[2]}"
    if behind := _MINUS_BEHIND.fullmatch(bare):
        bare = f"-{behind[1]}"
    if found := _THOUSANDS.fullmatch(bare):
        return found[1] + re.sub(rf"[{_BLANKS}'\u2019]", "", found[2]) + found[3]
    return bare


def is_minus_behind(cell: str) -> bool:
    """Return True if a number has a trailing minus."""
    return "-" in cell and _MINUS_BEHIND.fullmatch(_without_currency(cell)) is not None


def _decimal_mark(bare: str) -> str:
    """Return the only possible decimal mark of a number; empty if it is ambiguous or no number."""
    return next((mark for mark, sure in _UNAMBIGUOUS_NUMBERS.items() if any(one.fullmatch(bare) for one in sure)), "")


def _to_decimal_point(bare: str, decimal: str) -> str:
    group = COMMA if decimal == POINT else POINT
    return bare.replace(group, "").replace(decimal, POINT)


def _date_order(found: re.Match[str]) -> str:
    """Return the only possible order of a date: dotted dates have the day first; a number over 12 is a day."""
    first, second = int(found[1]), int(found[3])
    if found[2] == "." or first > 12:
        return DAY_FIRST
    return MONTH_FIRST if second > 12 else ""


def _to_iso(found: re.Match[str], order: str, cell: str, year: int) -> str:
    numbers = (int(found[1]), int(found[3]))
    day, month = numbers if order == DAY_FIRST else numbers[::-1]
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        raise ValueError(f"{cell!r} is no day of the calendar") from None


LOCAL_FLAGS: Mapping[str, str] = {
    **dict.fromkeys(("wahr", "waar", "vrai", "ja", "j", "yes", "y", "oui", "o"), "true"),
    **dict.fromkeys(("falsch", "onwaar", "faux", "nein", "nee", "n", "no", "non"), "false"),
}
"""Words of spreadsheets and people for true and false in German, Dutch, French and English."""
