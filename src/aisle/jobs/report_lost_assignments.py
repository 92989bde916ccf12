"""Reports to who assigned an order that somebody else has it now."""

from __future__ import annotations

from typing import NamedTuple

from aisle.jobs.job import Args, Query, Rows
from aisle.jobs.view import WRONG, Verdict, msg

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
