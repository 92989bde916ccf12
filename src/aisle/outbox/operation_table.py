"""Rows of operations in outbox.db: read, listed, inserted, and changed by events of `operation_record`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.stock_overlay import products_of_operation
from aisle.errors import StorageError
from aisle.host.database import fetch, fetch_one, storage_errors, transaction
from aisle.jobs.job import Json, Write
from aisle.named_tuple_json import to_text
from aisle.outbox.merge_and_rebase import excess_reason_of, line_of_excess, write_of_line
from aisle.outbox.operation_record import (
    BODY_VERSION,
    CLOSED,
    CONFIRMED,
    IN_DOUBT,
    NEEDS_PERSON,
    QUEUED,
    REFUSE,
    REFUSED,
    SENDING,
    UNFINISHED,
    Author,
    Intent,
    Operation,
    RandomBytes,
    author_of_operation,
    intent_of_operation,
    new_id,
    next_state,
    operation_from_row,
)
from aisle.stored_messages import StoredMessage

if TYPE_CHECKING:
    from aisle.operation_body_types import LineExcess

UNFINISHED_STATES = ", ".join(f"'{state}'" for state in UNFINISHED)
"""States that block lanes, for SQL."""

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


_KEPT_COLUMNS = (
    "why", "sent_body", "fingerprint", "has_key", "answer", "superseded_by", "closed_by", "absence_final_at", "evidence"
)  # fmt: skip
_UNCHANGED_COLUMNS: dict[str, object] = {**dict.fromkeys(_KEPT_COLUMNS), "not_before": 0, "sent": 0}
"""Columns that may change with the state; None keeps the value."""


_LATER_IN_LANES = f"""
SELECT 1 FROM operation_lane mine JOIN operation_lane younger ON younger.lane = mine.lane AND younger.n > mine.n
JOIN operation o ON o.n = younger.n
WHERE mine.n = ? AND o.state IN ({UNFINISHED_STATES}) LIMIT 1
"""  # noqa: S608 - states of our own


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
    """Return whether nothing waits behind the operation in its lanes, so that a replacement keeps its turn."""
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
        """Return whether it was last sent under its key."""
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

    def _insert_refused(self, op: Operation, write: Write, reason: StoredMessage, answer: str = "") -> str:
        """Insert an operation that is refused from the beginning, with the origin of another one. Return its id."""
        op_id = new_id(self._random)
        self._insert(op_id, intent_of_operation(op, write), author_of_operation(op), op.created_at)
        self._apply_event(op_id, REFUSE, why=reason, answer=answer)
        self._remove_from_lanes(op_id)
        return op_id

    def _keep_excess(self, op: Operation, lines: Sequence[LineExcess]) -> None:
        """Insert one refused operation for each line with excess, inside the caller's transaction."""
        for line in lines:
            write = write_of_line(op, line_of_excess(line))
            self._insert_refused(op, write, excess_reason_of(line), to_text(dict(line)))

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

    def pending_operations(self, state: str = "") -> list[Operation]:
        """Return the operations overlaid on the cache, oldest first: unfinished ones, and confirmed ones not read back.

        `state`: only operations in this state.
        """
        sql = "SELECT n FROM operation WHERE live = 1 AND state <> 'rejected' AND ? IN ('', state)"
        return self._select(f"SELECT * FROM operation WHERE n IN ({sql}) ORDER BY n", state)  # noqa: S608

    def records_changed_since(self, since: float) -> frozenset[str]:
        """Return the records that operations may have changed at the service since then.

        Operations confirmed before do not count. Products come from the lanes of movements and logs and from picked
        lines. Deliveries of receipts are returned as lanes: `delivery/<number>`.
        """
        found: set[str] = set()
        for operation in self._select(_SENT_SINCE, since):
            lanes = (lane.partition("/") for lane in operation.lanes)
            found.update(key for topic, _, key in lanes if topic == "product")
            found.update(lane for lane in operation.lanes if lane.startswith("delivery/"))
            found.update(products_of_operation(operation))
        return frozenset(found)

    def pending_counts(self) -> tuple[int, int]:
        """Return the numbers of unconfirmed operations and of those that need a person (refused or undecidable).

        Raise StorageError if the file cannot be read.
        """
        with storage_errors(self._db.filename):
            rows = fetch(self._db, "SELECT state, count(*) FROM operation WHERE live = 1 GROUP BY state")
        by_state = {str(state): int(count) for state, count in rows}
        unconfirmed, for_person = (QUEUED, SENDING, IN_DOUBT), (NEEDS_PERSON, REFUSED)
        return sum(by_state.get(state, 0) for state in unconfirmed), sum(by_state.get(state, 0) for state in for_person)

    def left_sending(self) -> list[Operation]:
        """Return the operations that a crashed courier left in `sending`.

        They are to be retried under their key or marked in doubt.
        """
        return self._select("SELECT * FROM operation WHERE live = 1 AND state = 'sending' ORDER BY n")

    def unfinished(self) -> list[Operation]:
        """Return the operations that block their lanes, oldest first."""
        return self._select(
            f"SELECT * FROM operation WHERE live = 1 AND state IN ({UNFINISHED_STATES}) ORDER BY n"  # noqa: S608
        )

    def recent(self, limit: int = 100) -> list[Operation]:
        """Return the youngest operations in any state, youngest first."""
        return self._select("SELECT * FROM operation ORDER BY n DESC LIMIT ?", limit)

    def live_operations(self) -> list[Operation]:
        """Return the live operations, oldest first: unfinished, refused and unresolved, confirmed and not read back."""
        return self._select("SELECT * FROM operation WHERE live = 1 ORDER BY n")


MOVE_DEPENDENCY = "UPDATE operation SET depends_on = ? WHERE depends_on = ? AND depends_on <> ''"
"""The condition repeats that of the index; otherwise SQLite scans every operation ever sent."""


_SENT_SINCE = """
SELECT o.* FROM operation o
WHERE o.live = 1 AND (o.state = 'sending' OR (o.state = 'queued' AND o.first_sent_at IS NOT NULL)
OR (o.state = 'done' AND o.confirmed_at > ?))
"""
