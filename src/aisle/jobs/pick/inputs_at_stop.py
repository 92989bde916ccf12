"""Inputs at a stop of a pick: scanned goods, typed quantities, skips, and the start and answer of a shortage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import product_rows_and_weekly_sales, typed_numbers_dates_and_letters
from aisle.jobs.job import Args, Context, Start, Turn, reply
from aisle.jobs.names_in_messages import unit_of
from aisle.jobs.pick import (
    location_questions,
    open_question_and_choices,
    pick_state,
    picked_quantities_and_operations,
    put_down_at_location,
    rejected_scans_and_quantities,
    stops_and_goods_in_hand,
    verify_totes,
)
from aisle.jobs.pick.merge_changed_orders import remove_order
from aisle.jobs.pick.pick_line import PickLine, move_line
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result, Tote
from aisle.jobs.pick.picked_quantities_and_operations import move_stop
from aisle.jobs.pick.rejected_scans_and_quantities import reject_input
from aisle.jobs.tote_labels_and_repeated_reads import LabelRead
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import StockAtLocationRow


def pick_product(state: PickState, match: Match, context: Context) -> Result:
    """Add the scanned quantity to the open lines of the product, filling each tote before the next."""
    indexes = picked_quantities_and_operations.lines_with_product(state, match.key)
    label = match.label or match.key
    if not indexes:
        return rejected_scans_and_quantities.query_foreign_product(state, match)
    open_ = picked_quantities_and_operations.fillable_lines(state, match.key)
    if not open_:
        return _report_full(state, indexes, match)
    first = state.lines[open_[0]]
    if match.quantity % 1 and not first.allows_decimals:
        return reject_input(state, "input.whole_number_only", text=match.quantity)
    if question := location_questions.ask_location(state, match, open_):
        return question
    if state.verifies_locations and first.location and first.location.casefold() != state.location.casefold():
        return reject_input(
            stops_and_goods_in_hand.go_to_line(state, open_[0]),
            "pick.location_first_scan",
            place=first.location,
            label=label,
        )
    if first.allows_decimals and not match.is_explicit:
        held = stops_and_goods_in_hand.go_to_line(state, open_[0])._replace(
            is_quantity_open=True, is_pack_asked=True, choices=()
        )
        text = msg("pick.weigh", label=label, rest=first.remaining, unit=first.unit)
        return Turn(held, (), Verdict(INFO, _for_tote(state, first.order, text)))
    rest = sum((state.lines[index].remaining for index in open_), Decimal(0))
    if match.quantity > rest:
        at_stop, choice = (
            stops_and_goods_in_hand.go_to_line(state, open_[0])._replace(
                is_quantity_open=True, is_pack_asked=first.allows_decimals
            ),
            PickChoice("take_rest", match.key, quantity=match.quantity),
        )
        return rejected_scans_and_quantities.reject_more_than_rest(at_stop, match.quantity, open_, choice)
    return report_picked(state, picked_quantities_and_operations.add_over_lines(state, open_, match.quantity), context)


def pick_at_location(state: PickState, choice: PickChoice, context: Context) -> Result:
    """Pick the scanned product from the location that was chosen for it."""
    explicit = bool(choice.quantity)
    match = Match(PRODUCT, choice.product, choice.label, choice.quantity or Decimal(1), explicit)
    state = location_questions.go_to_chosen_location(state, choice)._replace(choices=(), location_read=LabelRead())
    turn = pick_product(state, match, context)
    if turn.verdict is None or turn.verdict.kind != GOOD:
        return turn
    if stops_and_goods_in_hand.is_without_stock(turn.verdict.detail):
        return turn._replace(verdict=turn.verdict._replace(detail=msg("pick.booked_nowhere", place=choice.key)))
    return turn._replace(verdict=turn.verdict._replace(text=msg("pair", name=choice.key, value=turn.verdict.text)))


def handle_location_answer(state: PickState, row: StockAtLocationRow, context: Context) -> Result:
    """Handle the data of a scanned location that is not the stop's. It answers where goods were picked if their pools
    are allowed; otherwise it may change the stop's location."""
    if not location_questions.product_in_question(state):
        return location_questions.ask_change_location(state, row)
    location = state.lookup.key
    pool, wrong_pool = location_questions.allowed_pool(state, row)
    state = state._replace(lookup=pick_state.StoreLookup())
    if wrong_pool:
        return Turn(state, (), Verdict(WRONG, wrong_pool))
    choice = location_questions.choice_with_location(state, location, pool)
    held = product_rows_and_weekly_sales.held_by_order(
        row.get("held_goods") or (), {tote.order for tote in state.totes}
    )
    if held:
        return location_questions.ask_held(state, choice, held)
    return (
        pick_at_location(state._replace(choices=()), choice, context)
        if row.get("pools")
        else location_questions.ask_with_location(state, choice, context.now)
    )


