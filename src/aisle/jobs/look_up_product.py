"""Job that looks up products: the list of a search, and the page of one product."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs import list_cursor_and_search
from aisle.jobs.job import (
    Args,
    Close,
    Context,
    Effect,
    Event,
    Query,
    Refresh,
    Rows,
    Start,
    Turn,
    format_number,
    money_message,
    reply,
)
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.list_page_base_class import Column, ListPage
from aisle.jobs.names_in_messages import measured
from aisle.jobs.pages_and_page_job import Action, DetailPage, Page, PageJob
from aisle.jobs.product_rows_and_weekly_sales import (
    ExpectedDelivery,
    FiguresByName,
    NearbyStock,
    Product,
    Unit,
    held_by_order,
    held_message,
    parse_expected_deliveries,
    parse_nearby,
    parse_product,
    parse_sales,
    sales_chart,
)
from aisle.jobs.row_types.orders import OrdersWithProductRow
from aisle.jobs.row_types.products import SearchRow
from aisle.jobs.typed_numbers_dates_and_letters import OfferedChoice, name_of
from aisle.jobs.view import (
    ASK,
    BACK,
    INFO,
    PAGE_HINTS,
    WRONG,
    Block,
    Chart,
    DetailView,
    KeyHint,
    Line,
    Msg,
    SidePane,
    Verdict,
    known_number,
    msg,
    raw,
)
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Match,
    Text,
    TypedText,
    UnknownCode,
)

MAX_CHOICES = 3
MAX_ORDERS = 40


class LookUpState(NamedTuple):
    """State of the search list and of the page of one product."""

    product_number: str = ""
    """Product whose page is open; empty for the list."""
    label: str = ""
    search: str = ""
    typed: str = ""
    """Text being typed, if it is a search. The list is then shown."""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[SearchRow, ...] = ()
    total: int = 0
    may_have_more: bool = False
    """True if more than `total` products may match."""
    product: Product | None = None
    held: tuple[tuple[str, Decimal], ...] = ()
    """Orders that goods of the product are held for at locations, and how much."""
    nearby: NearbyStock = NearbyStock()
    waiting_orders: tuple[OrdersWithProductRow, ...] = ()
    deliveries: tuple[ExpectedDelivery, ...] = ()
    """Next deliveries that bring the product."""
    sales: FiguresByName = ()
    """Sold quantities and forecast, for a desk."""
    page: int = 0
    offered_order: str = ""
    """Scanned order whose number is offered as a choice."""
    kept_choices: tuple[OfferedChoice, ...] | None = ()
    """The page's own choices when the order was offered, so that later answers do not change their numbers. None after
    a resume, because a journal has no live rows; the current choices then count until an answer comes."""
    searched_for: str = ""
    """Words whose answer has not come yet."""

    @property
    def is_list(self) -> bool:
        """True while the list is on the screen."""
        return bool(self.typed) or not self.product_number

    @property
    def choices(self) -> tuple[OfferedChoice, ...]:
        """Numbered choices beside the rows of the list: the page's own, then the scanned order."""
        scanned = (OfferedChoice("order", self.offered_order),) if self.offered_order else ()
        if self.is_list:
            return scanned
        own = self.kept_choices if self.offered_order and self.kept_choices is not None else self._own_choices
        return (*own, *(choice for choice in scanned if choice not in own))

    @property
    def _own_choices(self) -> tuple[OfferedChoice, ...]:
        instead = (OfferedChoice("product", self.product.referral),) if self.product and self.product.referral else ()
        needing = [OfferedChoice("order", row["order_number"]) for row in self.waiting_orders if row["needed"] > 0]
        return (*instead, *needing)[:MAX_CHOICES]

    def with_offered_order(self, order: str) -> LookUpState:
        """Return this state with the scanned order as a further choice."""
        return self._replace(offered_order=order, kept_choices=self._own_choices)

    def with_kept_choices(self) -> LookUpState:
        """Return this state with its choices fixed, so that they keep their numbers after the next query."""
        return (
            self._replace(kept_choices=self._own_choices) if self.offered_order and self.kept_choices is None else self
        )


