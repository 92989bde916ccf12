"""Operations in doubt: looked up, requeued, confirmed or resolved by a person, and the effect of that resolution."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from aisle.host.database import fetch_one, transaction
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, DIFFERENCE, OVERAGE, RESEND, Json, Resolve, Write
from aisle.named_tuple_json import to_text
from aisle.operation_body_types import COUNT_FIELDS
from aisle.outbox.merge_and_rebase import BASE, EXCESS, PICKED, has_base
from aisle.outbox.operation_record import (
    ASK_PERSON,
    CLOSE,
    CONFIRM,
    CONFIRMED,
    CREATE_LOGS,
    CREATE_MOVEMENT,
    FIND_ABSENT,
    IN_DOUBT,
    LOSE_ANSWER,
    NEEDS_PERSON,
    QUEUED,
    REFUSED,
    RETRY,
    UPDATE_ORDER,
    Operation,
    write_of_operation,
)
from aisle.outbox.operation_table import OperationRows, encode_evidence
from aisle.outbox.outcomes_and_reversals import as_left
from aisle.outbox.requests_and_token_holders import user_awaited_by
from aisle.row_values import to_decimal
from aisle.stored_messages import StoredMessage, store_message, store_text

_TO_LOOK_UP = "live = 1 AND state IN ('in_doubt', 'needs_person') AND (state = 'in_doubt' OR not_before > 0)"

FOUND_BY_LOOKUP = "found"
"""Answer of an operation that a lookup confirmed, not the service."""
_WITHOUT_ITS_KEY = """
SELECT * FROM operation WHERE live = 1 AND state = 'needs_person' AND has_key = 1 AND last_error IN (?, ?)
AND first_sent_at > ?
"""
KEY_GONE, KEY_OLD = store_message("stored_reason.key_gone"), store_message("stored_reason.key_old")
"""Reasons of an operation sent under its key, at a service that announces no keys any more, or a shorter lifetime."""


_SENT_LATER_IN_LANE = """
SELECT 1 FROM operation_lane mine JOIN operation_lane younger ON younger.lane = mine.lane AND younger.n > mine.n
JOIN operation o ON o.n = younger.n
WHERE mine.n = ? AND mine.lane = ? AND o.first_sent_at IS NOT NULL LIMIT 1
"""


class OperationsInDoubt(OperationRows):
    """Operations in doubt: their look-ups, evidence and resolutions."""

    def mark_in_doubt(
        self,
        op_id: str,
        reason: StoredMessage,
        *,
        settling_s: float = 0,
        lookup_after_s: float = 0,
        evidence: Json = None,
    ) -> None:
        """Mark an operation as in doubt; its lanes stop.

        It is looked up after `lookup_after_s` seconds; after `settling_s` seconds absence is believed. `evidence` is
        stored.
        """
        now = self._clock()
        times = {"absence_final_at": now + settling_s, "not_before": now + lookup_after_s}
        self._transition(op_id, LOSE_ANSWER, why=reason, evidence=encode_evidence(evidence), **times)

    def last_unverified(self, lane: str) -> Operation | None:
        """Return the last operation of a lane if it was confirmed without a key and not read back yet; else None."""
        found = self._select(
            "SELECT * FROM operation WHERE n IN (SELECT n FROM operation_lane WHERE lane = ?)"
            " AND live = 1 AND state = 'done' AND has_key = 0 ORDER BY n DESC LIMIT 1",
            lane,
        )
        return found[0] if found and fetch_one(self._db, _SENT_LATER_IN_LANE, found[0].n, lane) is None else None

    def mark_absent(
        self, op_id: str, reason: StoredMessage, evidence: Json, *, settling_s: float, lookup_after_s: float
    ) -> bool:
        """Mark a confirmed operation as in doubt, because a read shows that the service does not have it.

        Return False if its state has changed meanwhile.
        """
        now = self._clock()
        with transaction(self._db):
            op = self.get(op_id)
            if op.state != CONFIRMED or op.read_back_at is not None or op.closed_by:
                return False
            columns = {
                "why": reason,
                "evidence": encode_evidence(evidence),
                "absence_final_at": now + settling_s,
                "not_before": now + lookup_after_s,
            }
            self._apply_event(op_id, FIND_ABSENT, **columns)
        return True

    def record_lookup(self, op_id: str, evidence: Json, not_before: float) -> None:
        """Store the evidence of a look-up; the next one is not before that time, 0 for never."""
        with transaction(self._db):
            self._db.execute(
                "UPDATE operation SET evidence = ?, not_before = ?"
                " WHERE op_id = ? AND state IN ('in_doubt', 'needs_person')",
                (encode_evidence(evidence), not_before, op_id),
            )

    def requeue(
        self, op_id: str, reason: StoredMessage, evidence: Json, missing: Sequence[int] = (), body: Json = None
    ) -> None:
        """Requeue an operation, or these entries of it (positions in its body), that certainly did not arrive.

        The rest is sent under the same reference; entries that arrived are not sent again. `body`: parts that arrived
        and may be sent again only in this form; it replaces the body.
        """
        with transaction(self._db):
            self._apply_event(op_id, RETRY, why=reason, evidence=encode_evidence(evidence))
            if missing:
                self._keep_missing_entries(self.get(op_id), missing)
            if body is not None:
                self._db.execute("UPDATE operation SET body = ? WHERE op_id = ?", (to_text(body), op_id))

    def _keep_missing_entries(self, op: Operation, missing: Sequence[int]) -> None:
        all_entries = op.body["storeproductlog"] if isinstance(op.body, dict) else op.body
        entries = [all_entries[at] for at in missing]
        numbers = op.parts or tuple(range(1, len(all_entries) + 1))
        self._db.execute(
            "UPDATE operation SET body = ?, parts = ?, sent_body = NULL, fingerprint = '' WHERE op_id = ?",
            (
                to_text({**op.body, "storeproductlog": entries} if isinstance(op.body, dict) else entries),
                to_text([numbers[at] for at in missing]),
                op.op_id,
            ),
        )

    def ask_person(
        self,
        op_id: str,
        reason: StoredMessage,
        *,
        settling_s: float = 0,
        evidence: Json = None,
        lookup_after_s: float = 0,
    ) -> None:
        """Hand the operation over to a person; with `lookup_after_s` it is still looked up.

        `settling_s`: time in which nobody may send it again, because it may just have left.
        """
        now = self._clock()
        absence_final_at = now + settling_s if settling_s and self.get(op_id).first_sent_at is not None else None
        lookup_at = now + lookup_after_s if lookup_after_s else 0
        self._transition(
            op_id,
            ASK_PERSON,
            why=reason,
            absence_final_at=absence_final_at,
            evidence=encode_evidence(evidence),
            not_before=lookup_at,
        )

    def requeue_under_keys(self, kept_since: float) -> int:
        """Requeue what a person was asked about only because no keys were announced, or a shorter lifetime of them.

        The service announces keys again and keeps those used since that time, so that nothing is done twice. Return
        the number of operations.
        """
        with transaction(self._db):
            waiting = self._select(_WITHOUT_ITS_KEY, KEY_GONE, KEY_OLD, kept_since)
            for op in waiting:
                self._apply_event(op.op_id, RETRY)
        return len(waiting)

    def due_lookups(self, limit: int = 20) -> list[Operation]:
        """Return the operations to look up now, oldest first."""
        return self._select(
            f"SELECT * FROM operation WHERE {_TO_LOOK_UP} AND not_before <= ? ORDER BY n LIMIT ?",  # noqa: S608
            self._clock(),
            limit,
        )

    def next_lookup_at(self) -> float | None:
        """Return the time of the next look-up; None if there is none."""
        row = fetch_one(self._db, f"SELECT min(not_before) FROM operation WHERE {_TO_LOOK_UP}")  # noqa: S608
        return None if row is None or row[0] is None else float(row[0])

    def confirmed_by_person(self) -> list[Operation]:
        """Return the operations that a person reported as arrived and that were not read back yet."""
        return self._select("SELECT * FROM operation WHERE live = 1 AND state = 'done' AND closed_by <> '' ORDER BY n")

    def apply_resolution(self, resolution: Resolve, user: str) -> bool:
        """Apply a person's resolution inside the caller's transaction; return False if it came too late.

        The courier may have found the operation meanwhile, or another person may have resolved it: then nothing
        changes.
        """
        op = self.get(resolution.op_id)
        event = RESOLUTIONS.get((op.state, resolution.decision))
        if event is None or (op.state == QUEUED and not user_awaited_by(self._db, op, self._clock())):
            return False
        if resolution.decision == RESEND:
            self._apply_event(
                op.op_id, event, closed_by=user, why=store_text(resolution.note), not_before=op.absence_final_at or 0
            )
            self._db.execute(
                "UPDATE operation SET attempts = 0, first_sent_at = NULL, has_key = 0 WHERE op_id = ?", (op.op_id,)
            )
            missing_update = missing_lines(op)
            if missing_update is not None:
                self._db.execute(
                    "UPDATE operation SET body = ?, sent_body = NULL, fingerprint = '' WHERE op_id = ?",
                    (to_text(missing_update), op.op_id),
                )
        else:
            self._apply_event(op.op_id, event, closed_by=user, why=store_text(resolution.note))
        if event == CONFIRM:
            self._keep_excess(op, op.evidence.get(EXCESS, ()))
        return True


RESOLUTIONS = {
    (NEEDS_PERSON, ARRIVED): CONFIRM,
    (IN_DOUBT, ARRIVED): CONFIRM,
    (NEEDS_PERSON, RESEND): RETRY,
    (NEEDS_PERSON, CLOSED_BY_HAND): CLOSE,
    (IN_DOUBT, CLOSED_BY_HAND): CLOSE,
    (REFUSED, CLOSED_BY_HAND): CLOSE,
    (QUEUED, CLOSED_BY_HAND): CLOSE,
}
"""Events of a person's resolutions by state. Only operations that nobody looks up any more are sent again.

