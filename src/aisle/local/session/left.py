"""What waits in a store of this host that a terminal has left: only read, so that nobody waits for its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from typing import Final

import apsw

from aisle.errors import StorageError
from aisle.local.db import connect, fetch
from aisle.local.host.home import Home
from aisle.local.outbox.outbox import Outbox
from aisle.local.session.whereabouts import visited

GLANCE_S: Final = 3.0
"""So long what was seen of a store counts in a list of many."""


def waiting(home: Home, user: str = "") -> tuple[int, Sequence[str]]:
    """What is not sent of a store, and the jobs that wait there for this person; nothing where that cannot be read."""
    with suppress(StorageError, apsw.Error):
        if home.outbox.exists():
            with closing(connect(home.outbox, read_only=True)) as outbox:
                return Outbox(outbox).counts()[0], open_jobs(outbox, home.store, user) if user else ()
    return 0, ()


def open_jobs(outbox: apsw.Connection, store: str, user: str) -> list[str]:
    """The jobs that a person has left open in a store, oldest first."""
    sql = "SELECT name FROM job WHERE store = ? AND user = ? AND closed IS NULL ORDER BY opened_seq, opened"
    return [str(name) for (name,) in fetch(outbox, sql, store, user)]


class Glance:
    """How much waits in each of many stores, looked for once in a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[Home, tuple[float, int]] = {}

    def waiting(self, home: Home) -> int:
        """What is not sent of a store."""
        now = self._clock()
        at, count = self._seen.get(home, (float("-inf"), 0))
        if now - at >= GLANCE_S:
            count = waiting(home)[0]
            self._seen[home] = now, count
        return count


GLANCE: Final = Glance()
"""Of all that this process shows."""


def elsewhere(here: Home, glance: Glance = GLANCE) -> int:
    """What is not sent of other stores that terminals of this host were changed to or from."""
    return sum(glance.waiting(home) for home in visited(here.root, here.base_url) if home.store != here.store)
