"""The one grammar: what a line says at every step (DESIGN §3), and how it could be read as a code.

Pure. What needs no look-up is answered at once as a `Said`; otherwise the answer is an ordered tuple of `Reading`s, for
which somebody looks up `keys_of(readings)`, and `aisle.scan.resolve` makes the `Said` of what was found.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from aisle.code_forms import checks, guessed_keys, lookup_keys, tidy, upc_e_expanded
from aisle.scan.decoder import LONGEST_LINE
from aisle.scan.faults import CODE_NUMBER, CONTROL, LAYOUT, NOISE
from aisle.scan.meaning import (
    PRODUCT,
    Back,
    Choice,
    Command,
    Measure,
    Move,
    Open,
    Quantity,
    Reading,
    Refused,
    Said,
    Times,
)
from aisle.scan.separators import KEY, begins_message
from aisle.scan.spelling import spelt
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from aisle.scan.gs1 import Carried
    from aisle.scan.restricted import Pattern

COMMANDS: Final[dict[str, Said]] = {
    "AISLE:BACK": Back(),
    "AISLE:NEXT": Command("n"),
    "AISLE:UNDO": Command("u"),
    "AISLE:DONE": Command("d"),
    "AISLE:SHORT": Command("s"),
    "AISLE:HELP": Command("h"),
    "AISLE:SIGNOFF": Command("o"),
    "AISLE:QUIT": Command("q"),
    "AISLE:OK": Move("enter"),
    **{f"AISLE:{number}": Choice(number) for number in range(1, 10)},
}
"""Printed command barcodes, in upper case; read in any case."""

PRINTED_LETTERS: Final[dict[str, str]] = {f"AISLE:{letter.upper()}": letter for letter in "acdefgijklmnoqrstuvwxyz"}
"""Printed letters, for choices that have some. Where they choose nothing, they are the command of that letter."""

PAGING: Final = "np"
"""The letters that turn pages; where there is no further page they are no search either."""

LONGEST_QUANTITY: Final = 7
"""Digits; more of them are a code, never a quantity."""
LONGEST_FACTOR: Final = 4
"""Digits before the point of what a quantity is multiplied with; more of them are a code, known or not."""
DECIMALS: Final = 3
"""Places after the point that a quantity may have."""

_AIM: Final = re.compile(r"(?P<typed>\d{0,4})\](?P<symbol>[A-Za-z][0-9A-Za-z])(?P<code>.+)", re.DOTALL | re.ASCII)
_GS1_SYMBOLS: Final = ("C1", "d2", "Q3", "e0", "J1")
_EAN_ADD_ON: Final = "E3"
_SHORTEST_MESSAGE: Final = 16
"""Characters of the shortest GS1 message without an AIM prefix: `01` and a GTIN."""
_FEWEST_SIGNS: Final = 4
"""Signs of a code that may have come through another keyboard layout, where it does not begin with one."""
_NUMBER: Final = re.compile(r"\d+|\d+[.,]\d*|[.,]\d+", re.ASCII)
_TIMES: Final = re.compile(r"([\d.,]+)\*(.*)", re.DOTALL | re.ASCII)
_FACTORS: Final = re.compile(r"[\d.,]+(?:[*xX×][\d.,]+)+", re.ASCII)
_FEW: Final = re.compile(r"[\d.,]+(?:\*(?:\d{1,2}|\d*[.,]\d+))+", re.ASCII)
"""Factors of which no one thinks as a code: `3*4`, `2*0,5`."""
_SIGNED: Final = re.compile(r"[+-][\d.,]+", re.ASCII)
_SIGNED_TIMES: Final = re.compile(r"([+-][\d.,]+\*).*", re.DOTALL | re.ASCII)
_ADD_ON: Final = re.compile(r"(\d{8}|\d{12,13})[ \-+](?:\d{2}|\d{5})", re.ASCII)
"""An EAN or UPC and its add-on, as scanners send them that part the two."""
_PERIODICAL: Final = re.compile(r"(97[789]\d{10}) (?:\d{2}|\d{5})", re.ASCII)
"""A book or a newspaper and its add-on, parted by a blank: it is hardly ever a number that somebody means."""
_BEHIND: Final = re.compile(r"(?P<code>\d{8,14})[ \t;,/|+&]+\d{1,5}(?:[.,]\d{1,3})?", re.ASCII)
_BEFORE: Final = re.compile(r"(?=[\d.,]*[1-9])\d{1,4}(?:[.,]\d{1,3})?[ \t;,/|+&]+(?P<code>\d{8,14})", re.ASCII)
_RIGHT: Final = re.compile(r"(?<!\d)\d{8,14}(?!\d)", re.ASCII)
"""So many digits as a code has."""
_UNSEEN: Final = (
    "".join(
        chr(code)
        for first, last in ((0, 0x20), (0x7F, 0xA0), (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F))
        for code in range(first, last + 1)
    )
    + "\xad\u3000\ufeff"
)
"""Controls, blanks, and what has no width: a line of these alone holds nothing that could be read."""
_CARRIED, _WHOLE, _BARE, _CONTENT, _SPLIT, _NOISY, _GUESSED = range(7)


def readings(text: str, open_: Open, table: tuple[Pattern, ...] = ()) -> Said | tuple[Reading, ...]:
    """What the text of a line says at a step that has this open; `table` holds the restricted codes (`patterns`).

    Message ids of a `Refused`: input.long, input.letter, input.choice, input.quantity, input.decimal, input.places,
    input.times, input.by_hand, input.page, input.nothing, input.letters, input.control. A session has input.moved
    and input.after beside them.
    """
    if len(text) >= LONGEST_LINE:
        return Refused("input.long", text[:40])
    text = text.strip(" ")
    if not text:
        return Move("enter")
    if not text.strip(_UNSEEN):
        return Refused("input.nothing", text)
    if _has_control(text):
        return Refused(CONTROL, text.replace(KEY, ""))
    text = spelt(text, is_free=open_.text).strip(" ")
    aim = _AIM.fullmatch(text)
    name = (aim["code"] if aim and not aim["typed"] else text).upper()
    if name in COMMANDS:
        return _command(COMMANDS[name], text, open_)
    if name in PRINTED_LETTERS:
        return _printed_letter(PRINTED_LETTERS[name], text, open_)
    if aim:
        return _scanned(aim, table)
    if len(text) > 1 and text[0] == "?":
        return _code(text[1:].strip(" "), table)
    if _NUMBER.fullmatch(text):
        return _number(text, open_, table)
    if open_.quantity and _FEW.fullmatch(text) and (said := reckoned(text, open_.decimals)):
        return said
    if times := _TIMES.fullmatch(text):
        return _multiplied(times[1], times[2].strip(" "), table)
    if times := _SIGNED_TIMES.fullmatch(text):
        return Refused("input.times", times[1])
    if len(text) == 1:
        return _letter(text, open_, table)
    if open_.quantity and _SIGNED.fullmatch(text):
        return Refused("input.quantity", text)
    return _codes(text, table)


def are_readings(answer: Said | tuple[Reading, ...]) -> TypeIs[tuple[Reading, ...]]:
    """Whether an answer of `readings` has to be looked up first; every `Said` is a tuple too, but not a plain one."""
    return type(answer) is tuple


def keys_of(ways: tuple[Reading, ...]) -> tuple[str, ...]:
    """Every key to look up for these readings, once each, best first."""
    return tuple(dict.fromkeys(key for way in ways for key in way.keys))


def is_lookup(text: str) -> bool:
    """Whether a `?` asks to look the code up instead of letting the job take it."""
    text = text.strip(" ")
    return len(text) > 1 and text[0] == "?"


def is_words(text: str) -> bool:
    """Whether an unknown text is a search (two or more letters) and not a code that nobody knows."""
    return not _AIM.fullmatch(text.strip(" ?")) and sum(char.isalpha() for char in text) >= 2


class Aim(NamedTuple):
    """What the AIM prefix of a text says: symbology and modifier (`C1`), and whether the code is GS1 data."""

    symbol: str
    gs1: bool
    code: str
    """What stands behind the prefix; all of the text where there is none."""


def aim_of(text: str) -> Aim:
    """The AIM prefix of a text and what it stands before; an empty `symbol` where there is none."""
    aim = _AIM.fullmatch(text.strip(" "))
    return Aim(aim["symbol"], aim["symbol"] in _GS1_SYMBOLS, aim["code"]) if aim else Aim("", False, text)


# What is answered at once


def _number(text: str, open_: Open, table: tuple[Pattern, ...]) -> Said | tuple[Reading, ...]:
    """A number says how many where that is asked, and chooses nothing there; else one that is shown chooses."""
    numbered = 0 if open_.keys or open_.quantity else open_.choices
    if text.isdigit() and text[0] != "0" and 1 <= int(text) <= numbered:
        return Choice(int(text))
    if open_.quantity and sum(char.isdigit() for char in text) <= LONGEST_QUANTITY:
        code = text if len(text) > 1 and text[0] == "0" and text.isdigit() else ""
        return _quantity(_decimal(text), text, open_.decimals, code)
    if text == "0":
        return Refused(no_choice(open_), text) if open_.choices else Back()
    return _codes(text, table)


def no_choice(open_: Open) -> str:
    """Why a number is none of the choices of a page (`input.…`): there are fewer, or they have letters."""
    return "input.letters" if open_.keys else "input.choice"


def reckoned(text: str, decimals: bool) -> Said | None:
    """The quantity that `3*4` or `3x4` comes to; None where that is no multiplication of numbers: so many of a code.

    Message ids of a `Refused`: input.decimal, input.places, input.quantity, input.times (a factor is 0).
    """
    text = text.replace(" ", "")
    factors = re.split("[*xX×]", text) if _FACTORS.fullmatch(text) else ()
    if not factors or not all(_NUMBER.fullmatch(each) and len(each) <= LONGEST_QUANTITY + 1 for each in factors):
        return None
    if any(len(re.split("[.,]", each)[0]) > LONGEST_FACTOR for each in factors[1:]):
        return None
    value = math.prod((_decimal(each) for each in factors), start=Decimal(1))
    if not value:
        return Refused("input.times", text)
    if value >= 10**LONGEST_QUANTITY:
        return Refused("input.quantity", text)
    return _quantity(value if value % 1 else value.quantize(Decimal(1)), text, decimals, code=text)


def _quantity(value: Decimal, text: str, decimals: bool, code: str = "") -> Said:
    exponent = value.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) else 0
    if places > 0 and not decimals:
        return Refused("input.decimal", text)
    if places > DECIMALS:
        return Refused("input.places", text)
    return Quantity(value, code)


def _decimal(text: str) -> Decimal:
    """A number with a point or a comma; one that ends or begins with it too (`1,` and `,5`)."""
    return Decimal(text.replace(",", ".").rstrip(".") or "0")


def _letter(text: str, open_: Open, table: tuple[Pattern, ...]) -> Said | tuple[Reading, ...]:
    letter = text.lower()
    if letter == "b":
        return Back()
    if letter in open_.keys[: open_.choices]:
        return Choice(open_.keys.index(letter) + 1)
    if letter in open_.letters:
        return Command(letter)
    if open_.finds and letter in PAGING:
        return Refused("input.page", text)
    return _codes(text, table) if open_.text or open_.finds else Refused("input.letter", text)


def _command(command: Said, text: str, open_: Open) -> Said:
    """A printed command says what its letter or number would; it never means more than the step knows."""
    if isinstance(command, Command) and command.letter not in open_.letters:
        return Refused("input.letter", text)
    if isinstance(command, Choice) and command.number > open_.choices:
        return Refused(no_choice(open_), text)
    if open_.by_hand and isinstance(command, Choice | Move):
        return Refused("input.by_hand", text)
    if isinstance(command, Choice) and (open_.keys or open_.quantity):
        return Refused(no_choice(open_), text)
    return command


def _printed_letter(letter: str, text: str, open_: Open) -> Said:
    """A printed letter chooses what it stands for on the page, unless that is confirmed by hand alone."""
    at = open_.keys[: open_.choices].find(letter)
    if at < 0:
        return _command(Command(letter), text, open_)
    return Refused("input.by_hand", text) if open_.by_hand else Choice(at + 1)


# What may be a code


def _code(text: str, table: tuple[Pattern, ...]) -> Said | tuple[Reading, ...]:
    """What stands after `?` or a star."""
    aim = _AIM.fullmatch(text)
    return _scanned(aim, table) if aim else _codes(text, table, splits=False)


def _scanned(aim: re.Match[str], table: tuple[Pattern, ...]) -> Said | tuple[Reading, ...]:
    """A scanner that says what it read: a code for certain. Digits before it were typed, and do not multiply it."""
    if aim["typed"]:
        return Refused(CODE_NUMBER, aim[0])
    code = aim["code"][:13] if aim["symbol"] == _EAN_ADD_ON else aim["code"]
    if aim["symbol"][0] == "E" and (add_on := _ADD_ON.fullmatch(code)):
        code = add_on[1]
    return _codes(code, table, sure=aim["symbol"] in _GS1_SYMBOLS, splits=False)


def _multiplied(number: str, rest: str, table: tuple[Pattern, ...]) -> Said | tuple[Reading, ...]:
    ways = _code(rest, table) if rest else ()
    multiplied = _times(number, ways) if are_readings(ways) else ways
    return multiplied if rest or not are_readings(multiplied) else Times(number)


def _times(number: str, ways: tuple[Reading, ...]) -> Said | tuple[Reading, ...]:
    if not _NUMBER.fullmatch(number) or sum(char.isdigit() for char in number) > LONGEST_QUANTITY:
        return Refused("input.times", number + "*")
    times = _decimal(number)
    if not times:
        return Refused("input.times", number + "*")
    if ways and ways[-1].refusal == CODE_NUMBER:
        return Refused(CODE_NUMBER, ways[-1].code)
    return tuple(
        way._replace(
            times=way.times * times,
            by=times,
            explicit=True,
            measures=tuple(each._replace(amount=each.amount * times) for each in way.measures),
            price=None if way.price is None else way.price * times,
        )
        for way in ways
    )


def _codes(code: str, table: tuple[Pattern, ...], *, sure: bool = False, splits: bool = True) -> tuple[Reading, ...]:
    """Every way to read a code, in the order of their ranks."""
    if add_on := _PERIODICAL.fullmatch(code):
        code = add_on[1]
    if _has_number_beside(code):
        return (Reading((code, code.casefold()), code), Reading((), code, rank=_GUESSED, refusal=CODE_NUMBER))
    ways = [Reading(lookup_keys(code), code, rank=_WHOLE)]
    if table:
        ways += _restricted(code, table)
    if sure or len(code) >= _SHORTEST_MESSAGE:
        ways += _element_strings(code, table, sure)
    if splits:
        ways += _split(code)
    if not code.isascii() or code[:1] == "]":
        ways += _noisy(code)
    if guesses := guessed_keys(code):
        ways.append(Reading(guesses, code, rank=_GUESSED, is_guess=True))
    if _may_be_garbled(code):
        ways += _through_layouts(code)
    return tuple(sorted(ways, key=lambda way: way.rank))


def _restricted(code: str, table: tuple[Pattern, ...]) -> list[Reading]:
    """What the shop's own scale printed: always a product."""
    from aisle.scan.restricted import restricted

    own = restricted(tidy(code), table)
    if own is None:
        return []
    return [
        Reading(
            own.keys,
            code,
            own.pieces or Decimal(1),
            own.pieces is not None,
            measures=(Measure(own.weight, "kg", own.decimals),) if own.weight else (),
            kind=PRODUCT,
            rank=_CARRIED,
            price=own.price,
            is_own_price=True,
        )
    ]


