"""What aisle says, in English, for staff. Short first; see `catalogue` for what stands in braces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

Entry = str | tuple[str, ...]

PARTS = ("frame", "pick", "count", "look", "move", "short", "doubts", "walk", "receive", "deliveries", "logs", "board")
"""The modules that hold the messages, those that a start needs first."""


class _Messages(Mapping[str, Entry]):
    """All parts as one; each is loaded when those before it do not have what is asked for."""

    def __init__(self) -> None:
        self._found: dict[str, Entry] = {}
        self._left = list(PARTS)

    def __getitem__(self, id_: str) -> Entry:
        while id_ not in self._found and self._left:
            self._load()
        return self._found[id_]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Entry]:
        while self._left:
            self._load()
        return self._found

    def _load(self) -> None:
        part: dict[str, Entry] = import_module(f"{__name__}.{self._left.pop(0)}").MESSAGES
        if twice := self._found.keys() & part.keys():
            raise ValueError(f"two parts of the catalogue have {', '.join(sorted(twice))}")
        self._found.update(part)


MESSAGES: Mapping[str, Entry] = _Messages()
"""Every message by its id."""
