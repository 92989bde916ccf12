"""Job that records lost and found goods with a reason."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle import named_tuple_json
from aisle.jobs import adjust_state_view_and_undo, log_writes_and_refusals, typed_numbers_dates_and_letters
from aisle.jobs.adjust_state_view_and_undo import (
    MAX_CHOICES,
    MAX_UNDO,
    AdjustState,
    Reason,
    SentAdjustment,
    adjust_view,
    choice_letters,
    exceeded_choices,
    fill_last_page,
    location_name,
    name_of_pool,
    parse_reasons,
    question_choices,
    reason_of_expired,
    scroll,
    visible_rows,
)
from aisle.jobs.count import count_lines, undo_sent_count
from aisle.jobs.count.count_state import CountLine
from aisle.jobs.expiry.expiry_state import label_date, today_of
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
    Resumed,
    Rows,
    Start,
    Turn,
    reply,
)
from aisle.jobs.names_in_messages import POOLS_QUERY, amount_of, parse_pools
from aisle.jobs.typed_numbers_dates_and_letters import QuantityQuestion, name_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, View, msg, raw, undo_verdict
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
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


Result = Turn[AdjustState]

QUERY_STOCK_NOW = "stock_now"
"""Query of the product's stock when its loss is about to be sent."""
REASONS_QUERY = Query("reasons", "reasons", {})
"""Query of the reasons that are found in logs."""
QUERY_CANDIDATES = "candidates"
"""Query of the product's stock while its location is chosen."""

QUANTITY_FIELDS = ("locations", "pools", "most_likely_quantity")
"""Fields of a product's row that hold quantities."""