def _element_strings(code: str, table: tuple[Pattern, ...], sure: bool) -> list[Reading]:
    """GS1: the logistic unit first, then what it holds or the thing itself; or why it is refused."""
    from aisle.scan import gs1

    carried = gs1.carried(code, sure) if sure or gs1.looks_like(code) else None
    if carried is None:
        refusal = gs1.fault_of(code, sure)
        return [Reading((), code, rank=_BARE, refusal=refusal)] if refusal else []
    ways = []
    rank = _CARRIED if sure else _BARE
    if carried.sscc:
        ways.append(Reading((carried.sscc, "00" + carried.sscc), carried.sscc, rank=rank))
        rank = _CONTENT
    if carried.gtin:
        thing, own = _of_gtin(carried, rank), _restricted(carried.gtin, table) if table else []
        if own and not (carried.measures or carried.pieces or carried.price):
            ways.append(own[0]._replace(rank=rank, batch=carried.batch, expiry=carried.expiry))
        else:
            ways.append(thing._replace(keys=(*thing.keys, *own[0].keys), kind=PRODUCT) if own else thing)
    return ways


def _of_gtin(carried: Carried, rank: int) -> Reading:
    return Reading(
        lookup_keys(carried.gtin),
        carried.gtin[1:] if carried.gtin[0] == "0" else carried.gtin,
        carried.pieces or Decimal(1),
        carried.pieces is not None,
        carried.batch,
        carried.expiry,
        carried.measures,
        rank=rank,
        price=carried.price,
        asks=carried.has_no_net,
        has_pieces=carried.pieces is not None,
    )


