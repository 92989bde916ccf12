"""PINs of people: a few digits, so they are kept as slow hashes, and guessing them is made slower still.

A stored PIN is `scrypt$cost$salt$hash`. What takes its time is done outside of transactions.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

SHORTEST, LONGEST = 4, 12
_COST = 1 << 13
_BLOCK = 8
_NAME = "scrypt"

FREE_TRIES = 5
"""So many wrong PINs in a row cost nothing but time; from then on each locks the person for twice as long."""
_LONGEST_LOCK_S = 86400.0


def well_formed(pin: str) -> bool:
    """Whether this can be a PIN: 4 to 12 digits."""
    return pin.isascii() and pin.isdecimal() and SHORTEST <= len(pin) <= LONGEST


def hashed(pin: str) -> str:
    """What is stored of a PIN."""
    return _hashed(pin, _COST, secrets.token_bytes(16))


def again(pin: str, stored: str) -> str:
    """The same PIN hashed as the stored one was: equal, if it is right."""
    _, cost, salt, _ = stored.split("$")
    return _hashed(pin, int(cost), bytes.fromhex(salt))


def same(one: str, other: str) -> bool:
    """Whether two hashes are equal, in the same time whatever they are."""
    return hmac.compare_digest(one.encode(), other.encode())


def lock_seconds(failures: int) -> float:
    """For how long nobody may try after so many failures in a row."""
    return 0.0 if failures < FREE_TRIES else min(_LONGEST_LOCK_S, 60.0 * 2 ** min(failures - FREE_TRIES, 20))


def _hashed(pin: str, cost: int, salt: bytes) -> str:
    derived = hashlib.scrypt(pin.encode(), salt=salt, n=cost, r=_BLOCK, p=1, dklen=32)
    return f"{_NAME}${cost}${salt.hex()}${derived.hex()}"


NOBODY = f"{_NAME}${_COST}${'0' * 32}${'0' * 64}"
"""What a PIN is compared with where there is none, so that it takes the same time."""
