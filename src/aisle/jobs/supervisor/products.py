"""Job that shows the chain's catalogue: list, facets and the page of one product."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs import pages
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
    money_message,
)
from aisle.jobs.pages import page_size, turn_page
from aisle.jobs.product_page import code_rows
from aisle.jobs.quantities import name_of
from aisle.jobs.supervisor.product_data import (
    AVAILABILITY,
    CLASSIFICATION,
    FLAGS,
    MONEY_FIELDS,
    PRICES,
    SUPPLY,
    TEXTS,
    CatalogueItem,
    CatalogueProduct,
    Facet,
    ProductsState,
    RelatedProduct,
    parse_catalogue_product,
    parse_catalogue_row,
    parse_facet,
)
from aisle.jobs.supervisor.stores import YES_NO
from aisle.jobs.view import (
    BACK,
    INFO,
    PAGE_HINTS,
    WRONG,
    Block,
    DetailView,
    KeyHint,
    Line,
    ListView,
    Msg,
    Row,
    Verdict,
    View,
    msg,
    raw,
)
from aisle.scan.meaning import PRODUCT, Accepts, Back, Choice, Command, CursorKey, Match, Scan, Text, UnknownCode

SUBSET_TITLES = {
    "all": "products.title_all",
    "promotion": "products.title_promotion",
    "set": "products.title_set",
    "by_hand": "products.title_by_hand",
    "ended": "products.title_ended",
}

FACET_TITLES = {"category": "products.title_categories", "supplier": "products.title_suppliers"}


class ProductChoice(NamedTuple):
    """Numbered choice on a product's page: another job, or its related products."""

    text: Msg
    job: str = ""


def list_title(state: ProductsState) -> Msg:
    """Return the title of the list."""
    if state.only_products:
        return msg("products.title_related", product=state.pages_below[-1])
    title = msg(SUBSET_TITLES[state.subset])
    for code, name in ((state.category, state.category_name), (state.supplier, state.supplier_name)):
        if code:
            title = msg("products.filtered_by", title=title, what=name or code)
    return title


def list_view(state: ProductsState) -> ListView:
    """Return the numbered list of products."""
    text = state.typed or state.search
    filtered = bool(state.category or state.supplier or state.subset != "all")
    none = msg("products.none_such") if filtered else msg("products.empty")
    return pages.list_view(
        state,
        "products",
        list_title(state),
        pages.product_prompt(state),
        (msg("head.product"), msg("head.number"), msg("head.brand"), msg("stores.head_what")),
        tuple(_catalogue_row(hit) for hit in state.rows),
        *(() if state.only_products else _filter_hints(state)),
        empty=pages.not_found_message("look_up.no_match", text, state.partly) if text else none,
        may_have_more=state.partly,
    )


def _filter_hints(state: ProductsState) -> tuple[KeyHint, ...]:
    return (
        KeyHint("v", msg("products.next_subset")),
        KeyHint("c", msg("products.all_categories" if state.category else "products.category")),
        KeyHint("s", msg("products.all_suppliers" if state.supplier else "products.supplier")),
    )


def _catalogue_row(hit: CatalogueItem) -> Row:
    if hit.is_discontinued:
        what = msg("products.is_ended")
    elif hit.is_promoted:
        what = msg("products.is_promoted")
    elif hit.is_set:
        what = msg("products.is_set")
    else:
        what = raw("") if hit.is_in_store else msg("products.not_here")
    return Row(hit.number, (raw(hit.name or hit.number), raw(hit.number), raw(hit.brand), what))


def facet_view(state: ProductsState) -> ListView:
    """Return the list of categories or suppliers, those with the most products first."""
    text = state.typed or state.search
    return pages.list_view(
        state,
        "products.filter",
        msg(FACET_TITLES[state.facet_kind]),
        msg("products.prompt_filter"),
        (msg("products.head_name"), msg("products.head_count"), msg("products.head_code")),
        tuple(_facet_row(facet) for facet in state.rows),
        empty=msg("products.no_match", text=text) if text else msg("products.none_known"),
    )


