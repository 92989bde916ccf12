"""Dates of other people that stand in place of those given here, because somebody answered the same check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.expiry.expiry_state import CHECK, EXPIRY, ExpiryState, Result, SentCheck, day_message, today_of
from aisle.jobs.job import Context, Query, Turn
from aisle.jobs.view import WRONG, Verdict, msg

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import ExpiryCheckRow

STANDING_QUERY = "standing"
"""Id of the query for the dates that stand."""


def query_standing(state: ExpiryState, context: Context) -> tuple[Query, ...]:
    """Return the query for the products whose date was given here; none if no date was."""
    products = [sent.product for sent in _last_dates(state, context)]
    return (Query(STANDING_QUERY, "checked_products", {"products": products}, is_live=True),) if products else ()


def _last_dates(state: ExpiryState, context: Context) -> list[SentCheck]:
    """Return the last check of each product that gave it a date, else its last label, unless its next check is due."""
    last = {sent.product: sent for sent in state.sent if sent.label_day}
    last |= {sent.product: sent for sent in state.sent if sent.before}
    today = today_of(context).isoformat()
    return [sent for sent in last.values() if EXPIRY in (after := dict(sent.after)) and after[CHECK] > today]


def _is_other(sent: SentCheck, row: ExpiryCheckRow, today: str) -> bool:
    """Return True if another date stands. A label that changed nothing counts again once the check is due."""
    if sent.label_day:
        return row["due"] <= today
    return row["expiry"] not in ("", dict(sent.after)[EXPIRY])


def report_other_dates(state: ExpiryState, rows: tuple[ExpiryCheckRow, ...], context: Context) -> Result:
    """Report the products whose date is not the one given here, each date once, the last one in words."""
    given, today = {sent.product: sent for sent in _last_dates(state, context)}, today_of(context).isoformat()
    others = [row for row in rows if (sent := given.get(row["product_number"])) and _is_other(sent, row, today)]
    fresh = [row for row in others if (row["product_number"], row["expiry"]) not in state.reported_dates]
    reported = state._replace(reported_dates=tuple((row["product_number"], row["expiry"]) for row in others))
    if not fresh:
        return Turn(reported)
    row, sent = fresh[-1], given[fresh[-1]["product_number"]]
    if sent.label_day:  # the check with the nearer date was undone
        return Turn(reported, (), Verdict(WRONG, msg("expiry.not_checked", label=sent.label)))
    days = {"day": day_message(row["expiry"]), "given": day_message(dict(sent.after)[EXPIRY])}
    return Turn(reported, (), Verdict(WRONG, msg("expiry.other_date", label=sent.label, **days)))
