"""Checks that the service refused, or that others were faster with: told at the page, and not undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.expiry.expiry_state import ExpiryState, Result, SentCheck
from aisle.jobs.find_and_report_refusals import new_refusals, with_reported
from aisle.jobs.job import Context, Query, Turn
from aisle.jobs.supervisor.parse_and_format_store_product_values import UPDATE
from aisle.jobs.view import WRONG, Msg, Verdict, msg
from aisle.store_product_settings import parse_update_values
from aisle.stored_messages import is_stored_message, read_message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow
    from aisle.jobs.row_types.products import PendingChangeRow

REFUSED_CHECKS = "refused_checks"


def query_refused(since: str) -> Query:
    """Return the query for checks that were refused since then."""
    return Query(REFUSED_CHECKS, "refused_operations", {"operation": UPDATE, "since": since}, is_live=True)


def report_refused(state: ExpiryState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Report the checks of this person that were refused and not reported yet, the latest one in words."""
    fresh = new_refusals(state.reported_refusals, rows, context.user)
    found = [(row, sent) for row in fresh if (sent := _sent_check(state, row))]
    if not found:
        return Turn(state)
    reported = state._replace(reported_refusals=with_reported(state.reported_refusals, (row for row, _ in found)))
    row, sent = found[-1]
    return Turn(reported, (), Verdict(WRONG, refusal_message(row["why"], sent)))


def _sent_check(state: ExpiryState, row: RefusedOperationsRow) -> SentCheck | None:
    """Return the check that an operation was sent for; None if it is another change of the product."""
    for item in row["body"]:
        values = parse_update_values(item).items()
        for sent in state.sent:
            if sent.product == str(item.get("product_number")) and values <= dict(sent.after).items():
                return sent
    return None


def find_refusal(changes: Iterable[PendingChangeRow], sent: SentCheck) -> str | None:
    """Return why the latest change that this check sent was refused; None if it was not."""
    values = dict(sent.after).items()
    for change in changes:
        if {(name, after) for name, _, after in change["fields"]} <= values:
            return change["why"] if change["outcome"] == "refused" else None
    return None


def refusal_message(why: str, sent: SentCheck) -> Msg:
    """Return the reason of a refusal: that of the service, or that somebody else was faster."""
    reason = read_message(why)
    if is_stored_message(why):
        return msg("raw.cut", text=reason)
    return msg("receive.refused", why=reason, label=sent.label)
