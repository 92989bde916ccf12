"""GS1 element strings: what a GS1-128, DataMatrix, DataBar or QR code carries besides the number of the thing.

A message is read as a whole or not at all: what is left out of it could be how many there are. biip reads digital
links alone; it takes 60 ms and 18 MB to load, so it is asked only when one of them turns up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from aisle.code_forms import check_digit, checks
from aisle.scan.faults import BROKEN, NO_SEPARATOR
from aisle.scan.identifiers import identifier_at, iso_date
from aisle.scan.meaning import Measure
from aisle.scan.separators import GS, begins_message, substitutes_in, with_separators, without_lead
from aisle.tuples import NamedTuple

_UNITS: Final = {
    "310": "kg",
    "311": "m",
    "314": "m2",
    "315": "l",
    "316": "m3",
    "320": "lb",
    "321": "in",
    "322": "ft",
    "323": "yd",
    "350": "in2",
    "351": "ft2",
    "352": "yd2",
    "356": "ozt",
    "357": "oz",
    "360": "qt",
    "361": "gal",
    "364": "in3",
    "365": "ft3",
    "366": "yd3",
}
"""Net weight, length, area and volume, which goods are sold by, with their units. Gross weights, widths, depths and all
measures of logistic units (33nn, 34nn, 353 to 355, 362, 363, 367 to 369) are none of them."""
_PRICES: Final = ("390", "391", "392", "393")
_CURRENCY: Final = ("391", "393")
"""Of those the ones that begin with a currency."""
_MEASURED: Final = ("31", "32", "33", "34", "35", "36", "39")
"""What identifiers of measures of any kind begin with, and those of prices."""
_PER_MEASURE: Final = ("8005",)
"""Price of one unit of measure."""
_HRI: Final = re.compile(r"\((\d{2,4})\)\s*([^(]+)")
_ENVELOPE: Final = re.compile(r"\[\)>\x1e05\x1d(.*?)[\x1e\x04]*", re.DOTALL)
_LINK: Final = re.compile(r"/(?:01|gtin|00|sscc)/\d")
_LINK_WORDS: Final = {"gtin": "01", "sscc": "00", "cpv": "22", "lot": "10", "ser": "21", "exp": "17"}
"""Words that older digital links have in place of identifiers."""
_LINK_WORD: Final = re.compile(r"(?<=[/?&])(gtin|sscc|cpv|lot|ser|exp)(?=[/=])")
_SHORT_GTIN: Final = re.compile(r"(?<=/01/)(\d{8}|\d{12,13})(?=[/?]|$)", re.ASCII)
"""A GTIN of a digital link without its leading zeros."""
_BARE: Final = re.compile(r"0[12]\d{14}|00\d{18}")
_COUNTS: Final = ("30", "37")
"""Identifiers of how many pieces there are."""
_DATES: Final = ("11", "12", "13", "15", "16", "17")
_ONE_OF_RUN: Final = re.compile(r"(1[1-35-7])([2-4]\d{5})|(3[1-6]\d)[0-5](\d{6})|(3[07])(\d{1,8})", re.ASCII)
"""One of the dates, measures and counts that may be the end of a lot, or follow it without a separator."""


class Message(NamedTuple):
    """What a text says as GS1 data."""

    values: dict[str, str]
    """Application identifier → value, the first of each."""
    fault: str = ""
    """Why it cannot be read to its end, as a message id; empty where it can."""
    substitute: str = ""
    """What stood in it for the group separator, where that is no separator itself."""

    @property
    def is_whole(self) -> bool:
        """Whether it was read to its end."""
        return not self.fault


class Carried(NamedTuple):
    """What an element string says; empty and None where it says nothing."""

    gtin: str = ""
    """14 digits: of the thing itself (AI 01) or of what a logistic unit holds (AI 02)."""
    sscc: str = ""
    """18 digits."""
    pieces: Decimal | None = None
    """AI 30 or 37."""
    measures: tuple[Measure, ...] = ()
    """Net weight, length, area or volume, each in the unit of its application identifier."""
    has_no_net: bool = False
    """It has a measure, gross or logistic, or the price of one unit of measure, and neither a net quantity nor a
    price of the whole. Or its lot ends in what may be a net measure that no separator parts from it."""
    price: Decimal | None = None
    """In whatever currency the label is in (AI 390 to 393)."""
    batch: str = ""
    expiry: str = ""
    """YYYY-MM-DD (AI 17, else best before, AI 15)."""


def looks_like(text: str) -> bool:
    """Whether a code without an AIM prefix may be an element string."""
    if GS in text or text[:1] == "(" or text[:4] in ("http", "HTTP") or _is_bare(text):
        return True
    return text[:2].isdigit() and next(substitutes_in(text), "") != ""


def _is_bare(text: str) -> bool:
    """Whether it begins with the identifier of a GTIN or SSCC, and that with a right check digit."""
    bare = _BARE.match(without_lead(text))
    return bare is not None and check_digit(bare.group()[2:-1]) == bare.group()[-1]


def fault_of(text: str, sure: bool = False) -> str:
    """Why GS1 data is refused, as a message id; empty where it can be read, and where it is no GS1 data."""
    if not sure and not _is_bare(text) and not (text[:1] == "(" and begins_message(text)):
        return ""
    return message(text).fault


def carried(text: str, sure: bool = False) -> Carried | None:
    """What `text` carries, None when it names neither a GTIN nor an SSCC or cannot be read to its end.

    `sure`: the scanner said that it is GS1 data. Otherwise its check digits have to be right, too.
    """
    values, fault, _ = found = message(text)
    gtin, sscc = values.get("01") or values.get("02", ""), values.get("00", "")
    if fault or not (gtin or sscc):
        return None
    if not sure and not ((not gtin or checks(gtin)) and (not sscc or check_digit(sscc[:-1]) == sscc[-1])):
        return None
    measures, price = _measures(values), _price(values)
    is_measured = any(ai[:2] in _MEASURED or ai in _PER_MEASURE for ai in values)
    is_measured = is_measured or any(ai in _UNITS for run in _run_on(text, found) for ai in run)
    return Carried(
        has_no_net=is_measured and not measures and price is None,
        gtin=gtin,
        sscc=sscc,
        pieces=_whole(values.get("30") or values.get("37", "")),
        measures=measures,
        price=price,
        batch=values.get("10", ""),
        expiry=iso_date(values.get("17") or values.get("15", "")),
    )


def message(text: str) -> Message:
    """Reads the text as GS1 data; a count of zero pieces is a damaged label."""
    found = _message(text)
    is_none = any(not found.values[ai].strip("0") for ai in _COUNTS if ai in found.values)
    if is_none and found.is_whole:
        return found._replace(fault=BROKEN)
    return found._replace(fault=NO_SEPARATOR) if _runs_on(text, found) else found


def _runs_on(text: str, found: Message) -> bool:
    """Whether a quantity stands at the end of a lot, or of another value without a separator, beyond doubt.

    Lots that end like a count (`L3012`) are common, so one is taken for a count only where the label would be wrong
    without: AI 02 needs AI 37, and the GTIN of a trade item whose quantity varies, which begins with 9, needs a measure
    or AI 30. A date and a quantity in a row are no lot either.
    """
    values = found.values
    needs_count = ("02" in values and "37" not in values) or values.get("01", "").startswith("9")
    if needs_count and (_measures(values) or not values.keys().isdisjoint(_COUNTS)):
        needs_count = False
    count = "37" if "02" in values else "30"
    return any(
        (needs_count and count in run) or (not run.isdisjoint(_DATES) and not run.isdisjoint((*_COUNTS, *_UNITS)))
        for run in _run_on(text, found)
    )


def _run_on(text: str, found: Message) -> Iterator[frozenset[str]]:
    """The identifiers of every row of values that the last value of an element string may end in; none where it has
    separators. Those of measures without their last digit."""
    if not found.is_whole or found.substitute or GS in text or not text[-1:].isdigit() or text[:1] in ("(", "h", "H"):
        return
    ai, value = next(reversed(found.values.items()), ("", ""))
    known = identifier_at(ai)
    if known is None or known.is_predefined or ai in _COUNTS:
        return
    yield from (run for run in _read_runs(value) if run.isdisjoint(found.values))


def _read_runs(value: str) -> set[frozenset[str]]:
    """The sets of identifiers of all rows of dates, measures and counts that a value may end in; each of its ends is
    read once, for there are many ways to cut a long one."""
    ends: list[set[frozenset[str]]] = [set() for _ in value] + [{frozenset()}]
    for at in range(len(value) - 1, 0, -1):
        for end in range(at + 3, min(at + 10, len(value)) + 1):
            if ends[end] and (ai := _one_of_run(value[at:end])):
                ends[at] |= {rest | {ai} for rest in ends[end]}
    return set().union(*ends[1:-1])


def _one_of_run(text: str) -> str:
    """The identifier of a whole date, measure or count that is not zero; empty where the text is none."""
    one = _ONE_OF_RUN.fullmatch(text)
    if one is None or (one[1] and not iso_date(one[2])) or not (one[2] or one[4] or one[6]).strip("0"):
        return ""
    return one[1] or one[3] or one[5]


def _message(text: str) -> Message:
    """The text as a digital link, as printed in brackets, or as an element string with separators or what some scanners
    send for them."""
    if text[:4].lower() == "http":
        return _link(text) if _LINK.search(text) else Message({}, BROKEN)
    if text[:1] == "(" and text[1:2].isdigit():
        return _printed(text)
    if envelope := _ENVELOPE.fullmatch(text):
        return _split(envelope.group(1))
    bare = without_lead(text)
    substitutes = tuple(substitutes_in(bare))
    ways = [_split(with_separators(bare, substitute))._replace(substitute=substitute) for substitute in substitutes]
    whole = [way for way in ways if way.is_whole and not way.values.keys().isdisjoint(("00", "01", "02"))]
    if any(way.values != whole[0].values for way in whole):
        return whole[0]._replace(fault=NO_SEPARATOR)  # `~029` may be a substitute, or `~` and a GTIN of AI 02
    if whole:
        return whole[0]
    found = _split(bare)
    return found._replace(fault=NO_SEPARATOR) if found.fault and substitutes else found


def _printed(text: str) -> Message:
    """What stands below a bar code, its identifiers in brackets."""
    found = [(ai, value.replace(" ", "")) for ai, value in _HRI.findall(text)]
    is_all = "".join(f"({ai}){value}" for ai, value in found) == text.replace(" ", "")
    fits = all((known := identifier_at(ai)) and known.ai == ai and known.takes(value) for ai, value in found)
    return Message(_first(found), "" if found and is_all and fits and not _is_twice(found) else BROKEN)


def _split(text: str) -> Message:
    """An element string, identifier by identifier."""
    found: list[tuple[str, str]] = []
    rest = text.lstrip(GS)
    while rest:
        known = identifier_at(rest)
        if known is None:
            is_sign = found and GS not in text and not rest[:1].isdigit()
            return Message(_first(found), NO_SEPARATOR if is_sign else BROKEN)
        body = rest[len(known.ai) :]
        value = body.split(GS, 1)[0]
        if known.is_predefined:
            value = value[: known.longest]
        if not known.takes(value):
            runs_on = not known.is_predefined and GS not in text and known.begins(value)
            return Message(_first(found), NO_SEPARATOR if runs_on else BROKEN)
        found.append((known.ai, value))
        rest = body[len(value) :].lstrip(GS)
    return Message(_first(found), BROKEN if _is_twice(found) else "")


def _first(found: list[tuple[str, str]]) -> dict[str, str]:
    """The first value of each identifier, in the order of the label."""
    values: dict[str, str] = {}
    for ai, value in found:
        values.setdefault(ai, value)
    return values


def _is_twice(found: list[tuple[str, str]]) -> bool:
    """Whether an identifier is there with two values: two labels in one scan, or a damaged one. The same value twice is
    a repetition of the scanner."""
    different = {(_kind(ai), ai, value) for ai, value in found}
    return len({kind for kind, _, _ in different}) < len(different)


def _kind(ai: str) -> str:
    """What an identifier names, without the digit that says how many decimals follow."""
    return ai[:3] if ai[:3] in _UNITS or ai[:3] in _PRICES else ai


def _link(uri: str) -> Message:
    """The elements of a GS1 digital link, the web address in a QR code on a product; older ones have words in it, and
    GTINs without leading zeros."""
    from biip import ParseConfig, ParseError
    from biip.gs1_digital_link_uris import GS1DigitalLinkURI

    try:
        uri = _LINK_WORD.sub(lambda word: _LINK_WORDS[word[0]], uri)
        uri = _SHORT_GTIN.sub(lambda gtin: gtin[0].rjust(14, "0"), uri)
        link = GS1DigitalLinkURI.parse(uri, config=ParseConfig(gs1_element_strings_verify_date=False))
    except (ParseError, ValueError):
        return Message({}, BROKEN)
    found = [(element.ai.ai, element.value) for element in link.element_strings]
    fits = all((known := identifier_at(ai)) and known.takes(value) for ai, value in found)
    return Message(_first(found), "" if fits else BROKEN)


def _whole(value: str) -> Decimal | None:
    return Decimal(value) if value.isascii() and value.isdigit() and int(value) else None


def _measures(values: dict[str, str]) -> tuple[Measure, ...]:
    """Each net measure; the last digit of its identifier says how many of its digits are decimals."""
    found = ((ai, _whole(value)) for ai, value in values.items() if ai[:3] in _UNITS)
    return tuple(Measure(amount.scaleb(-int(ai[3])), _UNITS[ai[:3]]) for ai, amount in found if amount is not None)


def _price(values: dict[str, str]) -> Decimal | None:
    for ai, value in values.items():
        if ai[:3] in _PRICES:
            amount = _whole(value[3:] if ai[:3] in _CURRENCY else value)
            return None if amount is None else amount.scaleb(-int(ai[3]))
    return None
