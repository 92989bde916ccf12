"""Questions about locations during a pick: where the goods were picked, and whether a stop is picked elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import product_rows_and_weekly_sales
from aisle.jobs.job import Event, Turn, reply
from aisle.jobs.names_in_messages import pool_name
from aisle.jobs.pick import picked_quantities_and_operations, stops_and_goods_in_hand
from aisle.jobs.pick.pick_line import PickLine, is_pool_allowed, same_location
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result, StoreLookup
from aisle.jobs.pick.rejected_scans_and_quantities import query_store, reject_input
from aisle.jobs.tote_labels_and_repeated_reads import LabelRead
from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import LOCATION, PRODUCT, Back, Command, Match, Scan

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import StockAtLocationRow

PICKED_FROM = "taken_at"
"""Kind of the choices that name the location where goods were picked."""

CHANGE_LOCATION = "take_here"
"""Kind of the choice to pick the stop from another location, which was scanned."""
LocationPool = tuple[str, int]
"""Location and the stock pool that goods come from there; 0 if the pool is unknown."""


def ask_location(state: PickState, match: Match, open_lines: Sequence[int]) -> Result | None:
    """Ask where the goods were picked; return None if only one location is possible. `open_lines` are the indexes of
    the lines that the goods fill."""
    first = state.lines[open_lines[0]]
    if not first.location or (state.verifies_locations and not _is_location_unknown(state, first)):
        return None
    locations = _possible_locations(state, first)
    if len(locations) < 2:
        return None
    quantity = _scanned_quantity(state, match, first)
    label = match.label or first.label
    choices = tuple(
        PickChoice(PICKED_FROM, location, label, pool, quantity, product=first.product) for location, pool in locations
    )
    text = (
        msg("pick.which_location", label=label, quantity=quantity)
        if quantity
        else msg("pick.weigh_which_location", label=label)
    )
    return Turn(state._replace(choices=choices, is_pack_asked=not quantity), (), Verdict(ASK, text))


def product_in_question(state: PickState) -> str:
    """Return the product whose location is asked for; empty if none."""
    return next((choice.product for choice in state.choices if choice.kind == PICKED_FROM), "")


def scanned_locations(state: PickState) -> tuple[PickChoice, ...]:
    """Return the choice to pick at another location that was scanned."""
    return tuple(choice for choice in state.choices if choice.kind == CHANGE_LOCATION)


def offer_location(state: PickState, location: str, pool: int) -> PickState:
    """Offer another location that was scanned, so that it is asked where the next goods were picked."""
    if state.current_line is None or not state.current_line.location:
        return state
    return state._replace(choices=(PickChoice(CHANGE_LOCATION, location, pool=pool),))


def keep_scanned_location(before: PickState, state: PickState, event: Event) -> PickState:
    """Keep the offer of a scanned location until goods come, the stop changes, or its own location is scanned."""
    held, was, now = scanned_locations(before), before.current_line, state.current_line
    is_dropped = isinstance(event, Back) or (isinstance(event, Command) and event.letter == "u")
    if not held or was is None or now is None or is_dropped or product_in_question(state):
        return state
    is_at_stop = isinstance(event, Scan) and any(
        each.kind == LOCATION and same_location(each.key, was.location) for each in event.matches
    )
    is_picked = any(line.picked != old.picked for line, old in zip(state.lines, before.lines, strict=False))
    if is_at_stop or is_picked or was.stop_key != now.stop_key or scanned_locations(state):
        return state
    return state._replace(choices=(*state.choices, *held))


def keeps_question(state: PickState, match: Match) -> bool:
    """Return True if a scan does not answer the location question: it is neither that product nor a location."""
    product = product_in_question(state)
    return bool(product) and match.kind != LOCATION and (match.kind, match.key) != (PRODUCT, product)


def repeat_location_question(state: PickState) -> Result:
    """Repeat the location question, because another input came."""
    label = next(choice.label for choice in state.choices if choice.kind == PICKED_FROM)
    return reply(state, WRONG, "pick.location_first", label=label)


def choice_for_location(state: PickState, location: str) -> PickChoice | None:
    """Return the choice that a scan of this location selects."""
    return next(
        (choice for choice in state.choices if choice.kind == PICKED_FROM and same_location(choice.key, location)), None
    )


def choice_with_location(state: PickState, location: str, pool: int) -> PickChoice:
    """Return the choice of a location that was not among those offered."""
    choice = next(choice for choice in state.choices if choice.kind == PICKED_FROM)
    return choice._replace(key=location, pool=pool)


def ask_with_location(state: PickState, choice: PickChoice, now: str) -> Result:
    """Ask where the goods were picked, with this location without stock of them added to the choices."""
    others = tuple(each for each in state.choices if not same_location(each.key, choice.key))
    read = LabelRead((choice.key.casefold(),), now)
    state = state._replace(choices=(*others, choice), location_read=read)
    return reply(state, ASK, "pick.no_stock_which_location", label=choice.label, place=choice.key)


def is_read_again(state: PickState, choice: PickChoice, now: str) -> bool:
    """Return True if a read of this location is the one that added it to the choices, repeated by the scanner."""
    return state.location_read.is_repeated(choice.key.casefold(), now)


def ask_if_held(state: PickState, choice: PickChoice) -> Result | None:
    """Ask before goods are picked at a chosen location where they are held for another order; return None if none are,
    if the picker was told, or if the route leads there."""
    on_route = any(
        each.is_open and each.product == choice.product and same_location(each.location, choice.key)
        for each in state.lines
    )
    held = stops_and_goods_in_hand.held_for_others(state, choice.product, choice.key)
    return None if on_route or choice.is_held_known or not held else ask_held(state, choice, held)


def ask_held(state: PickState, choice: PickChoice, held: Mapping[str, Decimal]) -> Result:
    """Ask if goods are picked at a location where they are held for other orders. The other locations stay choices."""
    others = tuple(each for each in state.choices if not same_location(each.key, choice.key))
    count, orders = sum(held.values(), Decimal(0)), ", ".join(held)
    text = msg("pick.held_location", scanned=choice.key, label=choice.label, count=count, orders=orders)
    return Turn(state._replace(choices=(*others, choice._replace(is_held_known=True))), (), Verdict(ASK, text))


def set_total(state: PickState, value: Decimal) -> Result | None:
    """Keep the typed total in the choices while the location is asked for; return None if it is not asked for."""
    choices = _location_choices(state)
    if not choices:
        return None
    if state.is_pack_asked:
        kept = tuple(choice._replace(quantity=value) for choice in choices)
        return reply(state._replace(choices=kept), ASK, "pick.which_location", label=choices[0].label, quantity=value)
    quantities = [_quantity_there(state, choice, value) for choice in choices]
    label = choices[0].label
    if not all(quantities):
        verdict = Verdict(WRONG, msg("pick.location_first_number", value=value, label=label))
        return Turn(state, (), verdict)
    kept = tuple(choice._replace(quantity=rest) for choice, rest in zip(choices, quantities, strict=True))
    verdict = Verdict(ASK, msg("pick.total_which_location", total=value, label=label))
    return Turn(state._replace(choices=kept), (), verdict)


def _location_choices(state: PickState) -> list[PickChoice]:
    """Return the choices that name a location. The offer to pick at a scanned location is also a choice between two:
    the stop's location and the scanned one."""
    choices = [choice for choice in state.choices if choice.kind == PICKED_FROM]
    scanned = next((choice for choice in state.choices if choice.kind == CHANGE_LOCATION), None)
    line = state.current_line
    if choices or scanned is None or line is None:
        return choices
    choice = PickChoice(PICKED_FROM, line.location, line.label, line.pool, product=line.product)
    return [choice, choice._replace(key=scanned.key, pool=scanned.pool)]