def _may_be_garbled(code: str) -> bool:
    """Whether it has signs in so many places, or in such, that it may have come through another keyboard layout."""
    signs = 0 if code.isalnum() else sum(not char.isalnum() for char in code)
    return not code.isascii() or signs >= _FEWEST_SIGNS or not code[:1].isalnum()


def _through_layouts(code: str) -> list[Reading]:
    """What a scanner has read that is set to another keyboard than the terminal: a code with a right check digit, and
    known; or why it is refused."""
    from aisle.scan import gs1, layouts

    ways = []
    for layout, back in layouts.read_back(code):
        aim = _AIM.fullmatch(back)
        bare = aim["code"] if aim and not aim["typed"] else back
        carried = gs1.carried(bare) if len(bare) >= _SHORTEST_MESSAGE and gs1.looks_like(bare) else None
        way = Reading(lookup_keys(bare), bare) if checks(bare) else _of_gtin(carried, 0) if carried else None
        if way:
            ways.append(way._replace(kind=PRODUCT, rank=_GUESSED, is_guess=True, layout=layout))
    if ways or layouts.is_garbled(code):
        ways.append(Reading((), code, rank=_GUESSED, refusal=LAYOUT))
    return ways


def _split(code: str) -> list[Reading]:
    """Refuses digits right before a code of the store: nobody knows whether they were meant to multiply. A code with a
    right check digit of its own is that code alone."""
    if not (code.isascii() and code.isdigit()) or checks(code):
        return []
    return [
        Reading(lookup_keys(code[digits:]), code[digits:], rank=_SPLIT, refusal=CODE_NUMBER)
        for digits in range(1, LONGEST_FACTOR + 1)
        if checks(code[digits:]) and code[:digits].strip("0")
    ]


def _noisy(code: str) -> list[Reading]:
    """A right code behind the bracket of an answer of the terminal that went no further. Signs around a code that are
    no ASCII may have said something else, such as a multiplier: they are refused."""
    if code.isascii():
        bare = code.removeprefix("]")
        return [Reading(lookup_keys(bare), bare, rank=_NOISY)] if checks(bare) else []
    is_code = checks("".join(filter(str.isdigit, filter(str.isascii, code)))) or _RIGHT.search(code)
    return [Reading((), code, rank=_NOISY, refusal=NOISE)] if is_code else []


def _has_control(text: str) -> bool:
    """Whether a key or a control came in the middle of a code that is no GS1 data: some of the code may be missing."""
    inside = text.strip(KEY)
    return KEY in inside and not begins_message(inside[: inside.index(KEY)])


def _has_number_beside(code: str) -> bool:
    """Whether it is a code with a right check digit and a number, in either order, with a blank or the like between:
    an add-on is digits right behind its code, and nobody knows whether the number was meant to multiply."""
    found = _BEHIND.fullmatch(code) or _BEFORE.fullmatch(code)
    if found is None:
        return False
    bare = found["code"]
    return checks(bare) or (len(bare) == 8 and upc_e_expanded(bare) != "")
