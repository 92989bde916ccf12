"""The input grammar: the text of a line becomes a meaning at once, or interpretations to look up.

A typed number is a quantity where one is open, else a choice, else a code. Quantity or record of the store:
`jobs/typed_numbers_dates_and_letters`.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from aisle.barcode_numbers import (
    expand_upc_e,
    guessed_keys,
    has_valid_check_digit,
    lookup_keys,
    normalise_code,
    to_ascii_forms,
    without_padding,
    without_variable_indicator,
    zero_forms,
)
from aisle.scan.codes_of_store_and_suppliers import (
    InStorePattern,
    order_number_in,
    parse_in_store_code,
    parse_supplier_label,
    parse_unchecked_code,
)
from aisle.scan.decoder import MAX_LINE, MIN_AFTER_BACKSPACE
from aisle.scan.grammar_and_meaning_types import (
    EXTRA_SIGNS,
    NUMBER_BESIDE_CODE,
    ORDER,
    PART_OF_LABEL,
    PRODUCT,
    SUPPLIER_LABEL,
    TWO_CODES,
    WRONG_LAYOUT,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Interpretation,
    Meaning,
    Measure,
    Multiplier,
    Quantity,
    RefusedInput,
)
from aisle.scan.gs1 import KEY_MARK, Gs1Data, begins_gs1_message, gs1_fault, may_be_gs1, parse_element_strings
from aisle.scan.keyboard_layouts import is_garbled, undo_layouts
from aisle.scan.units import MAX_DECIMALS

if TYPE_CHECKING:
    from typing_extensions import TypeIs


_MULTIPLIER_START: Final = re.compile(r"( *[\d.,]+) *[*×✕✖⨯∗] *", re.ASCII)
_MULTIPLIED_CODE: Final = re.compile(r"( *[\d.,]+) *[xX] *(\d{8,14}) *", re.ASCII)
_NO_LETTERS: Final = re.compile(r"[ -@\[-`{-~]+", re.ASCII)
"""ASCII without letters."""


def normalise_input(text: str, *, is_free_text: bool = False) -> str:
    """Return an input as typed on a US keyboard: `１２＊`, `12 ×` and `12*` are equal.

    `is_free_text`: words are expected and stay unchanged; only digits and signs are normalised.
    """
    normalised = _normalise_multiplier(to_ascii_forms(text))
    return text if is_free_text and not _NO_LETTERS.fullmatch(normalised) else normalised


def _normalise_multiplier(neat: str) -> str:
    if times := _MULTIPLIED_CODE.fullmatch(neat):
        return f"{times[1]}*{times[2]}" if has_valid_check_digit(times[2]) else neat
    times = _MULTIPLIER_START.match(neat)
    return f"{times[1]}*{neat[times.end() :]}" if times else neat


def is_multiplied(text: str) -> bool:
    """Return whether an input has its own multiplier, in any spelling."""
    return "*" in normalise_input(text)


PRINTED_COMMANDS: Final[dict[str, Meaning]] = {
    "AISLE:BACK": Back(),
    "AISLE:NEXT": Command("n"),
    "AISLE:UNDO": Command("u"),
    "AISLE:DONE": Command("d"),
    "AISLE:SHORT": Command("s"),
    "AISLE:HELP": Command("h"),
    "AISLE:SIGNOFF": Command("o"),
    "AISLE:QUIT": Command("q"),
    "AISLE:OK": CursorKey("enter"),
    **{f"AISLE:{number}": Choice(number) for number in range(1, 10)},
}
"""Printed command barcodes in upper case; they are read in any case."""

PRINTED_LETTERS: Final[dict[str, str]] = {f"AISLE:{letter.upper()}": letter for letter in "acdefgijklmnoqrstuvwxyz"}
"""Printed letters for lettered choices. Where a letter chooses nothing, it is the command of that letter."""

PAGING_LETTERS: Final = "np"
"""Letters that turn pages; without a further page they are no search either."""

MAX_QUANTITY_DIGITS: Final = 7
"""Greatest number of digits of a quantity; more are a code."""

_MAX_DIGITS_BEYOND_CHOICES = 3
"""Greatest number of digits of a quantity where choices are numbered; orders and locations have more."""
MAX_FACTOR_DIGITS: Final = 4
"""Greatest number of digits before the point of a multiplier; more are a code, known or not."""

_DECIMALS_OF_THOUSANDS: Final = 3
"""Digits after a point that may separate thousands: `1.000` may be a thousand, `1.00` is one."""

_AIM_PREFIX: Final = re.compile(
    r"(?P<typed>\d{0,4})\](?P<symbol>[A-Za-z][0-9A-Za-z])(?P<code>.+)", re.DOTALL | re.ASCII
)
_GS1_SYMBOLS: Final = ("C1", "d2", "Q3", "e0", "J1")
_EAN_WITH_ADD_ON: Final = "E3"
_MIN_GS1_MESSAGE: Final = 16
"""Characters of the shortest GS1 message without AIM prefix: `01` and a GTIN."""
_MIN_GARBLED_SIGNS: Final = 4
"""Signs from which a code may have come through another keyboard layout, unless it begins with one."""
_SIGNS_OF_DIGITS: Final = frozenset('&"(')
"""Signs that a scanner's digits give on a French keyboard, and that hardly any code has."""
_HYPHEN_KEY: Final = re.compile(r"(?<=[^\W_])['*)+=](?=[^\W_])")
"""A sign between letters or digits that the hyphen key of a scanner gives on keyboards of other countries."""
_NUMBER: Final = re.compile(r"\d+|\d+[.,]\d*|[.,]\d+", re.ASCII)
_MULTIPLICATION: Final = re.compile(r"([\d.,]+)\*(.*)", re.DOTALL | re.ASCII)
_SEVERAL_FACTORS: Final = re.compile(r"[\d.,]+(?:[*xX×][\d.,]+)+", re.ASCII)
_SMALL_FACTORS: Final = re.compile(r"[\d.,]+(?:\*(?:\d{1,2}|\d*[.,]\d+))+", re.ASCII)
"""Factors that nobody takes for a code: `3*4`, `2*0,5`."""
_SIGNED_NUMBER: Final = re.compile(r"[+-][\d.,]+", re.ASCII)
_SIGNED_MULTIPLICATION: Final = re.compile(r"([+-][\d.,]+\*).*", re.DOTALL | re.ASCII)
_CODE_WITH_ADD_ON: Final = re.compile(r"(\d{8}|\d{12,13})[ \-+](?:\d{2}|\d{5})", re.ASCII)
"""An EAN or UPC with its add-on, as sent by scanners that separate them."""
_CERTAIN_ADD_ON: Final = re.compile(r"(97[789]\d{10})[ \-](?:\d{2}|\d{5})|(\d{12,13})\+(?:\d{2}|\d{5})", re.ASCII)
"""A code with its add-on: of a book or newspaper after a blank or hyphen, of any EAN-13 or UPC-A after a plus.

It is hardly ever a number that somebody means.
"""
_NUMBER_AFTER_CODE: Final = re.compile(r"(?P<code>\d{8,14})[ \t;,/|+&]+\d{1,5}(?:[.,]\d{1,3})?", re.ASCII)
_NUMBER_BEFORE_CODE: Final = re.compile(
    r"(?=[\d.,]*[1-9])\d{1,4}(?:[.,]\d{1,3})?[ \t;,/|+&]+(?P<code>\d{8,14})", re.ASCII
)
_LABEL_START: Final = "[)>"
"""Beginning of a label of ISO/IEC 15434."""
_CODE_SEPARATORS: Final = " \t;,/|+&-"
_TWO_CODES: Final = re.compile(r"(?=.{20})\d{8,14}[ \t;,/|+&\-]{0,2}\d{8,14}", re.ASCII)
"""Digits of two GTINs, one of them longer than an EAN-8."""
_CODE_DIGITS: Final = re.compile(r"(?<!\d)\d{8,14}(?!\d)", re.ASCII)
"""As many digits as a code has."""
_INVISIBLE: Final = (
    "".join(
        chr(code)
        for first, last in ((0, 0x20), (0x7F, 0xA0), (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F))
        for code in range(first, last + 1)
    )
    + "\xad\u3000\ufeff"
)
"""Controls, blanks and zero-width characters: a line of only these has no content."""
_RANK_CARRIED, _RANK_WHOLE, _RANK_BARE, _RANK_CONTENT, _RANK_SPLIT, _RANK_NOISY, _RANK_GUESSED = range(7)