def _quantity_there(state: PickState, choice: PickChoice, value: Decimal) -> Decimal:
    """Return the quantity picked at the choice's location if the total is `value`; 0 if that is impossible."""
    lines = picked_quantities_and_operations.open_lines_with_product(state, choice.product)
    index = next(
        (each for each in lines if same_location(state.lines[each].location, choice.key)), next(iter(lines), -1)
    )
    if index < 0:
        return Decimal(0)
    stop = [state.lines[each] for each in stops_and_goods_in_hand.lines_of_stop(state, index)]
    done, of, _ = stops_and_goods_in_hand.sum_lines(stop)
    others = stops_and_goods_in_hand.sum_of_others(state, stop)
    is_whole = state.lines[index].allows_decimals or not value % 1
    return value + others - done if is_whole and done < value + others <= of else Decimal(0)


def _is_location_unknown(state: PickState, line: PickLine) -> bool:
    """Return True if two locations were scanned and the picker has not said which one the goods came from."""
    if product_in_question(state) == line.product:
        return True
    is_asked = any(choice.kind == CHANGE_LOCATION for choice in state.choices)
    return is_asked and same_location(state.location, line.location)


def go_to_chosen_location(state: PickState, choice: PickChoice) -> PickState:
    """Go to the stop of these goods at the chosen location, moving the stop there if necessary."""
    state = state._replace(location=choice.key) if state.verifies_locations else state
    lines = picked_quantities_and_operations.open_lines_with_product(state, choice.product)
    if not lines:
        return state
    at_location = [index for index in lines if same_location(state.lines[index].location, choice.key)]
    if at_location:
        return stops_and_goods_in_hand.go_to_line(state, at_location[0])
    line = state.lines[lines[0]]
    with_step, moved_lines = picked_quantities_and_operations.move_stop(
        state._replace(choices=()), lines[0], lambda each: each.at_location(choice.key, choice.pool)
    )
    moved = stops_and_goods_in_hand.with_lines(with_step, moved_lines)._replace(location=state.location)
    return stops_and_goods_in_hand.go_to_line(moved, stops_and_goods_in_hand.index_of_line(moved, line))


