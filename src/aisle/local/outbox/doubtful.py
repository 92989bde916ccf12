"""What becomes of operations that nobody knows the fate of: looked for, sent again, asked about, settled by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from aisle.jobs.base import AGAIN, ARRIVED, BY_HAND, Json, Settle
from aisle.jobs.codec import to_text
from aisle.local.db import fetch_one, transaction
from aisle.local.outbox.operation import UPDATE, Operation
from aisle.local.outbox.passes import awaited
from aisle.local.outbox.rebase import BASE, PICKED, has_base
from aisle.local.outbox.remainder import LEFT, keep_remainder
from aisle.local.outbox.rows import Rows, kept
from aisle.local.outbox.state import (
    ASK,
    CLOSE,
    CONFIRM,
    DENY,
    DONE,
    DOUBT,
    IN_DOUBT,
    NEEDS_PERSON,
    QUEUED,
    REJECTED,
    RETRY,
)
from aisle.local.reads.overlay import decimal
from aisle.local.told import Told, outside

_LOOKED_FOR = "live = 1 AND state IN ('in_doubt', 'needs_person') AND (state = 'in_doubt' OR not_before > 0)"

_SETTLED = {
    (NEEDS_PERSON, ARRIVED): CONFIRM,
    (IN_DOUBT, ARRIVED): CONFIRM,
    (NEEDS_PERSON, AGAIN): RETRY,
    (NEEDS_PERSON, BY_HAND): CLOSE,
    (IN_DOUBT, BY_HAND): CLOSE,
    (REJECTED, BY_HAND): CLOSE,
    (QUEUED, BY_HAND): CLOSE,
}
"""What a person may say of an operation, and what that does. Sent again is only what nobody is looking for any more.
Of what waits to be sent only that is given up which waits for somebody's PIN."""


_FOLLOWED = """
SELECT 1 FROM op_lane mine JOIN op_lane younger ON younger.lane = mine.lane AND younger.n > mine.n
JOIN operation o ON o.n = younger.n
WHERE mine.n = ? AND mine.lane = ? AND o.first_sent_at IS NOT NULL LIMIT 1
"""


