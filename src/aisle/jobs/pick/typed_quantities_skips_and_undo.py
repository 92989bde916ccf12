"""Changes of lines in a pick: typed quantities, skipping, another location, shortages and undo."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aisle.decimal_of_row import to_decimal
from aisle.jobs import find_and_report_refusals, quantity_or_record
from aisle.jobs.count import undo_sent_count
from aisle.jobs.job import Args, Context, Start, Turn, Write, reply
from aisle.jobs.name_goods_and_locations import GoodsAmount, at_location, goods_message
from aisle.jobs.pick import (
    current_and_next_stop,
    expected_and_held_stock,
    location_questions,
    operations,
    pick_state,
    put_down_at_location,
    rejected_scans_and_quantities,
    set_and_restore_picked_quantities,
    unanswered_question,
)
from aisle.jobs.pick.merge_changed_orders import remove_order
from aisle.jobs.pick.pick_line import PickLine, move_line
from aisle.jobs.pick.pick_scanned_goods import pick_product, report_picked
from aisle.jobs.pick.pick_state import PickChoice, PickState, Tote, UndoStep
from aisle.jobs.pick.rejected_scans_and_quantities import reject_input
from aisle.jobs.pick.set_and_restore_picked_quantities import moved_stop_step, restore_lines, restore_sources
from aisle.jobs.view import ASK, GOOD, INFO, Msg, Verdict, msg, undo_verdict
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import MyEntriesRow
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow

Result = Turn[PickState]


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
    """Set the total of the stop, filling its totes in order; ask first if that would empty one of several."""
    take = state.current_line
    if take is None:
        return Turn(state)
    if state.is_pack_asked:
        return _add_pack(state, take, value, context)
    indexes = current_and_next_stop.lines_of_stop(state, state.current_index)
    lines = [state.lines[index] for index in indexes]
    _, of, _ = current_and_next_stop.sum_lines(lines)
    moved = sum((line.moved for line in lines), Decimal(0))
    if value < moved:
        return reject_input(state, "pick.moved", label=take.label, quantity=moved)
    done, _, rest = current_and_next_stop.sum_lines(lines)
    if value < done and len({line.order for line in lines}) > 1:
        choices = [PickChoice("set", take.product, quantity=value)]
        if value and value <= rest:
            choices.append(PickChoice("set", take.product, quantity=done + value))
        return reject_input(
            state, "pick.fewer_than_picked", *choices, label=take.label, quantity=value, done=done, of=of
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
    """Set the total picked at the stop, more or less than before."""
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
    take = state.current_line
    if take is None:
        return Turn(state)
    stop = set(current_and_next_stop.lines_of_stop(state, state.current_index))
    takes = [
        each._replace(location=location, pool=pool or each.pool, barred_pools=())
        if index in stop and each.is_open
        else each
        for index, each in enumerate(state.lines)
    ]
    first_open = next(index for index in sorted(stop) if takes[index].is_open)
    moved = [state.lines[index] for index in sorted(stop) if state.lines[index].is_open]
    at_stop = pick_state.add_undo_step(
        state._replace(lines=tuple(takes), current_index=first_open, location=location), moved_stop_step(moved)
    )
    return reply(
        current_and_next_stop.with_lines(at_stop, takes),
        GOOD,
        "pick.location_changed",
        place=location,
        label=take.label,
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


# Shortage


def start_shortage(state: PickState) -> Result:
    """Start the shortage job: reasons for the shortage, and other locations with stock."""
    take = state.current_line
    if take is None:
        return Turn(state)
    lines = current_and_next_stop.current_stop_lines(state)
    done, of, rest = current_and_next_stop.sum_lines(lines)
    orders = [
        {
            "order_number": line.order,
            "line_number": line.line,
            "tote": pick_state.tote_letter(state, line.order) if state.is_batch else "",
            "rest": line.remaining,
        }
        for line in lines
        if line.is_open
    ]
    args = {
        "orders": orders,
        "product_number": take.product,
        "label": take.label,
        "location": take.location,
        "pool": take.pool,
        "pools": list(take.pools),
        "taken": done,
        "ordered": of,
        "rest": rest,
        "decimal": take.allows_decimals,
        "unit": take.unit,
    }
    if take.held_for and not take.stocked_locations:
        args["held_for"] = [[order, str(quantity)] for order, quantity in take.held_for]
    return Turn(state._replace(choices=()), (Start("shortage", args),))


def apply_shortage(state: PickState, answer: Args, context: Context) -> Result:
    """Apply the answer of the shortage job: pick elsewhere, close the line short, or reject the order."""
    if answer["kind"] == "reject":
        return _reject_order(state, answer, context)
    take = state.current_line
    if take is None:
        return Turn(state)
    if answer["kind"] == "elsewhere":
        return _move_stop(state, str(answer["location"]), int(answer.get("pool") or 0))
    return _close_short(state, answer, context)


def _move_stop(state: PickState, location: str, pool: int) -> Result:
    take = state.current_line
    assert take is not None
    stop = set(current_and_next_stop.lines_of_stop(state, state.current_index))
    takes = [
        move_line(each, location, pool, state.lines) if index in stop and each.is_open else each
        for index, each in enumerate(state.lines)
    ]
    moved = [state.lines[index] for index in sorted(stop) if state.lines[index].is_open]
    next_state = current_and_next_stop.with_lines(
        pick_state.add_undo_step(state, moved_stop_step(moved))._replace(
            is_quantity_open=False, choices=(), location=""
        ),
        takes,
    )
    is_current = (
        next_state.current_line is not None and next_state.current_line.location.casefold() == location.casefold()
    )
    return reply(
        next_state, GOOD, "pick.elsewhere" if is_current else "pick.comes_later", label=take.label, place=location
    )


def _close_short(state: PickState, answer: Args, context: Context) -> Result:
    take = state.current_line
    assert take is not None
    stop = current_and_next_stop.lines_of_stop(state, state.current_index)
    indexes = [index for index in stop if state.lines[index].is_open]
    picked, of, rest = current_and_next_stop.sum_lines(state.lines[index] for index in stop)
    done = picked + rest - to_decimal(answer.get("rest", rest))  # others may have picked since
    code, reason = str(answer.get("code") or ""), str(answer.get("text") or "")
    closed, writes = operations.close_short(state, indexes, context.store, code, reason)
    next_state = current_and_next_stop.go_to_next_stop(closed._replace(is_quantity_open=False), indexes[-1])
    if answer.get("empty") and take.location:
        next_state = next_state._replace(choices=(PickChoice("count", take.location, product=take.product),))
    return reply(next_state, GOOD, "pick.short", *writes, label=take.label, done=done, of=of)


def _reject_order(state: PickState, answer: Args, context: Context) -> Result:
    tote = pick_state.find_tote(state, str(answer.get("order_number") or state.order))
    if tote is None:
        return Turn(state)
    code, reason = str(answer.get("code") or ""), str(answer.get("text") or "")
    write = operations.reject_write(tote.order, code, reason, context.store)
    removed = remove_order(state, tote, "rejected_here", kind=GOOD)
    return removed._replace(effects=(write, *removed.effects))


# Undo


def undo_step(state: PickState, context: Context) -> Result:
    """Undo the last step that can be undone."""
    while state.history:
        last = state.history[-1]
        if last.sent_count and last.sent_count.changes:
            return Turn(state, (undo_sent_count.query_booked(last.sent_count.changes, context),))
        state = state._replace(history=state.history[:-1])
        if last.sent_count:
            return Turn(state, (), undo_sent_count.no_undo_verdict(last.sent_count))
        if last.returned:
            return put_down_at_location.undo_return(state, last, context)
        if last.sources_before:
            turn = _undo_move_stop(state, last)
        else:
            turn = _undo_put_down(state, last, context) if last.put_down else _undo_lines(state, last, context)
        if turn:
            return turn
    return reject_input(state, "pick.nothing_to_undo")


def take_booked(state: PickState, rows: tuple[MyEntriesRow, ...]) -> Result:
    """Take over the differences that the service booked for a count; query which entries it refused."""
    step = state.history[-1] if state.history else None
    if step is None or step.sent_count is None:
        return Turn(state)
    refused = find_and_report_refusals.query_refused_since(change.counted_at for change in step.sent_count.changes)
    booked = step._replace(sent_count=undo_sent_count.with_booked(step.sent_count, rows))
    return Turn(state._replace(history=(*state.history[:-1], booked)), (refused,))


def undo_count(state: PickState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Reverse the changes of a count sent from here, except those that the service refused."""
    sent = state.history[-1].sent_count if state.history else None
    if sent is None:
        return Turn(state)
    writes, verdict = undo_sent_count.undo_count(sent, rows, context)
    state = state._replace(history=state.history[:-1], choices=() if writes else state.choices)
    return Turn(state, writes, verdict)


