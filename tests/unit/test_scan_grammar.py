"""The one grammar: the same line means the same at every step, as far as the step has something open for it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.code_forms import check_digit, index_keys
from aisle.jobs.choice_keys import FREE, KEYS
from aisle.scan.decoder import LONGEST_LINE
from aisle.scan.grammar import COMMANDS, PRINTED_LETTERS, are_readings, keys_of, readings
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PRODUCT,
    Back,
    Candidate,
    Choice,
    Command,
    Either,
    Meaning,
    Move,
    Open,
    Quantity,
    Refused,
    Said,
    Text,
    Thing,
    Times,
    Unknown,
)
from aisle.scan.resolve import resolve
from aisle.scan.restricted import Pattern, patterns

EAN, OTHER = "4006381333931", "5901234123457"
EAN8 = "73513537"
OPENS = [
    Open(quantity, decimals, choices, text, letters, finds=finds, keys=keys)
    for quantity, decimals, (choices, keys), text, letters, finds in product(
        (False, True), (False, True), ((0, ""), (3, ""), (3, "yxé")), (False, True), ("", "nu"), (False, True)
    )
]
NOTHING = Open()
CODE = "to be looked up"
Rule = Callable[[Open], Said | str]


def amount(value: str, code: str = "") -> Rule:
    """A quantity where one is open, else a code."""
    return lambda open_: Quantity(Decimal(value), code) if open_.quantity else CODE


def fraction(text: str, value: str) -> Rule:
    """Only where decimals are allowed."""

    def rule(open_: Open) -> Said | str:
        if not open_.quantity:
            return CODE
        return Quantity(Decimal(value)) if open_.decimals else Refused("input.decimal", text)

    return rule


def number(value: int) -> Rule:
    """A quantity where one is open, whatever else is asked; else a choice that is shown by number; else a code."""

    def rule(open_: Open) -> Said | str:
        if open_.quantity:
            return Quantity(Decimal(value))
        return Choice(value) if open_.choices and not open_.keys else CODE

    return rule


def zero(open_: Open) -> Said | str:
    if open_.quantity:
        return Quantity(Decimal(0))
    return Refused("input.letters" if open_.keys else "input.choice", "0") if open_.choices else Back()


def key(text: str, number: int) -> Rule:
    """The letter of a choice, where choices have letters; else no command."""

    def rule(open_: Open) -> Said | str:
        return Choice(number) if open_.keys else no_letter(text)(open_)

    return rule


def letter(text: str) -> Rule:
    def rule(open_: Open) -> Said | str:
        if open_.letters:
            return Command(text.lower())
        if open_.finds and text.lower() in "np":
            return Refused("input.page", text)
        return CODE if open_.text or open_.finds else Refused("input.letter", text)

    return rule


def no_letter(text: str) -> Rule:
    return lambda open_: CODE if open_.text or open_.finds else Refused("input.letter", text)


def always(said: Said | str) -> Rule:
    return lambda open_: said


def signed(text: str) -> Rule:
    return lambda open_: Refused("input.quantity", text) if open_.quantity else CODE


def printed(command: Said, text: str) -> Rule:
    """A command barcode: no more than the step knows."""

    def rule(open_: Open) -> Said | str:
        if isinstance(command, Choice):
            numbered = 0 if open_.keys or open_.quantity else open_.choices
            why = "input.letters" if open_.keys else "input.choice"
            return command if command.number <= numbered else Refused(why, text)
        return command if open_.letters else Refused("input.letter", text)

    return rule


GRAMMAR: dict[str, Rule] = {
    "": always(Move("enter")),
    "   ": always(Move("enter")),
    "0": zero,
    "1": number(1),
    "3": number(3),
    " 3 ": number(3),
    "4": amount("4"),
    "03": amount("3", "03"),
    "12": amount("12"),
    "1234567": amount("1234567"),
    "12345678": always(CODE),
    "12.5": fraction("12.5", "12.5"),
    "12,5": fraction("12,5", "12.5"),
    ",5": fraction(",5", "0.5"),
    "12,": amount("12"),
    "1234.567": fraction("1234.567", "1234.567"),
    "12345.678": always(CODE),
    "1.2345": lambda open_: (
        Refused("input.places" if open_.decimals else "input.decimal", "1.2345") if open_.quantity else CODE
    ),
    "-1": signed("-1"),
    "+3": signed("+3"),
    "b": always(Back()),
    "B": always(Back()),
    "n": letter("n"),
    "U": letter("U"),
    "x": key("x", 2),
    "Y": key("Y", 1),
    " y ": key("y", 1),
    "é": key("é", 3),
    "k": no_letter("k"),
    "yx": always(CODE),
    "?": no_letter("?"),
    "*": no_letter("*"),
    "AISLE:BACK": always(Back()),
    "aisle:back": always(Back()),
    "AISLE:OK": always(Move("enter")),
    "AISLE:NEXT": printed(Command("n"), "AISLE:NEXT"),
    "AISLE:2": printed(Choice(2), "AISLE:2"),
    "AISLE:9": printed(Choice(9), "AISLE:9"),
    EAN: always(CODE),
    f"]E0{EAN}": always(CODE),
    "]A012": always(CODE),
    "]A0AISLE:BACK": always(Back()),
    "12]A0AISLE:BACK": always(Refused("input.code_number", "12]A0AISLE:BACK")),
    f"12*{EAN}": always(CODE),
    f"1,5*{EAN}": always(CODE),
    "3*4": lambda open_: Quantity(Decimal(12), "3*4") if open_.quantity else CODE,
    "2*3*4": lambda open_: Quantity(Decimal(24), "2*3*4") if open_.quantity else CODE,
    "2*0,5": lambda open_: Quantity(Decimal(1), "2*0,5") if open_.quantity else CODE,
    "3*0.5": lambda open_: (
        CODE
        if not open_.quantity
        else Quantity(Decimal("1.5"), "3*0.5")
        if open_.decimals
        else Refused("input.decimal", "3*0.5")
    ),
    "3*400": always(CODE),
    "3x4": always(CODE),
    "9999999*99": lambda open_: Refused("input.quantity", "9999999*99") if open_.quantity else CODE,
    "12*": always(Times("12")),
    " 1,5* ": always(Times("1,5")),
    "0*": always(Refused("input.times", "0*")),
    "1.2.3*": always(Refused("input.times", "1.2.3*")),
    f"0*{EAN}": always(Refused("input.times", "0*")),
    f"12345678*{EAN}": always(Refused("input.times", "12345678*")),
    f"1.2.3*{EAN}": always(Refused("input.times", "1.2.3*")),
    "-5*": always(Refused("input.times", "-5*")),
    f"-5*{EAN}": always(Refused("input.times", "-5*")),
    "+1,5*milk": always(Refused("input.times", "+1,5*")),
    "-5x4": always(CODE),
    f"0]E0{EAN}": always(Refused("input.code_number", f"0]E0{EAN}")),
    f"12]E0{EAN}": always(Refused("input.code_number", f"12]E0{EAN}")),
    f"?{EAN}": always(CODE),
    "?12": always(CODE),
    "?0": always(CODE),
    "milk": always(CODE),
    "A-01": always(CODE),
    "٣": number(3),
    "３": number(3),
    "１２": amount("12"),
    "１２＊": always(Times("12")),
    "12×": always(Times("12")),
    "12 *": always(Times("12")),
    "0*10": lambda open_: Refused("input.times", "0*10" if open_.quantity else "0*"),
    "10*0": lambda open_: Refused("input.times", "10*0") if open_.quantity else CODE,
    f"7・{EAN}": always(CODE),
    f"７＊{EAN}": always(CODE),
    "\x1d": always(Refused("input.nothing", "\x1d")),
    " \x04\x1d ": always(Refused("input.nothing", "\x04\x1d")),
    "\u200b\ufeff": always(Refused("input.nothing", "\u200b\ufeff")),
    "9" * LONGEST_LINE: always(Refused("input.long", "9" * 40)),
}


@pytest.mark.parametrize("open_", OPENS, ids=lambda open_: "-".join(map(str, open_)))
def test_every_line_at_every_step(open_: Open) -> None:
    for text, rule in GRAMMAR.items():
        said = readings(text, open_)
        expected = rule(open_)
        assert (CODE if are_readings(said) else said) == expected, text


@pytest.mark.parametrize("text", ["1", "2", "3", " 2 ", "03", "0", "12", "1234567", "12,", "3*4", "AISLE:1", "AISLE:3"])
@pytest.mark.parametrize("keys", ["", "ynk"])
@pytest.mark.parametrize("letters", ["", "dulk"])
def test_no_number_chooses_where_a_quantity_is_open(text: str, keys: str, letters: str) -> None:
    """Also where somebody forgot to give the choices letters."""
    said = readings(text, Open(quantity=True, choices=3, letters=letters, keys=keys))
    assert isinstance(said, Refused if "AISLE" in text else Quantity), text


@pytest.mark.parametrize("text", ["1", "3", "0", "7", "12"])
def test_no_number_chooses_where_choices_have_letters(text: str) -> None:
    open_ = Open(choices=3, keys="ynk")
    found = readings(text, open_)
    said = resolve(text, open_, found, (), ()) if are_readings(found) else found
    assert said == Refused("input.letters", text)


def test_letters_choose_before_they_are_commands_and_never_more_than_is_shown() -> None:
    open_ = Open(quantity=True, choices=2, letters="nk", keys="ynk")
    assert readings("n", open_) == Choice(2)
    assert readings("k", open_) == Command("k")
    assert readings("b", Open(choices=1, keys="b")) == Back()


def test_every_printed_command_can_be_said() -> None:
    letters = "".join(said.letter for said in COMMANDS.values() if isinstance(said, Command))
    for text, said in COMMANDS.items():
        assert readings(text, Open(choices=9, letters=letters)) == said


@pytest.mark.parametrize("letter", PRINTED_LETTERS.values())
@pytest.mark.parametrize("form", ["AISLE:{}", "aisle:{}", "]C0AISLE:{}", " AISLE:{} "])
@pytest.mark.parametrize("quantity", [True, False])
def test_a_printed_letter_chooses_what_it_stands_for_on_the_page(letter: str, form: str, quantity: bool) -> None:
    text = form.format(letter.upper())
    open_ = Open(quantity=quantity, choices=3, keys=f"?{letter}!")
    assert readings(text, open_) == Choice(2)
    assert readings(text, open_._replace(letters=letter)) == Choice(2)
    assert readings(text, open_._replace(by_hand=True)) == Refused("input.by_hand", text.strip())
    assert readings(text, Open(quantity=quantity, letters=letter)) == Command(letter)
    refused = Refused("input.letter", text.strip())
    assert readings(text, open_._replace(choices=1)) == refused
    assert readings(text, Open(quantity=quantity, choices=3)) == refused


def test_a_printed_letter_is_there_for_each_choice() -> None:
    assert set(PRINTED_LETTERS.values()) >= set("".join((*KEYS.values(), FREE)))
    assert not set(PRINTED_LETTERS) & set(COMMANDS)


@given(st.text(max_size=40), st.sampled_from(OPENS))
def test_no_text_raises(text: str, open_: Open) -> None:
    said = readings(text, open_, patterns(("28IIIIIWWWWWC",)))
    if are_readings(said):
        assert keys_of(said)
        resolve(text, open_, said, (), ())


# From readings to meanings


def ean(body: str) -> str:
    return body + check_digit(body)


STORE = {
    (EAN, PRODUCT, "P1", 1, False),
    (OTHER, PRODUCT, "P2", 1, True),
    ("15400141288763", PRODUCT, "P3", 12, False),
    (EAN8, PRODUCT, "P8", 1, False),
    ("12", LOCATION, "12", 1, False),
    ("4711", PRODUCT, "4711", 1, False),
    ("4711", ORDER, "4711", 1, False),
    ("A-01", LOCATION, "A-01", 1, False),
    ("000123", ORDER, "000123", 1, False),
    ("123", ORDER, "123", 1, False),
    ("123", PRODUCT, "123", 1, False),
    ("2812345", PRODUCT, "CHEESE", 1, True),
    ("2899999", PRODUCT, "PIE", 1, False),
    ("12345", LOCATION, "12345", 1, False),
    ("340123450000000000", ORDER, "PALLET", 1, False),
    ("5" + EAN8, PRODUCT, "LONG", 1, False),
}
SHOP = [
    Candidate(key, kind, number, number.title(), Decimal(factor), decimals)
    for code, kind, number, factor, decimals in sorted(STORE)
    for key in index_keys(code)
]


def said(
    text: str,
    open_: Open = NOTHING,
    prefers: tuple[str, ...] = (PRODUCT, LOCATION, ORDER),
    table: tuple[Pattern, ...] = (),
) -> Said:
    """The whole way, with the shop above as what the store knows."""
    found = readings(text, open_, table)
    if not are_readings(found):
        return found
    keys = keys_of(found)
    return resolve(text, open_, found, [candidate for candidate in SHOP if candidate.code in keys], prefers)


def brief(text: str, *arguments: object, **options: object) -> list[tuple[str, str, Decimal, bool]] | Said:
    thing = said(text, *arguments, **options)  # type: ignore[arg-type]
    if not isinstance(thing, Thing):
        return thing
    return [(meaning.kind, meaning.key, meaning.quantity, meaning.explicit) for meaning in thing.meanings]


@pytest.mark.parametrize(
    ("text", "key", "quantity", "explicit"),
    [
        (EAN, "P1", "1", False),
        (f"]E0{EAN}", "P1", "1", False),
        (f"]E3{EAN}12", "P1", "1", False),
        (f"]E4{EAN8}", "P8", "1", False),
        (f"12*{EAN}", "P1", "12", True),
        (f"12*]E0{EAN}", "P1", "12", True),
        (f"1*{EAN}", "P1", "1", True),
        (f"1,5*{OTHER}", "P2", "1.5", True),
        ("15400141288763", "P3", "12", True),
        ("2*15400141288763", "P3", "24", True),
        (f"]C1010{EAN}3010", "P1", "10", True),
        (f"]C1010{EAN}3103001234", "P1", "1", False),  # not sold by weight: the label is one of it
        (f"]C1010{OTHER}3103001234", "P2", "1.234", True),
        (f"2*]C1010{OTHER}3103001234", "P2", "2.468", True),
        (f"010{OTHER}3103001234", "P2", "1.234", True),
        (f"(01)0{EAN}(10)X", "P1", "1", False),
        ("]d20034012345000000000102154001412887633702", "P3", "24", True),
        ("5" + EAN8, "LONG", "1", False),  # the whole string comes before 5 times the rest
    ],
)
def test_what_a_scan_means(text: str, key: str, quantity: str, explicit: bool) -> None:
    assert brief(text) == [(PRODUCT, key, Decimal(quantity), explicit)]


def test_a_right_code_is_found_in_the_noise_of_a_bad_line() -> None:
    assert said(f"]{EAN}") == said(EAN)


@pytest.mark.parametrize("sign", ["é", "éÿ", "€", "½", "²", "・", "·", "→", "7・", "七", "ｘ"])
def test_signs_that_no_form_explains_are_refused(sign: str) -> None:
    for noisy in (f"{sign}{EAN}", f"{EAN[:5]}{sign}{EAN[5:]}", f"{EAN}{sign}"):
        assert isinstance(said(noisy), Refused | Unknown), noisy


def test_the_code_and_what_it_carries_come_along() -> None:
    thing = said(f"]C1010{EAN}17261231" + "10B7")
    assert thing == Thing((Meaning(PRODUCT, "P1", "P1", Decimal(1), False, EAN, "B7", "2026-12-31"),))
    thing = said(f"12*]E0{EAN}")
    assert isinstance(thing, Thing)
    assert thing.meanings[0].code == EAN


def test_the_step_prefers_and_the_exact_spelling_wins() -> None:
    one = Decimal(1)
    assert brief("4711") == [(PRODUCT, "4711", one, False), (ORDER, "4711", one, False)]
    assert brief("4711", prefers=(ORDER,)) == [(ORDER, "4711", one, False), (PRODUCT, "4711", one, False)]
    assert brief("000123") == [(PRODUCT, "123", one, False), (ORDER, "000123", one, False)]
    assert brief("a-01") == [(LOCATION, "A-01", one, False)]


def test_the_logistic_unit_comes_before_what_it_holds() -> None:
    content = f"020{EAN}3748"
    assert brief(f"]C100340123450000000000{content}") == [(ORDER, "PALLET", Decimal(1), False)]
    assert brief(f"]C100{ean('34012345000000001')}{content}") == [(PRODUCT, "P1", Decimal(48), True)]


def test_restricted_codes_carry_weight_price_and_count() -> None:
    weight, price = ean("281234501234"), ean("289999901234")
    table = patterns(("28IIIIIWWWWWC",))
    assert brief(weight) == Unknown(weight)
    assert brief(weight, table=table) == [(PRODUCT, "CHEESE", Decimal("1.234"), True)]
    assert brief(f"2*{weight}", table=table) == [(PRODUCT, "CHEESE", Decimal("2.468"), True)]
    assert brief(price, table=patterns(("28IIIIIPPPPPC",))) == [(PRODUCT, "PIE", Decimal(1), False)]
    assert brief(price, table=patterns(("28IIIIINNNNNC",))) == [(PRODUCT, "PIE", Decimal(1234), True)]
    # the item number alone would be a place: only products carry a weight
    assert brief(ean("271234501234"), table=patterns(("27IIIIIWWWWWC",))) == Unknown(ean("271234501234"))


@pytest.mark.parametrize(
    ("text", "code"), [("9780306406157 51299", "9780306406157"), ("9771234567898 05", "9771234567898")]
)
def test_a_book_is_read_beside_its_add_on_and_a_blank(text: str, code: str) -> None:
    found = readings(text, Open(quantity=True))
    assert are_readings(found)
    thing = resolve(text, Open(quantity=True), found, [Candidate(code, PRODUCT, "P1")], ())
    assert isinstance(thing, Thing)
    assert thing.meanings[0].quantity == 1


DIGITS_BEFORE = [
    f"12{EAN}",
    f"1234{EAN}",
    f"10{EAN}",
    f"120{EAN}",
    f"9{EAN}",
    "9952777900005" + "1",
    "10036000291452",
    f"12]E0{EAN}",
    f"1]C1010{EAN}",
]
"""Lines where somebody left digits and then scanned."""


@pytest.mark.parametrize("text", DIGITS_BEFORE)
def test_digits_right_before_a_code_do_not_multiply_it(text: str) -> None:
    found = readings(text, Open())
    known = [Candidate(code, PRODUCT, "P1") for code in (EAN, "36000291452", "99527779000051"[-13:])]
    said = resolve(text, Open(), found, known, ()) if are_readings(found) else found
    assert said == Refused("input.code_number", text) or isinstance(said, Unknown), text


def test_digits_before_a_code_are_refused_with_the_way_to_do_it() -> None:
    assert said(f"12{EAN}") == Refused("input.code_number", f"12{EAN}")
    assert said(f"12]E0{EAN}") == Refused("input.code_number", f"12]E0{EAN}")
    assert brief(f"12*{EAN}") == [(PRODUCT, "P1", Decimal(12), True)]


@pytest.mark.parametrize("text", ["31000743230016", "15400141288763", f"0{EAN}", f"0000{EAN}"])
def test_a_code_with_a_right_check_digit_is_not_taken_apart(text: str) -> None:
    found = readings(text, Open())
    assert are_readings(found)
    assert not [way for way in found if way.refusal]
    assert resolve(text, Open(), found, [Candidate(text[2:], PRODUCT, "P1")], ()) == Unknown(text)


def test_digits_before_an_unknown_code_are_an_unknown_code() -> None:
    assert said("12" + ean("590000000001")) == Unknown("12" + ean("590000000001"))


BY_CHANCE = [
    ("012000000058", PRODUCT, "120005"),
    ("0120000058", PRODUCT, "120005"),
    ("012000000058", LOCATION, "120005"),
    ("012000000058", ORDER, "120005"),
    ("01200058", PRODUCT, "12000000005"[:9]),
]
"""A UPC of which one form is equal to the number of something else."""


@pytest.mark.parametrize(("text", "kind", "number"), BY_CHANCE)
def test_forms_of_a_barcode_are_no_numbers_of_other_things(text: str, kind: str, number: str) -> None:
    for open_ in (Open(), Open(quantity=True), Open(choices=3)):
        found = readings(text, open_)
        assert are_readings(found)
        by_number = [Candidate(key, kind, number) for key in keys_of(found) if key == number]
        assert not isinstance(resolve(text, open_, found, by_number, ()), Thing | Either)
        by_barcode = [Candidate(key, kind, "P9") for key in keys_of(found) if key == number]
        assert not by_barcode or kind == ORDER or isinstance(resolve(text, open_, found, by_barcode, ()), Thing)


@pytest.mark.parametrize("text", ["120005", "0120005", " 120 005 ", "１２０００５"])
def test_a_number_is_found_in_every_spelling_of_its_own(text: str) -> None:
    found = readings(text, Open())
    assert are_readings(found)
    known = [Candidate(key, PRODUCT, "120005") for key in keys_of(found) if key == "120005"]
    assert isinstance(resolve(text, Open(), found, known, ()), Thing)


def test_what_nobody_knows() -> None:
    words, three = Open(text=True), Open(choices=3)
    for text in ("5901234123440", "A1", "1-2", f"]A0ABC{EAN}", "]A0MILK", f"12{EAN[:-1]}0"):
        assert said(text) == Unknown(text.removeprefix("]A0"))
    assert said("12*milk") == Unknown("milk")
    assert said("milk 3,5%") == Text("milk 3,5%")
    assert said("?milk") == Text("milk")
    assert said("a1", words) == Text("a1")
    assert said("x", words) == Text("x")
    assert said("4712", words) == Unknown("4712")
    assert said("7", three) == Refused("input.choice", "7")
    assert said("12", three) != Refused("input.choice", "12")  # a place that is known
    assert said("77", three) == Refused("input.choice", "77")
    assert said("777", three) == Unknown("777")


def test_what_nobody_knows_is_multiplied_where_how_many_is_asked() -> None:
    asked, loose = Open(quantity=True, choices=2, keys="yx"), Open(quantity=True, decimals=True)
    for text in ("3x4", "3X4", "3*4", "3 x 4", "3*004", "3×4"):
        answer = said(text, asked)
        assert isinstance(answer, Quantity), text
        assert answer.value == 12
        assert not isinstance(said(text), Quantity)
    assert said("2x1,25", loose) == Quantity(Decimal("2.5"), "2x1,25")
    assert said("2x1,25", asked) == Refused("input.decimal", "2x1,25")
    assert brief("3*4711", asked) == [(PRODUCT, "4711", Decimal(3), True), (ORDER, "4711", Decimal(3), True)]
    assert said("3*4712", asked) == Quantity(Decimal(14136), "3*4712")
    assert said("3*2500,5", Open(quantity=True, decimals=True)) == Quantity(Decimal("7501.5"), "3*2500,5")
    for code in ("47110", "123456", "0004712"):
        assert said(f"12*{code}", asked) == Unknown(code), "so many of a code that nobody knows are no quantity"
        assert said(f"12x{code}", asked) == Unknown(f"12x{code}")
    assert said("99999x999", asked) == Refused("input.quantity", "99999x999")
    assert said("1.2.3x4", asked) == Unknown("1.2.3x4")
    for code in (f"3x{EAN}", f"3*{EAN[:-1]}0"):
        assert not isinstance(said(code, asked), Quantity)


@pytest.mark.parametrize("text", ["1,2345", "0,0005", "1.2345", "0.00001", "12.0005", "2x1,2345", "1,0000"])
def test_a_quantity_of_goods_by_measure_has_three_decimals(text: str) -> None:
    assert said(text, Open(quantity=True, decimals=True)) == Refused("input.places", text)
    assert said(text, Open(quantity=True)) == Refused("input.decimal", text)


@pytest.mark.parametrize(
    "text", ["1,5kg", "1.5 kg", "250g", "250 G", "2l", "0,5 L", "100 ml", "3 lb", "12oz", "1.5 m", "2 m²", "1,5 KG."]
)
def test_a_number_with_a_unit_is_no_search_where_how_many_is_asked(text: str) -> None:
    for decimals in (False, True):
        assert said(text, Open(quantity=True, decimals=decimals)) == Refused("input.unit", text)
        assert said(text, Open(quantity=True, decimals=decimals, choices=2, keys="yx")) == Refused("input.unit", text)
    assert not isinstance(said(text), Refused), "where no quantity is open, it may be a part of a name"


def test_only_whole_ones_of_what_is_sold_by_the_piece() -> None:
    assert said(f"1,5*{EAN}") == Refused("input.decimal", f"1,5*{EAN}")
    assert brief("0,5*15400141288763") == [(PRODUCT, "P3", Decimal(6), True)]  # half a case of twelve


def test_a_question_mark_looks_up() -> None:
    for text in (f"?{EAN}", f"? {EAN}", f"?]E0{EAN}"):
        thing = said(text, Open(quantity=True, choices=3))
        assert isinstance(thing, Thing)
        assert thing.lookup
        assert thing.meanings[0].key == "P1"
    plain = said(EAN)
    assert isinstance(plain, Thing)
    assert not plain.lookup


def test_a_barcode_at_a_quantity_is_never_a_quantity() -> None:
    for code in (EAN, EAN8, "036000291452", "04252614"):
        assert not isinstance(said(code, Open(quantity=True, decimals=True)), Quantity)


@pytest.mark.parametrize("factor", ["1E+40", "1E+300", "1000000000000"])
def test_a_code_of_a_number_that_nobody_has_is_no_quantity(factor: str) -> None:
    """A service may say that a box holds so many: no job can reckon with it."""
    for text in (EAN, f"9999999*{EAN}", f"]C101{EAN:0>14}3799999999"):
        ways = readings(text, NOTHING)
        assert are_readings(ways)
        known = [Candidate(key, PRODUCT, "BOX", factor=Decimal(factor)) for key in keys_of(ways)]
        assert resolve(text, NOTHING, ways, known, (PRODUCT,)) == Refused("input.quantity", text)


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("2812345012550", "1.255"),
        ("0,5*2812345012550", "0.628"),
        (f"]C101{EAN:0>14}3104001234", "0.123"),
        (f"]C101{EAN:0>14}3105012345", "0.123"),
        (f"3*]C101{EAN:0>14}3104001234", "0.370"),
        (f"]C101{EAN:0>14}3105000001", ""),
        (f"0,125*{EAN}", "0.125"),
        (f"0,1255*{EAN}", "0.126"),
        (f"0,0001*{EAN}", ""),
    ],
)
def test_what_a_label_weighs_has_the_places_that_can_be_kept(text: str, quantity: str) -> None:
    """A fourth one would be refused by the service, long after the goods were taken."""
    ways = readings(text, NOTHING, patterns(("28IIIIIWWWWWC",)))
    assert are_readings(ways)
    known = [Candidate(key, PRODUCT, "CHEESE", allow_decimal=True) for key in keys_of(ways)]
    meant = resolve(text, NOTHING, ways, known, (PRODUCT,))
    if quantity:
        assert isinstance(meant, Thing)
        assert meant.meanings[0].quantity == Decimal(quantity)
    else:
        assert meant == Refused("input.decimal", text)
