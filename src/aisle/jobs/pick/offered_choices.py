"""Choices offered during a pick: their order and letters, questions about locations, and explanations of rejected
scans.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aisle.jobs import quantities, store_time
from aisle.jobs.choice_letters import assign_letters
from aisle.jobs.job import Effect, Event, Query, Turn, reply
from aisle.jobs.pick import goods_in_hand, pick_state
from aisle.jobs.pick.goods_in_hand import has_goods_to_put_down, pieces_in_hand
from aisle.jobs.pick.pick_state import PickChoice, PickState, StoreLookup, moved_stop_step
from aisle.jobs.pick.stops import PickLine, is_pool_allowed, same_location
from aisle.jobs.pools import pool_name
from aisle.jobs.quantities import to_decimal
from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg
from aisle.scan.meaning import LOCATION, PRODUCT, Back, Command, Match, Quantity, Scan, UnknownCode

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import StockAtLocationRow
    from aisle.jobs.row_types.products import LabelledProduct, UnexpectedProductRow

ASSIGNED_CHOICES = ("take_in", "later")
"""Kinds of choices offered when a supervisor has assigned an order to this picker."""


COMMAND_LETTERS = "nsuiw"
"""Letters that are commands at a stop and therefore choose nothing."""


def is_quantity_open(state: PickState) -> bool:
    """Return True if a number sets the total of the stop, or of the goods whose location is asked for."""
    is_open = state.is_quantity_open or bool(product_in_question(state))
    return state.current_line is not None and is_open and not state.to_return


def quantity_line(state: PickState) -> PickLine | None:
    """Return the line whose quantity a number sets while one is open."""
    product = product_in_question(state)
    return next((line for line in state.lines if line.is_open and line.product == product), state.current_line)


def choice_letters(state: PickState) -> str:
    """Return the letters of the choices; empty where choices are numbered. Letters are used while goods are picked or
    in hand, because digits are quantities there."""
    return (
        assign_letters((choice.kind for choice in _all_choices(state)), COMMAND_LETTERS) if _use_letters(state) else ""
    )


def _use_letters(state: PickState) -> bool:
    return bool(state.to_return) or (state.current_line is not None and state.phase != "wait")


def is_number_asked(state: PickState) -> bool:
    """Return True if the question is about a number: a large quantity, or digits that are also a record's number."""
    return any(choice.kind == "amount" for choice in state.choices)


def return_choices(state: PickState) -> tuple[PickChoice, ...]:
    """Return the choices for goods in hand of orders that have left the pick."""
    goods = PickChoice("put_back")
    return (PickChoice("handed_over"), goods) if any(each.is_for_other_picker for each in state.to_return) else (goods,)


def open_choices(state: PickState) -> tuple[PickChoice, ...]:
    """Return the choices open now; those for which no letter is left wait until others are answered."""
    choices = _all_choices(state)
    return choices[: len(choice_letters(state))] if _use_letters(state) else choices


def _all_choices(state: PickState) -> tuple[PickChoice, ...]:
    if state.to_return:
        return (*return_choices(state), *state.choices)
    questions = () if state.is_postponed else state.take_over_choices
    if state.choices or questions:
        return (*state.choices, *questions) if state.is_after_choices else (*questions, *state.choices)
    if state.phase == "wait":
        return (PickChoice("go_on"),) if any(tote.has_lines for tote in state.totes) else ()
    if can_be_handed_over(state):
        return (PickChoice("finish", state.order),)
    if state.phase != "done" or not state.is_batch or state.only_order:
        return ()
    to_put_down = [tote.order for tote in state.totes if has_goods_to_put_down(state, tote.order)]
    return tuple(PickChoice("tote", order) for order in to_put_down) if len(to_put_down) > 1 else ()


def can_be_handed_over(state: PickState) -> bool:
    """Return True if the single order is picked and can be handed over. Its goods are put down, or the store keeps no
    locations."""
    if state.phase != "done" or state.is_batch or len(state.totes) != 1 or not any(take.picked for take in state.lines):
        return False
    return not pieces_in_hand(state) or not any(take.location or take.put_down_at for take in state.lines)


def postpone_questions(before: PickState, state: PickState, event: Event) -> PickState:
    """Postpone the open question if the picker scans or types a quantity instead of answering it. Digits typed later
    are quantities again and answer nothing."""
    is_new = not set(state.take_over_choices) <= set(before.take_over_choices)
    is_postponed = (
        bool(state.take_over_choices) and not is_new and (state.is_postponed or isinstance(event, Scan | Quantity))
    )
    return state if is_postponed == state.is_postponed else state._replace(is_postponed=is_postponed)


