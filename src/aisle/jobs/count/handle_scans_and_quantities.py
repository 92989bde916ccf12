"""Inputs of a count: scans, quantities and choices."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import typed_numbers_dates_and_letters
from aisle.jobs.count import count_lines, count_state, finish_count, view
from aisle.jobs.count.count_state import CountLine, CountState, CountTarget, Result
from aisle.jobs.job import Context, Query, Turn, reply
from aisle.jobs.names_in_messages import amount_of
from aisle.jobs.typed_numbers_dates_and_letters import QuantityQuestion, distinct_labels, name_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, msg
from aisle.scan.grammar_and_meaning_types import LOCATION, PRODUCT, Command, Match, Scan

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationRow, RecordsByNumberRow
    from aisle.jobs.row_types.products import ProductRow


QUESTION_PHASES = ("missing", "recount", "summary", "pool", "leave")


# Scans

MAX_FOUND = 6
"""Greatest number of products offered for typed words, so that the smallest screen shows the commands as well."""


def handle_scan(state: CountState, matches: tuple[Match, ...], context: Context) -> Result:
    """Handle a scan: the next target, or one more of a product here."""
    match = next((each for each in matches if each.kind in (PRODUCT, LOCATION)), None)
    if match is None:
        return reply(state, WRONG, "page.not_this", what=name_of(matches[0]))
    if state.phase == "start":
        turn = finish_count.begin_count(state, count_target(match))
        return turn if match.kind == LOCATION else turn._replace(state=turn.state._replace(pending_scan=match))
    if _is_answer_needed(state, match):
        return reply(state, WRONG, "count.answer_first", what=name_of(match))
    if state.phase == "recount":
        return _add_to_recount(state, match, context)
    taken = _scan_while_counting(state, match, context)
    is_refused = taken.verdict is not None and taken.verdict.kind == WRONG
    return taken._replace(state=state) if is_refused else taken


def _is_answer_needed(state: CountState, match: Match) -> bool:
    """Return True if the question must be answered before this scan: it would not be counted where the person is."""
    if state.phase in ("missing", "summary") and state.next_target and state.next_target.kind == "location":
        return True
    return state.phase in ("pool", "leave") or (state.phase in QUESTION_PHASES and match.kind == LOCATION)


def _scan_while_counting(state: CountState, match: Match, context: Context) -> Result:
    """Handle a scan on the count page, to which a question before sending returns."""
    asked = _asked_line(state, match)
    state = finish_count.resume_counting(state._replace(choices=()))
    if asked is not None:
        state = state._replace(current_index=asked)
    if state.only_product and match.key != state.only_product:
        labels = distinct_labels(state.label, state.only_product, match)
        return reply(state, WRONG, "count.product_first", **labels)
    if state.mode == "product":
        return _scan_at_stop(state, match, context)
    return _scan_location(state, match, context) if match.kind == LOCATION else scan_product(state, match, context)


def _asked_line(state: CountState, match: Match) -> int | None:
    """Return the index of the line that was not counted and is asked for, if the scan is of its product."""
    index = state.question_index if state.phase == "missing" else -1
    if index < 0 or match.kind != PRODUCT or match.key != state.lines[index].product:
        return None
    return index


def label_of_scan(state: CountState, match: Match) -> str:
    """Return the product's name with the pool that a scan is counted in; empty unless it lies in several pools."""
    asked = state.question_index if state.phase == "recount" else _asked_line(state, match)
    index = count_lines.find_line(state, match.key) if asked is None else asked
    if not 0 <= index < len(state.lines) or state.lines[index].product != match.key:
        return ""
    pool = dict(count_lines.label_with_pools(state, index).args).get("pool")
    return f"{state.lines[index].label} ({pool})" if pool else ""


def product_of_choice(state: CountState, number: int) -> Match | None:
    """Return the product that has the number in question if this choice is that product."""
    match = state.question.match_of_choice(number) if state.question else None
    return match if match and match.kind == PRODUCT else None


def repeat_question(state: CountState, question: QuantityQuestion, event: Scan | Command, context: Context) -> Result:
    """Handle a scan or a letter while a quantity is in question. Nothing else is accepted before the answer, except
    `u`, which drops the quantity. A scan of the same product with a large quantity is added to the quantity in
    question."""
    item = view.open_quantity_line(state)
    assert item is not None
    if isinstance(event, Scan):
        first = event.matches[0]
        more = first.quantity if (first.kind, first.key) == (PRODUCT, item.product) else Decimal(0)
        if not question.matches and typed_numbers_dates_and_letters.is_implausible(
            more, item.expected, context.policy.large_quantity
        ):
            return _ask_quantity(state, item, question.quantity + more, context)
        if question.names(first):
            return handle_scan(state._replace(question=None), event.matches, context)
        return reply(state, WRONG, "count.answer_first", what=name_of(first))
    if event.letter == "u":
        return drop_quantity(state)
    return Turn(state, (), Verdict(WRONG, question.text(amount_of(item, question.quantity), item.label)))


