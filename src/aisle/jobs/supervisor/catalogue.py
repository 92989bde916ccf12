"""Job that shows the chain's catalogue: list, facets and the page of one product. Interface: Product."""

from __future__ import annotations

from decimal import Decimal
from operator import itemgetter
from typing import Any, NamedTuple

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs.job import Args, Close, Context, Effect, Json, Query, Refresh, Rows, Start, Turn, money_message
from aisle.jobs.list_cursor_and_search import ListOptions, product_prompt
from aisle.jobs.list_page_base_class import Column, ListFilter, SearchPage, next_of
from aisle.jobs.look_up_product import code_rows
from aisle.jobs.pages_and_page_job import Action, DetailPage, Page, PageJob, refuse
from aisle.jobs.product_rows_and_weekly_sales import Product, parse_product
from aisle.jobs.row_types.products import CataloguePageRow, CatalogueRow, FacetsRow, SetPartRow, VariantRow
from aisle.jobs.supervisor.service_fields_and_values import (
    YES_NO,
    Cells,
    field_name,
    field_rows,
    format_field,
    free_field_rows,
)
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import INFO, Block, Line, Msg, Verdict, msg, raw
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match


class CatalogueProduct(NamedTuple):
    """Product with all its data."""

    product: Product
    values: dict[str, Json]
    """Fields of the catalogue. The store's own prices override them."""
    is_in_catalogue: bool
    """True if the catalogue has it; otherwise only the store's stock list does."""
    parts: tuple[SetPartRow, ...] = ()
    variants: tuple[VariantRow, ...] = ()


class ProductsState(NamedTuple):
    """State of the list and its filter, of the choice of a facet, and of the page of one product."""

    subset: str = "all"
    category: str = ""
    category_name: str = ""
    supplier: str = ""
    supplier_name: str = ""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[Any, ...] = ()
    """Products; facets while one is chosen."""
    total: int = 0
    facet_kind: str = ""
    """`category` or `supplier` while one of them is chosen."""
    product_number: str = ""
    """Product whose page is open."""
    pages_below: tuple[str, ...] = ()
    """Products whose pages are below it."""
    only_products: tuple[str, ...] = ()
    """Products to which the list is limited: parts and variants of the last of `pages_below`. The filter is kept for
    the list below."""
    product: CatalogueProduct | None = None
    page: int = 0
    open_single_hit: bool = False
    """True after a search that was ended with Enter. A single hit then opens at once."""
    may_have_more: bool = False
    """True if more than `total` products may match."""

    def reset_list(self, **fields: Any) -> ProductsState:
        """Return the list with these changes, at its beginning and without an open page."""
        kept = (self.subset, self.category, self.category_name, self.supplier, self.supplier_name, self.search)
        return ProductsState(*kept)._replace(options=self.options, **fields)


Result = Turn[ProductsState]

# List

SUBSETS = {
    "all": msg("products.title_all"),
    "promotion": msg("products.title_promotion"),
    "set": msg("products.title_set"),
    "by_hand": msg("products.title_by_hand"),
    "ended": msg("products.title_ended"),
}
"""Subsets of the list with their titles, in the order in which `v` shows them."""


def list_title(state: ProductsState) -> Msg:
    """Return the title of the list."""
    if state.only_products:
        return msg("products.title_related", product=state.pages_below[-1])
    title = SUBSETS[state.subset]
    for code, name in ((state.category, state.category_name), (state.supplier, state.supplier_name)):
        if code:
            title = msg("shortage.join", one=title, other=name or code)
    return title


def _product_kind(row: CatalogueRow) -> Msg:
    if row["ended"]:
        return msg("products.is_ended")
    if row["promotion"]:
        return msg("products.is_promoted")
    if row["set"]:
        return msg("products.is_set")
    return raw("") if row["in_store"] else msg("products.not_here")


