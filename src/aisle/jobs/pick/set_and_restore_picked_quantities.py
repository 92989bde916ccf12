"""Changes of the picked quantities of a pick's lines: goods added over lines, put down, and restored by an undo.

First the lines of this stop are filled, tote by tote, then those at its location. Their order and the stop on the
screen: `current_and_next_stop`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal

from aisle.jobs.pick.current_and_next_stop import lines_of_stop
from aisle.jobs.pick.goods_in_hand import quantity_of_others
from aisle.jobs.pick.pick_line import PickLine
from aisle.jobs.pick.pick_state import (
    LineBefore,
    LineSource,
    PickState,
    PutDown,
    UndoStep,
    add_undo_step,
)


def lines_with_product(state: PickState, product: str) -> list[int]:
    """Return the indexes of the lines with this product: first those of the stop, then at its location, then others."""
    here = (state.location or (state.current_line.location if state.current_line else "")).casefold()
    stop = set(lines_of_stop(state, state.current_index))
    found = [index for index, line in enumerate(state.lines) if line.product == product]
    return sorted(found, key=lambda index: (index not in stop, state.lines[index].location.casefold() != here, index))


def open_lines_with_product(state: PickState, product: str) -> list[int]:
    """Return the indexes of those of them that are open."""
    return [index for index in lines_with_product(state, product) if state.lines[index].is_open]


def fillable_lines(state: PickState, product: str) -> list[int]:
    """Return the indexes of the lines that goods of this product fill, in order. They all have one location, because
    goods scanned together were picked together. Of measured goods they are of one order, because nobody divides a pack
    between totes."""
    open_ = open_lines_with_product(state, product)
    if not open_:
        return open_
    first = state.lines[open_[0]]
    here = [index for index in open_ if state.lines[index].location.casefold() == first.location.casefold()]
    return [index for index in here if not first.allows_decimals or state.lines[index].order == first.order]


def add_over_lines(state: PickState, indexes: Iterable[int], quantity: Decimal) -> dict[int, Decimal]:
    """Return the picked quantities by line after adding `quantity`; each line is filled before the next."""
    changes: dict[int, Decimal] = {}
    for index in indexes:
        part = min(quantity, state.lines[index].remaining)
        if part > 0:
            changes[index] = state.lines[index].picked + part
            quantity -= part
    return changes


def set_over_lines(state: PickState, indexes: Sequence[int], value: Decimal) -> dict[int, Decimal]:
    """Return the changed picked quantities by line for this picker's total of `value`. Goods put down and goods in
    other pickers' hands stay; lines fill in order."""
    left = value - sum((state.lines[index].moved for index in indexes), Decimal(0))
    changes: dict[int, Decimal] = {}
    for index in indexes:
        line = state.lines[index]
        kept = line.moved + quantity_of_others(state, line)
        part = max(Decimal(0), min(left, line.ordered - kept))
        changes[index] = kept + part
        left -= part
    return {index: picked for index, picked in changes.items() if picked != state.lines[index].picked}


def set_picked(
    state: PickState, changes: Mapping[int, Decimal], *, is_closed: bool = False, is_total: bool = False
) -> PickState:
    """Set the picked quantities of these lines, optionally closing them; add the step to the history. A weighed line
    that lacks no more than its tolerance is closed too. A total replaces the totals typed just before it."""
    lines = list(state.lines)
    before = []
    for index, picked in changes.items():
        line = lines[index]
        after = (_before_last_totals(state, line) if is_total else line).with_picked(picked)
        was = LineBefore(line.order, line.line, line.picked, line.is_closed, after.changes_since(line))
        before.append(was)
        own = max(Decimal(0), line.own_picked + picked - line.picked)
        is_closed_now = after.is_within_tolerance or (is_closed and picked < line.ordered)
        lines[index] = after._replace(own_picked=own, is_closed=is_closed_now)
    state = state._replace(lines=tuple(lines), choices=(), is_pack_asked=False)
    return add_undo_step(state, UndoStep(tuple(before), is_total=is_total))


