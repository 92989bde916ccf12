"""GS1 data: separators, application identifiers, element strings, digital links, printed labels."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from aisle.barcode_numbers import check_digit, has_valid_check_digit
from aisle.scan.grammar_and_meaning_types import DAMAGED_GS1, MISSING_SEPARATOR, Measure

GROUP_SEPARATOR: Final = "\x1d"
"""Character that scanners send for FNC1."""

KEY_MARK: Final = "\x1c"
"""Mark in a line for a key or control that came inside it at scanner pace."""

F8_SEQUENCE: Final = "\x1b[19~"
"""Sequence of the key F8, which some scanners send for FNC1."""

_SEPARATOR_NAMES: Final = (
    "^[[19~", "[19~", "<FNC1>", "{FNC1}", "[FNC1]", "FNC1", "<0x1D>", "{0x1D}", "[0x1D]", "<1D>", "{1D}", "[1D]", "%1D",
    "<GS>", "{GS}", "[GS]", "(GS)", "<F8>", "{F8}", "[F8]", "<F1>", "{F1}", "[F1]", "Alt+029", "Alt029",
    "<29>", "{29}", "[29]", "~d029", "~029", "^029", "^029^", "^]", "␝", "↔", "\\x1d", "\\u001d", "\\u{1d}", "\\035",
    "\\029", "\\29", "\\F", "_x001D_", "&#29;", "&#029;", "&#x1d;", "\x1c", "\x1e", "\x1f",
)  # fmt: skip
_SEPARATOR_SIGNS: Final = "~|^#@$\\`{}[]§¶¦¬€£¤°¨µ "
"""Signs that occur in no GS1 data, except `#` in one rare identifier."""

_ALL_SUBSTITUTES: Final = tuple(dict.fromkeys((*sorted(_SEPARATOR_NAMES, key=len, reverse=True), *_SEPARATOR_SIGNS)))
_LEADING_SEPARATORS: Final = [sign for sign in (GROUP_SEPARATOR, *_ALL_SUBSTITUTES) if not sign[-1].isdigit()]
_LEADING_SEPARATOR: Final = re.compile(
    rf"(?:{'|'.join(map(re.escape, _LEADING_SEPARATORS))})+(?=\d\d)", re.IGNORECASE | re.ASCII
)
"""Names that end with a digit are left out, because that digit may begin an identifier."""

_MESSAGE_START: Final = re.compile(
    r"\??(?:[\d.,]{1,8}\*)?(?:\d{0,4}\](?:C1|d2|Q3|e0|J1)|(?:\d{0,4}\][A-Za-z]\w)?(?:0[12]\d{14}|00\d{18}|\(0[012]\)))",
    re.ASCII,
)


def find_substitutes(text: str) -> Iterator[str]:
    """Yield every known substitute of the separator in a text, longest first; none if it has a real one."""
    if GROUP_SEPARATOR in text:
        return
    folded = text.casefold()
    for sign in _ALL_SUBSTITUTES:
        if sign.casefold() in folded:
            yield sign


def replace_substitute(text: str, substitute: str) -> str:
    """Return the text with real separators for this substitute, in any case."""
    return re.sub(re.escape(substitute), GROUP_SEPARATOR, text, flags=re.IGNORECASE)


def begins_gs1_message(text: str) -> bool:
    """Return whether the beginning of a line is GS1 data in which a separator may follow."""
    return _MESSAGE_START.match(text) is not None


def has_separator(text: str) -> bool:
    """Return whether a line is GS1 data with a separator or a substitute: its scanner sends them."""
    return begins_gs1_message(text) and (GROUP_SEPARATOR in text or next(find_substitutes(text), "") != "")


def strip_leading_separator(text: str) -> str:
    """Return the text without a separator or substitute before its first identifier."""
    lead = _LEADING_SEPARATOR.match(text)
    return text[lead.end() :] if lead else text


def split_fields(text: str) -> list[str]:
    """Return the fields of a format of ISO/IEC 15434, each after the same separator or substitute; none without one.

    A blank is no substitute here, because fields contain blanks.
    """
    text = _fields_of_format(text)
    signs = (each for each in (GROUP_SEPARATOR, *_ALL_SUBSTITUTES) if each != " ")
    sign = next((each for each in signs if text[: len(each)].casefold() == each.casefold()), "")
    return [field for field in replace_substitute(text, sign).split(GROUP_SEPARATOR) if field] if sign else []


_CHARACTER_SET_82: Final = r"[!-\"%-?A-Z_a-z]"
"""The 82 characters of GS1 data."""
_CHARACTER_SET_39: Final = r"[#\-/0-9A-Z]"
_CHARACTER_SET_64: Final = r"[\-0-9=A-Z_a-z]"
_CHARACTER_CLASSES: Final = {
    "N": r"[0-9]",
    "X": _CHARACTER_SET_82,
    "Y": _CHARACTER_SET_39,
    "Z": _CHARACTER_SET_64,
    "D": r"[0-9]",
    "M": r"[0-9]",
}
"""Character classes of the formats. `X..20` is one to 20 characters, `X?17` none to 17.

