"""Names that nobody else will ever give: 128 random bits in 26 characters that any field of the interface can carry."""

from __future__ import annotations

import os
from collections.abc import Callable

Random = Callable[[int], bytes]
"""So many random bytes, as os.urandom gives them."""

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def new_id(random: Random = os.urandom) -> str:
    """A new identifier: 26 characters A-Z and 2-7 (base32 without padding)."""
    value = int.from_bytes(random(16), "big") << 2
    return "".join(ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))