class AdjustJob(Job[AdjustState]):
    """Job that records a loss or a find of a product."""

    name = "adjust"
    lists = ("stock", "stock_changes", "products")
    own_steps = ("adjust.reason",)
    version = 5
    state_type = AdjustState
    steps: tuple[str, ...] = ("adjust.product", "adjust.location", "adjust.quantity", "adjust.reason")

    def accepts(self, state: AdjustState) -> Accepts:
        if state.phase == "quantity":
            decimals = bool(state.line and state.line.allows_decimals)
            keys = choice_letters(state)
            choices = question_choices(state)
            return Accepts(
                True,
                decimals,
                choices=len(keys),
                command_letters="du",
                typed_only=True,
                choice_values=choices,
                choice_letters=keys,
                is_number_asked=state.question is not None,
            )
        letters, is_reason_asked = "u" if state.phase == "product" else "nu", state.phase == "reason"
        return Accepts(
            choices=len(visible_rows(state)), command_letters=letters, quantity_beyond_choices=is_reason_asked
        )

    def prefers(self, state: AdjustState) -> tuple[str, ...]:
        return (LOCATION, PRODUCT) if state.phase == "location" else (PRODUCT, LOCATION)

    def uses_product(self, state: AdjustState, product: str) -> bool:
        return state.line is not None and state.line.product == product

    def quantity_product(self, state: AdjustState) -> tuple[str, str]:
        return (state.line.product, state.line.label) if state.line and state.phase == "quantity" else ("", "")

    def quantity_taken(self, state: AdjustState, product: str) -> Decimal:
        sent = sum((abs(each.quantity) for each in state.sent if each.line.product == product), Decimal(0))
        return sent + (abs(state.quantity) if state.line and state.line.product == product else 0)

    def product_of_choice(self, state: AdjustState, number: int) -> Match | None:
        match = state.question.match_of_choice(number) if state.question else None
        return match if match and match.kind == PRODUCT else None

    def can_undo(self, state: AdjustState) -> bool:
        return bool(state.sent)

    def step_name(self, state: AdjustState) -> str:
        return f"adjust.{state.phase}"

    def handle(self, state: AdjustState, event: Event, context: Context) -> Result:
        state = state._replace(large_quantity=context.policy.large_quantity)
        match event:
            case Opened(args):
                return _handle_opened(args, context)
            case Rows(id_, rows, _):
                return _handle_rows(state, id_, rows, context)
            case Back():
                return _go_back(state)
            case Closed() if state.pending_scan:
                return Turn(state, (Query("product", "product", {"product_number": state.pending_scan.key}),))
            case Resumed() | Closed():
                return Turn(fill_last_page(state._replace(page_size=max(1, min(MAX_CHOICES, context.window_rows)))))
            case Changed("product" | "outbox") if state.phase == "location" and state.line:
                return Turn(state, (Query(QUERY_CANDIDATES, "product", {"product_number": state.line.product}),))
            case Choice(number) if state.question and number <= len(state.question.kinds):
                return _answer_quantity(state, state.question, number, context)
            case Choice(number) if state.chosen_reason:
                return _answer_exceeded(state, number)
            case Choice(number) if number <= len(visible_rows(state)):
                return _handle_choice(state, number, context)
            case Scan(meanings) if state.expired_on and not _is_expired(meanings[0], context):
                day = msg("store_product.day", at=label_date(meanings[0], context).isoformat())
                return reply(state, WRONG, "expiry.not_expired", label=name_of(meanings[0]), day=day)
            case Scan(meanings) if state.question:
                if question := _add_to_question(state, state.question, meanings[0]):
                    return question
                if state.question.names(meanings[0]):
                    return _handle_scan(_clear_question(state), meanings)
                return reply(state, WRONG, "count.answer_first", what=name_of(meanings[0]))
            case Command("u") if _is_question_open(state):
                return _go_back(state)  # the question is the last input
            case Command("d") if state.question:
                return _ask_quantity(state, state.question, WRONG)
            case Scan(meanings):
                taken = _handle_scan(_clear_question(state), meanings)
                is_refused = taken.verdict is not None and taken.verdict.kind == WRONG
                return taken._replace(state=state) if is_refused else taken
            case Quantity(value) if state.phase == "reason":
                return _ask_if_quantity(state, value)
            case Quantity(value, code) if state.phase == "quantity":
                query = typed_numbers_dates_and_letters.query_by_number(value, code)
                return (
                    Turn(state._replace(looked_up_number=value), (query,))
                    if query
                    else _enter_quantity(state, value, context)
                )
            case Command("d") if state.phase == "quantity":
                return _set_quantity(_clear_question(state), state.quantity, context)
            case Command("n") if visible_rows(state):
                return Turn(scroll(state, "pagedown"))
            case CursorKey(key) if visible_rows(state):
                return Turn(scroll(state, key))
            case Command("u") if state.phase == "product":
                return adjust_state_view_and_undo.ask_undo(state, context)
            case Command("u"):
                return _undo_entry(state)
            case UnknownCode(code) | Text(code):
                return reply(state, WRONG, "count.unknown", code=code)
        return Turn(state)

    def view(self, state: AdjustState) -> View:
        return adjust_view(state)


def _is_expired(match: Match, context: Context) -> bool:
    """Return False if the label says that its pack is not expired; one without a date may be."""
    return not match.expiry or label_date(match, context) <= today_of(context)


def _is_question_open(state: AdjustState) -> bool:
    """Return True if a quantity is in question, or whether more than the stock is lost."""
    return bool(state.question or state.chosen_reason)


def _handle_opened(args: Args, context: Context) -> Result:
    if undone := args.get("undo"):
        sent = named_tuple_json.from_text(SentAdjustment, str(undone))
        return adjust_state_view_and_undo.ask_undo(AdjustState(sent=(sent,), closes_after_undo=True), context)
    place, product = str(args.get("location_code") or ""), str(args.get("product_number") or "")
    size = max(1, min(MAX_CHOICES, context.window_rows))
    state = AdjustState(
        location=place,
        reasons=parse_reasons(context.policy.adjustment_reasons),
        page_size=size,
        closes_after_send=bool(place or product),
        expired_on=str(args.get("expired_on") or ""),
    )
    state = state._replace(large_quantity=context.policy.large_quantity)
    effects: tuple[Effect, ...] = (REASONS_QUERY, POOLS_QUERY) if state.expired_on else (POOLS_QUERY,)
    if place:
        effects = (Query("location", "location", {"location_code": place, "size": 0}), *effects)
    if product:
        named = Match(PRODUCT, product, product, Decimal(0), code=product)  # no piece of it was scanned here yet
        state = state._replace(pending_scan=named, starts_at_zero=True)
        effects = (Query("product", "product", {"product_number": product}), *effects)
    return Turn(state, effects)  # answers come in reverse order: the location's pool comes before the product


