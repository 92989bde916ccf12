"""Authorization: principal and role of a token, and the stores that it covers (README: Roles)."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import NamedTuple, TypeVar

from aisle.service.auth.tokens import hash_secret, is_well_formed_secret, normalize_store_number
from aisle.service.db.database_interface import Row, Statement, Transaction
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.errors import Refusal, forbidden
from aisle.service.operation_context import Context, Principal, Role, Store

B = TypeVar("B", bound=Mapping[str, object])


class Authorization(NamedTuple):
    """Principal of a token, the permission for the operation, and the store if the token covers it."""

    principal: Principal
    is_allowed: bool
    store: Store | None
    authorized_stores: frozenset[str]
    """Stores that statements may name: the requested one, as the database confirmed it."""


class TokenRefused(Refusal):
    """Refusal (401) of a token. The message is the same for every reason.

    `name` is that of a token that was revoked or has expired; it is empty for people's tokens and unknown ones.
    `is_unknown` is true for a token that was given, but never made here or lost.
    """

    def __init__(self, name: str = "", *, is_unknown: bool = False) -> None:
        super().__init__(401, "The token is missing, wrong, expired or revoked.")
        self.name = name
        self.is_unknown = is_unknown


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
        name = row[2] if row and is_genuine and not row[8] else ""
        raise TokenRefused(name, is_unknown=bool(secret) and not is_genuine)
    return Principal(row[0], row[2], row[3], bool(row[4]), row[7], row[5], row[8], row[9])


async def authorize_store(tx: Transaction, principal: Principal, store_number: str) -> Store:
    """Return the store if the token covers it. Raise Refusal (403), also for a store that does not exist."""
    row = await tx.one(tokens_sql.STORE_OF_TOKEN, store_number, principal.token_id)
    if row is None:
        raise await store_refusal(tx, principal, store_number)
    return Store(*row)


async def rows_by_store(ctx: Context, rows: Iterable[B]) -> AsyncIterator[tuple[Store, list[tuple[int, B]]]]:
    """Yield the rows of a request with their indexes: those of the path's store, otherwise of each store they name.

    Stores are sorted by number. Raise Refusal (403) for a store that the token does not cover.
    """
    if ctx.store:
        yield ctx.store, list(enumerate(rows))
        return
    by_store: dict[str, list[tuple[int, B]]] = {}
    for index, row in enumerate(rows):
        by_store.setdefault(str(row["store_number"]), []).append((index, row))
    for store_number in sorted(by_store):
        yield await authorize_store(ctx.tx, ctx.principal, store_number), by_store[store_number]


async def store_refusal(tx: Transaction, principal: Principal, store_number: str) -> Refusal:
    """Return a 403 for a store that the token does not cover, with the token's stores that have similar numbers.

    Only a token of all stores learns that a store does not exist. Other tokens get the same answer for a store of
    others.
    """
    normalized = normalize_store_number(store_number)
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


async def authorize_stores(tx: Transaction, principal: Principal, store_numbers: Iterable[str]) -> None:
    """Authorize stores that a list selected by the token's id. Raise Refusal (403) if one is not the token's."""
    named = sorted(set(store_numbers))
    if len(await tx.all(tokens_sql.STORES_OF_TOKEN, named, principal.token_id)) != len(named):
        raise forbidden()


def require_role(ctx: Context, *roles: Role) -> None:
    """Raise Refusal (403) unless the token has one of these roles."""
    if ctx.principal.role not in roles:
        raise Refusal(403, f"This needs a token with the role {' or '.join(roles)}.")
