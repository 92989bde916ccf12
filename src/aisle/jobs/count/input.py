"""A list of places and products that are counted one after the other, in the order of feet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import quantities
from aisle.jobs.count import count_state, summary
from aisle.jobs.count import view as count_view
from aisle.jobs.count.count_state import CountLine, CountState, CountTarget
from aisle.jobs.job import Context, Query, Turn
from aisle.jobs.quantities import DROP_QUANTITY, name_of, to_decimal
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, msg
from aisle.jobs.walk_order import NO_WALK_ORDER, natural_key
from aisle.scan.meaning import LOCATION, ORDER, PRODUCT, Command, Match, Scan

PlanTurn = Turn[CountState]

ROWS_ABOVE = 2
"""Rows that are shown above the one that was put on the list last."""

MAX_AISLE_LOCATIONS = 500
"""Places of an aisle that are put on the list at once."""


def show_plan(state: CountState) -> CountState:
    """The list is on the screen."""
    return state._replace(phase="list", first_row=0)


def add_scanned_to_plan(state: CountState, scan: Scan) -> PlanTurn:
    """A scan puts a place or a product on the list; where a place lies on the way is looked up."""
    meaning = next((each for each in scan.matches if each.kind in (LOCATION, PRODUCT)), None)
    if meaning is None:
        return summary.reply(state, WRONG, "count.not_this", what=name_of(scan.matches[0]))
    if any(is_same_target(each, meaning) for each in state.plan):
        return summary.reply(state, INFO, "count.listed_before", what=meaning.label or meaning.key)
    if meaning.kind == PRODUCT:
        return _add_to_plan(state, (CountTarget("product", meaning.key, meaning.label or meaning.key),))
    state = state._replace(pending_scan=meaning)
    return Turn(state, (Query("listed", "place", {"location_code": meaning.key, "size": 0}),))


def is_same_target(target: CountTarget, match: Match) -> bool:
    """Whether the list has just that."""
    kind = "place" if match.kind == LOCATION else "product"
    return target.kind == kind and target.key.casefold() == match.key.casefold()


def add_location(state: CountState, row: Mapping[str, Any] | None) -> PlanTurn:
    """The place that was scanned goes where feet meet it."""
    meaning, state = state.pending_scan, state._replace(pending_scan=None)
    if meaning is None:
        return Turn(state)
    return _add_to_plan(
        state,
        (CountTarget("place", meaning.key, meaning.key, to_decimal((row or {}).get("location_order"), NO_WALK_ORDER)),),
    )


def query_aisle(state: CountState) -> PlanTurn:
    """All places of the aisle of the last place that was put on the list."""
    beside = next((each.key for each in reversed(state.plan) if each.key == state.location), "")
    if not beside:
        return summary.reply(state, WRONG, "count.scan_place_first")
    return Turn(state, (Query("aisle", "places", {"beside": beside, "first": 0, "size": MAX_AISLE_LOCATIONS}),))


def add_aisle(state: CountState, rows: Iterable[Mapping[str, Any]]) -> PlanTurn:
    """Its places, those that are not on the list yet."""
    known = {each.key.casefold() for each in state.plan if each.kind == "place"}
    codes = [(str(row["location_code"]), to_decimal(row.get("location_order"), NO_WALK_ORDER)) for row in rows]
    return _add_to_plan(
        state, tuple(CountTarget("place", code, code, order) for code, order in codes if code.casefold() not in known)
    )


def _add_to_plan(state: CountState, targets: tuple[CountTarget, ...]) -> PlanTurn:
    todo = (*state.plan, *targets)
    last = targets[-1] if targets else None
    place = last.key if last and last.kind == "place" else state.location
    what = last.label if last and len(targets) == 1 else state.location
    todo = tuple(sorted(todo, key=_in_walk_order))
    first = max(0, todo.index(targets[0]) - ROWS_ABOVE) if len(targets) == 1 else 0
    state = state._replace(plan=todo, location=place, first_row=first)
    return summary.reply(state, GOOD, "count.listed", what=what, count=len(todo))


def _in_walk_order(target: CountTarget) -> tuple[Any, ...]:
    """Places as feet meet them, then products by their names."""
    return (
        target.kind != "place",
        target.walk_order,
        natural_key(target.key) if target.kind == "place" else natural_key(target.label),
    )


def remove_from_plan(state: CountState) -> PlanTurn:
    """The place scanned last, or else the last of the list, is not counted."""
    if not state.plan:
        return summary.reply(state, WRONG, "count.nothing_to_undo")
    gone = next((each for each in state.plan if each.key == state.location), state.plan[-1])
    state = state._replace(plan=tuple(each for each in state.plan if each != gone), location="", first_row=0)
    return summary.reply(state, GOOD, "count.off_list", what=gone.label or gone.key, count=len(state.plan))


def start_plan(state: CountState) -> PlanTurn:
    """The first of the list."""
    if not state.plan:
        return summary.reply(state, WRONG, "count.list_empty")
    return summary.begin_count(state, state.plan[0])


def next_in_plan(state: CountState, context: Context) -> PlanTurn:
    """The next of the list; what is counted is sent first, and a place where nothing was counted waits at the end."""
    if state.counted_lines:
        return summary.finish_counting(state, context)
    mine = summary.back_to_plan(state).plan[: 1 if state.location else 0]
    return summary.begin_count(state._replace(plan=(*state.plan, *mine)), state.plan[0])


Result = Turn[CountState]

QUESTION_PHASES = ("missing", "recount", "summary", "pool", "leave")
"""Phases in which a question is open."""

MATCH_KINDS = {"place": LOCATION, "product": PRODUCT}
"""What is counted, by the kind of the way on."""


# Scans


def handle_scan(state: CountState, matches: tuple[Match, ...], context: Context) -> Result:
    """What is counted next, or one more of what is here."""
    meaning = next((each for each in matches if each.kind in (PRODUCT, LOCATION)), None)
    if meaning is None:
        return summary.reply(state, WRONG, "count.not_this", what=name_of(matches[0]))
    if state.phase == "start":
        turn = summary.begin_count(state, count_target(meaning))
        return turn if meaning.kind == LOCATION else turn._replace(state=turn.state._replace(pending_scan=meaning))
    if state.phase in ("pool", "leave") or (state.phase in QUESTION_PHASES and meaning.kind == LOCATION):
        return summary.reply(state, WRONG, "count.answer_first", what=meaning.label or meaning.key)
    if state.phase == "recount":
        return _add_to_recount(state, meaning, context)
    state = summary.resume_counting(state._replace(choices=()))
    if state.only_product and meaning.key != state.only_product:
        return summary.reply(state, WRONG, "count.this_first", label=state.label, what=meaning.label or meaning.key)
    if state.mode == "product":
        return _scan_at_stop(state, meaning, context)
    return (
        _scan_location(state, meaning, context) if meaning.kind == LOCATION else scan_product(state, meaning, context)
    )


def is_quantity_asked(state: CountState) -> bool:
    """Whether it is asked if so many are meant, or what digits are the number of: they stand nowhere but in the
    question."""
    return count_view.is_quantity_asked(state)


def repeat_question(state: CountState, event: Scan | Command, context: Context) -> Result:
    """A scan or a letter while it is asked if so many are meant: nothing before that is settled. `u` takes back what
    was asked about; a label of so many more of the same is asked about with it."""
    value, item = Decimal(state.choices[0].key), count_view.open_quantity_line(state)
    assert item is not None
    if isinstance(event, Scan):
        first = event.matches[0]
        more = first.quantity if (first.kind, first.key) == (PRODUCT, item.product) else Decimal(0)
        if is_plausibility_asked(state) and quantities.is_implausible(
            more, item.expected, context.policy.large_quantity
        ):
            return _ask_quantity(state, item, value + more)
        return summary.reply(state, WRONG, "count.answer_first", what=first.label or first.key)
    if event.letter == "u":
        return drop_quantity(state)
    if not is_plausibility_asked(state):
        return Turn(state, (), Verdict(WRONG, quantities.number_question(_match_of_target(state.choices[1]), value)))
    return summary.reply(state, WRONG, "count.so_many", value=value, label=item.label)


def is_plausibility_asked(state: CountState) -> bool:
    """Whether it is asked if so many are meant, and nothing else that they may be."""
    return is_quantity_asked(state) and any(way.kind == DROP_QUANTITY for way in state.choices)


def drop_quantity(state: CountState) -> Result:
    """So many are not meant; what was counted before is."""
    item = count_view.open_quantity_line(state)
    if not is_plausibility_asked(state) or item is None:
        return summary.reply(state._replace(choices=()), INFO, "count.dropped")
    value = Decimal(state.choices[0].key)
    return summary.reply(state._replace(choices=()), INFO, "count.not_so_many", value=value, label=item.label)


def count_target(match: Match) -> CountTarget:
    """A place, or a product over its places, to be counted."""
    return CountTarget("place" if match.kind == LOCATION else "product", match.key, match.label or match.key)


def _target_of_number(match: Match) -> CountTarget:
    """What digits mean where they are no quantity."""
    if match.kind in count_state.UNCOUNTABLE_KINDS:
        return CountTarget(match.kind, match.key, match.key if match.kind == ORDER else match.label or match.key)
    return count_target(match)


def _match_of_target(choice: CountTarget) -> Match:
    """The same as what it is in the store's data."""
    return Match(MATCH_KINDS.get(choice.kind, choice.kind), choice.key, choice.label, code=choice.key)


