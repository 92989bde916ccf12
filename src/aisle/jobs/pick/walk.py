"""The lines of orders as stops, in the order in which feet go; over several orders."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.feet import LAST, natural
from aisle.tuples import NamedTuple


def same_location(one: str, other: str) -> bool:
    """Whether two codes name one location: services write them in capitals or not."""
    return one.casefold() == other.casefold()


class Taken(NamedTuple):
    """So much was taken there; pool 0 is one that nobody named."""

    place: str
    pool: int
    quantity: Decimal


class Take(NamedTuple):
    """One line of an order as a stop of the walk. Quantities are in base units."""

    line: int
    product: str
    label: str
    of: Decimal
    picked: Decimal
    moved: Decimal
    place: str
    """Where it is taken from; empty when the store keeps no places or nobody knows one."""
    pool: int
    decimal: bool
    unit: str
    price: Decimal
    closed: bool
    """The line counts as picked, though short."""
    order: str = ""
    """Whose line it is."""
    pools: tuple[int, ...] = ()
    """Stock pools that it may come from; empty where nobody says."""
    barred: tuple[int, ...] = ()
    """Pools of what lies at its place, where it may come from none of them."""
    walk: Decimal = LAST
    shelf: Decimal = LAST
    """The walking order of the line, and the order of its place."""
    stocked: bool = True
    """Stock is kept of it; what has none lies at no place by the books, and is never moved."""
    taken: tuple[Taken, ...] = ()
    """Where what is picked was taken, the last at the end."""
    mine: Decimal = Decimal(0)
    """How much of what is in hand is in the hand of whoever picks here; the rest is in somebody else's."""
    lies: tuple[tuple[str, int], ...] = ()
    """The places that have some of it for this line, and a pool there that it may come from (0: not known)."""
    stock: tuple[tuple[str, Decimal], ...] = ()
    """What the books had at each place when the line was read; none where nobody said."""
    read: Decimal = Decimal(0)
    """What was picked of it then."""
    kept: tuple[str, ...] = ()
    """The places where what was put down of it lies."""

    @property
    def open(self) -> bool:
        """True while something is still to be taken."""
        return not self.closed and self.picked < self.of

    @property
    def rest(self) -> Decimal:
        """What is still to be taken."""
        return max(Decimal(0), self.of - self.picked)

    @property
    def in_hand(self) -> Decimal:
        """What is picked and not put down yet; nothing of what no stock is kept of."""
        return max(Decimal(0), self.picked - self.moved) if self.stocked else Decimal(0)

    @property
    def own(self) -> Decimal:
        """What of it is in this hand."""
        return min(self.mine, self.in_hand)

    def at(self, picked: Decimal, *, own: bool = True) -> Take:
        """The line with so much picked: more is taken where it is taken now, less goes back from the last place.

        From which pool others took theirs nobody here knows.
        """
        taken, more = list(self.taken), picked - self.picked
        if more > 0:
            pool = self.pool if own else 0
            last = taken.pop() if taken and taken[-1][:2] == (self.place, pool) else None
            taken.append(Taken(self.place, pool, more + (last.quantity if last else 0)))
        while more < 0 and taken:
            last = taken.pop()
            more += last.quantity
            if more > 0:
                taken.append(last._replace(quantity=more))
        at = self._replace(picked=picked, taken=tuple(taken))
        mine = max(Decimal(0), self.mine + picked - self.picked) if own else min(self.mine, at.in_hand)
        return at._replace(mine=mine)

    @property
    def origins(self) -> tuple[Taken, ...]:
        """Where what is in this hand came from: what was put down was taken first."""
        found: list[Taken] = []
        left = self.own
        for each in reversed(self.taken):
            part = min(left, each.quantity)
            if part > 0:
                found.append(each._replace(quantity=part))
                left -= part
        return (*found, Taken(self.place, 0, left)) if left > 0 else tuple(found)

    @property
    def books(self) -> Decimal | None:
        """What the books had at its place when the line was read; None where nobody says."""
        if not self.stock or not self.place:
            return None
        return sum((had for place, had in self.stock if same_location(place, self.place)), Decimal(0))

    @property
    def stop(self) -> tuple[str, str, int, str]:
        """What makes lines one stop: place, product and pool. What is weighed is weighed for each line."""
        return self.place.casefold(), self.product, self.pool, f"{self.order}/{self.line}" if self.decimal else ""

    @property
    def spot(self) -> str:
        """Where feet go for it; what has no place is a spot of its own."""
        return self.place.casefold() or f" {self.product}"


