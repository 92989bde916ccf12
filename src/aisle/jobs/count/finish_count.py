"""End of a count: missing lines, recounts, the summary, sending, and the next target."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs.count import changes_since_count, count_lines, count_state, later_counts
from aisle.jobs.count.changes_since_count import change_between
from aisle.jobs.count.count_state import CountLine, CountState, CountTarget, Result, SentSummary
from aisle.jobs.count.sent_count_types import CountedQuantity, SentCount, StockChange
from aisle.jobs.job import Args, Close, Context, Query, Refresh, Turn, reply
from aisle.jobs.list_cursor_and_search import scroll_rows
from aisle.jobs.log_writes_and_refusals import log_writes, new_log_entry
from aisle.jobs.names_in_messages import amount_of, measured, unit_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, msg, raw, undo_verdict

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationRow
    from aisle.jobs.row_types.log import LaterCountsRow
    from aisle.operation_body_types import LogEntry


QUERY_ALL = "all"
"""Query of all stock lines at a location, and its id."""


def reset_count(state: CountState) -> CountState:
    """Return the state without a count; what holds for the whole job stays."""
    return CountState(
        pools=state.pools,
        closes_after_send=state.closes_after_send,
        is_blind=state.is_blind,
        sent=state.sent,
        plan=state.plan,
        last_sent=state.last_sent,
        ordered_recounts=state.ordered_recounts,
        has_moved_on=state.has_moved_on,
        untaken=state.untaken,
        left_out=state.left_out,
    )


def begin_count(state: CountState, target: CountTarget, only_product: str = "") -> Result:
    todo = tuple(each for each in state.plan if (each.kind, each.key) != (target.kind, target.key))
    state = reset_count(state)._replace(
        phase="count", mode=target.kind, plan=todo, is_listed=len(todo) < len(state.plan)
    )
    if target.kind == "location":
        query = count_lines.query_location("open", target.key, only_product)
        return Turn(
            state._replace(location=target.key, only_product=only_product),
            (query, Refresh("location", target.key), Refresh("logs")),
        )
    query = Query("product_locations", "product", {"product_number": target.key})
    state = state._replace(product=target.key, label=target.label)
    return Turn(state, (query, Refresh("product", target.key), Refresh("logs")))


def go_to_stop(state: CountState, index: int) -> CountState:
    """Go to this location of the product that is counted."""
    return state._replace(phase="count", current_index=index, location=state.lines[index].location, choices=())


def resume_counting(state: CountState) -> CountState:
    """Return from a question to counting; no recount is pending then. A location that was scanned opens later."""
    if state.phase == "count":
        return state
    items = tuple(item._replace(needs_recount=False) for item in state.lines)
    index = max(0, state.question_index if state.phase == "missing" else 0)
    state = state._replace(phase="count", lines=items, current_index=-1, recount_quantity=None, first_row=0)
    if state.only_product:
        return state._replace(current_index=index)
    return go_to_stop(state, index) if state.mode == "product" else state


def end_count(state: CountState, verdict: Verdict) -> Result:
    """End this count; close the job with the sent changes if it was opened for one target."""
    if state.closes_after_send:
        sent = state.last_sent if state.sent else None
        answer = _answer(sent) if sent else None
        return Turn(state, (Close(verdict, answer=answer),), verdict)
    return Turn(reset_count(state)._replace(sent=None, phase="list" if state.plan else "start"), (), verdict)


def _answer(sent: SentCount) -> Args:
    """Return what the job below needs to undo the count."""
    changes = [tuple(each) for each in sent.changes]
    return {"what": sent.label, "changes": changes, "unknown_count": sent.unknown_count}


def back_to_plan(state: CountState) -> CountState:
    """Put the target that is not counted back on the list, if there is one."""
    if not state.plan or not (state.location or state.product):
        return state
    target = (
        CountTarget("product", state.product, state.label)
        if state.mode == "product"
        else CountTarget("location", state.location)
    )
    return state._replace(plan=(target._replace(label=target.label or target.key), *state.plan))


def finish_counting(state: CountState, context: Context) -> Result:
    start = len(state.history)
    state = state._replace(current_index=-1, recount_quantity=None, first_row=0, question_start=start)
    if state.has_unread_lines:
        return Turn(state, (Query(QUERY_ALL, "location", {"location_code": state.location}),))
    return ask_questions(state, context)


def handle_all_lines(state: CountState, row: LocationRow | None, context: Context) -> Result:
    """Handle all stock lines of the location, and ask about those not found."""
    state = state._replace(has_unread_lines=False)
    state = count_lines.with_new_expected(state, count_lines.parse_location_lines(row)) if row else state
    return ask_questions(state, context)


def ask_questions(state: CountState, context: Context) -> Result:
    """Ask what is open at the end of a count, once it is known which goods somebody counted later."""
    query = later_counts.query_later(state, later_counts.QUERY_BEFORE_QUESTIONS)
    return Turn(state, query) if query else _ask_next_question(state, context)


def _ask_next_question(state: CountState, context: Context) -> Result:
    """Ask the next question, and name the location that was scanned and opens afterwards."""
    turn = next_question(state, context)
    target = turn.state.next_target
    if target is None or target.kind != "location" or turn.verdict is None or turn.verdict.detail:
        return turn
    return turn._replace(verdict=turn.verdict._replace(detail=msg("count.opens_then", place=target.key)))


def handle_later(state: CountState, id_: str, rows: tuple[LaterCountsRow, ...], context: Context) -> Result:
    """Handle the later counts of the goods, and go on with what waits for them."""
    state = later_counts.with_later(state, rows)
    match id_:
        case later_counts.QUERY_BEFORE_QUESTIONS:
            turn = _ask_next_question(later_counts.leave_out(state), context)
        case later_counts.QUERY_BEFORE_SENDING:
            turn = send_count(later_counts.leave_out(state), context)
        case _:
            return Turn(state)
    is_opening = any(isinstance(effect, Query) for effect in turn.effects)  # its answer has a verdict of its own
    return turn if is_opening else later_counts.report_left_out(turn)


def next_question(state: CountState, context: Context) -> Result:
    """Go to the next question, then to the summary; send at once if nothing differs."""
    state = changes_since_count.apply_changes(state)
    if any(item.is_missing for item in state.lines):
        state = state._replace(phase="missing")
        return _ask_missing(state, state.question_index)
    policy = context.policy
    items = tuple(
        item._replace(
            needs_recount=item.needs_recount or (not item.is_recounted and count_state.exceeds_threshold(item, policy))
        )
        for item in state.lines
    )
    state = state._replace(lines=items)
    if any(item.needs_recount for item in items):
        state = state._replace(phase="recount")
        return reply(
            state, ASK, "count.recount_needed", label=count_lines.label_with_pools(state, state.question_index)
        )
    return ask_summary(state) if changes_since_count.reviewed_lines(state) else send_count(state, context)


def _ask_missing(state: CountState, index: int) -> Result:
    location = state.lines[index].location
    label = count_lines.label_with_pools(state, *count_lines.missing_in_pools(state, index))
    if state.mode != "product":
        return reply(state, ASK, "count.missing", label=label)
    id_ = "count.missing_at" if location else "count.missing_without_location"
    return reply(state, ASK, id_, label=label, place=location)


def ask_summary(state: CountState) -> Result:
    state = state._replace(phase="summary")
    difference = sum((item.difference for item in state.differing_lines), Decimal(0))
    value = sum((item.value for item in state.differing_lines), Decimal(0))
    id_ = "count.differ_value" if value else "count.differ"
    if len({item.unit.strip().casefold() for item in state.differing_lines}) > 1:  # kg and pieces have no sum
        id_ = "count.differ_several_units_value" if value else "count.differ_several_units"
    units = measured(difference, next((unit_of(item) for item in state.differing_lines), ""))
    return reply(state, ASK, id_, count=len(state.differing_lines), units=units, value=round(value, 2))


def answer_missing(state: CountState, number: int, context: Context) -> Result:
    index = state.question_index
    item = state.lines[index]
    same_product = count_lines.missing_in_pools(state, index)
    if number == 1:
        for each in same_product:
            state = count_lines.set_counted(state, each, Decimal(0), context.now)
        return next_question(state._replace(current_index=-1), context)
    if number == 2:
        return next_question(count_lines.leave_as_is(state, same_product), context)
    if number == 4:
        missing = [at for at, each in enumerate(state.lines) if each.is_missing]
        return next_question(count_lines.leave_as_is(state, missing), context)
    state = resume_counting(state)
    state = go_to_stop(state, index) if state.mode == "product" else state._replace(current_index=index)
    return reply(state, INFO, "goods.how_many", label=count_lines.label_with_pools(state, index), place=item.location)


def set_missing_quantity(state: CountState, counted: Decimal, context: Context) -> Result:
    """Set the quantity of a line that was not scanned and go to the next question."""
    return next_question(
        count_lines.set_counted(state, state.question_index, counted, context.now)._replace(current_index=-1), context
    )


def answer_recount(state: CountState, counted: Decimal, context: Context) -> Result:
    """Set the quantity that was counted again."""
    indexes = _recounted_indexes(state, counted)
    for each in indexes:
        state = count_lines.set_counted(state, each, counted, context.now)
    return _end_recount(state, indexes, context)


def finish_recount(state: CountState, context: Context) -> Result:
    """Finish the recount: take the sum of its scans as of the last one, or keep the first count as of its time."""
    index, counted = state.question_index, state.recount_quantity
    if counted is None:
        indexes = _recounted_indexes(state, state.lines[index].counted)
        for each in indexes:
            state = count_lines.note_entry(state, each)
        return _end_recount(state, indexes, context)
    at = state.recounted_at or context.now
    state = count_lines.set_counted(state, index, counted, at, state.recount_stock, state.recount_begun_at)
    return _end_recount(state, (index,), context)


def _recounted_indexes(state: CountState, counted: Decimal | None) -> tuple[int, ...]:
    """Return the indexes of the line in question and, if nothing is there, of its other empty pools."""
    index = state.question_index
    return (index, *(() if counted else _other_empty_pools(state, index)))


def _end_recount(state: CountState, indexes: tuple[int, ...], context: Context) -> Result:
    for each in indexes:
        line = state.lines[each]._replace(is_recounted=True, needs_recount=False)
        state = count_lines.replace_line(state, each, line)
    return next_question(state._replace(current_index=-1, recount_quantity=None), context)


def undo_recount(state: CountState) -> Result | None:
    """Undo the recount entered last and ask for it again; return None if another entry was the last one."""
    back, item = count_lines.undo_entry(state)
    if state.phase not in ("recount", "summary") or item is None or not item.is_recounted:
        return None
    index = back.current_index
    line = back.lines[index]._replace(needs_recount=True)
    label = count_lines.name_with_pool(back, index)
    was, now = (amount_of(line, each.counted or Decimal(0)) for each in (item, line))
    back = count_lines.replace_line(back, index, line)._replace(phase="recount", current_index=-1, first_row=0)
    return Turn(back, (), undo_verdict(msg("pick.undone", label=label, was=was, now=now, where=raw(""))))


def undo_left(state: CountState) -> Result | None:
    """Undo the answer that left goods as they are; they are asked about again. Return None if it was not the last."""
    back, index = count_lines.undo_left(state)
    if index < 0:
        return None
    if back.phase != "count":
        back = back._replace(phase="missing", current_index=-1, first_row=0)
    return Turn(back, (), undo_verdict(msg("count.undone_left", label=count_lines.name_with_pool(back, index))))


def undo_missing_quantity(state: CountState) -> Result | None:
    """Undo the quantity of a line that was not scanned, and ask about that line again; return None without one."""
    back, item = count_lines.undo_entry(state)
    if item is None or back.lines[back.current_index].counted is not None:
        return None
    label, was = count_lines.name_with_pool(back, back.current_index), amount_of(item, item.counted or Decimal(0))
    back = back._replace(phase="missing", current_index=-1, first_row=0)
    return Turn(back, (), undo_verdict(msg("count.undone_all", label=label, was=was)))


def _other_empty_pools(state: CountState, index: int) -> tuple[int, ...]:
    item = state.lines[index]
    return tuple(
        at
        for at, other in enumerate(state.lines)
        if at != index
        and other.needs_recount
        and other.counted == 0
        and (other.location, other.product) == (item.location, item.product)
    )


def answer_summary(state: CountState, number: int, context: Context) -> Result:
    if number == 1:
        query = later_counts.query_later(state, later_counts.QUERY_BEFORE_SENDING)
        return Turn(state, query) if query else send_count(state, context)
    if number == 3:
        return reply(resume_counting(state), INFO, "move.go_on")
    reviewed = changes_since_count.reviewed_lines(state)
    items = tuple(item._replace(needs_recount=item in reviewed, is_recounted=False) for item in state.lines)
    return next_question(state._replace(lines=items), context)


def scroll(state: CountState, key: str, context: Context) -> CountState:
    """Scroll the rows of a list."""
    return state._replace(first_row=scroll_rows(state.first_row, _row_count(state), _page_rows(state, context), key))


def fill_last_page(state: CountState, context: Context) -> CountState:
    """Scroll back so that the last page is full."""
    return state._replace(first_row=max(0, min(state.first_row, _row_count(state) - _page_rows(state, context))))


def _page_rows(state: CountState, context: Context) -> int:
    """Return the rows that are surely in sight; those of a review with booked figures may take two lines."""
    has_two_lines = state.phase == "summary" and changes_since_count.has_changes(state)
    return max(1, (context.window_rows - 2) // (1 + has_two_lines))


def _row_count(state: CountState) -> int:
    rows = changes_since_count.reviewed_lines(state) if state.phase == "summary" else state.pools
    return len(state.plan if state.phase == "list" else rows)


def send_count(state: CountState, context: Context) -> Result:
    """Send the count and open the next target."""
    label = state.label if state.mode == "product" else state.location or state.label
    next_target = state.next_target or (state.plan[0] if state.plan else None)
    if not state.counted_lines:
        state = later_counts.note_all_left_out(state)
        turn = _end_without_sending(state, label)
        return turn if next_target is None else begin_count(reset_count(state), next_target)
    entries = [_log_entry(state, item, context.user) for item in _store_total_last(state.counted_lines)]
    effects = log_writes(entries, context, is_count=True)
    sent = SentSummary(label or state.counted_lines[0].label, len(state.counted_lines), len(state.differing_lines))
    id_ = "count.sent_differing" if sent.differing_count else "count.sent"
    verdict = Verdict(GOOD, msg(id_, what=sent.label, count=sent.line_count, differing=sent.differing_count))
    state = state._replace(sent=sent, last_sent=_sent_count(sent.label, state))
    turn = end_count(state, verdict) if next_target is None else begin_count(reset_count(state), next_target)
    return turn._replace(effects=(*effects, *turn.effects), verdict=verdict)


def _end_without_sending(state: CountState, label: str) -> Result:
    """End a count of which nothing is sent: nothing is counted, or all of it was counted later by others."""
    if state.left_out is None:
        return end_count(state, Verdict(INFO, msg("count.nothing", what=label)))
    told = later_counts.left_out_message(state.left_out)
    return end_count(state._replace(left_out=None), Verdict(WRONG, told))


def _sent_count(label: str, state: CountState) -> SentCount:
    """Return the stock changes of this count, for undo after it is sent; a count without a difference is undone too."""
    changes = tuple(
        StockChange(
            item.product, item.location, item.pool, item.difference, _counted_at(state, item), item.label, unit_of(item)
        )
        for item in _store_total_last(state.counted_lines)
        if not item.is_expected_unknown
    )
    counted = tuple(CountedQuantity(item.product, item.counted or Decimal(0)) for item in state.counted_lines)
    sent = SentCount(label, changes, sum(item.is_expected_unknown for item in state.counted_lines), counted)
    if not (state.plan or state.is_listed):
        return sent
    return sent._replace(listed_kind=state.mode, listed_key=state.product or state.location)


def _counted_at(state: CountState, line: CountLine) -> str:
    """Return the time of counting; for a store total that of its latest part."""
    return line.counted_at if line.location else max([line.counted_at, *(other.counted_at for other in state.lines)])


def _store_total_last(items: tuple[CountLine, ...]) -> list[CountLine]:
    """Return the lines with stock at no location last: it is sent as the store's total, locations included."""
    return sorted(items, key=lambda item: not item.location)


