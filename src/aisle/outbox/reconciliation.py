"""What a person can have sent in the place of an operation that came to nothing: pure.

Interface: Create movement (`allow_overage`), Create store product logs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aisle.cache.order_overlay import to_decimal
from aisle.host.database import fetch_one, transaction
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, DIFFERENCE, OVERAGE, RESEND, Json, Resolve, Write
from aisle.json_codec import to_text
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, UPDATE_ORDER, Operation, write_of_operation
from aisle.outbox.operation_state import (
    ASK_PERSON,
    CLOSE,
    CONFIRM,
    CONFIRMED,
    FIND_ABSENT,
    IN_DOUBT,
    LOSE_ANSWER,
    NEEDS_PERSON,
    QUEUED,
    REFUSED,
    RETRY,
    OperationRows,
    encode_evidence,
)
from aisle.outbox.outcome_reasons import StoredMessage, store_text
from aisle.outbox.rebase import BASE, PICKED, has_base
from aisle.outbox.rebase_excess import EXCESS, keep_excess
from aisle.outbox.user_tokens import user_awaited_by

_COUNTED_FIELDS = ("counted_quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))


def replacement_write(op: Operation, resolution: str, user: str) -> Write | None:
    """The write that is sent in its place, in this person's name; None where that cannot be said of it."""
    if resolution == OVERAGE and op.operation == CREATE_MOVEMENT and op.state == REFUSED:
        return _movement_with_overage(op, user)
    if resolution == DIFFERENCE and op.operation == CREATE_LOGS and op.state in (NEEDS_PERSON, REFUSED):
        return _count_as_difference(op, user)
    return None


def _movement_with_overage(op: Operation, user: str) -> Write | None:
    """The same movement, though the books have less: the goods are where they were carried."""
    if all(item.get("allow_overage") for item in op.body):
        return None
    items = [{**item, "allow_overage": True} for item in op.body]
    return write_of_operation(op)._replace(query={**op.query, "AppUserName": user or op.app_user}, body=items)


def _count_as_difference(op: Operation, user: str) -> Write | None:
    """What was found more or less than the books had at that moment: it leaves alone what moved since."""
    if not op.query.get("is_counted_quantity"):
        return None
    entries = [_entry_as_difference(entry, user) for entry in op.body["storeproductlog"]]
    if not all(entries):
        return None
    query = {**op.query, "is_counted_quantity": False, "appUserName": user or op.app_user}
    return write_of_operation(op)._replace(query=query, body={**op.body, "storeproductlog": entries})


def _entry_as_difference(entry: Mapping[str, Any], user: str) -> dict[str, Any]:
    """One entry; nothing where nobody knows what was expected there."""
    name = next((name for name in _COUNTED_FIELDS if entry.get(name) is not None), "")
    if not name or entry.get("expected_quantity") is None:
        return {}
    change = to_decimal(entry[name]) - to_decimal(entry["expected_quantity"])
    kept = {key: entry[key] for key in entry if key not in (*_COUNTED_FIELDS, "expected_quantity")}
    named = "quantity" if name == "counted_quantity" else name
    return {**kept, named: change, **({"app_user_name": user} if user else {})}


_TO_LOOK_UP = "live = 1 AND state IN ('in_doubt', 'needs_person') AND (state = 'in_doubt' OR not_before > 0)"

_RESOLUTIONS = {
    (NEEDS_PERSON, ARRIVED): CONFIRM,
    (IN_DOUBT, ARRIVED): CONFIRM,
    (NEEDS_PERSON, RESEND): RETRY,
    (NEEDS_PERSON, CLOSED_BY_HAND): CLOSE,
    (IN_DOUBT, CLOSED_BY_HAND): CLOSE,
    (REFUSED, CLOSED_BY_HAND): CLOSE,
    (QUEUED, CLOSED_BY_HAND): CLOSE,
}
"""What a person may say of an operation, and what that does. Sent again is only what nobody is looking for any more.
Of what waits to be sent only that is given up which waits for somebody's PIN."""


