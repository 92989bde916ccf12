"""What a scan is in a round: a product to take, the place of a stop or of what is put down, an order of the round or
another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import quantities, refusals
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Job,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Turn,
)
from aisle.jobs.pick import goods_in_hand, offered_choices, pick_state
from aisle.jobs.pick import goods_in_hand as pick_pools
from aisle.jobs.pick import lines as pick_take
from aisle.jobs.pick import offered_choices as pick_why
from aisle.jobs.pick import orders as pick_given
from aisle.jobs.pick import orders as pick_orders
from aisle.jobs.pick import orders as redirected
from aisle.jobs.pick import put_down as pick_put
from aisle.jobs.pick import take_over as pick_claim
from aisle.jobs.pick import take_over as pick_passed
from aisle.jobs.pick import view as pick_view
from aisle.jobs.pick.offered_choices import reject_input
from aisle.jobs.pick.pick_state import PickChoice, PickState, Tote, count_step
from aisle.jobs.quantities import name_of, with_distinct_names
from aisle.jobs.shell.note import start_note
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Step, Verdict, msg
from aisle.scan.meaning import (
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

ScanTurn = Turn[PickState]


def handle_scan(state: PickState, matches: tuple[Match, ...], context: Context) -> ScanTurn:
    """The first meaning that these orders can use wins; otherwise the first says why not."""
    if offered_choices.product_in_question(state):
        matches = tuple(each for each in matches if not offered_choices.keeps_question(state, each))
        if not matches:
            return offered_choices.repeat_location_question(state)
    usable = _usable_products(state, matches)
    place = location_of(matches)
    if place and (not usable or (state.needs_location and _has_line_at(state, place))):
        return _scan_location(state, place, context)
    if len(usable) > 1:
        return reject_input(
            state,
            "pick.which",
            *map(_product_choice, with_distinct_names(usable)),
            code=usable[0].code or usable[0].key,
        )
    first = usable[0] if usable else matches[0]
    if first.kind == PRODUCT:
        return pick_take.pick_product(state, first, context)
    if first.kind in (ORDER, REFERENCE):
        return _scan_order(state, first)
    if first.kind == PERSON:
        return reject_input(state, "pick.person", name=first.label or first.key)
    return Turn(state._replace(choices=()), (), Verdict(WRONG, msg("count_log.not_this", what=name_of(first))))


def _product_choice(match: Match) -> PickChoice:
    quantity = match.quantity if match.is_explicit else Decimal(0)
    return PickChoice("this_one", match.key, match.label, quantity=quantity)


def _has_line_at(state: PickState, location: Match) -> bool:
    """Whether a line of these orders is taken there."""
    return any(take.location.casefold() == location.key.casefold() for take in state.lines)


def location_of(matches: tuple[Match, ...]) -> Match | None:
    """The place among these meanings."""
    return next((m for m in matches if m.kind == LOCATION), None)


def _usable_products(state: PickState, matches: tuple[Match, ...]) -> list[Match]:
    """Products of these orders: the one of the stop, else those that are still open, else any."""
    products = [m for m in matches if m.kind == PRODUCT]
    here = [m for m in products if state.current_line and m.key == state.current_line.product]
    if here:
        return here[:1]
    wanted = [m for m in products if any(take.product == m.key for take in state.lines)]
    open_ = {take.product for take in state.lines if take.is_open}
    return [m for m in wanted if m.key in open_] or wanted[:1]


def _scan_location(state: PickState, match: Match, context: Context) -> ScanTurn:
    if state.phase == "done":
        return pick_put.put_down_at(state, match, context)
    if way := offered_choices.choice_for_location(state, match.key):
        return pick_take.pick_at_location(state, way, context)
    if offered_choices.product_in_question(state):
        return pick_why.query_other_location(state, match)
    code = match.key.casefold()
    here = [index for index, take in enumerate(state.lines) if take.is_open and take.location.casefold() == code]
    if here:
        index = state.current_index if state.current_index in here else here[0]
        ready = pick_state.go_to_line(state._replace(location=match.key, choices=()), index)
        return Turn(ready, (), Verdict(GOOD, msg("pick.at_place", place=match.key, label=state.lines[index].label)))
    if pick_passed.is_location_for_others(state):
        return pick_put.put_down_at(state, match, context)
    take = state.current_line
    if take is None:
        return Turn(state)
    if not take.location:
        told = msg("pick.no_place", place=match.key, label=take.label)
        return Turn(state._replace(choices=()), (), Verdict(INFO, told))
    return pick_why.query_other_location(state, match)


def _scan_order(state: PickState, match: Match) -> ScanTurn:
    tote = pick_state.find_tote(state, match.key)
    if tote and not state.is_batch:
        return Turn(state._replace(choices=()), (), Verdict(INFO, msg("pick.this_order", order=state.order)))
    if tote:
        return pick_put.select_tote(state, tote)
    if state.phase == "done":
        return Turn(state, (Close(start=Start("pick", {"order_number": match.key})),))
    ways = pick_why.other_order_choices(state, match.key)
    if state.is_batch:
        return reject_input(state, "pick.not_of_round", *ways, other=match.key)
    return reject_input(state, "pick.other_order", *ways, other=match.key, order=state.order)


Result = Turn[PickState]


class PickJob(Job[PickState]):
    """One order, or several in one walk, from the scan that opens them to the last line."""

    name = "pick"
    steps: tuple[str, ...] = ("pick.wait", "pick.place", "pick.product", "pick.done", "pick.back")
    version = 21
    journalled = True
    resolves_ambiguity = True

    def begin(self) -> PickState:
        """No order yet."""
        return PickState()

    def accepts(self, state: PickState) -> Accepts:
        """A quantity is open for the stop that was scanned last, choices where a way on is offered."""
        take, choices = state.current_line, offered_choices.open_choices(state)
        letters = (
            ("nsu" if take is not None and state.phase == "walk" else "u")
            + ("i" if pick_view.customer_notes(state) else "")
            + ("w" if state.is_postponed else "")
        )
        decimals = bool(take and take.allows_decimals)
        labels = pick_state.tote_labels(state)
        many, sure = offered_choices.is_quantity_open(state), offered_choices.is_number_asked(state)
        keys = offered_choices.choice_letters(state)
        return Accepts(
            many,
            decimals,
            len(choices),
            command_letters=letters,
            typed_only=sure,
            labels=labels,
            choice_values=choices,
            choice_letters=keys,
        )

    def prefers(self, state: PickState) -> tuple[str, ...]:
        """What the step on the screen asks for comes first."""
        if state.phase == "done" or state.needs_location:
            return (LOCATION, PRODUCT, ORDER, REFERENCE)
        return (PRODUCT, LOCATION, ORDER, REFERENCE)

    def quantity_product(self, state: PickState) -> tuple[str, str]:
        """The product of the stop."""
        take = state.current_line
        return (take.product, take.label) if take and offered_choices.is_quantity_open(state) else ("", "")

    def uses_product(self, state: PickState, product: str) -> bool:
        """What is on a line of these orders."""
        return any(take.product == product for take in state.lines)

    def step_name(self, state: PickState) -> str:
        """One of `steps`."""
        return state.step_name

    def orders_in_work(self, state: PickState) -> tuple[str, ...]:
        """The orders of the round whose lines are here, and those with goods in hand that somebody took over."""
        left = (back.order for back in state.to_return if back.is_for_other_picker)
        return tuple(dict.fromkeys((*(tote.order for tote in state.totes if tote.has_lines), *left)))

    def can_undo(self, state: PickState) -> bool:
        """Whether a step is left that undo takes back."""
        return bool(state.totes) and bool(state.history)

    def view(self, state: PickState) -> Step:
        """The stop on the screen."""
        return pick_view.view(state)

    def handle(self, state: PickState, event: Event, context: Context) -> Result:
        """The next state; see the functions below for each kind of event."""
        turn = pick_claim.claim_on_first_change(_handle_event(state, event, context), context)
        turn = redirected.keep_redirections(pick_put.mark_not_put_down(state, turn, context), context)
        turn = turn._replace(
            state=offered_choices.keep_choice_order(state, offered_choices.postpone_questions(state, turn.state, event))
        )
        turn = turn._replace(state=_apply_policy(state, turn.state, event, context))
        return turn._replace(state=_close_quantity(state, turn.state)) if _is_background_event(event) else turn


def _apply_policy(before: PickState, state: PickState, event: Event, context: Context) -> PickState:
    """Whether places are verified, as the settings say now: from the next stop on, or from one where nothing is begun
    when the job is taken up again."""
    if state.verifies_locations == context.policy.verified:
        return state
    stops = [each.current_line.stop_key if each.current_line else None for each in (before, state)]
    begun = state.is_quantity_open or state.choices or any(take.picked for take in pick_state.current_stop_lines(state))
    if stops[0] == stops[1] and (begun or not isinstance(event, Resumed)):
        return state
    return state._replace(verifies_locations=context.policy.verified)


def _is_background_event(event: Event) -> bool:
    """Whether nobody at this terminal has said anything: the answers of the cache to what has changed there."""
    return isinstance(event, Rows) and event.id.startswith(
        (pick_orders.ORDER_QUERY_PREFIX, pick_claim.SURPLUS_QUERY, pick_claim.REFUSED_QUERY, pick_given.ASSIGNED_QUERY)
    )


def _close_quantity(before: PickState, state: PickState) -> PickState:
    """A page that came by itself, or a question that went so, closes the quantity of the stop: digits after it may be
    meant for either."""
    stops = [each.current_line.stop_key if each.current_line else None for each in (before, state)]
    same = stops[0] == stops[1] and state.to_return == before.to_return and state.choices == before.choices
    return state if same else state._replace(is_quantity_open=False)


def _handle_event(state: PickState, event: Event, context: Context) -> Result:
    match event:
        case Opened() | Changed() | Resumed() | Closed() | Rows():
            return _handle_update(state, event, context)
        case Back():
            return _go_back(state, context)
        case Choice(choice) if choice <= len(offered_choices.open_choices(state)):
            return _follow_choice(state, offered_choices.open_choices(state)[choice - 1], context)
    if not state.totes:
        return _handle_without_orders(state, event, context)
    if state.phase == "wait" and state.choices:
        return Turn(state, (), Verdict(WRONG, msg("pick.answer_first")))
    if state.phase == "wait":
        return Turn(state, (), Verdict(WRONG, msg("pick.waiting", order=_awaited_order(state))))
    return _handle_input(state, event, context)


def _handle_without_orders(state: PickState, event: Event, context: Context) -> Result:
    """No order is left: what is in hand goes back first; then a scan opens what comes next."""
    match event:
        case Scan(meanings) if pick_passed.is_location_for_others(state) and (place := location_of(meanings)):
            return pick_put.put_down_at(state, place, context)
        case _ if state.to_return:
            passed = pick_passed.goods_for_others(state)
            return Turn(state, (), Verdict(WRONG, msg("pick.answer_first" if passed else "pick.put_back_first")))
        case Command("u"):
            return pick_take.undo_step(state, context)
        case Scan():
            return Turn(state, (Close(event_for_below=event),))
    return Turn(state, (), Verdict(INFO, pick_passed.returned_message(state)))


def _awaited_order(state: PickState) -> str:
    return next((tote.order for tote in state.totes if not tote.has_lines), state.order)


def _handle_update(state: PickState, event: Event, context: Context) -> Result:
    """What the job hears from elsewhere."""
    match event:
        case Opened(args):
            orders = args.get("orders") or [args["order_number"]]
            sure, looks = args.get("sure") or (), bool(args.get("looks"))
            numbers = [str(order) for order in orders]
            fresh = pick_state.new_pick(
                numbers, args.get("totes") or {}, sure, context.policy.verified, is_only_viewed=looks
            )
            return Turn(fresh, (pick_pools.QUERY_POOL_NAMES, *pick_orders.query_all_orders(fresh)))
        case Changed("outbox"):
            return Turn(state, (*_check_changes(state, context), *pick_orders.query_all_orders(state, refresh=False)))
        case Changed("store"):
            return Turn(state, (pick_pools.QUERY_POOL_NAMES,))
        case Rows(pick_pools.POOL_NAMES_QUERY):
            return Turn(pick_pools.with_pool_names(state, event))
        case Rows(refusals.REFUSED_QUERY, rows, _):
            return pick_take.undo_count(state, rows, context)
        case Rows(pick_claim.REFUSED_QUERY, rows, _):
            return pick_claim.report_refused_put_down(state, rows, context)
        case Rows(pick_given.ASSIGNED_QUERY, rows, _):
            return pick_given.report_assigned(state, rows)
        case Rows(pick_claim.SURPLUS_QUERY, rows, _):
            return pick_claim.report_surplus(state, rows, context)
        case Changed("order", ""):
            return Turn(state, pick_orders.query_all_orders(state, refresh=False))
        case Changed("order", key) if pick_state.find_tote(state, key) or any(
            back.order == key for back in state.to_return
        ):
            return Turn(state, pick_orders.query_orders((key,), refresh=False))
        case Closed("short", answer) if answer:
            return _apply_shortage(state, answer, context)
        case Closed("count", answer) if answer:
            after = pick_state.add_undo_step(state, count_step(answer))
            return Turn(after, (*pick_claim.query_surplus(after), *pick_orders.query_all_orders(after)))
        case Resumed() | Closed():
            return Turn(
                state,
                (pick_pools.QUERY_POOL_NAMES, *_check_changes(state, context), *pick_orders.query_all_orders(state)),
            )
        case Rows(id_, rows, _) if id_.startswith(pick_orders.ORDER_QUERY_PREFIX):
            return pick_orders.update_order(
                state, id_.removeprefix(pick_orders.ORDER_QUERY_PREFIX), rows[0] if rows else None, context
            )
        case Rows(pick_why.NUMBER_QUERY, rows, _) if state.lookup.kind == pick_why.NUMBER_QUERY:
            return _handle_records_by_number(state, rows, context)
        case Rows(kind, rows, _) if kind == state.lookup.kind:
            return _handle_answer(state, kind, rows[0] if rows else {}, context)
    return Turn(state)


def _check_changes(state: PickState, context: Context) -> tuple[Query, ...]:
    """Asks what became of this round beside its orders; what is told first here is told last of all."""
    return (*pick_claim.query_surplus(state), *pick_claim.query_refused(state), pick_given.query_assigned(context))


def _apply_shortage(state: PickState, answer: Mapping[str, Any], context: Context) -> Result:
    """What was found out about the rest of a stop. The orders are not asked for at once: they would not yet know."""
    turn = pick_take.apply_shortage(state, answer, context)
    wishes = (Refresh("order", tote.order) for tote in turn.state.totes)
    return turn._replace(effects=(*turn.effects, *wishes))


def _handle_answer(state: PickState, kind: str, row: Mapping[str, Any], context: Context) -> Result:
    if kind == pick_why.FOREIGN_QUERY:
        return pick_why.explain_foreign_product(state, row, context.now)
    if kind == pick_why.STOCK_THERE_QUERY:
        return pick_take.handle_location_answer(state, row, context)
    if kind == pick_put.PICKUPS_QUERY:
        return pick_put.offer_pickup_locations(state, row)
    return pick_put.put_down_if_unused(state, row, context)


def _handle_records_by_number(state: PickState, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Digits that nothing has for a number are a quantity; else it is asked. A tote that has them on it is named."""
    value, code = Decimal(state.lookup.key), state.lookup.code
    tote = pick_state.find_tote_by_code(state, code)
    state = state._replace(lookup=pick_state.StoreLookup())
    if tote:
        return pick_take.ask_tote_or_quantity(state, value, tote)
    found = quantities.matches_of_number(rows, value, (PRODUCT, LOCATION, ORDER, REFERENCE))
    if found and (
        quantities.is_likely_number(rows, value)
        or (value > quantities.MAX_LIKELY_QUANTITY and _is_ordered_product(state, found[0]))
    ):
        return handle_scan(state._replace(choices=()), found, context)
    if (
        not found and value > quantities.MAX_LIKELY_QUANTITY and value > pick_state.ordered_at_stop(state)
    ):  # nobody means so many
        return reject_input(state, "pick.unknown", code=code)
    return pick_take.check_quantity(state, value, found, context)


