"""The election of the courier: whoever holds the lock is it, and the kernel takes it back from the dead."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from aisle.errors import StorageError
from aisle.host.file_system import make_private_folder


class Leader(NamedTuple):
    """What the courier in office says of itself."""

    pid: int
    version: str
    started_at: float
    """Seconds since 1970."""
    token_file: str = ""
    """The whole path of the token that it goes by; empty where it has none, or does not say."""


def absolute_path(path: str) -> str:
    """The whole path, as couriers and sessions that stand in different folders compare it; empty stays empty."""
    return os.path.abspath(path) if path else ""


def _is_file_at(fd: int, path: Path) -> bool:
    """Whether this file still lies at its path: what was locked may have been removed while it was waited for."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except (OSError, OverflowError):  # a number that a descriptor cannot have was handed on
        return False


class LeaderLock:
    """One lock file; never the database's own, whose locks would go when any descriptor of it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1

    @property
    def is_held(self) -> bool:
        """True while this process holds the lock."""
        return self._fd >= 0

    @property
    def is_held_at_path(self) -> bool:
        """Whether this process holds the lock, by the file that is the lock's now: where another has come into its
        place, somebody else may be in office beside this one."""
        return self._fd >= 0 and _is_file_at(self._fd, self._path)

    def try_acquire(self, leader: Leader) -> bool:
        """Takes the lock if it is free, and writes who holds it now. Raises StorageError when there can be no file."""
        if not self._try_lock():
            return False
        self._write_leader(leader)
        return True

    def take_over(self, fd: int, leader: Leader) -> bool:
        """Keeps the lock that the program before held in this very process, by this descriptor, and signs anew.

        False, and nothing is touched, where the descriptor is no lock of this file.
        """
        if not _is_file_at(fd, self._path):
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # its own already
        except OSError:
            return False
        os.set_inheritable(fd, False)
        self._fd = fd
        self._write_leader(leader)
        return True

    def open_second(self) -> int:
        """Another descriptor of the file that is locked here, to wait with, which shares no lock with this one.

        Raises StorageError when that file is gone.
        """
        fd = self._open()
        if not os.path.samestat(os.fstat(fd), os.fstat(self._fd)):
            os.close(fd)
            raise StorageError(f"{self._path} was removed. Start aisle again.")
        return fd

    def acquire_when_free(self, second_fd: int, make_leader: Callable[[], Leader]) -> bool:
        """Takes the lock when whoever holds it is gone, however long that takes; False when its file is gone as well.

        Nothing wakes up meanwhile: the kernel hands it over.
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
        """Keeps what was locked, unless it is not the lock's file any more."""
        if not _is_file_at(fd, self._path):
            os.close(fd)
            return False
        self._fd = fd
        return True

    def _write_leader(self, leader: Leader) -> None:
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, json.dumps(leader._asdict()).encode(), 0)

    def read_leader(self) -> Leader | None:
        """Who wrote into the file last, alive or not; None when nobody did."""
        try:
            return Leader(**json.loads(self._path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def release(self) -> None:
        """Gives the lock back; may be called twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