_SENT_LATER_IN_LANE = """
SELECT 1 FROM op_lane mine JOIN op_lane younger ON younger.lane = mine.lane AND younger.n > mine.n
JOIN operation o ON o.n = younger.n
WHERE mine.n = ? AND mine.lane = ? AND o.first_sent_at IS NOT NULL LIMIT 1
"""


class Reconciliation(OperationRows):
    """What becomes of doubts."""

    def mark_in_doubt(
        self,
        op_id: str,
        reason: StoredMessage,
        *,
        settling_s: float = 0,
        lookup_after_s: float = 0,
        evidence: Json = None,
    ) -> None:
        """It may or may not have arrived. Its lanes stand still.

        It is looked for in `look_s` seconds; in `settle_s` seconds absence is believed. `evidence` is kept with it.
        """
        now = self._clock()
        times = {"settles_at": now + settling_s, "not_before": now + lookup_after_s}
        self._transition(op_id, LOSE_ANSWER, why=reason, evidence=encode_evidence(evidence), **times)

    def last_unverified(self, lane: str) -> Operation | None:
        """What was last said in a lane, if it was confirmed without a key and has not been read back yet."""
        found = self._select(
            "SELECT * FROM operation WHERE n IN (SELECT n FROM op_lane WHERE lane = ?)"
            " AND live = 1 AND state = 'done' AND keyed = 0 ORDER BY n DESC LIMIT 1",
            lane,
        )
        return found[0] if found and fetch_one(self._db, _SENT_LATER_IN_LANE, found[0].n, lane) is None else None

    def mark_absent(
        self, op_id: str, reason: StoredMessage, evidence: Json, *, settling_s: float, lookup_after_s: float
    ) -> bool:
        """The service said that it has it, and shows that it has not: it is in doubt, as if nothing had been said.

        False where something else has become of it meanwhile.
        """
        now = self._clock()
        with transaction(self._db):
            op = self.get(op_id)
            if op.state != CONFIRMED or op.read_back_at is not None or op.closed_by:
                return False
            columns = {
                "why": reason,
                "evidence": encode_evidence(evidence),
                "settles_at": now + settling_s,
                "not_before": now + lookup_after_s,
            }
            self._apply_event(op_id, FIND_ABSENT, **columns)
        return True

    def record_lookup(self, op_id: str, evidence: Json, not_before: float) -> None:
        """It was looked for, and will be again, not before that moment; 0 for never."""
        with transaction(self._db):
            self._db.execute(
                "UPDATE operation SET evidence = ?, not_before = ?"
                " WHERE op_id = ? AND state IN ('in_doubt', 'needs_person')",
                (encode_evidence(evidence), not_before, op_id),
            )

    def requeue(
        self, op_id: str, reason: StoredMessage, evidence: Json, missing: Sequence[int] = (), body: Json = None
    ) -> None:
        """It is settled that it, or these entries of it (their positions in its body), did not arrive.

        What is left of it is sent under the same reference; what did arrive is not said again. With `as_sent`, a body,
        some of it did arrive that can be said again, in these very words: they are all that it says from now on.
        """
        with transaction(self._db):
            self._apply_event(op_id, RETRY, why=reason, evidence=encode_evidence(evidence))
            if missing:
                self._keep_missing_entries(self.get(op_id), missing)
            if body is not None:
                self._db.execute("UPDATE operation SET body = ? WHERE op_id = ?", (to_text(body), op_id))

    def _keep_missing_entries(self, op: Operation, missing: Sequence[int]) -> None:
        whole = op.body["storeproductlog"] if isinstance(op.body, dict) else op.body
        left = [whole[at] for at in missing]
        numbers = op.parts or tuple(range(1, len(whole) + 1))
        self._db.execute(
            "UPDATE operation SET body = ?, parts = ?, frozen = NULL, fingerprint = '' WHERE op_id = ?",
            (
                to_text({**op.body, "storeproductlog": left} if isinstance(op.body, dict) else left),
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
        """The machine gives up finding out; with `look_s` it goes on looking all the same.

        `settle_s`: so long nobody may send it again, where it may have left just now.
        """
        now = self._clock()
        settles_at = now + settling_s if settling_s and self.get(op_id).first_sent_at is not None else None
        look = now + lookup_after_s if lookup_after_s else 0
        self._transition(
            op_id, ASK_PERSON, why=reason, settles_at=settles_at, evidence=encode_evidence(evidence), not_before=look
        )

    def due_lookups(self, limit: int = 20) -> list[Operation]:
        """What has to be looked for now, oldest first."""
        return self._select(
            f"SELECT * FROM operation WHERE {_TO_LOOK_UP} AND not_before <= ? ORDER BY n LIMIT ?",  # noqa: S608
            self._clock(),
            limit,
        )

    def next_lookup_at(self) -> float | None:
        """When something has to be looked for next; None for never."""
        row = fetch_one(self._db, f"SELECT min(not_before) FROM operation WHERE {_TO_LOOK_UP}")  # noqa: S608
        return None if row is None or row[0] is None else float(row[0])

    def confirmed_by_person(self) -> list[Operation]:
        """What a person said has arrived, and what has not been read back yet."""
        return self._select("SELECT * FROM operation WHERE live = 1 AND state = 'done' AND closed_by <> '' ORDER BY n")

    def resolve(self, resolution: Resolve, user: str) -> bool:
        """What a person says about an operation, inside the caller's transaction; False where it came too late.

        Meanwhile the courier may have found it, or somebody else may have settled it: then nothing is changed.
        """
        op = self.get(resolution.op_id)
        event = _RESOLUTIONS.get((op.state, resolution.decision))
        if event is None or (op.state == QUEUED and not user_awaited_by(self._db, op, self._clock())):
            return False
        if resolution.decision == RESEND:
            self._apply_event(
                op.op_id, event, closed_by=user, why=store_text(resolution.note), not_before=op.settles_at or 0
            )
            self._db.execute(
                "UPDATE operation SET attempts = 0, first_sent_at = NULL, keyed = 0 WHERE op_id = ?", (op.op_id,)
            )
            left = _missing_lines(op)
            if left is not None:
                self._db.execute(
                    "UPDATE operation SET body = ?, frozen = NULL, fingerprint = '' WHERE op_id = ?",
                    (to_text(left), op.op_id),
                )
        else:
            self._apply_event(op.op_id, event, closed_by=user, why=store_text(resolution.note))
        if event == CONFIRM:
            keep_excess(self._db, op, op.evidence.get(EXCESS, ()), self._random)
        return True


def _missing_lines(op: Operation) -> Json:
    """The update of an order without what its picker added to the lines that stood, at the last look, as it left them;
    None where nothing of it was seen there. Fitted anew, that would be added to them a second time."""
    there, before = (_lines_in_evidence(op.evidence.get(when)) for when in ("after", "before"))
    if op.operation != UPDATE_ORDER or op.frozen is None or not there:
        return None
    order = op.body["orders"]
    sent = {str(line["line_number"]): line for line in json.loads(op.frozen)["orders"].get("order_lines") or ()}
    lines = []
    for line in order.get("order_lines") or ():
        number = str(line["line_number"])
        now, ours, was = (of.get(number, {}).get(PICKED) for of in (there, sent, before))
        came = (
            now is not None
            and to_decimal(now) == to_decimal(ours)
            and (was is None or to_decimal(was) != to_decimal(now))
        )
        lines.append({**line, BASE: line[PICKED]} if came and has_base(line) else line)
    return {**op.body, "orders": {**order, "order_lines": lines}} if lines != order.get("order_lines") else None


def _lines_in_evidence(evidence: Json) -> Mapping[str, Mapping[str, Json]]:
    """What a look has kept of the lines of an order, by their numbers."""
    found: Mapping[str, Mapping[str, Json]] = ((evidence or {}).get("order") or {}).get("lines") or {}
    return found