def parse(
    text: str, accepts: Accepts, in_store_patterns: tuple[InStorePattern, ...] = ()
) -> Meaning | tuple[Interpretation, ...]:
    """Return the meaning of a line's text at a step that accepts this, or the interpretations to look up.

    `in_store_patterns` are the restricted codes of the store. Message ids of a RefusedInput: input.too_long,
    input.no_command, input.no_choice_back, input.no_quantity, input.whole_number_only, input.whole_or_thousands,
    input.too_many_decimals,
    input.no_multiplier, input.scan_not_accepted, input.no_page, input.empty_scan, input.choose_letter,
    input.control_character, input.supplier_label. A session adds input.choices_changed, input.after_refused_scan,
    input.answer_first, input.type_choice and input.location_or_typed.
    """
    if len(text) >= MAX_LINE:
        return RefusedInput("input.too_long", text[:40])
    text = text.strip(" ")
    if not text:
        return CursorKey("enter")
    if not text.strip(_INVISIBLE):
        return RefusedInput("input.empty_scan", text)
    if _has_control_inside(text):
        return RefusedInput(EXTRA_SIGNS, text.replace(KEY_MARK, ""))
    text = normalise_input(text, is_free_text=accepts.text).strip(" ")
    aim = _AIM_PREFIX.fullmatch(text)
    name = (aim["code"] if aim and not aim["typed"] else text).upper()
    if name in PRINTED_COMMANDS:
        return _check_command(PRINTED_COMMANDS[name], text, accepts)
    if name in PRINTED_LETTERS:
        return _parse_printed_letter(PRINTED_LETTERS[name], text, accepts)
    if aim:
        return _parse_aim_code(aim, in_store_patterns)
    if len(text) > 1 and text[0] == "?":
        return _parse_code(text[1:].strip(" "), in_store_patterns)
    if _NUMBER.fullmatch(text):
        return _parse_number(text, accepts, in_store_patterns)
    if accepts.quantity and _SMALL_FACTORS.fullmatch(text) and (product := multiply(text, accepts.decimals)):
        return product
    if multiplied := _MULTIPLICATION.fullmatch(text):
        return _parse_multiplied(multiplied[1], multiplied[2].strip(" "), in_store_patterns)
    if multiplied := _SIGNED_MULTIPLICATION.fullmatch(text):
        return RefusedInput("input.no_multiplier", multiplied[1])
    if len(text) == 1:
        return _parse_letter(text, accepts, in_store_patterns)
    if accepts.quantity and _SIGNED_NUMBER.fullmatch(text):
        return _unless_code(RefusedInput("input.no_quantity", text))
    return _interpret_code(text, in_store_patterns)


