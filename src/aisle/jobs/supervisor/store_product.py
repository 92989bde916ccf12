"""Job that shows and changes the store's settings of a product: levels, replenishment, attention codes, expiry, prices.

Fields that the interface can write are numbered. A value is typed, shown beside the current one, and sent. The page is
live, but decisions use a journalled query, so that a value in hand is restored after a crash. Interface: Update store
products.
"""

from __future__ import annotations

from collections.abc import Mapping

from aisle.jobs import choice_letters
from aisle.jobs.job import (
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
)
from aisle.jobs.pages import PAGE_LETTERS, turn_page
from aisle.jobs.product_page import parse_expected_deliveries
from aisle.jobs.quantities import name_of
from aisle.jobs.supervisor import store_product_view
from aisle.jobs.supervisor.store_product_fields import (
    CODES,
    DAY,
    FIELD_BY_NAME,
    FLAG,
    LEVELS,
    MONEY,
    NUMBER,
    NUMERIC,
    StoreProduct,
    format_day_as_datetime,
    objection,
    parse_codes,
    parse_day,
    parse_level_range,
    parse_store_product,
    parse_update_values,
    price_warnings,
    update_write,
    why_not,
)
from aisle.jobs.supervisor.store_product_view import CHART, CONFIRM, PAGE, VALUE, StoreProductState
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, View, msg
from aisle.scan.meaning import (
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
    TypedText,
    UnknownCode,
)

Result = Turn[StoreProductState]


class StoreProductJob(Job[StoreProductState]):
    """Job that shows a product's settings in this store and changes them."""

    name = "store_product"
    steps: tuple[str, ...] = ("store_product", "store_product.value", "store_product.confirm", "store_product.chart")
    version = 1
    journalled = True
    requery_after_write = True

    def begin(self) -> StoreProductState:
        """Return the state without a product."""
        return StoreProductState()

    def accepts(self, state: StoreProductState) -> Accepts:
        """Accept field numbers on the page, and numbers, days or codes as values."""
        if state.phase == VALUE:
            kind = FIELD_BY_NAME[state.field].kind
            choices = len(store_product_view.value_choices(state))
            return Accepts(kind in NUMERIC, kind in (NUMBER, MONEY), choices, text=kind in (CODES, DAY))
        if state.phase == CONFIRM:
            kind = FIELD_BY_NAME[state.field].kind
            return Accepts(
                kind in NUMERIC, kind in (NUMBER, MONEY), 1, typed_only=True, choice_letters=choice_letters.YES
            )
        if state.phase == CHART:
            return Accepts(command_letters=PAGE_LETTERS)
        letters = (
            PAGE_LETTERS
            + ("g" if store_product_view.has_figures(state) else "")
            + ("d" if state.has_refused_change else "")
        )
        return Accepts(choices=len(store_product_view.numbered_fields(state)), command_letters=letters)

    def prefers(self, state: StoreProductState) -> tuple[str, ...]:
        """Prefer another product."""
        return (PRODUCT,)

    def step_name(self, state: StoreProductState) -> str:
        """Return one of `steps`."""
        return self.name if state.phase == PAGE else f"{self.name}.{state.phase}"

    def view(self, state: StoreProductState) -> View:
        """Return the screen of the open page."""
        return store_product_view.view(state)

    def handle(self, state: StoreProductState, event: Event, context: Context) -> Result:
        """Return the next state. A number opens a field; a value and a yes send it."""
        match event:
            case Opened(args):
                return _open_product(str(args["product_number"]), str(args.get("label") or ""), context)
            case Rows():
                return _handle_rows(state, event, context)
            case Changed() | Closed():
                return Turn(state, _queries(state.number, context))
            case Resumed():
                return Turn(state, (*_queries(state.number, context), Refresh("product", state.number)))
            case Back():
                return _go_back(state)
            case Scan(meanings):
                return _handle_scan(state, meanings[0], context)
        match state.phase:
            case "value":
                return _handle_value(state, event, context)
            case "confirm":
                return _handle_confirmation(state, event, context)
            case "chart":
                return _turn_page(state, event)
        return _handle_page_input(state, event, context)


def _open_product(product: str, label: str, context: Context) -> Result:
    """Open a product. Cached data is shown at once; a refresh follows."""
    return Turn(StoreProductState(product, label), (*_queries(product, context), Refresh("product", product)))


