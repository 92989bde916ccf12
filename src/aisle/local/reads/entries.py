"""The pending operations as rows of the outbox: each is read in full only when somebody looks at it.

Most of what others do concerns nobody at this terminal. What it may concern, its text says by the names in it: more
than it does, but never less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from sys import intern
from typing import Any, Protocol

from aisle.jobs.codec import from_text
from aisle.local.outbox.operation import Operation, as_operation
from aisle.local.reads.recent import Recent
from aisle.tuples import NamedTuple

ORDER, PRODUCT, PLACE, REFERENCE = "order_number", "product_number", "location_code", "reference"
"""What is named in bodies, by the end of the field."""

_NAMED = {
    field: re.compile(rf'{field}"\s*:\s*(?:"((?:[^"\\]|\\.)*)")?') for field in (ORDER, PRODUCT, PLACE, REFERENCE)
}
"""A field that ends so, and its text. Each begins with letters alone: a search for them is quick."""

Keys = Callable[[Operation], Iterable[str]]

MADE = 500
"""Operations that an index keeps together, by what they touch."""

_TICKS = count(1)
"""No index has one that another one had: what was reckoned by one is nothing to the next."""


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

    __slots__ = ("_made", "kind", "said")

    def __init__(self, kind: str, said: Said) -> None:
        self.kind = kind
        self.said = said
        self._made: Operation | None = None

    @property
    def operation(self) -> Operation | None:
        """All of it, as it stands; None as long as it was not read."""
        return self._made

    def read(self, row: Sequence[Any]) -> None:
        """Its row in the outbox."""
        made, said = as_operation(row), self.said
        is_as_said = (made.state, made.confirmed_at, made.first_sent_at) == said[3:6] and not said.evidence
        self._made = made if is_as_said else _as_said(made, said)

    def forget(self) -> None:
        """It is read again when somebody asks for it."""
        self._made = None

    def say(self, said: Said) -> None:
        """Something else is true of it now."""
        self.said = said
        if self._made is not None:
            self._made = _as_said(self._made, said)


class Source(Protocol):
    """The outbox, as far as its pending operations are read from there."""

    def bodies(self, entries: Sequence[Entry]) -> Iterable[tuple[int, str]]:
        """The numbers of these and what they say, as text; those that are there no more are left out."""
        ...

    def read(self, entries: Iterable[Entry]) -> None:
        """Reads those that were not yet, at one go; of those that are there no more there is nothing to read."""
        ...


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

    A tuple that is the same object as before says the same. Of what is not looked at nothing is kept but its names: on
    a host whose link is down for an hour much is waiting, and each of its sessions would keep all of it.
    """

    def __init__(self, field: str, keys_of: Keys, source: Source) -> None:
        self._field = field
        self._keys_of = keys_of
        self._source = source
        self._entries: dict[str, dict[int, Entry]] = {}
        """Those that may touch it, by their numbers."""
        self._names: dict[int, tuple[str, ...]] = {}
        """What each may touch, by their numbers."""
        self._made: Recent[str, tuple[Operation, ...]] = Recent(MADE)
        self._ticks: dict[str, int] = {}
        self.touched: set[str] | None = None
        """What was touched since somebody made this an empty set, who is the one that asks; None where nobody does."""

    def named(self) -> set[str]:
        """All that may be touched, and perhaps some that is not: nothing is read for it."""
        return set(self._entries)

    def may_have(self, name: str) -> bool:
        """Whether it is one of these."""
        return name in self._entries

    def tick(self, name: str) -> int:
        """Another number whenever something else is pending for it, or something else is true of that."""
        return self._ticks.get(name, 0)

    def read_ahead(self, names: Iterable[str]) -> None:
        """All of these will be asked for."""
        self._source.read(entry for name in names for entry in self._entries.get(name, {}).values())

    def put(self, entries: Sequence[Entry], bodies: Iterable[tuple[int, str]] | None = None) -> None:
        """These are pending, too; `bodies` is what they say, where that is read already."""
        found = self._found(entries, bodies)
        for entry in entries:
            names = self._names[entry.said.n] = found.get(entry.said.n, ())
            for name in names:
                self._entries.setdefault(name, {})[entry.said.n] = entry
                self._touch(name)

    def drop(self, entry: Entry) -> None:
        """One is not pending any more."""
        for name in self._names.pop(entry.said.n, ()):
            entries = self._entries[name]
            del entries[entry.said.n]
            self._touch(name)
            if not entries:
                del self._entries[name], self._ticks[name]

    def renew(self, entry: Entry) -> None:
        """Something else is true of one; what it touches is the same."""
        for name in self._names.get(entry.said.n, ()):
            self._touch(name)

    def _touch(self, name: str) -> None:
        self._made.drop(name)
        self._ticks[name] = next(_TICKS)
        if self.touched is not None:
            self.touched.add(name)

    def _found(self, entries: Sequence[Entry], bodies: Iterable[tuple[int, str]] | None) -> dict[int, tuple[str, ...]]:
        """What these may touch: by their text, where that can say it, else by all that they are."""
        found: dict[int, tuple[str, ...]] = {}
        deep = {entry.said.n: entry for entry in entries}
        for n, text in self._source.bodies(entries) if bodies is None else bodies:
            names = _names_in(text, self._field)
            if names is not None:
                del deep[n]
                found[n] = tuple(map(intern, dict.fromkeys(names)))
        self._source.read(deep.values())
        for n, entry in deep.items():
            found[n] = tuple(_touched(entry.operation, self._keys_of)) if entry.operation else ()
        return found

    def __getitem__(self, key: str) -> tuple[Operation, ...]:
        made = self._made.get(key)
        if made is None:
            entries = self._entries[key]
            self._source.read(entries.values())
            operations = (entries[n].operation for n in sorted(entries))
            made = tuple(each for each in operations if each and key in _touched(each, self._keys_of))
            self._made.put(key, made, 1 + len(made))
        if not made:
            raise KeyError(key)
        return made

    def __iter__(self) -> Iterator[str]:
        return (name for name in list(self._entries) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
