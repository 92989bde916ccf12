"""One line of a pick: read from an order's row, its quantities and stock; sums and the walking order of lines.

Which stop is next: `stops_and_goods_in_hand`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.jobs.sums_of_goods_and_progress import GoodsSum, sum_by_key, sum_goods
from aisle.jobs.walk_order_sort_keys import NO_WALK_ORDER, natural_key
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderLineRow
    from aisle.jobs.row_types.raw_service_rows import Number


def same_location(one: str, other: str) -> bool:
    """Return True if two codes name one location; services may write them in any case."""
    return one.casefold() == other.casefold()


class PickedFrom(NamedTuple):
    """Quantity picked from a location; pool 0 is unknown."""

    location: str
    pool: int
    quantity: Decimal

    def is_at(self, location: str, pool: int) -> bool:
        """Return True if it is from this location and, as far as pools are known, from this pool."""
        return same_location(self.location, location) and (self.pool == pool or 0 in (self.pool, pool))


class PoolStock(NamedTuple):
    """Stock of a pool at a location."""

    location: str
    pool: int
    quantity: Decimal


class HeldAt(NamedTuple):
    """Goods of a product that are held at a location for an order."""

    location: str
    order: str
    quantity: Decimal


class PickLine(NamedTuple):
    """One line of an order as a stop. Quantities are in base units."""

    line: int
    product: str
    label: str
    ordered: Decimal
    picked: Decimal
    moved: Decimal
    location: str
    """Location it is picked from; empty in a store without locations or if none is known."""
    pool: int
    allows_decimals: bool
    unit: str
    price: Decimal
    is_closed: bool
    """True if the line counts as picked although it is short."""
    order: str = ""
    pools: tuple[int, ...] = ()
    """Stock pools that it may be picked from; empty if not restricted."""
    barred_pools: tuple[int, ...] = ()
    """Pools at its location if none of them is allowed."""
    walk_order: Decimal = NO_WALK_ORDER
    location_order: Decimal = NO_WALK_ORDER
    """Walking order of the line, and order of its location."""
    has_stock: bool = True
    """False if no stock is kept of the product: it is at no location and is never moved."""
    picked_from: tuple[PickedFrom, ...] = ()
    """Locations and quantities picked, the latest last; first those of others, whose location is unknown ('')."""
    own_picked: Decimal = Decimal(0)
    """Part of the goods in hand that this picker has; others have the rest."""
    stocked_locations: tuple[tuple[str, int], ...] = ()
    """Locations with stock for this line, and an allowed pool there (0 if unknown)."""
    stock_when_read: tuple[tuple[str, Decimal], ...] = ()
    """Stock of each location when the line was read; empty if unknown."""
    pool_stock_when_read: tuple[PoolStock, ...] = ()
    """Stock of each pool at each location where pools are known."""
    picked_from_when_read: tuple[PickedFrom, ...] = ()
    """Locations and quantities picked at that time."""
    put_down_at: tuple[str, ...] = ()
    """Locations where picked goods were put down."""

    held_for: tuple[tuple[str, Decimal], ...] = ()
    """Orders that goods of the product at locations are held for, and how much."""
    held_at: tuple[HeldAt, ...] = ()
    """The same by location."""
    tolerance: Decimal = Decimal(0)
    """Quantity that it may lack when it is picked; 0 for goods that are not weighed."""
    is_from_warehouse: bool = False
    """True if its goods are picked in the warehouse and come with a delivery. A picker may still pick it here."""

    @property
    def key(self) -> tuple[str, int]:
        """Order and line number."""
        return self.order, self.line

    @property
    def is_incomplete(self) -> bool:
        """True while something of it is to come, from here or from the warehouse."""
        return not self.is_closed and self.picked < self.ordered

    @property
    def is_open(self) -> bool:
        """True while something is still to be picked here."""
        return self.is_incomplete and not self.is_from_warehouse

    @property
    def is_awaited(self) -> bool:
        """True while something is to come from the warehouse."""
        return self.is_incomplete and self.is_from_warehouse

    @property
    def is_within_tolerance(self) -> bool:
        """True if it lacks something, but no more than weighed goods may: then it is picked."""
        return 0 < self.ordered - self.picked <= self.tolerance

    @property
    def is_short(self) -> bool:
        """True if the line counts as picked although it lacks more than its tolerance."""
        return self.is_closed and not self.is_within_tolerance

    @property
    def remaining(self) -> Decimal:
        """Quantity still to be picked."""
        return max(Decimal(0), self.ordered - self.picked)

    @property
    def in_hand(self) -> Decimal:
        """Quantity picked and not put down; 0 for a product without stock."""
        return max(Decimal(0), self.picked - self.moved) if self.has_stock else Decimal(0)

    @property
    def own_in_hand(self) -> Decimal:
        """Part of it that this picker has."""
        return min(self.own_picked, self.in_hand)

    def with_picked(self, picked: Decimal, location: str | None = None, pool: int = 0) -> PickLine:
        """Return the line with this quantity after this picker took goods at a location and pool, or put them back:
        first those taken there, then the last ones, where they were taken. None is the line's location."""
        if location is None:
            location, pool = self.location, self.pool
        sources, more = list(self.picked_from), picked - self.picked
        if more > 0:
            last = sources.pop() if sources and sources[-1][:2] == (location, pool) else None
            sources.append(PickedFrom(location, pool, more + (last.quantity if last else 0)))
        order = sorted(range(len(sources)), key=lambda n: (not sources[n].is_at(location, pool), -n))
        return self._replace(
            picked=picked,
            picked_from=_without(sources, -more, order),
            own_picked=max(Decimal(0), self.own_picked + more),
        )

    def changes_since(self, before: PickLine) -> tuple[PickedFrom, ...]:
        """Return what was taken since, and with a negative quantity what was put back, by location and pool: first at
        the line's."""
        here = self.location, self.pool
        now = [((each.location or here[0], each.pool or here[1]), each.quantity) for each in self.picked_from]
        then = [((each.location or here[0], each.pool or here[1]), -each.quantity) for each in before.picked_from]
        changes = sum_by_key([(here, Decimal(0)), *now, *then])
        changes[here] += self.picked - before.picked - sum(changes.values())
        return tuple(PickedFrom(*key, quantity) for key, quantity in changes.items() if quantity)

    def without_changes(self, changes: Sequence[PickedFrom], picked: Decimal) -> PickLine:
        """Return the line with this quantity, after changes as far as that undoes them."""
        line = self
        for location, pool, quantity in reversed(changes):
            left = picked - line.picked
            if left * quantity < 0:
                part = min(abs(left), abs(quantity)).copy_sign(left)
                line = line.with_picked(line.picked + part, location, pool)
        return line.with_picked(picked)

    def with_picked_by_others(self, picked: Decimal) -> PickLine:
        """Return the line with this quantity after other pickers changed it, or the service refused this one's goods.
        Where others took goods is unknown."""
        line = self._replace(picked=picked)
        own = min(self.own_picked, line.in_hand)
        lost, more = self.own_picked - own, picked - self.picked
        sources = _without(self.picked_from, lost, range(len(self.picked_from))[::-1])
        if more > 0:  # below this picker's, who puts his own back first
            sources = (PickedFrom("", 0, more), *sources)
        return line._replace(picked_from=_without(sources, -more - lost, range(len(sources))), own_picked=own)

    def at_location(self, location: str, pool: int) -> PickLine:
        """Return the line at another location with its place in the walk; pool 0 leaves its pool."""
        return self._replace(location=location, pool=pool or self.pool, barred_pools=())

    @property
    def sources_in_hand(self) -> tuple[PickedFrom, ...]:
        """Sources of the goods that this picker has in hand; goods picked first were put down first."""
        found: list[PickedFrom] = []
        left = self.own_in_hand
        for each in reversed(self.picked_from):
            part = min(left, each.quantity)
            if part > 0:
                found.append(PickedFrom(each.location or self.location, each.pool, part))
                left -= part
        return (*found, PickedFrom(self.location, 0, left)) if left > 0 else tuple(found)

    @property
    def stock_of_pools(self) -> tuple[PoolStock, ...]:
        """Stock by pool at its location when the line was read; empty if its pool or the stock of pools is unknown."""
        return tuple(
            each for each in self.pool_stock_when_read if self.pool and same_location(each.location, self.location)
        )

    def picked_since_read(self, location: str, pool: int) -> Decimal:
        """Return what was picked at a location since the line was read, of one pool if the stock of pools is known."""
        here = [
            (sign, each)
            for sign, sources in ((1, self.picked_from), (-1, self.picked_from_when_read))
            for each in sources
            if each.is_at(location, pool if self.pool_stock_when_read else 0)
        ]
        return sum((sign * each.quantity for sign, each in here), Decimal(0))

    @property
    def expected_stock(self) -> Decimal | None:
        """Stock at its location, and of its pool if that is known, when the line was read; None if unknown."""
        if not self.stock_when_read or not self.location:
            return None
        if self.stock_of_pools:
            return sum((each.quantity for each in self.stock_of_pools if each.pool == self.pool), Decimal(0))
        return sum(
            (had for location, had in self.stock_when_read if same_location(location, self.location)), Decimal(0)
        )

    @property
    def stop_key(self) -> tuple[str, str, int, str]:
        """Key of a stop: location, product and pool. A weighed line is a stop of its own."""
        return (
            self.location.casefold(),
            self.product,
            self.pool,
            f"{self.order}/{self.line}" if self.allows_decimals else "",
        )

    @property
    def location_key(self) -> str:
        """Key of the location; a line without one has a key of its own for each product."""
        return self.location.casefold() or f" {self.product}"


