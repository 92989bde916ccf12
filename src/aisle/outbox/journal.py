"""Who works on this host: runs of the program as outbox.db has them, those that live, and who is signed in where."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from aisle.errors import StorageError
from aisle.host.database import (
    check_not_newer,
    fetch,
    fetch_one,
    is_replaced,
    known_columns,
    schema_version,
    transaction,
    try_write,
)
from aisle.host.processes import is_running, process_start_id
from aisle.jobs.job import LocalNote, Refresh, Request, Resolve, SignIn, SignOut, Write
from aisle.json_codec import to_text
from aisle.outbox import session_requests
from aisle.outbox.local_notes import save_note
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Author, Intent, RandomBytes
from aisle.outbox.outbox_file import OUTBOX_MIGRATIONS
from aisle.outbox.service_restore import Restore, list_restores
from aisle.outbox.session_requests import insert_read_request

if TYPE_CHECKING:
    from aisle.host.file_recovery import Recovery


class SessionRow(NamedTuple):
    """One run of the program on one terminal. Times are seconds since 1970."""

    session_id: str
    terminal: str
    store: str
    user: str
    version: str
    pid: int
    birth: str
    """See aisle.host.processes."""
    started: float
    last_seen: float
    ended: float | None = None

    @property
    def is_running(self) -> bool:
        """True while its process lives and has not said goodbye."""
        return self.ended is None and is_running(self.pid, self.birth)


class SignedIn(NamedTuple):
    """Who is signed in on a terminal."""

    user: str
    name: str


def session_from_row(row: Sequence[Any]) -> SessionRow:
    """One as a whole row has it."""
    return SessionRow(*known_columns(row, SessionRow._fields))


def running_sessions(outbox: apsw.Connection) -> list[SessionRow]:
    """The sessions that have not ended and whose process lives, oldest first."""
    rows = fetch(outbox, "SELECT * FROM session WHERE ended IS NULL ORDER BY started")
    return [session for session in map(session_from_row, rows) if session.is_running]


_ORDER_KEPT_S = 30 * 86400.0
"""So long it is known who worked on an order."""


_UNDO_WINDOW_S = 16 * 3600.0
"""What was done before that is undone by other means."""

_LAST_OPERATION = """
SELECT job_id, lanes FROM operation WHERE store = ? AND app_user = ? AND created_at > ? AND superseded_by = ''
AND NOT (operation = 'update-customer-order' AND ifnull(json_array_length(body, '$.orders.order_lines'), 0) = 0
  AND body ->> '$.orders.is_claimed' IS NOT NULL)
ORDER BY n DESC LIMIT 1
"""


class JobRow(NamedTuple):
    """One job from its opening to its close."""

    job_id: str
    store: str
    user: str
    name: str
    version: int
    parent: str
    """job_id of the job below it; empty for none."""
    session_id: str
    """Who works on it."""
    opened: float
    opened_seq: int
    """The last event before it was opened; orders jobs."""
    closed: float | None
    snapshot: str
    snapshot_seq: int
    """The last event that the snapshot includes."""


class OpenJob(NamedTuple):
    """A job to be resumed: its state is the snapshot with these events replayed on it."""

    job: JobRow
    snapshot: str
    """Text of the state (aisle.json_codec); empty for the state before `Opened`."""
    events: tuple[EventRow, ...]


class LastOperation(NamedTuple):
    """What somebody did last, by the lanes of its operation, and its job; None where that is open, or gone."""

    lanes: str
    job: OpenJob | None


class EventRow(NamedTuple):
    """One event as it is kept."""

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


class NewJob(NamedTuple):
    """A job that this batch opens; the id is the session's choice (aisle.outbox.operation_record)."""

    job_id: str
    name: str
    version: int
    parent: str = ""


class EventEntry(NamedTuple):
    """One event of a batch."""

    job_id: str
    at: float
    """Seconds since 1970."""
    occurred: str
    """The same moment, ISO 8601 UTC."""
    raw: str
    """The input as it came."""
    kind: str
    event: str
    """The event that the job got, resolved (text of aisle.json_codec); what a replay feeds."""
    facts: str = ""
    step_before: str = ""
    step_after: str = ""
    verdict: str = ""


class Snapshot(NamedTuple):
    """The state of a job after an entry of the batch (its index), or before all of them (-1)."""

    job_id: str
    text: str
    entry_index: int


