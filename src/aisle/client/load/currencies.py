"""Currencies that may stand beside an amount of money in a file."""

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
