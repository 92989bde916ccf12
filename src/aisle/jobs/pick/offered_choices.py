"""The ways on that are open in a round, their letters, and what a number means beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from aisle.jobs import quantities, store_time
from aisle.jobs.choice_keys import assign_letters
from aisle.jobs.job import Effect, Event, Query, Turn
from aisle.jobs.pick import goods_in_hand, pick_state
from aisle.jobs.pick.goods_in_hand import has_goods_to_put_down, pieces_in_hand
from aisle.jobs.pick.pick_state import PickChoice, PickState, StoreLookup
from aisle.jobs.pick.stops import PickLine, is_pool_allowed, same_location
from aisle.jobs.pick.undo import moved_stop_step
from aisle.jobs.quantities import to_decimal
from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg
from aisle.scan.meaning import LOCATION, PRODUCT, Match, Quantity, Scan

ASSIGNED_CHOICES = ("take_in", "later")
"""Kinds of ways on from the news that somebody has given an order."""


COMMAND_LETTERS = "nsuiw"
"""The letters of a stop that choose nothing."""


def is_quantity_open(state: PickState) -> bool:
    """Whether a number says how many of the stop are in its totes, whatever is asked beside it."""
    return state.current_line is not None and state.is_quantity_open and not state.to_return


def choice_letters(state: PickState) -> str:
    """The letters of the choices, wherever goods are taken or in hand; else they are numbered."""
    return assign_letters((way.kind for way in _all_choices(state)), COMMAND_LETTERS) if _use_letters(state) else ""


def _use_letters(state: PickState) -> bool:
    return bool(state.to_return) or (state.current_line is not None and state.phase != "wait")


def is_number_asked(state: PickState) -> bool:
    """Whether it is asked if so many are meant, or what digits are the number of."""
    return any(way.kind == "amount" for way in state.choices)


def return_choices(state: PickState) -> tuple[PickChoice, ...]:
    """What may have become of the goods in hand of orders that have left."""
    back = PickChoice("put_back")
    return (PickChoice("handed_over"), back) if any(each.is_for_other_picker for each in state.to_return) else (back,)


def open_choices(state: PickState) -> tuple[PickChoice, ...]:
    """The ways on that are open now; those for which there are no letters left wait until others are answered."""
    ways = _all_choices(state)
    return ways[: len(choice_letters(state))] if _use_letters(state) else ways


def _all_choices(state: PickState) -> tuple[PickChoice, ...]:
    if state.to_return:
        return (*return_choices(state), *state.choices)
    over = () if state.is_postponed else state.take_over_choices
    if state.choices or over:
        return (*state.choices, *over) if state.is_after_choices else (*over, *state.choices)
    if state.phase == "wait":
        return (PickChoice("go_on"),) if any(tote.has_lines for tote in state.totes) else ()
    if can_be_handed_over(state):
        return (PickChoice("finish", state.order),)
    if state.phase != "done" or not state.is_batch or state.only_order:
        return ()
    lying = [tote.order for tote in state.totes if has_goods_to_put_down(state, tote.order)]
    return tuple(PickChoice("tote", order) for order in lying) if len(lying) > 1 else ()


def can_be_handed_over(state: PickState) -> bool:
    """Whether one order is picked, and waits for its customer: put down, or in a store that keeps no places."""
    if state.phase != "done" or state.is_batch or len(state.totes) != 1 or not any(take.picked for take in state.lines):
        return False
    return not pieces_in_hand(state) or not any(take.location or take.put_down_at for take in state.lines)


def postpone_questions(before: PickState, state: PickState, event: Event) -> PickState:
    """Whoever scans or types on has not answered what is asked meanwhile: a quantity that he types then is one, and
    gives no order away."""
    fresh = not set(state.take_over_choices) <= set(before.take_over_choices)
    aside = bool(state.take_over_choices) and not fresh and (state.is_postponed or isinstance(event, Scan | Quantity))
    return state if aside == state.is_postponed else state._replace(is_postponed=aside)


def keep_choice_order(before: PickState, state: PickState) -> PickState:
    """What is asked first keeps its numbers, whatever is asked beside it later."""
    came = bool(state.take_over_choices and not before.take_over_choices)
    behind = bool(state.take_over_choices and state.choices and (before.choices if came else before.is_after_choices))
    return state if behind == state.is_after_choices else state._replace(is_after_choices=behind)


def remove_answered(state: PickState, choice: PickChoice) -> PickState:
    """One of the questions that stay asked has its answer; the others are still asked."""
    of_given = choice.kind in ASSIGNED_CHOICES
    over = tuple(each for each in state.take_over_choices if (each.kind in ASSIGNED_CHOICES) != of_given)
    more = tuple(
        each
        for each in state.take_over_choices
        if choice.kind == "take_in" and each.kind == "take_in" and each != choice
    )
    return state._replace(take_over_choices=(*over, *more, *((PickChoice("later"),) if more else ())))


def ask_postponed(state: PickState) -> Turn[PickState]:
    """What was put aside is asked once more, and a number answers it."""
    again = state._replace(is_postponed=False, is_quantity_open=False, choices=())
    return Turn(again, (), Verdict(ASK, msg("pick.asked_again", order=state.take_over_choices[0].key)))


PICKED_FROM = "taken_at"
"""The kind of the ways on that say where goods were taken."""

CHANGE_LOCATION = "take_here"
"""The kind of the way on that goods are taken at another place, which was scanned."""

LocationPool = tuple[str, int]
"""A place, and the pool that goods come from there; 0 where nobody says."""


def ask_location(state: PickState, match: Match, open_lines: Sequence[int]) -> Turn[PickState] | None:
    """Asks where the goods were taken; None where only one place is possible. `open_` are the lines that they fill."""
    first = state.lines[open_lines[0]]
    if not first.location or (state.verifies_locations and not _is_location_unknown(state, first)):
        return None
    places = _possible_locations(state, first)
    if len(places) < 2:
        return None
    quantity = _scanned_quantity(state, match, first)
    label = match.label or first.label
    ways = tuple(PickChoice(PICKED_FROM, place, label, pool, quantity, product=first.product) for place, pool in places)
    text = msg("pick.taken_where", label=label, quantity=quantity) if quantity else msg("pick.weigh_where", label=label)
    return Turn(state._replace(choices=ways), (), Verdict(ASK, text))


def product_in_question(state: PickState) -> str:
    """The product of which it is asked where it was taken; empty for none."""
    return next((way.product for way in state.choices if way.kind == PICKED_FROM), "")


def keeps_question(state: PickState, match: Match) -> bool:
    """Whether a scan leaves the question open: it is neither the product that is asked about nor a place."""
    product = product_in_question(state)
    return bool(product) and match.kind != LOCATION and (match.kind, match.key) != (PRODUCT, product)


def repeat_location_question(state: PickState) -> Turn[PickState]:
    """Something else was said: first it is to be said where the goods were taken."""
    label = next(way.label for way in state.choices if way.kind == PICKED_FROM)
    return Turn(state, (), Verdict(WRONG, msg("pick.where_first", label=label)))


def choice_for_location(state: PickState, location: str) -> PickChoice | None:
    """The way on that a scan of this place answers."""
    return next((way for way in state.choices if way.kind == PICKED_FROM and same_location(way.key, location)), None)


def choice_with_location(state: PickState, location: str, pool: int) -> PickChoice:
    """The way on that they were taken at a place which nobody had thought of."""
    way = next(way for way in state.choices if way.kind == PICKED_FROM)
    return way._replace(key=location, pool=pool)


def ask_with_location(state: PickState, choice: PickChoice) -> Turn[PickState]:
    """Asks once more, with one more place."""
    told = msg("pick.taken_where", label=choice.label, quantity=choice.quantity)
    if not choice.quantity:
        told = msg("pick.weigh_where", label=choice.label)
    return Turn(state._replace(choices=(*state.choices, choice)), (), Verdict(ASK, told))


def set_total(state: PickState, value: Decimal) -> Turn[PickState] | None:
    """Keeps a total that was typed for the place that is still asked; None where no place is."""
    ways = _location_choices(state)
    if not ways:
        return None
    rests = [_quantity_there(state, way, value) for way in ways]
    label = ways[0].label
    if not all(rests):
        told = Verdict(WRONG, msg("pick.where_first_number", value=value, label=label))
        return Turn(state, (), told)
    kept = tuple(way._replace(quantity=rest) for way, rest in zip(ways, rests, strict=True))
    told = Verdict(ASK, msg("pick.total_where", total=value, label=label))
    return Turn(state._replace(choices=kept), (), told)


def _location_choices(state: PickState) -> list[PickChoice]:
    """The ways on that say a place; whether goods are taken at the place that was scanned is which of two it was."""
    ways = [way for way in state.choices if way.kind == PICKED_FROM]
    here, take = next((way for way in state.choices if way.kind == CHANGE_LOCATION), None), state.current_line
    if ways or here is None or take is None:
        return ways
    way = PickChoice(PICKED_FROM, take.location, take.label, take.pool, product=take.product)
    return [way, way._replace(key=here.key, pool=here.pool)]


def _quantity_there(state: PickState, choice: PickChoice, value: Decimal) -> Decimal:
    """What was taken at that place so that it is `value` in all; 0 where that cannot be."""
    lines = [index for index in pick_state.lines_with_product(state, choice.product) if state.lines[index].is_open]
    index = next(
        (each for each in lines if same_location(state.lines[each].location, choice.key)), next(iter(lines), -1)
    )
    if index < 0:
        return Decimal(0)
    done, of, _ = pick_state.sum_lines(state.lines[each] for each in pick_state.lines_of_stop(state, index))
    is_whole = state.lines[index].allows_decimals or not value % 1
    return value - done if is_whole and done < value <= of else Decimal(0)


def _is_location_unknown(state: PickState, line: PickLine) -> bool:
    """Whether two places were scanned, and nobody has said at which of them the goods of the stop were taken."""
    if product_in_question(state) == line.product:
        return True
    stop, is_asked = state.current_line, any(way.kind == CHANGE_LOCATION for way in state.choices)
    return (
        is_asked and stop is not None and stop.product == line.product and same_location(state.location, stop.location)
    )


def go_to_chosen_location(state: PickState, choice: PickChoice) -> PickState:
    """The picker stands at the stop of these goods, which is at the place that was said."""
    state = state._replace(location=choice.key) if state.verifies_locations else state
    lines = [index for index in pick_state.lines_with_product(state, choice.product) if state.lines[index].is_open]
    if not lines:
        return state
    there = [index for index in lines if same_location(state.lines[index].location, choice.key)]
    if there:
        return pick_state.go_to_line(state, there[0])
    index = lines[0]
    stop = [each for each in pick_state.lines_of_stop(state, index) if state.lines[each].is_open]
    line = state.lines[index].order, state.lines[index].line
    takes = list(state.lines)
    for each in stop:
        takes[each] = takes[each]._replace(location=choice.key, pool=choice.pool or takes[each].pool, barred_pools=())
    state = pick_state.add_undo_step(state._replace(choices=()), moved_stop_step(state.lines[each] for each in stop))
    moved = pick_state.with_lines(state, takes)
    return pick_state.go_to_line(
        moved, next(at for at, take in enumerate(moved.lines) if (take.order, take.line) == line)
    )


def _scanned_quantity(state: PickState, match: Match, line: PickLine) -> Decimal:
    """What was scanned so far of these goods; 0 where it has still to be weighed."""
    if line.allows_decimals and not match.is_explicit:
        return Decimal(0)
    before = next(
        (way.quantity for way in state.choices if way.kind == PICKED_FROM and way.product == line.product), Decimal(0)
    )
    return before + match.quantity


def _possible_locations(state: PickState, line: PickLine) -> list[LocationPool]:
    """Where these goods may come from: the place on the screen first, then those that the walk names."""
    takes = [take for take in state.lines if take.product == line.product]
    stop = state.current_line
    found: list[LocationPool] = []
    scanned = [(way.key, way.pool) for way in state.choices if way.kind == CHANGE_LOCATION]
    if stop and stop.product == line.product:
        found = [(stop.location, stop.pool), *(scanned if stop.location else ())]
    elif stop and stop.location and not same_location(stop.location, line.location):
        found = [place for take in takes if take.is_open for place in _locations_of_line(state, take)]
        found = [*_current_location(state, stop, line), *found]
    before = [(way.key, way.pool) for way in state.choices if way.kind == PICKED_FROM and way.product == line.product]
    return _distinct_locations([*before, *found])


def _locations_of_line(state: PickState, line: PickLine) -> list[LocationPool]:
    """The place of a line, where it was taken before somebody said that it is taken elsewhere, and where it was."""
    was = [
        (stood.location, stood.pool)
        for step in reversed(state.history)
        for stood in step.sources_before
        if (stood.order, stood.line) == (line.order, line.line) and stood.location
    ]
    return [(line.location, line.pool), *was]


def _current_location(state: PickState, stop: PickLine, line: PickLine) -> list[LocationPool]:
    """The place on the screen, where it was scanned or some of the goods lie there."""
    lies = next((pool for place, pool in line.stocked_locations if same_location(place, stop.location)), None)
    if lies is None and not same_location(state.location, stop.location):
        return []
    return [(stop.location, lies or line.pool)]


def _distinct_locations(locations: Iterable[LocationPool]) -> list[LocationPool]:
    """Each place once, the first that was said of it."""
    found: dict[str, LocationPool] = {}
    for place, pool in locations:
        if place:
            found.setdefault(place.casefold(), (place, pool))
    return list(found.values())


Result = Turn[PickState]

FOREIGN_QUERY, STOCK_THERE_QUERY, LOCATION_QUERY, NUMBER_QUERY = "stranger", "lying", "spot", "named"
"""Named reads that a why-not asks, and the ids of their queries."""

MAX_OTHER_ORDERS = 2
"""Other orders that are offered for a product."""


def reject_input(state: PickState, id_: str, *ways: PickChoice, **args: str | int | Decimal) -> Result:
    """Not accepted; where there are ways on, they are asked about."""
    return Turn(state._replace(choices=ways), (), Verdict(ASK if ways else WRONG, msg(id_, **args)))


def reject_too_many(state: PickState, value: Decimal, *ways: PickChoice) -> Result:
    """More of the stop than was ordered; `ways` are what else was meant."""
    take = state.current_line
    if take is None:
        return Turn(state)
    _, of, _ = pick_state.sum_lines(pick_state.current_stop_lines(state))
    rest, stop = PickChoice("take_rest", take.product), pick_state.lines_of_stop(state, state.current_index)
    elsewhere = any(
        index not in stop and state.lines[index].is_open for index in pick_state.lines_with_product(state, take.product)
    )
    if elsewhere and take.location:
        here: dict[str, str | Decimal] = {"label": take.label, "rest": of, "place": take.location}
        return reject_input(state, "pick.over_here", rest, *ways, quantity=value, **here)
    return reject_input(state, "pick.over_set", rest, *ways, label=take.label, quantity=value, of=of)


def query_number(state: PickState, value: Decimal, code: str) -> Result | None:
    """Asks what digits are the number of; None where they can only be a quantity.

    More than was ordered stands as too many until the answer comes: so a journal of before it was asked is replayed to
    the same.
    """
    query = quantities.query_by_number(value, code)
    if query is None:
        return None
    asked = StoreLookup(NUMBER_QUERY, f"{value:f}", code=str(query.args["code"]))
    state = reject_too_many(state, value).state if value > pick_state.ordered_at_stop(state) else state
    return Turn(state._replace(lookup=asked), (query,))


def no_quantity_id(state: PickState) -> str:
    """What is asked for instead of a quantity."""
    if state.step_name == "pick.done":
        return "pick.no_quantity_done" if goods_in_hand.has_goods_to_put_down(state) else "pick.no_quantity_over"
    return "pick.no_quantity_place" if state.step_name == "pick.place" else "pick.no_quantity"


def query_store(state: PickState, kind: str, match: Match, **args: Any) -> Result:
    """What the store's data says of a thing decides what is answered."""
    asked = StoreLookup(kind, match.key, match.label or match.key, match.code or match.key)
    effects: tuple[Effect, ...] = (Query(kind, kind, args),)
    return Turn(state._replace(lookup=asked, choices=()), effects)


