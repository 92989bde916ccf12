"""What spreadsheets do to the cells of a file, and how it is undone: by the kind of the column, where it is sure.

Each cleaner answers with the cell as it was meant and with what was undone, in words for the report; it raises
ValueError with the reason where nobody can say what was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from aisle.client.load.notation import LOCAL_FLAGS, Notation
from aisle.code_forms import check_digit, upc_e_expanded
from aisle.tuples import NamedTuple

TEXT, CODE, DOTTED, BARCODE, BARCODES = "text", "code", "dotted code", "barcode", "barcodes"
NUMBER, NUMBERS, POOL, FLAG, DATE, LIST, JSON = "number", "numbers", "pool", "flag", "date", "list", "json"

BLANKS = "\\s\u200b-\u200f\u2060\ufeff\u00ad"
"""Blanks of all kinds, also those that nobody sees."""

NOTHING = frozenset({"null", "(null)", "\\n", "n/a", "n.a.", "nan", "none", "nil", "undefined"})
"""Words that programs write for no value."""

_AROUND = re.compile(rf"\A[{BLANKS}]+|[{BLANKS}]+\Z")
_ERROR_WORDS = """
#n/a #nv #n/b #n/d #ref! #bezug! #verw! #name? #naam? #nom? #value! #wert! #waarde! #valeur! #div/0!
#deel/0! #num! #zahl! #getal! #nombre! #null! #leeg! #nul! #spill! #überlauf! #overloop! #propagation!
#calc! #kalk! #berekenen! #calcul! #field! #feld! #veld! #champ! #getting_data #blocked! #connect!
#unknown! #busy!
"""
_ERRORS = frozenset(_ERROR_WORDS.split())
"""What spreadsheets write where a formula has no value: in English, German, Dutch and French."""
_QUOTED = re.compile(r'=\s*"((?:[^"]|"")*)"')
_SHORTENED = re.compile(r"(\d+)[.,](\d+)E\+?(\d+)|(\d+)E\+(\d+)", re.IGNORECASE | re.ASCII)
_POINT_ZERO = re.compile(r"(\d+)[.,]0+", re.ASCII)
_UNSEEN = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_ODD_BLANK = re.compile(r"[^\S ]")
_BETWEEN_DIGITS = re.compile(rf"(?<=[0-9])(?:[{BLANKS}]+|-)(?=[0-9])")
_APART = re.compile(r"[,;|/\r\n]+")
_A_CODE = re.compile(r"\d{7,14}", re.ASCII)
_CHECKED = frozenset({8, 12, 13, 14, 17, 18})
"""Lengths of the codes that end in a check digit (GS1)."""
_SHORT = 8


class Cleaned(NamedTuple):
    """A cell as it was meant; `undone` says what was taken away, `more` are the further codes that stood in it."""

    cell: str
    undone: str = ""
    more: tuple[str, ...] = ()


Cleaner = Callable[[str, Notation], Cleaned]


def trimmed(cell: str) -> str:
    """A cell without blanks of any kind around it."""
    return _AROUND.sub("", cell)


def folded(cell: str) -> str:
    """A code as it is compared with others: without blanks and in one case."""
    return re.sub(rf"[{BLANKS}]+", "", cell).casefold()


def right_digit(code: str) -> str:
    """The digit that a code of these digits should end in (GS1); empty where its length has none."""
    if len(code) not in _CHECKED or not (code.isascii() and code.isdecimal()):
        return ""
    return check_digit(code[:-1])


def wrong_check_digit(code: str) -> str:
    """The digit that a code should end in and does not; empty where it ends in the right one, or has none.

    Eight digits are an EAN-8, or a UPC-E, whose digit is that of the twelve that it stands for.
    """
    right = right_digit(code)
    is_right = right == code[-1:] or (len(code) == _SHORT and upc_e_expanded(code))
    return "" if is_right else right


def _free_of_errors(cell: str) -> str:
    """The cell without blanks around it. Raises ValueError where a spreadsheet has put an error there."""
    bare = trimmed(cell)
    if bare[:1] == "#" and (bare.casefold() in _ERRORS or (len(bare) > 1 and not bare.strip("#"))):
        raise ValueError(f"is {bare!r}, an error of the spreadsheet; write the value")
    return bare


def _text(cell: str, _: Notation) -> Cleaned:
    """Words stay as they are, blanks included."""
    if cell[0] not in "=# \t":
        return Cleaned(cell)
    bare = _free_of_errors(cell)
    if not bare:
        return Cleaned("")
    quoted = _QUOTED.fullmatch(bare)
    return Cleaned(quoted[1].replace('""', '"'), '="…" taken off') if quoted else Cleaned(cell)


def _value(cell: str) -> Cleaned:
    """What all cells but words have in common."""
    bare = _free_of_errors(cell)
    undone = ["blanks around it taken off"] if bare != cell and bare else []
    if bare[:1] == "=":
        quoted = _QUOTED.fullmatch(bare)
        if not quoted:
            raise ValueError(f"{bare!r} is a formula; write its value")
        bare, undone = trimmed(quoted[1].replace('""', '"')), ['="…" taken off']
    if bare[:1] in ("'", "\u2019", "`") and len(bare) > 1:
        bare, undone = trimmed(bare[1:]), [*undone, "apostrophe before it taken off"]
    if bare.casefold() in NOTHING:
        return Cleaned("", f"{bare} read as an empty cell")
    return Cleaned(bare, ", ".join(undone))


def _and(first: str, second: str) -> str:
    return f"{first}, {second}" if first and second else first or second


def _code(cell: str, _: Notation, *, dotted: bool = False) -> Cleaned:
    """A code keeps the blanks inside it; no-break spaces become blanks."""
    if cell.isascii() and cell.isalnum() and cell.casefold() not in NOTHING:
        return Cleaned(cell)
    bare, undone, _more = _value(cell)
    bare, undone = _whole(bare, undone, dotted=dotted)
    plain = _ODD_BLANK.sub(" ", _UNSEEN.sub("", bare))
    return Cleaned(plain, _and(undone, "no-break spaces inside it made blanks") if plain != bare else undone)


def _whole(bare: str, undone: str, *, dotted: bool = False) -> tuple[str, str]:
    """A code that a spreadsheet has taken for a number. Raises ValueError where its digits are lost."""
    if found := _SHORTENED.fullmatch(bare):
        whole, rest, power = (found[1], found[2], found[3]) if found[1] else (found[4], "", found[5])
        digits = whole + rest
        if len(whole) + int(power) == len(digits) and right_digit(digits) == digits[-1]:
            return digits, _and(undone, "E notation written out, all digits are there")
        raise ValueError(
            f"{bare!r} was shortened by a spreadsheet, and digits of it are lost; format the column as text and"
            " write the code anew"
        )
    if not dotted and (found := _POINT_ZERO.fullmatch(bare)):
        return found[1], _and(undone, ".0 behind it taken off")
    return bare, undone


def _barcode(cell: str, _: Notation) -> Cleaned:
    """One barcode; of several in a cell the first is the barcode, the others are further ones."""
    if cell.isascii() and cell.isalnum() and cell.casefold() not in NOTHING:
        return Cleaned(cell)
    bare, undone, _more = _value(cell)
    codes = [trimmed(part) for part in _APART.split(bare)]
    if len(codes) > 1 and all(_A_CODE.fullmatch(joined_digits(code)) for code in codes):
        first, *others = (joined_digits(code) for code in codes)
        return Cleaned(first, _and(undone, f"{len(codes)} codes in one cell taken apart"), tuple(others))
    bare, undone = _whole(bare, undone)
    parts = bare.split()
    if len(parts) > 1 and all(len(part) in _CHECKED and right_digit(part) == part[-1] for part in parts):
        return Cleaned(parts[0], _and(undone, f"{len(parts)} codes in one cell taken apart"), tuple(parts[1:]))
    joined = joined_digits(bare)
    return Cleaned(joined, _and(undone, "blanks or hyphens between its digits taken out") if joined != bare else undone)


def joined_digits(code: str) -> str:
    """A code of digits, as it is printed in groups, without what is between them."""
    joined = _BETWEEN_DIGITS.sub("", _UNSEEN.sub("", code))
    return joined if joined.isascii() and joined.isdecimal() else code


def _barcodes(cell: str, notation: Notation) -> Cleaned:
    """Further barcodes, as the interface wants them: with commas between."""
    if cell.isascii() and cell.isalnum() and cell.casefold() not in NOTHING:
        return Cleaned(cell)
    bare, undone = _free_of_errors(cell), ""
    if bare.casefold() in NOTHING or _QUOTED.fullmatch(bare) or not _APART.search(bare):
        bare, undone, _more = _value(cell)
    parts = _APART.split(bare) if _APART.search(bare) else _apart_by_blanks(bare)
    found = [_barcode(trimmed(part), notation) for part in parts if trimmed(part)]
    codes = list(dict.fromkeys(code for one in found for code in (one.cell, *one.more) if code))
    for one in found:
        undone = undone if one.undone in undone else _and(undone, one.undone)
    if len(parts) > 1 and "/" in bare:
        undone = _and(undone, "/ between codes")
    return Cleaned(",".join(codes), undone) if undone else Cleaned(bare)


def _apart_by_blanks(bare: str) -> list[str]:
    parts = bare.split()
    return parts if all(_A_CODE.fullmatch(part) for part in parts) else [bare]


def _number(cell: str, notation: Notation) -> Cleaned:
    if cell.isascii() and cell.isdecimal():
        return Cleaned(cell)
    bare, undone, _more = _value(cell)
    return Cleaned(notation.number(bare) if bare else "", undone)


def _numbers(cell: str, notation: Notation) -> Cleaned:
    bare, undone, _more = _value(cell)
    return Cleaned("|".join(notation.number(trimmed(part)) for part in bare.split("|") if trimmed(part)), undone)


def _pool(cell: str, _: Notation) -> Cleaned:
    bare, undone, _more = _value(cell)
    return Cleaned(*_whole(bare, undone))


def _flag(cell: str, _: Notation) -> Cleaned:
    bare, undone, _more = _value(cell)
    if said := LOCAL_FLAGS.get(bare.casefold()):
        return Cleaned(said, _and(undone, f"{bare} read as {said}"))
    return Cleaned(*_whole(bare, undone))


def _date(cell: str, notation: Notation) -> Cleaned:
    bare, undone, _more = _value(cell)
    said = notation.date(bare) if bare else ""
    return Cleaned(said, _and(undone, "local date read as yyyy-mm-dd") if said != bare else undone)


def _list(cell: str, _: Notation) -> Cleaned:
    bare, undone, _more = _value(cell)
    parts = bare.split("|")
    stripped = [trimmed(part) for part in parts]
    return Cleaned("|".join(stripped), _and(undone, "blanks between parts taken off") if stripped != parts else undone)


def _json(cell: str, _: Notation) -> Cleaned:
    return Cleaned(_free_of_errors(cell))


CLEANERS: dict[str, Cleaner] = {
    TEXT: _text,
    CODE: _code,
    DOTTED: partial(_code, dotted=True),
    BARCODE: _barcode,
    BARCODES: _barcodes,
    NUMBER: _number,
    NUMBERS: _numbers,
    POOL: _pool,
    FLAG: _flag,
    DATE: _date,
    LIST: _list,
    JSON: _json,
}
"""What cleans a cell, by the kind of its column; never called for an empty one."""
