"""Cleaning of cells: undoes what spreadsheets do to them, by the kind of the column, where the meaning is certain.

A cleaner returns the intended cell and what it changed, as text for the report. It raises ValueError with the reason if
the intended value cannot be known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from aisle.barcode_keys import add_on_bases, normalise_code
from aisle.barcode_numbers import expected_check_digit, has_valid_check_digit, wrong_check_digit
from aisle.client.csv_load.date_cells import is_serial_day
from aisle.client.csv_load.look_alike_signs import SIGNS, odd_sign
from aisle.client.csv_load.number_and_date_notation import LOCAL_FLAGS, Notation
from aisle.client.csv_load.number_cells import (
    cents_alone,
    currency_of,
    no_number_reason,
    number_changes,
    with_cents,
    without_tail,
)

TEXT, CODE, DOTTED_CODE, BARCODE, BARCODES = "text", "code", "dotted code", "barcode", "barcodes"
CONTAINER = "container code"
NUMBER, NUMBERS, POOL, FLAG, DATE, LIST, JSON = "number", "numbers", "pool", "flag", "date", "list", "json"
MONEY = "amount of money"
_JOINERS = "\u200c\u200d"
"""Signs that join letters or part them; a text may need them."""
_CONTROLS = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_MARKS = f"{_CONTROLS}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
"""Signs that nobody sees or types: controls, and marks of direction that programs put around what is copied."""
BLANKS = f"\\s{_JOINERS}{_MARKS}"
"""Blanks of all kinds, including invisible ones."""
NO_VALUE_WORDS = frozenset({"null", "(null)", "\\n", "n/a", "n.a.", "nan", "none", "nil", "undefined"})
"""Words that programs write for no value."""
_NO_TEXT = frozenset({"null", "(null)", "\\n", "n/a", "n.a.", "undefined"})
"""Those of them that are no name and no word of a text."""
_NOT_INSIDE = re.compile(r"(?<![^\s,;|/])n/a(?![^\s,;|/])", re.IGNORECASE)
"""Word for no value among several codes; it contains a separator itself."""
_LINES = "-\u2013\u2014"
"""Dashes that a cell without a value may consist of."""
_OUTER_BLANKS = re.compile(rf"\A[{BLANKS}]+|[{BLANKS}]+\Z")
_ERROR_WORDS = """
#n/a #nv #n/b #n/d #ref! #bezug! #verw! #¡ref! #rif! #name? #naam? #nom? #¿nombre? #nome? #value! #wert! #waarde!
#valeur! #¡valor! #valore! #div/0! #¡div/0! #¡num! #¡nulo! #nullo!
#deel/0! #num! #zahl! #getal! #nombre! #null! #leeg! #nul! #spill! #überlauf! #overloop! #propagation!
#calc! #kalk! #berekenen! #calcul! #field! #feld! #veld! #champ! #getting_data #blocked! #connect!
#unknown! #busy!
"""
_SPREADSHEET_ERRORS = frozenset(_ERROR_WORDS.split())
"""Error values of spreadsheets in English, German, Dutch, French, Spanish and Italian."""
_ERROR_NUMBER = re.compile(r"(?:err|fout|fehler|erreur|error)\s*:\s*5\d\d", re.IGNORECASE | re.ASCII)
"""Numbered error values of LibreOffice."""
_FORMULA = re.compile(
    r"=\s*[+-]?(?:[^\W\d][\w.]*\(|\$?[A-Za-z]{1,3}\$?[0-9]+\b|[0-9(]|\"|(?:'[^']+'|\w+)!)|[+@-]\s*[A-Z][A-Z0-9.]+\(.*\)",
    re.DOTALL,
)
"""Beginning of a formula; a text with a sign before it is not always one."""
_QUOTED_FORMULA = re.compile(r'=\s*"((?:[^"]|"")*)"')
_E_NOTATION = re.compile(r"(\d+)[.,](\d+)E\+?(\d+)|(\d+)E\+(\d+)", re.IGNORECASE | re.ASCII)
_TRAILING_ZEROS = re.compile(r"(\d+)[.,]0+", re.ASCII)
_INVISIBLE = re.compile(f"[{_JOINERS}{_MARKS}]")
_MARK = re.compile(f"[{_MARKS}]")
_UNUSUAL_BLANK = re.compile(r"[^\S ]")
_BETWEEN_DIGITS = re.compile(rf"(?<=[0-9])(?:[{BLANKS}]+|-)(?=[0-9])")
_SEPARATORS = re.compile(r"[,;|/\r\n]+")
_CONJUNCTIONS = re.compile(
    r"(?<=\d)\s*(?:\b(?:en|und|et|and)\b|[&+])\s*(?=\d)|(?<=\))\s+(?:en|und|et|and)\s+", re.IGNORECASE
)
"""Words between two codes."""
_CODE_SEPARATORS = re.compile(f"{_SEPARATORS.pattern}|{_CONJUNCTIONS.pattern}", re.IGNORECASE)
_OUTER_SEPARATORS = re.compile(r"\A[\s,;|/]+|[\s,;|/]+\Z")
_E_NOTATION_INSIDE = re.compile(r"(?<![\d.,])\d+[.,]\d+E\+?\d+|(?<![\d.,])\d+E\+\d+", re.IGNORECASE | re.ASCII)
_QUOTES = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_MAX_QUOTE_PAIRS = 4
"""Pairs of quotation marks that are removed around a cell; more than three were never seen."""
_UNUSUAL_CODE_SIGNS = f"()[]{{}}:{_QUOTES}"
_KIND_OF_CODE = r"(?:ean|gtin|upc|isbn|barcode|streepjescode|strichcode|code)(?:-?[ae](?=[^a-z]))?"
_LABEL = rf"{_KIND_OF_CODE}(?:[- ]?(?:8|12|13|14))?"
_LABEL_PREFIX = re.compile(rf"\A{_LABEL}[\s.:#-]+", re.IGNORECASE)
_LABELLED_CODE = re.compile(
    rf"{_KIND_OF_CODE}(?:(?:[- ]?(?:8|12|13|14))?[\s.:#-]+|[- ]?(?:8|12|13|14)(?=\d{{8}})|(?=\d))"
    r"(\d{7,14}|\d[\d -]{6,18}\d)",
    re.IGNORECASE | re.ASCII,
)
"""Code after the name of its kind."""
_CODE_WITH_SIGNS = re.compile(r"[^\w(]*(\d{8,14})[^\w)]*", re.ASCII)
_THOUSANDS_INSIDE = re.compile(r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)", re.ASCII)
_THOUSANDS = re.compile(
    r"[+-]?[0-9]{1,3}([.,'\u2019\u00b4\u02b9`\u00b7\u066c_])[0-9]{3}(?:\1[0-9]{3})*(?:[.,][0-9]{1,2})?"
)
"""Digits with thousands separators."""
_CODE_WITH_WORDS = re.compile(
    rf"[+-]\d+|{_LABEL}[\s.:#-]*\d[\d -]*|(?:\D*[\s:(])?\d[\d -]*(?:[\s(,]\D*)?", re.IGNORECASE | re.ASCII | re.DOTALL
)
"""Code with a sign, the name of its kind or words beside it; never with a letter that it may begin with."""
_NO_CODE_WORDS = """
n.v.t. n.v.t nvt geen onbekend leeg niets k.a. kein keine keiner keines ohne unbekannt leer entfällt nichts
sans aucun aucune néant neant inconnu vide n.d. none no nothing unknown empty missing n.b.
tbc tba tbd n.t.b. volgt folgt
"""
_NO_CODE = frozenset(_NO_CODE_WORDS.split())
"""Words for no code, in Dutch, German, French and English."""
_LABEL_INITIALS = frozenset("EGUIBSCegubisc")
_SEVERAL_CODES = re.compile(r"[;|\r\n]|(?<=[0-9]),|,(?=[0-9])|(?<![0-9])[0-9]{8,}[^0-9].*(?<![0-9])[0-9]{8}", re.DOTALL)
"""Separators that occur in a cell of several codes, but in no single code, and two codes with anything between."""
_CODE_AND_PART = re.compile(r"([0-9]{8,14})\s*[^\w\s()-]\s*\w{1,6}|\w{1,6}\s*[^\w\s()-]\s*([0-9]{8,14})")
"""Code with a sign between it and a few letters or digits."""
_FLAG_WORDS = frozenset({"true", "false", *(word for word in LOCAL_FLAGS if len(word) > 3)})
_CODE_DIGITS = re.compile(r"\d{7,14}", re.ASCII)
_MIN_CHECKED_DIGITS = 8
"""Digits of the shortest code with a check digit."""
_MIN_SURE_DIGITS = 12
"""Digits from which a code with a wrong check digit is one too."""
_MIN_CODE_LENGTH = 3
"""Characters of the shortest code that stands beside others."""
_MAX_PRODUCT_DIGITS = 14
"""Digits of a product barcode; a container number is longer."""
_CONTAINER_LENGTHS = (17, 18)
"""Digits of a container number, without and with its leading zero."""
_PERIODICAL_PREFIXES = ("977", "978", "979")
"""Prefixes of codes that often have an add-on."""
CLEAR_WORDS = frozenset({"(empty)", "(leeg)", "(leer)", "(vide)"})
"""Cells that delete the present value; an empty cell keeps it."""


class CleanedCell(NamedTuple):
    """Cleaned cell. `changes` is what was changed; `further_codes` are the other codes of the cell.

    `warning` is why the cell may be wrong, although no other value is known.
    """

    value: str
    changes: str = ""
    further_codes: tuple[str, ...] = ()
    warning: str = ""


CellCleaner = Callable[[str, Notation], CleanedCell]


def trim_blanks(cell: str) -> str:
    """Return the cell without blanks of any kind around it."""
    return _OUTER_BLANKS.sub("", cell)


def fold_code(cell: str) -> str:
    """Return a code in the form in which codes are compared: without blanks and in one case."""
    return re.sub(rf"[{BLANKS}]+", "", cell).casefold()


def _refuse_error(cell: str) -> str:
    """Return the cell without blanks around it. Raise ValueError if it is an error value of a spreadsheet."""
    bare = trim_blanks(cell)
    word = bare.replace(" ", "").replace("\u00a0", "").replace("\u202f", "").casefold() if bare[:1] == "#" else ""
    if word in _SPREADSHEET_ERRORS or (len(bare) > 1 and not bare.strip("#")) or _ERROR_NUMBER.fullmatch(bare):
        raise ValueError(f"is {bare!r}, an error of the spreadsheet; write the value")
    return bare


def _clean_text(cell: str, _: Notation) -> CleanedCell:
    """Clean a text: it stays unchanged, blanks included; a word or dash for no value becomes empty."""
    if (bare := trim_blanks(cell)).casefold() in _NO_TEXT or (bare and not bare.strip(_LINES)):
        return CleanedCell("", f"{bare} read as an empty cell")
    if cell[0] not in "=#+-@ \t\u00a0\ufeffeEfF":
        return CleanedCell(cell)
    bare = _refuse_error(cell)
    if not bare:
        return CleanedCell("")
    if quoted := _QUOTED_FORMULA.fullmatch(bare):
        return CleanedCell(quoted[1].replace('""', '"'), '="…" taken off')
    if _FORMULA.match(bare):
        raise ValueError(f"{bare!r} is a formula; write its value")
    return CleanedCell(cell)


def _clean_value(cell: str) -> CleanedCell:
    """Apply what all cells but texts have in common."""
    bare = _refuse_error(cell)
    changes = ["blanks around it taken off"] if bare != cell and bare else []
    if not bare.isprintable() and (visible := _MARK.sub("", bare)) != bare:
        bare, changes = visible, [*changes, "invisible signs inside it taken out"]
    for _ in range(_MAX_QUOTE_PAIRS):
        if found := _unquote(bare):
            bare, changes = trim_blanks(found[0]), [*changes, found[1]]
    if _FORMULA.match(bare) or bare[:1] == "=":
        raise ValueError(f"{bare!r} is a formula; write its value")
    if bare.casefold() in NO_VALUE_WORDS or (bare and not bare.strip(_LINES)):
        return CleanedCell("", f"{bare} read as an empty cell")
    plain = bare if bare.isascii() else bare.translate(_WIDE)
    changes += ["full-width digits made 0 to 9"] if plain != bare else []
    return CleanedCell(plain, ", ".join(changes))


_WIDE = {ord("\uff10") + digit: str(digit) for digit in range(10)}
"""Full-width digits."""


def _unquote(bare: str) -> tuple[str, str] | None:
    """Return the cell without one pair of quotation marks, and what was removed; None if there is none."""
    if bare[:1] == "=":
        inner = bare[1:].strip()
        is_quoted = inner[:1] == inner[-1:] == '"' and len(inner) > 1 and '"' not in inner.strip('"').replace('""', "")
        return (inner[1:-1].replace('""', '"'), '="…" taken off') if is_quoted else None
    if len(bare) > 1 and bare[0] in _QUOTES:
        inner = bare[1:-1]
        if bare[-1] in _QUOTES and not any(mark in inner.lstrip("=").strip(_QUOTES) for mark in _QUOTES):
            return inner, "quotes around it taken off"
        if bare[0] in "'\u2019`" and bare[-1] not in _QUOTES:
            return bare[1:], "apostrophe before it taken off"
    return None


def _join_changes(first: str, second: str) -> str:
    return f"{first}, {second}" if first and second else first or second


def _clean_code(cell: str, notation: Notation, *, dotted: bool = False) -> CleanedCell:
    """Clean a code: blanks inside it stay, no-break spaces become blanks.

    `dotted` is True if codes of the column may contain a point.
    """
    if cell.isascii() and cell.isalnum() and cell.casefold() not in NO_VALUE_WORDS:
        return CleanedCell(cell)
    bare, changes, *_rest = _clean_value(cell)
    if bare and not bare.strip(_LINES):
        return CleanedCell("", f"{bare} read as an empty cell")
    bare, changes = _restore_digits(bare, changes, dotted=dotted and notation.has_dotted_codes)
    _refuse_grouped(bare, signs=",'\u2019\u00b4\u066c")
    plain = _UNUSUAL_BLANK.sub(" ", _INVISIBLE.sub("", bare))
    return CleanedCell(plain, _join_changes(changes, _describe_blanks(bare)) if plain != bare else changes)


def _describe_blanks(bare: str) -> str:
    odd = "tabs or line ends" if re.search(r"[\t\r\n\x0b\x0c]", bare) else "no-break spaces"
    return f"{odd} inside it made blanks"


def _restore_digits(bare: str, changes: str, *, dotted: bool = False) -> tuple[str, str]:
    """Restore a code that a spreadsheet took for a number. Raise ValueError if digits are lost."""
    if found := _E_NOTATION.fullmatch(bare):
        whole, rest, power = (found[1], found[2], found[3]) if found[1] else (found[4], "", found[5])
        digits = whole + rest
        if len(whole) + int(power) == len(digits) and expected_check_digit(digits) == digits[-1]:
            return digits, _join_changes(changes, "E notation written out, all digits are there")
        raise ValueError(
            f"{bare!r} was shortened by a spreadsheet, and digits of it are lost; format the column as text and"
            " write the code anew"
        )
    if not dotted and (found := _TRAILING_ZEROS.fullmatch(bare)):
        return found[1], _join_changes(changes, ".0 behind it taken off")
    return bare, changes


def _clean_barcode(cell: str, _: Notation, *, is_long: bool = False) -> CleanedCell:
    """Clean a barcode; of several in a cell the first is the barcode, the others are further codes.

    `is_long` is True if the column takes container numbers, which have more digits than product barcodes.
    """
    if _is_plain_code(cell):
        return CleanedCell(cell)
    bare, changes, *_rest = _clean_value(cell)
    if not bare or is_no_code(bare):
        return CleanedCell("", changes if not bare else f"{bare} read as an empty cell")
    if found := _E_NOTATION_INSIDE.search(bare):
        _refuse_shortened(found[0], bare)
    unquoted = bare.strip(_QUOTES)
    changes = _join_changes(changes, "quotes around it taken off") if unquoted != bare else changes
    bare = _OUTER_SEPARATORS.sub("", unquoted)
    changes = _join_changes(changes, "a separator beside it taken off") if bare != unquoted else changes
    codes = [trim_blanks(part).strip(_QUOTES) for part in _CODE_SEPARATORS.split(bare)]
    if len(codes) > 1 and all(map(_is_valid_code, map(_extract_code, codes))):
        return _taken_apart([*map(_extract_code, codes)], changes)
    return _clean_single_barcode(bare, changes, is_long=is_long)


def _taken_apart(codes: list[str], changes: str) -> CleanedCell:
    first, *others = dict.fromkeys(codes)
    return CleanedCell(first, _join_changes(changes, f"{len(codes)} codes in one cell taken apart"), tuple(others))


_DATE = re.compile(
    r"(?:19|20)\d\d([-/.])\d{1,2}\1\d{1,2}(?:[ T]00:00.*)?|\d{1,2}([-/.])\d{1,2}\2(?:19|20)\d\d(?: 00:00.*)?", re.ASCII
)


def _refuse_date(bare: str) -> None:
    """Raise ValueError for a date in a column of barcodes."""
    if _DATE.fullmatch(bare):
        raise ValueError(
            f"{bare!r} looks like a date that a spreadsheet has made of a code; format the column as text and write the"
            " code anew"
        )


def _is_valid_code(text: str) -> bool:
    """Return True if the digits can be one of several codes in a cell: the check digit fits their length."""
    return bool(_CODE_DIGITS.fullmatch(text)) and not wrong_check_digit(text)


def _clean_single_barcode(bare: str, changes: str, *, is_long: bool) -> CleanedCell:
    bare, changes = _restore_digits(bare, changes)
    _refuse_grouped(bare)
    _refuse_date(bare)
    parts = bare.split()
    if len(parts) > 1 and all(expected_check_digit(part) == part[-1] for part in parts):
        return _taken_apart(parts, changes)
    joined = join_digits(bare)
    if not is_long and len(joined) <= _MAX_PRODUCT_DIGITS and any(map(_is_whole_code, re.split(r"[\s-]+", bare))):
        _refuse_several(bare, is_several=joined != bare)
    if not is_long and not _printed_code(bare) and joined.isdecimal() and len(joined) > _MAX_PRODUCT_DIGITS:
        return _clean_long_barcode(bare, joined, changes)
    if joined != bare and not _printed_code(bare):
        return CleanedCell(joined, _join_changes(changes, "blanks or hyphens between its digits taken out"))
    code = _extract_code(bare)
    if code != bare:
        return CleanedCell(code, _join_changes(changes, f"{_describe_extra(bare, code)} beside the code taken off"))
    _refuse_several(bare, is_several=_SEVERAL_CODES.search(_BETWEEN_DIGITS.sub("", bare)) is not None)
    return CleanedCell(bare, changes, warning=_code_warning(bare))


def _refuse_several(bare: str, *, is_several: bool = False) -> None:
    """Raise ValueError for several codes, or for a code and a part with a sign between them."""
    found = _CODE_AND_PART.fullmatch(_BETWEEN_DIGITS.sub("", bare))
    code = (found[1] or found[2]) if found else ""
    if is_several or _is_whole_code(code) or len(code) >= _MIN_SURE_DIGITS:
        raise ValueError(f"{bare!r} is not one code, and not several with right check digits; write one code")


def _is_whole_code(text: str) -> bool:
    """Return True if a text is a code of eight digits or more with a right check digit."""
    return len(text) >= _MIN_CHECKED_DIGITS and has_valid_check_digit(text)


_WRITE_ONE = "Write one, and the others into barcodes_array with commas between"
_WRITE_COMMAS = "Write commas between them"


def _clean_long_barcode(bare: str, joined: str, changes: str) -> CleanedCell:
    """Clean more digits than a product barcode has; a shop may use such codes.

    Raise ValueError if they are several codes, or have blanks between them and are not one code.
    """
    base = next(add_on_bases(joined), "")
    if base and (" " in bare or base.startswith(_PERIODICAL_PREFIXES)) and "\n" not in bare:
        return CleanedCell(base, _join_changes(changes, "the add-on behind it taken off"))
    is_container = len(joined) in _CONTAINER_LENGTHS or (
        len(joined) == max(_CONTAINER_LENGTHS) + 2 and joined[:2] == "00"
    )
    is_known = is_container or normalise_code(joined) != joined
    is_several = not is_known and any(
        len(joined) % length == 0
        and all(map(has_valid_check_digit, map("".join, zip(*[iter(joined)] * length, strict=True))))
        for length in (13, _MAX_PRODUCT_DIGITS)
    )
    if is_several or (joined != bare and (not is_known or wrong_check_digit(joined))):
        raise ValueError(
            f"{bare!r} has {len(joined)} digits, and a barcode has {_MAX_PRODUCT_DIGITS} at most; are these several"
            f" codes? {_WRITE_ONE}"
        )
    change = "blanks or hyphens between its digits taken out" if joined != bare else ""
    return CleanedCell(
        joined,
        _join_changes(changes, change),
        warning="" if is_known else f"has more than {_MAX_PRODUCT_DIGITS} digits",
    )


def _refuse_grouped(bare: str, *, signs: str = "") -> None:
    """Raise ValueError for digits with thousands separators; `signs` restricts which separators count."""
    found = _THOUSANDS.fullmatch(bare)
    if found and (not signs or (found[1] in signs and (bare[0] not in "+-0" or bare.count(found[1]) > 1))):
        raise ValueError(
            f"{bare!r} has signs of thousands: a spreadsheet took the code for a number, and zeros before it may be"
            " lost; format the column as text and write the code anew"
        )


def _is_plain_code(cell: str) -> bool:
    """Return True for letters and digits that can only be one code."""
    if not (cell.isascii() and cell.isalnum()) or is_no_code(cell):
        return False
    if cell.isdecimal():
        return len(cell) <= _MAX_PRODUCT_DIGITS
    is_word = cell.casefold() in NO_VALUE_WORDS or cell.casefold() in _FLAG_WORDS
    is_code = not is_word and cell[0] not in _LABEL_INITIALS
    return (
        is_code and not _misread_digits(cell) and not _digits_before_letters(cell) and not _SEVERAL_CODES.search(cell)
    )


def is_no_code(cell: str) -> bool:
    """Return True if a cell of codes means none: a word for it in four languages, a dash, or only zeros."""
    return cell.casefold() in _NO_CODE or not cell.strip("0") or not cell.strip("-–—./*? ")


def _extract_code(text: str) -> str:
    """Return the one code with a valid check digit beside words or a sign; otherwise the text unchanged.

    After the name of its kind (`EAN9520…`) a code may have a wrong check digit.
    """
    if printed := _printed_code(text):
        return printed
    joined = join_digits(text)
    if joined.isascii() and joined.isdecimal():
        return joined
    if labelled := _LABELLED_CODE.fullmatch(text):
        return join_digits(labelled[1])
    if (signed := _CODE_WITH_SIGNS.fullmatch(text)) and expected_check_digit(signed[1]) == signed[1][-1]:
        return str(signed[1])
    numbers = re.findall(r"\d+", _BETWEEN_DIGITS.sub("", _LABEL_PREFIX.sub("", text)), re.ASCII)
    if len(numbers) != 1 or expected_check_digit(numbers[0]) != numbers[0][-1] or not _CODE_WITH_WORDS.fullmatch(text):
        return text
    return str(numbers[0])


_PRINTED_CODE = re.compile(r"(?:\((0[012])\) ?|(00)(?=\d{18}\Z))(\d[\d -]*)", re.ASCII)
"""Code of one container or product, with the identifier before it by which GS1 says what it is."""


def _printed_code(text: str) -> str:
    """Return the code of one container or product as it is scanned, without `(00)` or `(01)`; empty if it is none."""
    found = _PRINTED_CODE.fullmatch(text)
    digits = join_digits(found[3]) if found else ""
    lengths = (8, 12, 13, 14) if found and found[1] in ("01", "02") else _CONTAINER_LENGTHS[1:]
    is_code = len(digits) in lengths and (text[0] == "(" or not wrong_check_digit(digits))
    return digits if is_code else ""


def _describe_extra(text: str, code: str) -> str:
    if _printed_code(text):
        return text[:4] if text[0] == "(" else text[:2]
    return "a sign" if join_digits(text[1:]) == code else "words"


_LETTERS_AS_DIGITS = str.maketrans("OoIlSBZ", "0011582")
"""Letters that are typed for digits or read for them."""
_WITH_LETTERS = re.compile(r"[\dOoIlSBZ]{8,14}", re.ASCII)
_MAX_LETTERS = 3
"""Number of letters other than O up to which a code is taken for misread digits."""


def _misread_digits(code: str) -> str:
    """Return a code with digits for its letters, if it then has a right check digit; otherwise empty."""
    letters = [char for char in code if char.isalpha() and char not in "Oo"]
    if not _WITH_LETTERS.fullmatch(code) or len(letters) > _MAX_LETTERS or not any(map(str.isdecimal, code)):
        return ""
    digits = code.translate(_LETTERS_AS_DIGITS)
    return digits if digits != code and has_valid_check_digit(digits) else ""


_CODE_AND_LETTERS = re.compile(r"(\d{12,14})[A-Za-z]{1,2}", re.ASCII)


def _digits_before_letters(code: str) -> str:
    """Return the digits of a code with a right check digit that has one or two letters behind it; empty for others."""
    found = _CODE_AND_LETTERS.fullmatch(code)
    return found[1] if found and has_valid_check_digit(found[1]) else ""


def _code_warning(code: str) -> str:
    """Return why a code can hardly be scanned; empty if nothing is suspicious."""
    if sign := odd_sign(code):
        its = SIGNS[ord(sign)]
        return f"has {sign} (U+{ord(sign):04X}), which looks like {its} and is hardly in a code that is scanned"
    if digits := _misread_digits(code):
        return f"has letters where {digits} has digits, which has a right check digit; look which is meant"
    if digits := _digits_before_letters(code):
        return f"has letters behind {digits}, which is a whole code with a right check digit; look which is meant"
    has_digit = any(map(str.isdecimal, code))
    if code.casefold() in _FLAG_WORDS or not has_digit:
        return "has no digit, and is hardly a code"
    if code[0] in "+-" or any(mark in code for mark in _UNUSUAL_CODE_SIGNS):
        return "" if normalise_code(code).isdecimal() else "holds signs that are hardly part of a code"
    is_worded = " " in code and any(map(str.isalpha, code))
    return "holds words beside digits, and is hardly a code" if is_worded else ""


def _refuse_shortened(part: str, bare: str) -> None:
    """Raise ValueError for one of several codes that a spreadsheet has shortened."""
    if part != bare:
        raise ValueError(
            f"{bare!r} holds {part!r}, which was shortened by a spreadsheet; format the column as text and write the"
            " code anew"
        )


def join_digits(code: str) -> str:
    """Return a code of digits, printed in groups, without the blanks and hyphens between them."""
    joined = _BETWEEN_DIGITS.sub("", _INVISIBLE.sub("", code))
    return joined if joined.isascii() and joined.isdecimal() else code


def _clean_barcodes(cell: str, notation: Notation) -> CleanedCell:
    """Clean further barcodes; the interface wants commas between them."""
    if _is_plain_code(cell):
        return CleanedCell(cell)
    bare, changes = _refuse_error(cell), ""
    if bare[:1] == "[" and bare[-1:] == "]":
        bare, changes = bare[1:-1], "brackets around it taken off"
    if (without := _NOT_INSIDE.sub("", bare)) != bare and without.strip(" ,;|/"):
        others = _clean_barcodes(without.strip(" ,;|/"), notation)
        return others._replace(changes=_join_changes(others.changes, "n/a among the codes left out"))
    _refuse_grouped(bare)
    _refuse_date(bare)
    if grouped := _THOUSANDS_INSIDE.search(bare):
        _refuse_grouped(grouped[0])
    if is_no_code(bare):
        return CleanedCell("", f"{bare} read as an empty cell")
    for part in _PARTS_OF_LIST.split(bare):
        _refuse_error(part)
    if short := _E_NOTATION_INSIDE.search(bare):
        _refuse_shortened(short[0], bare)
        return _clean_barcode(cell, notation)
    if bare.casefold() in NO_VALUE_WORDS or _QUOTED_FORMULA.fullmatch(bare) or not _SEPARATORS.search(bare):
        bare, changes, *_rest = _clean_value(cell)
    apart = _CONJUNCTIONS.sub(",", bare)
    changes = _join_changes(changes, "words between codes taken out") if apart != bare else changes
    bare = apart
    parts = _SEPARATORS.split(bare) if _SEPARATORS.search(bare) else _split_at_blanks(bare)
    found = [_clean_one_of_several(trim_blanks(part), notation) for part in parts if trim_blanks(part)]
    codes = list(dict.fromkeys(code for one in found for code in (one.value, *one.further_codes) if code))
    if any(map(_is_whole_code, codes)) and (part := next((code for code in codes if len(code) < _MIN_CODE_LENGTH), "")):
        raise ValueError(f"{cell!r} holds {part!r}, which is hardly a code; write the codes alone, with commas between")
    for one in found:
        changes = changes if one.changes in changes else _join_changes(changes, one.changes)
    if len(parts) > 1 and "/" in bare:
        changes = _join_changes(changes, "/ between codes")
    elif not changes and not set(codes).issuperset(filter(None, map(trim_blanks, bare.split(",")))):
        changes = "commas put between codes"
    warning = next((one.warning for one in found if one.warning), "")
    return CleanedCell(",".join(codes) if changes or len(parts) > 1 else bare, changes, warning=warning)


_PARTS_OF_LIST = re.compile(r"[,;|\r\n]")


def _clean_one_of_several(part: str, notation: Notation) -> CleanedCell:
    """Clean one further barcode. Raise ValueError with the advice for a cell of several."""
    try:
        return _clean_barcode(part, notation)
    except ValueError as error:
        raise ValueError(str(error).replace(_WRITE_ONE, _WRITE_COMMAS)) from None


def _split_at_blanks(bare: str) -> list[str]:
    parts = bare.split()
    return parts if all(_CODE_DIGITS.fullmatch(part) for part in parts) else [bare]


_SHORTENED_BY = 8
"""Number of signs by which a number is shorter without the tail of a fraction, at least."""
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)


def _clean_number(cell: str, notation: Notation, *, is_money: bool = False) -> CleanedCell:
    """Clean a number; a currency may stand beside an amount of money alone."""
    if cell.isascii() and cell.isdecimal() and (cell[0] != "0" or len(cell) == 1):
        return CleanedCell(cell)
    bare, changes, *_rest = _clean_value(cell)
    if not bare:
        return CleanedCell("", changes)
    if currency_of(bare) and not is_money:
        raise ValueError(no_number_reason(bare, notation))
    if is_money and (cents := cents_alone(bare)):
        raise ValueError(f"{bare!r} can be {cents} or -{cents}: a dash can stand for no whole; write one of them")
    amount = with_cents(bare) if is_money else bare
    value = without_tail(notation.normalize_number(amount, bare))
    if value == amount and not _PLAIN.fullmatch(value):
        raise ValueError(no_number_reason(bare, notation, is_money=is_money))
    dash = "a dash read as no cents" if amount != bare else ""
    tail = "the tail of a computer's fraction rounded off" if len(value) + _SHORTENED_BY < len(amount) else ""
    return CleanedCell(value, ", ".join(filter(None, (changes, dash, tail, *number_changes(amount, value)))))


def _clean_numbers(cell: str, notation: Notation) -> CleanedCell:
    bare, changes, *_rest = _clean_value(cell)
    if is_one_or_two(bare):
        first, second = bare.split(",")
        raise ValueError(f"{bare!r} can be one number or two; write {first}|{second} for two, {bare}| for one")
    parts = [trim_blanks(part) for part in _NUMBER_SEPARATORS.split(bare)]
    changes = (
        _join_changes(changes, "other signs between its parts made bars")
        if len(parts) > bare.count("|") + 1
        else changes
    )
    found = [_clean_number(part, notation) for part in parts]
    _refuse_gap(bare, [one.value for one in found], "write 0 there, if that is meant")
    said = dict.fromkeys(filter(None, (changes, *(one.changes for one in found))))
    return CleanedCell("|".join(one.value for one in found if one.value), ", ".join(said))


def _refuse_gap(bare: str, parts: list[str], advice: str) -> None:
    """Raise ValueError for an empty part before another, which would move to its place."""
    filled = [at for at, part in enumerate(parts) if part]
    if filled and len(filled) <= filled[-1]:
        raise ValueError(f"{bare!r} has an empty part, and what follows would move to its place; {advice}")


def split_numbers(cell: str) -> list[str]:
    """Return the numbers of a cell. A comma alone may be a decimal comma, and separates nothing."""
    return [trim_blanks(part) for part in _NUMBER_SEPARATORS.split(cell) if trim_blanks(part)]


def is_one_or_two(cell: str) -> bool:
    """Return True if the only sign in a cell of numbers is a comma, which can stand for decimals or between two."""
    return _ONE_OR_TWO.fullmatch(cell) is not None


_ONE_OR_TWO = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_NUMBER_SEPARATORS = re.compile(r"\r\n|[|;/\r\n]|,\s+")


def _clean_pool(cell: str, _: Notation) -> CleanedCell:
    bare, changes, *_rest = _clean_value(cell)
    return CleanedCell(*_restore_digits(bare, changes))


def _clean_flag(cell: str, _: Notation) -> CleanedCell:
    bare, changes, *_rest = _clean_value(cell)
    if flag := LOCAL_FLAGS.get(bare.casefold()):
        return CleanedCell(flag, _join_changes(changes, f"{bare} read as {flag}"))
    return CleanedCell(*_restore_digits(bare, changes))


def _clean_date(cell: str, notation: Notation) -> CleanedCell:
    bare, changes, *_rest = _clean_value(cell)
    if not bare:
        return CleanedCell("", changes)
    date_text = notation.normalize_date(bare)
    if is_serial_day(bare):
        return CleanedCell(
            date_text, changes, warning="was the number of a day in a spreadsheet, and is read as this day"
        )
    change = "a week read as its first day, the Monday" if _WEEK.fullmatch(bare) else "local date read as yyyy-mm-dd"
    change = "pm left out, because its hour is after noon already" if _HOUR_AND_PM.search(bare) else change
    return CleanedCell(date_text, _join_changes(changes, change) if date_text != bare else changes)


_HOUR_AND_PM = re.compile(r"[\sT](?:1[3-9]|2[0-3])(?:[:.]\d\d){0,2}\s*p\.?\s?m\.?\Z", re.ASCII | re.IGNORECASE)
"""Time of 24 hours with a word for the second half of the day behind it."""
_WEEK = re.compile(r"\d{4}-?W\d\d", re.ASCII)
"""Week in ISO 8601."""


def _clean_list(cell: str, _: Notation) -> CleanedCell:
    """Clean a list of texts: split at bars, or at the first other separator that occurs."""
    bare, changes, *_rest = _clean_value(cell)
    if _JSON_LIST.fullmatch(bare):
        parts = [trim_blanks(part) for part in bare[1:-1].split(",")]
        changes = _join_changes(changes, "a list in JSON")
    else:
        mark = next((mark for mark in _LIST_SEPARATORS if mark in bare), "")
        mark = mark or (" " if _NUMBERS_WITH_BLANKS.fullmatch(bare) else "")
        parts = bare.split(mark) if mark else [bare]
        if mark and mark != "|":
            changes = _join_changes(changes, f"{_LIST_SEPARATORS.get(mark, 'blanks')} between its parts made bars")
    stripped = [_clean_part(part) for part in parts]
    if "\n" not in bare and "\r" not in bare:
        is_enclosed = not stripped[0] and not stripped[-1]  # |a|b|
        _refuse_gap(bare, stripped[is_enclosed:], "write what is missing, or take the empty part out")
    if stripped != parts and "\n" not in bare:
        changes = _join_changes(changes, "blanks or quotes around parts taken off")
    return CleanedCell("|".join(filter(None, stripped)), changes)


def _clean_part(part: str) -> str:
    bare = trim_blanks(part)
    for _ in range(_MAX_QUOTE_PAIRS):
        found = _unquote(bare)
        bare = trim_blanks(found[0]) if found else bare
    return bare


_LIST_SEPARATORS = {"|": "bars", "\n": "line ends", "\r": "line ends", ";": "semicolons", ",": "commas", "/": "slashes"}
_NUMBERS_WITH_BLANKS = re.compile(r"\d+(?: +\d+)+", re.ASCII)
_JSON_LIST = re.compile(r'\[(?:\s*"[^"]*"\s*,?)+\]')


def _clean_json(cell: str, _: Notation) -> CleanedCell:
    return CleanedCell(_refuse_error(cell))


CLEANERS: dict[str, CellCleaner] = {
    TEXT: _clean_text,
    CODE: _clean_code,
    DOTTED_CODE: partial(_clean_code, dotted=True),
    BARCODE: _clean_barcode,
    CONTAINER: partial(_clean_barcode, is_long=True),
    BARCODES: _clean_barcodes,
    NUMBER: _clean_number,
    MONEY: partial(_clean_number, is_money=True),
    NUMBERS: _clean_numbers,
    POOL: _clean_pool,
    FLAG: _clean_flag,
    DATE: _clean_date,
    LIST: _clean_list,
    JSON: _clean_json,
}
"""Cleaner of each kind of column; never called for an empty cell."""
