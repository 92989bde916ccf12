"""Amounts of money in a file: their currencies, and marks that can only be those of thousands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

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
IDR: IDR
ISK: ISK
VND: ₫ VND
CLP: CLP
"""
CURRENCY_NAMES = {
    form: name
    for name, _, forms in (line.partition(": ") for line in _CURRENCY_FORMS.strip().splitlines())
    for form in forms.split()
} | {"RM": "MYR", "Rp": "IDR", "Rp.": "IDR", "Rs": "INR", "Rs.": "INR"}
"""Currencies that may stand beside an amount, by their sign or name."""
CURRENCY_SIGNS = "".join(form for form in CURRENCY_NAMES if unicodedata.category(form[0]) == "Sc")
_BEFORE_ONLY = ("RM", "Rp", "Rp.", "Rs", "Rs.")
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