def _without(sources: Sequence[PickedFrom], quantity: Decimal, order: Iterable[int]) -> tuple[PickedFrom, ...]:
    """Return the sources less a quantity, taken from them in this order of their indexes."""
    left = list(sources)
    for index in order:
        part = max(Decimal(0), min(quantity, left[index].quantity))
        left[index] = left[index]._replace(quantity=left[index].quantity - part)
        quantity -= part
    return tuple(each for each in left if each.quantity)


def parse_lines(
    lines: Iterable[OrderLineRow], order: str = "", tolerance: Decimal = Decimal(0)
) -> tuple[PickLine, ...]:
    """Return the lines of an order (rows of the query `order`) as stops in walking order. Weighed lines may lack
    `tolerance` per cent."""
    parsed = tuple(_parse_line(line, order) for line in lines)
    return sort_stops(with_tolerance(parsed, tolerance), {order: 0})


def with_tolerance(lines: tuple[PickLine, ...], percent: Decimal) -> tuple[PickLine, ...]:
    """Return the lines with the quantity that weighed ones may lack; the same lines if nothing changes."""
    allowed = [line.ordered * percent / 100 if line.allows_decimals else line.tolerance for line in lines]
    if allowed == [line.tolerance for line in lines]:
        return lines
    return tuple(line._replace(tolerance=most) for line, most in zip(lines, allowed, strict=True))


