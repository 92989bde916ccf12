"""Page of a product's settings in the store, and the state that it shares with the pages that change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aisle.jobs.job import Context, Event, Json, Query, Start, Turn
from aisle.jobs.look_up_product import delivery_rows, estimate, order_block, with_age
from aisle.jobs.pages_and_page_job import Action, DetailPage, refuse
from aisle.jobs.product_rows_and_weekly_sales import ExpectedDelivery, sales_chart
from aisle.jobs.row_types.log import LogRow
from aisle.jobs.row_types.orders import OrdersWithProductRow
from aisle.jobs.row_types.products import PendingChangeRow
from aisle.jobs.supervisor.log_list import change_message, why_message
from aisle.jobs.supervisor.service_fields_and_values import format_value, update_value
from aisle.jobs.supervisor.store_product_limits_and_objections import (
    READ_ONLY_FIELDS,
    StoreProduct,
    change_text,
    is_write_only,
    refusal_text,
    why_not,
)
from aisle.jobs.view import STATE_WORDS, Block, DetailView, Line, Msg, SidePane, msg, raw
from aisle.scan.grammar_and_meaning_types import Choice
from aisle.store_product_settings import FIELD_BY_NAME, FIELDS, Field, parse_update_values

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
        return msg("look_up.title_product", number=state.number)

    def prompt(self, state: StoreProductState) -> Msg:
        return msg("store_product.prompt" if self.numbered_rows(state) else "note.prompt")

    def numbered_rows(self, state: StoreProductState) -> int:
        return len(state.product.editable_fields) if state.product else 0

    def lines(self, state: StoreProductState) -> tuple[Line, ...]:
        product = state.product
        name = Line("product", raw(product.name if product else state.label or state.number))
        if product is None:
            return (name, Line("note", msg("look_up.unknown" if state.is_loaded else "stores.loading")))
        notes = [Line("note", note) for note in _change_notes(product)]
        if not product.is_ranged:
            return (name, Line("note", msg("store_product.not_ranged")), *notes)
        stock = msg("look_up.no_stock") if product.has_no_stock else msg("look_up.stock", stock=product.stock)
        denied = () if product.may_edit else (Line("note", msg("clearance.role_denied")),)
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
            Action(msg("hint.undo"), _undo_change, "u", is_hinted=bool(undone_change(state.product))),
        )

    def handle_other_input(self, state: StoreProductState, event: Event, context: Context) -> Result:
        match event:
            case Choice(number) if number <= self.numbered_rows(state) and state.product:
                field = state.product.editable_fields[number - 1]
                return Turn(state, (query_product(state, f"field/{field.name}", context),))
        return super().handle_other_input(state, event, context)


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
        Block(msg("home.locations"), () if product.has_no_stock else state.locations),
        Block(msg("store_product.stock"), _pool_rows(product)),
        Block(msg("store_product.changes"), tuple(_change_row(change) for change in product.changes[:MAX_SHOWN])),
        Block(msg("deliveries.about"), _read_only_rows(product)),
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
    """Return the values that undo the last change made here that stands; empty if there is none, or others have
    changed them."""
    if product is None or not product.changes or product.changes[0]["outcome"] not in _MADE:
        return {}
    standing = _standing_changes(product.changes)
    if not standing:
        return {}
    fields = standing[-1]
    is_as_left = all(before and product.value(name) == after for name, before, after in fields)
    may_edit = {field.name for field in product.editable_fields}.issuperset(name for name, _, _ in fields)
    return {name: update_value(name, before) for name, before, _ in fields} if is_as_left and may_edit else {}


_MADE = ("queued", "sending", "confirmed")
"""Outcomes of changes that were made, or will be."""


def _standing_changes(changes: Sequence[PendingChangeRow]) -> list[list[tuple[str, str, str]]]:
    """Return name, value before and value after of each change, oldest first, without those that were taken back."""
    standing: list[list[tuple[str, str, str]]] = []
    for change in reversed(changes):
        fields = sorted(change["fields"])
        if change["outcome"] not in _MADE:
            continue
        if standing and fields == sorted((name, after, before) for name, before, after in standing[-1]):
            standing.pop()
        else:
            standing.append(fields)
    return standing


def _undo_change(state: StoreProductState, context: Context) -> Result:
    """Propose the values from before the last change; they are confirmed like any others."""
    changes = undone_change(state.product)
    if not changes:
        return refuse(state, _why_not_undone(state.product))
    return propose_changes(state._replace(phase=VALUE, field=next(iter(changes))), changes, context)


def _why_not_undone(product: StoreProduct | None) -> Msg:
    """Return the reason why the last change cannot be undone."""
    standing = _standing_changes(product.changes) if product and product.changes else []
    if product is None or not standing or product.changes[0]["outcome"] not in _MADE:
        return msg("pick.nothing_to_undo")
    if fixed := next((why for name, _, _ in standing[-1] if (why := why_not(product, FIELD_BY_NAME[name]))), None):
        return fixed
    is_known = all(before for _, before, _ in standing[-1])
    return msg("expiry.changed_since" if is_known else "expiry.none_before", label=product.name)


def product_of(state: StoreProductState) -> StoreProduct:
    """Return the product, which every page over the first one has."""
    assert state.product is not None, "the pages over the first one open with a product"
    return state.product


def propose_changes(state: StoreProductState, changes: Mapping[str, Json], context: Context) -> Result:
    """Query the product again. Its current values decide whether the changes are possible."""
    return Turn(state._replace(changes=tuple(changes.items())), (query_product(state, "meant", context),))


FIRST_PAGE = ProductPage()


def side_pane(product: StoreProduct, orders: Sequence[OrdersWithProductRow], log: Sequence[LogRow]) -> SidePane:
    """Return the pane of a product."""
    return SidePane(sales_chart(product.series), (order_block(orders), _log_block(log)))


def _log_block(log: Sequence[LogRow]) -> Block:
    return Block(msg("store_product.log"), tuple(map(_log_cells, log)))


def _log_cells(entry: LogRow) -> tuple[Msg, ...]:
    who = raw(entry["user_name"] or entry["app_user_name"])
    return msg("moment", at=entry["at"]), change_message(entry), why_message(entry, ()), who
