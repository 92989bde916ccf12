"""Job that shows and changes the store's settings of a product: asks for a new value, checks and confirms it.

Fields that the interface can write are numbered. A value is typed, shown beside the current one, and sent. The page is
live, but decisions use a journalled query, so that a value in hand is restored after a crash. Interface: Update store
products.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs import typed_numbers_dates_and_letters
from aisle.jobs.expiry.expiry_state import label_date
from aisle.jobs.job import Args, Context, Effect, Event, Json, Query, Refresh, Rows, Turn, reply
from aisle.jobs.look_up_product import location_rows
from aisle.jobs.pages_and_page_job import Action, FormPage, Page, PagedPage, PageJob, refuse
from aisle.jobs.product_rows_and_weekly_sales import parse_expected_deliveries, parse_product
from aisle.jobs.supervisor.service_fields_and_values import (
    LEVELS,
    field_label,
    format_day_as_datetime,
    format_value,
    parse_codes,
    parse_day,
    parse_level_range,
    update_write,
)
from aisle.jobs.supervisor.store_product_limits_and_objections import (
    StoreProduct,
    change_message,
    change_text,
    format_changes,
    is_write_only,
    objection,
    parse_store_product,
    price_warnings,
    refusal_text,
    why_not,
)
from aisle.jobs.supervisor.store_product_page import (
    CHART,
    CONFIRM,
    FIRST_PAGE,
    MAX_SHOWN,
    PAGE,
    VALUE,
    Result,
    StoreProductState,
    product_of,
    propose_changes,
    query_product,
)
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Chart, Line, Msg, Series, Verdict, View, msg, raw
from aisle.scan.codes_of_store_and_suppliers import is_foreign_qr_code
from aisle.scan.grammar_and_meaning_types import (
    PRODUCT,
    Accepts,
    Choice,
    Command,
    CursorKey,
    Match,
    Quantity,
    Text,
    TypedText,
    UnknownCode,
)
from aisle.store_product_settings import CODES, DAY, FIELD_BY_NAME, FLAG, MONEY, NUMBER, NUMERIC, parse_update_values

Actions = tuple[Action[StoreProductState], ...]

_INPUT_PROMPTS = {
    "whole": "store_product.how_number",
    "number": "store_product.how_number",
    "money": "store_product.how_number",
    "codes": "store_product.how_codes",
    "day": "store_product.how_day",
    "flag": "unconfirmed.choose",
}
"""Prompts for a value of each kind."""


def input_prompt(name: str) -> Msg:
    """Return the prompt that says how to type a value of the field."""
    return msg("store_product.how_levels" if name in LEVELS else _INPUT_PROMPTS[FIELD_BY_NAME[name].kind])


class FieldPage(FormPage[StoreProductState]):
    """Question about a field. At a desk it is asked on the page of the product, in the row of the field."""

    choice_letters = ""
    """Letters of its choices; empty if they are numbered."""

    def view(self, state: StoreProductState) -> View:
        """Return the question, with the letters of its choices."""
        step = self.step(state)._replace(choice_letters=self.choice_letters)
        if not state.is_desk:
            return step
        return FIRST_PAGE.view(state)._replace(
            name=self.name,
            prompt=step.prompt,
            choices=step.choices,
            choice_letters=step.choice_letters,
            key_hints=step.key_hints,
        )

    def accepts(self, state: StoreProductState) -> Accepts:
        """Accept a value of the kind of the field, and the choices."""
        kind, letters = FIELD_BY_NAME[state.field].kind, self.choice_letters
        values = super().accepts(state)._replace(quantity=kind in NUMERIC, decimals=kind in (NUMBER, MONEY))
        return values._replace(text=kind in (CODES, DAY), choice_letters=letters)


class ValuePage(FieldPage):
    """Question for a value of the field: a number, a day, codes, or yes and no."""

    name = "store_product.value"

    def title(self, state: StoreProductState) -> Msg:
        return field_label(state.field)

    def prompt(self, state: StoreProductState) -> Msg:
        return input_prompt(state.field)

    def lines(self, state: StoreProductState) -> tuple[Line, ...]:
        product, field = product_of(state), state.field
        value = format_value(field, product.value(field))
        now = msg("store_product.current_value", what=field_label(field), value=value)
        lines = [Line("product", raw(product.name)), Line("quantity", now)]
        lines += [Line("note", _range_message(product, field))] if product.level_range(field) else []
        lines += [Line("note", msg("store_product.write_only"))] if is_write_only(product, field) else []
        return tuple(lines)

    def actions(self, state: StoreProductState) -> Actions:
        kind, field = FIELD_BY_NAME[state.field].kind, state.field
        if kind == CODES:
            none = msg("store_product.no_codes")
            return (Action(none, lambda state, context: propose_changes(state, {field: []}, context)),)
        if kind != FLAG:
            return ()
        return (
            Action(msg("unconfirmed.yes"), lambda state, context: propose_changes(state, {field: True}, context)),
            Action(msg("unconfirmed.no"), lambda state, context: propose_changes(state, {field: False}, context)),
        )

    def handle_other_input(self, state: StoreProductState, event: Event, context: Context) -> Result:
        match event:
            case Quantity(value) if FIELD_BY_NAME[state.field].kind in NUMERIC:
                return propose_changes(state, {state.field: value}, context)
            case TypedText(text):
                return Turn(state._replace(typed=text))
            case Choice() | Command() | CursorKey() | Quantity():
                return refuse(state, input_prompt(state.field))
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: StoreProductState, text: str, context: Context) -> Result:
        if FIELD_BY_NAME[state.field].kind == CODES and is_foreign_qr_code(text):
            return refuse(state, msg("input.qr_payload", text=text))
        changes = parse_text_value(state.field, text, context.now)
        if changes:
            return propose_changes(state, changes, context)
        return _refuse_text(state, text, input_prompt(state.field))

    def go_back(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state._replace(phase=PAGE, field="", page=0))


def _refuse_text(state: StoreProductState, text: str, what_to_do: Msg) -> Result:
    """Refuse a text that is no value of the field, and name it."""
    return Turn(state, (), Verdict(WRONG, msg("count.unknown", code=text), detail=what_to_do))


def _range_message(product: StoreProduct, name: str) -> Msg:
    allowed = product.level_range(name)
    if allowed is None:
        return msg("store_product.unknown")
    low, high, start, percentage = allowed
    return msg("store_product.range_reason", low=low, high=high, start=start, percentage=percentage)


def parse_text_value(field: str, text: str, now: str) -> dict[str, Json]:
    """Return the changes that the text means; empty if it is invalid. `6-24` sets both levels."""
    kind = FIELD_BY_NAME[field].kind
    if kind == CODES and (codes := parse_codes(text)):
        return {field: codes}
    if kind == DAY and (day := parse_day(text, now)):
        return {field: format_day_as_datetime(day)}
    if field in LEVELS and (both := parse_level_range(text)):
        return dict(zip(LEVELS, both, strict=True))
    return {}


def check_changes(state: StoreProductState) -> Result:
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
        return reply(
            state._replace(phase=PAGE, field="", changes=()),
            INFO,
            "store_product.unchanged",
            what=field_label(state.field),
        )
    warnings = price_warnings(product, changed)
    verdict = Verdict(ASK, warnings[0]) if warnings else None
    return Turn(state._replace(phase=CONFIRM, changes=tuple(changed.items())), (), verdict)


class ConfirmPage(FieldPage):
    """Question before the changes are sent. Another number is a new value to confirm."""

    name = "store_product.confirm"
    title_text = msg("store_product.title_confirm")
    prompt_text = msg("store_product.prompt_confirm")
    typed_only = True
    choice_letters = typed_numbers_dates_and_letters.YES

    def lines(self, state: StoreProductState) -> tuple[Line, ...]:
        product, changes = product_of(state), dict(state.changes)
        values = parse_update_values(changes)
        first, *more = [change_message(name, product.value(name), text) for name, text in values.items()]
        ranges = [_range_message(product, name) for name in values if product.level_range(name)]
        return (
            Line("product", raw(product.name)),
            Line("note" if state.field == "attention_codes" else "quantity", first),
            *(Line("note", note) for note in (*more, *price_warnings(product, changes), *ranges[:1])),
        )

    def actions(self, state: StoreProductState) -> Actions:
        send = Action[StoreProductState](
            msg("count.send"), lambda state, context: Turn(state, (query_product(state, "chosen", context),))
        )
        return (send,)

    def handle_other_input(self, state: StoreProductState, event: Event, context: Context) -> Result:
        """Take another value as the new one. Any other input is answered, so that none is ignored silently."""
        match event:
            case Quantity(value) if FIELD_BY_NAME[state.field].kind in NUMERIC:
                kept = dict(state.changes)  # the other level stays
                return propose_changes(state._replace(phase=VALUE), {**kept, state.field: value}, context)
            case Text(text) | UnknownCode(text) if changes := self._typed_values(state, text, context):
                return propose_changes(state._replace(phase=VALUE), changes, context)
            case TypedText():
                return Turn(state)
        name, waiting = next(iter(parse_update_values(dict(state.changes)).items()))
        what_to_do = msg("store_product.confirm_or_back", value=format_value(name, waiting))
        if isinstance(event, Text | UnknownCode):
            return _refuse_text(state, event.text if isinstance(event, Text) else event.code, what_to_do)
        return refuse(state, what_to_do)

    def _typed_values(self, state: StoreProductState, text: str, context: Context) -> dict[str, Json]:
        """Return the changes that a text means; empty if it is no value of the field."""
        is_foreign = FIELD_BY_NAME[state.field].kind == CODES and is_foreign_qr_code(text)
        return {} if is_foreign else parse_text_value(state.field, text, context.now)

    def go_back(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state._replace(phase=VALUE, changes=()))


_SERIES_LABELS = {
    "history": msg("store_product.history"),
    "average": msg("store_product.average"),
    "forecast": msg("store_product.forecast"),
}

EXPIRY = "expiry_date_time"
"""Field whose value a label of the product may have."""


class FiguresPage(PagedPage[StoreProductState]):
    """Chart of sales, averages and forecast."""

    name = "store_product.chart"

    def view(self, state: StoreProductState) -> Chart:
        product = product_of(state)
        series = []
        for name, found in product.series:
            values = tuple(figure.value for figure in found)
            keys = tuple(raw(figure.key or str(at)) for at, figure in enumerate(found, 1))
            total = None if name == "average" else sum(values, Decimal(0))
            series.append(Series(_SERIES_LABELS[name], values, total, keys))
        return Chart(
            name=self.name,
            title=msg("look_up.title_product", number=state.number),
            prompt=msg("order.prompt_read"),
            lines=(Line("product", raw(product.name)),),
            series=tuple(series),
            axis=(),
            page=state.page,
            empty=msg("list.empty"),
            key_hints=self.key_hints(state),
        )

    def go_back(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state._replace(phase=PAGE, field="", page=0))


PAGES: dict[str, Page[StoreProductState]] = {
    PAGE: FIRST_PAGE,
    VALUE: ValuePage(),
    CONFIRM: ConfirmPage(),
    CHART: FiguresPage(),
}


class StoreProductJob(PageJob[StoreProductState]):
    """Job that shows a product's settings in this store and changes them."""

    name = "store_product"
    lists = ("stock", "stock_changes", "products")
    state_type = StoreProductState
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    requery_after_write = True
    preferred_kinds = (PRODUCT,)

    def handle(self, state: StoreProductState, event: Event, context: Context) -> Result:
        """Return the next state, which knows the kind of the screen."""
        known = state if state.is_desk == context.is_desk else state._replace(is_desk=context.is_desk)
        return super().handle(known, event, context)

    def page(self, state: StoreProductState) -> Page[StoreProductState]:
        return PAGES[state.phase]

    def address(self, state: StoreProductState) -> PageAddress:
        return PageAddress("products", state.number)

    def view(self, state: StoreProductState) -> View:
        """Return the open page; the first one until the product is known again after a resume."""
        return (self.page(state) if state.product else FIRST_PAGE).view(state)

    def handle_opened(self, state: StoreProductState, args: Args, context: Context) -> Result:
        return _open_product(str(args["product_number"]), str(args.get("label") or ""), context)

    def queries(self, state: StoreProductState, context: Context) -> tuple[Effect, ...]:
        return _queries(state.number, context)

    def handle_resumed(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state, (*_queries(state.number, context), Refresh("product", state.number)))

    def handle_rows(self, state: StoreProductState, answer: Rows, context: Context) -> Result:
        if answer.id == "next_deliveries":
            return Turn(state._replace(deliveries=parse_expected_deliveries(answer.rows, context.now)))
        if answer.id in _SIDE_QUERIES:
            return Turn(_with_side_rows(state, answer, context))
        found = parse_store_product(answer.rows[0], context.now) if answer.rows else None
        match answer.id.partition("/"):
            case ("chosen", _, _):
                return _send_if_unchanged(state, found, context)
            case ("field", _, name):
                return Turn(_leave_lost_phase(state._replace(product=found, phase=VALUE, field=name, changes=())))
            case ("meant", _, _):
                return check_changes(_leave_lost_phase(state._replace(product=found)))
        fresh = state._replace(is_loaded=True, product=found, label=found.name if found else state.label)
        return Turn(_leave_lost_phase(fresh), (), _change_verdict(state.product, found, context.user))

    def handle_scan(self, state: StoreProductState, matches: tuple[Match, ...], context: Context) -> Result:
        """Open the scanned product, except while a value is being changed, because that would be lost."""
        match, label = matches[0], matches[0].label or matches[0].key
        if match.kind != PRODUCT:
            return refuse(state, msg("page.not_this", what=name_of(match)))
        if state.phase == CONFIRM:
            return refuse(state, msg("count.answer_first", what=raw(label)))
        if state.phase == VALUE and state.field == EXPIRY and match.expiry and match.key == state.number:
            return propose_changes(
                state, {EXPIRY: format_day_as_datetime(label_date(match, context).isoformat())}, context
            )
        if state.phase == VALUE:
            return refuse(state, msg("store_product.finish_change_first", what=label))
        shown = Verdict(INFO, msg("raw.cut", text=label))
        return _open_product(match.key, label, context)._replace(verdict=shown)


