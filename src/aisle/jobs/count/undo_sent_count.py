"""Undo of a count that was sent: what is kept of it, and opposite entries, unless somebody counted later."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import log_writes_and_refusals, names_in_messages
from aisle.jobs.count.sent_count_types import SentCount
from aisle.jobs.job import Close, Context, Query, Turn, Write, reply
from aisle.jobs.log_writes_and_refusals import log_writes, stock_change_entry
from aisle.jobs.store_time import to_utc_text
from aisle.jobs.view import INFO, WRONG, Msg, Verdict, msg, undo_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aisle.jobs.count.count_state import CountState, Result
    from aisle.jobs.count.sent_count_types import StockChange
    from aisle.jobs.row_types.log import MyEntriesRow
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow


BOOKED_QUERY = "booked"
"""Id of the query for the differences that the service booked."""

SENT_QUERY = "sent_booked"
"""Id of the same query after a count was sent, to report differences that were not shown."""

MAX_LATER_ENTRIES = 1000
"""Number of entries of these products that are read at most, beside those of the count."""


def undo_sent(state: CountState, context: Context) -> Result:
    """Undo the count sent last; query first what the service booked for its entries."""
    sent = state.last_sent
    if sent is None:
        return reply(state, WRONG, "pick.nothing_to_undo")
    if not sent.changes:
        return Turn(state._replace(last_sent=None), (), no_undo_verdict(sent))
    return Turn(state, (query_booked(sent.changes, context),))


def query_booked(changes: Sequence[StockChange], context: Context) -> Query:
    """Return the query for the differences that the service booked, from the day of the first change on."""
    products = list(dict.fromkeys(each.product for each in changes))
    args = {"user": context.user, "now": min(each.counted_at for each in changes), "products": products}
    return Query(BOOKED_QUERY, "my_entries", {**args, "size": len(changes) + MAX_LATER_ENTRIES})


def take_booked(state: CountState, rows: tuple[MyEntriesRow, ...]) -> Result:
    """Take over the differences that the service booked; query which entries it refused.

    Somebody else may have counted the same goods meanwhile, so that the service expected another quantity.
    """
    if state.last_sent is None:
        return Turn(state)
    refused = log_writes_and_refusals.query_refused_since(change.counted_at for change in state.last_sent.changes)
    return Turn(state._replace(last_sent=with_booked(state.last_sent, rows)), (refused,))


def report_booked(state: CountState, rows: tuple[MyEntriesRow, ...]) -> Result:
    """Report a difference that the service booked otherwise than shown, for example because a move was undone."""
    sent = state.last_sent
    if sent is None or state.question or state.choices or state.phase not in ("start", "list", "count"):
        return Turn(state)
    booked = tuple(_as_confirmed(each, entry_of(each, rows)) for each in sent.changes)
    pairs = [(shown, now) for shown, now in zip(sent.changes, booked, strict=True) if shown.quantity != now.quantity]
    if not pairs:
        return Turn(state)
    shown, now = pairs[0]
    state = state._replace(last_sent=sent._replace(changes=booked))
    label = shown.label or shown.product
    return Turn(
        state, (), log_writes_and_refusals.booked_otherwise_verdict(label, now.quantity, shown.quantity, shown.unit)
    )


def _as_confirmed(change: StockChange, row: MyEntriesRow | None) -> StockChange:
    is_booked = row is not None and row["outcome"] == "confirmed" and not row["is_not_used"]
    return _as_booked(change, row) if is_booked else change


def with_booked(sent: SentCount, rows: tuple[MyEntriesRow, ...]) -> SentCount:
    """Return a sent count with the differences that the service booked, without goods that were counted since."""
    found = [(change, entry_of(change, rows)) for change in sent.changes]
    known = [row for _, row in found if row]
    remaining = [(_as_booked(change, row), row) for change, row in found if not row or _can_be_undone(row)]
    unused_before = [row["unused_before"] for _, row in remaining if row and row["unused_before"] is not None]
    since = [with_later_quantity(change, row) for change, row in found if row and row["later_count"] is not None]
    return sent._replace(
        changes=tuple(change for change, row in remaining if change.quantity or not _keeps_date(row)),
        keeps_date=any(_keeps_date(row) for _, row in remaining),
        counted_since=since[-1] if since else None,
        has_unused=any(row["is_not_used"] for row in known),
        unused_before=next(iter(unused_before), None),
        is_waiting=any(row["outcome"] != "confirmed" for row in known),
    )


def with_later_quantity(change: StockChange, row: MyEntriesRow) -> StockChange:
    """Return the goods of a change with the quantity that somebody counted since."""
    return change._replace(quantity=row["later_count"] or Decimal(0))


def _can_be_undone(row: MyEntriesRow) -> bool:
    return row["later_count"] is None and not row["is_not_used"]


def _keeps_date(row: MyEntriesRow | None) -> bool:
    """Return True if a count is at a service that keeps its date: without a difference nothing is undone there."""
    return row is not None and row["keeps_date"] and row["outcome"] == "confirmed"


def _as_booked(change: StockChange, row: MyEntriesRow | None) -> StockChange:
    """Return the change of stock that the service booked; the expected one if that is unknown."""
    difference = row["difference"] if row and row["counted_quantity"] is not None else None
    if row is None or difference is None:
        return change
    return change._replace(quantity=difference, absorbed=row["absorbed"])


def entry_of(change: StockChange, rows: tuple[MyEntriesRow, ...]) -> MyEntriesRow | None:
    """Return the entry of today's log for a stock change, if it is known."""
    key = change.product, change.location, to_utc_text(change.counted_at)
    for row in rows:
        is_same_pool = not change.pool or not row["pool"] or change.pool == row["pool"]
        if is_same_pool and (row["product_number"], row["location_code"], row["said"]) == key:
            return row
    return None


