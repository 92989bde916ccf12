"""Cleaning of one cell from what spreadsheets and programs put around it, and forms of one key, made comparable.

`wrong_keys` finds the rows whose key is only a form of another key.

A spreadsheet takes zeros off and adds signs of thousands; other programs and people change blanks, case, dashes and
letters that look alike. `fold_key` and `comparable_key` give one form to keys that are never two, `bare_codes` to keys
that are hardly two, and `forms_without_zeros` to keys that can be two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from aisle.barcode_numbers import expected_check_digit

_JOINERS = "\u200c\u200d"
"""Signs that join letters or part them; a text may need them."""
_CONTROLS = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_MARKS = f"{_CONTROLS}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
"""Signs that nobody sees or types: controls, and marks of direction that programs put around what is copied."""
BLANKS = f"\\s{_JOINERS}{_MARKS}"
"""Blanks of all kinds, including invisible ones."""
NO_VALUE_WORDS = frozenset({"null", "(null)", "\\n", "n/a", "n.a.", "nan", "none", "nil", "undefined"})
"""Words that programs write for no value."""
DASHES = "-\u2013\u2014\u2212"
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
FORMULA = re.compile(
    r"=\s*[+-]?(?:[^\W\d][\w.]*\(|\$?[A-Za-z]{1,3}\$?[0-9]+\b|[0-9(]|\"|(?:'[^']+'|\w+)!)|[+@-]\s*[A-Z][A-Z0-9.]+\(.*\)",
    re.DOTALL,
)
"""Beginning of a formula; a text with a sign before it is not always one."""
QUOTED_FORMULA = re.compile(r'=\s*"((?:[^"]|"")*)"')
_E_NOTATION = re.compile(r"(\d+)[.,](\d+)E\+?(\d+)|(\d+)E\+(\d+)", re.IGNORECASE | re.ASCII)
_TRAILING_ZEROS = re.compile(r"(\d+)([.,]0+)", re.ASCII)
_THREE_ZEROS = re.compile(r"\d{1,3}[.,]000", re.ASCII)
INVISIBLE = re.compile(f"[{_JOINERS}{_MARKS}]")
_MARK = re.compile(f"[{_MARKS}]")
HIDDEN_IN_TEXT = re.compile(f"[{_CONTROLS}\u202a-\u202e\u2066-\u2069]")
"""Controls, and marks that turn the direction of a text: no text needs them."""
BETWEEN_DIGITS = re.compile(rf"(?<=[0-9])(?:[{BLANKS}]+|-)(?=[0-9])")
QUOTES = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
MAX_QUOTE_PAIRS = 4
"""Pairs of quotation marks that are removed around a cell; more than three were never seen."""
_THOUSANDS = re.compile(
    r"[+-]?[0-9]{1,3}([.,'\u2019\u00b4\u02b9`\u00b7\u066c_])[0-9]{3}(?:\1[0-9]{3})*(?:[.,][0-9]{1,2})?"
)
"""Digits with thousands separators."""
CLEAR_WORDS = frozenset({"(empty)", "(blank)", "(leeg)", "(leer)", "(vide)"})
"""Cells that delete the present value; an empty cell keeps it (`checked_rows.CsvTable._parse_row`)."""


class CleanedCell(NamedTuple):
    """Cleaned cell. `changes` is what was changed; `further_codes` are the other codes of the cell.

    `warning` is why the cell may be wrong, although no other value is known.
    """

    value: str
    changes: str = ""
    further_codes: tuple[str, ...] = ()
    warning: str = ""


def trim_blanks(cell: str) -> str:
    """Return the cell without blanks of any kind around it."""
    return _OUTER_BLANKS.sub("", cell)


def fold_code(cell: str) -> str:
    """Return a code in the form in which codes are compared: without blanks and in one case."""
    return re.sub(rf"[{BLANKS}]+", "", cell).casefold()


def refuse_error(cell: str) -> str:
    """Return the cell without blanks around it. Raise ValueError if it is an error value of a spreadsheet."""
    bare = trim_blanks(cell)
    word = bare.replace(" ", "").replace("\u00a0", "").replace("\u202f", "").casefold() if bare[:1] == "#" else ""
    if word in _SPREADSHEET_ERRORS or (len(bare) > 1 and not bare.strip("#")) or _ERROR_NUMBER.fullmatch(bare):
        raise ValueError(f"is {bare!r}, an error of the spreadsheet; write the value")
    return bare


def clean_value(cell: str) -> CleanedCell:
    """Apply what all cells but texts have in common."""
    bare = refuse_error(cell)
    changes = ["blanks around it taken off"] if bare != cell and bare else []
    if not bare.isprintable() and (visible := _MARK.sub("", bare)) != bare:
        bare, changes = visible, [*changes, "invisible signs inside it taken out"]
    for _ in range(MAX_QUOTE_PAIRS):
        if found := unquote(bare):
            bare, changes = trim_blanks(found[0]), [*changes, found[1]]
    if FORMULA.match(bare) or bare[:1] == "=":
        raise ValueError(f"{bare!r} is a formula; write its value")
    if bare.casefold() in NO_VALUE_WORDS or (bare and not bare.strip(DASHES)):
        return CleanedCell("", f"{bare} read as an empty cell")
    plain = bare if bare.isascii() else bare.translate(_WIDE)
    changes += ["full-width digits made 0 to 9"] if plain != bare else []
    return CleanedCell(plain, ", ".join(changes))


_WIDE = {ord("\uff10") + digit: str(digit) for digit in range(10)}
"""Full-width digits."""


def unquote(bare: str) -> tuple[str, str] | None:
    """Return the cell without one pair of quotation marks, and what was removed; None if there is none."""
    if bare[:1] == "=":
        inner = bare[1:].strip()
        is_quoted = inner[:1] == inner[-1:] == '"' and len(inner) > 1 and '"' not in inner.strip('"').replace('""', "")
        return (inner[1:-1].replace('""', '"'), '="…" taken off') if is_quoted else None
    if len(bare) > 1 and bare[0] in QUOTES:
        inner = bare[1:-1]
        if bare[-1] in QUOTES and not any(mark in inner.lstrip("=").strip(QUOTES) for mark in QUOTES):
            return inner, "quotes around it taken off"
        if bare[0] in "'\u2019`" and bare[-1] not in QUOTES:
            return bare[1:], "apostrophe before it taken off"
    return None


def join_changes(first: str, second: str) -> str:
    return f"{first}, {second}" if first and second else first or second


def restore_digits(bare: str, changes: str, *, dotted: bool = False) -> tuple[str, str]:
    """Restore a code that a spreadsheet took for a number. Raise ValueError if digits are lost."""
    if found := _E_NOTATION.fullmatch(bare):
        whole, rest, power = (found[1], found[2], found[3]) if found[1] else (found[4], "", found[5])
        digits = whole + rest
        if len(whole) + int(power) == len(digits) and expected_check_digit(digits) == digits[-1]:
            return digits, join_changes(changes, "E notation written out, all digits are there")
        raise ValueError(
            f"{bare!r} was shortened by a spreadsheet, and digits of it are lost; format the column as text and"
            " write the code anew"
        )
    if not dotted and (found := _TRAILING_ZEROS.fullmatch(bare)):
        return found[1], join_changes(changes, f"{found[2]} behind it taken off")
    return bare, changes


def refuse_grouped(bare: str) -> None:
    """Raise ValueError for digits with thousands separators."""
    if _THOUSANDS.fullmatch(bare):
        raise ValueError(
            f"{bare!r} has signs of thousands: a spreadsheet took the code for a number, and zeros before it may be"
            " lost; format the column as text and write the code anew"
        )


def refuse_grouped_code(bare: str, *, dotted: bool) -> None:
    """Raise ValueError for digits with thousands separators, but those that a code can have.

    These are points and other signs of print, and a comma behind a zero. Three zeros behind one sign can be thousands
    of a number (`11.000`); a code has them only where codes are `dotted`.
    """
    found = _THOUSANDS.fullmatch(bare)
    is_sure = found and (
        (found[1] in ",'\u2019\u00b4\u066c" and (bare[0] not in "+-0" or bare.count(found[1]) > 1))
        or (found[1] == "." and "," in bare)
    )
    if is_sure or (_THREE_ZEROS.fullmatch(bare) and not dotted):
        refuse_grouped(bare)


def join_digits(code: str) -> str:
    """Return a code of digits, printed in groups, without the blanks and hyphens between them."""
    joined = BETWEEN_DIGITS.sub("", INVISIBLE.sub("", code))
    return joined if joined.isascii() and joined.isdecimal() else code


_OF_SIGN = {
    "-": "\u058a\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u23af\u2796\ufe58\ufe63\uff0d",
    "'": "\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02c8\u02ca\u02cb\u2018\u2019\u201b\u2032\u2035\ua78c\uff07\uff40",
    '"': "\u02ba\u02dd\u02ee\u201c\u201d\u201f\u2033\u2036\u3003\uff02",
    "/": "\u2041\u2044\u2215\u2571\u27cb\u29f8\uff0f",
    ",": "\u00b8\u060d\u066b\u201a\ua4f9\uff0c",
    ".": "\u2024\ua4f8\ua60e\uff0e",
    "*": "\u204e\u2217\u066d\uff0a",
    ":": "\u02d0\u02f8\u05c3\u0589\u2236\ua4fd\ua789\ufe55\uff1a",
    "_": "\u02cd\ufe4d\ufe4e\ufe4f\uff3f",
    "|": "\u01c0\u05c0\u2223\u23fd\uff5c",
    "+": "\u2795\uff0b",
    "~": "\u02dc\u2053\u223c",
    "\\": "\u2216\u27cd\u29f5\u29f9\ufe68\uff3c",
}

SIGNS = {ord(one): sign for sign, found in _OF_SIGN.items() for one in found}
"""Signs of punctuation, with those of a keyboard."""

_CYRILLIC = str.maketrans("авекмнорстухіјѕԁһӏ", "abekmhopctyxijsdhl")

_GREEK = str.maketrans("αβεζηικμνορτυχ", "abezhikmnoptyx")

LOOK_ALIKE: dict[int, str | int] = {**SIGNS, **_CYRILLIC, **_GREEK}
"""Signs and letters; letters in lower case, as of a folded code."""

RecordKey = tuple[str, ...]
_GROUPED_DIGITS = re.compile(r"[1-9]\d{0,2}(?:([. ])\d{3})(?:\1\d{3})*", re.ASCII)
_ZEROS_BEFORE_DIGITS = re.compile(r"(?<![\d.,])0+(?=\d)", re.ASCII)
_NUMBER = re.compile(r"(\d+)[.,](\d*?)0*", re.ASCII)
_SHORTENED = re.compile(r"\d+(?:[.,]\d+)?e\+?\d{1,2}", re.ASCII)
"""Number in E notation, in lower case."""


def fold_key(code: str) -> str:
    """Return a key without blanks, in one case, with digits 0 to 9, and with one sign for those that look alike."""
    if code.isascii():
        return fold_code(code)
    plain = unicodedata.normalize("NFKC", code.translate(LOOK_ALIKE))
    digits = "".join(str(unicodedata.decimal(one, one)) for one in plain)
    return fold_code(digits).translate(LOOK_ALIKE)


def comparable_key(key: RecordKey) -> RecordKey:
    """Return a key in the form in which it is compared: its name folded, without leading zeros and thousands' signs."""
    *before, name = key
    name = fold_key(name)
    bare = name.lstrip("0") or name[-1:]
    return (*map(fold_key, before), bare.replace(".", "") if "." in bare and has_thousands(bare) else bare)


