"""Undo of pick lines: restores their earlier state and keeps what other pickers did meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from aisle.jobs.pick.pick_state import LineBefore, LineSource, PickState, UndoStep
from aisle.jobs.pick.stops import PickLine


def adjust_history(state: PickState, fresh: Iterable[PickLine]) -> PickState:
    """Add the changes of other pickers to the history, so that undo reverts only own steps."""
    picked_before = {(take.order, take.line): take.picked for take in state.lines}
    added = {(t.order, t.line): t.picked - picked_before.get((t.order, t.line), t.picked) for t in fresh}
    if not any(added.values()):
        return state
    history = tuple(
        step._replace(
            lines_before=tuple(
                each._replace(picked=max(Decimal(0), each.picked + added.get((each.order, each.line), Decimal(0))))
                for each in step.lines_before
            )
        )
        for step in state.history
    )
    return state._replace(history=history)


def moved_stop_step(lines: Iterable[PickLine]) -> UndoStep:
    """Return the undo step for moving these lines to another location."""
    return UndoStep(
        sources_before=tuple(
            LineSource(t.order, t.line, t.location, t.pool, t.barred_pools, t.walk_order, t.location_order)
            for t in lines
        )
    )


def restore_sources(state: PickState, step: UndoStep) -> tuple[list[PickLine], PickLine | None]:
    """Move the step's open lines back to their earlier locations.

    Return all lines and the first one moved; None if none of them is still open.
    """
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
    """Restore lines to their state before a step; return the new state and the indexes of the lines changed.

    Lines that have left the pick or are put down do not change.
    """
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
