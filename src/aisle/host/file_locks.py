"""Locks on files: who has a database file locked, the lock of a folder, and the queue of processes that write.

SQLite has no queue: the process that tries when its lock is free gets it. Fifty processes that try all the time keep
the CPU from the lock's holder, and the longer it takes, the more of them try. The kernel keeps this queue by a lock
that only waiters take; it passes to the next if one dies. Writing itself is still protected by SQLite's own lock.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread

LOCKS_FILE = Path("/proc/locks")

FileId = tuple[int, int] | None
"""Identity of a file, different from a later one of the same name; None if there is no file."""


def file_id(path: Path | str) -> FileId:
    """Return the identity of the file at a path."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_locked(path: Path) -> bool:
    """Return True if a process of this host has a lock on the file, as everybody with an open database has.

    The kernel's list is read, because to test a lock the file has to be opened, and closing it would drop this
    process's own locks. Without that list nothing counts as locked.
    """
    identity = file_id(path)
    try:
        return identity is not None and any(_is_lock_of(line.split()[5], *identity) for line in _read_locks())
    except OSError:
        return False


def _is_lock_of(lock_id: str, device: int, inode: int) -> bool:
    """Return True if a lock listed by the kernel belongs to the file.

    A lock is `major:minor:inode`, the first two in hexadecimal. On file systems without a device of their own (btrfs,
    overlay) the list may name another device than the file has.
    """
    major, minor, lock_inode = lock_id.split(":")
    lock_device = int(major, 16), int(minor, 16)
    return lock_inode == str(inode) and (
        not lock_device[0] or not os.major(device) or lock_device == (os.major(device), os.minor(device))
    )


def _read_locks() -> list[str]:
    return [line.replace("-> ", "") for line in LOCKS_FILE.read_text().splitlines() if len(line.split()) > 5]


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock under which guarded files of this folder are created or replaced."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class FairLock:
    """One possible waiter in the queue of the file at this path, which is created if missing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiter: _Waiter | None = None
        self._fd = -1

    @property
    def is_held(self) -> bool:
        """True while this waiter is first in the queue."""
        return self._fd >= 0

    def wait(self, timeout_s: float) -> bool:
        """Wait in the queue until this waiter is first or the time is over; in that case the position is kept.

        Return False if no queue is possible, so that everybody has to try for themselves.
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
        """Enter the queue, or become first at once. Return False if that is impossible."""
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
        except RuntimeError:  # no thread available
            self._waiter = None
            return False
        return True

    def release(self) -> None:
        """Let the next waiter become first, or leave the queue; may be called twice."""
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.finish_once():
            self._fd = waiter.fd
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class _Waiter:
    """A position in the queue. A thread waits in it, because the kernel waits for a lock without a timeout."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.acquired = Lock()
        """Free once the position is first."""
        self.acquired.acquire()
        self._finishing = Lock()
        self._is_finished = False

    def wait(self) -> None:
        """Wait until the position is first; leave the queue at once if it was given up before."""
        with suppress(OSError):
            fcntl.flock(self.fd, fcntl.LOCK_EX)
        if self.finish_once():
            self.acquired.release()
        else:
            os.close(self.fd)

    def finish_once(self) -> bool:
        """Mark the position as reached or given up. Return True if this call was the first to do so."""
        with self._finishing:
            first, self._is_finished = not self._is_finished, True
        return first