class ProductList(SearchPage[ProductsState, CatalogueRow]):
    """List of products, or of those related to one product."""

    name = "products"
    query_name = "catalogue"
    indexed_sorts = ("product_number", "product_name")
    columns = (
        Column(msg("head.product"), lambda row: raw(row["product_name"] or row["product_number"]), sort="product_name"),
        Column(msg("head.number"), lambda row: raw(row["product_number"]), sort="product_number"),
        Column(msg("head.brand"), lambda row: raw(row["brand_description"]), sort="brand_description"),
        Column(msg("stores.head_what"), _product_kind),
    )
    key = itemgetter("product_number")

    def title(self, state: ProductsState) -> Msg:
        return list_title(state)

    def prompt(self, state: ProductsState) -> Msg:
        return product_prompt(state)

    def empty_text(self, state: ProductsState) -> Msg:
        if state.typed or state.search:
            return super().empty_text(state)
        is_filtered = state.category or state.supplier or state.subset != "all"
        return msg("products.none_such" if is_filtered else "stores.loading")

    def arguments(self, state: ProductsState, context: Context) -> Args:
        if state.only_products:
            return {"among": list(state.only_products)}
        return {"show": state.subset, "category": state.category, "supplier": state.supplier}

    def window_arguments(self, state: ProductsState, context: Context) -> Args:
        return super().window_arguments(state._replace(search="") if state.only_products else state, context)

    def filters(self, state: ProductsState) -> tuple[ListFilter, ...]:
        named = SUBSETS.items() if not state.only_products else ()
        return tuple(ListFilter(title, {"subset": subset}) for subset, title in named)

    def actions(self, state: ProductsState) -> tuple[Action[ProductsState], ...]:
        if state.only_products:
            return ()
        category = msg("products.all_categories" if state.category else "clearance.head_category")
        supplier = msg("products.all_suppliers" if state.supplier else "head.supplier")
        return (
            Action(msg("deliveries.next_subset"), self._show_next_subset, "v"),
            Action(category, self._choose_category, "c"),
            Action(supplier, self._choose_supplier, "s"),
        )

    def _show_next_subset(self, state: ProductsState, context: Context) -> Result:
        state = state.reset_list(subset=next_of(list(SUBSETS), state.subset))
        return self.restart(state, context, list_title(state))

    def _choose_category(self, state: ProductsState, context: Context) -> Result:
        if not state.category:
            return FACETS.restart(state.reset_list(facet_kind="category", search=""), context)
        state = state.reset_list(category="", category_name="")
        return self.restart(state, context, list_title(state))

    def _choose_supplier(self, state: ProductsState, context: Context) -> Result:
        if not state.supplier:
            return FACETS.restart(state.reset_list(facet_kind="supplier", search=""), context)
        state = state.reset_list(supplier="", supplier_name="")
        return self.restart(state, context, list_title(state))

    def handle_text(self, state: ProductsState, text: str, context: Context) -> Result:
        return super().handle_text(state.reset_list(), text, context)

    def open_row(self, state: ProductsState, row: CatalogueRow, context: Context) -> Result:
        return _open_product(state, row["product_number"])

    def go_back(self, state: ProductsState, context: Context) -> Result:
        if state.pages_below:
            return _open_page_below(state)
        if state.typed or state.search:
            return self.restart(state.reset_list(search=""), context)
        if list_title(state) != list_title(ProductsState()):
            return self.restart(ProductsState(), context)
        return Turn(state, (Close(),))