def keep_choice_order(before: PickState, state: PickState) -> PickState:
    """Keep the choices of the older question in front, so that their numbers do not change."""
    appeared = bool(state.take_over_choices and not before.take_over_choices)
    is_after = bool(
        state.take_over_choices and state.choices and (before.choices if appeared else before.is_after_choices)
    )
    return state if is_after == state.is_after_choices else state._replace(is_after_choices=is_after)


def remove_answered(state: PickState, choice: PickChoice) -> PickState:
    """Remove the answered question from those that stay open."""
    is_assignment = choice.kind in ASSIGNED_CHOICES
    others = tuple(each for each in state.take_over_choices if (each.kind in ASSIGNED_CHOICES) != is_assignment)
    unanswered = tuple(
        each
        for each in state.take_over_choices
        if choice.kind == "take_in" and each.kind == "take_in" and each != choice
    )
    return state._replace(take_over_choices=(*others, *unanswered, *((PickChoice("later"),) if unanswered else ())))


def ask_postponed(state: PickState) -> Turn[PickState]:
    """Ask the postponed question again; a number now answers it."""
    state_asked = state._replace(is_postponed=False, is_quantity_open=False, choices=())
    return reply(state_asked, ASK, "pick.question_repeated", order=state.take_over_choices[0].key)


PICKED_FROM = "taken_at"
"""Kind of the choices that name the location where goods were picked."""

CHANGE_LOCATION = "take_here"
"""Kind of the choice to pick the stop from another location, which was scanned."""

LocationPool = tuple[str, int]
"""Location and the stock pool that goods come from there; 0 if the pool is unknown."""


def ask_location(state: PickState, match: Match, open_lines: Sequence[int]) -> Turn[PickState] | None:
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


GOODS_QUESTIONS = (PICKED_FROM, "this_one", "reopen")
"""Kinds of choices that pick the goods scanned last."""


def is_about_goods(state: PickState) -> bool:
    """Return True if the open question is what becomes of the goods scanned last. A product that was refused is offered
    for look-up; its goods are put back."""
    is_refused = any(choice.kind == "look_up" for choice in state.choices)
    is_asked = any(
        choice.kind in GOODS_QUESTIONS or (choice.kind == "take_rest" and choice.quantity) for choice in state.choices
    )
    return state.is_pack_asked or (is_asked and not is_refused)


def number_in_question(state: PickState) -> Decimal:
    """Return the typed or scanned number that the open question is about; 0 if it is about none."""
    return next(
        (
            choice.typed or choice.quantity
            for choice in state.choices
            if choice.kind in ("amount", "set", "reopen", "take_rest")
        ),
        Decimal(0),
    )


def note_untaken(state: PickState, event: Event) -> PickState:
    """Note the number in question if an input comes that does not answer it."""
    is_answer = not isinstance(event, Scan | Command | UnknownCode)
    return state if is_answer else state._replace(untaken=number_in_question(state))


def report_untaken(turn: Turn[PickState]) -> Turn[PickState]:
    """Add to the verdict that a number is not taken, unless it is still in question."""
    state, verdict = turn.state, turn.verdict
    if not state.untaken or (verdict is None and any(isinstance(effect, Query) for effect in turn.effects)):
        return turn
    number, turn = state.untaken, turn._replace(state=state._replace(untaken=Decimal(0)))
    if verdict is None or verdict.text.id == "pick.dropped" or number_in_question(state) == number:
        return turn
    text = msg("session.not_applied", count=1, why=msg("number", value=number), said=verdict.text)
    return turn._replace(verdict=verdict._replace(text=text))


def outlasts_unknown_code(state: PickState) -> bool:
    """Return True if the open question stays when an unknown code comes: it is about scanned goods, or a location."""
    return is_about_goods(state) or any(choice.kind == CHANGE_LOCATION for choice in state.choices)


def products_of_goods_question(state: PickState) -> set[str]:
    """Return the products that the open question about the scanned goods is about."""
    products = {
        choice.key
        for choice in state.choices
        if choice.kind in ("this_one", "reopen") or (choice.kind == "take_rest" and choice.quantity)
    }
    return products | ({state.current_line.product} if state.is_pack_asked and state.current_line else set())


