"""Keys for searching and sorting text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from aisle.words import kept, measures

_DIGITS = re.compile(r"\d+")


def folded(text: str) -> str:
    """Text as it is sorted: without case and accents. What is stored of it stays in that order."""
    if text.isascii():
        return text.casefold()
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def search_key(parts: Iterable[object]) -> str:
    """What a search looks through: the words of the parts, kept apart so that no match runs over two of them."""
    return refolded("\n".join(str(part) for part in parts if part))


def refolded(text: str) -> str:
    """The same of a text that has its parts on lines, in whatever way it was folded before."""
    return "\n".join(words for line in text.split("\n") if (words := kept(line)))


def measured(text: str, name: str) -> str:
    """What a search looks through, where it was kept without the measures in the name: with them."""
    return " ".join([text, *(each for each in measures(name) if each not in text.split())]) if text else text


def natural_key(code: str) -> str:
    """A key that sorts `A2` before `A10`."""
    return _DIGITS.sub(lambda digits: f"{len(digits[0].lstrip('0')):03d}{digits[0].lstrip('0')}", folded(code))