class FacetList(SearchPage[ProductsState, FacetsRow]):
    """List of categories or suppliers, those with the most products first."""

    name = "products.filter"
    prompt_text = msg("stores.prompt")
    query_name = "facets"
    columns = (
        Column(msg("products.head_name"), lambda row: raw(row["name"] or row["code"])),
        Column(msg("products.title_all"), lambda row: msg("number", value=row["count"])),
        Column(msg("products.head_code"), lambda row: raw(row["code"])),
    )
    no_rows_text = msg("list.empty")
    key = itemgetter("code")

    def title(self, state: ProductsState) -> Msg:
        return msg("products.title_categories" if state.facet_kind == "category" else "products.title_suppliers")

    def arguments(self, state: ProductsState, context: Context) -> Args:
        return {"kind": state.facet_kind}

    def open_row(self, state: ProductsState, row: FacetsRow, context: Context) -> Result:
        if state.facet_kind == "category":
            state = state.reset_list(search="", category=row["code"], category_name=row["name"])
        else:
            state = state.reset_list(search="", supplier=row["code"], supplier_name=row["name"])
        return LIST.restart(state, context, list_title(state))

    def go_back(self, state: ProductsState, context: Context) -> Result:
        return LIST.restart(state.reset_list(search=""), context)


# Page of one product

PRICES = (
    "product.price", "product.old_price", "product.special_price", "product.promotion_price",
    "product.discount_price", "product.purchase_price", "product.price_compare_unit",
    "product.price_compare_multiplier", "product.price_lines", "product.promotion", "product.promotion_week",
)  # fmt: skip
CLASSIFICATION = (
    "product.category_name", "product.category_code", "product.group_code", "product.brand_description",
    "product.brand_code", "product.product_type", "product.color", "product.color_code", "product.size",
    "product.size_code", "product.variant_family", "product.variant_code", "product.variant_factor",
    "product.volume", "product.average_weight", "product.base_unit_name", "product.carrier_item_quantity",
    "product.smallest_quantity", "product.smallest_product_number", "product.country_code",
)  # fmt: skip
SUPPLY = (
    "product.supplier_name", "product.supplier_id", "product.supplier_product_number",
    "product.purchase_unit_product_number", "product.moq", "product.edit_min_max_percentage",
    "product.expiration_min_range", "product.deprecation_date", "product.referral_product_id",
    "product.margin_category", "product.general_ledger", "product.shelf_label_quantity",
    "product.shelf_label_layout",
)  # fmt: skip
FLAGS = (
    "product.is_active", "product.is_store_product", "product.is_stock", "product.is_counted",
    "product.is_expiration", "product.is_promotion", "product.is_set", "product.is_order_manually",
    "product.is_edit_min_max", "product.is_edit_replenishment", "product.allow_decimal", "product.is_template",
    "product.reset_store_stock", "product.shelf_label", "product.shelf_label_barcode", "product.shelf_label_price",
)  # fmt: skip
TEXTS = (
    "product.stores_allowed", "product.stores_not_allowed", "product.promo_stores_allowed",
    "product.promo_stores_not_allowed", "product.countries_allowed", "product.countries_not_allowed",
    "product.product_details", "product.product_url", "product.image_url",
)  # fmt: skip
"""Labels of the fields that are one value or a plain list. Each text has its own block, so that it is wrapped and not
cut."""

KNOWN_FIELDS = frozenset(
    {
        *map(field_name, (*PRICES, *CLASSIFICATION, *SUPPLY, *FLAGS, *TEXTS)),
        *("product_number", "product_name", "barcode", "barcodes_array", "units", "free_fields", "set_product"),
        *("purchase_unit_name", "purchase_unit_quantity", "purchase_unit_barcode", "attention_code"),
    }
)
"""Fields that the interface defines. Each other one is shown under its own name."""


_DISCOUNTS = ("promotion_price", "discount_price")


def parse_catalogue_product(row: CataloguePageRow, now: str) -> CatalogueProduct:
    """Parse the row of the query `catalogue_page`. A store's own prices override those of the catalogue."""
    values: dict[str, Json] = dict(row["catalogue"])
    for name in ("category_name", "group_code", *map(field_name, PRICES)):
        if (value := row.get(name)) not in (None, ""):
            values[name] = value
    product = parse_product(row, now)
    hidden = [name for name in ("old_price", "special_price") if not getattr(product, name)]
    hidden += () if product.discount_price else _DISCOUNTS
    values = {name: value for name, value in values.items() if name not in hidden}
    return CatalogueProduct(product, values, row["in_catalogue"], tuple(row["parts"]), tuple(row["variants"]))


