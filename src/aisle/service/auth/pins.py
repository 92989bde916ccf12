"""PINs of people: a few digits, so they are kept as slow hashes, and guessing them is made slower still.

A stored PIN is `scrypt$cost$salt$hash`. What takes its time is done outside of transactions.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

MIN_DIGITS, MAX_DIGITS = 4, 12
_SCRYPT_COST = 1 << 13
_SCRYPT_BLOCK = 8
_ALGORITHM = "scrypt"

FREE_ATTEMPTS = 5
"""So many wrong PINs in a row cost nothing but time; from then on each locks the person for twice as long."""
_MAX_LOCK_S = 86400.0


def is_valid_pin(pin: str) -> bool:
    """Whether this can be a PIN: 4 to 12 digits."""
    return pin.isascii() and pin.isdecimal() and MIN_DIGITS <= len(pin) <= MAX_DIGITS


def hash_pin(pin: str) -> str:
    """What is stored of a PIN."""
    return _scrypt(pin, _SCRYPT_COST, secrets.token_bytes(16))


def rehash(pin: str, stored: str) -> str:
    """The same PIN hashed as the stored one was: equal, if it is right."""
    _, cost, salt, _ = stored.split("$")
    return _scrypt(pin, int(cost), bytes.fromhex(salt))


def are_equal(hash_1: str, hash_2: str) -> bool:
    """Whether two hashes are equal, in the same time whatever they are."""
    return hmac.compare_digest(hash_1.encode(), hash_2.encode())


def lock_seconds(failures: int) -> float:
    """For how long nobody may try after so many failures in a row."""
    return 0.0 if failures < FREE_ATTEMPTS else min(_MAX_LOCK_S, 60.0 * 2 ** min(failures - FREE_ATTEMPTS, 20))


def _scrypt(pin: str, cost: int, salt: bytes) -> str:
    derived = hashlib.scrypt(pin.encode(), salt=salt, n=cost, r=_SCRYPT_BLOCK, p=1, dklen=32)
    return f"{_ALGORITHM}${cost}${salt.hex()}${derived.hex()}"


DUMMY_HASH = f"{_ALGORITHM}${_SCRYPT_COST}${'0' * 32}${'0' * 64}"
"""What a PIN is compared with where there is none, so that it takes the same time."""
