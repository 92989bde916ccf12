"""Text as people look for it, and codes as people sort them."""

from __future__ import annotations

import re

_APOSTROPHES = "'’‘ʼ`´"
_NO_APOSTROPHES = str.maketrans("", "", _APOSTROPHES)
_BETWEEN_WORDS = r"[\W_]+"
_ASCII_WORDS = r"[0-9a-z]+"


def fold(text: str) -> str:
    """Words without case, accents and punctuation, a space between them: `Müsli-Riegel “50 %”` → `musli riegel 50`."""
    if text.isascii():
        return " ".join(re.findall(_ASCII_WORDS, text.replace("'", "").replace("`", "").lower()))
    from unicodedata import combining, normalize

    text = "".join(char for char in normalize("NFKD", text) if not combining(char))
    text = normalize("NFKC", text)
    return re.sub(_BETWEEN_WORDS, " ", text.translate(_NO_APOSTROPHES).casefold()).strip()


def natural(code: str) -> str:
    """A text that sorts as people do, `A-2` before `A-10`: each number gets its length in front, in four digits."""
    return re.sub(r"\d+", _counted, code.casefold())


def _counted(digits: re.Match[str]) -> str:
    number = digits[0].lstrip("0") or "0"
    return f"{len(number):04d}{number}" if len(number) < 10_000 else digits[0]
