"""What every engine offers: statements inside a transaction, and transactions that run a coroutine."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from aisle.errors import StorageError
from aisle.service.storage.watch import Watch

T = TypeVar("T")
Row = tuple[Any, ...]
Statement = tuple[str, Sequence[object]]
"""A statement and its parameters."""
Question = tuple[str, tuple[object, ...]]
"""A query and its parameters, lists as tuples."""


GROWING = (
    "leg",
    "stock_log",
    "change",
    "write_history",
    "customer_order",
    "order_line",
    "delivery",
    "delivery_line",
    "idempotency",
    "audit",
)
"""Tables that grow with time."""

_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)")


@lru_cache(maxsize=4096)
def tables_of(sql: str) -> frozenset[str]:
    """The tables that a statement of the catalogue reads or changes, and perhaps a word beside them."""
    return frozenset(_TABLE.findall(sql))


def question(sql: str, args: Sequence[object]) -> Question:
    """A query and its parameters as what its answer can be kept under."""
    return sql, tuple([tuple(arg) if isinstance(arg, list) else arg for arg in args])


def grouped(statements: Iterable[Statement]) -> dict[str, list[Sequence[object]]]:
    """The parameters of each statement, in the order in which they came."""
    groups: dict[str, list[Sequence[object]]] = {}
    for sql, row in statements:
        groups.setdefault(sql, []).append(row)
    return groups


class Busy(StorageError):
    """Another writer held the database for too long; nothing was changed and the same request may be sent again."""


class Unreachable(StorageError):
    """The database was not opened: its server does not answer, and may do so later."""


class Lost(StorageError):
    """The database failed while a transaction was being stored; whether it was stored is not known to the caller."""

    kind = ""
    """What the engine calls it; empty where only this transaction was lost."""


class Duplicate(StorageError):
    """A row with the same key is there already, or a row that another one needs is not."""


class Unfit(StorageError):
    """A value is longer than this engine can hold where it was to be put; the work was undone."""


def failed(problem: BaseException) -> Lost:
    """The database's own failure as clients hear it; its words, with paths and values in them, are for nobody."""
    lost = Lost("The database failed; the service's log names the kind of failure.")
    lost.kind = type(problem).__name__
    return lost


class Tx(Protocol):
    """One transaction. Statements are constants with `$1` parameters; a list parameter is for `= ANY($n)` alone."""

    async def all(self, sql: str, *args: object) -> list[Row]:
        """Every row of a query."""
        ...

    async def one(self, sql: str, *args: object) -> Row | None:
        """The first row, or None."""
        ...

    async def run(self, sql: str, *args: object) -> None:
        """A statement without an answer."""
        ...

    async def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """The same statement for each row of parameters."""
        ...

    async def ahead(self, questions: Iterable[Statement]) -> None:
        """Queries that `all` and `one` are asked next, asked in one way to the database and back where it is far.

        Whoever asks one of them then, in the same words, costs nothing; what is never asked for was asked in vain. An
        answer is forgotten as soon as one of its tables is written to. No query has a decimal (`SUM` without a cast).
        """
        ...

    async def together(self, statements: Iterable[Statement]) -> None:
        """Statements without answers, in one way to the database and back where it is far.

        Each changes rows that no other one of them changes or reads; in which order they happen is not said.
        """
        ...

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """A part that is undone as a whole when it raises, without ending the transaction."""
        ...


Work = Callable[[Tx], Coroutine[Any, Any, T]]


class Storage(Protocol):
    """Transactions over one database that several processes may share."""

    watch: Watch
    """Hears of what fails and of waits."""

    @property
    def sizes(self) -> tuple[str, ...]:
        """Statements that say how many rows the growing tables have, and (`*`) how many bytes the database has."""
        ...

    async def read(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database. It must not write; an engine may begin it anew."""
        ...

    async def write(self, work: Work[T], *, stores: Collection[str] | None = None) -> T:
        """Run `work` alone among all writers of these stores; stored for ever when this returns, undone when it raises.

        `stores` are all whose rows it may change, the chain (`*`) among them; None is every one. An engine may run
        `work` more than once, when it undid what the earlier time did. Raises Busy, Lost, or whatever `work` raised.
        """
        ...

    def write_now(self, work: Work[T]) -> T:
        """`write` over all stores, for callers without an event loop."""
        ...

    def read_now(self, work: Work[T]) -> T:
        """`read` for callers without an event loop."""
        ...

    def close(self) -> None:
        """Finish what runs, then let go of the database."""
        ...
