"""Putting down what is in hand: of all totes at one place, or of one that is named first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs import goods
from aisle.jobs.amounts import number
from aisle.jobs.base import Close, Context, Query, Remark, Turn, Write
from aisle.jobs.pick import claim as pick_claim
from aisle.jobs.pick import hands, passed, picking
from aisle.jobs.pick import why as pick_why
from aisle.jobs.pick import write as pick_write
from aisle.jobs.pick.history import LAID, Did
from aisle.jobs.pick.picking import Asked, Picking, Tote, Way, did
from aisle.jobs.pick.why import wrong
from aisle.jobs.view import GOOD, INFO, Verdict, msg, undone
from aisle.scan.meaning import Meaning

Result = Turn[Picking]

PICKUPS = "pickups"
"""The read of the places where goods wait for customers, and the id of its query."""

WAITING_ROOM = ("pick", "collect")
"""What the tags of places where goods wait for customers have in them: pick-up, pickup, click and collect."""


def waits(tags: Iterable[Any]) -> bool:
    """Whether goods wait for customers at a place with these tags."""
    return any(word in str(tag).casefold() for tag in tags for word in WAITING_ROOM)


def at_place(state: Picking, meaning: Meaning, context: Context) -> Result:
    """A place that was used before is taken at once; a shelf of these orders, and any other, is asked about first."""
    place = meaning.key
    if not hands.held(state, state.only) and not passed.is_meant(state):
        return _nothing(state)
    if any(step.laid and step.place == place for step in state.history):
        return put_down(state, place, context)
    shelves = (*(take.place for take in state.takes), *(back.place for back in passed.in_hand(state)))
    if place.casefold() in map(str.casefold, shelves):
        return _shelf(state, place)
    return pick_why.ask(state, pick_why.SPOT, meaning, location_code=place)


def is_place(state: Picking, code: str) -> bool:
    """Whether a code that nobody knows was meant as the place where goods in hand are put down."""
    asked = state.phase == "done" and bool(hands.held(state, state.only))
    return asked and " " not in code and any(char.isdigit() for char in code) and any(char.isalpha() for char in code)


def no_place(state: Picking, code: str) -> Result:
    """It is no place; which there are, the store's data says."""
    query = Query(PICKUPS, PICKUPS, {"like": code})
    return Turn(state._replace(asked=Asked(PICKUPS, code), ways=()), (query,))


def told_pickups(state: Picking, row: Mapping[str, Any]) -> Result:
    """The pick-up places, each a number; where there are more, how many."""
    code, state = state.asked.key, state._replace(asked=Asked())
    places = [str(place) for place in row.get("places") or ()]
    if not places:
        return wrong(state, "pick.no_place_at_all", code=code)
    ways, count = [Way("put_here", place) for place in places], int(row.get("count") or 0)
    if count > len(places):
        return wrong(state, "pick.no_pickup_more", *ways, code=code, place=places[0], shown=len(places), count=count)
    return wrong(state, "pick.no_pickup", *ways, code=code, place=places[0])


def _nothing(state: Picking) -> Result:
    if state.many:
        return Turn(state, (), Verdict(INFO, msg("pick.nothing_in_round")))
    return Turn(state, (), Verdict(INFO, msg("pick.nothing_in_hand", order=state.order)))


def _shelf(state: Picking, place: str) -> Result:
    if state.many:
        return wrong(state, "pick.put_on_round_shelf", Way("put_here", place), place=place)
    order = state.order or state.back[0].order
    return wrong(state, "pick.put_on_shelf", Way("put_here", place), place=place, order=order)


def told_spot(state: Picking, row: Mapping[str, Any], context: Context) -> Result:
    """Where goods are for sale nothing is put down without being asked about."""
    place = state.asked.key
    state = state._replace(asked=Asked())
    if number(row.get("goods")) <= 0 or row.get("is_used") or waits(row.get("tags") or ()):
        return put_down(state, place, context)
    return wrong(state, "pick.put_on_goods", Way("put_here", place), place=place, count=int(number(row["goods"])))