def _scanned_quantity(state: PickState, match: Match, line: PickLine) -> Decimal:
    if line.allows_decimals and not match.is_explicit:
        return Decimal(0)
    before = next(
        (choice.quantity for choice in state.choices if choice.kind == PICKED_FROM and choice.product == line.product),
        Decimal(0),
    )
    return before + match.quantity


def _possible_locations(state: PickState, line: PickLine) -> list[LocationPool]:
    """Return the locations that the goods may come from: that on the screen first, then those of the walk."""
    lines = [each for each in state.lines if each.product == line.product]
    stop = state.current_line
    candidates: list[LocationPool] = []
    scanned = [(choice.key, choice.pool) for choice in state.choices if choice.kind == CHANGE_LOCATION]
    if stop and stop.product == line.product:
        candidates = [(stop.location, stop.pool), *(scanned if stop.location else ())]
    elif stop and stop.location and (scanned or not same_location(stop.location, line.location)):
        candidates = [location for each in lines if each.is_open for location in _locations_of_line(state, each)]
        scanned = [(location, _stocked_pool(line, location) or line.pool) for location, _ in scanned]
        candidates = [*_current_location(state, stop, line), *candidates, *scanned]
    offered = [
        (choice.key, choice.pool)
        for choice in state.choices
        if choice.kind == PICKED_FROM and choice.product == line.product
    ]
    return _distinct_locations([*offered, *candidates])


def _locations_of_line(state: PickState, line: PickLine) -> list[LocationPool]:
    """Return the current location of a line, then the locations it had before it was moved."""
    earlier = [
        (source.location, source.pool)
        for step in reversed(state.history)
        for source in step.sources_before
        if (source.order, source.line) == line.key and source.location
    ]
    return [(line.location, line.pool), *earlier]


def _current_location(state: PickState, stop: PickLine, line: PickLine) -> list[LocationPool]:
    """Return the location on the screen if it was scanned or has stock of the product; otherwise nothing."""
    stocked_pool = _stocked_pool(line, stop.location)
    if stocked_pool is None and not same_location(state.location, stop.location):
        return []
    return [(stop.location, stocked_pool or line.pool)]


def _stocked_pool(line: PickLine, location: str) -> int | None:
    """Return an allowed pool of the line's stock at a location, 0 if it is unknown; None without such stock."""
    return next((pool for stocked, pool in line.stocked_locations if same_location(stocked, location)), None)


def _distinct_locations(locations: Iterable[LocationPool]) -> list[LocationPool]:
    by_code: dict[str, LocationPool] = {}
    for location, pool in locations:
        if location:
            by_code.setdefault(location.casefold(), (location, pool))
    return list(by_code.values())


STOCK_THERE_QUERY = "stock_at_location"


def query_other_location(state: PickState, match: Match) -> Result:
    """Query the stock at a location that is not the stop's; its pools decide if the stop may be picked there."""
    line = state.current_line
    assert line is not None
    product = product_in_question(state)
    turn = query_store(state, STOCK_THERE_QUERY, match, product_number=product or line.product, location_code=match.key)
    return turn._replace(state=turn.state._replace(choices=state.choices)) if product else turn


def ask_change_location(state: PickState, row: StockAtLocationRow) -> Result:
    """Ask if the stop shall be picked at the scanned location; refuse if its pools are not allowed."""
    line, location = state.current_line, state.lookup.key
    if line is None:
        return Turn(state._replace(lookup=StoreLookup()))
    pool, wrong_pool = allowed_pool(state, row)
    state = state._replace(lookup=StoreLookup())
    if wrong_pool:
        return Turn(state._replace(choices=(PickChoice("look_up", line.product),)), (), Verdict(ASK, wrong_pool))
    choice = PickChoice(CHANGE_LOCATION, location, pool=pool)
    held = product_rows_and_weekly_sales.held_by_order(
        row.get("held_goods") or (), {tote.order for tote in state.totes}
    )
    if held:
        count, orders = sum(held.values(), Decimal(0)), ", ".join(held)
        return reject_input(
            state, "pick.held_location", choice, scanned=location, label=line.label, count=count, orders=orders
        )
    return reject_input(state, "pick.wrong_location", choice, scanned=location, wanted=line.location, label=line.label)


def allowed_pool(state: PickState, row: StockAtLocationRow) -> tuple[int, Msg | None]:
    """Return the pool of the goods at the queried location, or 0 and the reason why no pool is allowed."""
    product = product_in_question(state)
    line = next((each for each in state.lines if each.product == product and each.is_open), state.current_line)
    assert line is not None
    stock = row.get("pools") or {}
    stocked = sorted(int(pool) for pool, quantity in stock.items() if to_decimal(quantity) > 0)
    if not is_pool_allowed(line.pools, stock):
        args = {
            "pool": pool_name(state.pools, *stocked),
            "allowed": pool_name(state.pools, *line.pools),
        }
        return 0, msg("pick.wrong_pool", place=state.lookup.key, label=line.label, **args)
    return next((pool for pool in (line.pool, *line.pools) if pool in stocked), line.pool), None
