"""Loader of the messages of all languages, part by part: a part is loaded when a message of it is first needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module

from aisle.messages.en import PARTS
from aisle.settings import ENGLISH

MessageEntry = str | tuple[str, ...]


class _LazyMessages(Mapping[str, MessageEntry]):
    """All parts of a language as one mapping; parts are loaded in order until one has the id.

    A message that a language lacks is shown in English: a person sees something, tests fail.
    """

    def __init__(self, language: str) -> None:
        self._package = f"{__package__}.{language}"
        self._english = None if language == ENGLISH else load_messages(ENGLISH)
        self._found: dict[str, MessageEntry] = {}
        self._left = list(PARTS)

    def __getitem__(self, id_: str) -> MessageEntry:
        while id_ not in self._found and self._left:
            self._load()
        found = self._found.get(id_)
        if found is None and self._english is not None:
            return self._english[id_]
        return self._found[id_]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, MessageEntry]:
        """Return the language's own messages, without those that fall back to English."""
        while self._left:
            self._load()
        return self._found

    def _load(self) -> None:
        name = f"{self._package}.{self._left.pop(0)}"
        try:
            part: dict[str, MessageEntry] = import_module(name).MESSAGES
        except ModuleNotFoundError as error:
            if self._english is None or error.name != name:
                raise
            part = {}
        if twice := self._found.keys() & part.keys():
            raise ValueError(f"two parts of {self._package} have {', '.join(sorted(twice))}")
        self._found.update(part)


@lru_cache(maxsize=8)
def load_messages(language: str) -> Mapping[str, MessageEntry]:
    """Return all messages of a language by id."""
    return _LazyMessages(language)
