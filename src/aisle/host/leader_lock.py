"""Leadership of the courier: the process that holds the lock leads, and the kernel frees the lock when it dies."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from aisle import __version__
from aisle.cache.schema import SCHEMA_VERSION
from aisle.errors import StorageError
from aisle.host.store_and_database_folders import make_private_folder
from aisle.outbox.outbox_schema import OUTBOX_MIGRATIONS


class Leader(NamedTuple):
    """Description of the leading courier, written by itself."""

    pid: int
    version: str
    started_at: float
    """Seconds since 1970."""
    token_file: str = ""
    """Absolute path of its token file; empty if it has none or does not state it."""


def absolute_path(path: str) -> str:
    """Return the absolute path, so that processes with different working folders can compare it; empty stays empty."""
    return os.path.abspath(path) if path else ""


def _is_file_at(fd: int, path: Path) -> bool:
    """Return True if this file is still at its path; a locked file may have been deleted while it was waited for."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except (OSError, OverflowError):  # an inherited number that no descriptor can have
        return False


class LeaderLock:
    """One lock file. It is never the database, whose locks would be dropped when any descriptor of it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1

    @property
    def is_held(self) -> bool:
        """True while this process holds the lock."""
        return self._fd >= 0

    @property
    def is_held_at_path(self) -> bool:
        """True if this process holds the lock of the file now at the path.

        If the file was replaced, another courier may lead beside this one.
        """
        return self._fd >= 0 and _is_file_at(self._fd, self._path)

    def try_acquire(self, leader: Leader) -> bool:
        """Take the lock if it is free, and write the leader into the file.

        Raise StorageError if the file cannot be created or written.
        """
        if not self._try_lock():
            return False
        self._write_leader(leader)
        return True

    def take_over(self, fd: int, leader: Leader) -> bool:
        """Keep the lock that the previous program held in this process by this descriptor, and write the leader again.

        Return False, with nothing changed, if the descriptor is no lock of this file.
        """
        if not _is_file_at(fd, self._path):
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # already held by this process
        except OSError:
            return False
        os.set_inheritable(fd, False)
        self._fd = fd
        self._write_leader(leader)
        return True

    def open_second(self) -> int:
        """Return another descriptor of the locked file, to wait with; it shares no lock with this one.

        Raise StorageError if the file was deleted.
        """
        fd = self._open()
        if not os.path.samestat(os.fstat(fd), os.fstat(self._fd)):
            os.close(fd)
            raise StorageError(f"{self._path} was removed. Start aisle again.")
        return fd

    def acquire_when_free(self, second_fd: int, make_leader: Callable[[], Leader]) -> bool:
        """Wait without limit until the lock is free, and take it. Return False if its file was deleted.

        The process sleeps meanwhile; the kernel passes the lock on.
        """
        fcntl.flock(second_fd, fcntl.LOCK_EX)
        if not self._keep_if_current(second_fd):
            return False
        self._write_leader(make_leader())
        return True

    def _try_lock(self) -> bool:
        fd = self._open()
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        return self._keep_if_current(fd)

    def _open(self) -> int:
        make_private_folder(self._path.parent)
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StorageError(f"{self._path} cannot be opened: {error.strerror}. Check the folder's owner.") from error

    def _keep_if_current(self, fd: int) -> bool:
        """Keep the locked descriptor, unless its file is no longer at the path."""
        if not _is_file_at(fd, self._path):
            os.close(fd)
            return False
        self._fd = fd
        return True

    def _write_leader(self, leader: Leader) -> None:
        """Write the leader over the last one, which a full disk allows; on an error give the lock back."""
        record = json.dumps(leader._asdict()).encode()
        try:
            os.pwrite(self._fd, record, 0)
            os.ftruncate(self._fd, len(record))
        except OSError as error:
            self.release()
            raise StorageError(f"{self._path} cannot be written: {error.strerror}. Free some space.") from error

    def read_leader(self) -> Leader | None:
        """Return the leader written last, running or not; None if there is none."""
        try:
            return Leader(**json.loads(self._path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def release(self) -> None:
        """Release the lock; may be called twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


PROGRAM_VERSION = f"{__version__}+{len(OUTBOX_MIGRATIONS)}.{SCHEMA_VERSION}"
"""Version with the schema versions of outbox and cache, which may change between two releases."""


def is_newer(version: str, other: str) -> bool:
    """Return True if a version is newer.

    Numbers are compared first (`0.10.0` after `0.9.1`), then schemas (`+5.4` after `+5.3`).
    """
    return _version_numbers(version) > _version_numbers(other)


def _version_numbers(version: str) -> tuple[tuple[int, ...], ...]:
    release, _, build = version.partition("+")
    schemas = build if re.fullmatch(r"[\d.]+", build) else ""
    return tuple(tuple(int(part) for part in re.findall(r"\d+", each)) for each in (release, schemas))
