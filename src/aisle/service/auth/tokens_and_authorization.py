"""Tokens: create, list, revoke and authenticate; refusal of a store with similar numbers named (README: Roles).

A token is `aisle_`, 256 random bits and a checksum. Only its SHA-256 is stored.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import zlib
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import NamedTuple, TypeVar, get_args

from aisle.errors import UsageError
from aisle.service.db.database import Database, Row, Statement, Transaction
from aisle.service.db.statements import stores as stores_sql
from aisle.service.db.statements import tokens as tokens_sql
from aisle.service.domain.audit import AuditChange, record_command
from aisle.service.errors import Refusal, forbidden
from aisle.service.operation_context import Context, Principal, Role, Store

TOKEN_PREFIX = "aisle_"
ROLES: tuple[Role, ...] = get_args(Role)
ALL_STORES = "*"

B = TypeVar("B", bound=Mapping[str, object])


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


class TokenPerson(NamedTuple):
    """Person of a token: the token used for the sign-in, the store and the badge."""

    parent_token_id: str
    store_number: str
    badge: str


class NewToken(NamedTuple):
    """New token. `secret` is shown once and not stored."""

    token_id: str
    secret: str


class Authorization(NamedTuple):
    """Principal of a token, the permission for the operation, and the store if the token covers it."""

    principal: Principal
    is_allowed: bool
    store: Store | None
    authorized_stores: frozenset[str]
    """Stores that statements may name: the requested one, as the database confirmed it."""


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


async def add_token(
    tx: Transaction,
    *,
    name: str,
    role: Role,
    store_numbers: Iterable[str] | None,
    now: str,
    expires_on: str | None = None,
    secret: str | None = None,
    person: TokenPerson | None = None,
) -> NewToken:
    """Store a token for the named stores, or for all if `store_numbers` is None.

    Raise UsageError if a role or store is unknown.
    """
    if role not in ROLES:
        raise UsageError(f"There is no role {role!r}; there are {', '.join(ROLES)}.")
    named = None if store_numbers is None else sorted(set(store_numbers))
    if named is not None:
        known = {row[0] for row in await tx.all(stores_sql.STORE_ORDINALS, named)}
        unknown = [number for number in named if number not in known]
        if unknown or not named:
            raise UsageError(
                f"No such store: {', '.join(unknown) or 'none was named'}.{await _suggest_stores(tx, unknown)}"
            )
    secret = secret or generate_secret()
    token_id = secrets.token_hex(6)
    owner = person or TokenPerson("", "", "")
    await tx.run(
        tokens_sql.TOKEN_ADD,
        token_id,
        hash_secret(secret),
        name,
        role,
        int(named is None),
        now,
        expires_on,
        *owner,
    )
    await tx.run_many(tokens_sql.TOKEN_STORE_ADD, [(token_id, number) for number in named or ()])
    return NewToken(token_id, secret)


async def add_named_token(
    tx: Transaction,
    *,
    name: str,
    role: Role,
    store_numbers: Iterable[str] | None,
    now: str,
    expires_on: str | None = None,
) -> NewToken:
    """Store a token under a name that no other valid token has. Raise UsageError if the name is missing or used."""
    if not name.strip():
        raise UsageError("A token has a name: what it is for.")
    if role == "metrics" and store_numbers is not None:
        raise UsageError("Figures are of all stores: a token with the role metrics is for all of them (*).")
    other = await find_valid_token(tx, name, now)
    if other is not None:
        raise UsageError(f"Token {other.token_id} in force is called {name!r}; revoke it, or take another name.")
    return await add_token(tx, name=name, role=role, store_numbers=store_numbers, now=now, expires_on=expires_on)


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
        row[0] for number in unknown for row in await tx.all(tokens_sql.SIMILAR_STORES, _normalize_store_number(number))
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
    named = None if store_numbers is None else list(store_numbers)

    async def work(tx: Transaction) -> NewToken:
        made = await add_named_token(tx, name=name, role=role, store_numbers=named, now=now, expires_on=expires_on)
        fields = {"name": name, "role": role, "stores": named or [ALL_STORES], "expires_on": expires_on}
        await record_command(tx, AuditChange("token", made.token_id, {}, fields), now)
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


class TokenRefused(Refusal):
    """Refusal (401) of a token. The message is the same for every reason.

    `name` is that of a token that was revoked or has expired; it is empty for people's tokens and unknown ones.
    """

    def __init__(self, name: str = "") -> None:
        super().__init__(401, "The token is missing, wrong, expired or revoked.")
        self.name = name


async def authenticate(tx: Transaction, secret: str, now: str) -> Principal:
    """Return the principal of a token. Raise Refusal (401) with the same message for every reason.

    The token is read each time, so that a revocation by another process has effect at once.
    """
    digest = hash_secret(secret)
    return _check_token(await tx.one(tokens_sql.TOKEN_BY_HASH, digest), secret, digest, now)


def authorization_statement(
    digest: str, roles: Iterable[Role], *, needs_all_stores: bool, store_number: str | None
) -> Statement:
    """Return the query that `authorize` runs for a token's hash."""
    return tokens_sql.AUTHORIZATION, (digest, sorted(roles), int(needs_all_stores), store_number)