def _undo_move_stop(state: PickState, step: UndoStep) -> Result | None:
    takes, first = restore_sources(state, step)
    if first is None:
        return None
    restored = current_and_next_stop.with_lines(
        state._replace(is_quantity_open=False, choices=(), location="", only_order=""), takes
    )
    line = first.order, first.line
    at = next(index for index, take in enumerate(restored.lines) if (take.order, take.line) == line)
    return Turn(
        current_and_next_stop.go_to_line(restored, at),
        (),
        undo_verdict(msg("pick.move_stop_undone", label=first.label, place=first.location)),
    )


def _undo_put_down(state: PickState, step: UndoStep, context: Context) -> Result | None:
    restored, writes = operations.undo_put_down(state, step, context.store, context.user)
    if not writes:
        return None
    restored = restored._replace(choices=(), only_order="")
    text = goods_message(
        "pick.put_down_undone", "pick.put_down_undone_many", _goods_in_hand_again(state, restored), place=step.location
    )
    if state.is_batch:
        orders = [take.order for take, now in zip(state.lines, restored.lines, strict=True) if take.moved != now.moved]
        text = msg("pick.for_tote", tote=_tote_letters(state, orders), what=text)
    return Turn(restored, writes, undo_verdict(text))


def _goods_in_hand_again(before: PickState, after: PickState) -> list[GoodsAmount]:
    pairs = zip(before.lines, after.lines, strict=True)
    return [
        GoodsAmount(take.product, take.label, take.moved - now.moved, take.unit if take.allows_decimals else "")
        for take, now in pairs
        if take.moved != now.moved
    ]


