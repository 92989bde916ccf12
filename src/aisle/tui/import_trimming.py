"""Modules of Textual and asyncio that a session never uses: not loaded, for a quicker start and less memory.

A session does not use the network, so asyncio needs no TLS; without `ssl` it works as on a Python built so. Modules of
Textual and Rich import names from the others without using them here: see `UNUSED_MODULES`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

UNUSED_MODULES = (
    "textual.command",  # the palette, with a dozen widgets; it is switched off
    "textual.widgets._toast",  # with all containers; Textual shows no notifications here
    "textual.suggestions",  # suggestions for wrong style sheets; with difflib
    "rich.table",  # drawing of a theme
    "uuid",  # names of notifications and downloads; queries the platform
    "platformdirs",  # folder of downloads; with tempfile and its imports
    "mimetypes",  # types of downloads
)
"""Modules that Textual imports for features that are off here: none of its own actions is ever run (see `tui.app`)."""


class UnusedName:
    """Base of the placeholder classes."""


def get_suggestion(word: str, possible_words: Sequence[str]) -> str | None:
    """Return no suggestion. Textual calls only this left-out name, for unknown colours, properties and variables."""
    return None


class _PlaceholderModule(ModuleType):
    """Module in which every name is an empty class, except the one function that is called."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == get_suggestion.__name__:
            return get_suggestion
        value = type(name, (UnusedName,), {})
        setattr(self, name, value)
        return value


def import_asyncio_without_tls() -> None:
    """Import asyncio without TLS. Do nothing if any of it has been imported before."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]  # marks the module as missing
    try:
        import asyncio  # noqa: F401
    finally:
        del sys.modules["ssl"]


@contextmanager
def without_unused_modules() -> Iterator[None]:
    """Import Textual within this context without what is never used. Modules loaded before stay."""
    left_out = [name for name in UNUSED_MODULES if name not in sys.modules]
    sys.modules.update((name, _PlaceholderModule(name)) for name in left_out)
    try:
        yield
    finally:
        for name in left_out:
            del sys.modules[name]