def drop_quantity(state: CountState) -> Result:
    """Drop the quantity in question; the earlier one stays."""
    question, item = state.question, view.open_quantity_line(state)
    state = state._replace(choices=(), question=None)
    if question is None or question.matches or item is None:
        return reply(state, INFO, "session.dropped")
    return reply(state, INFO, "receive.dropped", quantity=amount_of(item, question.quantity), label=item.label)


def count_target(match: Match) -> CountTarget:
    """Return the target for a match: a location, or a product at all its locations."""
    return CountTarget("location" if match.kind == LOCATION else "product", match.key, match.label or match.key)


def _scan_location(state: CountState, match: Match, context: Context) -> Result:
    if match.key.casefold() == state.location.casefold():
        return reply(state, INFO, "count.this_location", place=state.location)
    if not state.counted_lines:
        before = (
            state if not any(item.is_missing for item in state.lines) else finish_count.back_to_plan(state)
        )  # an empty location is done
        return finish_count.begin_count(before._replace(sent=None), count_target(match))
    return finish_count.finish_counting(state._replace(next_target=count_target(match)), context)


def scan_product(state: CountState, match: Match, context: Context) -> Result:
    """Add a scan of a product at the open location, reading its stock first if necessary."""
    index = count_lines.find_line(state, match.key)
    if index >= 0:
        return _add_scanned(state, index, match, context)
    is_unread = state.has_unread_lines and all(item.product != match.key for item in state.lines)
    query = count_lines.query_location("here", state.location, match.key) if is_unread else _query_product(match)
    return Turn(state._replace(pending_scan=match), (query,))


def _query_product(match: Match) -> Query:
    return Query("scanned", "product", {"product_number": match.key})


def handle_product_here(state: CountState, row: LocationRow | None, context: Context) -> Result:
    """Handle the stock of a scanned product that was not read with its location."""
    match = state.pending_scan
    if match is None:
        return Turn(state)
    state = state._replace(lines=(*state.lines, *(count_lines.parse_location_lines(row) if row else ())))
    index = count_lines.find_line(state, match.key)
    if index < 0:
        return Turn(state, (_query_product(match),))
    return _add_scanned(state._replace(pending_scan=None), index, match, context)


def handle_product(state: CountState, row: ProductRow | None, context: Context) -> Result:
    """Handle the data of a scanned product without stock here."""
    match = state.pending_scan
    state = state._replace(pending_scan=None)
    if match is None:
        return Turn(state)
    stock_lines = count_lines.parse_product_lines(row) if row else ()
    if not state.location and any(item.location for item in stock_lines):
        return reply(
            state._replace(choices=(count_target(match),)), ASK, "count.has_locations", label=match.label or match.key
        )
    if not state.location:
        keys = {count_lines.line_key(item) for item in state.lines}
        state = state._replace(
            lines=(*state.lines, *(item for item in stock_lines if count_lines.line_key(item) not in keys))
        )
    index = count_lines.find_line(state, match.key)
    if index < 0:
        new = count_lines.new_line(state, match.key, match.label or match.key)
        if row:
            new = count_lines.with_product_data(new, row)
        index = len(state.lines)
        state = state._replace(lines=(*state.lines, new))
    return _add_scanned(state, index, match, context)


def _add_scanned(state: CountState, index: int, match: Match, context: Context) -> Result:
    item = state.lines[index]
    if match.quantity % 1 and not item.allows_decimals:
        return reply(state, WRONG, "input.whole_number_only", text=match.quantity)
    taken = _set_counted(state, index, item.entered + match.quantity, context, item.first_at)
    counted = taken.state.lines[index].counted or Decimal(0)
    question = _ask_if_plausible(state._replace(current_index=index), item, counted, context, scanned=match.quantity)
    return question or taken


def _set_counted(state: CountState, index: int, entered: Decimal, context: Context, begun_at: str = "") -> Result:
    state = count_lines.set_counted(state, index, entered, context.now, begun_at=begun_at)
    item = state.lines[index]
    counted = item.counted or Decimal(0)
    id_ = "count.counted" if state.is_blind or not item.expected else "count.counted_of"
    label = count_lines.label_with_pools(state, index)
    return reply(
        state, GOOD, id_, label=label, counted=amount_of(item, counted), expected=amount_of(item, item.expected)
    )


