"""Putting down what is in hand: of all totes at one place, or of one that is named first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs import message
from aisle.jobs.job import Close, Context, LocalNote, Query, Turn, Write
from aisle.jobs.pick import goods_in_hand, pick_state, take_over
from aisle.jobs.pick import offered_choices as pick_why
from aisle.jobs.pick import operations as pick_write
from aisle.jobs.pick import take_over as pick_claim
from aisle.jobs.pick.offered_choices import reject_input
from aisle.jobs.pick.pick_state import (
    PUT_DOWN_BY_OTHER,
    PickChoice,
    PickState,
    StoreLookup,
    Tote,
    UndoStep,
    add_undo_step,
)
from aisle.jobs.quantities import to_decimal
from aisle.jobs.view import GOOD, INFO, Verdict, msg, undo_verdict
from aisle.scan.meaning import Match

Result = Turn[PickState]

PICKUPS_QUERY = "pickups"
"""The read of the places where goods wait for customers, and the id of its query."""

PICKUP_TAG_WORDS = ("pick", "collect")
"""What the tags of places where goods wait for customers have in them: pick-up, pickup, click and collect."""


def is_pickup_location(tags: Iterable[Any]) -> bool:
    """Whether goods wait for customers at a place with these tags."""
    return any(word in str(tag).casefold() for tag in tags for word in PICKUP_TAG_WORDS)


def put_down_at(state: PickState, match: Match, context: Context) -> Result:
    """A place that was used before is taken at once; a shelf of these orders, and any other, is asked about first."""
    place = match.key
    if not goods_in_hand.pieces_in_hand(state, state.only_order) and not take_over.is_location_for_others(state):
        return _nothing_in_hand(state)
    if any(step.put_down and step.location == place for step in state.history):
        return put_down(state, place, context)
    shelves = (*(take.location for take in state.lines), *(back.location for back in take_over.goods_for_others(state)))
    if place.casefold() in map(str.casefold, shelves):
        return _ask_source_location(state, place)
    return pick_why.query_store(state, pick_why.LOCATION_QUERY, match, location_code=place)


def may_be_location(state: PickState, code: str) -> bool:
    """Whether a code that nobody knows was meant as the place where goods in hand are put down."""
    asked = state.phase == "done" and bool(goods_in_hand.pieces_in_hand(state, state.only_order))
    return asked and " " not in code and any(char.isdigit() for char in code) and any(char.isalpha() for char in code)


def query_pickup_locations(state: PickState, code: str) -> Result:
    """It is no place; which there are, the store's data says."""
    query = Query(PICKUPS_QUERY, PICKUPS_QUERY, {"like": code})
    return Turn(state._replace(lookup=StoreLookup(PICKUPS_QUERY, code), choices=()), (query,))


def offer_pickup_locations(state: PickState, row: Mapping[str, Any]) -> Result:
    """The pick-up places, each a number; where there are more, how many."""
    code, state = state.lookup.key, state._replace(lookup=StoreLookup())
    places = [str(place) for place in row.get("places") or ()]
    if not places:
        return reject_input(state, "pick.no_place_at_all", code=code)
    ways, count = [PickChoice("put_here", place) for place in places], int(row.get("count") or 0)
    if count > len(places):
        return reject_input(
            state, "pick.no_pickup_more", *ways, code=code, place=places[0], shown=len(places), count=count
        )
    return reject_input(state, "pick.no_pickup", *ways, code=code, place=places[0])


def _nothing_in_hand(state: PickState) -> Result:
    if state.is_batch:
        return Turn(state, (), Verdict(INFO, msg("pick.nothing_in_round")))
    return Turn(state, (), Verdict(INFO, msg("pick.nothing_in_hand", order=state.order)))


def _ask_source_location(state: PickState, location: str) -> Result:
    if state.is_batch:
        return reject_input(state, "pick.put_on_round_shelf", PickChoice("put_here", location), place=location)
    order = state.order or state.to_return[0].order
    return reject_input(state, "pick.put_on_shelf", PickChoice("put_here", location), place=location, order=order)


def put_down_if_unused(state: PickState, row: Mapping[str, Any], context: Context) -> Result:
    """Where goods are for sale nothing is put down without being asked about."""
    place = state.lookup.key
    state = state._replace(lookup=StoreLookup())
    if to_decimal(row.get("goods")) <= 0 or row.get("is_used") or is_pickup_location(row.get("tags") or ()):
        return put_down(state, place, context)
    return reject_input(
        state, "pick.put_on_goods", PickChoice("put_here", place), place=place, count=int(to_decimal(row["goods"]))
    )


