"""Undoes the last step of a pick: a count, goods put down or put back, a stop moved, lines restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aisle.jobs import log_writes_and_refusals
from aisle.jobs.count import undo_sent_count
from aisle.jobs.job import Context, Turn, Write
from aisle.jobs.names_in_messages import GoodsAmount, at_location, goods_message, unit_of
from aisle.jobs.pick import pick_state, picked_quantities_and_operations, put_down_at_location, stops_and_goods_in_hand
from aisle.jobs.pick.pick_state import PickState, Result, UndoStep
from aisle.jobs.pick.picked_quantities_and_operations import restore_lines, restore_sources
from aisle.jobs.pick.rejected_scans_and_quantities import reject_input
from aisle.jobs.view import msg, undo_verdict

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import MyEntriesRow
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow


def undo_step(state: PickState, context: Context) -> Result:
    """Undo the last step that can be undone."""
    while state.history:
        last = state.history[-1]
        if last.sent_count and last.sent_count.changes:
            return Turn(state, (undo_sent_count.query_booked(last.sent_count.changes, context),))
        state = state._replace(history=state.history[:-1])
        if last.sent_count:
            return Turn(state, (), undo_sent_count.no_undo_verdict(last.sent_count))
        if last.returned:
            return put_down_at_location.undo_return(state, last, context)
        if last.sources_before:
            turn = _undo_move_stop(state, last)
        else:
            turn = _undo_put_down(state, last, context) if last.put_down else _undo_lines(state, last, context)
        if turn:
            return turn
    return reject_input(state, "pick.nothing_to_undo")


def take_booked(state: PickState, rows: tuple[MyEntriesRow, ...]) -> Result:
    """Take over the differences that the service booked for a count; query which entries it refused."""
    step = state.history[-1] if state.history else None
    if step is None or step.sent_count is None:
        return Turn(state)
    refused = log_writes_and_refusals.query_refused_since(change.counted_at for change in step.sent_count.changes)
    booked = step._replace(sent_count=undo_sent_count.with_booked(step.sent_count, rows))
    return Turn(state._replace(history=(*state.history[:-1], booked)), (refused,))


def undo_count(state: PickState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Reverse the changes of a count sent from here, except those that the service refused."""
    sent = state.history[-1].sent_count if state.history else None
    if sent is None:
        return Turn(state)
    writes, verdict = undo_sent_count.undo_count(sent, rows, context)
    state = state._replace(history=state.history[:-1], choices=() if writes else state.choices)
    return Turn(state, writes, verdict)


def _undo_move_stop(state: PickState, step: UndoStep) -> Result | None:
    lines, first = restore_sources(state, step)
    if first is None:
        return None
    restored = stops_and_goods_in_hand.with_lines(
        state._replace(is_quantity_open=False, choices=(), location="", only_order=""), lines
    )
    return Turn(
        stops_and_goods_in_hand.go_to_line(restored, stops_and_goods_in_hand.index_of_line(restored, first)),
        (),
        undo_verdict(msg("pick.move_stop_undone", label=first.label, place=first.location)),
    )


def _undo_put_down(state: PickState, step: UndoStep, context: Context) -> Result | None:
    restored, writes = picked_quantities_and_operations.undo_put_down(state, step, context.store, context.user)
    if not writes:
        return None
    restored = restored._replace(choices=(), only_order="")
    text = goods_message("pick.put_down_undone", _goods_in_hand_again(state, restored), place=step.location)
    if state.is_batch:
        orders = [line.order for line, now in zip(state.lines, restored.lines, strict=True) if line.moved != now.moved]
        text = msg("pair", name=_tote_letters(state, orders), value=text)
    return Turn(restored, writes, undo_verdict(text))


def _goods_in_hand_again(before: PickState, after: PickState) -> list[GoodsAmount]:
    pairs = zip(before.lines, after.lines, strict=True)
    return [
        GoodsAmount(line.product, line.label, line.moved - now.moved, unit_of(line))
        for line, now in pairs
        if line.moved != now.moved
    ]


def _undo_lines(state: PickState, step: UndoStep, context: Context) -> Result | None:
    restored, touched = restore_lines(state, step.lines_before)
    if not touched:
        return None
    line, named = restored.lines[touched[-1]], _lines_added_up(state, step)
    was, _, _ = stops_and_goods_in_hand.sum_lines(state.lines[index] for index in named)
    now, _, _ = stops_and_goods_in_hand.sum_lines(restored.lines[index] for index in named)
    changes = stops_and_goods_in_hand.stock_changes(state, restored, touched)
    where = at_location(stops_and_goods_in_hand.stock_changes_message(state, changes, unit_of(line)))
    text = msg("pick.undone", label=line.label, was=was, now=now, where=where)
    if any(restored.lines[index].is_short and not state.lines[index].is_closed for index in touched):
        done, of, _ = stops_and_goods_in_hand.sum_lines(restored.lines[index] for index in touched)
        text = msg("pick.short", label=line.label, done=done, of=of)
    elif was == now:
        text = msg("pick.reopened", label=line.label)
    if state.is_batch:
        text = msg("pair", name=_tote_letters(restored, (restored.lines[index].order for index in named)), value=text)
    writes: tuple[Write, ...] = picked_quantities_and_operations.update_lines(state, restored, touched, context.store)
    first = next((index for index in touched if restored.lines[index].is_open), -1)
    next_state = (
        stops_and_goods_in_hand.go_to_line(restored, first)._replace(is_quantity_open=True)
        if first >= 0
        else stops_and_goods_in_hand.go_to_next_stop(restored._replace(is_quantity_open=False))
    )
    return Turn(_leave_held_goods(next_state)._replace(only_order=""), writes, undo_verdict(text))


def _lines_added_up(state: PickState, step: UndoStep) -> list[int]:
    """Return the indexes of the lines of a step, and of those that the page adds up with them."""
    keys = {(each.order, each.line) for each in step.lines_before}
    stops = {(line.order, line.stop_key) for line in state.lines if line.key in keys}
    return [
        index
        for index, line in enumerate(state.lines)
        if line.key in keys or ((line.order, line.stop_key) in stops and not line.is_short)
    ]


def _leave_held_goods(state: PickState) -> PickState:
    """Move the stop back from a location where all goods are held for other orders: no page sends a picker to them."""
    step, line = state.history[-1] if state.history else None, state.current_line
    if step is None or line is None or not stops_and_goods_in_hand.is_all_held(state, line):
        return state
    lines, first = restore_sources(state, step)
    moved = {(each.order, each.line) for each in step.sources_before}
    if first is None or line.key not in moved:
        return state
    restored = stops_and_goods_in_hand.with_lines(state._replace(history=state.history[:-1], location=""), lines)
    return stops_and_goods_in_hand.go_to_line(restored, stops_and_goods_in_hand.index_of_line(restored, line))


def _tote_letters(state: PickState, orders: Any) -> str:
    return " ".join(dict.fromkeys(pick_state.tote_letter(state, order) for order in orders))
