"""Lines of a round as they stood before a step, whatever others did to them meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from aisle.jobs.pick.pick_state import LineBefore, LineSource, PickState, UndoStep
from aisle.jobs.pick.stops import PickLine


def adjust_history(state: PickState, fresh: Iterable[PickLine]) -> PickState:
    """What others did to lines meanwhile is in the history too: undo takes back one's own steps alone."""
    was = {(take.order, take.line): take.picked for take in state.lines}
    more = {(t.order, t.line): t.picked - was.get((t.order, t.line), t.picked) for t in fresh}
    if not any(more.values()):
        return state
    history = tuple(
        step._replace(
            lines_before=tuple(
                each._replace(picked=max(Decimal(0), each.picked + more.get((each.order, each.line), Decimal(0))))
                for each in step.lines_before
            )
        )
        for step in state.history
    )
    return state._replace(history=history)


def moved_stop_step(lines: Iterable[PickLine]) -> UndoStep:
    """The step by which these lines are taken elsewhere."""
    return UndoStep(
        sources_before=tuple(
            LineSource(t.order, t.line, t.location, t.pool, t.barred_pools, t.walk_order, t.location_order)
            for t in lines
        )
    )


def restore_sources(state: PickState, step: UndoStep) -> tuple[list[PickLine], PickLine | None]:
    """The lines, those that a step moved taken where they were before, and the first of these; None where none of them
    is still to be taken."""
    stood = {(each.order, each.line): each for each in step.sources_before}
    takes, first = list(state.lines), None
    for index, take in enumerate(takes):
        was = stood.get((take.order, take.line))
        if was and take.is_open:
            there = take._replace(location=was.location, pool=was.pool, barred_pools=was.barred_pools)
            takes[index] = there._replace(walk_order=was.walk_order, location_order=was.location_order)
            first = first or takes[index]
    return takes, first


def restore_lines(state: PickState, lines_before: Iterable[LineBefore]) -> tuple[PickState, tuple[int, ...]]:
    """The lines as they stood before a step, and their indexes: those that still are in the round and not put down."""
    takes = list(state.lines)
    touched = []
    wanted = {(each.order, each.line): each for each in lines_before}
    for index, take in enumerate(takes):
        was = wanted.get((take.order, take.line))
        picked = min(was.picked, take.ordered) if was else take.picked
        if was is None or picked < take.moved or (picked, was.is_closed) == (take.picked, take.is_closed):
            continue
        takes[index] = take.with_picked(picked)._replace(is_closed=was.is_closed and picked < take.ordered)
        touched.append(index)
    return state._replace(lines=tuple(takes), choices=()), tuple(touched)
