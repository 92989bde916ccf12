"""Log entry of lost or found goods, and its undo by an entry of the opposite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs import find_and_report_refusals, log_writes, name_goods_and_locations
from aisle.jobs.adjust_state_and_reasons import AdjustState, SentAdjustment
from aisle.jobs.adjust_view import location_name
from aisle.jobs.count import undo_sent_count
from aisle.jobs.count.sent_count_types import StockChange
from aisle.jobs.job import Close, Context, Effect, Turn, reply
from aisle.jobs.name_goods_and_locations import amount_of, unit_of
from aisle.jobs.view import WRONG, Verdict, msg, signed_message, undo_verdict

if TYPE_CHECKING:
    from decimal import Decimal

    from aisle.jobs.count.count_state import CountLine
    from aisle.jobs.row_types.log import MyEntriesRow
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow
    from aisle.operation_body_types import LogEntry

Result = Turn[AdjustState]


def log_entry(line: CountLine, quantity: Decimal, context: Context, undoes: str = "") -> LogEntry:
    """Return the log entry of lost or found goods; `undoes` is the time of the entry that it reverses."""
    return log_writes.stock_change_entry(line.product, line.location, line.pool, quantity, context, undoes=undoes)


def ask_undo(state: AdjustState, context: Context) -> Result:
    """Query what the service booked for the last adjustment, to undo it."""
    if not state.sent:
        return reply(state, WRONG, "pick.nothing_to_undo")
    return Turn(state, (undo_sent_count.query_booked((_stock_change(state.sent[-1]),), context),))


def _stock_change(sent: SentAdjustment) -> StockChange:
    line = sent.line
    return StockChange(line.product, line.location, line.pool, sent.quantity, sent.at, line.label, unit_of(line))


def check_later_count(state: AdjustState, rows: tuple[MyEntriesRow, ...]) -> Result:
    """Undo nothing if somebody counted the goods since; else query whether the service refused the adjustment."""
    if not state.sent:
        return Turn(state)
    sent = state.sent[-1]
    change = _stock_change(sent)
    entry = undo_sent_count.entry_of(change, rows)
    if entry and entry["later_count"] is not None:
        counted = undo_sent_count.with_later_quantity(change, entry)
        return _end_undo(state, Verdict(WRONG, undo_sent_count.counted_since_message(counted)))
    return Turn(state, (find_and_report_refusals.query_refused_since([sent.at]),))


def send_undo(state: AdjustState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Undo the last adjustment by its opposite, which names it, so that it cannot be undone twice."""
    if not state.sent:
        return Turn(state)
    sent = state.sent[-1]
    if refused := find_and_report_refusals.refused_entry(rows, sent.line.product, sent.at):
        return _end_undo(state, find_and_report_refusals.refusal_verdict(refused))
    writes = log_writes.log_writes([log_entry(sent.line, -sent.quantity, context, sent.at)], context)
    change = signed_message(-sent.quantity, amount_of(sent.line, abs(sent.quantity)))
    where = name_goods_and_locations.at_location(location_name(sent.line, sent.pool_name) if sent.line.location else "")
    verdict = undo_verdict(msg("adjust.undone", label=sent.line.label, change=change, where=where))
    return _end_undo(state, verdict, writes)


def _end_undo(state: AdjustState, verdict: Verdict, writes: tuple[Effect, ...] = ()) -> Result:
    """Return the state without the last adjustment; close the job if it was opened only for this."""
    close = (Close(verdict),) if state.closes_after_undo else ()
    return Turn(state._replace(sent=state.sent[:-1]), (*writes, *close), verdict)
