"""Context of an operation: its validated request, transaction, principal, time, and changes to report to others."""

from __future__ import annotations

import json
import secrets
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from aisle.service.db.database_interface import Statement, Transaction
from aisle.service.db.statements import logs_and_changes as changes_sql
from aisle.service.domain.quantities_times_and_json import HOST_TIME_ZONE, TimeZone, TimeZones, subtract_seconds

ParamValues = Mapping[str, Any]
"""Values of the query's or the header's parameters by name, with the types that the contract declares."""


class OperationCall(NamedTuple):
    """Request that was validated against the contract: plain values under the names of the document."""

    path: dict[str, str]
    query: ParamValues
    body: Any = None
    header: ParamValues = MappingProxyType({})


Role = Literal["staff", "supervisor", "integration", "admin", "metrics"]
Topic = Literal["order", "product", "location", "store", "delivery", "recount", "person", "log"]

CHAIN = "*"
"""Store number under which the chain keeps its counters and changes."""

_MAX_STORES = 1 << 20
_CLOCK_TOLERANCE_S = 120.0
"""Seconds that the clocks of a host and the service may differ."""
_MAX_NAMED_FIELDS = 12
"""Maximum number of changed fields that a header names."""
_CHANGE_COUNTER = "change"
"""Counter of changes."""
CHANGES_FORGOTTEN = "change_forgotten"
"""Counter that holds the number of the last purged change."""


class Principal(NamedTuple):
    """Holder of a token and its rights."""

    token_id: str
    name: str
    role: Role
    all_stores: bool
    last_used_on: str | None = None
    expires_on: str | None = None
    parent_token_id: str = ""
    """Id of the token that was used for the sign-in; empty for other tokens."""
    person_store: str = ""
    """Store of the person who signed in; empty for other tokens."""

    @property
    def host_token_id(self) -> str:
        """Id of the token without a parent: that of the sign-in, or this one. Its people share its limits."""
        return self.parent_token_id or self.token_id


class Replay(NamedTuple):
    """Repeated write that was confirmed once and lost by a restore of the database (README: After a restore)."""

    unapplied: Mapping[int, int] = MappingProxyType({})
    """Quantities in thousandths, by line, of its earlier picks that did not fit on the order."""


class WriteHeaders(NamedTuple):
    """Headers of a write, parsed (README: Extensions)."""

    idempotency_key: str | None = None
    occurred_on: str = ""
    """Time of the event; empty if it is that of the request."""
    app_user: str | None = None
    terminal: str | None = None
    if_match: frozenset[str] | None = None
    """Versions that the request accepts; None is any."""
    clock_skew: float = 0.0
    """Seconds that the sender's clock is ahead of the service's clock."""
    confirmed_keys: tuple[str, ...] = ()
    """Keys of writes that were confirmed to the sender. A database without them was restored from an earlier copy."""
    replay: Replay | None = None
    """Data of a repeated write that was confirmed before the database was restored."""
    log_read: int | None = None
    """Id of the last log entry that the sender of a count has read; None if it does not say."""


class Store(NamedTuple):
    """Store that the principal may work in."""

    number: str
    ordinal: int

    def wire_id(self, seq: int) -> int:
        """Return the id of a row on the wire: unique in the chain, increasing within the store, below 2^53."""
        return wire_id(seq, self.ordinal)


def wire_id(seq: int, ordinal: int) -> int:
    """Return the wire id of a row for the ordinal of its store."""
    return seq * _MAX_STORES + ordinal


def split_wire_id(wire_id: int) -> tuple[int, int]:
    """Split a wire id into the row's number and the store's ordinal."""
    return divmod(wire_id, _MAX_STORES)


_NO_HEADERS = WriteHeaders()


