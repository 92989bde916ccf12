"""Records outcomes of sent operations: confirmed, refused, returned to the queue, read back.

It decides nothing: that does `courier/push/decide_after_send`. What reverses a refused operation is withdrawn by
`store_withdrawn_reversals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aisle.host.database import transaction
from aisle.jobs.job import Json
from aisle.outbox.excess import (
    CARRIED_OVER_S,
    EXCESS,
    added_excess,
    excess_query,
    lines_of_operation,
    merge_answers,
    parse_carried_lines,
    write_of_line,
)
from aisle.outbox.operation_record import Operation, author_of_operation, intent_of_operation, new_id
from aisle.outbox.operation_states import CONFIRM, REFUSE, RETRY
from aisle.outbox.operation_table import encode_evidence
from aisle.outbox.replay_after_restore import parse_superseded_lines, superseded_line
from aisle.outbox.reversals_of_refused import changes_of
from aisle.outbox.store_withdrawn_reversals import WithdrawnReversals
from aisle.outbox.stored_reasons import superseded_reason
from aisle.stored_messages import NO_MESSAGE, StoredMessage, read_message, store_message

if TYPE_CHECKING:
    from aisle.operation_body_types import LineExcess


_QUEUED_IN_LANE = """
SELECT o.* FROM operation_lane l JOIN operation o ON o.n = l.n
WHERE l.lane = ? AND o.state = 'queued' AND o.sent_body IS NULL
"""


class OperationOutcomes(WithdrawnReversals):
    """Recorder of what becomes of operations that leave the queue."""

    def confirm(self, op_id: str, answer: str = "", evidence: Json = None, excess: Sequence[LineExcess] = ()) -> None:
        """Record that the service has it. The operation stays overlaid until it is read back.

        Quantities that no line could take (`excess`, or found before sending) are stored for a person.
        """
        superseded, carried = parse_superseded_lines(answer), parse_carried_lines(answer)
        with transaction(self._db):
            before = self.get(op_id)
            is_repeated, known_answer = before.confirmed_at is not None, before.answer
            kept_answer = merge_answers(known_answer, answer) if is_repeated else answer
            self._apply_event(op_id, CONFIRM, answer=kept_answer, why=NO_MESSAGE, evidence=encode_evidence(evidence))
            op = self.get(op_id)
            lines = excess or op.evidence.get(EXCESS, ())
            if is_repeated:  # the excess reported the first time is settled
                lines = added_excess(known_answer, excess)
            self._keep_excess(op, self._withdraw_excess(op, lines_of_operation(op, lines)))
            for line in lines_of_operation(op, superseded):
                write = write_of_line(op, superseded_line(op, line))
                self._insert_refused(op, write, superseded_reason(line["line_number"]))
            if carried:
                self._query_excess_later(op, carried)

    def _query_excess_later(self, op: Operation, lines: frozenset[int]) -> None:
        """Queue a later query for these lines, which hold excess for other hosts, unless one is queued already."""
        write = excess_query(op, lines)
        if write is None:
            return
        waiting = self._select(_QUEUED_IN_LANE, write.lanes[0])
        if any(each.body == write.body for each in waiting):
            return
        op_id = new_id(self._random)
        self._insert(op_id, intent_of_operation(op, write), author_of_operation(op), self._clock())
        self._db.execute("UPDATE operation SET not_before = ? WHERE op_id = ?", (self._clock() + CARRIED_OVER_S, op_id))

    def refuse(self, op_id: str, reason: StoredMessage, evidence: Json = None) -> None:
        """Record the refusal with a reason for people; the operation leaves the overlay.

        `evidence`: the read that shows why it was not sent. An answer from before a restore is deleted, because a
        refused operation with an answer is excess. What waits unsent and reverses it is withdrawn.
        """
        with transaction(self._db):
            op = self.get(op_id)
            changes = changes_of(op)
            left, _ = self._withdraw_reversals(op, changes)
            if left != changes:
                reason = store_message("stored_reason.undone_before_refusal", why=read_message(reason))
            self._apply_event(op_id, REFUSE, why=reason, evidence=encode_evidence(evidence), answer="")
            self._keep_what_is_left(op, changes, left)
            self._refuse_dependent(op_id, reason)

    def retry_later(self, op_id: str, reason: StoredMessage, not_before: float, *, was_not_sent: bool = False) -> None:
        """Return it to queued, to be sent again with the same bytes, not before that time.

        With `was_not_sent` the attempt does not count.
        """
        self._transition(op_id, RETRY, why=reason, not_before=not_before, sent=-int(was_not_sent))

    def postpone(self, op_id: str, reason: StoredMessage, not_before: float) -> None:
        """Delay a queued operation until that time, because something needed before sending is unknown."""
        with transaction(self._db):
            self._db.execute(
                "UPDATE operation SET not_before = ?, last_error = ? WHERE op_id = ? AND state = 'queued'",
                (not_before, reason, op_id),
            )

    def mark_read_back(self, *op_ids: str) -> None:
        """Remove confirmed operations from the overlay in one commit: they are cached now, or appear nowhere in it."""
        with transaction(self._db):
            for op_id in op_ids:
                self._db.execute(
                    "UPDATE operation SET read_back_at = ?, live = 0 WHERE op_id = ? AND state = 'done' AND live = 1",
                    (self._clock(), op_id),
                )
                if self._db.changes():
                    self._remove_from_lanes(op_id)
