"""Interface of databases: transactions over common SQL, and errors. Opened by `open_database` of this package."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from sys import getsizeof
from typing import Any, Protocol, TypeVar

from aisle.errors import StorageError
from aisle.service.db.availability_monitor import FULL_DISK_ERRORS, DatabaseMonitor

T = TypeVar("T")
Row = tuple[Any, ...]
Statement = tuple[str, Sequence[object]]
"""Statement and its parameters."""


GROWING_TABLES = (
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
    "put_back",
    "assignment",
    "recount",
)
"""Tables that grow with time."""

_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)")


@lru_cache(maxsize=4096)
def tables_of(sql: str) -> frozenset[str]:
    """Return the tables that a statement of `db.statements` reads or changes. Aliases may be among them."""
    return frozenset(_TABLE.findall(sql))


def group_by_statement(statements: Iterable[Statement]) -> dict[str, list[Sequence[object]]]:
    """Group the parameters by statement, in their order."""
    groups: dict[str, list[Sequence[object]]] = {}
    for sql, row in statements:
        groups.setdefault(sql, []).append(row)
    return groups


class Busy(StorageError):
    """Lock of another writer held for too long. Nothing was changed and the request may be repeated."""


class TooManyWaiting(StorageError):
    """Read that was not started because its caller has too many waiting long reads."""


class DatabaseUnreachable(StorageError):
    """Database that could not be opened because its server does not answer. A later attempt may succeed."""


class DatabaseFailed(StorageError):
    """Failure of the database during a transaction. The caller does not know whether it was stored."""

    engine_error = ""
    """Name of the engine's error; empty if only this transaction was lost."""


class ConstraintViolated(StorageError):
    """Row whose key exists already, or whose referenced row is missing."""


class ValueTooLong(StorageError):
    """Value that is longer than this engine can store. The work was undone."""


class ResultTooLong(StorageError):
    """Result of a statement that would take too much memory."""


MAX_RESULT_BYTES = 32 << 20
"""Maximum memory of the rows of one statement, as much as clients read of an answer."""


class ResultSize:
    """Memory of the rows of one statement that were read so far."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows. Raise ResultTooLong if there are too many bytes."""
        self._bytes += sum([sum(map(getsizeof, row)) for row in rows])
        if self._bytes > MAX_RESULT_BYTES:
            raise ResultTooLong("This is too long for one answer. Ask for fewer rows.")


_FULL_DISK = "The disk of the database is full; free some space on it."
_OTHER_FAILURE = "The database failed; the service's log names the kind of failure."


def database_failure(error: BaseException) -> DatabaseFailed:
    """Return the failure for clients. The engine's message has paths and values, so it is not passed on."""
    kind = type(error).__name__
    failure = DatabaseFailed(_FULL_DISK if kind in FULL_DISK_ERRORS else _OTHER_FAILURE)
    failure.engine_error = kind
    return failure


class Transaction(Protocol):
    """Transaction. Statements are constants with `$1` parameters; a list is only valid for `= ANY($n)`."""

    async def all(self, sql: str, *args: object) -> list[Row]:
        """Return all rows of a query."""
        ...

    async def one(self, sql: str, *args: object) -> Row | None:
        """Return the first row of a query, or None."""
        ...

    async def run(self, sql: str, *args: object) -> None:
        """Run a statement without a result."""
        ...

    async def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for each row of parameters."""
        ...

    async def run_batch(self, statements: Iterable[Statement]) -> None:
        """Run statements without results, those with the same text together.

        Each changes rows that no other one changes or reads; their order is undefined.
        """
        ...

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """Open a part that is undone as a whole if it raises, without ending the transaction."""
        ...


Work = Callable[[Transaction], Coroutine[Any, Any, T]]


class Database(Protocol):
    """Database that several processes may share, accessed by transactions."""

    monitor: DatabaseMonitor
    """Monitor of failures and waits."""

    @property
    def bytes_statement(self) -> str:
        """Statement that returns the bytes of the database."""
        ...

    async def read(self, work: Work[T]) -> T:
        """Run `work` over one consistent state of the database. It must not write; an engine may restart it."""
        ...

    async def write(self, work: Work[T], *, stores: Collection[str] | None = None) -> T:
        """Run `work` as the only writer of these stores. It is durable on return, undone if it raises.

        `stores` are all stores whose rows it may change, including the chain (`*`); None is all. An engine may run
        `work` again after it undid the earlier run. Raise Busy, DatabaseFailed, or what `work` raised.
        """
        ...

    def write_now(self, work: Work[T]) -> T:
        """Run `write` over all stores, for callers without an event loop."""
        ...

    def read_now(self, work: Work[T]) -> T:
        """Run `read`, for callers without an event loop."""
        ...

    def close(self) -> None:
        """Finish the running transactions, then close the database."""
        ...
