"""The journal of outbox.db: jobs and events, and the commit of a batch with its operations.

`Journal.commit` is the one transaction that commits a batch of inputs.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.errors import StorageError
from aisle.host.database import (
    check_not_newer,
    fetch,
    fetch_one,
    is_replaced,
    schema_version,
    transaction,
)
from aisle.jobs.job import LocalNote, Refresh, Request, Resolve, SignIn, SignOut, Write
from aisle.named_tuple_json import to_text
from aisle.outbox import requests_and_token_holders
from aisle.outbox.local_notes import find_note, save_note
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Author, Intent, RandomBytes
from aisle.outbox.outbox_schema import OUTBOX_MIGRATIONS
from aisle.outbox.replay_after_restore import Restore, list_restores
from aisle.outbox.requests_and_token_holders import insert_read_request
from aisle.outbox.sessions_and_open_jobs import EventRow, JobRow, OpenJobs, Sessions, event_from_row, insert_sql

if TYPE_CHECKING:
    from aisle.host.deleted_file_recovery import Recovery


_ORDER_KEPT_S = 30 * 86400.0
"""Seconds for which the people who worked on an order are kept."""


class NewJob(NamedTuple):
    """A job that the batch opens; the session chooses the id (aisle.outbox.operation_record)."""

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
    """The same time, ISO 8601 UTC."""
    raw: str
    """The input as received."""
    kind: str
    event: str
    """The resolved event that the job received (text of aisle.named_tuple_json); a replay feeds it."""
    facts: str = ""
    step_before: str = ""
    step_after: str = ""
    verdict: str = ""


class Snapshot(NamedTuple):
    """State of a job after the entry of the batch with this index, or before all of them (-1)."""

    job_id: str
    text: str
    entry_index: int


_NOBODY = Author("", "")


@dataclass
class JournalBatch:
    """Everything that follows from the inputs of one read."""

    session_id: str
    terminal: str = ""
    author: Author = _NOBODY
    """Set, like the terminal, before the commit."""
    opened: list[NewJob] = field(default_factory=list)
    entries: list[EventEntry] = field(default_factory=list)
    writes: list[tuple[int, Write]] = field(default_factory=list)
    """Writes, each with the index of its entry."""
    snapshots: list[Snapshot] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    """job_ids."""
    reopened: list[str] = field(default_factory=list)
    """job_ids of closed jobs."""
    sign_in: SignIn | SignOut | None = None
    refreshes: list[Refresh] = field(default_factory=list)
    orders_in_work: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Jobs, and all the orders that each works on from now on."""
    resolutions: list[Resolve] = field(default_factory=list)
    local_notes: list[LocalNote] = field(default_factory=list)
    requests: list[tuple[str, Request]] = field(default_factory=list)
    """Requests, each with its id."""

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to write."""
        return self == JournalBatch(self.session_id, self.terminal, self.author)


class Committed(NamedTuple):
    """Result of a commit."""

    seqs: tuple[int, ...]
    """Numbers of the entries' events."""
    op_ids: tuple[str, ...]
    """Operation of each write; merged writes share one."""


