"""The pending operations as rows of the outbox: each is read in full only when somebody looks at it.

Most of what others do concerns nobody at this terminal. What it may concern, its text says by the names in it: more
than it does, but never less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from aisle.jobs.codec import from_text
from aisle.local.outbox.operation import Operation, as_operation
from aisle.tuples import NamedTuple

ORDER, PRODUCT, PLACE, REFERENCE = "order_number", "product_number", "location_code", "reference"
"""What is named in bodies, by the end of the field."""

_NAMED = {
    field: re.compile(rf'{field}"\s*:\s*(?:"((?:[^"\\]|\\.)*)")?') for field in (ORDER, PRODUCT, PLACE, REFERENCE)
}
"""A field that ends so, and its text. Each begins with letters alone: a search for them is quick."""

Keys = Callable[[Operation], Iterable[str]]

_BODY, _KIND = Operation._fields.index("body"), Operation._fields.index("operation")


class Said(NamedTuple):
    """What may change of an operation while it is on its way."""

    n: int
    op_id: str
    parts: Any
    state: str
    confirmed_at: float | None
    first_sent_at: float | None
    doubted_at: float | None
    evidence: str | None
    """None where nobody asks for it."""


class Entry:
    """One pending operation."""

    __slots__ = ("_made", "_names", "_row", "kind", "said")

    def __init__(self, row: Sequence[Any], said: Said) -> None:
        self.said = said
        self._row = row
        self._made: Operation | None = None
        self._names: dict[str, Iterable[str]] = {}
        """By the field: looked for when somebody asks, since hardly anybody asks for all."""
        self.kind = str(row[_KIND])

    @property
    def operation(self) -> Operation:
        """All of it, as it stands."""
        if self._made is None:
            self._made, self._row = _as_said(as_operation(self._row), self.said), ()
        return self._made

    def say(self, said: Said) -> None:
        """Something else is true of it now."""
        self.said = said
        if self._made is not None:
            self._made = _as_said(self._made, said)

    def names(self, field: str, keys_of: Keys) -> Iterable[str]:
        """What may be among its keys, which are in fields of that name; the same each time."""
        names = self._names.get(field)
        if names is None:
            names = None if self._made else _names_in(str(self._row[_BODY]), field)
            names = self._names[field] = _touched(self.operation, keys_of) if names is None else names
        return names


def _touched(operation: Operation, keys_of: Keys) -> set[str]:
    """What it touches: nothing where its body makes no sense, so that one such hides nothing of what others do."""
    try:
        return set(keys_of(operation))
    except (AttributeError, KeyError, TypeError):
        return set()


def _as_said(operation: Operation, said: Said) -> Operation:
    read = from_text(Any, said.evidence) if said.evidence else operation.evidence
    return operation._replace(
        state=said.state, confirmed_at=said.confirmed_at, first_sent_at=said.first_sent_at, evidence=read
    )


def _names_in(text: str, field: str) -> Iterable[str] | None:
    """What a body names in fields that end so; None where only the body itself can say it: one of these is no text."""
    if field not in text:
        return ()
    names = _NAMED[field].findall(text)
    return None if "" in names else {json.loads(f'"{name}"') if "\\" in name else name for name in names}


class Index(Mapping[str, tuple[Operation, ...]]):
    """The pending operations by something that they touch, named in fields of that name: of each, oldest first.

    A tuple that is the same object as before says the same.
    """

    def __init__(self, field: str, keys_of: Keys) -> None:
        self._field = field
        self._keys_of = keys_of
        self._entries: dict[str, dict[int, Entry]] = {}
        """Those that may touch it, by their numbers."""
        self._made: dict[str, tuple[Operation, ...]] = {}
        self.touched: set[str] | None = None
        """What was touched since somebody made this an empty set, who is the one that asks; None where nobody does."""

    def put(self, entry: Entry) -> None:
        """One more is pending."""
        for name in entry.names(self._field, self._keys_of):
            self._entries.setdefault(name, {})[entry.said.n] = entry
            self._touch(name)

    def drop(self, entry: Entry) -> None:
        """One is not pending any more."""
        for name in entry.names(self._field, self._keys_of):
            entries = self._entries[name]
            del entries[entry.said.n]
            if not entries:
                del self._entries[name]
            self._touch(name)

    def renew(self, entry: Entry) -> None:
        """Something else is true of one; what it touches is the same."""
        for name in entry.names(self._field, self._keys_of):
            self._touch(name)

    def _touch(self, name: str) -> None:
        self._made.pop(name, None)
        if self.touched is not None:
            self.touched.add(name)

    def __getitem__(self, key: str) -> tuple[Operation, ...]:
        made = self._made.get(key)
        if made is None:
            entries = self._entries[key]
            operations = (entries[n].operation for n in sorted(entries))
            made = self._made[key] = tuple(each for each in operations if key in _touched(each, self._keys_of))
        if not made:
            raise KeyError(key)
        return made

    def __iter__(self) -> Iterator[str]:
        return (name for name in list(self._entries) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
