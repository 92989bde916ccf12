"""Next stop of a pick: its lines in walking order, priority orders first; the stop on the screen.

One line: `pick_line`. Lines are filled in `set_and_restore_picked_quantities`.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from aisle.jobs.name_goods_and_locations import GoodsAmount, goods_message, unit_of
from aisle.jobs.pick.pick_line import PickLine, sort_stops
from aisle.jobs.pick.pick_state import PickState
from aisle.jobs.view import Msg


def with_lines(state: PickState, lines: Iterable[PickLine]) -> PickState:
    """Return the pick with these lines in walking order, at the same stop as before or at the next open one."""
    before = state.current_line
    state = state._replace(lines=_in_walk_order(state, lines), current_index=-1)
    if before is None:
        return go_to_next_stop(state)
    same_index = index_of_line(state, before)
    if same_index < 0 or state.lines[same_index].stop_key != before.stop_key:
        return go_to_next_stop(state, _index_after(state, before))
    state = state._replace(current_index=same_index)
    open_ = [index for index in lines_of_stop(state, same_index) if state.lines[index].is_open]
    return go_to_line(state, open_[0]) if open_ else go_to_next_stop(state, same_index)


def _in_walk_order(state: PickState, lines: Iterable[PickLine]) -> tuple[PickLine, ...]:
    ranks = {tote.order: index for index, tote in enumerate(state.totes)}
    in_order = sort_stops(lines, {"": -1, **ranks})
    priority_stops = _priority_stops(state, in_order)
    return tuple(sorted(in_order, key=lambda line: line.stop_key not in priority_stops)) if priority_stops else in_order


def _priority_stops(state: PickState, lines: Iterable[PickLine]) -> frozenset[tuple[str, str, int, str]]:
    priority_orders = {tote.order for tote in state.totes if tote.is_priority}
    return (
        frozenset(line.stop_key for line in lines if line.order in priority_orders and line.is_open)
        if priority_orders
        else frozenset()
    )


def _index_after(state: PickState, before: PickLine) -> int:
    """Return the index of the first line at the location of an earlier line, or after it in the walk."""
    mark = before._replace(order="", line=-1)
    return _in_walk_order(state, (*state.lines, mark)).index(mark) % max(1, len(state.lines))


def go_to_next_stop(state: PickState, start: int = 0, *, first: bool = True) -> PickState:
    """Go to the first open stop from index `start` on, wrapping at the end; to none when all are picked. Stops of
    priority orders come first if `first` is True."""
    count = len(state.lines)
    open_ = [index for index in ((start + step) % count for step in range(count)) if state.lines[index].is_open]
    if open_:
        priority_stops = _priority_stops(state, state.lines) if first else frozenset()
        return go_to_line(
            state, next((index for index in open_ if state.lines[index].stop_key in priority_stops), open_[0])
        )
    state = state._replace(current_index=-1, location="", is_quantity_open=False, is_pack_asked=False)
    return state._replace(phase="done" if count else state.phase)


def go_to_line(state: PickState, index: int) -> PickState:
    """Go to the stop of this line."""
    line, was = state.lines[index], state.current_line
    location = state.location if line.location and line.location.casefold() == state.location.casefold() else ""
    is_same_stop = was is not None and was.stop_key == line.stop_key
    is_open, is_pack_asked = state.is_quantity_open and is_same_stop, state.is_pack_asked and is_same_stop
    first = next((each for each in lines_of_stop(state, index) if state.lines[each].is_open), index)
    state = state._replace(is_pack_asked=is_pack_asked)
    return state._replace(current_index=first, location=location, is_quantity_open=is_open, phase="picking")


def index_of_line(state: PickState, line: PickLine) -> int:
    """Return the index of this line of its order; -1 if the pick no longer has it."""
    return next((index for index, each in enumerate(state.lines) if each.key == line.key), -1)


def lines_of_stop(state: PickState, index: int) -> tuple[int, ...]:
    """Return the indexes of all lines of this line's stop, except those closed short or awaited from the warehouse."""
    if not 0 <= index < len(state.lines):
        return ()
    product, stop = state.lines[index].product, state.lines[index].stop_key
    of_product = ((each, line) for each, line in enumerate(state.lines) if line.product == product)
    return tuple(each for each, line in of_product if line.stop_key == stop and not (line.is_short or line.is_awaited))


def current_stop_lines(state: PickState) -> list[PickLine]:
    """Return the lines of the stop on the screen."""
    return [state.lines[index] for index in lines_of_stop(state, state.current_index)]


def ordered_at_stop(state: PickState) -> Decimal:
    """Return the quantity ordered at the stop on the screen."""
    _, of, _ = sum_lines(current_stop_lines(state))
    return of


def awaited_goods(lines: Iterable[PickLine]) -> Msg | None:
    """Return what is to come from the warehouse, which is no stop of the walk; None if nothing is."""
    awaited = [
        GoodsAmount(line.product, line.label, line.remaining, unit_of(line)) for line in lines if line.is_awaited
    ]
    return goods_message("pick.from_warehouse", awaited) if awaited else None


def sum_lines(lines: Iterable[PickLine]) -> tuple[Decimal, Decimal, Decimal]:
    """Return the sums (picked, ordered, still to be picked) of these lines."""
    all_lines = list(lines)
    zero = Decimal(0)
    picked, of = sum((line.picked for line in all_lines), zero), sum((line.ordered for line in all_lines), zero)
    return picked, of, sum((line.remaining for line in all_lines if line.is_open), zero)
