"""What a long read leaves behind in this process: given back to the host once it is over.

Pages of a list are big for a moment, and what was put between them keeps the allocators from giving the rest back; a
courier would stay as large for days as it was for the minute of its full sync.
"""

from __future__ import annotations

import gc
import sys
from contextlib import suppress

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
