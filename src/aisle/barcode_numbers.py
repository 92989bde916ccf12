"""Number systems of barcodes: their check digits, and the forms of one number."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
