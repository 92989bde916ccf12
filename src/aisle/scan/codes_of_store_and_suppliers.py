"""Codes besides GS1: numbers of the store's scale, labels of suppliers, numbers of orders, foreign QR codes.

The layout of restricted-circulation numbers is national or the store's own, so it is a setting, empty by default:
without a pattern for `28…` such a code is a plain barcode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, NamedTuple

from aisle.barcode_numbers import (
    MAX_PADDED_LENGTH,
    are_digits,
    check_digit,
    has_valid_check_digit,
    lookup_keys,
    normalise_code,
)
from aisle.scan import gs1
from aisle.scan.grammar_and_meaning_types import Measure
from aisle.scan.gs1 import split_fields

_DEFAULT_DECIMALS: Final = {"W": 3, "P": 2, "N": 0}
"""Decimal places if a pattern states none: grams to kg, cents, pieces."""
_MAX_DIGITS: Final = 14
"""Greatest number of digits of a GTIN."""
_PATTERN_SYNTAX: Final = re.compile(r"(\d+[\dIWPNX]*C)(?::(\d))?")


class InStorePattern(NamedTuple):
    """One layout, made by `compile_patterns`."""

    digit_kinds: str
    """One character per digit of the code: the digit itself, or I, W, P, N, X, C."""
    amount_kind: str
    """Kind of its amount: W, P or N."""
    decimals: int


class InStoreCode(NamedTuple):
    """Content of such a number; an amount of zero means none (a shelf label)."""

    keys: tuple[str, ...]
    """Look-up keys of the product, best first: number with zero amount, prefix and item, item alone."""
    item: str
    weight: Decimal | None = None
    decimals: int = 0
    """Decimal places that the scale prints."""
    price: Decimal | None = None
    pieces: Decimal | None = None


def compile_patterns(texts: tuple[str, ...]) -> tuple[InStorePattern, ...]:
    """Compile the settings' patterns, such as `28IIIIIWWWWWC` or `21IIIIIPPPPPC:2`.

    A pattern has 8, 12, 13 or 14 places: literal digits, I for the item, X for meaningless digits (an inner check
    digit), C for the check digit at the end. One of W (weight), P (price) or N (pieces) is the amount. A colon is
    followed by the amount's decimal places (default 3, 2 and 0). Raise ValueError with the pattern's text if it is
    invalid.
    """
    return tuple(_compile_pattern(text) for text in texts)


def _compile_pattern(text: str) -> InStorePattern:
    shape = _PATTERN_SYNTAX.fullmatch(text)
    amounts = [letter for letter in _DEFAULT_DECIMALS if letter in text]
    if shape is None or len(shape[1]) not in (8, 12, 13, 14) or "I" not in text or len(amounts) != 1:
        raise ValueError(f"{text!r} is no pattern of a restricted code, such as 28IIIIIWWWWWC or 21IIIIIPPPPPC:2")
    return InStorePattern(shape[1], amounts[0], _DEFAULT_DECIMALS[amounts[0]] if shape[2] is None else int(shape[2]))


def parse_in_store_code(code: str, patterns: tuple[InStorePattern, ...]) -> InStoreCode | None:
    """Parse a code by the first pattern that it fits; None if it fits none or its check digit is wrong.

    Leading zeros do not matter: a UPC-A or EAN-8 may come as an EAN-13 or GTIN-14, and the reverse.
    """
    if not (code.isascii() and code.isdigit()) or len(code) > _MAX_DIGITS:
        return None
    without_zeros = code.lstrip("0")
    for pattern in patterns:
        padded = without_zeros.rjust(len(pattern.digit_kinds), "0")
        if _matches(padded, pattern.digit_kinds) and has_valid_check_digit(padded):
            return _read_fields(padded, pattern)
    return None


def parse_unchecked_code(code: str, patterns: tuple[InStorePattern, ...]) -> InStoreCode | None:
    """Parse a code whose check digit was not sent, by the first pattern that it fits without its last place.

    Leading zeros do not matter. Return None for a number of pieces: nobody can be asked for it as for a weight.
    """
    for padded, pattern in _fit_without_check_digit(code, patterns):
        if pattern.amount_kind != "N":
            return _read_fields(padded + check_digit(padded), pattern)
    return None


def _fit_without_check_digit(code: str, patterns: tuple[InStorePattern, ...]) -> Iterator[tuple[str, InStorePattern]]:
    """Yield the patterns that a code fits without their last place, each with the code in its length."""
    if not are_digits(code) or len(code) > MAX_PADDED_LENGTH:
        return
    without_zeros = code.lstrip("0")
    for pattern in patterns:
        padded = without_zeros.rjust(len(pattern.digit_kinds) - 1, "0")
        if _matches(padded, pattern.digit_kinds[:-1]):
            yield padded, pattern


def is_unknown_in_store_code(code: str, patterns: tuple[InStorePattern, ...]) -> bool:
    """Return whether a code is a number that GS1 reserves for stores (02, 20 to 29) and no pattern fits it."""
    without_zeros = normalise_code(code).lstrip("0")
    is_left_to_stores = (
        len(without_zeros) in (12, 13)
        and without_zeros[0] == "2"
        and has_valid_check_digit(without_zeros.rjust(13, "0"))
    )
    if not is_left_to_stores or parse_in_store_code(without_zeros, patterns):
        return False
    return not any(_fit_without_check_digit(without_zeros, patterns))


def _matches(code: str, digit_kinds: str) -> bool:
    return len(code) == len(digit_kinds) and all(
        kind == digit for digit, kind in zip(code, digit_kinds, strict=True) if kind.isdigit()
    )


def _read_fields(code: str, pattern: InStorePattern) -> InStoreCode:
    def digits(kinds: str) -> str:
        return "".join(digit for digit, kind in zip(code, pattern.digit_kinds, strict=True) if kind in kinds)

    item, letter = digits("I"), pattern.amount_kind
    amount = Decimal(digits(letter)).scaleb(-pattern.decimals) or None
    zeroed = "".join(
        "0" if kind in "WPNX" else digit for digit, kind in zip(code[:-1], pattern.digit_kinds, strict=False)
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


_LABEL: Final = re.compile(r"\[\)>\W{0,4}(06|12)(.*)", re.ASCII | re.DOTALL)
_FIELDS: Final = {
    "06": re.compile(r"(\d{0,3}[A-Z]) *(.*)", re.ASCII),
    "12": re.compile(r"([A-Z]{3}) +(.*)", re.ASCII),
}
"""Identifier and value of a field, by format."""
_PRODUCT_IDENTIFIERS: Final = ("8P", "3P", "P", "1P", "20P", "30P", "PNO", "PNR")
"""Identifiers of products, surest first: GTIN; number at customer and supplier, whole and first level; part number."""
_QUANTITY_IDENTIFIERS: Final = ("Q", "7Q", "QTY")
_QUANTITY: Final = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) *([A-Za-z]{0,3})", re.ASCII)


class SupplierLabel(NamedTuple):
    """What a supplier's label says of its goods; empty if it is damaged."""

    product_numbers: tuple[str, ...] = ()
    """Numbers of the product at customer and supplier, and its GTIN."""
    quantity: Measure | None = None
    """Quantity in a unit that supplier and customer agreed on; None for one, and without a quantity."""


