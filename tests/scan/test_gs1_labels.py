"""Labels with GS1 data: separators and their substitutes, lengths, characters and dates, measures and units."""

from __future__ import annotations

from decimal import Decimal
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.barcode_numbers import check_digit, index_keys
from aisle.scan.codes_of_store_and_suppliers import compile_patterns
from aisle.scan.decoder import Decoder
from aisle.scan.grammar import look_up_keys, needs_look_up, parse
from aisle.scan.grammar_and_meaning_types import (
    PRODUCT,
    Accepts,
    Candidate,
    Match,
    Meaning,
    RefusedInput,
    Scan,
    UnknownCode,
)
from aisle.scan.gs1 import parse_element_strings, parse_message
from aisle.scan.inputs_and_line_grouping import DecodedInput, EscapeInput, Line, OpenLine
from aisle.scan.resolve import resolve

GS = "\x1d"
GTIN, WEIGHED = "09520001100024", "09520001100505"
MESSAGE = f"01{GTIN}10LOT7{GS}3012"


def what(
    text: str, unit: str = "", decimal: bool = True, price: str = "", gtin: str = WEIGHED, factor: int = 1
) -> Meaning:
    found = parse(text, Accepts(), compile_patterns(("28IIIIIWWWWWC", "29IIIIIWWWWWC:0")))
    assert needs_look_up(found), found
    cost = Decimal(price) if price else None
    known = [
        Candidate(key, PRODUCT, "X", "Kale", Decimal(factor), decimal, cost, unit)
        for code in (gtin, "2812345", "2912345")
        for key in index_keys(code)
        if key in look_up_keys(found)
    ]
    return resolve(text, Accepts(), found, known, (PRODUCT,))


def only(said: Meaning) -> Match:
    assert isinstance(said, Scan), said
    return said.matches[0]


@pytest.mark.parametrize(
    ("before", "after", "quantity"),
    [
        ("3103000300", "", "0.3"),
        ("17261231", "3103000300", "0.3"),
        ("15261231", "310300030010LOT7", "0.3"),
        ("11260101", "3103000300", "0.3"),
        ("11260101172612313103000300", "", "0.3"),
    ],
)
def test_date_or_weight_before_the_gtin_is_read(before: str, after: str, quantity: str) -> None:
    """Without AIM prefix and separator; a wrong check digit or date leaves the code unknown."""
    meant = only(what(f"{before}01{WEIGHED}{after}", "kg"))
    assert (meant.key, meant.quantity) == ("X", Decimal(quantity))
    wrong = WEIGHED[:-1] + str((int(WEIGHED[-1]) + 1) % 10)
    assert not isinstance(what(f"{before}01{wrong}{after}", "kg"), Scan)
    assert not isinstance(what(f"17261332{before}01{WEIGHED}{after}", "kg"), Scan)
    assert not isinstance(what(f"{before}01{WEIGHED}{after}", "kg", gtin=GTIN), Scan)


# Separators

SUBSTITUTES = (
    *"~|^#@$\\{}[]`§¶¦¬↔␝ ",
    *("<GS>", "{GS}", "[GS]", "(GS)", "<FNC1>", "{FNC1}", "<F8>", "^]", "\\x1d", "\\x1D", "\\u001d", "\\029", "&#29;"),
    *("<gs>", "~d029", "_x001D_", "^[[19~", "[19~", "<0x1D>", "\x1e", "\x1c"),
)


@pytest.mark.parametrize("sign", SUBSTITUTES)
def test_a_substitute_of_fnc1_is_read_as_separator(sign: str) -> None:
    """Between two values, before the first and behind the last; the same is said as with a real one."""
    for text in (MESSAGE, MESSAGE + GS, f"01{GTIN}{GS}10LOT7{GS}3012", f"01{GTIN}3012{GS}10LOT7"):
        for prefix in ("", "]C1", "]d2"):
            meaning = only(what(prefix + text.replace(GS, sign), gtin=GTIN))
            assert (meaning.key, meaning.quantity, meaning.is_explicit, meaning.batch) == (
                "X",
                Decimal(12),
                True,
                "LOT7",
            ), text
    if not sign[-1].isdigit():
        assert only(what(sign + MESSAGE.replace(GS, sign), gtin=GTIN)).quantity == 12