def _add_to_recount(state: CountState, match: Match, context: Context) -> Result:
    item = state.lines[state.question_index]
    if match.key != item.product:
        labels = distinct_labels(item.label, item.product, match)
        return reply(state, WRONG, "count.product_first", **labels)
    if match.quantity % 1 and not item.allows_decimals:
        return reply(state, WRONG, "input.whole_number_only", text=match.quantity)
    begun_at = context.now if state.recount_quantity is None else state.recount_begun_at
    counted = (state.recount_quantity or Decimal(0)) + match.quantity
    if asked := _ask_if_plausible(state, item, counted, context, scanned=match.quantity):
        return asked
    label = count_lines.label_with_pools(state, state.question_index)
    stock = item.latest or count_lines.expected_stock(item)
    state = state._replace(recount_quantity=counted, recounted_at=context.now, recount_stock=stock)
    state = state._replace(recount_begun_at=begun_at)
    return reply(state, GOOD, "count.counted", label=label, counted=amount_of(item, counted))


def _scan_at_stop(state: CountState, match: Match, context: Context) -> Result:
    if match.kind == PRODUCT and match.key == state.product:
        return _add_scanned(state, state.current_index, match, context)
    if match.kind == PRODUCT:
        return reply(
            state._replace(choices=(count_target(match),)),
            ASK,
            "count.other_product",
            label=match.label or match.key,
            mine=state.label,
        )
    code = match.key.casefold()
    here = [index for index, item in enumerate(state.lines) if item.location.casefold() == code]
    if here:
        index = state.current_index if state.current_index in here else here[0]
        place = count_lines.name_with_pool(state, index)
        stop = finish_count.go_to_stop(state, index)
        return reply(stop, GOOD, "count.at_stop", place=place, label=state.lines[index].label)
    new = count_lines.line_beside(state.lines[0], match.key, state.chosen_pool or state.lines[0].pool)
    state = finish_count.go_to_stop(state._replace(lines=(*state.lines, new)), len(state.lines))
    return reply(state, INFO, "count.new_stop", place=match.key, label=state.label)


# Words


def find_by_words(state: CountState, text: str) -> Result | None:
    """Ask for the quantity of the product here with these words in its name; ask which one if there are several."""
    if state.mode != "location":
        return None
    found = count_lines.find_lines_by_words(state, text)
    if not found:
        return None
    if len(found) == 1:
        return _ask_found(state, found[0])
    items = [state.lines[index] for index in found[:MAX_FOUND]]
    choices = tuple(CountTarget(count_state.FOUND_BY_WORDS, item.product, item.label) for item in items)
    state = state._replace(choices=choices, question=None, current_index=-1)
    return reply(state, ASK, "count.which_found", count=len(found), text=text)


def _ask_found(state: CountState, index: int) -> Result:
    usual = count_lines.find_line(state, state.lines[index].product)
    state = state._replace(choices=(), question=None, current_index=usual if usual >= 0 else index)
    label = count_lines.label_with_pools(state, state.current_index)
    return reply(state, ASK, "count.how_many_at", label=label, place=state.location)


# Quantities


def enter_quantity(state: CountState, value: Decimal, code: str, context: Context) -> Result:
    """Set the quantity, unless the digits are a record's number."""
    if view.open_quantity_line(state) is None:
        return Turn(state)
    query = typed_numbers_dates_and_letters.query_by_number(value, code)
    return Turn(state._replace(typed_number=value), (query,)) if query else _enter_if_plausible(state, value, context)


def handle_records_by_number(state: CountState, rows: tuple[RecordsByNumberRow, ...], context: Context) -> Result:
    """Handle the records that have these digits as their number. Without a record they are a quantity, if that is
    plausible. Otherwise ask which one is meant."""
    value, state = state.typed_number, state._replace(typed_number=None)
    if value is None:
        return Turn(state)
    matches = typed_numbers_dates_and_letters.matches_of_number(rows, value, (LOCATION, PRODUCT))
    if not matches:
        return _enter_if_plausible(state, value, context)
    if typed_numbers_dates_and_letters.is_likely_number(rows, value):
        scan = Scan(matches[:1])
        return (
            repeat_question(state, state.question, scan, context)
            if state.question
            else handle_scan(state, scan.matches, context)
        )
    question = QuantityQuestion(value, matches)
    return Turn(_with_question(state, question, context), (), Verdict(ASK, question.text(value, "")))


def _with_question(state: CountState, question: QuantityQuestion, context: Context) -> CountState:
    """Return the state with a question about a quantity, and with the time and the stock that it is counted at."""
    state = state._replace(choices=())
    line = view.open_quantity_line(state)
    stock = line and (line.latest or count_lines.expected_stock(line))
    return state._replace(question=question, asked_at=context.now, asked_stock=stock)


def _enter_if_plausible(state: CountState, value: Decimal, context: Context) -> Result:
    """Set the quantity; ask first if it is far above the stock, so that a typed code is not taken for a count."""
    item = view.open_quantity_line(state)
    if item is None:
        return Turn(state)
    if question := _ask_if_plausible(state, item, value, context):
        return question
    if state.has_moved_on and state.question != QuantityQuestion(value):  # typed again, a number is confirmed
        return _ask_quantity(state, item, value, context, "count.confirm_next")
    return _set_quantity(state, value, context)