def takes(lines: Iterable[Mapping[str, Any]], order: str = "") -> tuple[Take, ...]:
    """The lines of an order (rows of the read `order`) as stops in walking order."""
    return arranged((_take(line, order) for line in lines), {order: 0})


def is_nothing(takes: Collection[Take]) -> bool:
    """Whether every line is closed, and nothing at all was picked."""
    return bool(takes) and all(take.closed and not take.picked for take in takes)


def pieces(takes: Iterable[Take]) -> tuple[Decimal, Decimal]:
    """(picked, ordered) of lines of any products, in pieces: what is measured counts as one, whatever its unit."""
    counted = [
        (Decimal(bool(take.picked) and not take.open), Decimal(1)) if take.decimal else (take.picked, take.of)
        for take in takes
    ]
    return sum((picked for picked, _ in counted), Decimal(0)), sum((of for _, of in counted), Decimal(0))


def all_in_hand(takes: Iterable[Take]) -> Decimal:
    """How many pieces of these lines are picked and not put down; what is measured counts as one."""
    return in_pieces((take, take.in_hand) for take in takes)


def all_own(takes: Iterable[Take]) -> Decimal:
    """How many of them are in this hand."""
    return in_pieces((take, take.own) for take in takes)


def in_pieces(held: Iterable[tuple[Take, Decimal]]) -> Decimal:
    """So much of lines in pieces; what is measured counts as one."""
    counted = (Decimal(bool(quantity)) if take.decimal else quantity for take, quantity in held)
    return sum(counted, Decimal(0))


Feet = tuple[Decimal, Decimal, tuple[tuple[int, int, str], ...]]
"""What stops are sorted by: walking order, order of the place, its code."""


def arranged(all_: Iterable[Take], ranks: Mapping[str, int]) -> tuple[Take, ...]:
    """Lines of any orders in walking order: what shares a place is taken together, what is one stop stands in a row.

    `ranks` says in which order the orders themselves come.
    """
    given = tuple(all_)
    spots: dict[str, Feet] = {}
    stops: dict[Any, tuple[Feet, int, int]] = {}
    for take in given:
        feet = take.walk, take.shelf, natural(take.place)
        first = feet, ranks.get(take.order, 0), take.line
        spots[take.spot] = min(spots.get(take.spot, feet), feet)
        stops[take.stop] = min(stops.get(take.stop, first), first)

    def key(take: Take) -> tuple[Any, ...]:
        line = ranks.get(take.order, 0), take.line
        return spots[take.spot], take.place.casefold(), stops[take.stop], take.stop, line

    return tuple(sorted(given, key=key))


def elsewhere(take: Take, place: str, pool: int, known: Iterable[Take]) -> Take:
    """The line, taken at another place: where that comes in the walk, the places around it say."""
    moved = take._replace(place=place, pool=pool or take.pool, barred=())
    here = natural(place)
    near = sorted((natural(each.place), each.walk, each.shelf) for each in known if each.place)
    before = [(walk, shelf) for code, walk, shelf in near if code <= here]
    after = [(walk, shelf) for code, walk, shelf in near if code > here]
    walk, shelf = before[-1] if before else after[0] if after else (LAST, LAST)
    return moved._replace(walk=walk, shelf=shelf)


