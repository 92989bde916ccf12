"""Every kind of barcode that a store meets, in one table: published examples, with and without AIM prefix.

Sources: GS1 General Specifications (check digits, application identifiers), the GS1 DataMatrix guideline, ISO/IEC 24724
(DataBar), GS1 Sweden, Germany, Denmark and UK on variable measure numbers, ISO/IEC 15424 (AIM prefixes).
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

import pytest

from aisle.barcode_numbers import check_digit, index_keys
from aisle.scan.codes_of_store_and_suppliers import compile_patterns
from aisle.scan.grammar import look_up_keys, needs_look_up, parse
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    Accepts,
    Candidate,
    Match,
    Meaning,
    RefusedInput,
    Scan,
    UnknownCode,
)
from aisle.scan.resolve import resolve

GS = "\x1d"


class Item(NamedTuple):
    """One thing that the shop has, and the code that it is stored under."""

    code: str
    key: str
    kind: str = PRODUCT
    factor: int = 1
    decimal: bool = False
    price: str = ""
    unit: str = ""


SHOP = (
    Item("4006381333931", "PEN"),
    Item("96385074", "GUM"),
    Item("036000291452", "TISSUE"),
    Item("065100004327", "SODA"),
    Item("04252614", "JUICE"),
    Item("15400141288763", "CASE", factor=12),
    Item("09501101530003", "PILLS"),
    Item("98898765432106", "HAM", decimal=True, price="12.50", unit="lb"),
    Item("90012345678908", "BEEF", decimal=True, price="8.00", unit="kg"),
    Item("90614141000015", "FISH", decimal=True),
    Item("106141412345678908", "PALLET", ORDER),
    Item("2112345000008", "GRAPES", decimal=True, price="4.00"),
    Item("2088060100005", "CHEESE", decimal=True, price="10.00"),
    Item("2088061100004", "PIE"),
    Item("2088062100003", "HERBS", decimal=True),
    Item("2388060100006", "SALMON", decimal=True, price="20.00"),
    Item("28123", "SAUSAGE", decimal=True),
    Item("25007", "BUNS"),
)

TABLE = compile_patterns(
    (
        "20IIIIIIPPPPC:2",  # Sweden: price, two decimals
        "21IIIIIWWWWWC",  # one shop's own: weight, as 2112345015002 is 1.5 kg
        "22IIIIIXPPPPC:2",  # as in the UK (there 20): price with a price verifier
        "23IIIIIIWWWWC",  # Sweden, Finland, the Baltics: weight, three decimals
        "25IIIXNNNNNNC",
        "28IIIXWWWWWWC",
        "29IIIIPPPPPPC:2",  # Denmark (there 21 to 24): price
    )
)
"""One shop's table; layouts are national, so their prefixes are put side by side here."""


def ean(body: str) -> str:
    return body + check_digit(body)


def what(text: str) -> Meaning:
    """The whole way from a line to its meaning, with the shop above as what the store knows."""
    found = parse(text, Accepts(), TABLE)
    assert needs_look_up(found), found
    keys = look_up_keys(found)
    candidates = [
        Candidate(
            key,
            item.kind,
            item.key,
            item.key.title(),
            Decimal(item.factor),
            item.decimal,
            Decimal(item.price) if item.price else None,
            item.unit,
        )
        for item in SHOP
        for key in index_keys(item.code)
        if key in keys
    ]
    return resolve(text, Accepts(), found, candidates, (PRODUCT, LOCATION, ORDER))


class Row(NamedTuple):
    """What a code is, how scanners send it, and what it means."""

    kind: str
    code: str
    aims: tuple[str, ...]
    key: str
    quantity: str = "1"
    explicit: bool = False
    batch: str = ""
    expiry: str = ""
    price: str = ""


E, E8, ITF, C = ("]E0",), ("]E4",), ("]I1", "]I0"), ("]C1",)
GS1 = ("]C1", "]d2", "]e0", "]Q3")
"""The AIM prefixes of EAN and UPC, of EAN-8, of ITF, of GS1-128, and of all that carries GS1 data."""

