"""Queue of operations: sessions enqueue and merge them, the courier asks which may be sent, begins and splits them.

`operation_table` lists them for other purposes.

A movement of several items becomes one operation per item, for a service that may perform some of them alone.
Our own service moves all items or none; for others the interface is silent, and their logs may prove one item and not
the next. The kind of service may be unknown when the movement is enqueued, so its number leaves free numbers before it
for its items.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from aisle.host.database import connect, fetch_one, migrate, transaction
from aisle.jobs.job import DIFFERENCE, Json, Resolve, Write
from aisle.named_tuple_json import to_text
from aisle.outbox.merge_and_rebase import can_merge, merge_batch, merge_writes, product_lanes
from aisle.outbox.operation_record import (
    BODY_VERSION,
    CLOSE,
    CREATE_MOVEMENT,
    MERGE,
    QUEUED,
    REFUSED,
    SEND,
    SPLIT,
    STORE_PRINCIPAL,
    Author,
    Intent,
    Operation,
    author_of,
    author_of_operation,
    intent_of_operation,
    new_id,
    operation_from_row,
    sha256_hex,
    write_of_operation,
)
from aisle.outbox.operation_table import (
    MOVE_DEPENDENCY,
    UNFINISHED_STATES,
    OperationRows,
    encode_evidence,
    is_last_in_lanes,
)
from aisle.outbox.operations_in_doubt import OperationsInDoubt, replacement_write
from aisle.outbox.outbox_schema import OUTBOX_MIGRATIONS
from aisle.outbox.outcomes_and_reversals import OperationOutcomes
from aisle.outbox.replay_after_restore import RestoreReplay
from aisle.stored_messages import NO_MESSAGE, StoredMessage, store_text

if TYPE_CHECKING:
    from aisle.operation_body_types import LogEntry, MovementEntry


_ITEM_LANES = ("order/", "product/")
"""Prefixes of the lanes that belong to single items; any other lane belongs to all."""


def split_movement(write: Write) -> list[Write]:
    """Return a write for each item of a movement, in the lanes of that item; the write itself if it has one item."""
    if write.operation != CREATE_MOVEMENT or len(write.body) < 2:
        return [write]
    return [write._replace(body=[item], lanes=_lanes_of_item(write.lanes, item)) for item in write.body]


def _lanes_of_item(lanes: Sequence[str], item: MovementEntry) -> tuple[str, ...]:
    ends = (item.get("from_location"), item.get("to_location"))
    orders = (end.get("customer_order_number", "") if end else "" for end in ends)
    named = {f"product/{item['product_number']}", *(f"order/{order}" for order in orders)}
    return tuple(lane for lane in lanes if lane in named or not lane.startswith(_ITEM_LANES))


def is_splittable(op: Operation) -> bool:
    """Return whether the operation has several items and was never sent."""
    unsent = op.sent_body is None and op.first_sent_at is None and not op.parts
    return unsent and op.operation == CREATE_MOVEMENT and len(op.body) > 1


def reserve_number(outbox: apsw.Connection, write: Write) -> int | None:
    """Return a number that leaves free numbers for the items before it; None for the next number."""
    items = len(split_movement(write))
    if items < 2:
        return None
    row = fetch_one(outbox, "SELECT seq FROM sqlite_sequence WHERE name = 'operation'")
    return (int(row[0]) if row else 0) + items + 1


def free_numbers_before(outbox: apsw.Connection, op: Operation) -> range:
    """Return the free numbers for its items directly before it; empty if it is not splittable or they are taken."""
    items = len(split_movement(write_of_operation(op))) if is_splittable(op) else 0
    free = range(max(op.n - items, 1), op.n)
    used = fetch_one(outbox, "SELECT 1 FROM operation WHERE n >= ? AND n < ? LIMIT 1", free.start, op.n)
    return free if len(free) == items and used is None else range(0)


class OperationsToSend(OperationRows):
    """Changes of queued operations before they are sent: begun, split, or with fewer log entries."""

    def begin_sending(
        self,
        op_id: str,
        sent_body: bytes,
        *,
        has_key: bool = False,
        evidence: Json = None,
        replace_sent_body: bool = False,
    ) -> bytes | None:
        """Change queued to sending and return the bytes to send; None if the operation may not be sent (any more).

        Durable on return. `sent_body` is stored at the first attempt and reused by later ones, unless
        `replace_sent_body` is set because it certainly did not arrive. `has_key` tells if the service keeps its key; it
        is stored here, where it cannot be lost without the operation, like `evidence`, which was read before. State and
        lanes are checked inside the transaction, so that a merge and a send cannot both succeed.
        """
        with transaction(self._db):
            row = fetch_one(self._db, "SELECT sent_body FROM ready WHERE op_id = ?", op_id)
            if row is None:
                return None
            content: bytes = sent_body if row[0] is None or replace_sent_body else row[0]
            self._apply_event(
                op_id,
                SEND,
                sent_body=content,
                fingerprint=sha256_hex(content),
                sent=1,
                has_key=int(has_key),
                evidence=encode_evidence(evidence),
            )
        return content

    def split_operation(self, op_id: str) -> bool:
        """Split an unsent movement into one operation per item, at its position in the lanes.

        The state of each item is then known and reported alone. Return False if it is not splittable or an older
        program left no free numbers.
        """
        with transaction(self._db):
            op = self.get(op_id)
            numbers = free_numbers_before(self._db, op)
            if op.state != QUEUED or not numbers:
                return False
            items = split_movement(write_of_operation(op))
            ids = [new_id(self._random) for _ in items]
            self._apply_event(op_id, SPLIT, superseded_by=ids[-1])
            self._db.execute(MOVE_DEPENDENCY, (ids[-1], op_id))
            author = author_of_operation(op)
            for item_id, number, write in zip(ids, numbers, items, strict=True):
                intent = intent_of_operation(op, write)._replace(depends_on=op.depends_on)
                self._insert(item_id, intent, author, op.created_at, number)
        return True

    def keep_entries(
        self,
        op_id: str,
        entries: Sequence[LogEntry],
        refused: Sequence[LogEntry] = (),
        reason: StoredMessage = NO_MESSAGE,
    ) -> Operation | None:
        """Replace the log entries of an operation that was never sent; close it if none is left.

        The refused ones become an operation of their own, which is closed: nothing is left to do for a person. Return
        the operation; None if it is closed, or may not be changed any more.
        """
        with transaction(self._db):
            op = self.get(op_id)
            if op.state != QUEUED or op.sent_body is not None:
                return None
            if refused:
                self._refuse_entries(op, refused, reason)
            if not entries:
                self._apply_event(op_id, CLOSE)
                return None
            body = {**op.body, "storeproductlog": list(entries)}
            self._db.execute("UPDATE operation SET body = ? WHERE op_id = ?", (to_text(body), op_id))
        return op._replace(body=body)

    def _refuse_entries(self, op: Operation, entries: Sequence[LogEntry], reason: StoredMessage) -> None:
        write = write_of_operation(op)._replace(body={**op.body, "storeproductlog": list(entries)})
        self._apply_event(self._insert_refused(op, write, reason), CLOSE)


_MERGE_CANDIDATE = f"""
SELECT o.* FROM operation o
WHERE o.merge_key = ? AND o.merge_key <> '' AND o.state = 'queued' AND o.attempts = 0 AND o.sent_body IS NULL
AND NOT EXISTS (
  SELECT 1 FROM operation_lane mine
  JOIN operation_lane younger ON younger.lane = mine.lane AND younger.n > mine.n
  JOIN operation other ON other.n = younger.n
  WHERE mine.n = o.n AND other.state IN ({UNFINISHED_STATES})
)
ORDER BY o.n DESC LIMIT 1
"""  # noqa: S608 - states of our own

_READY = """
SELECT n, op_id FROM ready WHERE not_before <= ? AND principal IN (SELECT value FROM json_each(?)) ORDER BY n LIMIT ?
"""
"""The view `ready` (`outbox_schema`) has the first operation of each lane."""
_MAX_CHECKED = 50
"""Greatest number of sendable operations that are checked."""

_EARLIER_FOR_PRODUCTS = """
SELECT 1 FROM operation_lane l
JOIN json_each(?) e ON l.lane = e.value
JOIN operation o ON o.n = l.n
WHERE l.n < ? AND o.live = 1 AND o.principal IN (SELECT value FROM json_each(?))
AND (o.state = 'sending' OR EXISTS (SELECT 1 FROM ready r WHERE r.n = o.n))
LIMIT 1
"""


def open_outbox(folder: Path) -> apsw.Connection:
    """Open the outbox of a home folder, creating or migrating it. Raise StorageError if that fails."""
    connection = connect(folder / "outbox.db", guarded=True)
    migrate(connection, OUTBOX_MIGRATIONS)
    return connection


class OperationQueue(OperationsToSend, OperationOutcomes, OperationsInDoubt, RestoreReplay):
    """Queue of operations in outbox.db."""

    # For sessions

    def resolve(self, resolution: Resolve, user: str) -> bool:
        """Apply a person's resolution (see `OperationsInDoubt.apply_resolution`); a replacement is a new operation.

        Return False if it came too late.
        """
        op = self.get(resolution.op_id)
        write = replacement_write(op, resolution.decision, user)
        if write is None:
            return self.apply_resolution(resolution, user)
        if resolution.decision == DIFFERENCE and not is_last_in_lanes(self._db, op.n):
            return False
        author = author_of_operation(op)._replace(app_user=user or op.app_user)
        replacement = self._add(intent_of_operation(op, write), author_of(write, author))
        self._apply_event(op.op_id, CLOSE, closed_by=user, why=store_text(resolution.note), superseded_by=replacement)
        return True

    def enqueue(self, intents: Sequence[Intent], author: Author) -> tuple[str, ...]:
        """Add operations inside the caller's transaction. Return the op_id of each intent, in the given order.

        Intents with a merge key are merged with each other, and with a queued operation that was never sent. They are
        not merged if another operation lies between them in their lanes. A new row carries both, and the old one is
        closed. What reverses a refused operation of the same job is withdrawn. So is a log entry that was never sent,
        together with its undo. What books undone goods again depends on the undo (`outcomes_and_reversals`).
        """
        if not self._db.in_transaction:
            raise RuntimeError("enqueue belongs into the transaction of the event that it follows from")
        writes, carriers = merge_batch([intent.write for intent in intents])
        newest: dict[int, Intent] = {}
        for carrier, intent in zip(carriers, intents, strict=True):
            before = newest.get(carrier)
            newest[carrier] = intent._replace(depends_on=intent.depends_on or (before.depends_on if before else ""))
        ids = [
            self._add_unless_withdrawn(newest[index]._replace(write=write), author_of(write, author))
            for index, write in enumerate(writes)
        ]
        return tuple(ids[carrier] for carrier in carriers)

    def _add_unless_withdrawn(self, intent: Intent, author: Author) -> str:
        """Add an operation without what reverses refused ones; add it as closed if nothing is left of it."""
        write = self._without_refused(intent.write, intent.job_id)
        if write is not None:
            undo = intent.depends_on or self._find_undo_before(write, intent.job_id)
            op_id = self._add(intent._replace(write=write, depends_on=undo), author)
            self._withdraw_unsent_entries(op_id)
            if undo and (op := self.get(undo)).state == REFUSED:
                self._refuse_dependent(undo, op.last_error)
            return op_id
        op_id = self._add(intent._replace(write=intent.write._replace(merge_key="")), author)
        self._withdraw(op_id)
        return op_id

    def _add(self, intent: Intent, author: Author) -> str:
        write, created = intent.write, self._clock()
        op_id = new_id(self._random)
        old = self._merge_candidate(write, author) if write.merge_key else None
        if old is not None:
            write, created = merge_writes(write_of_operation(old), write), old.created_at
            self._apply_event(old.op_id, MERGE, superseded_by=op_id)
            self._db.execute(MOVE_DEPENDENCY, (op_id, old.op_id))
            intent = intent._replace(depends_on=intent.depends_on or old.depends_on)
        number = reserve_number(self._db, write)
        self._insert(op_id, intent._replace(write=write), author, created, number)
        return op_id

    def _merge_candidate(self, write: Write, author: Author) -> Operation | None:
        """Return the operation to merge the write with, or None.

        It is queued, never sent, by the same author, and the youngest in its lanes.
        """
        row = fetch_one(self._db, _MERGE_CANDIDATE, write.merge_key)
        if row is None:
            return None
        old = operation_from_row(row)
        same = (old.store, old.principal, old.app_user) == (author.store, author.principal, author.app_user)
        comparable = write._replace(needs_supervisor=False)  # authors with equal tokens were compared above
        if not same or old.schema_version != BODY_VERSION or not can_merge(write_of_operation(old), comparable):
            return None
        return None if self._has_later_for_products(old) else old

    def _has_later_for_products(self, old: Operation) -> bool:
        """Return whether a later operation concerns its products, so that its time matters."""
        lanes = to_text(sorted(product_lanes(write_of_operation(old))))
        sql = "SELECT 1 FROM operation_lane l JOIN json_each(?) e ON l.lane = e.value WHERE l.n > ? LIMIT 1"
        return fetch_one(self._db, sql, lanes, old.n) is not None

    # For the courier

    def sendable(
        self, limit: int = 20, principals: Sequence[str] = (STORE_PRINCIPAL,), exclude: Container[str] = ()
    ) -> list[Operation]:
        """Return the operations that may be sent now, oldest first: those of `principals`, without `exclude`.

        A pick waits for earlier operations on its products: goods put away must be at the location before they are
        picked. It does not wait for operations that cannot be sent themselves. Only the first candidates are checked,
        because with many queued operations the same rows would be scanned each time.
        """
        found: list[Operation] = []
        query_args = self._clock(), to_text(list(principals)), max(limit, _MAX_CHECKED)
        with closing(self._db.execute(_READY, query_args)) as ready:
            for n, op_id in ready:
                ops = [] if op_id in exclude else self._select("SELECT * FROM operation WHERE n = ?", n)
                found += [op for op in ops if not self._must_wait_for_products(op, principals)]
                if len(found) >= limit:
                    break
        return found

    def _must_wait_for_products(self, op: Operation, principals: Sequence[str]) -> bool:
        """Return whether an earlier operation on its products is being sent or may be sent now."""
        lanes = product_lanes(write_of_operation(op)).difference(op.lanes)
        query_args = to_text(sorted(lanes)), op.n, to_text(list(principals))
        return bool(lanes) and fetch_one(self._db, _EARLIER_FOR_PRODUCTS, *query_args) is not None

    def next_due_at(self, checked_at: float | None = None) -> float | None:
        """Return the earliest time after `checked_at` (default now) at which a queued operation becomes due, or None.

        A sleeping caller passes the time of its last check, so that nothing that became due since is missed.
        """
        sql = "SELECT min(not_before) FROM operation WHERE live = 1 AND state = 'queued' AND not_before > ?"
        row = fetch_one(self._db, sql, self._clock() if checked_at is None else checked_at)
        return None if row is None or row[0] is None else float(row[0])

    def resend_line(self, op: Operation, line: Mapping[str, Json]) -> str:
        """Queue an update for one line of an order that the service has lost. Return its op_id."""
        number = op.body["orders"]["order_number"]
        body = {"orders": {"order_number": number, "order_lines": [dict(line)]}}
        write = Write(op.operation, op.lanes, op.path, op.query, body)
        with transaction(self._db):
            return self._add(intent_of_operation(op, write), author_of_operation(op))
