"""Effect of a person's resolution on an operation: its event, what is sent again, and its replacement.

It writes nothing: `operations_in_doubt` and `operation_queue` do."""

from __future__ import annotations

import json
from collections.abc import Mapping

from aisle.decimal_of_row import to_decimal
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, DIFFERENCE, OVERAGE, RESEND, Json, Write
from aisle.operation_body_types import COUNT_FIELDS
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, UPDATE_ORDER, Operation, write_of_operation
from aisle.outbox.operation_states import CLOSE, CONFIRM, IN_DOUBT, NEEDS_PERSON, QUEUED, REFUSED, RETRY
from aisle.outbox.rebase_picks import BASE, PICKED, has_base
from aisle.outbox.reversals_of_refused import as_left

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