class Doubtful(Rows):
    """What becomes of doubts."""

    def doubt(self, op_id: str, why: Told, *, settle_s: float = 0, look_s: float = 0, evidence: Json = None) -> None:
        """It may or may not have arrived. Its lanes stand still.

        It is looked for in `look_s` seconds; in `settle_s` seconds absence is believed. `evidence` is kept with it.
        """
        now = self._clock()
        times = {"settles_at": now + settle_s, "not_before": now + look_s}
        self._change(op_id, DOUBT, why=why, evidence=kept(evidence), **times)

    def told_of(self, lane: str) -> Operation | None:
        """What was last said in a lane, if it was confirmed without a key and has not been read back yet."""
        found = self._all(
            "SELECT * FROM operation WHERE n IN (SELECT n FROM op_lane WHERE lane = ?)"
            " AND live = 1 AND state = 'done' AND keyed = 0 ORDER BY n DESC LIMIT 1",
            lane,
        )
        return found[0] if found and fetch_one(self._db, _FOLLOWED, found[0].n, lane) is None else None

    def deny(self, op_id: str, why: Told, evidence: Json, *, settle_s: float, look_s: float) -> bool:
        """The service said that it has it, and shows that it has not: it is in doubt, as if nothing had been said.

        False where something else has become of it meanwhile.
        """
        now = self._clock()
        with transaction(self._db):
            op = self.get(op_id)
            if op.state != DONE or op.read_back_at is not None or op.closed_by:
                return False
            columns = {"why": why, "evidence": kept(evidence), "settles_at": now + settle_s, "not_before": now + look_s}
            self._apply(op_id, DENY, **columns)
        return True

    def looked(self, op_id: str, evidence: Json, not_before: float) -> None:
        """It was looked for, and will be again, not before that moment; 0 for never."""
        with transaction(self._db):
            self._db.execute(
                "UPDATE operation SET evidence = ?, not_before = ?"
                " WHERE op_id = ? AND state IN ('in_doubt', 'needs_person')",
                (kept(evidence), not_before, op_id),
            )

    def send_again(
        self, op_id: str, why: Told, evidence: Json, missing: Sequence[int] = (), as_sent: Json = None
    ) -> None:
        """It is settled that it, or these entries of it (their positions in its body), did not arrive.

        What is left of it is sent under the same reference; what did arrive is not said again. With `as_sent`, a body,
        some of it did arrive that can be said again, in these very words: they are all that it says from now on.
        """
        with transaction(self._db):
            self._apply(op_id, RETRY, why=why, evidence=kept(evidence))
            if missing:
                self._narrow(self.get(op_id), missing)
            if as_sent is not None:
                self._db.execute("UPDATE operation SET body = ? WHERE op_id = ?", (to_text(as_sent), op_id))

    def _narrow(self, op: Operation, missing: Sequence[int]) -> None:
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
        self, op_id: str, why: Told, *, settle_s: float = 0, evidence: Json = None, look_s: float = 0
    ) -> None:
        """The machine gives up finding out; with `look_s` it goes on looking all the same.

        `settle_s`: so long nobody may send it again, where it may have left just now.
        """
        now = self._clock()
        settles_at = now + settle_s if settle_s and self.get(op_id).first_sent_at is not None else None
        look = now + look_s if look_s else 0
        self._change(op_id, ASK, why=why, settles_at=settles_at, evidence=kept(evidence), not_before=look)

    def doubted(self, limit: int = 20) -> list[Operation]:
        """What has to be looked for now, oldest first."""
        return self._all(
            f"SELECT * FROM operation WHERE {_LOOKED_FOR} AND not_before <= ? ORDER BY n LIMIT ?",  # noqa: S608
            self._clock(),
            limit,
        )

    def next_look(self) -> float | None:
        """When something has to be looked for next; None for never."""
        row = fetch_one(self._db, f"SELECT min(not_before) FROM operation WHERE {_LOOKED_FOR}")  # noqa: S608
        return None if row is None or row[0] is None else float(row[0])

    def settled_by_hand(self) -> list[Operation]:
        """What a person said has arrived, and what has not been read back yet."""
        return self._all("SELECT * FROM operation WHERE live = 1 AND state = 'done' AND closed_by <> '' ORDER BY n")

    def settle(self, settle: Settle, by: str) -> bool:
        """What a person says about an operation, inside the caller's transaction; False where it came too late.

        Meanwhile the courier may have found it, or somebody else may have settled it: then nothing is changed.
        """
        op = self.get(settle.op_id)
        event = _SETTLED.get((op.state, settle.how))
        if event is None or (op.state == QUEUED and not awaited(self._db, op, self._clock())):
            return False
        if settle.how == AGAIN:
            self._apply(op.op_id, event, closed_by=by, why=outside(settle.note), not_before=op.settles_at or 0)
            self._db.execute(
                "UPDATE operation SET attempts = 0, first_sent_at = NULL, keyed = 0 WHERE op_id = ?", (op.op_id,)
            )
            left = _what_is_missing(op)
            if left is not None:
                self._db.execute(
                    "UPDATE operation SET body = ?, frozen = NULL, fingerprint = '' WHERE op_id = ?",
                    (to_text(left), op.op_id),
                )
        else:
            self._apply(op.op_id, event, closed_by=by, why=outside(settle.note))
        if event == CONFIRM:
            keep_remainder(self._db, op, op.evidence.get(LEFT, ()), self._random)
        return True


def _what_is_missing(op: Operation) -> Json:
    """The update of an order without what its picker added to the lines that stood, at the last look, as it left them;
    None where nothing of it was seen there. Fitted anew, that would be added to them a second time."""
    there, before = (_lines_of(op.evidence.get(when)) for when in ("after", "before"))
    if op.operation != UPDATE or op.frozen is None or not there:
        return None
    order = op.body["orders"]
    sent = {str(line["line_number"]): line for line in json.loads(op.frozen)["orders"].get("order_lines") or ()}
    lines = []
    for line in order.get("order_lines") or ():
        number = str(line["line_number"])
        now, ours, was = (of.get(number, {}).get(PICKED) for of in (there, sent, before))
        came = now is not None and decimal(now) == decimal(ours) and (was is None or decimal(was) != decimal(now))
        lines.append({**line, BASE: line[PICKED]} if came and has_base(line) else line)
    return {**op.body, "orders": {**order, "order_lines": lines}} if lines != order.get("order_lines") else None


def _lines_of(seen: Json) -> Mapping[str, Mapping[str, Json]]:
    """What a look has kept of the lines of an order, by their numbers."""
    found: Mapping[str, Mapping[str, Json]] = ((seen or {}).get("order") or {}).get("lines") or {}
    return found
