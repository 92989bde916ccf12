"""Text for searches: what session and service index of a text, and the meanings of a search. Pure.

Both sides use it, so that they find the same. Typing errors: `cache/record_search`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from unicodedata import combining, normalize

_NO_APOSTROPHES = str.maketrans("", "", "'’‘ʼ`´")
_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ł": "l", "ŧ": "t", "ŋ": "n", "þ": "th", "ı": "i"}
)
"""Letters that are no accented ones, in the spelling of a keyboard without them."""
MAX_SEARCH_WORDS = 64
"""Maximum number of words of a search. More narrow no further, and a statement has no room for a thousand."""
_PART_LENGTH = 32
_MAX_DECOMPOSED_LENGTH = 4 * _PART_LENGTH
"""Maximum number of characters of a decomposed part. Only signs that stand for words have more, up to 18 each."""
_WORD, _ASCII_WORD = re.compile(r"[^\W_]+"), re.compile(r"[0-9a-z]+")
_UNIT_SPELLINGS = {"gr": "g", "grs": "g", "lt": "l", "ltr": "l"}
"""Units with other spellings."""
_MEASURE_UNITS = (*_UNIT_SPELLINGS, "g", "kg", "mg", "l", "dl", "cl", "ml", "mm", "cm", "m", "oz", "lb")
_DIGITS = frozenset("0123456789")
_INNER_PUNCTUATION, _ASCII_INNER_PUNCTUATION = (
    re.compile(r"[^\W_](?:[^\w\s]|_)+[^\W_]"),
    re.compile(r"[0-9a-z][^0-9a-z\s]+[0-9a-z]"),
)


def normalise_characters(text: str) -> str:
    """Return text without case, accents and apostrophes; punctuation stays: `L'Été à 1.5 L` → `lete a 1.5 l`."""
    if text.isascii():
        return text.replace("'", "").replace("`", "").lower()

    parts = (part[:_MAX_DECOMPOSED_LENGTH] for part in decompose(text))
    text = "".join(char for part in parts for char in part if not combining(char))
    return normalize("NFKC", text).translate(_NO_APOSTROPHES).casefold().translate(_LETTERS)


def decompose(text: str) -> Iterator[str]:
    """Yield the text in short decomposed parts (NFKD).

    In a whole text each run of accents would be sorted, which takes a time that grows with the square of its length.
    Accents of different parts keep their order; it means nothing where they are left out.
    """
    for start in range(0, len(text), _PART_LENGTH):
        yield normalize("NFKD", text[start : start + _PART_LENGTH])


def search_words(text: str) -> list[str]:
    """Return the words of a search; punctuation alone is a word that no text has, and not an empty search."""
    return normalise_text(text).split() or text.split()


_NATIONAL_DIGITS, _MIN_PHONE_DIGITS = 9, 7
"""Last digits of a phone number that are the same with and without the code of its country; fewest of a number."""


def order_search_words(text: str) -> list[str]:
    """Return the words of a search for orders. A phone number is found however it is typed and stored.

    `+31 6 1234-5678` and `06 12345678` both become `612345678`.
    """
    words = normalise_text(text).split()
    digits = "".join(words)
    if not digits.isdecimal() or len(digits) < _MIN_PHONE_DIGITS:
        return words
    if text.lstrip().startswith("+") or digits.startswith("00"):
        return [digits[-_NATIONAL_DIGITS:]]
    return [digits.lstrip("0") or digits]


def normalise_text(text: str) -> str:
    """Return the words without case, accents and punctuation: `Müsli-Riegel “50 %”` → `musli riegel 50`.

    Only the first `MAX_SEARCH_WORDS` are returned.
    """
    return " ".join(_split_words(normalise_characters(text))[:MAX_SEARCH_WORDS])


def join_punctuated(text: str) -> str:
    """Return the words without punctuation inside them: `Müsli-Riegel 1.5 l` → `musliriegel 15 l`."""
    return " ".join(word for chunk in normalise_characters(text).split() if (word := "".join(_split_words(chunk))))


def index_text(text: str) -> str:
    """Return the index text: words, words with their punctuation removed, and measures.

    Words are then found however they are typed: `7-Up 33 cl` → `7 up 33 cl 7up =33=cl`.
    """
    text = normalise_characters(text)
    words = _split_words(text)
    if (_ASCII_INNER_PUNCTUATION if text.isascii() else _INNER_PUNCTUATION).search(text):
        joined = ("".join(parts) for chunk in text.split() if len(parts := _split_words(chunk)) > 1)
        words += dict.fromkeys(joined)
    return " ".join([*words, *_measure_words(_find_measures(text))])


def search_variants(text: str) -> tuple[str, ...]:
    """Return the variants of a search, each as words that a hit contains all of; none for a search without words.

    As typed, and without punctuation inside words: `7-up 33` → `7 up 33`, `7up 33`. With measures also in their normal
    form: `7-up 33cl` → `7 up 33cl`, `7 up =33=cl`, `7up =33=cl`.
    """
    variants = (normalise_text(text), *(_measure_variants(normalise_characters(text)) or (join_punctuated(text),)))
    few = (" ".join(variant.split()[:MAX_SEARCH_WORDS]) for variant in variants)
    return tuple(dict.fromkeys(variant for variant in few if variant))


def _measure_variants(text: str) -> tuple[str, ...]:
    """Return the variants with measures after the other words, with and without punctuation; none without measures."""
    found = _find_measures(text)
    for measure in reversed(found):
        text = f"{text[: measure.start()]} {text[measure.end() :]}"
    measures = " ".join(_measure_words(found))
    return (
        tuple(f"{words} {measures}".lstrip() for words in (normalise_text(text), join_punctuated(text)))
        if found
        else ()
    )


def _find_measures(text: str) -> list[re.Match[str]]:
    if _DIGITS.isdisjoint(text):
        return []
    return [each for each in _measure_pattern().finditer(text) if not _is_inside_number(text[: each.start()][-2:])]


@cache
def _measure_pattern() -> re.Pattern[str]:
    """Return the pattern of a measure, compiled on first use because a start needs none.

    A number is tried once, from its first digit and at full length. Trying every digit and length took longer for
    barcodes than everything else.
    """
    return re.compile(
        rf"([0-9](?<![0-9][0-9])[0-9]{{0,5}}+(?:[.,][0-9]{{1,3}}+)?+) ?({'|'.join(_MEASURE_UNITS)})(?![^\W_])"
    )


def _is_inside_number(before: str) -> bool:
    """Return True if a measure after these two characters is the end of a longer number or word; not in `6x330 ml`."""
    number, last = before[:-1].isdecimal(), before[-1:]
    return not (number and last == "x") if last.isalnum() else number and last in ".,/\u2044"


def _measure_words(measures: Iterable[re.Match[str]]) -> list[str]:
    words = (f"={each[1].replace(',', '.')}={_UNIT_SPELLINGS.get(each[2], each[2])}" for each in measures)
    return list(dict.fromkeys(words))


def _split_words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def natural_key(code: str) -> str:
    """Return a text that sorts naturally, `A-2` before `A-10`: each number is preceded by its length in four digits."""
    return re.sub(r"\d+", _prefix_length, code.casefold())


def _prefix_length(digits: re.Match[str]) -> str:
    number = digits[0].lstrip("0") or "0"
    return f"{len(number):04d}{number}" if len(number) < 10_000 else digits[0]
