"""Job `locations`: list of all locations of the store in walking order, and the page of one with its stock."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs import list_cursor_and_search
from aisle.jobs.job import Args, Close, Context, Effect, Event, Query, Refresh, Rows, Start, Turn, format_number, reply
from aisle.jobs.list_cursor_and_search import ListOptions, page_size
from aisle.jobs.list_page_base_class import Column, ListPage
from aisle.jobs.names_in_messages import LIVE_POOLS_QUERY, Pools, parse_pools, pool_name
from aisle.jobs.pages_and_page_job import Action, DetailPage, Page, PageJob
from aisle.jobs.product_rows_and_weekly_sales import held_by_order
from aisle.jobs.row_types.locations import LocationRow, LocationsRow, ProductHereRow
from aisle.jobs.row_types.orders import OrderRow
from aisle.jobs.typed_numbers_dates_and_letters import OfferedChoice, name_of
from aisle.jobs.view import (
    ASK,
    BACK,
    INFO,
    WRONG,
    Block,
    DetailView,
    KeyHint,
    Line,
    MapLocation,
    Msg,
    Verdict,
    known_number,
    msg,
    number_message,
    raw,
)
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Choice,
    Match,
    Text,
    TypedText,
    UnknownCode,
)

MAX_AISLE_LOCATIONS = 120
"""Most locations on the map of an aisle."""

MAX_PRODUCTS = 100
"""Most products on the page of a location, by name. A whole stockroom may be one location."""


class LocationsState(NamedTuple):
    """State of the list of locations and of the page of one location."""

    code: str = ""
    """Location whose page is open; empty for the list."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[LocationsRow, ...] = ()
    total: int = 0
    location: LocationRow | None = None
    pools: Pools = ()
    aisle: tuple[LocationsRow, ...] = ()
    page: int = 0
    offered: OfferedChoice | None = None
    """Scanned record that is offered as a choice."""
    searched_for: str = ""
    """Words whose answer has not come yet."""
    opened_from_list: bool = False
    """True if the page was opened from the list. Back then returns to the list."""

    @property
    def is_list(self) -> bool:
        """True while the list is on the screen."""
        return bool(self.typed) or not self.code

    @property
    def products(self) -> list[ProductHereRow]:
        """First products at the location, sorted by name."""
        return self.location["products"] if self.location else []


Result = Turn[LocationsState]
Actions = tuple[Action[LocationsState], ...]

# Offered choice and search, on both pages


def _offered_actions(state: LocationsState) -> Actions:
    offered = state.offered
    if offered is None:
        return ()
    id_ = "look_up.choice_order" if offered.kind == "order" else "shortage.choice_product"
    return (Action(msg(id_, key=offered.key), _follow_offer),)


def _follow_offer(state: LocationsState, context: Context) -> Result:
    offered, state = state.offered, state._replace(offered=None)
    if offered is None:
        return Turn(state)
    if offered.kind == "order":
        return Turn(state, (list_cursor_and_search.hand_order_below(offered.key),))
    return Turn(state, (Start("look_up", {"product_number": offered.key}),))


def _search(state: LocationsState, text: str, context: Context) -> Result:
    found = list_cursor_and_search.query_window("found", "locations", {"search": text}, 0, page_size(context))
    return Turn(state._replace(searched_for=text, typed="", offered=None), (found,))


def _find_as_typed(state: LocationsState, text: str, choices: int, context: Context) -> Result:
    listed = list_cursor_and_search.with_typed_search(state, text, "r", choices)
    return Turn(state) if listed is None else Turn(listed, (LIST.query(listed, context),))


# List


def _product_count(row: LocationsRow) -> Msg:
    return msg("locations.products", count=row["products"]) if row["products"] else msg("locations.empty")


def _total_quantity(row: LocationsRow) -> Msg:
    if not row["products"]:
        return raw("")
    if row["quantity"] is None:
        return raw("?")
    is_mixed = row["products"] > 1 and row["quantity"] % 1 != 0  # measured goods beside others have no sum
    return raw("") if is_mixed else msg("estimate", value=row["quantity"])


