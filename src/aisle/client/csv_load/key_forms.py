"""Forms of one key, made comparable, and words for how two differ; for all kinds of records.

Rows with such keys are looked for in `keys_near_others`.

A spreadsheet takes zeros off and adds signs of thousands; other programs and people change blanks, case, dashes and
letters that look alike. `fold_key` and `comparable_key` give one form to keys that are never two, `bare_codes` to keys
that are hardly two, and `forms_without_zeros` to keys that can be two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from aisle.client.csv_load.clean_cells import fold_code

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
