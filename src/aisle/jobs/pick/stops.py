"""The lines of orders as stops, in the order in which feet go; over several orders."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.quantities import to_decimal
from aisle.jobs.walk_order import NO_WALK_ORDER, natural_key


def same_location(one: str, other: str) -> bool:
    """Whether two codes name one location: services write them in capitals or not."""
    return one.casefold() == other.casefold()


class PickedFrom(NamedTuple):
    """So much was taken there; pool 0 is one that nobody named."""

    location: str
    pool: int
    quantity: Decimal


class PickLine(NamedTuple):
    """One line of an order as a stop of the walk. Quantities are in base units."""

    line: int
    product: str
    label: str
    ordered: Decimal
    picked: Decimal
    moved: Decimal
    location: str
    """Where it is taken from; empty when the store keeps no places or nobody knows one."""
    pool: int
    allows_decimals: bool
    unit: str
    price: Decimal
    is_closed: bool
    """The line counts as picked, though short."""
    order: str = ""
    """Whose line it is."""
    pools: tuple[int, ...] = ()
    """Stock pools that it may come from; empty where nobody says."""
    barred_pools: tuple[int, ...] = ()
    """Pools of what lies at its place, where it may come from none of them."""
    walk_order: Decimal = NO_WALK_ORDER
    location_order: Decimal = NO_WALK_ORDER
    """The walking order of the line, and the order of its place."""
    has_stock: bool = True
    """Stock is kept of it; what has none lies at no place by the books, and is never moved."""
    picked_from: tuple[PickedFrom, ...] = ()
    """Where what is picked was taken, the last at the end."""
    own_picked: Decimal = Decimal(0)
    """How much of what is in hand is in the hand of whoever picks here; the rest is in somebody else's."""
    stocked_locations: tuple[tuple[str, int], ...] = ()
    """The places that have some of it for this line, and a pool there that it may come from (0: not known)."""
    stock_when_read: tuple[tuple[str, Decimal], ...] = ()
    """What the books had at each place when the line was read; none where nobody said."""
    picked_when_read: Decimal = Decimal(0)
    """What was picked of it then."""
    put_down_at: tuple[str, ...] = ()
    """The places where what was put down of it lies."""

    @property
    def is_open(self) -> bool:
        """True while something is still to be taken."""
        return not self.is_closed and self.picked < self.ordered

    @property
    def remaining(self) -> Decimal:
        """What is still to be taken."""
        return max(Decimal(0), self.ordered - self.picked)

    @property
    def in_hand(self) -> Decimal:
        """What is picked and not put down yet; nothing of what no stock is kept of."""
        return max(Decimal(0), self.picked - self.moved) if self.has_stock else Decimal(0)

    @property
    def own_in_hand(self) -> Decimal:
        """What of it is in this hand."""
        return min(self.own_picked, self.in_hand)

    def with_picked(self, picked: Decimal, *, own: bool = True) -> PickLine:
        """The line with so much picked: more is taken where it is taken now, less goes back from the last place.

        From which pool others took theirs nobody here knows.
        """
        taken, more = list(self.picked_from), picked - self.picked
        if more > 0:
            pool = self.pool if own else 0
            last = taken.pop() if taken and taken[-1][:2] == (self.location, pool) else None
            taken.append(PickedFrom(self.location, pool, more + (last.quantity if last else 0)))
        while more < 0 and taken:
            last = taken.pop()
            more += last.quantity
            if more > 0:
                taken.append(last._replace(quantity=more))
        at = self._replace(picked=picked, picked_from=tuple(taken))
        mine = max(Decimal(0), self.own_picked + picked - self.picked) if own else min(self.own_picked, at.in_hand)
        return at._replace(own_picked=mine)

    @property
    def sources_in_hand(self) -> tuple[PickedFrom, ...]:
        """Where what is in this hand came from: what was put down was taken first."""
        found: list[PickedFrom] = []
        left = self.own_in_hand
        for each in reversed(self.picked_from):
            part = min(left, each.quantity)
            if part > 0:
                found.append(each._replace(quantity=part))
                left -= part
        return (*found, PickedFrom(self.location, 0, left)) if left > 0 else tuple(found)

    @property
    def expected_stock(self) -> Decimal | None:
        """What the books had at its place when the line was read; None where nobody says."""
        if not self.stock_when_read or not self.location:
            return None
        return sum((had for place, had in self.stock_when_read if same_location(place, self.location)), Decimal(0))

    @property
    def stop_key(self) -> tuple[str, str, int, str]:
        """What makes lines one stop: place, product and pool. What is weighed is weighed for each line."""
        return (
            self.location.casefold(),
            self.product,
            self.pool,
            f"{self.order}/{self.line}" if self.allows_decimals else "",
        )

    @property
    def location_key(self) -> str:
        """Where feet go for it; what has no place is a spot of its own."""
        return self.location.casefold() or f" {self.product}"


