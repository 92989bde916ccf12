"""Closings of lines that a later change supersedes after a restore: refused operations that the courier adds."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

import apsw

from aisle.jobs.quantities import to_decimal
from aisle.outbox.excess import REQUIRED_FIELDS, insert_refused
from aisle.outbox.operation_record import Operation, RandomBytes
from aisle.outbox.reason_messages import superseded_reason
from aisle.outbox.rebase_picks import BASE, PICKED

if TYPE_CHECKING:
    from aisle.operation_bodies import LineUpdate


SUPERSEDED = "superseded"
"""Name of the lines in an answer whose closing was not repeated, because they were changed later."""


def keep_superseded(db: apsw.Connection, op: Operation, line: LineUpdate, random: RandomBytes) -> None:
    """Insert a refused operation for a closing that was not repeated after a restore.

    It happens inside the caller's transaction.
    """
    picked = to_decimal(line[PICKED])
    order_line: LineUpdate = {"line_number": line["line_number"], "product_number": line["product_number"]}
    for each in op.body["orders"].get("order_lines") or ():
        if int(each["line_number"]) == int(line["line_number"]):
            order_line |= each
    order_line |= {BASE: picked, PICKED: picked}
    insert_refused(db, op, order_line, superseded_reason(int(line["line_number"])), "", random)


def parse_superseded_lines(content: bytes | str) -> tuple[LineUpdate, ...]:
    """Return the lines of which an answer of our own service says that a later change stands."""
    try:
        answer = json.loads(content, parse_float=Decimal)
        return tuple(
            row
            for row in answer[SUPERSEDED]
            if all(row[name] is not None for name in REQUIRED_FIELDS) and int(row["line_number"])
        )
    except (ValueError, TypeError, KeyError):
        return ()
