"""Barcodes for products that have none, and the check digit of those that do."""

import hashlib
from collections.abc import Collection, Iterable

PREFIX = "27"
"""Restricted circulation: numbers that a shop gives out itself, so none of them is a maker's."""


def check_digit(digits: str) -> str:
    """The GS1 check digit of a code without it."""
    odd, even = sum(map(int, digits[-1::-2])), sum(map(int, digits[-2::-2]))
    return str((10 - (3 * odd + even) % 10) % 10)


def checks(code: str) -> bool:
    """Whether a code has a length of GS1's and its last digit is right."""
    return len(code) in (8, 12, 13, 14) and code.isdigit() and code[-1] == check_digit(code[:-1])


def restricted_ean13(codes: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """A barcode for each code, always the same for the same code, and none twice or among `taken`.

    Only where two codes would share one does the later of them in sorted order move on.
    """
    used = set(taken)
    found: dict[str, str] = {}
    for code in sorted(codes):
        attempt = 0
        while (barcode := _candidate(code, attempt)) in used:
            attempt += 1
        used.add(barcode)
        found[code] = barcode
    return found


def _candidate(code: str, attempt: int) -> str:
    digest = hashlib.sha256(f"{code}\0{attempt}".encode()).digest()
    stem = PREFIX + f"{int.from_bytes(digest[:8], 'big') % 10**10:010d}"
    return stem + check_digit(stem)
