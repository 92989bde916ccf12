"""Restores of the service that were noticed on this host, or told it: when, and what was sent again for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from aisle.host.database import fetch, transaction
from aisle.json_codec import to_text
from aisle.outbox.operation_record import Operation
from aisle.outbox.operation_state import LOSE_BY_RESTORE, REPLAY_AFTER_RESTORE
from aisle.outbox.outcome_reasons import NO_MESSAGE, store_message
from aisle.outbox.reconciliation import Reconciliation

DETECTED, REPORTED = "noticed", "told"
"""The courier found it out; an operator said so (`aisle outbox replay`)."""


class Restore(NamedTuple):
    """One restore. Moments are seconds since 1970."""

    n: int
    noticed_at: float
    how: str
    """NOTICED or TOLD."""
    again: int
    """Operations that are sent again under their keys."""
    looked_for: int
    """Operations that are looked for, since the service keeps no keys."""


def record_restore(
    connection: apsw.Connection, at: float, source: str, resent: int, looked_up: int = 0, number: int = 0
) -> int:
    """Keeps it, inside the caller's transaction, in the place of the note of this number, if it has one; its number."""
    connection.execute(
        "INSERT OR REPLACE INTO restore (n, noticed_at, how, again, looked_for) VALUES (?, ?, ?, ?, ?)",
        (number or None, at, source, resent, looked_up),
    )
    return number or connection.last_insert_rowid()


def list_restores(connection: apsw.Connection, since: float = 0.0, after: int = 0) -> list[Restore]:
    """The restores since a moment, behind the one of that number, youngest first."""
    rows = fetch(
        connection,
        "SELECT n, noticed_at, how, again, looked_for FROM restore WHERE noticed_at >= ? AND n > ? ORDER BY n DESC",
        since,
        after,
    )
    return [Restore(*row) for row in rows]


def unfinished_counts(connection: apsw.Connection) -> tuple[int, int]:
    """(waiting, for a person): of what was sent again or looked for after a restore, what is not settled yet."""
    rows = fetch(
        connection,
        "SELECT state IN ('rejected', 'needs_person'), count(*) FROM operation"
        " WHERE live = 1 AND replayed_at IS NOT NULL AND state <> 'done' GROUP BY 1",
    )
    of = {bool(stuck): int(count) for stuck, count in rows}
    return of.get(False, 0), of.get(True, 0)


LOOKUP_DAYS = 7
"""How far back confirmed work without a key is looked for after a restore."""

_BATCH_SIZE = 100
"""Operations in one transaction, so that no session waits for it."""

_CONFIRMED_WITH_KEY = "state = 'done' AND keyed = 1 AND (closed_by = '' OR answer <> '')"
"""What the service itself confirmed under a key. What a person says has arrived may stand there under another one."""
_KEY_SENT_AT = "coalesce(keyed_since, first_sent_at, created_at)"
"""Since when the service may keep the key."""

_NEWEST_KEYS = f"""
SELECT op_id FROM (
  SELECT op_id FROM (
    SELECT op_id FROM operation WHERE {_CONFIRMED_WITH_KEY} AND {_KEY_SENT_AT} >= ?1 ORDER BY confirmed_at DESC LIMIT ?2
  )
  UNION ALL
  SELECT op_id FROM (
    SELECT op_id FROM operation WHERE {_CONFIRMED_WITH_KEY} AND {_KEY_SENT_AT} >= ?1 AND confirmed_at > 0
    ORDER BY n DESC LIMIT ?2
  )
)
"""  # noqa: S608 - conditions of our own
"""By when they were confirmed, and by when they were made: the first misleads where the host's clock was set back, or
where answers were lost, and older work is confirmed after younger."""

_KEPT_KEYS = f"""
SELECT n, op_id FROM operation WHERE {_CONFIRMED_WITH_KEY} AND {_KEY_SENT_AT} >= ? AND n < ?
ORDER BY n DESC LIMIT ?
"""  # noqa: S608
_CONFIRMED_SINCE = (
    f"SELECT * FROM operation WHERE {_CONFIRMED_WITH_KEY} AND confirmed_at >= ? AND {_KEY_SENT_AT} >= ? ORDER BY n"  # noqa: S608
)
_CONFIRMED_WITHOUT_KEY = (
    "SELECT * FROM operation WHERE state = 'done' AND keyed = 0 AND first_sent_at IS NOT NULL"
    " AND confirmed_at > ? ORDER BY n"
)
_CONFIRMED_WITHOUT_KEY_OF = (
    "SELECT * FROM operation WHERE state = 'done' AND keyed = 0 AND first_sent_at IS NOT NULL AND closed_by = ''"
    " AND operation IN (SELECT value FROM json_each(?)) AND confirmed_at >= ? ORDER BY confirmed_at DESC LIMIT ?"
)
_END_CONFIRMED_INTERVAL = """
UPDATE operation SET confirmed_at = min(confirmed_at, :now),
  was_in = json_insert(iif(was_in = '', '[]', was_in), '$[#]', json_array(iif(live = 1, confirmed_at, 0), :now))
WHERE n = :n AND confirmed_at IS NOT NULL
"""
"""What was read back already is in all that was read until now: its own moment may be of another clock."""
_RESET_FOR_REPLAY = """
UPDATE operation SET attempts = 0, read_back_at = NULL, replayed_at = :now,
  keyed_since = iif(:lost, NULL, coalesce(keyed_since, first_sent_at)),
  first_sent_at = iif(:lost, NULL, min(first_sent_at, :now)) WHERE n = :n
"""
"""What the service may still have keeps the moment when it was sent: it may be in what is read."""