def _report_full(state: PickState, indexes: Sequence[int], match: Match) -> Result:
    closed = [state.lines[index] for index in indexes if state.lines[index].is_short]
    awaited = stops_and_goods_in_hand.awaited_goods(state.lines[index] for index in indexes)
    label = match.label or match.key
    if awaited:
        return reject_input(state, awaited.id, _reopen_choice(match), **dict(awaited.args))
    if closed:
        picked, of, _ = stops_and_goods_in_hand.sum_lines(closed)
        return reject_input(state, "pick.short", _reopen_choice(match), label=label, done=picked, of=of)
    picked, of, _ = stops_and_goods_in_hand.sum_lines(state.lines[index] for index in indexes)
    return reject_input(state, "pick.full", label=label, done=picked, of=of)


def _reopen_choice(match: Match) -> PickChoice:
    quantity = match.quantity if match.is_explicit else Decimal(0)
    return PickChoice("reopen", match.key, match.label or match.key, quantity=quantity)


def _for_tote(state: PickState, order: str, message: Msg) -> Msg:
    return msg("pair", name=pick_state.tote_letter(state, order), value=message) if state.is_batch else message


def report_picked(
    state: PickState, changes: Mapping[int, Decimal], context: Context, *, is_total: bool = False
) -> Result:
    """Return the turn after a pick: operations, message with the totes filled, and the next stop."""
    if not changes:
        return reply(state._replace(choices=()), INFO, "pick.unchanged")
    whole = {index: state.lines[index].picked for index in _total_lines(state, is_total=is_total)}
    after = picked_quantities_and_operations.set_picked(
        state, {**whole, **changes}, is_total=is_total
    )  # an undo of a total names all its totes
    last = max(changes)
    stop_lines = stops_and_goods_in_hand.lines_of_stop(after, last)
    open_ = [index for index in stop_lines if after.lines[index].is_open]
    at_line = (
        stops_and_goods_in_hand.go_to_line(after, open_[0])
        if open_
        else stops_and_goods_in_hand.go_to_next_stop(after._replace(is_quantity_open=False), last)
    )
    text = _with_own_total(state, after, stop_lines, _picked_message(state, after, changes, stop_lines, is_total))
    verdict = Verdict(GOOD, text, detail=_booked_message(state, after, changes))
    effects = picked_quantities_and_operations.update_lines(state, after, changes, context.store)
    at_line = verify_totes.ask_for_totes(state, at_line, changes, context)
    return Turn(at_line._replace(is_quantity_open=True) if open_ else at_line, effects, verdict)


def _booked_message(before: PickState, after: PickState, picked: Mapping[int, Decimal]) -> Msg | None:
    """Return where goods are booked, if that is not only the location that the page names: a warning if its stock lacks
    them, or the locations of a total."""
    changes, line = stops_and_goods_in_hand.stock_changes(before, after, picked), before.lines[max(picked)]
    exceeding = stops_and_goods_in_hand.exceeding_message(before, picked)
    if exceeding and changes.keys() <= {line.location, ""}:
        return exceeding
    if changes.keys() <= {line.location}:
        return None
    message = stops_and_goods_in_hand.stock_changes_message(after, changes, unit_of(line))
    return message if isinstance(message, Msg) else raw(message)


def _total_lines(state: PickState, *, is_total: bool) -> Sequence[int]:
    return stops_and_goods_in_hand.lines_of_stop(state, state.current_index) if is_total else ()


def _with_own_total(before: PickState, after: PickState, stop: Sequence[int], message: Msg) -> Msg:
    """Add this picker's own quantity to the sum in the message if he set it beside goods in other pickers' hands."""
    lines = [before.lines[index] for index in stop]
    others = stops_and_goods_in_hand.sum_of_others(before, lines)
    done, _, _ = stops_and_goods_in_hand.sum_lines(after.lines[index] for index in stop)
    return msg("pick.own_total", own=done - others, what=message) if others else message