def _scan_location(state: CountState, match: Match, context: Context) -> Result:
    if match.key.casefold() == state.location.casefold():
        return summary.reply(state, INFO, "count.this_place", place=state.location)
    if not state.counted_lines:
        seen = (
            state if not any(item.is_missing for item in state.lines) else summary.back_to_plan(state)
        )  # an empty one is done
        return summary.begin_count(seen._replace(sent=None), count_target(match))
    return summary.finish_counting(state._replace(next_target=count_target(match)), context)


def scan_product(state: CountState, match: Match, context: Context) -> Result:
    """More of a product at the place that is open."""
    index = count_state.find_line(state, match.key)
    if index >= 0:
        return _add_scanned(state, index, match, context)
    unread = state.has_unread_lines and all(item.product != match.key for item in state.lines)
    query = count_state.query_location("here", state.location, match.key) if unread else _query_product(match)
    return Turn(state._replace(pending_scan=match), (query,))


def _query_product(match: Match) -> Query:
    """Asks what there is to know of a product of which the books have nothing here."""
    return Query("scanned", "product", {"product_number": match.key})


def handle_product_here(state: CountState, row: Mapping[str, Any] | None, context: Context) -> Result:
    """A product of a place of which not all was read, as the books have it there."""
    meaning = state.pending_scan
    if meaning is None:
        return Turn(state)
    state = state._replace(lines=(*state.lines, *(count_state.parse_location_lines(row) if row else ())))
    index = count_state.find_line(state, meaning.key)
    if index < 0:
        return Turn(state, (_query_product(meaning),))
    return _add_scanned(state._replace(pending_scan=None), index, meaning, context)