def _queries(product: str, context: Context) -> tuple[Effect, ...]:
    args = {"product_number": product, "user": context.user}
    brings = Query("next_deliveries", "next_deliveries", {"product_number": product}, is_live=True)
    return (Query("product", "store_product", args, is_live=True), brings)


def _handle_rows(state: StoreProductState, answer: Rows, context: Context) -> Result:
    if answer.id == "next_deliveries":
        return Turn(state._replace(deliveries=parse_expected_deliveries(answer.rows, context.now)))
    found = parse_store_product(answer.rows[0], context.now) if answer.rows else None
    match answer.id.partition("/"):
        case ("chosen", _, _):
            return _send_if_unchanged(state, found, context)
        case ("field", _, name):
            return Turn(_leave_lost_phase(state._replace(product=found, phase=VALUE, field=name, changes=())))
        case ("meant", _, _):
            return _check_changes(_leave_lost_phase(state._replace(product=found)))
    fresh = state._replace(is_loaded=True, product=found, label=found.name if found else state.label)
    return Turn(_leave_lost_phase(fresh), (), _change_verdict(state.product, found))


def _leave_lost_phase(state: StoreProductState) -> StoreProductState:
    """Return to the product's page if the open page no longer has its data."""
    product, in_hand = state.product, state.phase in (VALUE, CONFIRM)
    if product is not None and (product.is_ranged if in_hand else product.series or state.phase == PAGE):
        return state
    return state._replace(phase=PAGE, field="", changes=())


def _change_verdict(before: StoreProduct | None, now: StoreProduct | None) -> Verdict | None:
    """Return a verdict on a change that the service has confirmed or refused since the last query.

    The service may answer before the first query that shows the change.
    """
    if before is None or now is None:
        return None
    states = {change.op_id: change.state for change in before.changes}
    for change in now.changes:
        if states.get(change.op_id) != change.state:
            what = store_product_view.change_text(change)
            if change.state == "confirmed":
                return Verdict(GOOD, msg("store_product.confirmed", what=what))
            if change.state == "refused":
                return Verdict(WRONG, store_product_view.refusal_text(change))
    return None


def _go_back(state: StoreProductState) -> Result:
    if state.phase == PAGE:
        return Turn(state, (Close(),))
    if state.phase == CONFIRM:
        return Turn(state._replace(phase=VALUE, changes=()))
    return Turn(state._replace(phase=PAGE, field="", page=0))


def _handle_scan(state: StoreProductState, match: Match, context: Context) -> Result:
    """Open the scanned product, except while a value is being changed, because that would be lost."""
    label = match.label or match.key
    if match.kind != PRODUCT:
        return Turn(state, (), Verdict(WRONG, msg("store_product.not_this", what=name_of(match))))
    if state.phase in (VALUE, CONFIRM):
        return Turn(state, (), Verdict(WRONG, msg("store_product.finish_change_first", what=label)))
    return _open_product(match.key, label, context)._replace(verdict=Verdict(INFO, msg("look_up.shown", label=label)))


