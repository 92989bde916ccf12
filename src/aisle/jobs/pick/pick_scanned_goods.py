"""Picking of scanned goods: into which tote, from which location, and the message on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import parse_product_rows
from aisle.jobs.job import Context, Turn, reply
from aisle.jobs.name_goods_and_locations import unit_of
from aisle.jobs.pick import (
    current_and_next_stop,
    expected_and_held_stock,
    goods_in_hand,
    location_questions,
    operations,
    pick_state,
    rejected_scans_and_quantities,
    set_and_restore_picked_quantities,
    verify_totes,
)
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result
from aisle.jobs.pick.rejected_scans_and_quantities import reject_input
from aisle.jobs.repeated_label_reads import LabelRead
from aisle.jobs.view import GOOD, INFO, WRONG, Msg, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import StockAtLocationRow


def pick_product(state: PickState, match: Match, context: Context) -> Result:
    """Add the scanned quantity to the open lines of the product, filling each tote before the next."""
    indexes = set_and_restore_picked_quantities.lines_with_product(state, match.key)
    label = match.label or match.key
    if not indexes:
        return rejected_scans_and_quantities.query_foreign_product(state, match)
    open_ = set_and_restore_picked_quantities.fillable_lines(state, match.key)
    if not open_:
        return _report_full(state, indexes, match)
    first = state.lines[open_[0]]
    if match.quantity % 1 and not first.allows_decimals:
        return reject_input(state, "input.whole_number_only", text=match.quantity)
    if question := location_questions.ask_location(state, match, open_):
        return question
    if state.verifies_locations and first.location and first.location.casefold() != state.location.casefold():
        return reject_input(
            current_and_next_stop.go_to_line(state, open_[0]),
            "pick.location_first_scan",
            place=first.location,
            label=label,
        )
    if first.allows_decimals and not match.is_explicit:
        held = current_and_next_stop.go_to_line(state, open_[0])._replace(
            is_quantity_open=True, is_pack_asked=True, choices=()
        )
        text = msg("pick.weigh", label=label, rest=first.remaining, unit=first.unit)
        return Turn(held, (), Verdict(INFO, _for_tote(state, first.order, text)))
    rest = sum((state.lines[index].remaining for index in open_), Decimal(0))
    if match.quantity > rest:
        at_stop, choice = (
            current_and_next_stop.go_to_line(state, open_[0])._replace(
                is_quantity_open=True, is_pack_asked=first.allows_decimals
            ),
            PickChoice("take_rest", match.key, quantity=match.quantity),
        )
        return rejected_scans_and_quantities.reject_more_than_rest(at_stop, match.quantity, open_, choice)
    return report_picked(state, set_and_restore_picked_quantities.add_over_lines(state, open_, match.quantity), context)


def pick_at_location(state: PickState, choice: PickChoice, context: Context) -> Result:
    """Pick the scanned product from the location that was chosen for it."""
    explicit = bool(choice.quantity)
    match = Match(PRODUCT, choice.product, choice.label, choice.quantity or Decimal(1), explicit)
    state = location_questions.go_to_chosen_location(state, choice)._replace(choices=(), location_read=LabelRead())
    turn = pick_product(state, match, context)
    if turn.verdict is None or turn.verdict.kind != GOOD:
        return turn
    if expected_and_held_stock.is_without_stock(turn.verdict.detail):
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
    held = parse_product_rows.held_by_order(row.get("held_goods") or (), {tote.order for tote in state.totes})
    if held:
        return location_questions.ask_held(state, choice, held)
    return (
        pick_at_location(state._replace(choices=()), choice, context)
        if row.get("pools")
        else location_questions.ask_with_location(state, choice, context.now)
    )


def _report_full(state: PickState, indexes: Sequence[int], match: Match) -> Result:
    closed = [state.lines[index] for index in indexes if state.lines[index].is_short]
    awaited = current_and_next_stop.awaited_goods(state.lines[index] for index in indexes)
    label = match.label or match.key
    if awaited:
        return reject_input(state, awaited.id, _reopen_choice(match), **dict(awaited.args))
    if closed:
        picked, of, _ = current_and_next_stop.sum_lines(closed)
        return reject_input(state, "pick.short", _reopen_choice(match), label=label, done=picked, of=of)
    picked, of, _ = current_and_next_stop.sum_lines(state.lines[index] for index in indexes)
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
    after = set_and_restore_picked_quantities.set_picked(
        state, {**whole, **changes}, is_total=is_total
    )  # an undo of a total names all its totes
    last = max(changes)
    stop_lines = current_and_next_stop.lines_of_stop(after, last)
    open_ = [index for index in stop_lines if after.lines[index].is_open]
    at_line = (
        current_and_next_stop.go_to_line(after, open_[0])
        if open_
        else current_and_next_stop.go_to_next_stop(after._replace(is_quantity_open=False), last)
    )
    text = _with_own_total(state, after, stop_lines, _picked_message(state, after, changes, stop_lines, is_total))
    verdict = Verdict(GOOD, text, detail=_booked_message(state, after, changes))
    effects = operations.update_lines(state, after, changes, context.store)
    at_line = verify_totes.ask_for_totes(state, at_line, changes, context)
    return Turn(at_line._replace(is_quantity_open=True) if open_ else at_line, effects, verdict)


def _booked_message(before: PickState, after: PickState, picked: Mapping[int, Decimal]) -> Msg | None:
    """Return where goods are booked, if that is not only the location that the page names: a warning if its stock lacks
    them, or the locations of a total."""
    changes, line = expected_and_held_stock.stock_changes(before, after, picked), before.lines[max(picked)]
    exceeding = expected_and_held_stock.exceeding_message(before, picked)
    if exceeding and changes.keys() <= {line.location, ""}:
        return exceeding
    if changes.keys() <= {line.location}:
        return None
    message = expected_and_held_stock.stock_changes_message(after, changes, unit_of(line))
    return message if isinstance(message, Msg) else raw(message)


def _total_lines(state: PickState, *, is_total: bool) -> Sequence[int]:
    return current_and_next_stop.lines_of_stop(state, state.current_index) if is_total else ()


def _with_own_total(before: PickState, after: PickState, stop: Sequence[int], message: Msg) -> Msg:
    """Add this picker's own quantity to the sum in the message if he set it beside goods in other pickers' hands."""
    lines = [before.lines[index] for index in stop]
    others = goods_in_hand.sum_of_others(before, lines)
    done, _, _ = current_and_next_stop.sum_lines(after.lines[index] for index in stop)
    return msg("pick.own_total", own=done - others, what=message) if others else message


def _picked_message(
    before: PickState, after: PickState, changes: Mapping[int, Decimal], stop: Sequence[int], is_total: bool
) -> Msg:
    orders = list(dict.fromkeys(after.lines[index].order for index in changes))
    done, of, _ = current_and_next_stop.sum_lines(after.lines[index] for index in stop)
    label = after.lines[max(changes)].label
    if not after.is_batch and after.is_done:
        lacking = sum(line.is_short for line in after.lines)
        return (
            msg("pick.picked_with_shortage", order=after.order, count=lacking)
            if lacking
            else msg("pick.all_picked", order=after.order)
        )
    if not after.is_batch:
        before_done, _, _ = current_and_next_stop.sum_lines(before.lines[index] for index in stop)
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
        done, of, _ = current_and_next_stop.sum_lines(order_lines)
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
    of_product = set_and_restore_picked_quantities.lines_with_product(state, match.key)
    awaited = [index for index in of_product if state.lines[index].is_awaited]
    if awaited:
        lines = (
            each._replace(is_from_warehouse=each.is_from_warehouse and index not in awaited)
            for index, each in enumerate(state.lines)
        )
        state = state._replace(lines=tuple(lines), choices=())
        return pick_product(current_and_next_stop.go_to_line(state, awaited[0]), match, context)
    indexes = [index for index in of_product if state.lines[index].is_short]
    if not indexes:
        return Turn(state)
    reopened = set_and_restore_picked_quantities.set_picked(
        state, {index: state.lines[index].picked for index in indexes}
    )
    turn = pick_product(current_and_next_stop.go_to_line(reopened, indexes[0]), match, context)
    changed = [index for index, line in enumerate(reopened.lines) if turn.state.lines[index].picked != line.picked]
    writes = operations.update_lines(state, turn.state, dict.fromkeys((*indexes, *changed)), context.store)
    return Turn(turn.state._replace(history=reopened.history), writes, turn.verdict)
