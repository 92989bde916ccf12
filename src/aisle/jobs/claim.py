"""Claim on an order: who works on it, and reports to who assigned it that somebody else has it now.

The interface has only `is_claimed`. Aisle's own service also says whose claim it is; for other services the queries add
what this host knows (`aisle.cache.people_and_claim_queries`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.job import Args, Context, Query, Rows
from aisle.jobs.store_time import parse_time
from aisle.jobs.view import WRONG, Verdict, msg

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


MAX_CLAIMS = 50
"""Most claims that a page remembers."""


class ClaimForOther(NamedTuple):
    """Order, and the person it was assigned to."""

    order: str
    user: str


def with_new_claims(before: tuple[ClaimForOther, ...], answer: Args | None) -> tuple[ClaimForOther, ...]:
    """Return the claims after the result of job `order_actions`. The last assignment of an order counts."""
    done = answer or {}
    again = {str(each["order"]) for each in done.get("undo") or ()}
    fresh = [ClaimForOther(str(order), str(user)) for order, user in done.get("assigned") or ()]
    again |= {each.order for each in fresh}
    return (*(each for each in before if each.order not in again), *fresh)[-MAX_CLAIMS:]


def query_claims(claims: tuple[ClaimForOther, ...]) -> tuple[Query, ...]:
    """Return the query for the state of these orders; empty without claims."""
    return (
        (Query("assigned_orders", "orders_by_number", {"orders": [each.order for each in claims]}, is_live=True),)
        if claims
        else ()
    )


def report_lost_claims(
    claims: tuple[ClaimForOther, ...], answer: Rows
) -> tuple[tuple[ClaimForOther, ...], Verdict | None]:
    """Return the claims that still hold, and a verdict for one that somebody else has now."""
    rows = {str(row["order_number"]): row for row in answer.rows}
    verdict, kept = None, []
    for each in claims:
        row = rows.get(each.order, {})
        by = str(row.get("claimed_by") or "")
        if row.get("is_claimed") and by and by != each.user:
            verdict = Verdict(WRONG, msg("pick.claimed_now", order=each.order, who=str(row.get("claimed_name") or by)))
        else:
            kept.append(each)
    return tuple(kept), verdict