Of queued operations only those that wait for a PIN can be closed.
"""


def missing_lines(op: Operation) -> Json:
    """Return an order update without the changes that the last look-up found on the lines; None if it found none.

    Rebased again, these changes would be added a second time.
    """
    found_lines, before = (_lines_in_evidence(op.evidence.get(when)) for when in ("after", "before"))
    if op.operation != UPDATE_ORDER or op.sent_body is None or not found_lines:
        return None
    order = op.body["orders"]
    sent = {str(line["line_number"]): line for line in json.loads(op.sent_body)["orders"].get("order_lines") or ()}
    lines = []
    for line in order.get("order_lines") or ():
        number = str(line["line_number"])
        current, sent_quantity, before_quantity = (
            lines_by_number.get(number, {}).get(PICKED) for lines_by_number in (found_lines, sent, before)
        )
        has_arrived = (
            current is not None
            and to_decimal(current) == to_decimal(sent_quantity)
            and (before_quantity is None or to_decimal(before_quantity) != to_decimal(current))
        )
        lines.append({**line, BASE: line[PICKED]} if has_arrived and has_base(line) else line)
    return {**op.body, "orders": {**order, "order_lines": lines}} if lines != order.get("order_lines") else None


def _lines_in_evidence(evidence: Json) -> Mapping[str, Mapping[str, Json]]:
    """Return the lines of an order in a look-up's evidence, by number."""
    found: Mapping[str, Mapping[str, Json]] = ((evidence or {}).get("order") or {}).get("lines") or {}
    return found