def _undo_lines(state: PickState, step: UndoStep, context: Context) -> Result | None:
    restored, touched = restore_lines(state, step.lines_before)
    if not touched:
        return None
    take = restored.lines[touched[-1]]
    keys = {(each.order, each.line) for each in step.lines_before}
    named = [index for index, line in enumerate(state.lines) if (line.order, line.line) in keys]
    was, _, _ = current_and_next_stop.sum_lines(state.lines[index] for index in named)
    now, _, _ = current_and_next_stop.sum_lines(restored.lines[index] for index in named)
    where = at_location(_undone_location(state, restored, touched[-1]))
    text = msg("pick.undone", label=take.label, was=was, now=now, where=where)
    if any(restored.lines[index].is_closed and not state.lines[index].is_closed for index in touched):
        _, of, _ = current_and_next_stop.sum_lines(restored.lines[index] for index in touched)
        text = msg("pick.closed_again", label=take.label, done=now, of=of)
    elif was == now:
        text = msg("pick.reopened", label=take.label)
    if state.is_batch:
        text = msg(
            "pick.for_tote", tote=_tote_letters(restored, (restored.lines[index].order for index in named)), what=text
        )
    writes: tuple[Write, ...] = operations.update_lines(state, restored, touched, context.store)
    first = next((index for index in touched if restored.lines[index].is_open), -1)
    next_state = (
        current_and_next_stop.go_to_line(restored, first)._replace(is_quantity_open=True)
        if first >= 0
        else current_and_next_stop.go_to_next_stop(restored._replace(is_quantity_open=False))
    )
    return Turn(_leave_held_goods(next_state)._replace(only_order=""), writes, undo_verdict(text))


def _undone_location(state: PickState, restored: PickState, index: int) -> str | Msg:
    """Return the location of a pick that was undone, and how much of it was booked at none."""
    count = sum(
        sign * expected_and_held_stock.picked_of_no_location(each, each.lines[index])
        for sign, each in ((1, state), (-1, restored))
    )
    place = restored.lines[index].location
    return msg("pick.partly_at_no_location", place=place, count=count) if count > 0 else place


def _leave_held_goods(state: PickState) -> PickState:
    """Move the stop back from a location where all goods are held for other orders: no page sends a picker to them."""
    step, take = state.history[-1] if state.history else None, state.current_line
    if step is None or take is None or not expected_and_held_stock.is_all_held(state, take):
        return state
    takes, first = restore_sources(state, step)
    moved = {(each.order, each.line) for each in step.sources_before}
    if first is None or (take.order, take.line) not in moved:
        return state
    restored = current_and_next_stop.with_lines(state._replace(history=state.history[:-1], location=""), takes)
    at = next(index for index, each in enumerate(restored.lines) if (each.order, each.line) == (take.order, take.line))
    return current_and_next_stop.go_to_line(restored, at)


def _tote_letters(state: PickState, orders: Any) -> str:
    return " ".join(dict.fromkeys(pick_state.tote_letter(state, order) for order in orders))