def counted_since_message(counted: StockChange) -> Msg:
    """Return that somebody counted goods since, and how many (`quantity`)."""
    amount = names_in_messages.measured(counted.quantity, counted.unit)
    return msg("my_entries.later_count", label=counted.label or counted.product, counted=amount)


def send_undo(state: CountState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Reverse the changes of the count, except those that were refused."""
    if state.last_sent is None:
        return Turn(state)
    writes, verdict = undo_count(state.last_sent, rows, context)
    is_alone = bool(writes and state.closes_after_send and state.sent)  # opened for that count and resumed
    if writes:
        state = state.list_again(state.last_sent)
    return Turn(state._replace(last_sent=None), (*writes, *((Close(verdict),) if is_alone else ())), verdict)


def no_undo_verdict(sent: SentCount) -> Verdict:
    """Return the verdict that explains why a sent count has nothing to undo."""
    if sent.unknown_count:
        return Verdict(WRONG, msg("count.cannot_undo", what=sent.label))
    return Verdict(INFO, msg("count.nothing_sent_to_undo", what=sent.label), detail=_undo_detail(sent))


def undo_count(
    sent: SentCount, rows: tuple[RefusedOperationsRow, ...], context: Context
) -> tuple[tuple[Write, ...], Verdict]:
    """Return the operations that reverse a sent count, and the verdict; entries refused or superseded are left."""
    found = [
        (each, log_writes_and_refusals.refused_entry(rows, each.product, each.counted_at)) for each in sent.changes
    ]
    remaining = sent._replace(changes=tuple(each for each, row in found if row is None))
    refused = next((row for _, row in reversed(found) if row), None)
    if refused and not remaining.changes:
        return (), log_writes_and_refusals.refusal_verdict(refused)
    if not remaining.changes and remaining.counted_since is not None:
        return (), Verdict(WRONG, counted_since_message(remaining.counted_since))
    if not remaining.changes and remaining.has_unused:
        return (), Verdict(WRONG, msg("count.not_used_nothing_to_undo", what=sent.label))
    if not remaining.changes:
        return (), no_undo_verdict(remaining)
    entries = [
        stock_change_entry(each.product, each.location, each.pool, -each.quantity, context, undoes=each.counted_at)
        for each in remaining.changes
    ]
    return log_writes(entries, context), undo_verdict(_undo_message(remaining))._replace(detail=_undo_detail(remaining))


def _undo_detail(sent: SentCount) -> Msg | None:
    """Return what an undo leaves as it is: goods counted since, a count that this one had replaced, or its date."""
    if sent.counted_since is not None:
        return counted_since_message(sent.counted_since)
    if sent.unused_before is not None:
        return msg("count.earlier_stays_unused", counted=sent.unused_before)
    if sent.has_unused:
        return msg("count.some_not_used")
    return msg("count.date_stays") if sent.keeps_date else None


def _undo_message(sent: SentCount) -> Msg:
    """Return the message for a reversed count: its stock changes by product, or by location for one product.

    Of a count that waits they are estimates.
    """
    differing = [each for each in sent.changes if each.quantity + each.absorbed]
    has_locations = len({each.location for each in differing}) > 1
    changes = []
    for each in differing:
        key, label = (
            (each.location, each.location)
            if has_locations and each.location
            else (each.product, each.label or each.product)
        )
        amount = names_in_messages.GoodsAmount(
            key, label, -each.quantity - each.absorbed, each.unit, is_change=True, is_estimate=sent.is_waiting
        )
        changes.append(amount)
    text = msg("count.sent_undone_same", what=sent.label)
    if changes:
        text = names_in_messages.goods_message("count.sent_undone", changes, what=sent.label)
    return msg("count.sent_undone_partly", told=text, count=sent.unknown_count) if sent.unknown_count else text