def _picked_message(
    before: PickState, after: PickState, changes: Mapping[int, Decimal], stop: Sequence[int], is_total: bool
) -> Msg:
    orders = list(dict.fromkeys(after.lines[index].order for index in changes))
    done, of, _ = stops_and_goods_in_hand.sum_lines(after.lines[index] for index in stop)
    label = after.lines[max(changes)].label
    if not after.is_batch and after.is_done:
        lacking = sum(line.is_short for line in after.lines)
        return (
            msg("pick.picked_with_shortage", order=after.order, count=lacking)
            if lacking
            else msg("pick.all_picked", order=after.order)
        )
    if not after.is_batch:
        before_done, _, _ = stops_and_goods_in_hand.sum_lines(before.lines[index] for index in stop)
        if is_total and done < before_done:
            return msg("pick.total_lowered", label=label, before=before_done, done=done, of=of)
        return msg("pick.picked", label=label, done=done, of=of)
    full = [
        order
        for order in orders
        if pick_state.is_order_picked(after, order) and not pick_state.is_order_picked(before, order)
    ]
    if is_total:
        totes = pick_state.quantities_by_tote(
            after, ((after.lines[index].order, after.lines[index].picked) for index in stop)
        )
        text = msg("pick.set_totes", label=label, totes=totes, done=done, of=of)
    elif len(orders) == 1:
        order_lines = [after.lines[index] for index in stop if after.lines[index].order == orders[0]]
        done, of, _ = stops_and_goods_in_hand.sum_lines(order_lines)
        more = sum((picked - before.lines[index].picked for index, picked in changes.items()), Decimal(0))
        letter = pick_state.tote_letter(after, orders[0])
        text = msg("pick.picked_for_tote", label=label, quantity=more, tote=letter, done=done, of=of)
    else:
        added = [(after.lines[index].order, picked - before.lines[index].picked) for index, picked in changes.items()]
        more = sum((quantity for _, quantity in added), Decimal(0))
        text = msg(
            "pick.picked_for_totes", label=label, quantity=more, totes=pick_state.quantities_by_tote(after, added)
        )
    if after.is_done:
        lacking = sum(line.is_short for line in after.lines)
        id_ = "pick.batch_picked_with_shortage" if lacking else "pick.batch_all_picked"
        return msg(id_, count=len(after.totes), what=text, **({"lacking": lacking} if lacking else {}))
    letters = " ".join(pick_state.tote_letter(after, order) for order in full)
    return msg("pick.tote_full", what=text, tote=letters) if full else text


def reopen_lines(state: PickState, match: Match, context: Context) -> Result:
    """Reopen lines that were closed short, or else those awaited from the warehouse, and pick the scanned quantity, as
    one step for undo. If the product cannot be picked, the verdict explains why while the lines stay open."""
    of_product = picked_quantities_and_operations.lines_with_product(state, match.key)
    awaited = [index for index in of_product if state.lines[index].is_awaited]
    if awaited:
        lines = (
            each._replace(is_from_warehouse=each.is_from_warehouse and index not in awaited)
            for index, each in enumerate(state.lines)
        )
        state = state._replace(lines=tuple(lines), choices=())
        return pick_product(stops_and_goods_in_hand.go_to_line(state, awaited[0]), match, context)
    indexes = [index for index in of_product if state.lines[index].is_short]
    if not indexes:
        return Turn(state)
    reopened = picked_quantities_and_operations.set_picked(
        state, {index: state.lines[index].picked for index in indexes}
    )
    turn = pick_product(stops_and_goods_in_hand.go_to_line(reopened, indexes[0]), match, context)
    changed = [index for index, line in enumerate(reopened.lines) if turn.state.lines[index].picked != line.picked]
    writes = picked_quantities_and_operations.update_lines(
        state, turn.state, dict.fromkeys((*indexes, *changed)), context.store
    )
    return Turn(turn.state._replace(history=reopened.history), writes, turn.verdict)


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
    is_kept = open_question_and_choices.is_about_goods(state) or location_questions.scanned_locations(state)
    if turn is None or not is_kept:
        return turn
    return turn._replace(state=state._replace(lookup=turn.state.lookup))