def put_down(state: Picking, place: str, context: Context, *, others: bool = False) -> Result:
    """All that is in hand of the totes that are meant; what `others` have in hand only where somebody says so."""
    if passed.is_meant(state):
        return passed.put_down(state, place, context)
    theirs = hands.held(state, state.only)
    if theirs and not others and not hands.in_hand(state, state.only):
        return wrong(state, "pick.put_others", Way("put_others", place), place=place, count=theirs)
    down, writes = pick_write.put_down(state, place, context.store, context.user, others=others)
    if not writes:
        return _nothing(state)
    over = (way for way in down.over if not picking.is_full(down, way.key) or hands.in_hand(down, way.key))
    down = down._replace(over=tuple(over))
    if not state.many:
        return Turn(down, writes, Verdict(GOOD, msg("pick.put_down", order=state.order, place=place)))
    orders = {laid.order for laid in down.history[-1].laid}
    totes = " ".join(tote.letter for tote in state.totes if tote.order in orders)
    return Turn(down, writes, Verdict(GOOD, msg("pick.put_down_totes", totes=totes, place=place)))


def named(state: Picking, tote: Tote) -> Result:
    """A tote was named: it alone is put down next."""
    if state.phase != "done":
        return Turn(
            state._replace(ways=()), (), Verdict(INFO, msg("pick.this_tote", order=tote.order, tote=tote.letter))
        )
    if not hands.held(state, tote.order):
        return Turn(state, (), Verdict(INFO, msg("pick.nothing_in_hand", order=tote.order)))
    return Turn(
        state._replace(ways=(), only=tote.order),
        (),
        Verdict(GOOD, msg("pick.tote", tote=tote.letter, order=tote.order)),
    )


def put_back(state: Picking, context: Context) -> Result:
    """What was in hand of orders that left the round is where it was; that is all where nothing can be undone."""
    settled = pick_claim.settled(state)
    booked = tuple(back for back in state.back if back.free or back.passed_on)
    laid = tuple(back for back in state.back if back.why == LAID)
    stay = laid if len(laid) < len(state.back) else ()  # it has its own answer, after that to the others
    told = Verdict(GOOD, msg("pick.laid_there" if laid and not stay else "pick.put_back_done"))
    state = state._replace(back=stay, ways=(), phase=state.phase if state.totes else "done")
    if booked:
        state = did(state, Did(back=booked))
        return Turn(state, (*settled, *pick_write.put_back(booked, context.store, context.user)), told)
    return Turn(state, settled, told) if state.totes or stay else Turn(state, (*settled, Close(told)))


def take_back(state: Picking, step: Did, context: Context) -> Result:
    """What was put back, or put down for somebody else, is in hand after all."""
    if step.place:
        return passed.picked_up(state, step, context)
    writes = pick_write.put_back(step.back, context.store, context.user, undone=True)
    again = [goods.Goods(back.product, back.label, back.quantity) for back in step.back]
    source = goods.places(back.place for back in step.back)
    told = goods.about("pick.put_back_undone", "pick.put_back_undone_many", again, place=source)
    return Turn(state._replace(back=(*step.back, *state.back), ways=()), writes, undone(told))


def marked(before: Picking, turn: Result, context: Context) -> Result:
    """What is left with goods of it at no place is found by that, until they are put down."""
    marks: list[Remark] = []
    if any(isinstance(effect, Close) for effect in turn.effects):
        marks = [Remark(hands.LYING, order, context.user) for order in hands.left_lying(turn.state)]
    elif any(isinstance(effect, Write) and effect.operation == "create-movement" for effect in turn.effects):
        gone = [tote.order for tote in turn.state.totes if hands.held(before, tote.order)]
        marks = [Remark(hands.LYING, order, "") for order in gone if not hands.held(turn.state, order)]
    return turn._replace(effects=(*marks, *turn.effects)) if marks else turn
