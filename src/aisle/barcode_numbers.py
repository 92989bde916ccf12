"""Numbers of barcodes: number systems, check digits, forms, and the keys by which a scanned code finds its object.

Pure; used by session and service.

A stored code has the keys `index_keys`. A scanned or typed code is looked up by `lookup_keys`, which are certain. Then
follow `guessed_keys`, which count only if exactly one object has them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

_CHECKED_LENGTHS = (8, 12, 13, 14)

_SSCC_LENGTHS = (17, 18)

_UPC_E_LENGTHS = (6, 7, 8)

_ISSN = re.compile(r"(\d{4})-?(\d{3})([\dXx])", re.ASCII)

_ISMN = re.compile(r"M(\d{9})", re.ASCII | re.IGNORECASE)

ISMN_WITH_HYPHENS = re.compile(r"M[ \-.]*(?:\d[ \-.]*){8}\d", re.ASCII | re.IGNORECASE)
"""An ISMN of ten characters, with or without hyphens."""


def are_digits(text: str) -> bool:
    """Return True if a text has only digits 0 to 9."""
    return text.isascii() and text.isdigit()


def has_check_digit(digits: str) -> bool:
    """Return True if digits end in a right check digit: a GTIN, a UPC-E of eight digits or an ISBN-10."""
    return has_valid_check_digit(digits) or bool(isbn_13_of(digits)) or bool(expand_upc_e(digits) and len(digits) == 8)


def check_digit(body: str) -> str:
    """Return the GS1 check digit of digits without one: weights 3 and 1 alternate from the right."""
    return str(-(3 * sum(map(int, body[-1::-2])) + sum(map(int, body[-2::-2]))) % 10)


def has_valid_check_digit(code: str) -> bool:
    """Return True if a code is a GTIN (8, 12, 13 or 14 digits) with a valid check digit."""
    return len(code) in _CHECKED_LENGTHS and expected_check_digit(code) == code[-1]


def expected_check_digit(code: str) -> str:
    """Return the check digit that digits of this length should end in (GS1); empty if their length has none."""
    if len(code) not in (*_CHECKED_LENGTHS, *_SSCC_LENGTHS) or not are_digits(code):
        return ""
    return check_digit(code[:-1])


def wrong_check_digit(code: str) -> str:
    """Return the check digit that a code should end in; empty if it does, or has none.

    Eight digits are an EAN-8, or a UPC-E, whose check digit is that of its twelve digits.
    """
    right = expected_check_digit(code)
    is_right = right == code[-1:] or (len(code) == 8 and expand_upc_e(code))
    return "" if is_right else right


def isbn_10_check_digit(body: str) -> str:
    """Return the check digit of the nine digits of an ISBN-10; `X` means ten."""
    rest = -sum(weight * int(digit) for weight, digit in zip(range(10, 1, -1), body, strict=True)) % 11
    return "X" if rest == 10 else str(rest)


def isbn_13_of(code: str) -> str:
    """Return the ISBN-13 of an ISBN-10; empty if the code is none or its check digit is wrong."""
    body = code[:9]
    if len(code) != 10 or not are_digits(body) or code[9:].upper() != isbn_10_check_digit(body):
        return ""
    return f"978{body}{check_digit('978' + body)}"


def ismn_13_of(code: str) -> str:
    """Return the 13-digit form of a ten-character ISMN, `M230671187`; empty if it is none or its check digit is wrong.

    Both have the same check digit, because `M` and `9790` add the same sum.
    """
    found = _ISMN.fullmatch(code)
    return f"9790{found[1]}" if found and has_valid_check_digit(f"9790{found[1]}") else ""


def issn_13_of(code: str) -> Iterator[str]:
    """Yield every EAN-13 of an ISSN (`1234-5679`, hyphen optional), variant 00 first.

    Yield none if its check digit is wrong.
    """
    found = _ISSN.fullmatch(code)
    if found is None:
        return
    body = found[1] + found[2]
    rest = -sum(weight * int(digit) for weight, digit in zip(range(8, 1, -1), body, strict=True)) % 11
    if found[3].upper() != ("X" if rest == 10 else str(rest)):
        return
    for variant in range(100):
        serial = f"977{body}{variant:02}"
        yield serial + check_digit(serial)


def sscc_forms(code: str) -> tuple[str, ...]:
    """Return the SSCC with its leading zero added or removed, and with its identifier; empty if the code is no SSCC."""
    if len(code) not in _SSCC_LENGTHS or expected_check_digit(code) != code[-1]:
        return ()
    full = code.rjust(_SSCC_LENGTHS[-1], "0")
    other = "0" + code if len(code) == 17 else code[1:] if code[0] == "0" else ""
    return tuple(form for form in (other, "00" + full) if form)


def expand_upc_e(code: str) -> str:
    """Return the UPC-A (12 digits) of a UPC-E of 6, 7 (number system first) or 8 digits; empty if it is none."""
    if len(code) not in _UPC_E_LENGTHS or not are_digits(code):
        return ""
    body = code if len(code) == 6 else code[1:7]
    system = "0" if len(code) == 6 else code[0]
    last = body[5]
    if last in "012":
        long = body[:2] + last + "0000" + body[2:5]
    elif last == "3":
        long = body[:3] + "00000" + body[3:5]
    elif last == "4":
        long = body[:4] + "00000" + body[4]
    else:
        long = body[:5] + "0000" + last
    check = check_digit(system + long)
    if system not in "01" or (len(code) == 8 and code[7] != check):
        return ""
    return system + long + check


def shorten_upc_a(code: str) -> str:
    """Return the UPC-E (8 digits) of a UPC-A of 11 to 14 digits; empty if it has none or its check digit is wrong."""
    return next(upc_e_forms(code), "")


def upc_e_forms(code: str) -> Iterator[str]:
    """Yield every UPC-E of a UPC-A, the usual one first; a few have two."""
    if not 11 <= len(code) <= 14:
        return
    upc_a = (code.lstrip("0") or "0").rjust(12, "0")
    if len(upc_a) != 12 or upc_a[0] not in "01" or not has_valid_check_digit(upc_a):
        return
    maker, item, check = upc_a[1:6], upc_a[6:11], upc_a[11]
    for body in (
        maker[:2] + item[2:] + maker[2],
        maker[:3] + item[3:] + "3",
        maker[:4] + item[4] + "4",
        maker + item[4],
    ):
        if expand_upc_e(upc_a[0] + body + check) == upc_a:
            yield upc_a[0] + body + check


_GTIN_LENGTHS = range(6, 15)
_MIN_LENGTH = 6
_MIN_PADDED = 3
"""Digits of the shortest number whose leading zeros a scanner may have added; `01` is a row number."""
MAX_PADDED_LENGTH = 20
"""Most digits of a code with leading zeros before it."""
_UNCHECKED_LENGTHS = (7, 10, 11, 12, 13)
"""Digits of an EAN-8, UPC-A without number system, UPC-A, EAN-13 and GTIN-14 without check digit."""
_LONG_NUMBER_DIGITS = 10
"""Digits from which a number hardly equals another code by chance."""
_ADD_ON_BASES = (13, 12, 8)
_ADD_ON_LENGTHS = (5, 2)

_CODE_39_STARS = re.compile(r"\*([^*]+)\*")
_GTIN_ELEMENT = re.compile(r"\(0[12]\) ?([\d ]{8,20})|0[12](\d{14})", re.ASCII)
_ELEMENT_LENGTH = 16
"""Digits of a GTIN with its application identifier."""
_SYMBOLOGY_LETTER = re.compile(r"(?:FF|[A-F])(\d{8,14})", re.ASCII)
"""Letters by which some scanners name the symbology, with the code after them."""
_CODABAR = re.compile(r"[A-D]([0-9$:/.+\-]{4,20})[A-D]", re.ASCII | re.IGNORECASE)
"""A code between the start and stop letters of Codabar, which some scanners send."""
_GROUPED_DIGITS = re.compile(r"[0-9Xx]+(?:[ \-.]+[0-9Xx]+)+")
_GROUP_SEPARATORS = str.maketrans("", "", " -.\t")
_DASHES = "‐‑‒–—―−﹣"
_BLANKS = "\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t"
_INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u061c\u180e\u202a\u202b\u202c\u202d\u202e\ufeff\xad" + "".join(
    map(chr, range(0x2060, 0x2070))
)
"""Zero-width characters, and marks of the direction of text."""
_ASCII_FORMS = str.maketrans(
    {**dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_BLANKS, " "), **dict.fromkeys(_INVISIBLE)}
)


# Spelling


def normalise_code(code: str) -> str:
    """Return a code as a scanner with default settings sends it.

    Digits of every script and full-width characters become ASCII. The asterisks of Code 39 and the `(01)` of a printed
    GTIN are removed; so are blanks, hyphens and points in a number with a valid check digit.
    """
    text = to_ascii_forms(code).strip()
    if text.isalnum() and len(text) != _ELEMENT_LENGTH:
        return text
    if stars := _CODE_39_STARS.fullmatch(text):
        text = stars[1].strip()
    element = _GTIN_ELEMENT.fullmatch(text)
    if element and has_valid_check_digit(gtin := (element[1] or element[2]).replace(" ", "")):
        return gtin
    if ISMN_WITH_HYPHENS.fullmatch(text) and ismn_13_of(bare := text.translate(_GROUP_SEPARATORS)):
        return bare
    if _GROUPED_DIGITS.fullmatch(text) and has_check_digit(bare := text.translate(_GROUP_SEPARATORS)):
        return bare
    return text


def to_ascii_forms(text: str) -> str:
    """Return the text with digits of every script, full-width characters, dashes and blanks in ASCII.

    Zero-width characters are removed. Unlike NFKC it keeps `²` and `½`, which are no digits of a quantity.
    """
    if text.isascii():
        return text

    def ascii_of(char: str) -> str:
        digit = unicodedata.decimal(char, None)
        if digit is not None:
            return str(digit)
        return chr(ord(char) - 0xFEE0) if "！" <= char <= "～" else char

    return "".join(map(ascii_of, text.translate(_ASCII_FORMS)))


def canonical_key(code: str) -> str:
    """Return the one key under which a stored code is found, however it is written.

    White space at both ends is removed. A rest of 6 to 14 ASCII digits (the lengths of UPC-E, EAN-8, UPC-A, EAN-13 and
    GTIN-14) loses its leading zeros, but never its last digit (`000000` is `0`). Everything else is casefolded
    (`str.casefold`), inner characters untouched. Nothing is padded, checked or expanded, so
    `canonical_key(canonical_key(x)) == canonical_key(x)`. Empty text gives the empty string: store nothing under that.
    """
    text = code.strip()
    if len(text) in _GTIN_LENGTHS and are_digits(text):
        return text.lstrip("0") or "0"
    return text.casefold()


# Keys


def index_keys(code: str) -> tuple[str, ...]:
    """Return the keys to store a code under: as written (casefolded), and the canonical keys of it and its normal form.

    With both, `000123` and `123` stay two objects for a scan of `000123`, because the first known key of a look-up
    counts.
    """
    if code.isdecimal() and code.isascii() and code[0] != "0":
        return (code,)  # as most codes are
    text = code.strip().casefold()
    return _deduplicate((text, canonical_key(code), canonical_key(normalise_code(code))))


def lookup_keys(text: str) -> tuple[str, ...]:
    """Return the certain keys of a scanned or typed code, best first, without repeats.

    As scanned; casefolded; canonical; the same of its normal form; the UPC-A of a UPC-E and the UPC-E of a UPC-A; an
    SSCC with its identifier. A UPC-E without check digit is only a guess, because any six digits look like one. The
    first key with a stored object decides. `text` has no AIM prefix.
    """
    text = text.strip()
    normalised = normalise_code(text)
    keys = [text, text.casefold(), canonical_key(text)]
    if normalised != text:
        keys += [normalised, normalised.casefold(), canonical_key(normalised)]
    if are_digits(normalised):
        expanded = expand_upc_e(normalised) if len(normalised) == 8 else ""
        keys += [canonical_key(other) for other in (expanded, *upc_e_forms(normalised)) if other]
        keys += sscc_forms(normalised)
    return _deduplicate(keys)


def without_padding(code: str) -> str:
    """Return a GTIN that has more leading zeros than a GTIN-14 with 14 digits; empty if the code is none."""
    bare = code.lstrip("0").rjust(14, "0")
    is_padded = are_digits(code) and 14 < len(code) <= MAX_PADDED_LENGTH
    return bare if is_padded and has_valid_check_digit(bare) and bare.strip("0") else ""


def without_variable_indicator(code: str) -> str:
    """Return the GTIN-13 in a GTIN-14 of variable measure (indicator 9), with its own check digit; empty for others."""
    is_variable = len(code) == 14 and code[0] == "9" and has_valid_check_digit(code)
    return code[1:-1] + check_digit(code[1:-1]) if is_variable else ""


def zero_forms(text: str) -> tuple[str, ...]:
    """Return a number with every other count of leading zeros.

    What is found under a key of `text` and under one of these is stored with other zeros than `text` has. A number
    shorter than a code counts only for a text that has leading zeros itself: `42` is a quantity as well.
    """
    code = normalise_code(text)
    bare = code.lstrip("0")
    if not are_digits(code) or not bare or len(code) >= _GTIN_LENGTHS.stop:
        return ()
    is_padded = code[0] == "0" and len(code) >= _MIN_PADDED and not has_check_digit(code)
    lengths = range(len(bare), _GTIN_LENGTHS.stop) if is_padded else _GTIN_LENGTHS
    padded = (bare.rjust(length, "0") for length in lengths if length > len(bare) or is_padded)
    return tuple(form for form in padded if form != code)


def guessed_keys(text: str) -> tuple[str, ...]:
    """Return the keys of codes that differ from this one by a missing or added part; none is a certain key.

    More leading zeros than a GTIN-14 has; UPC-E and UPC-A in all lengths; a check digit not sent or not stored; the
    code before an add-on of two or five digits; ISBN-10 and ISBN-13, ISMN, ISSN; inner blanks; a code after symbology
    letters. Use them only if exactly one object has one of them.
    """
    normalised = normalise_code(text)
    bare = normalised.replace(" ", "") if any(map(str.isdigit, normalised)) else normalised
    bare = normalise_code(re.sub(r"^(?i:issn|isbn|ismn):?(?=M?[\dX-]+$)", "", bare))
    lettered = _SYMBOLOGY_LETTER.fullmatch(normalised)
    coded = [canonical_key(lettered[1])] if lettered and has_valid_check_digit(lettered[1]) else []
    coded += [canonical_key(between[1])] if (between := _CODABAR.fullmatch(normalised)) else []
    keys = _deduplicate(
        [canonical_key(bare), *coded, *_guess_keys(bare), *(_add_on_keys(normalised) if bare == normalised else ())]
    )
    certain = lookup_keys(text)
    return tuple(key for key in keys if key not in certain)


def may_identify(key: str, number: str, text: str) -> bool:
    """Return True if `key`, one of the keys of the code `text`, may identify an object with this number or name.

    A UPC-E or a completed code is a barcode, not a short number that it happens to equal.
    """
    if (
        key != canonical_key(number)
        or not are_digits(number)
        or len(number) >= _LONG_NUMBER_DIGITS
        or has_check_digit(number)
    ):
        return True
    normalised = normalise_code(text)
    return key in (canonical_key(text), canonical_key(normalised), canonical_key(normalised.replace(" ", "")))


def _guess_keys(code: str) -> Iterator[str]:
    """Yield the keys of all codes that this one may mean."""
    if len(code) < _MIN_LENGTH:
        return
    if isbn := isbn_13_of(code):
        yield canonical_key(isbn)
    if ismn := ismn_13_of(code):
        yield ismn
    yield from issn_13_of(code)
    if not are_digits(code):
        return
    yield from _upc_keys(code)
    yield from _ten_character_keys(code)
    if padded := without_padding(code):
        yield canonical_key(padded)
        yield from _upc_keys(padded)
    for full in _add_check_digit(code):
        yield canonical_key(full)
        yield from _upc_keys(full)
    if has_valid_check_digit(code) and not has_valid_check_digit(code[:-1]) and len(code) > 8:
        yield canonical_key(code[:-1])  # stored without its check digit


def _add_on_keys(code: str) -> Iterator[str]:
    """Yield the keys of the code before an add-on, which is digits directly after it."""
    for base in add_on_bases(code) if are_digits(code) else ():
        yield canonical_key(base)
        yield from _upc_keys(base)


def _upc_keys(code: str) -> Iterator[str]:
    """Yield the keys of every form of a UPC-E or its UPC-A."""
    for upc_a in _expand_upc_a(code):
        yield canonical_key(upc_a)
        for upc_e in upc_e_forms(upc_a):
            yield from (canonical_key(form) for form in (upc_e, upc_e[:7], upc_e[1:], upc_e[1:7]))


def _expand_upc_a(code: str) -> Iterator[str]:
    """Yield the UPC-A of every UPC-E that the code may be: seven digits begin with the system or end in the check."""
    if shorten_upc_a(code):
        yield (code.lstrip("0") or "0").rjust(12, "0")
    bare = code.lstrip("0").rjust(8, "0") if len(code) > 8 else code
    without_system = [system + code for system in "01"] if len(code) < 8 else []
    forms = without_system if len(code) == 6 else [bare, *without_system]
    yield from (upc_a for form in forms if (upc_a := expand_upc_e(form)))


def _ten_character_keys(code: str) -> Iterator[str]:
    """Yield the key of an ISBN-13's ISBN-10, or of the ten-character form of an ISMN."""
    if len(code) == 13 and code.startswith("9790") and has_valid_check_digit(code):
        yield canonical_key("M" + code[4:])
    if len(code) == 13 and code.startswith("978") and has_valid_check_digit(code):
        yield canonical_key(code[3:12] + isbn_10_check_digit(code[3:12]))


