"""What a long read costs this process beside its work: looks through its pages that find nothing; and what it leaves
behind, given back to the host once it is over.

Pages of a list are big for a moment, and what was put between them keeps the allocators from giving the rest back; a
courier would stay as large for days as it was for the minute of its full sync.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from gc import disable, enable, isenabled

import apsw


def give_back(*connections: apsw.Connection) -> None:
    """Empties what these connections and the allocator keep for later; costs some milliseconds."""
    gc.collect()
    for connection in connections:
        connection.execute("PRAGMA shrink_memory").fetchall()
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):  # another C library: it has ways of its own
            import ctypes

            ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keeps the collector of cycles away while a page is written: none of what that is made of has any, and it would
    look through all of it several times."""
    if not isenabled():
        yield
        return
    disable()
    try:
        yield
    finally:
        enable()
