"""Codes that have the number of an order and more: read where exactly one order fits."""

from __future__ import annotations

import pytest

from aisle.barcode_numbers import index_keys
from aisle.scan.grammar import look_up_keys, needs_look_up, parse
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
    Accepts,
    Candidate,
    Meaning,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
)
from aisle.scan.resolve import resolve

STORED = (
    (ORDER, "ORD-00098", "ORD-00098"),
    (ORDER, "9817", "9817"),
    (REFERENCE, "WEB-77", "9817"),
    (ORDER, "EQUAL-5", "EQUAL-5"),
    (REFERENCE, "EQUAL-5", "9818"),
    (PRODUCT, "7001", "7001"),
    (LOCATION, "order-7", "ORDER-7"),
    (ORDER, "7", "7"),
)


def read(text: str, *, is_text: bool = False) -> Meaning:
    """What a text means in a store with these orders."""
    accepts = Accepts(text=is_text)
    interpretations = parse(text, accepts)
    assert needs_look_up(interpretations), interpretations
    keys = look_up_keys(interpretations)
    known = [Candidate(form, kind, key, key) for kind, code, key in STORED for form in index_keys(code) if form in keys]
    return resolve(text, accepts, interpretations, known, (PRODUCT,))


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Order 9817", "9817"),
        ("ORDER:9817", "9817"),
        ("order #9817", "9817"),
        ("Order no. 9817", "9817"),
        ("Bestellung: ORD-00098", "ORD-00098"),
        ("bestelnummer 9817", "9817"),
        ("Auftrag Nr. 9817", "9817"),
        ("Commande numéro 9817", "9817"),
        ("Order WEB-77", "9817"),
        ("https://shop.example/o/ORD-00098", "ORD-00098"),
        ("HTTPS://SHOP.EXAMPLE/O/ord-00098/", "ORD-00098"),
        ("https://shop.example/track?id=9817", "9817"),
        ("www.shop.example/9817", "9817"),
        ("400ORD-00098", "ORD-00098"),
        ("(400)ORD-00098", "ORD-00098"),
        ("]C1400ORD-00098", "ORD-00098"),
        ("]C14009817", "9817"),
        ("]C1400ORD-00098\x1d4219999123", "ORD-00098"),
    ],
)
def test_number_of_an_order_is_read_in_a_longer_code(text: str, order: str) -> None:
    meaning = read(text)
    assert isinstance(meaning, Scan)
    assert [match.key for match in meaning.matches] == [order]


@pytest.mark.parametrize(
    "text",
    [
        "Order 9999",
        "Order EQUAL-5",
        "Order 7001",
        "https://shop.example/o/7",
        "https://shop.example/9817/help",
        "https://id.gs1.org/01/09520001100017/21/9817",
        "https://id.gs1.org/01/09520001100018/21/9817",
        "4009817",
        "40098176",
        "]C1010952000110001710A1\x1d4009817",
        "Reorder 9817",
    ],
)
def test_what_may_be_another_code_is_no_order(text: str) -> None:
    """No order or several, a product, a page, a serial number, or digits alone."""
    assert isinstance(read(text), UnknownCode | Text | RefusedInput)


def test_whole_code_and_free_text_come_first() -> None:
    meaning = read("ORDER-7")
    assert isinstance(meaning, Scan)
    assert [match.kind for match in meaning.matches] == [LOCATION]
    assert read("Order 9817", is_text=True) == Text("Order 9817")