def _facet_row(facet: Facet) -> Row:
    return Row(facet.code, (raw(facet.name or facet.code), msg("number", value=facet.product_count), raw(facet.code)))


def product_choices(state: ProductsState) -> tuple[ProductChoice, ...]:
    """Return the choices of the product page."""
    if not state.product:
        return ()
    others = related_numbers(state)
    related = (ProductChoice(msg("products.choice_related", count=len(others))),) if others else ()
    return (
        ProductChoice(msg("products.choice_look_up"), "look_up"),
        ProductChoice(msg("products.choice_store"), "store_product"),
        *related,
    )


def related_numbers(state: ProductsState) -> tuple[str, ...]:
    """Return the numbers of the parts and variants that are in the catalogue."""
    related = [*state.product.parts, *state.product.variants] if state.product else []
    return tuple(dict.fromkeys(each.number for each in related if each.name and each.number != state.product_number))


def page_view(state: ProductsState) -> DetailView:
    """Return the page of one product with all its catalogue data."""
    product = state.product
    return DetailView(
        name="products.page",
        title=msg("look_up.title_product", number=state.product_number),
        prompt=msg("look_up.prompt_choices" if product else "look_up.prompt"),
        lines=_lines(product) if product else (Line("note", msg("look_up.unknown")),),
        blocks=_blocks(product) if product else (),
        page=state.page,
        choices=tuple(choice.text for choice in product_choices(state)),
        key_hints=(*PAGE_HINTS, BACK),
    )


def _lines(product: CatalogueProduct) -> tuple[Line, ...]:
    lines = [Line("product", raw(product.name))]
    if product.price:
        lines.append(Line("quantity", money_message(product.price)))
    if not product.is_in_catalogue:
        lines.append(Line("note", msg("products.stock_only")))
    elif product.is_discontinued:
        gone = msg("look_up.replaced", referral=product.referral) if product.referral else msg("look_up.ended")
        lines.append(Line("note", gone))
    if product.attention:
        lines.append(Line("note", msg("look_up.attention", codes=product.attention)))
    return tuple(lines)


def _blocks(product: CatalogueProduct) -> tuple[Block, ...]:
    """Return the blocks of the page. A long text or list of stores has its own block, so that it is wrapped and not
    cut."""
    facts = dict(product.fields)
    variants = tuple(_related_row(each) for each in product.variants)
    parts = tuple(_related_row(each) for each in product.parts)
    flags = tuple((msg(FLAGS[name]), msg(YES_NO[facts[name]])) for name in FLAGS if facts.get(name) in YES_NO)
    codes = code_rows(product.codes, product.units)
    found = (
        Block(msg("products.prices"), _field_rows(facts, PRICES)),
        Block(msg("products.set_parts"), parts),
        Block(msg("products.variants"), variants),
        Block(msg("look_up.codes"), codes),
        Block(msg("products.classification"), _field_rows(facts, CLASSIFICATION)),
        Block(msg("products.supply"), _field_rows(facts, SUPPLY)),
        Block(msg("stores.free_fields"), tuple((raw(key), raw(value)) for key, value in product.free_fields)),
        Block(msg("products.flags"), flags),
        *(Block(msg(label), ((raw(facts[name]),),)) for name, label in (AVAILABILITY | TEXTS).items() if name in facts),
        Block(msg("stores.more_fields"), tuple((raw(name), raw(value)) for name, value in product.unknown_fields)),
    )
    return tuple(block for block in found if block.rows)


def _field_rows(facts: Mapping[str, str], fields: Mapping[str, str]) -> tuple[tuple[Msg, ...], ...]:
    return tuple((msg(label), _format_field(name, facts[name])) for name, label in fields.items() if name in facts)


def _format_field(name: str, text: str) -> Msg:
    return money_message(Decimal(text)) if name in MONEY_FIELDS and text.replace(".", "", 1).isdecimal() else raw(text)


def _related_row(each: RelatedProduct) -> tuple[Msg, ...]:
    return (raw(each.name or each.number), *([raw(each.description)] if each.description else []), raw(each.number))