def has_thousands(code: str) -> bool:
    """Return True if a code of digits has points or blanks between its thousands."""
    return _GROUPED_DIGITS.fullmatch(code) is not None


def forms_without_zeros(code: str) -> tuple[str, ...]:
    """Return a key without the zeros before its groups of digits (`A01-02` as `A1-2`); of one that a spreadsheet reads
    as a number, also that number (`7.30` and `7,3` as `7.3`).
    """
    bare = _ZEROS_BEFORE_DIGITS.sub("", fold_key(code))
    number = _NUMBER.fullmatch(bare)
    shown = f"{number[1]}.{number[2]}".rstrip(".") if number else bare
    return (bare,) if shown == bare else (bare, shown)


def bare_codes(code: str) -> tuple[str, ...]:
    """Return the letters and digits of a code, folded, without zeros before digits; also without those behind a
    point. A number in E notation is the number that it shows.

    Two codes that share one of these can be meant for each other.
    """
    forms = [re.sub(r"[\W_]+", "", form) for form in forms_without_zeros(_written_out(code))]
    return tuple(dict.fromkeys(form for form in forms if form))


def _written_out(code: str) -> str:
    """Return a number in E notation in its digits; other codes unchanged."""
    folded = fold_key(code)
    if not _SHORTENED.fullmatch(folded):
        return code
    try:
        number = Decimal(folded.replace(",", "."))
    except InvalidOperation:
        return code
    return f"{number:f}" if number == number.to_integral_value() else code


