"""Finds where a product was taken that is scanned while the screen shows another stop, and asks where two are possible.

A scan of a product says nothing of its place. At the stop on the screen it is the place on the screen. For another
stop it is the place of that stop, unless the goods may come from a second one: then nothing is booked before it is
said. Where places are verified, the scan of the place says it. A number while it is asked is the total to be booked
at the place that is chosen; it chooses none. The scan of a place is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from aisle.jobs.base import Turn
from aisle.jobs.pick import picking
from aisle.jobs.pick.picking import Picking, Way
from aisle.jobs.pick.undo import moved_from
from aisle.jobs.pick.walk import Take, same_location
from aisle.jobs.view import ASK, WRONG, Verdict, msg
from aisle.scan.meaning import LOCATION, PRODUCT, Meaning

KIND = "taken_at"
"""The kind of the ways on that say where goods were taken."""

HERE = "take_here"
"""The kind of the way on that goods are taken at another place, which was scanned."""

Place = tuple[str, int]
"""A place, and the pool that goods come from there; 0 where nobody says."""


def asked(state: Picking, meaning: Meaning, open_: Sequence[int]) -> Turn[Picking] | None:
    """Asks where the goods were taken; None where only one place is possible. `open_` are the lines that they fill."""
    first = state.takes[open_[0]]
    if not first.place or (state.verified and not _is_unsaid(state, first)):
        return None
    places = _possible(state, first)
    if len(places) < 2:
        return None
    quantity = _quantity(state, meaning, first)
    label = meaning.label or first.label
    ways = tuple(Way(KIND, place, label, pool, quantity, product=first.product) for place, pool in places)
    text = msg("pick.taken_where", label=label, quantity=quantity) if quantity else msg("pick.weigh_where", label=label)
    return Turn(state._replace(ways=ways), (), Verdict(ASK, text))


def product_asked(state: Picking) -> str:
    """The product of which it is asked where it was taken; empty for none."""
    return next((way.product for way in state.ways if way.kind == KIND), "")


def is_kept(state: Picking, meaning: Meaning) -> bool:
    """Whether a scan leaves the question open: it is neither the product that is asked about nor a place."""
    product = product_asked(state)
    return bool(product) and meaning.kind != LOCATION and (meaning.kind, meaning.key) != (PRODUCT, product)


def first(state: Picking) -> Turn[Picking]:
    """Something else was said: first it is to be said where the goods were taken."""
    label = next(way.label for way in state.ways if way.kind == KIND)
    return Turn(state, (), Verdict(WRONG, msg("pick.where_first", label=label)))


def at_place(state: Picking, place: str) -> Way | None:
    """The way on that a scan of this place answers."""
    return next((way for way in state.ways if way.kind == KIND and same_location(way.key, place)), None)


def another(state: Picking, place: str, pool: int) -> Way:
    """The way on that they were taken at a place which nobody had thought of."""
    way = next(way for way in state.ways if way.kind == KIND)
    return way._replace(key=place, pool=pool)


def asked_too(state: Picking, way: Way) -> Turn[Picking]:
    """Asks once more, with one more place."""
    told = msg("pick.taken_where", label=way.label, quantity=way.quantity)
    if not way.quantity:
        told = msg("pick.weigh_where", label=way.label)
    return Turn(state._replace(ways=(*state.ways, way)), (), Verdict(ASK, told))


def totalled(state: Picking, value: Decimal) -> Turn[Picking] | None:
    """Keeps a total that was typed for the place that is still asked; None where no place is."""
    ways = _open_ways(state)
    if not ways:
        return None
    rests = [_rest(state, way, value) for way in ways]
    label = ways[0].label
    if not all(rests):
        told = Verdict(WRONG, msg("pick.where_first_number", value=value, label=label))
        return Turn(state, (), told)
    kept = tuple(way._replace(quantity=rest) for way, rest in zip(ways, rests, strict=True))
    told = Verdict(ASK, msg("pick.total_where", total=value, label=label))
    return Turn(state._replace(ways=kept), (), told)


def _open_ways(state: Picking) -> list[Way]:
    """The ways on that say a place; whether goods are taken at the place that was scanned is which of two it was."""
    ways = [way for way in state.ways if way.kind == KIND]
    here, take = next((way for way in state.ways if way.kind == HERE), None), state.take
    if ways or here is None or take is None:
        return ways
    way = Way(KIND, take.place, take.label, take.pool, product=take.product)
    return [way, way._replace(key=here.key, pool=here.pool)]


def _rest(state: Picking, way: Way, value: Decimal) -> Decimal:
    """What was taken at that place so that it is `value` in all; 0 where that cannot be."""
    lines = [index for index in picking.lines_of(state, way.product) if state.takes[index].open]
    index = next((each for each in lines if same_location(state.takes[each].place, way.key)), next(iter(lines), -1))
    if index < 0:
        return Decimal(0)
    done, of, _ = picking.total(state.takes[each] for each in picking.stop_at(state, index))
    is_whole = state.takes[index].decimal or not value % 1
    return value - done if is_whole and done < value <= of else Decimal(0)


def _is_unsaid(state: Picking, take: Take) -> bool:
    """Whether two places were scanned, and nobody has said at which of them the goods of the stop were taken."""
    if product_asked(state) == take.product:
        return True
    stop, is_asked = state.take, any(way.kind == HERE for way in state.ways)
    return is_asked and stop is not None and stop.product == take.product and same_location(state.place, stop.place)


def chosen(state: Picking, way: Way) -> Picking:
    """The picker stands at the stop of these goods, which is at the place that was said."""
    state = state._replace(place=way.key) if state.verified else state
    lines = [index for index in picking.lines_of(state, way.product) if state.takes[index].open]
    if not lines:
        return state
    there = [index for index in lines if same_location(state.takes[index].place, way.key)]
    if there:
        return picking.go_to(state, there[0])
    index = lines[0]
    stop = [each for each in picking.stop_at(state, index) if state.takes[each].open]
    line = state.takes[index].order, state.takes[index].line
    takes = list(state.takes)
    for each in stop:
        takes[each] = takes[each]._replace(place=way.key, pool=way.pool or takes[each].pool, barred=())
    state = picking.did(state._replace(ways=()), moved_from(state.takes[each] for each in stop))
    moved = picking.with_takes(state, takes)
    return picking.go_to(moved, next(at for at, take in enumerate(moved.takes) if (take.order, take.line) == line))


def _quantity(state: Picking, meaning: Meaning, take: Take) -> Decimal:
    """What was scanned so far of these goods; 0 where it has still to be weighed."""
    if take.decimal and not meaning.explicit:
        return Decimal(0)
    before = next((way.quantity for way in state.ways if way.kind == KIND and way.product == take.product), Decimal(0))
    return before + meaning.quantity


def _possible(state: Picking, first: Take) -> list[Place]:
    """Where these goods may come from: the place on the screen first, then those that the walk names."""
    takes = [take for take in state.takes if take.product == first.product]
    stop = state.take
    found: list[Place] = []
    scanned = [(way.key, way.pool) for way in state.ways if way.kind == HERE]
    if stop and stop.product == first.product:
        found = [(stop.place, stop.pool), *(scanned if stop.place else ())]
    elif stop and stop.place and not same_location(stop.place, first.place):
        found = [place for take in takes if take.open for place in _walked(state, take)]
        found = [*_on_screen(state, stop, first), *found]
    before = [(way.key, way.pool) for way in state.ways if way.kind == KIND and way.product == first.product]
    return _apart([*before, *found])


def _walked(state: Picking, take: Take) -> list[Place]:
    """The place of a line, where it was taken before somebody said that it is taken elsewhere, and where it was."""
    was = [
        (stood.place, stood.pool)
        for step in reversed(state.history)
        for stood in step.stood
        if (stood.order, stood.line) == (take.order, take.line) and stood.place
    ]
    return [(take.place, take.pool), *was]


def _on_screen(state: Picking, stop: Take, first: Take) -> list[Place]:
    """The place on the screen, where it was scanned or some of the goods lie there."""
    lies = next((pool for place, pool in first.lies if same_location(place, stop.place)), None)
    if lies is None and not same_location(state.place, stop.place):
        return []
    return [(stop.place, lies or first.pool)]


def _apart(places: Iterable[Place]) -> list[Place]:
    """Each place once, the first that was said of it."""
    found: dict[str, Place] = {}
    for place, pool in places:
        if place:
            found.setdefault(place.casefold(), (place, pool))
    return list(found.values())
