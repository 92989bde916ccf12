"""Operations that the service refused: log entries, which then need no undo, and movements.

Also counts that it booked with another difference than their page showed.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.job import Query, Rows
from aisle.jobs.name_goods_and_locations import measured
from aisle.jobs.view import WRONG, Verdict, msg, signed_message
from aisle.stored_messages import read_message

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow

REFUSED_ENTRIES = "not_taken"


def query_refused_since(moments: Iterable[str]) -> Query:
    """Return the query for refused log entries made at these times or later."""
    args = {"operation": "create-store-product-logs", "since": min(moments)}
    return Query(REFUSED_ENTRIES, "refused_operations", args)


def refused_entry(rows: tuple[RefusedOperationsRow, ...], product: str, counted_at: str) -> RefusedOperationsRow | None:
    """Return the refusal of the entry for this product and time, or None."""
    for row in rows:
        for entry in row["body"].get("storeproductlog") or ():
            if (entry.get("product_number"), entry.get("scanned_datetime")) == (product, counted_at):
                return row
    return None


def new_refusals(
    reported: tuple[str, ...], rows: Iterable[RefusedOperationsRow], user: str
) -> list[RefusedOperationsRow]:
    """Return the refusals of this person's operations that were not reported yet."""
    return [row for row in rows if row["user"] == user and row["op_id"] not in reported]


def refusal_verdict(row: RefusedOperationsRow, id_: str = "receive.refused") -> Verdict:
    """Return the verdict with the reason of the refusal."""
    return Verdict(WRONG, msg(id_, why=read_message(str(row["why"])), label=str(row["label"])))


def query_refused_hand_overs(since: str) -> Query:
    """Return the query for refused updates of orders since then, hand-overs among them."""
    args = {"operation": "update-customer-order", "since": since}
    return Query("refused_hand_overs", "refused_operations", args, is_live=True)


def report_refused_hand_overs(
    reported: tuple[str, ...], rows: Iterable[RefusedOperationsRow], user: str
) -> tuple[tuple[str, ...], Verdict | None]:
    """Return all refusals that this person knows now, and a verdict for the latest new hand-over, if any."""
    fresh = [row for row in new_refusals(reported, rows, user) if not row["body"]["orders"].get("is_active", True)]
    if not fresh:
        return reported, None
    why = read_message(str(fresh[-1]["why"]))
    if why.id not in _BY_OTHERS:
        why = msg("hand_over.refused", order=str(fresh[-1]["body"]["orders"]["order_number"]), why=why)
    return with_reported(reported, fresh), Verdict(WRONG, why)


_BY_OTHERS = ("stored_reason.handed_over_by", "stored_reason.order_finished")
"""Reasons that name the order, and say who has handed it over."""


def query_booked_otherwise(since: str, user: str, *, is_reported: bool = False) -> Query:
    """Return the query for counts booked otherwise than shown. `is_reported`: the open count has reported them."""
    id_ = "booked_otherwise_before" if is_reported else "booked_otherwise"
    return Query(id_, "counts_booked_otherwise", {"user": user, "since": since}, is_live=True)


def report_booked_otherwise(reported: tuple[str, ...], answer: Rows) -> tuple[tuple[str, ...], Verdict | None]:
    """Return all reports that this person has had, and a verdict for the latest new count booked otherwise, if any."""
    fresh = [row for row in answer.rows if row["key"] not in reported]
    reported = (*reported, *(row["key"] for row in fresh))[-MAX_REPORTED:]
    if not fresh or answer.id != "booked_otherwise":
        return reported, None
    row = fresh[-1]
    return reported, booked_otherwise_verdict(row["label"], row["booked"], row["shown"])


def booked_otherwise_verdict(label: str, booked: Decimal, shown: Decimal, unit: str = "") -> Verdict:
    """Return the verdict that a count was booked with another difference than its page showed."""
    signed = [signed_message(each, measured(abs(each), unit)) for each in (booked, shown)]
    return Verdict(WRONG, msg("count.booked_otherwise", label=label, booked=signed[0], shown=signed[1]))


MAX_REPORTED = 100


def with_reported(reported: tuple[str, ...], rows: Iterable[RefusedOperationsRow]) -> tuple[str, ...]:
    """Return the refusals that were reported, with these added."""
    return (*reported, *(str(row["op_id"]) for row in rows))[-MAX_REPORTED:]


def query_refused_moves(since: str, *, is_reported: bool = False) -> Query:
    """Return the query for refused movements since then. `is_reported`: an open page has already reported them."""
    args = {"operation": "create-movement", "since": since}
    return Query("refused_before" if is_reported else "refused", "refused_operations", args, is_live=True)


def report_refused_moves(reported: tuple[str, ...], answer: Rows, user: str) -> tuple[tuple[str, ...], Verdict | None]:
    """Return all refusals that this person knows now, and a verdict for the latest new one, if any."""
    fresh = new_refusals(reported, answer.rows, user)
    verdict = refusal_verdict(fresh[-1]) if fresh and answer.id == "refused" else None
    return with_reported(reported, fresh), verdict