def query_foreign_product(state: PickState, match: Match) -> Result:
    """A product that is on none of these orders."""
    orders = [tote.order for tote in state.totes]
    products = list(dict.fromkeys(take.product for take in state.lines if take.is_open))
    return query_store(state, FOREIGN_QUERY, match, product_number=match.key, orders=orders, products=products)


def explain_foreign_product(state: PickState, row: Mapping[str, Any], now: str) -> Result:
    """What it is, and why it is not wanted here."""
    asked = state.lookup
    state = state._replace(lookup=StoreLookup())
    look_up = PickChoice("look_up", asked.key)
    wholes, parts = _linked_choices(row, "wholes"), _linked_choices(row, "parts")
    if wholes:
        return _reject(state, msg("pick.part_of", label=asked.label, whole=wholes[0].label), *wholes, look_up)
    if parts:
        return _reject(state, msg("pick.is_set", label=asked.label, part=parts[0].label), *parts, look_up)
    if row.get("is_template"):
        return _reject(state, msg("pick.template", label=asked.label), look_up)
    ended = _end_date(row, now)
    if ended or row.get("is_active") is False:
        return _reject(state, *_replacement(asked, row, ended), look_up)
    needing = [str(each["order_number"]) for each in row.get("orders") or ()][:MAX_OTHER_ORDERS]
    if needing:
        ways = [way for order in needing for way in other_order_choices(state, order)]
        return _reject(state, msg("pick.for_other", label=asked.label, other=needing[0]), *ways, look_up)
    many = state.is_batch or len(state.totes) != 1
    here = {} if many else {"order": state.order}
    return _reject(
        state,
        msg("pick.not_in_round" if many else "pick.not_here", label=asked.label, code=asked.code, **here),
        look_up,
    )


