"""Goods that a clearance wants moved: the list of them, each carried out by the move job.

Several people may have the list open: what somebody works at on this host is marked, and is asked about before it is
taken twice; what was moved leaves the list at once, here before the service has heard of it.
"""

from __future__ import annotations

from typing import Any

from aisle.jobs import refused, window
from aisle.jobs.base import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
    Wish,
)
from aisle.jobs.desk import tasks_view
from aisle.jobs.desk.tasks_state import Listed, Tasks, listed_of
from aisle.jobs.move.moving import Task
from aisle.jobs.view import ASK, INFO, WRONG, ListWindow, Verdict, msg
from aisle.jobs.window import room
from aisle.scan.meaning import LOCATION, PRODUCT, Back, Command, Meaning, Move, Open, Text, Thing, Unknown

Result = Turn[Tasks]


class TasksJob:
    """The list."""

    name = "tasks"
    steps: tuple[str, ...] = ("tasks",)
    version = 1
    journalled = False

    def begin(self) -> Tasks:
        """All of them."""
        return Tasks()

    def open(self, state: Tasks) -> Open:
        """Rows are numbered; nothing is found by typing."""
        return Open(choices=window.numbered_rows(state), letters=window.letters(state))

    def prefers(self, state: Tasks) -> tuple[str, ...]:
        """The place where somebody stands, or the goods in his hand."""
        return (LOCATION, PRODUCT)

    def uses(self, state: Tasks, product: str) -> bool:
        """What is to be moved."""
        return any(row.task.product == product for row in state.rows)

    def at(self, state: Tasks) -> str:
        """There is one page."""
        return self.name

    def step(self, state: Tasks, event: Event, context: Context) -> Result:
        """A number, or a scan of a place or of goods, opens what is to be moved from there."""
        match event:
            case Opened(args):
                state = state._replace(tag=str(args.get("tag") or ""), since=context.now)
                return Turn(state, (*_refresh(state, context), Wish("assignments")))
            case Rows("clearing", (row, *_), _):
                return Turn(state._replace(listed=bool(row["listed"]), heard=bool(row["heard"])))
            case Rows("tasks", rows, _):
                return window.answered(state, event, tuple(listed_of(row) for row in rows), context, _query)
            case Rows("refused" | "refused_before"):
                known, said = refused.news(state.told, event, context.user)
                return Turn(state._replace(told=known), (), said)
            case Resumed() | Closed() | Changed("assignment" | "outbox" | "order"):
                moved = isinstance(event, Closed) and event.job == "move"
                effects = (*_refresh(state, context), refused.refusals(state.since, heard=moved))
                return Turn(state._replace(sure=""), effects)
            case Back():
                return Turn(state, (Close(),))
            case Thing(meanings):
                return _thing(state, meanings, context)
            case Text(text) | Unknown(text):
                return Turn(state, (), Verdict(WRONG, msg("tasks.unknown", text=text)))
            case Command() | Move() if event != Move("enter"):
                state = state._replace(sure="")
        return window.said(state, event, context, _query, _take)

    def view(self, state: Tasks) -> ListWindow:
        """Places in the order of feet."""
        return tasks_view.view(state)


def _refresh(state: Tasks, context: Context) -> tuple[Effect, ...]:
    return (Query("clearing", "clearing", {"user": context.user}, live=True), _query(state, context))


def _query(state: Tasks, context: Context) -> Query:
    return Query("tasks", "assignments", {"tag": state.tag, "first": state.first, "size": room(context)}, live=True)


def _thing(state: Tasks, meanings: tuple[Meaning, ...], context: Context) -> Result:
    for meaning in meanings:
        for each in state.rows:
            if (meaning.kind, meaning.key) in ((LOCATION, each.task.place), (PRODUCT, each.task.product)):
                return _take(state, each, context)
    return Turn(state, (), Verdict(WRONG, msg("tasks.not_here", what=meanings[0].label or meanings[0].key)))


def _take(state: Tasks, each: Listed, context: Context) -> Result:
    """Somebody else's is asked about first; who asks again, knows."""
    other = each.taken_by and each.taken_user != context.user
    if other and state.sure != each.task.id:
        told = Verdict(ASK, msg("tasks.taken", who=each.taken_by, label=each.task.label))
        return Turn(state._replace(sure=each.task.id), (), told)
    told = Verdict(INFO, msg("tasks.begun", place=each.task.place))
    return Turn(state._replace(sure=""), (Start("move", {"task": as_args(each.task)}),), told)


def as_args(task: Task) -> dict[str, Any]:
    """What opens the move job for it."""
    return {**task._asdict()}
