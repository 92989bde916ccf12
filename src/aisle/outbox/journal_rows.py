"""Rows of the journal: sessions, sign-ins, jobs and events."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import apsw

from aisle.host.database import fetch, known_columns
from aisle.host.processes import is_running


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
    return JobRow(*known_columns(row, JobRow._fields))


def event_from_row(row: Sequence[Any]) -> EventRow:
    return EventRow(*known_columns(row, EventRow._fields))


@cache
def insert_sql(table: str, fields: tuple[str, ...]) -> str:
    """Return an INSERT that names the columns, because a newer program may have added some."""
    return f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))})"  # noqa: S608
