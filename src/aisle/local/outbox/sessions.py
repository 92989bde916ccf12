"""Who works on this host: runs of the program as outbox.db has them, those that live, and who is signed in where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from aisle.local.db import fetch, known
from aisle.local.host.process import runs
from aisle.tuples import NamedTuple


class Session(NamedTuple):
    """One run of the program on one terminal. Times are seconds since 1970."""

    session_id: str
    terminal: str
    store: str
    user: str
    version: str
    pid: int
    birth: str
    """See aisle.local.host.process."""
    started: float
    last_seen: float
    ended: float | None = None

    @property
    def running(self) -> bool:
        """True while its process lives and has not said goodbye."""
        return self.ended is None and runs(self.pid, self.birth)


class Stay(NamedTuple):
    """Who is signed in on a terminal."""

    user: str
    name: str


def session_of(row: Sequence[Any]) -> Session:
    """One as a whole row has it."""
    return Session(*known(row, Session._fields))


def running(outbox: apsw.Connection) -> list[Session]:
    """The sessions that have not ended and whose process lives, oldest first."""
    rows = fetch(outbox, "SELECT * FROM session WHERE ended IS NULL ORDER BY started")
    return [session for session in map(session_of, rows) if session.running]