def _open_product(product: str, label: str, context: Context) -> Result:
    """Open a product. Cached data is shown at once; a refresh follows."""
    return Turn(StoreProductState(product, label), (*_queries(product, context), Refresh("product", product)))


def _queries(product: str, context: Context) -> tuple[Effect, ...]:
    args = {"product_number": product, "user": context.user}
    brings = Query("next_deliveries", "next_deliveries", {"product_number": product}, is_live=True)
    side = [
        Query(id_, name, {"product_number": product, **more}, is_live=True)
        for id_, (name, more) in _SIDE_QUERIES.items()
    ]
    return (Query("product", "store_product", args, is_live=True), brings, *(side if context.is_desk else ()))


_SIDE_QUERIES: Mapping[str, tuple[str, Args]] = {
    "locations": ("product", {}),
    "waiting_orders": ("orders_with_product", {"size": MAX_SHOWN}),
    "log_of_product": ("log", {"first": 0, "size": MAX_SHOWN}),
}
"""Queries for what only a desk shows, with their arguments besides the product."""


def _with_side_rows(state: StoreProductState, answer: Rows, context: Context) -> StoreProductState:
    """Return the state with what only a desk shows."""
    if answer.id == "waiting_orders":
        return state._replace(waiting_orders=answer.rows)
    if answer.id == "log_of_product":
        return state._replace(log=answer.rows)
    return state._replace(locations=location_rows(parse_product(answer.rows[0], context.now)) if answer.rows else ())


def _leave_lost_phase(state: StoreProductState) -> StoreProductState:
    """Return to the product's page if the open page no longer has its data."""
    product, in_hand = state.product, state.phase in (VALUE, CONFIRM)
    if product is not None and (product.is_ranged if in_hand else product.series or state.phase == PAGE):
        return state
    return state._replace(phase=PAGE, field="", changes=())


def _change_verdict(before: StoreProduct | None, now: StoreProduct | None, user: str) -> Verdict | None:
    """Return a verdict on a change of this user that the service has confirmed or refused since the last query. The
    service may answer before the first query that shows the change."""
    if before is None or now is None:
        return None
    states = {change["op_id"]: change["outcome"] for change in before.changes}
    for change in now.changes:
        if change["user"] == user and states.get(change["op_id"]) != change["outcome"]:
            if change["outcome"] == "confirmed":
                return Verdict(GOOD, msg("store_product.confirmed", what=change_text(change)))
            if change["outcome"] == "refused":
                return Verdict(WRONG, refusal_text(change))
    return None


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
    return reply(
        done, GOOD, "store_product.queued", op, *_queries(state.number, context), what=format_changes(now, changes)
    )