Result = Turn[LookUpState]
Actions = tuple[Action[LookUpState], ...]
Cells = tuple[Msg, ...]

# Offered choices and search, on both pages


def _choice_actions(state: LookUpState) -> Actions:
    return tuple(Action(_choice_text(choice), partial(_follow_choice, choice)) for choice in state.choices)


def _choice_text(choice: OfferedChoice) -> Msg:
    if choice.kind == "order":
        return msg("look_up.choice_order", key=choice.key)
    return msg("shortage.choice_product", key=choice.key)


def _follow_choice(choice: OfferedChoice, state: LookUpState, context: Context) -> Result:
    is_order = choice.kind == "order"
    return Turn(
        state, (list_cursor_and_search.hand_order_below(choice.key) if is_order else _query_chosen(choice.key),)
    )


def _query_chosen(product: str) -> Query:
    """Return the query for a row chosen from a window. A window is not journalled; this answer is, so replay knows the
    row."""
    return Query("chosen", "product", {"product_number": product})


def _search(state: LookUpState, text: str, context: Context) -> Result:
    found = list_cursor_and_search.query_window(
        "found", "search", {"search": text}, 0, list_cursor_and_search.page_size(context)
    )
    return Turn(state._replace(searched_for=text, typed="", offered_order=""), (found,))


def _find_as_typed(state: LookUpState, text: str, choices: int, context: Context) -> Result:
    """Search while the person types. Numbers of open choices are not a search."""
    listed = list_cursor_and_search.with_typed_search(state, text, numbered=choices)
    if listed is None:
        return Turn(state)
    if not listed.typed and (state.product_number or not state.search):
        return Turn(listed._replace(rows=(), total=0))
    return Turn(listed, (LIST.query(listed, context),))


def _go_back(state: LookUpState, context: Context) -> Result:
    if state.offered_order:
        state = state._replace(offered_order="")
        return reply(state, INFO, "session.dropped", *_refresh(state, context))
    if state.product_number and state.search:
        listed = state._replace(product_number="", page=0, cursor=-1)
        return Turn(listed, _refresh(listed, context))
    return Turn(state, (Close(),))


# List


class HitList(ListPage[LookUpState, SearchRow]):
    """List of found products."""

    name = "look_up.list"
    title_text = msg("look_up.title")
    query_name = "search"
    follows_typing = True
    columns = (
        Column(msg("head.product"), lambda row: raw(row["product_name"] or row["product_number"])),
        Column(
            msg("head.stock"),
            lambda row: raw("") if row["most_likely_quantity"] is None else estimate(row["most_likely_quantity"]),
        ),
        Column(msg("head.number"), lambda row: raw(row["product_number"])),
        Column(msg("head.brand"), lambda row: raw(row["brand_description"])),
    )
    no_rows_text = msg("look_up.empty")
    key = itemgetter("product_number")

    def prompt(self, state: LookUpState) -> Msg:
        return msg("pick.prompt_choice") if state.offered_order else list_cursor_and_search.product_prompt(state)

    def may_have_more(self, state: LookUpState) -> bool:
        return state.may_have_more

    def query(self, state: LookUpState, context: Context) -> Query:
        return super().query(state, context)._replace(id="hits")

    def actions(self, state: LookUpState) -> Actions:
        return _choice_actions(state)

    def handle_rows(self, state: LookUpState, answer: Rows, context: Context) -> Result:
        return super().handle_rows(state._replace(may_have_more=answer.may_have_more), answer, context)

    def open_row(self, state: LookUpState, row: SearchRow, context: Context) -> Result:
        return Turn(state, (_query_chosen(row["product_number"]),))

    def go_back(self, state: LookUpState, context: Context) -> Result:
        return _go_back(state, context)


# Page of one product


