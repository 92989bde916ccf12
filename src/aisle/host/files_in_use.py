"""Locks on files: who has a database file in it locked, and the lock of a folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
