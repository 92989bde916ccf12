"""Tokens: create, list and revoke (README: Roles); PINs: stored as slow hashes, locked after wrong attempts.

A token is `aisle_`, 256 random bits and a checksum. Only its SHA-256 is stored.

A browser's failed attempts also count by address: `web/sign_ins`.

A stored PIN is `scrypt$cost$salt$hash`. Hashing runs outside transactions because it is slow.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import zlib
from asyncio import get_running_loop
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, get_args

from aisle.errors import UsageError
from aisle.service.db.database_interface import Database, FairTurns, Transaction
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.db.statements import stores_and_products as stores_sql
from aisle.service.domain.log_and_audit_writer import AuditChange, record_command
from aisle.service.operation_context import Role

TOKEN_PREFIX = "aisle_"
ROLES: tuple[Role, ...] = get_args(Role)
ALL_STORES = "*"


class TokenInfo(NamedTuple):
    """Token as it is listed, without its secret. Times are ISO 8601."""

    token_id: str
    name: str
    role: str
    stores: tuple[str, ...]
    created_on: str
    expires_on: str | None
    revoked_on: str | None
    last_used_on: str | None

    def is_valid(self, now: str) -> bool:
        """Return True if the token is neither revoked nor expired."""
        return self.revoked_on is None and (self.expires_on is None or now < self.expires_on)


class TokenGrant(NamedTuple):
    """Grant of a new token: its name, role and stores (None is all), and its end."""

    name: str
    role: Role
    store_numbers: Sequence[str] | None = None
    expires_on: str | None = None

    @property
    def audit_fields(self) -> dict[str, object]:
        """Fields of the token for the audit."""
        stores = [ALL_STORES] if self.store_numbers is None else self.store_numbers
        return {"name": self.name, "role": self.role, "stores": stores, "expires_on": self.expires_on}


class TokenPerson(NamedTuple):
    """Person of a token: the token used for the sign-in, the store and the badge."""

    parent_token_id: str
    store_number: str
    badge: str


_NOBODY = TokenPerson("", "", "")


class NewToken(NamedTuple):
    """New token. `secret` is shown once and not stored."""

    token_id: str
    secret: str


def generate_secret() -> str:
    """Return a random token with its checksum."""
    body = TOKEN_PREFIX + secrets.token_urlsafe(32)
    return body + _checksum(body)


def is_well_formed_secret(secret: str) -> bool:
    """Return True if the text has the form and checksum of a token. No lookup is made."""
    return (
        secret.startswith(TOKEN_PREFIX)
        and secret.isascii()
        and len(secret) > 40
        and secret[-8:] == _checksum(secret[:-8])
    )


def hash_secret(secret: str) -> str:
    """Return the stored hash of a token."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"


async def add_token(tx: Transaction, grant: TokenGrant, now: str, person: TokenPerson = _NOBODY) -> NewToken:
    """Store a token. Raise UsageError if a role or store is unknown."""
    if grant.role not in ROLES:
        raise UsageError(f"There is no role {grant.role!r}; there are {', '.join(ROLES)}.")
    named = None if grant.store_numbers is None else sorted(set(grant.store_numbers))
    if named is not None:
        if not named:
            raise UsageError(f"A token needs stores: name them, or {ALL_STORES} for all.")
        known = {row[0] for row in await tx.all(stores_sql.STORE_ORDINALS, named)}
        unknown = [number for number in named if number not in known]
        if unknown:
            raise UsageError(f"No such store: {', '.join(unknown)}.{await _suggest_stores(tx, unknown)}")
    made = NewToken(secrets.token_hex(6), generate_secret())
    rights = (grant.name, grant.role, int(named is None), now, grant.expires_on)
    await tx.run(tokens_sql.TOKEN_ADD, made.token_id, hash_secret(made.secret), *rights, *person)
    await tx.run_many(tokens_sql.TOKEN_STORE_ADD, [(made.token_id, number) for number in named or ()])
    return made


