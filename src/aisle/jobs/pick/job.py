"""The pick job: dispatches each event, and decides whether a scan is a product, a location, a tote or another order."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import log_writes_and_refusals, typed_numbers_dates_and_letters
from aisle.jobs.count import undo_sent_count
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Job,
    Json,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Turn,
    reply,
)
from aisle.jobs.names_in_messages import LIVE_POOLS_QUERY, parse_pools
from aisle.jobs.pick import (
    excess_and_goods_for_others,
    inputs_at_stop,
    location_questions,
    merge_changed_orders,
    open_question_and_choices,
    other_pickers,
    pick_state,
    put_down_at_location,
    rejected_scans_and_quantities,
    stops_and_goods_in_hand,
    undo,
    verify_totes,
    view,
)
from aisle.jobs.pick.excess_and_goods_for_others import hand_over_to_others, is_location_for_others, returned_message
from aisle.jobs.pick.pick_line import with_tolerance
from aisle.jobs.pick.pick_state import PickChoice, PickState, Result, Tote, count_step
from aisle.jobs.pick.rejected_scans_and_quantities import reject_input
from aisle.jobs.typed_numbers_dates_and_letters import name_of, with_distinct_names
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Step, Verdict
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Accepts,
    Back,
    Choice,
    Command,
    Match,
    Quantity,
    Scan,
    Text,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import RecordsByNumberRow


def handle_scan(state: PickState, matches: tuple[Match, ...], context: Context) -> Result:
    """Handle the first match that these orders can use; if none can be used, explain why for the first match."""
    if shown := excess_and_goods_for_others.refuse_goods_to_return(state, matches):
        return shown
    if location_questions.product_in_question(state):
        matches = tuple(each for each in matches if not location_questions.keeps_question(state, each))
        if not matches:
            return location_questions.repeat_location_question(state)
    elif open_question_and_choices.is_about_goods(state):
        in_question = open_question_and_choices.products_of_goods_question(state)
        rejected = matches[0]
        matches = tuple(each for each in matches if each.kind == PRODUCT and each.key in in_question)
        if not matches:
            return open_question_and_choices.reject_other_scan(state, rejected)
    usable = _usable_products(state, matches)
    location = location_of(matches)
    if location and (not usable or (state.needs_location and _has_line_at(state, location))):
        return _scan_location(state, location, context)
    if len(usable) > 1:
        return reject_input(
            state,
            "pick.which_product",
            *map(_product_choice, with_distinct_names(usable)),
            code=usable[0].code or usable[0].key,
        )
    first = usable[0] if usable else matches[0]
    if first.kind == PRODUCT:
        return inputs_at_stop.pick_product(state, first, context)
    if first.kind in (ORDER, REFERENCE):
        return _scan_order(state, first)
    if first.kind == PERSON:
        return reject_input(state, "pick.person", name=first.label or first.key)
    return reply(state._replace(choices=()), WRONG, "page.not_this", what=name_of(first))


def _product_choice(match: Match) -> PickChoice:
    quantity = match.quantity if match.is_explicit else Decimal(0)
    return PickChoice("this_one", match.key, match.label, quantity=quantity)


def _has_line_at(state: PickState, location: Match) -> bool:
    """Return True if a line of these orders is picked at the location."""
    return any(line.location.casefold() == location.key.casefold() for line in state.lines)


def location_of(matches: tuple[Match, ...]) -> Match | None:
    """Return the location among these matches."""
    return next((m for m in matches if m.kind == LOCATION), None)


def _usable_products(state: PickState, matches: tuple[Match, ...]) -> list[Match]:
    """Return the products of these orders: that of the stop, else those still open, else any one."""
    products = [m for m in matches if m.kind == PRODUCT]
    here = [m for m in products if state.current_line and m.key == state.current_line.product]
    if here:
        return here[:1]
    on_lines = [m for m in products if any(line.product == m.key for line in state.lines)]
    open_ = {line.product for line in state.lines if line.is_open}
    return [m for m in on_lines if m.key in open_] or on_lines[:1]


def _scan_location(state: PickState, match: Match, context: Context) -> Result:
    is_excess_asked = excess_and_goods_for_others.is_excess_asked(state) and not is_location_for_others(state)
    if state.phase == "done" and not is_excess_asked:
        return put_down_at_location.put_down_at(state, match, context)
    if is_excess_asked:
        is_right = excess_and_goods_for_others.is_location_of_excess(state, match.key)
        return reply(state, INFO if is_right else WRONG, "pick.prompt_return")
    if choice := location_questions.choice_for_location(state, match.key):
        if location_questions.is_read_again(state, choice, context.now):
            return location_questions.ask_with_location(state, choice, context.now)
        asked = location_questions.ask_if_held(state, choice._replace(is_held_known=False))
        return asked or inputs_at_stop.pick_at_location(state, choice, context)
    if location_questions.product_in_question(state):
        return location_questions.query_other_location(state, match)
    code = match.key.casefold()
    here = [index for index, line in enumerate(state.lines) if line.is_open and line.location.casefold() == code]
    if here:
        index = state.current_index if state.current_index in here else here[0]
        ready = stops_and_goods_in_hand.go_to_line(state._replace(location=match.key, choices=()), index)
        return reply(ready, GOOD, "pick.at_location", place=match.key, label=state.lines[index].label)
    if is_location_for_others(state):
        return put_down_at_location.put_down_at(state, match, context)
    line = state.current_line
    if line is None:
        return Turn(state)
    if not line.location:
        return reply(state._replace(choices=()), INFO, "pick.no_location", place=match.key, label=line.label)
    return location_questions.query_other_location(state, match)


def _scan_order(state: PickState, match: Match) -> Result:
    tote = pick_state.find_tote(state, match.key)
    if tote and not state.is_batch:
        return reply(state._replace(choices=()), INFO, "pick.this_order", order=state.order)
    if tote:
        return put_down_at_location.select_tote(state, tote)
    if state.phase == "done":
        in_hand = view.leave_verdict(state).text if stops_and_goods_in_hand.orders_not_put_down(state) else None
        return Turn(state, (Close(start=Start("pick", {"order_number": match.key}), not_done=in_hand),))
    choices = rejected_scans_and_quantities.other_order_choices(state, match.key)
    if state.is_batch:
        return reject_input(state, "pick.not_in_batch", *choices, label=match.key)
    return reject_input(state, "pick.other_order", *choices, other=match.key, order=state.order)


class PickJob(Job[PickState]):
    """Job for picking one order, or several as a batch, from opening to the last line."""

    name = "pick"
    lists = ("headers", "lines", "stock", "locations", "products")
    state_type = PickState
    steps: tuple[str, ...] = ("pick.wait", "pick.location", "pick.product", "pick.tote", "pick.done", "pick.return")
    resolves_ambiguity = True

    def accepts(self, state: PickState) -> Accepts:
        line, choices = state.current_line, open_question_and_choices.open_choices(state)
        is_at_stop = line is not None and state.phase == "picking" and not state.asks_for_tote
        letters = (
            ("nsu" if is_at_stop else "u")
            + ("i" if view.has_comments(state) else "")
            + ("w" if state.is_postponed else "")
        )
        goods = open_question_and_choices.quantity_line(state)
        decimals = bool(goods and goods.allows_decimals)
        labels = pick_state.tote_labels(state)
        accepts_quantity, typed_only = (
            open_question_and_choices.is_quantity_open(state),
            open_question_and_choices.is_number_asked(state),
        )
        keys = open_question_and_choices.choice_letters(state)
        return Accepts(
            accepts_quantity,
            decimals,
            len(choices),
            command_letters=letters,
            typed_only=typed_only,
            labels=labels,
            codes=tuple(tote.code for tote in state.totes if tote.code.isdecimal()),
            scan_labels=pick_state.tote_codes(state),
            choice_values=choices,
            choice_letters=keys,
            is_number_asked=typed_only,
        )

    def prefers(self, state: PickState) -> tuple[str, ...]:
        if state.phase == "done" or state.needs_location:
            return (LOCATION, PRODUCT, ORDER, REFERENCE)
        return (PRODUCT, LOCATION, ORDER, REFERENCE)

    def quantity_product(self, state: PickState) -> tuple[str, str]:
        goods = open_question_and_choices.quantity_line(state)
        return (goods.product, goods.label) if goods and open_question_and_choices.is_quantity_open(state) else ("", "")

    def uses_product(self, state: PickState, product: str) -> bool:
        return any(line.product == product for line in state.lines)

    def quantity_taken(self, state: PickState, product: str) -> Decimal:
        return sum((line.picked for line in state.lines if line.product == product), Decimal(0))

    def step_name(self, state: PickState) -> str:
        return state.step_name

    def orders_in_work(self, state: PickState) -> tuple[str, ...]:
        """Return the orders of the pick, and those with goods in hand that another picker took over."""
        goods_for_others = (goods.order for goods in state.to_return if goods.is_for_other_picker)
        return tuple(dict.fromkeys((*(tote.order for tote in state.totes if tote.has_lines), *goods_for_others)))

    def can_undo(self, state: PickState) -> bool:
        return bool(state.totes) and bool(state.history)

    def view(self, state: PickState) -> Step:
        return view.view(state)

    def handle(self, state: PickState, event: Event, context: Context) -> Result:
        state = state._replace(lines=with_tolerance(state.lines, context.policy.weight_tolerance))
        turn = _handle_event(open_question_and_choices.note_untaken(state, event), event, context)
        turn = open_question_and_choices.report_untaken(turn)
        turn = turn._replace(state=verify_totes.forget_removed_totes(turn.state))
        turn = turn._replace(state=location_questions.keep_scanned_location(state, turn.state, event))
        turn = other_pickers.claim_on_first_change(turn, context)
        turn = merge_changed_orders.keep_redirections(
            put_down_at_location.mark_not_put_down(state, turn, context), context
        )
        turn = turn._replace(
            state=open_question_and_choices.keep_choice_order(
                state, open_question_and_choices.postpone_questions(state, turn.state, event)
            )
        )
        turn = turn._replace(state=_apply_policy(state, turn.state, event, context))
        if not _is_background_event(event):
            return turn
        turn = open_question_and_choices.report_dropped(state, turn)
        return turn._replace(state=_close_quantity(state, turn.state))


def _apply_policy(before: PickState, state: PickState, event: Event, context: Context) -> PickState:
    """Apply the setting for location checks from the next stop on. At the current stop it applies only if the job is
    resumed and nothing of the stop is picked, asked or open."""
    if state.verifies_locations == context.policy.verified:
        return state
    stop_keys = [each.current_line.stop_key if each.current_line else None for each in (before, state)]
    is_started = (
        state.is_quantity_open
        or state.choices
        or any(line.picked for line in stops_and_goods_in_hand.current_stop_lines(state))
    )
    if stop_keys[0] == stop_keys[1] and (is_started or not isinstance(event, Resumed)):
        return state
    return state._replace(verifies_locations=context.policy.verified)


def _is_background_event(event: Event) -> bool:
    """Return True if the event is a cache update and no input of this terminal."""
    return isinstance(event, Rows) and event.id.startswith(
        (
            merge_changed_orders.ORDER_QUERY_PREFIX,
            excess_and_goods_for_others.EXCESS_QUERY,
            excess_and_goods_for_others.REFUSED_PUT_DOWNS,
            merge_changed_orders.ASSIGNED_QUERY,
        )
    )


def _close_quantity(before: PickState, state: PickState) -> PickState:
    """Close the open quantity if the page or its question changed without an input. Digits typed next could apply to
    the old page or to the new one."""
    stop_keys = [each.current_line.stop_key if each.current_line else None for each in (before, state)]
    is_unchanged = (
        stop_keys[0] == stop_keys[1] and state.to_return == before.to_return and state.choices == before.choices
    )
    return state if is_unchanged else state._replace(is_quantity_open=False, is_pack_asked=False)


def _handle_event(state: PickState, event: Event, context: Context) -> Result:
    match event:
        case Opened() | Changed() | Resumed() | Closed() | Rows():
            return _handle_update(state, event, context)
        case Choice(choice) if choice <= len(open_question_and_choices.open_choices(state)):
            return _follow_choice(state, open_question_and_choices.open_choices(state)[choice - 1], context)
        case _ if state.asks_for_tote and event not in (Command("i"), Command("w")):
            return verify_totes.handle_input(state, event, context)
        case Back():
            return _go_back(state, context)
    if not state.totes:
        return _handle_without_orders(state, event, context)
    if state.phase == "wait" and state.choices:
        return reply(state, WRONG, "pick.answer_first")
    if state.phase == "wait":
        return reply(state, WRONG, "pick.waiting", order=_awaited_order(state))
    return _handle_input(state, event, context)


def _handle_without_orders(state: PickState, event: Event, context: Context) -> Result:
    """Handle an input when no order is left: goods in hand are put back first, then a scan opens the next order."""
    match event:
        case Scan(matches) if is_location_for_others(state) and (location := location_of(matches)):
            return put_down_at_location.put_down_at(state, location, context)
        case _ if state.to_return:
            return reply(state, WRONG, excess_and_goods_for_others.return_first_id(state.to_return))
        case Command("u"):
            return undo.undo_step(state, context)
        case Scan():
            return Turn(state, (Close(event_for_below=event),))
    return Turn(state, (), Verdict(INFO, returned_message(state)))


def _awaited_order(state: PickState) -> str:
    return next((tote.order for tote in state.totes if not tote.has_lines), state.order)


def _handle_update(state: PickState, event: Event, context: Context) -> Result:
    """Handle events that are no input: opening, cache updates, answers of queries and of other jobs."""
    match event:
        case Opened(args):
            known = args.get("orders") or [args["order_number"]]
            confirmed, is_only_viewed = args.get("sure") or (), bool(args.get("view_only"))
            numbers = [str(order) for order in known]
            opened = pick_state.new_pick(
                numbers, args.get("totes") or {}, confirmed, context.policy.verified, is_only_viewed=is_only_viewed
            )
            return Turn(opened, (LIVE_POOLS_QUERY, *merge_changed_orders.query_all_orders(opened)))
        case Changed("outbox"):
            return Turn(
                state, (*_check_changes(state, context), *merge_changed_orders.query_all_orders(state, refresh=False))
            )
        case Changed("store"):
            return Turn(state, (LIVE_POOLS_QUERY,))
        case Rows(LIVE_POOLS_QUERY.id, rows):
            return Turn(state._replace(pools=parse_pools(rows)))
        case Rows(undo_sent_count.BOOKED_QUERY, rows, _):
            return undo.take_booked(state, rows)
        case Rows(log_writes_and_refusals.REFUSED_ENTRIES, rows, _):
            return undo.undo_count(state, rows, context)
        case Rows(excess_and_goods_for_others.REFUSED_PUT_DOWNS, rows, _):
            return excess_and_goods_for_others.report_refused_put_down(state, rows, context)
        case Rows(merge_changed_orders.ASSIGNED_QUERY, rows, _):
            return merge_changed_orders.report_assigned(state, rows)
        case Rows(excess_and_goods_for_others.EXCESS_QUERY, rows, _):
            return excess_and_goods_for_others.report_excess(state, rows, context)
        case Changed("order", ""):
            return Turn(state, merge_changed_orders.query_all_orders(state, refresh=False))
        case Changed("order", key) if pick_state.find_tote(state, key) or any(
            goods.order == key for goods in state.to_return
        ):
            return Turn(state, merge_changed_orders.query_orders((key,), refresh=False))
        case Closed("shortage", answer) if answer and answer["kind"] == "found":
            asked = location_questions.offer_location(state, str(answer["location"]), int(answer.get("pool") or 0))
            return _handle_update(asked, Closed("shortage"), context)
        case Closed("shortage", answer) if answer:
            return _apply_shortage(state, answer, context)
        case Closed("count", answer) if answer:
            after = pick_state.add_undo_step(state, count_step(answer))
            after = after._replace(is_quantity_open=False)  # a number typed next may correct the count
            return Turn(
                after,
                (*excess_and_goods_for_others.query_excess(after), *merge_changed_orders.query_all_orders(after)),
            )
        case Resumed() | Closed():
            return Turn(
                state,
                (
                    LIVE_POOLS_QUERY,
                    *_check_changes(state, context),
                    *merge_changed_orders.query_all_orders(state),
                ),
            )
        case Rows(id_, rows, _) if id_.startswith(merge_changed_orders.ORDER_QUERY_PREFIX):
            return merge_changed_orders.update_order(
                state, id_.removeprefix(merge_changed_orders.ORDER_QUERY_PREFIX), rows[0] if rows else None, context
            )
        case Rows(rejected_scans_and_quantities.NUMBER_QUERY, rows, _) if (
            state.lookup.kind == rejected_scans_and_quantities.NUMBER_QUERY
        ):
            return _handle_records_by_number(state, rows, context)
        case Rows(kind, rows, _) if kind == state.lookup.kind:
            return _handle_answer(state, kind, rows[0] if rows else {}, context)
    return Turn(state)


def _check_changes(state: PickState, context: Context) -> tuple[Query, ...]:
    """Return the queries for excess, refused put-downs and assignments; answers arrive in reverse order."""
    return (
        *excess_and_goods_for_others.query_excess(state),
        *excess_and_goods_for_others.query_refused(state),
        merge_changed_orders.query_assigned(context),
    )


def _apply_shortage(state: PickState, answer: Args, context: Context) -> Result:
    """Apply the result of the shortage job to the current stop. The orders are only refreshed, not queried at once: the
    cache would not have the new operations yet."""
    turn = inputs_at_stop.apply_shortage(state, answer, context)
    refreshes = (Refresh("order", tote.order) for tote in turn.state.totes)
    return turn._replace(effects=(*turn.effects, *refreshes))


def _handle_answer(state: PickState, kind: str, row: Json, context: Context) -> Result:
    if kind == rejected_scans_and_quantities.FOREIGN_QUERY:
        return rejected_scans_and_quantities.explain_foreign_product(state, row, context.now)
    if kind == location_questions.STOCK_THERE_QUERY:
        return inputs_at_stop.handle_location_answer(state, row, context)
    if kind == put_down_at_location.TOTE_OR_LOCATION_QUERY:
        return put_down_at_location.ask_tote_or_location(state, is_location=bool(row))
    if kind == put_down_at_location.PICKUPS_QUERY:
        return put_down_at_location.offer_pickup_locations(state, row)
    return put_down_at_location.put_down_if_unused(state, row, context)


def _handle_records_by_number(state: PickState, rows: tuple[RecordsByNumberRow, ...], context: Context) -> Result:
    """Handle the records that have these digits as their number. The code of a tote wins. Without a record the digits
    are a quantity; otherwise the picker is asked."""
    value, code = Decimal(state.lookup.key), state.lookup.code
    tote = pick_state.find_tote_by_code(state, code)
    state = state._replace(lookup=pick_state.StoreLookup())
    if tote:
        return inputs_at_stop.ask_tote_or_quantity(state, value, tote)
    found = typed_numbers_dates_and_letters.matches_of_number(rows, value, (PRODUCT, LOCATION, ORDER, REFERENCE))
    is_about_goods = open_question_and_choices.is_about_goods(state)
    if found and _is_record(state, rows, value, code, found):
        turn = handle_scan(state if is_about_goods else state._replace(choices=()), found, context)
        if turn.verdict and any(row.get("is_guess") for row in rows):
            label = found[0].label or found[0].key
            turn = turn._replace(verdict=turn.verdict.wrap("session.guessed", code=code, label=label))
        return turn
    if asked := inputs_at_stop.set_checked_total(state, value, found):
        return asked
    if (
        not found
        and value > typed_numbers_dates_and_letters.MAX_LIKELY_QUANTITY
        and value > stops_and_goods_in_hand.ordered_at_stop(state)
    ):  # nobody means a quantity this large
        return reply(state if is_about_goods else state._replace(choices=()), WRONG, "count.unknown", code=code)
    return inputs_at_stop.check_quantity(state, value, found, context)


def _is_record(
    state: PickState, rows: tuple[RecordsByNumberRow, ...], value: Decimal, code: str, found: tuple[Match, ...]
) -> bool:
    """Return True if digits are the number of the record found, and no quantity."""
    if typed_numbers_dates_and_letters.is_likely_number(rows, value) or _is_label(state, rows, value, code, found):
        return True
    is_long = not typed_numbers_dates_and_letters.is_too_short_for_code(f"{value:f}")
    if (
        is_long
        and open_question_and_choices.is_about_goods(state)
        and value > stops_and_goods_in_hand.ordered_at_stop(state)
    ):
        return True  # it is refused by name, because the question about scanned goods would be lost
    return (
        value > typed_numbers_dates_and_letters.MAX_LIKELY_QUANTITY
        and _is_ordered_product(state, found[0])
        and not typed_numbers_dates_and_letters.are_several_guesses(rows)
    )


def _is_label(
    state: PickState, rows: tuple[RecordsByNumberRow, ...], value: Decimal, code: str, found: tuple[Match, ...]
) -> bool:
    """Return True if digits that are too many for the stop are the label of a location, or an order of this pick."""
    if (
        len(found) > 1
        or value <= stops_and_goods_in_hand.ordered_at_stop(state)
        or any(row.get("is_guess") for row in rows)
    ):
        return False
    is_long = not typed_numbers_dates_and_letters.is_too_short_for_code(code)
    is_own_order = found[0].kind in (ORDER, REFERENCE) and bool(pick_state.find_tote(state, found[0].key))
    return is_own_order or (is_long and found[0].kind == LOCATION)


def _is_ordered_product(state: PickState, found: Match) -> bool:
    """Return True if the match is a product of these orders; such a match needs no confirmation."""
    return found.kind == PRODUCT and any(line.product == found.key for line in state.lines)


def _handle_input(state: PickState, event: Event, context: Context) -> Result:
    """Handle an input of the picker while orders are open."""
    match event:
        case Scan(matches):
            return handle_scan(state, matches, context)
        case Quantity(value, code):
            return inputs_at_stop.enter_quantity(state, value, code, context)
        case Command("u") if state.to_return and not state.choices:
            return reply(state, WRONG, excess_and_goods_for_others.return_first_id(state.to_return))
        case Command("u") if state.is_pack_asked:
            return inputs_at_stop.drop_pack(state)
        case Command("u") if state.only_order and not state.choices:
            return reply(state._replace(only_order=""), INFO, "session.dropped")
        case Command("u") if state.choices:
            return _go_back(state, context)  # the question is the last input
        case Command("u") if state.take_over_choices and not state.is_postponed:
            return reply(state, WRONG, "pick.answer_first")
        case Command("n" | "s" | "w") if open_question_and_choices.is_about_goods(state):
            return open_question_and_choices.repeat_goods_question(state)
        case Command("n"):
            return inputs_at_stop.skip_stop(state)
        case Command("s"):
            return inputs_at_stop.start_shortage(state)
        case Command("i") if view.has_comments(state):
            return Turn(state, (_show_comments(state),))
        case Command("u"):
            return undo.undo_step(state, context)
        case Command("w") if state.is_postponed:
            return open_question_and_choices.ask_postponed(state)
        case UnknownCode(code) | Text(code):
            tote = pick_state.find_tote_by_code(state, code)
            if tote and open_question_and_choices.is_about_goods(state):
                return open_question_and_choices.repeat_goods_question(state)
            if tote:
                return put_down_at_location.query_tote_or_location(state, tote, code)
            if put_down_at_location.may_be_location(state, code):
                return put_down_at_location.query_pickup_locations(state, code)
            id_ = (
                rejected_scans_and_quantities.no_quantity_id(state)
                if typed_numbers_dates_and_letters.is_too_short_for_code(code)
                else "count.unknown"
            )
            kept = state if open_question_and_choices.outlasts_unknown_code(state) else state._replace(choices=())
            return reply(kept, WRONG, id_, code=code)
    return Turn(state)


def _go_back(state: PickState, context: Context) -> Result:
    """Drop the open question first, then leave the job; leaving an unfinished batch needs a confirmation."""
    if state.choices:
        if state.phase == "wait" and not state.is_batch:
            return Turn(state, (Close(view.leave_verdict(state)),))
        asked = state.choices[0]
        is_short = any(line.is_short for line in state.lines if line.product == asked.product)
        id_ = "pick.not_counted" if asked.kind == "count" and is_short else "session.dropped"
        is_asked_where = bool(location_questions.product_in_question(state))
        is_pack_asked = state.is_pack_asked and state.is_quantity_open and not is_asked_where
        return reply(state._replace(choices=(), is_pack_asked=is_pack_asked), INFO, id_)
    if state.is_pack_asked:
        return inputs_at_stop.drop_pack(state)
    if (state.take_over_choices and not state.is_postponed) or state.only_order:
        return reply(state._replace(take_over_choices=(), only_order=""), INFO, "session.dropped")
    if state.to_return:
        state_asked = state._replace(choices=(PickChoice("leave"),))
        return reply(state_asked, ASK, "pick.leave_with_goods", count=stops_and_goods_in_hand.quantity_to_return(state))
    if not state.totes:
        return Turn(state, (Close(Verdict(GOOD, returned_message(state))),))
    if not state.is_batch or state.phase == "wait":
        return _leave(state, context)
    if state.phase == "done":
        return _leave(state, context)
    count = len(state.totes)
    return reply(state._replace(choices=(PickChoice("leave"),)), ASK, "pick.leave_batch", count=count)


def _leave(state: PickState, context: Context) -> Result:
    return Turn(state, (*other_pickers.release_unpicked(state, context.store), Close(view.leave_verdict(state))))


def _follow_choice(state: PickState, choice: PickChoice, context: Context) -> Result:
    """Apply the choice that the picker made."""
    if choice.kind == location_questions.PICKED_FROM and (asked := location_questions.ask_if_held(state, choice)):
        return asked
    state = (
        open_question_and_choices.remove_answered(state, choice)
        if choice in state.take_over_choices
        else state._replace(choices=_choices_kept(state, choice))
    )
    match choice.kind:
        case "label_unreadable":
            return verify_totes.pass_unreadable(state, choice)
        case "look_up":
            return Turn(state, (Start("look_up", {"product_number": choice.key}),))
        case "leave_for":
            close = Close(start=Start("pick", {"order_number": choice.key}))
            return Turn(state, (*other_pickers.release_unpicked(state, context.store), close))
        case "count":
            label = next((line.label for line in state.lines if line.product == choice.product), choice.product)
            count_args = {"location_code": choice.key, "product_number": choice.product, "label": label}
            return Turn(state, (Start("count", count_args),))
        case "set":
            return inputs_at_stop.set_quantity(state, choice.quantity, context)
        case "amount":
            total = inputs_at_stop.set_checked_total(state, choice.quantity, ())
            return total or inputs_at_stop.check_quantity(state, choice.quantity, (), context)
        case "put_here" | "put_others":
            return put_down_at_location.put_down(
                state, choice.key, context, includes_others=choice.kind == "put_others"
            )
        case "take_rest":
            return inputs_at_stop.pick_rest(state, choice.key, context)
        case location_questions.PICKED_FROM:
            return inputs_at_stop.pick_at_location(state, choice, context)
        case "take_here":
            return inputs_at_stop.change_location(state, choice.key, choice.pool)
        case "reopen":
            return inputs_at_stop.reopen_lines(state, _match_of_choice(choice), context)
        case "is_delivery" | "is_person":
            return reply(state, INFO, "session.dropped")
        case "is_product" | "is_location" | "is_order" | "is_reference":
            return handle_scan(state, (Match(choice.kind[3:], choice.key, choice.label, code=choice.key),), context)
        case "this_one":
            return inputs_at_stop.pick_product(state, _match_of_choice(choice), context)
    return _follow_order_choice(state, choice, context)


def _choices_kept(state: PickState, choice: PickChoice) -> tuple[PickChoice, ...]:
    """Return the choices that stay open after this one: those about scanned goods if digits were no quantity, or a
    scanned location, unless the choice is about locations."""
    is_total = choice.kind == "amount" and location_questions.product_in_question(state)
    if is_total or choice.kind in typed_numbers_dates_and_letters.RECORD_CHOICES or choice.kind == "tote":
        return open_question_and_choices.goods_choices(state) or location_questions.scanned_locations(state)
    is_location = choice.kind in (location_questions.CHANGE_LOCATION, location_questions.PICKED_FROM)
    return () if is_location else location_questions.scanned_locations(state)


def _match_of_choice(choice: PickChoice) -> Match:
    """Return the product of a choice as a match, as if it had been scanned."""
    return Match(PRODUCT, choice.key, choice.label, choice.quantity or Decimal(1), bool(choice.quantity))


def _follow_order_choice(state: PickState, choice: PickChoice, context: Context) -> Result:
    """Apply a choice about the orders of the pick."""
    tote = pick_state.find_tote(state, choice.key)
    match choice.kind:
        case "join" | "take_in" if tote is None and pick_state.next_tote_letter(state):
            joined = pick_state.with_tote(
                state._replace(is_batch=True), Tote(choice.key, pick_state.next_tote_letter(state))
            )
            return Turn(
                joined,
                (merge_changed_orders.query_assigned(context), *merge_changed_orders.query_orders((choice.key,))),
            )
        case "tote" if tote and open_question_and_choices.is_about_goods(state):
            return open_question_and_choices.repeat_goods_question(state)
        case "tote" if tote:
            return put_down_at_location.select_tote(state, tote)
        case "take_over" | "open_free" if tote:
            confirmed = pick_state.with_tote(state, tote._replace(is_confirmed=True))
            return Turn(
                confirmed,
                merge_changed_orders.query_orders(each.order for each in confirmed.totes if not each.has_lines),
            )
        case "leave_out" if tote:
            removed = merge_changed_orders.remove_order(state, tote, "left_out", kind=INFO)
            queries = merge_changed_orders.query_orders(
                each.order for each in removed.state.totes if not each.has_lines
            )
            return removed._replace(effects=(*removed.effects, *queries))
        case "finish":
            return Turn(state, (Start("hand_over", {"order_number": choice.key}),))
        case "later":
            return reply(state, INFO, "session.dropped", merge_changed_orders.query_assigned(context))
        case "go_on":
            return merge_changed_orders.start_without_missing(state)
        case "both":
            return reply(state, GOOD, "pick.both_pick", who=choice.label, order=choice.key)
        case "hand_over" if tote:
            return merge_changed_orders.remove_order(state, tote, "claimed", choice.label, kind=INFO)
        case "leave":
            return _leave(state, context)
        case "handed_over":
            return hand_over_to_others(state)
    return put_down_at_location.return_goods(state, context)


def _show_comments(state: PickState) -> Start:
    """Return the effect that opens the page with the customers' comments."""
    from aisle.jobs.shell.customer_comments import Note, start_note  # few orders have comments

    return start_note(
        Note((tote.letter if state.is_batch else "", tote.order, tote.customer), tote.comment)
        for tote in state.totes
        if tote.comment
    )