def reject_other_scan(state: PickState, match: Match) -> Turn[PickState]:
    """Reject a scan, because the question about the goods scanned before would be lost."""
    return reply(state, WRONG, "pick.goods_first_scan", what=quantities.name_of(match))


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
    held, take, now = scanned_locations(before), before.current_line, state.current_line
    if not held or take is None or now is None or isinstance(event, Back) or product_in_question(state):
        return state
    is_at_stop = isinstance(event, Scan) and any(
        each.kind == LOCATION and same_location(each.key, take.location) for each in event.matches
    )
    is_picked = any(line.picked != old.picked for line, old in zip(state.lines, before.lines, strict=False))
    if is_at_stop or is_picked or take.stop_key != now.stop_key or scanned_locations(state):
        return state
    return state._replace(choices=(*state.choices, *held))


def repeat_goods_question(state: PickState) -> Turn[PickState]:
    """Refuse a command, because scanned goods would be lost, and keep the question about them."""
    if product_in_question(state):
        return repeat_location_question(state)
    return reply(state, WRONG, "pick.goods_first")


def keeps_question(state: PickState, match: Match) -> bool:
    """Return True if a scan does not answer the location question: it is neither that product nor a location."""
    product = product_in_question(state)
    return bool(product) and match.kind != LOCATION and (match.kind, match.key) != (PRODUCT, product)


def repeat_location_question(state: PickState) -> Turn[PickState]:
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


def ask_with_location(state: PickState, choice: PickChoice) -> Turn[PickState]:
    """Ask where the goods were picked, with this location added to the choices."""
    text = msg("pick.which_location", label=choice.label, quantity=choice.quantity)
    if not choice.quantity:
        text = msg("pick.weigh_which_location", label=choice.label)
    return Turn(state._replace(choices=(*state.choices, choice)), (), Verdict(ASK, text))


def set_total(state: PickState, value: Decimal) -> Turn[PickState] | None:
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
    take = state.current_line
    if choices or scanned is None or take is None:
        return choices
    choice = PickChoice(PICKED_FROM, take.location, take.label, take.pool, product=take.product)
    return [choice, choice._replace(key=scanned.key, pool=scanned.pool)]


def _quantity_there(state: PickState, choice: PickChoice, value: Decimal) -> Decimal:
    """Return the quantity picked at the choice's location if the total is `value`; 0 if that is impossible."""
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
    """Return True if two locations were scanned and the picker has not said which one the goods came from."""
    if product_in_question(state) == line.product:
        return True
    is_asked = any(choice.kind == CHANGE_LOCATION for choice in state.choices)
    return is_asked and same_location(state.location, line.location)


def go_to_chosen_location(state: PickState, choice: PickChoice) -> PickState:
    """Go to the stop of these goods at the chosen location, moving the stop there if necessary."""
    state = state._replace(location=choice.key) if state.verifies_locations else state
    lines = [index for index in pick_state.lines_with_product(state, choice.product) if state.lines[index].is_open]
    if not lines:
        return state
    at_location = [index for index in lines if same_location(state.lines[index].location, choice.key)]
    if at_location:
        return pick_state.go_to_line(state, at_location[0])
    index = lines[0]
    stop = [each for each in pick_state.lines_of_stop(state, index) if state.lines[each].is_open]
    line = state.lines[index].order, state.lines[index].line
    takes = list(state.lines)
    for each in stop:
        takes[each] = takes[each]._replace(location=choice.key, pool=choice.pool or takes[each].pool, barred_pools=())
    state = pick_state.add_undo_step(state._replace(choices=()), moved_stop_step(state.lines[each] for each in stop))
    moved = pick_state.with_lines(state, takes)._replace(location=state.location)
    return pick_state.go_to_line(
        moved, next(at for at, take in enumerate(moved.lines) if (take.order, take.line) == line)
    )


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
    takes = [take for take in state.lines if take.product == line.product]
    stop = state.current_line
    candidates: list[LocationPool] = []
    scanned = [(choice.key, choice.pool) for choice in state.choices if choice.kind == CHANGE_LOCATION]
    if stop and stop.product == line.product:
        candidates = [(stop.location, stop.pool), *(scanned if stop.location else ())]
    elif stop and stop.location and (scanned or not same_location(stop.location, line.location)):
        candidates = [location for take in takes if take.is_open for location in _locations_of_line(state, take)]
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
        if (source.order, source.line) == (line.order, line.line) and source.location
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


Result = Turn[PickState]

FOREIGN_QUERY = "unexpected_product"
STOCK_THERE_QUERY = "stock_at_location"
LOCATION_QUERY = "location_use"
NUMBER_QUERY = "records_by_number"
"""Named reads that explain a rejected scan; each name is also the id of its query."""

MAX_OTHER_ORDERS = 2
"""Maximum number of other orders offered for a product."""