class ProductPage(DetailPage[LookUpState]):
    """Page of one product: stock here and nearby, orders, deliveries and facts."""

    name = "look_up.product"

    def title(self, state: LookUpState) -> Msg:
        return msg("look_up.title_product", number=state.product_number)

    def prompt(self, state: LookUpState) -> Msg:
        if state.offered_order:
            return msg("pick.prompt_choice")
        return msg("look_up.prompt_choices" if state.choices else "look_up.prompt")

    def lines(self, state: LookUpState) -> tuple[Line, ...]:
        product = state.product
        if product is None:
            name = state.label or state.product_number
            return (Line("product", raw(name)), Line("note", msg("look_up.unknown")))
        held = held_message(state.held)
        return (Line("product", raw(product.name)), *_lines(product), *((Line("note", held),) if held else ()))

    def blocks(self, state: LookUpState) -> tuple[Block, ...]:
        product = state.product
        return (
            *(_stock_blocks(product) if product else ()),
            nearby_block(state.nearby, product),
            *(() if _sales_chart(state) else (order_block(state.waiting_orders),)),
            delivery_block(product, state.deliveries),
            *(_fact_blocks(product, state.product_number) if product else ()),
        )

    def view(self, state: LookUpState) -> DetailView:
        """Return the page; at a desk with the chart of the sales and the orders beside it."""
        chart = _sales_chart(state)
        return (
            super().view(state)._replace(side=SidePane(chart, (order_block(state.waiting_orders),)) if chart else None)
        )

    def at_desk(self, state: LookUpState, is_desk: bool) -> LookUpState:
        return state._replace(options=state.options._replace(is_desk=is_desk))

    def actions(self, state: LookUpState) -> Actions:
        return (
            *_choice_actions(state),
            *(
                Action(hint.text, partial(_start_job, hint.letter), hint.letter)
                for hint in list_cursor_and_search.JOB_KEY_HINTS
            ),
            Action(msg("hint.store_product"), _start_store_product, "e"),
        )

    def key_hints(self, state: LookUpState) -> tuple[KeyHint, ...]:
        return (*PAGE_HINTS, BACK, *list_cursor_and_search.JOB_KEY_HINTS, KeyHint("e", msg("hint.store_product")))

    def go_back(self, state: LookUpState, context: Context) -> Result:
        return _go_back(state, context)


def _sales_chart(state: LookUpState) -> Chart | None:
    return sales_chart(state.sales) if state.options.is_desk else None


def _start_job(letter: str, state: LookUpState, context: Context) -> Result:
    return Turn(state, (list_cursor_and_search.start_job(letter, product=state.product_number, label=state.label),))


def _start_store_product(state: LookUpState, context: Context) -> Result:
    label = state.product.name if state.product else state.label
    return Turn(state, (Start("store_product", {"product_number": state.product_number, "label": label}),))


def _lines(product: Product) -> list[Line]:
    stock = _stock_text(product) if product.is_stocked else msg("look_up.no_stock")
    text = msg("pick.join", what=stock, more=money_message(product.price)) if product.price else stock
    lines = [Line("quantity", text)]
    if product.is_discontinued:
        lines.append(
            Line(
                "note",
                msg("look_up.replaced", referral=product.referral) if product.referral else msg("products.title_ended"),
            )
        )
    elif product.discontinued_since:
        lines.append(Line("note", msg("look_up.ending", at=product.discontinued_since)))
    if product.attention:
        lines.append(Line("note", msg("look_up.attention", codes=product.attention)))
    return lines


def _stock_text(product: Product) -> Msg:
    """Return the stock. The unit is named only for measured goods."""
    return msg("look_up.stock", stock=measured(product.stock, product.unit if product.allows_decimals else ""))


def estimate(quantity: Decimal | None) -> Msg:
    """Return an estimated quantity, `?` if unknown."""
    return raw("?") if quantity is None else msg("estimate", value=quantity)