def put_down(state: PickState, location: str, context: Context, *, includes_others: bool = False) -> Result:
    """All that is in hand of the totes that are meant; what `others` have in hand only where somebody says so."""
    if take_over.is_location_for_others(state):
        return take_over.put_down_for_others(state, location, context)
    theirs = goods_in_hand.pieces_in_hand(state, state.only_order)
    if theirs and not includes_others and not goods_in_hand.has_goods_to_put_down(state, state.only_order):
        return reject_input(state, "pick.put_others", PickChoice("put_others", location), place=location, count=theirs)
    down, writes = pick_write.put_down_goods(
        state, location, context.store, context.user, includes_others=includes_others
    )
    if not writes:
        return _nothing_in_hand(state)
    over = (
        way
        for way in down.take_over_choices
        if not pick_state.is_order_picked(down, way.key) or goods_in_hand.has_goods_to_put_down(down, way.key)
    )
    down = down._replace(take_over_choices=tuple(over))
    if not state.is_batch:
        return Turn(down, writes, Verdict(GOOD, msg("pick.put_down", order=state.order, place=location)))
    orders = {laid.order for laid in down.history[-1].put_down}
    totes = " ".join(tote.letter for tote in state.totes if tote.order in orders)
    return Turn(down, writes, Verdict(GOOD, msg("pick.put_down_totes", totes=totes, place=location)))


def select_tote(state: PickState, tote: Tote) -> Result:
    """A tote was named: it alone is put down next."""
    if state.phase != "done":
        return Turn(
            state._replace(choices=()), (), Verdict(INFO, msg("pick.this_tote", order=tote.order, tote=tote.letter))
        )
    if not goods_in_hand.pieces_in_hand(state, tote.order):
        return Turn(state, (), Verdict(INFO, msg("pick.nothing_in_hand", order=tote.order)))
    return Turn(
        state._replace(choices=(), only_order=tote.order),
        (),
        Verdict(GOOD, msg("pick.tote", tote=tote.letter, order=tote.order)),
    )


def return_goods(state: PickState, context: Context) -> Result:
    """What was in hand of orders that left the round is where it was; that is all where nothing can be undone."""
    settled = pick_claim.resolve_surplus(state)
    booked = tuple(back for back in state.to_return if back.is_unassigned or back.is_for_other_picker)
    laid = tuple(back for back in state.to_return if back.reason == PUT_DOWN_BY_OTHER)
    stay = laid if len(laid) < len(state.to_return) else ()  # it has its own answer, after that to the others
    told = Verdict(GOOD, msg("pick.laid_there" if laid and not stay else "pick.put_back_done"))
    state = state._replace(to_return=stay, choices=(), phase=state.phase if state.totes else "done")
    if booked:
        state = add_undo_step(state, UndoStep(returned=booked))
        return Turn(state, (*settled, *pick_write.return_goods(booked, context.store, context.user)), told)
    return Turn(state, settled, told) if state.totes or stay else Turn(state, (*settled, Close(told)))


def undo_return(state: PickState, step: UndoStep, context: Context) -> Result:
    """What was put back, or put down for somebody else, is in hand after all."""
    if step.location:
        return take_over.undo_put_down_for_others(state, step, context)
    writes = pick_write.return_goods(step.returned, context.store, context.user, is_undo=True)
    again = [message.GoodsAmount(back.product, back.label, back.quantity) for back in step.returned]
    source = message.list_locations(back.location for back in step.returned)
    told = message.goods_message("pick.put_back_undone", "pick.put_back_undone_many", again, place=source)
    return Turn(state._replace(to_return=(*step.returned, *state.to_return), choices=()), writes, undo_verdict(told))


def mark_not_put_down(before: PickState, turn: Result, context: Context) -> Result:
    """What is left with goods of it at no place is found by that, until they are put down."""
    marks: list[LocalNote] = []
    if any(isinstance(effect, Close) for effect in turn.effects):
        marks = [
            LocalNote(goods_in_hand.NOT_PUT_DOWN, order, context.user)
            for order in goods_in_hand.orders_not_put_down(turn.state)
        ]
    elif any(isinstance(effect, Write) and effect.operation == "create-movement" for effect in turn.effects):
        gone = [tote.order for tote in turn.state.totes if goods_in_hand.pieces_in_hand(before, tote.order)]
        marks = [
            LocalNote(goods_in_hand.NOT_PUT_DOWN, order, "")
            for order in gone
            if not goods_in_hand.pieces_in_hand(turn.state, order)
        ]
    return turn._replace(effects=(*marks, *turn.effects)) if marks else turn
