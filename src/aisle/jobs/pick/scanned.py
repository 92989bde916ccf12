"""What a scan is in a round: a product to take, the place of a stop or of what is put down, an order of the round or
another one.
"""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.base import Close, Context, Start, Turn
from aisle.jobs.numbers import named_apart, what_is
from aisle.jobs.pick import passed as pick_passed
from aisle.jobs.pick import picking, taken_at
from aisle.jobs.pick import put as pick_put
from aisle.jobs.pick import take as pick_take
from aisle.jobs.pick import why as pick_why
from aisle.jobs.pick.picking import Picking, Way
from aisle.jobs.pick.why import wrong
from aisle.jobs.view import GOOD, INFO, WRONG, Verdict, msg
from aisle.scan.meaning import LOCATION, ORDER, PERSON, PRODUCT, REFERENCE, Meaning

Result = Turn[Picking]


def thing(state: Picking, meanings: tuple[Meaning, ...], context: Context) -> Result:
    """The first meaning that these orders can use wins; otherwise the first says why not."""
    if taken_at.product_asked(state):
        meanings = tuple(each for each in meanings if not taken_at.is_kept(state, each))
        if not meanings:
            return taken_at.first(state)
    usable = _usable(state, meanings)
    place = place_of(meanings)
    if place and (not usable or (state.needs_place and _is_on_the_way(state, place))):
        return _at_place(state, place, context)
    if len(usable) > 1:
        return wrong(state, "pick.which", *map(_this_one, named_apart(usable)), code=usable[0].code or usable[0].key)
    first = usable[0] if usable else meanings[0]
    if first.kind == PRODUCT:
        return pick_take.product(state, first, context)
    if first.kind in (ORDER, REFERENCE):
        return _other_order(state, first)
    if first.kind == PERSON:
        return wrong(state, "pick.person", name=first.label or first.key)
    return Turn(state._replace(ways=()), (), Verdict(WRONG, msg("count_log.not_this", what=what_is(first))))


def _this_one(meaning: Meaning) -> Way:
    quantity = meaning.quantity if meaning.explicit else Decimal(0)
    return Way("this_one", meaning.key, meaning.label, quantity=quantity)


def _is_on_the_way(state: Picking, place: Meaning) -> bool:
    """Whether a line of these orders is taken there."""
    return any(take.place.casefold() == place.key.casefold() for take in state.takes)


def place_of(meanings: tuple[Meaning, ...]) -> Meaning | None:
    """The place among these meanings."""
    return next((m for m in meanings if m.kind == LOCATION), None)


def _usable(state: Picking, meanings: tuple[Meaning, ...]) -> list[Meaning]:
    """Products of these orders: the one of the stop, else those that are still open, else any."""
    products = [m for m in meanings if m.kind == PRODUCT]
    here = [m for m in products if state.take and m.key == state.take.product]
    if here:
        return here[:1]
    wanted = [m for m in products if any(take.product == m.key for take in state.takes)]
    open_ = {take.product for take in state.takes if take.open}
    return [m for m in wanted if m.key in open_] or wanted[:1]


def _at_place(state: Picking, meaning: Meaning, context: Context) -> Result:
    if state.phase == "done":
        return pick_put.at_place(state, meaning, context)
    if way := taken_at.at_place(state, meaning.key):
        return pick_take.at_place(state, way, context)
    if taken_at.product_asked(state):
        return pick_why.elsewhere(state, meaning)
    code = meaning.key.casefold()
    here = [index for index, take in enumerate(state.takes) if take.open and take.place.casefold() == code]
    if here:
        index = state.at if state.at in here else here[0]
        ready = picking.go_to(state._replace(place=meaning.key, ways=()), index)
        return Turn(ready, (), Verdict(GOOD, msg("pick.at_place", place=meaning.key, label=state.takes[index].label)))
    if pick_passed.is_meant(state):
        return pick_put.at_place(state, meaning, context)
    take = state.take
    if take is None:
        return Turn(state)
    if not take.place:
        told = msg("pick.no_place", place=meaning.key, label=take.label)
        return Turn(state._replace(ways=()), (), Verdict(INFO, told))
    return pick_why.elsewhere(state, meaning)


def _other_order(state: Picking, meaning: Meaning) -> Result:
    tote = picking.tote_of(state, meaning.key)
    if tote and not state.many:
        return Turn(state._replace(ways=()), (), Verdict(INFO, msg("pick.this_order", order=state.order)))
    if tote:
        return pick_put.named(state, tote)
    if state.phase == "done":
        return Turn(state, (Close(start=Start("pick", {"order_number": meaning.key})),))
    ways = pick_why.other_ways(state, meaning.key)
    if state.many:
        return wrong(state, "pick.not_of_round", *ways, other=meaning.key)
    return wrong(state, "pick.other_order", *ways, other=meaning.key, order=state.order)
