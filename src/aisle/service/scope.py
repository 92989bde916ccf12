"""A token's stores, held at the statements: whatever a handler forgets, no statement reaches a store of others.

A transaction of a token for some stores knows which of them it has entered, by the statements that ask store and token
together. Each further statement on rows of stores has to name such a store in each of its parameters that is one,
or keep to the token's stores by the token's own id. What does not is not carried out.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from functools import lru_cache

from aisle.service.answers import forbidden
from aisle.service.context import CHAIN, Principal
from aisle.service.sql import core
from aisle.service.sql.schema import MIGRATIONS
from aisle.service.storage import Row, Statement, Tx, tables_of
from aisle.tuples import NamedTuple

log = logging.getLogger("aisle.service")

_MADE = re.compile(r"CREATE TABLE (\w+) \((.*)\)", re.DOTALL)
_STORE_COLUMN = re.compile(r"^\s*store_number\s", re.MULTILINE)
_STORE = re.compile(r"\bstore_number = (?:ANY\()?\$(\d+)")
_TOKEN = re.compile(r"\btoken_id = \$(\d+)")
_INSERT = re.compile(r"INSERT INTO \w+ \(([^)]*)\)\s*VALUES \(([^)]*)\)", re.DOTALL)

# What a token of some stores may read of the chain beside the catalogue: how far its changes have come; and where it
# keeps the answers to requests that name no store.
_OF_CHAIN = frozenset(
    {
        core.ANSWER_KEEP,
        core.ANSWER_OF_KEY,
        core.CHANGES_SINCE,
        core.COUNTER_VALUE,
        core.HISTORY_AT,
        core.HISTORY_FIRST,
        core.KEYS_KNOWN,
    }
)


def store_tables() -> frozenset[str]:
    """The tables whose rows belong to stores, the stores' own among them."""
    made = (_MADE.match(statement) for migration in MIGRATIONS for statement in migration)
    return frozenset(match[1] for match in made if match and _STORE_COLUMN.search(match[2]))


_TABLES = store_tables()


class Reach(NamedTuple):
    """What a statement says of stores: its parameters (from 1) that are a store or stores, and that are a token."""

    stores: tuple[int, ...]
    tokens: tuple[int, ...]
    on_stores: bool
    """Whether it touches rows of stores at all."""


@lru_cache(maxsize=4096)
def reach_of(sql: str) -> Reach:
    """How a statement of the catalogue, or one that was put together of its parts, is bound to stores."""
    stores = [int(n) for n in _STORE.findall(sql)]
    insert = _INSERT.search(sql)
    if insert:
        columns, values = ([part.strip() for part in group.split(",")] for group in insert.groups())
        if "store_number" in columns:
            stores.append(int(values[columns.index("store_number")].lstrip("$")))
    tokens = tuple(int(n) for n in _TOKEN.findall(sql))
    return Reach(tuple(dict.fromkeys(stores)), tokens, not _TABLES.isdisjoint(tables_of(sql)))


class ScopedTx:
    """`Tx` as a token may use it. Raises Refusal (403) for a statement that reaches beyond the token's stores."""

    def __init__(self, tx: Tx, principal: Principal, entered: Iterable[str] = ()) -> None:
        """`entered` are stores that the database has named already when it was asked for them and the token."""
        self._tx = tx
        self._principal = principal
        self._entered = set(entered)

    async def all(self, sql: str, *args: object) -> list[Row]:
        if sql == core.STORES_OF_ACCESS:
            return await self._enter(sql, *args)
        self._check(sql, args)
        return await self._tx.all(sql, *args)

    async def one(self, sql: str, *args: object) -> Row | None:
        if sql == core.STORE_OF_ACCESS:
            rows = await self._enter(sql, *args)
            return rows[0] if rows else None
        self._check(sql, args)
        return await self._tx.one(sql, *args)

    async def run(self, sql: str, *args: object) -> None:
        self._check(sql, args)
        await self._tx.run(sql, *args)

    async def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        known = list(rows)
        for row in known:
            self._check(sql, row)
        await self._tx.many(sql, known)

    async def ahead(self, questions: Iterable[Statement]) -> None:
        await self._tx.ahead(self._checked(questions))  # which an engine that is near does not even look at

    async def together(self, statements: Iterable[Statement]) -> None:
        await self._tx.together(list(self._checked(statements)))

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self._tx.savepoint()

    async def _enter(self, sql: str, named: object, token_id: object) -> list[Row]:
        if token_id != self._principal.token_id:
            raise forbidden()
        rows = await self._tx.all(sql, named, token_id)
        self._entered.update(row[0] for row in rows)
        return rows

    def _checked(self, statements: Iterable[Statement]) -> Iterable[Statement]:
        return statements if self._principal.all_stores else self._each_checked(statements)

    def _each_checked(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        for sql, row in statements:
            self._check(sql, row)
            yield sql, row

    def _check(self, sql: str, args: Sequence[object]) -> None:
        if self._principal.all_stores:
            return
        stores, tokens, on_stores = reach_of(sql)
        if not on_stores:
            return
        named = [args[n - 1] for n in stores]
        good = all(self._is_mine(value, sql) for value in named)
        own = all(args[n - 1] == self._principal.token_id for n in tokens)
        if not (good and own and (named or tokens)):
            log.error("A statement reached beyond the stores of its token: %s", " ".join(sql.split())[:200])
            raise forbidden()

    def _is_mine(self, value: object, sql: str) -> bool:
        if isinstance(value, list):
            return self._entered.issuperset(value)
        return value in self._entered or (value == CHAIN and sql in _OF_CHAIN)
