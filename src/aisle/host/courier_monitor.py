"""Whether the courier in office still turns round: one that is stopped or stuck keeps its lock, and sends nothing.
One of an older program works, but what it reads goes where this program does not look.

It touches its lock's file every few seconds, which needs no room on a disk. Sessions look at it when they look anyway.
That one is stopped the kernel says at once; that one is stuck only shows when it is late.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.processes import STOPPED_STATES, process_state
from aisle.host.program_version import PROGRAM_VERSION, is_newer
from aisle.host.store_folder import StoreFolder

HUNG_AFTER_S = 30.0
"""So long without a sign of life, and it counts for nobody."""
KILL_AFTER_S = 120.0
"""So long, and it is ended: whoever comes after it goes on where it stood."""
SLEEP_GAP_S = 15.0
"""Whoever has not looked for so long has slept, or the clock was set: then it is not the courier that is late."""


def write_heartbeat(lock: Path) -> None:
    """The sign of life of the courier in office."""
    with suppress(OSError):
        os.utime(lock)


def heartbeat_age(lock: Path, now: float) -> float:
    """Seconds since the last sign of life; 0 where there is none to be seen."""
    try:
        return max(0.0, now - lock.stat().st_mtime)
    except OSError:
        return 0.0


def is_stopped(leader: Leader, lock: Path) -> bool:
    """Whether somebody has stopped it (SIGSTOP, a debugger); False for one whom this host does not know."""
    if process_state(leader.pid) not in STOPPED_STATES:
        return False
    with suppress(OSError):
        return _has_open(leader.pid, lock)
    return False


class CourierMonitor:
    """What one session sees of it."""

    def __init__(self, store_folder: StoreFolder, clock: Callable[[], float]) -> None:
        self._store_folder = store_folder
        self._clock = clock
        self._heartbeat: tuple[int, int] = (0, 0)
        self._heartbeat_at = self._checked_at = 0.0
        self._is_stopped = False
        self.is_older_version = False
        """Whether it was one of an older program at the last look."""
        self.token_file = ""
        """What it went by then, as far as it says so."""

    @property
    def is_hung(self) -> bool:
        """Whether nobody can count on it any more, as far as was seen at the last look."""
        return self._is_stopped or self._checked_at - self._heartbeat_at >= HUNG_AFTER_S

    @property
    def heartbeat_age(self) -> float:
        """Seconds since its last sign of life."""
        return heartbeat_age(self._store_folder.lock, self._clock())

    def check(self) -> None:
        """Looks for a sign of life, and ends who gave none for long enough."""
        now = self._clock()
        seen = self._read_heartbeat()
        if seen != self._heartbeat or not 0 <= now - self._checked_at <= SLEEP_GAP_S:
            self._heartbeat, self._heartbeat_at = seen, now
        self._checked_at = now
        holder = LeaderLock(self._store_folder.lock).read_leader()
        self._is_stopped = holder is not None and is_stopped(holder, self._store_folder.lock)
        self.is_older_version = holder is not None and is_newer(PROGRAM_VERSION, holder.version)
        self.token_file = holder.token_file if holder else ""
        if now - self._heartbeat_at >= KILL_AFTER_S:
            self._heartbeat_at = now
            self._kill()

    def reset(self) -> None:
        """There is none."""
        self._heartbeat, self._heartbeat_at, self._checked_at = (0, 0), 0.0, 0.0
        self._is_stopped = self.is_older_version = False
        self.token_file = ""

    def _read_heartbeat(self) -> tuple[int, int]:
        try:
            found = self._store_folder.lock.stat()
        except OSError:
            return 0, 0
        return found.st_ino, found.st_mtime_ns

    def _kill(self) -> None:
        """By SIGKILL, which ends a stopped one too; never a process that does not have the lock's file open."""
        holder = LeaderLock(self._store_folder.lock).read_leader()
        if holder is None or holder.pid == os.getpid():
            return
        with suppress(OSError):  # gone already, or somebody else's
            process = os.pidfd_open(holder.pid)
            try:
                if _has_open(holder.pid, self._store_folder.lock):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    self._log_kill(holder.pid)
            finally:
                os.close(process)

    def _log_kill(self, pid: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        log = os.open(self._store_folder.courier_log, flags, 0o600)
        try:
            at = time.strftime("%Y-%m-%d %H:%M:%S")
            os.write(log, f"{at} courier {pid} gave no sign of life for {KILL_AFTER_S:.0f} s and was ended\n".encode())
        finally:
            os.close(log)


def _has_open(pid: int, path: Path) -> bool:
    wanted = path.stat()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            if os.path.samestat(descriptor.stat(), wanted):
                return True
    return False