def with_age(title: Msg, age: Decimal) -> Msg:
    """Return a title with the age of the data below it, if that is known."""
    return msg("look_up.with_age", title=title, seconds=str(age)) if age >= 0 else title


def _stock_blocks(product: Product) -> tuple[Block, ...]:
    if product.has_no_stock:
        return ()
    return (
        Block(msg("home.locations"), location_rows(product)),
        Block(msg("look_up.pools"), tuple(
            (raw(pool.name) if pool.name else msg("look_up.pool", pool=pool.number), estimate(pool.quantity))
            for pool in product.pools
        )),
    )  # fmt: skip


def _fact_blocks(details: Product, number: str) -> tuple[Block, ...]:
    return (
        Block(msg("deliveries.about"), _fact_rows(details, number)),
        Block(msg("look_up.codes"), code_rows(details.codes, details.units)),
    )


def location_rows(product: Product) -> tuple[Cells, ...]:
    """Return the locations of a product with their quantities, and their pools if there are several."""
    return tuple(
        (raw(location.location), estimate(location.quantity), *([raw(location.pools)] if location.pools else []))
        for location in product.locations
    )


def delivery_block(product: Product | None, deliveries: Iterable[ExpectedDelivery]) -> Block:
    """Return the block of expected deliveries, the next delivery of the stock list, and the ordering deadline."""
    rows: list[Cells] = list(delivery_rows(deliveries))
    if product and product.next_delivery:
        rows.append((msg("look_up.delivery"), msg("moment", at=product.next_delivery)))
    if product and product.next_ordering:
        rows.append((msg("look_up.ordering"), msg("moment", at=product.next_ordering)))
    return Block(msg("look_up.expected_deliveries"), tuple(rows))


def delivery_rows(deliveries: Iterable[ExpectedDelivery]) -> Iterator[Cells]:
    """Yield quantity and date of each expected delivery."""
    for one in deliveries:
        what = msg("look_up.expected_with", quantity=known_number(one.quantity), order=one.order)
        yield (what, one.day) if one.day else (what,)


def _fact_rows(details: Product, number: str) -> tuple[Cells, ...]:
    """Return the product's master data, and when it was counted and estimated. The time of the estimate is not the age
    of the data: an estimate is made when stock moves and is valid until the next."""
    known = (
        ("label.product_number", raw(number), number),
        ("head.brand", raw(details.brand), details.brand),
        ("label.price", money_message(details.price), details.price),
        ("product.special_price", money_message(details.special_price), details.special_price),
        ("store_product.of_discount", money_message(details.discount_price), details.discount_price),
        ("product.old_price", money_message(details.old_price), details.old_price),
        ("product.base_unit_name", raw(details.unit), details.unit),
        ("store_product.of_attention", raw(details.attention), details.attention),
        ("label.counted", msg("moment", at=details.counted_at), details.counted_at),
        (
            "label.estimated",
            msg("today.ago", seconds=str(details.estimate_age_s)),
            details.estimate_age_s >= 0 and not details.has_no_stock,
        ),
        ("label.ends", msg("moment", at=details.discontinued_since), details.discontinued_since),
        ("label.referral", raw(details.referral), details.referral),
    )
    return tuple((msg(label), value) for label, value, is_shown in known if is_shown)


def code_rows(codes: Iterable[str], units: Iterable[Unit]) -> tuple[Cells, ...]:
    """Return the barcodes, then the handling units with theirs."""
    return (*((raw(code),) for code in codes), *((_unit_text(unit), raw(unit.code)) for unit in units))


def _unit_text(unit: Unit) -> Msg:
    if not unit.name:
        return msg("look_up.unnamed_unit", quantity=unit.quantity)
    if format_number(unit.quantity) in unit.name:
        return raw(unit.name)
    return msg("look_up.unit", quantity=unit.quantity, name=unit.name)