DATED = ("11", "12", "13", "15", "16", "17")
"""Identifiers of dates, which begin with a digit that a substitute could end with."""
TAILS = ("3012", "3103001500", "37144", "3922150", "240S1", "10LOT8")


@pytest.mark.parametrize("sign", [*SUBSTITUTES, "~1", "^1", "~029", pytest.param("^029", marks=pytest.mark.drawn)])
@pytest.mark.parametrize("ai", DATED)
def test_a_substitute_never_takes_a_digit_of_what_follows(sign: str, ai: str) -> None:
    """The same as with real separators, or refused, whatever the digits of the date are."""
    read = 0
    for month in (1, 2, 10, 11, 12):
        for day in (1, 11, 22):
            for tail in TAILS:
                sent = f"01{GTIN}21LOT7{GS}{ai}26{month:02}{day:02}{tail}"
                found = parse_message(sent.replace(GS, sign))
                assert found.fault or found.values == parse_message(sent).values, sent
                read += not found.fault
    assert read or sign in ("~1", "^1")


@pytest.mark.parametrize("ai", ["10", "21", "17", "400", "37", "3103"])
def test_an_identifier_with_two_values_is_two_labels(ai: str) -> None:
    first, second = ("261201", "261202") if ai == "17" else ("001500", "001600")
    text = f"01{GTIN}{ai}{first}{GS}{ai}{second}"
    assert what(text, gtin=GTIN) == RefusedInput("input.gs1_damaged", text)
    assert isinstance(what(f"01{GTIN}{ai}{first}{GS}{ai}{first}", gtin=GTIN), Scan)


@pytest.mark.parametrize("prefix", ["", "]C1", "]d2", "]Q3", "]e0"])
@pytest.mark.parametrize(
    "tail",
    [
        "10LOT7Ω3012",  # a sign that nobody knows
        "10LOT7ÿ3012",
        "10LOT7~30ABC",
        "10LOT7|",
        "10" + "L" * 21,
        "10LOT7" + "1" * 20 + "3012",
        "21" + "S" * 21,
        "30123456789",
        "3712A",
        "392212345678901234567",
    ],
)
def test_missing_separator_is_reported(prefix: str, tail: str) -> None:
    text = f"{prefix}01{GTIN}{tail}"
    if tail == "10LOT7|":
        assert only(what(text, gtin=GTIN)).batch == "LOT7"  # one at the end says nothing
    else:
        assert what(text, gtin=GTIN) == RefusedInput("input.no_gs", text)


NINE = "99520001100027"
"""A trade item whose quantity varies: its label says how much there is."""


@pytest.mark.parametrize("ai", ["10", "21", "22", "240", "250"])
@pytest.mark.parametrize(
    ("gtin", "of", "value"),
    [
        *((GTIN, "01", value) for value in ("L172612013012", "L301217261201", "71526120137144", "L310300150017261201")),
        *((GTIN, "02", value) for value in ("LOT73712", "L37144", "8371", "L3700000012")),
        *((NINE, "01", value) for value in ("LOT73012", "L301", "23063012")),
    ],
)
def test_a_value_that_runs_on_into_a_quantity_beyond_doubt_is_refused(gtin: str, of: str, value: str, ai: str) -> None:
    for prefix in ("", "]C1", "]d2"):
        text = f"{prefix}{of}{gtin}{ai}{value}"
        assert what(text, gtin=gtin) == RefusedInput("input.no_gs", text)
        assert isinstance(what(text + GS, gtin=gtin), Scan)  # this scanner sends separators
    assert isinstance(what(f"({of}){gtin}({ai}){value}", gtin=gtin), Scan)


