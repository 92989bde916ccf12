"""Somebody waits behind the courier, and is courier a moment after its death, however it died.

The heir is a copy of the courier's process from before it opened anything, or loaded what speaks HTTP. It sleeps on the
lock, so it costs no wake-ups. A courier that leaves takes its heir along.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from aisle.errors import StorageError
from aisle.local.host.lock import Election, Holder

SHORT_S = 5.0
"""A term that was over sooner ended for a reason that may end the next one as well."""
SHORT_TERMS = 3
"""After so many of them on end nobody waits any more; sessions call another courier in their own time."""


class Seat(Election):
    """The lock, with an heir behind whoever holds it."""

    _heir = 0

    def name_heir(self, me: Callable[[], Holder]) -> bool:
        """Lets a copy of this process wait behind it. Returns at once in this process, which holds the lock.

        In each later process it returns when that one is in office: True, or False when there is nothing to take over.
        Only for a process with one thread, and before it has opened anything.
        """
        short = 0
        while short < SHORT_TERMS:
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
            short = short + 1 if time.monotonic() - named < SHORT_S else 0
        return True

    def resign(self) -> None:
        """Dismisses the heir, and gives the lock back; may be called twice."""
        heir, self._heir = self._heir, 0
        if heir:
            with suppress(ProcessLookupError):
                os.kill(heir, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(heir, 0)
        super().resign()
