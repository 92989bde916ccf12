"""Take an order out of a pick; its goods in this picker's hand have to be put back."""

from __future__ import annotations

from collections.abc import Iterable

from aisle.jobs.pick.current_and_next_stop import with_lines
from aisle.jobs.pick.pick_state import (
    GoodsToReturn,
    PickState,
    UndoStep,
    tote_letter,
)


def without_order(state: PickState, order: str, reason: str) -> PickState:
    """Return the pick without an order; its goods in this picker's hand have to be put back."""
    letter = tote_letter(state, order)
    goods = tuple(
        GoodsToReturn(
            letter,
            reason,
            line.product,
            line.label,
            source.quantity,
            source.location,
            order=order,
            pool=source.pool,
            line=line,
        )
        for line in state.lines
        if line.order == order
        for source in line.sources_in_hand
    )
    totes = tuple(tote for tote in state.totes if tote.order != order)
    questions = tuple(choice for choice in state.take_over_choices if choice.key != order)
    history = _history_without_order(state.history, order)
    left = state._replace(
        totes=totes,
        to_return=(*state.to_return, *goods),
        choices=(),
        take_over_choices=questions,
        only_order="",
        history=history,
    )
    return with_lines(left, [line for line in state.lines if line.order != order])


def _history_without_order(history: Iterable[UndoStep], order: str) -> tuple[UndoStep, ...]:
    """Return the steps that can still be undone without an order. If the order comes back, its lines keep the state
    they have then, whatever was done before."""
    steps = (
        step._replace(
            lines_before=tuple(each for each in step.lines_before if each.order != order),
            sources_before=tuple(each for each in step.sources_before if each.order != order),
        )
        for step in history
    )
    return tuple(step for step in steps if step != UndoStep(location=step.location, at=step.at))