def reject_input(state: PickState, id_: str, *ways: PickChoice, **args: str | int | Decimal) -> Result:
    """Reject an input; if choices are given, ask which one is meant."""
    return reply(state._replace(choices=ways), ASK if ways else WRONG, id_, **args)


def reject_more_than_rest(state: PickState, quantity: Decimal, lines: Sequence[int], *ways: PickChoice) -> Result:
    """Reject goods that are more than is still needed on the lines with these indexes."""
    first = state.lines[lines[0]]
    _, _, rest = pick_state.sum_lines(state.lines[index] for index in lines)
    others = [index for index in pick_state.lines_with_product(state, first.product) if index not in lines]
    if first.location and any(state.lines[index].is_open for index in others):
        args: dict[str, str | Decimal] = {"label": first.label, "rest": rest, "place": first.location}
        return reject_input(state, "pick.more_than_needed_here", *ways, quantity=quantity, **args)
    return reject_input(state, "pick.more_than_ordered", *ways, label=first.label, quantity=quantity, rest=rest)


def reject_too_many(state: PickState, value: Decimal, *ways: PickChoice) -> Result | None:
    """Reject a total above the ordered quantity, or a pack of more than is still needed; None if it is not too many.
    `ways` are the other possible meanings of the input."""
    take = state.current_line
    if take is None:
        return None
    if state.is_pack_asked:
        lines = pick_state.fillable_lines(state, take.product)
        _, _, needed = pick_state.sum_lines(state.lines[index] for index in lines)
        more = PickChoice("take_rest", take.product, typed=value)
        return reject_more_than_rest(state, value, lines, more, *ways) if value > needed else None
    _, of, _ = pick_state.sum_lines(pick_state.current_stop_lines(state))
    if value <= of:
        return None
    rest = PickChoice("take_rest", take.product, typed=value)
    stop = pick_state.lines_of_stop(state, state.current_index)
    elsewhere = any(
        index not in stop and state.lines[index].is_open for index in pick_state.lines_with_product(state, take.product)
    )
    if elsewhere and take.location:
        args: dict[str, str | Decimal] = {"label": take.label, "rest": of, "place": take.location}
        return reject_input(state, "pick.more_than_needed_here", rest, *ways, quantity=value, **args)
    return reject_input(state, "pick.total_more_than_ordered", rest, *ways, label=take.label, quantity=value, of=of)


def query_number(state: PickState, value: Decimal, code: str) -> Result | None:
    """Query the records that have these digits as their number; return None if they can only be a quantity. A total
    above the ordered quantity counts as rejected until the answer arrives. Journals written before this query existed
    are then replayed to the same state."""
    query = quantities.query_by_number(value, code)
    if query is None:
        return None
    lookup = StoreLookup(NUMBER_QUERY, f"{value:f}", code=str(query.args["code"]))
    too_many = reject_too_many(state, value)
    state = too_many.state if too_many else state
    return Turn(state._replace(lookup=lookup), (query,))


def no_quantity_id(state: PickState) -> str:
    """Return the id of the message that names what is expected instead of a quantity."""
    if state.step_name == "pick.done":
        return "pick.no_quantity_put_down" if goods_in_hand.has_goods_to_put_down(state) else "pick.no_quantity_order"
    return "pick.no_quantity_location" if state.step_name == "pick.location" else "pick.no_quantity"


def query_store(state: PickState, kind: str, match: Match, **args: Any) -> Result:
    """Query the store's data about a match; the answer decides the verdict."""
    lookup = StoreLookup(kind, match.key, match.label or match.key, match.code or match.key)
    effects: tuple[Effect, ...] = (Query(kind, kind, args),)
    return Turn(state._replace(lookup=lookup, choices=()), effects)


def query_foreign_product(state: PickState, match: Match) -> Result:
    """Query the data of a product that is on none of these orders."""
    orders = [tote.order for tote in state.totes]
    products = list(dict.fromkeys(take.product for take in state.lines if take.is_open))
    return query_store(state, FOREIGN_QUERY, match, product_number=match.key, orders=orders, products=products)


