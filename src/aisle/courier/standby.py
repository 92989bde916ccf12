"""Somebody waits behind the courier, and is in office a moment after its death, however it died.

The heir is a copy of the courier's process from before it loaded what its work needs: counting references writes to
what was shared, and all of it would be there twice. It sleeps on the lock, so it costs no wake-ups. In office it begins
the program anew in its process: the one that is installed then, and not half of it. A courier that leaves takes its
heir along.
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
from aisle.host.store_folder import StoreFolder
from aisle.settings.time_zone import host_environ

SHORT_TERM_S = 5.0
"""A term that was over sooner ended for a reason that may end the next one as well."""
MAX_SHORT_TERMS = 3
"""After so many of them on end nobody waits any more; sessions call another courier in their own time."""
_LAST_STANDARD_FD = 2
"""Descriptors up to it are a process's own from its birth."""
HANDOVER_VARIABLE = "AISLE_SEAT"
"""What a program that was begun anew in office has to know: the lock's descriptor, how many terms before were short."""


def run_with_standby(
    store_folder: StoreFolder, version: str, work: Callable[[LeaderLock], None], token_file: str = ""
) -> int:
    """The body of the courier's process, and of its heirs: whoever is in office works until his term is over.

    `work` loads what it needs itself. Only for a process with one thread that has opened nothing. Raises what `work`
    raises, and StorageError.
    """
    seat = StandbyLock(store_folder.lock, restart_program)

    def me() -> Leader:
        return Leader(os.getpid(), version, time.time(), token_file)

    if not (
        seat.resume_leadership(os.environ.pop(HANDOVER_VARIABLE, ""), me())
        or seat.try_acquire(me())
        or _take_over_from_leader(seat, store_folder, me())
    ):
        return 0
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a terminal that goes away is no concern of the heir's either
        signal.signal(signal.SIGTERM, _exit)  # until there is a loop that does it better
        freeze_gc()
        if seat.start_standby(me):
            work(seat)
    finally:
        seat.release()
    return 0


def _take_over_from_leader(lock: LeaderLock, store_folder: StoreFolder, this_process: Leader) -> bool:
    """Somebody is in office: whether he left to a newer program."""
    import asyncio

    from aisle.courier.leader import become_leader

    return asyncio.run(become_leader(lock, store_folder, this_process, asyncio.sleep))


def _exit(_number: int, _frame: object) -> None:
    sys.exit(0)


def restart_program(handover: str) -> None:
    """Begins this process's program from its start, in office. Raises OSError when it is not there any more."""
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**host_environ(), HANDOVER_VARIABLE: handover})  # noqa: S606 - ours


class StandbyLock(LeaderLock):
    """The lock, with an heir behind whoever holds it."""

    def __init__(self, path: Path, restart: Callable[[str], None] | None = None) -> None:
        """`anew` is called by each heir in office, with what `take_over` has to be told in the program that it begins;
        without it, and where it raises OSError, the heir goes on as it is."""
        super().__init__(path)
        self._restart = restart
        self._standby_pid = 0
        self._short_terms = 0
        """How many terms on end were over soon."""

    def resume_leadership(self, handover: str, this_process: Leader) -> bool:
        """Goes on in the office that this process is in already, if it was told so; what is no office is let go of,
        so that neither this process nor its heirs carry it along."""
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
        """Lets a copy of this process wait behind it. Returns at once in this process, which holds the lock.

        In each later process it returns when that one is in office: True, or False when there is nothing to take over.
        Only for a process with one thread, and before it has opened anything.
        """
        while self._short_terms < MAX_SHORT_TERMS:
            named = time.monotonic()
            try:
                waiting = self.open_second()
            except StorageError:
                return True
            try:
                heir = os.fork()
            except OSError:  # no process to be had: the sessions will see to it
                os.close(waiting)
                return True
            if heir:
                os.close(waiting)
                self._standby_pid = heir
                return True
            super().release()  # the dead one's lock would outlive it with this copy of its descriptor
            if not self.acquire_when_free(waiting, this_process):
                return False
            self._short_terms = self._short_terms + 1 if time.monotonic() - named < SHORT_TERM_S else 0
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
        """Dismisses the heir, and gives the lock back; may be called twice."""
        heir, self._standby_pid = self._standby_pid, 0
        if heir:
            with suppress(ProcessLookupError):
                os.kill(heir, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(heir, 0)
        super().release()