def _handle_rows(state: AdjustState, id_: str, rows: tuple[Json, ...], context: Context) -> Result:
    if id_ == "reasons":
        return Turn(state._replace(reasons=parse_reasons(context.policy.adjustment_reasons, rows)))
    if id_ == "store":
        return Turn(state._replace(pools=parse_pools(rows)))
    if id_ == log_writes_and_refusals.REFUSED_ENTRIES:
        return adjust_state_view_and_undo.send_undo(state, rows, context)
    if id_ == undo_sent_count.BOOKED_QUERY:
        return adjust_state_view_and_undo.check_later_count(state, rows)
    if id_ == "records_by_number":
        return _handle_records_by_number(state, rows, context)
    if id_ == QUERY_STOCK_NOW:
        return _handle_stock_now(state, rows, context)
    if id_ == QUERY_CANDIDATES:
        return Turn(_with_stock_of_candidates(state, rows))
    if id_ == "location":
        return Turn(state._replace(default_pool=count_lines.parse_default_pool(rows[0]))) if rows else Turn(state)
    meaning, state = state.pending_scan, state._replace(pending_scan=None)
    if meaning is None:
        return Turn(state)
    known = count_lines.parse_product_lines(rows[0]) if rows else ()
    label = known[0].label if known else meaning.label or meaning.key
    fresh = CountLine(state.location or state.chosen_location, meaning.key, label, state.default_pool)
    if known:
        fresh = fresh._replace(allows_decimals=known[0].allows_decimals, unit=known[0].unit)
    quantity = meaning.quantity
    if quantity % 1 and not fresh.allows_decimals:
        return reply(state, WRONG, "input.whole_number_only", text=quantity)
    candidates = _parse_stock(rows)
    figures = _has_figures(rows)
    return _choose_location(
        state._replace(
            line=fresh,
            quantity=quantity,
            confirmed_quantity=None,
            candidates=candidates,
            has_expected=figures,
            is_location_chosen=bool(state.chosen_location),
        )
    )


def _parse_stock(rows: tuple[Json, ...]) -> tuple[CountLine, ...]:
    """Return the locations and pools that have the product."""
    known = count_lines.parse_product_lines(rows[0]) if rows else ()
    return tuple(item for item in known if item.location or item.expected)


def _with_stock_of_candidates(state: AdjustState, rows: tuple[Json, ...]) -> AdjustState:
    """Set the quantities expected now at the locations that can be chosen; their numbers stay the same."""
    now = {count_lines.line_key(each): each for each in _parse_stock(rows)}
    none_left = (each._replace(expected=Decimal(0)) for each in state.candidates)
    return state._replace(candidates=tuple(now.get(count_lines.line_key(each), each) for each in none_left))


def _has_figures(rows: tuple[Json, ...]) -> bool:
    return bool(rows) and any(rows[0].get(name) not in (None, [], ()) for name in QUANTITY_FIELDS)


def _choose_location(state: AdjustState) -> Result:
    """Set the location: the scanned one, the only one with stock, or the one that the person chooses."""
    place, pool = state.location or state.chosen_location, state.chosen_pool
    state = state._replace(chosen_location="", chosen_pool=None)
    assert state.line is not None
    here = [each for each in state.candidates if place and each.location.casefold() == place.casefold()]
    if not here and len(state.candidates) == 1 and not place:
        here = list(state.candidates)
    chosen = [candidate for candidate in here if candidate.pool == pool]
    if chosen or len(here) == 1:
        return _set_location(state, (chosen or here)[0])
    if here:
        choosing = state._replace(phase="location", first_row=0, candidates=tuple(here))
        return reply(choosing, ASK, "adjust.which_pool", label=state.line.label, place=here[0].location)
    if not place and len(state.candidates) > 1:
        return reply(
            state._replace(phase="location", first_row=0), ASK, "adjust.which_location", label=state.line.label
        )
    return _set_location(state, state.line)


