"""Interface of databases: transactions and errors; the monitor of their availability and waiting times."""

from __future__ import annotations

import fcntl
import logging
import math
import os
import re
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from pathlib import Path
from sys import getsizeof
from threading import Lock
from time import monotonic
from typing import Any, Literal, Protocol, TypeVar

from aisle.errors import StorageError

AccessKind = Literal["reads", "writes"]

WaitKind = Literal["pool", "lock"]
"""Kind of a wait: for a connection of the pool or the writer thread, or for a lock of another writer."""


log = logging.getLogger("aisle.service")


class DatabaseMetrics(Protocol):
    """Metrics that a monitor updates."""

    def set_database_up(self, *, up: bool) -> None:
        """Record that the database was lost or regained."""
        ...

    def observe_database_wait(self, kind: WaitKind, seconds: float) -> None:
        """Record a wait of this many seconds."""
        ...


class Speaker:
    """Right to log the loss of a database. Of several processes the one that locks a file has it.

    The kernel frees the lock of a process that dies. Without a file, every process has the right.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._handle = -1

    def take(self) -> bool:
        """Return True if this process logs the loss, and its end."""
        if self._file is None or self._handle >= 0:
            return True
        try:
            handle = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            return True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def give_up(self) -> None:
        """Let another process log the next loss."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


QUIET_WRITES_S = 120.0
"""Seconds without a failed write after which writes count as regained.

A server on a full disk goes on to take small writes, and hosts try again after up to a minute.
"""


class DatabaseMonitor:
    """Record of the failures and successes of one database; threads may share it. Each change is logged once."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.metrics: DatabaseMetrics | None = None
        self.speaker = Speaker()
        self._now = now
        self._failed: set[AccessKind] = set()
        self._is_lost = False
        self._is_speaking = False
        self._lost_since = 0.0
        self._write_failed_at = -math.inf
        self._lock = Lock()

    @property
    def is_available(self) -> bool:
        """True if neither the last read nor the last write failed."""
        return not self._failed

    def report_failure(self, *parts: AccessKind, error: str) -> None:
        """Record that these accesses fail for a reason of the database. Only the kind of error is logged."""
        with self._lock:
            self._failed.update(parts)
            if "writes" in parts:
                self._write_failed_at = self._now()
            if self._is_lost:
                return
            self._is_lost = True
            self._lost_since = self._now()
            self._is_speaking = self.speaker.take()
        level = logging.ERROR if self._is_speaking else logging.DEBUG
        log.log(level, "database lost: %s of %s", error, " and ".join(parts))
        self._update_metrics(up=False)

    def report_success(self, *parts: AccessKind) -> None:
        """Record that these accesses succeeded. The call is cheap while nothing fails."""
        if not self._is_lost:
            return
        with self._lock:
            self._failed.difference_update(parts)
            now = self._now()
            if not self._is_lost or self._failed or now - self._write_failed_at < QUIET_WRITES_S:
                return
            self._is_lost = False
            seconds, is_speaking = now - self._lost_since, self._is_speaking
            self.speaker.give_up()
        log.log(logging.WARNING if is_speaking else logging.DEBUG, "database regained after %.0f s", seconds)
        self._update_metrics(up=True)

    def report_wait(self, kind: WaitKind, seconds: float) -> None:
        """Record a wait."""
        if self.metrics is not None:
            self.metrics.observe_database_wait(kind, seconds)

    def _update_metrics(self, *, up: bool) -> None:
        if self.metrics is not None:
            self.metrics.set_database_up(up=up)


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


def database_failure(error: BaseException) -> DatabaseFailed:
    """Return the failure for clients. The engine's message has paths and values, so it is not passed on."""
    failure = DatabaseFailed("The database failed; the service's log names the kind of failure.")
    failure.engine_error = type(error).__name__
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
    def size_statements(self) -> tuple[str, ...]:
        """Statements that return the rows of the growing tables and, under `*`, the bytes of the database."""
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
