"""Overlay of all pending operations, with an index by each key that they touch: order, product, location, delivery.

An operation leaves the overlay when the cache has a read that began after its confirmation (`is_included`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from sys import intern
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import apsw

from aisle.host.database import fetch, fetch_one, storage_errors
from aisle.named_tuple_json import from_text, to_text
from aisle.outbox.operation_record import REJECT_LINES, Operation, operation_from_row
from aisle.outbox.operation_states import IN_DOUBT, NEEDS_PERSON, QUEUED

K = TypeVar("K")
V = TypeVar("V")


class RecentCache(Generic[K, V]):
    """Values by key with a weight each.

    Beyond `max_weight` the first inserted are removed; the last one always stays.
    """

    def __init__(self, max_weight: int) -> None:
        self._max_weight = max_weight
        self._kept: dict[K, tuple[V, int]] = {}
        self._weight = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K) -> V | None:
        """Return the value of a key; None if it is not kept."""
        entry = self._kept.get(key)
        return entry[0] if entry else None

    def put(self, key: K, value: V, weight: int = 1) -> None:
        """Store a value, replacing an earlier one."""
        self.remove(key)
        self._kept[key] = value, weight
        self._weight += weight
        while self._weight > self._max_weight and len(self._kept) > 1:
            self.remove(next(iter(self._kept)))

    def remove(self, key: K) -> None:
        """Remove a key whose value is outdated."""
        if key in self._kept:
            self._weight -= self._kept.pop(key)[1]


ORDER_FIELD, PRODUCT_FIELD, LOCATION_FIELD, REFERENCE_FIELD = (
    "order_number",
    "product_number",
    "location_code",
    "reference",
)
"""Ends of the field names that identify something in bodies."""

_FIELD_TEXT = r'"\s*:\s*(?:"((?:[^"\\]|\\.)*)")?'
"""Pattern of the text of a field, after the end of its name. Those plain letters make the search fast."""

KeysOf = Callable[[Operation], Iterable[str]]

MAX_KEPT_OPERATIONS = 500
"""Greatest weight of kept operations in an index."""

_REVISIONS = count(1)
"""Counter for revisions. It is shared, so that a new index never repeats a revision of an earlier one."""


class OperationStatus(NamedTuple):
    """Columns of an operation that may change while it is pending."""

    number: int
    op_id: str
    remaining_entries: Any
    state: str
    confirmed_at: float | None
    first_sent_at: float | None
    in_doubt_since: float | None
    evidence: str | None
    """Evidence as JSON text; None in states that have none."""


class PendingOperation:
    """One pending operation."""

    __slots__ = ("_operation", "kind", "status")

    def __init__(self, kind: str, status: OperationStatus) -> None:
        self.kind = kind
        self.status = status
        self._operation: Operation | None = None

    @property
    def operation(self) -> Operation | None:
        """The operation with its current status; None if it was not read."""
        return self._operation

    def load(self, row: Sequence[Any]) -> None:
        """Set the operation from its row in the outbox."""
        operation, status = operation_from_row(row), self.status
        is_current = (operation.state, operation.confirmed_at, operation.first_sent_at) == status[
            3:6
        ] and not status.evidence
        self._operation = operation if is_current else _with_status(operation, status)

    def unload(self) -> None:
        """Drop the body; it is read again on demand."""
        self._operation = None

    def update_status(self, status: OperationStatus) -> None:
        """Set the current status."""
        self.status = status
        if self._operation is not None:
            self._operation = _with_status(self._operation, status)


class OperationSource(Protocol):
    """Outbox as the source of pending operations."""

    def bodies(self, entries: Sequence[PendingOperation]) -> Iterable[tuple[int, str]]:
        """Yield the numbers of these operations and their bodies as text; deleted ones are left out."""
        ...

    def load(self, entries: Iterable[PendingOperation]) -> None:
        """Read those of these operations that were not read yet, at once; deleted ones stay unread."""
        ...


def _keys_touched(operation: Operation, keys_of: KeysOf) -> set[str]:
    """Return the keys of an operation; none if its body is malformed, so that it hides no other operation."""
    try:
        return set(keys_of(operation))
    except (AttributeError, KeyError, TypeError):
        return set()


def _with_status(operation: Operation, status: OperationStatus) -> Operation:
    evidence = from_text(Any, status.evidence) if status.evidence else operation.evidence
    return operation._replace(
        state=status.state, confirmed_at=status.confirmed_at, first_sent_at=status.first_sent_at, evidence=evidence
    )


def _field_values(text: str, field: str) -> Iterable[str] | None:
    """Return the values of the fields with this ending; None if one is no text, so that the body has to be parsed."""
    if field not in text:
        return ()
    names = re.findall(field + _FIELD_TEXT, text)
    return None if "" in names else {json.loads(f'"{name}"') if "\\" in name else name for name in names}


class OverlayIndex(Mapping[str, tuple[Operation, ...]]):
    """Pending operations by a key that they touch, oldest first.

    A value is the same object as long as its operations are unchanged. Bodies of operations that nobody looks at are
    not kept: after an hour without a link many operations wait, and each session of the host would keep all of them.
    """

    def __init__(self, field: str, keys_of: KeysOf, source: OperationSource) -> None:
        self._field = field
        self._keys_of = keys_of
        self._source = source
        self._entries: dict[str, dict[int, PendingOperation]] = {}
        """Operations that may touch a key, by number."""
        self._keys_by_number: dict[int, tuple[str, ...]] = {}
        """Keys that an operation may touch, by its number."""
        self._operations: RecentCache[str, tuple[Operation, ...]] = RecentCache(MAX_KEPT_OPERATIONS)
        self._revisions: dict[str, int] = {}
        self.changed_keys: set[str] | None = None
        """Keys touched since the reader last set this to an empty set; None if nobody reads it."""

    def possible_keys(self) -> set[str]:
        """Return the keys that may be touched, without reading bodies; some may prove untouched."""
        return set(self._entries)

    def may_contain(self, key: str) -> bool:
        """Return True if operations may touch the key."""
        return key in self._entries

    def revision(self, key: str) -> int:
        """Return the revision of a key; it changes with each change of its operations."""
        return self._revisions.get(key, 0)

    def preload(self, keys: Iterable[str]) -> None:
        """Read the operations of these keys at once."""
        self._source.load(entry for name in keys for entry in self._entries.get(name, {}).values())

    def add(self, entries: Sequence[PendingOperation], bodies: Iterable[tuple[int, str]] | None = None) -> None:
        """Add operations; `bodies` are theirs if they were read already."""
        found = self._find_keys(entries, bodies)
        for entry in entries:
            names = self._keys_by_number[entry.status.number] = found.get(entry.status.number, ())
            for name in names:
                self._entries.setdefault(name, {})[entry.status.number] = entry
                self._mark_key_changed(name)

    def remove(self, entry: PendingOperation) -> None:
        """Remove an operation that is no longer pending."""
        for name in self._keys_by_number.pop(entry.status.number, ()):
            entries = self._entries[name]
            del entries[entry.status.number]
            self._mark_key_changed(name)
            if not entries:
                del self._entries[name], self._revisions[name]

    def mark_changed(self, entry: PendingOperation) -> None:
        """Record that the status of an operation changed; its keys stay the same."""
        for name in self._keys_by_number.get(entry.status.number, ()):
            self._mark_key_changed(name)

    def _mark_key_changed(self, key: str) -> None:
        self._operations.remove(key)
        self._revisions[key] = next(_REVISIONS)
        if self.changed_keys is not None:
            self.changed_keys.add(key)

    def _find_keys(
        self, entries: Sequence[PendingOperation], bodies: Iterable[tuple[int, str]] | None
    ) -> dict[int, tuple[str, ...]]:
        """Return the keys that these operations may touch, from their text if possible, else by parsing them."""
        found: dict[int, tuple[str, ...]] = {}
        to_parse = {entry.status.number: entry for entry in entries}
        for n, text in self._source.bodies(entries) if bodies is None else bodies:
            names = _field_values(text, self._field)
            if names is not None:
                del to_parse[n]
                found[n] = tuple(map(intern, dict.fromkeys(names)))
        self._source.load(to_parse.values())
        for n, entry in to_parse.items():
            found[n] = tuple(_keys_touched(entry.operation, self._keys_of)) if entry.operation else ()
        return found

    def __getitem__(self, key: str) -> tuple[Operation, ...]:
        value = self._operations.get(key)
        if value is None:
            entries = self._entries[key]
            self._source.load(entries.values())
            loaded = (entries[n].operation for n in sorted(entries))
            value = tuple(each for each in loaded if each and key in _keys_touched(each, self._keys_of))
            self._operations.put(key, value, 1 + len(value))
        if not value:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[str]:
        return (name for name in list(self._entries) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


_STATUS_FIELDS = """n, op_id, parts, state, confirmed_at, first_sent_at, in_doubt_at,
  CASE WHEN state IN ('in_doubt', 'needs_person', 'done') THEN evidence END"""
"""Columns of `OperationStatus`."""

_PENDING_STATUS = f"""
SELECT {_STATUS_FIELDS} FROM operation WHERE n IN (SELECT n FROM operation WHERE live = 1 AND state <> 'rejected')
"""  # noqa: S608 - fields of our own

LOAD_BATCH = 250
"""Operations that are read at once."""
MAX_LOADED = 500
"""Greatest number of operations kept with their bodies; others are read again on demand."""
_BY_NUMBER = "FROM operation WHERE n IN (SELECT value FROM json_each(?))"

_WRITTEN_SINCE = f"""
SELECT written, live = 1 AND state <> 'rejected', {_STATUS_FIELDS}
FROM (SELECT DISTINCT n AS written FROM operation_change WHERE seq > ?) LEFT JOIN operation ON n = written
"""  # noqa: S608 - fields of our own
"""One statement, because others write in between: an operation written between two statements would be lost."""

_WRITE_RANGE = "SELECT (SELECT min(seq) FROM operation_change), (SELECT max(seq) FROM operation_change)"


class Overlay:
    """Pending operations of the outbox, indexed by what they change.

    Only operations written since the last look are read again, because others write all the time and many may be
    pending.
    """

    def __init__(self, outbox: apsw.Connection) -> None:
        self._db = outbox
        self._revision: tuple[int, int] | None = None
        self._last_write: int | None = None
        """Last write that is applied; None if nothing was read yet."""
        self._pending: dict[int, PendingOperation] = {}
        """Pending operations by number."""
        self._indexes: dict[KeysOf, OverlayIndex] = {}
        self._loaded: dict[int, PendingOperation] = {}
        """Operations read with their bodies, the last used one last."""

    def data_version(self) -> int:
        """Return a number that changes when another connection has written to the outbox."""
        with storage_errors(self._db.filename):
            row = fetch_one(self._db, "PRAGMA data_version")
        return int(row[0]) if row else 0

    def revision(self) -> tuple[int, int]:
        """Return a value that changes when any connection, including this one, has written to the outbox."""
        return self.data_version(), self._db.total_changes()

    def by_order(self) -> OverlayIndex:
        """Return the index of pending operations by order, oldest first."""
        return self.index_by(ORDER_FIELD, orders_of_operation)

    def operations(self, kind: str) -> Iterator[Operation]:
        """Yield all pending operations of one kind of the interface, oldest first."""
        self.refresh()
        matching = [self._pending[n] for n in sorted(self._pending) if self._pending[n].kind == kind]
        for first in range(0, len(matching), LOAD_BATCH):
            part = matching[first : first + LOAD_BATCH]
            self.load(part)
            yield from [entry.operation for entry in part if entry.operation is not None]

    def index_by(self, field: str, keys_of: KeysOf) -> OverlayIndex:
        """Return the index of pending operations by the keys that `keys_of` yields, which are values of that field."""
        if not self._pending:  # an index made before the first read gets its operations with their bodies
            self._indexes.setdefault(keys_of, OverlayIndex(field, keys_of, self))
        self.refresh()
        index = self._indexes.get(keys_of)
        if index is None:
            index = OverlayIndex(field, keys_of, self)
            index.add(list(self._pending.values()))
            self._indexes[keys_of] = index
        return index

    def refresh(self) -> None:
        """Update the overlay from the outbox."""
        stamp = self.revision()
        if stamp != self._revision:
            try:
                self._read_changes()
            except BaseException:  # interrupted halfway: the state in memory is inconsistent
                self._pending, self._indexes, self._loaded, self._last_write = {}, {}, {}, None
                self._revision = None
                raise
            self._revision = None if self._db.in_transaction else stamp

    def _read_changes(self) -> None:
        first, last = fetch(self._db, _WRITE_RANGE)[0]
        since = self._last_write
        # A rollback frees its number for another write, so in a transaction nothing is known about later writes.
        self._last_write = None if self._db.in_transaction else last
        if since is None or last is None or not first - 1 <= since <= last:
            found = {row[0]: _status_from_row(*row) for row in self._db.execute(_PENDING_STATUS)}
            self._apply_changes(found, [n for n in self._pending if n not in found])
        elif since < last:
            found, finished = {}, []
            for n, is_pending, *status in fetch(self._db, _WRITTEN_SINCE, since):
                if is_pending:
                    found[n] = _status_from_row(*status)
                elif n in self._pending:
                    finished.append(n)
            self._apply_changes(found, finished)

    def _apply_changes(self, statuses: Mapping[int, OperationStatus], finished: Iterable[int]) -> None:
        """Apply changed statuses and remove operations that are no longer pending."""
        pending = self._pending
        changed = [n for n, status in statuses.items() if n not in pending or pending[n].status != status]
        reread = [n for n in changed if n not in pending or _may_have_other_body(statuses[n], pending[n].status)]
        for n in [*finished, *(n for n in reread if n in pending)]:
            entry = pending.pop(n)
            self._loaded.pop(n, None)
            for index in self._indexes.values():
                index.remove(entry)
        for n in changed:
            if n in pending:
                pending[n].update_status(statuses[n])
                for index in self._indexes.values():
                    index.mark_changed(pending[n])
        self._add_pending(statuses, reread)

    def _add_pending(self, statuses: Mapping[int, OperationStatus], numbers: Sequence[int]) -> None:
        """Add pending operations. Their bodies are read if an index exists already."""
        for rows in self._rows("n, operation, body" if self._indexes else "n, operation, ''", numbers):
            entries = [PendingOperation(intern(str(kind)), statuses[n]) for n, kind, _ in rows]
            self._pending.update((entry.status.number, entry) for entry in entries)
            for index in self._indexes.values():
                index.add(entries, [(n, str(body)) for n, _, body in rows])

    def bodies(self, entries: Sequence[PendingOperation]) -> Iterator[tuple[int, str]]:
        """Yield the bodies of these operations (see `OperationSource`)."""
        for rows in self._rows("n, body", [entry.status.number for entry in entries]):
            yield from ((n, str(body)) for n, body in rows)

    def load(self, entries: Iterable[PendingOperation]) -> None:
        """Read these operations with their bodies (see `OperationSource`). The next refresh sees later changes of them.

        Of the operations read before, those used longest ago are dropped beyond `MAX_LOADED`; never those asked for.
        """
        requested = {entry.status.number: entry for entry in entries}
        unread = [n for n, entry in requested.items() if entry.operation is None]
        for rows in self._rows("*", unread):
            for row in rows:
                requested[row[0]].load(row)
        for n in requested:
            self._loaded.pop(n, None)
        self._loaded |= requested
        while len(self._loaded) > max(MAX_LOADED, len(requested)):
            self._loaded.pop(next(iter(self._loaded))).unload()

    def _rows(self, fields: str, numbers: Sequence[int]) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows in batches, so that only one batch of many is in memory."""
        for first in range(0, len(numbers), LOAD_BATCH):
            yield fetch(self._db, f"SELECT {fields} {_BY_NUMBER}", to_text(list(numbers[first : first + LOAD_BATCH])))