D is a date YYMMDD, with day 00 for a whole month; M is a date followed by a time or a second date.
"""

_FORMATS: Final = """
00 N18|01 N14|02 N14|03 N14|10 X..20|11 D6|12 D6|13 D6|15 D6|16 D6|17 D6|20 N2|21 X..20|22 X..20|235 X..28|240 X..30
241 X..30|242 N..6|243 X..20|250 X..30|251 X..30|253 N13 X?17|254 X..20|255 N13 N?12|30 N..8|37 N..8
31[0-6][0-5] N6|32[0-9][0-5] N6|33[0-7][0-5] N6|34[0-9][0-5] N6|35[0-7][0-5] N6|36[0-9][0-5] N6
390[0-9] N..15|391[0-9] N3 N..15|392[0-9] N..15|393[0-9] N3 N..15|394[0-3] N4|395[0-5] N6
400 X..30|401 X..30|402 N17|403 X..30|41[0-7] N13|420 X..20|421 N3 X..9|422 N3|423 N3 N?12|424 N3|425 N3 N?12|426 N3
427 X..3|430[01] X..35|430[2-6] X..70|4307 X2|4308 X..30|4309 N20|431[01] X..35|431[2-6] X..70|4317 X2|4318 X..20
4319 X..30|4320 X..35|432[123] N1|432[45] M10|4326 D6|433[0-3] N6 X?1|7001 N13|7002 X..30|7003 M10|7004 N..4|7005 X..12
7006 D6|7007 M6 N?6|7008 X..3|7009 X..10|7010 X..2|7011 M6 N?4|702[012] X..20|7023 X..30|703[0-9] N3 X..27|7040 N1 X3
7041 X..4|71[0-7] X..20|723[0-9] X2 X..28|7240 X..20|7241 N2|7242 X..25|7250 N8|7251 N12|7252 N1|7253 X..40|7254 X..40
7255 X..10|7256 X..90|7257 X..70|7258 X3|7259 X..40|8001 N14|8002 X..20|8003 N14 X?16|8004 X..30|8005 N6|8006 N18
8007 X..34|8008 N8 N?4|8009 X..50|8010 Y..30|8011 N..12|8012 X..20|8013 X..25|8014 X..25|8017 N18|8018 N18|8019 N..10
8020 X..25|8026 N18|8030 Z..90|8040 N15|8041 N15|8042 N32|8043 N18 N?2|8110 X..70|8111 N4|8112 X..70|8200 X..70
90 X..30|91 X..90|92 X..90|93 X..90|94 X..90|95 X..90|96 X..90|97 X..90|98 X..90|99 X..90
"""

_FIXED_LENGTH_PREFIXES: Final = frozenset(f"{number:02}" for number in (*range(5), *range(11, 21), *range(31, 37), 41))
"""First two digits of the identifiers whose values need no separator."""
_FORMAT_PART: Final = r"([NXYZDM])(\d+)?(?:(\.\.|\?)(\d+))?"


_FORMATS_BY_DIGITS: Final[dict[str, list[tuple[str, str]]]] = {}
"""Identifiers by their first two digits: pattern of the identifier, and format of its value."""

for _row in _FORMATS.replace("\n", "|").split("|"):
    _ai, _, _value = _row.partition(" ")
    _FORMATS_BY_DIGITS.setdefault(_ai[:2], []).append((_ai, _value))


def _compile_format(value: str) -> tuple[re.Pattern[str], int]:
    """Return the pattern of a value and its greatest length."""
    pattern, most = "", 0
    for kind, all_, range_mark, most_ in re.findall(_FORMAT_PART, value):
        last = int(most_ or all_)
        pattern += f"{_CHARACTER_CLASSES[kind]}{{{all_ or int(range_mark != '?')},{last}}}"
        most += last
    return re.compile(pattern), most


class ApplicationIdentifier:
    """One application identifier at the beginning of a message."""

    __slots__ = ("_is_date", "_value", "ai", "has_fixed_length", "max_length")

    def __init__(self, ai: str, value: re.Pattern[str], max_length: int, is_date: bool) -> None:
        self.ai = ai
        self.max_length = max_length
        """Greatest length of its value."""
        self.has_fixed_length = ai[:2] in _FIXED_LENGTH_PREFIXES
        """True if its value has one length and needs no separator."""
        self._value = value
        self._is_date = is_date

    def accepts(self, value: str) -> bool:
        """Return whether a value has a valid length, characters and date."""
        if not self._value.fullmatch(value):
            return False
        return not self._is_date or bool(parse_gs1_date(value[:6]))

    def may_begin_with(self, value: str) -> bool:
        """Return whether a value may end inside this text, so that the rest belongs to the next identifier."""
        longest = min(self.max_length, len(value) - 1)
        return any(self.accepts(value[:length]) for length in range(longest, 0, -1))


def find_identifier(text: str) -> ApplicationIdentifier | None:
    """Return the application identifier at the beginning of a message; None if there is none."""
    return _find_identifier(text[:4])


@lru_cache(maxsize=512)
def _find_identifier(head: str) -> ApplicationIdentifier | None:
    for ai, value in _FORMATS_BY_DIGITS.get(head[:2], ()):
        if found := re.match(ai, head):
            return ApplicationIdentifier(found.group(), *_compile_format(value), value[0] in "DM")
    return None


def parse_gs1_date(value: str) -> str:
    """Return YYMMDD as an ISO date of this century; day 00 is the last of the month. Empty for no date."""
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


_AIM_PREFIX: Final = re.compile(r"\][A-Za-z]\d")
_EXPIRY_IDENTIFIERS: Final = ("17", "7003", "15", "16")
"""Identifiers of dates after which goods are not sold, best first."""


def _parse_expiry(values: Mapping[str, str]) -> str:
    """Return the first such date; a time after it is left out."""
    return next((parse_gs1_date(values[ai][:6]) for ai in _EXPIRY_IDENTIFIERS if ai in values), "")


def parse_expiry_label(text: str) -> str:
    """Return the expiry date of a label that has dates alone (`17261214`, `(17)261214`); empty for any other text."""
    message = parse_message(_AIM_PREFIX.sub("", text.strip()))
    has_dates_alone = bool(message.values) and all(ai in _DATE_IDENTIFIERS for ai in message.values)
    return _parse_expiry(message.values) if has_dates_alone and not message.fault else ""


def nearest_century(day: date, today: date) -> date:
    """Return a date of a label in its century: 51 to 99 years ahead is the past one, 50 to 99 years ago the next one.

    GS1 General Specifications, 7.12.
    """
    ahead = day.year - today.year
    return day.replace(year=day.year + (-100 if ahead > 50 else 100 if ahead < -49 else 0))


_UNIT_BY_IDENTIFIER: Final = {
    "310": "kg", "311": "m", "314": "m2", "315": "l", "316": "m3", "320": "lb", "321": "in", "322": "ft", "323": "yd",
    "350": "in2", "351": "ft2", "352": "yd2", "356": "ozt", "357": "oz", "360": "qt", "361": "gal", "364": "in3",
    "365": "ft3", "366": "yd3",
}  # fmt: skip
"""Units of net weight, length, area and volume, by which goods are sold.

