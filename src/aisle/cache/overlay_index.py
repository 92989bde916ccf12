"""Index of pending operations by a key that they touch, and a size-limited cache for what was computed from them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from sys import intern
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from aisle.json_codec import from_text
from aisle.outbox.operation_record import Operation, operation_from_row

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