class LocationList(ListPage[LocationsState, LocationsRow]):
    """List of locations in walking order, empty ones included."""

    name = "locations.list"
    title_text = msg("home.locations")
    query_name = "locations"
    follows_typing = True
    columns = (
        Column(msg("head.location"), lambda row: raw(row["location_code"])),
        Column(msg("locations.head_products"), _product_count),
        Column(msg("head.stock"), _total_quantity),
        Column(msg("locations.head_tags"), lambda row: raw(", ".join(row["tags"]))),
    )
    no_rows_text = msg("locations.none")
    key = itemgetter("location_code")

    def prompt(self, state: LocationsState) -> Msg:
        return msg("pick.prompt_choice" if state.offered else "look_up.prompt_list")

    def actions(self, state: LocationsState) -> Actions:
        return _offered_actions(state)

    def open_row(self, state: LocationsState, row: LocationsRow, context: Context) -> Result:
        return Turn(state, (_query_chosen(row["location_code"]),))

    def go_back(self, state: LocationsState, context: Context) -> Result:
        return _go_back(state, context)


def _query_chosen(code: str) -> Query:
    """Return the query for a row chosen from a window. A window is not journalled; this answer is, so replay knows the
    row."""
    return Query("chosen", "location", {"location_code": code, "size": 0})


# Page of one location


class LocationPage(DetailPage[LocationsState]):
    """Page of one location with its products. Letters lead to its neighbours in walking order."""

    name = "locations.location"

    def title(self, state: LocationsState) -> Msg:
        return msg("locations.title_location", label=state.code)

    def prompt(self, state: LocationsState) -> Msg:
        return msg("pick.prompt_choice" if state.offered else "locations.prompt")

    def lines(self, state: LocationsState) -> tuple[Line, ...]:
        return _lines(state, state.location)

    def blocks(self, state: LocationsState) -> tuple[Block, ...]:
        if state.location is None:
            return ()
        default = str(state.location["default_stock_pool"] or "")
        here = tuple(
            (raw(_label(row)), _quantity_text(row), raw(_pools_text(state, row, default)), raw(row["product_number"]))
            for row in state.products
        )
        return (Block(msg("locations.here_title"), here, self.numbered_rows(state)), *_held_blocks(state.products))

    def view(self, state: LocationsState) -> DetailView:
        return super().view(state)._replace(map_locations=_aisle_marks(state))

    def numbered_rows(self, state: LocationsState) -> int:
        return min(list_cursor_and_search.MAX_NUMBERED, len(state.products))

    def actions(self, state: LocationsState) -> Actions:
        return (
            *_offered_actions(state),
            Action(msg("hint.next_page"), lambda state, _: _go_to_neighbour(state, is_next=True), "n"),
            Action(msg("hint.previous_page"), lambda state, _: _go_to_neighbour(state, is_next=False), "p"),
            Action(msg("locations.next_page"), _show_next_page, "r"),
            *(
                Action(hint.text, partial(_start_job, hint.letter), hint.letter)
                for hint in list_cursor_and_search.JOB_KEY_HINTS
            ),
        )

    def key_hints(self, state: LocationsState) -> tuple[KeyHint, ...]:
        place = state.location
        following = KeyHint("n", msg("hint.next_page"), is_always_shown=True)
        before = KeyHint("p", msg("hint.previous_page"), is_always_shown=True)
        return (
            *((following,) if place and place["after"] else ()),
            *((before,) if place and place["before"] else ()),
            KeyHint("r", msg("locations.next_page")),
            BACK,
            *list_cursor_and_search.JOB_KEY_HINTS,
        )

    def handle_other_input(self, state: LocationsState, event: Event, context: Context) -> Result:
        match event:
            case Choice(number) if number <= self.numbered_rows(state):
                row = state.products[number - 1]
                look_up = Start("look_up", {"product_number": row["product_number"], "label": _label(row)})
                return Turn(state._replace(offered=None), (look_up,))
        return super().handle_other_input(state, event, context)

    def go_back(self, state: LocationsState, context: Context) -> Result:
        return _go_back(state, context)


def _go_to_neighbour(state: LocationsState, *, is_next: bool) -> Result:
    state = state._replace(offered=None)
    if state.location is None:
        return Turn(state)
    if code := state.location["after" if is_next else "before"]:
        return Turn(state, (_query_chosen(code),))
    return reply(state, INFO, "locations.last_location" if is_next else "locations.first_location")


def _show_next_page(state: LocationsState, context: Context) -> Result:
    return Turn(state._replace(offered=None, page=state.page + 1))


def _start_job(letter: str, state: LocationsState, context: Context) -> Result:
    return Turn(state, (list_cursor_and_search.start_job(letter, location=state.code),))


def _go_back(state: LocationsState, context: Context) -> Result:
    if state.offered:
        return reply(state._replace(offered=None), INFO, "session.dropped")
    if state.code and state.opened_from_list:
        listed = state._replace(code="", page=0)
        return Turn(listed, _list_queries(listed, context))
    return Turn(state, (Close(),))


def _label(row: ProductHereRow) -> str:
    return row["description"] or row["product_number"]