@pytest.mark.parametrize("ai", ["10", "21", "22", "240", "250"])
@pytest.mark.parametrize(
    ("gtin", "of", "value"),
    [
        *((GTIN, "01", value) for value in ("LOT3012", "L3012", "230615", "3712", "L17261201", "301230123012", "30")),
        *((GTIN, "01", value) for value in ("L3103001500", "L179912013012", "L172613013012", "L17261201300")),
        *((GTIN, "02", value) for value in ("L1737", "37", "LOT370")),
        *((NINE, "01", value) for value in ("LOT3712", "L1730", "30", "LOT300")),
        (GTIN, "0237144", "LOT3712"),
    ],
)
def test_an_honest_lot_that_looks_like_a_quantity_is_a_lot(gtin: str, of: str, value: str, ai: str) -> None:
    """So many lots end like a count of pieces that asking each time would teach people to answer without reading."""
    text = f"{of[:2]}{gtin}{of[2:]}{GS if of[2:] else ''}{ai}{value}"
    meaning = only(what(text, "piece", decimal=False, gtin=gtin))
    assert meaning.batch == (value if ai == "10" else "")
    assert not meaning.needs_quantity


@pytest.mark.parametrize("value", ["30" * 44 + "4", "30" * 45, "3" * 90, "3017241231" * 9, "30372" * 18])
def test_a_long_value_with_many_ways_to_cut_it_is_read_at_once(value: str) -> None:
    began = process_time()
    assert parse_message(f"01{GTIN}91{value}").values["01"] == GTIN
    assert process_time() - began < 1


@pytest.mark.parametrize("tail", ["3103001500", "3202000275", "3152000300"])
def test_ambiguous_lot_and_weight_asks(tail: str) -> None:
    for unit in ("kg", "l", ""):
        meaning = only(what(f"01{WEIGHED}10LOT7{tail}", unit))
        assert (meaning.quantity, meaning.is_explicit, meaning.needs_quantity) == (Decimal(1), False, True)
    assert not only(what(f"01{WEIGHED}10LOT7{tail}{GS}", "kg")).needs_quantity
    assert not only(what(f"01{WEIGHED}10LOT7", "kg")).needs_quantity
    assert only(what(f"01{WEIGHED}310300150010LOT7{tail}", "kg")).quantity == Decimal("1.5")


@pytest.mark.parametrize(
    "tail",
    [
        "17261332",
        "17260230",
        "15990001",
        "1726123",
        f"10LOT{GS}17261301",
        f"10LOT~{GS}3012",
        f"10LÖT{GS}3012",
        f"3012{GS}3013",
        f"{GS}05X",
        f"10{GS}3012",
        "3109000100",
        f"7003261301{GS}",
    ],
)
def test_data_that_is_damaged_is_refused_as_a_whole(tail: str) -> None:
    for prefix in ("", "]C1"):
        text = f"{prefix}01{GTIN}{tail}"
        said = what(text, gtin=GTIN)
        assert isinstance(said, RefusedInput), (text, said)
        assert said.reason in ("input.gs1_damaged", "input.no_gs")


@pytest.mark.parametrize("text", [f"(01){GTIN}(17)261301", f"(01){GTIN}(10){'L' * 21}", f"(01){GTIN}(99999)1"])
def test_printed_brackets_follow_the_same_rules(text: str) -> None:
    assert what(text, gtin=GTIN) == RefusedInput("input.gs1_damaged", text)
    assert only(what(f"(01) {GTIN} (10) LOT7 (30) 12", gtin=GTIN)).quantity == 12


def test_a_code_that_only_looks_like_it_is_unknown_or_known() -> None:
    for text in ("20 pieces of cake", "10~20", "A~B|C", "X{GS}1", "0109520001100025", "(Shelf) 12"):
        assert not isinstance(what(text), RefusedInput), text
    assert what("0109520001100025~10A") == UnknownCode("0109520001100025~10A")


@pytest.mark.parametrize("ms", [0, 1, 3, 6, 12])
@pytest.mark.parametrize("prefix", [b"", b"]C1"])
def test_the_key_f8_is_a_separator_inside_a_message(prefix: bytes, ms: int) -> None:
    items = fed(prefix + MESSAGE.replace(GS, "\x1b[19~").encode() + b"\r", ms)
    assert [item.text for item in items if isinstance(item, Line)] == [prefix.decode() + MESSAGE]
    assert not any(isinstance(item, EscapeInput) for item in items)