def handle_product(state: CountState, row: Mapping[str, Any] | None, context: Context) -> Result:
    """A product of which the books had nothing here."""
    meaning = state.pending_scan
    state = state._replace(pending_scan=None)
    if meaning is None:
        return Turn(state)
    known = count_state.parse_product_lines(row) if row else ()
    if not state.location and any(item.location for item in known):
        text = Verdict(ASK, msg("count.has_places", label=meaning.label or meaning.key))
        return Turn(state._replace(choices=(count_target(meaning),)), (), text)
    if not state.location:
        mine = {count_state.line_key(item) for item in state.lines}
        state = state._replace(
            lines=(*state.lines, *(item for item in known if count_state.line_key(item) not in mine))
        )
    index = count_state.find_line(state, meaning.key)
    if index < 0:
        new = count_state.new_line(state, meaning.key, meaning.label or meaning.key)
        if known:
            new = new._replace(allows_decimals=known[0].allows_decimals, unit=known[0].unit, price=known[0].price)
        index = len(state.lines)
        state = state._replace(lines=(*state.lines, new))
    return _add_scanned(state, index, meaning, context)


def _add_scanned(state: CountState, index: int, match: Match, context: Context) -> Result:
    item = state.lines[index]
    if match.quantity % 1 and not item.allows_decimals:
        return summary.reply(state, WRONG, "count.whole", label=item.label, quantity=match.quantity)
    counted = (item.counted or Decimal(0)) + match.quantity
    asked = _ask_if_plausible(state._replace(current_index=index), item, counted, context, scanned=match.quantity)
    return asked or _set_counted(state, index, counted, context)


