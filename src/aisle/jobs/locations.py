"""Job that shows the locations of the store and the stock at each of them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.barcode_keys import has_gtin_form
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
)
from aisle.jobs.pages import page_size, turn_page
from aisle.jobs.quantities import to_decimal, to_decimal_or_none
from aisle.jobs.view import (
    ASK,
    BACK,
    INFO,
    WRONG,
    Block,
    DetailView,
    KeyHint,
    Line,
    ListView,
    MapLocation,
    Msg,
    Row,
    Verdict,
    known_number,
    msg,
    number_message,
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
    from aisle.jobs.row_types.locations import LocationRow, LocationsRow, ProductHereRow
    from aisle.jobs.row_types.orders import OrderRow


class ListedLocation(NamedTuple):
    """Location in the list."""

    code: str
    product_count: int
    quantity: Decimal | None
    """None if unknown."""
    tags: str


class HeldGoods(NamedTuple):
    """Goods at a location that are held for an order line."""

    order: str
    line: int
    quantity: Decimal


class StockLine(NamedTuple):
    """Product at a location. `quantity` includes held goods; `unit` is empty for pieces."""

    product: str
    label: str
    quantity: Decimal | None
    """None if unknown."""
    unit: str
    pools: tuple[tuple[str, Decimal], ...]
    held: tuple[HeldGoods, ...]


class Location(NamedTuple):
    """Location with its neighbours in walking order."""

    code: str
    default_pool: int
    tags: tuple[str, ...]
    stock_lines: tuple[StockLine, ...]
    """Its first products, sorted by name."""
    previous_code: str
    next_code: str
    product_count: int = 0
    """Number of products in all."""
    are_locations_unknown: bool = False
    """True if the service gives no locations for any of the goods."""


class OfferedChoice(NamedTuple):
    """Choice after a scan: `product` to look up, `order` to hand to the job below."""

    kind: str
    key: str
    label: str = ""


class LocationsState(NamedTuple):
    """State of the list of locations and of the page of one location."""

    code: str = ""
    """Location whose page is open; empty for the list."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[ListedLocation, ...] = ()
    total: int = 0
    location: Location | None = None
    pool_names: tuple[tuple[str, str], ...] = ()
    """Numbers and names of the store's pools."""
    aisle: tuple[ListedLocation, ...] = ()
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
    def numbered_rows(self) -> int:
        """Number of rows on the screen that are choices. The offered choice has the next number."""
        if self.is_list:
            return pages.numbered_rows(self)
        return min(pages.MAX_NUMBERED, len(self.location.stock_lines)) if self.location else 0


def list_view(state: LocationsState) -> ListView:
    """Return the numbered list of locations in walking order, empty ones included."""
    text = state.typed or state.search
    listed = pages.list_view(
        state,
        "locations.list",
        msg("locations.title"),
        msg("look_up.prompt_order") if state.offered else msg("locations.prompt_list"),
        (msg("locations.head_location"), msg("locations.head_products"), msg("head.stock"), msg("locations.head_tags")),
        tuple(_location_row(place) for place in state.rows),
        empty=msg("locations.no_match", text=text) if text else msg("locations.none"),
        numbered=state.numbered_rows,
    )
    return listed._replace(choices=_offered_choices(state))


def _location_row(location: ListedLocation) -> Row:
    if not location.product_count:
        return Row(location.code, (raw(location.code), msg("locations.empty"), raw(""), raw(location.tags)))
    about = raw("?") if location.quantity is None else msg("look_up.estimate", text=location.quantity)
    products = msg("locations.products", count=location.product_count)
    return Row(location.code, (raw(location.code), products, about, raw(location.tags)))


def page_view(state: LocationsState) -> DetailView:
    """Return the page of one location."""
    place = state.location
    return DetailView(
        name="locations.location",
        title=msg("locations.title_location", place=state.code),
        prompt=msg("look_up.prompt_order") if state.offered else msg("locations.prompt"),
        lines=_lines(state, place),
        blocks=_blocks(state, place) if place else (),
        page=state.page,
        map_locations=_aisle_marks(state),
        choices=_offered_choices(state),
        key_hints=(
            *((KeyHint("n", msg("hint.next_page"), is_always_shown=True),) if place and place.next_code else ()),
            *(
                (KeyHint("p", msg("hint.previous_page"), is_always_shown=True),)
                if place and place.previous_code
                else ()
            ),
            KeyHint("r", msg("locations.next_page")),
            BACK,
            *pages.JOB_KEY_HINTS,
        ),
    )