BARCODES = (
    # EAN-13, EAN-8
    Row("EAN-13", "4006381333931", E, "PEN"),
    Row("EAN-13 with add-on", "400638133393112", ("]E3",), "PEN"),
    Row("EAN-13 as a GTIN-14", "04006381333931", E, "PEN"),
    Row("EAN-8", "96385074", E8, "GUM"),
    Row("EAN-8 as a GTIN-13", "0000096385074", E, "GUM"),
    # UPC-A and UPC-E, with and without leading zeros
    Row("UPC-A", "036000291452", E, "TISSUE"),
    Row("UPC-A as EAN-13", "0036000291452", E, "TISSUE"),
    Row("UPC-A without its zero", "36000291452", E, "TISSUE"),
    Row("UPC-A as a GTIN-14", "00036000291452", E, "TISSUE"),
    Row("UPC-E, stored as UPC-A", "06543217", E, "SODA"),
    Row("UPC-E without check digit", "0654321", E, "SODA"),
    Row("UPC-E, six digits", "654321", E, "SODA"),
    Row("UPC-E, sent as UPC-A", "065100004327", E, "SODA"),
    Row("UPC-E, sent as EAN-13", "0065100004327", E, "SODA"),
    Row("UPC-E, stored so", "04252614", E, "JUICE"),
    Row("UPC-A, stored as UPC-E", "042100005264", E, "JUICE"),
    Row("UPC-A without its zero, stored as UPC-E", "42100005264", E, "JUICE"),
    # ITF-14
    Row("ITF-14", "15400141288763", ITF, "CASE", "12", True),
    Row("ITF-14 in GS1-128", "0115400141288763", C, "CASE", "12", True),
    # GS1-128, GS1 DataMatrix, DataBar, GS1 QR
    Row("01", "0109501101530003", GS1, "PILLS"),
    Row("01, indicator 0", "0104006381333931", GS1, "PEN"),
    Row("01 10", "010950110153000310AB-123", GS1, "PILLS", batch="AB-123"),
    Row("01 17 10", "01095011015300031714070410AB-123", GS1, "PILLS", batch="AB-123", expiry="2014-07-04"),
    Row("01 17, last of the month", "010950110153000317260200", GS1, "PILLS", expiry="2026-02-28"),
    Row("01 15", "010950110153000315261231", GS1, "PILLS", expiry="2026-12-31"),
    Row("01 21 17", f"01095011015300032112345A{GS}17261231", GS1, "PILLS", expiry="2026-12-31"),
    Row("01 10 21", f"010950110153000310ABC{GS}21XYZ", GS1, "PILLS", batch="ABC"),
    Row("10 first", f"10ABC{GS}0109501101530003", GS1, "PILLS", batch="ABC"),
    Row("01 30", "01095011015300033012", GS1, "PILLS", "12", True),
    Row("01 30 10", f"01095011015300033012{GS}10B7", GS1, "PILLS", "12", True, batch="B7"),
    Row("02 37", "02095011015300033724", C, "PILLS", "24", True),
    Row("02 37 of cases", "02154001412887633702", C, "CASE", "24", True),
    Row("02 37 17", f"020950110153000337120{GS}17261231", C, "PILLS", "120", True, expiry="2026-12-31"),
    Row("01 3103", "01900123456789083103001750", GS1, "BEEF", "1.75", True),
    Row("01 3102", "01900123456789083102000175", GS1, "BEEF", "1.75", True),
    Row("01 3202, pounds", "01988987654321063202012345", GS1, "HAM", "123.45", True),
    Row("01 3103, sold by the piece", "01095011015300033103001750", GS1, "PILLS"),
    Row("01 3922, an amount is no quantity", "01900123456789083922795", GS1, "BEEF", price="7.95"),
    Row("01 3922 15", f"01900123456789083922800{GS}15261231", GS1, "BEEF", expiry="2026-12-31", price="8.00"),
    Row("01 3932, with currency", "01988987654321063932978625", GS1, "HAM", price="6.25"),
    Row("01 3103 3922", "019001234567890831030017503922795", GS1, "BEEF", "1.75", True),
    Row("01 3922, no price known", "01906141410000153922795", GS1, "FISH", price="7.95"),
    Row("01 3922, sold by the piece", "01095011015300033922795", GS1, "PILLS", price="7.95"),
    # SSCC
    Row("SSCC", "00106141412345678908", C, "PALLET"),
    Row("SSCC and what it holds", "0010614141234567890802095011015300033724", C, "PALLET"),
    Row("SSCC nobody knows", f"00{ean('34012345000000001')}02095011015300033724", C, "PILLS", "24", True),
    # In-store numbers, by the shop's table
    Row("2x weight", "2112345015002", E, "GRAPES", "1.5", True),
    Row("2x weight, Sweden", "2388060112344", E, "SALMON", "1.234", True),
    Row("2x weight, inner check digit", ean("281230001234"), E, "SAUSAGE", "1.234", True),
    Row("2x price, Sweden", "2088060112343", E, "CHEESE", "1.234", True),
    Row("2x price, sold by the piece", ean("208806111234"), E, "PIE", price="12.34"),
    Row("2x price, no price known", ean("208806211234"), E, "HERBS", price="12.34"),
    Row("2x count", ean("250070000012"), E, "BUNS", "12", True),
    Row("2x weight of nothing: the label of a shelf", "2112345000008", E, "GRAPES"),
)  # fmt: skip


def sent(row: Row) -> list[str]:
    """The ways in which scanners send it: an add-on needs its prefix, everything else goes without one too."""
    plain = [] if "add-on" in row.kind else [row.code]
    return [*plain, *(aim + row.code for aim in row.aims)]


@pytest.mark.parametrize("row", BARCODES, ids=lambda row: row.kind)
def test_a_barcode_means_what_it_is_printed_for(row: Row) -> None:
    for text in sent(row):
        thing = what(text)
        assert isinstance(thing, Scan), (text, thing)
        meaning = thing.matches[0]
        assert (meaning.key, meaning.quantity, meaning.is_explicit) == (row.key, Decimal(row.quantity), row.explicit), (
            text
        )
        assert (meaning.batch, meaning.expiry) == (row.batch, row.expiry), text
        assert meaning.price == (Decimal(row.price) if row.price else None), text


