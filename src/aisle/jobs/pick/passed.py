"""Goods in this hand of orders that somebody else picks now: handed over, put down for him, or put back.

They stay this picker's until he says what became of them. Where the other one says by a number that they lie at a
place, he is told where, and asked for nothing but that they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import goods
from aisle.jobs.amounts import number
from aisle.jobs.base import Close, Context, Turn
from aisle.jobs.pick import hands
from aisle.jobs.pick import write as pick_write
from aisle.jobs.pick.history import LAID, Back, Did
from aisle.jobs.pick.picking import Picking, did
from aisle.jobs.view import GOOD, INFO, WRONG, Msg, Verdict, msg, undone

Result = Turn[Picking]


def in_hand(state: Picking) -> tuple[Back, ...]:
    """What is here for somebody else."""
    return tuple(back for back in state.back if back.passed_on)


def is_meant(state: Picking) -> bool:
    """Whether a place that is scanned is for these goods: what the round itself has in hand comes first."""
    return bool(in_hand(state)) and not (state.phase == "done" and hands.held(state, state.only))


def put_down(state: Picking, place: str, context: Context) -> Result:
    """They lie there, for the orders that they were picked for."""
    gone = in_hand(state)
    writes = pick_write.put_for_others(gone, place, context.store, context.user)
    rest = tuple(back for back in state.back if back not in gone)
    down = did(state._replace(back=rest, ways=()), Did(back=gone, place=place, at=context.now))
    return Turn(down, writes, Verdict(GOOD, msg("pick.put_down", order=_orders(gone), place=place)))


def settled(state: Picking) -> Msg:
    """What became of the last that was in hand, once no order is left."""
    last = state.history[-1] if state.history else None
    if last is None or not last.back or not last.place:
        return msg("pick.put_back_done")
    return msg("pick.put_down", order=_orders(last.back), place=last.place)


def picked_up(state: Picking, step: Did, context: Context) -> Result:
    """What was put down for somebody else is in hand again."""
    writes = pick_write.put_for_others(step.back, step.place, context.store, context.user, undone=True)
    again = [goods.Goods(back.product, back.label, back.quantity) for back in step.back]
    told = goods.about("pick.put_undone", "pick.put_undone_many", again, place=step.place)
    return Turn(state._replace(back=(*step.back, *state.back), ways=()), writes, undone(told))


def put_down_by(state: Picking) -> dict[str, str]:
    """The orders that something was put down for in this way, and when that was first."""
    return {back.order: step.at for step in reversed(state.history) if step.at for back in step.back}


def not_put_down(state: Picking, order: str, place: str) -> Picking:
    """The service has not taken that they lie there for this order: they are in hand, and undo has nothing to say."""
    for at, step in reversed(list(enumerate(state.history))):
        if step.at and step.place == place and any(back.order == order for back in step.back):
            again = tuple(back for back in step.back if back.order == order)
            rest = tuple(back for back in step.back if back.order != order)
            left = (step._replace(back=rest),) if rest else ()
            history = (*state.history[:at], *left, *state.history[at + 1 :])
            return state._replace(history=history, back=(*again, *state.back), ways=())
    return state


def _orders(backs: Iterable[Back]) -> str:
    return ", ".join(dict.fromkeys(back.order for back in backs))


def handed_over(state: Picking) -> Result:
    """Whoever picks their orders now has the goods: they stay picked, and the rest is still to be put back."""
    back = tuple(each for each in state.back if not each.passed_on)
    count = hands.to_be_back(state) - sum((each.quantity for each in back), Decimal(0))
    told = Verdict(GOOD, msg("pick.handed_over", count=count))
    if not back and not state.totes:
        return Turn(state, (Close(told),))
    return Turn(state._replace(back=back, ways=()), (), told)


def news(state: Picking, order: str, row: Mapping[str, Any]) -> Result:
    """Somebody has said that goods of the order lie at a place that are in this hand, or has taken that back."""
    lines = {int(line["line_number"]): line for line in row.get("lines") or ()}
    back = tuple(_as_it_stands(state, each, lines) if each.order == order else each for each in state.back)
    if back == state.back:
        return Turn(state)
    laid = [now for was, now in zip(state.back, back, strict=True) if now.why == LAID != was.why]
    state = state._replace(back=back, ways=())
    count = sum((each.quantity for each in laid), Decimal(0))
    if not laid:
        return Turn(state, (), Verdict(INFO, msg("pick.back_not_laid", order=order)))
    told = msg("pick.back_laid_unsaid", order=order, count=count)
    if laid[0].place:
        told = msg("pick.back_laid", order=order, count=count, place=laid[0].place)
    return Turn(state, (), Verdict(WRONG, told))


def _as_it_stands(state: Picking, back: Back, lines: Mapping[int, Mapping[str, Any]]) -> Back:
    """Whoever puts down what is in his own hand leaves at least as much of the line in hand as is in this one."""
    line = lines.get(back.line.line) if back.line else None
    if line is None or back.line is None or not _is_picked_on(back):
        return back
    picked, moved = number(line.get("picked_quantity")), number(line.get("moved_quantity"))
    here = sum(each.quantity for each in state.back if _is_picked_on(each) and _line_of(each) == _line_of(back))
    lies = moved > back.line.moved and picked - moved < here
    if lies == (back.why == LAID):
        return back
    if lies:
        return back._replace(why=LAID, place=_where(line), passed=back.why, taken=back.place)
    return back._replace(why=back.passed, place=back.taken, passed="", taken="")


def _is_picked_on(back: Back) -> bool:
    """Whether it counts as picked for somebody else's order; what found no room on a line is on none."""
    return back.passed_on or back.why == LAID


def _line_of(back: Back) -> tuple[str, int]:
    return back.order, back.line.line if back.line else 0


def _where(line: Mapping[str, Any]) -> str:
    """The place that goods of the line were brought to last, as far as anybody knows one."""
    kept = [str(each["location_code"]) for each in line.get("kept") or () if number(each.get("quantity")) > 0]
    return kept[-1] if kept else ""
