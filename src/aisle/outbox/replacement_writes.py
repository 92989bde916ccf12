"""Replacement writes by which a person resolves an operation that was refused or is in doubt.

Interface: Create movement (`allow_overage`), Create store product logs.
"""

from __future__ import annotations

from collections.abc import Mapping

from aisle.jobs.job import DIFFERENCE, OVERAGE, Write
from aisle.jobs.quantities import to_decimal
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, Operation, write_of_operation
from aisle.outbox.operation_state import NEEDS_PERSON, REFUSED

_COUNTED_FIELDS = ("counted_quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))


def replacement_write(op: Operation, resolution: str, user: str) -> Write | None:
    """Return the replacement for an operation in this person's name; None if the resolution does not apply."""
    if resolution == OVERAGE and op.operation == CREATE_MOVEMENT and op.state == REFUSED:
        return _movement_with_overage(op, user)
    if resolution == DIFFERENCE and op.operation == CREATE_LOGS and op.state in (NEEDS_PERSON, REFUSED):
        return _count_as_difference(op, user)
    return None


def _movement_with_overage(op: Operation, user: str) -> Write | None:
    """Return the movement with overage allowed: the goods were carried, whatever stock the service has."""
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
    name = next((name for name in _COUNTED_FIELDS if entry.get(name) is not None), "")
    if not name or entry.get("expected_quantity") is None:
        return {}
    change = to_decimal(entry[name]) - to_decimal(entry["expected_quantity"])
    other_fields = {key: entry[key] for key in entry if key not in (*_COUNTED_FIELDS, "expected_quantity")}
    field = "quantity" if name == "counted_quantity" else name
    return {**other_fields, field: change, **({"app_user_name": user} if user else {})}