def parse_lines(lines: Iterable[Mapping[str, Any]], order: str = "") -> tuple[PickLine, ...]:
    """The lines of an order (rows of the read `order`) as stops in walking order."""
    return sort_stops((_parse_line(line, order) for line in lines), {order: 0})


def is_nothing_picked(lines: Collection[PickLine]) -> bool:
    """Whether every line is closed, and nothing at all was picked."""
    return bool(lines) and all(take.is_closed and not take.picked for take in lines)


def count_pieces(lines: Iterable[PickLine]) -> tuple[Decimal, Decimal]:
    """(picked, ordered) of lines of any products, in pieces: what is measured counts as one, whatever its unit."""
    counted = [
        (Decimal(bool(take.picked) and not take.is_open), Decimal(1))
        if take.allows_decimals
        else (take.picked, take.ordered)
        for take in lines
    ]
    return sum((picked for picked, _ in counted), Decimal(0)), sum((of for _, of in counted), Decimal(0))


def sum_in_hand(lines: Iterable[PickLine]) -> Decimal:
    """How many pieces of these lines are picked and not put down; what is measured counts as one."""
    return sum_pieces((take, take.in_hand) for take in lines)


def sum_own_in_hand(lines: Iterable[PickLine]) -> Decimal:
    """How many of them are in this hand."""
    return sum_pieces((take, take.own_in_hand) for take in lines)


def sum_pieces(quantities: Iterable[tuple[PickLine, Decimal]]) -> Decimal:
    """So much of lines in pieces; what is measured counts as one."""
    counted = (Decimal(bool(quantity)) if take.allows_decimals else quantity for take, quantity in quantities)
    return sum(counted, Decimal(0))


WalkKey = tuple[Decimal, Decimal, tuple[tuple[int, int, str], ...]]
"""What stops are sorted by: walking order, order of the place, its code."""


def sort_stops(lines: Iterable[PickLine], ranks: Mapping[str, int]) -> tuple[PickLine, ...]:
    """Lines of any orders in walking order: what shares a place is taken together, what is one stop stands in a row.

    `ranks` says in which order the orders themselves come.
    """
    given = tuple(lines)
    spots: dict[str, WalkKey] = {}
    stops: dict[Any, tuple[WalkKey, int, int]] = {}
    for take in given:
        feet = take.walk_order, take.location_order, natural_key(take.location)
        first = feet, ranks.get(take.order, 0), take.line
        spots[take.location_key] = min(spots.get(take.location_key, feet), feet)
        stops[take.stop_key] = min(stops.get(take.stop_key, first), first)

    def key(take: PickLine) -> tuple[Any, ...]:
        line = ranks.get(take.order, 0), take.line
        return spots[take.location_key], take.location.casefold(), stops[take.stop_key], take.stop_key, line

    return tuple(sorted(given, key=key))


def move_line(line: PickLine, location: str, pool: int, known: Iterable[PickLine]) -> PickLine:
    """The line, taken at another place: where that comes in the walk, the places around it say."""
    moved = line._replace(location=location, pool=pool or line.pool, barred_pools=())
    here = natural_key(location)
    near = sorted((natural_key(each.location), each.walk_order, each.location_order) for each in known if each.location)
    before = [(walk, shelf) for code, walk, shelf in near if code <= here]
    after = [(walk, shelf) for code, walk, shelf in near if code > here]
    walk, shelf = before[-1] if before else after[0] if after else (NO_WALK_ORDER, NO_WALK_ORDER)
    return moved._replace(walk_order=walk, location_order=shelf)


