"""Jobs that people left open on this host: found, taken over, or reopened to undo the last operation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import apsw

from aisle.host.database import fetch, fetch_one, transaction
from aisle.outbox.journal_row_types import EventRow, JobRow, event_from_row, job_from_row
from aisle.outbox.sessions import session_from_row

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