def _is_ordered_product(state: PickState, found: Match) -> bool:
    """Whether it is a product of these orders: then a guess of it is none."""
    return found.kind == PRODUCT and any(take.product == found.key for take in state.lines)


def _handle_input(state: PickState, event: Event, context: Context) -> Result:
    """What the picker says."""
    match event:
        case Scan(meanings):
            return handle_scan(state, meanings, context)
        case Quantity(value, code):
            return pick_take.enter_quantity(state, value, code, context)
        case Command("n"):
            return pick_take.skip_stop(state)
        case Command("s"):
            return pick_take.start_shortage(state)
        case Command("i") if pick_view.customer_notes(state):
            return Turn(state, (start_note(pick_view.customer_notes(state)),))
        case Command("u"):
            return pick_take.undo_step(state, context)
        case Command("w") if state.is_postponed:
            return offered_choices.ask_postponed(state)
        case UnknownCode(code) | Text(code):
            tote = pick_state.find_tote_by_code(state, code)
            if tote:
                return pick_put.select_tote(state, tote)
            if pick_put.may_be_location(state, code):
                return pick_put.query_pickup_locations(state, code)
            return reject_input(
                state,
                pick_why.no_quantity_id(state) if quantities.is_too_short_for_code(code) else "pick.unknown",
                code=code,
            )
    return Turn(state)