@dataclass(slots=True)
class Context:
    """State of one operation within one transaction."""

    tx: Transaction
    principal: Principal
    now: str
    now_seconds: float
    op_id: str
    occurred_on: str
    app_user: str | None = None
    store: Store | None = None
    headers: WriteHeaders = _NO_HEADERS
    time_zones: TimeZones = HOST_TIME_ZONE
    leg_count: int = 0
    response_headers: dict[str, str] = field(default_factory=dict)
    """Headers of the answer. That of a write is kept without them, and a repetition gets none."""
    _record_counts: Counter[str] = field(default_factory=Counter)
    _field_changes: dict[str, list[Any]] = field(default_factory=dict)
    """Changed fields of records, each with the number of these and the first one."""
    _changed_figures: set[str] = field(default_factory=set)
    _deferred: list[Statement] = field(default_factory=list)
    _changes: defaultdict[str, dict[tuple[Topic, str], None]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def replay(self) -> Replay | None:
        """Data of a repeated write that was confirmed before the database was restored."""
        return self.headers.replay

    @property
    def current_store(self) -> Store:
        """Store of the path."""
        assert self.store is not None
        return self.store

    @property
    def store_number(self) -> str:
        """Number of the store of the path."""
        return self.current_store.number

    def time_zone(self, store: Store | str | None = None) -> TimeZone:
        """Return the time zone of a store; by default that of the path's store."""
        found = store or self.store
        return self.time_zones.zone_of(found.number if isinstance(found, Store) else found)

    def is_number_reused(self, created_on: str) -> bool:
        """Return True if a number was given to a new row after the request was made.

        This occurs if the database was restored from an earlier copy in the meantime.
        """
        return subtract_seconds(created_on, _CLOCK_TOLERANCE_S) > self.occurred_on

    async def next_numbers(self, store_number: str, name: str, count: int = 1) -> int:
        """Return the first of `count` new numbers. They increase in the order in which transactions are committed."""
        row = await self.tx.one(changes_sql.COUNTER_NEXT, store_number, name, count)
        return int(row[0]) - count + 1 if row else 1

    async def last_number(self, store_number: str, name: str) -> int:
        """Return the last number that was given; 0 if there is none."""
        row = await self.tx.one(changes_sql.COUNTER_VALUE, store_number, name)
        return int(row[0]) if row else 0

    def mark_changed(self, store_number: str, topic: Topic, key: str) -> None:
        """Record that followers of this store (or of the chain) must read `key` again."""
        self._changes[store_number][(topic, key)] = None

    def count_records(self, *, new: int = 0, changed: int = 0, same: int = 0) -> None:
        """Count records of a request that the service did not have, that the request changes, or that stay the same."""
        self._record_counts.update({"new": new, "changed": changed, "same": same})
        counts = ", ".join(f"{name}={count:d}" for name, count in self._record_counts.items())
        self.response_headers["Aisle-Records"] = counts

    def count_field_changes(self, changes: Iterable[tuple[str, Sequence[str], bool]]) -> None:
        """Count changes of fields of records; the first of each comes with store, key, and value before and after.

        Fields with a figure or flag, which the last item says, come first; of too many only the number is sent.
        """
        for name, first, is_figure in changes:
            if is_figure:
                self._changed_figures.add(name)
            self._field_changes.setdefault(name, [0, *first])[0] += 1
        if self._field_changes:
            found = sorted(self._field_changes.items(), key=lambda one: one[0] not in self._changed_figures)
            numbers = [(name, values[:1]) for name, values in found[_MAX_NAMED_FIELDS:]]
            self.response_headers["Aisle-Changes"] = json.dumps(dict([*found[:_MAX_NAMED_FIELDS], *numbers]))

    def defer(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Defer rows of a statement to the end of the operation. Nothing later in it may read or write these rows."""
        self.defer_all((sql, row) for row in rows)

    def defer_all(self, statements: Iterable[Statement]) -> None:
        """Defer several statements to the end of the operation."""
        self._deferred += statements

    async def write_deferred(self) -> None:
        """Write the deferred statements and the changes in the same transaction.

        Each execution has its own mark, also a repetition after a restore, since the writes before it may differ.
        """
        mark = f"{self.op_id}-{secrets.token_hex(4)}"
        for store_number, marks in self._changes.items():
            first = await self.next_numbers(store_number, _CHANGE_COUNTER, len(marks))
            rows = [(store_number, *key, seq, self.now) for seq, key in enumerate(marks, first)]
            self.defer(changes_sql.CHANGE_SET, rows)
            self.defer(changes_sql.WRITE_HISTORY_ADD, [(store_number, first + len(marks) - 1, mark, self.now)])
        if self._deferred:
            await self.tx.run_batch(self._deferred)


T = TypeVar("T")


class ReadRunner(Protocol):
    """Runner of reads in their own transaction, with the rights of the caller."""

    async def __call__(self, work: Callable[[Context], Awaitable[T]]) -> T:
        """Return the result of `work`. Raise Refusal if the caller may not read."""
        ...


BeforeTransaction = Callable[[ReadRunner, OperationCall], Awaitable[OperationCall]]
"""Step before the transaction that completes the request for its handler."""