def nearby_block(nearby: NearbyStock, product: Product | None = None) -> Block:
    """Return the block of nearby stores and warehouses with the age of the data; empty for products without stock."""
    if product and product.has_no_stock:
        return Block(msg("look_up.nearby"), ())
    if nearby.is_refused:
        return Block(msg("look_up.nearby"), ((msg("look_up.nearby_refused"),),))
    if nearby.age_s < 0:
        return Block(msg("look_up.nearby"), ((msg("stores.loading"),),))
    rows: tuple[Cells, ...] = tuple(
        (msg("look_up.warehouse", name=near.name) if near.is_warehouse else raw(near.name), estimate(near.quantity))
        for near in nearby.stores
    )
    return Block(with_age(msg("look_up.nearby"), nearby.age_s), rows or ((msg("look_up.nearby_none"),),))


def order_block(orders: Sequence[OrdersWithProductRow]) -> Block:
    """Return the block of the orders that need a product or hold it."""
    return Block(msg("look_up.orders", count=len(orders)), tuple(
        (raw(row["order_number"]), _need_text(row), raw(row["customer_name"]), msg("moment", at=row["pickup_date"]))
        for row in orders
    ))  # fmt: skip


def _need_text(row: OrdersWithProductRow) -> Msg:
    needed, held = row["needed"], row["held"]
    if needed <= 0:
        return msg("look_up.order_has", held=held)
    return msg("look_up.needs_has", needed=needed, held=held) if held else msg("look_up.needs", needed=needed)


LIST, PAGE = HitList(), ProductPage()

# Job


