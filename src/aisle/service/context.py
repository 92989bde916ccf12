"""What every operation works with: its transaction, who asks, when, and what has to be told to others afterwards."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from aisle.service.db import Statement, Transaction
from aisle.service.db.statements import access
from aisle.service.domain.timestamps import HOST_TIME_ZONE, TimeZone, TimeZones, subtract_seconds

Role = Literal["staff", "supervisor", "integration", "admin", "metrics"]
Topic = Literal["order", "product", "location", "store", "delivery", "recount", "person"]

CHAIN = "*"
"""The name under which the whole chain keeps its counters and changes, beside the stores."""

_MAX_STORES = 1 << 20
_CLOCK_TOLERANCE_S = 120.0
"""So far clocks may be apart."""
_CHANGE_COUNTER = "change"
"""The counter of what has changed."""
CHANGES_FORGOTTEN = "change_forgotten"
"""The counter whose value is the last change that was purged."""


class Principal(NamedTuple):
    """Who a token speaks for."""

    token_id: str
    name: str
    role: Role
    all_stores: bool
    last_used_on: str | None = None
    expires_on: str | None = None
    parent_token_id: str = ""
    """The token that a person signed in through; of no other token."""


class Replay(NamedTuple):
    """A write that was carried out once, and that a restored database has lost (README: After a restore)."""

    unapplied: Mapping[int, int] = MappingProxyType({})
    """What of its picks found no room then, in thousandths, by line."""


class Store(NamedTuple):
    """A store the principal may work in."""

    number: str
    ordinal: int

    def wire_id(self, seq: int) -> int:
        """The id of a row on the wire: unique over the chain, rising within the store, below 2^53."""
        return wire_id(seq, self.ordinal)


def wire_id(seq: int, ordinal: int) -> int:
    """The same of a store that is known by its ordinal."""
    return seq * _MAX_STORES + ordinal


def split_wire_id(wire_id: int) -> tuple[int, int]:
    """The counter and the store's ordinal of a wire id."""
    return divmod(wire_id, _MAX_STORES)


class OperationCall(NamedTuple):
    """One request, checked against the contract's table: plain values under the document's names."""

    path: dict[str, str]
    query: dict[str, Any]
    body: Any = None
    header: Mapping[str, Any] = MappingProxyType({})


@dataclass(slots=True)
class Context:
    """One operation inside one transaction."""

    tx: Transaction
    principal: Principal
    now: str
    now_seconds: float
    op_id: str
    occurred_on: str
    app_user: str | None = None
    store: Store | None = None
    terminal: str | None = None
    if_match: frozenset[str] | None = None
    """The versions that the request is meant for; None for any."""
    clock_skew: float = 0.0
    """Seconds that the clock is ahead of ours by which the request says its moments."""
    time_zones: TimeZones = HOST_TIME_ZONE
    replay: Replay | None = None
    """What is said of a write that was confirmed before the database was put back from an earlier copy."""
    leg_count: int = 0
    response_headers: dict[str, str] = field(default_factory=dict)
    """What a read says beside its answer."""
    _deferred: list[Statement] = field(default_factory=list)
    _reserved_numbers: dict[str, range] = field(default_factory=dict)
    """Numbers of changes that were taken before the end, by store."""
    _changes: defaultdict[str, dict[tuple[Topic, str], None]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def current_store(self) -> Store:
        """The store of the path."""
        assert self.store is not None
        return self.store

    def time_zone(self, store: Store | str | None = None) -> TimeZone:
        """The time zone of a store, else of that of the path."""
        found = store or self.store
        return self.time_zones.zone_of(found.number if isinstance(found, Store) else found)

    def is_number_reused(self, created_on: str) -> bool:
        """Whether a number belonged to something else when the request was said: what has it now came later. So it is
        where the database was put back from an earlier copy meanwhile."""
        return subtract_seconds(created_on, _CLOCK_TOLERANCE_S) > self.occurred_on

    async def next_numbers(self, store_number: str, name: str, count: int = 1) -> int:
        """The first of `count` fresh numbers. They are given in the order in which transactions are stored.

        Those for the changes that are known by then are taken along: they will be wanted.
        """
        marks = len(self._changes.get(store_number, ()))
        if name == _CHANGE_COUNTER or not marks or store_number in self._reserved_numbers:
            row = await self.tx.one(access.COUNTER_NEXT, store_number, name, count)
            return int(row[0]) - count + 1 if row else 1
        rows = await self.tx.all(access.COUNTERS_NEXT, store_number, name, count, _CHANGE_COUNTER, marks)
        last = {str(row[0]): int(row[1]) for row in rows}
        self._reserved_numbers[store_number] = range(last[_CHANGE_COUNTER] - marks + 1, last[_CHANGE_COUNTER] + 1)
        return last[name] - count + 1

    async def last_number(self, store_number: str, name: str) -> int:
        """The last number that was given; 0 before the first."""
        row = await self.tx.one(access.COUNTER_VALUE, store_number, name)
        return int(row[0]) if row else 0

    def mark_changed(self, store_number: str, topic: Topic, key: str) -> None:
        """Remember that followers of this store (or of the chain) have to look at `key` again."""
        self._changes[store_number][(topic, key)] = None

    def defer(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Statements for the end of the operation: nothing of it asks for these rows any more, or writes them again."""
        self.defer_all((sql, row) for row in rows)

    def defer_all(self, statements: Iterable[Statement]) -> None:
        """The same of several statements."""
        self._deferred += statements

    async def write_deferred(self) -> None:
        """Write down what was left for the end and what changed, in the same transaction.

        A write that is carried out again after a restore has another mark: what came before it may be another history.
        """
        mark = f"{self.op_id}-{secrets.token_hex(4)}"
        for store_number, marks in self._changes.items():
            numbers = [*self._reserved_numbers.get(store_number, ())]
            if more := len(marks) - len(numbers):
                first = await self.next_numbers(store_number, _CHANGE_COUNTER, more)
                numbers += range(first, first + more)
            told = zip(marks, numbers, strict=True)
            self.defer(access.CHANGE_SET, [(store_number, *key, seq, self.now) for key, seq in told])
            self.defer(access.WRITE_HISTORY_ADD, [(store_number, numbers[-1], mark, self.now)])
        if self._deferred:
            await self.tx.run_batch(self._deferred)


T = TypeVar("T")


class ReadRunner(Protocol):
    """Reads in a transaction of its own, as whoever asks, and with his rights."""

    async def __call__(self, work: Callable[[Context], Awaitable[T]]) -> T:
        """What `work` found. Raises Refusal."""
        ...


BeforeTransaction = Callable[[ReadRunner, OperationCall], Awaitable[OperationCall]]
"""The request as its handler wants it."""