def parse_supplier_label(text: str) -> SupplierLabel | None:
    """Return the content of a supplier's label; None for other text."""
    label = _LABEL.fullmatch(text)
    if label is None:
        return None
    found = [_FIELDS[label[1]].fullmatch(field) for field in split_fields(label[2])]
    fields = [(field[1], field[2].strip()) for field in found if field]
    quantities = {_parse_quantity(value) for identifier, value in fields if identifier in _QUANTITY_IDENTIFIERS}
    if len(fields) < len(found) or len(quantities) > 1 or None in quantities:
        return SupplierLabel()
    numbers = [value for wanted in _PRODUCT_IDENTIFIERS for identifier, value in fields if identifier == wanted]
    quantity = next(iter(quantities), None)
    is_one = quantity is not None and quantity.amount == 1
    return SupplierLabel(tuple(dict.fromkeys(filter(None, numbers))), None if is_one else quantity)


def _parse_quantity(value: str) -> Measure | None:
    """Return a quantity with the unit that is printed behind it; None if it cannot be read."""
    found = _QUANTITY.fullmatch(value)
    return Measure(Decimal(found[1]), found[2]) if found else None


_ORDER_IDENTIFIER: Final = "400"
"""GS1 application identifier of the customer's order number."""
_WORDS: Final = re.compile(
    r"(?:order|bestel(?:l|ling|lung)?|auftrags?|commande)[ -]?(?:no|nr|id|number|nummer|num[eé]ro)?\.?"
    r"(?: *[:#=] *| +)#?(?P<number>\S*\w)",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(r"(?:\w+://|www\.)\S*[/=#](?P<number>[^\s/?=&#]{4,})/?", re.IGNORECASE)
"""Web address. A shorter end is hardly the number of an order, but that of a page."""
_LETTERS_AFTER_IDENTIFIER: Final = re.compile(r"400(?P<number>(?=\S*[A-Za-z])\S{1,30})", re.ASCII)
"""GS1 data without its prefix; digits alone are another code."""


def order_number_in(code: str, *, is_gs1: bool = False) -> str:
    """Return the number of the order in a code; empty if the code has none, or a product or logistic unit."""
    if is_gs1 or code[:1] == "(" or gs1.GROUP_SEPARATOR in code:
        return _order_of_message(code)
    for pattern in (_WORDS, _ADDRESS, _LETTERS_AFTER_IDENTIFIER):
        if found := pattern.fullmatch(code):
            return "" if gs1.is_digital_link(code) else found["number"]
    return ""


def _order_of_message(code: str) -> str:
    message = gs1.parse_message(code)
    has_goods = not message.values.keys().isdisjoint(("00", "01", "02"))
    return "" if message.fault or has_goods else message.values.get(_ORDER_IDENTIFIER, "")


_PAYLOAD: Final = re.compile(
    r"\s*(?:www\.|(?:wifi|mecard|bizcard|matmsg|mailto|tel|telprompt|sms|smsto|mms|mmsto|facetime|skype|whatsapp"
    r"|javascript|otpauth|urn|magnet|bitcoin|ethereum|litecoin|upi|lightning|hc1|shc):|geo:-?\d|data:\w+/"
    r"|begin:v?(?:card|event|calendar))",
    re.IGNORECASE,
)
"""Beginnings of the contents of a QR code; a web address of any kind has `://`."""


def is_foreign_qr_code(text: str) -> bool:
    """Return whether a text is the content of a QR code that is no code of a store."""
    return "://" in text or _PAYLOAD.match(text) is not None
