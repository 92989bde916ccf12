"""Check of every statement against the stores of a token, independent of the handlers.

A transaction of a token for some stores records the stores that it is authorized for, by the statements that query
store and token together. Every further statement on rows of stores must name such a store in each store parameter, or
restrict itself by the token's own id. Other statements are refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import NamedTuple

from aisle.service.db.database_interface import Row, Statement, Transaction, tables_of
from aisle.service.db.schema import MIGRATIONS
from aisle.service.db.statements import changes_and_writes as changes_sql
from aisle.service.db.statements import changes_and_writes as writes_sql
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.errors import forbidden
from aisle.service.operation_context import CHAIN, Principal

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
        writes_sql.RESPONSE_ADD,
        writes_sql.RESPONSE_OF_KEY,
        changes_sql.CHANGES_SINCE,
        changes_sql.COUNTER_VALUE,
        writes_sql.WRITE_AT_CHANGE,
        writes_sql.WRITE_HISTORY_FIRST,
        writes_sql.KNOWN_KEYS,
        writes_sql.OTHER_LOADS,
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