def _add_check_digit(code: str) -> Iterator[str]:
    """Yield the code with the check digit that may not have been sent. An EAN-13 with a valid one lacks none."""
    if len(code) not in _UNCHECKED_LENGTHS or (len(code) == 13 and has_valid_check_digit(code)):
        return
    body = "0" + code if len(code) == 10 else code
    yield body + check_digit(body)


def add_on_bases(code: str) -> Iterator[str]:
    """Yield the codes with a valid check digit that an add-on of two or five digits may follow."""
    if len(code) in (13, 14) and has_valid_check_digit(code):
        return  # it is a GTIN itself
    for length in _ADD_ON_BASES:
        base = code[:length]
        is_right = expand_upc_e(base) if length == 8 else has_valid_check_digit(base)  # an EAN-8 has no add-on
        if len(code) - length in _ADD_ON_LENGTHS and is_right:
            yield base


def _deduplicate(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for key in keys if key))


# Several codes in one text

_CODE_SEPARATOR = re.compile(r"[\s,;|]+|(?<=[0-9]{7})/(?=[0-9]{7})")


def split_codes(text: str) -> list[str]:
    """Return the codes in the text of a product's further codes; punctuation inside a code does not split it."""
    return [code for part in _CODE_SEPARATOR.split(text) if (code := part.strip("[]\"'"))]
