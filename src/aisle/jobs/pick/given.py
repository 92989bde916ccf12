"""What supervisors do to a round while it is walked: an order goes first, goes to somebody else, or comes from there.

All of it comes as news of the orders themselves (aisle.local.reads.walks); the picker is told, and picks on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.base import Context, Query, Remark, Turn
from aisle.jobs.choice_keys import MOST
from aisle.jobs.claim import is_later
from aisle.jobs.pick import picking
from aisle.jobs.pick.picking import Picking, Tote, Way
from aisle.jobs.view import ASK, INFO, Verdict, msg

Result = Turn[Picking]

REOPENED = "rejected_reopened"
"""Why goods are to be put back of an order that is open again, with nothing picked."""

GIVEN = "given"
"""The query for the orders of other walks that are this person's now, and its id."""


def given_to(context: Context) -> Query:
    """Asks what was given to whoever is signed in."""
    return Query(GIVEN, "given", {"user": context.user})


def is_given_away(tote: Tote, row: Mapping[str, Any], context: Context) -> bool:
    """Whether an order of this round became somebody else's since it was opened here."""
    to = str(row.get("given_to") or "")
    since = tote.opened or tote.since
    return bool(tote.here and to and to != context.user and is_later(str(row.get("given_on") or ""), since))


def told_given(state: Picking, rows: Iterable[Mapping[str, Any]]) -> Result:
    """Orders of another walk that are this picker's now: taken into the round where he says so, work goes on. Those
    for which the page has no more choices are asked about once there is room."""
    fresh = [row for row in rows if _mark(row) not in state.told][: _room(state)]
    state = state._replace(told=(*state.told, *map(_mark, fresh)))
    fresh = [row for row in fresh if picking.tote_of(state, str(row["order_number"])) is None]
    if not fresh:
        return Turn(state)
    order, who = str(fresh[-1]["order_number"]), str(fresh[-1]["by"])
    told = Verdict(ASK, msg("pick.given", order=order, who=who))
    if not state.totes or not picking.next_letter(state):
        return Turn(state, (), told)
    ways = tuple(Way("take_in", str(row["order_number"])) for row in fresh)
    over = (*state.over, *ways) if Way("later") in state.over else (*state.over, *ways, Way("later"))
    return Turn(state._replace(over=over), (), told)


def _room(state: Picking) -> int:
    """So many more orders can be asked about; the last choice is that they wait."""
    return MOST - 1 - sum(way.kind == "take_in" for way in state.over)


def _mark(row: Mapping[str, Any]) -> str:
    return f"{GIVEN}/{row['order_number']}/{row['at']}"


def opened(turn: Result, order: str, row: Mapping[str, Any]) -> Result:
    """An order that was given to somebody is open now: that is over."""
    if not row.get("given_to"):
        return turn
    return turn._replace(effects=(Remark("given", order, ""), *turn.effects))


def followed(before: Tote, turn: Result, row: Mapping[str, Any]) -> Result:
    """What changed about an order of the round itself is told: it goes first, or no more so; it was released."""
    urgent = bool(row.get("urgent"))
    tote = picking.tote_of(turn.state, before.order)
    if tote is None:
        return turn
    if urgent != tote.urgent:
        turn = _hurried(turn, tote._replace(urgent=urgent), row)
        tote = tote._replace(urgent=urgent)
    freed = not row.get("is_claimed") and is_later(str(row.get("released_on") or ""), tote.opened or tote.since)
    if tote.mine and freed and not picking.is_full(turn.state, tote.order):
        free = picking.with_tote(turn.state, tote._replace(mine=False, looks=True))
        return turn._replace(state=free, verdict=Verdict(INFO, msg("pick.released", order=tote.order)))
    return turn


def reopened(state: Picking, order: str, row: Mapping[str, Any]) -> Result:
    """The rejection of an order that has left the round was taken back: what is in hand of it still goes back."""
    mine = [back for back in state.back if back.order == order and back.free and back.why != REOPENED]
    if not mine or not row or row.get("is_rejected") or not row.get("is_active", True):
        return Turn(state)
    back = tuple(each._replace(why=REOPENED) if each in mine else each for each in state.back)
    count = sum((each.quantity for each in mine), Decimal(0))
    return Turn(state._replace(back=back), (), Verdict(INFO, msg("pick.open_again", order=order, count=count)))


def _hurried(turn: Result, tote: Tote, row: Mapping[str, Any]) -> Result:
    """The stops of the order come first from now on; the one on the screen is picked to its end."""
    state = picking.with_tote(turn.state, tote)
    state = picking.with_takes(state, state.takes) if state.phase == "walk" else state
    if picking.is_full(state, tote.order):
        return turn._replace(state=state)
    told = msg("pick.not_urgent", order=tote.order)
    if tote.urgent:
        who = str(row.get("urgent_by") or "")
        round_ = msg("pick.urgent_round", order=tote.order, who=who, tote=tote.letter)
        told = round_ if state.many else msg("pick.urgent", order=tote.order, who=who)
    if turn.verdict and turn.verdict.kind == ASK:  # what is asked stays asked
        both = msg("pick.told_both", what=turn.verdict.text, more=told)
        return turn._replace(state=state, verdict=Verdict(ASK, both))
    return turn._replace(state=state, verdict=Verdict(INFO, told))
