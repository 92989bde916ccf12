"""Job that shows and changes the store's settings of a product: levels, replenishment, attention codes, expiry, prices.

Fields that the interface can write are numbered. A value is typed, shown beside the current one, and sent. The page is
live, but decisions use a journalled query, so that a value in hand is restored after a crash. Interface: Update store
products.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from aisle.jobs import choice_letters
from aisle.jobs.job import Args, Context, Effect, Event, Json, Query, Refresh, Rows, Turn
from aisle.jobs.page_job import Action, FormPage, Page, PagedPage, PageJob, refuse
from aisle.jobs.product_page import parse_expected_deliveries
from aisle.jobs.quantities import name_of
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
    change_message,
    change_text,
    field_label,
    format_changes,
    format_day_as_datetime,
    format_value,
    is_write_only,
    objection,
    parse_codes,
    parse_day,
    parse_level_range,
    parse_store_product,
    parse_update_values,
    price_warnings,
    refusal_text,
    update_write,
    why_not,
)
from aisle.jobs.supervisor.store_product_page import (
    CHART,
    CONFIRM,
    PAGE,
    VALUE,
    ProductPage,
    Result,
    StoreProductState,
    query_product,
)
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Chart, Line, Msg, Series, Step, Verdict, View, msg, raw
from aisle.scan.meaning import PRODUCT, Accepts, Choice, Command, CursorKey, Match, Quantity, TypedText
from aisle.scan.qr_payloads import is_qr_payload

Actions = tuple[Action[StoreProductState], ...]


def _product_of(state: StoreProductState) -> StoreProduct:
    """Return the product that is being changed or drawn."""
    assert state.product is not None, "the pages over the first one open with a product"
    return state.product


# Value

_INPUT_PROMPTS = {
    "whole": "store_product.how_number",
    "number": "store_product.how_number",
    "money": "store_product.how_number",
    "codes": "store_product.how_codes",
    "day": "store_product.how_day",
    "flag": "count.prompt_number",
}
"""Prompts for a value of each kind."""


def input_prompt(name: str) -> Msg:
    """Return the prompt that says how to type a value of the field."""
    return msg("store_product.how_levels" if name in LEVELS else _INPUT_PROMPTS[FIELD_BY_NAME[name].kind])


class ValuePage(FormPage[StoreProductState]):
    """Question for a value of the field: a number, a day, codes, or yes and no."""

    name = "store_product.value"

    def title(self, state: StoreProductState) -> Msg:
        return field_label(state.field)

    def prompt(self, state: StoreProductState) -> Msg:
        return input_prompt(state.field)

    def lines(self, state: StoreProductState) -> tuple[Line, ...]:
        product, field = _product_of(state), state.field
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
            return (Action(none, lambda state, context: _propose_changes(state, {field: []}, context)),)
        if kind != FLAG:
            return ()
        return (
            Action(msg("unconfirmed.yes"), lambda state, context: _propose_changes(state, {field: True}, context)),
            Action(msg("unconfirmed.no"), lambda state, context: _propose_changes(state, {field: False}, context)),
        )

    def accepts(self, state: StoreProductState) -> Accepts:
        kind = FIELD_BY_NAME[state.field].kind
        is_decimal, is_text = kind in (NUMBER, MONEY), kind in (CODES, DAY)
        return super().accepts(state)._replace(quantity=kind in NUMERIC, decimals=is_decimal, text=is_text)

    def handle_other_input(self, state: StoreProductState, event: Event, context: Context) -> Result:
        match event:
            case Quantity(value) if FIELD_BY_NAME[state.field].kind in NUMERIC:
                return _propose_changes(state, {state.field: value}, context)
            case TypedText():
                return Turn(state)
            case Choice() | Command() | CursorKey() | Quantity():
                return refuse(state, input_prompt(state.field))
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: StoreProductState, text: str, context: Context) -> Result:
        if FIELD_BY_NAME[state.field].kind == CODES and is_qr_payload(text):
            return refuse(state, msg("input.qr_payload", text=text))
        changes = _parse_text_value(state.field, text, context.now)
        return _propose_changes(state, changes, context) if changes else refuse(state, input_prompt(state.field))

    def go_back(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state._replace(phase=PAGE, field="", page=0))


def _range_message(product: StoreProduct, name: str) -> Msg:
    """Return the range of a level, and the value and percentage from which it follows."""
    allowed = product.level_range(name)
    if allowed is None:
        return msg("store_product.unknown")
    low, high, start, percentage = allowed
    return msg("store_product.range_reason", low=low, high=high, start=start, percentage=percentage)


def _parse_text_value(field: str, text: str, now: str) -> dict[str, Json]:
    """Return the changes that the text means; empty if it is invalid. `6-24` sets both levels."""
    kind = FIELD_BY_NAME[field].kind
    if kind == CODES and (codes := parse_codes(text)):
        return {field: codes}
    if kind == DAY and (day := parse_day(text, now)):
        return {field: format_day_as_datetime(day)}
    if field in LEVELS and (both := parse_level_range(text)):
        return dict(zip(LEVELS, both, strict=True))
    return {}


def _propose_changes(state: StoreProductState, changes: Mapping[str, Json], context: Context) -> Result:
    """Query the product again. Its current values decide whether the changes are possible."""
    return Turn(state._replace(changes=tuple(changes.items())), (query_product(state, "meant", context),))


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
        same = msg("store_product.unchanged", what=field_label(state.field))
        return Turn(state._replace(phase=PAGE, field="", changes=()), (), Verdict(INFO, same))
    warnings = price_warnings(product, changed)
    verdict = Verdict(ASK, warnings[0]) if warnings else None
    return Turn(state._replace(phase=CONFIRM, changes=tuple(changed.items())), (), verdict)


# Confirmation


class ConfirmPage(FormPage[StoreProductState]):
    """Question before the changes are sent. Another number is a new value to confirm."""

    name = "store_product.confirm"
    title_text = msg("store_product.title_confirm")
    prompt_text = msg("store_product.prompt_confirm")
    typed_only = True

    def lines(self, state: StoreProductState) -> tuple[Line, ...]:
        product, changes = _product_of(state), dict(state.changes)
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
            msg("store_product.send"), lambda state, context: Turn(state, (query_product(state, "chosen", context),))
        )
        return (send,)

    def view(self, state: StoreProductState) -> Step:
        return super().view(state)._replace(choice_letters=choice_letters.YES)

    def accepts(self, state: StoreProductState) -> Accepts:
        kind = FIELD_BY_NAME[state.field].kind
        numbers = super().accepts(state)._replace(quantity=kind in NUMERIC, decimals=kind in (NUMBER, MONEY))
        return numbers._replace(choice_letters=choice_letters.YES)

    def handle_other_input(self, state: StoreProductState, event: Event, context: Context) -> Result:
        """Take another number as the new value. Any other input is answered, so that none is ignored silently."""
        match event:
            case Quantity(value) if FIELD_BY_NAME[state.field].kind in NUMERIC:
                return _propose_changes(state._replace(phase=VALUE), {state.field: value}, context)
            case TypedText():
                return Turn(state)
        name, text = next(iter(parse_update_values(dict(state.changes)).items()))
        return refuse(state, msg("store_product.confirm_or_back", value=format_value(name, text)))

    def go_back(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state._replace(phase=VALUE, changes=()))


# Figures

_SERIES_LABELS = {
    "history": msg("store_product.history"),
    "average": msg("store_product.average"),
    "forecast": msg("store_product.forecast"),
}


class FiguresPage(PagedPage[StoreProductState]):
    """Chart of sales, averages and forecast."""

    name = "store_product.chart"

    def view(self, state: StoreProductState) -> Chart:
        product = _product_of(state)
        series = []
        for name, found in product.series:
            values = tuple(figure.value for figure in found)
            keys = tuple(raw(figure.key or str(at)) for at, figure in enumerate(found, 1))
            total = None if name == "average" else sum(values, Decimal(0))
            series.append(Series(_SERIES_LABELS[name], values, total, keys))
        return Chart(
            name=self.name,
            title=msg("store_product.title", number=state.number),
            prompt=msg("store_product.prompt_chart"),
            lines=(Line("product", raw(product.name)),),
            series=tuple(series),
            axis=(),
            page=state.page,
            empty=msg("store_product.no_figures"),
            key_hints=self.key_hints(state),
        )

    def handle_text(self, state: StoreProductState, text: str, context: Context) -> Result:
        return refuse(state, msg("log.unknown", code=text))

    def go_back(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state._replace(phase=PAGE, field="", page=0))


FIRST_PAGE = ProductPage()
PAGES: dict[str, Page[StoreProductState]] = {
    PAGE: FIRST_PAGE,
    VALUE: ValuePage(),
    CONFIRM: ConfirmPage(),
    CHART: FiguresPage(),
}


class StoreProductJob(PageJob[StoreProductState]):
    """Job that shows a product's settings in this store and changes them."""

    name = "store_product"
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    version = 1
    journalled = True
    requery_after_write = True
    preferred_kinds = (PRODUCT,)

    def begin(self) -> StoreProductState:
        return StoreProductState()

    def page(self, state: StoreProductState) -> Page[StoreProductState]:
        return PAGES[state.phase]

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

    def handle_scan(self, state: StoreProductState, matches: tuple[Match, ...], context: Context) -> Result:
        """Open the scanned product, except while a value is being changed, because that would be lost."""
        match, label = matches[0], matches[0].label or matches[0].key
        if match.kind != PRODUCT:
            return refuse(state, msg("store_product.not_this", what=name_of(match)))
        if state.phase in (VALUE, CONFIRM):
            return refuse(state, msg("store_product.finish_change_first", what=label))
        shown = Verdict(INFO, msg("look_up.shown", label=label))
        return _open_product(match.key, label, context)._replace(verdict=shown)


def _open_product(product: str, label: str, context: Context) -> Result:
    """Open a product. Cached data is shown at once; a refresh follows."""
    return Turn(StoreProductState(product, label), (*_queries(product, context), Refresh("product", product)))


def _queries(product: str, context: Context) -> tuple[Effect, ...]:
    args = {"product_number": product, "user": context.user}
    brings = Query("next_deliveries", "next_deliveries", {"product_number": product}, is_live=True)
    return (Query("product", "store_product", args, is_live=True), brings)


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
    states = {change["op_id"]: change["outcome"] for change in before.changes}
    for change in now.changes:
        if states.get(change["op_id"]) != change["outcome"]:
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
    verdict = Verdict(GOOD, msg("store_product.queued", what=format_changes(now, changes)))
    return Turn(done, (op, *_queries(state.number, context)), verdict)
