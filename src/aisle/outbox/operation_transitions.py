"""Access to the rows of operations: reading one, and its transition to another state."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import apsw

from aisle.errors import StorageError
from aisle.host.database import fetch, fetch_one, transaction
from aisle.jobs.job import Json
from aisle.json_codec import to_text
from aisle.outbox.operation_record import Operation, RandomBytes, operation_from_row
from aisle.outbox.operation_state import CLOSED, CONFIRMED, IN_DOUBT, SENDING, next_state

_UPDATE = """
UPDATE operation SET
  state = :state, live = :live, attempts = attempts + :sent, not_before = :not_before,
  sent_body = coalesce(:sent_body, sent_body), fingerprint = coalesce(:fingerprint, fingerprint),
  has_key = coalesce(:has_key, has_key),
  keyed_since = iif(:has_key = 1, coalesce(keyed_since, first_sent_at, :first_sent_at), keyed_since),
  first_sent_at = coalesce(first_sent_at, :first_sent_at),
  last_error = coalesce(:why, last_error), answer = coalesce(:answer, answer),
  confirmed_at = coalesce(:confirmed_at, confirmed_at),
  in_doubt_at = coalesce(:in_doubt_at, in_doubt_at), absence_final_at = coalesce(:absence_final_at, absence_final_at),
  evidence = coalesce(:evidence, evidence),
  superseded_by = coalesce(:superseded_by, superseded_by), closed_by = coalesce(:closed_by, closed_by)
WHERE op_id = :op_id
"""


_UNCHANGED_COLUMNS: dict[str, object] = {
    "why": None,
    "not_before": 0,
    "sent_body": None,
    "fingerprint": None,
    "sent": 0,
    "has_key": None,
    "answer": None,
    "superseded_by": None,
    "closed_by": None,
    "absence_final_at": None,
    "evidence": None,
}
"""Columns that may change with the state; None keeps the value."""


_LATER_IN_LANES = """
SELECT 1 FROM operation_lane mine JOIN operation_lane younger ON younger.lane = mine.lane AND younger.n > mine.n
JOIN operation o ON o.n = younger.n
WHERE mine.n = ? AND o.state IN ('queued', 'sending', 'in_doubt', 'needs_person') LIMIT 1
"""


def is_last_in_lanes(connection: apsw.Connection, number: int) -> bool:
    """Return True if nothing waits behind the operation in its lanes, so that a replacement keeps its turn."""
    return fetch_one(connection, _LATER_IN_LANES, number) is None


def encode_evidence(evidence: Json) -> str | None:
    """Return the evidence as text for the table; None keeps the stored one."""
    return None if evidence is None else to_text(evidence)


class OperationRows:
    """Access to the rows of operations over one connection."""

    def __init__(
        self, connection: apsw.Connection, *, clock: Callable[[], float] = time.time, random: RandomBytes = os.urandom
    ) -> None:
        self._db = connection
        self._clock = clock
        self._random = random

    def get(self, op_id: str) -> Operation:
        """Return one operation. Raise StorageError if there is none with that id."""
        found = self._select("SELECT * FROM operation WHERE op_id = ?", op_id)
        if not found:
            raise StorageError(f"There is no operation {op_id} in {self._db.filename}. See `aisle outbox`.")
        return found[0]

    def is_keyed(self, op_id: str) -> bool:
        """Return True if it was last sent under its key."""
        return fetch_one(self._db, "SELECT 1 FROM operation WHERE op_id = ? AND has_key = 1", op_id) is not None

    def _select(self, sql: str, *values: Any) -> list[Operation]:
        return [operation_from_row(row) for row in fetch(self._db, sql, *values)]

    def _transition(self, op_id: str, event: str, **columns: Any) -> None:
        with transaction(self._db):
            self._apply_event(op_id, event, **columns)

    def _apply_event(self, op_id: str, event: str, **columns: Any) -> None:
        """Apply an event to one operation inside a transaction; `columns` as in `_UNCHANGED_COLUMNS`."""
        found = fetch_one(self._db, "SELECT state FROM operation WHERE op_id = ?", op_id)
        state = next_state(found[0] if found else self.get(op_id).state, event)
        now = self._clock()
        row = {
            **_UNCHANGED_COLUMNS,
            **columns,
            "op_id": op_id,
            "state": state,
            "live": int(state != CLOSED),
            "first_sent_at": now if state == SENDING else None,
            "confirmed_at": now if state == CONFIRMED else None,
            "in_doubt_at": now if state == IN_DOUBT else None,
        }
        self._db.execute(_UPDATE, row)
        if state == CLOSED:
            self._remove_from_lanes(op_id)

    def _remove_from_lanes(self, op_id: str) -> None:
        self._db.execute("DELETE FROM operation_lane WHERE n = (SELECT n FROM operation WHERE op_id = ?)", (op_id,))