@pytest.mark.parametrize("row", BARCODES, ids=lambda row: row.kind)
def test_a_prefix_changes_nothing_but_how_sure_it_is(row: Row) -> None:
    meanings = {_bare(what(text)) for text in sent(row)}
    assert len(meanings) == 1


def _bare(said: Meaning) -> Match:
    """The meaning without the spelling of its code, which differs with the prefix."""
    assert isinstance(said, Scan)
    return said.matches[0]._replace(code="")


def test_every_kind_is_in_the_table() -> None:
    kinds = " ".join(row.kind for row in BARCODES)
    wanted = ("EAN-13", "EAN-8", "UPC-A", "UPC-E", "ITF-14", "SSCC", "2x weight", "2x price", "2x count")
    carried = ("01", "02", "10", "17", "21", "30", "37", "3103", "3102", "3922", "3932")
    assert [kind for kind in (*wanted, *carried) if kind not in kinds] == []


@pytest.mark.parametrize("row", BARCODES, ids=lambda row: row.kind)
def test_twice_a_label_is_twice_what_it_carries(row: Row) -> None:
    text = sent(row)[-1]
    once, twice = what(text), what(f"2*{text}")
    assert isinstance(once, Scan)
    assert isinstance(twice, Scan)
    one, two = once.matches[0], twice.matches[0]
    assert two.is_explicit
    assert abs(two.quantity - 2 * one.quantity) <= Decimal("0.001")  # a quantity by price is rounded once
    assert two.price == (None if one.price is None else 2 * one.price)


def test_a_price_is_turned_into_a_quantity_only_where_nothing_is_guessed() -> None:
    """No price of the product, a price of nothing, or so small an amount that it rounds to nothing: one, and asked."""
    code = "2088060112343"
    found = parse(code, Accepts(), TABLE)
    assert needs_look_up(found)

    def by(price: str | None, decimal: bool = True) -> Match:
        known = Candidate("2088060100005", PRODUCT, "X", "X", Decimal(1), decimal, Decimal(price) if price else None)
        thing = resolve(code, Accepts(), found, [known], ())
        assert isinstance(thing, Scan)
        return thing.matches[0]

    label = Decimal("12.34")
    assert (by("2").quantity, by("2").is_explicit, by("2").price) == (Decimal("6.17"), True, None)
    assert by("3").quantity == Decimal("4.113")
    for unknown in (by(None), by("0"), by("-1"), by("99999"), by("2", decimal=False)):
        assert (unknown.quantity, unknown.is_explicit, unknown.price) == (Decimal(1), False, label)


@pytest.mark.parametrize(
    ("region", "layout", "code"),
    [
        ("SWEDEN", "20IIIIIIPPPPC:2", "2088060112343"),
        ("SWEDEN", "21IIIIIIPPPPC:1", ean("218806011234")),
        ("SWEDEN", "22IIIIIIPPPPC:0", ean("228806011234")),
        ("SWEDEN", "23IIIIIIWWWWC:3", "2388060112344"),
        ("FINLAND", "24IIIIIIWWWWC:2", ean("248806011234")),
        ("LATVIA", "25IIIIIIWWWWC:1", ean("258806011234")),
        ("DENMARK", "21IIIIPPPPPPC:2", ean("211234001234")),
        ("DENMARK", "26IIIIWWWWWWC:3", ean("261234001234")),
        ("DENMARK", "27IIIIIWWWWWC:3", ean("271234501234")),
        ("GERMANY", "22IIIIXPPPPPC:2", "2212345012345"),
        ("GERMANY", "28IIIIXWWWWWC:3", ean("281234301234")),
        ("GERMANY", "25IIIIXNNNNNC", ean("251234300012")),
        ("GREAT_BRITAIN", "20IIIIIXPPPPC:2", ean("201234571234")),
    ],
)
def test_the_published_layouts_of_countries_can_be_said_in_a_table(region: str, layout: str, code: str) -> None:
    """What a pattern reads is what biip reads by the rules of that country."""
    from biip import ParseConfig
    from biip.gtin import Gtin
    from biip.rcn import Rcn, RcnRegion

    from aisle.scan.codes_of_store_and_suppliers import parse_in_store_code

    code = ean(code[:12])
    config = ParseConfig(rcn_region=RcnRegion[region], rcn_verify_variable_measure=False)
    theirs = Gtin.parse(code, config=config)
    assert isinstance(theirs, Rcn)
    ours = parse_in_store_code(code, compile_patterns((layout,)))
    assert ours is not None
    assert (ours.price, ours.weight, ours.pieces) == (theirs.price, theirs.weight, theirs.count)
    assert theirs.without_variable_measure().value in ours.keys


def test_a_price_without_end_is_refused() -> None:
    text = f"]C101900123456789083922{'9' * 80}"
    assert what(text) == RefusedInput("input.no_gs", text)


def test_a_code_of_no_layout_is_a_plain_barcode() -> None:
    assert what("2712345015004") == UnknownCode("2712345015004")
    wrong = "2112345015003"
    assert what(wrong) == UnknownCode(wrong)
