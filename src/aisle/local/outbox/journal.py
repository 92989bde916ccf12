"""The journal: the truth of a person's work. Every accepted input is an event, on the disk before the screen says so.

One drained queue of inputs is one `Batch` and one transaction: events, snapshots, jobs and outbox rows together.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from math import inf
from typing import TYPE_CHECKING

import apsw

from aisle.errors import StorageError
from aisle.jobs.base import Ask, Remark, Settle, SignIn, SignOut, Wish, Write
from aisle.jobs.codec import to_text
from aisle.local.db import fetch, fetch_one, is_gone, known, refuse_newer, transaction, version, writes_now
from aisle.local.host.ids import Random
from aisle.local.host.process import birth
from aisle.local.outbox import asks
from aisle.local.outbox.operation import Author, Intent
from aisle.local.outbox.outbox import Outbox
from aisle.local.outbox.remarks import keep_remark
from aisle.local.outbox.restores import Restore, restores
from aisle.local.outbox.schema import OUTBOX
from aisle.local.outbox.sessions import Session, Stay, running, session_of
from aisle.local.outbox.wishes import add_wish
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.local.host.rescue import Rescued

_HELD_S = 30 * 86400.0
"""So long it is known who worked on an order."""


_LAST_S = 16 * 3600.0
"""What was done before that is undone by other means."""

_LAST = """
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
    """Text of the state (aisle.jobs.codec); empty for the state before `Opened`."""
    events: tuple[EventRow, ...]


class LastWork(NamedTuple):
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
    """A job that this batch opens; the id is the session's choice (aisle.local.host.ids)."""

    job_id: str
    name: str
    version: int
    parent: str = ""


class Entry(NamedTuple):
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
    """The event that the job got, resolved (text of aisle.jobs.codec); what a replay feeds."""
    facts: str = ""
    step_before: str = ""
    step_after: str = ""
    verdict: str = ""


class Snapshot(NamedTuple):
    """The state of a job after an entry of the batch (its index), or before all of them (-1)."""

    job_id: str
    text: str
    entry: int


