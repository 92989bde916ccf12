"""Tokens: made, listed, revoked, and asked who they speak for (README: Roles).

A token is `aisle_`, 256 random bits and a checksum; only its SHA-256 is stored.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import zlib
from collections.abc import Iterable
from typing import get_args

from aisle.errors import UsageError
from aisle.service.answers import Refusal, forbidden
from aisle.service.audit import Change, note_command
from aisle.service.context import Principal, Role, Store
from aisle.service.sql import core, stores
from aisle.service.storage import Row, Statement, Storage, Tx
from aisle.tuples import NamedTuple

PREFIX = "aisle_"
ROLES: tuple[Role, ...] = get_args(Role)
ALL_STORES = "*"


class TokenInfo(NamedTuple):
    """A token as it is listed; times are ISO 8601, the token itself is not known."""

    token_id: str
    name: str
    role: str
    stores: tuple[str, ...]
    created_on: str
    expires_on: str | None
    revoked_on: str | None
    last_used_on: str | None

    def is_good(self, now: str) -> bool:
        """Whether it was neither revoked nor has expired."""
        return self.revoked_on is None and (self.expires_on is None or now < self.expires_on)


class PersonOf(NamedTuple):
    """Whose token it is: got through which token, in which store, by whom."""

    parent_id: str
    store_number: str
    badge: str


class NewToken(NamedTuple):
    """A fresh token; `secret` is shown once and kept nowhere."""

    token_id: str
    secret: str


class Arrival(NamedTuple):
    """Who asks, whether role and stores allow it, and the store that was asked for, where the token covers it."""

    principal: Principal
    may: bool
    store: Store | None
    entered: frozenset[str]
    """What statements may name: that store, as the database has said it."""


def new_secret() -> str:
    """A random token that ends in its own checksum."""
    body = PREFIX + secrets.token_urlsafe(32)
    return body + _checksum(body)


def looks_right(secret: str) -> bool:
    """Whether this can be a token at all: its form and checksum, without looking anything up."""
    return secret.startswith(PREFIX) and secret.isascii() and len(secret) > 40 and secret[-8:] == _checksum(secret[:-8])


def hashed(secret: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"


async def add_token(
    tx: Tx,
    *,
    name: str,
    role: Role,
    store_numbers: Iterable[str] | None,
    now: str,
    expires_on: str | None = None,
    secret: str | None = None,
    person: PersonOf | None = None,
) -> NewToken:
    """Store a token for the named stores, or for all when `store_numbers` is None. Raises UsageError."""
    if role not in ROLES:
        raise UsageError(f"There is no role {role!r}; there are {', '.join(ROLES)}.")
    named = None if store_numbers is None else sorted(set(store_numbers))
    if named is not None:
        known = {row[0] for row in await tx.all(stores.STORE_ORDINALS, named)}
        unknown = [number for number in named if number not in known]
        if unknown or not named:
            raise UsageError(f"No such store: {', '.join(unknown) or 'none was named'}.{await _meant(tx, unknown)}")
    secret = secret or new_secret()
    token_id = secrets.token_hex(6)
    of = person or PersonOf("", "", "")
    await tx.run(core.ACCESS_ADD, token_id, hashed(secret), name, role, int(named is None), now, expires_on, *of)
    await tx.many(core.ACCESS_STORE_ADD, [(token_id, number) for number in named or ()])
    return NewToken(token_id, secret)


async def add_named_token(
    tx: Tx,
    *,
    name: str,
    role: Role,
    store_numbers: Iterable[str] | None,
    now: str,
    expires_on: str | None = None,
) -> NewToken:
    """`add_token` under a name that no other token in force has. Raises UsageError."""
    if not name.strip():
        raise UsageError("A token has a name: what it is for.")
    if role == "metrics" and store_numbers is not None:
        raise UsageError("Figures are of all stores: a token with the role metrics is for all of them (*).")
    other = await in_force(tx, name, now)
    if other is not None:
        raise UsageError(f"Token {other.token_id} in force is called {name!r}; revoke it, or take another name.")
    return await add_token(tx, name=name, role=role, store_numbers=store_numbers, now=now, expires_on=expires_on)


async def in_force(tx: Tx, name: str, now: str) -> TokenInfo | None:
    """The token in force of this name or id; by its id rather than by a name. Of older ones, several may share one."""
    good = [each for each in await all_tokens(tx, core.ACCESSES_BY_HAND) if each.is_good(now)]
    named = [each for each in good if each.token_id == name] or [each for each in good if each.name == name]
    return named[0] if named else None


def audited(token: TokenInfo) -> dict[str, object]:
    """What the audit keeps of a token."""
    return {"name": token.name, "role": token.role, "stores": token.stores, "expires_on": token.expires_on}


async def _meant(tx: Tx, unknown: Iterable[str]) -> str:
    """The stores that may have been meant by numbers that are none, as a question; empty where there are none."""
    alike = [row[0] for number in unknown for row in await tx.all(core.STORES_ALIKE, _plain(number))]
    return f" {' or '.join(alike)}?" if alike else ""


async def all_tokens(tx: Tx, statement: str = core.ACCESSES) -> list[TokenInfo]:
    """Every token that was ever made, oldest first; by another statement only some of them."""
    named: dict[str, list[str]] = {}
    for token_id, number in await tx.all(core.ACCESS_STORES):
        named.setdefault(token_id, []).append(number)
    return [
        TokenInfo(row[0], row[1], row[2], (ALL_STORES,) if row[3] else tuple(named.get(row[0], ())), *row[4:])
        for row in await tx.all(statement)
    ]


async def end_token(tx: Tx, token_id: str, now: str) -> bool:
    """Revoke a token; False when there is none or it was revoked before."""
    return await tx.one(core.ACCESS_REVOKE, token_id, now) is not None


def create_token(
    storage: Storage,
    *,
    name: str,
    role: Role,
    store_numbers: Iterable[str] | None,
    now: str,
    expires_on: str | None = None,
) -> NewToken:
    """`add_named_token` in a transaction of its own, for the command line."""
    named = None if store_numbers is None else list(store_numbers)

    async def work(tx: Tx) -> NewToken:
        made = await add_named_token(tx, name=name, role=role, store_numbers=named, now=now, expires_on=expires_on)
        said = {"name": name, "role": role, "stores": named or [ALL_STORES], "expires_on": expires_on}
        await note_command(tx, Change("token", made.token_id, {}, said), now)
        return made

    return storage.write_now(work)


def list_tokens(storage: Storage) -> list[TokenInfo]:
    """`all_tokens`, for the command line."""
    return storage.read_now(all_tokens)


def revoke_token(storage: Storage, token_id: str, *, now: str) -> bool:
    """`end_token`, for the command line."""

    async def work(tx: Tx) -> bool:
        found = await in_force(tx, token_id, now)
        if not await end_token(tx, token_id, now):
            return False
        await note_command(tx, Change("token", token_id, audited(found) if found else {}, {}), now)
        return True

    return storage.write_now(work)


async def authenticate(tx: Tx, secret: str, now: str) -> Principal:
    """Who this token speaks for. Raises Refusal (401) in the same words whatever is wrong with it.

    It is looked up each time, so that a token revoked by another process ends at once.
    """
    digest = hashed(secret)
    return _spoken_for(await tx.one(core.ACCESS_BY_HASH, digest), secret, digest, now)


def entrance(digest: str, roles: Iterable[Role], *, chain: bool, store_number: str | None) -> Statement:
    """What `arrive` asks, of a token's hash."""
    return core.ENTRANCE, (digest, sorted(roles), int(chain), store_number)