def _set_location(state: AdjustState, line: CountLine) -> Result:
    assert state.line is not None
    item, scanned = state.line._replace(location=line.location, pool=line.pool, expected=line.expected), state.quantity
    figures = state.has_expected and not line.is_expected_unknown
    state = state._replace(line=item, phase="quantity", quantity=Decimal(0), has_expected=figures)
    state = state._replace(earlier_quantities=())
    if scanned:
        return _add_scanned(state, scanned)
    if not state.expired_on:
        return reply(state, ASK, "goods.how_many", label=item.label)
    day = msg("store_product.day", at=state.expired_on)
    return reply(state, ASK, "adjust.how_many_expired", day=day, label=item.label)


def _handle_scan(state: AdjustState, matches: tuple[Match, ...]) -> Result:
    meaning = next((each for each in matches if each.kind in (PRODUCT, LOCATION)), None)
    if meaning is None:
        return reply(state, WRONG, "page.not_this", what=name_of(matches[0]))
    if meaning.kind == LOCATION:
        return _scan_location(state, meaning)
    item = state.line
    if item is None:
        query = Query("product", "product", {"product_number": meaning.key})
        return Turn(state._replace(pending_scan=meaning), (query,))
    if meaning.key != item.product:
        labels = typed_numbers_dates_and_letters.distinct_labels(item.label, item.product, meaning)
        return reply(state, WRONG, "count.product_first", **labels)
    if state.phase != "quantity":
        return reply(state, WRONG, "count.answer_first", what=name_of(meaning))
    if meaning.quantity % 1 and not item.allows_decimals:
        return reply(state, WRONG, "input.whole_number_only", text=meaning.quantity)
    return _add_scanned(state, state.quantity + meaning.quantity, meaning.quantity)


def _scan_location(state: AdjustState, match: Match) -> Result:
    """Set the location of the product in hand, unless a person named it: then that loss is finished first."""
    if state.phase == "quantity" and state.line and state.line.location.casefold() == match.key.casefold():
        named = state._replace(is_location_chosen=True)
        return reply(named, GOOD, "count.at_stop", place=state.line.location)
    is_named = bool(state.location) or state.is_location_chosen
    if state.phase == "reason" or (state.phase == "quantity" and state.quantity and is_named):
        return reply(state, WRONG, "count.answer_first", what=match.key)
    query = Query("location", "location", {"location_code": match.key, "size": 0})
    state = state._replace(location=match.key, default_pool=0)
    if state.line is None:
        return reply(state, GOOD, "adjust.at_location", query, place=match.key)
    item = state.line._replace(location=match.key, pool=0, expected=Decimal(0))
    state = state._replace(line=item, confirmed_quantity=None)  # the confirmed quantity was for the previous location
    turn = _choose_location(state)
    at_place = msg("count.at_stop", place=match.key)
    verdict = (
        turn.verdict._replace(detail=at_place) if turn.verdict and turn.state.phase == "quantity" else turn.verdict
    )
    return Turn(turn.state, (query,), verdict)


def _enter_quantity(state: AdjustState, value: Decimal, context: Context) -> Result:
    return _ask_if_plausible(state, value) or _set_quantity(state, value, context)


def _add_scanned(state: AdjustState, value: Decimal, added: Decimal = Decimal(0)) -> Result:
    """Set the quantity after `added` more were scanned; further scans add to it."""
    assert state.line is not None
    taken = reply(
        _with_quantity(state, value),
        GOOD,
        "count.counted",
        label=state.line.label,
        counted=amount_of(state.line, value),
    )
    return _ask_if_plausible(state, value, added or value) or taken