def replacement_write(op: Operation, resolution: str, user: str) -> Write | None:
    """Return the replacement for an operation in this person's name; None if the resolution does not apply."""
    if resolution == OVERAGE and op.operation == CREATE_MOVEMENT and op.state == REFUSED:
        return _movement_with_overage(op, user)
    if resolution == DIFFERENCE and op.operation == CREATE_LOGS and op.state in (NEEDS_PERSON, REFUSED):
        return _count_as_difference(op, user)
    return None


def _movement_with_overage(op: Operation, user: str) -> Write | None:
    """Return what is left of a movement, with overage allowed: it was carried, whatever stock the service has."""
    op = as_left(op)
    if all(item.get("allow_overage") for item in op.body):
        return None
    items = [{**item, "allow_overage": True} for item in op.body]
    return write_of_operation(op)._replace(query={**op.query, "AppUserName": user or op.app_user}, body=items)


def _count_as_difference(op: Operation, user: str) -> Write | None:
    """Return the count as a difference to the quantity expected then, so that later movements stay valid."""
    if not op.query.get("is_counted_quantity"):
        return None
    entries = [_entry_as_difference(entry, user) for entry in op.body["storeproductlog"]]
    if not all(entries):
        return None
    query = {**op.query, "is_counted_quantity": False, "appUserName": user or op.app_user}
    return write_of_operation(op)._replace(query=query, body={**op.body, "storeproductlog": entries})


def _entry_as_difference(entry: Mapping[str, object], user: str) -> dict[str, object]:
    """Return one entry as a difference; empty if its expected quantity is unknown."""
    name = next((name for name in COUNT_FIELDS if entry.get(name) is not None), "")
    if not name or entry.get("expected_quantity") is None:
        return {}
    change = to_decimal(entry[name]) - to_decimal(entry["expected_quantity"])
    other_fields = {key: entry[key] for key in entry if key not in (*COUNT_FIELDS, "expected_quantity")}
    field = "quantity" if name == "counted_quantity" else name
    return {**other_fields, field: change, **({"app_user_name": user} if user else {})}