def _offered_choices(state: LocationsState) -> tuple[Msg, ...]:
    if state.offered is None:
        return ()
    return (
        msg(
            "look_up.choice_order" if state.offered.kind == "order" else "locations.choice_product",
            key=state.offered.key,
        ),
    )


def _pool_name(state: LocationsState, pool: str) -> str:
    return dict(state.pool_names).get(pool) or pool


def _lines(state: LocationsState, location: Location | None) -> tuple[Line, ...]:
    """Return the lines on the quantity at the location, its tags and its pool."""
    if location is None:
        return (Line("location", raw(state.code)), Line("note", msg("locations.unknown")))
    count, shown = max(location.product_count, len(location.stock_lines)), len(location.stock_lines)
    count_text = (
        msg("locations.products", count=count)
        if count
        else msg("locations.locations_unknown" if location.are_locations_unknown else "locations.nothing")
    )
    about = [raw(", ".join(location.tags))] if location.tags else []
    if location.default_pool:
        about.append(msg("locations.default_pool", pool=_pool_name(state, str(location.default_pool))))
    notes = [msg("locations.join", one=about[0], other=about[1])] if len(about) == 2 else about
    notes += [msg("locations.more", shown=shown)] if shown < count else []
    head = msg("locations.join", one=raw(state.code), other=count_text)
    return (Line("location", head), *(Line("note", note) for note in notes))


def _blocks(state: LocationsState, location: Location) -> tuple[Block, ...]:
    """Return the products at the location, and the goods held there for orders."""
    default = str(location.default_pool) if location.default_pool else ""
    here = tuple(
        (raw(one.label), _quantity_text(one), raw(_pools_text(state, one, default)), raw(one.product))
        for one in location.stock_lines
    )
    blocks = (Block(msg("locations.here_title"), here, state.numbered_rows), *_held_blocks(location))
    return tuple(block for block in blocks if block.rows)


def _held_blocks(location: Location) -> tuple[Block, ...]:
    """Return a block of held goods for each order."""
    orders: dict[str, list[tuple[Msg, Msg]]] = {}
    for one in location.stock_lines:
        kept: dict[str, Decimal] = {}
        for held in one.held:
            kept[held.order] = kept.get(held.order, Decimal(0)) + held.quantity
        for order, quantity in kept.items():
            orders.setdefault(order, []).append((raw(one.label), msg("locations.held", quantity=quantity)))
    return tuple(
        Block(msg("locations.held_title", order=order), tuple(rows), is_title_needed=True)
        for order, rows in orders.items()
    )


def _quantity_text(stock_line: StockLine) -> Msg:
    if stock_line.unit:
        return msg("locations.measure", quantity=known_number(stock_line.quantity), unit=stock_line.unit)
    return number_message(stock_line.quantity)


def _pools_text(state: LocationsState, stock_line: StockLine, default_pool: str) -> str:
    """Return the pools of a product; empty if all of it is in the location's default pool."""
    pools = [(pool, quantity) for pool, quantity in stock_line.pools if quantity]
    if len(pools) == 1:
        return "" if pools[0][0] == default_pool else _pool_name(state, pools[0][0])
    return ", ".join(f"{_pool_name(state, pool)} {format_number(quantity)}" for pool, quantity in pools)


def _aisle_marks(state: LocationsState) -> tuple[MapLocation, ...]:
    """Return the locations of the aisle, each with its fill relative to the fullest one."""
    full = [place.quantity or Decimal(0) for place in state.aisle]
    most = max(full, default=Decimal(0))
    if len(state.aisle) < 2 or state.code not in {place.code for place in state.aisle}:
        return ()
    shares = (
        (place, quantity / most if most > 0 else Decimal(0)) for place, quantity in zip(state.aisle, full, strict=True)
    )
    return tuple(
        MapLocation(place.code, max(Decimal(0), round(share, 3)), place.code == state.code) for place, share in shares
    )


