"""Retention: finished operations are deleted from outbox.db, closed days of the journal move to archive.db.

The archive keeps events, jobs and sessions unchanged, and totals by day. A row is durable in the archive before it is
deleted from the journal; an interrupted move is continued.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw

from aisle.host.database import checkpoint, connect, fetch, fetch_one, migrate, transaction
from aisle.named_tuple_json import to_text

OPERATION_DAYS = 30
"""Least number of days a finished operation is kept: a service that lost its last days may need it again."""
JOURNAL_DAYS = 35
"""Days of the journal that stay readable for sessions."""
ARCHIVE_DAYS = 800
"""Days of events in the archive; totals are kept forever."""
_MIN_JOURNAL_DAYS = 7
BATCH_SIZE = 200
"""Rows per batch, so that no session waits for a batch."""
DAY_S = 86400
_FUTURE_LIMIT_S = DAY_S
"""Seconds in the future beyond which a time came from a wrong clock; rows after it do not count as young for that."""


class Retention(NamedTuple):
    """Days for which each kind is kept; 0 means forever."""

    operation_days: float = OPERATION_DAYS
    journal_days: float = JOURNAL_DAYS
    archive_days: float = ARCHIVE_DAYS

    def operations_before(self, now: float) -> float:
        """Return the time before which finished operations are deleted."""
        return now - max(self.operation_days, OPERATION_DAYS) * DAY_S if self.operation_days else float("-inf")

    def journal_before(self, now: float) -> float:
        """Return the end of the youngest day to be archived, as a whole day of UTC."""
        days = max(self.journal_days, _MIN_JOURNAL_DAYS)
        return (now - days * DAY_S) // DAY_S * DAY_S if self.journal_days else float("-inf")

    def archive_before(self, now: float) -> float:
        """Return the time before which archived events are deleted; never one that has just come from the journal."""
        days = max(self.archive_days, self.journal_days + 1)
        return (now - days * DAY_S) // DAY_S * DAY_S if self.archive_days else float("-inf")


DEFAULT_RETENTION = Retention()

_ARCHIVE_SCHEMA = """
CREATE TABLE event (
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  at REAL NOT NULL,
  occurred TEXT NOT NULL,
  raw TEXT NOT NULL,
  kind TEXT NOT NULL,
  event TEXT NOT NULL,
  facts TEXT NOT NULL,
  step_before TEXT NOT NULL,
  step_after TEXT NOT NULL,
  verdict TEXT NOT NULL,
  PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;
CREATE INDEX event_at ON event (at);
CREATE TABLE job (
  job_id TEXT PRIMARY KEY,
  store TEXT NOT NULL,
  user TEXT NOT NULL,
  name TEXT NOT NULL,
  opened REAL NOT NULL,
  closed REAL
) WITHOUT ROWID;
CREATE TABLE session (
  session_id TEXT PRIMARY KEY,
  terminal TEXT NOT NULL,
  store TEXT NOT NULL,
  user TEXT NOT NULL,
  version TEXT NOT NULL,
  started REAL NOT NULL,
  ended REAL
) WITHOUT ROWID;
CREATE TABLE total (
  day TEXT NOT NULL,
  user TEXT NOT NULL,
  job TEXT NOT NULL,
  events INTEGER NOT NULL,
  first REAL NOT NULL,
  last REAL NOT NULL,
  PRIMARY KEY (day, user, job)
) WITHOUT ROWID;
"""

_FINISHED_OPERATIONS = """
SELECT n FROM operation o
WHERE n < ifnull((SELECT n FROM operation WHERE +created_at >= ?1 AND +created_at < ?3 ORDER BY n LIMIT 1), 1 << 62)
AND live = 0 AND state IN ('done', 'closed')
AND max(created_at, ifnull(confirmed_at, 0), ifnull(read_back_at, 0)) < ?1
AND NOT EXISTS (
  SELECT 1 FROM operation later WHERE later.depends_on <> '' AND later.depends_on = o.op_id AND later.live = 1
)
ORDER BY n LIMIT ?2
"""
"""Old rows are at the beginning: the query stops at the first young row and uses no index of times."""

_OLD_EVENTS = """
SELECT session_id, seq, job_id, at, occurred, raw, kind, event, facts, step_before, step_after, verdict FROM event
WHERE at < ?1 AND seq < (SELECT max(seq) FROM event)
AND seq < ifnull((SELECT seq FROM event WHERE at >= ?1 AND at < ?3 ORDER BY seq LIMIT 1), 1 << 62)
AND NOT EXISTS (SELECT 1 FROM job WHERE job.job_id = event.job_id AND job.closed IS NULL)
ORDER BY seq LIMIT ?2
"""

_JOBS = """
SELECT job_id, store, user, name, opened, closed FROM job WHERE job_id IN (SELECT value FROM json_each(?))
"""

_SESSIONS = """
SELECT session_id, terminal, store, user, version, started, ended FROM session
WHERE session_id IN (SELECT value FROM json_each(?))
"""

_OLD_SESSIONS = """
SELECT session_id FROM session WHERE last_seen < ?1
AND session_id NOT IN (SELECT session_id FROM job) AND session_id NOT IN (
  SELECT DISTINCT session_id FROM event
  WHERE seq < ifnull((SELECT seq FROM event WHERE at >= ?1 + ?2 AND at < ?3 ORDER BY seq LIMIT 1), 1 << 62)
)
"""
"""A session last seen before has no event more than a day later, so younger events are not searched."""

_TOTALS = """
INSERT OR REPLACE INTO total
SELECT date(e.at, 'unixepoch') AS day, ifnull(j.user, ifnull(s.user, '')) AS who, ifnull(j.name, '') AS what,
  count(*), min(e.at), max(e.at)
FROM event e LEFT JOIN job j ON j.job_id = e.job_id LEFT JOIN session s ON s.session_id = e.session_id
WHERE e.at >= ? AND e.at < ? GROUP BY day, who, what
"""


def archive_path(folder: Path) -> Path:
    """Return the path of a home folder's archive."""
    return folder / "archive.db"


def open_archive(folder: Path) -> apsw.Connection:
    """Open the archive of a home folder, creating it if missing. Raise StorageError if that fails."""
    connection = connect(archive_path(folder), guarded=True)
    migrate(connection, (_ARCHIVE_SCHEMA,))
    return connection


def delete_old_operations(
    outbox: apsw.Connection, now: float, limit: int = BATCH_SIZE, *, retention: Retention = DEFAULT_RETENTION
) -> int:
    """Delete operations that finished long ago. Return their number."""
    rows = fetch(outbox, _FINISHED_OPERATIONS, retention.operations_before(now), limit, now + _FUTURE_LIMIT_S)
    if not rows:
        return 0
    with transaction(outbox):
        for table in ("operation_lane", "operation"):
            outbox.executemany(f"DELETE FROM {table} WHERE n = ?", rows)  # noqa: S608 - names of our own tables
    return len(rows)


def copy_events(
    outbox: apsw.Connection,
    archive: apsw.Connection,
    now: float,
    limit: int = BATCH_SIZE,
    *,
    retention: Retention = DEFAULT_RETENTION,
) -> list[tuple[str, int]]:
    """Copy old events into the archive, with their jobs, sessions and totals. Return (session_id, seq) of each.

    Events of open jobs stay, and so does the youngest event.
    """
    rows = fetch(outbox, _OLD_EVENTS, retention.journal_before(now), limit, now + _FUTURE_LIMIT_S)
    if not rows:
        return []
    jobs = fetch(outbox, _JOBS, to_text(list({row[2] for row in rows})))
    sessions = fetch(outbox, _SESSIONS, to_text(list({row[0] for row in rows})))
    with transaction(archive):
        archive.executemany("INSERT OR IGNORE INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        archive.executemany("INSERT OR REPLACE INTO job VALUES (?, ?, ?, ?, ?, ?)", jobs)
        archive.executemany("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", sessions)
        for day in sorted({row[3] // DAY_S * DAY_S for row in rows}):
            archive.execute(_TOTALS, (day, day + DAY_S))
    return [(str(row[0]), int(row[1])) for row in rows]


def delete_copied_events(
    outbox: apsw.Connection, events: list[tuple[str, int]], now: float, *, retention: Retention = DEFAULT_RETENTION
) -> None:
    """Delete the copied events from the journal, and closed jobs without events."""
    with transaction(outbox):
        outbox.executemany("DELETE FROM event WHERE session_id = ? AND seq = ?", events)
        outbox.execute(
            "DELETE FROM job WHERE closed < ? AND NOT EXISTS (SELECT 1 FROM event WHERE event.job_id = job.job_id)",
            (retention.journal_before(now),),
        )


def delete_old_sessions(outbox: apsw.Connection, now: float, *, retention: Retention = DEFAULT_RETENTION) -> None:
    """Delete sessions last seen long ago that have neither jobs nor events. Call it once all events are moved."""
    old = fetch(outbox, _OLD_SESSIONS, retention.journal_before(now), DAY_S, now + _FUTURE_LIMIT_S)
    if old:
        with transaction(outbox):
            outbox.executemany("DELETE FROM session WHERE session_id = ?", old)


def has_old_events(outbox: apsw.Connection, now: float, *, retention: Retention = DEFAULT_RETENTION) -> bool:
    """Return whether an event is old enough to move; checked before an archive is opened or created."""
    row = fetch_one(outbox, "SELECT at FROM event WHERE at < ? ORDER BY seq LIMIT 1", now + _FUTURE_LIMIT_S)
    return row is not None and float(row[0]) < retention.journal_before(now)


def delete_archived_events(archive: apsw.Connection, before: float, limit: int = BATCH_SIZE) -> int:
    """Delete a batch of archived events from before this time. Return their number. Totals stay."""
    rows = fetch(archive, "SELECT session_id, seq FROM event WHERE at < ? ORDER BY at LIMIT ?", before, limit)
    if rows:
        with transaction(archive):
            archive.executemany("DELETE FROM event WHERE session_id = ? AND seq = ?", rows)
            archive.execute("DELETE FROM job WHERE closed < ?", (before,))
            archive.execute("DELETE FROM session WHERE ended < ?", (before,))
    return len(rows)


def archive_batch(folder: Path, outbox: apsw.Connection, now: float, kept: Retention = DEFAULT_RETENTION) -> int:
    """Move one batch out of a home folder's outbox, or delete one from its archive. Return the number of rows."""
    deleted = delete_old_operations(outbox, now, retention=kept)
    due = has_old_events(outbox, now, retention=kept)
    if not due and not (kept.archive_days and archive_path(folder).exists()):
        return deleted
    with closing(open_archive(folder)) as archive:
        moved = copy_events(outbox, archive, now, retention=kept) if due else []
        if moved:
            delete_copied_events(outbox, moved, now, retention=kept)
        elif due:
            delete_old_sessions(outbox, now, retention=kept)
        expired = delete_archived_events(archive, kept.archive_before(now))
        if moved or expired:
            checkpoint(archive, truncate=True)
    return deleted + len(moved) + expired


def daily_totals(archive: apsw.Connection) -> list[tuple[str, str, str, int]]:
    """Return (day, user, job, events) of everything archived, oldest first.

    The job is empty for a session's own events.
    """
    return [
        (str(day), str(user), str(job), int(count))
        for day, user, job, count in fetch(archive, "SELECT day, user, job, events FROM total ORDER BY day, user, job")
    ]
