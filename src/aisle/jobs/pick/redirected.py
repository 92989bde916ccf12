"""Where stops of an order are taken since its picker said so, kept on this host while he has left it.

No interface has a word for it. So it is a remark, from the moment when somebody leaves the order until the same person
opens it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import codec
from aisle.jobs.base import Close, Context, Remark, Turn
from aisle.jobs.pick import picking
from aisle.jobs.pick.picking import Picking
from aisle.jobs.pick.undo import moved_from
from aisle.jobs.pick.walk import Take, elsewhere

REDIRECTED = "redirected"
"""The topic of the remark."""

Places = dict[str, list[tuple[str, str, int]]]
"""What its text says, by the person who said it: (line number, place, pool) of each line that is taken elsewhere."""


def kept(turn: Turn[Picking], context: Context) -> Turn[Picking]:
    """Whoever leaves orders finds their stops where he said that they are taken."""
    if not any(isinstance(effect, Close) for effect in turn.effects):
        return turn
    marks = []
    for tote in turn.state.totes:
        moved = [(str(take.line), take.place, take.pool) for take in _moved(turn.state, tote.order)]
        if moved:
            marks.append(Remark(REDIRECTED, tote.order, codec.to_text({context.user: moved})))
    return turn._replace(effects=(*marks, *turn.effects)) if marks else turn


def _moved(state: Picking, order: str) -> list[Take]:
    """The lines that are still to be taken, elsewhere than when the order was opened."""
    first: dict[tuple[str, int], tuple[str, int]] = {}
    for step in state.history:
        for stood in step.stood:
            first.setdefault((stood.order, stood.line), (stood.place, stood.pool))
    lines = (take for take in state.takes if take.order == order and take.open)
    return [take for take in lines if (take.place, take.pool) != first.get((order, take.line), (take.place, take.pool))]


def again(
    state: Picking, fresh: tuple[Take, ...], row: Mapping[str, Any], context: Context
) -> tuple[Picking, tuple[Take, ...], tuple[Remark, ...]]:
    """The lines of an order that comes into a round, taken where this person said when he left it, as steps that can be
    undone; and that this is over."""
    text = str(row.get(REDIRECTED) or "")
    said = codec.from_text(Places, text).get(context.user) if text else None
    if said is None:
        return state, fresh, ()
    places = {int(line): (place, pool) for line, place, pool in said}
    takes = tuple(elsewhere(take, *places[take.line], fresh) if _is_meant(take, places) else take for take in fresh)
    stops: dict[Any, list[Take]] = {}
    for take in fresh:
        if _is_meant(take, places):
            stops.setdefault(take.stop, []).append(take)
    for gone in stops.values():
        state = picking.did(state, moved_from(gone))
    return state, takes, (Remark(REDIRECTED, str(row["order_number"]), ""),)


def _is_meant(take: Take, places: Mapping[int, tuple[str, int]]) -> bool:
    return take.open and take.line in places and (take.place, take.pool) != places[take.line]