MAX_AISLE_LOCATIONS = 120
"""Most locations on the map of an aisle."""

MAX_PRODUCTS = 100
"""Most products on the page of a location, by name. A whole stockroom may be one location."""

Result = Turn[LocationsState]


class LocationsJob(Job[LocationsState]):
    """Job that leads from location to location on the screen."""

    name = "locations"
    steps: tuple[str, ...] = ("locations.list", "locations.location")
    version = 1
    journalled = True

    def begin(self) -> LocationsState:
        """Return the state with all locations."""
        return LocationsState()

    def accepts(self, state: LocationsState) -> Accepts:
        """Accept row numbers, and letters for the neighbours and the pages."""
        letters = pages.page_letters(state) if state.is_list else "npr" + pages.JOB_LETTERS
        return Accepts(
            choices=state.numbered_rows + int(state.offered is not None),
            command_letters=letters,
            follows_typing=state.is_list,
        )

    def prefers(self, state: LocationsState) -> tuple[str, ...]:
        """Prefer locations."""
        return (LOCATION, PRODUCT, ORDER, REFERENCE, PERSON)

    def uses_product(self, state: LocationsState, product: str) -> bool:
        """Return True for a product at the location on the screen."""
        return state.location is not None and any(each.product == product for each in state.location.stock_lines)

    def step_name(self, state: LocationsState) -> str:
        """Return one of `steps`."""
        return "locations.list" if state.is_list else "locations.location"

    def view(self, state: LocationsState) -> ListView | DetailView:
        """Return the list or the page."""
        return list_view(state) if state.is_list else page_view(state)

    def handle(self, state: LocationsState, event: Event, context: Context) -> Result:
        """Return the next state. A scan opens a location, words search, numbers choose, `n` and `p` go to the
        neighbours."""
        match event:
            case Opened(args):
                return _handle_opened(state, args, context)
            case Rows():
                return _handle_rows(state, event, context)
            case Changed() | Closed():
                return Turn(state, _refresh(state, context))
            case Resumed():
                refreshes = (Refresh("location", state.code),) if state.code else ()
                return Turn(state, (*_refresh(state, context), *refreshes))
            case Scan(meanings):
                return _handle_scan(state, meanings[0])
            case Text(text) | UnknownCode(text):
                return _search(state, text, context)
            case TypedText(text):
                return _find_as_typed(state, text, context)
            case Choice(choice) if not state.is_list or (state.offered and choice > state.numbered_rows):
                return _handle_choice(state, choice)
            case Command("c" | "t" as letter) if not state.is_list:
                return Turn(state, (pages.start_job(letter, location=state.code),))
            case Command(letter) if not state.is_list:
                return _handle_command(state, letter)
            case CursorKey(key) if not state.is_list:
                return Turn(state._replace(page=turn_page(state.page, key)))
            case Back():
                return _go_back(state, context)
        return pages.handle_list_input(state, event, context, _list_query, _open_row)


_POOLS_QUERY = Query("store", "store", {}, is_live=True)
"""Query for the names of the store's pools."""


def _handle_opened(state: LocationsState, args: Args, context: Context) -> Result:
    """Open the page of a location, the result of a search, or the list of all locations."""
    if args.get("location_code"):
        shown = _open_location(state, str(args["location_code"]))
        return shown._replace(effects=(_POOLS_QUERY, *shown.effects))
    state = state._replace(opened_from_list=True)
    if args.get("search"):
        sought = _search(state, str(args["search"]), context)
        return sought._replace(effects=(_POOLS_QUERY, *sought.effects))
    return Turn(state, _refresh(state, context))


def _open_location(state: LocationsState, code: str) -> Result:
    """Open the page of a location."""
    if code != state.code:
        state = state._replace(location=None)
    state = state._replace(code=code, typed="", page=0, offered=None)
    return Turn(state, (*_queries(code), Refresh("location", code)))


def _queries(code: str) -> tuple[Query, ...]:
    return (
        Query("location", "location", {"location_code": code, "size": MAX_PRODUCTS}, is_live=True),
        Query("aisle", "locations", {"beside": code, "size": MAX_AISLE_LOCATIONS}, is_live=True),
    )


