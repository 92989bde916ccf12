"""What of a round is in whose hand: whoever picks is asked about what is in his own alone."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.pick.picking import Picking, tote_of
from aisle.jobs.pick.walk import Take, all_in_hand, in_pieces

LYING = "lying"
"""The remark that an order was left with goods of it at no place; whose they are is its text."""


def to_lay(state: Picking, take: Take) -> Decimal:
    """What of a line whoever picks here has to put down: all of it, but for what somebody has who picks it too."""
    tote = tote_of(state, take.order)
    return take.own if tote and tote.beside else take.in_hand


def in_hand(state: Picking, order: str = "") -> bool:
    """Whether anything of the order, or of any, is to be put down here."""
    return any(to_lay(state, take) for take in state.takes if order in ("", take.order))


def all_to_lay(state: Picking) -> Decimal:
    """How many pieces are to be put down here; what is measured counts as one."""
    return in_pieces((take, to_lay(state, take)) for take in state.takes)


def held(state: Picking, order: str = "") -> Decimal:
    """How many pieces of the order, or of all, are picked and not put down, in whoever's hand."""
    return all_in_hand(take for take in state.takes if order in ("", take.order))


def of_others(state: Picking, order: str) -> Decimal:
    """How many pieces of the order are picked and not put down, in the hands of others."""
    return in_pieces((take, take.in_hand - take.own) for take in state.takes if take.order == order)


def left_lying(state: Picking) -> tuple[str, ...]:
    """The orders of which whoever leaves now has goods that are at no place; nobody lays any where no place is kept."""
    if not any(take.place for take in state.takes):
        return ()
    return tuple(tote.order for tote in state.totes if tote.here and in_hand(state, tote.order))


def all_mine(state: Picking, order: str) -> Picking:
    """Nobody else has this order in hand: what is picked of it and not put down is here."""
    takes = (take._replace(mine=take.in_hand) if take.order == order else take for take in state.takes)
    return state._replace(takes=tuple(takes))


def to_be_back(state: Picking) -> Decimal:
    """How much is to be put back."""
    return sum((back.quantity for back in state.back), Decimal(0))
