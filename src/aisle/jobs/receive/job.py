"""The receive job: dispatches inputs and cached data, and closes deliveries."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import list_cursor_and_search, log_writes_and_refusals, typed_numbers_dates_and_letters
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
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
    Write,
    delivery_in_work,
    reply,
)
from aisle.jobs.receive import handle_scans_and_quantities, open_delivery_and_put_away, view
from aisle.jobs.receive.handle_scans_and_quantities import LOG_OPERATION
from aisle.jobs.receive.open_delivery_and_put_away import (
    choose_expecting,
    handle_found,
    handle_list_input,
    open_delivery,
    query_deliveries,
    read_again,
    report_receivers,
    request_delivery,
    scan_delivery,
    show_delivery,
    without_delivery,
)
from aisle.jobs.receive.receive_state_and_differences import (
    ZERO,
    ReceiveChoice,
    ReceiveState,
    Result,
    announced_and_received,
    consent_to,
    differences,
    is_announced,
    parse_delivery_row,
    partly_received_note,
)
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, View, msg
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import (
    DELIVERY,
    LOCATION,
    ORDER,
    PRODUCT,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Quantity,
    Scan,
    Text,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import RecordsByNumberRow
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow


_INPUTS_AFTER_WARNING = (Choice, Command, Quantity, Text, Scan, UnknownCode, Resumed, Closed)
"""Inputs that clear the warning before goods are dropped."""


class ReceiveJob(Job[ReceiveState]):
    """Job that receives deliveries."""

    name = "receive"
    lists = ("deliveries", "receipts", "products")
    own_steps = ("receive.lines", "receive.check")
    version = 3
    state_type = ReceiveState
    steps: tuple[str, ...] = ("receive.delivery", "receive.goods", "receive.lines", "receive.check", "receive.leave")

    def accepts(self, state: ReceiveState) -> Accepts:
        choices, keys = view.choice_count(state), view.choice_letters(state)
        item = handle_scans_and_quantities.open_quantity_goods(state)
        # Search is not set: text ended with Enter may be a delivery's number, which is requested from the service.
        letters = view.command_letters(state)
        is_asked = handle_scans_and_quantities.is_number_asked(
            state
        ) or handle_scans_and_quantities.is_plausibility_asked(state)
        typed_only = state.phase in ("check", "leave") or is_asked
        values = view.choice_texts(state)
        decimals = bool(item and item.allows_decimals)
        return Accepts(
            item is not None,
            decimals,
            choices,
            command_letters=letters,
            typed_only=typed_only,
            choice_values=values,
            choice_letters=keys,
            is_number_asked=is_asked,
        )

    def prefers(self, state: ReceiveState) -> tuple[str, ...]:
        return (DELIVERY, PRODUCT, LOCATION) if state.phase == "delivery" else (PRODUCT, LOCATION, DELIVERY)

    def orders_in_work(self, state: ReceiveState) -> tuple[str, ...]:
        return (delivery_in_work(state.delivery_number),) if state.delivery_number else ()

    def uses_product(self, state: ReceiveState, product: str) -> bool:
        item = state.in_hand
        return (
            is_announced(state, product)
            or consent_to(state, product) is not None
            or (item is not None and item.product == product)
        )

    def quantity_product(self, state: ReceiveState) -> tuple[str, str]:
        item = handle_scans_and_quantities.open_quantity_goods(state)
        return (item.product, item.label) if item else ("", "")

    def quantity_taken(self, state: ReceiveState, product: str) -> Decimal:
        return announced_and_received(state, product)[1] + handle_scans_and_quantities.quantity_in_hand(state, product)

    def product_of_choice(self, state: ReceiveState, number: int) -> Match | None:
        chosen = state.choices[number - 1] if number <= len(state.choices) and not state.pending_scan else None
        is_product = chosen is not None and chosen.kind == "is_product"
        return Match(PRODUCT, chosen.key, chosen.label, code=chosen.key) if chosen and is_product else None

    def step_name(self, state: ReceiveState) -> str:
        return f"receive.{state.phase}"

    def can_undo(self, state: ReceiveState) -> bool:
        return bool(state.delivery_number) and bool(state.history) and bool(state.history[-1].entries)

    def view(self, state: ReceiveState) -> View:
        return view.view(state)

    def handle(self, state: ReceiveState, event: Event, context: Context) -> Result:
        turn = _report_booked_before(state, self._handle(state, event, context))
        return _report_unknown_location(turn)

    def _handle(self, state: ReceiveState, event: Event, context: Context) -> Result:
        state = _apply_policy(state, context)
        if state.is_drop_warned and isinstance(event, _INPUTS_AFTER_WARNING):
            state = state._replace(is_drop_warned=False)
        match event:
            case Opened(args):
                return _handle_opened(args, context)
            case Rows(id_, rows, _):
                return _count_differences_again(state, _handle_rows(state, event, id_, rows, context))
            case Resumed() | Closed() | Changed("delivery" | "outbox" | "product" | "order"):
                return _refresh(state._replace(page_size=max(1, context.window_rows)))
            case Back():
                return _go_back(state, context)
            case Choice(choice):
                return _handle_choice(state, choice, context)
            case Scan(matches):
                return _handle_scan(state, matches, context)
            case Quantity(value, code):
                return _enter_quantity(state, value, code, context)
            case UnknownCode(code) | Text(code):
                return _handle_unknown_code(state, event, code, context)
        if state.phase == "delivery" and not state.choices:
            return handle_list_input(state, event, context)
        return _handle_other_input(state, event, context)


def _apply_policy(state: ReceiveState, context: Context) -> ReceiveState:
    """Apply the configured receiving location from the next product on; a scanned location stays."""
    location = context.policy.receiving_location
    if state.default_location == location or state.in_hand is not None:
        return state
    return state._replace(
        receiving_location=location if state.receiving_location == state.default_location else state.receiving_location,
        default_location=location,
    )


def _query_receiving_location(state: ReceiveState) -> tuple[Effect, ...]:
    """Return the query whether the store has the configured receiving location."""
    location = state.default_location or state.receiving_location
    return (Query("receiving_location", "location_use", {"location_code": location}),) if location else ()


_BOOKING_VERDICTS = ("receive.put", "receive.put_last", "receive.undone")
"""Verdicts that say themselves what was booked."""


def _report_booked_before(before: ReceiveState, turn: Result) -> Result:
    """Add to the verdict the goods in hand that were booked because something else was scanned or chosen."""
    state, verdict, goods = turn.state, turn.verdict, turn.state.booked_before
    if any(isinstance(effect, Write) for effect in turn.effects) and (verdict is None or not _says_booking(verdict)):
        goods = before.in_hand
    if verdict is None or goods is None:
        return turn._replace(state=state._replace(booked_before=goods))
    said = verdict._replace(detail=open_delivery_and_put_away.booked_before(state, goods, before.receiving_location))
    return turn._replace(state=state._replace(booked_before=None), verdict=said)


def _says_booking(verdict: Verdict) -> bool:
    return verdict.text.id in _BOOKING_VERDICTS


def _report_unknown_location(turn: Result) -> Result:
    """Add to the verdict on the first goods booked at the configured location that the store does not have it."""
    location, verdict = turn.state.unknown_location, turn.verdict
    entries = [each for effect in turn.effects if isinstance(effect, Write) for each in effect.body["storeproductlog"]]
    if not location or verdict is None or location not in [each.get("location_code") for each in entries]:
        return turn
    unknown = msg("receive.unknown_location", place=location)
    detail = msg("frame.and_more", what=verdict.detail, more=unknown) if verdict.detail else unknown
    told = verdict._replace(detail=detail)
    return turn._replace(state=turn.state._replace(unknown_location=""), verdict=told)


# Opening, and cached data


def _handle_opened(args: Args, context: Context) -> Result:
    location = context.policy.receiving_location
    state = ReceiveState(
        opened_at=context.now,
        receiving_location=location,
        default_location=location,
        page_size=max(1, context.window_rows),
    )
    keys = [str(key) for key in args.get("deliveries") or ()]
    if keys:
        matches = [Match(DELIVERY, key, key, code=str(args.get("code") or key)) for key in keys]
        opened = scan_delivery(state._replace(closes_after_delivery=len(keys) == 1), matches, context)
        return opened._replace(effects=(*opened.effects, *(Refresh("delivery", key) for key in keys)))
    return Turn(state, (query_deliveries(state), Refresh("deliveries")))


def _handle_rows(state: ReceiveState, answer: Rows, id_: str, rows: tuple[Json, ...], context: Context) -> Result:
    match id_:
        case "deliveries":
            fresh = list_cursor_and_search.with_rows(
                state, tuple(parse_delivery_row(row, context) for row in rows), answer.total
            )
            return Turn(fresh, (query_deliveries(fresh),) if list_cursor_and_search.is_past_end(state, answer) else ())
        case "found":
            return handle_found(state, rows, answer.total, context)
        case "open":
            turn = report_receivers(show_delivery(state, rows, context), rows, context)
            return turn._replace(effects=(*turn.effects, *(_query_receiving_location(turn.state) if rows else ())))
        case "receiving_location":
            any_location = Query("any_location", "locations", {"size": 1})
            return Turn(state._replace(unknown_location=""), () if rows else (any_location,))
        case "any_location":  # without locations the store keeps none, or they are not read yet
            return Turn(state._replace(unknown_location=state.default_location if rows else ""))
        case "again" if rows and str(rows[0]["order_number"]) == state.delivery_number:
            return read_again(state, rows[0], context)
        case "requested_delivery" if rows and state.requested_delivery and state.phase == "delivery":
            return open_delivery(state, state.requested_delivery, state.requested_delivery, context)
        case "deliveries_expecting" if state.delivery_number:
            return handle_scans_and_quantities.ask_not_announced(state, rows)
        case "deliveries_expecting":
            return choose_expecting(state, rows, context)
        case "pending_goods":
            return Turn(handle_scans_and_quantities.with_pending_goods(state, rows[0] if rows else None))
        case "goods":
            return handle_scans_and_quantities.handle_product(state, rows[0] if rows else None, context)
        case "locations_of_products":
            return Turn(handle_scans_and_quantities.with_suggested_location(state, rows))
        case "records_by_number":
            return _handle_records_by_number(state, rows, context)
        case "refused_operations":
            return _report_refused(state, rows, context)
    return Turn(state)


def _refresh(state: ReceiveState) -> Result:
    """Query the delivery and refused receipts again."""
    effects: list[Effect] = []
    if state.delivery_number:
        effects.append(
            Query("refused_operations", "refused_operations", {"operation": LOG_OPERATION, "since": state.opened_at})
        )
        effects.append(Query("again", "delivery", {"order_number": state.delivery_number}))
        effects += [handle_scans_and_quantities.query_suggested_location(state.in_hand)] if state.in_hand else []
    else:
        effects.append(query_deliveries(state))
    if state.requested_delivery:
        effects.append(Query("requested_delivery", "delivery", {"order_number": state.requested_delivery}))
    return Turn(state, tuple(effects))


def _report_refused(state: ReceiveState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Report this person's refused receipts. They can no longer be undone, and what was to be undone is not in hand."""
    own_rows = log_writes_and_refusals.new_refusals(state.reported_refusals, rows, context.user)
    new_rows = [row for row in own_rows if _is_of_delivery(state, row)]
    if not new_rows:
        return Turn(state)
    refused: dict[str, Decimal] = {}
    for entry in (each for row in new_rows for each in row["body"].get("storeproductlog") or ()):
        at = str(entry.get("scanned_datetime"))
        refused[at] = refused.get(at, ZERO) - to_decimal(entry.get("quantity"))
    history = tuple(step for step in state.history if not (step.entries and step.at in refused))
    reported = log_writes_and_refusals.with_reported(state.reported_refusals, new_rows)
    verdict = log_writes_and_refusals.refusal_verdict(new_rows[-1])
    state = state._replace(reported_refusals=reported, history=history)
    return handle_scans_and_quantities.without_refused_undo(state, refused)._replace(verdict=verdict)


