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

from aisle.local.host.home import Home
from aisle.local.host.lock import Election, Holder
from aisle.local.host.process import STOPPED, state
from aisle.local.host.program import PROGRAM, is_newer

HUNG_S = 30.0
"""So long without a sign of life, and it counts for nobody."""
END_S = 120.0
"""So long, and it is ended: whoever comes after it goes on where it stood."""
GAP_S = 15.0
"""Whoever has not looked for so long has slept, or the clock was set: then it is not the courier that is late."""


def beat(lock: Path) -> None:
    """The sign of life of the courier in office."""
    with suppress(OSError):
        os.utime(lock)


def silence(lock: Path, now: float) -> float:
    """Seconds since the last sign of life; 0 where there is none to be seen."""
    try:
        return max(0.0, now - lock.stat().st_mtime)
    except OSError:
        return 0.0


def is_stopped(holder: Holder, lock: Path) -> bool:
    """Whether somebody has stopped it (SIGSTOP, a debugger); False for one whom this host does not know."""
    if state(holder.pid) not in STOPPED:
        return False
    with suppress(OSError):
        return _has_open(holder.pid, lock)
    return False


class Pulse:
    """What one session sees of it."""

    def __init__(self, home: Home, clock: Callable[[], float]) -> None:
        self._home = home
        self._clock = clock
        self._seen: tuple[int, int] = (0, 0)
        self._since = self._looked = 0.0
        self._stopped = False
        self.is_old = False
        """Whether it was one of an older program at the last look."""
        self.token_file = ""
        """What it went by then, as far as it says so."""

    @property
    def is_late(self) -> bool:
        """Whether nobody can count on it any more, as far as was seen at the last look."""
        return self._stopped or self._looked - self._since >= HUNG_S

    @property
    def silent(self) -> float:
        """Seconds since its last sign of life."""
        return silence(self._home.lock, self._clock())

    def look(self) -> None:
        """Looks for a sign of life, and ends who gave none for long enough."""
        now = self._clock()
        seen = self._sign()
        if seen != self._seen or not 0 <= now - self._looked <= GAP_S:
            self._seen, self._since = seen, now
        self._looked = now
        holder = Election(self._home.lock).holder()
        self._stopped = holder is not None and is_stopped(holder, self._home.lock)
        self.is_old = holder is not None and is_newer(PROGRAM, holder.version)
        self.token_file = holder.token_file if holder else ""
        if now - self._since >= END_S:
            self._since = now
            self._end()

    def forget(self) -> None:
        """There is none."""
        self._seen, self._since, self._looked = (0, 0), 0.0, 0.0
        self._stopped = self.is_old = False
        self.token_file = ""

    def _sign(self) -> tuple[int, int]:
        try:
            found = self._home.lock.stat()
        except OSError:
            return 0, 0
        return found.st_ino, found.st_mtime_ns

    def _end(self) -> None:
        """By SIGKILL, which ends a stopped one too; never a process that does not have the lock's file open."""
        holder = Election(self._home.lock).holder()
        if holder is None or holder.pid == os.getpid():
            return
        with suppress(OSError):  # gone already, or somebody else's
            process = os.pidfd_open(holder.pid)
            try:
                if _has_open(holder.pid, self._home.lock):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    self._note(holder.pid)
            finally:
                os.close(process)

    def _note(self, pid: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        log = os.open(self._home.courier_log, flags, 0o600)
        try:
            at = time.strftime("%Y-%m-%d %H:%M:%S")
            os.write(log, f"{at} courier {pid} gave no sign of life for {END_S:.0f} s and was ended\n".encode())
        finally:
            os.close(log)


def _has_open(pid: int, path: Path) -> bool:
    wanted = path.stat()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            if os.path.samestat(descriptor.stat(), wanted):
                return True
    return False