def test_the_key_f8_is_a_key_everywhere_else() -> None:
    for before in (b"", b"12", b"4006381333931", b"milk"):
        decoder = Decoder()
        items = decoder.feed(before + b"\x1b[19~", 1.0)
        assert decoder.is_waiting
        assert EscapeInput("\x1b[19~") in [*items, *decoder.tick(1.1)], before


KEYS = (b"\x1b[15~", b"\x1b[19~", b"\x1bOP", b"\x1b[A", b"\x1b[1;5C", b"\x1b[[A")
"""F5, F8, F1, a cursor key, one with Ctrl, and F1 of the Linux console."""


@pytest.mark.parametrize("code", [b"4006381333931", b"40063813", b"A-01-2-PALLET", b"000123456789012345"])
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("ms", [0, 1, 3, 6, 12])
def test_a_key_in_the_middle_of_a_code_is_part_of_the_damaged_code(code: bytes, key: bytes, ms: int) -> None:
    """It is pressed nowhere, wherever it came, and the code is refused."""
    for place in range(1, len(code)):
        items = fed(code[:place] + key + code[place:] + b"\r", ms)
        assert not any(isinstance(item, EscapeInput) for item in items), place
        [line] = [item.text for item in items if isinstance(item, Line)]
        assert parse(line, Accepts()) == RefusedInput("input.extra_characters", code.decode())


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("ms", [0, 1, 3, 6, 12])
def test_a_key_behind_a_code_is_a_key(key: bytes, ms: int) -> None:
    items = fed(b"4006381333931" + key + b"\r", ms)
    assert [type(item) for item in items if not isinstance(item, OpenLine)] == [EscapeInput, Line]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_between_few_characters_is_a_key(key: bytes) -> None:
    """A slow link brings what was typed, and the key with it, in one piece; with no end to the line too."""
    for before, behind in ((b"17", b""), (b"17", b"5"), (b"milk", b"s"), (b"m", b"ilks")):
        decoder = Decoder()
        items = [*decoder.feed(before + key + behind, 1.0), *decoder.tick(1.1), *decoder.feed(b"\r", 1.2)]
        assert [item.data for item in items if isinstance(item, EscapeInput)] == [key.decode()]
        assert [item.text for item in items if isinstance(item, Line)] == [(before + behind).decode()]
        items = decoder.feed(before + key + behind + b"\r", 2.0)
        assert [type(item) for item in items if not isinstance(item, OpenLine)] == [EscapeInput, Line]
        decoder.feed(before + key + behind, 3.0)
        items = decoder.feed(b"\x7f", 3.2)  # a person erases a character, and no sign of the key
        assert OpenLine((before + behind)[:-1].decode()) in items


def fed(sent: bytes, ms: int) -> list[DecodedInput]:
    """What the decoder says of bytes that come so many milliseconds apart, or in one read."""
    decoder, at, items = Decoder(), 1.0, []
    for piece in [sent] if not ms else [bytes([byte]) for byte in sent]:
        items += decoder.feed(piece, at)
        at += ms / 1000
    return items


def test_identifiers_are_those_of_biip() -> None:
    """Whatever biip reads of an identifier is read here, with the same length."""
    from biip import ParseConfig
    from biip.gs1_application_identifiers import _GS1_APPLICATION_IDENTIFIERS as THEIRS
    from biip.gs1_element_strings import GS1ElementString

    values = ["1" * length for length in (*range(1, 32), 70, 90)] + ["261231" + "1" * length for length in range(15)]
    config = ParseConfig(gs1_element_strings_verify_date=False)
    for ai in THEIRS:
        fits = []
        for value in values:
            try:
                element = GS1ElementString.extract(ai + value, config=config)
            except Exception:
                continue
            if element.value == value:
                fits.append(value)
        for value in fits:
            found = parse_message(f"{ai}{value}")
            assert (found.values.get(ai), found.is_complete) == (value, True), (ai, value)


@given(st.text("0123456789ABCLOT~|^{}<>GS\x1d \\x", max_size=40), st.sampled_from(["", "]C1"]))
def test_unreadable_quantity_is_never_one(tail: str, prefix: str) -> None:
    """Whatever follows the number of a thing: it is read to its end, or refused, or the product is asked about."""
    text = f"{prefix}01{GTIN}{tail}"
    said = what(text, gtin=GTIN)
    found = parse_message(text.removeprefix("]C1").strip(" "))
    values = found.values
    if isinstance(said, Scan):
        assert found.is_complete
        counts = values.get("30") or values.get("37")
        assert said.matches[0].quantity == (int(counts) if counts and int(counts) else 1)
    else:
        assert isinstance(said, RefusedInput)