class ProductPage(DetailPage[ProductsState]):
    """Page of one product with all its catalogue data."""

    name = "products.page"

    def title(self, state: ProductsState) -> Msg:
        return msg("look_up.title_product", number=state.product_number)

    def prompt(self, state: ProductsState) -> Msg:
        return msg("look_up.prompt_choices" if state.product else "look_up.prompt")

    def lines(self, state: ProductsState) -> tuple[Line, ...]:
        return _lines(state.product) if state.product else (Line("note", msg("look_up.unknown")),)

    def blocks(self, state: ProductsState) -> tuple[Block, ...]:
        return product_blocks(state.product) if state.product else ()

    def actions(self, state: ProductsState) -> tuple[Action[ProductsState], ...]:
        if not state.product:
            return ()
        others = related_numbers(state)
        related = (Action(msg("products.choice_related", count=len(others)), _list_related),) if others else ()
        return (
            Action(msg("products.choice_look_up"), lambda state, _: _start_job(state, "look_up")),
            Action(msg("products.choice_store"), lambda state, _: _start_job(state, "store_product")),
            *related,
        )

    def handle_text(self, state: ProductsState, text: str, context: Context) -> Result:
        return LIST.handle_text(state, text, context)

    def go_back(self, state: ProductsState, context: Context) -> Result:
        if state.pages_below:
            return _open_page_below(state)
        closed = state._replace(product_number="", product=None)
        return Turn(closed, (LIST.query(closed, context),))


def _query_page(number: str) -> Query:
    return Query("catalogue_page", "catalogue_page", {"product_number": number}, is_live=True)


def _open_product(state: ProductsState, number: str) -> Result:
    """Open the page of a product. Cached data is shown at once; a refresh follows."""
    trail = (
        (*state.pages_below, state.product_number)
        if state.product_number and state.product_number != number
        else state.pages_below
    )
    state = state._replace(product_number=number, pages_below=trail, product=None, page=0, typed="")
    return Turn(state, (_query_page(number), Refresh("product", number)))


def _open_page_below(state: ProductsState) -> Result:
    below = state.reset_list(product_number=state.pages_below[-1], pages_below=state.pages_below[:-1])
    return Turn(below, (_query_page(below.product_number),))


def _start_job(state: ProductsState, job: str) -> Result:
    name = state.product.product.name if state.product else ""
    return Turn(state, (Start(job, {"product_number": state.product_number, "label": name}),))


def related_numbers(state: ProductsState) -> tuple[str, ...]:
    """Return the numbers of the parts and variants that are in the catalogue."""
    related = (*state.product.parts, *state.product.variants) if state.product else ()
    numbers = (row["product_number"] for row in related if row["product_name"])
    return tuple(dict.fromkeys(number for number in numbers if number != state.product_number))


def _list_related(state: ProductsState, context: Context) -> Result:
    trail = (*state.pages_below, state.product_number)
    return LIST.restart(state.reset_list(only_products=related_numbers(state), pages_below=trail), context)


def _lines(shown: CatalogueProduct) -> tuple[Line, ...]:
    product = shown.product
    lines = [Line("product", raw(product.name))]
    if product.price:
        lines.append(Line("quantity", money_message(product.price)))
    if not shown.is_in_catalogue:
        lines.append(Line("note", msg("products.stock_only")))
    elif product.is_discontinued:
        gone = msg("look_up.replaced", referral=product.referral) if product.referral else msg("products.title_ended")
        lines.append(Line("note", gone))
    if product.attention:
        lines.append(Line("note", msg("look_up.attention", codes=product.attention)))
    return tuple(lines)