def is_nothing_picked(lines: Collection[PickLine]) -> bool:
    """Return True if every line is closed and nothing was picked."""
    return bool(lines) and all(line.is_closed and not line.picked for line in lines)


def count_pieces(lines: Iterable[PickLine]) -> tuple[Decimal, Decimal]:
    """Return the sums (picked, ordered) of lines in pieces; a measured line counts as one."""
    counted = [
        (Decimal(bool(line.picked) and not line.is_open), Decimal(1))
        if line.allows_decimals
        else (line.picked, line.ordered)
        for line in lines
    ]
    return sum((picked for picked, _ in counted), Decimal(0)), sum((of for _, of in counted), Decimal(0))


def goods_of_lines(lines: Collection[PickLine]) -> tuple[GoodsSum, GoodsSum]:
    """Return the goods (picked, ordered) of lines."""
    units = [(line, line.unit if line.allows_decimals else None) for line in lines]
    return sum_goods((line.picked, unit) for line, unit in units), sum_goods(
        (line.ordered, unit) for line, unit in units
    )


def sum_line_goods(quantities: Iterable[tuple[PickLine, Decimal]]) -> GoodsSum:
    """Return the sum of line quantities, pieces and measures apart."""
    return sum_goods((quantity, line.unit if line.allows_decimals else None) for line, quantity in quantities)