def explain_foreign_product(state: PickState, row: UnexpectedProductRow, now: str) -> Result:
    """Explain what a product is and why these orders do not need it, with suitable choices."""
    lookup = state.lookup
    state = state._replace(lookup=StoreLookup())
    look_up = PickChoice("look_up", lookup.key)
    wholes, parts = _linked_choices(row.get("wholes") or ()), _linked_choices(row.get("parts") or ())
    if wholes:
        return _reject(state, msg("pick.part_of", label=lookup.label, whole=wholes[0].label), *wholes, look_up)
    if parts:
        return _reject(state, msg("pick.is_set", label=lookup.label, part=parts[0].label), *parts, look_up)
    if row.get("is_template"):
        return _reject(state, msg("pick.template", label=lookup.label), look_up)
    end_date = _end_date(row, now)
    if end_date or row.get("is_active") is False:
        return _reject(state, *_replacement(lookup, row, end_date), look_up)
    needing = [str(each["order_number"]) for each in row.get("orders") or ()][:MAX_OTHER_ORDERS]
    if needing:
        choices = [choice for order in needing for choice in other_order_choices(state, order)]
        return _reject(state, msg("pick.for_other", label=lookup.label, other=needing[0]), *choices, look_up)
    is_batch = state.is_batch or len(state.totes) != 1
    args = {} if is_batch else {"order": state.order}
    return _reject(
        state,
        msg("pick.not_in_batch" if is_batch else "pick.not_here", label=lookup.label, code=lookup.code, **args),
        look_up,
    )


def _reject(state: PickState, message: Msg, *ways: PickChoice) -> Result:
    return Turn(state._replace(choices=ways[:9]), (), Verdict(WRONG, message))


def _linked_choices(products: Iterable[LabelledProduct]) -> list[PickChoice]:
    """Return choices for products of the orders that contain the scanned one or are part of it."""
    return [PickChoice("this_one", each["product_number"], each["label"]) for each in products]


def _end_date(row: UnexpectedProductRow, now: str) -> str:
    """Return the date since which the product is not sold, ISO 8601; empty if it is still sold."""
    date, today = str(row.get("deprecation_date") or ""), store_time.day_in_store(now)
    day = store_time.named_day(date) or store_time.day_in_store(date)
    return "" if day is None or today is None or day > today else day.isoformat()


def _replacement(lookup: StoreLookup, row: UnexpectedProductRow, end_date: str) -> tuple[Msg, *tuple[PickChoice, ...]]:
    referral = str(row.get("referral") or "")
    label = str(row.get("referral_label") or referral)
    if referral:
        return msg("pick.replaced", label=lookup.label, referral=label), PickChoice("look_up", referral, label)
    if end_date:
        return (msg("pick.ended", label=lookup.label, at=end_date),)
    return (msg("pick.not_sold", label=lookup.label),)


def other_order_choices(state: PickState, order: str) -> list[PickChoice]:
    """Return the choices for an order outside the pick: leave this pick for it, or add it."""
    choices = [] if state.is_batch else [PickChoice("leave_for", order)]
    return [*choices, PickChoice("join", order)] if pick_state.next_tote_letter(state) else choices


def query_other_location(state: PickState, match: Match) -> Result:
    """Query the stock at a location that is not the stop's; its pools decide if the stop may be picked there."""
    take = state.current_line
    assert take is not None
    product = product_in_question(state)
    turn = query_store(state, STOCK_THERE_QUERY, match, product_number=product or take.product, location_code=match.key)
    return turn._replace(state=turn.state._replace(choices=state.choices)) if product else turn


def ask_change_location(state: PickState, row: StockAtLocationRow) -> Result:
    """Ask if the stop shall be picked at the scanned location; refuse if its pools are not allowed."""
    take, location = state.current_line, state.lookup.key
    if take is None:
        return Turn(state._replace(lookup=StoreLookup()))
    pool, wrong_pool = allowed_pool(state, row)
    state = state._replace(lookup=StoreLookup())
    if wrong_pool:
        return Turn(state._replace(choices=(PickChoice("look_up", take.product),)), (), Verdict(ASK, wrong_pool))
    choice = PickChoice(CHANGE_LOCATION, location, pool=pool)
    return reject_input(state, "pick.wrong_location", choice, scanned=location, wanted=take.location, label=take.label)


def allowed_pool(state: PickState, row: StockAtLocationRow) -> tuple[int, Msg | None]:
    """Return the pool of the goods at the queried location, or 0 and the reason why no pool is allowed."""
    product = product_in_question(state)
    take = next((each for each in state.lines if each.product == product and each.is_open), state.current_line)
    assert take is not None
    stock = row.get("pools") or {}
    stocked = sorted(int(pool) for pool, quantity in stock.items() if to_decimal(quantity) > 0)
    if not is_pool_allowed(take.pools, stock):
        args = {
            "pool": pool_name(state.pools, *stocked),
            "allowed": pool_name(state.pools, *take.pools),
        }
        return 0, msg("pick.wrong_pool", place=state.lookup.key, label=take.label, **args)
    return next((pool for pool in (take.pool, *take.pools) if pool in stocked), take.pool), None