def _set_counted(state: CountState, index: int, counted: Decimal, context: Context) -> Result:
    state = count_state.set_counted(state, index, counted, context.now)
    item = state.lines[index]
    told = "count.counted" if state.is_blind or not item.expected else "count.counted_of"
    return summary.reply(state, GOOD, told, label=item.label, counted=counted, expected=item.expected)


def _add_to_recount(state: CountState, match: Match, context: Context) -> Result:
    """Units of the product that is counted a second time; another product ends that."""
    item = state.lines[state.question_index]
    if match.key != item.product:
        return summary.reply(state, WRONG, "count.second_first", label=item.label, what=match.label or match.key)
    if match.quantity % 1 and not item.allows_decimals:
        return summary.reply(state, WRONG, "count.whole", label=item.label, quantity=match.quantity)
    second = (state.recount_quantity or Decimal(0)) + match.quantity
    if asked := _ask_if_plausible(state, item, second, context, scanned=match.quantity):
        return asked
    return summary.reply(
        state._replace(recount_quantity=second), GOOD, "count.counted", label=item.label, counted=second
    )


def _scan_at_stop(state: CountState, match: Match, context: Context) -> Result:
    if match.kind == PRODUCT and match.key == state.product:
        return _add_scanned(state, state.current_index, match, context)
    if match.kind == PRODUCT:
        text = msg("count.other_product", label=match.label or match.key, mine=state.label)
        return Turn(state._replace(choices=(count_target(match),)), (), Verdict(ASK, text))
    code = match.key.casefold()
    for index, item in enumerate(state.lines):
        if item.location.casefold() == code:
            return summary.reply(
                summary.go_to_stop(state, index), GOOD, "count.at_stop", place=item.location, label=item.label
            )
    pool = state.chosen_pool or state.lines[0].pool
    new = state.lines[0]._replace(location=match.key, pool=pool, expected=Decimal(0), held=Decimal(0))
    new = new._replace(counted=None, counted_at="", needs_recount=False, is_recounted=False, is_left_as_is=False)
    state = summary.go_to_stop(state._replace(lines=(*state.lines, new)), len(state.lines))
    return summary.reply(state, INFO, "count.new_stop", place=match.key, label=state.label)


# Quantities


def enter_quantity(state: CountState, value: Decimal, code: str, context: Context) -> Result:
    """How many, unless the digits are the number of something."""
    if count_view.open_quantity_line(state) is None:
        return Turn(state)
    query = quantities.query_by_number(value, code)
    return Turn(state._replace(typed_number=value), (query,)) if query else _enter_if_plausible(state, value, context)


