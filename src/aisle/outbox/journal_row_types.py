"""Rows of the journal: jobs and events."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from aisle.host.database import known_columns


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