class Batch(NamedTuple):
    """All that follows from one drained queue of inputs."""

    session_id: str
    terminal: str
    author: Author
    opened: Sequence[NewJob] = ()
    entries: Sequence[Entry] = ()
    writes: Sequence[tuple[int, Write]] = ()
    """Each with the index of the entry that it follows from."""
    snapshots: Sequence[Snapshot] = ()
    closed: Sequence[str] = ()
    """job_ids."""
    stay: SignIn | SignOut | None = None
    wishes: Sequence[Wish] = ()
    holds: Sequence[tuple[str, Sequence[str]]] = ()
    """Jobs, and all the orders that each works on from now on."""
    settles: Sequence[Settle] = ()
    remarks: Sequence[Remark] = ()
    asks: Sequence[tuple[str, Ask]] = ()
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
        self, connection: apsw.Connection, *, clock: Callable[[], float] = time.time, random: Random = os.urandom
    ) -> None:
        self._db = connection
        self._clock = clock
        self._outbox = Outbox(connection, clock=clock, random=random)

    # Sessions

    def begin_session(
        self, session_id: str, *, terminal: str, store: str, user: str, version: str, pid: int
    ) -> Session:
        """Notes that a session runs; `version` is the program's."""
        now = self._clock()
        session = Session(session_id, terminal, store, user, version, pid, birth(pid), now, now)
        with transaction(self._db):
            self._db.execute(_insert("session", Session._fields), session)
        return session

    @property
    def is_gone(self) -> bool:
        """Whether the file was deleted under this connection, or replaced: nothing can be kept in it any more."""
        return is_gone(self._db)

    def put_back(self) -> Rescued:
        """Saves all that is in a file that is gone. Raises StorageError."""
        from aisle.local.host.rescue import put_back  # hardly ever, and no start pays for it

        return put_back(self._db)

    def let_go(self) -> None:
        """Closes the file."""
        self._db.close()

    def make_room(self) -> None:
        """Raises StorageError when a newer program has changed the file under this one: it must not be written to."""
        found = 0
        with suppress(StorageError, apsw.Error):  # trouble that passes
            found = version(self._db)
        if found > len(OUTBOX):
            refuse_newer(self._db, len(OUTBOX))

    def seen(self, session_id: str) -> None:
        """The session is in use; said once a minute or so, it keeps the courier there."""
        with transaction(self._db):
            self._db.execute("UPDATE session SET last_seen = ? WHERE session_id = ?", (self._clock(), session_id))

    def can_keep(self, session_id: str) -> bool:
        """Whether something could be kept just now: as a sign of life of this session, it was. Waits for nobody."""
        sql = "UPDATE session SET last_seen = ? WHERE session_id = ?"
        return writes_now(self._db, sql, self._clock(), session_id)

    def end_session(self, session_id: str) -> None:
        """The session is over; its open jobs can be resumed anywhere."""
        now = self._clock()
        with transaction(self._db):
            self._db.execute("UPDATE session SET ended = ?, last_seen = ? WHERE session_id = ?", (now, now, session_id))

    def running(self) -> list[Session]:
        """The sessions that have not ended and whose process lives."""
        return running(self._db)

    def is_held(self, terminal: str, besides: str = "") -> bool:
        """Whether a running session, other than the one of that id, has a terminal of this name."""
        rows = fetch(
            self._db,
            "SELECT * FROM session WHERE ended IS NULL AND terminal = ? AND session_id <> ?",
            terminal,
            besides,
        )
        return any(session_of(row).running for row in rows)

    def stay(self, terminal: str, since: float = 0.0) -> Stay | None:
        """Who is signed in on a terminal that has this name since then; None for nobody."""
        row = fetch_one(self._db, "SELECT user, name FROM stay WHERE terminal = ? AND since >= ?", terminal, since)
        return None if row is None else Stay(*row)

    # Work

    def commit(self, batch: Batch) -> Committed:
        """Makes a whole batch durable in one transaction. Raises StorageError, and then nothing of it is kept."""
        with transaction(self._db):
            last = self._last_seq()
            for job in batch.opened:
                self._open(job, batch, last)
            seqs = tuple(self._add(entry, batch.session_id) for entry in batch.entries)
            op_ids = self._outbox.enqueue(
                [_intent(batch, seqs, index, write) for index, write in batch.writes], batch.author
            )
            for settle in batch.settles:
                self._outbox.settle(settle, batch.author.app_user)
            for remark in batch.remarks:
                keep_remark(self._db, remark, batch.author.app_user, self._clock())
            for name, ask in batch.asks:
                asks.add(self._db, name, ask, batch.author, self._clock())
            for snapshot in batch.snapshots:
                seq = seqs[snapshot.entry] if snapshot.entry >= 0 else last
                self._db.execute(
                    "UPDATE job SET snapshot = ?, snapshot_seq = ? WHERE job_id = ?",
                    (snapshot.text, seq, snapshot.job_id),
                )
            self._finish(batch)
        return Committed(seqs, op_ids)

    def _last_seq(self) -> int:
        row = fetch_one(self._db, "SELECT max(seq) FROM event")
        return int(row[0] or 0) if row else 0

    def _open(self, job: NewJob, batch: Batch, last: int) -> None:
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
        self._db.execute(_insert("job", JobRow._fields), row)

    def _add(self, entry: Entry, session_id: str) -> int:
        self._db.execute(_insert("event", EventRow._fields), (None, session_id, *entry))
        return self._db.last_insert_rowid()

    def _finish(self, batch: Batch) -> None:
        now = self._clock()
        self._db.executemany("UPDATE job SET closed = ? WHERE job_id = ?", [(now, job_id) for job_id in batch.closed])
        if isinstance(batch.stay, SignIn) and not self.is_held(batch.terminal, batch.session_id):
            self._db.execute(
                "INSERT OR REPLACE INTO stay (terminal, user, name, since) VALUES (?, ?, ?, ?)",
                (batch.terminal, batch.stay.user, batch.stay.name, now),
            )
        elif batch.stay is not None:  # also where several share a name: nobody could tell whose stay it was
            self._db.execute("DELETE FROM stay WHERE terminal = ?", (batch.terminal,))
        for job_id, orders in batch.holds:
            self._hold(job_id, orders, now)
        for wish in batch.wishes:
            add_wish(self._db, wish.topic, wish.key, now)

    def _hold(self, job_id: str, orders: Sequence[str], now: float) -> None:
        kept = to_text(list(orders))
        self._db.execute(
            "DELETE FROM hold WHERE since < ? OR (job_id = ? AND order_number NOT IN (SELECT value FROM json_each(?)))",
            (now - _HELD_S, job_id, kept),
        )
        self._db.execute(
            "INSERT OR IGNORE INTO hold (order_number, job_id, since) SELECT value, ?, ? FROM json_each(?)",
            (job_id, now, kept),
        )

    def overdue(self) -> bool:
        """Ends what was asked for and is not to be begun any more; whether there was such a thing."""
        return asks.end_overdue(self._db, self._clock())

    def restores_after(self, number: int) -> list[Restore]:
        """The restores of the service behind the one of that number; none where that cannot be read."""
        try:
            return restores(self._db, after=number)
        except (apsw.Error, StorageError):
            return []

    def last_restore(self, before: float = inf) -> int:
        """The number of the last restore until that moment; 0 for none."""
        return max((one.n for one in self.restores_after(0) if one.noticed_at <= before), default=0)

    def is_asked(self, ask_id: str) -> bool:
        """Whether it still waits to be begun."""
        return asks.state_of(self._db, ask_id) == asks.ASKED

    # Resume

    def open_jobs(self, store: str, user: str, session_id: str = "") -> list[OpenJob]:
        """The open jobs of a person, bottom first, without those that another running session works on."""
        rows = fetch(
            self._db,
            "SELECT * FROM job WHERE store = ? AND user = ? AND closed IS NULL ORDER BY opened_seq, opened",
            store,
            user,
        )
        jobs = [job for job in (JobRow(*known(row, JobRow._fields)) for row in rows) if self._free(job, session_id)]
        return [OpenJob(job, job.snapshot, self._events_after(job)) for job in _stacked(jobs)]

    def last_work(self, store: str, user: str) -> LastWork | None:
        """The last thing that a person did here that the service hears of, and the job by which it was done; None where
        there is none. That somebody works on an order is none."""
        since = self._clock() - _LAST_S
        for job_id, lanes in fetch(self._db, _LAST, store, user, since):
            row = fetch_one(self._db, "SELECT * FROM job WHERE job_id = ?", job_id) if job_id else None
            job = None if row is None else JobRow(*known(row, JobRow._fields))
            if job is not None and job.closed is not None:
                return LastWork(str(lanes), OpenJob(job, job.snapshot, self._events_after(job)))
            return LastWork(str(lanes), None)
        return None

    def take_up(self, session_id: str, job_id: str) -> None:
        """A job that was closed is open again, and this session's."""
        with transaction(self._db):
            self._db.execute("UPDATE job SET closed = NULL, session_id = ? WHERE job_id = ?", (session_id, job_id))

    def adopt(self, session_id: str, job_ids: Sequence[str]) -> tuple[str, ...]:
        """Takes open jobs over for a session: those that are still open and that no other running session holds."""
        taken = []
        with transaction(self._db):
            for job_id in job_ids:
                row = fetch_one(self._db, "SELECT * FROM job WHERE job_id = ? AND closed IS NULL", job_id)
                if row is not None and self._free(JobRow(*known(row, JobRow._fields)), session_id):
                    self._db.execute("UPDATE job SET session_id = ? WHERE job_id = ?", (session_id, job_id))
                    taken.append(job_id)
        return tuple(taken)

    def _free(self, job: JobRow, session_id: str) -> bool:
        if job.session_id == session_id:
            return True
        row = fetch_one(self._db, "SELECT * FROM session WHERE session_id = ?", job.session_id)
        return row is None or not session_of(row).running

    def _events_after(self, job: JobRow) -> tuple[EventRow, ...]:
        rows = fetch(
            self._db, "SELECT * FROM event WHERE job_id = ? AND seq > ? ORDER BY seq", job.job_id, job.snapshot_seq
        )
        return tuple(EventRow(*known(row, EventRow._fields)) for row in rows)

    def last_of(self, session_id: str) -> EventRow | None:
        """The youngest event of a session."""
        row = fetch_one(self._db, "SELECT * FROM event WHERE session_id = ? ORDER BY seq DESC LIMIT 1", session_id)
        return None if row is None else EventRow(*known(row, EventRow._fields))

    # To look at

    def last_events(self, count: int) -> list[EventRow]:
        """The youngest events, oldest of them first."""
        rows = fetch(self._db, "SELECT * FROM event ORDER BY seq DESC LIMIT ?", count)
        return [EventRow(*known(row, EventRow._fields)) for row in reversed(rows)]


@cache
def _insert(table: str, fields: tuple[str, ...]) -> str:
    """By the names of the columns: a newer program may have added some of its own."""
    return f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))})"  # noqa: S608


def _intent(batch: Batch, seqs: Sequence[int], index: int, write: Write) -> Intent:
    entry = batch.entries[index]
    return Intent(write, entry.job_id, seqs[index], entry.occurred)


def _stacked(jobs: Sequence[JobRow]) -> list[JobRow]:
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
