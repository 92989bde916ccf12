"""What scanners send in place of FNC1, the group separator of GS1 data: real GS, a sign, or its name as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

GS: Final = "\x1d"
"""What scanners send for FNC1."""

KEY: Final = "\x1c"
"""Stands in a line for a key or a control that came in the middle of it at scanner pace."""

F8: Final = "\x1b[19~"
"""What a terminal sends for the key F8, which some scanners press for it."""

_NAMES: Final = (
    "^[[19~",
    "[19~",
    "<FNC1>",
    "{FNC1}",
    "[FNC1]",
    "<0x1D>",
    "{0x1D}",
    "[0x1D]",
    "<GS>",
    "{GS}",
    "[GS]",
    "(GS)",
    "<F8>",
    "{F8}",
    "[F8]",
    "Alt+029",
    "Alt029",
    "FNC1",
    "<F1>",
    "{F1}",
    "[F1]",
    "%1D",
    "<1D>",
    "{1D}",
    "[1D]",
    "<29>",
    "{29}",
    "[29]",
    "\\x1d",
    "\\u001d",
    "\\u{1d}",
    "\\035",
    "\\029",
    "\\29",
    "\\F",
    "_x001D_",
    "&#29;",
    "&#029;",
    "&#x1d;",
    "~d029",
    "~029",
    "^029",
    "^029^",
    "^]",
    "␝",
    "↔",
    "\x1c",
    "\x1e",
    "\x1f",
)
_SIGNS: Final = "~|^#@$\\`{}[]§¶¦¬€£¤°¨µ "
"""No GS1 data has one of these but `#` in one rare identifier."""

_ANY: Final = tuple(dict.fromkeys((*sorted(_NAMES, key=len, reverse=True), *_SIGNS)))
_MESSAGE: Final = re.compile(
    r"\??(?:[\d.,]{1,8}\*)?(?:\d{0,4}\](?:C1|d2|Q3|e0|J1)|(?:\d{0,4}\][A-Za-z]\w)?(?:0[12]\d{14}|00\d{18}|\(0[012]\)))",
    re.ASCII,
)


def substitutes_in(text: str) -> Iterator[str]:
    """Every known substitute of the separator that stands in a text, the longest first; none where a real one does."""
    if GS in text:
        return
    folded = text.casefold()
    for sign in _ANY:
        if sign.casefold() in folded:
            yield sign


def with_separators(text: str, substitute: str) -> str:
    """The text with real separators where it has this substitute, in capitals or small letters."""
    return re.sub(re.escape(substitute), GS, text, flags=re.IGNORECASE)


def begins_message(text: str) -> bool:
    """Whether what has come of a line so far is GS1 data in which a separator may follow."""
    return _MESSAGE.match(text) is not None


def without_lead(text: str) -> str:
    """The text without a separator, or a substitute of one, before its first identifier."""
    lead = _lead().match(text)
    return text[lead.end() :] if lead else text


@cache
def _lead() -> re.Pattern[str]:
    """A name that ends with a digit is none here: the digit is the first one of an identifier."""
    names = "|".join(re.escape(sign) for sign in (GS, *_ANY) if not sign[-1].isdigit())
    return re.compile(rf"(?:{names})+(?=\d\d)", re.IGNORECASE | re.ASCII)