def handle_records_by_number(state: CountState, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Digits that nothing has for a number are a quantity, if anybody would believe it; else it is asked."""
    value, state = state.typed_number, state._replace(typed_number=None)
    if value is None:
        return Turn(state)
    found = quantities.best_match(rows, value, (LOCATION, PRODUCT))
    if found is None:
        return _enter_if_plausible(state, value, context)
    if quantities.is_likely_number(rows, value):
        return (
            repeat_question(state, Scan((found,)), context)
            if is_quantity_asked(state)
            else handle_scan(state, (found,), context)
        )
    state = state._replace(choices=(CountTarget("quantity", f"{value:f}"), _target_of_number(found)))
    return Turn(state, (), Verdict(ASK, quantities.number_question(found, value)))


def _enter_if_plausible(state: CountState, value: Decimal, context: Context) -> Result:
    """So many, unless that is far more than there was: a code of a thing that is gone is no count by one Enter."""
    item = count_view.open_quantity_line(state)
    if item is None:
        return Turn(state)
    return _ask_if_plausible(state, item, value, context) or _set_quantity(state, value, context)


def _ask_if_plausible(
    state: CountState, line: CountLine, value: Decimal, context: Context, scanned: Decimal = Decimal(0)
) -> Result | None:
    """The question whether there are so many, typed or `scanned` so many more; None where somebody would believe it."""
    said, limit = max(line.counted or Decimal(0), state.recount_quantity or Decimal(0)), context.policy.large_quantity
    if scanned == 1:
        is_far = quantities.is_implausible_scan(value, max(line.expected, said), limit)
    else:
        is_far = quantities.is_implausible(value, line.expected, limit, said, scanned or None)
    return _ask_quantity(state, line, value) if is_far else None


def _ask_quantity(state: CountState, line: CountLine, value: Decimal) -> Result:
    state = state._replace(choices=(CountTarget("quantity", f"{value:f}"), CountTarget(DROP_QUANTITY, "")))
    return summary.reply(state, ASK, "count.so_many", value=value, label=line.label)


def handle_choice(state: CountState, number: int, context: Context) -> Result:
    """One of the numbered ways on: what digits mean, or what is counted when this is sent."""
    way, is_number = state.choices[number - 1], state.choices[0].kind == "quantity"
    if way.kind == DROP_QUANTITY:
        return drop_quantity(state)
    state = state._replace(choices=())
    if way.kind == "quantity":
        return _set_quantity(state, Decimal(way.key), context)
    if way.kind in count_state.UNCOUNTABLE_KINDS:  # which is not counted; the number was meant for another page
        return summary.reply(state, INFO, "count.dropped")
    if is_number:
        return handle_scan(state, (_match_of_target(way),), context)
    return summary.finish_counting(state._replace(next_target=way), context)


def _set_quantity(state: CountState, value: Decimal, context: Context) -> Result:
    state = state._replace(choices=())
    if state.phase == "recount":
        return summary.answer_recount(state, value, context)
    if state.phase == "missing":
        return summary.set_missing_quantity(state, value, context)
    turn = _set_counted(state, state.current_index, value, context)
    if state.only_product:
        return _finish_single_product(turn.state, context)
    if state.mode != "product":
        return turn
    on = next_stop(turn.state)
    if on != state.current_index and not turn.state.lines[on].location:
        return turn  # nobody walks on to no place: one more number is for this one, and `n` leads there
    if on == state.current_index:
        return turn._replace(verdict=Verdict(GOOD, msg("count.all_stops", label=state.label, counted=value)))
    return turn._replace(state=summary.go_to_stop(turn.state, on))


def _finish_single_product(state: CountState, context: Context) -> Result:
    """The one product of a place is counted; that none is there was seen before, and is not counted again."""
    item = state.lines[state.current_index]
    return summary.finish_counting(
        count_state.replace_line(state, state.current_index, item._replace(is_recounted=not item.counted)), context
    )


def next_stop(state: CountState) -> int:
    """Index of the next stop that is not counted, round the end; the same when there is none."""
    count = len(state.lines)
    order = [(state.current_index + step) % count for step in range(1, count)]
    return next((index for index in order if state.lines[index].counted is None), state.current_index)