def _lines(state: LocationsState, location: LocationRow | None) -> tuple[Line, ...]:
    if location is None:
        return (Line("location", raw(state.code)), Line("note", msg("scanner_test.means_unknown")))
    count, shown = max(location["total"], len(state.products)), len(state.products)
    if count:
        count_text = msg("locations.products", count=count)
    else:
        count_text = msg("locations.locations_unknown" if location["unnamed"] else "locations.empty")
    about = [raw(", ".join(location["tags"]))] if location["tags"] else []
    if location["default_stock_pool"]:
        about.append(msg("locations.default_pool", pool=pool_name(state.pools, location["default_stock_pool"])))
    notes = [msg("shortage.join", one=about[0], other=about[1])] if len(about) == 2 else about
    notes += [msg("locations.more", shown=shown)] if shown < count else []
    head = msg("shortage.join", one=raw(state.code), other=count_text)
    return (Line("location", head), *(Line("note", note) for note in notes))


def _held_blocks(products: list[ProductHereRow]) -> tuple[Block, ...]:
    orders: dict[str, list[tuple[Msg, Msg]]] = {}
    for row in products:
        for order, quantity in held_by_order(row["held"]).items():
            orders.setdefault(order, []).append((raw(_label(row)), msg("locations.held", quantity=quantity)))
    return tuple(
        Block(msg("locations.held_title", order=order), tuple(rows), is_title_needed=True)
        for order, rows in orders.items()
    )


def _quantity_text(row: ProductHereRow) -> Msg:
    """Return the quantity; the unit is named only for measured goods."""
    if row["allow_decimal"] and row["unit"]:
        return msg("beside", one=known_number(row["quantity"]), other=row["unit"])
    return number_message(row["quantity"])


def _pools_text(state: LocationsState, row: ProductHereRow, default_pool: str) -> str:
    """Return the pools of a product; empty if all of it is in the location's default pool."""
    pools = [(pool, quantity) for pool, quantity in row["pools"].items() if quantity]
    if len(pools) == 1:
        return "" if pools[0][0] == default_pool else pool_name(state.pools, int(pools[0][0]))
    return ", ".join(f"{pool_name(state.pools, int(pool))} {format_number(quantity)}" for pool, quantity in pools)


def _aisle_marks(state: LocationsState) -> tuple[MapLocation, ...]:
    """Return the locations of the aisle, each with its fill relative to the fullest one."""
    fills = [(row["location_code"], row["quantity"] or Decimal(0)) for row in state.aisle]
    most = max((fill for _, fill in fills), default=Decimal(0))
    if len(fills) < 2 or state.code not in dict(fills):
        return ()
    shares = ((code, fill / most if most > 0 else Decimal(0)) for code, fill in fills)
    return tuple(MapLocation(code, max(Decimal(0), round(share, 3)), code == state.code) for code, share in shares)


LIST, PAGE = LocationList(), LocationPage()

# Job


