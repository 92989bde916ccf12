"""Restricted-circulation numbers: EANs that a shop's own scale prints, with a weight, a price or a count inside.

Their layout is national, even the shop's own, so it is a table in the settings, empty at first: until somebody says
what `28…` means, such a code is a plain barcode.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, NamedTuple

from aisle.barcode_keys import check_digit, has_valid_check_digit, lookup_keys, normalise_code

_DEFAULT_DECIMALS: Final = {"W": 3, "P": 2, "N": 0}
"""Digits after the point where a pattern states none: grams to kg, cents, pieces."""
_MAX_DIGITS: Final = 14
"""Digits of a GTIN at most."""
_PATTERN_SYNTAX: Final = re.compile(r"(\d+[\dIWPNX]*C)(?::(\d))?")


class InStorePattern(NamedTuple):
    """One layout, made by `patterns`."""

    digit_kinds: str
    """One character a digit of the code: a digit for itself, or I, W, P, N, X, C."""
    amount_kind: str
    """Which of W, P, N it has."""
    decimals: int


class InStoreCode(NamedTuple):
    """What such a number says; an amount of zero says nothing (a shelf's label)."""

    keys: tuple[str, ...]
    """Look-up keys of the product, best first: the number with its amount zeroed, prefix and item, item alone."""
    item: str
    weight: Decimal | None = None
    decimals: int = 0
    """Digits after the point that the scale prints."""
    price: Decimal | None = None
    pieces: Decimal | None = None


def compile_patterns(texts: tuple[str, ...]) -> tuple[InStorePattern, ...]:
    """Compiles the settings' patterns, such as `28IIIIIWWWWWC` or `21IIIIIPPPPPC:2`.

    8, 12, 13 or 14 places: digits that stand for themselves, I for the item, one of W (weight), P (price) or N (pieces)
    for the amount, X for digits without a meaning (an inner check digit), C for the check digit at the end; after a
    colon the amount's digits after the point (3, 2 and 0 if not stated). Raises ValueError with the pattern's text.
    """
    return tuple(_compile_pattern(text) for text in texts)


def _compile_pattern(text: str) -> InStorePattern:
    shape = _PATTERN_SYNTAX.fullmatch(text)
    amounts = [letter for letter in _DEFAULT_DECIMALS if letter in text]
    if shape is None or len(shape[1]) not in (8, 12, 13, 14) or "I" not in text or len(amounts) != 1:
        raise ValueError(f"{text!r} is no pattern of a restricted code, such as 28IIIIIWWWWWC or 21IIIIIPPPPPC:2")
    return InStorePattern(shape[1], amounts[0], _DEFAULT_DECIMALS[amounts[0]] if shape[2] is None else int(shape[2]))


def parse_in_store_code(code: str, patterns: tuple[InStorePattern, ...]) -> InStoreCode | None:
    """What a code says by the first pattern that it fits; None when it fits none or its check digit is wrong.

    A UPC-A or EAN-8 may come with zeros before it, as an EAN-13 or a GTIN-14, and one with zeros without them.
    """
    if not (code.isascii() and code.isdigit()) or len(code) > _MAX_DIGITS:
        return None
    bare = code.lstrip("0")
    for pattern in patterns:
        padded = bare.rjust(len(pattern.digit_kinds), "0")
        if _matches(padded, pattern.digit_kinds) and has_valid_check_digit(padded):
            return _read_fields(padded, pattern)
    return None


def is_unknown_in_store_code(code: str, patterns: tuple[InStorePattern, ...]) -> bool:
    """Whether a code is a number that GS1 leaves to stores for weights and prices (02, 20 to 29), and no pattern fits
    it: nobody has said what its digits mean."""
    bare = normalise_code(code).lstrip("0")
    is_left_to_stores = len(bare) in (12, 13) and bare[0] == "2" and has_valid_check_digit(bare.rjust(13, "0"))
    return is_left_to_stores and parse_in_store_code(bare, patterns) is None


def _matches(code: str, digit_kinds: str) -> bool:
    return len(code) == len(digit_kinds) and all(
        place == digit for digit, place in zip(code, digit_kinds, strict=True) if place.isdigit()
    )


def _read_fields(code: str, pattern: InStorePattern) -> InStoreCode:
    def digits(kinds: str) -> str:
        return "".join(digit for digit, place in zip(code, pattern.digit_kinds, strict=True) if place in kinds)

    item, letter = digits("I"), pattern.amount_kind
    amount = Decimal(digits(letter)).scaleb(-pattern.decimals) or None
    zeroed = "".join(
        "0" if place in "WPNX" else digit for digit, place in zip(code[:-1], pattern.digit_kinds, strict=False)
    )
    keys = (
        *lookup_keys(zeroed + check_digit(zeroed)),
        *lookup_keys(digits("0123456789I")),
        digits("0123456789I").lstrip("0"),
        item,
        item.lstrip("0") or "0",
    )
    return InStoreCode(
        keys=tuple(dict.fromkeys(key for key in keys if key)),
        item=item,
        decimals=pattern.decimals,
        weight=amount if letter == "W" else None,
        price=amount if letter == "P" else None,
        pieces=amount if letter == "N" else None,
    )