class JournalBatch(NamedTuple):
    """All that follows from one drained queue of inputs."""

    session_id: str
    terminal: str
    author: Author
    opened: Sequence[NewJob] = ()
    entries: Sequence[EventEntry] = ()
    writes: Sequence[tuple[int, Write]] = ()
    """Each with the index of the entry that it follows from."""
    snapshots: Sequence[Snapshot] = ()
    closed: Sequence[str] = ()
    """job_ids."""
    sign_in: SignIn | SignOut | None = None
    refreshes: Sequence[Refresh] = ()
    orders_in_work: Sequence[tuple[str, Sequence[str]]] = ()
    """Jobs, and all the orders that each works on from now on."""
    resolutions: Sequence[Resolve] = ()
    local_notes: Sequence[LocalNote] = ()
    requests: Sequence[tuple[str, Request]] = ()
    """Each with its name."""


class Committed(NamedTuple):
    """What a batch became."""

    seqs: tuple[int, ...]
    """One for each entry."""
    op_ids: tuple[str, ...]
    """One for each write; merged ones share theirs."""


class Journal:
    """Sessions, stays, jobs and events of outbox.db."""

    def __init__(
        self, connection: apsw.Connection, *, clock: Callable[[], float] = time.time, random: RandomBytes = os.urandom
    ) -> None:
        self._db = connection
        self._clock = clock
        self._outbox = OperationQueue(connection, clock=clock, random=random)

    # Sessions

    def begin_session(
        self, session_id: str, *, terminal: str, store: str, user: str, version: str, pid: int
    ) -> SessionRow:
        """Notes that a session runs; `version` is the program's."""
        now = self._clock()
        session = SessionRow(session_id, terminal, store, user, version, pid, process_start_id(pid), now, now)
        with transaction(self._db):
            self._db.execute(_insert_sql("session", SessionRow._fields), session)
        return session

    @property
    def is_replaced(self) -> bool:
        """Whether the file was deleted under this connection, or replaced: nothing can be kept in it any more."""
        return is_replaced(self._db)

    def recover_file(self) -> Recovery:
        """Saves all that is in a file that is gone. Raises StorageError."""
        from aisle.host.file_recovery import recover_file  # hardly ever, and no start pays for it

        return recover_file(self._db)

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def check_not_newer(self) -> None:
        """Raises StorageError when a newer program has changed the file under this one: it must not be written to."""
        found = 0
        with suppress(StorageError, apsw.Error):  # trouble that passes
            found = schema_version(self._db)
        if found > len(OUTBOX_MIGRATIONS):
            check_not_newer(self._db, len(OUTBOX_MIGRATIONS))

    def record_heartbeat(self, session_id: str) -> None:
        """The session is in use; said once a minute or so, it keeps the courier there."""
        with transaction(self._db):
            self._db.execute("UPDATE session SET last_seen = ? WHERE session_id = ?", (self._clock(), session_id))

    def can_write(self, session_id: str) -> bool:
        """Whether something could be kept just now: as a sign of life of this session, it was. Waits for nobody."""
        sql = "UPDATE session SET last_seen = ? WHERE session_id = ?"
        return try_write(self._db, sql, self._clock(), session_id)

    def end_session(self, session_id: str) -> None:
        """The session is over; its open jobs can be resumed anywhere."""
        now = self._clock()
        with transaction(self._db):
            self._db.execute("UPDATE session SET ended = ?, last_seen = ? WHERE session_id = ?", (now, now, session_id))

    def running_sessions(self) -> list[SessionRow]:
        """The sessions that have not ended and whose process lives."""
        return running_sessions(self._db)

    def is_terminal_in_use(self, terminal: str, except_session: str = "") -> bool:
        """Whether a running session, other than the one of that id, has a terminal of this name."""
        rows = fetch(
            self._db,
            "SELECT * FROM session WHERE ended IS NULL AND terminal = ? AND session_id <> ?",
            terminal,
            except_session,
        )
        return any(session_from_row(row).is_running for row in rows)

    def signed_in(self, terminal: str, since: float = 0.0) -> SignedIn | None:
        """Who is signed in on a terminal that has this name since then; None for nobody."""
        row = fetch_one(self._db, "SELECT user, name FROM stay WHERE terminal = ? AND since >= ?", terminal, since)
        return None if row is None else SignedIn(*row)

    # Work

    def commit(self, batch: JournalBatch) -> Committed:
        """Makes a whole batch durable in one transaction. Raises StorageError, and then nothing of it is kept."""
        with transaction(self._db):
            last = self._last_seq()
            for job in batch.opened:
                self._insert_job(job, batch, last)
            seqs = tuple(self._insert_event(entry, batch.session_id) for entry in batch.entries)
            op_ids = self._outbox.enqueue(
                [_intent_of_write(batch, seqs, index, write) for index, write in batch.writes], batch.author
            )
            for settle in batch.resolutions:
                self._outbox.resolve(settle, batch.author.app_user)
            for remark in batch.local_notes:
                save_note(self._db, remark, batch.author.app_user, self._clock())
            for name, ask in batch.requests:
                session_requests.insert_request(self._db, name, ask, batch.author, self._clock())
            for snapshot in batch.snapshots:
                seq = seqs[snapshot.entry_index] if snapshot.entry_index >= 0 else last
                self._db.execute(
                    "UPDATE job SET snapshot = ?, snapshot_seq = ? WHERE job_id = ?",
                    (snapshot.text, seq, snapshot.job_id),
                )
            self._apply_effects(batch)
        return Committed(seqs, op_ids)

    def _last_seq(self) -> int:
        row = fetch_one(self._db, "SELECT max(seq) FROM event")
        return int(row[0] or 0) if row else 0

    def _insert_job(self, job: NewJob, batch: JournalBatch, last: int) -> None:
        store, user = batch.author.store, batch.author.app_user
        row = JobRow(
            job.job_id,
            store,
            user,
            job.name,
            job.version,
            job.parent,
            batch.session_id,
            self._clock(),
            last,
            None,
            "",
            0,
        )
        self._db.execute(_insert_sql("job", JobRow._fields), row)

    def _insert_event(self, entry: EventEntry, session_id: str) -> int:
        self._db.execute(_insert_sql("event", EventRow._fields), (None, session_id, *entry))
        return self._db.last_insert_rowid()

    def _apply_effects(self, batch: JournalBatch) -> None:
        now = self._clock()
        self._db.executemany("UPDATE job SET closed = ? WHERE job_id = ?", [(now, job_id) for job_id in batch.closed])
        if isinstance(batch.sign_in, SignIn) and not self.is_terminal_in_use(batch.terminal, batch.session_id):
            self._db.execute(
                "INSERT OR REPLACE INTO stay (terminal, user, name, since) VALUES (?, ?, ?, ?)",
                (batch.terminal, batch.sign_in.user, batch.sign_in.name, now),
            )
        elif batch.sign_in is not None:  # also where several share a name: nobody could tell whose stay it was
            self._db.execute("DELETE FROM stay WHERE terminal = ?", (batch.terminal,))
        for job_id, orders in batch.orders_in_work:
            self._set_orders_in_work(job_id, orders, now)
        for wish in batch.refreshes:
            insert_read_request(self._db, wish.topic, wish.key, now)

    def _set_orders_in_work(self, job_id: str, orders: Sequence[str], now: float) -> None:
        kept = to_text(list(orders))
        self._db.execute(
            "DELETE FROM hold WHERE since < ? OR (job_id = ? AND order_number NOT IN (SELECT value FROM json_each(?)))",
            (now - _ORDER_KEPT_S, job_id, kept),
        )
        self._db.execute(
            "INSERT OR IGNORE INTO hold (order_number, job_id, since) SELECT value, ?, ? FROM json_each(?)",
            (job_id, now, kept),
        )

    def expire_requests(self) -> bool:
        """Ends what was asked for and is not to be begun any more; whether there was such a thing."""
        return session_requests.expire_overdue(self._db, self._clock())

    def restores_after(self, last_number: int) -> list[Restore]:
        """The restores of the service behind the one of that number; none where that cannot be read."""
        try:
            return list_restores(self._db, after=last_number)
        except (apsw.Error, StorageError):
            return []

    def last_restore_number(self, before: float = inf) -> int:
        """The number of the last restore until that moment; 0 for none."""
        return max((one.n for one in self.restores_after(0) if one.noticed_at <= before), default=0)

    def is_request_pending(self, request_id: str) -> bool:
        """Whether it still waits to be begun."""
        return session_requests.request_state(self._db, request_id) == session_requests.REQUESTED

    # Resume

    def open_jobs(self, store: str, user: str, session_id: str = "") -> list[OpenJob]:
        """The open jobs of a person, bottom first, without those that another running session works on."""
        rows = fetch(
            self._db,
            "SELECT * FROM job WHERE store = ? AND user = ? AND closed IS NULL ORDER BY opened_seq, opened",
            store,
            user,
        )
        jobs = [
            job
            for job in (JobRow(*known_columns(row, JobRow._fields)) for row in rows)
            if self._is_free(job, session_id)
        ]
        return [OpenJob(job, job.snapshot, self._events_after(job)) for job in _in_stack_order(jobs)]

    def last_operation(self, store: str, user: str) -> LastOperation | None:
        """The last thing that a person did here that the service hears of, and the job by which it was done; None where
        there is none. That somebody works on an order is none."""
        since = self._clock() - _UNDO_WINDOW_S
        for job_id, lanes in fetch(self._db, _LAST_OPERATION, store, user, since):
            row = fetch_one(self._db, "SELECT * FROM job WHERE job_id = ?", job_id) if job_id else None
            job = None if row is None else JobRow(*known_columns(row, JobRow._fields))
            if job is not None and job.closed is not None:
                return LastOperation(str(lanes), OpenJob(job, job.snapshot, self._events_after(job)))
            return LastOperation(str(lanes), None)
        return None

    def reopen_job(self, session_id: str, job_id: str) -> None:
        """A job that was closed is open again, and this session's."""
        with transaction(self._db):
            self._db.execute("UPDATE job SET closed = NULL, session_id = ? WHERE job_id = ?", (session_id, job_id))

    def take_over_jobs(self, session_id: str, job_ids: Sequence[str]) -> tuple[str, ...]:
        """Takes open jobs over for a session: those that are still open and that no other running session holds."""
        taken = []
        with transaction(self._db):
            for job_id in job_ids:
                row = fetch_one(self._db, "SELECT * FROM job WHERE job_id = ? AND closed IS NULL", job_id)
                if row is not None and self._is_free(JobRow(*known_columns(row, JobRow._fields)), session_id):
                    self._db.execute("UPDATE job SET session_id = ? WHERE job_id = ?", (session_id, job_id))
                    taken.append(job_id)
        return tuple(taken)

    def _is_free(self, job: JobRow, session_id: str) -> bool:
        if job.session_id == session_id:
            return True
        row = fetch_one(self._db, "SELECT * FROM session WHERE session_id = ?", job.session_id)
        return row is None or not session_from_row(row).is_running

    def _events_after(self, job: JobRow) -> tuple[EventRow, ...]:
        rows = fetch(
            self._db, "SELECT * FROM event WHERE job_id = ? AND seq > ? ORDER BY seq", job.job_id, job.snapshot_seq
        )
        return tuple(EventRow(*known_columns(row, EventRow._fields)) for row in rows)

    def last_event(self, session_id: str) -> EventRow | None:
        """The youngest event of a session."""
        row = fetch_one(self._db, "SELECT * FROM event WHERE session_id = ? ORDER BY seq DESC LIMIT 1", session_id)
        return None if row is None else EventRow(*known_columns(row, EventRow._fields))

    # To look at

    def last_events(self, count: int) -> list[EventRow]:
        """The youngest events, oldest of them first."""
        rows = fetch(self._db, "SELECT * FROM event ORDER BY seq DESC LIMIT ?", count)
        return [EventRow(*known_columns(row, EventRow._fields)) for row in reversed(rows)]


@cache
def _insert_sql(table: str, fields: tuple[str, ...]) -> str:
    """By the names of the columns: a newer program may have added some of its own."""
    return f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))})"  # noqa: S608


def _intent_of_write(batch: JournalBatch, seqs: Sequence[int], index: int, write: Write) -> Intent:
    entry = batch.entries[index]
    return Intent(write, entry.job_id, seqs[index], entry.occurred)


def _in_stack_order(jobs: Sequence[JobRow]) -> list[JobRow]:
    """Each job after the one below it, in the order of opening; a batch may open several at one moment."""
    known = {job.job_id for job in jobs}
    stacked: list[JobRow] = []
    waiting = list(jobs)
    placed: set[str] = set()
    while waiting:
        ready = next((job for job in waiting if job.parent not in known or job.parent in placed), waiting[0])
        waiting.remove(ready)
        stacked.append(ready)
        placed.add(ready.job_id)
    return stacked