def _is_of_delivery(state: ReceiveState, row: RefusedOperationsRow) -> bool:
    return any(entry.get("reference") == state.delivery_number for entry in row["body"].get("storeproductlog") or ())


# Inputs


def _handle_scan(state: ReceiveState, matches: tuple[Match, ...], context: Context) -> Result:
    before = state
    match = next((each for each in matches if each.kind in (PRODUCT, LOCATION, DELIVERY)), None)
    if handle_scans_and_quantities.is_goods_question_open(state):
        return handle_scans_and_quantities.repeat_question(state, match, context)
    if handle_scans_and_quantities.is_number_asked(state):
        answer = next((each for each in state.choices if each.kind == "is_product"), None)
        if match is None or answer is None or (match.kind, match.key) != (PRODUCT, answer.key):
            return handle_scans_and_quantities.repeat_number_question(state, name_of(matches[0]))
        if state.pending_scan:
            return _follow_choice(state, answer, context)
    if state.phase == "leave" and match and not _settles_goods(state, match):
        return reply(state, WRONG, "count.answer_first", what=name_of(match))
    if match and match.kind != DELIVERY and any(choice.kind in ("open", "switch") for choice in state.choices):
        return _scan_before_delivery(state, match)
    state = state._replace(choices=(), pending_scan=None, phase="goods" if state.delivery_number else "delivery")
    if match is None:
        return reply(before, WRONG, "page.not_this", what=name_of(matches[0]))
    if match.kind == DELIVERY:
        return scan_delivery(state, [each for each in matches if each.kind == DELIVERY], context)
    if state.delivery_number:
        asked = None
        if match.kind == PRODUCT and state.in_hand and state.in_hand.product != match.key:
            asked = handle_scans_and_quantities.ask_before_booking(state)
        if asked:
            return asked
        if match.kind == PRODUCT:
            return handle_scans_and_quantities.scan_product(state, match, context)
        return open_delivery_and_put_away.put_away(state, match.key, context)
    if match.kind == PRODUCT:
        return Turn(
            state._replace(pending_scan=match),
            (Query("deliveries_expecting", "deliveries_expecting", {"product_number": match.key}),),
        )
    return reply(before, WRONG, "receive.delivery_first", what=match.key)


