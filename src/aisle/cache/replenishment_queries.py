"""Queries of the moves that replenish the shop floor from the backroom, in walking order.

A location belongs to the pool that the location list gives as its default, else to pool 1. The locations of one pool
are the shop floor, those of another one the backroom; settings name both pools. At a service that states no default
pool no backroom is known, and nothing is listed. interface: Location, Store product stock entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from aisle.cache.clearance_and_assignment_queries import workers_by_key
from aisle.cache.free_and_held_stock import HeldByLocation, free_locations, held_by_location, location_codes
from aisle.cache.location_queries import locations_of_products
from aisle.cache.pools_and_locations_of_rows import stock_locations
from aisle.cache.queries import QueryContext, QueryResult, declare_query, topics_of_rows, whole_topics, window_bounds
from aisle.host.database import fetch
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.job import Args
from aisle.jobs.move.move_state_and_rows import REPLENISHMENT_PREFIX
from aisle.named_tuple_json import to_text
from aisle.row_values import to_decimal
from aisle.store_product_settings import least_on_shop_floor

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationsOfProductsRow
    from aisle.jobs.row_types.orders import LocationStockRow
    from aisle.jobs.row_types.products import ReplenishmentRow

_DEFAULT_POOLS = "SELECT location_code, CAST(raw ->> 'default_stock_pool' AS INTEGER) FROM location"
_CANDIDATES = """
SELECT p.product_number FROM (
  SELECT DISTINCT x.id FROM json_each(?1) e JOIN stock_location x ON x.location_code = e.value WHERE x.has_goods
) c JOIN stock s ON s.id = c.id JOIN product p ON p.id = c.id
WHERE s.order_level > 0 AND (
  s.order_level > (
    SELECT ifnull(sum(f.quantity), 0) FROM stock_location f
    WHERE f.id = c.id AND f.location_code IN (SELECT value FROM json_each(?2))
  ) OR p.product_number IN (SELECT product_number FROM put_down)
)
"""
"""Products with goods in the backroom and less than their level on the shop floor, where orders may hold some of it."""
_PRODUCTS = """
SELECT p.product_number, p.name, p.unit, p.allow_decimal
FROM json_each(?) e JOIN product p ON p.product_number = e.value
"""

_CHANGES = "SELECT DISTINCT topic, key FROM change WHERE seq > ? AND topic IN ('location', 'order', 'product')"
_PRODUCTS_OF_ORDERS = "SELECT l.product_number FROM json_each(?) e JOIN line l ON l.order_number = e.value"


class _Zones(NamedTuple):
    """Shop floor and backroom: the pool of each, and the pool of each location."""

    floor: int
    backroom: int
    pool_by_code: dict[str, int]

    def codes(self, pool: int) -> list[str]:
        """Return the locations of a pool."""
        return [code for code, own in self.pool_by_code.items() if own == pool]

    def is_in(self, code: str, pool: int) -> bool:
        """Return True if a location belongs to a pool."""
        return self.pool_by_code.get(code, 1) == pool


class _Move(NamedTuple):
    """Suggested move with its place in the list."""

    position: float
    name: str
    product_number: str
    row: ReplenishmentRow


class SuggestedMoves:
    """Moves of what the cache has, in walking order. Only those of products that changed are found again."""

    def __init__(self) -> None:
        self._source: tuple[apsw.Connection, int, int] | None = None
        self._version = self._last_change = -1
        self.zones = _Zones(0, 0, {})
        self._moves: list[_Move] = []
        self._left_out: set[str] = set()
        """Products that had operations under way."""

    def update(self, context: QueryContext, args: Args) -> None:
        """Read again what may have changed."""
        source, version = (context.cache, int(args["shop_floor"]), int(args["backroom"])), context.cache_version
        if source == self._source and version == self._version:
            return
        changed = _changed_products(context.cache, self._last_change) if source == self._source else None
        ((last,),) = fetch(context.cache, "SELECT ifnull(max(seq), 0) FROM change")
        self._source, self._version, self._last_change = source, version, int(last)
        if changed is None:
            self.zones, self._moves, self._left_out = _read_zones(context, *source[1:]), [], set()
            codes = to_text(self.zones.codes(self.zones.backroom)), to_text(self.zones.codes(self.zones.floor))
            changed = {str(number) for (number,) in fetch(context.cache, _CANDIDATES, *codes)}
        kept = [move for move in self._moves if move.product_number not in changed]
        pending = set(context.pending_products.possible_keys())
        self._left_out = (self._left_out - changed) | pending
        self._moves = sorted([*kept, *_find_moves(context, self.zones, changed - pending)], key=_list_order)

    def all(self, context: QueryContext) -> list[_Move]:
        """Return all moves; those of products with operations under way, now or then, are computed each time."""
        changed = self._left_out | context.pending_products.possible_keys()
        kept = [move for move in self._moves if move.product_number not in changed]
        fresh = [*_find_moves(context, self.zones, changed)]
        return sorted([*kept, *fresh], key=_list_order) if fresh else kept


def _read_zones(context: QueryContext, floor: int, backroom: int) -> _Zones:
    stated = dict(fetch(context.cache, _DEFAULT_POOLS))
    return _Zones(floor, backroom, {code: int(stated.get(code) or 1) for code, *_ in context.walk_order().steps})


def _changed_products(cache: apsw.Connection, since: int) -> set[str] | None:
    """Return the products that changed after this entry of the change feed, or whose orders did; None if any may."""
    ((first, last),) = fetch(cache, "SELECT ifnull(min(seq), 0), ifnull(max(seq), 0) FROM change")
    rows = fetch(cache, _CHANGES, since)
    is_whole = first <= since + 1 <= last + 1  # entries that left the feed may have concerned any product
    if not is_whole or any(topic == "location" or not key for topic, key in rows):
        return None
    orders = to_text([key for topic, key in rows if topic == "order"])
    of_orders = fetch(cache, _PRODUCTS_OF_ORDERS, orders)
    return {str(key) for topic, key in rows if topic == "product"} | {str(number) for (number,) in of_orders}


def _list_order(move: _Move) -> tuple[Any, ...]:
    return move[:3]


@declare_query("replenishment", "shop_floor backroom first size", whole_topics("product", "location", OUTBOX))
def query_replenishment(context: QueryContext, args: Args) -> QueryResult[ReplenishmentRow]:
    """Return a window on the products below their level on the shop floor that lie in the backroom, too.

    `shop_floor` and `backroom` are the numbers of their pools.
    """
    suggested, (first, size) = _suggested_moves(context, args), window_bounds(args)
    moves = suggested.all(context)
    return _complete_rows(context, suggested.zones, moves[first : first + size]), len(moves)


@declare_query(
    "replenishment_moves",
    "shop_floor backroom product_number location_code is_single size",
    topics_of_rows("product", "product_number"),
)
def query_replenishment_moves(context: QueryContext, args: Args) -> QueryResult[ReplenishmentRow]:
    """Return the moves from this product or location on, and then those before it; with `is_single` only that of the
    product, also if the shop floor has its level, but not its maximum."""
    suggested = _suggested_moves(context, args)
    number, code = str(args["product_number"]), str(args.get("location_code") or "")
    if args.get("is_single"):
        moves = [*_find_moves(context, suggested.zones, [number], is_level_ignored=True)]
    else:
        moves = suggested.all(context)
        wanted = (move.product_number == number or move.row["location_code"] == code for move in moves)
        at = next((index for index, is_wanted in enumerate(wanted) if is_wanted), 0)
        moves = moves[at:] + moves[:at]
    return _complete_rows(context, suggested.zones, moves[: window_bounds(args)[1]]), len(moves)


def _suggested_moves(context: QueryContext, args: Args) -> SuggestedMoves:
    suggested = context.keep(SuggestedMoves)
    suggested.update(context, args)
    return suggested


def _find_moves(
    context: QueryContext, zones: _Zones, numbers: Iterable[str], *, is_level_ignored: bool = False
) -> Iterator[_Move]:
    """Yield the move of each of these products that needs one."""
    entries = {
        number: entry
        for number, entry in context.overlaid_stock(sorted(numbers))
        if least_on_shop_floor(entry) and entry.get("is_stock") is not False
    }
    locations = {number: stock_locations(entry) for number, entry in entries.items()}
    held = held_by_location(context, {number: location_codes(own) for number, own in locations.items()})
    products = {row[0]: row[1:] for row in fetch(context.cache, _PRODUCTS, to_text(list(entries)))}
    positions = context.walk_order().position_by_code
    for number, entry in entries.items():
        free, least = free_locations(locations[number], held[number]), least_on_shop_floor(entry)
        on_floor = _sum_on_floor(free, zones)
        if on_floor is None or (on_floor >= least and not is_level_ignored):
            continue
        missing = max(least, to_decimal(entry.get("max"))) - on_floor
        source = _choose_source(_sources(free, held[number], zones, positions), missing)
        name, unit, allows_decimals = products[number]
        quantity = min(missing, source.available) if source else Decimal(0)
        quantity = quantity if allows_decimals else quantity // 1
        if source is None or quantity <= 0:
            continue
        row: ReplenishmentRow = {
            "product_number": number,
            "product_name": str(name or entry.get("product_description") or number),
            "location_code": source.code,
            "quantity": quantity,
            "available": source.available,
            "pools": source.pools,
            "on_floor": on_floor,
            "order_level": least,
            "allow_decimal": bool(allows_decimals),
            "unit": str(unit),
            "to_location": "",
            "to_order": None,
            "worker": "",
            "worker_name": "",
        }
        yield _Move(source.position, row["product_name"], number, row)


def _sum_on_floor(free: Sequence[LocationStockRow], zones: _Zones) -> Decimal | None:
    """Return what lies free on the shop floor; None if a quantity there is unknown."""
    quantities = [each["quantity"] for each in free if zones.is_in(each["location_code"], zones.floor)]
    known = [quantity for quantity in quantities if quantity is not None]
    return sum(known, Decimal(0)) if len(known) == len(quantities) else None


class _Source(NamedTuple):
    """Location in the backroom, and what can be taken from it."""

    position: float
    code: str
    available: Decimal
    pools: dict[str, Decimal]
    """Quantities by pool; empty if unknown."""


def _sources(
    free: Iterable[LocationStockRow], held: HeldByLocation, zones: _Zones, positions: Mapping[str, int]
) -> Iterator[_Source]:
    """Yield the locations in the backroom with goods of the two pools, or of any pool if those are unknown.

    The pools of what is held there for orders are unknown.
    """
    for each in free:
        code, quantity = each["location_code"], each["quantity"]
        if quantity is None or not zones.is_in(code, zones.backroom):
            continue
        known = {} if code in held else {pool: to_decimal(value) for pool, value in each["pools"].items()}
        both = (str(zones.backroom), str(zones.floor))
        pools = {pool: known[pool] for pool in both if known.get(pool, 0) > 0}
        available = min(quantity, sum(pools.values(), Decimal(0))) if known else quantity
        if available > 0:
            yield _Source(positions.get(code, float("inf")), code, available, pools)


def _choose_source(sources: Iterable[_Source], missing: Decimal) -> _Source | None:
    """Return the first location in walking order that has all that is missing, else the one that has the most."""
    found = sorted(sources, key=lambda source: source[:2])
    enough = (source for source in found if source.available >= missing)
    return next(enough, None) or max(found, key=lambda source: source.available, default=None)


def _complete_rows(context: QueryContext, zones: _Zones, moves: Sequence[_Move]) -> list[ReplenishmentRow]:
    """Return the rows of these moves with their destination, and who has the goods on the cart."""
    numbers = [move.product_number for move in moves]
    places: dict[str, LocationsOfProductsRow] = {}
    for place in locations_of_products(context, {"product_numbers": numbers})[0] if numbers else ():
        if zones.is_in(place["location_code"], zones.floor):
            places.setdefault(place["product_number"], place)
    workers = workers_by_key(context, REPLENISHMENT_PREFIX)
    rows: list[ReplenishmentRow] = []
    for number, move in zip(numbers, moves, strict=True):
        row = move.row.copy()
        if found := places.get(number):
            row["to_location"], row["to_order"] = found["location_code"], found["location_order"]
        row["worker"], row["worker_name"] = workers.get(number, ("", ""))
        rows.append(row)
    return rows
