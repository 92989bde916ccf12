"""Sessions of this host, people signed in on its terminals, and the jobs in its journal that they left open."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from aisle.host.database import fetch, fetch_one, known_columns, transaction, try_write
from aisle.host.processes import is_running, process_start_id
from aisle.host.store_and_database_folders import has_room


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


_UNDO_WINDOW_S = 16 * 3600.0
"""Seconds after which an operation can no longer be undone with `undo`."""

_LAST_OPERATION = """
SELECT job_id, lanes FROM operation WHERE store = ? AND app_user = ? AND created_at > ? AND superseded_by = ''
AND NOT (operation = 'update-customer-order' AND ifnull(json_array_length(body, '$.orders.order_lines'), 0) = 0
  AND body ->> '$.orders.is_claimed' IS NOT NULL)
ORDER BY event_seq DESC, n DESC LIMIT 1
"""

_SERIAL_SCANS = """
SELECT event FROM event WHERE job_id = ? AND seq <= ? AND kind = 'Scan' AND instr(event, '"serial":')
"""


class OpenJob(NamedTuple):
    """A job to resume: its snapshot with these events replayed on it."""

    job: JobRow
    snapshot: str
    """Text of the state (aisle.named_tuple_json); empty for the state before `Opened`."""
    events: tuple[EventRow, ...]
    serial_scans: tuple[str, ...] = ()
    """Scans of labels with a serial number that the snapshot includes, as text."""


class LastOperation(NamedTuple):
    """Lanes of a person's last operation, and the job that wrote it."""

    lanes: str
    job_id: str
    job: OpenJob | None
    """The job if it is closed; None if it is open or gone."""


class OpenJobs:
    """Jobs in the journal that can be resumed."""

    def __init__(self, connection: apsw.Connection, *, clock: Callable[[], float] = time.time) -> None:
        self._db = connection
        self._clock = clock

    def open_jobs(self, store: str, user: str, session_id: str = "") -> list[OpenJob]:
        """Return the open jobs of a person, bottom first, without those that another running session works on."""
        sql = "SELECT * FROM job WHERE store = ? AND user = ? AND closed IS NULL ORDER BY opened_seq, opened"
        jobs = [job for job in map(job_from_row, fetch(self._db, sql, store, user)) if self._is_free(job, session_id)]
        return [self._open_job(job) for job in _in_stack_order(jobs)]

    def last_operation(self, store: str, user: str) -> LastOperation | None:
        """Return the last operation of a person on this host, with its job; None if there is none.

        Claiming an order does not count.
        """
        since = self._clock() - _UNDO_WINDOW_S
        for job_id, lanes in fetch(self._db, _LAST_OPERATION, store, user, since):
            row = fetch_one(self._db, "SELECT * FROM job WHERE job_id = ?", job_id) if job_id else None
            job = None if row is None else job_from_row(row)
            if job is not None and job.closed is not None:
                return LastOperation(str(lanes), job.job_id, self._open_job(job))
            return LastOperation(str(lanes), str(job_id or ""), None)
        return None

    def reopen_job(self, session_id: str, job_id: str) -> None:
        """Reopen a closed job in this session."""
        with transaction(self._db):
            self._db.execute("UPDATE job SET closed = NULL, session_id = ? WHERE job_id = ?", (session_id, job_id))

    def take_over_jobs(self, session_id: str, job_ids: Sequence[str]) -> tuple[str, ...]:
        """Take over open jobs for a session. Return those that are still open and that no other running session has."""
        taken_over = []
        with transaction(self._db):
            for job_id in job_ids:
                row = fetch_one(self._db, "SELECT * FROM job WHERE job_id = ? AND closed IS NULL", job_id)
                if row is not None and self._is_free(job_from_row(row), session_id):
                    self._db.execute("UPDATE job SET session_id = ? WHERE job_id = ?", (session_id, job_id))
                    taken_over.append(job_id)
        return tuple(taken_over)

    def _is_free(self, job: JobRow, session_id: str) -> bool:
        if job.session_id == session_id:
            return True
        row = fetch_one(self._db, "SELECT * FROM session WHERE session_id = ?", job.session_id)
        return row is None or not session_from_row(row).is_running

    def _open_job(self, job: JobRow) -> OpenJob:
        events = fetch(
            self._db, "SELECT * FROM event WHERE job_id = ? AND seq > ? ORDER BY seq", job.job_id, job.snapshot_seq
        )
        scans = fetch(self._db, _SERIAL_SCANS, job.job_id, job.snapshot_seq)
        return OpenJob(job, job.snapshot, tuple(map(event_from_row, events)), tuple(str(text) for (text,) in scans))


def _in_stack_order(jobs: Sequence[JobRow]) -> list[JobRow]:
    """Return the jobs in order of opening, each after its parent; a batch may open several at the same time."""
    ids = {job.job_id for job in jobs}
    stacked: list[JobRow] = []
    waiting = list(jobs)
    placed: set[str] = set()
    while waiting:
        ready = next((job for job in waiting if job.parent not in ids or job.parent in placed), waiting[0])
        waiting.remove(ready)
        stacked.append(ready)
        placed.add(ready.job_id)
    return stacked


class JobRow(NamedTuple):
    """One job from opening to closing."""

    job_id: str
    store: str
    user: str
    name: str
    version: int
    parent: str
    """job_id of the job below it; empty if there is none."""
    session_id: str
    """Session that works on it."""
    opened: float
    opened_seq: int
    """Last event before the job was opened; orders the jobs."""
    closed: float | None
    snapshot: str
    snapshot_seq: int
    """Last event that the snapshot includes."""


class EventRow(NamedTuple):
    """One event as stored."""

    seq: int
    session_id: str
    job_id: str
    at: float
    occurred: str
    raw: str
    kind: str
    event: str
    facts: str
    step_before: str
    step_after: str
    verdict: str


def job_from_row(row: Sequence[Any]) -> JobRow:
    """Return a row of the table of jobs."""
    return JobRow(*known_columns(row, JobRow._fields))


def event_from_row(row: Sequence[Any]) -> EventRow:
    """Return a row of the table of events."""
    return EventRow(*known_columns(row, EventRow._fields))


@cache
def insert_sql(table: str, fields: tuple[str, ...]) -> str:
    """Return an INSERT that names the columns, because a newer program may have added some."""
    return f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))})"  # noqa: S608
