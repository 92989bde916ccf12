"""Cleaning of the cells of barcodes: one code or several, with words, signs or letters that are none of it."""

from __future__ import annotations

import re

from aisle.barcode_numbers import (
    add_on_bases,
    expected_check_digit,
    has_valid_check_digit,
    normalise_code,
    wrong_check_digit,
)
from aisle.client.csv_load.clean_cells_and_keys import (
    BETWEEN_DIGITS,
    BLANKS,
    CLEAR_WORDS,
    NO_VALUE_WORDS,
    QUOTED_FORMULA,
    QUOTES,
    SIGNS,
    CleanedCell,
    clean_value,
    join_changes,
    join_digits,
    odd_sign,
    refuse_error,
    refuse_grouped,
    restore_digits,
    trim_blanks,
)
from aisle.client.csv_load.local_number_and_date_notation import LOCAL_FLAGS, Notation

_NOT_INSIDE = re.compile(r"(?<![^\s,;|/])n/a(?![^\s,;|/])", re.IGNORECASE)
"""Word for no value among several codes; it contains a separator itself."""
_SEPARATORS = re.compile(r"[,;|/\r\n]+")
_CONJUNCTIONS = re.compile(
    r"(?<=\d)\s*(?:\b(?:en|und|et|and)\b|[&+])\s*(?=\d)|(?<=\))\s+(?:en|und|et|and)\s+", re.IGNORECASE
)
"""Words between two codes."""
_CODE_SEPARATORS = re.compile(f"{_SEPARATORS.pattern}|{_CONJUNCTIONS.pattern}", re.IGNORECASE)
_OUTER_SEPARATORS = re.compile(r"\A[\s,;|/]+|[\s,;|/]+\Z")
_E_NOTATION_INSIDE = re.compile(r"(?<![\d.,])\d+[.,]\d+E\+?\d+|(?<![\d.,])\d+E\+\d+", re.IGNORECASE | re.ASCII)
_UNUSUAL_CODE_SIGNS = f"()[]{{}}:{QUOTES}"
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


def clean_barcode(cell: str, _: Notation, *, is_long: bool = False) -> CleanedCell:
    """Clean a barcode; of several in a cell the first is the barcode, the others are further codes.

    `is_long` is True if the column takes container numbers, which have more digits than product barcodes.
    """
    if _is_plain_code(cell):
        return CleanedCell(cell)
    bare, changes, *_rest = clean_value(cell)
    if not bare or is_no_code(bare):
        return CleanedCell("", changes if not bare else f"{bare} read as an empty cell")
    if found := _E_NOTATION_INSIDE.search(bare):
        _refuse_shortened(found[0], bare)
    unquoted = bare.strip(QUOTES)
    changes = join_changes(changes, "quotes around it taken off") if unquoted != bare else changes
    bare = _OUTER_SEPARATORS.sub("", unquoted)
    changes = join_changes(changes, "a separator beside it taken off") if bare != unquoted else changes
    number, beside = split_container(bare) if is_long else ("", "")
    if beside:
        return CleanedCell(number, join_changes(changes, f"{beside} beside the code taken off"))
    codes = [trim_blanks(part).strip(QUOTES) for part in _CODE_SEPARATORS.split(bare)]
    if len(codes) > 1 and all(map(_is_valid_code, map(_extract_code, codes))):
        return _taken_apart([*map(_extract_code, codes)], changes)
    return _clean_single_barcode(bare, changes, is_long=is_long)


_GROUPING = re.compile(f"[{BLANKS}-]+")
_CONTAINER = re.compile(
    r"(SSCC|[^\w(\]])*(?:(?P<symbol>\][A-Z]\d)?(?P<identifier>\(00\)|00))?(?P<number>\d{18})"
    r"(?P<others>(?:\((?!00)\d{2,4}\)[^(\],;|]+)*|(?(symbol)\w*|))[^\w(\]]*",
    re.ASCII | re.IGNORECASE,
)
"""Container number with what a scanner sends or a label has before it (GS1), and further data behind it."""


def split_container(text: str) -> tuple[str, str]:
    """Return the 18 digits of a container number, and what GS1 puts beside them; both are empty if it is none.

    The digits need a right check digit, unless a sign says what they are.
    """
    found = _CONTAINER.fullmatch(_GROUPING.sub("", text))
    if not found or (not found["symbol"] and found["identifier"] != "(00)" and wrong_check_digit(found["number"])):
        return "", ""
    before = f"{found['symbol'] or ''}{found['identifier'] or ''}"
    return found["number"], " and ".join(filter(None, (before, "further data" if found["others"] else "")))