# Measures

MEASURES = [
    ("310", "kg", "2", "2"),
    ("310", "g", "2", "2000"),
    ("310", "lb", "2", "4.409"),
    ("310", "oz", "2", "70.548"),
    ("310", "100 g", "2", "20"),
    ("310", "KGM", "2", "2"),
    ("320", "kg", "2", "0.907"),
    ("320", "lb", "2", "2"),
    ("320", "Lbs.", "2", "2"),
    ("320", "g", "2", "907.185"),
    ("320", "oz", "2", "32"),
    ("356", "g", "2", "62.207"),
    ("357", "g", "2", "56.699"),
    ("357", "oz", "2", "2"),
    ("357", "fl oz", "2", "2"),
    ("311", "m", "2", "2"),
    ("311", "cm", "2", "200"),
    ("311", "ft", "2", "6.562"),
    ("311", "yd", "2", "2.187"),
    ("321", "m", "2", "0.051"),
    ("321", "in", "2", "2"),
    ("321", "cm", "2", "5.08"),
    ("322", "m", "2", "0.61"),
    ("322", "feet", "2", "2"),
    ("323", "m", "2", "1.829"),
    ("323", "ft", "2", "6"),
    ("314", "m²", "2", "2"),
    ("314", "m2", "2", "2"),
    ("314", "sq ft", "2", "21.528"),
    ("350", "cm²", "2", "12.903"),
    ("351", "m2", "2", "0.186"),
    ("352", "qm", "2", "1.672"),
    ("315", "l", "2", "2"),
    ("315", "Liter", "2", "2"),
    ("315", "ml", "2", "2000"),
    ("315", "gal", "2", "0.528"),
    ("315", "qt", "2", "2.113"),
    ("315", "fl. oz.", "2", "67.628"),
    ("316", "l", "2", "2000"),
    ("360", "l", "2", "1.893"),
    ("360", "gal", "2", "0.5"),
    ("361", "l", "2", "7.571"),
    ("361", "qt", "2", "8"),
    ("364", "ml", "2", "32.774"),
    ("365", "l", "2", "56.634"),
    ("366", "m³", "2", "1.529"),
]


@pytest.mark.parametrize(("ai", "unit", "amount", "quantity"), MEASURES)
def test_a_measure_is_turned_into_the_unit_of_the_product(ai: str, unit: str, amount: str, quantity: str) -> None:
    for decimals in (0, 2, 3):
        text = f"01{WEIGHED}{ai}{decimals}{int(Decimal(amount).scaleb(decimals)):06}"
        for each in (text, f"]C1{text}", f"({text[:2]}){text[2:16]}({text[16:20]}){text[20:]}"):
            meaning = only(what(each, unit))
            assert (meaning.quantity, meaning.is_explicit, meaning.needs_quantity) == (
                Decimal(quantity),
                True,
                False,
            ), each


def test_the_example_of_a_pound() -> None:
    assert only(what("01095200011005053202000275", "kg")).quantity == Decimal("1.247")


@pytest.mark.parametrize(
    ("ai", "unit"),
    [
        *(("310", unit) for unit in ("l", "m", "m2", "piece", "zak", "Stück", "bunch")),
        *((ai, "") for ai in ("320", "356", "357", "321", "322", "323", "350", "360", "361", "364", "365")),
        *(("315", unit) for unit in ("kg", "g", "m", "oz")),
        ("311", "m2"),
        ("314", "m"),
        ("321", "kg"),
    ],
)
def test_a_measure_that_says_nothing_of_the_unit_is_asked(ai: str, unit: str) -> None:
    meaning = only(what(f"01{WEIGHED}{ai}2000275", unit))
    assert (meaning.quantity, meaning.is_explicit, meaning.needs_quantity) == (Decimal(1), False, True)
    assert meaning.measure is not None
    assert meaning.measure.amount == Decimal("2.75")


