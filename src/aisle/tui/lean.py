"""What Textual and asyncio load and a session never uses: left out, for a quicker start and a smaller session.

A session does not touch the network, so asyncio need not know TLS; without it asyncio works as on a Python that was
built so. Textual's command palette, with a dozen widgets in its train, is switched off; its names are asked for by
modules that never use them then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

PALETTE = "textual.command"


class _Names(ModuleType):
    """A module in which every name is a class of its own that does nothing."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (), {})
        setattr(self, name, value)
        return value


def leave_out_tls() -> None:
    """Import asyncio without TLS; for a process in which nothing of it has been imported, else nothing happens."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]  # to the import system: there is no such module
    try:
        import asyncio  # noqa: F401
    finally:
        del sys.modules["ssl"]


@contextmanager
def no_palette() -> Iterator[None]:
    """Within it Textual is imported without its palette; what has the palette already keeps it."""
    if PALETTE in sys.modules:
        yield
        return
    sys.modules[PALETTE] = _Names(PALETTE)
    try:
        yield
    finally:
        del sys.modules[PALETTE]
