"""What of a round can be undone: its steps, last first, and what they left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.jobs.count.counting import Change, Gone
from aisle.jobs.pick.walk import Take

if TYPE_CHECKING:
    from aisle.jobs.pick.picking import Picking

HISTORY = 100
"""So many steps can be undone, last first."""


class Before(NamedTuple):
    """What a line stood at before a step, for undo."""

    order: str
    line: int
    picked: Decimal
    closed: bool = False


class Laid(NamedTuple):
    """What was put down of a line."""

    order: str
    line: int
    quantity: Decimal


class Back(NamedTuple):
    """Goods in hand of an order that has left the round; `why` as in the messages: rejected, finished, claimed,
    given, or left_over for what found no room on its line."""

    letter: str
    why: str
    product: str
    label: str
    quantity: Decimal
    place: str
    op_id: str = ""
    """The operation that could not be taken, to be settled once they are back."""
    order: str = ""
    pool: int = 0
    """The pool that they were taken from, as far as that was said."""

    @property
    def free(self) -> bool:
        """Whether the books have it at no place, for no order: so it is with what was rejected."""
        return self.why.startswith("rejected") and bool(self.place)


class Did(NamedTuple):
    """One step that can be undone: lines that changed, goods that were put down, or put back."""

    before: tuple[Before, ...] = ()
    laid: tuple[Laid, ...] = ()
    place: str = ""
    back: tuple[Back, ...] = ()
    gone: Gone | None = None
    """A count that was sent from here."""


def counted(answer: Mapping[str, Any]) -> Did:
    """A count as the job that made it answers."""
    return Did(gone=Gone(str(answer["what"]), tuple(Change(**change) for change in answer["changes"])))


def did(state: Picking, step: Did) -> Picking:
    """One more step that can be undone."""
    return state._replace(history=(*state.history, step)[-HISTORY:])


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


def undo(state: Picking, before: Iterable[Before]) -> tuple[Picking, tuple[int, ...]]:
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