def _parse_line(row: Mapping[str, Any], order: str) -> PickLine:
    of, picked = to_decimal(row.get("quantity")), to_decimal(row.get("picked_quantity"))
    pool, further = int(to_decimal(row.get("stock_pool"))), _parse_pools(row.get("picking_stock_pool_array"))
    pools = tuple(dict.fromkeys((pool, *further) if pool and further else further))
    place = _choose_location(row, pools)
    walk = to_decimal(row.get("store_walking_order"))
    take = PickLine(
        line=int(row["line_number"]),
        product=str(row.get("product_number") or ""),
        label=str(row.get("description") or row.get("product_number") or ""),
        ordered=of,
        picked=Decimal(0),
        moved=to_decimal(row.get("moved_quantity")),
        location=place,
        pool=pool,
        allows_decimals=bool(row.get("allow_decimal")),
        unit=str(row.get("unit") or ""),
        price=to_decimal(row.get("price")),
        is_closed=bool(row.get("is_picked")) and picked < of,
        order=order,
        pools=pools,
        barred_pools=_find_barred_pools(row, place, pools),
        walk_order=walk if walk > 0 else NO_WALK_ORDER,
        location_order=_location_order(row, place),
        has_stock=row.get("is_stock") is not False,
        stocked_locations=_find_stocked_locations(row, pools),
        put_down_at=tuple(
            str(each["location_code"]) for each in row.get("kept") or () if to_decimal(each.get("quantity")) > 0
        ),
    )
    return take.with_picked(picked, own=False)._replace(stock_when_read=_parse_stock(row), picked_when_read=picked)


def _parse_stock(line: Mapping[str, Any]) -> tuple[tuple[str, Decimal], ...]:
    return tuple((str(place), to_decimal(quantity)) for place, quantity in (line.get("stock") or {}).items())


def _parse_pools(given: Any) -> tuple[int, ...]:
    numbers = (int(to_decimal(pool)) for pool in given) if isinstance(given, list | tuple) else ()
    return tuple(pool for pool in numbers if pool > 0)


def _choose_location(line: Mapping[str, Any], pools: tuple[int, ...]) -> str:
    """The place that the line names, else the first with some of it in a pool that it may come from."""
    preferred = line.get("preferred_location_code")
    if preferred:
        return str(preferred)
    places = [place for place in line.get("places") or () if place.get("location_code")]
    if not places:
        return str(line.get("stock_location") or "")
    places.sort(
        key=lambda place: (
            to_decimal(place.get("location_order"), NO_WALK_ORDER),
            natural_key(str(place["location_code"])),
        )
    )
    stocked = [place for place in places if place.get("quantity") is None or to_decimal(place["quantity"]) > 0]
    allowed = [place for place in stocked if is_pool_allowed(pools, place.get("pools") or {})]
    return str((allowed or stocked or places)[0]["location_code"])


def is_pool_allowed(pools: tuple[int, ...], stock: Mapping[str, Any]) -> bool:
    """Whether something of what lies in these pools (by number as text) may be taken."""
    stocked = [pool for pool, quantity in stock.items() if to_decimal(quantity) > 0]
    return not pools or not stocked or any(str(pool) in stocked for pool in pools)


def _find_barred_pools(line: Mapping[str, Any], location: str, pools: tuple[int, ...]) -> tuple[int, ...]:
    lying = next(
        (known.get("pools") or {} for known in line.get("places") or () if known.get("location_code") == location), {}
    )
    if is_pool_allowed(pools, lying):
        return ()
    return tuple(sorted(int(pool) for pool, quantity in lying.items() if to_decimal(quantity) > 0))


def _find_stocked_locations(line: Mapping[str, Any], pools: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    """Where some of it lies that may be taken for the line."""
    found = []
    for known in line.get("places") or ():
        lying = known.get("pools") or {}
        if known.get("location_code") and to_decimal(known.get("quantity")) > 0 and is_pool_allowed(pools, lying):
            stocked = [pool for pool in pools if to_decimal(lying.get(str(pool))) > 0]
            found.append((str(known["location_code"]), stocked[0] if stocked else 0))
    return tuple(found)


def _location_order(line: Mapping[str, Any], location: str) -> Decimal:
    for known in line.get("places") or ():
        if known.get("location_code") == location:
            return to_decimal(known.get("location_order"), NO_WALK_ORDER)
    return NO_WALK_ORDER
