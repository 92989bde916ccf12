"""What of a confirmed update found no room: it is in somebody's hand and in no book, until a person says it is back.

It is kept as an operation of its own that was refused, so that all who look for refusals see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from aisle.jobs.codec import to_text
from aisle.local.host.ids import Random, new_id
from aisle.local.outbox.operation import Operation
from aisle.local.outbox.rebase import BASE, PICKED
from aisle.local.outbox.state import REJECTED
from aisle.local.reads.overlay import decimal
from aisle.local.told import Told, left_over

LEFT = "left"
"""Under which name it is kept with what was read before an operation was sent."""

_INSERT = """
INSERT INTO operation (
  op_id, store, principal, app_user, terminal, operation, lanes, merge_key, path, query, body, state, last_error,
  answer, created_at, occurred_at, job_id, event_seq, schema_version
) VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, '{}', ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def keep_remainder(db: apsw.Connection, op: Operation, left: Sequence[Mapping[str, Any]], random: Random) -> None:
    """One refused operation for each line, inside the caller's transaction."""
    for line in left:
        number = op.body["orders"]["order_number"]
        picked = decimal(line[PICKED])
        said = {"line_number": line["line_number"], "product_number": line["product_number"]}
        said |= {BASE: picked, PICKED: picked + decimal(line["left"])}
        row = (
            new_id(random),
            op.store,
            op.principal,
            op.app_user,
            op.terminal,
            op.operation,
            to_text(op.lanes),
            to_text(dict(op.path)),
            to_text({"orders": {"order_number": number, "order_lines": [said]}}),
            REJECTED,
            told(line),
            to_text(dict(line)),
            op.created_at,
            op.occurred_at,
            op.job_id,
            op.event_seq,
            op.schema_version,
        )
        db.execute(_INSERT, row)


def told(line: Mapping[str, Any]) -> Told:
    """Why, for whoever reads the list: where the line stands, and what is too many."""
    picked, of, left, moved = (decimal(line.get(name)) for name in (PICKED, "quantity", "left", "moved_quantity"))
    return left_over(int(line["line_number"]), picked, of, left, moved, str(line.get("picked_username") or ""))