def product_blocks(shown: CatalogueProduct) -> tuple[Block, ...]:
    """Return the blocks of the page."""
    values, product = shown.values, shown.product
    unknown = sorted(name for name in values.keys() - KNOWN_FIELDS if format_field(values[name]))
    return (
        Block(msg("products.prices"), field_rows(values, PRICES, _price_message)),
        Block(msg("products.set_parts"), tuple(_related_cells(row, str(row["quantity"])) for row in shown.parts)),
        Block(msg("products.variants"), tuple(_related_cells(row, _variant_text(row)) for row in shown.variants)),
        Block(msg("look_up.codes"), code_rows(product.codes, product.units)),
        Block(msg("products.classification"), field_rows(values, CLASSIFICATION)),
        Block(msg("products.supply"), field_rows(values, SUPPLY)),
        Block(msg("stores.free_fields"), free_field_rows(values.get("free_fields"))),
        Block(msg("products.flags"), field_rows(values, FLAGS, lambda _, text: YES_NO.get(text, raw(text)))),
        *(Block(label, ((text,),)) for label, text in field_rows(values, TEXTS)),
        Block(msg("home.more"), tuple((raw(name), raw(format_field(values[name]))) for name in unknown)),
    )


def _price_message(name: str, text: str) -> Msg:
    is_money = name.endswith("price") and text.replace(".", "", 1).isdecimal()
    return money_message(Decimal(text)) if is_money else raw(text)


def _related_cells(row: SetPartRow | VariantRow, about: str) -> Cells:
    return (
        raw(row["product_name"] or row["product_number"]),
        *((raw(about),) if about else ()),
        raw(row["product_number"]),
    )


def _variant_text(row: VariantRow) -> str:
    factor = to_decimal(row["factor"])
    texts = (format_field(row["color"]), format_field(row["size"]), f"x {format_field(factor)}" if factor > 0 else "")
    return ", ".join(filter(None, texts))


LIST, FACETS, PAGE = ProductList(), FacetList(), ProductPage()


class ProductsJob(PageJob[ProductsState]):
    """Job that shows the products of the chain."""

    name = "products"
    lists = ("products",)
    state_type = ProductsState
    steps: tuple[str, ...] = ("products", "products.filter", "products.page")
    journalled = False
    topics = ("product", "outbox")
    preferred_kinds = (PRODUCT,)

    def page(self, state: ProductsState) -> Page[ProductsState]:
        return PAGE if state.product_number else FACETS if state.facet_kind else LIST

    def address(self, state: ProductsState) -> PageAddress:
        return PageAddress("products", state.product_number)

    def handle_opened(self, state: ProductsState, args: Args, context: Context) -> Result:
        number = str(args.get("product_number") or "")
        return _open_product(state, number) if number else self.query_again(state, context)

    def queries(self, state: ProductsState, context: Context) -> tuple[Effect, ...]:
        if state.product_number:
            return (_query_page(state.product_number),)
        return (FACETS.query(state, context) if state.facet_kind else LIST.query(state, context),)

    def handle_rows(self, state: ProductsState, answer: Rows, context: Context) -> Result:
        if answer.id == FACETS.query_name and state.facet_kind:
            return FACETS.handle_rows(state, answer, context)
        if answer.id == LIST.query_name and not state.facet_kind:
            return LIST.handle_rows(state, answer, context)
        if answer.id == "catalogue_page":
            found = parse_catalogue_product(answer.rows[0], context.now) if answer.rows else None
            return Turn(state._replace(product=found))
        return Turn(state)

    def handle_scan(self, state: ProductsState, matches: tuple[Match, ...], context: Context) -> Result:
        match = matches[0]
        if match.kind != PRODUCT:
            return refuse(state, msg("page.not_this", what=name_of(match)))
        shown = Verdict(INFO, msg("raw.cut", text=match.label or match.key))
        return _open_product(state, match.key)._replace(verdict=shown)
