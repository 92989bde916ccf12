"""Changes of an operation's state: states, their transitions in one table, and the row that a change is written to."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import apsw

from aisle.errors import StorageError
from aisle.host.database import fetch, fetch_one, transaction
from aisle.jobs.job import Json
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_record import BODY_VERSION, Author, Intent, Operation, RandomBytes, operation_from_row

QUEUED = "queued"
"""Stored on this host; not sent, or may be sent again."""
SENDING = "sending"
"""Its bytes may have left. After a crash it is found in this state."""
CONFIRMED = "done"
"""The service confirmed it."""
REFUSED = "rejected"
"""The service refused it and changed nothing. A person has to see it."""
IN_DOUBT = "in_doubt"
"""It was sent, and its arrival is unknown."""
NEEDS_PERSON = "needs_person"
"""Reconciliation cannot decide; a person does, with the evidence."""
CLOSED = "closed"
"""Resolved by a person, or replaced by a merged operation."""

STATES = (QUEUED, SENDING, CONFIRMED, REFUSED, IN_DOUBT, NEEDS_PERSON, CLOSED)

SEND = "send"
MERGE = "merge"
SPLIT = "split"
CONFIRM = "confirm"
REFUSE = "reject"
LOSE_ANSWER = "doubt"
RETRY = "retry"
ASK_PERSON = "ask"
CLOSE = "close"
REPLAY_AFTER_RESTORE = "replay"
FIND_ABSENT = "deny"
LOSE_BY_RESTORE = "lose"

TRANSITIONS: dict[tuple[str, str], str] = {
    (QUEUED, SEND): SENDING,
    (QUEUED, MERGE): CLOSED,  # a newer operation carries its content
    (QUEUED, SPLIT): CLOSED,  # each of its items becomes an operation
    (QUEUED, REFUSE): REFUSED,  # it cannot even be encoded
    (QUEUED, ASK_PERSON): NEEDS_PERSON,  # tried for too long
    (QUEUED, CLOSE): CLOSED,  # it waits for a PIN that nobody will enter
    (SENDING, CONFIRM): CONFIRMED,
    (SENDING, REFUSE): REFUSED,
    (SENDING, RETRY): QUEUED,  # it certainly did not leave, or the service knows its key
    (SENDING, LOSE_ANSWER): IN_DOUBT,
    (IN_DOUBT, CONFIRM): CONFIRMED,  # read back and found
    (IN_DOUBT, RETRY): QUEUED,  # absent after the settling time, or the service knows its key
    (IN_DOUBT, ASK_PERSON): NEEDS_PERSON,
    (IN_DOUBT, CLOSE): CLOSED,  # a person on the floor knows better
    (NEEDS_PERSON, CONFIRM): CONFIRMED,  # found late
    (NEEDS_PERSON, RETRY): QUEUED,  # a person had it sent again, or the service announces keys again
    (NEEDS_PERSON, CLOSE): CLOSED,
    (REFUSED, CLOSE): CLOSED,
    (CONFIRMED, FIND_ABSENT): IN_DOUBT,  # read back and not found
    (CONFIRMED, LOSE_BY_RESTORE): IN_DOUBT,  # restored service that keeps no keys: it is looked up
    (CONFIRMED, REPLAY_AFTER_RESTORE): QUEUED,  # restored service: its key tells if it still has the operation
}

UNFINISHED = (QUEUED, SENDING, IN_DOUBT, NEEDS_PERSON)
"""States that block their lanes: no younger operation in one of them may be sent."""


class IllegalTransition(Exception):
    """An event that is not allowed in a state: a defect of the program."""


def next_state(state: str, event: str) -> str:
    """Return the state after an event. Raise IllegalTransition if the table has none."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalTransition(f"{event} cannot happen to an operation that is {state}") from None


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


_INSERT_OPERATION = """
INSERT INTO operation (
  n, op_id, store, principal, app_user, terminal, operation, lanes, merge_key, path, query, body, state,
  created_at, occurred_at, depends_on, job_id, event_seq, schema_version
) VALUES (
  :n, :op_id, :store, :principal, :app_user, :terminal, :operation, :lanes, :merge_key, :path, :query, :body, 'queued',
  :created_at, :occurred_at, :depends_on, :job_id, :event_seq, :schema_version
)
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

    def _insert(self, op_id: str, intent: Intent, author: Author, created: float, number: int | None = None) -> None:
        """Insert an operation and its lanes; without a number it becomes the youngest."""
        write = intent.write
        row = {
            **intent._asdict(),
            **author._asdict(),
            "n": number,
            "op_id": op_id,
            "operation": write.operation,
            "lanes": to_text(write.lanes),
            "merge_key": write.merge_key,
            "path": to_text(dict(write.path)),
            "query": to_text(dict(write.query)),
            "body": to_text(write.body),
            "created_at": created,
            "schema_version": BODY_VERSION,
        }
        self._db.execute(_INSERT_OPERATION, row)
        n = self._db.last_insert_rowid()
        self._db.executemany(
            "INSERT INTO operation_lane (lane, n) VALUES (?, ?)", [(lane, n) for lane in set(write.lanes)]
        )

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
