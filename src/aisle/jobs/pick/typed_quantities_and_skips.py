"""Typed quantities in a pick, another location of a line, and skipped stops."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aisle.jobs import quantity_or_record
from aisle.jobs.job import Context, Turn, reply
from aisle.jobs.pick import (
    current_and_next_stop,
    goods_in_hand,
    location_questions,
    put_down_at_location,
    rejected_scans_and_quantities,
    set_and_restore_picked_quantities,
    unanswered_question,
)
from aisle.jobs.pick.pick_line import PickLine
from aisle.jobs.pick.pick_scanned_goods import pick_product, report_picked
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result, Tote
from aisle.jobs.pick.rejected_scans_and_quantities import reject_input
from aisle.jobs.view import ASK, GOOD, INFO, Verdict
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match


def enter_quantity(state: PickState, value: Decimal, code: str, context: Context) -> Result:
    """Set the total picked at the stop to the typed value, or add it as the quantity of the pack that was asked for.
    The digits may instead be the number of a record, or the picker may be asked where the goods were picked."""
    if state.current_line is None:
        return Turn(state)
    asked = location_questions.set_total(state, value)
    return _query_number(state, value, code) or asked or check_quantity(state, value, (), context)


def _query_number(state: PickState, value: Decimal, code: str) -> Result | None:
    """Query the records with this number; a question about scanned goods or a location stays until the answer
    arrives."""
    turn = rejected_scans_and_quantities.query_number(state, value, code)
    is_kept = unanswered_question.is_about_goods(state) or location_questions.scanned_locations(state)
    if turn is None or not is_kept:
        return turn
    return turn._replace(state=state._replace(lookup=turn.state.lookup))


def set_checked_total(state: PickState, value: Decimal, matches: Sequence[Match]) -> Result | None:
    """Set the total of the goods whose location is asked for, or ask if the digits are the number of a record
    (`matches`), such as the label of that location; None if no location is asked for."""
    asked = location_questions.set_total(state, value)
    if not asked or not asked.verdict or asked.verdict.kind != ASK or not matches:
        return asked
    kept = unanswered_question.goods_choices(state) or location_questions.scanned_locations(state)
    return _ask_quantity_or_record(state, value, matches, kept)


def _ask_quantity_or_record(
    state: PickState, value: Decimal, matches: Sequence[Match], kept: Sequence[PickChoice]
) -> Result:
    """Ask whether digits are a quantity or the number of a record; the choices that are kept stay open."""
    others = (PickChoice(f"is_{each.kind}", each.key, each.label) for each in matches)
    state_asked = state._replace(choices=(PickChoice("amount", quantity=value), *others, *kept))
    return Turn(state_asked, (), Verdict(ASK, quantity_or_record.number_question(matches[0], value)))


def check_quantity(state: PickState, value: Decimal, matches: Sequence[Match], context: Context) -> Result:
    """Set the total, unless it exceeds the ordered quantity or the digits are the number of a record (`matches`)."""
    others = [PickChoice(f"is_{each.kind}", each.key, each.label) for each in matches]
    goods, state = (
        unanswered_question.goods_choices(state),
        state._replace(untaken=Decimal(0)),
    )  # the last number counts
    if matches and unanswered_question.is_about_goods(state):  # else the question about scanned goods would be lost
        return _ask_quantity_or_record(state, value, matches, goods)
    if too_many := rejected_scans_and_quantities.reject_too_many(state, value, *others):
        return too_many
    if matches:
        return _ask_quantity_or_record(state, value, matches, goods)
    return _set_checked_quantity(state._replace(choices=()), value, context)


def ask_tote_or_quantity(state: PickState, value: Decimal, tote: Tote) -> Result:
    """Select the tote if its number exceeds the ordered quantity; otherwise ask which of the two was meant. A question
    about scanned goods stays open."""
    is_tote, goods = value > current_and_next_stop.ordered_at_stop(state), unanswered_question.goods_choices(state)
    if is_tote and unanswered_question.is_about_goods(state):
        return unanswered_question.repeat_goods_question(state)
    if is_tote:
        return put_down_at_location.select_tote(state._replace(choices=()), tote)
    choices = (PickChoice("amount", quantity=value), PickChoice("tote", tote.order), *goods)
    state_asked = state._replace(choices=choices)
    return reply(state_asked, ASK, "pick.number_of_tote", value=value, tote=tote.letter, order=tote.order)


def _set_checked_quantity(state: PickState, value: Decimal, context: Context) -> Result:
    """Set this picker's total of the stop, filling its totes in order; ask first if that would empty one of several."""
    line = state.current_line
    if line is None:
        return Turn(state)
    if state.is_pack_asked:
        return _add_pack(state, line, value, context)
    indexes = current_and_next_stop.lines_of_stop(state, state.current_index)
    lines = [state.lines[index] for index in indexes]
    _, of, _ = current_and_next_stop.sum_lines(lines)
    moved = sum((each.moved for each in lines), Decimal(0))
    if value < moved:
        return reject_input(state, "pick.moved", label=line.label, quantity=moved)
    done, _, rest = current_and_next_stop.sum_lines(lines)
    done -= goods_in_hand.sum_of_others(state, lines)
    if value < done and len({each.order for each in lines}) > 1:
        choices = [PickChoice("set", line.product, quantity=value)]
        if value and value <= rest:
            choices.append(PickChoice("set", line.product, quantity=done + value))
        return reject_input(
            state, "pick.fewer_than_picked", *choices, label=line.label, quantity=value, done=done, of=of
        )
    return set_quantity(state, value, context)