def _settles_goods(state: ReceiveState, match: Match) -> bool:
    """Return True if a scan may answer what becomes of the goods in hand: a location for them, or more of them."""
    return match.kind == LOCATION or (
        match.kind == PRODUCT and bool(handle_scans_and_quantities.quantity_in_hand(state, match.key))
    )


def _scan_before_delivery(state: ReceiveState, match: Match) -> Result:
    """Handle a scan of goods while it is asked which delivery is received: add to the same goods, or reject it."""
    pending = state.pending_scan
    if pending is None or (match.kind, match.key) != (PRODUCT, pending.key):
        return reply(state, WRONG, "count.answer_first", what=match.label or match.key)
    state = state._replace(pending_scan=pending._replace(quantity=pending.quantity + match.quantity))
    return reply(state, ASK, "receive.which", label=pending.label or pending.key)


def _handle_unknown_code(state: ReceiveState, event: Event, code: str, context: Context) -> Result:
    if handle_scans_and_quantities.is_goods_question_open(state):
        return handle_scans_and_quantities.repeat_question(state, None, context)
    if handle_scans_and_quantities.is_number_asked(state):
        return reply(state, WRONG, "count.unknown", code=code)  # the question stays on the page
    is_quantity = typed_numbers_dates_and_letters.is_too_short_for_code(
        code
    ) or typed_numbers_dates_and_letters.has_decimal_point(code)
    if state.phase in ("lines", "check", "leave") and is_quantity:
        return reply(state, WRONG, "input.no_choice", text=code)
    if state.delivery_number and state.phase == "goods" and typed_numbers_dates_and_letters.is_too_short_for_code(code):
        return reply(state, WRONG, "pick.no_quantity", code=code)
    if state.delivery_number:
        choices = (ReceiveChoice("find", code), ReceiveChoice("aside", label=code))
        state_asked = state._replace(choices=choices, phase="goods", pending_scan=None)
        return reply(state_asked, WRONG, "count.unknown", code=code)
    state = state._replace(choices=(), pending_scan=None, typed="")
    if isinstance(event, Text):
        listed = state._replace(search=code, first=0, cursor=-1)
        return Turn(listed, (query_deliveries(listed, "found"),))
    return request_delivery(state, code)