def _log_entry(state: CountState, line: CountLine, user: str) -> LogEntry:
    counted, expected = line.counted or Decimal(0), line.expected
    if not line.location:
        others = [other for other in state.lines if other.location and _is_part_of(other, line)]
        at = _counted_at(state, line)
        at_locations = change_between(state, line, line.counted_at, at)
        at_locations += sum((_stock_at(state, other, at) for other in others), Decimal(0))
        if state.mode == "product":  # goods in hand for orders belong to the store's total
            at_locations += line.held
        counted, expected = counted + at_locations, expected + at_locations
    is_default_pool = line.pool in (0, state.default_pool if state.mode == "location" and line.location else 0)
    has_several_pools = line.location and sum(count_lines.is_same_goods(item, line) for item in state.lines) > 1
    is_default_pool = is_default_pool and not has_several_pools
    quantity = "counted_quantity" if is_default_pool else f"stock_pool_{line.pool or state.usual_pool}"
    entry = new_log_entry(line.product, line.location, quantity, counted, _counted_at(state, line), user)
    if not line.is_expected_unknown:
        entry["expected_quantity"] = expected
    return entry


def _stock_at(state: CountState, line: CountLine, at: str) -> Decimal:
    """Return the stock of a line at a time after it was counted; the expected one if it is not counted."""
    return line.expected if line.counted is None else line.counted + change_between(state, line, line.counted_at, at)


def _is_part_of(line: CountLine, total: CountLine) -> bool:
    """Return True if the line of a location is part of this total; a total without a pool includes all pools."""
    return line.product == total.product and total.pool in (0, line.pool)
