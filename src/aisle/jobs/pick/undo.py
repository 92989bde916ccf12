"""Lines of a round as they stood before a step, whatever others did to them meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from aisle.jobs.pick.history import Before, Did, Stood
from aisle.jobs.pick.picking import Picking
from aisle.jobs.pick.walk import Take


def shifted(state: Picking, fresh: Iterable[Take]) -> Picking:
    """What others did to lines meanwhile is in the history too: undo takes back one's own steps alone."""
    was = {(take.order, take.line): take.picked for take in state.takes}
    more = {(t.order, t.line): t.picked - was.get((t.order, t.line), t.picked) for t in fresh}
    if not any(more.values()):
        return state
    history = tuple(
        step._replace(
            before=tuple(
                each._replace(picked=max(Decimal(0), each.picked + more.get((each.order, each.line), Decimal(0))))
                for each in step.before
            )
        )
        for step in state.history
    )
    return state._replace(history=history)


def moved_from(takes: Iterable[Take]) -> Did:
    """The step by which these lines are taken elsewhere."""
    return Did(stood=tuple(Stood(t.order, t.line, t.place, t.pool, t.barred, t.walk, t.shelf) for t in takes))


def in_place_again(state: Picking, step: Did) -> tuple[list[Take], Take | None]:
    """The lines, those that a step moved taken where they were before, and the first of these; None where none of them
    is still to be taken."""
    stood = {(each.order, each.line): each for each in step.stood}
    takes, first = list(state.takes), None
    for index, take in enumerate(takes):
        was = stood.get((take.order, take.line))
        if was and take.open:
            there = take._replace(place=was.place, pool=was.pool, barred=was.barred)
            takes[index] = there._replace(walk=was.walk, shelf=was.shelf)
            first = first or takes[index]
    return takes, first


def stood_before(state: Picking, before: Iterable[Before]) -> tuple[Picking, tuple[int, ...]]:
    """The lines as they stood before a step, and their indexes: those that still are in the round and not put down."""
    takes = list(state.takes)
    touched = []
    wanted = {(each.order, each.line): each for each in before}
    for index, take in enumerate(takes):
        was = wanted.get((take.order, take.line))
        picked = min(was.picked, take.of) if was else take.picked
        if was is None or picked < take.moved or (picked, was.closed) == (take.picked, take.closed):
            continue
        takes[index] = take.at(picked)._replace(closed=was.closed and picked < take.of)
        touched.append(index)
    return state._replace(takes=tuple(takes), ways=()), tuple(touched)