def sum_in_hand(lines: Iterable[PickLine]) -> Decimal:
    """Return the number of pieces picked and not put down; a measured line counts as one."""
    return sum_pieces((line, line.in_hand) for line in lines)


def sum_own_in_hand(lines: Iterable[PickLine]) -> Decimal:
    """Return the number of pieces in this picker's hand; a measured line counts as one."""
    return sum_pieces((line, line.own_in_hand) for line in lines)


def sum_pieces(quantities: Iterable[tuple[PickLine, Decimal]]) -> Decimal:
    """Return the sum of line quantities in pieces; a measured line counts as one."""
    counted = (Decimal(bool(quantity)) if line.allows_decimals else quantity for line, quantity in quantities)
    return sum(counted, Decimal(0))


WalkKey = tuple[Decimal, Decimal, tuple[tuple[int, int, str], ...]]
"""Sort key of stops: walking order, order of the location, its code."""


def sort_stops(lines: Iterable[PickLine], ranks: Mapping[str, int]) -> tuple[PickLine, ...]:
    """Return lines of any orders in walking order. Lines at one location are together, and so are lines of one stop.
    `ranks` is the order of the orders."""
    all_lines = tuple(lines)
    location_keys: dict[str, WalkKey] = {}
    stops: dict[Any, tuple[WalkKey, int, int]] = {}
    for line in all_lines:
        walk_key = line.walk_order, line.location_order, natural_key(line.location)
        first = walk_key, ranks.get(line.order, 0), line.line
        location_keys[line.location_key] = min(location_keys.get(line.location_key, walk_key), walk_key)
        stops[line.stop_key] = min(stops.get(line.stop_key, first), first)

    def key(line: PickLine) -> tuple[Any, ...]:
        return (
            location_keys[line.location_key],
            line.location.casefold(),
            stops[line.stop_key],
            line.stop_key,
            ranks.get(line.order, 0),
            line.line,
        )

    return tuple(sorted(all_lines, key=key))


def move_line(line: PickLine, location: str, pool: int, known: Iterable[PickLine]) -> PickLine:
    """Return the line at another location, with the walking order of the nearest known location code."""
    here = natural_key(location)
    neighbours = sorted(
        (natural_key(each.location), each.walk_order, each.location_order) for each in known if each.location
    )
    before = [(walk, location_order) for code, walk, location_order in neighbours if code <= here]
    after = [(walk, location_order) for code, walk, location_order in neighbours if code > here]
    walk, location_order = before[-1] if before else after[0] if after else (NO_WALK_ORDER, NO_WALK_ORDER)
    return line.at_location(location, pool)._replace(walk_order=walk, location_order=location_order)


def _parse_line(row: OrderLineRow, order: str) -> PickLine:
    of, picked = to_decimal(row.get("quantity")), to_decimal(row.get("picked_quantity"))
    pool, further = int(to_decimal(row.get("stock_pool"))), _parse_pools(row.get("picking_stock_pool_array"))
    pools = tuple(dict.fromkeys((pool, *further) if pool and further else further))
    from_warehouse = is_from_warehouse(row)
    location = "" if from_warehouse else _choose_location(row, pools)
    walk = to_decimal(row.get("store_walking_order"))
    line = PickLine(
        line=int(row["line_number"]),
        product=str(row.get("product_number") or ""),
        label=str(row.get("description") or row.get("product_number") or ""),
        ordered=of,
        picked=Decimal(0),
        moved=to_decimal(row.get("moved_quantity")),
        location=location,
        pool=pool,
        allows_decimals=bool(row.get("allow_decimal")),
        unit=str(row.get("unit") or ""),
        price=to_decimal(row.get("price")),
        is_closed=bool(row.get("is_picked")) and picked < of,
        order=order,
        pools=pools,
        barred_pools=_find_barred_pools(row, location, pools),
        walk_order=walk if walk > 0 else NO_WALK_ORDER,
        location_order=_location_order(row, location),
        has_stock=row.get("is_stock") is not False,
        stocked_locations=() if from_warehouse else _find_stocked_locations(row, pools),
        put_down_at=tuple(
            str(each["location_code"]) for each in row.get("put_down") or () if to_decimal(each.get("quantity")) > 0
        ),
        held_for=tuple(
            (held["order_number"], to_decimal(held["quantity"]))
            for held in row.get("held_goods") or ()
            if held["order_number"] != order
        ),
        held_at=tuple(
            HeldAt(held["location_code"], held["order_number"], to_decimal(held["quantity"]))
            for held in row.get("held_goods") or ()
        ),
        is_from_warehouse=from_warehouse,
    )
    line = line._replace(picked=picked, picked_from=(PickedFrom(location, 0, picked),) if picked > 0 else ())
    return line._replace(
        stock_when_read=_parse_stock(row),
        pool_stock_when_read=_parse_pool_stock(row),
        picked_from_when_read=line.picked_from,
    )


