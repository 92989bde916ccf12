"""Numbers in the cells of a file: their signs, currency and unit, and why a cell is no number."""

from __future__ import annotations

import re
import unicodedata
from decimal import Context
from typing import Protocol

from aisle.client.csv_load.currency_and_thousands import CURRENCY, CURRENCY_SIGNS, currency_of

POINT, COMMA = ".", ","

_BLANKS = "\\s\u200b\u2060\ufeff"

_THOUSANDS = re.compile(rf"([+-]?[1-9][0-9]{{0,2}})((?:[{_BLANKS}'\u2019][0-9]{{3}})+)(?![0-9])(.*)", re.DOTALL)

_NO_ZERO = re.compile(r"([+-]?)([.,]\d+)", re.ASCII)
"""Number without a digit before its decimal mark."""


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

_MINUS_BEHIND = re.compile(rf"([0-9](?:[0-9.,'\u2019{_BLANKS}]*[0-9])?)[{_BLANKS}]*-")
"""Trailing minus, `5-`; not `5,-`, which is a price of five."""

_NO_CENTS = re.compile(rf"(\d[.,])(?:[-\u2013\u2014]{{1,2}}|=)(?=[{_BLANKS}]*(?:\Z|[^\W\d_]|[{CURRENCY_SIGNS}]))")
"""Dash in the place of cents: `12,-` is a price of twelve."""

_DASH_AND_CENTS = re.compile(rf"[-\u2013\u2014]{{1,2}}[{_BLANKS}]*([.,]\d+)", re.ASCII)
"""Dash in the place of the whole: `-.95` is ninety-five cents in Switzerland, and a minus elsewhere."""

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


class NumberNotation(Protocol):
    """How a file writes its numbers."""

    @property
    def mark_name(self) -> str:
        """Return the name of the decimal mark that the file uses most."""
        ...

    def readings(self, cell: str) -> str:
        """Return every number that a cell can be, as text; empty if it can be none."""
        ...


def no_number_reason(cell: str, notation: NumberNotation, *, is_money: bool = False) -> str:
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


def strip_currency(cell: str) -> str:
    """Return a number without currency, blanks around it, and thousands separators of blanks or apostrophes."""
    bare = _without_currency(cell)
    if short := _NO_ZERO.fullmatch(bare):
        bare = f"{short[1]}0{short[2]}"
    if behind := _MINUS_BEHIND.fullmatch(bare):
        bare = f"-{behind[1]}"
    if found := _THOUSANDS.fullmatch(bare):
        return found[1] + re.sub(rf"[{_BLANKS}'\u2019]", "", found[2]) + found[3]
    return bare


def without_tail(number: str) -> str:
    """Return a number without the tail that a computer's fraction has: 0.30000000000000004 is 0.3."""
    found = _LONG_FRACTION.fullmatch(number)
    digits = f"{found[1]}{found[2]}".lstrip("0") if found else ""
    if len(digits) not in _DIGITS_WITH_TAIL:
        return number
    short = f"{_TO_DIGITS_KEPT.create_decimal(number).normalize():f}"
    return short if len(short) + _ZEROS_BEFORE_TAIL < len(number) else number


_LONG_FRACTION = re.compile(r"[+-]?(\d+)\.(\d{6,})", re.ASCII)
_DIGITS_WITH_TAIL = range(16, 19)
"""Numbers of digits that a program writes for a fraction of 64 bits."""
_TO_DIGITS_KEPT = Context(prec=15)
"""Digits that such a fraction always keeps."""
_ZEROS_BEFORE_TAIL = 8


def is_minus_behind(cell: str) -> bool:
    """Return True if a number has a trailing minus."""
    return "-" in cell and _MINUS_BEHIND.fullmatch(_without_currency(cell)) is not None


def decimal_mark(bare: str) -> str:
    """Return the only possible decimal mark of a number; empty if it is ambiguous or no number."""
    return next((mark for mark, sure in _UNAMBIGUOUS_NUMBERS.items() if any(one.fullmatch(bare) for one in sure)), "")


def to_decimal_point(bare: str, decimal: str) -> str:
    group = COMMA if decimal == POINT else POINT
    return bare.replace(group, "").replace(decimal, POINT)
