"""The pages of a product as this store keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from aisle.jobs import choice_keys
from aisle.jobs.amounts import number
from aisle.jobs.base import Json, priced
from aisle.jobs.chain.store_product_fields import BY_NAME, CODES, DAY, FIELDS, FLAG, LEVELS, MONEY, YES, Field, said_of
from aisle.jobs.chain.store_product_sheet import Said, StoreProduct, doubts, is_hidden, why_not
from aisle.jobs.chain.store_product_state import Page
from aisle.jobs.fate import WORDS
from aisle.jobs.look.lookup_view import about, aged, coming_rows
from aisle.jobs.sheet import Coming
from aisle.jobs.told import is_ours, words
from aisle.jobs.view import BACK, PAGES, Block, Chart, Detail, Hint, Line, Msg, Series, Step, View, msg, raw

Cells = tuple[Msg, ...]


_LABELS = {
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
"""What the fields are called."""

_FACTS = {
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
    "last_loss_updatedby": "store_product.by_loss",
    "last_receipt_updatedby": "store_product.by_receipt",
    "default_salesorder_type": "store_product.of_order_type",
    "referral_product": "fact.referral",
}

_SERIES = {
    "history": "store_product.history",
    "average": "store_product.average",
    "forecast": "store_product.forecast",
}

_HOW = {
    "whole": "store_product.how_number",
    "number": "store_product.how_number",
    "money": "store_product.how_number",
    "codes": "store_product.how_codes",
    "day": "store_product.how_day",
    "flag": "count.prompt_number",
}
"""What is asked for a value of each kind."""

SHOWN = 5
"""Changes and moments that are shown."""


def view(state: Page) -> View:
    """The page that is open."""
    if state.product is not None:
        match state.phase:
            case "value":
                return _value_step(state, state.product)
            case "sure":
                return _sure_step(state, state.product)
            case "chart":
                return _chart(state, state.product)
    return _page(state)


def numbered(state: Page) -> tuple[Field, ...]:
    """The fields that have a number."""
    return state.product.open_fields if state.product else ()


def has_figures(state: Page) -> bool:
    """Whether there is something to draw."""
    return bool(state.product and state.product.series)


def choices(state: Page) -> tuple[Msg, ...]:
    """The numbered values of a field."""
    kind = BY_NAME[state.field].kind if state.field else ""
    if kind == FLAG:
        return (msg("doubts.yes"), msg("doubts.no"))
    return (msg("store_product.no_codes"),) if kind == CODES else ()


def label(name: str) -> Msg:
    """What a field is called."""
    return msg(_LABELS[name])


def how(name: str) -> Msg:
    """How a value of the field is typed."""
    return msg("store_product.how_levels" if name in LEVELS else _HOW[BY_NAME[name].kind])


def shown(name: str, text: str) -> Msg:
    """A value of a field, from its plain text."""
    kind = BY_NAME[name].kind
    if kind == FLAG and text:
        return msg("doubts.yes" if text == YES else "doubts.no")
    if not text:
        return msg("store_product.unsaid")
    if kind == DAY:
        return msg("store_product.day", at=text)
    if kind == CODES:
        return raw(text.replace(",", ", "))
    return priced(number(text)) if kind == MONEY else msg("number", value=number(text))


def changed(product: StoreProduct, changes: Mapping[str, Json]) -> Msg:
    """What is changed from what to what, in a line."""
    parts = [_change(name, product.value(name), text) for name, text in said_of(changes).items()]
    return _joined(parts)


def refused(said: Said) -> Msg:
    """Why a change was not made: by the service, or because somebody else was faster."""
    return msg("doubts.note_why" if is_ours(said.why) else "store_product.refused", why=words(said.why))


def change_text(said: Said) -> Msg:
    """The same of a change that was said."""
    return _joined([_change(*each) for each in said.fields])


def _change(name: str, before: str, after: str) -> Msg:
    return msg("store_product.change", what=label(name), before=shown(name, before), after=shown(name, after))


def _joined(parts: list[Msg]) -> Msg:
    return msg("store_product.both", one=parts[0], other=parts[1]) if len(parts) > 1 else parts[0]


# The page


def _page(state: Page) -> Detail:
    product = state.product
    lines = [Line("product", raw(product.name if product else state.label or state.number))]
    blocks: tuple[Block, ...] = ()
    if product is None:
        lines.append(Line("note", msg("lookup.unknown" if state.loaded else "store_product.loading")))
    elif not product.is_ranged:
        lines.append(Line("note", msg("store_product.not_ranged")))
    else:
        stock = msg("lookup.no_stock") if product.keeps_none else msg("lookup.stock", stock=product.stock)
        lines.append(Line("quantity", stock))
        lines += [Line("note", msg("store_product.no_role"))] if not product.may else []
        blocks = _blocks(product, state.coming)
    lines += [Line("note", note) for note in _notes(product)]
    figures = (Hint("g", msg("hint.figures")),) if has_figures(state) else ()
    settle = (Hint("d", msg("hint.settle")),) if state.refused else ()
    return Detail(
        name="store_product",
        title=msg("store_product.title", number=state.number),
        prompt=msg("store_product.prompt" if numbered(state) else "store_product.prompt_read"),
        lines=tuple(lines),
        blocks=tuple(block for block in blocks if block.rows),
        page=state.page,
        hints=(*figures, *settle, *PAGES, BACK),
    )


def _notes(product: StoreProduct | None) -> tuple[Msg, ...]:
    """What was refused, or what nobody knows the fate of; the youngest alone."""
    for said in product.said if product else ():
        if said.word == "refused":
            return (refused(said),)
        if said.word == "unclear":
            return (msg("store_product.unclear", what=change_text(said)),)
    return ()


def _blocks(product: StoreProduct, coming: Iterable[Coming]) -> tuple[Block, ...]:
    fields = product.open_fields
    return (
        Block(
            _here(product),
            tuple(_row(product, field) for field in fields),
            numbered=len(fields),
            tight=True,
        ),
        *_fixed(product),
        Block(msg("store_product.moments"), (*coming_rows(coming), *_moments(product)), tight=True),
        Block(msg("store_product.stock"), _pools(product)),
        Block(msg("store_product.changes"), tuple(_said(said) for said in product.said[:SHOWN])),
        Block(msg("lookup.about_it"), _facts(product)),
    )


def _pools(product: StoreProduct) -> tuple[Cells, ...]:
    return () if product.keeps_none else tuple((raw(name), about(quantity)) for name, quantity in product.pools)


def _row(product: StoreProduct, field: Field) -> Cells:
    """A field, what it stands at, and whether that is on its way only; a level with how far it may go."""
    cells = [label(field.name), shown(field.name, product.value(field.name))]
    under_way = [
        said.word
        for said in product.said
        if said.word in ("noted", "sent") and field.name in {name for name, _, _ in said.fields}
    ]
    room = product.room(field.name)
    if under_way:
        cells.append(msg(WORDS[under_way[0]]))
    elif room:
        cells.append(msg("store_product.room", low=room.low, high=room.high))
    return tuple(cells)


def _fixed(product: StoreProduct) -> tuple[Block, ...]:
    """What is shown and not changed here, under the reasons."""
    rows: dict[Msg, list[Cells]] = {}
    for field in FIELDS:
        why = why_not(product, field)
        if why is not None:
            cells = (label(field.name), shown(field.name, product.value(field.name)))
            rows.setdefault(why, []).append(cells)
    if not product.may:
        return tuple(Block(_here(product), tuple(cells), tight=True) for cells in rows.values())
    return tuple(Block(why, tuple(cells), tight=True, telling=True) for why, cells in rows.items())


def _here(product: StoreProduct) -> Msg:
    return aged(msg("store_product.here"), product.age)


def _moments(product: StoreProduct) -> tuple[Cells, ...]:
    """When it can be ordered next and when it comes, then what follows."""
    rows: list[Cells] = []
    for first, more, moments in (
        ("lookup.ordering", "store_product.then_order", product.ordering),
        ("lookup.delivery", "store_product.then_delivery", product.delivery),
    ):
        for index, at in enumerate(moments[:SHOWN]):
            rows.append((msg(more if index else first), at))
    return tuple(rows)


def _said(said: Said) -> Cells:
    return (change_text(said), msg(WORDS[said.word]), raw(said.who), msg("moment", at=said.at))


def _facts(product: StoreProduct) -> tuple[Cells, ...]:
    rows: list[Cells] = [(msg(_FACTS[name]), raw(text)) for name, text in product.facts]
    if product.attention:
        rows.append((msg("store_product.attention_everywhere"), raw(product.attention)))
    if product.percentage > 0 and product.edit_levels:
        rows.append((msg("store_product.percentage"), msg("store_product.percent", percentage=product.percentage)))
    return tuple(rows)


# A change


def _value_step(state: Page, product: StoreProduct) -> Step:
    room = product.room(state.field)
    now = msg("store_product.now", what=label(state.field), value=shown(state.field, product.value(state.field)))
    lines = [Line("product", raw(product.name)), Line("quantity", now)]
    if room:
        lines.append(Line("note", _room_text(product, state.field)))
    if is_hidden(product, state.field):
        lines.append(Line("note", msg("store_product.hidden")))
    return Step(
        name="store_product.value",
        title=label(state.field),
        prompt=how(state.field),
        lines=tuple(lines),
        choices=choices(state),
        hints=(BACK,),
    )


def _room_text(product: StoreProduct, name: str) -> Msg:
    room = product.room(name)
    if room is None:
        return msg("store_product.unsaid")
    return msg("store_product.room_why", low=room.low, high=room.high, start=room.start, percentage=room.percentage)


def _sure_step(state: Page, product: StoreProduct) -> Step:
    said = said_of(dict(state.changes))
    first, *more = [_change(name, product.value(name), text) for name, text in said.items()]
    bound = [name for name in said if product.room(name)]
    return Step(
        name="store_product.sure",
        title=msg("store_product.title_sure"),
        prompt=msg("store_product.prompt_sure"),
        lines=(
            Line("product", raw(product.name)),
            Line("note" if state.field == "attention_codes" else "quantity", first),
            *(Line("note", each) for each in more),
            *(Line("note", each) for each in doubts(product, dict(state.changes))),
            *(Line("note", _room_text(product, name)) for name in bound[:1]),
        ),
        choices=(msg("store_product.send"),),
        keys=choice_keys.YES,
        hints=(BACK,),
    )


# Figures


def _chart(state: Page, product: StoreProduct) -> Chart:
    series = []
    for name, found in product.series:
        values = tuple(figure.value for figure in found)
        keys = tuple(raw(figure.key or str(at)) for at, figure in enumerate(found, 1))
        total = None if name == "average" else sum(values, Decimal(0))
        series.append(Series(msg(_SERIES[name]), values, total, keys))
    return Chart(
        name="store_product.chart",
        title=msg("store_product.title", number=state.number),
        prompt=msg("store_product.prompt_chart"),
        lines=(Line("product", raw(product.name)),),
        series=tuple(series),
        axis=(),
        page=state.page,
        empty=msg("store_product.no_figures"),
        hints=(*PAGES, BACK),
    )
