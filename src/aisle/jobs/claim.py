"""Claim on an order, read from its row: who works on it.

The interface has only `is_claimed`. Aisle's own service also says whose claim it is; for other services the queries add
what this host knows (`aisle.cache.people_and_claim_queries`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.job import Context
from aisle.jobs.store_time import parse_time

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderHeader


class Claim(NamedTuple):
    """Claim of another person, or of the same person on another terminal."""

    name: str = ""
    """Name of the person; empty if unknown."""
    is_own: bool = False
    """True if the same person has the order open on another terminal."""
    terminal: str = ""
    since: str = ""
    """Start of the claim, ISO 8601; empty if unknown."""
    abandoned_at: str = ""
    """Time at which its owner left the order, ISO 8601; empty if it is still open, or if that is unknown."""


def parse_claim(row: OrderHeader, context: Context) -> Claim | None:
    """Return the claim that keeps this person on this terminal from the order, or None."""
    if not row.get("is_claimed"):
        return None
    by, terminal = str(row.get("claimed_by") or ""), str(row.get("claimed_terminal") or "")
    same = bool(by) and by == context.user
    if same and (terminal == context.terminal or not terminal or row.get("is_claim_active") is False):
        return None
    who = str(row.get("claimed_name") or by)
    return Claim(who, same, terminal, str(row.get("claimed_on") or ""), str(row.get("claim_ended_at") or ""))


def is_later(one: str, other: str) -> bool:
    """Return True if the first time is later than the second. An unreadable time is later than nothing."""
    first, second = parse_time(one), parse_time(other)
    return first is not None and (second is None or first > second)
