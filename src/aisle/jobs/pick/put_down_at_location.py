"""Putting down of goods in hand at a location: of all totes, or of one that is selected first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aisle.jobs import names_in_messages
from aisle.jobs.job import Close, Context, LocalNote, Query, Turn, Write, reply
from aisle.jobs.pick import (
    excess_and_goods_for_others,
    pick_state,
    picked_quantities_and_operations,
    rejected_scans_and_quantities,
    stops_and_goods_in_hand,
)
from aisle.jobs.pick.pick_state import (
    PUT_DOWN_BY_OTHER,
    PickChoice,
    PickState,
    Result,
    StoreLookup,
    Tote,
    UndoStep,
    add_undo_step,
)
from aisle.jobs.pick.rejected_scans_and_quantities import reject_input
from aisle.jobs.view import GOOD, INFO, Verdict, msg
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationUseRow, PickupLocationsRow


PICKUPS_QUERY = "pickup_locations"
"""Named read of the pick-up locations, and id of its query."""

TOTE_OR_LOCATION_QUERY = "tote_or_location"
"""Id of the query whether the label of a tote is also that of a location."""

PICKUP_TAG_WORDS = ("pick", "collect")
"""Words in the tags of pick-up locations: pick-up, pickup, click and collect."""


def is_pickup_location(tags: Iterable[Any]) -> bool:
    """Return True if a location with these tags is a pick-up location."""
    return any(word in str(tag).casefold() for tag in tags for word in PICKUP_TAG_WORDS)


def put_down_at(state: PickState, match: Match, context: Context) -> Result:
    """Put goods down at a scanned location. A location used before is accepted at once. One of these orders is asked
    about first. Of any other the stock is queried first."""
    location = match.key
    if not stops_and_goods_in_hand.pieces_in_hand(
        state, state.only_order
    ) and not excess_and_goods_for_others.is_location_for_others(state):
        return _nothing_in_hand(state)
    if any(step.put_down and step.location == location for step in state.history):
        return put_down(state, location, context)
    sources = (
        *(line.location for line in state.lines),
        *(goods.location for goods in excess_and_goods_for_others.goods_for_others(state)),
    )
    if location.casefold() in map(str.casefold, sources):
        return _ask_source_location(state, location)
    return rejected_scans_and_quantities.query_store(
        state, rejected_scans_and_quantities.LOCATION_QUERY, match, location_code=location
    )


def may_be_location(state: PickState, code: str) -> bool:
    """Return True if an unknown code may be a location for goods in hand: it has letters and digits and no space."""
    is_put_down = state.phase == "done" and bool(stops_and_goods_in_hand.pieces_in_hand(state, state.only_order))
    return (
        is_put_down
        and " " not in code
        and any(char.isdigit() for char in code)
        and any(char.isalpha() for char in code)
    )


def query_pickup_locations(state: PickState, code: str) -> Result:
    """Query the pick-up locations that resemble an unknown code."""
    query = Query(PICKUPS_QUERY, PICKUPS_QUERY, {"like": code})
    return Turn(state._replace(lookup=StoreLookup(PICKUPS_QUERY, code), choices=()), (query,))


def offer_pickup_locations(state: PickState, row: PickupLocationsRow) -> Result:
    """Offer the pick-up locations as choices; if there are more, also report their total."""
    code, state = state.lookup.key, state._replace(lookup=StoreLookup())
    locations = [str(location) for location in row.get("locations") or ()]
    if not locations:
        return reject_input(state, "pick.no_location_at_all", code=code)
    choices = [PickChoice("put_here", location) for location in locations]
    args = {"place": locations[0], "shown": str(len(locations)), "count": str(row.get("count") or len(locations))}
    return reject_input(state, "pick.no_pickup", *choices, code=code, **args)


def _nothing_in_hand(state: PickState) -> Result:
    if state.is_batch:
        return reply(state, INFO, "pick.nothing_in_hand")
    return reply(state, INFO, "pick.nothing_in_hand", order=state.order)


def _ask_source_location(state: PickState, location: str) -> Result:
    if state.is_batch:
        return reject_input(state, "pick.put_down_at_source", PickChoice("put_here", location), place=location)
    order = state.order or state.to_return[0].order
    return reject_input(state, "pick.put_down_at_source", PickChoice("put_here", location), place=location, order=order)


def put_down_if_unused(state: PickState, row: LocationUseRow, context: Context) -> Result:
    """Put goods down, but ask first if the location holds stock for sale and was not used before."""
    location = state.lookup.key
    state = state._replace(lookup=StoreLookup())
    if to_decimal(row.get("goods")) <= 0 or row.get("is_used") or is_pickup_location(row.get("tags") or ()):
        return put_down(state, location, context)
    return reject_input(
        state,
        "pick.put_down_at_stock",
        PickChoice("put_here", location),
        place=location,
        count=int(to_decimal(row["goods"])),
    )


def put_down(state: PickState, location: str, context: Context, *, includes_others: bool = False) -> Result:
    """Put down the goods in hand of the selected tote or of all; of other pickers only if `includes_others` is True."""
    if excess_and_goods_for_others.is_location_for_others(state):
        return excess_and_goods_for_others.put_down_for_others(state, location, context)
    in_hand = stops_and_goods_in_hand.pieces_in_hand(state, state.only_order)
    if in_hand and not includes_others and not stops_and_goods_in_hand.has_goods_to_put_down(state, state.only_order):
        others = stops_and_goods_in_hand.goods_in_hand(state, state.only_order)
        return reject_input(
            state, "pick.goods_of_others", PickChoice("put_others", location), place=location, count=others
        )
    down, writes = picked_quantities_and_operations.put_down_goods(
        state, location, context.store, context.user, includes_others=includes_others
    )
    if not writes:
        return _nothing_in_hand(state)
    questions = (
        choice
        for choice in down.take_over_choices
        if not pick_state.is_order_picked(down, choice.key)
        or stops_and_goods_in_hand.has_goods_to_put_down(down, choice.key)
    )
    down = down._replace(take_over_choices=tuple(questions))
    if not state.is_batch:
        return reply(down, GOOD, "pick.put_down", *writes, order=state.order, place=location)
    orders = {each.order for each in down.history[-1].put_down}
    totes = " ".join(tote.letter for tote in state.totes if tote.order in orders)
    return reply(down, GOOD, "pick.put_down_totes", *writes, totes=totes, place=location)


def select_tote(state: PickState, tote: Tote) -> Result:
    """Select a tote: only its goods are put down next."""
    if state.phase != "done":
        return reply(state._replace(choices=()), INFO, "batch.already_in_batch", order=tote.order, tote=tote.letter)
    if not stops_and_goods_in_hand.pieces_in_hand(state, tote.order):
        return reply(state, INFO, "pick.nothing_in_hand", order=tote.order)
    if not stops_and_goods_in_hand.has_goods_to_put_down(state, tote.order):
        return reply(state, INFO, "pick.tote_of_others", tote=tote.letter)
    return reply(
        state._replace(choices=(), only_order=tote.order), GOOD, "pick.choice_tote", tote=tote.letter, order=tote.order
    )


def query_tote_or_location(state: PickState, tote: Tote, code: str) -> Result:
    """Query whether the label of a tote is also that of a location where its goods may be put down."""
    if state.phase != "done":
        return select_tote(state, tote)
    query = Query(TOTE_OR_LOCATION_QUERY, "location_use", {"location_code": code})
    return Turn(state._replace(lookup=StoreLookup(TOTE_OR_LOCATION_QUERY, tote.order, code=code)), (query,))


def ask_tote_or_location(state: PickState, *, is_location: bool) -> Result:
    """Select the tote, or ask if its label is also that of a location."""
    tote, code = pick_state.find_tote(state, state.lookup.key), state.lookup.code
    state = state._replace(lookup=StoreLookup())
    if tote is None:
        return Turn(state)
    if not is_location:
        return select_tote(state, tote)
    choices = PickChoice("tote", tote.order), PickChoice("is_location", code, code)
    return reject_input(state, "pick.tote_or_location", *choices, place=code, tote=tote.letter, order=tote.order)


def return_goods(state: PickState, context: Context) -> Result:
    """Record that goods of orders that left the pick are put back; close the job if nothing is left to undo."""
    resolved = excess_and_goods_for_others.resolve_excess(state)
    movable = tuple(goods for goods in state.to_return if goods.is_unassigned or goods.is_for_other_picker)
    put_down = tuple(goods for goods in state.to_return if goods.reason == PUT_DOWN_BY_OTHER)
    kept = put_down if len(put_down) < len(state.to_return) else ()  # this has its own answer, after the others
    verdict = Verdict(GOOD, msg("pick.choice_is_put_down" if put_down and not kept else "pick.choice_put_back"))
    state = state._replace(to_return=kept, choices=(), phase=state.phase if state.totes else "done")
    if movable:
        state = add_undo_step(state, UndoStep(returned=movable))
        return Turn(
            state,
            (*resolved, *picked_quantities_and_operations.return_goods(movable, context.store, context.user)),
            verdict,
        )
    return Turn(state, resolved, verdict) if state.totes or kept else Turn(state, (*resolved, Close(verdict)))


def undo_return(state: PickState, step: UndoStep, context: Context) -> Result:
    """Take back into hand what was put back, or what was put down for another picker."""
    if step.location:
        return excess_and_goods_for_others.undo_put_down_for_others(state, step, context)
    writes = picked_quantities_and_operations.return_goods(step.returned, context.store, context.user, is_undo=True)
    source = names_in_messages.list_locations(goods.location for goods in step.returned)
    return excess_and_goods_for_others.take_back_into_hand(state, step, writes, source)


def mark_not_put_down(before: PickState, turn: Result, context: Context) -> Result:
    """Mark orders that are left with goods not put down, and unmark those whose goods are put down."""
    notes: list[LocalNote] = []
    if any(isinstance(effect, Close) for effect in turn.effects):
        notes = [
            LocalNote(stops_and_goods_in_hand.NOT_PUT_DOWN, order, context.user)
            for order in stops_and_goods_in_hand.orders_not_put_down(turn.state)
        ]
    elif any(isinstance(effect, Write) and effect.operation == "create-movement" for effect in turn.effects):
        in_hand = [
            tote.order for tote in turn.state.totes if stops_and_goods_in_hand.pieces_in_hand(before, tote.order)
        ]
        notes = [
            LocalNote(stops_and_goods_in_hand.NOT_PUT_DOWN, order, "")
            for order in in_hand
            if not stops_and_goods_in_hand.pieces_in_hand(turn.state, order)
        ]
    return turn._replace(effects=(*notes, *turn.effects)) if notes else turn
