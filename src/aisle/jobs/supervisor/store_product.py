"""Job that shows and changes the store's settings of a product: levels, replenishment, attention codes, expiry, prices.

Fields that the interface can write are numbered. A value is typed, shown beside the current one, and sent. The page is
live, but decisions use a journalled query, so that a value in hand is restored after a crash. Interface: Update store
products.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs.expiry.expiry_state import label_date
from aisle.jobs.job import Args, Context, Effect, Event, Query, Refresh, Rows, Turn, reply
from aisle.jobs.look_up_product import location_rows
from aisle.jobs.pages_and_page_job import Page, PagedPage, PageJob, refuse
from aisle.jobs.parse_product_rows import parse_expected_deliveries, parse_product
from aisle.jobs.quantity_or_record import name_of
from aisle.jobs.supervisor.ask_and_confirm_setting import ConfirmPage, ValuePage, check_changes
from aisle.jobs.supervisor.parse_and_format_store_product_values import format_day_as_datetime, update_write
from aisle.jobs.supervisor.store_product_limits_and_objections import (
    StoreProduct,
    change_text,
    format_changes,
    objection,
    parse_store_product,
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
)
from aisle.jobs.view import GOOD, INFO, WRONG, Chart, Line, Msg, Series, Verdict, View, msg, raw
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match
from aisle.store_product_settings import FIELD_BY_NAME

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