def set_checked_total(state: PickState, value: Decimal, matches: Sequence[Match]) -> Result | None:
    """Set the total of the goods whose location is asked for, or ask if the digits are the number of a record
    (`matches`), such as the label of that location; None if no location is asked for."""
    asked = location_questions.set_total(state, value)
    if not asked or not asked.verdict or asked.verdict.kind != ASK or not matches:
        return asked
    kept = open_question_and_choices.goods_choices(state) or location_questions.scanned_locations(state)
    return _ask_quantity_or_record(state, value, matches, kept)


def _ask_quantity_or_record(
    state: PickState, value: Decimal, matches: Sequence[Match], kept: Sequence[PickChoice]
) -> Result:
    """Ask whether digits are a quantity or the number of a record; the choices that are kept stay open."""
    others = (PickChoice(f"is_{each.kind}", each.key, each.label) for each in matches)
    state_asked = state._replace(choices=(PickChoice("amount", quantity=value), *others, *kept))
    return Turn(state_asked, (), Verdict(ASK, typed_numbers_dates_and_letters.number_question(matches[0], value)))


def check_quantity(state: PickState, value: Decimal, matches: Sequence[Match], context: Context) -> Result:
    """Set the total, unless it exceeds the ordered quantity or the digits are the number of a record (`matches`)."""
    others = [PickChoice(f"is_{each.kind}", each.key, each.label) for each in matches]
    goods, state = (
        open_question_and_choices.goods_choices(state),
        state._replace(untaken=Decimal(0)),
    )  # the last number counts
    if matches and open_question_and_choices.is_about_goods(
        state
    ):  # else the question about scanned goods would be lost
        return _ask_quantity_or_record(state, value, matches, goods)
    if too_many := rejected_scans_and_quantities.reject_too_many(state, value, *others):
        return too_many
    if matches:
        return _ask_quantity_or_record(state, value, matches, goods)
    return _set_checked_quantity(state._replace(choices=()), value, context)


def ask_tote_or_quantity(state: PickState, value: Decimal, tote: Tote) -> Result:
    """Select the tote if its number exceeds the ordered quantity; otherwise ask which of the two was meant. A question
    about scanned goods stays open."""
    is_tote, goods = (
        value > stops_and_goods_in_hand.ordered_at_stop(state),
        open_question_and_choices.goods_choices(state),
    )
    if is_tote and open_question_and_choices.is_about_goods(state):
        return open_question_and_choices.repeat_goods_question(state)
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
    indexes = stops_and_goods_in_hand.lines_of_stop(state, state.current_index)
    lines = [state.lines[index] for index in indexes]
    _, of, _ = stops_and_goods_in_hand.sum_lines(lines)
    moved = sum((each.moved for each in lines), Decimal(0))
    if value < moved:
        return reject_input(state, "pick.moved", label=line.label, quantity=moved)
    done, _, rest = stops_and_goods_in_hand.sum_lines(lines)
    done -= stops_and_goods_in_hand.sum_of_others(state, lines)
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
    picked, _, _ = stops_and_goods_in_hand.sum_lines(stops_and_goods_in_hand.current_stop_lines(state))
    state = state._replace(is_pack_asked=False, is_quantity_open=picked > 0, choices=())
    return reply(state, INFO, "session.dropped")


def set_quantity(state: PickState, value: Decimal, context: Context) -> Result:
    """Set the total that this picker has of the stop, more or less than before."""
    changes = picked_quantities_and_operations.set_over_lines(
        state, stops_and_goods_in_hand.lines_of_stop(state, state.current_index), value
    )
    return report_picked(state, changes, context, is_total=True)


def pick_rest(state: PickState, product_number: str, context: Context) -> Result:
    """Pick all that is still needed of a product at one location."""
    indexes = picked_quantities_and_operations.fillable_lines(state, product_number)
    rest = sum((state.lines[index].remaining for index in indexes), Decimal(0))
    return (
        report_picked(state, picked_quantities_and_operations.add_over_lines(state, indexes, rest), context)
        if indexes
        else Turn(state)
    )


def change_location(state: PickState, location: str, pool: int) -> Result:
    """Pick the stop from another location, keeping its position in the walk."""
    line = state.current_line
    if line is None:
        return Turn(state)
    moved, lines = picked_quantities_and_operations.move_stop(
        state, state.current_index, lambda each: each.at_location(location, pool)
    )
    at_stop = moved._replace(lines=tuple(lines), location=location)
    return reply(
        stops_and_goods_in_hand.with_lines(at_stop, lines),
        GOOD,
        "pick.location_changed",
        place=location,
        label=line.label,
    )


