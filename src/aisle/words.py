"""Text as people look for it: what session and service keep of a text for searches, and what they take a search for.

Pure, and the same on both sides, so that both find the same.
"""

from __future__ import annotations

import re

_NO_APOSTROPHES = str.maketrans("", "", "'’‘ʼ`´")
_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ł": "l", "ŧ": "t", "ŋ": "n", "þ": "th", "ı": "i"}
)
"""Letters of their own that no accent makes, as somebody types them whose keyboard has none of them."""
_WORD, _ASCII_WORD = re.compile(r"[^\W_]+"), re.compile(r"[0-9a-z]+")
_MARKED, _ASCII_MARKED = re.compile(r"[^\W_](?:[^\w\s]|_)+[^\W_]"), re.compile(r"[0-9a-z][^0-9a-z\s]+[0-9a-z]")


def plain(text: str) -> str:
    """Without case, accents and apostrophes; punctuation stays: `L'Été à 1.5 L` → `lete a 1.5 l`."""
    if text.isascii():
        return text.replace("'", "").replace("`", "").lower()
    from unicodedata import combining, normalize

    text = "".join(char for char in normalize("NFKD", text) if not combining(char))
    return normalize("NFKC", text).translate(_NO_APOSTROPHES).casefold().translate(_LETTERS)


def fold(text: str) -> str:
    """Words without case, accents and punctuation, a space between them: `Müsli-Riegel “50 %”` → `musli riegel 50`."""
    return " ".join(_words(plain(text)))


def unmarked(text: str) -> str:
    """The same with punctuation inside a word left out: `Müsli-Riegel 1.5 l` → `musliriegel 15 l`."""
    return " ".join(word for chunk in plain(text).split() if (word := "".join(_words(chunk))))


def kept(text: str) -> str:
    """What is searched through of a text: its words, and those once more in one that punctuation takes apart, so that
    they are found however they are typed: `7-Up 33 cl` → `7 up 33 cl 7up`."""
    text = plain(text)
    words = _words(text)
    if (_ASCII_MARKED if text.isascii() else _MARKED).search(text):
        parted = ("".join(parts) for chunk in text.split() if len(parts := _words(chunk)) > 1)
        words += dict.fromkeys(parted)
    return " ".join(words)


def sought(text: str) -> tuple[str, ...]:
    """The ways in which a search is meant, each some words that a text has all of: as it is typed, and where it has
    punctuation inside a word, also without: `7-up 33` → `7 up 33`, `7up 33`. None where it has no words."""
    return tuple(dict.fromkeys(way for way in (fold(text), unmarked(text)) if way))


def _words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)
