"""Withdraws what reverses something that changes nothing, and stores what is left of both.

A job has queued it to reverse an operation that the service refused, or a log entry that was never sent. What the
reversals are: `reversals_of_refused`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aisle.decimal_of_row import to_decimal
from aisle.jobs.job import Json, Write
from aisle.named_tuple_json import to_text
from aisle.outbox.excess import is_excess, is_kept_in_location, reduce_excess
from aisle.outbox.operation_record import CREATE_LOGS, Operation
from aisle.outbox.operation_states import CLOSE, REFUSE
from aisle.outbox.operation_table import OperationRows, encode_evidence
from aisle.outbox.reversals_of_refused import (
    UNREVERSED,
    as_left,
    body_left,
    changes_of,
    find_undone_entry,
    line_key,
    sources_of,
    without_reversals,
)
from aisle.stored_messages import store_message

if TYPE_CHECKING:
    from aisle.operation_body_types import LineExcess, LogEntry
    from aisle.outbox.reversals_of_refused import Changes


_LATER_OF_JOB = """
SELECT * FROM operation WHERE n > ? AND job_id = ? AND state NOT IN ('rejected', 'closed') ORDER BY n
"""

_REFUSED_OF_JOB = """
SELECT * FROM operation WHERE live = 1 AND state = 'rejected' AND job_id = ? ORDER BY n DESC
"""
"""Refused operations of a job, the youngest first."""


_UNSENT_LOGS = """
SELECT o.* FROM operation_lane l JOIN operation o ON o.n = l.n
WHERE l.lane = ? AND o.operation = ? AND o.state = 'queued' AND o.attempts = 0 AND o.n < ? ORDER BY o.n DESC
"""


class WithdrawnReversals(OperationRows):
    """Queue from which reversals of refused operations are withdrawn."""

    def _withdraw_reversals(self, op: Operation, changes: Changes, write: Write | None = None) -> tuple[Changes, Json]:
        """Withdraw what the same job has queued to reverse refused changes of an operation.

        Return the changes that nothing reversed, and the body that is left of a new `write` of that job.
        """
        later = self._select(_LATER_OF_JOB, op.n, op.job_id) if op.job_id and changes else []
        bodies, left = without_reversals(changes, sources_of(op), [*later, *([write] if write else [])])
        for each, body in zip(later, bodies, strict=False):
            if body == each.body:
                continue
            if body is None:
                self._withdraw(each.op_id)
            else:
                self._db.execute("UPDATE operation SET body = ? WHERE op_id = ?", (to_text(body), each.op_id))
        return left, bodies[-1] if write else None

    def _withdraw(self, op_id: str) -> None:
        """Close an operation that only reverses what the service refused."""
        self._apply_event(op_id, REFUSE, why=store_message("stored_reason.undoes_refused"))
        self._apply_event(op_id, CLOSE)

    def _keep_what_is_left(self, op: Operation, changes: Changes, left: Changes) -> None:
        """Store what is left of a refused operation; close it if nothing is."""
        if left == changes:
            return
        if left and is_excess(op):
            reduce_excess(self._db, op, *left.values())
            return
        body = body_left(op, left)
        evidence = encode_evidence({**self.get(op.op_id).evidence, UNREVERSED: body})
        self._db.execute("UPDATE operation SET evidence = ? WHERE op_id = ?", (evidence, op.op_id))
        if body is None:
            self._apply_event(op.op_id, CLOSE)

    def _without_refused(self, write: Write, job_id: str) -> Write | None:
        """Return a new write without what reverses refused operations of its job; None if nothing is left of it.

        The person does not know of these refusals yet. Who knows of excess of a pick puts that back first.
        """
        for refused in map(as_left, self._select(_REFUSED_OF_JOB, job_id) if job_id else ()):
            changes = changes_of(refused)
            if changes.keys().isdisjoint(changes_of(write)) or is_kept_in_location(refused):
                continue
            left, body = self._withdraw_reversals(refused, changes, write)
            self._keep_what_is_left(refused, changes, left)
            if body is None:
                return None
            write = write._replace(body=body)
        return write

    def _withdraw_unsent_entries(self, op_id: str) -> None:
        """Take log entries that were never sent out of their operations, and their undos out of this new one."""
        undo = self.get(op_id)
        entries: list[LogEntry] = undo.body["storeproductlog"] if undo.operation == CREATE_LOGS else []
        for entry in entries:
            unsent = self._select(_UNSENT_LOGS, f"product/{entry['product_number']}", CREATE_LOGS, undo.n)
            for op in unsent:
                at = find_undone_entry(op, entry, undo)
                if at >= 0 and self._take_out(op, at, undo.op_id):
                    undo = self.get(op_id)
                    self._take_out(undo, undo.body["storeproductlog"].index(entry), op.op_id)
                    break

    def _take_out(self, op: Operation, at: int, counterpart: str) -> bool:
        """Take a log entry out of an operation; close it if none is left. Return False if its bytes are frozen."""
        entries = op.body["storeproductlog"]
        if len(entries) == 1:
            self._apply_event(op.op_id, CLOSE, superseded_by=counterpart)
        elif op.sent_body is None:
            body = {**op.body, "storeproductlog": [*entries[:at], *entries[at + 1 :]]}
            self._db.execute("UPDATE operation SET body = ? WHERE op_id = ?", (to_text(body), op.op_id))
        return len(entries) == 1 or op.sent_body is None

    def _withdraw_excess(self, op: Operation, lines: Sequence[LineExcess]) -> list[LineExcess]:
        """Return the excess without what its picker has taken back before it was known."""
        kept: list[LineExcess] = []
        for line in lines:
            key = line_key(op.body["orders"]["order_number"], int(line["line_number"]))
            left = self._withdraw_reversals(op, {key: to_decimal(line["left"])})[0].get(key)
            if left:
                kept.append({**line, "left": left})
        return kept