def _before_last_totals(state: PickState, line: PickLine) -> PickLine:
    """Return the line as it was before the totals that were typed last."""
    for step in reversed(state.history):
        was = next((each for each in step.lines_before if (each.order, each.line) == (line.order, line.line)), None)
        if was is None or not step.is_total:
            break
        line = line.without_changes(was.changes, was.picked)
    return line


def move_put_down(state: PickState, put_down: Iterable[PutDown], sign: int, location: str) -> PickState:
    """Record that goods were put down at a location, or with sign -1 that they are in hand again."""
    more = {(each.order, each.line): each.quantity * sign for each in put_down}
    lines = (_move_line(line, more.get(line.key, Decimal(0)), location) for line in state.lines)
    return state._replace(lines=tuple(lines))


def _move_line(line: PickLine, more: Decimal, location: str) -> PickLine:
    if not more:
        return line
    kept = tuple(code for code in line.put_down_at if code != location)
    kept = (*kept, location) if more > 0 else kept
    return line._replace(moved=line.moved + more, own_picked=max(Decimal(0), line.own_picked - more), put_down_at=kept)


def put_down_locations(state: PickState, order: str = "") -> tuple[str, ...]:
    """Return the locations where the goods of an order, or of all orders, were put down."""
    locations = (
        location
        for line in state.lines
        if order in ("", line.order) and line.moved > 0
        for location in line.put_down_at
    )
    return tuple(dict.fromkeys(locations))


def move_stop(state: PickState, index: int, move: Callable[[PickLine], PickLine]) -> tuple[PickState, list[PickLine]]:
    """Return the pick with the undo step for moving the open lines of a stop, and all lines after the move."""
    stop = [each for each in lines_of_stop(state, index) if state.lines[each].is_open]
    lines = [move(line) if each in stop else line for each, line in enumerate(state.lines)]
    return add_undo_step(state, moved_stop_step(state.lines[each] for each in stop)), lines


def moved_stop_step(lines: Iterable[PickLine]) -> UndoStep:
    """Return the undo step for moving these lines to another location."""
    return UndoStep(
        sources_before=tuple(
            LineSource(t.order, t.line, t.location, t.pool, t.barred_pools, t.walk_order, t.location_order)
            for t in lines
        )
    )


def restore_sources(state: PickState, step: UndoStep) -> tuple[list[PickLine], PickLine | None]:
    """Move the step's open lines back to their earlier locations. Return all lines and the first one moved; None if
    none of them is still open."""
    sources = {(each.order, each.line): each for each in step.sources_before}
    lines, first = list(state.lines), None
    for index, line in enumerate(lines):
        source = sources.get(line.key)
        if source and line.is_open:
            moved = line._replace(location=source.location, pool=source.pool, barred_pools=source.barred_pools)
            lines[index] = moved._replace(walk_order=source.walk_order, location_order=source.location_order)
            first = first or lines[index]
    return lines, first


def restore_lines(state: PickState, lines_before: Iterable[LineBefore]) -> tuple[PickState, tuple[int, ...]]:
    """Restore lines to their state before a step, at the locations where it changed them; return the new state and the
    indexes of the lines changed. Lines that have left the pick or are put down do not change."""
    lines = list(state.lines)
    touched = []
    by_line = {(each.order, each.line): each for each in lines_before}
    for index, line in enumerate(lines):
        was = by_line.get(line.key)
        picked = min(was.picked, line.ordered) if was else line.picked
        if was is None or picked < line.moved or (picked, was.is_closed) == (line.picked, line.is_closed):
            continue
        restored = line.without_changes(was.changes, picked)
        lines[index] = restored._replace(is_closed=was.is_closed and picked < line.ordered)
        touched.append(index)
    return state._replace(lines=tuple(lines), choices=()), tuple(touched)
