"""Codes: spellings of the same GTIN meet, published examples are read, and nothing else is taken for them."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.barcode_numbers import (
    add_on_bases,
    canonical_key,
    check_digit,
    expand_upc_e,
    guessed_keys,
    has_valid_check_digit,
    index_keys,
    lookup_keys,
    shorten_upc_a,
)
from aisle.scan.codes_of_store_and_suppliers import InStoreCode, compile_patterns, parse_in_store_code
from aisle.scan.grammar_and_meaning_types import Measure
from aisle.scan.gs1 import (
    GROUP_SEPARATOR,
    Gs1Data,
    may_be_gs1,
    nearest_century,
    parse_element_strings,
    parse_gs1_date,
    parse_message,
)

EAN = "4006381333931"
DIGITS = st.text("0123456789", min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("code", "key"),
    [
        ("4006381333931", "4006381333931"),
        ("0036000291452", "36000291452"),
        ("036000291452", "36000291452"),
        ("00036000291452", "36000291452"),
        (" 96385074 ", "96385074"),
        ("00012345", "12345"),
        ("000000", "0"),
        ("00123", "00123"),
        ("012345678901234567", "012345678901234567"),
        ("A-012", "a-012"),
        ("STRASSE ß", "strasse ss"),
        ("٠٠١٢٣٤", "٠٠١٢٣٤"),
        ("", ""),
    ],
)
def test_canonical(code: str, key: str) -> None:
    assert canonical_key(code) == key


@given(st.one_of(DIGITS, st.text(max_size=20)))
def test_both_sides_agree(code: str) -> None:
    """Whatever is stored, by all its keys or by the canonical one alone, is found by scanning it."""
    assert canonical_key(canonical_key(code)) == canonical_key(code)
    if code.strip():
        assert set(index_keys(code)) & set(lookup_keys(code))
        assert canonical_key(code) in lookup_keys(code)
    else:
        assert index_keys(code) == ()


def test_check_digits_of_published_examples() -> None:
    # EAN-13 and EAN-8 (Wikipedia), UPC-A, ITF-14, and the GTIN-8 of biip's manual.
    for code in (EAN, "5901234123457", "73513537", "036000291452", "15400141288763", "96385074"):
        assert has_valid_check_digit(code)
        assert not has_valid_check_digit(code[:-1] + str((int(code[-1]) + 1) % 10))
    assert not has_valid_check_digit("12345")
    assert not has_valid_check_digit("400638133393x")


@pytest.mark.parametrize(
    ("upc_e", "upc_a"),
    [
        ("04252614", "042100005264"),  # the usual example (Wikipedia)
        ("123450", "012000003455"),
        ("123453", "012300000451"),
        ("123454", "012340000053"),
        ("0123456", "012345000065"),
        ("01234565", "012345000065"),
        ("01234566", ""),
        ("21234565", ""),
        ("1234", ""),
    ],
)
def test_upc_e_expands(upc_e: str, upc_a: str) -> None:
    assert expand_upc_e(upc_e) == upc_a


@given(st.sampled_from("01"), st.text("0123456789", min_size=6, max_size=6))
def test_upc_e_and_upc_a_meet(system: str, body: str) -> None:
    from biip.upc import Upc

    upc_a = expand_upc_e(system + body)
    upc_e = shorten_upc_a(upc_a)
    assert upc_a == Upc.parse(system + body).as_upc_a()
    assert expand_upc_e(upc_e) == upc_a
    for stored, scanned in ((upc_a, upc_e), (upc_e, upc_a), (upc_e, "0" + upc_a)):
        assert set(index_keys(stored)) & set(lookup_keys(scanned))
    assert shorten_upc_a("036000291452") == ""


def test_no_key_is_asked_for_twice() -> None:
    assert lookup_keys(EAN) == (EAN,)
    assert lookup_keys(" A-12 ") == ("A-12", "a-12")
    assert lookup_keys("0042100005264") == ("0042100005264", "42100005264", "4252614")
    assert index_keys("000123") == ("000123", "123")


# GS1 element strings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("01" + "0" + EAN, Gs1Data(gtin="0" + EAN)),
        # GS1 General Specifications and the manuals of scanner makers
        (
            "01095011015300031714070410AB-123",
            Gs1Data(gtin="09501101530003", batch="AB-123", expiry="2014-07-04"),
        ),
        (
            "(01)09501101530003(17)140704(10)AB-123",
            Gs1Data(gtin="09501101530003", batch="AB-123", expiry="2014-07-04"),
        ),
        ("0109501101530003\x1d10AB\x1d3012", Gs1Data(gtin="09501101530003", batch="AB", pieces=Decimal(12))),
        (
            "\x1d0109501101530003310300123415251200",
            Gs1Data("09501101530003", measures=(Measure(Decimal("1.234"), "kg"),), expiry="2025-12-31"),
        ),
        (
            "01095011015300033202000250392201999",
            Gs1Data("09501101530003", measures=(Measure(Decimal("2.50"), "lb"),), price=Decimal("19.99")),
        ),
        ("0109501101530003393297801999", Gs1Data("09501101530003", price=Decimal("19.99"))),
        ("00340123450000000000", Gs1Data(sscc="340123450000000000")),
        ("00340123450000000000020950110153000337000048", Gs1Data("09501101530003", "340123450000000000", Decimal(48))),
        pytest.param(
            "[)>\x1e05\x1d010950110153000310AB\x1e\x04", Gs1Data("09501101530003", batch="AB"), marks=pytest.mark.drawn
        ),
        (
            "https://id.gs1.org/01/09501101530003/10/ABC?17=261231",
            Gs1Data("09501101530003", batch="ABC", expiry="2026-12-31"),
        ),
        pytest.param(
            "https://id.gs1.org/gtin/9501101530003/lot/ABC?exp=261231",
            Gs1Data("09501101530003", batch="ABC", expiry="2026-12-31"),
            marks=pytest.mark.drawn,
        ),
        ("https://id.gs1.org/01/9501101530003", Gs1Data("09501101530003")),
        ("010950110153000310AB%1D3012", Gs1Data(gtin="09501101530003", batch="AB", pieces=Decimal(12))),
        ("010950110153000310AB<F1>3012", Gs1Data(gtin="09501101530003", batch="AB", pieces=Decimal(12))),
        ("0109501101530003710123456\x1d10AB", Gs1Data("09501101530003", batch="AB")),
        ("(01)09501101530003(17)000229", Gs1Data("09501101530003", expiry="2000-02-29")),
        ("010950110153000316261224", Gs1Data("09501101530003", expiry="2026-12-24")),
        ("010950110153000370032612241830", Gs1Data("09501101530003", expiry="2026-12-24")),
        ("(01)09501101530003(16)261201(15)261220(7003)2612241830", Gs1Data("09501101530003", expiry="2026-12-24")),
        ("010950110153000310LOT17261201", Gs1Data("09501101530003", batch="LOT17261201", may_hide_expiry=True)),
    ],
)
def test_element_strings(text: str, expected: Gs1Data) -> None:
    assert may_be_gs1(text)
    assert parse_element_strings(text) == expected
    assert parse_element_strings(text, from_gs1_symbol=True) == expected


@pytest.mark.parametrize(
    ("label", "today", "meant"),
    [("77", 2026, 1977), ("76", 2026, 2076), ("99", 2026, 1999), ("00", 2026, 2000), ("01", 2051, 2101)],
)
def test_century_of_a_label_is_the_nearest(label: str, today: int, meant: int) -> None:
    day = date.fromisoformat(parse_gs1_date(f"{label}0228"))
    assert nearest_century(day, date(today, 11, 30)).year == meant


@pytest.mark.parametrize(
    "text",
    [
        EAN,
        "0109501101530004",  # check digit
        "010950110153000399",  # an identifier without a value
        "01095011015300031799",
        "010950110153000317251399",  # month 13 is no date
        "010950110153000317260230",  # nor is 30 February
        "(01)09501101530003)",
        "01095011015300033000000000",  # a count of none
        "010950110153000310AB\x1d300",
        "(01)09501101530003(30)0",
        "(02)09501101530003(37)00",
        "(Regal) 12",
        "A\x1dB",
        "https://example.com/01",
        "http://[broken/01/1",
        "20260101",
        "340123450000000000",
        "",
    ],
)
def test_what_is_no_element_string(text: str) -> None:
    assert parse_element_strings(text) is None


@pytest.mark.parametrize("ai", ["30", "37", "3922", "3932"])
def test_a_count_or_a_price_of_too_many_digits_is_none(ai: str) -> None:
    """Something has run into it, where a scanner sends no FNC1: nobody has ten thousand million of a thing in hand."""
    code = f"0104006381333931{ai}{'9' * 29}"
    for text in (code, f"(01)04006381333931({ai}){'9' * 29}"):
        assert parse_element_strings(text) is None
        assert parse_element_strings(text, from_gs1_symbol=True) is None
    assert parse_element_strings(code[:26]) is not None


def test_gs1_symbol_is_read_whole_or_refused() -> None:
    assert parse_element_strings("0109501101530003ZZ", from_gs1_symbol=True) is None, (
        "what is left out could be how many there are"
    )
    assert parse_element_strings("0109501101530004", from_gs1_symbol=True) == Gs1Data("09501101530004")
    assert parse_element_strings("10AB", from_gs1_symbol=True) is None


FIXED = {
    "11": 6,
    "13": 6,
    "20": 2,
    "3103": 6,
    "3922": None,
    "10": None,
    "21": None,
    "30": None,
    "37": None,
    "240": None,
}


@given(st.lists(st.tuples(st.sampled_from(sorted(FIXED)), DIGITS), max_size=5, unique_by=lambda part: part[0]))
def test_messages_are_split_as_biip_does(parts: list[tuple[str, str]]) -> None:
    from biip import ParseConfig
    from biip.gs1_messages import GS1Message

    text = "0109501101530003"
    for ai, digits in parts:
        places = FIXED[ai]
        value = (digits[:8].strip("0") or "1") if places is None else "010101010101"[:places]
        text += f"{ai}{value}" + ("" if places else GROUP_SEPARATOR)
    theirs = GS1Message.parse(text, config=ParseConfig(gs1_element_strings_verify_date=False))
    found = parse_message(text)
    assert found.is_complete
    assert found.values == dict(reversed([(element.ai.ai, element.value) for element in theirs.element_strings]))


@given(st.text("0123456789AB()\x1d\x1e]/:", max_size=60), st.booleans())
def test_no_text_raises(text: str, sure: bool) -> None:
    may_be_gs1(text)
    parse_element_strings(text, sure)


def test_everyday_codes_do_not_load_biip() -> None:
    code = (
        "import sys; from aisle.scan.gs1 import parse_element_strings; from aisle.scan import grammar, resolve\n"
        "assert parse_element_strings('0109501101530003310300123410AB').batch == 'AB'\n"
        "assert 'biip' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Restricted-circulation numbers


def ean(body: str) -> str:
    return body + check_digit(body)


@pytest.mark.parametrize(
    ("pattern", "code", "expected"),
    [
        ("28IIIIIWWWWWC", ean("281234501234"), (("2812345000007", "2812345", "12345"), Decimal("1.234"), None, None)),
        ("28IIIIIWWWWWC:2", ean("281234501234"), (("2812345000007", "2812345", "12345"), Decimal("12.34"), None, None)),
        (
            "21IIIIIPPPPPC",
            ean("210004200199"),
            ((ean("210004200000"), "2100042", "00042", "42"), None, Decimal("1.99"), None),
        ),
        ("22IIIIXPPPPPC", ean("221234700500"), ((ean("221234000000"), "221234", "1234"), None, Decimal(5), None)),
        (
            "25NNNIIIIIIIC",
            ean("250127654321"),
            ((ean("250007654321"), "257654321", "7654321"), None, None, Decimal(12)),
        ),
        (
            "02IIIIWWWWWC",
            ean("02123401500"),
            ((ean("02123400000"), "021234", "21234", "1234"), Decimal("1.5"), None, None),
        ),
    ],
)
def test_restricted_codes(pattern: str, code: str, expected: tuple[object, ...]) -> None:
    found = parse_in_store_code(code, compile_patterns((pattern,)))
    assert found is not None
    keys, weight, price, pieces = expected
    assert isinstance(keys, tuple)
    assert [key for key in found.keys if key in keys] == list(keys)
    assert (found.weight, found.price, found.pieces) == (weight, price, pieces)
    assert parse_in_store_code(code[:-1] + str((int(code[-1]) + 1) % 10), compile_patterns((pattern,))) is None


def test_restricted_codes_are_plain_until_the_table_says_otherwise() -> None:
    code = ean("281234501234")
    assert parse_in_store_code(code, ()) is None
    assert parse_in_store_code(code, compile_patterns(("29IIIIIWWWWWC",))) is None
    label = parse_in_store_code(ean("281234500000"), compile_patterns(("28IIIIIWWWWWC",)))
    assert label is not None
    assert label.weight is None
    assert parse_in_store_code("28ABC4501234X", compile_patterns(("28IIIIIWWWWWC",))) is None
    assert isinstance(parse_in_store_code(code, compile_patterns(("29IIIIIWWWWWC", "28IIIIIWWWWWC"))), InStoreCode)


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "28IIIIIWWWWW",
        "28IIIIIWWWWWW",
        "28IIIIIWWPPPC",
        "28WWWWWWWWWWC",
        "28IIIIIWWWWWC:x",
        "IIIIIIIWWWWWC",
        "28iiiiiwwwwwc",
    ],
)
def test_a_wrong_pattern_is_named(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no pattern of a restricted code"):
        compile_patterns((pattern,))


@pytest.mark.parametrize("text", [f"F{EAN}", "A042100005264", "FF96385074", f"E{EAN}"])
def test_a_scanners_letters_for_the_symbology_are_a_guess(text: str) -> None:
    assert canonical_key(text.lstrip("AEF")) in guessed_keys(text)
    assert canonical_key(text.lstrip("AEF")) not in lookup_keys(text)


@pytest.mark.parametrize("text", [f"F{EAN[:-1]}0", f"Z{EAN}", f"d{EAN}", f"ABC{EAN}", "A1234567"])
def test_other_letters_before_a_code_belong_to_it(text: str) -> None:
    assert not [key for key in (*lookup_keys(text), *guessed_keys(text)) if key.isdigit()]


@pytest.mark.parametrize("text", ["00074323001617", "9638507407", "9638507412345", "31000743230016"])
def test_a_whole_code_and_an_ean_8_have_no_add_on(text: str) -> None:
    assert not [*add_on_bases(text)]
