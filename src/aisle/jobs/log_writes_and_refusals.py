"""Writes of log entries (interface: Create store product logs), and operations that the service refused.

Also counts that it booked with another difference than their page showed.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from aisle.jobs.job import Context, Query, Rows, Write
from aisle.jobs.names_in_messages import measured
from aisle.jobs.view import WRONG, Verdict, msg, signed_message
from aisle.operation_body_types import UNDO_PREFIX
from aisle.stored_messages import read_message

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow
    from aisle.operation_body_types import LogEntry


LOG_SOURCE = "aisle"
ENTRIES_PER_OPERATION = 20


def log_write(
    entries: list[LogEntry], products: Iterable[str], store: str, user: str, *, is_count: bool = False
) -> Write:
    """Return the operation for these log entries, in the lanes of their products."""
    lanes = tuple(sorted({f"product/{product}" for product in products}))
    query = {"appUserName": user, "is_counted_quantity": is_count}
    return Write("create-store-product-logs", lanes, {"store_number": store}, query, {"storeproductlog": entries})


def log_writes(entries: list[LogEntry], context: Context, *, is_count: bool = False) -> tuple[Write, ...]:
    """Return the operations for these log entries, each with a part of them."""
    parts = (entries[first : first + ENTRIES_PER_OPERATION] for first in range(0, len(entries), ENTRIES_PER_OPERATION))
    return tuple(
        log_write(part, [entry["product_number"] for entry in part], context.store, context.user, is_count=is_count)
        for part in parts
    )


def stock_change_entry(
    product: str, location: str, pool: int, quantity: Decimal, context: Context, *, undoes: str = ""
) -> LogEntry:
    """Return the log entry of a change of stock, in a pool or without one. It names the entry that it `undoes`, so that
    nothing is undone twice."""
    field = f"stock_pool_{pool}" if pool else "quantity"
    entry = new_log_entry(product, location, field, quantity, context.now, context.user)
    if undoes:
        entry["reference"] = UNDO_PREFIX + undoes
    return entry


def new_log_entry(product: str, location: str, field: str, quantity: Decimal, at: str, user: str) -> LogEntry:
    """Return a log entry with the quantity in this field."""
    entry: LogEntry = {"product_number": product, "scanned_datetime": at, "app_user_name": user, "source": LOG_SOURCE}
    entry.update(cast("LogEntry", {field: quantity}))
    if location:
        entry["location_code"] = location
    return entry


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
