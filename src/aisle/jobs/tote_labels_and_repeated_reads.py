"""Labels: which part of a code is that of a tote, and a label that a scanner reads again and again."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

from aisle.barcode_numbers import has_valid_check_digit
from aisle.jobs.store_time import seconds_since
from aisle.scan.codes_of_store_and_suppliers import is_foreign_qr_code

_LABEL_CHARACTERS = re.compile(r"[\w .:/+$%#-]*")

_GS1_START = re.compile(r"0[012](?=.{12})")
"""Beginning of a GS1 message with a GTIN or SSCC."""

_CODE_39: Final = re.compile(r"\*\s*([^*]+?)\s*\*")
"""Code 39 with its start and stop signs, which some scanners send."""

_ASSET_LINK: Final = re.compile(
    r"(?i)(?:https?://)?[\w.-]+\.\w+(?::\d+)?(?:/[\w.-]+)*?/(8003|8004)/([^/?#]+)(?:[?#].*)?"
)
"""GS1 digital link of an asset, as on a returnable container."""

_PRINTED_ASSET: Final = re.compile(r"\((8003|8004)\)\s*([^(]+)")

MAX_SHORT_LABEL: Final = 2
_SHORT_LABEL: Final = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[^\W\d_]{2}")

_NUMBERED_WORD: Final = re.compile(r"[^\W\d_]+ \d{1,4}")


def label_of_code(code: str) -> str:
    """Return the label in a code: without the signs of Code 39; of a digital link or printed form, its GS1 message."""
    if framed := _CODE_39.fullmatch(code):
        return framed[1]
    if asset := _ASSET_LINK.fullmatch(code) or _PRINTED_ASSET.fullmatch(code):
        return asset[1] + unquote(asset[2]).strip(" ")
    return code


def is_short_label(code: str) -> bool:
    """Return True for two capitals, or a capital and a digit. Anything else of two signs rather was cut off."""
    return _SHORT_LABEL.fullmatch(code) is not None and code.isupper()


def is_label_text(text: str) -> bool:
    """Return True if words rather are a label than a search: with a digit, or one word of capitals.

    Several words are one if they are capitals with a digit, or a capitalised word with its number.
    """
    has_digit = any(char.isdigit() for char in text)
    if " " not in text:
        return text.isupper() or has_digit
    return has_digit and (text.isupper() or (text[:1].isupper() and _NUMBERED_WORD.fullmatch(text) is not None))


def label_format(code: str) -> str:
    """Return the pattern of a code: `0` for each digit, `a` for each letter."""
    return "".join("0" if char.isdecimal() else "a" if char.isalpha() else char for char in code)


def is_label(code: str) -> bool:
    """Return False if a code rather is a damaged barcode, command or GS1 message than a tote label."""
    if code.upper().startswith("AISLE:") or not _LABEL_CHARACTERS.fullmatch(code) or is_foreign_qr_code(code):
        return False
    digits = sum(char.isdecimal() for char in code)
    if any(len(run) >= 12 and has_valid_check_digit(run) for run in re.findall(r"\d+", code) if run != code):
        return False
    if digits >= 12 and digits >= len(code) - 8 and not code.isdecimal() and _GS1_START.match(code):
        return False
    misread = len(code) - digits
    is_hyphenated = misread == code.count("-")
    is_framed = code[0].isdecimal() and code[-1].isdecimal()
    return not (0 < misread <= 2 and 8 <= len(code) <= 14 and is_framed and not is_hyphenated)


LABEL_GUARD_S = 3
"""Seconds after the last read of a label within which another read of it is no new scan."""


class LabelRead(NamedTuple):
    """Last read of one of several labels."""

    keys: tuple[str, ...] = ()
    """Numbers or codes of their records."""
    at: str = ""
    """ISO 8601."""

    def is_repeated(self, key: str, now: str) -> bool:
        """Return True if a read of this record now is no new scan."""
        return bool(self.at) and key in self.keys and seconds_since(self.at, now) < LABEL_GUARD_S