SUBSETS = ("all", "promotion", "set", "by_hand", "ended")
"""Subsets of the list, in the order in which `v` shows them."""

FACET_KINDS = {"c": "category", "s": "supplier"}
"""Letters of the facets."""

Result = Turn[ProductsState]


class ProductsJob(Job[ProductsState]):
    """Job that shows the products of the chain."""

    name = "products"
    steps: tuple[str, ...] = ("products", "products.filter", "products.page")
    version = 1
    journalled = False

    def begin(self) -> ProductsState:
        """Return the state with all products."""
        return ProductsState()

    def accepts(self, state: ProductsState) -> Accepts:
        """Accept numbers for rows and choices, and letters that filter."""
        if state.product_number:
            return Accepts(choices=len(product_choices(state)), command_letters=pages.PAGE_LETTERS)
        letters = f"{_filter_letters(state)}{pages.page_letters(state)}"
        return Accepts(choices=pages.numbered_rows(state), command_letters=letters, follows_typing=True)

    def prefers(self, state: ProductsState) -> tuple[str, ...]:
        """Prefer products."""
        return (PRODUCT,)

    def step_name(self, state: ProductsState) -> str:
        """Return one of `steps`."""
        return "products.page" if state.product_number else "products.filter" if state.facet_kind else "products"

    def view(self, state: ProductsState) -> View:
        """Return the list, the list of facets or the page."""
        if state.product_number:
            return page_view(state)
        return facet_view(state) if state.facet_kind else list_view(state)

    def handle(self, state: ProductsState, event: Event, context: Context) -> Result:
        """Return the next state. A scan opens a product, words search, numbers choose."""
        match event:
            case Opened(args):
                number = str(args.get("product_number") or "")
                return _open_product(state, number) if number else Turn(state, (_query(state, context),))
            case Rows(id_, rows, _):
                return _handle_rows(state, event, id_, rows, context)
            case Resumed() | Closed() | Changed("product" | "outbox"):
                return Turn(state, _refresh(state, context))
            case Scan(meanings):
                return _handle_scan(state, meanings[0])
            case Back():
                return _go_back(state, context)
        if state.product_number:
            return _handle_page_input(state, event, context)
        return _handle_list_input(state, event, context)


def _filter_letters(state: ProductsState) -> str:
    """Return the letters that filter."""
    return "" if state.facet_kind or state.only_products else "vcs"


def _refresh(state: ProductsState, context: Context) -> tuple[Effect, ...]:
    return (_query_page(state.product_number),) if state.product_number else (_query(state, context),)


def _query(state: ProductsState, context: Context) -> Query:
    args: dict[str, Json] = {"search": state.typed or state.search, "first": state.first, "size": page_size(context)}
    if state.facet_kind:
        return Query("facets", "facets", {**args, "kind": state.facet_kind}, is_live=True)
    filter_: dict[str, Json] = {"show": state.subset, "category": state.category, "supplier": state.supplier}
    if state.only_products:
        filter_, args["search"] = {"among": list(state.only_products)}, state.typed
    return Query("list", "catalogue", {**args, **filter_}, is_live=True)


def _query_page(number: str) -> Query:
    return Query("one", "catalogue_page", {"product_number": number}, is_live=True)


def _handle_rows(state: ProductsState, answer: Rows, id_: str, rows: tuple[Json, ...], context: Context) -> Result:
    if id_ == ("facets" if state.facet_kind else "list"):
        read = parse_facet if state.facet_kind else parse_catalogue_row
        turn = pages.handle_rows(
            state._replace(partly=answer.may_have_more), answer, tuple(read(row) for row in rows), context, _query
        )
        if turn.effects or not state.open_single_hit:
            return turn
        fresh = turn.state._replace(open_single_hit=False)
        return (
            _open_row(fresh, fresh.rows[0], context)
            if answer.total == 1 and fresh.rows and not fresh.partly
            else Turn(fresh)
        )
    if id_ == "one" and rows:
        return Turn(state._replace(product=parse_catalogue_product(rows[0], context.now)))
    if id_ == "one":
        return Turn(state._replace(product=None))
    return Turn(state)


