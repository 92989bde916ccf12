"""Job that looks up products: the list of a search, and the page of one product."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import pages
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Turn,
    format_number,
    money_message,
)
from aisle.jobs.pages import page_size, turn_page
from aisle.jobs.product_page import (
    Cells,
    ExpectedDelivery,
    NearbyStock,
    Product,
    WaitingOrder,
    code_rows,
    delivery_block,
    estimate,
    nearby_block,
    parse_expected_deliveries,
    parse_nearby,
    parse_product,
    parse_waiting_orders,
)
from aisle.jobs.quantities import to_decimal
from aisle.jobs.view import (
    ASK,
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
    msg,
    raw,
)
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import SearchRow

MAX_CHOICES = 3
"""Most numbered choices on the page of a product."""


class ProductHit(NamedTuple):
    """Product in the list."""

    number: str
    name: str
    brand: str
    stock: str
    """Empty if the product is not in the stock list."""
    unit: str


class OfferedChoice(NamedTuple):
    """Numbered choice: `order` (an order number) or `product` (the replacement of a discontinued product)."""

    kind: str
    key: str


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
    rows: tuple[ProductHit, ...] = ()
    total: int = 0
    may_have_more: bool = False
    """True if more than `total` products may match."""
    product: Product | None = None
    nearby: NearbyStock = NearbyStock()
    waiting_orders: tuple[WaitingOrder, ...] = ()
    deliveries: tuple[ExpectedDelivery, ...] = ()
    """Next deliveries that bring the product."""
    page: int = 0
    offered_order: str = ""
    """Scanned order whose number is offered as a choice."""
    kept_choices: tuple[OfferedChoice, ...] | None = ()
    """The page's own choices when the order was offered, so that later answers do not change their numbers.

    None after a resume, because a journal has no live rows; the current choices then count until an answer comes.
    """
    searched_for: str = ""
    """Words whose answer has not come yet."""

    @property
    def is_list(self) -> bool:
        """True while the list is on the screen."""
        return bool(self.typed) or not self.product_number

    @property
    def numbered_rows(self) -> int:
        """Number of list rows that are choices. Other choices are numbered on from them."""
        return pages.numbered_rows(self) if self.is_list else 0

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
        needing = [OfferedChoice("order", one.order) for one in self.waiting_orders if one.needed > 0]
        return (*instead, *needing)[:MAX_CHOICES]

    def with_offered_order(self, order: str) -> LookUpState:
        """Return this state with the scanned order as a further choice."""
        return self._replace(offered_order=order, kept_choices=self._own_choices)

    def with_kept_choices(self) -> LookUpState:
        """Return this state with its choices fixed, so that they keep their numbers after the next query."""
        return (
            self._replace(kept_choices=self._own_choices) if self.offered_order and self.kept_choices is None else self
        )


def list_view(state: LookUpState) -> ListView:
    """Return the numbered list of found products."""
    text = state.typed or state.search
    listed = pages.list_view(
        state,
        "look_up.list",
        msg("look_up.title"),
        msg("look_up.prompt_order") if state.offered_order else pages.product_prompt(state),
        (msg("head.product"), msg("head.stock"), msg("head.number"), msg("head.brand")),
        tuple(_product_row(hit) for hit in state.rows),
        empty=pages.not_found_message("look_up.no_match", text, state.may_have_more) if text else msg("look_up.empty"),
        may_have_more=state.may_have_more,
    )
    return listed._replace(choices=tuple(_choice_text(choice) for choice in state.choices))


def _product_row(hit: ProductHit) -> Row:
    stock = msg("look_up.estimate", text=Decimal(hit.stock)) if hit.stock else raw("")
    return Row(hit.number, (raw(hit.name or hit.number), stock, raw(hit.number), raw(hit.brand)))


def page_view(state: LookUpState) -> DetailView:
    """Return the page of one product."""
    product = state.product
    name = product.name if product else state.label or state.product_number
    lines = [Line("product", raw(name))]
    lines += _lines(product) if product else [Line("note", msg("look_up.unknown"))]
    here = _stock_blocks(product) if product else ()
    after = (
        delivery_block(product, state.deliveries),
        *(_fact_blocks(product, state.product_number) if product else ()),
    )
    return DetailView(
        name="look_up.product",
        title=msg("look_up.title_product", number=state.product_number),
        prompt=_prompt(state),
        lines=tuple(lines),
        blocks=tuple(
            block
            for block in (*here, nearby_block(state.nearby, product), _order_block(state.waiting_orders), *after)
            if block.rows
        ),
        page=state.page,
        choices=tuple(_choice_text(choice) for choice in state.choices),
        key_hints=(
            *PAGE_HINTS,
            BACK,
            *pages.JOB_KEY_HINTS,
            KeyHint("e", msg("hint.store_product")),
        ),
    )


def _prompt(state: LookUpState) -> Msg:
    if state.offered_order:
        return msg("look_up.prompt_order")
    return msg("look_up.prompt_choices") if state.choices else msg("look_up.prompt")


def _choice_text(choice: OfferedChoice) -> Msg:
    return msg("look_up.choice_order" if choice.kind == "order" else "look_up.choice_product", key=choice.key)


def _lines(product: Product) -> list[Line]:
    """Return the main lines: stock, price and warnings."""
    stock = _stock_text(product) if product.is_stocked else msg("look_up.no_stock")
    text = msg("look_up.stock_price", stock=stock, price=money_message(product.price)) if product.price else stock
    lines = [Line("quantity", text)]
    if product.is_discontinued:
        lines.append(
            Line(
                "note", msg("look_up.replaced", referral=product.referral) if product.referral else msg("look_up.ended")
            )
        )
    elif product.discontinued_since:
        lines.append(Line("note", msg("look_up.ending", at=product.discontinued_since)))
    if product.attention:
        lines.append(Line("note", msg("look_up.attention", codes=product.attention)))
    return lines


def _stock_text(product: Product) -> Msg:
    """Return the stock. The unit is named only for measured goods."""
    if product.allows_decimals and product.unit:
        return msg("look_up.measure", stock=product.stock, unit=product.unit)
    return msg("look_up.stock", stock=product.stock)


def _stock_blocks(product: Product) -> tuple[Block, ...]:
    """Return the blocks of locations and pools; empty for products without stock."""
    if product.has_no_stock:
        return ()
    return (
        Block(msg("look_up.locations"), _location_rows(product)),
        Block(msg("look_up.pools"), tuple(
            (raw(pool.name) if pool.name else msg("look_up.pool", pool=pool.number), estimate(pool.quantity))
            for pool in product.pools
        )),
    )  # fmt: skip


def _fact_blocks(details: Product, number: str) -> tuple[Block, ...]:
    return (
        Block(msg("look_up.facts"), _fact_rows(details, number)),
        Block(msg("look_up.codes"), code_rows(details.codes, details.units)),
    )


def _location_rows(product: Product) -> tuple[Cells, ...]:
    return tuple(
        (raw(location.location), estimate(location.quantity), *([raw(location.pools)] if location.pools else []))
        for location in product.locations
    )


def _fact_rows(details: Product, number: str) -> tuple[Cells, ...]:
    """Return the product's master data, and when it was counted and estimated.

    The time of the estimate is not the age of the data: an estimate is made when stock moves and is valid until the
    next.
    """
    known = (
        ("label.product_number", raw(number), number),
        ("label.brand", raw(details.brand), details.brand),
        ("label.price", money_message(details.price), details.price),
        ("product.special_price", money_message(details.special_price), details.special_price),
        ("product.discount_price", money_message(details.discount_price), details.discount_price),
        ("product.old_price", money_message(details.old_price), details.old_price),
        ("label.unit", raw(details.unit), details.unit),
        ("label.attention", raw(details.attention), details.attention),
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


def _order_block(orders: tuple[WaitingOrder, ...]) -> Block:
    return Block(msg("look_up.orders", count=len(orders)), tuple(
        (raw(one.order), _need_text(one), raw(one.customer), msg("moment", at=one.pickup)) for one in orders
    ))  # fmt: skip


def _need_text(order: WaitingOrder) -> Msg:
    if order.needed <= 0:
        return msg("look_up.order_has", held=order.held)
    return (
        msg("look_up.needs_has", needed=order.needed, held=order.held)
        if order.held
        else msg("look_up.needs", needed=order.needed)
    )


MAX_ORDERS = 40
"""Most orders on the page."""

Result = Turn[LookUpState]


class LookUpJob(Job[LookUpState]):
    """Job that shows all data of a product, found by a scan or by words."""

    name = "look_up"
    steps: tuple[str, ...] = ("look_up.list", "look_up.product")
    version = 1
    journalled = True

    def begin(self) -> LookUpState:
        """Return the state without a search."""
        return LookUpState()

    def accepts(self, state: LookUpState) -> Accepts:
        """Accept rows or choices by number, and letters that turn the page or start a job."""
        if not state.is_list:
            return Accepts(choices=len(state.choices), command_letters=f"{pages.PAGE_LETTERS}{pages.JOB_LETTERS}e")
        return Accepts(
            choices=state.numbered_rows + len(state.choices),
            command_letters=pages.page_letters(state),
            follows_typing=True,
        )

    def prefers(self, state: LookUpState) -> tuple[str, ...]:
        """Prefer products."""
        return (PRODUCT, LOCATION, ORDER, REFERENCE, PERSON)

    def step_name(self, state: LookUpState) -> str:
        """Return one of `steps`."""
        return "look_up.list" if state.is_list else "look_up.product"

    def view(self, state: LookUpState) -> ListView | DetailView:
        """Return the list or the page."""
        return list_view(state) if state.is_list else page_view(state)

    def keeps_next_scan(self, state: LookUpState) -> bool:
        """Return True until the first search or scan."""
        return not (state.product_number or state.search or state.offered_order)

    def handle(self, state: LookUpState, event: Event, context: Context) -> Result:
        """Return the next state. A scan opens a page, words search, numbers choose."""
        match event:
            case Opened(args):
                return _handle_opened(state, args, context)
            case Rows():
                return _handle_rows(state, event, context)
            case Changed() | Closed() if state.is_list and state.offered_order and not state.typed:
                return Turn(state)  # the offered order is numbered after the rows
            case Changed() | Closed():
                return Turn(state.with_kept_choices(), _refresh(state, context))
            case Resumed():
                if state.offered_order and state.product is None:
                    state = state._replace(kept_choices=None)
                return Turn(state, (*_refresh(state, context), *_refresh_effects(state.product_number)))
            case Scan(meanings):
                return _handle_scan(state, meanings[0])
            case Text(text) | UnknownCode(text):
                return _search(state, text, context)
            case TypedText(text):
                return _find_as_typed(state, text, context)
            case Choice(choice) if choice > state.numbered_rows:
                return _handle_choice(state, choice - state.numbered_rows)
            case Command("c" | "t" as letter) if not state.is_list:
                return Turn(state, (pages.start_job(letter, product=state.product_number, label=state.label),))
            case Command("e") if not state.is_list:
                label = state.product.name if state.product else state.label
                return Turn(state, (Start("store_product", {"product_number": state.product_number, "label": label}),))
            case Command(key) | CursorKey(key) if not state.is_list:
                return Turn(state._replace(page=turn_page(state.page, key)))
            case Back():
                return _go_back(state, context)
        return pages.handle_list_input(state, event, context, _list_query, _open_row)


def _handle_opened(state: LookUpState, args: Args, context: Context) -> Result:
    """Open the page of a product, the result of a search, or an empty list."""
    if args.get("product_number"):
        return _open_product(state, str(args["product_number"]), str(args.get("label") or ""))
    if args.get("search"):
        return _search(state, str(args["search"]), context)
    return Turn(LookUpState())


def _search(state: LookUpState, text: str, context: Context) -> Result:
    found = pages.query_window("found", "search", {"search": text}, 0, page_size(context))
    return Turn(state._replace(searched_for=text, typed="", offered_order=""), (found,))


def _open_product(state: LookUpState, product: str, label: str = "") -> Result:
    """Open the page of a product. Cached data is shown at once; a refresh follows."""
    if product != state.product_number:
        state = state._replace(product=None, nearby=NearbyStock(), waiting_orders=(), deliveries=())
    state = state._replace(product_number=product, label=label, typed="", page=0, offered_order="")
    return Turn(state, (*_queries(product), *_refresh_effects(product)))


def _queries(product: str) -> tuple[Query, ...]:
    args = {"product_number": product}
    return (
        Query("sheet", "product", args, is_live=True),
        Query("around", "surrounding", args, is_live=True),
        Query("orders_with_product", "orders_with_product", {**args, "size": MAX_ORDERS}, is_live=True),
        Query("next_deliveries", "next_deliveries", args, is_live=True),
    )


def _refresh_effects(product: str) -> tuple[Refresh, ...]:
    return (Refresh("product", product), Refresh("surrounding", product)) if product else ()


def _list_query(state: LookUpState, context: Context) -> Query:
    return pages.query_window(
        "hits", "search", {"search": state.typed or state.search}, state.first, page_size(context)
    )


def _refresh(state: LookUpState, context: Context) -> tuple[Effect, ...]:
    if not state.is_list:
        return _queries(state.product_number)
    return (_list_query(state, context),) if state.typed or state.search else ()


# Answers


def _handle_rows(state: LookUpState, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("hits", rows, _):
            fresh = state._replace(may_have_more=answer.may_have_more)
            return pages.handle_rows(
                fresh, answer, tuple(_parse_product_row(row) for row in rows), context, _list_query
            )
        case Rows("found", rows, _):
            return _handle_found(state, answer, tuple(_parse_product_row(row) for row in rows), context)
        case Rows("chosen", rows, _) if rows:
            return _open_product(state, str(rows[0]["product_number"]), str(rows[0].get("product_name") or ""))
        case Rows("sheet", rows, _):
            return Turn(state._replace(product=parse_product(rows[0], context.now) if rows else None))
        case Rows("around", rows, _):
            return Turn(state._replace(nearby=parse_nearby(rows, context.now)))
        case Rows("orders_with_product", rows, _):
            return Turn(state._replace(waiting_orders=parse_waiting_orders(rows)))
        case Rows("next_deliveries", rows, _):
            return Turn(state._replace(deliveries=parse_expected_deliveries(rows, context.now)))
    return Turn(state)


def _parse_product_row(row: SearchRow) -> ProductHit:
    stock = row.get("most_likely_quantity")
    return ProductHit(
        str(row["product_number"]),
        str(row.get("product_name") or ""),
        str(row.get("brand_description") or ""),
        "" if stock is None else format_number(to_decimal(stock)),
        str(row.get("unit") or ""),
    )


def _handle_found(state: LookUpState, answer: Rows, rows: tuple[ProductHit, ...], context: Context) -> Result:
    """Handle the answer to words ended with Enter. Open a single product that is known to be the only one, or list
    several."""
    text, total, partly = state.searched_for, answer.total, answer.may_have_more
    state = state._replace(searched_for="")
    if not total:
        effects = _refresh(state, context) if state.is_list else ()
        return Turn(state, effects, Verdict(WRONG, pages.not_found_message("look_up.not_found", text, partly)))
    if total == 1 and not partly:
        return _open_product(state, rows[0].number, rows[0].name)
    listed = state._replace(
        product_number="", search=text, rows=rows, total=total, may_have_more=partly, first=0, cursor=-1
    )
    found = "look_up.found_more" if partly else "look_up.found"
    return Turn(listed, (), Verdict(INFO, msg(found, text=text, count=total)))


# Inputs


def _handle_scan(state: LookUpState, match: Match) -> Result:
    state = state._replace(typed="", offered_order="")
    label = match.label or match.key
    if match.kind == PRODUCT:
        return _open_product(state, match.key, label)._replace(verdict=Verdict(INFO, msg("look_up.shown", label=label)))
    if match.kind == LOCATION:
        return Turn(state, (Start("locations", {"location_code": match.key}),))
    if match.kind in (ORDER, REFERENCE):
        text = msg("look_up.is_order", order=match.key, who=label)
        return Turn(state.with_offered_order(match.key), (), Verdict(ASK, text))
    return Turn(state, (), Verdict(INFO, msg("look_up.is_person", name=label)))


def _find_as_typed(state: LookUpState, text: str, context: Context) -> Result:
    """Search while the person types. Numbers of open choices are not a search."""
    listed = pages.with_typed_search(state, text, numbered=state.numbered_rows + len(state.choices))
    if listed is None:
        return Turn(state)
    if not listed.typed and (state.product_number or not state.search):
        return Turn(listed._replace(rows=(), total=0))
    return Turn(listed, (_list_query(listed, context),))


def _handle_choice(state: LookUpState, choice: int) -> Result:
    if choice > len(state.choices):
        return Turn(state)
    chosen = state.choices[choice - 1]
    return Turn(state, (pages.hand_order_below(chosen.key) if chosen.kind == "order" else _query_chosen(chosen.key),))


def _open_row(state: LookUpState, row: ProductHit, context: Context) -> Result:
    return Turn(state, (_query_chosen(row.number),))


def _query_chosen(product: str) -> Query:
    """Return the query for a row chosen from a window. A window is not journalled; this answer is, so replay knows the
    row."""
    return Query("chosen", "product", {"product_number": product})


def _go_back(state: LookUpState, context: Context) -> Result:
    """Close the offer, return to the list that the page was opened from, or leave the job."""
    if state.offered_order:
        state = state._replace(offered_order="")
        return Turn(state, _refresh(state, context), Verdict(INFO, msg("session.dropped")))
    if state.product_number and state.search:
        listed = state._replace(product_number="", page=0, cursor=-1)
        return Turn(listed, _refresh(listed, context))
    return Turn(state, (Close(),))
