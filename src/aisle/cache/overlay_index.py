"""What was made lately and may be asked for again, as much of it as a session has room for."""

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
    """Values by their keys. What was put in first leaves first, when all together weigh more than `most`; what was put
    in last stays, whatever it weighs."""

    def __init__(self, max_weight: int) -> None:
        self._max_weight = max_weight
        self._kept: dict[K, tuple[V, int]] = {}
        self._weight = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K) -> V | None:
        """What is kept of it."""
        kept = self._kept.get(key)
        return kept[0] if kept else None

    def put(self, key: K, value: V, weight: int = 1) -> None:
        """Keep it, in the place of what was there."""
        self.remove(key)
        self._kept[key] = value, weight
        self._weight += weight
        while self._weight > self._max_weight and len(self._kept) > 1:
            self.remove(next(iter(self._kept)))

    def remove(self, key: K) -> None:
        """Nothing of it is true any more."""
        if key in self._kept:
            self._weight -= self._kept.pop(key)[1]


ORDER_FIELD, PRODUCT_FIELD, LOCATION_FIELD, REFERENCE_FIELD = (
    "order_number",
    "product_number",
    "location_code",
    "reference",
)
"""What is named in bodies, by the end of the field."""

_FIELD_PATTERNS = {
    field: re.compile(rf'{field}"\s*:\s*(?:"((?:[^"\\]|\\.)*)")?')
    for field in (ORDER_FIELD, PRODUCT_FIELD, LOCATION_FIELD, REFERENCE_FIELD)
}
"""A field that ends so, and its text. Each begins with letters alone: a search for them is quick."""

KeysOf = Callable[[Operation], Iterable[str]]

MAX_KEPT_OPERATIONS = 500
"""Operations that an index keeps together, by what they touch."""

_REVISIONS = count(1)
"""No index has one that another one had: what was reckoned by one is nothing to the next."""


class OperationStatus(NamedTuple):
    """What may change of an operation while it is on its way."""

    number: int
    op_id: str
    remaining_entries: Any
    state: str
    confirmed_at: float | None
    first_sent_at: float | None
    in_doubt_since: float | None
    evidence: str | None
    """None where nobody asks for it."""


class PendingOperation:
    """One pending operation."""

    __slots__ = ("_operation", "kind", "status")

    def __init__(self, kind: str, status: OperationStatus) -> None:
        self.kind = kind
        self.status = status
        self._operation: Operation | None = None

    @property
    def operation(self) -> Operation | None:
        """All of it, as it stands; None as long as it was not read."""
        return self._operation

    def load(self, row: Sequence[Any]) -> None:
        """Its row in the outbox."""
        made, said = operation_from_row(row), self.status
        is_as_said = (made.state, made.confirmed_at, made.first_sent_at) == said[3:6] and not said.evidence
        self._operation = made if is_as_said else _with_status(made, said)

    def unload(self) -> None:
        """It is read again when somebody asks for it."""
        self._operation = None

    def update_status(self, status: OperationStatus) -> None:
        """Something else is true of it now."""
        self.status = status
        if self._operation is not None:
            self._operation = _with_status(self._operation, status)


class OperationSource(Protocol):
    """The outbox, as far as its pending operations are read from there."""

    def bodies(self, entries: Sequence[PendingOperation]) -> Iterable[tuple[int, str]]:
        """The numbers of these and what they say, as text; those that are there no more are left out."""
        ...

    def load(self, entries: Iterable[PendingOperation]) -> None:
        """Reads those that were not yet, at one go; of those that are there no more there is nothing to read."""
        ...


def _keys_touched(operation: Operation, keys_of: KeysOf) -> set[str]:
    """What it touches: nothing where its body makes no sense, so that one such hides nothing of what others do."""
    try:
        return set(keys_of(operation))
    except (AttributeError, KeyError, TypeError):
        return set()


def _with_status(operation: Operation, status: OperationStatus) -> Operation:
    read = from_text(Any, status.evidence) if status.evidence else operation.evidence
    return operation._replace(
        state=status.state, confirmed_at=status.confirmed_at, first_sent_at=status.first_sent_at, evidence=read
    )