def _reject(state: PickState, message: Msg, *ways: PickChoice) -> Result:
    return Turn(state._replace(choices=ways[:9]), (), Verdict(WRONG, message))


def _linked_choices(row: Mapping[str, Any], name: str) -> list[PickChoice]:
    """Products of the orders that it is a part of, or that are parts of it: it may be taken as one of them."""
    return [PickChoice("this_one", str(each["product_number"]), str(each["label"])) for each in row.get(name) or ()]


def _end_date(row: Mapping[str, Any], now: str) -> str:
    """The day since which it is not sold any more, ISO 8601; empty while it is."""
    said, today = str(row.get("deprecation_date") or ""), store_time.day_in_store(now)
    day = store_time.named_day(said) or store_time.day_in_store(said)
    return "" if day is None or today is None or day > today else day.isoformat()


def _replacement(lookup: StoreLookup, row: Mapping[str, Any], end_date: str) -> tuple[Msg, *tuple[PickChoice, ...]]:
    referral = str(row.get("referral") or "")
    label = str(row.get("referral_label") or referral)
    if referral:
        return msg("pick.replaced", label=lookup.label, referral=label), PickChoice("look_up", referral, label)
    if end_date:
        return (msg("pick.ended", label=lookup.label, at=end_date),)
    return (msg("pick.not_sold", label=lookup.label),)


