"""GS1 element strings: what a GS1-128, DataMatrix, DataBar or QR code carries besides the number of the thing.

The application identifiers that goods carry every day are split here; biip knows all the others, and digital links. It
takes 60 ms and 18 MB to load, so it is asked only when one of them turns up.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from aisle.scan.codes import check_digit, checks
from aisle.tuples import NamedTuple

GS: Final = "\x1d"
"""What scanners send for FNC1."""

_PLACES: Final = {"00": 18, "01": 14, "02": 14, "11": 6, "12": 6, "13": 6, "15": 6, "16": 6, "17": 6, "20": 2}
_MEASURES: Final = re.compile(r"3[1-6]\d\d")
_OPEN_ENDED: Final = re.compile(r"10|21|22|30|37|24[01]|250|39[0-3]\d")
_NET: Final = ("310", "311", "314", "315", "316", "320")
"""Net weight in kg, length in m, area in m², volume in l and m³, weight in lb: what goods are sold by."""
_PRICES: Final = ("390", "391", "392", "393")
_LONGEST: Final = {"30": 8, "37": 8, "390": 15, "391": 18, "392": 15, "393": 18}
"""Digits of a count and of a price at most: of more, something else has run into it, or it was misread."""
_HRI: Final = re.compile(r"\((\d{2,4})\)([^(]+)")
_ENVELOPE: Final = re.compile(r"\[\)>\x1e05\x1d(.*?)[\x1e\x04]*", re.DOTALL)
_LINK: Final = re.compile(r"/(?:01|gtin|00|sscc)/\d")
_BARE: Final = re.compile(r"0[12]\d{14}|00\d{18}")


class Carried(NamedTuple):
    """What an element string says; empty and None where it says nothing."""

    gtin: str = ""
    """14 digits: of the thing itself (AI 01) or of what a logistic unit holds (AI 02)."""
    sscc: str = ""
    """18 digits."""
    pieces: Decimal | None = None
    """AI 30 or 37."""
    measure: Decimal | None = None
    """Net weight, length, area or volume, in the unit of its application identifier: kg, m, m², l, m³, lb."""
    price: Decimal | None = None
    """In whatever currency the label is in (AI 390 to 393)."""
    batch: str = ""
    expiry: str = ""
    """YYYY-MM-DD (AI 17, else best before, AI 15)."""


def looks_like(text: str) -> bool:
    """Whether a code without an AIM prefix may be an element string."""
    if GS in text or text[:1] == "(" or text[:4] in ("http", "HTTP"):
        return True
    bare = _BARE.match(text)
    return bare is not None and check_digit(bare.group()[2:-1]) == bare.group()[-1]


def carried(text: str, sure: bool = False) -> Carried | None:
    """What `text` carries, None when it names neither a GTIN nor an SSCC.

    `sure`: the scanner said that it is GS1 data; then what cannot be read at its end is left out. Otherwise the text is
    GS1 data only if all of it can be read and its check digits are right.
    """
    found, whole = elements(text)
    values = {ai: value for ai, value in found.items() if len(value) <= _LONGEST.get(ai[:3], len(value))}
    whole = whole and len(values) == len(found)
    gtin, sscc = values.get("01") or values.get("02", ""), values.get("00", "")
    if not (gtin or sscc):
        return None
    right = (not gtin or checks(gtin)) and (not sscc or check_digit(sscc[:-1]) == sscc[-1])
    if not sure and not (whole and right):
        return None
    return Carried(
        gtin=gtin,
        sscc=sscc,
        pieces=_whole(values.get("30") or values.get("37", "")),
        measure=_decimal(values, _NET),
        price=_decimal(values, _PRICES),
        batch=values.get("10", ""),
        expiry=_date(values.get("17") or values.get("15", "")),
    )


def elements(text: str) -> tuple[dict[str, str], bool]:
    """Application identifier → value, and whether the text was read to its end."""
    if text[:4].lower() == "http":
        return _link(text) if _LINK.search(text) else ({}, False)
    if text[:1] == "(":
        found = _HRI.findall(text)
        return _first(found), sum(len(ai) + len(value) + 2 for ai, value in found) == len(text)
    envelope = _ENVELOPE.fullmatch(text)
    return _split(envelope.group(1) if envelope else text)


def _first(found: list[tuple[str, str]]) -> dict[str, str]:
    """The first of each; a repeated one is a scanner's stutter."""
    return dict(reversed(found))


def _split(text: str) -> tuple[dict[str, str], bool]:
    found: list[tuple[str, str]] = []
    rest = text.lstrip(GS)
    while rest:
        element = _element(rest) or (_element_by_biip(rest) if rest[:2].isdigit() else None)
        if element is None:
            break
        found.append(element)
        rest = rest[len(element[0]) + len(element[1]) :].lstrip(GS)
    return _first(found), not rest


def _element(rest: str) -> tuple[str, str] | None:
    """The first element of a message, if its identifier is an everyday one and its value fits."""
    ai, places = rest[:2], _PLACES.get(rest[:2])
    if places is None and (measure := _MEASURES.match(rest)):
        ai, places = measure.group(), 6
    if places is not None:
        value = rest[len(ai) : len(ai) + places]
        return (ai, value) if len(value) == places and value.isascii() and value.isdigit() else None
    if open_ended := _OPEN_ENDED.match(rest):
        ai = open_ended.group()
        value = rest[len(ai) :].split(GS, 1)[0]
        return (ai, value) if value else None
    return None


def _element_by_biip(rest: str) -> tuple[str, str] | None:
    from biip import ParseConfig, ParseError
    from biip.gs1_element_strings import GS1ElementString

    try:
        element = GS1ElementString.extract(rest, config=ParseConfig(gs1_element_strings_verify_date=False))
    except ParseError:
        return None
    return element.ai.ai, element.value


def _link(uri: str) -> tuple[dict[str, str], bool]:
    """The elements of a GS1 digital link, the web address in a QR code on a product."""
    from biip import ParseConfig, ParseError
    from biip.gs1_digital_link_uris import GS1DigitalLinkURI

    try:
        link = GS1DigitalLinkURI.parse(uri, config=ParseConfig(gs1_element_strings_verify_date=False))
    except (ParseError, ValueError):
        return {}, False
    return _first([(element.ai.ai, element.value) for element in link.element_strings]), True


def _whole(value: str) -> Decimal | None:
    return Decimal(value) if value.isascii() and value.isdigit() and int(value) else None


def _decimal(values: dict[str, str], kinds: tuple[str, ...]) -> Decimal | None:
    """The first of these amounts; the last digit of its identifier says how many of its digits are decimals."""
    for ai, value in values.items():
        if ai[:3] in kinds:
            digits = value[3:] if ai[:3] in ("391", "393") else value  # these begin with a currency
            amount = _whole(digits)
            return None if amount is None else amount.scaleb(-int(ai[3]))
    return None


def _date(value: str) -> str:
    """YYMMDD as an ISO date, always in this century; day 00 is the last of its month. Empty if it is no date."""
    if len(value) != 6 or not (value.isascii() and value.isdigit()):
        return ""
    year, month, day = 2000 + int(value[:2]), int(value[2:4]), int(value[4:])
    try:
        if day:
            return date(year, month, day).isoformat()
        next_month = date(year, month, 28) + timedelta(days=4)
        return (next_month - timedelta(days=next_month.day)).isoformat()
    except ValueError:
        return ""
