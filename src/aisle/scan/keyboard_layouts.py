"""Restoration of codes that came through a keyboard layout other than the scanner's.

A scanner presses keys. If the terminal uses the layout of another country, digits arrive as signs (`ç(é` for `952`) or
letters are exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

_US_KEYS: Final = "`1234567890-=qwertyuiop[]\\asdfghjkl;'zxcvbnm,./"
_US_SHIFTED_KEYS: Final = '~!@#$%^&*()_+QWERTYUIOP{}|ASDFGHJKL:"ZXCVBNM<>?'
"""Characters of a US keyboard, row by row, plain and with Shift."""

_KEYS_BY_LAYOUT: Final = {
    "fr": (
        "²&é\"'(-è_çà)=azertyuiop^$*qsdfghjklmùwxcvbn,;:!",
        "~1234567890°+AZERTYUIOP¨£µQSDFGHJKLM%WXCVBN?./§",
    ),
    "be": (
        "²&é\"'(§è!çà)-azertyuiop^$µqsdfghjklmùwxcvbn,;:=",
        "³1234567890°_AZERTYUIOP¨*£QSDFGHJKLM%WXCVBN?./+",
    ),
    "de": (
        "^1234567890ß´qwertzuiopü+#asdfghjklöäyxcvbnm,.-",
        "°!\"§$%&/()=?`QWERTZUIOPÜ*'ASDFGHJKLÖÄYXCVBNM;:_",
    ),
    "ch": (
        "§1234567890'^qwertzuiopü¨$asdfghjklöäyxcvbnm,.-",
        '°+"*ç%&/()=?`QWERTZUIOPè!£ASDFGHJKLéàYXCVBNM;:_',
    ),
    "cz": (
        ";+ěščřžýáíé=´qwertzuiopú)¨asdfghjklů§yxcvbnm,.-",
        "°1234567890%ˇQWERTZUIOP/('ASDFGHJKL\"!YXCVBNM?:_",
    ),
    "sk": (
        ";+ľščťžýáíé=´qwertzuiopúäňasdfghjklô§yxcvbnm,.-",
        '°1234567890%ˇQWERTZUIOP/()ASDFGHJKL"!YXCVBNM?:_',
    ),
    "hu": (
        "0123456789öüóqwertzuiopőúűasdfghjkléáyxcvbnm,.-",
        "§'\"+!%/=()ÖÜÓQWERTZUIOPŐÚŰASDFGHJKLÉÁYXCVBNM?:_",
    ),
}
"""Characters of the same keys on other keyboards, plain and with Shift."""

_DIGIT_KEYS: Final = "1234567890"
_SHIFTED_DIGITS: Final = {
    "us": "!@#$%^&*()",
    "shift-uk": '!"£$%^&*()',
    "shift-de": '!"§$%&/()=',
    "shift-es": '!"·$%&/()=',
    "shift-it": '!"£$%&/()=',
    "shift-pt": '!"#$%&/()=',
    "shift-nordic": '!"#¤%&/()=',
    "shift-nl": "!\"#$%&_()'",
    "shift-ch": '+"*ç%&/()=',
    "shift-tr": "!'^+%&/()=",
    "shift-hu": "'\"+!%/=()§",
}
"""The reverse case: digits that arrive as the signs of the same keys with Shift, as of a keyboard with Caps Lock, or of
a scanner set to a keyboard whose digits need Shift."""

_SHORT_CODE: Final = re.compile(r"[A-Za-z]?[&\"(]|[&\"(][A-Za-z]?|[&\"(]{2}", re.ASCII)
"""Code of one or two characters with a digit as on a French keyboard."""

MIN_SIGNS: Final = 4
"""Signs in the place of digits from which a text rather is a garbled code than a word."""


@cache
def character_map(layout: str) -> dict[str, str]:
    """Return the character that the scanner has read, by the one that arrived."""
    if layout in _SHIFTED_DIGITS:
        return dict(zip(_SHIFTED_DIGITS[layout], _DIGIT_KEYS, strict=True)) | {"\x1d": "\x1d"}
    plain, shifted = _KEYS_BY_LAYOUT[layout]
    return dict(zip(plain + shifted, _US_KEYS + _US_SHIFTED_KEYS, strict=True)) | {" ": " ", "\x1d": "\x1d"}


def undo_layouts(text: str) -> Iterator[tuple[str, str]]:
    """Yield each layout through which a text may have come, with the text that the scanner has read, once each."""
    seen = {text}
    for layout in (*_KEYS_BY_LAYOUT, *_SHIFTED_DIGITS):
        table = character_map(layout)
        is_long = len(text) >= MIN_SIGNS or layout not in _SHIFTED_DIGITS
        if is_long and all(char in table for char in text):
            back = "".join(table[char] for char in text)
            if back not in seen:
                seen.add(back)
                yield layout, back


def is_garbled(text: str) -> bool:
    """Return whether a text rather is a code through another layout than anything typed or printed."""
    if _SHORT_CODE.fullmatch(text):
        return True
    if len(text) < MIN_SIGNS or any(char.isspace() for char in text):
        return False
    letters = sum(char.isascii() and char.isalnum() for char in text)
    for layout in ("fr", "be", "cz", "sk", *_SHIFTED_DIGITS):
        table = character_map(layout)
        digits = sum(not char.isascii() or not char.isalnum() for char in text if table.get(char, "").isdigit())
        if digits >= MIN_SIGNS and 3 * letters <= len(text) and all(char in table or char.isalnum() for char in text):
            return True
    return any(_is_hyphen_key(text, at) for at, char in enumerate(text) if char == "ß")


def _is_hyphen_key(text: str, at: int) -> bool:
    """Return whether a `ß` is between two letters or digits, at least one a digit: it then is the hyphen key."""
    around = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
    return len(around) == 2 and around.isalnum() and any(map(str.isdigit, around))
