"""Page of a product's settings in this store, and the state that all pages of the job share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from aisle.jobs.job import Context, Event, Json, Query, Start, Turn
from aisle.jobs.look_up import delivery_rows, estimate, with_age
from aisle.jobs.page_job import Action, DetailPage, refuse
from aisle.jobs.product_page import ExpectedDelivery
from aisle.jobs.row_types.products import PendingChangeRow
from aisle.jobs.supervisor.store_product_fields import (
    FIELDS,
    READ_ONLY_FIELDS,
    Field,
    StoreProduct,
    change_text,
    format_value,
    refusal_text,
    why_not,
)
from aisle.jobs.view import STATE_WORDS, Block, Line, Msg, msg, raw
from aisle.scan.meaning import Choice

PAGE, VALUE, CONFIRM, CHART = "page", "value", "confirm", "chart"
"""Pages of the job."""

MAX_SHOWN = 5
"""Most changes and times on the page."""


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
            change["outcome"] in ("refused", "in_doubt") for change in self.product.changes
        )


Result = Turn[StoreProductState]
Cells = tuple[Msg, ...]


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
        return _blocks(product, state.deliveries) if product and product.is_ranged else ()

    def actions(self, state: StoreProductState) -> tuple[Action[StoreProductState], ...]:
        has_figures = bool(state.product and state.product.series)
        figures = Action(msg("hint.figures"), lambda state, _: Turn(state._replace(phase=CHART, page=0)), "g")
        resolve = Action[StoreProductState](
            msg("hint.resolve"), lambda state, _: Turn(state, (Start("unconfirmed", {}),)), "d"
        )
        return (
            *((figures._replace(is_hinted=has_figures),) if has_figures or not state.is_loaded else ()),
            *((resolve,) if state.has_refused_change else ()),
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
    """Return a note on the latest change that was refused or is in doubt."""
    for change in product.changes:
        if change["outcome"] == "refused":
            return (refusal_text(change),)
        if change["outcome"] == "in_doubt":
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
    """Return the next ordering and delivery times, then the later ones."""
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