def _handle_page_input(state: StoreProductState, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if choice <= len(store_product_view.numbered_fields(state)):
            field = store_product_view.numbered_fields(state)[choice - 1]
            return Turn(state, (_query_product(state, f"field/{field.name}", context),))
        case Command("g") if not state.is_loaded or store_product_view.has_figures(state):
            return Turn(state._replace(phase=CHART, page=0))
        case Command("d") if state.has_refused_change:
            return Turn(state, (Start("unconfirmed", {}),))
    return _turn_page(state, event)


def _turn_page(state: StoreProductState, event: Event) -> Result:
    match event:
        case Command("n" | "p" as key) | CursorKey(key):
            return Turn(state._replace(page=turn_page(state.page, key)))
        case Text(text) | UnknownCode(text):
            return Turn(state, (), Verdict(WRONG, msg("log.unknown", code=text)))
    return Turn(state)


# Value


def _handle_value(state: StoreProductState, event: Event, context: Context) -> Result:
    """Handle the value typed or chosen for the field."""
    kind = FIELD_BY_NAME[state.field].kind
    match event:
        case Choice(choice) if kind == FLAG:
            return _propose_changes(state, {state.field: choice == 1}, context)
        case Choice() if kind == CODES:
            return _propose_changes(state, {state.field: []}, context)
        case Quantity(value) if kind in NUMERIC:
            return _propose_changes(state, {state.field: value}, context)
        case Text(text) | UnknownCode(text):
            return _parse_text_value(state, text, context)
        case TypedText():
            return Turn(state)
    return Turn(state, (), Verdict(WRONG, store_product_view.input_prompt(state.field)))


def _parse_text_value(state: StoreProductState, text: str, context: Context) -> Result:
    kind = FIELD_BY_NAME[state.field].kind
    if kind == CODES and (codes := parse_codes(text)):
        return _propose_changes(state, {state.field: codes}, context)
    if kind == DAY and (day := parse_day(text, context.now)):
        return _propose_changes(state, {state.field: format_day_as_datetime(day)}, context)
    if state.field in LEVELS and (both := parse_level_range(text)):
        return _propose_changes(state, dict(zip(LEVELS, both, strict=True)), context)
    return Turn(state, (), Verdict(WRONG, store_product_view.input_prompt(state.field)))


def _propose_changes(state: StoreProductState, changes: Mapping[str, Json], context: Context) -> Result:
    """Query the product again. Its current values decide whether the changes are possible."""
    return Turn(state._replace(changes=tuple(changes.items())), (_query_product(state, "meant", context),))


def _check_changes(state: StoreProductState) -> Result:
    """Ask for confirmation beside the current values, or say at once why the changes are impossible."""
    product, changes = state.product, dict(state.changes)
    if product is None or state.phase != VALUE:
        return Turn(state)
    why = objection(product, changes)
    if why is not None:
        return Turn(state._replace(changes=()), (), Verdict(WRONG, why))
    values = parse_update_values(changes)
    changed = {name: changes[name] for name in changes if product.value(name) != values[name]}
    if not changed:
        same = msg("store_product.unchanged", what=store_product_view.field_label(state.field))
        return Turn(state._replace(phase=PAGE, field="", changes=()), (), Verdict(INFO, same))
    warnings = price_warnings(product, changed)
    verdict = Verdict(ASK, warnings[0]) if warnings else None
    return Turn(state._replace(phase=CONFIRM, changes=tuple(changed.items())), (), verdict)


def _handle_confirmation(state: StoreProductState, event: Event, context: Context) -> Result:
    """Handle the answer: yes sends the changes, another number is a new value to confirm."""
    match event:
        case Choice(1):
            return _query_before_send(state, context)
        case Quantity(value) if FIELD_BY_NAME[state.field].kind in NUMERIC:
            return _propose_changes(state._replace(phase=VALUE), {state.field: value}, context)
    return _remind_to_confirm(state, event)


def _remind_to_confirm(state: StoreProductState, event: Event) -> Result:
    """Answer any input other than yes, so that none is ignored silently."""
    if isinstance(event, TypedText):
        return Turn(state)
    name, text = next(iter(parse_update_values(dict(state.changes)).items()))
    value = store_product_view.format_value(name, text)
    return Turn(state, (), Verdict(WRONG, msg("store_product.confirm_or_back", value=value)))


def _query_before_send(state: StoreProductState, context: Context) -> Result:
    """Query the product right before sending. The answer decides."""
    return Turn(state, (_query_product(state, "chosen", context),))


def _query_product(state: StoreProductState, name: str, context: Context) -> Query:
    """Return a journalled query for the current state of the product."""
    return Query(name, "store_product", {"product_number": state.number, "user": context.user})


def _send_if_unchanged(state: StoreProductState, now: StoreProduct | None, context: Context) -> Result:
    """Send the changes. If the product has become unavailable or invalid meanwhile, say so instead of overwriting
    it."""
    changes = dict(state.changes)
    fresh = _leave_lost_phase(state._replace(product=now))
    if now is None or fresh.phase != CONFIRM:
        return Turn(fresh)
    barred = (why_not(now, FIELD_BY_NAME[name]) for name in changes)
    why: Msg | None = next((each for each in barred if each), None) or objection(now, changes)
    if why is not None:
        return Turn(fresh._replace(phase=VALUE, changes=()), (), Verdict(WRONG, why))
    op = update_write(state.number, context.store, changes, dict(now.values))
    done = fresh._replace(phase=PAGE, field="", changes=(), page=0)
    verdict = Verdict(GOOD, msg("store_product.queued", what=store_product_view.format_changes(now, changes)))
    return Turn(done, (op, *_queries(state.number, context)), verdict)
