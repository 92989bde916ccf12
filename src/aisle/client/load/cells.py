"""What spreadsheets do to the cells of a file, and how it is undone: by the kind of the column, where it is sure.

Each cleaner answers with the cell as it was meant and with what was undone, in words for the report; it raises
ValueError with the reason where nobody can say what was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from aisle.client.load.notation import LOCAL_FLAGS, Notation
from aisle.code_forms import check_digit, tidy, upc_e_expanded
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
_AND = re.compile(r"(?<=\d)\s*(?:\b(?:en|und|et|and)\b|[&+])\s*(?=\d)|(?<=\))\s+(?:en|und|et|and)\s+", re.IGNORECASE)
"""Words between two codes."""
_CODES_APART = re.compile(f"{_APART.pattern}|{_AND.pattern}", re.IGNORECASE)
_SEPARATORS_AROUND = re.compile(r"\A[\s,;|/]+|[\s,;|/]+\Z")
_SHORTENED_INSIDE = re.compile(r"(?<![\d.,])\d+[.,]\d+E\+?\d+|(?<![\d.,])\d+E\+\d+", re.IGNORECASE | re.ASCII)
_QUOTES = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_ODD_MARKS = f"()[]{{}}:{_QUOTES}"
_LABEL = r"(?:ean|gtin|upc|isbn|barcode|streepjescode|strichcode|code)(?:[- ]?(?:8|12|13|14))?"
_NAME_BEFORE = re.compile(rf"\A{_LABEL}[\s.:#-]+", re.IGNORECASE)
_BESIDE = re.compile(
    rf"[+-]\d+|{_LABEL}[\s.:#-]*\d[\d -]*|(?:\D*[\s:(])?\d[\d -]*(?:[\s(,]\D*)?", re.IGNORECASE | re.ASCII | re.DOTALL
)
"""A code with a sign, a name of its kind or words beside it, and never a letter that it may begin with."""
_NO_CODE_WORDS = """
n.v.t. n.v.t nvt geen onbekend leeg niets k.a. kein keine keiner keines ohne unbekannt leer entfällt nichts
sans aucun aucune néant neant inconnu vide n.d. none no nothing unknown empty missing n.b.
"""
_NO_CODE = frozenset(_NO_CODE_WORDS.split())
"""Words for no code, in Dutch, German, French and English."""
_FLAGS = frozenset({"true", "false", *(word for word in LOCAL_FLAGS if len(word) > 3)})
_A_CODE = re.compile(r"\d{7,14}", re.ASCII)
_CHECKED = frozenset({8, 12, 13, 14, 17, 18})
"""Lengths of the codes that end in a check digit (GS1)."""
_SHORT = 8


TAKEN_AWAY = frozenset({"(empty)", "(leeg)", "(leer)", "(vide)"})
"""What a cell holds that takes away the value that is there; an empty cell leaves it."""


class Cleaned(NamedTuple):
    """A cell as it was meant; `undone` says what was taken away, `more` are the further codes that stood in it.

    `doubt` says why the cell may not be what it should be, though nobody can say what else.
    """

    cell: str
    undone: str = ""
    more: tuple[str, ...] = ()
    doubt: str = ""


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
    bare, undone, *_rest = _value(cell)
    bare, undone = _whole(bare, undone, dotted=dotted)
    plain = _ODD_BLANK.sub(" ", _UNSEEN.sub("", bare))
    return Cleaned(plain, _and(undone, _blanks_in(bare)) if plain != bare else undone)


def _blanks_in(bare: str) -> str:
    odd = "tabs or line ends" if re.search(r"[\t\r\n\x0b\x0c]", bare) else "no-break spaces"
    return f"{odd} inside it made blanks"


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
    if _is_plain_code(cell):
        return Cleaned(cell)
    bare, undone, *_rest = _value(cell)
    if not bare or is_no_code(bare):
        return Cleaned("", undone if not bare else f"{bare} read as an empty cell")
    if found := _SHORTENED_INSIDE.search(bare):
        _refuse_shortened(found[0], bare)
    unquoted = bare.strip(_QUOTES)
    undone = _and(undone, "quotes around it taken off") if unquoted != bare else undone
    bare = _SEPARATORS_AROUND.sub("", unquoted)
    undone = _and(undone, "a separator beside it taken off") if bare != unquoted else undone
    codes = [trimmed(part).strip(_QUOTES) for part in _CODES_APART.split(bare)]
    if len(codes) > 1 and all(_A_CODE.fullmatch(one) for one in map(_bare_code, codes)):
        first, *others = map(_bare_code, codes)
        return Cleaned(first, _and(undone, f"{len(codes)} codes in one cell taken apart"), tuple(others))
    return _one_barcode(bare, undone)


def _one_barcode(bare: str, undone: str) -> Cleaned:
    bare, undone = _whole(bare, undone)
    parts = bare.split()
    if len(parts) > 1 and all(len(part) in _CHECKED and right_digit(part) == part[-1] for part in parts):
        return Cleaned(parts[0], _and(undone, f"{len(parts)} codes in one cell taken apart"), tuple(parts[1:]))
    joined = joined_digits(bare)
    if joined != bare:
        return Cleaned(joined, _and(undone, "blanks or hyphens between its digits taken out"))
    code = _bare_code(bare)
    if code != bare:
        return Cleaned(code, _and(undone, f"{_beside(bare, code)} beside the code taken off"))
    return Cleaned(bare, undone, doubt=_doubt(bare))


def _is_plain_code(cell: str) -> bool:
    return (
        cell.isascii()
        and cell.isalnum()
        and cell.casefold() not in NOTHING
        and not is_no_code(cell)
        and (cell.casefold() not in _FLAGS)
    )


def is_no_code(cell: str) -> bool:
    """Whether a cell of codes says that there is none: a word for that in four languages, a line, zeros alone."""
    return cell.casefold() in _NO_CODE or not cell.strip("0") or not cell.strip("-–—./*? ")


def _bare_code(text: str) -> str:
    """The one code with a right check digit that stands there beside words or a sign; else the text as it is."""
    joined = joined_digits(text)
    if joined.isascii() and joined.isdecimal():
        return joined
    numbers = re.findall(r"\d+", _BETWEEN_DIGITS.sub("", _NAME_BEFORE.sub("", text)), re.ASCII)
    if len(numbers) != 1 or right_digit(numbers[0]) != numbers[0][-1] or not _BESIDE.fullmatch(text):
        return text
    return str(numbers[0])


def _beside(text: str, code: str) -> str:
    return "a sign" if joined_digits(text[1:]) == code else "words"


def _doubt(code: str) -> str:
    """Why a code may not be one that can be scanned; empty where nothing speaks against it."""
    has_digit = any(map(str.isdecimal, code))
    if code.casefold() in _FLAGS or not has_digit:
        return "has no digit, and is hardly a code"
    if code[0] in "+-" or any(mark in code for mark in _ODD_MARKS):
        return "" if tidy(code).isdecimal() else "holds signs that are hardly part of a code"
    is_worded = " " in code and any(map(str.isalpha, code))
    return "holds words beside digits, and is hardly a code" if is_worded else ""


def _refuse_shortened(part: str, bare: str) -> None:
    """Raises ValueError for one of several codes that a spreadsheet has shortened."""
    if part != bare:
        raise ValueError(
            f"{bare!r} holds {part!r}, which was shortened by a spreadsheet; format the column as text and write the"
            " code anew"
        )


def joined_digits(code: str) -> str:
    """A code of digits, as it is printed in groups, without what is between them."""
    joined = _BETWEEN_DIGITS.sub("", _UNSEEN.sub("", code))
    return joined if joined.isascii() and joined.isdecimal() else code


def _barcodes(cell: str, notation: Notation) -> Cleaned:
    """Further barcodes, as the interface wants them: with commas between."""
    if _is_plain_code(cell):
        return Cleaned(cell)
    bare, undone = _free_of_errors(cell), ""
    if is_no_code(bare):
        return Cleaned("", f"{bare} read as an empty cell")
    if short := _SHORTENED_INSIDE.search(bare):
        _refuse_shortened(short[0], bare)
    if bare.casefold() in NOTHING or _QUOTED.fullmatch(bare) or not _APART.search(bare):
        bare, undone, *_rest = _value(cell)
    apart = _AND.sub(",", bare)
    undone = _and(undone, "words between codes taken out") if apart != bare else undone
    bare = apart
    parts = _APART.split(bare) if _APART.search(bare) else _apart_by_blanks(bare)
    found = [_barcode(trimmed(part), notation) for part in parts if trimmed(part)]
    codes = list(dict.fromkeys(code for one in found for code in (one.cell, *one.more) if code))
    for one in found:
        undone = undone if one.undone in undone else _and(undone, one.undone)
    if len(parts) > 1 and "/" in bare:
        undone = _and(undone, "/ between codes")
    doubt = next((one.doubt for one in found if one.doubt), "")
    return Cleaned(",".join(codes) if undone else bare, undone, doubt=doubt)


def _apart_by_blanks(bare: str) -> list[str]:
    parts = bare.split()
    return parts if all(_A_CODE.fullmatch(part) for part in parts) else [bare]


def _number(cell: str, notation: Notation) -> Cleaned:
    if cell.isascii() and cell.isdecimal():
        return Cleaned(cell)
    bare, undone, *_rest = _value(cell)
    return Cleaned(notation.number(bare) if bare else "", undone)


def _numbers(cell: str, notation: Notation) -> Cleaned:
    bare, undone, *_rest = _value(cell)
    return Cleaned("|".join(notation.number(trimmed(part)) for part in bare.split("|") if trimmed(part)), undone)


def _pool(cell: str, _: Notation) -> Cleaned:
    bare, undone, *_rest = _value(cell)
    return Cleaned(*_whole(bare, undone))


def _flag(cell: str, _: Notation) -> Cleaned:
    bare, undone, *_rest = _value(cell)
    if said := LOCAL_FLAGS.get(bare.casefold()):
        return Cleaned(said, _and(undone, f"{bare} read as {said}"))
    return Cleaned(*_whole(bare, undone))


def _date(cell: str, notation: Notation) -> Cleaned:
    bare, undone, *_rest = _value(cell)
    said = notation.date(bare) if bare else ""
    return Cleaned(said, _and(undone, "local date read as yyyy-mm-dd") if said != bare else undone)


def _list(cell: str, _: Notation) -> Cleaned:
    bare, undone, *_rest = _value(cell)
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