def _list_query(state: LocationsState, context: Context) -> Query:
    return pages.query_window(
        "locations", "locations", {"search": state.typed or state.search}, state.first, page_size(context)
    )


def _search(state: LocationsState, text: str, context: Context) -> Result:
    found = pages.query_window("found", "locations", {"search": text}, 0, page_size(context))
    return Turn(state._replace(searched_for=text, typed="", offered=None), (found,))


def _refresh(state: LocationsState, context: Context) -> tuple[Effect, ...]:
    return (_POOLS_QUERY, _list_query(state, context)) if state.is_list else (_POOLS_QUERY, *_queries(state.code))


# Answers


def _handle_rows(state: LocationsState, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("locations", rows, _):
            return pages.handle_rows(
                state, answer, tuple(_parse_location_row(row) for row in rows), context, _list_query
            )
        case Rows("found", rows, total):
            return _handle_found(state, tuple(_parse_location_row(row) for row in rows), total, context)
        case Rows("chosen", rows, _) if rows:
            return _open_location(state, str(rows[0]["location_code"]))
        case Rows("location", rows, _):
            return Turn(state._replace(location=_parse_location(rows[0]) if rows else None))
        case Rows("here", rows, _):
            return _report_product_here(state, tuple(_parse_stock_line(one) for row in rows for one in row["products"]))
        case Rows("offered", rows, _):
            return _check_order(state, rows)
        case Rows("aisle", rows, _):
            return Turn(state._replace(aisle=tuple(_parse_location_row(row) for row in rows)))
        case Rows("store", rows, _) if rows:
            names = rows[0].get("pools") or {}
            return Turn(state._replace(pool_names=tuple((str(pool), str(name)) for pool, name in names.items())))
    return Turn(state)


def _parse_location_row(row: LocationsRow) -> ListedLocation:
    tags = ", ".join(str(tag) for tag in row.get("tags") or ())
    return ListedLocation(str(row["location_code"]), int(row["products"]), to_decimal_or_none(row["quantity"]), tags)


def _parse_location(row: LocationRow) -> Location:
    return Location(
        code=str(row["location_code"]),
        default_pool=int(to_decimal(row.get("default_stock_pool"))),
        tags=tuple(str(tag) for tag in row.get("tags") or ()),
        stock_lines=tuple(_parse_stock_line(one) for one in row["products"]),
        product_count=int(row["total"]),
        are_locations_unknown=bool(row.get("unnamed")),
        previous_code=str(row.get("before") or ""),
        next_code=str(row.get("after") or ""),
    )


def _parse_stock_line(row: ProductHereRow) -> StockLine:
    held = tuple(
        HeldGoods(str(one["order_number"]), int(one["line_number"]), to_decimal(one["quantity"])) for one in row["held"]
    )
    pools = tuple((str(pool), to_decimal(quantity)) for pool, quantity in row["pools"].items())
    label = str(row["description"] or row["product_number"])
    unit = str(row["unit"] or "") if row["allow_decimal"] else ""
    return StockLine(str(row["product_number"]), label, to_decimal_or_none(row["quantity"]), unit, pools, held)


def _handle_found(state: LocationsState, rows: tuple[ListedLocation, ...], total: int, context: Context) -> Result:
    """Handle the answer to words ended with Enter. Open the only location found, or list several."""
    text, state = state.searched_for, state._replace(searched_for="")
    if not total:
        effects = _refresh(state, context) if state.is_list else ()
        unknown = msg("count.unknown", code=text) if has_gtin_form(text) else msg("locations.not_found", text=text)
        return Turn(state, effects, Verdict(WRONG, unknown))
    if total == 1:
        return _open_location(state, rows[0].code)
    listed = state._replace(code="", search=text, rows=rows, total=total, first=0, cursor=-1, opened_from_list=True)
    return Turn(listed, (), Verdict(INFO, msg("locations.found", text=text, count=total)))


# Inputs


def _handle_scan(state: LocationsState, match: Match) -> Result:
    state = state._replace(typed="", offered=None)
    label = match.label or match.key
    if match.kind == LOCATION:
        return _open_location(state, match.key)._replace(verdict=Verdict(INFO, msg("locations.shown", place=match.key)))
    if match.kind == PRODUCT:
        return _scan_product(state, match.key, label)
    if match.kind in (ORDER, REFERENCE):
        offered = OfferedChoice("order", match.key)
        turn = Turn(
            state._replace(offered=offered), (), Verdict(ASK, msg("look_up.is_order", order=match.key, who=label))
        )
        return turn._replace(effects=(Query("offered", "order", {"order_number": match.key}),))
    return Turn(state, (), Verdict(INFO, msg("locations.is_person", name=label)))


def _check_order(state: LocationsState, rows: tuple[OrderRow, ...]) -> Result:
    """Withdraw the offered order if it can no longer be picked."""
    row = rows[0] if rows else None
    gone = row and (row.get("is_rejected") or row.get("is_active") is False)
    if not row or not gone or state.offered is None:
        return Turn(state)
    id_ = "batch.rejected" if row.get("is_rejected") else "batch.finished"
    verdict = Verdict(WRONG, msg(id_, order=state.offered.key))
    return Turn(state._replace(offered=None), (), verdict)


def _scan_product(state: LocationsState, product: str, label: str) -> Result:
    """Offer the scanned product, and query its stock at the location on the screen."""
    if state.is_list:
        return Turn(state, (Start("look_up", {"product_number": product, "label": label}),))
    state = state._replace(offered=OfferedChoice("product", product, label))
    return Turn(state, (Query("here", "location", {"location_code": state.code, "product_number": product}),))


def _report_product_here(state: LocationsState, stock_lines: tuple[StockLine, ...]) -> Result:
    """Report the quantity of the scanned product at the location, even if the page does not list it."""
    if state.offered is None:
        return Turn(state)
    label = state.offered.label or state.offered.key
    if not stock_lines:
        return Turn(state, (), Verdict(ASK, msg("locations.not_here", label=label, place=state.code)))
    text = msg("locations.product_here", label=label, place=state.code, quantity=known_number(stock_lines[0].quantity))
    return Turn(state, (), Verdict(ASK, text))


def _find_as_typed(state: LocationsState, text: str, context: Context) -> Result:
    listed = pages.with_typed_search(state, text, "r", state.numbered_rows + int(state.offered is not None))
    return Turn(state) if listed is None else Turn(listed, (_list_query(listed, context),))


def _handle_choice(state: LocationsState, choice: int) -> Result:
    offered, state = state.offered, state._replace(offered=None)
    if offered and choice > state.numbered_rows:
        if offered.kind == "order":
            return Turn(state, (pages.hand_order_below(offered.key),))
        return Turn(state, (Start("look_up", {"product_number": offered.key}),))
    if state.location is None or choice > state.numbered_rows:
        return Turn(state)
    line = state.location.stock_lines[choice - 1]
    return Turn(state, (Start("look_up", {"product_number": line.product, "label": line.label}),))


def _open_row(state: LocationsState, row: ListedLocation, context: Context) -> Result:
    return Turn(state, (_query_chosen(row.code),))


def _query_chosen(code: str) -> Query:
    """Return the query for a row chosen from a window. A window is not journalled; this answer is, so replay knows the
    row."""
    return Query("chosen", "location", {"location_code": code, "size": 0})


def _handle_command(state: LocationsState, letter: str) -> Result:
    """Go to the next or previous location in walking order, or to the next page of this one."""
    state = state._replace(offered=None)
    if letter == "r":
        return Turn(state._replace(page=state.page + 1))
    if state.location is None:
        return Turn(state)
    code = state.location.next_code if letter == "n" else state.location.previous_code
    if not code:
        return Turn(
            state, (), Verdict(INFO, msg("locations.last_location" if letter == "n" else "locations.first_location"))
        )
    return Turn(state, (_query_chosen(code),))


def _go_back(state: LocationsState, context: Context) -> Result:
    """Close the offer, return to the list if the page was opened from it, or leave the job."""
    if state.offered:
        return Turn(state._replace(offered=None), (), Verdict(INFO, msg("session.dropped")))
    if state.code and state.opened_from_list:
        listed = state._replace(code="", page=0)
        return Turn(listed, _refresh(listed, context))
    return Turn(state, (Close(),))
