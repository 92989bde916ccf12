"""Text as people look for it: what session and service keep of a text for searches, and what they take a search for.

Pure, and the same on both sides, so that both find the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_NO_APOSTROPHES = str.maketrans("", "", "'’‘ʼ`´")
_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ł": "l", "ŧ": "t", "ŋ": "n", "þ": "th", "ı": "i"}
)
"""Letters of their own that no accent makes, as somebody types them whose keyboard has none of them."""
_WORD, _ASCII_WORD = re.compile(r"[^\W_]+"), re.compile(r"[0-9a-z]+")
_UNIT_SPELLINGS = {"gr": "g", "grs": "g", "lt": "l", "ltr": "l"}
"""Units that are written in other ways, too."""
_MEASURE_UNITS = (*_UNIT_SPELLINGS, "g", "kg", "mg", "l", "dl", "cl", "ml", "mm", "cm", "m", "oz", "lb")
_DIGITS = frozenset("0123456789")
_INNER_PUNCTUATION, _ASCII_INNER_PUNCTUATION = (
    re.compile(r"[^\W_](?:[^\w\s]|_)+[^\W_]"),
    re.compile(r"[0-9a-z][^0-9a-z\s]+[0-9a-z]"),
)


def normalise_characters(text: str) -> str:
    """Without case, accents and apostrophes; punctuation stays: `L'Été à 1.5 L` → `lete a 1.5 l`."""
    if text.isascii():
        return text.replace("'", "").replace("`", "").lower()
    from unicodedata import combining, normalize

    text = "".join(char for char in normalize("NFKD", text) if not combining(char))
    return normalize("NFKC", text).translate(_NO_APOSTROPHES).casefold().translate(_LETTERS)


def normalise_text(text: str) -> str:
    """Words without case, accents and punctuation, a space between them: `Müsli-Riegel “50 %”` → `musli riegel 50`."""
    return " ".join(_split_words(normalise_characters(text)))


def join_punctuated(text: str) -> str:
    """The same with punctuation inside a word left out: `Müsli-Riegel 1.5 l` → `musliriegel 15 l`."""
    return " ".join(word for chunk in normalise_characters(text).split() if (word := "".join(_split_words(chunk))))


def find_measures(text: str) -> list[str]:
    """The measures in a text, each as one word that no other one ends with, whether it is written in one or in two:
    `Tea 200 g, 6x1,5l` → `=200=g`, `=1.5=l`."""
    return _measure_words(_find_measures(normalise_characters(text)))


def index_text(text: str) -> str:
    """What is searched through of a text: its words, those once more in one that punctuation takes apart, so that they
    are found however they are typed, and its measures: `7-Up 33 cl` → `7 up 33 cl 7up =33=cl`."""
    text = normalise_characters(text)
    words = _split_words(text)
    if (_ASCII_INNER_PUNCTUATION if text.isascii() else _INNER_PUNCTUATION).search(text):
        parted = ("".join(parts) for chunk in text.split() if len(parts := _split_words(chunk)) > 1)
        words += dict.fromkeys(parted)
    return " ".join([*words, *_measure_words(_find_measures(text))])


def search_variants(text: str) -> tuple[str, ...]:
    """The ways in which a search is meant, each some words that a text has all of: as it is typed, and where it has
    punctuation inside a word, also without: `7-up 33` → `7 up 33`, `7up 33`; where it has measures, both with these,
    however they are written: `7-up 33cl` → `7 up 33cl`, `7 up =33=cl`, `7up =33=cl`. None where it has no words."""
    ways = (normalise_text(text), *(_measure_variants(normalise_characters(text)) or (join_punctuated(text),)))
    return tuple(dict.fromkeys(way for way in ways if way))


def _measure_variants(text: str) -> tuple[str, ...]:
    """A search with its measures, behind its other words and behind these without punctuation; none where it has no
    measures."""
    found = _find_measures(text)
    for measure in reversed(found):
        text = f"{text[: measure.start()]} {text[measure.end() :]}"
    named = " ".join(_measure_words(found))
    return (
        tuple(f"{words} {named}".lstrip() for words in (normalise_text(text), join_punctuated(text))) if found else ()
    )


def _find_measures(text: str) -> list[re.Match[str]]:
    if _DIGITS.isdisjoint(text):
        return []
    return [each for each in _measure_pattern().finditer(text) if not _is_inside_number(text[: each.start()][-2:])]


@cache
def _measure_pattern() -> re.Pattern[str]:
    """Made when it is needed first: a start needs none.

    A number is tried once, from its first digit and at its full length: tried from each digit and at each length, the
    barcodes in a text took longer than all else of it.
    """
    return re.compile(
        rf"([0-9](?<![0-9][0-9])[0-9]{{0,5}}+(?:[.,][0-9]{{1,3}}+)?+) ?({'|'.join(_MEASURE_UNITS)})(?![^\W_])"
    )


def _is_inside_number(before: str) -> bool:
    """Whether what looks like a measure behind these two characters is the end of a longer number or word; but
    `6x330 ml` has one."""
    number, last = before[:-1].isdecimal(), before[-1:]
    return not (number and last == "x") if last.isalnum() else number and last in ".,/\u2044"


def _measure_words(measures: Iterable[re.Match[str]]) -> list[str]:
    named = (f"={each[1].replace(',', '.')}={_UNIT_SPELLINGS.get(each[2], each[2])}" for each in measures)
    return list(dict.fromkeys(named))


def _split_words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def natural_key(code: str) -> str:
    """A text that sorts as people do, `A-2` before `A-10`: each number gets its length in front, in four digits."""
    return re.sub(r"\d+", _prefix_length, code.casefold())


def _prefix_length(digits: re.Match[str]) -> str:
    number = digits[0].lstrip("0") or "0"
    return f"{len(number):04d}{number}" if len(number) < 10_000 else digits[0]