class LookUpJob(PageJob[LookUpState]):
    """Job that shows all data of a product, found by a scan or by words."""

    name = "look_up"
    lists = ("products", "stock", "stock_changes")
    state_type = LookUpState
    steps: tuple[str, ...] = ("look_up.list", "look_up.product")
    preferred_kinds = (PRODUCT, LOCATION, ORDER, REFERENCE, PERSON)

    def page(self, state: LookUpState) -> Page[LookUpState]:
        return LIST if state.is_list else PAGE

    def address(self, state: LookUpState) -> PageAddress | None:
        return None if state.is_list else PageAddress("products", state.product_number)

    def keeps_next_scan(self, state: LookUpState) -> bool:
        """Return True until the first search or scan."""
        return not (state.product_number or state.search or state.offered_order)

    def handle(self, state: LookUpState, event: Event, context: Context) -> Result:
        """Return the next state. Text searches on both pages."""
        match event:
            case Text(text) | UnknownCode(text):
                return _search(state, text, context)
            case TypedText(text):
                return _find_as_typed(state, text, self.accepts(state).choices, context)
        return super().handle(state, event, context)

    def handle_opened(self, state: LookUpState, args: Args, context: Context) -> Result:
        """Open the page of a product, the result of a search, or an empty list."""
        if args.get("product_number"):
            return _open_product(state, str(args["product_number"]), context, str(args.get("label") or ""))
        return _search(state, str(args["search"]), context) if args.get("search") else Turn(LookUpState())

    def queries(self, state: LookUpState, context: Context) -> tuple[Effect, ...]:
        return _refresh(state, context)

    def query_again(self, state: LookUpState, context: Context) -> Result:
        """Query again, but not the list after which an offered order is numbered."""
        if state.is_list and state.offered_order and not state.typed:
            return Turn(state)
        return super().query_again(state.with_kept_choices(), context)

    def handle_resumed(self, state: LookUpState, context: Context) -> Result:
        if state.offered_order and state.product is None:
            state = state._replace(kept_choices=None)
        return Turn(state, (*_refresh(state, context), *refresh_product(state.product_number)))

    def handle_rows(self, state: LookUpState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("hits"):
                return LIST.handle_rows(state, answer, context)
            case Rows("found"):
                return _handle_found(state, answer, context)
            case Rows("chosen", (row, *_)):
                return _open_product(state, row["product_number"], context, row["product_name"])
            case Rows("product", rows):
                return Turn(state._replace(product=parse_product(rows[0], context.now) if rows else None))
            case Rows("sales", rows):
                return Turn(state._replace(sales=parse_sales(rows[0]) if rows else ()))
            case Rows("held_goods", rows):
                return Turn(state._replace(held=tuple(held_by_order(rows).items())))
            case Rows("surrounding", rows):
                return Turn(state._replace(nearby=parse_nearby(rows, context.now)))
            case Rows("orders_with_product", rows):
                return Turn(state._replace(waiting_orders=rows))
            case Rows("next_deliveries", rows):
                return Turn(state._replace(deliveries=parse_expected_deliveries(rows, context.now)))
        return Turn(state)

    def handle_scan(self, state: LookUpState, matches: tuple[Match, ...], context: Context) -> Result:
        """Open a scanned product or location. Offer an order as a choice."""
        match, state = matches[0], state._replace(typed="", offered_order="")
        label = match.label or match.key
        if match.kind == PRODUCT:
            shown = Verdict(INFO, msg("raw.cut", text=label))
            return _open_product(state, match.key, context, label)._replace(verdict=shown)
        if match.kind == LOCATION:
            return Turn(state, (Start("locations", {"location_code": match.key}),))
        if match.kind in (ORDER, REFERENCE):
            return reply(state.with_offered_order(match.key), ASK, "look_up.is_order", order=match.key, who=label)
        return reply(state, INFO, "page.not_this", what=name_of(match))


def _open_product(state: LookUpState, product: str, context: Context, label: str = "") -> Result:
    """Open the page of a product. Cached data is shown at once; a refresh follows."""
    if product != state.product_number:
        state = state._replace(product=None, held=(), nearby=NearbyStock(), waiting_orders=(), deliveries=(), sales=())
    state = state._replace(product_number=product, label=label, typed="", page=0, offered_order="")
    return Turn(state, (*_queries(product, context), *refresh_product(product)))


def product_queries(product: str) -> tuple[Query, ...]:
    """Return the queries for a product, its stock nearby and its next deliveries."""
    names = ("product", "surrounding", "next_deliveries")
    return tuple(Query(name, name, {"product_number": product}, is_live=True) for name in names)


def refresh_product(product: str) -> tuple[Refresh, ...]:
    """Return the refreshes of a product and its stock nearby; none without a product."""
    return (Refresh("product", product), Refresh("surrounding", product)) if product else ()


def _queries(product: str, context: Context) -> tuple[Query, ...]:
    args = {"product_number": product, "size": MAX_ORDERS}
    held = Query("held_goods", "held_goods", {"product_number": product}, is_live=True)
    sales = Query("sales", "store_product", {"product_number": product, "user": context.user}, is_live=True)
    return (
        *product_queries(product),
        held,
        Query("orders_with_product", "orders_with_product", args, is_live=True),
        *((sales,) if context.is_desk else ()),
    )


def _refresh(state: LookUpState, context: Context) -> tuple[Effect, ...]:
    if not state.is_list:
        return _queries(state.product_number, context)
    return (LIST.query(state, context),) if state.typed or state.search else ()


def _handle_found(state: LookUpState, answer: Rows, context: Context) -> Result:
    """Handle the answer to words ended with Enter. Open a single product that is known to be the only one, or list
    several."""
    text, rows, total, partly = state.searched_for, answer.rows, answer.total, answer.may_have_more
    state = state._replace(searched_for="")
    if not total:
        effects = _refresh(state, context) if state.is_list else ()
        return Turn(
            state, effects, Verdict(WRONG, list_cursor_and_search.not_found_message("count.unknown", text, partly))
        )
    if total == 1 and not partly:
        return _open_product(state, rows[0]["product_number"], context, rows[0]["product_name"])
    listed = state._replace(
        product_number="", search=text, rows=rows, total=total, may_have_more=partly, first=0, cursor=-1
    )
    found = "list.found_more" if partly else "list.found"
    return reply(listed, INFO, found, text=text, count=total)