def needs_look_up(answer: Meaning | tuple[Interpretation, ...]) -> TypeIs[tuple[Interpretation, ...]]:
    """Return whether a result of `parse` has to be looked up; every meaning is a tuple too, but not a plain one."""
    return type(answer) is tuple


def look_up_keys(interpretations: tuple[Interpretation, ...]) -> tuple[str, ...]:
    """Return every key to look up for these interpretations, once each, best first."""
    keys = [key for interpretation in interpretations for key in interpretation.keys]
    keys += [key for interpretation in interpretations for key in interpretation.zero_forms]
    return tuple(dict.fromkeys(keys))


def asks_look_up(text: str) -> bool:
    """Return whether a `?` asks to look the code up instead of passing it to the job."""
    text = text.strip(" ")
    return len(text) > 1 and text[0] == "?"


def is_search(text: str) -> bool:
    """Return whether an unknown text is a search (two or more letters) and not an unknown code."""
    return not _AIM_PREFIX.fullmatch(text.strip(" ?")) and sum(char.isalpha() for char in text) >= 2


class AimPrefix(NamedTuple):
    """AIM prefix of a text: symbology and modifier (`C1`), and True for GS1 data."""

    symbol: str
    is_gs1: bool
    code: str
    """The code after the prefix; the whole text without one."""


def parse_aim_prefix(text: str) -> AimPrefix:
    """Return the AIM prefix of a text and its code; an empty `symbol` without a prefix."""
    aim = _AIM_PREFIX.fullmatch(text.strip(" "))
    return AimPrefix(aim["symbol"], aim["symbol"] in _GS1_SYMBOLS, aim["code"]) if aim else AimPrefix("", False, text)


# Answers without look-up