class ReplayCounts(NamedTuple):
    """What is sent again, what is looked for, and what is too old for either."""

    resent: int
    looked_up: int
    too_old: int


class RestoreReplay(Reconciliation):
    """What becomes of confirmed operations after a restore."""

    def newest_keys(self, since: float, limit: int) -> list[str]:
        """The keys that the service confirmed last, and has to know, sent since that moment: so many by when they were
        confirmed, and as many by when they were made."""
        return list(dict.fromkeys(row[0] for row in fetch(self._db, _NEWEST_KEYS, since, limit)))

    def kept_keys(self, since: float, size: int) -> Iterator[list[str]]:
        """All keys that were sent since that moment and confirmed, youngest first, so many at a time."""
        before = 1 << 62
        while rows := fetch(self._db, _KEPT_KEYS, since, before, size):
            before = int(rows[-1][0])
            yield [str(op_id) for _, op_id in rows]

    def replay(self, op_ids: Iterable[str], source: str) -> int:
        """Sends again these that the service has lost: the same bytes, under the same keys. How many; it is noted."""
        ops: list[Operation] = []
        for op_id in op_ids:
            ops += self._select("SELECT * FROM operation WHERE op_id = ? AND state = 'done'", op_id)
        return self._replay(ops, (), source, lost=True).resent

    def replay_since(self, since: float | None, keys_kept_since: float, source: str) -> ReplayCounts:
        """The same of all that was confirmed since that moment, whether the service has lost it or not. Keys that were
        sent before `kept_since` the service may have forgotten: they are left alone. What went without one is looked
        for; where no moment is said, that of `UNKEYED_DAYS` days, for more would be for a person to settle."""
        unkeyed_since = self._clock() - LOOKUP_DAYS * 86400 if since is None else since
        since = since or 0.0
        ops = self._select(_CONFIRMED_SINCE, since, keys_kept_since)
        all_of = self._select(_CONFIRMED_SINCE, since, 0.0)
        return self._replay(ops, self._select(_CONFIRMED_WITHOUT_KEY, unkeyed_since), source)._replace(
            too_old=len(all_of) - len(ops)
        )

    def confirmed_without_key(self, operations: Sequence[str], since: float, limit: int) -> list[Operation]:
        """What was confirmed without a key since that moment, of these operations, youngest first."""
        return self._select(_CONFIRMED_WITHOUT_KEY_OF, to_text(list(operations)), since, limit)

    def look_up_without_key(self, since: float, source: str) -> int:
        """Looks for all that was confirmed without a key since that moment; how many."""
        return self._replay((), self._select(_CONFIRMED_WITHOUT_KEY, since), source).looked_up

    def _replay(
        self, with_key: Iterable[Operation], without_key: Iterable[Operation], source: str, *, lost: bool = False
    ) -> ReplayCounts:
        """Goes back to the beginning with these; `lost`: it is known that the service does not have them."""
        work = sorted([*with_key, *without_key], key=lambda op: op.n)
        done = ReplayCounts(0, 0, 0)
        note = 0
        for first in range(0, max(1, len(work)), _BATCH_SIZE):
            with transaction(self._db):  # who ends in between has noted what goes again
                for op in work[first : first + _BATCH_SIZE]:
                    self._reset_operation(op, lost=lost)
                    done = done._replace(resent=done.resent + op.keyed, looked_up=done.looked_up + (not op.keyed))
                note = record_restore(self._db, self._clock(), source, done.resent, done.looked_up, note)
        return done

    def _reset_operation(self, op: Operation, *, lost: bool) -> None:
        now = self._clock()
        self._db.execute(_END_CONFIRMED_INTERVAL, {"now": now, "n": op.n})
        if op.keyed:
            self._apply_event(op.op_id, REPLAY_AFTER_RESTORE, why=NO_MESSAGE)
            self._db.execute(_RESET_FOR_REPLAY, {"now": now, "lost": lost, "n": op.n})
        else:
            times: dict[str, Any] = {"settles_at": now, "not_before": now}
            self._apply_event(op.op_id, LOSE_BY_RESTORE, why=store_message("told.restored"), **times)
            self._db.execute("UPDATE operation SET read_back_at = NULL, replayed_at = ? WHERE n = ?", (now, op.n))
        lanes: Sequence[tuple[str, int]] = [(lane, op.n) for lane in set(op.lanes)]
        self._db.executemany("INSERT OR IGNORE INTO op_lane (lane, n) VALUES (?, ?)", lanes)
