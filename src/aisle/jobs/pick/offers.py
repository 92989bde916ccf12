"""The numbered ways on that are open in a round, and what a number means beside them."""

from __future__ import annotations

from aisle.jobs.pick.hands import in_hand
from aisle.jobs.pick.picking import NUMBER_OF, Picking, Way

OF_QUANTITY = frozenset({"take_rest", "set", "both", "hand_over", "take_in", "later", *NUMBER_OF})
"""Kinds of ways on beside which the quantity stays open: it is what they ask about, or work goes on meanwhile."""


def how_many(state: Picking) -> bool:
    """Whether a number says how many of the stop are in its totes, as far as it is none of the choices."""
    if state.take is None or not state.held or state.back:
        return False
    return all(way.kind in OF_QUANTITY for way in choices(state))


def back_ways(state: Picking) -> tuple[Way, ...]:
    """What may have become of the goods in hand of orders that have left."""
    back = Way("put_back")
    return (Way("handed_over"), back) if any(each.passed_on for each in state.back) else (back,)


def choices(state: Picking) -> tuple[Way, ...]:
    """The numbered ways on that are open now."""
    if state.back:
        return (*back_ways(state), *state.ways)
    if state.ways or state.over:
        return (*state.ways, *state.over)
    if state.phase == "wait":
        return (Way("go_on"),) if any(tote.here for tote in state.totes) else ()
    if state.phase != "done" or not state.many or state.only:
        return ()
    lying = [tote.order for tote in state.totes if in_hand(state, tote.order)]
    return tuple(Way("tote", order) for order in lying) if len(lying) > 1 else ()