def _parse_number(
    text: str, accepts: Accepts, in_store_patterns: tuple[InStorePattern, ...]
) -> Meaning | tuple[Interpretation, ...]:
    """Return a number as a quantity if one is asked for, else as a choice if that is shown, else as a code."""
    numbered = 0 if accepts.choice_letters or accepts.quantity else accepts.choices
    if text.isdigit() and text[0] != "0" and 1 <= int(text) <= numbered:
        return Choice(int(text))
    if accepts.quantity_beyond_choices and text.isdigit() and len(text) <= _MAX_DIGITS_BEYOND_CHOICES and int(text):
        return Quantity(Decimal(text))
    if accepts.quantity and sum(char.isdigit() for char in text) <= MAX_QUANTITY_DIGITS:
        quantity = _check_quantity(_parse_decimal(text), text, accepts.decimals, _code_of_number(text))
        return _unless_code(quantity) if isinstance(quantity, RefusedInput) else quantity
    if text == "0":
        return RefusedInput(choice_refusal(accepts), text) if accepts.choices else Back()
    return _interpret_code(text, in_store_patterns)


def _code_of_number(text: str) -> str:
    """Return a number as typed if its value does not say it: a code such as `007`, `1.0` or `1,5`; else empty."""
    digits = text.rstrip(".,")
    return digits if (digits[:1] == "0" and len(digits) > 1) or not digits.isdigit() else ""


def _unless_code(refusal: RefusedInput) -> tuple[Interpretation, ...]:
    """Return the refusal of a number as a quantity, unless the store has exactly this code (a PZN `-1234562`)."""
    text = refusal.text
    return (
        Interpretation((text, text.casefold()), text),
        Interpretation((), text, rank=_RANK_GUESSED, refusal=refusal.reason),
    )


def choice_refusal(accepts: Accepts) -> str:
    """Return the reason (`input.…`) for which a number is no choice: out of range, or choices have letters."""
    return "input.choose_letter" if accepts.choice_letters else "input.no_choice_back"


def multiply(text: str, allows_decimals: bool) -> Meaning | None:
    """Return the quantity of `3*4` or `3x4`; None if it is no product of numbers, but a multiple of a code.

    Message ids of a RefusedInput: input.whole_number_only, input.whole_or_thousands, input.too_many_decimals,
    input.no_quantity, input.no_multiplier (a factor is 0).
    """
    text = text.replace(" ", "")
    factors = re.split("[*xX×]", text) if _SEVERAL_FACTORS.fullmatch(text) else ()
    if not factors or not all(_NUMBER.fullmatch(each) and len(each) <= MAX_QUANTITY_DIGITS + 1 for each in factors):
        return None
    if any(len(re.split("[.,]", each)[0]) > MAX_FACTOR_DIGITS for each in factors[1:]):
        return None
    numbers = [_parse_decimal(each) for each in factors]
    value = math.prod(numbers, start=Decimal(1))
    if refusal := next(filter(None, (refuse_factor(each, allows_decimals) for each in numbers)), ""):
        return RefusedInput(refusal, text)
    if not value:
        return RefusedInput("input.no_multiplier", text)
    if value >= 10**MAX_QUANTITY_DIGITS:
        return RefusedInput("input.no_quantity", text)
    return _check_quantity(value if value % 1 else value.quantize(Decimal(1)), text, allows_decimals, code=text)


def refuse_factor(factor: Decimal, allows_decimals: bool) -> str:
    """Return the reason (`input.…`) for which a number is no factor of goods by its form alone; empty if it may be one.

    Half a case of goods in whole pieces is possible, and `1,000` cases may be a thousand.
    """
    if _decimal_places(factor) > MAX_DECIMALS:
        return "input.too_many_decimals"
    return "" if allows_decimals or not _may_be_thousands(factor) else "input.whole_or_thousands"


