"""Standby process behind the courier; it takes over a moment after the leader's death, whatever the cause.

The standby is a fork of the courier's process, made before the work's modules are loaded. Later, reference counts would
copy the shared pages, and the modules would be in memory twice. The standby blocks on the lock, so it costs no
wake-ups. As leader it executes the program again: the version installed then, and completely. A courier that stops
kills its standby.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aisle.errors import StorageError
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.processes import freeze_gc
from aisle.host.store_and_database_folders import StoreFolder
from aisle.settings.process_time_zone import host_environ

SHORT_TERM_S = 5.0
"""Seconds below which a term counts as short: its cause may end the next one too."""
MAX_SHORT_TERMS = 3
"""Number of short terms in a row after which no standby is started; sessions start the next courier."""
_LAST_STANDARD_FD = 2
"""Highest descriptor that a process has from its start."""
HANDOVER_VARIABLE = "AISLE_HANDOVER"
"""Environment variable with which a restarted program leads on: the lock's descriptor and the number of short terms."""


def run_with_standby(
    store_folder: StoreFolder, version: str, work: Callable[[LeaderLock], None], token_file: str = ""
) -> int:
    """Run the courier's process and its standbys: the leader calls `work` with the held lock. Return the exit status.

    `work` loads what it needs itself. Only for a process with one thread that has opened nothing. Raise what `work`
    raises, and StorageError.
    """
    lock = StandbyLock(store_folder.lock, restart_program)

    def me() -> Leader:
        return Leader(os.getpid(), version, time.time(), token_file)

    if not (
        lock.resume_leadership(os.environ.pop(HANDOVER_VARIABLE, ""), me())
        or lock.try_acquire(me())
        or _take_over_from_leader(lock, store_folder, me())
    ):
        return 0
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a closed terminal must not end the standby either
        signal.signal(signal.SIGTERM, _exit)  # until the event loop installs its handler
        freeze_gc()
        if lock.start_standby(me):
            work(lock)
    finally:
        lock.release()
    return 0


def _take_over_from_leader(lock: LeaderLock, store_folder: StoreFolder, this_process: Leader) -> bool:
    """Return whether the present leader stepped down for this process."""
    import asyncio

    from aisle.courier.leader_process import become_leader

    return asyncio.run(become_leader(lock, store_folder, this_process, asyncio.sleep))


def _exit(_number: int, _frame: object) -> None:
    sys.exit(0)


def restart_program(handover: str) -> None:
    """Execute this process's program again, as leader. Raise OSError if the program is gone."""
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**host_environ(), HANDOVER_VARIABLE: handover})  # noqa: S606 - ours


class StandbyLock(LeaderLock):
    """Leader lock with a standby process behind its holder."""

    def __init__(self, path: Path, restart: Callable[[str], None] | None = None) -> None:
        """Store the path of the lock.

        Each standby that becomes leader calls `restart` with the text that `resume_leadership` reads in the restarted
        program. Without `restart`, or if it raises OSError, the standby continues in its own image.
        """
        super().__init__(path)
        self._restart = restart
        self._standby_pid = 0
        self._short_terms = 0
        """Number of short terms in a row."""

    def resume_leadership(self, handover: str, this_process: Leader) -> bool:
        """Continue the leadership that `handover` describes, and return True if this process holds the lock.

        A descriptor that is not the lock is closed, so that neither this process nor its standbys inherit it.
        """
        fd, _, short = handover.partition(" ")
        if not (fd.isdecimal() and short.isdecimal()):
            return False
        if not self.take_over(int(fd), this_process):
            if int(fd) > _LAST_STANDARD_FD:
                with suppress(OSError, OverflowError):
                    os.close(int(fd))
            return False
        self._short_terms = int(short)
        return True

    def start_standby(self, this_process: Callable[[], Leader]) -> bool:
        """Fork a standby. Return True at once in this process, which holds the lock.

        In each later process it returns once that one leads: True, or False if there is nothing to take over. Only for
        a process with one thread, before it has opened anything.
        """
        while self._short_terms < MAX_SHORT_TERMS:
            started = time.monotonic()
            try:
                waiting = self.open_second()
            except StorageError:
                return True
            try:
                child = os.fork()
            except OSError:  # no process available: sessions start the next courier
                os.close(waiting)
                return True
            if child:
                os.close(waiting)
                self._standby_pid = child
                return True
            super().release()  # this copy of the descriptor would keep the dead leader's lock
            if not self.acquire_when_free(waiting, this_process):
                return False
            self._short_terms = self._short_terms + 1 if time.monotonic() - started < SHORT_TERM_S else 0
            self._restart_program(waiting)
        return True

    def _restart_program(self, fd: int) -> None:
        if self._restart is None:
            return
        os.set_inheritable(fd, True)
        with suppress(OSError):
            self._restart(f"{fd} {self._short_terms}")
        os.set_inheritable(fd, False)

    def release(self) -> None:
        """Kill the standby and release the lock. May be called twice."""
        child, self._standby_pid = self._standby_pid, 0
        if child:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
        super().release()
