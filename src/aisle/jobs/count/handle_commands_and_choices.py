"""Commands and choices of a count: letters, numbered answers, the stock pool, and going back."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.count import (
    count_lines,
    count_plan,
    finish_count,
    handle_scans_and_quantities,
    undo_sent_count,
)
from aisle.jobs.count.count_state import CountState, Result
from aisle.jobs.job import Close, Context, Start, Turn, UndoLast, reply
from aisle.jobs.names_in_messages import amount_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw, undo_verdict
from aisle.scan.grammar_and_meaning_types import Command


def handle_command(state: CountState, command: Command, context: Context) -> Result:
    """Handle a command by its letter."""
    letter = command.letter
    if letter == "l" and state.phase in ("start", "count"):
        item = state.current_line
        args = {"location_code": state.location, "product_number": item.product if item else ""}
        return Turn(state, (Start("adjust", args),))
    if state.phase == "start":
        return _undo_last(state, command, context) if letter == "u" else go_back(state)
    if state.phase == "list":
        return _handle_plan_command(state, letter, context)
    if state.phase == "recount" and letter in "dn":
        return finish_count.finish_recount(state, context)
    if state.phase in ("summary", "pool") and letter == "n":
        return Turn(finish_count.scroll(state, "pagedown", context))
    if letter == "u" and state.phase == "pool":
        return go_back(state)
    if letter == "u" and state.phase in ("missing", "recount", "summary"):
        return _undo_in_question(state)
    if state.phase != "count":
        return Turn(state)
    state = state._replace(choices=())
    match letter:
        case "d":
            return finish_count.finish_counting(state, context)
        case "u":
            if state.history or not state.last_sent:
                return _undo_step(state)
            return _undo_last(state, command, context)
        case "k":
            return _ask_pool(state)
        case "n" if state.mode == "product":
            return _skip(state)
        case "n" if state.plan:
            return count_plan.next_in_plan(state, context)
    return Turn(state)


def _undo_last(state: CountState, command: Command, context: Context) -> Result:
    """Undo the last step of this person, most often the count sent last; loss, recount or another job may be later."""
    return undo_sent_count.undo_sent(state, context) if command.is_own_step else Turn(state, (UndoLast(),))


def _handle_plan_command(state: CountState, letter: str, context: Context) -> Result:
    match letter:
        case "d":
            return count_plan.start_plan(state)
        case "w":
            return count_plan.query_aisle(state)
        case "u":
            return count_plan.remove_from_plan(state)
    return Turn(finish_count.scroll(state, "pagedown", context))


def _skip(state: CountState) -> Result:
    next_index = count_lines.next_stop(state)
    if next_index == state.current_index:
        return reply(state, INFO, "count.last_stop")
    is_counted = state.lines[state.current_index].counted is not None
    moved = finish_count.go_to_stop(state, next_index)
    if not state.lines[next_index].location:
        return reply(moved, INFO, "count.next_without_location" if is_counted else "count.later_without_location")
    place = count_lines.name_with_pool(state, next_index)
    return reply(moved, INFO, "clearance_tasks.started" if is_counted else "count.later", place=place)


def _undo_in_question(state: CountState) -> Result:
    """Undo the last answer, which is asked for again; without one, return to counting. Of a recount, undo first what
    was counted again."""
    if state.phase == "recount" and state.recount_quantity is not None:
        return Turn(state._replace(recount_quantity=None), (), Verdict(INFO, _recount_dropped(state)))
    undone = None
    if len(state.history) > state.question_start:
        undone = (
            finish_count.undo_left(state)
            or finish_count.undo_recount(state)
            or finish_count.undo_missing_quantity(state)
        )
    return undone or go_back(state)


def _recount_dropped(state: CountState) -> Msg:
    label = count_lines.label_with_pools(state, state.question_index)
    value = amount_of(state.lines[state.question_index], state.recount_quantity or Decimal(0))
    return msg("receive.dropped", quantity=value, label=label)


def _undo_step(state: CountState) -> Result:
    if state.history and (loss := state.history[-1].loss):
        return Turn(state._replace(history=state.history[:-1]), (Start("adjust", {"undo": loss}),))
    if undone := finish_count.undo_left(state):
        return undone
    back, item = count_lines.undo_entry(state)
    if item is None:
        return reply(back, WRONG, "pick.nothing_to_undo")
    now = back.lines[back.current_index].counted
    was = amount_of(item, item.counted or Decimal(0))
    label = count_lines.name_with_pool(back, back.current_index)
    if now is None:
        return Turn(back, (), undo_verdict(msg("count.undone_all", label=label, was=was)))
    return Turn(
        back, (), undo_verdict(msg("pick.undone", label=label, was=was, now=amount_of(item, now), where=raw("")))
    )


def _ask_pool(state: CountState) -> Result:
    if len(state.pools) < 2 or state.only_product:
        return reply(state, INFO, "count.one_pool")
    return reply(state._replace(phase="pool"), ASK, "count.which_pool")


def set_pool(state: CountState, number: int) -> Result:
    """Count in this stock pool from now on."""
    pool = next((pool for pool in state.pools if pool.number == number), None)
    if pool is None:
        return reply(state, WRONG, "count.no_pool", number=number)
    state = state._replace(phase="count", chosen_pool=number, first_row=0)
    if state.mode == "product":
        current = state.lines[max(0, state.current_index)]
        line = count_lines.line_beside(current, current.location, pool.number)
        keys = [count_lines.line_key(item) for item in state.lines]
        key = count_lines.line_key(current if (current.pool, pool.number) == (0, state.usual_pool) else line)
        if key not in keys:
            state = state._replace(lines=(*state.lines, line))
            keys.append(key)
        state = finish_count.go_to_stop(state, keys.index(key))
    else:
        state = state._replace(current_index=-1)
    return reply(state, GOOD, "count.pool_chosen", number=pool.number, name=pool.name)


def go_back(state: CountState) -> Result:
    """Leave a question, then the location or product, then the job."""
    if state.choices or state.question:
        return handle_scans_and_quantities.drop_quantity(state)
    if state.phase == "start":
        return Turn(state, (Close(Verdict(INFO, msg("count.closed"))),))
    if state.phase == "list":
        return reply(state._replace(phase="start", first_row=0), INFO, "count.list_kept", count=len(state.plan))
    if state.phase in ("pool", "leave"):
        return reply(state._replace(phase="count", first_row=0), INFO, "move.go_on")
    resumed = finish_count.resume_counting(state)._replace(next_target=None)
    if state.phase == "recount" and state.recount_quantity is not None:
        return Turn(resumed, (), Verdict(INFO, _recount_dropped(state)))
    if state.phase != "count":
        return reply(resumed, INFO, "move.go_on")
    if state.counted_lines:
        return reply(state._replace(phase="leave"), ASK, "count.leave", count=len(state.counted_lines))
    return finish_count.end_count(finish_count.back_to_plan(state), Verdict(INFO, msg("count.closed")))


def handle_choice(state: CountState, number: int, context: Context) -> Result:
    """Handle a choice by its number."""
    if state.choices or state.question:
        return handle_scans_and_quantities.handle_choice(state, number, context)
    match state.phase:
        case "start" if number == 3:
            return reply(count_plan.show_plan(state), INFO, "count.to_list")
        case "start" if number == 4:
            return Turn(state, (Start("exceptions", {"kind": "recounts"}),))
        case "start":
            return Turn(state, (Start("adjust", {}) if number == 1 else Start("my_entries", {}),))
        case "missing":
            return finish_count.answer_missing(state, number, context)
        case "summary":
            return finish_count.answer_summary(state, number, context)
    if number == 1:
        return finish_count.finish_counting(state, context)
    if number == 2:
        gone = Verdict(INFO, msg("count.thrown_away", count=len(state.counted_lines)))
        return finish_count.end_count(finish_count.back_to_plan(state), gone)
    return reply(state._replace(phase="count"), INFO, "move.go_on")
