"""What is shown of the goods that a clearance wants moved."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import window
from aisle.jobs.desk.tasks_state import Listed, Tasks
from aisle.jobs.view import ListWindow, Msg, Row, msg, raw


def view(state: Tasks) -> ListWindow:
    """Places in the order of feet."""
    return window.shown(
        state,
        "tasks",
        msg("tasks.title_of", tag=state.tag) if state.tag else msg("tasks.title"),
        msg("tasks.prompt"),
        (
            msg("head.place"),
            msg("head.product"),
            msg("tasks.head_quantity"),
            msg("head.order"),
            msg("tasks.head_who"),
        ),
        tuple(Row(each.task.id, _cells(each)) for each in state.rows),
        empty=_empty(state),
    )


def _cells(each: Listed) -> tuple[Msg, ...]:
    task = each.task
    return (
        raw(task.place),
        raw(task.label),
        quantity_of(task.quantity, task.unit if task.decimal else ""),
        raw(task.order),
        raw(each.taken_by),
    )


def quantity_of(quantity: Decimal, unit: str) -> Msg:
    """So many pieces, or so much of a unit."""
    return msg("tasks.measure", quantity=quantity, unit=unit) if unit else msg("number", value=quantity)


def _empty(state: Tasks) -> Msg:
    if not state.heard:
        return msg("tasks.unheard")
    return msg("tasks.empty") if state.listed else msg("tasks.unlisted")