def _ask_if_plausible(
    state: CountState, line: CountLine, value: Decimal, context: Context, scanned: Decimal = Decimal(0)
) -> Result | None:
    """Return the question about an implausible quantity; None if it is plausible. `scanned` is the quantity added by a
    scan; 0 if the value was typed."""
    counted = max(line.counted or Decimal(0), state.recount_quantity or Decimal(0))
    limit = context.policy.large_quantity
    is_far = typed_numbers_dates_and_letters.is_implausible_sum(value, line.expected, limit, counted, scanned)
    return _ask_quantity(state, line, value, context) if is_far else None


def _ask_quantity(
    state: CountState, line: CountLine, value: Decimal, context: Context, question: str = "count.confirm_quantity"
) -> Result:
    state = _with_question(state, QuantityQuestion(value), context)
    label = next((count_lines.label_with_pools(state, at) for at, each in enumerate(state.lines) if each == line), None)
    return reply(state, ASK, question, value=amount_of(line, value), label=label or line.label)


def handle_choice(state: CountState, number: int, context: Context) -> Result:
    """Apply a choice: the meaning of digits, or the next target."""
    if state.question:
        return _answer_question(state, state.question, number, context)
    choice, state = state.choices[number - 1], state._replace(choices=())
    if choice.kind == count_state.FOUND_BY_WORDS:
        return _ask_found(state, next(at for at, each in enumerate(state.lines) if each.product == choice.key))
    return finish_count.finish_counting(state._replace(next_target=choice), context)


def _answer_question(state: CountState, question: QuantityQuestion, number: int, context: Context) -> Result:
    match = question.match_of_choice(number)
    if number == 1:
        at_question = context._replace(now=state.asked_at or context.now)
        return _set_quantity(_with_asked_stock(state), question.quantity, at_question)
    if match is None:
        return drop_quantity(state)
    state = state._replace(question=None)
    if match.kind not in (PRODUCT, LOCATION):  # cannot be counted; the number was meant for another page
        return reply(state, INFO, "session.dropped")
    return handle_scan(state, (match,), context)


def _with_asked_stock(state: CountState) -> CountState:
    """Return the state in which the quantity in question is compared with the stock at the time of its input."""
    line, stock = view.open_quantity_line(state), state.asked_stock
    if line is None or stock is None:
        return state
    return count_lines.replace_line(state, state.lines.index(line), line._replace(latest=stock))


def _set_quantity(state: CountState, value: Decimal, context: Context) -> Result:
    state = state._replace(choices=(), question=None)
    if state.phase in ("recount", "missing"):
        return _answer_with_quantity(state._replace(has_moved_on=True), value, context)
    turn = _set_typed(state, value, context)
    if state.only_product:
        return _finish_single_product(turn.state, context)
    if state.mode == "product" and count_lines.next_stop(turn.state) == state.current_index:
        counted = amount_of(turn.state.lines[state.current_index], value)
        return turn._replace(verdict=Verdict(GOOD, msg("count.all_stops", label=state.label, counted=counted)))
    return turn  # another number corrects this one until a person goes on


def _set_typed(state: CountState, value: Decimal, context: Context) -> Result:
    """Set a typed quantity. The verdict names the typed quantity that it replaces."""
    index, was = state.current_index, state.lines[state.current_index]
    turn = _set_counted(state, index, value, context)
    typed = count_lines.replace_line(turn.state, index, turn.state.lines[index]._replace(is_typed=True))
    if not was.is_typed or was.counted in (None, value):
        return turn._replace(state=typed)
    label = count_lines.label_with_pools(typed, index)
    return reply(
        typed, GOOD, "count.corrected", label=label, counted=amount_of(was, value), was=amount_of(was, was.counted)
    )


def _answer_with_quantity(state: CountState, value: Decimal, context: Context) -> Result:
    """Answer a question about a line; the verdict on what comes next names that line as well."""
    label = count_lines.label_with_pools(state, state.question_index)
    taken = msg("count.counted", label=label, counted=amount_of(state.lines[state.question_index], value))
    answer = finish_count.answer_recount if state.phase == "recount" else finish_count.set_missing_quantity
    turn = answer(state, value, context)
    if turn.verdict is None or turn.verdict.detail:
        return turn
    return turn._replace(verdict=turn.verdict._replace(detail=taken))


def _finish_single_product(state: CountState, context: Context) -> Result:
    """Send the count of the location's only product; a quantity of zero needs no recount."""
    item = state.lines[state.current_index]
    return finish_count.finish_counting(
        count_lines.replace_line(state, state.current_index, item._replace(is_recounted=not item.counted)), context
    )