def _enter_quantity(state: ReceiveState, value: Decimal, code: str, context: Context) -> Result:
    query = typed_numbers_dates_and_letters.query_by_number(value, code)
    if query is None:
        return handle_scans_and_quantities.enter_quantity(state, value, context)
    return Turn(state._replace(looked_up_number=value), (query,))


def _handle_records_by_number(state: ReceiveState, rows: tuple[RecordsByNumberRow, ...], context: Context) -> Result:
    """Handle the records that have these digits as their number; without one they are a quantity, otherwise ask."""
    value, state = state.looked_up_number, state._replace(looked_up_number=ZERO)
    matches = typed_numbers_dates_and_letters.matches_of_number(rows, value, (LOCATION, DELIVERY, PRODUCT))
    if not matches or handle_scans_and_quantities.open_quantity_goods(state) is None:
        return handle_scans_and_quantities.enter_quantity(state, value, context)
    if typed_numbers_dates_and_letters.is_likely_number(rows, value):
        return _handle_scan(state, matches[:1], context)
    records = [
        ReceiveChoice(f"is_{each.kind}", each.key, label=each.key if each.kind == ORDER else each.label or each.key)
        for each in matches
    ]
    choices = (ReceiveChoice("amount", quantity=value), *records)
    state_asked = state._replace(choices=choices, phase="goods")
    return reply(state_asked, ASK, "move.number_of", quantity=value)


