"""Codes as keys: what two spellings of the same barcode have in common.

The same GTIN reaches a store as 8, 12, 13 or 14 digits, with and without leading zeros, and UPC-E even shortened. Both
sides of every look-up go through this module: the index stores a code under `index_keys`, a scan asks for
`lookup_keys`.
"""

from __future__ import annotations

_GTIN_LENGTHS = range(6, 15)
_UPC_E_LENGTHS = (6, 7, 8)


def canonical(code: str) -> str:
    """The one key under which a stored code is found, however it is written.

    The text is stripped of white space at both ends. If what is left is 6 to 14 ASCII digits and nothing else (the
    lengths of UPC-E, EAN-8, UPC-A, EAN-13 and GTIN-14), its leading zeros go, but the last digit stays (`000000` is
    `0`). Everything else is casefolded (`str.casefold`), inner characters untouched. Nothing is ever padded, checked or
    expanded, so `canonical(canonical(x)) == canonical(x)`. Empty text gives the empty string: store nothing under that.
    """
    text = code.strip()
    if len(text) in _GTIN_LENGTHS and text.isascii() and text.isdigit():
        return text.lstrip("0") or "0"
    return text.casefold()


def index_keys(code: str) -> tuple[str, ...]:
    """The keys to store a code under: as written (casefolded) and canonical; one if they are the same, none if empty.

    With both, `000123` and `123` stay two things for whoever scans `000123`: of a look-up's keys the first that is
    known wins.
    """
    text = code.strip().casefold()
    return tuple(dict.fromkeys(key for key in (text, canonical(code)) if key))


def lookup_keys(text: str) -> tuple[str, ...]:
    """Exact keys to look a scanned or typed code up under, best first, without repeats.

    As scanned; casefolded; canonical; then, for the lengths concerned, the UPC-A that a UPC-E stands for and the UPC-E
    that a UPC-A could be shortened to. The first key that anything is stored under decides. `text` has no AIM prefix.
    """
    text = text.strip()
    keys = [text, text.casefold(), canonical(text)]
    if text.isascii() and text.isdigit():
        keys += [canonical(other) for other in (upc_e_expanded(text), upc_a_shortened(text)) if other]
    return tuple(dict.fromkeys(key for key in keys if key))


def check_digit(body: str) -> str:
    """The GS1 check digit of digits that have none yet: weights 3 and 1 alternate from the right."""
    return str(-(3 * sum(map(int, body[-1::-2])) + sum(map(int, body[-2::-2]))) % 10)


def checks(code: str) -> bool:
    """Whether a code is a GTIN (8, 12, 13 or 14 digits) whose last digit is right."""
    if len(code) not in (8, 12, 13, 14) or not (code.isascii() and code.isdigit()):
        return False
    return check_digit(code[:-1]) == code[-1]


def upc_e_expanded(code: str) -> str:
    """The UPC-A (12 digits) that a UPC-E of 6, 7 (number system first) or 8 digits stands for; empty if it is none."""
    if len(code) not in _UPC_E_LENGTHS:
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


def upc_a_shortened(code: str) -> str:
    """The UPC-E (8 digits) of a UPC-A of 11 to 14 digits; empty if it has none or its check digit is wrong."""
    if not 11 <= len(code) <= 14:
        return ""
    upc_a = (code.lstrip("0") or "0").rjust(12, "0")
    if len(upc_a) != 12 or upc_a[0] not in "01" or not checks(upc_a):
        return ""
    maker, item, check = upc_a[1:6], upc_a[6:11], upc_a[11]
    for body in (
        maker[:2] + item[2:] + maker[2],
        maker[:3] + item[3:] + "3",
        maker[:4] + item[4] + "4",
        maker + item[4],
    ):
        if upc_e_expanded(upc_a[0] + body + check) == upc_a:
            return upc_a[0] + body + check
    return ""