async def add_named_token(tx: Transaction, grant: TokenGrant, now: str) -> NewToken:
    """Store a token under a name that no other valid token has. Raise UsageError if the name is missing or used."""
    if not grant.name.strip():
        raise UsageError("A token has a name: what it is for.")
    if grant.role == "metrics" and grant.store_numbers is not None:
        raise UsageError("Figures are of all stores: a token with the role metrics is for all of them (*).")
    other = await find_valid_token(tx, grant.name, now)
    if other is not None:
        raise UsageError(f"Token {other.token_id} in force is called {grant.name!r}; revoke it, or take another name.")
    return await add_token(tx, grant, now)


async def find_valid_token(tx: Transaction, name_or_id: str, now: str) -> TokenInfo | None:
    """Return the valid token with this id, otherwise the one with this name. Older tokens may share a name."""
    valid = [each for each in await load_tokens(tx, tokens_sql.TOKENS_WITHOUT_PARENT) if each.is_valid(now)]
    named = [each for each in valid if each.token_id == name_or_id] or [
        each for each in valid if each.name == name_or_id
    ]
    return named[0] if named else None


def token_audit_fields(token: TokenInfo) -> dict[str, object]:
    """Return the fields of a token for the audit."""
    return {"name": token.name, "role": token.role, "stores": token.stores, "expires_on": token.expires_on}


async def _suggest_stores(tx: Transaction, unknown: Iterable[str]) -> str:
    """Return the stores with numbers similar to the unknown ones, as a question; empty if there are none."""
    similar = [
        row[0] for number in unknown for row in await tx.all(tokens_sql.SIMILAR_STORES, normalize_store_number(number))
    ]
    return f" {' or '.join(similar)}?" if similar else ""


async def load_tokens(tx: Transaction, statement: str = tokens_sql.ALL_TOKENS) -> list[TokenInfo]:
    """Return all tokens, including revoked ones, the oldest first. Another statement selects some of them."""
    named: dict[str, list[str]] = {}
    for token_id, number in await tx.all(tokens_sql.TOKEN_STORES):
        named.setdefault(token_id, []).append(number)
    return [
        TokenInfo(row[0], row[1], row[2], (ALL_STORES,) if row[3] else tuple(named.get(row[0], ())), *row[4:])
        for row in await tx.all(statement)
    ]


async def mark_revoked(tx: Transaction, token_id: str, now: str) -> bool:
    """Revoke a token. Return False if there is none or it was revoked before."""
    return await tx.one(tokens_sql.TOKEN_REVOKE, token_id, now) is not None


def create_token(
    database: Database,
    *,
    name: str,
    role: Role,
    store_numbers: Iterable[str] | None,
    now: str,
    expires_on: str | None = None,
) -> NewToken:
    """Call `add_named_token` in its own transaction, for the command line."""
    grant = TokenGrant(name, role, None if store_numbers is None else list(store_numbers), expires_on)

    async def work(tx: Transaction) -> NewToken:
        made = await add_named_token(tx, grant, now)
        await record_command(tx, AuditChange("token", made.token_id, {}, grant.audit_fields), now)
        return made

    return database.write_now(work)


def list_tokens(database: Database) -> list[TokenInfo]:
    """Call `load_tokens` in its own transaction, for the command line."""
    return database.read_now(load_tokens)


def revoke_token(database: Database, token_id: str, *, now: str) -> bool:
    """Revoke a token in its own transaction, for the command line."""

    async def work(tx: Transaction) -> bool:
        found = await find_valid_token(tx, token_id, now)
        if not await mark_revoked(tx, token_id, now):
            return False
        await record_command(tx, AuditChange("token", token_id, token_audit_fields(found) if found else {}, {}), now)
        return True

    return database.write_now(work)


def normalize_store_number(store_number: str) -> str:
    """Return a store number without leading zeros and outer blanks, in lower case."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in store_number.strip()).lstrip("0")


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