def _handle_choice(state: ReceiveState, choice: int, context: Context) -> Result:
    if state.choices:
        return (
            _follow_choice(state, state.choices[choice - 1], context) if choice <= len(state.choices) else Turn(state)
        )
    match state.phase:
        case "delivery":
            row = list_cursor_and_search.numbered_row(state, choice)
            return open_delivery(state, row.number, "", context) if row else Turn(state)
        case "lines":
            lines = view.visible_lines(state)
            return (
                handle_scans_and_quantities.choose_line(state, lines[choice - 1], context)
                if choice <= len(lines)
                else Turn(state)
            )
        case "check":
            return _close_delivery(state, context) if choice == 1 else _resume(state)
        case "leave":
            return _answer_leave(state, choice, context)
    return Turn(state)


def _follow_choice(state: ReceiveState, choice: ReceiveChoice, context: Context) -> Result:
    if choice.kind == "amount":
        return handle_scans_and_quantities.enter_quantity(state, choice.quantity, context)
    before, state = state, state._replace(choices=())
    if choice.kind in typed_numbers_dates_and_letters.RECORD_CHOICES and state.pending_scan:
        return handle_scans_and_quantities.ask_again(state, context)
    match choice.kind:
        case "open" | "switch" if asked := handle_scans_and_quantities.ask_before_booking(state):
            return asked
        case "open" | "switch":
            return open_delivery(state, choice.key, choice.label, context)
        case "is_product" | "is_location" | "is_delivery":
            return _handle_scan(state, (Match(choice.kind[3:], choice.key, choice.label, code=choice.key),), context)
        case "is_order" | "is_reference" | "is_person":
            # Nothing is received for it; the number was meant for another page.
            return reply(state, INFO, "session.dropped")
        case "extra" | "fit" | "over":
            return handle_scans_and_quantities.apply_choice(state, choice, context)
        case typed_numbers_dates_and_letters.DROP_QUANTITY:
            return handle_scans_and_quantities.drop_goods(before)
        case "find":
            return Turn(state, (Start("look_up", {"search": choice.key}),))
        case "aside":
            return handle_scans_and_quantities.set_aside(before, choice.key, choice.label or choice.key, context)
        case "other":
            return _return_to_list(state, context)
    return reply(state._replace(pending_scan=None), INFO, "home.partly_received", delivery=state.delivery_number)


def _handle_other_input(state: ReceiveState, event: Event, context: Context) -> Result:
    """Handle letters and cursor keys on the other pages."""
    match event:
        case Command("n" | "p" as key) | CursorKey(key) if state.phase in ("lines", "check"):
            return Turn(view.scroll(state, key))
        case Command("u") if handle_scans_and_quantities.is_plausibility_asked(
            state
        ) or handle_scans_and_quantities.is_number_asked(state):
            return _go_back(state, context)  # the question is the last input
        case Command("u") if handle_scans_and_quantities.is_goods_question_open(state):
            return handle_scans_and_quantities.drop_goods(state._replace(is_drop_warned=True))
        case Command("u") if state.choices:
            return _go_back(state, context)
        case Command("l" | "d") if handle_scans_and_quantities.is_goods_question_open(state):
            return handle_scans_and_quantities.repeat_question(state, None, context)
        case Command("u" | "l" | "d") if handle_scans_and_quantities.is_number_asked(state):
            return reply(state, WRONG, "move.number_of", quantity=state.choices[0].quantity)
        case Command("u") if state.phase in ("goods", "check", "leave"):  # the job was closed on that page and resumed
            return open_delivery_and_put_away.undo_step(
                state._replace(phase="goods", choices=(), pending_scan=None), context
            )
        case Command("l") if state.phase == "goods":
            return Turn(state._replace(phase="lines", first=0, choices=(), pending_scan=None))
        case Command("d") if state.phase == "goods":
            return _finish(state._replace(choices=(), pending_scan=None), context)
    return Turn(state)


