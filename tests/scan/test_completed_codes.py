"""Codes that are read where exactly one thing fits: too many zeros, no check digit, another keyboard layout."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.barcode_numbers import check_digit
from aisle.scan.codes_of_store_and_suppliers import compile_patterns, is_unknown_in_store_code
from aisle.scan.grammar import look_up_keys, needs_look_up, parse
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    PRODUCT,
    Accepts,
    Ambiguous,
    Candidate,
    Meaning,
    Measure,
    Scan,
)
from aisle.scan.resolve import resolve

PATTERNS = compile_patterns(("28IIIIIWWWWWC", "21IIIIIPPPPPC:2", "22IIIIINNNNNC"))
KNOWN = (
    Candidate("9520001100017", PRODUCT, "P1", "Honey"),
    Candidate("2800010000001", PRODUCT, "P2", "Ham", allow_decimal=True, unit="kg", price=Decimal(5)),
    Candidate("2100010000002", PRODUCT, "P3", "Brie", allow_decimal=True, unit="kg", price=Decimal(5)),
    Candidate("2200010000009", PRODUCT, "P4", "Egg"),
    Candidate("br-01", LOCATION, "BR-01", "BR-01"),
)


def read(text: str, known: tuple[Candidate, ...] = KNOWN) -> Meaning:
    """What a text means in a store that knows these."""
    interpretations = parse(text, Accepts(), PATTERNS)
    assert needs_look_up(interpretations), interpretations
    keys = look_up_keys(interpretations)
    return resolve(text, Accepts(), interpretations, [each for each in known if each.code in keys], (PRODUCT,))


@pytest.mark.parametrize("zeros", range(6))
@pytest.mark.parametrize("before", ["", "?", "3*"])
def test_leading_zeros_change_nothing(zeros: int, before: str) -> None:
    meaning = read(before + "0" * zeros + "9520001100017")
    assert isinstance(meaning, Scan)
    assert meaning.matches[0].key == "P1"
    assert meaning.matches[0].quantity == (3 if before == "3*" else 1)
    assert meaning.matches[0].is_guess == (zeros > 1)


@pytest.mark.parametrize("zeros", range(6))
def test_leading_zeros_change_no_weight(zeros: int) -> None:
    meaning = read("0" * zeros + "2800010012349")
    assert isinstance(meaning, Scan)
    assert (meaning.matches[0].key, meaning.matches[0].quantity) == ("P2", Decimal("1.234"))


@pytest.mark.parametrize("code", ["0" * 8 + "9520001100017", "009520001100018", "0" * 15, "0" * 18, "0" * 20])
def test_other_zeros_are_unknown(code: str) -> None:
    assert not isinstance(read(code), Scan | Ambiguous)


def test_zeros_that_fit_two_things_are_asked() -> None:
    meaning = read("009520001100017", (*KNOWN, Candidate("9520001100017", PRODUCT, "P9", "Jam")))
    assert isinstance(meaning, Ambiguous)


def test_a_known_code_with_zeros_is_that_code() -> None:
    meaning = read("009520001100017", (*KNOWN, Candidate("009520001100017", LOCATION, "009520001100017")))
    assert isinstance(meaning, Scan)
    assert meaning.matches[0].kind == LOCATION


def test_a_weight_without_check_digit_is_asked_back() -> None:
    meaning = read("280001001234")
    assert isinstance(meaning, Scan)
    match = meaning.matches[0]
    assert (match.key, match.needs_quantity, match.unit, match.is_guess) == ("P2", True, "kg", True)
    assert match.measure == Measure(Decimal("1.234"), "kg", 3)


def test_a_price_without_check_digit_is_asked_back() -> None:
    meaning = read("210001000500")
    assert isinstance(meaning, Scan)
    match = meaning.matches[0]
    assert (match.key, match.needs_quantity, match.price) == ("P3", True, Decimal("5.00"))


@pytest.mark.parametrize("zeros", range(1, 7))
@pytest.mark.parametrize("code", ["280001001234", "280001001232", "210001000500"])
def test_leading_zeros_before_a_label_without_check_digit_change_nothing(zeros: int, code: str) -> None:
    meaning, bare = read("0" * zeros + code), read(code)
    assert isinstance(meaning, Scan)
    assert isinstance(bare, Scan)
    assert meaning.matches[0].needs_quantity
    assert meaning.matches[0]._replace(code=code) == bare.matches[0]


@pytest.mark.parametrize("zeros", range(3))
@pytest.mark.parametrize("code", ["28000100123", "21000100050", "22000100001", "29000100123"])
def test_a_label_that_fits_a_pattern_is_not_said_to_need_one(zeros: int, code: str) -> None:
    unchecked = "0" * zeros + code + check_digit(code)  # twelve digits, which are a UPC-A by chance
    assert is_unknown_in_store_code(unchecked, PATTERNS) is code.startswith("29")


@pytest.mark.parametrize("code", ["220001000012", "28000100123", "2800010012348", "290001001234"])
def test_other_labels_without_check_digit_stay_unknown(code: str) -> None:
    assert not isinstance(read(code), Scan | Ambiguous)


@pytest.mark.parametrize("code", ["BRß01", "brß01", "BR)à&", "BR=é+", "BRüö1"])
def test_a_location_through_another_keyboard_is_read_back(code: str) -> None:
    meaning = read(code)
    assert isinstance(meaning, Scan)
    assert (meaning.matches[0].kind, meaning.matches[0].key) == (LOCATION, "BR-01")
    assert meaning.matches[0].layout
