"""A move that a clearance wants: the place, the goods and how many are known, and each is proved by a scan.

The goods of the line are taken where they lie and put down anywhere: there they are nobody's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.base import Close, Turn, Write
from aisle.jobs.move import carrying
from aisle.jobs.move.moving import Did, Moving, Task
from aisle.jobs.move.told import told
from aisle.jobs.view import GOOD, WRONG
from aisle.scan.meaning import LOCATION, PRODUCT, Meaning

Result = Turn[Moving]


def of(said: Mapping[str, Any]) -> Task:
    """What the job was opened for."""
    return Task(**{**said, "quantity": number(said["quantity"]), "line": int(said["line"])})


def begun(state: Moving, meaning: Meaning) -> Result:
    """With empty hands: the place first, then the goods, all that is wanted of them unless a number was said."""
    task = state.task
    assert task is not None
    what = meaning.label or meaning.key
    if meaning.kind == LOCATION:
        if meaning.key.casefold() != task.place.casefold():
            return told(state, WRONG, "move.task_place", what=what, place=task.place)
        lines = (task.lying,)
        state = state._replace(phase="take", started=True, place=task.place, order=task.order, lines=lines, known=True)
        return told(state, GOOD, "move.task_here", label=task.label, quantity=task.quantity, place=task.place)
    if meaning.kind != PRODUCT or meaning.key != task.product:
        return told(state, WRONG, "move.task_product", what=what, label=task.label)
    if not state.started:
        return told(state, WRONG, "move.task_first", place=task.place)
    quantity = meaning.quantity if meaning.explicit else task.quantity
    if quantity > task.quantity:
        return told(state, WRONG, "move.not_so_many", label=task.label, quantity=quantity, there=task.quantity)
    part = carrying.held_part(task.lying, task.lying.held[0], task.place)._replace(quantity=quantity)
    hand = carrying.put_in(state.hand, part)
    state = carrying.remember(state._replace(hand=hand, at=0), Did((part,)))
    return told(state, GOOD, "move.task_taken", label=task.label, quantity=quantity)


def ended(turn: Result) -> Result:
    """The job closes when it has written what it was opened for."""
    if turn.state.task and not turn.state.hand and any(isinstance(effect, Write) for effect in turn.effects):
        return turn._replace(effects=(*turn.effects, Close(turn.verdict)))
    return turn
