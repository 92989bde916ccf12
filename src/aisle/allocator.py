"""Settings of the C library's allocator for processes that answer many callers."""

from __future__ import annotations

import sys
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Numbers of glibc's options (malloc.h)."""
_OPTIONS = ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, 256 << 10), (_TRIM_THRESHOLD, 1 << 20))


def return_freed_memory() -> None:
    """Let the allocator return freed memory to the system; call it before threads start.

    By default each thread has an arena of its own, and after the first large block that is freed, further ones come
    from the arenas, which keep the memory of the largest bodies and answers for ever. Other C libraries are left alone.
    """
    if sys.platform != "linux":
        return
    with suppress(ImportError, OSError, AttributeError):  # another C library, without mallopt
        import ctypes

        library = ctypes.CDLL(None)
        for option, value in _OPTIONS:
            library.mallopt(option, value)
