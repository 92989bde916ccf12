"""Restores of the service from an earlier copy: their records, and the replay of operations that it lost.

`courier/resend_after_restore` finds out which these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import apsw

from aisle.host.database import fetch, transaction
from aisle.named_tuple_json import to_text
from aisle.outbox.merge_and_rebase import BASE, PICKED, has_required_fields, lines_of_answer
from aisle.outbox.operation_record import LOSE_BY_RESTORE, REPLAY_AFTER_RESTORE, Operation
from aisle.outbox.operation_table import OperationRows
from aisle.row_values import to_decimal
from aisle.stored_messages import NO_MESSAGE, store_message

if TYPE_CHECKING:
    from aisle.operation_body_types import LineUpdate

DETECTED, REPORTED = "noticed", "told"
"""Sources of a restore: found by the courier; reported by an operator (`aisle outbox replay`)."""


class Restore(NamedTuple):
    """One restore. Times are seconds since 1970."""

    n: int
    noticed_at: float
    source: str
    """DETECTED or REPORTED."""
    resent: int
    """Number of operations sent again under their keys."""
    looked_up: int
    """Number of operations looked up, because they have no key."""


def record_restore(
    connection: apsw.Connection, at: float, source: str, resent: int, looked_up: int = 0, number: int = 0
) -> int:
    """Store a restore inside the caller's transaction, replacing the one of this number. Return its number."""
    connection.execute(
        "INSERT OR REPLACE INTO restore (n, noticed_at, how, again, looked_for) VALUES (?, ?, ?, ?, ?)",
        (number or None, at, source, resent, looked_up),
    )
    return number or connection.last_insert_rowid()


def list_restores(connection: apsw.Connection, since: float = 0.0, after: int = 0) -> list[Restore]:
    """Return the restores since a time and after that number, youngest first."""
    rows = fetch(
        connection,
        "SELECT n, noticed_at, how, again, looked_for FROM restore WHERE noticed_at >= ? AND n > ? ORDER BY n DESC",
        since,
        after,
    )
    return [Restore(*row) for row in rows]


def unfinished_counts(connection: apsw.Connection) -> tuple[int, int]:
    """Return the numbers of replayed operations that are not confirmed: those in progress, and those for a person."""
    rows = fetch(
        connection,
        "SELECT state IN ('rejected', 'needs_person'), count(*) FROM operation"
        " WHERE live = 1 AND replayed_at IS NOT NULL AND state <> 'done' GROUP BY 1",
    )
    counts = {bool(stuck): int(count) for stuck, count in rows}
    return counts.get(False, 0), counts.get(True, 0)


LOOKUP_DAYS = 7
"""Days for which operations confirmed without a key are looked up after a restore."""

_BATCH_SIZE = 100
"""Operations in one transaction, so that no session waits for it."""

_CONFIRMED_WITH_KEY = "state = 'done' AND has_key = 1 AND (closed_by = '' OR answer <> '')"
"""Operations that the service itself confirmed under a key. One reported by a person may be there under another key."""
_KEY_SENT_AT = "coalesce(keyed_since, first_sent_at, created_at)"
"""Time since when the service may keep the key."""

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
"""Newest keys by confirmation and by creation. The first order misleads if the clock was set back, or if answers were
lost and older operations are confirmed after younger ones."""

_KEPT_KEYS = f"""
SELECT n, op_id FROM operation WHERE {_CONFIRMED_WITH_KEY} AND {_KEY_SENT_AT} >= ? AND n < ?
ORDER BY n DESC LIMIT ?
"""  # noqa: S608
_CONFIRMED_SINCE = (
    f"SELECT * FROM operation WHERE {_CONFIRMED_WITH_KEY} AND confirmed_at >= ? AND {_KEY_SENT_AT} >= ? ORDER BY n"  # noqa: S608
)
_CONFIRMED_WITHOUT_KEY = (
    "SELECT * FROM operation WHERE state = 'done' AND has_key = 0 AND first_sent_at IS NOT NULL"
    " AND confirmed_at > ? ORDER BY n"
)
_CONFIRMED_WITHOUT_KEY_OF = (
    "SELECT * FROM operation WHERE state = 'done' AND has_key = 0 AND first_sent_at IS NOT NULL AND closed_by = ''"
    " AND operation IN (SELECT value FROM json_each(?)) AND confirmed_at >= ? ORDER BY confirmed_at DESC LIMIT ?"
)
_END_CONFIRMED_INTERVAL = """
UPDATE operation SET confirmed_at = min(confirmed_at, :now),
  read_intervals = json_insert(
    iif(read_intervals = '', '[]', read_intervals), '$[#]', json_array(iif(live = 1, confirmed_at, 0), :now)
  )
WHERE n = :n AND confirmed_at IS NOT NULL
"""
"""An operation that was read back is in all reads until now.

Its own confirmation may have the time of another clock.
"""
_RESET_FOR_REPLAY = """
UPDATE operation SET attempts = 0, read_back_at = NULL, replayed_at = :now,
  keyed_since = iif(:lost, NULL, coalesce(keyed_since, first_sent_at)),
  first_sent_at = iif(:lost, NULL, min(first_sent_at, :now)) WHERE n = :n
"""
"""An operation that the service may still have keeps the time of its first sending, because reads may include it."""


