"""Changes of the picked quantities of a pick's lines: goods added over lines, put down, and restored by an undo.

First the lines of this stop are filled, tote by tote, then those at its location. Their order and the stop on the
screen: `current_and_next_stop`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    found = [index for index, take in enumerate(state.lines) if take.product == product]
    return sorted(found, key=lambda index: (index not in stop, state.lines[index].location.casefold() != here, index))


def fillable_lines(state: PickState, product: str) -> list[int]:
    """Return the indexes of the lines that goods of this product fill, in order. They all have one location, because
    goods scanned together were picked together. Of measured goods they are of one order, because nobody divides a pack
    between totes."""
    open_ = [index for index in lines_with_product(state, product) if state.lines[index].is_open]
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
        take = state.lines[index]
        kept = take.moved + quantity_of_others(state, take)
        part = max(Decimal(0), min(left, take.ordered - kept))
        changes[index] = kept + part
        left -= part
    return {index: picked for index, picked in changes.items() if picked != state.lines[index].picked}


def set_picked(state: PickState, changes: Mapping[int, Decimal], *, is_closed: bool = False) -> PickState:
    """Set the picked quantities of these lines, optionally closing them; add the step to the history. A weighed line
    that lacks no more than its tolerance is closed too."""
    takes = list(state.lines)
    before = []
    for index, picked in changes.items():
        take = takes[index]
        before.append(LineBefore(take.order, take.line, take.picked, take.is_closed))
        take = take.with_picked(picked)
        takes[index] = take._replace(is_closed=take.is_within_tolerance or (is_closed and picked < take.ordered))
    state = state._replace(lines=tuple(takes), choices=(), is_pack_asked=False)
    return add_undo_step(state, UndoStep(tuple(before)))


def move_put_down(state: PickState, put_down: Iterable[PutDown], sign: int, location: str) -> PickState:
    """Record that goods were put down at a location, or with sign -1 that they are in hand again."""
    more = {(each.order, each.line): each.quantity * sign for each in put_down}
    takes = (_move_line(take, more.get((take.order, take.line), Decimal(0)), location) for take in state.lines)
    return state._replace(lines=tuple(takes))


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
        for take in state.lines
        if order in ("", take.order) and take.moved > 0
        for location in take.put_down_at
    )
    return tuple(dict.fromkeys(locations))


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
    takes, first = list(state.lines), None
    for index, take in enumerate(takes):
        source = sources.get((take.order, take.line))
        if source and take.is_open:
            moved = take._replace(location=source.location, pool=source.pool, barred_pools=source.barred_pools)
            takes[index] = moved._replace(walk_order=source.walk_order, location_order=source.location_order)
            first = first or takes[index]
    return takes, first


def restore_lines(state: PickState, lines_before: Iterable[LineBefore]) -> tuple[PickState, tuple[int, ...]]:
    """Restore lines to their state before a step; return the new state and the indexes of the lines changed. Lines that
    have left the pick or are put down do not change."""
    takes = list(state.lines)
    touched = []
    by_line = {(each.order, each.line): each for each in lines_before}
    for index, take in enumerate(takes):
        was = by_line.get((take.order, take.line))
        picked = min(was.picked, take.ordered) if was else take.picked
        if was is None or picked < take.moved or (picked, was.is_closed) == (take.picked, take.is_closed):
            continue
        takes[index] = take.with_picked(picked)._replace(is_closed=was.is_closed and picked < take.ordered)
        touched.append(index)
    return state._replace(lines=tuple(takes), choices=()), tuple(touched)
