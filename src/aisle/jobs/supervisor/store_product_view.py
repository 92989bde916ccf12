"""State and screens of a product's settings in this store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs import choice_letters
from aisle.jobs.job import Json, money_message
from aisle.jobs.product_page import ExpectedDelivery, delivery_rows, estimate, with_age
from aisle.jobs.quantities import to_decimal
from aisle.jobs.stored_message import is_stored_message, read_message
from aisle.jobs.supervisor.store_product_fields import (
    CODES,
    DAY,
    FIELD_BY_NAME,
    FIELDS,
    FLAG,
    LEVELS,
    MONEY,
    YES,
    Field,
    PendingChange,
    StoreProduct,
    is_write_only,
    parse_update_values,
    price_warnings,
    why_not,
)
from aisle.jobs.view import (
    BACK,
    PAGE_HINTS,
    STATE_WORDS,
    Block,
    Chart,
    DetailView,
    KeyHint,
    Line,
    Msg,
    Series,
    Step,
    View,
    msg,
    raw,
)

PAGE, VALUE, CONFIRM, CHART = "page", "value", "confirm", "chart"
"""Pages of the job."""


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

    @property
    def has_refused_change(self) -> bool:
        """True if a change of this product needs a person."""
        return self.product is not None and any(
            change.state in ("refused", "in_doubt") for change in self.product.changes
        )


Cells = tuple[Msg, ...]


_FIELD_LABELS = {
    "min": "store_product.of_min",
    "max": "store_product.of_max",
    "order_level": "store_product.of_order_level",
    "is_replenishment": "store_product.of_replenishment",
    "attention_codes": "store_product.of_attention",
    "expiry_date_time": "store_product.of_expiry",
    "validate_expiry_date_time": "store_product.of_check_expiry",
    "is_promotion": "store_product.of_promotion",
    "price": "store_product.of_price",
    "discount_price": "store_product.of_discount",
}
"""Names of the fields."""

_READ_ONLY_LABELS = {
    "original_min": "store_product.of_original_min",
    "original_max": "store_product.of_original_max",
    "adjusted_order_level": "store_product.of_adjusted",
    "demand_until_delivery": "store_product.of_demand",
    "forecast": "store_product.of_forecast",
    "promotion_week": "store_product.of_week",
    "purchase_unit_name": "store_product.of_unit",
    "purchase_unit_quantity": "store_product.of_unit_quantity",
    "last_minmax_updatedby": "store_product.by_levels",
    "last_expiry_updatedby": "store_product.by_expiry",
    "last_loss_updatedby": "store_product.by_adjust",
    "last_receipt_updatedby": "store_product.by_receipt",
    "default_salesorder_type": "store_product.of_order_type",
    "referral_product": "label.referral",
}

_SERIES_LABELS = {
    "history": "store_product.history",
    "average": "store_product.average",
    "forecast": "store_product.forecast",
}

_INPUT_PROMPTS = {
    "whole": "store_product.how_number",
    "number": "store_product.how_number",
    "money": "store_product.how_number",
    "codes": "store_product.how_codes",
    "day": "store_product.how_day",
    "flag": "count.prompt_number",
}
"""Prompts for a value of each kind."""

MAX_SHOWN = 5
"""Most changes and times on the page."""


def view(state: StoreProductState) -> View:
    """Return the screen of the open page."""
    if state.product is not None:
        match state.phase:
            case "value":
                return _value_step(state, state.product)
            case "confirm":
                return _confirm_step(state, state.product)
            case "chart":
                return _chart(state, state.product)
    return _page_view(state)


def numbered_fields(state: StoreProductState) -> tuple[Field, ...]:
    """Return the fields that have a number."""
    return state.product.editable_fields if state.product else ()


def has_figures(state: StoreProductState) -> bool:
    """Return True if there are figures to draw."""
    return bool(state.product and state.product.series)


def value_choices(state: StoreProductState) -> tuple[Msg, ...]:
    """Return the numbered values of a field."""
    kind = FIELD_BY_NAME[state.field].kind if state.field else ""
    if kind == FLAG:
        return (msg("unconfirmed.yes"), msg("unconfirmed.no"))
    return (msg("store_product.no_codes"),) if kind == CODES else ()


def field_label(name: str) -> Msg:
    """Return the name of a field."""
    return msg(_FIELD_LABELS[name])


def input_prompt(name: str) -> Msg:
    """Return the prompt that says how to type a value of the field."""
    return msg("store_product.how_levels" if name in LEVELS else _INPUT_PROMPTS[FIELD_BY_NAME[name].kind])


def format_value(name: str, text: str) -> Msg:
    """Return a field's value for display, from its plain text."""
    kind = FIELD_BY_NAME[name].kind
    if kind == FLAG and text:
        return msg("unconfirmed.yes" if text == YES else "unconfirmed.no")
    if not text:
        return msg("store_product.unknown")
    if kind == DAY:
        return msg("store_product.day", at=text)
    if kind == CODES:
        return raw(text.replace(",", ", "))
    return money_message(to_decimal(text)) if kind == MONEY else msg("number", value=to_decimal(text))


