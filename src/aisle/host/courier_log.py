"""Log of a store on this host: a line for each event of its courier, and for each fault of a session."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

MAX_LOG_BYTES = 1 << 20
"""Bytes after which the log is renamed to `.log.1`, replacing the one before."""

_NAMED_CALLS = 6


def format_line(at: float, text: str) -> str:
    """Return the line of an event at this time, in seconds since 1970."""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at))} {text}\n"


def append_line(path: Path, line: str) -> None:
    """Append to the log. A term may last for months: a long log is renamed, a deleted one is created again."""
    with _open(path) as stream:
        if os.fstat(stream.fileno()).st_size > MAX_LOG_BYTES and _is_mine_to_rename(stream, path):
            path.replace(path.with_suffix(".log.1"))
            with _open(path) as fresh:
                fresh.write(line)
        else:
            stream.write(line)


def _open(path: Path) -> TextIO:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    return os.fdopen(handle, "w", encoding="utf-8")


def _is_mine_to_rename(stream: TextIO, path: Path) -> bool:
    """Return True if no other process renames the log now, or has renamed it since it was opened."""
    with suppress(OSError):
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    return False


def append_fault(path: Path, error: Exception) -> None:
    """Append that a session met a fault, if the disk takes it."""
    with suppress(OSError):
        append_line(path, format_line(time.time(), f"session {os.getpid()} failed: {describe_fault(error)}"))


def describe_fault(error: Exception) -> str:
    """Return the kind of an exception and the last calls before it, the innermost first.

    Its text is left out: it may hold an input or data of customers.
    """
    import traceback  # rarely needed

    calls = reversed(traceback.extract_tb(error.__traceback__, limit=-_NAMED_CALLS))
    where = " < ".join(f"{Path(call.filename).name}:{call.lineno} {call.name}" for call in calls)
    return f"{type(error).__name__} in {where}"