def is_from_warehouse(row: OrderLineRow) -> bool:
    """Return True if the goods of a line are picked in the warehouse, so that they are no stock of the store."""
    extension = row.get("aisle")
    sources = (row, extension if isinstance(extension, dict) else {})
    return any(each.get("is_picked_from_warehouse") in (True, "true") for each in sources)


def _parse_stock(line: OrderLineRow) -> tuple[tuple[str, Decimal], ...]:
    return tuple((str(location), to_decimal(quantity)) for location, quantity in (line.get("stock") or {}).items())


def _parse_pool_stock(line: OrderLineRow) -> tuple[PoolStock, ...]:
    return tuple(
        PoolStock(location, int(pool), to_decimal(quantity))
        for location, pools in (line.get("stock_by_pool") or {}).items()
        for pool, quantity in pools.items()
    )


def _parse_pools(given: Any) -> tuple[int, ...]:
    numbers = (int(to_decimal(pool)) for pool in given) if isinstance(given, list | tuple) else ()
    return tuple(pool for pool in numbers if pool > 0)


def _choose_location(line: OrderLineRow, pools: tuple[int, ...]) -> str:
    """Return the preferred location of the line, else the first with stock in an allowed pool."""
    preferred = line.get("preferred_location_code")
    if preferred:
        return str(preferred)
    locations = [location for location in line.get("locations") or () if location.get("location_code")]
    if not locations:
        return str(line.get("stock_location") or "")
    locations.sort(
        key=lambda location: (
            to_decimal(location.get("location_order"), NO_WALK_ORDER),
            natural_key(str(location["location_code"])),
        )
    )
    stocked = [
        location for location in locations if location.get("quantity") is None or to_decimal(location["quantity"]) > 0
    ]
    allowed = [location for location in stocked if is_pool_allowed(pools, location.get("pools") or {})]
    return str((allowed or stocked or locations)[0]["location_code"])


def is_pool_allowed(pools: tuple[int, ...], stock: Mapping[str, Number]) -> bool:
    """Return True if no pool is required, there is no stock, or some stock is in a required pool."""
    stocked = [pool for pool, quantity in stock.items() if to_decimal(quantity) > 0]
    return not pools or not stocked or any(str(pool) in stocked for pool in pools)


def _find_barred_pools(line: OrderLineRow, location: str, pools: tuple[int, ...]) -> tuple[int, ...]:
    stock = next(
        (place.get("pools") or {} for place in line.get("locations") or () if place.get("location_code") == location),
        {},
    )
    if is_pool_allowed(pools, stock):
        return ()
    return tuple(sorted(int(pool) for pool, quantity in stock.items() if to_decimal(quantity) > 0))


def _find_stocked_locations(line: OrderLineRow, pools: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    stocked_locations = []
    for place in line.get("locations") or ():
        stock = place.get("pools") or {}
        if place.get("location_code") and to_decimal(place.get("quantity")) > 0 and is_pool_allowed(pools, stock):
            stocked = [pool for pool in pools if to_decimal(stock.get(str(pool))) > 0]
            stocked_locations.append((str(place["location_code"]), stocked[0] if stocked else 0))
    return tuple(stocked_locations)


def _location_order(line: OrderLineRow, location: str) -> Decimal:
    for place in line.get("locations") or ():
        if place.get("location_code") == location:
            return to_decimal(place.get("location_order"), NO_WALK_ORDER)
    return NO_WALK_ORDER