def _ask_if_plausible(state: AdjustState, value: Decimal, scanned: Decimal = Decimal(0)) -> Result | None:
    """Return the question whether so many are meant, for a typed quantity or for `scanned` units at once. Return None
    if the quantity is plausible."""
    if value == state.confirmed_quantity or not _is_implausible(state, value, scanned):
        return None
    return _ask_quantity(state, QuantityQuestion(value))


def _ask_quantity(state: AdjustState, question: QuantityQuestion, kind: str = ASK) -> Result:
    text = question.text(_amount(state, question.quantity), _label(state))
    return Turn(state._replace(question=question), (), Verdict(kind, text))


def _ask_if_quantity(state: AdjustState, value: Decimal) -> Result:
    """Ask if a number that no reason has corrects the quantity."""
    asking = state._replace(phase="quantity", question=QuantityQuestion(value))
    amounts = {"value": _amount(state, value), "quantity": _amount(state, state.quantity)}
    return reply(asking, ASK, "adjust.no_reason", label=_label(state), **amounts)


def _add_to_question(state: AdjustState, question: QuantityQuestion, match: Match) -> Result | None:
    """Add a scanned label to the quantity in question. Return None if the label is for something else, or if its own
    quantity is plausible."""
    assert state.line is not None
    expected, is_same = _expected(state), (match.kind, match.key) == (PRODUCT, state.line.product)
    if question.matches or not is_same:
        return None
    if not typed_numbers_dates_and_letters.is_implausible(match.quantity, expected, state.large_quantity):
        return None
    return _ask_quantity(state, QuantityQuestion(question.quantity + match.quantity))


def _expected(state: AdjustState) -> Decimal:
    return state.line.expected if state.line and state.has_expected else Decimal(0)


def _is_implausible(state: AdjustState, value: Decimal, scanned: Decimal = Decimal(0)) -> bool:
    confirmed = state.confirmed_quantity or Decimal(0)
    return typed_numbers_dates_and_letters.is_implausible_sum(
        value, _expected(state), state.large_quantity, confirmed, scanned
    )


def _set_quantity(state: AdjustState, value: Decimal, context: Context) -> Result:
    """Set the confirmed quantity. Send the adjustment if its reason was chosen before, or if it is plain."""
    reason, state = state.chosen_reason, _clear_question(state)
    if value <= 0:
        return reply(state, WRONG, "adjust.none")
    state = _with_quantity(state, value)
    reason = reason or reason_of_expired(state)
    return _apply_reason(state, reason, context) if reason else _ask_reason(state)


def _with_quantity(state: AdjustState, value: Decimal) -> AdjustState:
    """Set the quantity, and keep the earlier one for undo. The first one is taken back with its product."""
    is_further = value != state.quantity and bool(state.quantity or state.starts_at_zero)
    earlier = (*state.earlier_quantities, state.quantity) if is_further else state.earlier_quantities
    return state._replace(quantity=value, earlier_quantities=earlier)


def _undo_entry(state: AdjustState) -> Result:
    """Undo the last quantity; without one, leave the question."""
    if state.phase != "quantity" or not state.earlier_quantities:
        return _go_back(state)
    was, now = state.quantity, state.earlier_quantities[-1]
    back = state._replace(quantity=now, earlier_quantities=state.earlier_quantities[:-1])
    amounts = {"was": _amount(state, was), "now": _amount(state, now)}
    return Turn(back, (), undo_verdict(msg("pick.undone", label=_label(state), **amounts, where=raw(""))))


def _label(state: AdjustState) -> str:
    """Return the name of the product in hand."""
    return state.line.label if state.line else ""


def _amount(state: AdjustState, quantity: Decimal) -> Decimal | Msg:
    """Return a quantity of the product in hand, with its unit."""
    return amount_of(state.line, quantity) if state.line else quantity


def _drop_quantity(state: AdjustState, question: QuantityQuestion) -> Result:
    """Drop the quantity in question, and the product if it was scanned with it."""
    value, dropped = _amount(state, question.quantity), _clear_question(state)
    if not state.quantity and not state.closes_after_send:
        dropped = _without_product(dropped)
    return reply(dropped, INFO, "receive.dropped", quantity=value, label=_label(state))