def _add_pack(state: PickState, line: PickLine, value: Decimal, context: Context) -> Result:
    """Add the typed quantity of the scanned pack; 0 drops it."""
    if not value:
        return drop_pack(state)
    return pick_product(state, Match(PRODUCT, line.product, line.label, value, is_explicit=True), context)


def drop_pack(state: PickState) -> Result:
    """Drop the scanned pack whose quantity is asked; the next number is a total again if something is picked."""
    picked, _, _ = current_and_next_stop.sum_lines(current_and_next_stop.current_stop_lines(state))
    state = state._replace(is_pack_asked=False, is_quantity_open=picked > 0, choices=())
    return reply(state, INFO, "session.dropped")


def set_quantity(state: PickState, value: Decimal, context: Context) -> Result:
    """Set the total that this picker has of the stop, more or less than before."""
    changes = set_and_restore_picked_quantities.set_over_lines(
        state, current_and_next_stop.lines_of_stop(state, state.current_index), value
    )
    return report_picked(state, changes, context, is_total=True)


def pick_rest(state: PickState, product_number: str, context: Context) -> Result:
    """Pick all that is still needed of a product at one location."""
    indexes = set_and_restore_picked_quantities.fillable_lines(state, product_number)
    rest = sum((state.lines[index].remaining for index in indexes), Decimal(0))
    return (
        report_picked(state, set_and_restore_picked_quantities.add_over_lines(state, indexes, rest), context)
        if indexes
        else Turn(state)
    )


def change_location(state: PickState, location: str, pool: int) -> Result:
    """Pick the stop from another location, keeping its position in the walk."""
    line = state.current_line
    if line is None:
        return Turn(state)
    moved, lines = set_and_restore_picked_quantities.move_stop(
        state, state.current_index, lambda each: each.at_location(location, pool)
    )
    at_stop = moved._replace(lines=tuple(lines), location=location)
    return reply(
        current_and_next_stop.with_lines(at_stop, lines),
        GOOD,
        "pick.location_changed",
        place=location,
        label=line.label,
    )


def skip_stop(state: PickState) -> Result:
    """Skip the stop and go to the next open one, wrapping at the end of the walk."""
    stop = current_and_next_stop.lines_of_stop(state, state.current_index)
    before = state.current_line
    next_state = current_and_next_stop.go_to_next_stop(
        state._replace(is_quantity_open=False, choices=()), max(stop, default=-1) + 1, first=False
    )
    if before and next_state.current_line and next_state.current_line.stop_key == before.stop_key:
        return reply(next_state, INFO, "locations.last_location")
    return reply(next_state, INFO, "pick.later", label=next_state.current_line.label if next_state.current_line else "")