def _open_product(state: ProductsState, number: str) -> Result:
    """Open the page of a product. Cached data is shown at once; a refresh follows."""
    trail = (
        (*state.pages_below, state.product_number)
        if state.product_number and state.product_number != number
        else state.pages_below
    )
    state = state._replace(product_number=number, pages_below=trail, product=None, page=0, typed="")
    return Turn(state, (_query_page(number), Refresh("product", number)))


def _handle_scan(state: ProductsState, match: Match) -> Result:
    label = match.label or match.key
    if match.kind != PRODUCT:
        return Turn(state, (), Verdict(WRONG, msg("products.not_this", what=name_of(match))))
    return _open_product(state, match.key)._replace(verdict=Verdict(INFO, msg("look_up.shown", label=label)))


def _handle_page_input(state: ProductsState, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice):
            choices = product_choices(state)
            if choice > len(choices):
                return Turn(state)
            chosen = choices[choice - 1]
            if chosen.job:
                args = {"product_number": state.product_number, "label": state.product.name if state.product else ""}
                return Turn(state, (Start(chosen.job, args),))
            related = state.reset_list(
                only_products=related_numbers(state), pages_below=(*state.pages_below, state.product_number)
            )
            return Turn(related, (_query(related, context),))
        case Command("n" | "p" as key) | CursorKey(key):
            return Turn(state._replace(page=turn_page(state.page, key)))
        case Text(text) | UnknownCode(text):
            found = state.reset_list(search=text, open_single_hit=True)
            return Turn(found, (_query(found, context),))
    return Turn(state)


def _handle_list_input(state: ProductsState, event: Event, context: Context) -> Result:
    match event:
        case Text(text) | UnknownCode(text):
            found = state.reset_list(search=text, open_single_hit=True, facet_kind=state.facet_kind)
            return Turn(found, (_query(found, context),))
        case Command("v") if _filter_letters(state):
            state = state.reset_list(subset=SUBSETS[(SUBSETS.index(state.subset) + 1) % len(SUBSETS)])
            return Turn(state, (_query(state, context),), Verdict(INFO, list_title(state)))
        case Command("c" | "s" as letter) if _filter_letters(state):
            return _choose_facet(state, FACET_KINDS[letter], context)
    return pages.handle_list_input(state, event, context, _query, _open_row, _filter_letters(state))


def _choose_facet(state: ProductsState, kind: str, context: Context) -> Result:
    """Open the list of categories or suppliers; if the list is filtered by one, remove that filter."""
    if getattr(state, kind):
        state = state.reset_list(**{kind: "", f"{kind}_name": ""})
        return Turn(state, (_query(state, context),), Verdict(INFO, list_title(state)))
    state = state.reset_list(facet_kind=kind, search="")
    return Turn(state, (_query(state, context),))


def _open_row(state: ProductsState, row: CatalogueItem | Facet, context: Context) -> Result:
    if isinstance(row, CatalogueItem):
        return _open_product(state, row.number)
    state = state.reset_list(search="", **{state.facet_kind: row.code, f"{state.facet_kind}_name": row.name})
    return Turn(state, (_query(state, context),), Verdict(INFO, list_title(state)))


def _go_back(state: ProductsState, context: Context) -> Result:
    """Return to the page below, the list, the whole list, or leave the job."""
    if state.pages_below:
        below = state.reset_list(product_number=state.pages_below[-1], pages_below=state.pages_below[:-1])
        return Turn(below, (_query_page(below.product_number),))
    if state.product_number:
        closed = state._replace(product_number="", product=None)
        return Turn(closed, (_query(closed, context),))
    if state.facet_kind or state.typed or state.search:
        closed = state.reset_list(search="")
        return Turn(closed, (_query(closed, context),))
    if state != ProductsState(rows=state.rows, total=state.total, first=state.first, cursor=state.cursor):
        return Turn(ProductsState(), (_query(ProductsState(), context),))
    return Turn(state, (Close(),))