def _take(line: Mapping[str, Any], order: str) -> Take:
    of, picked = number(line.get("quantity")), number(line.get("picked_quantity"))
    pool, further = int(number(line.get("stock_pool"))), _pools(line.get("picking_stock_pool_array"))
    pools = tuple(dict.fromkeys((pool, *further) if pool and further else further))
    place = _place(line, pools)
    walk = number(line.get("store_walking_order"))
    take = Take(
        line=int(line["line_number"]),
        product=str(line.get("product_number") or ""),
        label=str(line.get("description") or line.get("product_number") or ""),
        of=of,
        picked=Decimal(0),
        moved=number(line.get("moved_quantity")),
        place=place,
        pool=pool,
        decimal=bool(line.get("allow_decimal")),
        unit=str(line.get("unit") or ""),
        price=number(line.get("price")),
        closed=bool(line.get("is_picked")) and picked < of,
        order=order,
        pools=pools,
        barred=_barred(line, place, pools),
        walk=walk if walk > 0 else LAST,
        shelf=_place_order(line, place),
        stocked=line.get("is_stock") is not False,
        lies=_lies(line, pools),
        kept=tuple(str(each["location_code"]) for each in line.get("kept") or () if number(each.get("quantity")) > 0),
    )
    return take.at(picked, own=False)._replace(stock=_stock(line), read=picked)


def _stock(line: Mapping[str, Any]) -> tuple[tuple[str, Decimal], ...]:
    return tuple((str(place), number(quantity)) for place, quantity in (line.get("stock") or {}).items())


def _pools(given: Any) -> tuple[int, ...]:
    numbers = (int(number(pool)) for pool in given) if isinstance(given, list | tuple) else ()
    return tuple(pool for pool in numbers if pool > 0)


def _place(line: Mapping[str, Any], pools: tuple[int, ...]) -> str:
    """The place that the line names, else the first with some of it in a pool that it may come from."""
    preferred = line.get("preferred_location_code")
    if preferred:
        return str(preferred)
    places = [place for place in line.get("places") or () if place.get("location_code")]
    if not places:
        return str(line.get("stock_location") or "")
    places.sort(key=lambda place: (number(place.get("location_order"), LAST), natural(str(place["location_code"]))))
    stocked = [place for place in places if place.get("quantity") is None or number(place["quantity"]) > 0]
    allowed = [place for place in stocked if allows(pools, place.get("pools") or {})]
    return str((allowed or stocked or places)[0]["location_code"])


def allows(pools: tuple[int, ...], lying: Mapping[str, Any]) -> bool:
    """Whether something of what lies in these pools (by number as text) may be taken."""
    stocked = [pool for pool, quantity in lying.items() if number(quantity) > 0]
    return not pools or not stocked or any(str(pool) in stocked for pool in pools)


def _barred(line: Mapping[str, Any], place: str, pools: tuple[int, ...]) -> tuple[int, ...]:
    lying = next(
        (known.get("pools") or {} for known in line.get("places") or () if known.get("location_code") == place), {}
    )
    if allows(pools, lying):
        return ()
    return tuple(sorted(int(pool) for pool, quantity in lying.items() if number(quantity) > 0))


def _lies(line: Mapping[str, Any], pools: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    """Where some of it lies that may be taken for the line."""
    found = []
    for known in line.get("places") or ():
        lying = known.get("pools") or {}
        if known.get("location_code") and number(known.get("quantity")) > 0 and allows(pools, lying):
            stocked = [pool for pool in pools if number(lying.get(str(pool))) > 0]
            found.append((str(known["location_code"]), stocked[0] if stocked else 0))
    return tuple(found)


def _place_order(line: Mapping[str, Any], place: str) -> Decimal:
    for known in line.get("places") or ():
        if known.get("location_code") == place:
            return number(known.get("location_order"), LAST)
    return LAST
