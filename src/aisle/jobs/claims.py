"""Who works on an order: what a row of it says, read for whoever asks. Plain values in, plain values out.

The interface has `is_claimed` and no more. Our own service says whose claim it is; elsewhere the reads say what this
host knows of it (`aisle.cache.claim_queries`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from aisle.jobs import store_time
from aisle.jobs.job import Context, Query, Rows
from aisle.jobs.view import WRONG, Verdict, msg


class Claim(NamedTuple):
    """Somebody else's claim of an order, or one's own from another terminal."""

    name: str = ""
    """A name; empty where nobody says whose it is."""
    is_own: bool = False
    """It is the same person's, on a terminal where the order is still open."""
    terminal: str = ""
    since: str = ""
    """ISO 8601; empty where nobody says since when."""
    abandoned_at: str = ""
    """ISO 8601: when whoever has begun it here left it; empty while that is open, or where nobody can know."""


def parse_claim(row: Mapping[str, Any], context: Context) -> Claim | None:
    """The claim that stands in the way of this person on this terminal; None for none."""
    if not row.get("is_claimed"):
        return None
    by, terminal = str(row.get("claimed_by") or ""), str(row.get("claimed_terminal") or "")
    same = bool(by) and by == context.user
    if same and (terminal == context.terminal or not terminal or row.get("claim_open") is False):
        return None
    who = str(row.get("claimed_name") or by)
    return Claim(who, same, terminal, str(row.get("claimed_on") or ""), str(row.get("claim_left") or ""))


def is_later(one: str, other: str) -> bool:
    """Whether a moment lies behind another; what cannot be read lies behind nothing."""
    first, second = _parse_time(one), _parse_time(other)
    return first is not None and (second is None or first > second)


def _parse_time(text: str) -> datetime | None:
    return store_time.parse_time(text)


MAX_CLAIMS = 50
"""Claims that a page keeps in mind."""


class ClaimForOther(NamedTuple):
    """An order, and whose it was said to be."""

    order: str
    user: str


def with_new_claims(before: tuple[ClaimForOther, ...], answer: Mapping[str, Any] | None) -> tuple[ClaimForOther, ...]:
    """With what the job `act` has done: what was said of an order last is what counts."""
    done: Mapping[str, Any] = answer or {}
    again = {str(each["order"]) for each in done.get("undo") or ()}
    fresh = [ClaimForOther(str(order), str(user)) for order, user in done.get("given") or ()]
    again |= {each.order for each in fresh}
    return (*(each for each in before if each.order not in again), *fresh)[-MAX_CLAIMS:]


def query_claims(claims: tuple[ClaimForOther, ...]) -> tuple[Query, ...]:
    """How these orders stand."""
    return (
        (Query("given", "orders_by_number", {"orders": [each.order for each in claims]}, is_live=True),)
        if claims
        else ()
    )


def report_lost_claims(
    claims: tuple[ClaimForOther, ...], answer: Rows
) -> tuple[tuple[ClaimForOther, ...], Verdict | None]:
    """What is left to be kept in mind, and what to say of the one that is another's."""
    rows = {str(row["order_number"]): row for row in answer.rows}
    told, left = None, []
    for each in claims:
        row = rows.get(each.order, {})
        by = str(row.get("claimed_by") or "")
        if row.get("is_claimed") and by and by != each.user:
            told = Verdict(WRONG, msg("act.outdone", order=each.order, name=str(row.get("claimed_name") or by)))
        else:
            left.append(each)
    return tuple(left), told
