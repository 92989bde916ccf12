"""The rows of the outbox, and how one moves along the table of states."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import apsw

from aisle.errors import StorageError
from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.db import fetch, fetch_one, transaction
from aisle.local.host.ids import Random
from aisle.local.outbox.operation import Operation, as_operation
from aisle.local.outbox.state import CLOSED, DONE, IN_DOUBT, SENDING, after

_UPDATE = """
UPDATE operation SET
  state = :state, live = :live, attempts = attempts + :sent, not_before = :not_before,
  frozen = coalesce(:frozen, frozen), fingerprint = coalesce(:fingerprint, fingerprint),
  keyed = coalesce(:keyed, keyed),
  keyed_since = iif(:keyed = 1, coalesce(keyed_since, first_sent_at, :first_sent_at), keyed_since),
  first_sent_at = coalesce(first_sent_at, :first_sent_at),
  last_error = coalesce(:why, last_error), answer = coalesce(:answer, answer),
  confirmed_at = coalesce(:confirmed_at, confirmed_at),
  doubted_at = coalesce(:doubted_at, doubted_at), settles_at = coalesce(:settles_at, settles_at),
  evidence = coalesce(:evidence, evidence),
  superseded_by = coalesce(:superseded_by, superseded_by), closed_by = coalesce(:closed_by, closed_by)
WHERE op_id = :op_id
"""

_UNCHANGED: dict[str, Any] = {
    "why": None,
    "not_before": 0,
    "frozen": None,
    "fingerprint": None,
    "sent": 0,
    "keyed": None,
    "answer": None,
    "superseded_by": None,
    "closed_by": None,
    "settles_at": None,
    "evidence": None,
}
"""What may change beside the state; None leaves a value as it is."""


_YOUNGER = """
SELECT 1 FROM op_lane mine JOIN op_lane younger ON younger.lane = mine.lane AND younger.n > mine.n
JOIN operation o ON o.n = younger.n
WHERE mine.n = ? AND o.state IN ('queued', 'sending', 'in_doubt', 'needs_person') LIMIT 1
"""


def is_last(connection: apsw.Connection, n: int) -> bool:
    """Whether nothing waits behind an operation in its lanes: what is sent in its place comes in its turn then."""
    return fetch_one(connection, _YOUNGER, n) is None


def kept(evidence: Json) -> str | None:
    """The text of what was read, for the table; None leaves what is there."""
    return None if evidence is None else to_text(evidence)


class Rows:
    """One connection to the operations."""

    def __init__(
        self, connection: apsw.Connection, *, clock: Callable[[], float] = time.time, random: Random = os.urandom
    ) -> None:
        self._db = connection
        self._clock = clock
        self._random = random

    def get(self, op_id: str) -> Operation:
        """One operation. Raises StorageError when there is none of that id."""
        found = self._all("SELECT * FROM operation WHERE op_id = ?", op_id)
        if not found:
            raise StorageError(f"There is no operation {op_id} in {self._db.filename}. See `aisle outbox`.")
        return found[0]

    def is_keyed(self, op_id: str) -> bool:
        """Whether it was last sent under its key."""
        return fetch_one(self._db, "SELECT 1 FROM operation WHERE op_id = ? AND keyed = 1", op_id) is not None

    def _all(self, sql: str, *values: Any) -> list[Operation]:
        return [as_operation(row) for row in fetch(self._db, sql, *values)]

    def _change(self, op_id: str, event: str, **columns: Any) -> None:
        with transaction(self._db):
            self._apply(op_id, event, **columns)

    def _apply(self, op_id: str, event: str, **columns: Any) -> None:
        """Moves one operation along the table, inside a transaction; `columns` as in `_UNCHANGED`."""
        found = fetch_one(self._db, "SELECT state FROM operation WHERE op_id = ?", op_id)
        state = after(found[0] if found else self.get(op_id).state, event)
        now = self._clock()
        row = {
            **_UNCHANGED,
            **columns,
            "op_id": op_id,
            "state": state,
            "live": int(state != CLOSED),
            "first_sent_at": now if state == SENDING else None,
            "confirmed_at": now if state == DONE else None,
            "doubted_at": now if state == IN_DOUBT else None,
        }
        self._db.execute(_UPDATE, row)
        if state == CLOSED:
            self._leave_lanes(op_id)

    def _leave_lanes(self, op_id: str) -> None:
        self._db.execute("DELETE FROM op_lane WHERE n = (SELECT n FROM operation WHERE op_id = ?)", (op_id,))
