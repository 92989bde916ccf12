"""Substitutes that scanners send for FNC1, the group separator of GS1 data: a sign, or its name as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

GROUP_SEPARATOR: Final = "\x1d"
"""Character that scanners send for FNC1."""

KEY_MARK: Final = "\x1c"
"""Mark in a line for a key or control that came inside it at scanner pace."""

F8_SEQUENCE: Final = "\x1b[19~"
"""Sequence of the key F8, which some scanners send for FNC1."""

_SEPARATOR_NAMES: Final = (
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
_SEPARATOR_SIGNS: Final = "~|^#@$\\`{}[]§¶¦¬€£¤°¨µ "
"""Signs that occur in no GS1 data, except `#` in one rare identifier."""

_ALL_SUBSTITUTES: Final = tuple(dict.fromkeys((*sorted(_SEPARATOR_NAMES, key=len, reverse=True), *_SEPARATOR_SIGNS)))
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
    """Return True if the beginning of a line is GS1 data in which a separator may follow."""
    return _MESSAGE_START.match(text) is not None


def has_separator(text: str) -> bool:
    """Return True if a line is GS1 data with a separator or a substitute: its scanner sends them."""
    return begins_gs1_message(text) and (GROUP_SEPARATOR in text or next(find_substitutes(text), "") != "")


def strip_leading_separator(text: str) -> str:
    """Return the text without a separator or substitute before its first identifier."""
    lead = _leading_separator().match(text)
    return text[lead.end() :] if lead else text


@cache
def _leading_separator() -> re.Pattern[str]:
    """Return the pattern of a leading separator.

    Names that end with a digit are left out, because that digit may begin an identifier.
    """
    names = "|".join(re.escape(sign) for sign in (GROUP_SEPARATOR, *_ALL_SUBSTITUTES) if not sign[-1].isdigit())
    return re.compile(rf"(?:{names})+(?=\d\d)", re.IGNORECASE | re.ASCII)
