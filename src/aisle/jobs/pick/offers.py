"""The ways on that are open in a round, their letters, and what a number means beside them."""

from __future__ import annotations

from aisle.jobs.base import Event, Turn
from aisle.jobs.choice_keys import keys_of
from aisle.jobs.pick.hands import held, in_hand
from aisle.jobs.pick.picking import Picking, Way
from aisle.jobs.view import ASK, Verdict, msg
from aisle.scan.meaning import Quantity, Thing

GIVEN = ("take_in", "later")
"""Kinds of ways on from the news that somebody has given an order."""


COMMANDS = "nsuiw"
"""The letters of a stop that choose nothing."""


def how_many(state: Picking) -> bool:
    """Whether a number says how many of the stop are in its totes, whatever is asked beside it."""
    return state.take is not None and state.held and not state.back


def keys(state: Picking) -> str:
    """The letters of the choices, wherever goods are taken or in hand; else they are numbered."""
    return keys_of((way.kind for way in _all(state)), COMMANDS) if _have_letters(state) else ""


def _have_letters(state: Picking) -> bool:
    return bool(state.back) or (state.take is not None and state.phase != "wait")


def is_number_asked(state: Picking) -> bool:
    """Whether it is asked if so many are meant, or what digits are the number of."""
    return any(way.kind == "amount" for way in state.ways)


def back_ways(state: Picking) -> tuple[Way, ...]:
    """What may have become of the goods in hand of orders that have left."""
    back = Way("put_back")
    return (Way("handed_over"), back) if any(each.passed_on for each in state.back) else (back,)


def choices(state: Picking) -> tuple[Way, ...]:
    """The ways on that are open now; those for which there are no letters left wait until others are answered."""
    ways = _all(state)
    return ways[: len(keys(state))] if _have_letters(state) else ways


def _all(state: Picking) -> tuple[Way, ...]:
    if state.back:
        return (*back_ways(state), *state.ways)
    over = () if state.aside else state.over
    if state.ways or over:
        return (*state.ways, *over) if state.behind else (*over, *state.ways)
    if state.phase == "wait":
        return (Way("go_on"),) if any(tote.here for tote in state.totes) else ()
    if can_be_handed_over(state):
        return (Way("finish", state.order),)
    if state.phase != "done" or not state.many or state.only:
        return ()
    lying = [tote.order for tote in state.totes if in_hand(state, tote.order)]
    return tuple(Way("tote", order) for order in lying) if len(lying) > 1 else ()


def can_be_handed_over(state: Picking) -> bool:
    """Whether one order is picked, and waits for its customer: put down, or in a store that keeps no places."""
    if state.phase != "done" or state.many or len(state.totes) != 1 or not any(take.picked for take in state.takes):
        return False
    return not held(state) or not any(take.place or take.kept for take in state.takes)


def put_aside(before: Picking, state: Picking, event: Event) -> Picking:
    """Whoever scans or types on has not answered what is asked meanwhile: a quantity that he types then is one, and
    gives no order away."""
    fresh = not set(state.over) <= set(before.over)
    aside = bool(state.over) and not fresh and (state.aside or isinstance(event, Thing | Quantity))
    return state if aside == state.aside else state._replace(aside=aside)


def in_order(before: Picking, state: Picking) -> Picking:
    """What is asked first keeps its numbers, whatever is asked beside it later."""
    came = bool(state.over and not before.over)
    behind = bool(state.over and state.ways and (before.ways if came else before.behind))
    return state if behind == state.behind else state._replace(behind=behind)


def answered(state: Picking, way: Way) -> Picking:
    """One of the questions that stay asked has its answer; the others are still asked."""
    of_given = way.kind in GIVEN
    over = tuple(each for each in state.over if (each.kind in GIVEN) != of_given)
    more = tuple(each for each in state.over if way.kind == "take_in" and each.kind == "take_in" and each != way)
    return state._replace(over=(*over, *more, *((Way("later"),) if more else ())))


def asked_again(state: Picking) -> Turn[Picking]:
    """What was put aside is asked once more, and a number answers it."""
    again = state._replace(aside=False, held=False, ways=())
    return Turn(again, (), Verdict(ASK, msg("pick.asked_again", order=state.over[0].key)))
