"""Starts the job `shortage`, and applies its answer: pick elsewhere, close the line short, or reject the order."""

from __future__ import annotations

from aisle.jobs.job import Args, Context, Start, Turn, reply
from aisle.jobs.pick import current_and_next_stop, operations, pick_state
from aisle.jobs.pick.merge_changed_orders import remove_order
from aisle.jobs.pick.pick_line import move_line
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result
from aisle.jobs.pick.set_and_restore_picked_quantities import move_stop
from aisle.jobs.view import GOOD
from aisle.row_values import to_decimal


def start_shortage(state: PickState) -> Result:
    """Start the shortage job: reasons for the shortage, and other locations with stock."""
    line = state.current_line
    if line is None:
        return Turn(state)
    lines = current_and_next_stop.current_stop_lines(state)
    _, of, rest = current_and_next_stop.sum_lines(lines)
    orders = [
        {
            "order_number": each.order,
            "line_number": each.line,
            "tote": pick_state.tote_letter(state, each.order) if state.is_batch else "",
            "rest": each.remaining,
        }
        for each in lines
        if each.is_open
    ]
    args = {
        "orders": orders,
        "product_number": line.product,
        "label": line.label,
        "location": line.location,
        "pool": line.pool,
        "pools": list(line.pools),
        "ordered": of,
        "rest": rest,
        "decimal": line.allows_decimals,
        "unit": line.unit,
    }
    if line.held_for and not line.stocked_locations:
        args["held_for"] = [[order, str(quantity)] for order, quantity in line.held_for]
    return Turn(state._replace(choices=()), (Start("shortage", args),))


def apply_shortage(state: PickState, answer: Args, context: Context) -> Result:
    """Apply the answer of the shortage job: pick elsewhere, close the line short, or reject the order."""
    if answer["kind"] == "reject":
        return _reject_order(state, answer, context)
    line = state.current_line
    if line is None:
        return Turn(state)
    if answer["kind"] == "elsewhere":
        return _move_stop(state, str(answer["location"]), int(answer.get("pool") or 0))
    return _close_short(state, answer, context)


def _move_stop(state: PickState, location: str, pool: int) -> Result:
    line = state.current_line
    assert line is not None
    moved, lines = move_stop(state, state.current_index, lambda each: move_line(each, location, pool, state.lines))
    next_state = current_and_next_stop.with_lines(
        moved._replace(is_quantity_open=False, choices=(), location=""), lines
    )
    is_current = (
        next_state.current_line is not None and next_state.current_line.location.casefold() == location.casefold()
    )
    return reply(
        next_state, GOOD, "pick.elsewhere" if is_current else "pick.comes_later", label=line.label, place=location
    )


def _close_short(state: PickState, answer: Args, context: Context) -> Result:
    line = state.current_line
    assert line is not None
    stop = current_and_next_stop.lines_of_stop(state, state.current_index)
    indexes = [index for index in stop if state.lines[index].is_open]
    picked, of, rest = current_and_next_stop.sum_lines(state.lines[index] for index in stop)
    done = picked + rest - to_decimal(answer.get("rest", rest))  # others may have picked since
    code, reason = str(answer.get("code") or ""), str(answer.get("text") or "")
    closed, writes = operations.close_short(state, indexes, context.store, code, reason)
    next_state = current_and_next_stop.go_to_next_stop(closed._replace(is_quantity_open=False), indexes[-1])
    if answer.get("empty") and line.location:
        next_state = next_state._replace(choices=(PickChoice("count", line.location, product=line.product),))
    return reply(next_state, GOOD, "pick.short", *writes, label=line.label, done=done, of=of)


def _reject_order(state: PickState, answer: Args, context: Context) -> Result:
    tote = pick_state.find_tote(state, str(answer.get("order_number") or state.order))
    if tote is None:
        return Turn(state)
    code, reason = str(answer.get("code") or ""), str(answer.get("text") or "")
    write = operations.reject_write(tote.order, code, reason, context.store)
    removed = remove_order(state, tote, "rejected_here", kind=GOOD)
    return removed._replace(effects=(write, *removed.effects))