async def arrive(
    tx: Tx, secret: str, now: str, *, roles: Iterable[Role], chain: bool, store_number: str | None
) -> Arrival:
    """Who this token speaks for, and how far it reaches: asked in one statement. Raises Refusal (401) as above.

    `roles` are those that may do what is asked, with `chain` only over all stores; `store_number` is where, if in one.
    """
    digest = hashed(secret)
    question, asked = entrance(digest, roles, chain=chain, store_number=store_number)
    row = await tx.one(question, *asked)
    principal = _spoken_for(row, secret, digest, now)
    assert row is not None
    store = None if row[10] is None else Store(row[10], row[11])
    return Arrival(principal, bool(row[9]), store, frozenset(() if store is None else (store.number,)))


def _spoken_for(row: Row | None, secret: str, digest: str, now: str) -> Principal:
    stored = row[1] if row else "0" * 64
    good = hmac.compare_digest(stored, digest) and looks_right(secret)
    if not (row and good and row[6] is None and (row[5] is None or now < row[5])):
        raise Refusal(401, "The token is missing, wrong, expired or revoked.")
    return Principal(row[0], row[2], row[3], bool(row[4]), row[7], row[5], row[8])


async def enter(tx: Tx, principal: Principal, store_number: str) -> Store:
    """The store, when the token covers it. Raises Refusal (403), the same for a store that does not exist."""
    row = await tx.one(core.STORE_OF_ACCESS, store_number, principal.token_id)
    if row is None:
        raise await not_entered(tx, principal, store_number)
    return Store(*row)


async def not_entered(tx: Tx, principal: Principal, store_number: str) -> Refusal:
    """403 for a store that the token does not cover; names the stores of the token whose numbers are nearly the same.

    That a store does not exist is said to a token of all stores alone: another one hears the same of a store of others.
    """
    plain = _plain(store_number)
    if principal.all_stores:
        what, rows = "There is", await tx.all(core.STORES_ALIKE, plain)
    else:
        what, rows = "This token has", await tx.all(core.OWN_STORES_ALIKE, plain, principal.token_id)
        if not rows:
            return forbidden()
    alike = [row[0] for row in rows]
    if not alike:
        return forbidden(f"{what} no store {store_number}.")
    return forbidden(f"{what} no store {store_number}; {' or '.join(alike)}?", nearest=alike)


def _plain(store_number: str) -> str:
    """A store number without what spreadsheets and people leave out: leading zeros, blanks around it, its case."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in store_number.strip()).lstrip("0")


async def enter_all(tx: Tx, principal: Principal, store_numbers: Iterable[str]) -> None:
    """Enter stores that a list has found by the token's own. Raises Refusal (403) when one is not the token's."""
    named = sorted(set(store_numbers))
    if len(await tx.all(core.STORES_OF_ACCESS, named, principal.token_id)) != len(named):
        raise forbidden()
