"""What of a confirmed update found no room: it is in somebody's hand and in no book, until a person says it is back.

It is kept as an operation of its own that was refused, so that all who look for refusals see it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import apsw

from aisle.cache.order_overlay import to_decimal
from aisle.contract.wire import encode_json
from aisle.jobs.job import Write
from aisle.json_codec import to_text
from aisle.outbox.operation_record import Operation, RandomBytes, new_id
from aisle.outbox.operation_state import REFUSED
from aisle.outbox.outcome_reasons import StoredMessage, excess_reason
from aisle.outbox.rebase import BASE, PICKED, has_base

EXCESS = "left"
"""Under which name it is kept with what was read before an operation was sent."""

CARRIED_OVER, CARRIED_OVER_S = "carried", 600.0
"""The lane of what asks for the rest of lines, and so long after a restore other hosts may come back before it does."""

_REQUIRED_FIELDS = ("line_number", "product_number", PICKED)
"""What has to be said of a line on which something found no room, so that a person can be told."""

_INSERT_REFUSED = """
INSERT INTO operation (
  op_id, store, principal, app_user, terminal, operation, lanes, merge_key, path, query, body, state, last_error,
  answer, created_at, occurred_at, job_id, event_seq, schema_version
) VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, '{}', ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def keep_excess(db: apsw.Connection, op: Operation, lines: Sequence[Mapping[str, Any]], random: RandomBytes) -> None:
    """One refused operation for each line, inside the caller's transaction."""
    for line in lines:
        number = op.body["orders"]["order_number"]
        picked = to_decimal(line[PICKED])
        said = {"line_number": line["line_number"], "product_number": line["product_number"]}
        said |= {BASE: picked, PICKED: picked + to_decimal(line["left"])}
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
            REFUSED,
            excess_reason_of(line),
            to_text(dict(line)),
            op.created_at,
            op.occurred_at,
            op.job_id,
            op.event_seq,
            op.schema_version,
        )
        db.execute(_INSERT_REFUSED, row)


def is_excess(op: Operation) -> bool:
    """Whether an operation that counts as refused is what of another one found no room."""
    return op.state == REFUSED and bool(op.answer)


def parse_excess(content: bytes | str) -> tuple[Mapping[str, Any], ...]:
    """The lines of which a service of ours says in an answer's body that something found no room there; nothing where
    it says nothing that can be understood."""
    try:
        said = json.loads(content, parse_float=Decimal)
        return tuple(
            row
            for row in said[EXCESS]
            if to_decimal(row[EXCESS])
            and all(row[name] is not None for name in _REQUIRED_FIELDS)
            and int(row["line_number"])
        )
    except (ValueError, TypeError, KeyError):
        return ()


def parse_carried_lines(content: bytes | str) -> frozenset[int]:
    """The lines of which a service of ours says in an answer's body that something waits with them for other hosts."""
    try:
        return frozenset(int(row["line_number"]) for row in json.loads(content)["carried"])
    except (ValueError, TypeError, KeyError):
        return frozenset()


def excess_query(op: Operation, lines: frozenset[int]) -> Write | None:
    """The update that asks later what of these lines of a confirmed update still finds no room: its picker did nothing.

    None where the update names none of them with a base.
    """
    order = op.body["orders"]
    picked = [line for line in order.get("order_lines") or () if has_base(line) and int(line["line_number"]) in lines]
    if not picked:
        return None
    names = ("line_number", "product_number", PICKED)
    rows = [{**{name: line[name] for name in names}, BASE: line[PICKED]} for line in picked]
    body = {"orders": {"order_number": order["order_number"], "order_lines": rows}}
    return Write(op.operation, (f"{CARRIED_OVER}/{order['order_number']}",), op.path, {}, body)


def added_excess(earlier_answer: str, lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What finds no room now, beyond what an earlier answer said of the same operation."""
    known = {int(row["line_number"]): to_decimal(row[EXCESS]) for row in parse_excess(earlier_answer)}
    now = [{**row, EXCESS: to_decimal(row[EXCESS]) - known.get(int(row["line_number"]), 0)} for row in lines]
    return [row for row in now if row[EXCESS]]


def merge_answers(earlier: str, current: str) -> str:
    """The answer to be kept of an operation that is confirmed once more: the one of now, with all that was told of it
    and found no room, so that it is not told again after the next restore."""
    rows = {int(row["line_number"]): row for row in (*parse_excess(earlier), *parse_excess(current))}
    if rows:
        return encode_json({EXCESS: list(rows.values())}).decode()
    return current if current.startswith("{") else earlier or current


def excess_reason_of(line: Mapping[str, Any]) -> StoredMessage:
    """Why, for whoever reads the list: where the line stands, and what is too many."""
    picked, of, left, moved = (to_decimal(line.get(name)) for name in (PICKED, "quantity", "left", "moved_quantity"))
    return excess_reason(int(line["line_number"]), picked, of, left, moved, str(line.get("picked_username") or ""))
