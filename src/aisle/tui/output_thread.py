"""Output of the terminal, written by a thread of its own."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Final, TextIO

MAX_UNWRITTEN: Final = 1 << 20
"""Characters that may wait for a terminal that does not read; further ones are dropped, and all is painted later."""
CLOSE_TIMEOUT_S: Final = 1.0
"""Seconds that a terminal which accepts no output can delay the end of the program."""
BLOCKED_S: Final = 0.1
"""Longest wait, in seconds, for a terminal in non-blocking mode to take more."""


class TerminalWriter(Thread):
    """Thread that writes to the terminal, so that no caller waits for it."""

    def __init__(self, file: TextIO, on_dropped: Callable[[], None]) -> None:
        """`on_dropped` is called, on this thread, when the terminal reads again and text was dropped meanwhile."""
        super().__init__(name="aisle-output", daemon=True)
        self._fd = file.fileno()
        self._encoding = file.encoding or "utf-8"
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._is_closed = False
        self._on_dropped = on_dropped
        self._lock = Lock()
        self._unwritten = 0
        self._has_dropped = False

    def write(self, text: str, *, always: bool = False) -> None:
        """Queue the text. Text queued while the terminal is slow is written in one piece.

        Text that would exceed `MAX_UNWRITTEN` is dropped, unless `always`.
        """
        if self._is_closed:
            return
        with self._lock:
            if self._unwritten > MAX_UNWRITTEN and not always:
                self._has_dropped = True
                return
            self._unwritten += len(text)
        self._queue.put(text)

    def run(self) -> None:
        """Write queued text until `finish`. If the terminal is gone, drop it silently."""
        last = False
        while not last:
            pieces = [self._queue.get()]
            while not self._queue.empty():
                pieces.append(self._queue.get())
            last = None in pieces
            text = "".join(piece for piece in pieces if piece)
            self._send(text.encode(self._encoding, "replace"))
            with self._lock:
                self._unwritten -= len(text)
                is_incomplete = self._has_dropped and not self._unwritten
                self._has_dropped = self._has_dropped and not is_incomplete
            if is_incomplete:
                self._on_dropped()

    def _send(self, data: bytes) -> None:
        self._put(data)

    def _put(self, data: bytes) -> None:
        while data and not self._is_closed:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:  # an earlier program left the terminal in non-blocking mode
                select.select([], [self._fd], [], BLOCKED_S)
            except OSError:
                self._is_closed = True

    def finish(self) -> None:
        """Write what is left, for at most `CLOSE_TIMEOUT_S`."""
        self._queue.put(None)
        self.join(CLOSE_TIMEOUT_S)