def _go_back(state: PickState, context: Context) -> Result:
    """First out of what is asked, then out of the job; a round is left only when that is meant."""
    if state.choices:
        if state.phase == "wait" and not state.is_batch:
            return Turn(state, (Close(pick_view.leave_verdict(state)),))
        id_ = "pick.not_counted" if state.choices[0].kind == "count" else "pick.dropped"
        return Turn(state._replace(choices=()), (), Verdict(INFO, msg(id_)))
    if (state.take_over_choices and not state.is_postponed) or state.only_order:
        return Turn(state._replace(take_over_choices=(), only_order=""), (), Verdict(INFO, msg("pick.dropped")))
    if state.to_return:
        asked = state._replace(choices=(PickChoice("leave"),))
        return Turn(asked, (), Verdict(ASK, msg("pick.leave_hand", count=goods_in_hand.quantity_to_return(state))))
    if not state.totes:
        return Turn(state, (Close(Verdict(GOOD, pick_passed.returned_message(state))),))
    if not state.is_batch or state.phase == "wait":
        return _leave(state, context)
    if state.phase == "done":
        return _leave(state, context)
    count = len(state.totes)
    return Turn(state._replace(choices=(PickChoice("leave"),)), (), Verdict(ASK, msg("pick.leave_round", count=count)))


