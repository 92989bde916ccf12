"""The one grammar: the same line means the same at every step, as far as the step has something open for it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.barcode_numbers import check_digit, index_keys
from aisle.jobs.typed_numbers_dates_and_letters import FREE_LETTERS, LETTER_OF_CHOICE
from aisle.scan.codes_of_store_and_suppliers import InStorePattern, compile_patterns
from aisle.scan.decoder import MAX_LINE
from aisle.scan.grammar import PRINTED_COMMANDS, PRINTED_LETTERS, look_up_keys, needs_look_up, parse
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    Accepts,
    Ambiguous,
    Back,
    Candidate,
    Choice,
    Command,
    CursorKey,
    Match,
    Meaning,
    Multiplier,
    Quantity,
    RefusedInput,
    Scan,
    Text,
    UnknownCode,
)
from aisle.scan.resolve import resolve

EAN, OTHER = "4006381333931", "5901234123457"
EAN8 = "73513537"
OPENS = [
    Accepts(quantity, decimals, choices, text, letters, follows_typing=finds, choice_letters=keys)
    for quantity, decimals, (choices, keys), text, letters, finds in product(
        (False, True), (False, True), ((0, ""), (3, ""), (3, "yxé")), (False, True), ("", "nu"), (False, True)
    )
]
NOTHING = Accepts()
CODE = "to be looked up"
Rule = Callable[[Accepts], Meaning | str]


def amount(value: str, code: str = "") -> Rule:
    """A quantity where one is open, else a code."""
    return lambda open_: Quantity(Decimal(value), code) if open_.quantity else CODE


def fraction(text: str, value: str) -> Rule:
    """Only where decimals are allowed."""

    def rule(open_: Accepts) -> Meaning | str:
        if not open_.quantity:
            return CODE
        is_thousands = len(value.partition(".")[2]) == 3 and Decimal(value) >= 1
        reason = "input.whole_or_thousands" if is_thousands else "input.whole_number_only"
        return Quantity(Decimal(value), text) if open_.decimals else RefusedInput(reason, text)

    return rule


def number(value: int) -> Rule:
    """A quantity where one is open, whatever else is asked; else a choice that is shown by number; else a code."""

    def rule(open_: Accepts) -> Meaning | str:
        if open_.quantity:
            return Quantity(Decimal(value))
        return Choice(value) if open_.choices and not open_.choice_letters else CODE

    return rule


def zero(open_: Accepts) -> Meaning | str:
    if open_.quantity:
        return Quantity(Decimal(0))
    return (
        RefusedInput("input.choose_letter" if open_.choice_letters else "input.no_choice_back", "0")
        if open_.choices
        else Back()
    )


def key(text: str, number: int) -> Rule:
    """The letter of a choice, where choices have letters; else no command."""

    def rule(open_: Accepts) -> Meaning | str:
        return Choice(number) if open_.choice_letters else no_letter(text)(open_)

    return rule


def letter(text: str) -> Rule:
    def rule(open_: Accepts) -> Meaning | str:
        if open_.command_letters:
            return Command(text.lower())
        if open_.follows_typing and text.lower() in "np":
            return RefusedInput("input.no_page", text)
        return CODE if open_.text or open_.follows_typing else RefusedInput("input.no_command", text)

    return rule


def no_letter(text: str) -> Rule:
    return lambda open_: CODE if open_.text or open_.follows_typing else RefusedInput("input.no_command", text)


def always(said: Meaning | str) -> Rule:
    return lambda open_: said


def signed(text: str) -> Rule:
    return lambda open_: RefusedInput("input.no_quantity", text) if open_.quantity else CODE


def printed(command: Meaning, text: str) -> Rule:
    """A command barcode: no more than the step knows."""

    def rule(open_: Accepts) -> Meaning | str:
        if isinstance(command, Choice):
            numbered = 0 if open_.choice_letters or open_.quantity else open_.choices
            why = "input.choose_letter" if open_.choice_letters else "input.no_choice_back"
            return command if command.number <= numbered else RefusedInput(why, text)
        return command if open_.command_letters else RefusedInput("input.no_command", text)

    return rule


GRAMMAR: dict[str, Rule] = {
    "": always(CursorKey("enter")),
    "   ": always(CursorKey("enter")),
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
        RefusedInput("input.too_many_decimals" if open_.decimals else "input.whole_number_only", "1.2345")
        if open_.quantity
        else CODE
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
    "AISLE:OK": always(CursorKey("enter")),
    "AISLE:NEXT": printed(Command("n"), "AISLE:NEXT"),
    "AISLE:2": printed(Choice(2), "AISLE:2"),
    "AISLE:9": printed(Choice(9), "AISLE:9"),
    EAN: always(CODE),
    f"]E0{EAN}": always(CODE),
    "]A012": always(CODE),
    "]A0AISLE:BACK": always(Back()),
    "12]A0AISLE:BACK": always(RefusedInput("input.number_beside_code", "12]A0AISLE:BACK")),
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
        else RefusedInput("input.whole_number_only", "3*0.5")
    ),
    "3*400": always(CODE),
    "3x4": always(CODE),
    "9999999*99": lambda open_: RefusedInput("input.no_quantity", "9999999*99") if open_.quantity else CODE,
    "12*": always(Multiplier("12")),
    " 1,5* ": always(Multiplier("1,5")),
    "0*": always(RefusedInput("input.no_multiplier", "0*")),
    "1.2.3*": always(RefusedInput("input.no_multiplier", "1.2.3*")),
    f"0*{EAN}": always(RefusedInput("input.no_multiplier", "0*")),
    f"12345678*{EAN}": always(RefusedInput("input.no_multiplier", "12345678*")),
    f"1.2.3*{EAN}": always(RefusedInput("input.no_multiplier", "1.2.3*")),
    "-5*": always(RefusedInput("input.no_multiplier", "-5*")),
    f"-5*{EAN}": always(RefusedInput("input.no_multiplier", "-5*")),
    "+1,5*milk": always(RefusedInput("input.no_multiplier", "+1,5*")),
    "-5x4": always(CODE),
    f"0]E0{EAN}": always(RefusedInput("input.number_beside_code", f"0]E0{EAN}")),
    f"12]E0{EAN}": always(RefusedInput("input.number_beside_code", f"12]E0{EAN}")),
    f"?{EAN}": always(CODE),
    "?12": always(CODE),
    "?0": always(CODE),
    "milk": always(CODE),
    "A-01": always(CODE),
    "٣": number(3),
    "３": number(3),
    "１２": amount("12"),
    "１２＊": always(Multiplier("12")),
    "12×": always(Multiplier("12")),
    "12 *": always(Multiplier("12")),
    "0*10": lambda open_: RefusedInput("input.no_multiplier", "0*10" if open_.quantity else "0*"),
    "10*0": lambda open_: RefusedInput("input.no_multiplier", "10*0") if open_.quantity else CODE,
    f"7・{EAN}": always(CODE),
    f"７＊{EAN}": always(CODE),
    "\x1d": always(RefusedInput("input.empty_scan", "\x1d")),
    " \x04\x1d ": always(RefusedInput("input.empty_scan", "\x04\x1d")),
    "\u200b\ufeff": always(RefusedInput("input.empty_scan", "\u200b\ufeff")),
    "9" * MAX_LINE: always(RefusedInput("input.too_long", "9" * 40)),
}


@pytest.mark.parametrize("open_", OPENS, ids=lambda open_: "-".join(map(str, open_)))
def test_every_line_at_every_step(open_: Accepts) -> None:
    for text, rule in GRAMMAR.items():
        expected = rule(open_)
        said = parse(text, open_)
        if needs_look_up(said) and isinstance(expected, RefusedInput):  # it may be a code of the store
            said = resolve(text, open_, said, (), ())
        assert (CODE if needs_look_up(said) else said) == expected, text


@pytest.mark.parametrize("text", ["1", "2", "3", " 2 ", "03", "0", "12", "1234567", "12,", "3*4", "AISLE:1", "AISLE:3"])
@pytest.mark.parametrize("keys", ["", "ynk"])
@pytest.mark.parametrize("letters", ["", "dulk"])
def test_no_number_chooses_where_a_quantity_is_open(text: str, keys: str, letters: str) -> None:
    """Also where somebody forgot to give the choices letters."""
    said = parse(text, Accepts(quantity=True, choices=3, command_letters=letters, choice_letters=keys))
    assert isinstance(said, RefusedInput if "AISLE" in text else Quantity), text


@pytest.mark.parametrize("text", ["1", "3", "0", "7", "12"])
def test_no_number_chooses_where_choices_have_letters(text: str) -> None:
    open_ = Accepts(choices=3, choice_letters="ynk")
    found = parse(text, open_)
    said = resolve(text, open_, found, (), ()) if needs_look_up(found) else found
    assert said == RefusedInput("input.choose_letter", text)


def test_letters_choose_shown_rows_before_commands() -> None:
    open_ = Accepts(quantity=True, choices=2, command_letters="nk", choice_letters="ynk")
    assert parse("n", open_) == Choice(2)
    assert parse("k", open_) == Command("k")
    assert parse("b", Accepts(choices=1, choice_letters="b")) == Back()


def test_every_printed_command_can_be_said() -> None:
    letters = "".join(said.letter for said in PRINTED_COMMANDS.values() if isinstance(said, Command))
    for text, said in PRINTED_COMMANDS.items():
        assert parse(text, Accepts(choices=9, command_letters=letters)) == said


@pytest.mark.parametrize("letter", PRINTED_LETTERS.values())
@pytest.mark.parametrize("form", ["AISLE:{}", "aisle:{}", "]C0AISLE:{}", " AISLE:{} "])
@pytest.mark.parametrize("quantity", [True, False])
def test_a_printed_letter_chooses_what_it_stands_for_on_the_page(letter: str, form: str, quantity: bool) -> None:
    text = form.format(letter.upper())
    open_ = Accepts(quantity=quantity, choices=3, choice_letters=f"?{letter}!")
    assert parse(text, open_) == Choice(2)
    assert parse(text, open_._replace(command_letters=letter)) == Choice(2)
    assert parse(text, open_._replace(typed_only=True)) == RefusedInput("input.scan_not_accepted", text.strip())
    assert parse(text, Accepts(quantity=quantity, command_letters=letter)) == Command(letter)
    refused = RefusedInput("input.no_command", text.strip())
    assert parse(text, open_._replace(choices=1)) == refused
    assert parse(text, Accepts(quantity=quantity, choices=3)) == refused


def test_a_printed_letter_is_there_for_each_choice() -> None:
    assert set(PRINTED_LETTERS.values()) >= set("".join((*LETTER_OF_CHOICE.values(), FREE_LETTERS)))
    assert not set(PRINTED_LETTERS) & set(PRINTED_COMMANDS)


@given(st.text(max_size=40), st.sampled_from(OPENS))
def test_no_text_raises(text: str, open_: Accepts) -> None:
    said = parse(text, open_, compile_patterns(("28IIIIIWWWWWC",)))
    if needs_look_up(said):
        assert look_up_keys(said)
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
    Candidate(key, kind, number, number.title(), Decimal(factor), decimals, unit="kg" if decimals else "")
    for code, kind, number, factor, decimals in sorted(STORE)
    for key in index_keys(code)
]


def said(
    text: str,
    open_: Accepts = NOTHING,
    prefers: tuple[str, ...] = (PRODUCT, LOCATION, ORDER),
    table: tuple[InStorePattern, ...] = (),
) -> Meaning:
    """The whole way, with the shop above as what the store knows."""
    found = parse(text, open_, table)
    if not needs_look_up(found):
        return found
    keys = look_up_keys(found)
    return resolve(text, open_, found, [candidate for candidate in SHOP if candidate.code in keys], prefers)


def brief(text: str, *arguments: object, **options: object) -> list[tuple[str, str, Decimal, bool]] | Meaning:
    thing = said(text, *arguments, **options)  # type: ignore[arg-type]
    if not isinstance(thing, Scan):
        return thing
    return [(meaning.kind, meaning.key, meaning.quantity, meaning.is_explicit) for meaning in thing.matches]


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
        assert isinstance(said(noisy), RefusedInput | UnknownCode), noisy


def test_the_code_and_what_it_carries_come_along() -> None:
    thing = said(f"]C1010{EAN}17261231" + "10B7")
    assert thing == Scan((Match(PRODUCT, "P1", "P1", Decimal(1), False, EAN, "B7", "2026-12-31"),))
    thing = said(f"12*]E0{EAN}")
    assert isinstance(thing, Scan)
    assert thing.matches[0].code == EAN


def test_the_step_prefers_and_the_exact_spelling_wins() -> None:
    one = Decimal(1)
    assert brief("4711") == [(PRODUCT, "4711", one, False), (ORDER, "4711", one, False)]
    assert brief("4711", prefers=(ORDER,)) == [(ORDER, "4711", one, False), (PRODUCT, "4711", one, False)]
    assert brief("000123") == [(ORDER, "000123", one, False)], "an exact code comes alone"
    assert brief("a-01") == [(LOCATION, "A-01", one, False)]


def test_the_logistic_unit_comes_before_what_it_holds() -> None:
    content = f"020{EAN}3748"
    assert brief(f"]C100340123450000000000{content}") == [(ORDER, "PALLET", Decimal(1), False)]
    assert brief(f"]C100{ean('34012345000000001')}{content}") == [(PRODUCT, "P1", Decimal(48), True)]


def test_restricted_codes_carry_weight_price_and_count() -> None:
    weight, price = ean("281234501234"), ean("289999901234")
    table = compile_patterns(("28IIIIIWWWWWC",))
    assert brief(weight) == UnknownCode(weight)
    assert brief(weight, table=table) == [(PRODUCT, "CHEESE", Decimal("1.234"), True)]
    assert brief(f"2*{weight}", table=table) == [(PRODUCT, "CHEESE", Decimal("2.468"), True)]
    assert brief(price, table=compile_patterns(("28IIIIIPPPPPC",))) == [(PRODUCT, "PIE", Decimal(1), False)]
    assert brief(price, table=compile_patterns(("28IIIIINNNNNC",))) == [(PRODUCT, "PIE", Decimal(1234), True)]
    # the item number alone would be a place: only products carry a weight
    assert brief(ean("271234501234"), table=compile_patterns(("27IIIIIWWWWWC",))) == UnknownCode(ean("271234501234"))


@pytest.mark.parametrize(
    ("text", "code"), [("9780306406157 51299", "9780306406157"), ("9771234567898 05", "9771234567898")]
)
def test_a_book_is_read_beside_its_add_on_and_a_blank(text: str, code: str) -> None:
    found = parse(text, Accepts(quantity=True))
    assert needs_look_up(found)
    thing = resolve(text, Accepts(quantity=True), found, [Candidate(code, PRODUCT, "P1")], ())
    assert isinstance(thing, Scan)
    assert thing.matches[0].quantity == 1


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
    found = parse(text, Accepts())
    known = [Candidate(code, PRODUCT, "P1") for code in (EAN, "36000291452", "99527779000051"[-13:])]
    said = resolve(text, Accepts(), found, known, ()) if needs_look_up(found) else found
    assert said == RefusedInput("input.number_beside_code", text) or isinstance(said, UnknownCode), text


def test_digits_before_a_code_are_refused_with_the_way_to_do_it() -> None:
    assert said(f"12{EAN}") == RefusedInput("input.number_beside_code", f"12{EAN}")
    assert said(f"12]E0{EAN}") == RefusedInput("input.number_beside_code", f"12]E0{EAN}")
    assert brief(f"12*{EAN}") == [(PRODUCT, "P1", Decimal(12), True)]


@pytest.mark.parametrize("text", ["31000743230016", "15400141288763", f"0{EAN}", f"0000{EAN}"])
def test_a_code_with_a_right_check_digit_is_not_taken_apart(text: str) -> None:
    found = parse(text, Accepts())
    assert needs_look_up(found)
    assert not [way for way in found if way.refusal]
    assert resolve(text, Accepts(), found, [Candidate(text[2:], PRODUCT, "P1")], ()) == UnknownCode(text)


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
    for open_ in (Accepts(), Accepts(quantity=True), Accepts(choices=3)):
        found = parse(text, open_)
        assert needs_look_up(found)
        by_number = [Candidate(key, kind, number) for key in look_up_keys(found) if key == number]
        assert not isinstance(resolve(text, open_, found, by_number, ()), Scan | Ambiguous)
        by_barcode = [Candidate(key, kind, "P9") for key in look_up_keys(found) if key == number]
        assert not by_barcode or kind == ORDER or isinstance(resolve(text, open_, found, by_barcode, ()), Scan)


@pytest.mark.parametrize("text", ["120005", "0120005", " 120 005 ", "１２０００５"])
def test_a_number_is_found_in_every_spelling_of_its_own(text: str) -> None:
    found = parse(text, Accepts())
    assert needs_look_up(found)
    known = [Candidate(key, PRODUCT, "120005") for key in look_up_keys(found) if key == "120005"]
    assert isinstance(resolve(text, Accepts(), found, known, ()), Scan)


def test_what_nobody_knows() -> None:
    words, three = Accepts(text=True), Accepts(choices=3)
    for text in ("5901234123440", "A1", "1-2", f"]A0ABC{EAN}", "]A0MILK", f"12{EAN[:-1]}0"):
        assert said(text) == UnknownCode(text.removeprefix("]A0"))
    assert said("12*milk") == UnknownCode("milk")
    assert said("milk 3,5%") == Text("milk 3,5%")
    assert said("?milk") == Text("milk")
    assert said("a1", words) == Text("a1")
    assert said("x", words) == Text("x")
    assert said("4712", words) == UnknownCode("4712")
    assert said("7", three) == RefusedInput("input.no_choice_back", "7")
    assert said("12", three) != RefusedInput("input.no_choice_back", "12")  # a place that is known
    assert said("77", three) == RefusedInput("input.no_choice_back", "77")
    assert said("777", three) == UnknownCode("777")


def test_unknown_multiplication_is_quantity_at_open_quantity() -> None:
    asked, loose = Accepts(quantity=True, choices=2, choice_letters="yx"), Accepts(quantity=True, decimals=True)
    for text in ("3x4", "3X4", "3*4", "3 x 4", "3*004", "3×4"):
        answer = said(text, asked)
        assert isinstance(answer, Quantity), text
        assert answer.value == 12
        assert not isinstance(said(text), Quantity)
    assert said("2x1,25", loose) == Quantity(Decimal("2.5"), "2x1,25")
    assert said("2x1,25", asked) == RefusedInput("input.whole_number_only", "2x1,25")
    assert brief("3*4711", asked) == [(PRODUCT, "4711", Decimal(3), True), (ORDER, "4711", Decimal(3), True)]
    assert said("3*4712", asked) == Quantity(Decimal(14136), "3*4712")
    assert said("3*2500,5", Accepts(quantity=True, decimals=True)) == Quantity(Decimal("7501.5"), "3*2500,5")
    for code in ("47110", "123456", "0004712"):
        assert said(f"12*{code}", asked) == UnknownCode(code), "so many of a code that nobody knows are no quantity"
        assert said(f"12x{code}", asked) == UnknownCode(f"12x{code}")
    assert said("99999x999", asked) == RefusedInput("input.no_quantity", "99999x999")
    assert said("1.2.3x4", asked) == UnknownCode("1.2.3x4")
    for code in (f"3x{EAN}", f"3*{EAN[:-1]}0"):
        assert not isinstance(said(code, asked), Quantity)


@pytest.mark.parametrize("text", ["1,2345", "0,0005", "1.2345", "0.00001", "12.0005", "2x1,2345", "1,0000"])
def test_a_quantity_of_goods_by_measure_has_three_decimals(text: str) -> None:
    assert said(text, Accepts(quantity=True, decimals=True)) == RefusedInput("input.too_many_decimals", text)
    of_pieces = "input.too_many_decimals" if "x" in text else "input.whole_number_only"  # of cases there may be a half
    assert said(text, Accepts(quantity=True)) == RefusedInput(of_pieces, text)


@pytest.mark.parametrize(
    "text", ["1,5kg", "1.5 kg", "250g", "250 G", "2l", "0,5 L", "100 ml", "3 lb", "12oz", "1.5 m", "2 m²", "1,5 KG."]
)
def test_a_number_with_a_unit_is_no_search_where_how_many_is_asked(text: str) -> None:
    for decimals in (False, True):
        assert said(text, Accepts(quantity=True, decimals=decimals)) == RefusedInput("input.number_without_unit", text)
        assert said(text, Accepts(quantity=True, decimals=decimals, choices=2, choice_letters="yx")) == RefusedInput(
            "input.number_without_unit", text
        )
    assert not isinstance(said(text), RefusedInput), "where no quantity is open, it may be a part of a name"


def test_pieces_take_whole_quantities_only() -> None:
    assert said(f"1,5*{EAN}") == RefusedInput("input.whole_number_only", "1,5*")
    assert said("1,000*15400141288763") == RefusedInput("input.whole_or_thousands", "1,000*")
    assert brief("0,5*15400141288763") == [(PRODUCT, "P3", Decimal(6), True)]  # half a case of twelve


def test_a_question_mark_looks_up() -> None:
    for text in (f"?{EAN}", f"? {EAN}", f"?]E0{EAN}"):
        thing = said(text, Accepts(quantity=True, choices=3))
        assert isinstance(thing, Scan)
        assert thing.is_look_up
        assert thing.matches[0].key == "P1"
    plain = said(EAN)
    assert isinstance(plain, Scan)
    assert not plain.is_look_up


def test_a_barcode_at_a_quantity_is_never_a_quantity() -> None:
    for code in (EAN, EAN8, "036000291452", "04252614"):
        assert not isinstance(said(code, Accepts(quantity=True, decimals=True)), Quantity)


@pytest.mark.parametrize("factor", ["1E+40", "1E+300", "1000000000000"])
def test_a_code_of_a_number_that_nobody_has_is_no_quantity(factor: str) -> None:
    """A service may say that a box holds so many: no job can reckon with it."""
    for text in (EAN, f"9999999*{EAN}", f"]C101{EAN:0>14}3799999999"):
        ways = parse(text, NOTHING)
        assert needs_look_up(ways)
        known = [Candidate(key, PRODUCT, "BOX", factor=Decimal(factor)) for key in look_up_keys(ways)]
        assert resolve(text, NOTHING, ways, known, (PRODUCT,)) == RefusedInput("input.no_quantity", text)


@pytest.mark.parametrize("text", ["0,5*2812345012550", f"1,5*]C101{EAN:0>14}3104001234", f"0.5*]C101{EAN:0>14}3922100"])
def test_a_part_of_a_label_with_its_own_quantity_is_refused(text: str) -> None:
    """Before the plain code of such goods the number is their weight."""
    ways = parse(text, NOTHING, compile_patterns(("28IIIIIWWWWWC",)))
    assert needs_look_up(ways)
    known = [Candidate(key, PRODUCT, "CHEESE", allow_decimal=True, unit="kg") for key in look_up_keys(ways)]
    assert resolve(text, NOTHING, ways, known, (PRODUCT,)) == RefusedInput("input.part_of_label", text)


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("2812345012550", "1.255"),
        (f"2,0*]C101{EAN:0>14}3104001234", "0.247"),
        (f"]C101{EAN:0>14}3104001234", "0.123"),
        (f"]C101{EAN:0>14}3105012345", "0.123"),
        (f"3*]C101{EAN:0>14}3104001234", "0.370"),
        (f"]C101{EAN:0>14}3105000001", ""),
        (f"0,125*{EAN}", "0.125"),
        (f"1,000*{EAN}", "1"),
    ],
)
def test_label_weight_keeps_three_decimals(text: str, quantity: str) -> None:
    """A fourth one would be refused by the service, long after the goods were taken."""
    ways = parse(text, NOTHING, compile_patterns(("28IIIIIWWWWWC",)))
    assert needs_look_up(ways)
    known = [Candidate(key, PRODUCT, "CHEESE", allow_decimal=True, unit="kg") for key in look_up_keys(ways)]
    meant = resolve(text, NOTHING, ways, known, (PRODUCT,))
    if quantity:
        assert isinstance(meant, Scan)
        assert meant.matches[0].quantity == Decimal(quantity)
    else:
        assert meant == RefusedInput("input.whole_number_only", text)


@pytest.mark.parametrize("factor", ["0,1255", "0,0001", "1.0000"])
def test_factor_of_four_decimals_is_refused(factor: str) -> None:
    ways = parse(f"{factor}*{EAN}", NOTHING)
    assert needs_look_up(ways)
    known = [Candidate(key, PRODUCT, "CHEESE", allow_decimal=True, unit="kg") for key in look_up_keys(ways)]
    meant = resolve(f"{factor}*{EAN}", NOTHING, ways, known, (PRODUCT,))
    assert meant == RefusedInput("input.too_many_decimals", f"{factor}*")