def _taken_apart(codes: list[str], changes: str) -> CleanedCell:
    first, *others = dict.fromkeys(codes)
    return CleanedCell(first, join_changes(changes, f"{len(codes)} codes in one cell taken apart"), tuple(others))


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
    refuse_grouped(bare)
    bare, changes = restore_digits(bare, changes)
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
        return CleanedCell(joined, join_changes(changes, "blanks or hyphens between its digits taken out"))
    code = _extract_code(bare)
    if code != bare:
        return CleanedCell(code, join_changes(changes, f"{_describe_extra(bare, code)} beside the code taken off"))
    _refuse_several(bare, is_several=_SEVERAL_CODES.search(BETWEEN_DIGITS.sub("", bare)) is not None)
    return CleanedCell(bare, changes, warning=_code_warning(bare))


def _refuse_several(bare: str, *, is_several: bool = False) -> None:
    """Raise ValueError for several codes, or for a code and a part with a sign between them."""
    found = _CODE_AND_PART.fullmatch(BETWEEN_DIGITS.sub("", bare))
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
        return CleanedCell(base, join_changes(changes, "the add-on behind it taken off"))
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
        joined, join_changes(changes, change), warning="" if is_known else f"has more than {_MAX_PRODUCT_DIGITS} digits"
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
    numbers = re.findall(r"\d+", BETWEEN_DIGITS.sub("", _LABEL_PREFIX.sub("", text)), re.ASCII)
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


def clean_barcodes(cell: str, notation: Notation) -> CleanedCell:
    """Clean further barcodes; the interface wants commas between them."""
    if _is_plain_code(cell):
        return CleanedCell(cell)
    bare, changes = refuse_error(cell), ""
    if bare[:1] == "[" and bare[-1:] == "]":
        bare, changes = bare[1:-1], "brackets around it taken off"
    if (without := _NOT_INSIDE.sub("", bare)) != bare and without.strip(" ,;|/"):
        others = clean_barcodes(without.strip(" ,;|/"), notation)
        return others._replace(changes=join_changes(others.changes, "n/a among the codes left out"))
    refuse_grouped(bare)
    _refuse_date(bare)
    if grouped := _THOUSANDS_INSIDE.search(bare):
        refuse_grouped(grouped[0])
    if is_no_code(bare):
        return CleanedCell("", f"{bare} read as an empty cell")
    for part in _PARTS_OF_LIST.split(bare):
        refuse_error(part)
    if short := _E_NOTATION_INSIDE.search(bare):
        _refuse_shortened(short[0], bare)
        return clean_barcode(cell, notation)
    if bare.casefold() in NO_VALUE_WORDS or QUOTED_FORMULA.fullmatch(bare) or not _SEPARATORS.search(bare):
        bare, changes, *_rest = clean_value(cell)
    apart = _CONJUNCTIONS.sub(",", bare)
    changes = join_changes(changes, "words between codes taken out") if apart != bare else changes
    bare = apart
    parts = _SEPARATORS.split(bare) if _SEPARATORS.search(bare) else _split_at_blanks(bare)
    parts = [part for part in map(trim_blanks, parts) if part]
    if words := [part for part in parts if len(parts) > 1 and part.casefold() in CLEAR_WORDS]:
        parts = [part for part in parts if part not in words]
        changes = join_changes(changes, f"{words[0]} read as an empty cell")
    found = [_clean_one_of_several(part, notation) for part in parts]
    codes = list(dict.fromkeys(code for one in found for code in (one.value, *one.further_codes) if code))
    if any(map(_is_whole_code, codes)) and (part := next((code for code in codes if len(code) < _MIN_CODE_LENGTH), "")):
        raise ValueError(f"{cell!r} holds {part!r}, which is hardly a code; write the codes alone, with commas between")
    for one in found:
        changes = changes if one.changes in changes else join_changes(changes, one.changes)
    if len(parts) > 1 and "/" in bare:
        changes = join_changes(changes, "/ between codes")
    elif not changes and not set(codes).issuperset(filter(None, map(trim_blanks, bare.split(",")))):
        changes = "commas put between codes"
    warning = next((one.warning for one in found if one.warning), "")
    return CleanedCell(",".join(codes) if changes or len(parts) > 1 else bare, changes, warning=warning)


_PARTS_OF_LIST = re.compile(r"[,;|\r\n]")


def _clean_one_of_several(part: str, notation: Notation) -> CleanedCell:
    """Clean one further barcode. Raise ValueError with the advice for a cell of several."""
    try:
        return clean_barcode(part, notation)
    except ValueError as error:
        raise ValueError(str(error).replace(_WRITE_ONE, _WRITE_COMMAS)) from None


def _split_at_blanks(bare: str) -> list[str]:
    parts = bare.split()
    return parts if all(_CODE_DIGITS.fullmatch(part) for part in parts) else [bare]
