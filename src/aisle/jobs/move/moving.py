"""The state of moving goods inside the store, and what the store's data says of them.

What somebody has taken is in hand, or on the cart, until a place or an order is scanned for it; only then a movement is
written. Quantities are Decimals in base units.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.feet import LAST
from aisle.scan.meaning import Meaning
from aisle.settings import LARGE_QUANTITY
from aisle.tuples import NamedTuple

HISTORY = 50
"""So many takes and moves can be undone, last first."""

UNKNOWN = Decimal(-1)
"""Stands for a quantity that nobody here knows."""

ZERO = Decimal(0)

HELD_BY = "assignment/"
"""Begins the name under which an open job holds an assignment, as it holds orders."""


class Pool(NamedTuple):
    """A stock pool of the store."""

    number: int
    name: str = ""


class InPool(NamedTuple):
    """How much of something belongs to a pool."""

    pool: int
    quantity: Decimal


class Hold(NamedTuple):
    """Goods that an order line has, at a place or (empty) in somebody's hand."""

    order: str
    line: int
    quantity: Decimal
    place: str = ""


class Lying(NamedTuple):
    """One product as the books have it where goods are taken from."""

    product: str
    label: str
    free: Decimal = UNKNOWN
    """Without what is held for orders."""
    pools: tuple[InPool, ...] = ()
    """The free goods by pool, as far as that is known; the pool that is taken from first stands first."""
    held: tuple[Hold, ...] = ()
    decimal: bool = False
    unit: str = ""


class Part(NamedTuple):
    """Goods of one product from one place, in hand or on the cart."""

    product: str
    label: str
    quantity: Decimal
    place: str = ""
    """Where they were taken; empty: no place."""
    pool: int = 0
    """The pool that was chosen for them; 0 leaves it to the books."""
    order: str = ""
    """They are held for this order."""
    line: int = 0
    keep: bool = False
    """They stay held for their order wherever they are put."""
    books: Decimal = UNKNOWN
    """What the books say could be taken there."""
    pools: tuple[InPool, ...] = ()
    decimal: bool = False
    unit: str = ""
    over: bool = False
    """Somebody chose to move more than the books have."""
    home: str = ""
    """Where it goes: of the places where more of it lies the first on the way; empty where nobody knows one."""
    home_order: Decimal = LAST
    most_at: str = ""
    """Where the most of it lies beside the place that it comes from; empty where nobody knows of any."""
    most: Decimal = ZERO


class Wanting(NamedTuple):
    """A line of the order that goods are brought to, and what it still takes."""

    product: str
    line: int
    room: Decimal


class Leg(NamedTuple):
    """One item of a movement."""

    product: str
    label: str
    quantity: Decimal
    place: str = ""
    pool: int = 0
    order: str = ""
    line: int = 0
    to_place: str = ""
    to_pool: int = 0
    to_order: str = ""
    to_line: int = 0
    over: bool = False


class Did(NamedTuple):
    """What undo takes back: goods that came into the hand, or (with legs) goods that left it."""

    parts: tuple[Part, ...]
    legs: tuple[Leg, ...] = ()
    moment: str = ""
    """When the goods left it. In that same moment the books do not know of it: what comes in one read is kept at its
    end."""


class Way(NamedTuple):
    """One numbered way on; what key and quantity mean depends on its kind."""

    kind: str
    key: str = ""
    quantity: Decimal = ZERO
    line: int = 0


class Task(NamedTuple):
    """Goods of an order line that a clearance wants moved from their place; once they are elsewhere, nobody's."""

    id: str
    product: str
    label: str
    place: str
    order: str
    line: int
    quantity: Decimal
    decimal: bool = False
    unit: str = ""

    @property
    def lying(self) -> Lying:
        """As the move job knows goods of a line."""
        hold = Hold(self.order, self.line, self.quantity, self.place)
        return Lying(self.product, self.label, ZERO, (), (hold,), self.decimal, self.unit)


class Moving(NamedTuple):
    """Goods being moved."""

    phase: str = "from"
    """`from`, `take`, `load` and `put` (a cart), `where` (for an order), `pool`, `leave`."""
    places: bool = True
    """The store keeps places."""
    started: bool = False
    """Goods can be taken: from a place, from an order, or from no place."""
    place: str = ""
    order: str = ""
    """The order that goods are taken from."""
    lines: tuple[Lying, ...] = ()
    """What that order has."""
    shelf: tuple[Lying, ...] = ()
    """What the books have here, as far as it was looked up."""
    known: bool = False
    """The books have said what lies here: that is the shelf, unless it is too much to be read at once."""
    partly: bool = False
    """It is, and the shelf has only a part of it."""
    lying: int = 0
    """So many products lie here by the books."""
    default: int = 0
    """The pool that the place takes from first; 0 where none is known."""
    hand: tuple[Part, ...] = ()
    at: int = -1
    """Index of the goods whose quantity is open."""
    portion: Decimal = ZERO
    """So many of the goods on the screen go with the next place or order; 0 for all."""
    from_pool: int = 0
    to_pool: int = 0
    choosing: str = ""
    """`from` or `to`, while a pool is chosen."""
    back_to: str = ""
    """The phase to return to from a question."""
    pools: tuple[Pool, ...] = ()
    target: str = ""
    """The order that goods are brought to."""
    rooms: tuple[Wanting, ...] = ()
    pending: Meaning | None = None
    """A scan of a product that has still to be looked up."""
    asked: Decimal = ZERO
    """Digits that are looked up: a quantity, or the number of something."""
    undoing: bool = False
    undone: bool = False
    """A move was taken back last: the books have the goods where they came from, whether a hand has them or not."""
    ways: tuple[Way, ...] = ()
    history: tuple[Did, ...] = ()
    since: str = ""
    """When the job was opened; what was refused before then is no news."""
    told: tuple[str, ...] = ()
    """Refusals that were told."""
    task: Task | None = None
    """What it was opened for; it closes when that is moved."""
    limit: Decimal = LARGE_QUANTITY
    """So many are asked about where the books are silent."""
    unnamed: bool = False
    """The service has not said of any goods at which place they lie."""

    @property
    def cart(self) -> bool:
        """Goods are loaded on a cart."""
        return "load" in (self.phase, self.back_to) or "put" in (self.phase, self.back_to)

    @property
    def part(self) -> Part | None:
        """The goods on the screen."""
        return self.hand[self.at] if 0 <= self.at < len(self.hand) else None

    @property
    def scope(self) -> tuple[Part, ...]:
        """What the next place or order takes: all that is in hand, or the goods on the screen from the cart."""
        part = self.part
        less = part._replace(quantity=self.portion) if part and self.portion else part
        if "put" in (self.phase, self.back_to):
            return (less,) if less else ()
        return tuple(less if less and index == self.at else each for index, each in enumerate(self.hand))


