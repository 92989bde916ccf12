"""One set of forms of a code: whatever way a barcode is stored and sent, both sides meet, and nothing is guessed that
fits more than one thing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.barcode_numbers import (
    check_digit,
    expand_upc_e,
    has_valid_check_digit,
    index_keys,
    lookup_keys,
    shorten_upc_a,
)
from aisle.scan.codes_of_store_and_suppliers import compile_patterns
from aisle.scan.grammar import look_up_keys, needs_look_up, parse
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    Accepts,
    Ambiguous,
    Candidate,
    Match,
    Meaning,
    RefusedInput,
    Scan,
    UnknownCode,
)
from aisle.scan.resolve import resolve

EAN, ISSN, UPC_E, UPC_A = "9520001100017", "9771234567898", "04252614", "042100005264"
TABLE = compile_patterns(("2IIIIIXPPPPC:2",))


def what(text: str, *stored: tuple[str, str], kind: str = PRODUCT, table: bool = False, price: str = "") -> Meaning:
    """What a code means in a store that has these: (code, key)."""
    found = parse(text, Accepts(), TABLE if table else ())
    assert needs_look_up(found), found
    known = [
        Candidate(form, kind, key, key, Decimal(1), bool(price), Decimal(price) if price else None)
        for code, key in stored
        for form in index_keys(code)
        if form in look_up_keys(found)
    ]
    return resolve(text, Accepts(), found, known, (PRODUCT,))


def only(said: Meaning) -> Match:
    assert isinstance(said, Scan), said
    (meaning,) = said.matches
    return meaning


def ean(body: str) -> str:
    return body + check_digit(body)


def full_width(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) for char in text)


def arabic(text: str) -> str:
    return "".join(chr(0x660 + int(char)) for char in text)


@given(st.sampled_from("01"), st.text("0123456789", min_size=6, max_size=6), st.data())
def test_every_upc_e_is_its_upc_a(system: str, body: str, data: st.DataObject) -> None:
    forms = upc_forms(system, body)
    stored, sent = data.draw(st.sampled_from(forms)), data.draw(st.sampled_from(forms))
    assert only(what(sent, (stored, "X"))).key == "X"


def upc_forms(system: str, body: str) -> tuple[str, ...]:
    """Forms of a UPC-E: body alone, with number system, with check digit, with both; and its UPC-A in every length."""
    upc_a = expand_upc_e(system + body)
    upc_e = system + body + upc_a[-1]
    short = (upc_e[1:7], upc_e[:7], upc_e[1:], upc_e, shorten_upc_a(upc_a))
    return (*short, upc_a, "0" + upc_a, "00" + upc_a, upc_a.removeprefix("0"), "00000" + upc_e)


@pytest.mark.parametrize("system", "01")
@pytest.mark.parametrize(
    "body", ["654321", "123456", "234553", "425261", "000101", "100003", "123454", "987650", "900009", "012342"]
)
def test_every_form_of_a_upc_e_finds_every_other(system: str, body: str) -> None:
    forms = upc_forms(system, body)
    for stored in forms:
        for sent in forms:
            assert only(what(sent, (stored, "X"))).key == "X", (stored, sent)


SENT_AND_STORED = [
    (EAN, EAN),
    (f"0{EAN}", EAN),
    (EAN, f"0{EAN}"),
    (EAN[:-1], EAN),
    ("952000110001", EAN),
    (f"0{EAN[:-1]}", EAN),
    (EAN, EAN[:-1]),
    (full_width(EAN), EAN),
    (arabic(EAN), EAN),
    (EAN, full_width(EAN)),
    (EAN, arabic(EAN)),
    (f"*{EAN}*", EAN),
    ("*X208*", "X208"),
    ("X208", "*X208*"),
    ("9 520001 100017", EAN),
    (EAN, "9 520001 100017"),
    (EAN, "9-520001-100017"),
    ("9\u00a0520001\u00a0100017", EAN),
    ("X 208", "X208"),
    (f"(01)0{EAN}", EAN),
    (f"(01) 0{EAN}", EAN),
    (EAN, f"(01)0{EAN}"),
    (EAN, f"010{EAN}"),
    (f"010{EAN}", EAN),
    (f"{EAN}05", EAN),
    (f"{EAN}51299", EAN),
    (f"{ISSN}05", ISSN),
    (f"]E0{ISSN} 05", ISSN),
    ("1234-5679", ISSN),
    ("ISSN 1234-5679", ISSN),
    (f"]E0{ISSN}05", ISSN),
    (f"]E3{ISSN}05", ISSN),
    ("03600029145212", "036000291452"),
    ("03600029145251299", "036000291452"),
    ("0425261412", UPC_E),
    ("0-306-40615-2", "9780306406157"),
    ("0306406152", "9780306406157"),
    ("9780306406157", "0306406152"),
    ("9780306406157", "0-306-40615-2"),
    ("978-0-306-40615-7", "9780306406157"),
    ("080442957X", "9780804429573"),
    ("M230671187", "9790230671187"),
    ("m230671187", "9790230671187"),
    ("M-230671187", "9790230671187"),
    ("M-2306-7118-7", "9790230671187"),
    ("M 2306 7118 7", "9790230671187"),
    ("ISMN M-2306-7118-7", "9790230671187"),
    ("ISMN M230671187", "M-2306-7118-7"),
    ("9790230671187", "M-230671187"),
    ("9790230671187", "M230671187"),
    ("979-0-2306-7118-7", "M230671187"),
    ("M230671187", "M-2306-7118-7"),
    ("9780804429573", "080442957x"),
    ("9638507", "96385074"),
    ("1540014128876", "15400141288763"),
    ("0000096385074", "96385074"),
    ("3600029145", "036000291452"),
]


@pytest.mark.parametrize(("sent", "stored"), SENT_AND_STORED)
def test_a_code_is_found_however_it_is_sent_or_stored(sent: str, stored: str) -> None:
    for text in (sent, f"2*{sent}", f"?{sent}"):
        assert only(what(text, (stored, "X"))).key == "X"


@pytest.mark.parametrize("text", ["M230671188", "M-2306-7118-8", "M23067118", "M2306711877", "N230671187", "M 230"])
def test_an_ismn_with_a_wrong_check_digit_is_none(text: str) -> None:
    assert not isinstance(what(text, ("9790230671187", "X")), Scan)


@given(st.text("0123456789", min_size=12, max_size=12), st.sampled_from(["05", "51299"]))
def test_an_add_on_of_any_ean_is_ignored(body: str, add_on: str) -> None:
    assert only(what(ean(body) + add_on, (ean(body), "X"))).key == "X"


@given(st.text("0123456789", min_size=12, max_size=12))
def test_any_ean_without_its_check_digit_is_found(body: str) -> None:
    assert only(what(body, (ean(body), "X"))).key == "X"


def test_a_guess_that_fits_two_is_asked() -> None:
    other = ean("0" + EAN[:-1])
    said = what(EAN[:-1], (EAN, "A"), (f"{EAN[:-1]}99999", "B"))
    assert only(said).key == "A"
    said = what("425261", (UPC_E, "A"), ("1425261" + expand_upc_e("1425261")[-1], "B"))
    assert isinstance(said, Ambiguous)
    assert {way.matches[0].key for way in said.scans} == {"A", "B"}
    assert has_valid_check_digit(other)


def test_exact_code_wins_over_derived_forms() -> None:
    assert only(what(EAN[:-1], (EAN, "A"), (EAN[:-1], "B"))).key == "B"
    assert only(what("425261", (UPC_E, "A"), ("425261", "B"))).key == "B"


def test_a_guess_is_never_an_order() -> None:
    assert what(EAN[:-1], (EAN, "4101"), kind=ORDER) == UnknownCode(EAN[:-1])
    assert only(what("A 01", ("A01", "A01"), kind=LOCATION)).kind == LOCATION


@pytest.mark.parametrize(
    "text",
    [
        EAN[:-1] + "8",  # a wrong check digit
        ean("400638133393") + "123",  # no add-on has three digits
        "95200011000",
        f"{EAN[:-1]}805",
        "9780306406158",
        "0306406153",
    ],
)
def test_what_fits_no_form_stays_unknown(text: str) -> None:
    assert what(text, (EAN, "A"), ("9780306406157", "B")) == UnknownCode(text)


# In-store codes

OWN = "212345806753"
OWN_STORED = (
    "212345",
    "0212345",
    "212345000004",
    ean("21234500000"),
    "0" + ean("21234500000"),
    "00" + ean("21234500000"),
)


@pytest.mark.parametrize("stored", [code for code in OWN_STORED if code != "212345000004"])
@pytest.mark.parametrize("sent", [OWN, f"0{OWN}", f"00{OWN}", f"]E00{OWN}", f"0100{OWN}", full_width(f"0{OWN}")])
def test_an_in_store_code_is_found_in_every_form(sent: str, stored: str) -> None:
    meaning = only(what(sent, (stored, "HAM"), table=True, price="5.00"))
    assert (meaning.key, meaning.quantity, meaning.is_explicit) == ("HAM", Decimal("1.35"), True)


@pytest.mark.parametrize("places", ["2IIIIIXPPPPC:2", "02IIIIIXPPPPC:2", "002IIIIIXPPPPC:2"])
def test_an_in_store_pattern_fits_whatever_zeros_it_has(places: str) -> None:
    from aisle.scan.codes_of_store_and_suppliers import parse_in_store_code

    for sent in (OWN, f"0{OWN}", f"00{OWN}"):
        found = parse_in_store_code(sent, compile_patterns((places,)))
        assert found is not None
        assert (found.price, "212345" in found.keys) == (Decimal("6.75"), True)
    assert parse_in_store_code("000" + OWN, compile_patterns((places,))) is None


# Keyboard layouts


def through(layout: str, text: str) -> str:
    """What arrives of a scan where the terminal has a keyboard of that country."""
    from aisle.scan import keyboard_layouts

    table = keyboard_layouts.character_map(layout)
    arrives = {read: typed for typed, read in table.items()}
    return "".join(arrives.get(char, char) for char in text)


SHIFTED = ("us", *(f"shift-{name}" for name in ("uk", "de", "es", "it", "pt", "nordic", "nl", "ch", "tr", "hu")))
"""Layouts of which a digit row with Shift arrives."""

SSCC = "395200000000000043"


@pytest.mark.parametrize("stored", ["00395200000000000043", "395200000000000043"])
@pytest.mark.parametrize("sent", [SSCC, f"00{SSCC}", f"]C100{SSCC}", f"(00){SSCC}", f"https://id.gs1.org/00/{SSCC}"])
def test_a_container_is_found_in_each_form_of_its_number(stored: str, sent: str) -> None:
    assert only(what(sent, (stored, "X"))).key == "X"


@pytest.mark.parametrize("sent", ["395200000000000044", "39520000000000043", "1395200000000000043"])
def test_another_number_is_no_container(sent: str) -> None:
    assert not isinstance(what(sent, (f"00{SSCC}", "X")), Scan)


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("fr", EAN),
        ("fr", f"]E0{EAN}"),
        ("fr", f"]C1010{EAN}10LOT7"),
        ("fr", f"010{EAN}17261231"),
        ("fr", UPC_A),
        ("be", EAN),
        ("de", f"]E0{EAN}"),
        ("de", f"]C1010{EAN}10YZ-1"),
        ("ch", f"]E0{EAN}"),
        ("cz", EAN),
        ("sk", EAN),
        ("hu", EAN),
        *((layout, text) for layout in SHIFTED for text in (EAN, f"010{EAN}", f"010{EAN}10123\x1d3012")),
    ],
)
def test_a_known_code_through_another_keyboard_is_read_back(layout: str, text: str) -> None:
    sent = through(layout, text)
    assert sent != text
    meaning = only(what(sent, (EAN, "X"), (UPC_A, "X")))
    assert (meaning.key, bool(meaning.layout)) == ("X", True)


@pytest.mark.parametrize("layout", SHIFTED)
@pytest.mark.parametrize("text", [EAN, f"010{EAN}10LOT7", f"010{EAN}\x1d3012"])
def test_an_unknown_code_of_shifted_digits_names_the_keyboard(layout: str, text: str) -> None:
    sent = through(layout, text)
    assert what(sent, ("1", "X")) == RefusedInput("input.keyboard_layout", sent)


@given(st.text("0123456789", min_size=12, max_size=12), st.sampled_from(["fr", "be", "cz", "sk", *SHIFTED]))
def test_every_ean_through_another_keyboard_is_read_back(body: str, layout: str) -> None:
    assert only(what(through(layout, ean(body)), (ean(body), "X"))).key == "X"


@pytest.mark.parametrize("layout", ["fr", "be", "cz", "sk"])
@pytest.mark.parametrize(
    ("sent", "quantity"),
    [
        (ean("221234500675"), "1.35"),
        ("0" + ean("221234500675"), "1.35"),
        (ean("281234501250"), "1.25"),
        ("]E0" + ean("281234501250"), "1.25"),
        ("010" + EAN + "3103001250", "1.25"),
        ("010" + EAN + "3103001250" + "15261231", "1.25"),
        ("010" + EAN + "10LOT7\x1d3103001250", "1.25"),
        ("]C1010" + EAN + "3102000125", "1.25"),
        (f"(01)0{EAN}(3103)001250", "1.25"),
    ],
)
def test_a_label_of_weight_or_price_through_another_keyboard_is_read_back(
    layout: str, sent: str, quantity: str
) -> None:
    stored = {EAN: "X", "12345": "X", ean("221234500000"): "X"}
    patterns = compile_patterns(("28IIIIIWWWWWC", "22IIIIIPPPPPC:2"))
    text = through(layout, sent)
    found = parse(text, Accepts(), patterns)
    assert needs_look_up(found), found
    known = [
        Candidate(form, PRODUCT, key, key, allow_decimal=True, price=Decimal(5), unit="kg")
        for code, key in stored.items()
        for form in index_keys(code)
        if form in look_up_keys(found)
    ]
    match = only(resolve(text, Accepts(), found, known, (PRODUCT,)))
    assert (match.key, match.quantity, match.is_explicit) == ("X", Decimal(quantity), True)


@pytest.mark.parametrize("layout", ["fr", "be"])
def test_a_label_of_weight_that_no_pattern_describes_is_refused_through_another_keyboard(layout: str) -> None:
    sent = through(layout, ean("281234501250"))
    assert what(sent, ("12345", "X"), table=True) == RefusedInput("input.keyboard_layout", sent)


@pytest.mark.parametrize("add_on", ["05", "12", "00", "51299", "00005"])
@pytest.mark.parametrize("code", [EAN, UPC_A, ISSN, "9780306406157"])
@pytest.mark.parametrize("before", ["", "?", "]E0"])
def test_an_add_on_after_a_plus_is_ignored(before: str, code: str, add_on: str) -> None:
    assert only(what(f"{before}{code}+{add_on}", (code, "X"))).quantity == 1


@pytest.mark.parametrize("rest", ["+5", "+123", "+1234", "+05+05", " 05", "/05", "+0,5"])
def test_another_number_after_a_code_is_no_add_on(rest: str) -> None:
    assert not isinstance(what(f"{EAN}{rest}", (EAN, "X")), Scan)


@pytest.mark.parametrize(
    "text",
    [
        "ç(éàààààà&&à",
        through("fr", EAN),
        through("cz", EAN),
        through("us", EAN),
        through("fr", EAN[:-1] + "8"),
        "Aß01ß2",
    ],
)
def test_unknown_code_of_other_keyboard_layout_is_named(text: str) -> None:
    assert what(text, ("4006381333931", "PEN")) == RefusedInput("input.keyboard_layout", text)


@pytest.mark.parametrize(
    "text", ["été", "l'été", "ça", "là-bas", "déjà-là", "Weißbier", "Straße", "milk", "à côté", "#1"]
)
def test_words_are_no_code_through_another_keyboard(text: str) -> None:
    assert not isinstance(what(text), RefusedInput)


def test_a_logistic_unit_is_found_without_the_zero_that_it_begins_with() -> None:
    for body in ("09520001000000001", "00000000000000001", "03401234500000000"):
        sscc = body + check_digit(body)
        assert sscc in lookup_keys(sscc[1:])
        assert sscc[1:] in lookup_keys(sscc)
    assert not {"0" + key for key in lookup_keys("95200010000000019")} & {*lookup_keys("95200010000000018")}