Gross weights, widths, depths and all measures of logistic units (33nn, 34nn, 353 to 355, 362, 363, 367 to 369) are
excluded.
"""
_PRICE_IDENTIFIERS: Final = ("390", "391", "392", "393")
_WITH_CURRENCY: Final = ("391", "393")
"""Price identifiers whose value begins with a currency."""
_MEASURE_PREFIXES: Final = ("31", "32", "33", "34", "35", "36", "39")
"""First digits of the identifiers of measures of any kind and of prices."""
_UNIT_PRICE_IDENTIFIERS: Final = ("8005",)
"""Identifier of the price of one unit of measure."""
_PRINTED_ELEMENT: Final = r"\((\d{2,4})\)\s*([^(]+)"
_ENVELOPE: Final = re.compile(r"\[\)>\W{0,4}05(?=.)", re.DOTALL | re.ASCII)
"""Beginning of a label of ISO/IEC 15434 with GS1 data, from any scanner."""
_RECORD_SEPARATOR: Final = "\x1e"
_FORMAT_END: Final = "\x1d\x1e\x04"
"""End of the data of a label of ISO/IEC 15434: record separator and EOT."""
_DIGITAL_LINK: Final = r"/(?:01|gtin|00|sscc)/\d"
_LINK_WITHOUT_SCHEME: Final = re.compile(
    r"(?ai)[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?/(?:[^?#]*/)?(?:01|gtin|00|sscc)/\d"
)
_WHOLE_ITEM: Final = re.compile(r"(?ai)(?<=/)(?:8006|itip)/(\d{14})0101(?=[/?#]|$)")
"""Piece 1 of 1 of a trade item; any other piece is a part of one."""
_LINK_WORDS: Final = {"gtin": "01", "sscc": "00", "cpv": "22", "lot": "10", "ser": "21", "exp": "17"}
"""Words that older digital links have instead of identifiers."""
_LINK_WORD: Final = r"(?<=[/?&])(gtin|sscc|cpv|lot|ser|exp)(?=[/=])"
_SHORT_GTIN: Final = r"(?a)(?<=/01/)(\d{8}|\d{12,13})(?=[/?]|$)"
"""A GTIN of a digital link without its leading zeros."""
_KEY_ELEMENT: Final = re.compile(r"0[12]\d{14}|00\d{18}")
_LEADING_ELEMENTS: Final = re.compile(r"(?:(?:1[1-35-7]|3[1-6]\d[0-5])\d{6}){1,4}(?=01\d{14})", re.ASCII)
"""Dates and measures before the GTIN of a label."""
_COUNT_IDENTIFIERS: Final = ("30", "37")
"""Identifiers of the number of pieces."""
_DATE_IDENTIFIERS: Final = ("11", "12", "13", "15", "16", "17")
_RUN_ON_ELEMENT: Final = r"(?a)(1[1-35-7])([2-4]\d{5})|(3[1-6]\d)[0-5](\d{6})|(3[07])(\d{1,8})"
"""A date, measure or count that may be the end of a lot, or follow it without a separator."""


class Gs1Message(NamedTuple):
    """A text parsed as GS1 data."""

    values: dict[str, str]
    """First value of each application identifier."""
    fault: str = ""
    """Message id of the reason for which the rest cannot be parsed; empty if all was."""
    substitute: str = ""
    """Substitute of the group separator in the text; empty for a real one."""

    @property
    def is_complete(self) -> bool:
        """True if the text was parsed to its end."""
        return not self.fault


class Gs1Data(NamedTuple):
    """Content of an element string; fields without a value are empty or None."""

    gtin: str = ""
    """GTIN with 14 digits: of the item (AI 01) or of the content of a logistic unit (AI 02)."""
    sscc: str = ""
    """SSCC with 18 digits."""
    pieces: Decimal | None = None
    """Number of pieces (AI 30 or 37)."""
    measures: tuple[Measure, ...] = ()
    """Net weight, length, area or volume, each in the unit of its application identifier."""
    lacks_net_quantity: bool = False
    """True if it has a measure or unit price, but neither a net quantity nor a total price.

    Also True if its lot ends in a possible net measure without a separator.
    """
    price: Decimal | None = None
    """Price in the currency of the label (AI 390 to 393)."""
    batch: str = ""
    expiry: str = ""
    """Date YYYY-MM-DD of this century: expiry (AI 17 or 7003), else best before (AI 15), else sell by (AI 16)."""
    serial: str = ""
    """Serial number of the item (AI 21)."""
    may_hide_count: bool = False
    """True if its last value ends like a number of pieces and the label has no separator."""
    may_hide_expiry: bool = False
    """True if it has no expiry date, its last value ends like one, and the label has no separator."""


def may_be_gs1(text: str) -> bool:
    """Return whether a code without AIM prefix may be an element string."""
    if GROUP_SEPARATOR in text or text[:1] == "(" or text[:4] in ("http", "HTTP") or _begins_with_key(text):
        return True
    if _ENVELOPE.match(text):
        return True
    if (leading := _LEADING_ELEMENTS.match(text)) and _begins_with_key(text[leading.end() :]):
        return True
    if _LINK_WITHOUT_SCHEME.match(_WHOLE_ITEM.sub(r"01/\1", text)):
        return True
    return text[:2].isdigit() and next(find_substitutes(text), "") != ""


def _begins_with_key(text: str) -> bool:
    """Return whether it begins with the identifier of a GTIN or SSCC with a valid check digit."""
    bare = _KEY_ELEMENT.match(strip_leading_separator(_without_envelope(text)))
    return bare is not None and check_digit(bare.group()[2:-1]) == bare.group()[-1]


def is_digital_link(text: str) -> bool:
    """Return whether a text is the web address of a trade item or logistic unit."""
    return re.search(_DIGITAL_LINK, _WHOLE_ITEM.sub(r"01/\1", text)) is not None


def gs1_fault(text: str, from_gs1_symbol: bool = False) -> str:
    """Return the message id for which GS1 data is refused; empty if it is valid, or no GS1 data."""
    if not from_gs1_symbol and not _begins_with_key(text) and not (text[:1] == "(" and begins_gs1_message(text)):
        return ""
    return parse_message(text).fault


def parse_element_strings(text: str, from_gs1_symbol: bool = False) -> Gs1Data | None:
    """Parse GS1 data. Return None without a GTIN or SSCC, or if it cannot be parsed to its end.

    `from_gs1_symbol`: the scanner reported GS1 data. Otherwise its check digits have to be valid.
    """
    values, fault, _ = found = parse_message(text)
    gtin, sscc = values.get("01") or values.get("02", ""), values.get("00", "")
    if fault or not (gtin or sscc):
        return None
    if not from_gs1_symbol and not (
        (not gtin or has_valid_check_digit(gtin)) and (not sscc or check_digit(sscc[:-1]) == sscc[-1])
    ):
        return None
    measures, price = _net_measures(values), _parse_price(values)
    is_measured = any(ai[:2] in _MEASURE_PREFIXES or ai in _UNIT_PRICE_IDENTIFIERS for ai in values)
    runs, expiry = tuple(_hidden_elements(text, found)), _parse_expiry(values)
    is_measured = is_measured or any(ai in _UNIT_BY_IDENTIFIER for run in runs for ai in run)
    return Gs1Data(
        lacks_net_quantity=is_measured and not measures and price is None,
        gtin=gtin,
        sscc=sscc,
        pieces=_positive_integer(values.get("30") or values.get("37", "")),
        measures=measures,
        price=price,
        batch=values.get("10", ""),
        serial=values.get("21", ""),
        expiry=expiry,
        may_hide_count=any(("37" if "02" in values else "30") in run for run in runs),
        may_hide_expiry=not expiry and any(not run.isdisjoint(_EXPIRY_IDENTIFIERS) for run in runs),
    )


def parse_message(text: str) -> Gs1Message:
    """Parse the text as GS1 data; a count of zero pieces means a damaged label."""
    found = _parse_message(text)
    is_none = any(not found.values[ai].strip("0") for ai in _COUNT_IDENTIFIERS if ai in found.values)
    if is_none and found.is_complete:
        return found._replace(fault=DAMAGED_GS1)
    return found._replace(fault=MISSING_SEPARATOR) if _lacks_separator(text, found) else found


def _lacks_separator(text: str, message: Gs1Message) -> bool:
    """Return whether a lot, or another value without a separator, certainly ends in a quantity.

    Lots that end like a count (`L3012`) are common. One counts as a count only if the label would be invalid without
    it: AI 02 needs AI 37, and a GTIN that begins with 9 (variable quantity) needs a measure or AI 30. A date followed
    by a quantity is no lot either.
    """
    values = message.values
    needs_count = ("02" in values and "37" not in values) or values.get("01", "").startswith("9")
    if needs_count and (_net_measures(values) or not values.keys().isdisjoint(_COUNT_IDENTIFIERS)):
        needs_count = False
    count = "37" if "02" in values else "30"
    return any(
        (needs_count and count in run)
        or (not run.isdisjoint(_DATE_IDENTIFIERS) and not run.isdisjoint((*_COUNT_IDENTIFIERS, *_UNIT_BY_IDENTIFIER)))
        for run in _hidden_elements(text, message)
    )


def _hidden_elements(text: str, message: Gs1Message) -> Iterator[frozenset[str]]:
    """Yield the identifiers of every set of elements that may hide at the end of the last value.

    There are none if it has separators. Identifiers of measures lack their last digit.
    """
    if GROUP_SEPARATOR in text:
        return
    text = _without_envelope(text)
    if not message.is_complete or message.substitute or not text[-1:].isdigit() or text[:1] in ("(", "h", "H"):
        return
    ai, value = next(reversed(message.values.items()), ("", ""))
    identifier = find_identifier(ai)
    if identifier is None or identifier.has_fixed_length or ai in _COUNT_IDENTIFIERS:
        return
    yield from (run for run in _hidden_element_sets(value) if run.isdisjoint(message.values))


def _hidden_element_sets(value: str) -> set[frozenset[str]]:
    """Return the identifiers of all sequences of dates, measures and counts that may end a value.

    Each end is parsed once, because a long value can be divided in many ways.
    """
    ends: list[set[frozenset[str]]] = [set() for _ in value] + [{frozenset()}]
    for at in range(len(value) - 1, 0, -1):
        for end in range(at + 3, min(at + 10, len(value)) + 1):
            if ends[end] and (ai := _hidden_element(value[at:end])):
                ends[at] |= {rest | {ai} for rest in ends[end]}
    return set().union(*ends[1:-1])


def _hidden_element(text: str) -> str:
    """Return the identifier of a whole date, measure or count that is not zero; empty if the text is none."""
    element = re.fullmatch(_RUN_ON_ELEMENT, text)
    if (
        element is None
        or (element[1] and not parse_gs1_date(element[2]))
        or not (element[2] or element[4] or element[6]).strip("0")
    ):
        return ""
    return element[1] or element[3] or element[5]


def _parse_message(text: str) -> Gs1Message:
    """Parse the text as a digital link, a printed label, or an element string with separators or substitutes."""
    text = _WHOLE_ITEM.sub(r"01/\1", text)
    if _LINK_WITHOUT_SCHEME.match(text):
        text = f"https://{text}"
    if text[:4].lower() == "http":
        return _parse_digital_link(text) if re.search(_DIGITAL_LINK, text) else Gs1Message({}, DAMAGED_GS1)
    if text[:1] == "(" and text[1:2].isdigit():
        return _parse_printed(text)
    bare = strip_leading_separator(_without_envelope(text))
    substitutes = tuple(find_substitutes(bare))
    if substitutes == (" ",) and (spaced := _parse_spaced(bare)):
        return spaced
    parsed = [
        _parse_elements(replace_substitute(bare, substitute))._replace(substitute=substitute)
        for substitute in substitutes
    ]
    complete = [
        message
        for message in parsed
        if message.is_complete and not message.values.keys().isdisjoint(("00", "01", "02"))
    ]
    if any(message.values != complete[0].values for message in complete):
        return complete[0]._replace(fault=MISSING_SEPARATOR)  # `~029` may be a substitute, or `~` and a GTIN of AI 02
    if complete:
        return complete[0]
    found = _parse_elements(bare)
    return found._replace(fault=MISSING_SEPARATOR) if found.fault and substitutes else found


def _without_envelope(text: str) -> str:
    """Return the GS1 data of a label of ISO/IEC 15434; other text as it is."""
    envelope = _ENVELOPE.match(text)
    return _fields_of_format(text[envelope.end() :]).lstrip(GROUP_SEPARATOR) if envelope else text


def _fields_of_format(text: str) -> str:
    """Return the fields of one format of ISO/IEC 15434, without the end of the format and what follows it."""
    return (text.split(_RECORD_SEPARATOR, 1)[0] if text[:1] == GROUP_SEPARATOR else text).rstrip(_FORMAT_END)


def _parse_spaced(text: str) -> Gs1Message | None:
    """Parse an element string with blanks between identifiers and values; None if it is no such string.

    A word is an identifier, or begins with one. Each way leaves only one reading of the next word.
    """
    words, elements = iter(text.split()), list[str]()
    for word in words:
        identifier = find_identifier(word)
        is_alone = identifier is not None and identifier.ai == word
        elements.append(word + next(words, "") if is_alone else word)
    message = _parse_elements(GROUP_SEPARATOR.join(elements))
    has_key = not message.values.keys().isdisjoint(("00", "01", "02"))
    return message._replace(substitute=" ") if message.is_complete and has_key else None


def _parse_printed(text: str) -> Gs1Message:
    """Parse a printed label with its identifiers in brackets."""
    found = [(ai, value.replace(" ", "")) for ai, value in re.findall(_PRINTED_ELEMENT, text)]
    is_all = "".join(f"({ai}){value}" for ai, value in found) == text.replace(" ", "")
    fits = all(
        (identifier := find_identifier(ai)) and identifier.ai == ai and identifier.accepts(value) for ai, value in found
    )
    return Gs1Message(
        _first_values(found), "" if found and is_all and fits and not _has_contradiction(found) else DAMAGED_GS1
    )


def _parse_elements(text: str) -> Gs1Message:
    """Parse an element string identifier by identifier."""
    found: list[tuple[str, str]] = []
    rest = text.lstrip(GROUP_SEPARATOR)
    while rest:
        identifier = find_identifier(rest)
        if identifier is None:
            is_sign = found and GROUP_SEPARATOR not in text and not rest[:1].isdigit()
            return Gs1Message(_first_values(found), MISSING_SEPARATOR if is_sign else DAMAGED_GS1)
        body = rest[len(identifier.ai) :]
        value = body.split(GROUP_SEPARATOR, 1)[0]
        if identifier.has_fixed_length:
            value = value[: identifier.max_length]
        if not identifier.accepts(value):
            runs_on = (
                not identifier.has_fixed_length and GROUP_SEPARATOR not in text and identifier.may_begin_with(value)
            )
            return Gs1Message(_first_values(found), MISSING_SEPARATOR if runs_on else DAMAGED_GS1)
        found.append((identifier.ai, value))
        rest = body[len(value) :].lstrip(GROUP_SEPARATOR)
    return Gs1Message(_first_values(found), DAMAGED_GS1 if _has_contradiction(found) else "")


def _first_values(found: list[tuple[str, str]]) -> dict[str, str]:
    """Return the first value of each identifier, in the order of the label."""
    values: dict[str, str] = {}
    for ai, value in found:
        values.setdefault(ai, value)
    return values


def _has_contradiction(found: list[tuple[str, str]]) -> bool:
    """Return whether an identifier has two values: two labels in one scan, or a damaged one.

    An equal value is a repetition by the scanner.
    """
    different = {(_identifier_kind(ai), ai, value) for ai, value in found}
    return len({kind for kind, _, _ in different}) < len(different)


def _identifier_kind(ai: str) -> str:
    """Return the identifier without the digit for the number of decimals."""
    return ai[:3] if ai[:3] in _UNIT_BY_IDENTIFIER or ai[:3] in _PRICE_IDENTIFIERS else ai


def _parse_digital_link(uri: str) -> Gs1Message:
    """Parse a GS1 digital link, the web address in a product's QR code.

    Older ones contain words, and GTINs without leading zeros.
    """
    from biip import ParseConfig, ParseError
    from biip.gs1_digital_link_uris import GS1DigitalLinkURI

    try:
        uri = re.sub(_LINK_WORD, lambda word: _LINK_WORDS[word[0]], uri)
        uri = re.sub(_SHORT_GTIN, lambda gtin: gtin[0].rjust(14, "0"), uri)
        link = GS1DigitalLinkURI.parse(uri, config=ParseConfig(gs1_element_strings_verify_date=False))
    except (ParseError, ValueError):
        return Gs1Message({}, DAMAGED_GS1)
    found = [(element.ai.ai, element.value) for element in link.element_strings]
    fits = all((identifier := find_identifier(ai)) and identifier.accepts(value) for ai, value in found)
    return Gs1Message(_first_values(found), "" if fits else DAMAGED_GS1)


def _positive_integer(value: str) -> Decimal | None:
    return Decimal(value) if value.isascii() and value.isdigit() and int(value) else None


def _net_measures(values: dict[str, str]) -> tuple[Measure, ...]:
    """Return each net measure; the last digit of its identifier is the number of decimals."""
    found = ((ai, _positive_integer(value)) for ai, value in values.items() if ai[:3] in _UNIT_BY_IDENTIFIER)
    return tuple(
        Measure(amount.scaleb(-int(ai[3])), _UNIT_BY_IDENTIFIER[ai[:3]]) for ai, amount in found if amount is not None
    )


def _parse_price(values: dict[str, str]) -> Decimal | None:
    for ai, value in values.items():
        if ai[:3] in _PRICE_IDENTIFIERS:
            amount = _positive_integer(value[3:] if ai[:3] in _WITH_CURRENCY else value)
            return None if amount is None else amount.scaleb(-int(ai[3]))
    return None