def _without_product(state: AdjustState) -> AdjustState:
    return state._replace(phase="product", line=None, candidates=(), quantity=Decimal(0))


def _clear_question(state: AdjustState) -> AdjustState:
    return state._replace(question=None, looked_up_number=None, chosen_reason=None)


def _handle_records_by_number(state: AdjustState, rows: tuple[RecordsByNumberRow, ...], context: Context) -> Result:
    """Read digits as a quantity if no record has that number. Otherwise ask, or take the record if it is far
    likelier."""
    value, state = state.looked_up_number, state._replace(looked_up_number=None)
    if value is None or state.phase != "quantity":
        return Turn(state)
    matches = typed_numbers_dates_and_letters.matches_of_number(rows, value, (LOCATION, PRODUCT))
    if not matches:
        return _enter_quantity(state, value, context)
    if not typed_numbers_dates_and_letters.is_likely_number(rows, value):
        return _ask_quantity(state, QuantityQuestion(value, matches))
    if state.question:
        return reply(state, WRONG, "count.answer_first", what=name_of(matches[0]))
    return _handle_scan(_clear_question(state), matches[:1])


def _answer_quantity(state: AdjustState, question: QuantityQuestion, number: int, context: Context) -> Result:
    value, match = question.quantity, question.match_of_choice(number)
    if number == 1:
        confirmed = value if _is_implausible(state, value) else None
        return _set_quantity(state._replace(confirmed_quantity=confirmed), value, context)
    if match is None:
        return _drop_quantity(state, question)
    if match.kind not in (PRODUCT, LOCATION):  # nothing is lost of these kinds; it was meant for another page
        return reply(_clear_question(state), INFO, "session.dropped")
    return _handle_scan(_clear_question(state), (match,))


def _ask_reason(state: AdjustState) -> Result:
    asking = state._replace(phase="reason", first_row=0)
    args = {"quantity": _amount(state, state.quantity), "label": _label(state)}
    return reply(asking, ASK, "adjust.which_reason", REASONS_QUERY, **args)


def _handle_choice(state: AdjustState, number: int, context: Context) -> Result:
    index = state.first_row + number - 1
    if state.phase == "location":
        return _set_location(state._replace(is_location_chosen=True), state.candidates[index])
    return _apply_reason(state, state.reasons[index], context, number)


def _apply_reason(state: AdjustState, reason: Reason, context: Context, number: int = 0) -> Result:
    """Send what was found; read the stock first for a loss. `number` is the number by which the reason was chosen."""
    if reason.sign > 0:
        return _send_adjustment(state, reason, context, number)
    return _query_stock_now(state._replace(chosen_reason=reason, reason_number=number))


def _query_stock_now(state: AdjustState) -> Result:
    assert state.line is not None
    return Turn(state, (Query(QUERY_STOCK_NOW, "product", {"product_number": state.line.product}),))


def _handle_stock_now(state: AdjustState, rows: tuple[Json, ...], context: Context) -> Result:
    """Send the loss, or ask if so many are lost. An answer holds unless the stock has become less since."""
    reason, answer, shown = state.chosen_reason, state.exceeded_answer, state.line
    if reason is None or shown is None:
        return Turn(state)
    state = _with_stock_now(state._replace(exceeded_answer=""), shown, rows)
    if answer and state.line and state.line.expected >= shown.expected:
        lost = shown.expected if answer == "fit" else state.quantity
        return _send_adjustment(_clear_question(state)._replace(quantity=lost), reason, context)
    if _exceeds_expected(state) or _is_unexpected_there(state):
        return _ask_exceeded(state)
    return _send_adjustment(_clear_question(state), reason, context, state.reason_number)


def _with_stock_now(state: AdjustState, line: CountLine, rows: tuple[Json, ...]) -> AdjustState:
    """Set the quantity that is expected now at the line's location and in its pool."""
    if not rows:
        return state
    key = count_lines.line_key(line)
    now = next((each for each in _parse_stock(rows) if count_lines.line_key(each) == key), None)
    line = line._replace(expected=now.expected if now else Decimal(0))
    return state._replace(line=line, has_expected=_has_figures(rows) and not (now and now.is_expected_unknown))