class Journal:
    """Jobs and events of outbox.db, committed with the operations that follow from them."""

    def __init__(
        self, connection: apsw.Connection, *, clock: Callable[[], float] = time.time, random: RandomBytes = os.urandom
    ) -> None:
        self._db = connection
        self._clock = clock
        self._outbox = OperationQueue(connection, clock=clock, random=random)
        self.jobs = OpenJobs(connection, clock=clock)
        self.sessions = Sessions(connection, clock=clock)

    @property
    def is_replaced(self) -> bool:
        """True if the file was deleted or replaced under this connection, so that nothing can be stored in it."""
        return is_replaced(self._db)

    def recover_file(self) -> "Recovery":
        """Save the contents of a deleted file. Raise StorageError if that fails."""
        from aisle.host.deleted_file_recovery import recover_file  # rarely needed; no start pays for the import

        return recover_file(self._db)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def check_not_newer(self) -> None:
        """Raise StorageError if a newer program has changed the file, so that this one must not write to it."""
        found = 0
        with suppress(StorageError, apsw.Error):  # an error that may be temporary
            found = schema_version(self._db)
        if found > len(OUTBOX_MIGRATIONS):
            check_not_newer(self._db, len(OUTBOX_MIGRATIONS))

    def commit(self, batch: JournalBatch) -> Committed:
        """Commit a whole batch in one transaction. Raise StorageError if that fails; then nothing of it is stored."""
        with transaction(self._db):
            last = self._last_seq()
            for job in batch.opened:
                self._insert_job(job, batch, last)
            seqs = tuple(self._insert_event(entry, batch.session_id) for entry in batch.entries)
            for resolution in batch.resolutions:  # first: who has put excess back knows of it
                self._outbox.resolve(resolution, batch.author.app_user)
            op_ids = self._outbox.enqueue(
                [_intent_of_write(batch, seqs, index, write) for index, write in batch.writes], batch.author
            )
            for note in batch.local_notes:
                save_note(self._db, note, batch.author.app_user, self._clock())
            for name, request in batch.requests:
                requests_and_token_holders.insert_request(self._db, name, request, batch.author, self._clock())
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
        row = JobRow(
            job_id=job.job_id,
            store=batch.author.store,
            user=batch.author.app_user,
            name=job.name,
            version=job.version,
            parent=job.parent,
            session_id=batch.session_id,
            opened=self._clock(),
            opened_seq=last,
            closed=None,
            snapshot="",
            snapshot_seq=0,
        )
        self._db.execute(insert_sql("job", JobRow._fields), row)

    def _insert_event(self, entry: EventEntry, session_id: str) -> int:
        self._db.execute(insert_sql("event", EventRow._fields), (None, session_id, *entry))
        return self._db.last_insert_rowid()

    def _apply_effects(self, batch: JournalBatch) -> None:
        now = self._clock()
        self._db.executemany("UPDATE job SET closed = ? WHERE job_id = ?", [(now, job_id) for job_id in batch.closed])
        reopened = [(batch.session_id, job_id) for job_id in batch.reopened]
        self._db.executemany("UPDATE job SET closed = NULL, session_id = ? WHERE job_id = ?", reopened)
        if isinstance(batch.sign_in, SignIn) and not self.sessions.is_terminal_in_use(batch.terminal, batch.session_id):
            self._db.execute(
                "INSERT OR REPLACE INTO sign_in (terminal, user, name, since) VALUES (?, ?, ?, ?)",
                (batch.terminal, batch.sign_in.user, batch.sign_in.name, now),
            )
        elif (
            batch.sign_in is not None
        ):  # also if several sessions share the name: the sign-in would belong to nobody in particular
            self._db.execute("DELETE FROM sign_in WHERE terminal = ?", (batch.terminal,))
        for job_id, orders in batch.orders_in_work:
            self._set_orders_in_work(job_id, orders, now)
        for refresh in batch.refreshes:
            insert_read_request(self._db, refresh.topic, refresh.key, now)

    def _set_orders_in_work(self, job_id: str, orders: Sequence[str], now: float) -> None:
        order_list = to_text(list(orders))
        self._db.execute(
            "DELETE FROM order_in_work"
            " WHERE since < ? OR (job_id = ? AND order_number NOT IN (SELECT value FROM json_each(?)))",
            (now - _ORDER_KEPT_S, job_id, order_list),
        )
        self._db.execute(
            "INSERT OR IGNORE INTO order_in_work (order_number, job_id, since) SELECT value, ?, ? FROM json_each(?)",
            (job_id, now, order_list),
        )

    def expire_requests(self) -> bool:
        """Expire overdue requests. Return whether there were any."""
        return requests_and_token_holders.expire_overdue(self._db, self._clock())

    def restores_after(self, last_number: int) -> list[Restore]:
        """Return the restores of the service after the one with that number; none if they cannot be read."""
        try:
            return list_restores(self._db, after=last_number)
        except (apsw.Error, StorageError):
            return []

    def last_restore_number(self, before: float = inf) -> int:
        """Return the number of the last restore until that time; 0 if there is none."""
        return max((restore.n for restore in self.restores_after(0) if restore.noticed_at <= before), default=0)

    def is_request_pending(self, request_id: str) -> bool:
        """Return whether the request was not started yet."""
        return requests_and_token_holders.request_state(self._db, request_id) == requests_and_token_holders.REQUESTED

    def find_note(self, topic: str, key: str) -> str:
        """Return the text of a note on this host; empty if there is none. Raise StorageError."""
        note = find_note(self._db, topic, key)
        return note.text if note else ""

    def last_event(self, session_id: str) -> EventRow | None:
        """Return the youngest event of a session."""
        row = fetch_one(self._db, "SELECT * FROM event WHERE session_id = ? ORDER BY seq DESC LIMIT 1", session_id)
        return None if row is None else event_from_row(row)

    # Inspection

    def last_events(self, count: int) -> list[EventRow]:
        """Return the youngest events, oldest first."""
        rows = fetch(self._db, "SELECT * FROM event ORDER BY seq DESC LIMIT ?", count)
        return [event_from_row(row) for row in reversed(rows)]


def _intent_of_write(batch: JournalBatch, seqs: Sequence[int], index: int, write: Write) -> Intent:
    entry = batch.entries[index]
    return Intent(write, entry.job_id, seqs[index], entry.occurred)