def test_the_measure_that_fits_is_taken_of_several() -> None:
    text = f"01{WEIGHED}3152000300{3202000275}"
    assert only(what(text, "kg")).quantity == Decimal("1.247")
    assert only(what(text, "ml")).quantity == Decimal(3000)


def test_first_measure_of_matching_unit_counts() -> None:
    both = f"01{WEIGHED}31030015003112000200"
    assert only(what(both, "kg")).quantity == Decimal("1.5")
    assert only(what(both, "m")).quantity == Decimal(2)
    assert only(what(both, "")).needs_quantity
    assert only(what(f"01{WEIGHED}31030015003202000331", "kg")).quantity == Decimal("1.5")
    assert only(what(f"01{WEIGHED}31030015003202000275", "kg")).needs_quantity, "1.5 kg are no 2.75 lb"


@pytest.mark.parametrize(
    "text",
    [
        f"01{WEIGHED}3103001500303",
        f"01{WEIGHED}303{GS}3103001500",
        f"01{WEIGHED}303~3103001500",
        f"]C102{WEIGHED}3103001500373",
        f"02{WEIGHED}373|3103001500",
        f"(02){WEIGHED}(37)3(3103)001500",
    ],
)
def test_a_net_weight_is_that_of_all_pieces_on_the_label(text: str) -> None:
    assert only(what(text, "kg")).quantity == Decimal("1.5")
    assert only(what(text, "g", decimal=False)).quantity == 1500
    pieces = only(what(text, "piece", decimal=False))
    assert (pieces.quantity, pieces.needs_quantity) == (Decimal(3), False)
    unnamed = only(what(text, ""))
    assert unnamed.needs_quantity, "three pieces, or 1.5 of what it is sold by"
    assert unnamed.measure is not None
    assert not only(what(text, "", decimal=False)).needs_quantity


@pytest.mark.parametrize("unit", ["kg", "g", "lb", "l", "ml", "m", "m2", "piece", ""])
@pytest.mark.parametrize(
    "text", [f"01{WEIGHED}302", f"(01){WEIGHED}(30)2", f"]C102{WEIGHED}372", f"02{WEIGHED}10L1{GS}372"]
)
def test_pieces_are_counted_where_the_plain_code_counts_one(text: str, unit: str) -> None:
    """A product in whole numbers, and a pack of six; goods by measure are asked with their plain code too."""
    for decimal, factor in ((False, 1), (False, 6), (True, 6)):
        meaning = only(what(text, unit, decimal=decimal, factor=factor))
        assert (meaning.quantity, meaning.needs_quantity, meaning.unit) == (Decimal(2 * factor), False, "")
    assert only(what(text, unit)).needs_quantity is (unit not in ("piece", ""))


GROSS = (
    *range(330, 338),
    *range(340, 350),
    *(312, 313, 324, 325, 326, 327, 328, 329, 353, 354, 355, 362, 363, 367, 368, 369),
)


@pytest.mark.parametrize("ai", GROSS)
def test_gross_weights_and_sizes_are_no_quantity(ai: int) -> None:
    for unit in ("kg", "lb", "m", "m2", "l", ""):
        assert only(what(f"01{WEIGHED}{ai}2000275", unit)).quantity == 1


@pytest.mark.parametrize("tail", ["3902500", "3922500", "3912978500", "3932978500", "3932840500"])
def test_an_amount_of_money_is_no_quantity(tail: str) -> None:
    meaning = only(what(f"01{WEIGHED}{tail}", "kg", price="2.50"))
    assert (meaning.quantity, meaning.is_explicit, meaning.needs_quantity, meaning.price) == (
        Decimal(1),
        False,
        True,
        Decimal(5),
    )
    piece = only(what(f"01{WEIGHED}{tail}", "", decimal=False, price="2.50"))
    assert (piece.quantity, piece.needs_quantity, piece.price) == (Decimal(1), False, Decimal(5))


def test_whole_gram_product_takes_weight_in_grams() -> None:
    assert only(what(f"01{WEIGHED}3103001750", "g", decimal=False)).quantity == 1750
    meaning = only(what(f"01{WEIGHED}3104001755", "g", decimal=False))
    assert meaning.needs_quantity
    assert only(what(f"01{WEIGHED}3103001750", "piece", decimal=False)).needs_quantity is False