class ReplayCounts(NamedTuple):
    """Numbers of operations that are sent again, looked up, and too old for either."""

    resent: int
    looked_up: int
    too_old: int


class RestoreReplay(OperationRows):
    """Replay of confirmed operations after a restore."""

    def newest_keys(self, since: float, limit: int) -> list[str]:
        """Return the keys that the service confirmed last and has to know, sent since that time.

        `limit` keys are taken by confirmation and `limit` by creation.
        """
        return list(dict.fromkeys(row[0] for row in fetch(self._db, _NEWEST_KEYS, since, limit)))

    def kept_keys(self, since: float, size: int) -> Iterator[list[str]]:
        """Yield all keys that were sent since that time and confirmed, youngest first, in lists of `size`."""
        before = 1 << 62
        while rows := fetch(self._db, _KEPT_KEYS, since, before, size):
            before = int(rows[-1][0])
            yield [str(op_id) for _, op_id in rows]

    def replay(self, op_ids: Iterable[str], source: str) -> int:
        """Send these lost operations again: the same bytes under the same keys.

        Record the restore and return their number.
        """
        ops: list[Operation] = []
        for op_id in op_ids:
            ops += self._select("SELECT * FROM operation WHERE op_id = ? AND state = 'done'", op_id)
        return self._replay(ops, (), source, lost=True).resent

    def replay_since(self, since: float | None, keys_kept_since: float, source: str) -> ReplayCounts:
        """Replay everything confirmed since that time, lost or not.

        Keys sent before `keys_kept_since` may be forgotten by the service and are left out. Operations without a key
        are looked up; if `since` is None only those of `LOOKUP_DAYS` days, because more would burden a person.
        """
        unkeyed_since = self._clock() - LOOKUP_DAYS * 86400 if since is None else since
        since = since or 0.0
        ops = self._select(_CONFIRMED_SINCE, since, keys_kept_since)
        all_of = self._select(_CONFIRMED_SINCE, since, 0.0)
        return self._replay(ops, self._select(_CONFIRMED_WITHOUT_KEY, unkeyed_since), source)._replace(
            too_old=len(all_of) - len(ops)
        )

    def confirmed_without_key(self, operations: Sequence[str], since: float, limit: int) -> list[Operation]:
        """Return operations of these kinds that were confirmed without a key since that time, youngest first."""
        return self._select(_CONFIRMED_WITHOUT_KEY_OF, to_text(list(operations)), since, limit)

    def look_up_without_key(self, since: float, source: str) -> int:
        """Look up everything confirmed without a key since that time. Return the number of operations."""
        return self._replay((), self._select(_CONFIRMED_WITHOUT_KEY, since), source).looked_up

    def _replay(
        self, with_key: Iterable[Operation], without_key: Iterable[Operation], source: str, *, lost: bool = False
    ) -> ReplayCounts:
        """Reset these operations; `lost`: the service certainly does not have them."""
        operations = sorted([*with_key, *without_key], key=lambda op: op.n)
        counts = ReplayCounts(0, 0, 0)
        number = 0
        for first in range(0, max(1, len(operations)), _BATCH_SIZE):
            with transaction(self._db):  # an interrupted replay has recorded what is sent again
                for op in operations[first : first + _BATCH_SIZE]:
                    self._reset_operation(op, lost=lost)
                    counts = counts._replace(
                        resent=counts.resent + op.has_key, looked_up=counts.looked_up + (not op.has_key)
                    )
                number = record_restore(self._db, self._clock(), source, counts.resent, counts.looked_up, number)
        return counts

    def _reset_operation(self, op: Operation, *, lost: bool) -> None:
        now = self._clock()
        self._db.execute(_END_CONFIRMED_INTERVAL, {"now": now, "n": op.n})
        if op.has_key:
            self._apply_event(op.op_id, REPLAY_AFTER_RESTORE, why=NO_MESSAGE)
            self._db.execute(_RESET_FOR_REPLAY, {"now": now, "lost": lost, "n": op.n})
        else:
            times: dict[str, object] = {"absence_final_at": now, "not_before": now}
            self._apply_event(op.op_id, LOSE_BY_RESTORE, why=store_message("stored_reason.restored"), **times)
            self._db.execute("UPDATE operation SET read_back_at = NULL, replayed_at = ? WHERE n = ?", (now, op.n))
        lanes: Sequence[tuple[str, int]] = [(lane, op.n) for lane in set(op.lanes)]
        self._db.executemany("INSERT OR IGNORE INTO operation_lane (lane, n) VALUES (?, ?)", lanes)


SUPERSEDED = "superseded"
"""Name of the lines in an answer whose closing was not repeated, because they were changed later."""


def superseded_line(op: Operation, line: LineUpdate) -> LineUpdate:
    """Return the line of an operation whose closing was not repeated after a restore, as it is now."""
    picked = to_decimal(line[PICKED])
    order_line: LineUpdate = {"line_number": line["line_number"], "product_number": line["product_number"]}
    for each in op.body["orders"].get("order_lines") or ():
        if int(each["line_number"]) == line["line_number"]:
            order_line |= each
    return order_line | {BASE: picked, PICKED: picked}


def parse_superseded_lines(content: bytes | str) -> list[LineUpdate]:
    """Return the lines of which an answer of our own service says that a later change stands."""
    return [cast("LineUpdate", row) for row in lines_of_answer(content, SUPERSEDED) if has_required_fields(row)]