def _field_values(text: str, field: str) -> Iterable[str] | None:
    """What a body names in fields that end so; None where only the body itself can say it: one of these is no text."""
    if field not in text:
        return ()
    names = _FIELD_PATTERNS[field].findall(text)
    return None if "" in names else {json.loads(f'"{name}"') if "\\" in name else name for name in names}


class OverlayIndex(Mapping[str, tuple[Operation, ...]]):
    """The pending operations by something that they touch, named in fields of that name: of each, oldest first.

    A tuple that is the same object as before says the same. Of what is not looked at nothing is kept but its names: on
    a host whose link is down for an hour much is waiting, and each of its sessions would keep all of it.
    """

    def __init__(self, field: str, keys_of: KeysOf, source: OperationSource) -> None:
        self._field = field
        self._keys_of = keys_of
        self._source = source
        self._entries: dict[str, dict[int, PendingOperation]] = {}
        """Those that may touch it, by their numbers."""
        self._keys_by_number: dict[int, tuple[str, ...]] = {}
        """What each may touch, by their numbers."""
        self._operations: RecentCache[str, tuple[Operation, ...]] = RecentCache(MAX_KEPT_OPERATIONS)
        self._revisions: dict[str, int] = {}
        self.changed_keys: set[str] | None = None
        """What was touched since somebody made this an empty set, who is the one that asks; None where nobody does."""

    def possible_keys(self) -> set[str]:
        """All that may be touched, and perhaps some that is not: nothing is read for it."""
        return set(self._entries)

    def may_contain(self, key: str) -> bool:
        """Whether it is one of these."""
        return key in self._entries

    def revision(self, key: str) -> int:
        """Another number whenever something else is pending for it, or something else is true of that."""
        return self._revisions.get(key, 0)

    def preload(self, keys: Iterable[str]) -> None:
        """All of these will be asked for."""
        self._source.load(entry for name in keys for entry in self._entries.get(name, {}).values())

    def add(self, entries: Sequence[PendingOperation], bodies: Iterable[tuple[int, str]] | None = None) -> None:
        """These are pending, too; `bodies` is what they say, where that is read already."""
        found = self._find_keys(entries, bodies)
        for entry in entries:
            names = self._keys_by_number[entry.status.number] = found.get(entry.status.number, ())
            for name in names:
                self._entries.setdefault(name, {})[entry.status.number] = entry
                self._mark_key_changed(name)

    def remove(self, entry: PendingOperation) -> None:
        """One is not pending any more."""
        for name in self._keys_by_number.pop(entry.status.number, ()):
            entries = self._entries[name]
            del entries[entry.status.number]
            self._mark_key_changed(name)
            if not entries:
                del self._entries[name], self._revisions[name]

    def mark_changed(self, entry: PendingOperation) -> None:
        """Something else is true of one; what it touches is the same."""
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
        """What these may touch: by their text, where that can say it, else by all that they are."""
        found: dict[int, tuple[str, ...]] = {}
        deep = {entry.status.number: entry for entry in entries}
        for n, text in self._source.bodies(entries) if bodies is None else bodies:
            names = _field_values(text, self._field)
            if names is not None:
                del deep[n]
                found[n] = tuple(map(intern, dict.fromkeys(names)))
        self._source.load(deep.values())
        for n, entry in deep.items():
            found[n] = tuple(_keys_touched(entry.operation, self._keys_of)) if entry.operation else ()
        return found

    def __getitem__(self, key: str) -> tuple[Operation, ...]:
        made = self._operations.get(key)
        if made is None:
            entries = self._entries[key]
            self._source.load(entries.values())
            operations = (entries[n].operation for n in sorted(entries))
            made = tuple(each for each in operations if each and key in _keys_touched(each, self._keys_of))
            self._operations.put(key, made, 1 + len(made))
        if not made:
            raise KeyError(key)
        return made

    def __iter__(self) -> Iterator[str]:
        return (name for name in list(self._entries) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