def _leave(state: PickState, context: Context) -> Result:
    return Turn(state, (*pick_claim.release_unpicked(state, context.store), Close(pick_view.leave_verdict(state))))


def _follow_choice(state: PickState, choice: PickChoice, context: Context) -> Result:
    """A numbered way on."""
    state = (
        offered_choices.remove_answered(state, choice)
        if choice in state.take_over_choices
        else state._replace(choices=())
    )
    match choice.kind:
        case "look_up":
            return Turn(state, (Start("lookup", {"product_number": choice.key}),))
        case "leave_for":
            close = Close(start=Start("pick", {"order_number": choice.key}))
            return Turn(state, (*pick_claim.release_unpicked(state, context.store), close))
        case "count":
            label = next((take.label for take in state.lines if take.product == choice.product), choice.product)
            args = {"location_code": choice.key, "product_number": choice.product, "label": label, "empty": True}
            return Turn(state, (Start("count", args),))
        case "set":
            return pick_take.set_quantity(state, choice.quantity, context)
        case "amount":
            return pick_take.check_quantity(state, choice.quantity, (), context)
        case "put_here" | "put_others":
            return pick_put.put_down(state, choice.key, context, includes_others=choice.kind == "put_others")
        case "take_rest":
            return pick_take.pick_rest(state, choice.key, context)
        case offered_choices.PICKED_FROM:
            return pick_take.pick_at_location(state, choice, context)
        case "take_here":
            return pick_take.change_location(state, choice.key, choice.pool)
        case "reopen":
            return pick_take.reopen_lines(state, _match_of_choice(choice), context)
        case "is_delivery" | "is_person":
            return Turn(state, (), Verdict(INFO, msg("pick.dropped")))
        case "is_product" | "is_location" | "is_order" | "is_reference":
            return handle_scan(state, (Match(choice.kind[3:], choice.key, choice.label, code=choice.key),), context)
        case "this_one":
            return pick_take.pick_product(state, _match_of_choice(choice), context)
    return _follow_order_choice(state, choice, context)