def _status_from_row(n: int, op_id: str, parts: Any, state: str, *rest: Any) -> OperationStatus:
    return OperationStatus(n, op_id, parts, intern(state), *rest)


def _may_have_other_body(current: OperationStatus, earlier: OperationStatus) -> bool:
    """Return True if the body of an operation may have changed.

    An operation that is not known to have arrived may be rewritten, and may be sent or looked up again by now. A number
    that was rolled back is used again by another operation.
    """
    if current.state in (QUEUED, NEEDS_PERSON) or earlier.state in (IN_DOUBT, NEEDS_PERSON):
        return True
    if (current.op_id, current.remaining_entries, current.in_doubt_since) != (
        earlier.op_id,
        earlier.remaining_entries,
        earlier.in_doubt_since,
    ):
        return True
    return earlier.first_sent_at not in (None, current.first_sent_at)


def orders_of_operation(operation: Operation) -> Iterator[str]:
    """Yield the orders that an operation changes."""
    if operation.operation == "update-customer-order":
        yield str(operation.body["orders"]["order_number"])
    elif operation.operation == REJECT_LINES:
        yield str(operation.body["order_number"])
    elif operation.operation == "create-movement":
        for item in operation.body:
            for side in ("from_location", "to_location"):
                number = (item.get(side) or {}).get("customer_order_number")
                if number:
                    yield str(number)


def is_included(operation: Operation, read_began: float | None) -> bool:
    """Return True if a read that began at this moment includes the effect of the operation; None: unknown moment."""
    if read_began is None:
        return False
    confirmed_at = None if _was_lost_by_restore(operation) else operation.confirmed_at
    if confirmed_at is not None and confirmed_at < read_began:
        return True
    return any(confirmed < read_began <= replayed for confirmed, replayed in operation.read_intervals or ())


def _was_lost_by_restore(operation: Operation) -> bool:
    """Return True if the service was restored from an earlier copy, lost the operation, and has not confirmed it again.

    An operation that it may still have keeps the time at which it was first sent.
    """
    replayed, sent = operation.replayed_at, operation.first_sent_at
    if replayed is None or (operation.confirmed_at or 0.0) > replayed:
        return False
    return sent is None or sent > replayed


def may_be_included(operation: Operation, read_began: float | None) -> bool:
    """Return True if a read that began at this moment may or may not include the effect of the operation."""
    return operation.first_sent_at is not None and not is_included(operation, read_began)
