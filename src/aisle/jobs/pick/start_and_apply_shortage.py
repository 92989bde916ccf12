"""Starts the job `shortage`, and applies its answer: pick elsewhere, close the line short, or reject the order."""

from __future__ import annotations

from aisle.decimal_of_row import to_decimal
from aisle.jobs.job import Args, Context, Start, Turn, reply
from aisle.jobs.pick import current_and_next_stop, operations, pick_state
from aisle.jobs.pick.merge_changed_orders import remove_order
from aisle.jobs.pick.pick_line import move_line
from aisle.jobs.pick.pick_state import PickChoice, PickState
from aisle.jobs.pick.set_and_restore_picked_quantities import moved_stop_step
from aisle.jobs.view import GOOD

Result = Turn[PickState]


def start_shortage(state: PickState) -> Result:
    """Start the shortage job: reasons for the shortage, and other locations with stock."""
    take = state.current_line
    if take is None:
        return Turn(state)
    lines = current_and_next_stop.current_stop_lines(state)
    _, of, rest = current_and_next_stop.sum_lines(lines)
    orders = [
        {
            "order_number": line.order,
            "line_number": line.line,
            "tote": pick_state.tote_letter(state, line.order) if state.is_batch else "",
            "rest": line.remaining,
        }
        for line in lines
        if line.is_open
    ]
    args = {
        "orders": orders,
        "product_number": take.product,
        "label": take.label,
        "location": take.location,
        "pool": take.pool,
        "pools": list(take.pools),
        "ordered": of,
        "rest": rest,
        "decimal": take.allows_decimals,
        "unit": take.unit,
    }
    if take.held_for and not take.stocked_locations:
        args["held_for"] = [[order, str(quantity)] for order, quantity in take.held_for]
    return Turn(state._replace(choices=()), (Start("shortage", args),))


def apply_shortage(state: PickState, answer: Args, context: Context) -> Result:
    """Apply the answer of the shortage job: pick elsewhere, close the line short, or reject the order."""
    if answer["kind"] == "reject":
        return _reject_order(state, answer, context)
    take = state.current_line
    if take is None:
        return Turn(state)
    if answer["kind"] == "elsewhere":
        return _move_stop(state, str(answer["location"]), int(answer.get("pool") or 0))
    return _close_short(state, answer, context)


def _move_stop(state: PickState, location: str, pool: int) -> Result:
    take = state.current_line
    assert take is not None
    stop = set(current_and_next_stop.lines_of_stop(state, state.current_index))
    takes = [
        move_line(each, location, pool, state.lines) if index in stop and each.is_open else each
        for index, each in enumerate(state.lines)
    ]
    moved = [state.lines[index] for index in sorted(stop) if state.lines[index].is_open]
    next_state = current_and_next_stop.with_lines(
        pick_state.add_undo_step(state, moved_stop_step(moved))._replace(
            is_quantity_open=False, choices=(), location=""
        ),
        takes,
    )
    is_current = (
        next_state.current_line is not None and next_state.current_line.location.casefold() == location.casefold()
    )
    return reply(
        next_state, GOOD, "pick.elsewhere" if is_current else "pick.comes_later", label=take.label, place=location
    )


def _close_short(state: PickState, answer: Args, context: Context) -> Result:
    take = state.current_line
    assert take is not None
    stop = current_and_next_stop.lines_of_stop(state, state.current_index)
    indexes = [index for index in stop if state.lines[index].is_open]
    picked, of, rest = current_and_next_stop.sum_lines(state.lines[index] for index in stop)
    done = picked + rest - to_decimal(answer.get("rest", rest))  # others may have picked since
    code, reason = str(answer.get("code") or ""), str(answer.get("text") or "")
    closed, writes = operations.close_short(state, indexes, context.store, code, reason)
    next_state = current_and_next_stop.go_to_next_stop(closed._replace(is_quantity_open=False), indexes[-1])
    if answer.get("empty") and take.location:
        next_state = next_state._replace(choices=(PickChoice("count", take.location, product=take.product),))
    return reply(next_state, GOOD, "pick.short", *writes, label=take.label, done=done, of=of)


def _reject_order(state: PickState, answer: Args, context: Context) -> Result:
    tote = pick_state.find_tote(state, str(answer.get("order_number") or state.order))
    if tote is None:
        return Turn(state)
    code, reason = str(answer.get("code") or ""), str(answer.get("text") or "")
    write = operations.reject_write(tote.order, code, reason, context.store)
    removed = remove_order(state, tote, "rejected_here", kind=GOOD)
    return removed._replace(effects=(write, *removed.effects))