def difference_reason(new: str, known: str, where: str = "") -> str:
    """Return why a new name is refused beside a known one, with the likely cause. `where` locates the known one."""
    mine, its = fold_key(new), fold_key(known)
    if mine == its:
        return f"{new!r} and {known!r}{where or ' of the service'} {fold_difference(new, known)}; use one of them"
    if "." in mine + its and comparable_key((mine,)) == comparable_key((its,)):
        return (
            f"{new!r} and {known!r}{where or ' of the service'} differ by signs of thousands alone, which a spreadsheet"
            " may have put there; write one of them, in a column of text"
        )
    if len(its) > len(mine):
        return f"{new!r}: {known} is there{where}; has {new} lost its zeros? Write {known}, in a column of text"
    if where:
        return f"{new!r}: {known} is there{where}; has {known} lost its zeros? Write {new} there, in a column of text"
    return f"{new!r}: {known} is there, with fewer zeros before it; write {known}, if it is the same"


def fold_difference(one: str, other: str) -> str:
    """Return by what two keys of one folded form differ; of signs that look alike, with their numbers."""
    if fold_code(one) == fold_code(other):
        return "differ by blanks or case alone"
    mine, its = fold_code(one), fold_code(other)
    shown = (f"{a} is U+{ord(a):04X}, {b} is U+{ord(b):04X}" for a, b in zip(mine, its, strict=False) if a != b)
    return f"differ by signs that look alike alone ({next(shown, 'of two kinds')})"


def suggestion(new: str, known: str) -> str:
    """Return a known key as a question, with the difference if nobody sees it."""
    is_seen = new.isascii() and known.isascii()
    how = "" if is_seen or fold_key(new) != fold_key(known) else f" The two {fold_difference(new, known)}."
    return f"{known}?{how}"


def nearest(code: str, others: Iterable[str]) -> str:
    """Return the code that can be meant for this one, and differs least: by the decimal mark, zeros before it, or
    length. Return an empty text if there is none.
    """
    forms = set(bare_codes(code))

    def distance(other: str) -> tuple[bool, bool, int, str]:
        mine, its = (fold_key(one).replace(",", ".") for one in (code, other))
        return mine != its, mine.lstrip("0") != its.lstrip("0"), abs(len(mine) - len(its)), other

    return min((other for other in others if not forms.isdisjoint(bare_codes(other))), key=distance, default="")


def odd_sign(code: str) -> str:
    """Return the first sign of a code that looks like one of a keyboard, and is none; empty if there is none."""
    return "" if code.isascii() else next((one for one in code if ord(one) in SIGNS), "")