# What the store's data says


def shelf_of(row: Mapping[str, Any]) -> tuple[Lying, ...]:
    """What lies at a place (a row of the read `place`)."""
    first = int(number(row.get("default_stock_pool")))
    return tuple(_lying(each, first) for each in row.get("products") or ())


def _lying(row: Mapping[str, Any], first: int) -> Lying:
    product = str(row["product_number"])
    held = tuple(
        Hold(str(hold["order_number"]), int(hold["line_number"]), number(hold.get("quantity")))
        for hold in row.get("held") or ()
    )
    pools = in_pools(row.get("pools") or {}, first)
    label = str(row.get("description") or product)
    free = UNKNOWN
    if row.get("quantity") is not None:
        free = max(ZERO, number(row["quantity"]) - sum((hold.quantity for hold in held), ZERO))
    if held and (len(pools) > 1 or not free):
        pools = ()  # nobody knows from which pools the held goods came
    elif held and pools:
        pools = (InPool(pools[0].pool, free),)
    return Lying(product, label, free, pools, held, bool(row.get("allow_decimal")), str(row.get("unit") or ""))


def in_pools(quantities: Mapping[str, Any], first: int) -> tuple[InPool, ...]:
    """Pools with something in them: the first, then ascending, as the books take from them."""
    found = [InPool(int(pool), number(quantity)) for pool, quantity in quantities.items()]
    wanted = first or 1
    return tuple(
        sorted((each for each in found if each.quantity > 0), key=lambda each: (each.pool != wanted, each.pool))
    )


def nowhere_of(row: Mapping[str, Any]) -> Lying:
    """What of a product (a row of the read `product`) lies at no place, without what is in hand for orders."""
    product = str(row["product_number"])
    label = str(row.get("product_name") or row.get("product_description") or product)
    left = {str(pool["pool"]): number(pool.get("quantity")) for pool in row.get("pools") or ()}
    total = row.get("most_likely_quantity")
    free = UNKNOWN if total is None else number(total)
    for place in row.get("places") or ():
        unknown = free == UNKNOWN or place.get("quantity") is None
        free = UNKNOWN if unknown else free - number(place["quantity"])
        for pool, quantity in (place.get("pools") or {}).items():
            left[str(pool)] = left.get(str(pool), ZERO) - number(quantity)
    hand = number(row.get("in_hand"))  # nobody knows from which pools
    known = UNKNOWN if free == UNKNOWN else max(ZERO, free - hand)
    return Lying(
        product,
        label,
        known,
        () if hand else in_pools(left, 0),
        (),
        bool(row.get("allow_decimal")),
        str(row.get("unit") or ""),
    )


def holdings(row: Mapping[str, Any], place: str) -> tuple[Lying, ...]:
    """What an order (a row of the read `order`) has of each product: at this place, or in hand and everywhere."""
    found: dict[str, Lying] = {}
    for line in row.get("lines") or ():
        product, at = str(line.get("product_number") or ""), int(line["line_number"])
        order = str(row["order_number"])
        kept = [
            Hold(order, at, number(each.get("quantity")), str(each["location_code"])) for each in line.get("kept") or ()
        ]
        lying = sum((hold.quantity for hold in kept), ZERO)
        if any(each.get("quantity") is None for each in line.get("kept") or ()):
            lying = number(line.get("picked_quantity"))  # so much of it lies there as is in no hand
        hand = number(line.get("picked_quantity")) - max(number(line.get("moved_quantity")), lying)
        hand = ZERO if line.get("is_stock") is False else hand
        kept.append(Hold(order, at, hand))
        wanted = place.casefold()
        mine = tuple(hold for hold in kept if hold.quantity > 0 and wanted in ("", hold.place.casefold()))
        known = found.get(product) or Lying(product, str(line.get("description") or product), ZERO)
        more = bool(line.get("allow_decimal")), str(line.get("unit") or "")
        found[product] = known._replace(held=(*known.held, *mine), decimal=more[0], unit=more[1])
    return tuple(found.values())


def wanting(row: Mapping[str, Any]) -> tuple[Wanting, ...]:
    """What the lines of an order still take."""
    return tuple(
        Wanting(
            str(line.get("product_number") or ""),
            int(line["line_number"]),
            max(ZERO, number(line.get("quantity")) - number(line.get("picked_quantity"))),
        )
        for line in row.get("lines") or ()
    )
