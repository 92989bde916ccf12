"""Job that shows and changes the store's settings of a product: levels, replenishment, attention codes, expiry, prices.

Fields that the interface can write are numbered. A value is typed, shown beside the current one, and sent. The page is
live, but decisions use a journalled query, so that a value in hand is restored after a crash. Interface: Update store
products.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs import choice_letters
from aisle.jobs.job import Args, Context, Effect, Event, Json, Query, Refresh, Rows, Start, Turn, reply
from aisle.jobs.look_up import delivery_rows, estimate, location_rows, with_age
from aisle.jobs.page_job import Action, DetailPage, FormPage, Page, PagedPage, PageJob, refuse
from aisle.jobs.product_data import ExpectedDelivery, parse_expected_deliveries, parse_product
from aisle.jobs.quantity_or_record import name_of
from aisle.jobs.row_types.log import LogRow
from aisle.jobs.row_types.orders import OrdersWithProductRow
from aisle.jobs.row_types.products import PendingChangeRow
from aisle.jobs.supervisor.product_side_pane import side_pane
from aisle.jobs.supervisor.store_product_fields import (
    CODES,
    DAY,
    FIELD_BY_NAME,
    FIELDS,
    FLAG,
    LEVELS,
    MONEY,
    NUMBER,
    NUMERIC,
    Field,
    field_label,
    format_day_as_datetime,
    format_value,
    parse_codes,
    parse_day,
    parse_level_range,
    parse_update_values,
    update_value,
    update_write,
)
from aisle.jobs.supervisor.store_product_values import (
    READ_ONLY_FIELDS,
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
from aisle.jobs.view import (
    ASK,
    GOOD,
    INFO,
    STATE_WORDS,
    WRONG,
    Block,
    Chart,
    DetailView,
    Line,
    Msg,
    Series,
    Verdict,
    View,
    msg,
    raw,
)
from aisle.page_addresses import PageAddress
from aisle.scan.foreign_qr_codes import is_foreign_qr_code
from aisle.scan.grammar_types import PRODUCT, Accepts, Choice, Command, CursorKey, Match, Quantity, TypedText

PAGE, VALUE, CONFIRM, CHART = "page", "value", "confirm", "chart"
"""Pages of the job."""

MAX_SHOWN = 5
"""Most changes and times on the page."""


Cells = tuple[Msg, ...]


class StoreProductState(NamedTuple):
    """State of the page: the product and the change in hand."""

    number: str = ""
    label: str = ""
    phase: str = PAGE
    is_loaded: bool = False
    """True once the cache was queried."""
    product: StoreProduct | None = None
    field: str = ""
    """Name of the field being changed."""
    changes: tuple[tuple[str, Json], ...] = ()
    """Changes to send after the confirmation."""
    page: int = 0
    deliveries: tuple[ExpectedDelivery, ...] = ()
    """Next deliveries that bring the product."""
    is_desk: bool = False
    """True if the screen is that of a desk, on which a value is changed in its row."""
    typed: str = ""
    """Text being typed as the new value."""
    locations: tuple[Cells, ...] = ()
    """Cells of the locations with their stock, for a desk; so are the next ones."""
    waiting_orders: tuple[OrdersWithProductRow, ...] = ()
    log: tuple[LogRow, ...] = ()

    @property
    def has_refused_change(self) -> bool:
        """True if a change of this product needs a person."""
        return self.product is not None and any(
            change["outcome"] in ("refused", "in_doubt") for change in self.product.changes
        )


Result = Turn[StoreProductState]


class ProductPage(DetailPage[StoreProductState]):
    """Page of the product. A number opens a field."""

    name = "store_product"

    def title(self, state: StoreProductState) -> Msg:
        return msg("store_product.title", number=state.number)

    def prompt(self, state: StoreProductState) -> Msg:
        return msg("store_product.prompt" if self.numbered_rows(state) else "store_product.prompt_read")

    def numbered_rows(self, state: StoreProductState) -> int:
        return len(state.product.editable_fields) if state.product else 0

    def lines(self, state: StoreProductState) -> tuple[Line, ...]:
        product = state.product
        name = Line("product", raw(product.name if product else state.label or state.number))
        if product is None:
            return (name, Line("note", msg("look_up.unknown" if state.is_loaded else "store_product.loading")))
        notes = [Line("note", note) for note in _change_notes(product)]
        if not product.is_ranged:
            return (name, Line("note", msg("store_product.not_ranged")), *notes)
        stock = msg("look_up.no_stock") if product.has_no_stock else msg("look_up.stock", stock=product.stock)
        denied = () if product.may_edit else (Line("note", msg("store_product.role_denied")),)
        return (name, Line("quantity", stock), *denied, *notes)

    def blocks(self, state: StoreProductState) -> tuple[Block, ...]:
        product = state.product
        return _blocks(product, state) if product and product.is_ranged else ()

    def view(self, state: StoreProductState) -> DetailView:
        """Return the page; at a desk with sales, orders and the last entries of the log beside it."""
        product = state.product
        side = side_pane(product, state.waiting_orders, state.log) if state.is_desk and product else None
        return super().view(state)._replace(side=side)

    def actions(self, state: StoreProductState) -> tuple[Action[StoreProductState], ...]:
        has_figures = bool(state.product and state.product.series)
        figures = Action(msg("hint.figures"), lambda state, _: Turn(state._replace(phase=CHART, page=0)), "g")
        resolve = Action[StoreProductState](
            msg("hint.resolve"), lambda state, _: Turn(state, (Start("unconfirmed", {}),)), "d"
        )
        return (
            *((figures._replace(is_hinted=has_figures),) if has_figures or not state.is_loaded else ()),
            *((resolve,) if state.has_refused_change else ()),
            *((Action(msg("hint.undo"), _undo_change, "u"),) if undone_change(state.product) else ()),
        )

    def handle_other_input(self, state: StoreProductState, event: Event, context: Context) -> Result:
        match event:
            case Choice(number) if number <= self.numbered_rows(state) and state.product:
                field = state.product.editable_fields[number - 1]
                return Turn(state, (query_product(state, f"field/{field.name}", context),))
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: StoreProductState, text: str, context: Context) -> Result:
        return refuse(state, msg("log.unknown", code=text))


def query_product(state: StoreProductState, id_: str, context: Context) -> Query:
    """Return a journalled query for the current state of the product."""
    return Query(id_, "store_product", {"product_number": state.number, "user": context.user})


def _change_notes(product: StoreProduct) -> tuple[Msg, ...]:
    for change in product.changes:
        if change["outcome"] == "refused":
            return (refusal_text(change),)
        if change["outcome"] == "in_doubt":
            return (msg("store_product.in_doubt", what=change_text(change)),)
    return ()


def _blocks(product: StoreProduct, state: StoreProductState) -> tuple[Block, ...]:
    return (
        _field_block(product, state),
        *_read_only_blocks(product),
        Block(
            msg("store_product.ordering_and_delivery"),
            (*delivery_rows(state.deliveries), *_time_rows(product)),
            is_compact=True,
        ),
        Block(msg("look_up.locations"), () if product.has_no_stock else state.locations),
        Block(msg("store_product.stock"), _pool_rows(product)),
        Block(msg("store_product.changes"), tuple(_change_row(change) for change in product.changes[:MAX_SHOWN])),
        Block(msg("look_up.facts"), _read_only_rows(product)),
    )


def _pool_rows(product: StoreProduct) -> tuple[Cells, ...]:
    return () if product.has_no_stock else tuple((raw(name), estimate(quantity)) for name, quantity in product.pools)


def _field_block(product: StoreProduct, state: StoreProductState) -> Block:
    """Return the fields, numbered, or with the new value in the row that is being changed."""
    fields, new_values = product.editable_fields, _new_values(state)
    block = Block(
        _block_title(product),
        tuple(_edited_row(product, field, new_values) for field in fields),
        numbered_rows=0 if new_values else len(fields),
        is_compact=True,
    )
    return block._replace(edited_rows=tuple(at for at, field in enumerate(fields) if field.name in new_values))


def _new_values(state: StoreProductState) -> dict[str, Msg]:
    """Return the new values by field, as typed so far or as they wait for the confirmation; none on the first page."""
    if state.phase == CONFIRM:
        values = parse_update_values(dict(state.changes))
        return {name: format_value(name, text) for name, text in values.items()}
    return {state.field: raw(f"{state.typed}_")} if state.phase == VALUE else {}


def _edited_row(product: StoreProduct, field: Field, new_values: Mapping[str, Msg]) -> Cells:
    name, value, *more = _field_row(product, field)
    if field.name not in new_values:
        return (name, value, *more)
    notes = (msg("store_product.write_only"),) if is_write_only(product, field.name) else ()
    return (name, msg("store_product.edited", before=value, after=new_values[field.name]), *more, *notes)


def _field_row(product: StoreProduct, field: Field) -> Cells:
    cells = [field.label, format_value(field.name, product.value(field.name))]
    under_way = [
        change["outcome"]
        for change in product.changes
        if change["outcome"] in ("queued", "sending") and field.name in {name for name, _, _ in change["fields"]}
    ]
    allowed = product.level_range(field.name)
    if under_way:
        cells.append(msg(STATE_WORDS[under_way[0]]))
    elif allowed:
        cells.append(msg("store_product.range", low=allowed.low, high=allowed.high))
    return tuple(cells)


def _read_only_blocks(product: StoreProduct) -> tuple[Block, ...]:
    """Return the fields that cannot be changed here, grouped by reason."""
    rows: dict[Msg, list[Cells]] = {}
    for field in FIELDS:
        why = why_not(product, field)
        if why is not None:
            cells = (field.label, format_value(field.name, product.value(field.name)))
            rows.setdefault(why, []).append(cells)
    if not product.may_edit:
        return tuple(Block(_block_title(product), tuple(cells), is_compact=True) for cells in rows.values())
    return tuple(Block(why, tuple(cells), is_compact=True, is_title_needed=True) for why, cells in rows.items())


def _block_title(product: StoreProduct) -> Msg:
    return with_age(msg("store_product.store_values"), product.age_s)


def _time_rows(product: StoreProduct) -> tuple[Cells, ...]:
    rows: list[Cells] = []
    for first, more, moments in (
        ("look_up.ordering", "store_product.later_ordering", product.ordering_times),
        ("look_up.delivery", "store_product.later_delivery", product.delivery_times),
    ):
        for index, at in enumerate(moments[:MAX_SHOWN]):
            rows.append((msg(more if index else first), at))
    return tuple(rows)


def _change_row(change: PendingChangeRow) -> Cells:
    state = msg(STATE_WORDS[change["outcome"]])
    return (change_text(change), state, raw(change["user_name"]), msg("moment", at=change["at"]))


def _read_only_rows(product: StoreProduct) -> tuple[Cells, ...]:
    rows: list[Cells] = [(READ_ONLY_FIELDS[name], raw(text)) for name, text in product.read_only_fields]
    if product.attention:
        rows.append((msg("store_product.attention_everywhere"), raw(product.attention)))
    if product.max_change_percentage > 0 and product.may_edit_levels:
        rows.append(
            (msg("store_product.percentage"), msg("store_product.percent", percentage=product.max_change_percentage))
        )
    return tuple(rows)


def undone_change(product: StoreProduct | None) -> dict[str, Json]:
    """Return the values that undo the last change made here; empty if there is none, or others have changed them."""
    last = product.changes[0] if product and product.changes else None
    if product is None or last is None or last["outcome"] not in ("queued", "sending", "confirmed"):
        return {}
    fields = last["fields"]
    is_as_left = all(before and product.value(name) == after for name, before, after in fields)
    may_edit = {field.name for field in product.editable_fields}.issuperset(name for name, _, _ in fields)
    return {name: update_value(name, before) for name, before, _ in fields} if is_as_left and may_edit else {}


def _undo_change(state: StoreProductState, context: Context) -> Result:
    """Propose the values from before the last change; they are confirmed like any others."""
    changes = undone_change(state.product)
    return _propose_changes(state._replace(phase=VALUE, field=next(iter(changes))), changes, context)


Actions = tuple[Action[StoreProductState], ...]


def _product_of(state: StoreProductState) -> StoreProduct:
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


class ValuePage(FieldPage):
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
            case TypedText(text):
                return Turn(state._replace(typed=text))
            case Choice() | Command() | CursorKey() | Quantity():
                return refuse(state, input_prompt(state.field))
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: StoreProductState, text: str, context: Context) -> Result:
        if FIELD_BY_NAME[state.field].kind == CODES and is_foreign_qr_code(text):
            return refuse(state, msg("input.qr_payload", text=text))
        changes = _parse_text_value(state.field, text, context.now)
        return _propose_changes(state, changes, context) if changes else refuse(state, input_prompt(state.field))

    def go_back(self, state: StoreProductState, context: Context) -> Result:
        return Turn(state._replace(phase=PAGE, field="", page=0))


def _range_message(product: StoreProduct, name: str) -> Msg:
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
        return reply(
            state._replace(phase=PAGE, field="", changes=()),
            INFO,
            "store_product.unchanged",
            what=field_label(state.field),
        )
    warnings = price_warnings(product, changed)
    verdict = Verdict(ASK, warnings[0]) if warnings else None
    return Turn(state._replace(phase=CONFIRM, changes=tuple(changed.items())), (), verdict)


# Confirmation


class ConfirmPage(FieldPage):
    """Question before the changes are sent. Another number is a new value to confirm."""

    name = "store_product.confirm"
    title_text = msg("store_product.title_confirm")
    prompt_text = msg("store_product.prompt_confirm")
    typed_only = True
    choice_letters = choice_letters.YES

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


def _change_verdict(before: StoreProduct | None, now: StoreProduct | None) -> Verdict | None:
    """Return a verdict on a change that the service has confirmed or refused since the last query. The service may
    answer before the first query that shows the change."""
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
    return reply(
        done, GOOD, "store_product.queued", op, *_queries(state.number, context), what=format_changes(now, changes)
    )
