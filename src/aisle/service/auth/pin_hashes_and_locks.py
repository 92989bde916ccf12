"""PINs of people: stored as slow hashes, since they are short, and locked after wrong attempts.

A browser's failed attempts also count by address: `web/sign_ins`.

A stored PIN is `scrypt$cost$salt$hash`. Hashing runs outside transactions because it is slow.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from asyncio import get_running_loop
from concurrent.futures import ThreadPoolExecutor

from aisle.service.db.fair_turns import FairTurns

MIN_DIGITS, MAX_DIGITS = 4, 12

WEB_CHANNEL = "web"
"""Channel of the browser. Its failures do not lock the person at the store's terminals."""

_SCRYPT_COST = 1 << 13
_SCRYPT_BLOCK = 8
_ALGORITHM = "scrypt"

_THREAD = ThreadPoolExecutor(1, "aisle-pins")
"""One thread hashes: each hash takes 8 MiB, which its thread does not give back."""
_TURNS = FairTurns(1)
_TURN_S = 30.0
"""Seconds that a hash waits for its turn."""

FREE_ATTEMPTS = 5
"""Wrong PINs in a row before the first lock. Each further one doubles the lock of the person."""
_MAX_LOCK_S = 86400.0


def is_valid_pin(pin: str) -> bool:
    """Return True if the text has the form of a PIN: 4 to 12 digits."""
    return pin.isascii() and pin.isdecimal() and MIN_DIGITS <= len(pin) <= MAX_DIGITS


def hash_pin(pin: str) -> str:
    """Return the stored form of a PIN."""
    return _scrypt(pin, _SCRYPT_COST, secrets.token_bytes(16))


def rehash(pin: str, stored: str) -> str:
    """Hash a PIN with the cost and salt of a stored one. The results are equal if the PIN is right."""
    _, cost, salt, _ = stored.split("$")
    return _scrypt(pin, int(cost), bytes.fromhex(salt))


async def hash_pin_later(pin: str) -> str:
    """Hash a PIN as `hash_pin` does, in the caller's turn. Raise Busy or TooManyWaiting as `FairTurns` does."""
    async with _TURNS.turn(_TURN_S):
        return await get_running_loop().run_in_executor(_THREAD, hash_pin, pin)


async def rehash_later(pin: str, stored: str) -> str:
    """Hash a PIN as `rehash` does, in the caller's turn. Raise Busy or TooManyWaiting as `FairTurns` does."""
    async with _TURNS.turn(_TURN_S):
        return await get_running_loop().run_in_executor(_THREAD, rehash, pin, stored)


def are_equal(hash_1: str, hash_2: str) -> bool:
    """Compare two hashes in constant time."""
    return hmac.compare_digest(hash_1.encode(), hash_2.encode())


def failure_key(person_key: str, *, is_web: bool) -> str:
    """Return the key under which failures of a person are counted, by channel."""
    return f"?{WEB_CHANNEL}?{person_key}" if is_web else person_key


def lock_seconds(failures: int) -> float:
    """Return the seconds of the lock after this many failures in a row."""
    return 0.0 if failures < FREE_ATTEMPTS else min(_MAX_LOCK_S, 60.0 * 2 ** min(failures - FREE_ATTEMPTS, 20))


def _scrypt(pin: str, cost: int, salt: bytes) -> str:
    derived = hashlib.scrypt(pin.encode(), salt=salt, n=cost, r=_SCRYPT_BLOCK, p=1, dklen=32)
    return f"{_ALGORITHM}${cost}${salt.hex()}${derived.hex()}"


DUMMY_HASH = f"{_ALGORITHM}${_SCRYPT_COST}${'0' * 32}${'0' * 64}"
"""Hash to compare with if a person has no PIN, so that the comparison takes the same time."""
