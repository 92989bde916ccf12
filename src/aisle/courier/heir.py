"""Somebody waits behind the courier, and is in office a moment after its death, however it died.

The heir is a copy of the courier's process from before it loaded what its work needs: counting references writes to
what was shared, and all of it would be there twice. It sleeps on the lock, so it costs no wake-ups. In office it begins
the program anew in its process: the one that is installed then, and not half of it. A courier that leaves takes its
heir along.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aisle.errors import StorageError
from aisle.local.host.home import Home
from aisle.local.host.lock import Election, Holder
from aisle.settings.time_zone import host_environ

SHORT_S = 5.0
"""A term that was over sooner ended for a reason that may end the next one as well."""
SHORT_TERMS = 3
"""After so many of them on end nobody waits any more; sessions call another courier in their own time."""
_STREAMS = 2
"""Descriptors up to it are a process's own from its birth."""
SEAT = "AISLE_SEAT"
"""What a program that was begun anew in office has to know: the lock's descriptor, how many terms before were short."""


def reign(home: Home, version: str, work: Callable[[Election], None], token_file: str = "") -> int:
    """The body of the courier's process, and of its heirs: whoever is in office works until his term is over.

    `work` loads what it needs itself. Only for a process with one thread that has opened nothing. Raises what `work`
    raises, and StorageError.
    """
    seat = Seat(home.lock, begin_anew)

    def me() -> Holder:
        return Holder(os.getpid(), version, time.time(), token_file)

    if not (seat.take_over(os.environ.pop(SEAT, ""), me()) or seat.try_win(me()) or _won_later(seat, home, me())):
        return 0
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a terminal that goes away is no concern of the heir's either
        signal.signal(signal.SIGTERM, _leave)  # until there is a loop that does it better
        keep_what_is_loaded()
        if seat.name_heir(me):
            work(seat)
    finally:
        seat.resign()
    return 0


def _won_later(seat: Election, home: Home, me: Holder) -> bool:
    """Somebody is in office: whether he left to a newer program."""
    import asyncio

    from aisle.courier.office import win

    return asyncio.run(win(seat, home, me, asyncio.sleep))


def _leave(_number: int, _frame: object) -> None:
    sys.exit(0)


def keep_what_is_loaded() -> None:
    """Spares the collector of cycles the modules: with every few pages it would look through them again."""
    gc.collect()
    gc.freeze()


def begin_anew(seat: str) -> None:
    """Begins this process's program from its start, in office. Raises OSError when it is not there any more."""
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**host_environ(), SEAT: seat})  # noqa: S606 - ours


class Seat(Election):
    """The lock, with an heir behind whoever holds it."""

    def __init__(self, path: Path, anew: Callable[[str], None] | None = None) -> None:
        """`anew` is called by each heir in office, with what `take_over` has to be told in the program that it begins;
        without it, and where it raises OSError, the heir goes on as it is."""
        super().__init__(path)
        self._anew = anew
        self._heir = 0
        self._short = 0
        """How many terms on end were over soon."""

    def take_over(self, told: str, me: Holder) -> bool:
        """Goes on in the office that this process is in already, if it was told so; what is no office is let go of,
        so that neither this process nor its heirs carry it along."""
        fd, _, short = told.partition(" ")
        if not (fd.isdecimal() and short.isdecimal()):
            return False
        if not self.inherit(int(fd), me):
            if int(fd) > _STREAMS:
                with suppress(OSError, OverflowError):
                    os.close(int(fd))
            return False
        self._short = int(short)
        return True

    def name_heir(self, me: Callable[[], Holder]) -> bool:
        """Lets a copy of this process wait behind it. Returns at once in this process, which holds the lock.

        In each later process it returns when that one is in office: True, or False when there is nothing to take over.
        Only for a process with one thread, and before it has opened anything.
        """
        while self._short < SHORT_TERMS:
            named = time.monotonic()
            try:
                waiting = self.copy()
            except StorageError:
                return True
            try:
                heir = os.fork()
            except OSError:  # no process to be had: the sessions will see to it
                os.close(waiting)
                return True
            if heir:
                os.close(waiting)
                self._heir = heir
                return True
            super().resign()  # the dead one's lock would outlive it with this copy of its descriptor
            if not self.wait(waiting, me):
                return False
            self._short = self._short + 1 if time.monotonic() - named < SHORT_S else 0
            self._begin_anew(waiting)
        return True

    def _begin_anew(self, fd: int) -> None:
        if self._anew is None:
            return
        os.set_inheritable(fd, True)
        with suppress(OSError):
            self._anew(f"{fd} {self._short}")
        os.set_inheritable(fd, False)

    def resign(self) -> None:
        """Dismisses the heir, and gives the lock back; may be called twice."""
        heir, self._heir = self._heir, 0
        if heir:
            with suppress(ProcessLookupError):
                os.kill(heir, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(heir, 0)
        super().resign()