def other_order_choices(state: PickState, order: str) -> list[PickChoice]:
    """What can be done with an order that is not in the round: leave for one alone, or take it in."""
    ways = [] if state.is_batch else [PickChoice("leave_for", order)]
    return [*ways, PickChoice("join", order)] if pick_state.next_tote_letter(state) else ways


def query_other_location(state: PickState, match: Match) -> Result:
    """A place where the stop is not; what of it lies there says whether it may be taken there."""
    take = state.current_line
    assert take is not None
    product = product_in_question(state)
    turn = query_store(state, STOCK_THERE_QUERY, match, product_number=product or take.product, location_code=match.key)
    return turn._replace(state=turn.state._replace(choices=state.choices)) if product else turn


def ask_change_location(state: PickState, row: Mapping[str, Any]) -> Result:
    """Take it here? Not from a pool that is not for this order."""
    take, place = state.current_line, state.lookup.key
    if take is None:
        return Turn(state._replace(lookup=StoreLookup()))
    pool, wrong_pool = allowed_pool(state, row)
    state = state._replace(lookup=StoreLookup())
    if wrong_pool:
        return Turn(state._replace(choices=(PickChoice("look_up", take.product),)), (), Verdict(ASK, wrong_pool))
    way = PickChoice(CHANGE_LOCATION, place, pool=pool)
    return reject_input(state, "pick.wrong_place", way, scanned=place, wanted=take.location, label=take.label)


def allowed_pool(state: PickState, row: Mapping[str, Any]) -> tuple[int, Msg | None]:
    """The pool that goods of a place which was asked about come from, or why none of them is for this order."""
    product = product_in_question(state)
    take = next((each for each in state.lines if each.product == product and each.is_open), state.current_line)
    assert take is not None
    lying = row.get("pools") or {}
    stocked = sorted(int(pool) for pool, quantity in lying.items() if to_decimal(quantity) > 0)
    if not is_pool_allowed(take.pools, lying):
        args = {
            "pool": goods_in_hand.format_pool_names(state, stocked),
            "allowed": goods_in_hand.format_pool_names(state, take.pools),
        }
        return 0, msg("pick.wrong_pool", place=state.lookup.key, label=take.label, **args)
    return next((pool for pool in (take.pool, *take.pools) if pool in stocked), take.pool), None