def _ask_exceeded(state: AdjustState) -> Result:
    assert state.line is not None
    place, expected = location_name(state.line, name_of_pool(state, state.line)), state.line.expected
    asking = state._replace(phase="quantity")
    args: dict[str, str | Decimal | Msg] = {
        "place": place,
        "label": state.line.label,
        "quantity": _amount(state, state.quantity),
    }
    if not state.has_expected:
        return reply(asking, ASK, "adjust.exceeds_expected", result=_amount(state, -state.quantity), **args, books=0)
    books, result = _amount(state, expected), _amount(state, expected - state.quantity)
    return reply(asking, ASK, "adjust.exceeds_expected", books=books, result=result, **args)


def _exceeds_expected(state: AdjustState) -> bool:
    """Return True if more is lost than expected, unless the person has confirmed the quantity and some is there."""
    if not state.has_expected or state.line is None or state.quantity <= max(Decimal(0), state.line.expected):
        return False
    return state.quantity != state.confirmed_quantity or state.line.expected <= 0


def _is_unexpected_there(state: AdjustState) -> bool:
    """Return True if no figures are known, and the product is not listed at the location that was named."""
    if state.has_expected or state.line is None or not state.line.location:
        return False
    return not any(each.location.casefold() == state.line.location.casefold() for each in state.candidates)


def _answer_exceeded(state: AdjustState, number: int) -> Result:
    assert state.line is not None
    item, quantity = state.line, state.quantity
    kind = exceeded_choices(state)[number - 1][0]
    if kind != "count":
        return _query_stock_now(state._replace(exceeded_answer=kind))
    state = _clear_question(state)
    meaning = Match(PRODUCT, item.product, item.label, quantity, quantity != 1, item.product)
    state = state._replace(phase="product", line=None, candidates=(), default_pool=item.pool, pending_scan=meaning)
    state = state._replace(chosen_location=item.location, chosen_pool=item.pool)
    product = {"product_number": item.product, "label": item.label}
    return Turn(state, (Start("count", {"location_code": item.location, **product} if item.location else product),))


def _send_adjustment(state: AdjustState, reason: Reason, context: Context, number: int = 0) -> Result:
    assert state.line is not None
    pool_name = name_of_pool(state, state.line)
    sent = SentAdjustment(state.line, state.quantity * reason.sign, context.now, pool_name)
    id_ = "adjust.found" if reason.sign > 0 else "adjust.lost"
    named = msg("adjust.reason_of_number", number=number, reason=reason.text) if number else raw(reason.text)
    verdict = Verdict(GOOD, msg(id_, quantity=_amount(state, state.quantity), label=state.line.label, reason=named))
    entry = adjust_state_view_and_undo.log_entry(sent.line, sent.quantity, context)
    entry.update({"reason_code": reason.code, "loss_comment": reason.text})
    writes = log_writes_and_refusals.log_writes([entry], context)
    done = state._replace(phase="product", line=None, candidates=(), quantity=Decimal(0), first_row=0)
    done = done._replace(sent=(*state.sent, sent)[-MAX_UNDO:])
    if state.closes_after_send:
        return Turn(
            done,
            (*writes, Close(verdict, answer={"quantity": sent.quantity, "sent": named_tuple_json.to_text(sent)})),
            verdict,
        )
    return Turn(done, writes, verdict)


def _go_back(state: AdjustState) -> Result:
    if state.question and not state.question.matches:
        return _drop_quantity(state, state.question)
    if _is_question_open(state):
        return reply(_clear_question(state), INFO, "session.dropped")
    if state.phase == "reason":
        return reply(state._replace(phase="quantity"), INFO, "adjust.back_to_quantity")
    if state.line is not None and not state.closes_after_send:
        return reply(_without_product(state), INFO, "session.dropped")
    return Turn(state, (Close(Verdict(INFO, msg("adjust.left"))),))
