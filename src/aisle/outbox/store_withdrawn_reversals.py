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
from aisle.outbox.operation_table import UNFINISHED_STATES, OperationRows, encode_evidence
from aisle.outbox.reversals_of_refused import (
    UNREVERSED,
    as_left,
    body_left,
    changes_of,
    find_undone_entry,
    line_key,
    sources_of,
    undone_goods,
    without_reversals,
)
from aisle.stored_messages import read_message, store_message

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


_UNCONFIRMED_OF_JOB = f"""
SELECT DISTINCT o.* FROM json_each(?) e JOIN operation_lane l ON l.lane = e.value JOIN operation o ON o.n = l.n
WHERE o.job_id = ? AND o.state IN ({UNFINISHED_STATES}, 'rejected') ORDER BY o.n DESC
"""  # noqa: S608 - states of our own
"""Operations of a job in these lanes, the youngest first."""

_DEPENDENT = "SELECT * FROM operation WHERE depends_on = ? AND depends_on <> '' AND state = 'queued' ORDER BY n"


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
            is_known = refused.op_id in write.told or is_kept_in_location(refused)
            if is_known or changes.keys().isdisjoint(changes_of(write)):
                continue
            left, body = self._withdraw_reversals(refused, changes, write)
            self._keep_what_is_left(refused, changes, left)
            if body is None:
                return None
            write = write._replace(body=body)
        return write

    def _find_undo_before(self, write: Write, job_id: str) -> str:
        """Return the op_id of the unconfirmed undo whose goods a new write of its job books again; empty for none.

        A refused undo that the person knows of does not count. The undo of such a booking depends on it in turn.
        """
        goods = undone_goods(write) if job_id else {}
        lanes = to_text([lane for lane in write.lanes if lane.startswith("product/")])
        earlier = self._select(_UNCONFIRMED_OF_JOB, lanes, job_id) if goods else []
        for op in earlier:
            left = undone_goods(op)
            for each in earlier:
                if each.depends_on == op.op_id:
                    left = {key: left[key] + undone_goods(each).get(key, 0) for key in left}
            booked_again = (key for key, quantity in goods.items() if quantity * left.get(key, 0) < 0)
            if op.op_id not in write.told and any(op.depends_on or left[key] > 0 for key in booked_again):
                return op.op_id
        return ""

    def _refuse_dependent(self, op_id: str, reason: str) -> None:
        """Refuse the operations that depend on a refused one, and so on; none of them was sent."""
        why = store_message("stored_reason.follows_refused_undo", why=read_message(reason))
        for each in self._select(_DEPENDENT, op_id):
            self._apply_event(each.op_id, REFUSE, why=why)
            self._refuse_dependent(each.op_id, reason)

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
