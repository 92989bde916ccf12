"""Changes of a queued operation before it is sent: begun, split into its items, or with fewer log entries.

A movement of several items becomes one operation per item, for a service that may perform some of them alone.
Our own service moves all items or none; for others the interface is silent, and their logs may prove one item and not
the next. The kind of service may be unknown when the movement is enqueued, so its number leaves free numbers before it
for its items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from aisle.host.database import fetch_one, transaction
from aisle.jobs.job import Json, Write
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_record import (
    CREATE_MOVEMENT,
    Operation,
    author_of_operation,
    intent_of_operation,
    new_id,
    sha256_hex,
    write_of_operation,
)
from aisle.outbox.operation_states import CLOSE, QUEUED, SEND, SPLIT
from aisle.outbox.operation_table import MOVE_DEPENDENCY, OperationRows, encode_evidence
from aisle.stored_messages import NO_MESSAGE, StoredMessage

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