async def authorize(
    tx: Transaction, secret: str, now: str, *, roles: Iterable[Role], needs_all_stores: bool, store_number: str | None
) -> Authorization:
    """Return the principal and its permission in one query. Raise Refusal (401) as `authenticate` does.

    `roles` are those that may run the operation; `needs_all_stores` requires a token for all stores. `store_number` is
    the store of the request, if it has one.
    """
    digest = hash_secret(secret)
    statement, args = authorization_statement(
        digest, roles, needs_all_stores=needs_all_stores, store_number=store_number
    )
    row = await tx.one(statement, *args)
    principal = _check_token(row, secret, digest, now)
    assert row is not None
    store = None if row[11] is None else Store(row[11], row[12])
    return Authorization(principal, bool(row[10]), store, frozenset(() if store is None else (store.number,)))


def _check_token(row: Row | None, secret: str, digest: str, now: str) -> Principal:
    stored = row[1] if row else "0" * 64
    is_genuine = hmac.compare_digest(stored, digest) and is_well_formed_secret(secret)
    if not (row and is_genuine and row[6] is None and (row[5] is None or now < row[5])):
        raise TokenRefused(row[2] if row and is_genuine and not row[8] else "")
    return Principal(row[0], row[2], row[3], bool(row[4]), row[7], row[5], row[8], row[9])


async def authorize_store(tx: Transaction, principal: Principal, store_number: str) -> Store:
    """Return the store if the token covers it. Raise Refusal (403), also for a store that does not exist."""
    row = await tx.one(tokens_sql.STORE_OF_TOKEN, store_number, principal.token_id)
    if row is None:
        raise await store_refusal(tx, principal, store_number)
    return Store(*row)


async def authorize_named_stores(ctx: Context, bodies: Iterable[B]) -> AsyncIterator[tuple[Store, list[tuple[int, B]]]]:
    """Yield the stores that the rows of a request name, sorted by number, each with its rows and their indexes.

    Raise Refusal (403) for a store that the token does not cover.
    """
    by_store: dict[str, list[tuple[int, B]]] = {}
    for index, body in enumerate(bodies):
        by_store.setdefault(str(body["store_number"]), []).append((index, body))
    for store_number in sorted(by_store):
        yield await authorize_store(ctx.tx, ctx.principal, store_number), by_store[store_number]


async def store_refusal(tx: Transaction, principal: Principal, store_number: str) -> Refusal:
    """Return a 403 for a store that the token does not cover, with the token's stores that have similar numbers.

    Only a token of all stores learns that a store does not exist. Other tokens get the same answer for a store of
    others.
    """
    normalized = _normalize_store_number(store_number)
    if principal.all_stores:
        subject, rows = "There is", await tx.all(tokens_sql.SIMILAR_STORES, normalized)
    else:
        subject, rows = (
            "This token has",
            await tx.all(tokens_sql.SIMILAR_STORES_OF_TOKEN, normalized, principal.token_id),
        )
        if not rows:
            return forbidden()
    similar = [row[0] for row in rows]
    if not similar:
        return forbidden(f"{subject} no store {store_number}.")
    return forbidden(f"{subject} no store {store_number}; {' or '.join(similar)}?", nearest=similar)


def _normalize_store_number(store_number: str) -> str:
    """Return a store number without leading zeros and outer blanks, in lower case."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in store_number.strip()).lstrip("0")


async def authorize_stores(tx: Transaction, principal: Principal, store_numbers: Iterable[str]) -> None:
    """Authorize stores that a list selected by the token's id. Raise Refusal (403) if one is not the token's."""
    named = sorted(set(store_numbers))
    if len(await tx.all(tokens_sql.STORES_OF_TOKEN, named, principal.token_id)) != len(named):
        raise forbidden()


def require_role(ctx: Context, *roles: Role) -> None:
    """Raise Refusal (403) unless the token has one of these roles."""
    if ctx.principal.role not in roles:
        raise Refusal(403, f"This needs a token with the role {' or '.join(roles)}.")
