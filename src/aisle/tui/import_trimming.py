"""What Textual and asyncio load and a session never uses: left out, for a quicker start and a smaller session.

A session does not touch the network, so asyncio need not know TLS; without it asyncio works as on a Python that was
built so. Of Textual and Rich the names are asked for, by modules that never use them then: see `UNUSED`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

UNUSED_MODULES = (
    "textual.command",  # the palette, with a dozen widgets in its train: it is switched off
    "textual.widgets._toast",  # and with it all containers: nothing here is notified of by Textual
    "textual.suggestions",  # what a wrong style sheet may have meant; with difflib
    "rich.table",  # a theme drawn as one
    "uuid",  # names of notifications and of downloads; asks the platform what it is
    "platformdirs",  # where downloads go; with tempfile and all that it packs
    "mimetypes",  # what they are
)
"""Modules that Textual imports for what nobody can do here: no action of its own is ever carried out (`tui.paint`)."""


class UnusedName:
    """What is asked for of a module that was left out."""


def get_suggestion(word: str, possible_words: Sequence[str]) -> str | None:
    """What word may have been meant: none. The one name left out that Textual calls, for what is no colour, property
    or variable, also where it goes on with that itself."""
    return None


class _PlaceholderModule(ModuleType):
    """A module in which every name is a class of its own that does nothing, but for what is called."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == get_suggestion.__name__:
            return get_suggestion
        value = type(name, (UnusedName,), {})
        setattr(self, name, value)
        return value


def import_asyncio_without_tls() -> None:
    """Import asyncio without TLS; for a process in which nothing of it has been imported, else nothing happens."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]  # to the import system: there is no such module
    try:
        import asyncio  # noqa: F401
    finally:
        del sys.modules["ssl"]


@contextmanager
def without_unused_modules() -> Iterator[None]:
    """Within it Textual is imported without what is never used; what is loaded already stays."""
    left_out = [name for name in UNUSED_MODULES if name not in sys.modules]
    sys.modules.update((name, _PlaceholderModule(name)) for name in left_out)
    try:
        yield
    finally:
        for name in left_out:
            del sys.modules[name]
