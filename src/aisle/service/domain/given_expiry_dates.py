"""Expiry dates that people give for a product in one round of checks: the nearest one that is not undone stands.

A round of expiry checks begins when the check is due or was set by something else than a check.
"""

from __future__ import annotations

from typing import Any, Final

EXPIRY: Final = "expiry_date_time"
CHECK: Final = "validate_expiry_date_time"
LABEL_FIELDS: Final = ("label_expiry_date", "label_check_date")
UNDONE: Final = "undone_expiry_date"
IS_NEAREST: Final = "is_nearest"
GIVEN: Final = "given_expiry_dates"
"""Stored field: expiry date and next check as they were before the round, then those that were given in it."""

_MAX_GIVEN = 20
"""Number of given dates that are kept, the nearest ones."""

_Body = dict[str, Any]
_Dates = list[str]
"""Expiry date and next check."""


def merge_given_dates(before: _Body, fields: _Body, now: str) -> _Body:
    """Return the fields to store. Those of a check become the dates that stand, and the round.

    `before`: stored fields of the product.
    """
    label, undone = [fields.pop(name, "") for name in LABEL_FIELDS], fields.pop(UNDONE, "")
    is_nearest = fields.pop(IS_NEAREST, False)
    if undone:
        return fields | _undo(before, fields, undone)
    if all(label):
        return fields | _give(before, label, now)
    if EXPIRY not in fields and CHECK not in fields:
        return fields
    if not is_nearest or not fields.get(EXPIRY) or not fields.get(CHECK):
        return fields | {GIVEN: []}
    dates = [fields[EXPIRY], fields[CHECK]]
    found = fields | _give(before, dates, now)
    if found[EXPIRY] != dates[0]:
        found.pop("last_expiry_updatedby", None)
    return found


def _give(before: _Body, dates: _Dates, now: str) -> _Body:
    """Return the fields after these dates were given."""
    standing, given = [before.get(EXPIRY, ""), before.get(CHECK, "")], before.get(GIVEN) or []
    is_due = standing[1] <= now
    if is_due or not given:
        given = [standing] if is_due or not standing[0] else [standing, standing]
    return _fields_of_nearest([given[0], *sorted([*given[1:], dates])[:_MAX_GIVEN]])


def _undo(before: _Body, fields: _Body, undone: str) -> _Body:
    """Return the fields without a date that was given.

    If it was not given in this round, the dates of the request stand, if it has any.
    """
    given = list(before.get(GIVEN) or [])
    index = next((n for n, dates in enumerate(given) if n and dates[0] == undone), 0)
    if not index:
        return {GIVEN: []} if EXPIRY in fields or CHECK in fields else {}
    del given[index]
    return _fields_of_nearest(given)


def _fields_of_nearest(given: list[_Dates]) -> _Body:
    """Return the fields of a round: its nearest date stands, or the one before it."""
    expiry, check = min(given[1:], default=given[0])
    return {EXPIRY: expiry, CHECK: check, GIVEN: given if len(given) > 1 else []}
