"""A line for those who wait for the same file: first come, first served, and hardly anybody but the first looks at it.

SQLite keeps no line: whoever happens to look when a lock is free gets it. Fifty who look all the time keep the
processor from the one who holds it, and the longer he takes, the more of them look. The kernel keeps this line, by a
lock that only those who wait take: it goes to the next when one dies. What it is about is still SQLite's own lock.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread


class FairLock:
    """One who may stand in the line of the file at this path, which is made when it is missing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiter: _Waiter | None = None
        self._fd = -1

    @property
    def is_held(self) -> bool:
        """Whether this one has come to the front, and has not left since."""
        return self._fd >= 0

    def wait(self, timeout_s: float) -> bool:
        """Stands in the line until nobody is before this one, or the time is over, and the place is kept then.

        Whether it came to anything: False where no line can be made, and everybody has to look for himself.
        """
        if self.is_held:
            return True
        if self._waiter is None:
            try:
                fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError:
                return False
            if not self._enter_queue(fd):
                os.close(fd)
                return False
        if self._waiter is not None and self._waiter.acquired.acquire(timeout=max(0.0, timeout_s)):
            self._fd, self._waiter = self._waiter.fd, None
        return True

    def _enter_queue(self, fd: int) -> bool:
        """Takes a place in the line, or comes first at once; False where that cannot be."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._waiter = _Waiter(fd)
        except OSError:  # a file system without such locks
            return False
        else:
            self._fd = fd
            return True
        try:
            Thread(target=self._waiter.wait, daemon=True).start()
        except RuntimeError:  # no thread to be had
            self._waiter = None
            return False
        return True

    def release(self) -> None:
        """Lets the next one come to the front, or gives the place up; may be called twice."""
        place, self._waiter = self._waiter, None
        if place is not None and not place.finish_once():
            self._fd = place.fd
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class _Waiter:
    """A place in the line. A thread stands there: a lock of the kernel is waited for without an end."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.acquired = Lock()
        """Free once the place is at the front."""
        self.acquired.acquire()
        self._finishing = Lock()
        self._is_finished = False

    def wait(self) -> None:
        """Waits until it is reached. Given up before then, it is left at once."""
        with suppress(OSError):
            fcntl.flock(self.fd, fcntl.LOCK_EX)
        if self.finish_once():
            self.acquired.release()
        else:
            os.close(self.fd)

    def finish_once(self) -> bool:
        """It is reached, or given up: whichever comes first. Whether this call was that."""
        with self._finishing:
            first, self._is_finished = not self._is_finished, True
        return first
