"""Sessions of this host and the people signed in on its terminals, in outbox.db."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from aisle.host.database import fetch, fetch_one, known_columns, transaction, try_write
from aisle.host.database_folder import has_room
from aisle.host.processes import is_running, process_start_id
from aisle.outbox.journal_row_types import insert_sql


class SessionRow(NamedTuple):
    """One run of the program on one terminal. Times are seconds since 1970."""

    session_id: str
    terminal: str
    store: str
    user: str
    version: str
    pid: int
    birth: str
    """Start of the process (see aisle.host.processes), which tells it from a later one with the same pid."""
    started: float
    last_seen: float
    ended: float | None = None

    @property
    def is_running(self) -> bool:
        """True while its process runs and the session has not ended."""
        return self.ended is None and is_running(self.pid, self.birth)


class SignedIn(NamedTuple):
    """Person who is signed in on a terminal."""

    user: str
    name: str


def session_from_row(row: Sequence[Any]) -> SessionRow:
    """Return the session in a row of the table."""
    return SessionRow(*known_columns(row, SessionRow._fields))


def running_sessions(outbox: apsw.Connection) -> list[SessionRow]:
    """Return the sessions that have not ended and whose process runs, oldest first."""
    rows = fetch(outbox, "SELECT * FROM session WHERE ended IS NULL ORDER BY started")
    return [session for session in map(session_from_row, rows) if session.is_running]


class Sessions:
    """Sessions and sign-ins of outbox.db."""

    def __init__(self, connection: apsw.Connection, *, clock: Callable[[], float] = time.time) -> None:
        self._db = connection
        self._clock = clock

    def begin_session(
        self, session_id: str, *, terminal: str, store: str, user: str, version: str, pid: int
    ) -> SessionRow:
        """Record that a session runs; `version` is that of the program."""
        now = self._clock()
        session = SessionRow(session_id, terminal, store, user, version, pid, process_start_id(pid), now, now)
        with transaction(self._db):
            self._db.execute(insert_sql("session", SessionRow._fields), session)
        return session

    def record_heartbeat(self, session_id: str) -> None:
        """Record that the session is in use. Once a minute or so suffices to keep the courier running."""
        with transaction(self._db):
            self._db.execute("UPDATE session SET last_seen = ? WHERE session_id = ?", (self._clock(), session_id))

    def can_write(self, session_id: str) -> bool:
        """Return whether a write succeeds now, and there is room for more; it records a heartbeat of the session.

        Never waits for a lock.
        """
        if not has_room(Path(self._db.filename)):
            return False
        sql = "UPDATE session SET last_seen = ? WHERE session_id = ?"
        return try_write(self._db, sql, self._clock(), session_id)

    def end_session(self, session_id: str) -> None:
        """Record the end of the session; its open jobs can be resumed by any session."""
        now = self._clock()
        with transaction(self._db):
            self._db.execute("UPDATE session SET ended = ?, last_seen = ? WHERE session_id = ?", (now, now, session_id))

    def running_sessions(self) -> list[SessionRow]:
        """Return the sessions that have not ended and whose process runs."""
        return running_sessions(self._db)

    def is_terminal_in_use(self, terminal: str, except_session: str = "") -> bool:
        """Return whether a running session other than `except_session` uses a terminal of this name."""
        rows = fetch(
            self._db,
            "SELECT * FROM session WHERE ended IS NULL AND terminal = ? AND session_id <> ?",
            terminal,
            except_session,
        )
        return any(session_from_row(row).is_running for row in rows)

    def signed_in(self, terminal: str, since: float = 0.0) -> SignedIn | None:
        """Return the person signed in on this terminal since that time; None if nobody is."""
        row = fetch_one(self._db, "SELECT user, name FROM sign_in WHERE terminal = ? AND since >= ?", terminal, since)
        return None if row is None else SignedIn(*row)

    def terminal_of(self, session_id: str) -> str:
        """Return the terminal of a session; empty if it is unknown."""
        row = fetch_one(self._db, "SELECT terminal FROM session WHERE session_id = ?", session_id)
        return "" if row is None else str(row[0])
