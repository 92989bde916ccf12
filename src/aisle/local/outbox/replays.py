"""What was confirmed, and may have to be said again: the service was put back from an earlier copy of itself.

What went under a key is sent again under it, with the same bytes: what the service still has it only answers. What went
without one is looked for first, as any doubt is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from aisle.jobs.codec import to_text
from aisle.local.db import fetch, transaction
from aisle.local.outbox.doubtful import Doubtful
from aisle.local.outbox.operation import Operation
from aisle.local.outbox.restores import note_restore
from aisle.local.outbox.state import LOSE, REPLAY
from aisle.local.told import NOTHING, told
from aisle.tuples import NamedTuple

UNKEYED_DAYS = 7
"""How far back confirmed work without a key is looked for after a restore."""

_AT_ONCE = 100
"""Operations in one transaction, so that no session waits for it."""

_CONFIRMED = "state = 'done' AND keyed = 1 AND (closed_by = '' OR answer <> '')"
"""What the service itself confirmed under a key. What a person says has arrived may stand there under another one."""
_SENT = "coalesce(keyed_since, first_sent_at, created_at)"
"""Since when the service may keep the key."""

_NEWEST = f"""
SELECT op_id FROM (
  SELECT op_id FROM (
    SELECT op_id FROM operation WHERE {_CONFIRMED} AND {_SENT} >= ?1 ORDER BY confirmed_at DESC LIMIT ?2
  )
  UNION ALL
  SELECT op_id FROM (
    SELECT op_id FROM operation WHERE {_CONFIRMED} AND {_SENT} >= ?1 AND confirmed_at > 0 ORDER BY n DESC LIMIT ?2
  )
)
"""  # noqa: S608 - conditions of our own
"""By when they were confirmed, and by when they were made: the first misleads where the host's clock was set back, or
where answers were lost, and older work is confirmed after younger."""

_KEPT = f"SELECT n, op_id FROM operation WHERE {_CONFIRMED} AND {_SENT} >= ? AND n < ? ORDER BY n DESC LIMIT ?"  # noqa: S608
_SINCE = f"SELECT * FROM operation WHERE {_CONFIRMED} AND confirmed_at >= ? AND {_SENT} >= ? ORDER BY n"  # noqa: S608
_UNKEYED = (
    "SELECT * FROM operation WHERE state = 'done' AND keyed = 0 AND first_sent_at IS NOT NULL"
    " AND confirmed_at > ? ORDER BY n"
)
_UNKEYED_OF = (
    "SELECT * FROM operation WHERE state = 'done' AND keyed = 0 AND first_sent_at IS NOT NULL AND closed_by = ''"
    " AND operation IN (SELECT value FROM json_each(?)) AND confirmed_at >= ? ORDER BY confirmed_at DESC LIMIT ?"
)
_WAS_IN = """
UPDATE operation SET confirmed_at = min(confirmed_at, :now),
  was_in = json_insert(iif(was_in = '', '[]', was_in), '$[#]', json_array(iif(live = 1, confirmed_at, 0), :now))
WHERE n = :n AND confirmed_at IS NOT NULL
"""
"""What was read back already is in all that was read until now: its own moment may be of another clock."""
_AGAIN = """
UPDATE operation SET attempts = 0, read_back_at = NULL, replayed_at = :now,
  keyed_since = iif(:lost, NULL, coalesce(keyed_since, first_sent_at)),
  first_sent_at = iif(:lost, NULL, min(first_sent_at, :now)) WHERE n = :n
"""
"""What the service may still have keeps the moment when it was sent: it may be in what is read."""


class Replayed(NamedTuple):
    """What is sent again, what is looked for, and what is too old for either."""

    again: int
    looked_for: int
    too_old: int


class Replays(Doubtful):
    """What becomes of confirmed operations after a restore."""

    def newest_keys(self, since: float, limit: int) -> list[str]:
        """The keys that the service confirmed last, and has to know, sent since that moment: so many by when they were
        confirmed, and as many by when they were made."""
        return list(dict.fromkeys(row[0] for row in fetch(self._db, _NEWEST, since, limit)))

    def kept_keys(self, since: float, size: int) -> Iterator[list[str]]:
        """All keys that were sent since that moment and confirmed, youngest first, so many at a time."""
        before = 1 << 62
        while rows := fetch(self._db, _KEPT, since, before, size):
            before = int(rows[-1][0])
            yield [str(op_id) for _, op_id in rows]

    def replay(self, op_ids: Iterable[str], how: str) -> int:
        """Sends again these that the service has lost: the same bytes, under the same keys. How many; it is noted."""
        ops: list[Operation] = []
        for op_id in op_ids:
            ops += self._all("SELECT * FROM operation WHERE op_id = ? AND state = 'done'", op_id)
        return self._replay(ops, (), how, lost=True).again

    def replay_since(self, since: float | None, kept_since: float, how: str) -> Replayed:
        """The same of all that was confirmed since that moment, whether the service has lost it or not. Keys that were
        sent before `kept_since` the service may have forgotten: they are left alone. What went without one is looked
        for; where no moment is said, that of `UNKEYED_DAYS` days, for more would be for a person to settle."""
        unkeyed_since = self._clock() - UNKEYED_DAYS * 86400 if since is None else since
        since = since or 0.0
        ops = self._all(_SINCE, since, kept_since)
        all_of = self._all(_SINCE, since, 0.0)
        return self._replay(ops, self._all(_UNKEYED, unkeyed_since), how)._replace(too_old=len(all_of) - len(ops))

    def confirmed_unkeyed(self, operations: Sequence[str], since: float, limit: int) -> list[Operation]:
        """What was confirmed without a key since that moment, of these operations, youngest first."""
        return self._all(_UNKEYED_OF, to_text(list(operations)), since, limit)

    def doubt_unkeyed(self, since: float, how: str) -> int:
        """Looks for all that was confirmed without a key since that moment; how many."""
        return self._replay((), self._all(_UNKEYED, since), how).looked_for

    def _replay(
        self, keyed: Iterable[Operation], unkeyed: Iterable[Operation], how: str, *, lost: bool = False
    ) -> Replayed:
        """Goes back to the beginning with these; `lost`: it is known that the service does not have them."""
        work = sorted([*keyed, *unkeyed], key=lambda op: op.n)
        done = Replayed(0, 0, 0)
        note = 0
        for first in range(0, max(1, len(work)), _AT_ONCE):
            with transaction(self._db):  # who ends in between has noted what goes again
                for op in work[first : first + _AT_ONCE]:
                    self._begin_again(op, lost=lost)
                    done = done._replace(again=done.again + op.keyed, looked_for=done.looked_for + (not op.keyed))
                note = note_restore(self._db, self._clock(), how, done.again, done.looked_for, note)
        return done

    def _begin_again(self, op: Operation, *, lost: bool) -> None:
        now = self._clock()
        self._db.execute(_WAS_IN, {"now": now, "n": op.n})
        if op.keyed:
            self._apply(op.op_id, REPLAY, why=NOTHING)
            self._db.execute(_AGAIN, {"now": now, "lost": lost, "n": op.n})
        else:
            times: dict[str, Any] = {"settles_at": now, "not_before": now}
            self._apply(op.op_id, LOSE, why=told("told.restored"), **times)
            self._db.execute("UPDATE operation SET read_back_at = NULL, replayed_at = ? WHERE n = ?", (now, op.n))
        lanes: Sequence[tuple[str, int]] = [(lane, op.n) for lane in set(op.lanes)]
        self._db.executemany("INSERT OR IGNORE INTO op_lane (lane, n) VALUES (?, ?)", lanes)
