"""Notation of numbers and dates in a file, learnt from all of its cells, so that no cell is guessed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from decimal import Decimal

from aisle.client.csv_load.date_cells import (
    DAY_FIRST,
    MONTH_FIRST,
    SERIAL_DAY,
    YEAR_FIRST,
    ShortYears,
    checked_date,
    date_order,
    find_named_month,
    full_year,
    normalize_month_name,
    plain_date,
    serial_day,
    split_written_date,
    to_iso,
)
from aisle.client.csv_load.number_cells import (
    COMMA,
    POINT,
    AmountsOfColumn,
    WholeNumbersOfColumn,
    decimal_mark,
    fraction_value,
    has_no_cents,
    strip_currency,
    to_decimal_point,
)

_MARK_NAMES = {POINT: "point", COMMA: "comma"}
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_AMBIGUOUS_NUMBER = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}", re.ASCII)
_THREE_DECIMALS = re.compile(r".*[.,]\d{3}", re.ASCII)
_ZERO_DECIMALS = re.compile(r".*[.,]000", re.ASCII)
_DOTTED_CODE = re.compile(r"\d+[.,]\d*[1-9]\d*", re.ASCII)
_DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})", re.ASCII)
YEARS_AHEAD = 20
"""Years from now that a year of two digits may lie ahead, within a span of a hundred years."""
_MIDNIGHT = re.compile(r"[ T]0?0(?::?00(?::?00(?:[.,]0+)?)?)?")
_ISO_TIME = re.compile(
    r"(?:[ T]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?(?: ?Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII | re.IGNORECASE
)
"""Time behind a day as ISO 8601 has it; empty too. Python also reads `14.30`, as 14 hours."""
_SHORT_YEAR = 2
_LONGEST_MONTH = 31
_MONTHS_OF_YEAR = 12
_KEPT_DATES = 50
"""Number of dates with a year of two digits that are kept, of which the report names one that is read."""


class Notation:
    """Notation of numbers and dates in one file, as its cells show it, and conversion by it."""

    def __init__(
        self, dotted_codes: set[str] | None = None, *, is_local: bool = False, whole: Iterable[int] = ()
    ) -> None:
        """Store `dotted_codes`, which files of the same load share: codes with a point inside.

        `is_local` is True if the columns are separated as a spreadsheet with decimal commas does it. `whole` are the
        columns that take whole numbers only.
        """
        self._whole = {column: WholeNumbersOfColumn() for column in whole}
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
        self._shorts: list[tuple[int, str, int]] = []
        """Row, cell and column of the first dates with a year of two digits."""
        self._short_years: dict[int, ShortYears] = {}
        """Dates with hyphens and years of two digits, by column."""
        self._first_shorts: dict[int, dict[str, tuple[int, str]]] = {}
        """First of these dates that shows each order of day and month, or (with an empty name) none, by column."""
        self._has_year_last = False
        """True if a date with hyphens has four digits, or more than 31, at its end."""
        self._columns_with_times: set[int] = set()
        """Columns with a date that has a time of day other than midnight."""
        self._day_second: tuple[int, str] | None = None
        """Date with the year first whose second number can only be a day."""
        self._last_year = date.today().year + YEARS_AHEAD

    def of_column(self, column: int) -> Notation:
        """Return the notation for the next cells, which are of this column."""
        self._column = column
        return self

    def observe_amount(self, line: int, cell: str, column: int) -> None:
        """Record what a cell of a column of amounts of money shows about signs between thousands."""
        self._amounts.setdefault(column, AmountsOfColumn()).see(line, cell, strip_currency(cell))

    def observe_number(self, line: int, cell: str, column: int = 0, shown: str = "") -> None:
        """Record what a cell of a column of numbers shows; `shown` is the cell as the file has it."""
        if column in self._whole:
            self._whole[column].see(line, strip_currency(cell))
        if column not in self._fewer_decimals and not _THREE_DECIMALS.fullmatch(cell):
            self._fewer_decimals += (column,)
        if POINT in cell or COMMA in cell:
            bare = strip_currency(cell)
            mark = decimal_mark(bare)
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
    def has_times(self) -> bool:
        """True if a date of the column has a time of day other than midnight."""
        return self._column in self._columns_with_times

    @property
    def has_decimal_points(self) -> bool:
        """True if a number of the file has a decimal point."""
        return POINT in self._numbers

    def observe_date(self, line: int, cell: str, column: int = 0) -> None:
        """Record what a cell of a column of dates shows."""
        plain = plain_date(cell)
        if column not in self._columns_with_times and _has_time_of_day(plain):
            self._columns_with_times.add(column)
        if first := YEAR_FIRST.match(plain):
            if self._day_second is None and int(first[2]) > _MONTHS_OF_YEAR >= int(first[3]):
                self._day_second = (line, cell)
            return
        try:
            parts = split_written_date(plain)
        except ValueError:
            return  # the row will be refused with a reason
        found = _DATE.fullmatch(parts.day)
        if not found:
            named = find_named_month(parts.day)
            if named and len(named.year) == _SHORT_YEAR:
                self._keep_short(line, cell, column)
            return
        is_short = len(found[4]) == _SHORT_YEAR
        order = date_order(found) or self._week_day_order(found, parts.week_days)
        if found[2] == "-" and is_short and int(found[4]) <= _LONGEST_MONTH:
            self._observe_short_years(line, cell, column, found, parts.week_days)
            self._first_shorts.setdefault(column, {}).setdefault(order, (line, cell))
            return
        if found[2] == "-":
            self._has_year_last = True
        if is_short:
            self._keep_short(line, cell, column)
        self._keep_order(line, cell, column, order, is_same=found[1].zfill(2) == found[3].zfill(2))

    def _observe_short_years(
        self, line: int, cell: str, column: int, found: re.Match[str], week_days: Collection[int]
    ) -> None:
        self._keep_short(line, cell, column)
        years = self._short_years.setdefault(column, ShortYears(self._last_year - YEARS_AHEAD, self._last_year))
        years.see(found[1], found[3], found[4], week_days)

    def _keep_short(self, line: int, cell: str, column: int) -> None:
        if len(self._shorts) < _KEPT_DATES:
            self._shorts.append((line, cell, column))

    def _keep_order(self, line: int, cell: str, column: int, order: str, *, is_same: bool) -> None:
        """Record the order of day and month that a date shows; `is_same` if they are one number."""
        if order:
            self._dates.setdefault(order, (line, cell))
            self._column_dates.setdefault(column, {}).setdefault(order, (line, cell))
        elif self._ambiguous_date is None and not is_same:
            self._ambiguous_date = (line, cell)

    def _week_day_order(self, found: re.Match[str], week_days: Collection[int]) -> str:
        """Return that a date has the day first, if only so it is on a day of the week that it names.

        The month first is not shown so: a wrong week day would exchange day and month.
        """
        agree = []
        for order in (DAY_FIRST, MONTH_FIRST) if week_days else ():
            try:
                day = date.fromisoformat(to_iso(found, order, found[0], full_year(found[4], self._last_year)))
            except ValueError:
                continue
            agree += [order] if day.weekday() in week_days else []
        return DAY_FIRST if agree == [DAY_FIRST] else ""

    def settle_years(self) -> None:
        """Take the dates with hyphens and years of two digits as dates of the order that they show, once all are seen.

        Those whose year can be first are left; they are refused.
        """
        for column, dates in self._first_shorts.items():
            if self._is_year_last(column):
                for order, (line, cell) in dates.items():
                    self._keep_order(line, cell, column, order, is_same=False)

    def _is_year_last(self, column: int) -> bool:
        years = self._short_years.get(column)
        is_local = self._is_local and set(self._numbers) == {COMMA}
        return self._has_year_last or (years is not None and years.is_year_last(is_local=is_local))

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
            assumptions += [*filter(None, (whole.describe() for whole in self._whole.values()))][:1]
        refused = {date for dates in self._column_dates.values() if len(dates) > 1 for date in dates.values()}
        for order, (line, cell) in self._dates.items():
            if (line, cell) not in refused:
                assumptions.append(f"dates with the {order} ({self._describe_date(line, cell)})")
        if self._ambiguous_date and self._is_day_first:
            shown = self._describe_date(*self._ambiguous_date)
            assumptions.append(f"dates with the day first, as where decimals have commas ({shown})")
        read = (self._describe_date(line, cell) for line, cell, _ in self._shorts if (line, cell) not in refused)
        if shown := next((one for one in read if " is " in one), ""):
            last = self._last_year
            assumptions.append(f"years of two digits as {last - 99} to {last} ({shown})")
        return tuple(assumptions)

    def _describe_date(self, line: int, cell: str) -> str:
        """Return a date with its row, and as what it is read, if it is."""
        seen = ((column, shown) for column, dates in self._column_dates.items() for shown in dates.values())
        short = ((column, (at, shown)) for at, shown, column in self._shorts)
        column = next((column for column, shown in (*short, *seen) if shown == (line, cell)), self._column)
        try:
            return f"{cell} in row {line} is {self.of_column(column).normalize_date(cell)}"
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
        bare = strip_currency(cell)
        if _INTEGER.fullmatch(bare):
            return bare
        if fraction := fraction_value(bare):
            return fraction
        if _AMBIGUOUS_NUMBER.fullmatch(bare):
            return self._normalize_ambiguous(bare, cell)
        mark = decimal_mark(bare)
        if not mark:
            return cell
        if mark != self._usual_mark and self._usual_mark in self._numbers:
            line, other = self._numbers[self._usual_mark]
            raise ValueError(
                f"{shown or cell!r} has a decimal {_MARK_NAMES[mark]}, and {other!r} in row {line} a"
                f" {self.mark_name}; write all in one way, this one as {self.readings(cell)}"
            )
        return to_decimal_point(bare, mark)

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
        bare = strip_currency(cell)
        if _AMBIGUOUS_NUMBER.fullmatch(bare):
            decimals = [bare.replace(COMMA, POINT)] if self._can_be_decimals(bare) else []
            found = [*decimals, re.sub(r"[.,]", "", bare)]
        elif _INTEGER.fullmatch(bare):
            found = [bare]
        else:
            found = [to_decimal_point(bare, mark)] if (mark := decimal_mark(bare)) else []
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
        of_column = self._whole.get(self._column)
        if of_column and not self._numbers and of_column.is_thousands(bare):
            return re.sub(r"[.,]", "", bare)
        if self._is_of_thousands(bare[-4], is_whole=is_whole):
            return re.sub(r"[.,]", "", bare)
        if len(self._numbers) == 1 and not is_whole:
            (decimal,) = self._numbers
            if decimal not in bare or not _ZERO_DECIMALS.fullmatch(bare) or self._has_three_decimals(decimal):
                return to_decimal_point(bare, decimal)
        whole = re.sub(r"[.,]", "", bare)
        raise ValueError(
            f"{bare!r} can be {bare.replace(COMMA, POINT)} or {whole}; write {self.readings(bare)}, without a separator"
            f" of thousands{self._describe_decimals(bare[-4])}"
        )

    def _describe_decimals(self, mark: str) -> str:
        """Return that a mark stands before decimals elsewhere in the file, which does not decide `1,000`."""
        if mark not in self._numbers:
            return ""
        line, other = self._numbers[mark]
        return (
            f" ({other} in row {line} has a decimal {_MARK_NAMES[mark]}, but three zeros can be thousands all the same)"
        )

    def _is_of_thousands(self, mark: str, *, is_whole: bool) -> bool:
        """Return True if the sign in an amount can only stand between thousands; `is_whole` if it can have no cents."""
        amounts = self._amounts.get(self._column)
        is_shown = not self._numbers and amounts is not None and amounts.mark_of_thousands == mark
        return is_shown or (is_whole and mark not in self._numbers)

    def _can_be_decimals(self, bare: str) -> bool:
        """Return False if digits behind a sign cannot be decimals, as the column takes whole numbers only."""
        return self._column not in self._whole or bare.endswith("000")

    def _has_three_decimals(self, mark: str) -> bool:
        """Return True if all numbers of the column have three digits behind a mark, and one of them surely decimals.

        `1,000` can be one only there: elsewhere a program or person who writes `5` has no reason for the zeros.
        """
        return (self._column, mark) in self._three_decimals and self._column not in self._fewer_decimals

    def normalize_date(self, cell: str) -> str:
        """Return a date as ISO 8601. Raise ValueError if it is none, or ambiguous."""
        if serial := SERIAL_DAY.fullmatch(cell):
            return serial_day(serial)
        plain = plain_date(cell)
        if (found := YEAR_FIRST.fullmatch(plain)) and _ISO_TIME.fullmatch(found[4]):
            return self._normalize_year_first(found, found[4], cell)
        parts = split_written_date(plain)
        if parts.time is None and not parts.week_days:
            return self._normalize_day(parts.day, cell)
        day = self._normalize_day(parts.day, cell, parts.week_days)[: len("yyyy-mm-dd")]
        if reason := parts.week_day_reason(day):
            raise ValueError(f"{cell!r} {reason}; write yyyy-mm-dd")
        return day + (parts.time or "")

    def _normalize_day(self, day: str, cell: str, week_days: Collection[int] = ()) -> str:
        """Return a day without a week day and a time, in whatever form, as ISO 8601."""
        if found := YEAR_FIRST.fullmatch(day):
            if any(map(str.isalpha, found[4].strip().lstrip("T"))):
                raise ValueError(f"{cell!r} has a time with words that are not read; write yyyy-mm-dd hh:mm")
            return self._normalize_year_first(found, found[4], cell)
        found = _DATE.fullmatch(day)
        if not found:
            return normalize_month_name(day, cell, self._last_year)
        if "00" in (found[1].zfill(2), found[3].zfill(2)):
            raise ValueError(f"{cell!r} is no day of the calendar; a spreadsheet writes it for an empty cell")
        is_short = len(found[4]) == _SHORT_YEAR
        if found[2] == "-" and is_short and not self._is_year_last(self._column):
            self._refuse_unknown_year(found, cell)
        order = date_order(found) or self._week_day_order(found, week_days) or self._assumed_order(found)
        self._refuse_other_order(cell, order if found[1] != found[3] else "")
        if not order:
            raise ValueError(f"{cell!r} can have the day or the month first; write yyyy-mm-dd")
        return to_iso(found, order, cell, full_year(found[4], self._last_year))

    def _refuse_unknown_year(self, found: re.Match[str], cell: str) -> None:
        """Raise ValueError for a date whose year can be the first or the last number, unless that is one day."""
        years = ShortYears(self._last_year - YEARS_AHEAD, self._last_year)
        numbers = (found[1], found[3], found[4])
        days = {*years.with_year_first(*numbers), *years.with_year_last(*numbers)}
        if found[1] != found[4] or len(days) != 1:
            readings = " or ".join(map(str, sorted(days)))
            raise ValueError(
                f"{cell!r} has a year of two digits, which can be the first or the last number: {readings}; write"
                " yyyy-mm-dd"
            )

    def _normalize_year_first(self, found: re.Match[str], time: str, cell: str) -> str:
        month, day = int(found[2]), int(found[3])
        if self._day_second and month != day and 0 < day <= _MONTHS_OF_YEAR >= month:
            line, other = self._day_second
            raise ValueError(
                f"{cell!r} can have the day before the month, as {other!r} in row {line} has; write yyyy-mm-dd"
            )
        return checked_date(f"{found[1]}-{month:02d}-{day:02d}{'' if _MIDNIGHT.fullmatch(time) else time}", cell)

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


def _has_time_of_day(plain: str) -> bool:
    """Return True if a date has a time of day other than midnight."""
    found = YEAR_FIRST.fullmatch(plain)
    if found and _ISO_TIME.fullmatch(found[4]):
        return bool(found[4]) and not _MIDNIGHT.fullmatch(found[4])
    try:
        return bool(split_written_date(plain).time)
    except ValueError:
        return False  # the row will be refused with a reason


LOCAL_FLAGS: Mapping[str, str] = {
    **dict.fromkeys(("wahr", "waar", "vrai", "ja", "j", "yes", "y", "oui", "o", "t", "aan", "on", "-1"), "true"),
    **dict.fromkeys(("falsch", "onwaar", "faux", "nein", "nee", "n", "no", "non", "f", "uit", "off"), "false"),
}
"""Words of spreadsheets and people for true and false in German, Dutch, French and English, and those of databases."""
