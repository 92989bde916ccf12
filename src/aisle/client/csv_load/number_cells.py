"""Numbers in the cells of a file: their signs, currency and unit, marks of thousands, and why a cell is no number.

Which mark is the decimal one, and which numbers are ambiguous: `local_number_and_date_notation`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Context, Decimal
from typing import Protocol

_CURRENCY_FORMS = """
EUR: € EUR
USD: $ USD US$
GBP: £ GBP
CHF: CHF Fr. SFr. sFr.
JPY or CNY: ¥ \uffe5 円 元 JPY CNY RMB
KRW: ₩ 원 KRW
INR: ₹ INR
CAD: CAD CA$ C$
AUD: AUD AU$ A$
NZD: NZD NZ$
HKD: HKD HK$
TWD: TWD NT$
SGD: SGD S$
BRL: BRL R$
TRY: ₺ TRY
SEK, NOK or DKK: kr kr. Kr Kr. SEK NOK DKK
PLN: zł PLN
CZK: Kč CZK
HUF: Ft HUF
MYR: MYR
ZAR: ZAR
IDR: IDR
ISK: ISK
VND: ₫ VND
CLP: CLP
"""
CURRENCY_NAMES = {
    form: name
    for name, _, forms in (line.partition(": ") for line in _CURRENCY_FORMS.strip().splitlines())
    for form in forms.split()
} | {"R": "ZAR", "RM": "MYR", "Rp": "IDR", "Rp.": "IDR", "Rs": "INR", "Rs.": "INR"}
"""Currencies that may stand beside an amount, by their sign or name."""
CURRENCY_SIGNS = "".join(form for form in CURRENCY_NAMES if unicodedata.category(form[0]) == "Sc")
_BEFORE_ONLY = ("R", "RM", "Rp", "Rp.", "Rs", "Rs.")
"""Currencies that stand before the amount; behind a number they can be a unit."""


def _any_of(forms: Iterable[str]) -> str:
    return f"(?:{'|'.join(re.escape(form) for form in sorted(forms, key=len, reverse=True))})"


_WORDS = [form for form in CURRENCY_NAMES if form not in CURRENCY_SIGNS]
CURRENCY = re.compile(
    rf"\A\s*{_any_of(_WORDS)}(?=[\s\d+.,-])"
    rf"|(?<=[\s\d.,-]){_any_of(form for form in _WORDS if form not in _BEFORE_ONLY)}\s*\Z"
)


def currency_of(cell: str) -> str:
    """Return the currency beside a number; empty if there is none."""
    word = CURRENCY.search(cell)
    return word[0].strip() if word else next((sign for sign in CURRENCY_SIGNS if sign in cell), "")


_WITHOUT_CENTS = frozenset({"JPY", "KRW", "HUF", "IDR", "ISK", "VND", "CLP"})
_YEN_OR_YUAN = "JPY or CNY"
"""Currencies that share a sign. A yuan has cents, in which a point alone stands before them."""
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}", re.ASCII)
_THOUSAND = 1000
_HUNDRED = 100


def has_no_cents(cell: str, mark: str) -> bool:
    """Return True if the currency beside an amount has no cents, so that three digits behind a mark are thousands."""
    sign = currency_of(cell)
    name = _OWN_NAMES.get(sign) or CURRENCY_NAMES.get(sign, "")
    return name in _WITHOUT_CENTS or (name == _YEN_OR_YUAN and mark == ",")


_OWN_NAMES = {"円": "JPY", "JPY": "JPY", "元": "CNY", "CNY": "CNY", "RMB": "CNY"}


class AmountsOfColumn:
    """Amounts of one column, as far as they show what the sign in `$1,200` is.

    A column with decimals has three of them in each cell, or none ends in a zero. If whole amounts below a thousand
    have no sign, and an amount with a currency has three digits and a zero behind it, it stands between thousands.
    """

    def __init__(self) -> None:
        self._marks: set[str] = set()
        self._grouped: tuple[int, str] | None = None
        self._small: tuple[int, str] | None = None
        self._is_open = False
        """True if a cell shows that the sign can stand before decimals."""

    def see(self, line: int, cell: str, bare: str) -> None:
        """Keep what a cell shows; `bare` is its number without the currency."""
        digits = bare.lstrip("+-")
        if found := _GROUPED.fullmatch(bare):
            self._marks.add(found[1])
            self._is_open = self._is_open or not currency_of(cell)
            if self._grouped is None and bare.endswith("0"):
                self._grouped = line, cell
        elif not digits.isdecimal() or int(digits) >= _THOUSAND:
            self._is_open = True
        elif self._small is None and int(digits) >= _HUNDRED:
            self._small = line, cell

    @property
    def mark_of_thousands(self) -> str:
        """Return the sign between thousands; empty if the column does not show it."""
        is_shown = self._grouped and self._small and not self._is_open and len(self._marks) == 1
        return next(iter(self._marks)) if is_shown else ""

    def describe(self) -> str:
        """Return what shows the sign between thousands, for the report; empty if nothing does."""
        if not self.mark_of_thousands or not self._grouped or not self._small:
            return ""
        (line, cell), (other, small) = self._grouped, self._small
        return f"signs of thousands ({cell} in row {line} beside {small} in row {other})"


class WholeNumbersOfColumn:
    """Cells of a column that takes whole numbers only, as far as they show what the sign in `1.837` is.

    `1.837` can only be 1837 there. `1.000` can be one: it is a thousand if another cell shows thousands, or has fewer
    digits and no decimals, while none of four digits lacks the sign.
    """

    def __init__(self) -> None:
        self._grouped: tuple[int, str] | None = None
        self._is_shown = False
        self._has_long = False
        """True if a number above a thousand has no sign."""
        self._has_decimals = False

    def see(self, line: int, bare: str) -> None:
        """Keep what a number without currency shows."""
        digits = bare.lstrip("+-")
        if _GROUPED.fullmatch(bare):
            self._is_shown = self._is_shown or not bare.endswith("000")
            self._grouped = self._grouped or (line, bare)
        elif not digits.isdecimal():
            self._has_decimals = True
        elif int(digits) >= _THOUSAND:
            self._has_long = True
        elif int(digits):
            self._is_shown = True

    def is_thousands(self, bare: str) -> bool:
        """Return True if the sign in a number of this form stands between thousands."""
        return not self._has_decimals and (not bare.endswith("000") or (self._is_shown and not self._has_long))

    def describe(self) -> str:
        """Return what is read as thousands, for the report; empty if nothing is."""
        if not self._grouped or not self.is_thousands(self._grouped[1]):
            return ""
        line, cell = self._grouped
        return f"signs of thousands in whole numbers ({cell} in row {line} is {re.sub('[.,]', '', cell)})"


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
_FRACTIONS = "¼½¾⅕⅖⅗⅘⅛⅜⅝⅞"
"""Signs of fractions that have few decimals."""
_FRACTION = re.compile(rf"([+-]?)(\d*)[{_BLANKS}]*([{_FRACTIONS}])", re.ASCII)
_MINUS_SIGNS = dict.fromkeys(map(ord, "\u2010\u2011\u2212\ufe63\uff0d"), "-")
"""Signs of print for a minus."""
_OUTER_BLANKS = " \t\r\n\u00a0\u2007\u202f\u200b\u2060\ufeff"


def _without_currency(cell: str) -> str:
    plain = cell if cell.isascii() else cell.translate(_MINUS_SIGNS)
    return CURRENCY.sub("", plain).strip(_OUTER_BLANKS + CURRENCY_SIGNS)


def with_cents(cell: str) -> str:
    """Return an amount with its currency and zeros for a dash in the place of cents: `€ 12,-` is `€ 12,00`.

    Without a currency the dash may be a minus, and the cell is returned as it is.
    """
    return _NO_CENTS.sub(r"\g<1>00", cell) if currency_of(cell) else cell


def cents_alone(cell: str) -> str:
    """Return an amount below one of which a dash stands before the mark (`-.95`), with a zero; empty if it is none."""
    found = _DASH_AND_CENTS.fullmatch(_without_currency(cell))
    return f"0{found[1]}" if found else ""


def fraction_value(bare: str) -> str:
    """Return a number with the sign of a fraction (`2½`) as decimals with a point; empty for other numbers."""
    found = None if bare.isascii() else _FRACTION.fullmatch(bare)
    return f"{found[1]}{Decimal(found[2] or 0) + Decimal(str(unicodedata.numeric(found[3])))}" if found else ""


def number_changes(cell: str, value: str) -> list[str]:
    """Return what was changed in a cell to read it as this number, as texts for the report."""
    bare = _without_currency(cell)
    inside = bare.removesuffix("-").rstrip(_OUTER_BLANKS)
    signs = len(re.findall(r"[^\d+-]", inside, re.ASCII)) - (POINT in value)
    said = [f"currency {currency} taken off"] if (currency := currency_of(cell)) else []
    said += ["minus of print made -"] if cell != cell.translate(_MINUS_SIGNS) else []
    if fraction_value(bare):
        return [*said, "the sign of a fraction made decimals"]
    said += ["zeros before the number taken off"] if re.match(r"[+-]?0\d", bare, re.ASCII) else []
    said += ["minus behind the number put before it"] if _MINUS_BEHIND.fullmatch(bare) else []
    said += ["0 put before the decimal mark"] if _NO_ZERO.fullmatch(bare) else []
    return said + (["separators of thousands taken out"] if signs > 0 else [])


_SHARE = re.compile(r"[^%]*%")
_IN_BRACKETS = re.compile(r"\(\s*([\d.,]+)\s*\)", re.ASCII)
_SHORTENED = re.compile(r"[+-]?\d*[.,]?\d*E[+-]?\d+", re.IGNORECASE | re.ASCII)
_QUANTITY_AND_UNIT = re.compile(
    r"([+-]?[\d.,'\u2019\s]*[\d¼-¾⅐-⅞])\s*([^\W\d_¼-¾⅐-⅞][^\d%]*|[^\W\d_]+[23\u00b2\u00b3])"
)
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


def decimal_mark(bare: str) -> str:
    """Return the only possible decimal mark of a number; empty if it is ambiguous or no number."""
    return next((mark for mark, sure in _UNAMBIGUOUS_NUMBERS.items() if any(one.fullmatch(bare) for one in sure)), "")


def to_decimal_point(bare: str, decimal: str) -> str:
    group = COMMA if decimal == POINT else POINT
    return bare.replace(group, "").replace(decimal, POINT)