class LocationsJob(PageJob[LocationsState]):
    """Job that leads from location to location on the screen."""

    name = "locations"
    lists = ("locations", "stock", "stock_changes")
    state_type = LocationsState
    steps: tuple[str, ...] = ("locations.list", "locations.location")
    preferred_kinds = (LOCATION, PRODUCT, ORDER, REFERENCE, PERSON)

    def page(self, state: LocationsState) -> Page[LocationsState]:
        return LIST if state.is_list else PAGE

    def handle(self, state: LocationsState, event: Event, context: Context) -> Result:
        """Return the next state. Text searches on both pages."""
        match event:
            case Text(text) | UnknownCode(text):
                return _search(state, text, context)
            case TypedText(text):
                return _find_as_typed(state, text, self.accepts(state).choices, context)
        return super().handle(state, event, context)

    def address(self, state: LocationsState) -> PageAddress:
        return PageAddress("locations", "" if state.is_list else state.code)

    def uses_product(self, state: LocationsState, product: str) -> bool:
        return any(row["product_number"] == product for row in state.products)

    def handle_opened(self, state: LocationsState, args: Args, context: Context) -> Result:
        """Open the page of a location, the result of a search, or the list of all locations."""
        if args.get("location_code"):
            turn = _open_location(state, str(args["location_code"]))
        elif args.get("search"):
            turn = _search(state._replace(opened_from_list=True), str(args["search"]), context)
        else:
            return self.query_again(state._replace(opened_from_list=True), context)
        return turn._replace(effects=(LIVE_POOLS_QUERY, *turn.effects))

    def queries(self, state: LocationsState, context: Context) -> tuple[Effect, ...]:
        return _list_queries(state, context) if state.is_list else (LIVE_POOLS_QUERY, *_queries(state.code))

    def handle_resumed(self, state: LocationsState, context: Context) -> Result:
        refreshes = (Refresh("location", state.code),) if state.code else ()
        return Turn(state, (*self.queries(state, context), *refreshes))

    def handle_rows(self, state: LocationsState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("locations"):
                return LIST.handle_rows(state, answer, context)
            case Rows("found", rows, total):
                return self._handle_found(state, rows, total, context)
            case Rows("chosen", (row, *_)):
                return _open_location(state, row["location_code"])
            case Rows("location", rows):
                return Turn(state._replace(location=rows[0] if rows else None))
            case Rows("here", rows):
                return _report_product_here(state, [product for row in rows for product in row["products"]])
            case Rows("offered", rows):
                return _check_order(state, rows)
            case Rows("aisle", rows):
                return Turn(state._replace(aisle=rows))
            case Rows("store", rows) if rows:
                return Turn(state._replace(pools=parse_pools(rows)))
        return Turn(state)

    def _handle_found(
        self, state: LocationsState, rows: tuple[LocationsRow, ...], total: int, context: Context
    ) -> Result:
        """Handle the answer to words ended with Enter. Open the only location found, or list several."""
        text, state = state.searched_for, state._replace(searched_for="")
        if not total:
            effects = _list_queries(state, context) if state.is_list else ()
            unknown = msg("count.unknown", code=text)
            return Turn(state, effects, Verdict(WRONG, unknown))
        if total == 1:
            return _open_location(state, rows[0]["location_code"])
        listed = state._replace(code="", search=text, rows=rows, total=total, first=0, cursor=-1, opened_from_list=True)
        return reply(listed, INFO, "list.found", text=text, count=total)

    def handle_scan(self, state: LocationsState, matches: tuple[Match, ...], context: Context) -> Result:
        """Open a scanned location. Offer a product or an order as a choice."""
        match, state = matches[0], state._replace(typed="", offered=None)
        label = match.label or match.key
        if match.kind == LOCATION:
            shown = Verdict(INFO, msg("raw.cut", text=match.key))
            return _open_location(state, match.key)._replace(verdict=shown)
        if match.kind == PRODUCT:
            return _scan_product(state, match.key, label)
        if match.kind in (ORDER, REFERENCE):
            state = state._replace(offered=OfferedChoice("order", match.key))
            query = Query("offered", "order", {"order_number": match.key})
            return reply(state, ASK, "look_up.is_order", query, order=match.key, who=label)
        return reply(state, INFO, "page.not_this", what=name_of(match))


def _list_queries(state: LocationsState, context: Context) -> tuple[Query, ...]:
    return (LIVE_POOLS_QUERY, LIST.query(state, context))


def _queries(code: str) -> tuple[Query, ...]:
    return (
        Query("location", "location", {"location_code": code, "size": MAX_PRODUCTS}, is_live=True),
        Query("aisle", "locations", {"beside": code, "size": MAX_AISLE_LOCATIONS}, is_live=True),
    )


def _open_location(state: LocationsState, code: str) -> Result:
    if code != state.code:
        state = state._replace(location=None)
    state = state._replace(code=code, typed="", page=0, offered=None)
    return Turn(state, (*_queries(code), Refresh("location", code)))


def _check_order(state: LocationsState, rows: tuple[OrderRow, ...]) -> Result:
    row = rows[0] if rows else None
    gone = row and (row.get("is_rejected") or row.get("is_active") is False)
    if not row or not gone or state.offered is None:
        return Turn(state)
    id_ = "pick.rejected" if row.get("is_rejected") else "pick.handed_over_now"
    return reply(state._replace(offered=None), WRONG, id_, order=state.offered.key)


def _scan_product(state: LocationsState, product: str, label: str) -> Result:
    if state.is_list:
        return Turn(state, (Start("look_up", {"product_number": product, "label": label}),))
    state = state._replace(offered=OfferedChoice("product", product, label))
    return Turn(state, (Query("here", "location", {"location_code": state.code, "product_number": product}),))


def _report_product_here(state: LocationsState, products: list[ProductHereRow]) -> Result:
    """Report the quantity of the scanned product at the location, even if the page does not list it."""
    if state.offered is None:
        return Turn(state)
    label = state.offered.label or state.offered.key
    if not products:
        return reply(state, ASK, "locations.not_here", label=label, place=state.code)
    quantity = known_number(products[0]["quantity"])
    return reply(state, ASK, "locations.product_here", label=label, place=state.code, quantity=quantity)
