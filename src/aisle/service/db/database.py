"""Whether a database can be used, said once when that changes, and how long its callers wait inside this process."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from threading import Lock
from time import monotonic
from typing import Any, Literal, Protocol, TypeVar

from aisle.errors import StorageError

log = logging.getLogger("aisle.service")

AccessKind = Literal["reads", "writes"]
WaitKind = Literal["pool", "lock"]
"""A wait for a connection of the pool or for the writing thread; a wait for a lock that another writer holds."""


class DatabaseMetrics(Protocol):
    """Counts what a watch sees."""

    def set_database_up(self, *, up: bool) -> None:
        """The database is lost, or back."""
        ...

    def observe_database_wait(self, kind: WaitKind, seconds: float) -> None:
        """Somebody waited for so long."""
        ...


class DatabaseMonitor:
    """Sees every failure and every success of one storage; used by several threads."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.metrics: DatabaseMetrics | None = None
        self._now = now
        self._failed: set[AccessKind] = set()
        self._failed_since = 0.0
        self._lock = Lock()

    @property
    def is_available(self) -> bool:
        """Whether nothing is lost."""
        return not self._failed

    def report_failure(self, *parts: AccessKind, error: str) -> None:
        """These fail, for a reason of the database's own; of the reason only its kind is said."""
        with self._lock:
            first = not self._failed
            self._failed.update(parts)
            if not first:
                return
            self._failed_since = self._now()
        log.error("database lost: %s of %s", error, " and ".join(parts))
        self._update_metrics(up=False)

    def report_success(self, *parts: AccessKind) -> None:
        """These have succeeded. It costs nothing while nothing is lost."""
        if not self._failed:
            return
        with self._lock:
            before = bool(self._failed)
            self._failed.difference_update(parts)
            if self._failed or not before:
                return
            seconds = self._now() - self._failed_since
        log.warning("database regained after %.0f s", seconds)
        self._update_metrics(up=True)

    def report_wait(self, kind: WaitKind, seconds: float) -> None:
        """Somebody has waited."""
        if self.metrics is not None:
            self.metrics.observe_database_wait(kind, seconds)

    def _update_metrics(self, *, up: bool) -> None:
        if self.metrics is not None:
            self.metrics.set_database_up(up=up)


T = TypeVar("T")
Row = tuple[Any, ...]
Statement = tuple[str, Sequence[object]]
"""A statement and its parameters."""
CacheKey = tuple[str, tuple[object, ...]]
"""A query and its parameters, lists as tuples."""


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
)
"""Tables that grow with time."""

_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)")


@lru_cache(maxsize=4096)
def tables_of(sql: str) -> frozenset[str]:
    """The tables that a statement of the catalogue reads or changes, and perhaps a word beside them."""
    return frozenset(_TABLE.findall(sql))


def cache_key(sql: str, args: Sequence[object]) -> CacheKey:
    """A query and its parameters as what its answer can be kept under."""
    return sql, tuple([tuple(arg) if isinstance(arg, list) else arg for arg in args])


def group_by_statement(statements: Iterable[Statement]) -> dict[str, list[Sequence[object]]]:
    """The parameters of each statement, in the order in which they came."""
    groups: dict[str, list[Sequence[object]]] = {}
    for sql, row in statements:
        groups.setdefault(sql, []).append(row)
    return groups


class Busy(StorageError):
    """Another writer held the database for too long; nothing was changed and the same request may be sent again."""


class TooManyWaiting(StorageError):
    """Whoever asks has too many long reads waiting already; nothing was asked."""


class DatabaseUnreachable(StorageError):
    """The database was not opened: its server does not answer, and may do so later."""


class DatabaseFailed(StorageError):
    """The database failed while a transaction was being stored; whether it was stored is not known to the caller."""

    engine_error = ""
    """What the engine calls it; empty where only this transaction was lost."""


class ConstraintViolated(StorageError):
    """A row with the same key is there already, or a row that another one needs is not."""


class ValueTooLong(StorageError):
    """A value is longer than this engine can hold where it was to be put; the work was undone."""


def database_failure(error: BaseException) -> DatabaseFailed:
    """The database's own failure as clients hear it; its words, with paths and values in them, are for nobody."""
    lost = DatabaseFailed("The database failed; the service's log names the kind of failure.")
    lost.engine_error = type(error).__name__
    return lost


class Transaction(Protocol):
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

    async def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """The same statement for each row of parameters."""
        ...

    async def prefetch(self, statements: Iterable[Statement]) -> None:
        """Queries that `all` and `one` are asked next, asked in one way to the database and back where it is far.

        Whoever asks one of them then, in the same words, costs nothing; what is never asked for was asked in vain. An
        answer is forgotten as soon as one of its tables is written to. No query has a decimal (`SUM` without a cast).
        """
        ...

    async def run_batch(self, statements: Iterable[Statement]) -> None:
        """Statements without answers, in one way to the database and back where it is far.

        Each changes rows that no other one of them changes or reads; in which order they happen is not said.
        """
        ...

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """A part that is undone as a whole when it raises, without ending the transaction."""
        ...


Work = Callable[[Transaction], Coroutine[Any, Any, T]]


class Database(Protocol):
    """Transactions over one database that several processes may share."""

    monitor: DatabaseMonitor
    """Hears of what fails and of waits."""

    @property
    def size_statements(self) -> tuple[str, ...]:
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