def format_changes(product: StoreProduct, changes: Mapping[str, Json]) -> Msg:
    """Return the changes, from old to new value, in one line."""
    parts = [_change_message(name, product.value(name), text) for name, text in parse_update_values(changes).items()]
    return _join_two(parts)


def refusal_text(change: PendingChange) -> Msg:
    """Return the reason why a change was refused: by the service, or because somebody else was faster."""
    return msg(
        "unconfirmed.note_why" if is_stored_message(change.why) else "store_product.refused",
        why=read_message(change.why),
    )


def change_text(change: PendingChange) -> Msg:
    """Return a pending change in one line."""
    return _join_two([_change_message(*each) for each in change.fields])


def _change_message(name: str, before: str, after: str) -> Msg:
    return msg(
        "store_product.change",
        what=field_label(name),
        before=format_value(name, before),
        after=format_value(name, after),
    )


def _join_two(parts: list[Msg]) -> Msg:
    return msg("store_product.join", one=parts[0], other=parts[1]) if len(parts) > 1 else parts[0]


# Page


def _page_view(state: StoreProductState) -> DetailView:
    product = state.product
    lines = [Line("product", raw(product.name if product else state.label or state.number))]
    blocks: tuple[Block, ...] = ()
    if product is None:
        lines.append(Line("note", msg("look_up.unknown" if state.is_loaded else "store_product.loading")))
    elif not product.is_ranged:
        lines.append(Line("note", msg("store_product.not_ranged")))
    else:
        stock = msg("look_up.no_stock") if product.has_no_stock else msg("look_up.stock", stock=product.stock)
        lines.append(Line("quantity", stock))
        lines += [Line("note", msg("store_product.role_denied"))] if not product.may_edit else []
        blocks = _blocks(product, state.deliveries)
    lines += [Line("note", note) for note in _notes(product)]
    figures = (KeyHint("g", msg("hint.figures")),) if has_figures(state) else ()
    settle = (KeyHint("d", msg("hint.resolve")),) if state.has_refused_change else ()
    return DetailView(
        name="store_product",
        title=msg("store_product.title", number=state.number),
        prompt=msg("store_product.prompt" if numbered_fields(state) else "store_product.prompt_read"),
        lines=tuple(lines),
        blocks=tuple(block for block in blocks if block.rows),
        page=state.page,
        key_hints=(*figures, *settle, *PAGE_HINTS, BACK),
    )


def _notes(product: StoreProduct | None) -> tuple[Msg, ...]:
    """Return a note on the latest change that was refused or is in doubt."""
    for change in product.changes if product else ():
        if change.state == "refused":
            return (refusal_text(change),)
        if change.state == "in_doubt":
            return (msg("store_product.in_doubt", what=change_text(change)),)
    return ()


def _blocks(product: StoreProduct, deliveries: Iterable[ExpectedDelivery]) -> tuple[Block, ...]:
    fields = product.editable_fields
    return (
        Block(
            _block_title(product),
            tuple(_field_row(product, field) for field in fields),
            numbered_rows=len(fields),
            is_compact=True,
        ),
        *_read_only_blocks(product),
        Block(
            msg("store_product.ordering_and_delivery"),
            (*delivery_rows(deliveries), *_time_rows(product)),
            is_compact=True,
        ),
        Block(msg("store_product.stock"), _pool_rows(product)),
        Block(msg("store_product.changes"), tuple(_change_row(change) for change in product.changes[:MAX_SHOWN])),
        Block(msg("look_up.facts"), _read_only_rows(product)),
    )


def _pool_rows(product: StoreProduct) -> tuple[Cells, ...]:
    return () if product.has_no_stock else tuple((raw(name), estimate(quantity)) for name, quantity in product.pools)