def skip_stop(state: PickState) -> Result:
    """Skip the stop and go to the next open one, wrapping at the end of the walk."""
    stop = stops_and_goods_in_hand.lines_of_stop(state, state.current_index)
    before = state.current_line
    next_state = stops_and_goods_in_hand.go_to_next_stop(
        state._replace(is_quantity_open=False, choices=()), max(stop, default=-1) + 1, first=False
    )
    if before and next_state.current_line and next_state.current_line.stop_key == before.stop_key:
        return reply(next_state, INFO, "locations.last_location")
    return reply(next_state, INFO, "pick.later", label=next_state.current_line.label if next_state.current_line else "")


def start_shortage(state: PickState) -> Result:
    """Start the shortage job: reasons for the shortage, and other locations with stock."""
    line = state.current_line
    if line is None:
        return Turn(state)
    lines = stops_and_goods_in_hand.current_stop_lines(state)
    _, of, rest = stops_and_goods_in_hand.sum_lines(lines)
    orders = [
        {
            "order_number": each.order,
            "line_number": each.line,
            "tote": pick_state.tote_letter(state, each.order) if state.is_batch else "",
            "rest": each.remaining,
        }
        for each in lines
        if each.is_open
    ]
    args = {
        "orders": orders,
        "product_number": line.product,
        "label": line.label,
        "location": line.location,
        "pool": line.pool,
        "pools": list(line.pools),
        "ordered": of,
        "rest": rest,
        "decimal": line.allows_decimals,
        "unit": line.unit,
    }
    if line.held_for and not line.stocked_locations:
        args["held_for"] = [[order, str(quantity)] for order, quantity in line.held_for]
    return Turn(state._replace(choices=()), (Start("shortage", args),))


def apply_shortage(state: PickState, answer: Args, context: Context) -> Result:
    """Apply the answer of the shortage job: pick elsewhere, close the line short, or reject the order."""
    if answer["kind"] == "reject":
        return _reject_order(state, answer, context)
    line = state.current_line
    if line is None:
        return Turn(state)
    if answer["kind"] == "elsewhere":
        return _move_stop(state, str(answer["location"]), int(answer.get("pool") or 0))
    return _close_short(state, answer, context)


def _move_stop(state: PickState, location: str, pool: int) -> Result:
    line = state.current_line
    assert line is not None
    moved, lines = move_stop(state, state.current_index, lambda each: move_line(each, location, pool, state.lines))
    next_state = stops_and_goods_in_hand.with_lines(
        moved._replace(is_quantity_open=False, choices=(), location=""), lines
    )
    is_current = (
        next_state.current_line is not None and next_state.current_line.location.casefold() == location.casefold()
    )
    return reply(
        next_state, GOOD, "pick.elsewhere" if is_current else "pick.comes_later", label=line.label, place=location
    )


def _close_short(state: PickState, answer: Args, context: Context) -> Result:
    line = state.current_line
    assert line is not None
    stop = stops_and_goods_in_hand.lines_of_stop(state, state.current_index)
    indexes = [index for index in stop if state.lines[index].is_open]
    picked, of, rest = stops_and_goods_in_hand.sum_lines(state.lines[index] for index in stop)
    done = picked + rest - to_decimal(answer.get("rest", rest))  # others may have picked since
    code, reason = str(answer.get("code") or ""), str(answer.get("text") or "")
    closed, writes = picked_quantities_and_operations.close_short(state, indexes, context.store, code, reason)
    next_state = stops_and_goods_in_hand.go_to_next_stop(closed._replace(is_quantity_open=False), indexes[-1])
    if answer.get("empty") and line.location:
        next_state = next_state._replace(choices=(PickChoice("count", line.location, product=line.product),))
    return reply(next_state, GOOD, "pick.short", *writes, label=line.label, done=done, of=of)


def _reject_order(state: PickState, answer: Args, context: Context) -> Result:
    tote = pick_state.find_tote(state, str(answer.get("order_number") or state.order))
    if tote is None:
        return Turn(state)
    code, reason = str(answer.get("code") or ""), str(answer.get("text") or "")
    write = picked_quantities_and_operations.reject_write(tote.order, code, reason, context.store)
    removed = remove_order(state, tote, "rejected_here", kind=GOOD)
    return removed._replace(effects=(write, *removed.effects))