def _decimal_places(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _may_be_thousands(value: Decimal) -> bool:
    return _decimal_places(value) == _DECIMALS_OF_THOUSANDS and value >= 1


def _check_quantity(value: Decimal, text: str, allows_decimals: bool, code: str = "") -> Meaning:
    decimal_places = _decimal_places(value)
    if 0 < decimal_places < _DECIMALS_OF_THOUSANDS and value == value.to_integral_value():
        value, decimal_places = value.to_integral_value(), 0
    if decimal_places > 0 and not allows_decimals:
        reason = "input.whole_or_thousands" if _may_be_thousands(value) else "input.whole_number_only"
        return RefusedInput(reason, text)
    if decimal_places > MAX_DECIMALS:
        return RefusedInput("input.too_many_decimals", text)
    return Quantity(value, code)


def _parse_decimal(text: str) -> Decimal:
    """Parse a number with a point or a comma, which may be at either end (`1,` and `,5`)."""
    return Decimal(text.replace(",", ".").rstrip(".") or "0")


def _parse_letter(
    text: str, accepts: Accepts, in_store_patterns: tuple[InStorePattern, ...]
) -> Meaning | tuple[Interpretation, ...]:
    letter = text if text in accepts.command_letters else text.lower()
    if letter == "b":
        return Back()
    if letter in accepts.choice_letters[: accepts.choices]:
        return Choice(accepts.choice_letters.index(letter) + 1)
    if letter in accepts.command_letters:
        return Command(letter)
    if accepts.follows_typing and letter in PAGING_LETTERS:
        return RefusedInput("input.no_page", text)
    return (
        _interpret_code(text, in_store_patterns)
        if accepts.text or accepts.follows_typing or text in _SIGNS_OF_DIGITS
        else RefusedInput("input.no_command", text)
    )


def _check_command(command: Meaning, text: str, accepts: Accepts) -> Meaning:
    """Return the meaning of a printed command, refused if the step does not accept its letter or number."""
    if isinstance(command, Command) and command.letter not in accepts.command_letters:
        return RefusedInput("input.no_command", text)
    if isinstance(command, Choice) and command.number > accepts.choices:
        return RefusedInput(choice_refusal(accepts), text)
    if accepts.typed_only and isinstance(command, Choice | CursorKey):
        return RefusedInput("input.scan_not_accepted", text)
    if isinstance(command, Choice) and (accepts.choice_letters or accepts.quantity):
        return RefusedInput(choice_refusal(accepts), text)
    return command


def _parse_printed_letter(letter: str, text: str, accepts: Accepts) -> Meaning:
    """Return the meaning of a printed letter: its choice, unless that must be typed, or its command."""
    at = accepts.choice_letters[: accepts.choices].find(letter)
    if at < 0:
        return _check_command(Command(letter), text, accepts)
    return RefusedInput("input.scan_not_accepted", text) if accepts.typed_only else Choice(at + 1)


# Possible codes


def _parse_code(text: str, in_store_patterns: tuple[InStorePattern, ...]) -> Meaning | tuple[Interpretation, ...]:
    """Return the meaning of the text after `?` or a multiplier."""
    aim = _AIM_PREFIX.fullmatch(text)
    return _parse_aim_code(aim, in_store_patterns) if aim else _interpret_code(text, in_store_patterns, splits=False)


def _parse_aim_code(
    aim: re.Match[str], in_store_patterns: tuple[InStorePattern, ...]
) -> Meaning | tuple[Interpretation, ...]:
    """Return the interpretations of a code with AIM prefix, which is certain.

    Typed digits before it do not multiply it.
    """
    if aim["typed"]:
        return RefusedInput(NUMBER_BESIDE_CODE, aim[0])
    code = aim["code"][:13] if aim["symbol"] == _EAN_WITH_ADD_ON else aim["code"]
    if aim["symbol"][0] == "E" and (add_on := _CODE_WITH_ADD_ON.fullmatch(code)):
        code = add_on[1]
    return _interpret_code(code, in_store_patterns, is_gs1=aim["symbol"] in _GS1_SYMBOLS, splits=False)


def _parse_multiplied(
    number: str, rest: str, in_store_patterns: tuple[InStorePattern, ...]
) -> Meaning | tuple[Interpretation, ...]:
    interpretations = _parse_code(rest, in_store_patterns) if rest else ()
    multiplied = (
        _multiply_interpretations(number, interpretations) if needs_look_up(interpretations) else interpretations
    )
    return multiplied if rest or not needs_look_up(multiplied) else Multiplier(number)


def _multiply_interpretations(
    number: str, interpretations: tuple[Interpretation, ...]
) -> Meaning | tuple[Interpretation, ...]:
    if not _NUMBER.fullmatch(number) or sum(char.isdigit() for char in number) > MAX_QUANTITY_DIGITS:
        return RefusedInput("input.no_multiplier", number + "*")
    times = _parse_decimal(number)
    if not times:
        return RefusedInput("input.no_multiplier", number + "*")
    if interpretations and interpretations[-1].refusal == NUMBER_BESIDE_CODE:
        return RefusedInput(NUMBER_BESIDE_CODE, interpretations[-1].code)
    return tuple(
        interpretation._replace(
            multiplier=interpretation.multiplier * times,
            by=times,
            is_explicit=True,
            measures=tuple(each.times(times) for each in interpretation.measures),
            label_quantity=interpretation.label_quantity and interpretation.label_quantity.times(times),
            price=None if interpretation.price is None else interpretation.price * times,
            refusal=interpretation.refusal or (PART_OF_LABEL if _is_part_of_label(interpretation, times) else ""),
        )
        for interpretation in interpretations
    )


def _is_part_of_label(interpretation: Interpretation, times: Decimal) -> bool:
    """Return whether a factor with decimals is before a label with a weight, length or price of its own."""
    return bool(times % 1) and bool(interpretation.measures or interpretation.price is not None)


def _interpret_code(
    code: str, in_store_patterns: tuple[InStorePattern, ...], *, is_gs1: bool = False, splits: bool = True
) -> tuple[Interpretation, ...]:
    """Return every interpretation of a code, ordered by rank."""
    if (add_on := _CERTAIN_ADD_ON.fullmatch(code)) and has_valid_check_digit(bare := add_on[1] or add_on[2]):
        code = bare
    if _has_number_beside(code):
        return (
            Interpretation((code, code.casefold()), code),
            Interpretation((), code, rank=_RANK_GUESSED, refusal=NUMBER_BESIDE_CODE),
        )
    interpretations = [Interpretation(lookup_keys(code), code, rank=_RANK_WHOLE, zero_forms=zero_forms(code))]
    if in_store_patterns:
        interpretations += _interpret_in_store_code(code, in_store_patterns)
    if is_gs1 or len(code) >= _MIN_GS1_MESSAGE:
        interpretations += _interpret_gs1(code, in_store_patterns, is_gs1)
    if splits:
        interpretations += _refuse_digits_before_code(code)
        interpretations += _refuse_two_codes(code) if len(interpretations) == 1 else ()
    if not code.isascii() or code[:1] in '"]':
        interpretations += _refuse_extra_signs(code)
    if guesses := guessed_keys(code):
        interpretations.append(Interpretation(guesses, code, rank=_RANK_GUESSED, is_guess=True))
    if code.startswith(_LABEL_START):
        interpretations += _interpret_supplier_label(code)
    interpretations += _interpret_variable_measure(interpretations)
    if is_gs1 or not code.isalnum() or code[:3] == "400":
        interpretations += _interpret_order(code, is_gs1)
    if _may_be_garbled(code):
        interpretations += _interpret_layouts(code, in_store_patterns)
    return tuple(sorted(interpretations, key=lambda interpretation: interpretation.rank))


def _interpret_supplier_label(code: str) -> list[Interpretation]:
    """Return the products that a supplier's label may mean, or the refusal; none for another text.

    Its quantity is asked about and never counted: unlike AI 30 and 37, supplier and customer agree on its unit.
    """
    label = parse_supplier_label(code)
    if label is None:
        return []
    products = [
        Interpretation(lookup_keys(number), number, kind=PRODUCT, rank=_RANK_CONTENT, label_quantity=label.quantity)
        for number in label.product_numbers
    ]
    return [*products, Interpretation((), code, rank=_RANK_GUESSED, refusal=SUPPLIER_LABEL)]


def _interpret_variable_measure(interpretations: list[Interpretation]) -> list[Interpretation]:
    """Return the guesses that a GTIN with indicator 9 is a measure of the goods that have the GTIN-13 in it."""
    return [
        each._replace(
            keys=lookup_keys(bare),
            zero_forms=(),
            kind=PRODUCT,
            rank=_RANK_GUESSED,
            is_guess=True,
            needs_quantity=each.needs_quantity or not each.measures,
            is_variable_measure=True,
        )
        for each in interpretations
        if not each.refusal and (bare := without_variable_indicator(normalise_code(each.code)))
    ]


def _interpret_order(code: str, is_gs1: bool) -> list[Interpretation]:
    """Return the interpretation of a code that has the number of an order and more."""
    number = order_number_in(code, is_gs1=is_gs1)
    return [Interpretation(lookup_keys(number), number, kind=ORDER, rank=_RANK_GUESSED)] if number else []


def _interpret_in_store_code(code: str, in_store_patterns: tuple[InStorePattern, ...]) -> list[Interpretation]:
    """Return the interpretation of a code of the store's own scale, which is always a product.

    With too many leading zeros or without its check digit it is a guess.
    """
    normalised = normalise_code(code)
    padded, is_unchecked = without_padding(normalised), False
    parsed = parse_in_store_code(padded or normalised, in_store_patterns)
    if parsed is None:
        parsed, is_unchecked = parse_unchecked_code(normalised, in_store_patterns), True
    if parsed is None:
        return []
    is_guess = bool(padded) or is_unchecked
    return [
        Interpretation(
            parsed.keys,
            code,
            parsed.pieces or Decimal(1),
            parsed.pieces is not None,
            measures=(Measure(parsed.weight, "kg", parsed.decimals),) if parsed.weight else (),
            kind=PRODUCT,
            rank=_RANK_GUESSED if is_guess else _RANK_CARRIED,
            price=parsed.price,
            is_own_price=True,
            is_guess=is_guess,
            is_amount_doubtful=is_unchecked,
        )
    ]


def _interpret_gs1(code: str, in_store_patterns: tuple[InStorePattern, ...], is_gs1: bool) -> list[Interpretation]:
    """Return the interpretations of GS1 data: logistic unit first, then its content or the item; or a refusal."""
    gs1_data = parse_element_strings(code, is_gs1) if is_gs1 or may_be_gs1(code) else None
    if gs1_data is None:
        refusal = gs1_fault(code, is_gs1)
        return [Interpretation((), code, rank=_RANK_BARE, refusal=refusal)] if refusal else []
    interpretations = []
    rank = _RANK_CARRIED if is_gs1 else _RANK_BARE
    if gs1_data.sscc:
        interpretations.append(Interpretation((gs1_data.sscc, "00" + gs1_data.sscc), gs1_data.sscc, rank=rank))
        rank = _RANK_CONTENT
    if gs1_data.gtin:
        item, in_store = (
            _interpret_gtin(gs1_data, rank),
            _interpret_in_store_code(gs1_data.gtin, in_store_patterns) if in_store_patterns else [],
        )
        if in_store and not (gs1_data.measures or gs1_data.pieces or gs1_data.price):
            bare = in_store[0]._replace(rank=rank, batch=gs1_data.batch, expiry=gs1_data.expiry)
            interpretations.append(bare._replace(serial=gs1_data.serial, may_hide_expiry=gs1_data.may_hide_expiry))
        else:
            interpretations.append(
                item._replace(keys=(*item.keys, *in_store[0].keys), kind=PRODUCT) if in_store else item
            )
    return interpretations


def _interpret_gtin(gs1_data: Gs1Data, rank: int) -> Interpretation:
    return Interpretation(
        lookup_keys(gs1_data.gtin),
        gs1_data.gtin[1:] if gs1_data.gtin[0] == "0" else gs1_data.gtin,
        gs1_data.pieces or Decimal(1),
        gs1_data.pieces is not None,
        gs1_data.batch,
        gs1_data.expiry,
        gs1_data.measures,
        rank=rank,
        price=gs1_data.price,
        needs_quantity=gs1_data.lacks_net_quantity,
        has_pieces=gs1_data.pieces is not None,
        may_hide_count=gs1_data.may_hide_count and gs1_data.pieces is None,
        serial=gs1_data.serial,
        may_hide_expiry=gs1_data.may_hide_expiry,
    )


def _may_be_garbled(code: str) -> bool:
    """Return whether a code may have come through another keyboard layout.

    It has many signs, begins with one, or has one that is a digit there.
    """
    signs = 0 if code.isalnum() else sum(not char.isalnum() for char in code)
    is_likely = not code.isascii() or signs >= _MIN_GARBLED_SIGNS or not code[:1].isalnum()
    is_likely = is_likely or not _SIGNS_OF_DIGITS.isdisjoint(code)
    return is_likely or _HYPHEN_KEY.search(code) is not None


def _interpret_layouts(code: str, in_store_patterns: tuple[InStorePattern, ...]) -> list[Interpretation]:
    """Return the codes that a scanner with another keyboard layout may have read, or a refusal.

    They count only if known: as products with a valid check digit, as a location or number with a digit in it.
    """
    products: list[Interpretation] = []
    named: list[Interpretation] = []
    hyphenated = _HYPHEN_KEY.sub("-", code)
    by_hyphen_key = [("hyphen", hyphenated)] if hyphenated != code else []
    restored = {original: layout for layout, original in (*by_hyphen_key, *undo_layouts(code))}
    for original, layout in restored.items():
        if found := _interpret_restored_code(original, in_store_patterns):
            products += [
                each._replace(kind=PRODUCT, rank=_RANK_GUESSED, is_guess=True, layout=layout) for each in found
            ]
        elif any(map(str.isdigit, original)):
            named.append(
                Interpretation(lookup_keys(original), original, rank=_RANK_GUESSED, is_guess=True, layout=layout)
            )
    if products or is_garbled(code):
        products.append(Interpretation((), code, rank=_RANK_GUESSED, refusal=WRONG_LAYOUT))
    return [*named, *products]


def _interpret_restored_code(text: str, in_store_patterns: tuple[InStorePattern, ...]) -> list[Interpretation]:
    """Return the interpretations of a text as a product's code with a check digit, or as GS1 data of a product."""
    aim = _AIM_PREFIX.fullmatch(text)
    code = aim["code"] if aim and not aim["typed"] else text
    if (add_on := _CODE_WITH_ADD_ON.fullmatch(code)) and has_valid_check_digit(add_on[1]):
        code = add_on[1]
    if has_valid_check_digit(code):
        in_store = _interpret_in_store_code(code, in_store_patterns) if in_store_patterns else []
        return [Interpretation(lookup_keys(code), code), *(each for each in in_store if not each.is_guess)]
    if len(code) < _MIN_GS1_MESSAGE or not may_be_gs1(code):
        return []
    return [each for each in _interpret_gs1(code, in_store_patterns, is_gs1=False) if not each.refusal]


def _refuse_digits_before_code(code: str) -> list[Interpretation]:
    """Return refusals for typed digits directly before a known code, which may or may not multiply it.

    A code with a valid check digit of its own is that code alone.
    """
    if not (code.isascii() and code.isdigit()) or has_valid_check_digit(code):
        return []
    return [
        Interpretation(lookup_keys(code[digits:]), code[digits:], rank=_RANK_SPLIT, refusal=NUMBER_BESIDE_CODE)
        for digits in range(1, MAX_FACTOR_DIGITS + 1)
        if has_valid_check_digit(code[digits:]) and code[:digits].strip("0")
    ]


def _refuse_two_codes(code: str) -> list[Interpretation]:
    """Return the refusal of two codes in one line, which a scanner without a suffix sends, unless they are known."""
    if not _TWO_CODES.fullmatch(code):
        return []
    cuts = ((code[:length], code[length:].lstrip(_CODE_SEPARATORS)) for length in (8, 12, 13, 14))
    is_two = any(_is_whole_code(first) and _is_whole_code(second) for first, second in cuts)
    return [Interpretation((), code, rank=_RANK_GUESSED, refusal=TWO_CODES)] if is_two else []


def _refuse_extra_signs(code: str) -> list[Interpretation]:
    """Return a valid code after the bracket of an unfinished terminal answer or in quotes, or a refusal for non-ASCII
    signs.

    Non-ASCII signs around a code may have meant something else, such as a multiplier.
    """
    if code.isascii():
        is_quoted = len(code) > 2 and code[0] == code[-1] == '"'
        bare = code[1:-1] if is_quoted else code.removeprefix("]")
        is_label = is_quoted and any(map(str.isdigit, bare)) and " " not in bare
        is_bare_code = is_label or has_valid_check_digit(bare)
        return [Interpretation(lookup_keys(bare), bare, rank=_RANK_NOISY)] if is_bare_code else []
    is_code = has_valid_check_digit("".join(filter(str.isdigit, filter(str.isascii, code)))) or _CODE_DIGITS.search(
        code
    )
    return [Interpretation((), code, rank=_RANK_NOISY, refusal=EXTRA_SIGNS)] if is_code else []


def _has_control_inside(text: str) -> bool:
    """Return whether a key or control came inside a code that is no GS1 data, so that a part may be missing.

    The same holds for a short text after a Backspace at scanner pace.
    """
    if text.startswith(KEY_MARK) and len(text) <= MIN_AFTER_BACKSPACE:
        return True
    inside = text.strip(KEY_MARK)
    return KEY_MARK in inside and not begins_gs1_message(inside[: inside.index(KEY_MARK)])


def _has_number_beside(code: str) -> bool:
    """Return True for a valid code and a number separated by a blank or the like, in either order.

    An add-on is attached to its code, and it is unknown if the number was meant to multiply.
    """
    found = _NUMBER_AFTER_CODE.fullmatch(code) or _NUMBER_BEFORE_CODE.fullmatch(code)
    if found is None:
        return False
    return _is_whole_code(found["code"])


def _is_whole_code(code: str) -> bool:
    """Return True for a GTIN or a UPC-E of eight digits with a valid check digit."""
    return has_valid_check_digit(code) or (len(code) == 8 and expand_upc_e(code) != "")