@pytest.mark.parametrize(
    ("code", "unit", "quantity"),
    [
        ("2812345015001", "kg", "1.5"),
        ("2812345015001", "", "1.5"),
        ("2812345015001", "g", "1500"),
        ("2812345015001", "lb", "1.5"),
        ("2912345015000", "g", "1500"),
    ],
)
def test_the_shop_s_own_scale_weighs_in_kg_or_in_what_it_sells(code: str, unit: str, quantity: str) -> None:
    from aisle.barcode_numbers import check_digit

    code = code[:12] + check_digit(code[:12])
    assert only(what(code, unit)).quantity == Decimal(quantity)


@pytest.mark.parametrize("unit", ["oz", "oz t", "l", "ml", "m", "m2", "ft", "stuk", "Stück", "bunch", "2 lb", "piece"])
def test_weight_label_on_unweighed_product_asks_quantity(unit: str) -> None:
    meaning = only(what("2812345003503", unit))
    assert (meaning.quantity, meaning.is_explicit, meaning.needs_quantity) == (Decimal(1), False, True), unit
    assert meaning.measure is not None
    assert (meaning.measure.amount, meaning.measure.unit) == (Decimal("0.35"), "kg")


@pytest.mark.parametrize("text", [f"01{GTIN} 37 12", f"01 {GTIN} 37 12", f"01{GTIN} 3712", f"01{GTIN} 10 A17 37 12"])
def test_blanks_may_stand_between_identifiers_and_values(text: str) -> None:
    data = parse_element_strings(text, from_gs1_symbol=True)
    assert data is not None
    assert (data.gtin, data.pieces) == (GTIN, Decimal(12))


VARIABLE = "9952000110050"
"""GTIN of variable measure of the goods WEIGHED, without its check digit."""
VARIABLE += check_digit(VARIABLE)


@pytest.mark.parametrize(
    ("text", "unit", "quantity"),
    [
        (f"01{VARIABLE}3103000500", "kg", "0.5"),
        (f"(01){VARIABLE}(3103)000500", "kg", "0.5"),
        (f"01{VARIABLE}310300050010L1{GS}3922150", "kg", "0.5"),
        (f"01{VARIABLE}3202000100", "lb", "1"),
        (f"01{VARIABLE}17261224310300125010L1", "kg", "1.25"),
        (f"]C101{VARIABLE}3103000500", "kg", "0.5"),
        (f"2*01{VARIABLE}3103000500", "kg", "1"),
        (f"01{VARIABLE}", "kg", ""),
        (VARIABLE, "kg", ""),
        (VARIABLE, "m", ""),
    ],
)
def test_goods_by_measure_are_found_by_their_gtin_of_variable_measure(text: str, unit: str, quantity: str) -> None:
    match = only(what(text, unit))
    assert match.is_guess
    assert match.needs_quantity != bool(quantity)
    assert not quantity or match.quantity == Decimal(quantity)


@pytest.mark.parametrize("text", [VARIABLE, f"01{VARIABLE}", f"01{VARIABLE}3103000500"])
def test_a_gtin_of_variable_measure_is_no_piece_and_not_another_indicator(text: str) -> None:
    assert isinstance(what(text, "", decimal=False), UnknownCode)
    other = f"1{VARIABLE[1:-1]}"
    assert isinstance(what(text.replace(VARIABLE, other + check_digit(other)), "kg"), UnknownCode)
    assert not only(what(text, "kg", gtin=VARIABLE)).is_guess


@pytest.mark.parametrize("prefix", ["[)>\x1e06\x1d", "[)>06\x1d", "[)>^06^", "[)>~06~", "]d1[)>\x1e06\x1d"])
@pytest.mark.parametrize("data", ["9PABC123\x1dQ12", "1P4711\x1d3Q7\x1e\x04", "PX1\x1dSN99"])
def test_a_label_of_a_supplier_is_named(prefix: str, data: str) -> None:
    said = what(prefix + data, gtin=GTIN)
    assert isinstance(said, RefusedInput)
    assert said.reason == "input.supplier_label"