# Closing


def _finish(state: ReceiveState, context: Context) -> Result:
    """Show what differs from the announcement before the delivery is closed."""
    if not differences(state):
        return _close_delivery(state, context)
    return _ask_if_all(state._replace(phase="check", first=0))


def _ask_if_all(state: ReceiveState) -> Result:
    over_count, short_count = _count_differences(state)
    id_ = "receive.differ" if over_count else "receive.differ_short"
    return reply(state, ASK, id_, short=short_count, over=over_count)


def _count_differences(state: ReceiveState) -> tuple[int, int]:
    """Return the numbers of products (over, short)."""
    differing = differences(state)
    return sum(each.is_over for each in differing), sum(each.is_short for each in differing)


def _count_differences_again(before: ReceiveState, turn: Result) -> Result:
    """Ask with the new count if another receiver's booking changed the differences while they were shown."""
    is_shown = before.phase == turn.state.phase == "check" and turn.verdict is None
    if not is_shown or _count_differences(before) == _count_differences(turn.state):
        return turn
    return turn._replace(verdict=_ask_if_all(turn.state).verdict)


def _close_delivery(state: ReceiveState, context: Context) -> Result:
    over, short = _count_differences(state)
    booked = handle_scans_and_quantities.book_goods(state, state.receiving_location, context)
    id_ = "receive.closed_short" if short else "receive.closed"
    both = msg("receive.differ", short=short, over=over) if over and short else None
    verdict = Verdict(GOOD, msg(id_, delivery=state.delivery_number, count=short), detail=both)
    if state.closes_after_delivery:
        note = partly_received_note(booked.state, context.user)
        return Turn(booked.state, (*booked.effects, note, Close(verdict)), verdict)
    closed = _return_to_list(booked.state, context)
    return Turn(closed.state, (*booked.effects, *closed.effects), verdict)


def _resume(state: ReceiveState) -> Result:
    return reply(state._replace(phase="goods"), INFO, "home.partly_received", delivery=state.delivery_number)


def _return_to_list(state: ReceiveState, context: Context) -> Result:
    """Return to the list with nothing in hand, or close the job."""
    notes = (partly_received_note(state, context.user),) if state.delivery_number else ()
    if state.closes_after_delivery:
        return Turn(state, (*notes, Close()))
    empty = without_delivery(state)
    return Turn(empty, (*notes, query_deliveries(empty), Refresh("deliveries")))


def _answer_leave(state: ReceiveState, choice: int, context: Context) -> Result:
    """Book or drop the goods in hand before the delivery is left."""
    if choice == 3 or state.in_hand is None:
        return _resume(state)
    if choice == 2:
        quantity, label = state.in_hand.quantity, state.in_hand.label
        listed = _return_to_list(state._replace(in_hand=None), context)
        return reply(listed.state, INFO, "receive.dropped", *listed.effects, quantity=quantity, label=label)
    if asked := handle_scans_and_quantities.ask_received_meanwhile(state):
        return asked
    booked = handle_scans_and_quantities.book_goods(state, state.receiving_location, context)
    listed = _return_to_list(booked.state, context)
    return reply(listed.state, GOOD, "receive.left", *booked.effects, *listed.effects, delivery=state.delivery_number)


def _go_back(state: ReceiveState, context: Context) -> Result:
    if handle_scans_and_quantities.is_goods_question_open(state):
        return handle_scans_and_quantities.drop_goods(state)
    if handle_scans_and_quantities.is_number_asked(state) and state.pending_scan:
        return handle_scans_and_quantities.ask_again(state._replace(choices=()), context)
    if state.choices:
        return reply(state._replace(choices=(), pending_scan=None), INFO, "session.dropped")
    match state.phase:
        case "lines" | "check" | "leave":
            return _resume(state)
        case "goods" if state.in_hand and state.in_hand.quantity:
            return reply(state._replace(phase="leave"), ASK, "receive.leave", quantity=state.in_hand.quantity)
        case "goods":
            return _return_to_list(state, context)
    if state.search or state.typed:
        cleared = state._replace(search="", typed="", first=0, cursor=-1)
        return Turn(cleared, (query_deliveries(cleared),))
    return Turn(state, (Close(),))