def _field_row(product: StoreProduct, field: Field) -> Cells:
    """Return a field with its value, and the state of a pending change or the range of a level."""
    cells = [field_label(field.name), format_value(field.name, product.value(field.name))]
    under_way = [
        change.state
        for change in product.changes
        if change.state in ("queued", "sending") and field.name in {name for name, _, _ in change.fields}
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
            cells = (field_label(field.name), format_value(field.name, product.value(field.name)))
            rows.setdefault(why, []).append(cells)
    if not product.may_edit:
        return tuple(Block(_block_title(product), tuple(cells), is_compact=True) for cells in rows.values())
    return tuple(Block(why, tuple(cells), is_compact=True, is_title_needed=True) for why, cells in rows.items())


def _block_title(product: StoreProduct) -> Msg:
    return with_age(msg("store_product.store_values"), product.age_s)


def _time_rows(product: StoreProduct) -> tuple[Cells, ...]:
    """Return the next ordering and delivery times, then the later ones."""
    rows: list[Cells] = []
    for first, more, moments in (
        ("look_up.ordering", "store_product.later_ordering", product.ordering_times),
        ("look_up.delivery", "store_product.later_delivery", product.delivery_times),
    ):
        for index, at in enumerate(moments[:MAX_SHOWN]):
            rows.append((msg(more if index else first), at))
    return tuple(rows)


def _change_row(change: PendingChange) -> Cells:
    return (change_text(change), msg(STATE_WORDS[change.state]), raw(change.user), msg("moment", at=change.at))


def _read_only_rows(product: StoreProduct) -> tuple[Cells, ...]:
    rows: list[Cells] = [(msg(_READ_ONLY_LABELS[name]), raw(text)) for name, text in product.read_only_fields]
    if product.attention:
        rows.append((msg("store_product.attention_everywhere"), raw(product.attention)))
    if product.max_change_percentage > 0 and product.may_edit_levels:
        rows.append(
            (msg("store_product.percentage"), msg("store_product.percent", percentage=product.max_change_percentage))
        )
    return tuple(rows)


# Change


def _value_step(state: StoreProductState, product: StoreProduct) -> Step:
    allowed = product.level_range(state.field)
    now = msg(
        "store_product.current_value",
        what=field_label(state.field),
        value=format_value(state.field, product.value(state.field)),
    )
    lines = [Line("product", raw(product.name)), Line("quantity", now)]
    if allowed:
        lines.append(Line("note", _range_message(product, state.field)))
    if is_write_only(product, state.field):
        lines.append(Line("note", msg("store_product.write_only")))
    return Step(
        name="store_product.value",
        title=field_label(state.field),
        prompt=input_prompt(state.field),
        lines=tuple(lines),
        choices=value_choices(state),
        key_hints=(BACK,),
    )


def _range_message(product: StoreProduct, name: str) -> Msg:
    allowed = product.level_range(name)
    if allowed is None:
        return msg("store_product.unknown")
    return msg(
        "store_product.range_reason",
        low=allowed.low,
        high=allowed.high,
        start=allowed.original,
        percentage=allowed.percentage,
    )


def _confirm_step(state: StoreProductState, product: StoreProduct) -> Step:
    values = parse_update_values(dict(state.changes))
    first, *more = [_change_message(name, product.value(name), text) for name, text in values.items()]
    bound = [name for name in values if product.level_range(name)]
    return Step(
        name="store_product.confirm",
        title=msg("store_product.title_confirm"),
        prompt=msg("store_product.prompt_confirm"),
        lines=(
            Line("product", raw(product.name)),
            Line("note" if state.field == "attention_codes" else "quantity", first),
            *(Line("note", each) for each in more),
            *(Line("note", each) for each in price_warnings(product, dict(state.changes))),
            *(Line("note", _range_message(product, name)) for name in bound[:1]),
        ),
        choices=(msg("store_product.send"),),
        choice_letters=choice_letters.YES,
        key_hints=(BACK,),
    )


# Figures


def _chart(state: StoreProductState, product: StoreProduct) -> Chart:
    series = []
    for name, found in product.series:
        values = tuple(figure.value for figure in found)
        keys = tuple(raw(figure.key or str(at)) for at, figure in enumerate(found, 1))
        total = None if name == "average" else sum(values, Decimal(0))
        series.append(Series(msg(_SERIES_LABELS[name]), values, total, keys))
    return Chart(
        name="store_product.chart",
        title=msg("store_product.title", number=state.number),
        prompt=msg("store_product.prompt_chart"),
        lines=(Line("product", raw(product.name)),),
        series=tuple(series),
        axis=(),
        page=state.page,
        empty=msg("store_product.no_figures"),
        key_hints=(*PAGE_HINTS, BACK),
    )
