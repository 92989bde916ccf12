"""What a person can have sent in the place of an operation that came to nothing: pure.

Interface: Create movement (`allow_overage`), Create store product logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.base import DIFFERENCE, OVERAGE, Write
from aisle.local.outbox.operation import LOGS, MOVEMENT, Operation, as_write
from aisle.local.outbox.state import NEEDS_PERSON, REJECTED
from aisle.local.reads.overlay import decimal

_COUNTED = ("counted_quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))


def instead(op: Operation, how: str, by: str) -> Write | None:
    """The write that is sent in its place, in this person's name; None where that cannot be said of it."""
    if how == OVERAGE and op.operation == MOVEMENT and op.state == REJECTED:
        return _beyond_the_books(op, by)
    if how == DIFFERENCE and op.operation == LOGS and op.state in (NEEDS_PERSON, REJECTED):
        return _difference(op, by)
    return None


def _beyond_the_books(op: Operation, by: str) -> Write | None:
    """The same movement, though the books have less: the goods are where they were carried."""
    if all(item.get("allow_overage") for item in op.body):
        return None
    items = [{**item, "allow_overage": True} for item in op.body]
    return as_write(op)._replace(query={**op.query, "AppUserName": by or op.app_user}, body=items)


def _difference(op: Operation, by: str) -> Write | None:
    """What was found more or less than the books had at that moment: it leaves alone what moved since."""
    if not op.query.get("is_counted_quantity"):
        return None
    entries = [_changed(entry, by) for entry in op.body["storeproductlog"]]
    if not all(entries):
        return None
    query = {**op.query, "is_counted_quantity": False, "appUserName": by or op.app_user}
    return as_write(op)._replace(query=query, body={**op.body, "storeproductlog": entries})


def _changed(entry: Mapping[str, Any], by: str) -> dict[str, Any]:
    """One entry; nothing where nobody knows what was expected there."""
    name = next((name for name in _COUNTED if entry.get(name) is not None), "")
    if not name or entry.get("expected_quantity") is None:
        return {}
    change = decimal(entry[name]) - decimal(entry["expected_quantity"])
    kept = {key: entry[key] for key in entry if key not in (*_COUNTED, "expected_quantity")}
    named = "quantity" if name == "counted_quantity" else name
    return {**kept, named: change, **({"app_user_name": by} if by else {})}
