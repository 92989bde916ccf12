"""Supervision of the courier by sessions: its heartbeat, and the end of one that hangs.

A stopped or hung courier keeps its lock and sends nothing. One of an older program works, but writes data where this
program does not read. The courier touches its lock file every few seconds, which needs no disk space. The kernel
reports a stopped process at once; a hung one shows only by a late heartbeat.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aisle.host.courier_log import append_line, format_line
from aisle.host.leader_lock import PROGRAM_VERSION, Leader, LeaderLock, is_newer
from aisle.host.processes import STOPPED_STATES, process_state
from aisle.host.store_and_database_folders import StoreFolder

HUNG_AFTER_S = 30.0
"""Seconds without a heartbeat after which the courier counts as hung."""
KILL_AFTER_S = 120.0
"""Seconds without a heartbeat after which the courier is killed; its successor continues the work."""
SLEEP_GAP_S = 15.0
"""Seconds between two checks after which the session itself slept or the clock was set.

The courier is not late then.
"""


def write_heartbeat(lock: Path) -> None:
    """Record a heartbeat of the courier."""
    with suppress(OSError):
        os.utime(lock)


def heartbeat_age(lock: Path, now: float) -> float:
    """Return the seconds since the last heartbeat; 0 if there is none."""
    try:
        return max(0.0, now - lock.stat().st_mtime)
    except OSError:
        return 0.0


def is_stopped(leader: Leader, lock: Path) -> bool:
    """Return True if the courier was stopped (SIGSTOP, a debugger); False for a process unknown to this host."""
    if process_state(leader.pid) not in STOPPED_STATES:
        return False
    with suppress(OSError):
        return _has_open(leader.pid, lock)
    return False


class CourierMonitor:
    """A session's view of the courier."""

    def __init__(self, store_folder: StoreFolder, clock: Callable[[], float]) -> None:
        self._store_folder = store_folder
        self._clock = clock
        self._heartbeat: tuple[int, int] = (0, 0)
        self._heartbeat_at = self._checked_at = 0.0
        self._is_stopped = False
        self.is_older_version = False
        """True if the courier belonged to an older program at the last check."""
        self.token_file = ""
        """Path of its token file at the last check; empty if it has none or does not state it."""

    @property
    def is_hung(self) -> bool:
        """True if the courier was stopped or hung at the last check."""
        return self._is_stopped or self._checked_at - self._heartbeat_at >= HUNG_AFTER_S

    @property
    def heartbeat_age(self) -> float:
        """Seconds since its last heartbeat."""
        return heartbeat_age(self._store_folder.lock, self._clock())

    def check(self) -> None:
        """Check the heartbeat, and kill a courier without one for `KILL_AFTER_S`."""
        now = self._clock()
        heartbeat = self._read_heartbeat()
        if heartbeat != self._heartbeat or not 0 <= now - self._checked_at <= SLEEP_GAP_S:
            self._heartbeat, self._heartbeat_at = heartbeat, now
        self._checked_at = now
        leader = LeaderLock(self._store_folder.lock).read_leader()
        self._is_stopped = leader is not None and is_stopped(leader, self._store_folder.lock)
        self.is_older_version = leader is not None and is_newer(PROGRAM_VERSION, leader.version)
        self.token_file = leader.token_file if leader else ""
        if now - self._heartbeat_at >= KILL_AFTER_S:
            self._heartbeat_at = now
            self._kill()

    def reset(self) -> None:
        """Reset the state, because there is no courier."""
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
        """Kill the courier with SIGKILL, which also ends a stopped one.

        Never kill a process that does not have the lock file open.
        """
        leader = LeaderLock(self._store_folder.lock).read_leader()
        if leader is None or leader.pid == os.getpid():
            return
        with suppress(OSError):  # ended already, or not ours
            process = os.pidfd_open(leader.pid)
            try:
                if _has_open(leader.pid, self._store_folder.lock):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    self._log_kill(leader.pid)
            finally:
                os.close(process)

    def _log_kill(self, pid: int) -> None:
        text = f"courier {pid} gave no sign of life for {KILL_AFTER_S:.0f} s and was ended"
        append_line(self._store_folder.courier_log, format_line(time.time(), text))


def _has_open(pid: int, path: Path) -> bool:
    file_stat = path.stat()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            if os.path.samestat(descriptor.stat(), file_stat):
                return True
    return False
