"""Views of the pick job, one for each step."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal

from aisle.jobs import names_in_messages, typed_numbers_dates_and_letters
from aisle.jobs.job import money_message
from aisle.jobs.names_in_messages import measured, pool_name, unit_of
from aisle.jobs.pick import (
    excess_and_goods_for_others,
    location_questions,
    open_question_and_choices,
    pick_state,
    picked_quantities_and_operations,
    stops_and_goods_in_hand,
)
from aisle.jobs.pick.pick_line import PickLine, count_pieces, goods_of_lines, is_nothing_picked
from aisle.jobs.pick.pick_state import PUT_DOWN_BY_OTHER, GoodsToReturn, PickChoice, PickState, Tote
from aisle.jobs.pick.stops_and_goods_in_hand import held_for_others, is_all_held
from aisle.jobs.product_rows_and_weekly_sales import held_message
from aisle.jobs.sums_of_goods_and_progress import goods_progress, goods_text
from aisle.jobs.view import (
    BACK,
    GOOD,
    INFO,
    NEXT_PAGE,
    KeyHint,
    LabelledValue,
    Line,
    Msg,
    Step,
    UpcomingStop,
    Verdict,
    join_messages,
    msg,
    raw,
)
from aisle.scan.grammar_and_meaning_types import Match

MAX_UPCOMING = 12
"""Maximum number of upcoming stops in a view; a screen shows as many as fit."""

CHOICE_TEXTS = {
    "take_here": "pick.choice_pick_here",
    "put_here": "hand_over.choice_location",
    "put_others": "pick.choice_put_down_others",
    "count": "move.choice_count",
    "reopen": "pick.choice_reopen",
    "this_one": "pick.choice_this_one",
    "leave_for": "pick.choice_leave_for",
    "join": "pick.choice_add_order",
    "take_in": "pick.choice_add_order",
    "later": "pick.choice_later",
    "take_over": "pick.choice_take_over",
    "open_free": "pick.choice_open_free",
    "leave": "pick.choice_leave",
    "put_back": "pick.choice_put_back",
    "handed_over": "pick.choice_handed_over",
    "set": "pick.choice_total",
    "go_on": "pick.choice_go_on",
    "both": "pick.choice_both_pick",
    "hand_over": "pick.choice_leave_to_picker",
    "finish": "order_actions.hand_over",
    "label_unreadable": "pick.choice_label_unreadable",
    "amount": "count.choice_quantity",
    "is_product": "count.choice_product",
    "is_location": "locations.title_location",
    "is_order": "order.title",
    "is_reference": "order.title",
}
"""Message ids of choices with a fixed text."""

RETURN_NOTES = {
    "rejected": "pick.note_return_rejected",
    "rejected_here": "pick.note_return_rejected",
    "rejected_reopened": "pick.note_return_reopened",
    "finished": "pick.note_return_finished",
    "claimed": "pick.note_return_claimed",
    "assigned": "pick.note_return_reassigned",
    PUT_DOWN_BY_OTHER: "pick.note_return_put_down_by_other_at",
    "empty": "pick.note_return_empty",
    "left_over": "pick.note_return_surplus",
}
"""Message ids of notes on goods to be put back, by the reason why their order left. Other reasons leave none."""


def view(state: PickState) -> Step:
    """Return the view of the current step."""
    if state.step_name == "pick.return":
        return _return_step(state) if state.to_return else _all_returned_step(state)
    if state.phase == "wait":
        return _wait_step(state)
    if state.asks_for_tote:
        return _tote_step(state)
    return _done_step(state) if state.current_line is None else _stop_step(state, state.current_line)


def _title(state: PickState) -> Msg:
    if state.is_batch:
        return msg("pick.title_batch", count=len(state.totes))
    customer = state.totes[0].customer if state.totes else ""
    if customer:
        return msg("pick.title", order=state.order, who=customer)
    goods = (*state.to_return, *(back for step in state.history[-1:] for back in step.returned))
    return msg("pick.title_plain", order=state.order or next((back.order for back in goods), ""))


def _wait_step(state: PickState) -> Step:
    note = msg("pick.answer_first" if state.choices else "stores.loading")
    return Step(
        state.step_name,
        _title(state),
        msg("unconfirmed.choose") if state.choices else msg("pick.prompt_wait"),
        lines=(Line("note", note),),
        choices=_choice_texts(state),
        key_hints=(BACK,),
    )


def _stop_step(state: PickState, line: PickLine) -> Step:
    stop_lines = stops_and_goods_in_hand.current_stop_lines(state)
    lines = [Line("location", msg("raw", text=line.location))] if line.location else []
    lines.append(Line("product", _product_name(state, line)))
    lines.append(Line("quantity", _quantity_text(state, stop_lines), _quantity_bar(state, stop_lines)))
    tote = pick_state.find_tote(state, line.order)
    if state.is_batch and tote:
        lines.append(Line("tote", _tote_text(tote)))
    lines += _other_picker_lines(state, {each.order for each in stop_lines})
    if line.barred_pools:
        here, allowed = (pool_name(state.pools, *pools) for pools in (line.barred_pools, line.pools))
        lines.append(Line("note", msg("pick.note_pool", pool=here, allowed=allowed)))
    held = None if line.stocked_locations else held_message(line.held_for)
    if is_all_held(state, line):
        orders = ", ".join(held_for_others(state, line.product, line.location))
        lines.append(Line("note", msg("pick.note_all_held", orders=orders)))
    elif held:
        lines.append(Line("note", held))
    lines += _from_warehouse(state)
    hints = [NEXT_PAGE, KeyHint("s", msg("shortage.title"))]
    if state.history:
        hints.append(KeyHint("u", msg("hint.undo")))
    if has_comments(state):
        hints.append(KeyHint("i", msg("hint.note")))
    hints += _postponed_hints(state)
    done, total = count_pieces(state.lines)
    return Step(
        name=state.step_name,
        title=_title(state),
        prompt=_prompt(state, line, stop_lines),
        lines=tuple(lines),
        labelled_values=_labelled_values(state, line, stop_lines),
        upcoming=_upcoming_stops(state),
        choices=_choice_texts(state),
        choice_letters=open_question_and_choices.choice_letters(state),
        key_hints=(*hints, BACK),
        done=done,
        total=total,
        progress=_progress(state),
    )


def _tote_step(state: PickState) -> Step:
    """Return the page that asks for the scan of a tote. Its label stands where the location of a stop does."""
    order = state.totes_to_verify[0]
    tote = next(tote for tote in state.totes if tote.order == order)
    taken = {each.line: each.picked for step in state.history[-1:] for each in step.lines_before if each.order == order}
    lines = [line for line in state.lines if line.order == order and line.line in taken]
    quantity = sum((line.picked - taken[line.line] for line in lines), Decimal(0))
    name = pick_state.name_of_tote(state, order)
    done, total = count_pieces(state.lines)
    return Step(
        name=state.step_name,
        title=_title(state),
        prompt=msg("pick.prompt_verify_tote", tote=name),
        lines=(
            Line("location", raw(name)),
            *(Line("product", _product_name(state, line)) for line in lines[:1]),
            *(Line("quantity", _amount(quantity, unit_of(line))) for line in lines[:1]),
            Line("tote", _tote_text(tote)),
        ),
        choices=_choice_texts(state),
        choice_letters=open_question_and_choices.choice_letters(state),
        key_hints=(KeyHint("u", msg("hint.undo")), *_postponed_hints(state)),
        done=done,
        total=total,
        progress=_progress(state),
    )


def _amount(quantity: Decimal, unit: str | None) -> Msg:
    return msg("move.measure", quantity=quantity, unit=unit) if unit else msg("number", value=quantity)


def _product_name(state: PickState, line: PickLine) -> Msg:
    pool = _distinguishing_pool(state, line)
    return msg("count.in_pool", label=line.label, pool=pool) if pool else raw(line.label)


def _distinguishing_pool(state: PickState, line: PickLine) -> str:
    """Return the pool name that distinguishes stops of one product at one location; empty if there is only one."""
    stops = (other for other in state.lines if (other.product, other.location) == (line.product, line.location))
    return pool_name(state.pools, line.pool) if any(other.pool != line.pool for other in stops) else ""


def _postponed_hints(state: PickState) -> tuple[KeyHint, ...]:
    return (KeyHint("w", msg("hint.whose")),) if state.is_postponed else ()


def _other_picker_lines(state: PickState, orders: Collection[str]) -> list[Line]:
    lines = []
    for tote in state.totes:
        names = (*tote.other_pickers, *tote.pickers_elsewhere)
        if names and tote.order in orders:
            known = ", ".join(filter(None, names))
            note = msg("pick.note_other_pickers", who=known) if known else msg("pick.note_other_pickers_unknown")
            lines.append(Line("note", msg("pair", name=tote.letter, value=note) if state.is_batch else note))
    return lines


def has_comments(state: PickState) -> bool:
    """Return True if a customer left a comment."""
    return any(tote.comment for tote in state.totes)


def _tote_text(tote: Tote) -> Msg:
    if tote.customer:
        return msg("pick.tote_line", tote=tote.letter, order=tote.order, who=tote.customer)
    return msg("pick.tote_plain", tote=tote.letter, order=tote.order)


def _quantity_text(state: PickState, stop: Sequence[PickLine]) -> Msg:
    """Return the text for picked and ordered quantity; in a batch, for the quantity that each tote still gets. The unit
    is shown only for weighed or measured products."""
    done, of, rest = stops_and_goods_in_hand.sum_lines(stop)
    unit = unit_of(stop[0])
    if state.is_batch:
        totes = pick_state.quantities_by_tote(state, ((line.order, line.remaining) for line in stop if line.is_open))
        if done and not unit:
            return msg("pick.quantity_totes_more", done=done, of=of, rest=rest, totes=totes)
        return msg("pick.quantity_totes", rest=msg("beside", one=rest, other=unit) if unit else rest, totes=totes)
    return msg("progress.of", done=done, total=measured(of, unit))


def _quantity_bar(state: PickState, stop: Sequence[PickLine]) -> tuple[Msg, Msg]:
    """Return what to pick here and what is picked, for the row of the quantity on a handheld."""
    done, of, rest = stops_and_goods_in_hand.sum_lines(stop)
    unit = unit_of(stop[0])
    taken = msg("pick.bar_taken", done=measured(done, unit))
    if not state.is_batch:
        return msg("pick.bar_take", of=measured(of, unit)), taken
    totes = pick_state.quantities_by_tote(state, ((line.order, line.remaining) for line in stop if line.is_open))
    return msg("pick.bar_take_totes", rest=rest, totes=totes), taken


def _prompt(state: PickState, line: PickLine, stop: Sequence[PickLine]) -> Msg:
    if keys := open_question_and_choices.choice_letters(state):
        return (
            typed_numbers_dates_and_letters.quantity_prompt(keys, is_total=not state.is_pack_asked)
            if open_question_and_choices.is_quantity_open(state)
            else typed_numbers_dates_and_letters.letter_prompt(keys)
        )
    if state.needs_location:
        return msg("pick.prompt_location", place=line.location)
    if state.is_pack_asked:
        return names_in_messages.how_much_prompt(line.label, line.unit)
    if state.is_quantity_open:
        id_ = (
            "pick.prompt_own_quantity" if stops_and_goods_in_hand.sum_of_others(state, stop) else "pick.prompt_quantity"
        )
        return msg(id_, rest=stops_and_goods_in_hand.sum_lines(stop)[2])
    return msg("move.prompt_product")


def _labelled_values(state: PickState, line: PickLine, stop: Sequence[PickLine]) -> tuple[LabelledValue, ...]:
    facts = []
    for tote in state.totes:
        if tote.comment and any(each.order == tote.order for each in stop):
            text = msg("pick.comment", tote=tote.letter, text=tote.comment)
            facts.append(LabelledValue(msg("label.comment"), text if state.is_batch else raw(tote.comment)))
    facts.append(LabelledValue(msg("label.product_number"), raw(line.product)))
    if line.price:
        facts.append(LabelledValue(msg("label.price"), money_message(line.price)))
    if line.pool:
        facts.append(LabelledValue(msg("label.pool"), raw(pool_name(state.pools, line.pool))))
    return tuple(facts)


def _upcoming_stops(state: PickState) -> tuple[UpcomingStop, ...]:
    """Return the open stops after the current one, wrapping at the end. Lines of a stop are adjacent, so the search
    ends after `MAX_UPCOMING` stops."""
    here = state.current_line.stop_key if state.current_line else None
    rests: dict[tuple[str, str, int, str], list[PickLine]] = {}
    for line in (*state.lines[state.current_index + 1 :], *state.lines[: max(0, state.current_index)]):
        if not line.is_open or (stop := line.stop_key) == here:
            continue
        if stop not in rests and len(rests) == MAX_UPCOMING:
            break
        rests.setdefault(stop, []).append(line)
    return tuple(_upcoming_stop(state, lines) for lines in rests.values())


def _upcoming_stop(state: PickState, lines: Sequence[PickLine]) -> UpcomingStop:
    first, (_, _, rest) = lines[0], stops_and_goods_in_hand.sum_lines(lines)
    pool = _distinguishing_pool(state, first)
    label = f"{first.label} ({pool})" if pool else first.label
    if not state.is_batch:
        return UpcomingStop(first.location, label, rest)
    letters = " ".join(dict.fromkeys(pick_state.tote_letter(state, line.order) for line in lines))
    return UpcomingStop(first.location, f"{letters}: {label}", rest)


def _choice_texts(state: PickState) -> tuple[Msg, ...]:
    return tuple(_choice_text(state, choice) for choice in open_question_and_choices.open_choices(state))


def _choice_text(state: PickState, choice: PickChoice) -> Msg:
    if choice.kind == "take_rest":
        rest = sum(
            (
                state.lines[index].remaining
                for index in picked_quantities_and_operations.fillable_lines(state, choice.key)
            ),
            Decimal(0),
        )
        return msg("pick.choice_pick_rest", rest=rest)
    if choice.kind == "look_up":
        return msg("shortage.choice_product", key=choice.label) if choice.label else msg("look_up.title")
    if choice.kind == "tote":
        return msg("pick.choice_tote", tote=pick_state.tote_letter(state, choice.key), order=choice.key)
    if choice.kind == "leave_out":
        return msg("pick.choice_leave_out", tote=pick_state.tote_letter(state, choice.key))
    if choice.kind == "put_back" and any(goods.is_for_other_picker for goods in state.to_return):
        return msg("pick.choice_put_back")
    if choice.kind == "put_back" and all(goods.reason == PUT_DOWN_BY_OTHER for goods in state.to_return):
        return msg("pick.choice_is_put_down")
    if choice.kind == "put_back" and len(state.to_return) > 1:
        return msg("pick.choice_put_back")
    if choice.kind == "leave" and state.to_return:
        return msg("pick.choice_leave_with_goods")
    if choice.kind in ("is_delivery", "is_person"):
        return typed_numbers_dates_and_letters.other_choice_text(Match(choice.kind[3:], choice.key, choice.label))
    if choice.kind == location_questions.PICKED_FROM:
        return msg("move.from_location", place=choice.key)
    name = choice.label or choice.key
    return msg(CHOICE_TEXTS[choice.kind], key=name, place=name, label=name, order=choice.key, quantity=choice.quantity)


def _progress(state: PickState) -> Msg | None:
    picked, ordered = goods_of_lines(state.lines)
    return goods_progress(picked, ordered) if ordered.measured else None


def _done_step(state: PickState) -> Step:
    quantity, total = count_pieces(state.lines)
    return Step(
        name=state.step_name,
        title=_title(state),
        prompt=_done_prompt(state, stops_and_goods_in_hand.has_goods_to_put_down(state)),
        lines=tuple(_done_lines(state)),
        choices=_choice_texts(state),
        key_hints=(
            *((KeyHint("u", msg("hint.undo")),) if state.history else ()),
            *_postponed_hints(state),
            BACK,
        ),
        done=quantity,
        total=total,
        progress=_progress(state),
    )


def _done_lines(state: PickState) -> list[Line]:
    if is_nothing_picked(state.lines):
        return [Line("note", _nothing_picked(state))]
    quantity, total = map(goods_text, goods_of_lines(state.lines))
    in_hand = stops_and_goods_in_hand.has_goods_to_put_down(state)
    notes = msg("pick.note_done", lines=len(state.lines), quantity=quantity)
    full = sum(not (line.is_short or line.is_awaited) for line in state.lines)
    if full < len(state.lines):
        notes = msg("pick.note_done_short", full=full, lines=len(state.lines), quantity=quantity, total=total)
    elif state.is_batch:
        notes = msg("pick.note_batch_done", count=len(state.totes), quantity=quantity)
    in_hand_totes = [tote for tote in state.totes if stops_and_goods_in_hand.has_goods_to_put_down(state, tote.order)]
    lines = [Line("note", notes), *_from_warehouse(state), Line("note", _goods_location_note(state, in_hand))]
    lines += _other_picker_lines(state, {tote.order for tote in state.totes})
    if state.is_batch and in_hand:
        letters = " ".join(tote.letter for tote in in_hand_totes if state.only_order in ("", tote.order))
        lines.insert(0, Line("tote", msg("pick.totes_in_hand", totes=letters)))
    return lines


def _from_warehouse(state: PickState) -> list[Line]:
    awaited = stops_and_goods_in_hand.awaited_goods(state.lines)
    return [Line("note", awaited)] if awaited else []


def _goods_location_note(state: PickState, in_hand: bool) -> Msg:
    if in_hand:
        return msg("pick.note_put_down")
    if stops_and_goods_in_hand.pieces_in_hand(state):
        return msg("pick.note_goods_of_others", count=stops_and_goods_in_hand.goods_in_hand(state))
    if not picked_quantities_and_operations.put_down_locations(state):
        return msg("pick.note_is_put_down")
    if not state.is_batch:
        return msg(
            "pick.note_put_down_at",
            place=names_in_messages.list_locations(picked_quantities_and_operations.put_down_locations(state)),
        )
    return _tote_locations(state)


def _tote_locations(state: PickState) -> Msg:
    parts = [
        msg("pick.tote_put_down_at", tote=tote.letter, place=names_in_messages.list_locations(locations))
        for tote in state.totes
        if (locations := picked_quantities_and_operations.put_down_locations(state, tote.order))
    ]
    return join_messages(parts)


def _nothing_picked(state: PickState) -> Msg:
    return msg("pick.nothing_picked", lines=len(state.lines))


def leave_verdict(state: PickState) -> Verdict:
    """Return the verdict on leaving the orders."""
    if state.to_return:
        id_ = (
            "pick.left_with_goods_no_location"
            if any(goods.is_unassigned for goods in state.to_return)
            else "pick.left_with_goods"
        )
        return Verdict(INFO, msg(id_, count=stops_and_goods_in_hand.quantity_to_return(state)))
    if state.phase == "wait" and not state.is_batch:
        return Verdict(INFO, msg("pick.left_viewed", order=state.order))
    if state.phase != "done":
        return Verdict(INFO, msg("pick.left_batch") if state.is_batch else msg("pick.left", order=state.order))
    if is_nothing_picked(state.lines):
        return Verdict(INFO, _nothing_picked(state))
    placed = any(line.location for line in state.lines)  # otherwise the store keeps no locations
    pieces = stops_and_goods_in_hand.pieces_to_put_down(state) if placed else Decimal(0)
    if pieces and state.is_batch:
        totes = " ".join(
            tote.letter for tote in state.totes if stops_and_goods_in_hand.has_goods_to_put_down(state, tote.order)
        )
        return Verdict(INFO, msg("pick.left_not_put_down_batch", count=pieces, totes=totes))
    if pieces:
        return Verdict(INFO, msg("pick.left_not_put_down", count=pieces, order=state.order))
    if state.is_batch:
        return Verdict(GOOD, msg("pick.left_batch_done", count=len(state.totes)))
    return _leave_done_verdict(state)


def _leave_done_verdict(state: PickState) -> Verdict:
    """Return the verdict on leaving a picked order: where its goods are, and that it is picked if that happened
    here."""
    was_changed = any(step.lines_before or step.put_down for step in state.history)
    if (
        locations := picked_quantities_and_operations.put_down_locations(state)
    ) and not stops_and_goods_in_hand.pieces_in_hand(state):
        return Verdict(
            GOOD if was_changed else INFO,
            msg("pick.put_down", order=state.order, place=names_in_messages.list_locations(locations)),
        )
    return (
        Verdict(GOOD, msg("pick.left_done", order=state.order))
        if was_changed
        else Verdict(INFO, msg("pick.left_viewed", order=state.order))
    )


def _done_prompt(state: PickState, in_hand: bool) -> Msg:
    if state.choices or (state.take_over_choices and not state.is_postponed):
        return msg("pick.prompt_choice")
    if state.only_order:
        return msg("pick.prompt_tote", tote=pick_state.tote_letter(state, state.only_order))
    return msg("pick.prompt_done") if in_hand else msg("pick.prompt_done_put_down")


def _return_prompt(state: PickState) -> Msg:
    """Return the prompt for goods to be put back; scans are possible while orders are open."""
    if len(open_question_and_choices.open_choices(state)) < 2:
        if state.to_return[0].reason != PUT_DOWN_BY_OTHER:
            return msg("pick.prompt_return")
        location = state.to_return[0].location
        return (
            msg("pick.prompt_put_down_by_other_at", place=location)
            if location
            else msg("pick.prompt_put_down_by_other")
        )
    return typed_numbers_dates_and_letters.letter_prompt(
        open_question_and_choices.choice_letters(state), scans=bool(state.totes and state.phase != "wait")
    )


def _return_step(state: PickState) -> Step:
    """Return the step for goods to be put back: one is shown as a stop, several as a list."""
    first, goods = state.to_return[0], state.to_return[:MAX_UPCOMING] if len(state.to_return) > 1 else ()
    lines = [Line("product", raw(first.label))] if not goods else []
    if lines and first.location:
        lines.insert(0, Line("location", msg("raw", text=first.location)))
    quantity = stops_and_goods_in_hand.quantity_to_return(state)
    totes = " ".join(dict.fromkeys(back.letter for back in state.to_return))
    label = "{0}: {1}" if state.is_batch else "{1}"
    return Step(
        name=state.step_name,
        title=_title(state),
        prompt=_return_prompt(state),
        lines=(
            Line("tote", msg("pick.totes_in_hand", totes=totes) if state.is_batch else msg(_leave_reason(state))),
            *lines,
            *((Line("quantity", msg("number", value=first.quantity)),) if lines else ()),
            Line("note", msg(_return_note(first), count=quantity)),
        ),
        upcoming=tuple(
            UpcomingStop(back.location, label.format(back.letter, back.label), back.quantity) for back in goods
        ),
        choices=_choice_texts(state),
        choice_letters=open_question_and_choices.choice_letters(state),
        key_hints=(BACK,),
        upcoming_title=msg(
            "pick.upcoming_goods_for_others"
            if any(goods.is_picked_for_other for goods in state.to_return)
            else "pick.upcoming_returns"
        ),
    )


def _return_note(goods: GoodsToReturn) -> str:
    if goods.reason == PUT_DOWN_BY_OTHER and not goods.location:
        return "pick.note_return_put_down_by_other"
    return RETURN_NOTES[goods.reason]


def _all_returned_step(state: PickState) -> Step:
    undo = (KeyHint("u", msg("hint.undo")),) if state.history else ()
    note = Line("note", excess_and_goods_for_others.returned_message(state))
    return Step(state.step_name, _title(state), msg("pick.prompt_return_done"), lines=(note,), key_hints=(*undo, BACK))


def _leave_reason(state: PickState) -> str:
    if state.to_return[0].is_picked_for_other:
        return "pick.order_of_other_picker"
    return "pick.surplus_title" if state.to_return[0].reason == "left_over" else "pick.order_left"
