"""Interface of databases: transactions over common SQL, errors, availability, and fair turns of waiting callers."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from functools import lru_cache
from sys import getsizeof
from threading import Lock
from time import monotonic
from typing import Any, Final, Literal, Protocol, TypeVar

from aisle.errors import StorageError
from aisle.server.caller_turns import Caller, CallerQueue

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


log = logging.getLogger("aisle.service")

AccessKind = Literal["reads", "writes"]


WaitKind = Literal["pool", "lock"]
"""Kind of a wait: for a connection of the pool or the writer thread, or for a lock of another writer."""


FULL_DISK_ERRORS = frozenset({"FullError", "DiskFullError"})
"""Errors of a full disk: SQLite's and PostgreSQL's."""


class DatabaseMetrics(Protocol):
    """Metrics that a monitor updates."""

    def set_database_up(self, *, up: bool) -> None:
        """Record that the database was lost or regained."""
        ...

    def count_full_disk(self) -> None:
        """Count a request that was refused because the disk of the database is full."""
        ...

    def observe_database_wait(self, kind: WaitKind, seconds: float) -> None:
        """Record a wait of this many seconds."""
        ...


QUIET_WRITES_S = 120.0
"""Seconds without a failed write after which writes count as regained.

A server on a full disk goes on to take small writes, and hosts try again after up to a minute.
"""


class DatabaseMonitor:
    """Record of the failures and successes of one database; threads may share it. Each change is logged once."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.metrics: DatabaseMetrics | None = None
        self._now = now
        self._failed: set[AccessKind] = set()
        self._is_lost = False
        self._lost_since = 0.0
        self._write_failed_at = -math.inf
        self._lock = Lock()

    @property
    def is_available(self) -> bool:
        """True if neither the last read nor the last write failed."""
        return not self._failed

    def report_failure(self, *parts: AccessKind, error: str) -> None:
        """Record that these accesses fail for a reason of the database. Only the kind of error is logged."""
        if error in FULL_DISK_ERRORS and self.metrics is not None:
            self.metrics.count_full_disk()
        with self._lock:
            self._failed.update(parts)
            if "writes" in parts:
                self._write_failed_at = self._now()
            if self._is_lost:
                return
            self._is_lost = True
            self._lost_since = self._now()
        log.error("database lost: %s of %s", error, " and ".join(parts))
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
            seconds = now - self._lost_since
        log.warning("database regained after %.0f s", seconds)
        self._update_metrics(up=True)

    def report_wait(self, kind: WaitKind, seconds: float) -> None:
        """Record a wait."""
        if self.metrics is not None:
            self.metrics.observe_database_wait(kind, seconds)

    def _update_metrics(self, *, up: bool) -> None:
        if self.metrics is not None:
            self.metrics.set_database_up(up=up)


MOST_WAITING: Final = 64
"""Maximum number of turns that one caller waits for."""

MOST_KNOWN: Final = 10_000
"""Maximum number of callers that are known."""


_SERVICE: Final = Caller()
CALLER: ContextVar[Caller] = ContextVar("aisle-caller", default=_SERVICE)
"""Caller of the current request; the service itself outside of one.

The group is the id of the token that a person signed in with, or of the token itself; '' for the service itself.
"""


class KnownCallers:
    """Callers by the hashes of their tokens, as far as they were valid lately. All others are one group."""

    def __init__(self) -> None:
        self._by_hash: OrderedDict[str, Caller] = OrderedDict()

    def find(self, token_hash: str, address: str) -> Caller:
        """Return the caller with this token. Without a known one the address is a member of the group of strangers."""
        return self._by_hash.get(token_hash) or Caller("?", address)

    def add(self, token_hash: str, caller: Caller) -> None:
        """Add the caller, or keep it longer."""
        self._by_hash[token_hash] = caller
        self._by_hash.move_to_end(token_hash)
        if len(self._by_hash) > MOST_KNOWN:
            self._by_hash.popitem(last=False)

    def remove(self, token_hash: str) -> None:
        """Remove the caller of a token that is valid no longer."""
        self._by_hash.pop(token_hash, None)


class FairTurns:
    """Limited number of simultaneous turns, granted to callers in rotation; threads may share it."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting = CallerQueue[asyncio.Future[None]]()
        self._lock = Lock()

    @asynccontextmanager
    async def turn(self, seconds: float) -> AsyncIterator[bool]:
        """Wait at most this many seconds for a turn. Yield True if it was necessary to wait.

        Raise Busy after the time, TooManyWaiting if this caller has too many waiting reads.
        """
        waiting = self._take_or_wait()
        if waiting is not None:
            try:
                async with asyncio.timeout(seconds):
                    await waiting
            except BaseException as problem:
                if waiting.done() and not waiting.cancelled():
                    self._give_back()
                if isinstance(problem, TimeoutError):
                    raise Busy("The service has been busy with other requests for too long.") from problem
                raise
        try:
            yield waiting is not None
        finally:
            self._give_back()

    def _take_or_wait(self) -> asyncio.Future[None] | None:
        caller = CALLER.get()
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            if self._waiting.count(caller) >= MOST_WAITING:
                raise TooManyWaiting(f"{MOST_WAITING} requests of this caller wait already.")
            future = asyncio.get_running_loop().create_future()
            self._waiting.add(caller, future)
            return future

    def _give_back(self) -> None:
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            future = self._waiting.take()
        future.get_loop().call_soon_threadsafe(self._hand_on, future)

    def _hand_on(self, future: asyncio.Future[None]) -> None:
        if future.done():  # The caller gave up.
            self._give_back()
        else:
            future.set_result(None)
