"""Authorization: principal, role and stores of a token (README: Roles); the check of statements against these.

A transaction of a token for some stores records the stores that it is authorized for, by the statements that query
store and token together. Every further statement on rows of stores must name such a store in each store parameter, or
restrict itself by the token's own id. Other statements are refused.
"""

from __future__ import annotations

import hmac
import logging
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import NamedTuple, TypeVar

from aisle.service.auth.tokens_and_pins import hash_secret, is_well_formed_secret, normalize_store_number
from aisle.service.db.database_interface import Row, Statement, Transaction, tables_of
from aisle.service.db.schema_and_search_index import MIGRATIONS
from aisle.service.db.statements import logs_and_changes as changes_sql
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.errors import Refusal, forbidden
from aisle.service.operation_context import CHAIN, Context, Principal, Role, Store

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


log = logging.getLogger("aisle.service")

_CREATE_TABLE = re.compile(r"CREATE TABLE (\w+) \((.*)\)", re.DOTALL)
_STORE_COLUMN = re.compile(r"^\s*store_number\s", re.MULTILINE)
_STORE_PARAMETER = re.compile(r"\bstore_number = (?:ANY\()?\$(\d+)")
_TOKEN_PARAMETER = re.compile(r"\btoken_id = \$(\d+)")
_INSERT = re.compile(r"INSERT INTO \w+ \(([^)]*)\)\s*VALUES \(([^)]*)\)", re.DOTALL)

# Statements on rows of the chain, beside the catalogue, that a token of some stores may run. They read the position of
# its changes, and read or store its answers to requests without a store.
_CHAIN_STATEMENTS = frozenset(
    {
        changes_sql.RESPONSE_ADD,
        changes_sql.RESPONSE_OF_KEY,
        changes_sql.CHANGES_SINCE,
        changes_sql.COUNTER_VALUE,
        changes_sql.WRITE_AT_CHANGE,
        changes_sql.WRITE_HISTORY_FIRST,
        changes_sql.KNOWN_KEYS,
        changes_sql.OTHER_LOADS,
    }
)


def store_tables() -> frozenset[str]:
    """Return the tables whose rows belong to stores, including the table of stores."""
    made = (_CREATE_TABLE.match(statement) for migration in MIGRATIONS for statement in migration)
    return frozenset(match[1] for match in made if match and _STORE_COLUMN.search(match[2]))


_STORE_TABLES = store_tables()


class StoreParameters(NamedTuple):
    """Parameters of a statement (from 1) that are stores, and those that are tokens."""

    stores: tuple[int, ...]
    tokens: tuple[int, ...]
    touches_stores: bool
    """True if the statement uses rows of stores."""


@lru_cache(maxsize=4096)
def store_parameters(sql: str) -> StoreParameters:
    """Return the store and token parameters of a statement of `db.statements`, or one composed of its parts."""
    stores = [int(n) for n in _STORE_PARAMETER.findall(sql)]
    insert = _INSERT.search(sql)
    if insert:
        columns, values = ([part.strip() for part in group.split(",")] for group in insert.groups())
        if "store_number" in columns:
            stores.append(int(values[columns.index("store_number")].lstrip("$")))
    tokens = tuple(int(n) for n in _TOKEN_PARAMETER.findall(sql))
    return StoreParameters(tuple(dict.fromkeys(stores)), tokens, not _STORE_TABLES.isdisjoint(tables_of(sql)))


class StoreScopedTransaction:
    """`Transaction` limited to the stores of a token. Raise Refusal (403) for a statement beyond them."""

    def __init__(self, tx: Transaction, principal: Principal, authorized_stores: Iterable[str] = ()) -> None:
        """Wrap a transaction. The database has already authorized the token for `authorized_stores`."""
        self._tx = tx
        self._principal = principal
        self._authorized_stores = set(authorized_stores)

    async def all(self, sql: str, *args: object) -> list[Row]:
        if sql == tokens_sql.STORES_OF_TOKEN:
            return await self._authorize(sql, *args)
        self._check(sql, args)
        return await self._tx.all(sql, *args)

    async def one(self, sql: str, *args: object) -> Row | None:
        if sql == tokens_sql.STORE_OF_TOKEN:
            rows = await self._authorize(sql, *args)
            return rows[0] if rows else None
        self._check(sql, args)
        return await self._tx.one(sql, *args)

    async def run(self, sql: str, *args: object) -> None:
        self._check(sql, args)
        await self._tx.run(sql, *args)

    async def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        known = list(rows)
        for row in known:
            self._check(sql, row)
        await self._tx.run_many(sql, known)

    async def run_batch(self, statements: Iterable[Statement]) -> None:
        known = list(statements)
        for sql, row in known:
            self._check(sql, row)
        await self._tx.run_batch(known)

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self._tx.savepoint()

    async def _authorize(self, sql: str, store_numbers: object, token_id: object) -> list[Row]:
        if token_id != self._principal.token_id:
            raise forbidden()
        rows = await self._tx.all(sql, store_numbers, token_id)
        self._authorized_stores.update(row[0] for row in rows)
        return rows

    def _check(self, sql: str, args: Sequence[object]) -> None:
        if self._principal.all_stores:
            return
        stores, tokens, on_stores = store_parameters(sql)
        if not on_stores:
            return
        named = [args[n - 1] for n in stores]
        are_authorized = all(self._is_authorized(value, sql) for value in named)
        are_own_tokens = all(args[n - 1] == self._principal.token_id for n in tokens)
        if not (are_authorized and are_own_tokens and (named or tokens)):
            log.error("A statement reached beyond the stores of its token: %s", " ".join(sql.split())[:200])
            raise forbidden()

    def _is_authorized(self, value: object, sql: str) -> bool:
        if isinstance(value, list):
            return self._authorized_stores.issuperset(value)
        return value in self._authorized_stores or (value == CHAIN and sql in _CHAIN_STATEMENTS)