def _match_of_choice(choice: PickChoice) -> Match:
    """The product of a way on, as it was scanned."""
    return Match(PRODUCT, choice.key, choice.label, choice.quantity or Decimal(1), bool(choice.quantity))


def _follow_order_choice(state: PickState, choice: PickChoice, context: Context) -> Result:
    """A numbered way on that is about the orders of the round."""
    tote = pick_state.find_tote(state, choice.key)
    match choice.kind:
        case "join" | "take_in" if tote is None and pick_state.next_tote_letter(state):
            joined = pick_state.with_tote(
                state._replace(is_batch=True), Tote(choice.key, pick_state.next_tote_letter(state))
            )
            return Turn(joined, (pick_given.query_assigned(context), *pick_orders.query_orders((choice.key,))))
        case "tote" if tote:
            return pick_put.select_tote(state, tote)
        case "take_over" | "open_free" if tote:
            sure = pick_state.with_tote(state, tote._replace(is_confirmed=True))
            return Turn(sure, pick_orders.query_orders(each.order for each in sure.totes if not each.has_lines))
        case "leave_out" if tote:
            gone = pick_orders.remove_order(state, tote, "left_out", kind=INFO)
            again = pick_orders.query_orders(each.order for each in gone.state.totes if not each.has_lines)
            return gone._replace(effects=(*gone.effects, *again))
        case "finish":
            return Turn(state, (Start("act", {"orders": [choice.key], "kind": "finish"}),))
        case "later":
            return Turn(state, (pick_given.query_assigned(context),), Verdict(INFO, msg("pick.dropped")))
        case "go_on":
            return pick_orders.start_without_missing(state)
        case "both":
            return Turn(state, (), Verdict(GOOD, msg("pick.both", who=choice.label, order=choice.key)))
        case "hand_over" if tote:
            return pick_orders.remove_order(state, tote, "claimed", choice.label, kind=INFO)
        case "leave":
            return _leave(state, context)
        case "handed_over":
            return pick_passed.hand_over_to_others(state)
    return pick_put.return_goods(state, context)
