"""The state of moving goods inside the store, and what the store's data says of them.

What somebody has taken is in hand, or on the cart, until a place or an order is scanned for it; only then a movement is
written. Quantities are Decimals in base units.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.job import Effect, Turn
from aisle.jobs.quantities import to_decimal
from aisle.jobs.view import Msg, Verdict, msg
from aisle.jobs.walk_order import NO_WALK_ORDER
from aisle.scan.meaning import Match
from aisle.settings import LARGE_QUANTITY

MAX_UNDO = 50
"""So many takes and moves can be undone, last first."""

UNKNOWN_QUANTITY = Decimal(-1)
"""Stands for a quantity that nobody here knows."""

ZERO = Decimal(0)

ASSIGNMENT_PREFIX = "assignment/"
"""Begins the name under which an open job holds an assignment, as it holds orders."""


class Pool(NamedTuple):
    """A stock pool of the store."""

    number: int
    name: str = ""


class PoolQuantity(NamedTuple):
    """How much of something belongs to a pool."""

    pool: int
    quantity: Decimal


class HeldGoods(NamedTuple):
    """Goods that an order line has, at a place or (empty) in somebody's hand."""

    order: str
    line: int
    quantity: Decimal
    location: str = ""


class StockLine(NamedTuple):
    """One product as the books have it where goods are taken from."""

    product: str
    label: str
    free: Decimal = UNKNOWN_QUANTITY
    """Without what is held for orders."""
    pools: tuple[PoolQuantity, ...] = ()
    """The free goods by pool, as far as that is known; the pool that is taken from first stands first."""
    held: tuple[HeldGoods, ...] = ()
    allows_decimals: bool = False
    unit: str = ""


class Goods(NamedTuple):
    """Goods of one product from one place, in hand or on the cart."""

    product: str
    label: str
    quantity: Decimal
    location: str = ""
    """Where they were taken; empty: no place."""
    pool: int = 0
    """The pool that was chosen for them; 0 leaves it to the books."""
    order: str = ""
    """They are held for this order."""
    line: int = 0
    stays_held: bool = False
    """They stay held for their order wherever they are put."""
    available: Decimal = UNKNOWN_QUANTITY
    """What the books say could be taken there."""
    pools: tuple[PoolQuantity, ...] = ()
    allows_decimals: bool = False
    unit: str = ""
    allow_overage: bool = False
    """Somebody chose to move more than the books have."""
    suggested_location: str = ""
    """Where it goes: of the places where more of it lies the first on the way; empty where nobody knows one."""
    suggested_order: Decimal = NO_WALK_ORDER
    largest_stock_at: str = ""
    """Where the most of it lies beside the place that it comes from; empty where nobody knows of any."""
    largest_stock: Decimal = ZERO


class OrderNeed(NamedTuple):
    """A line of the order that goods are brought to, and what it still takes."""

    product: str
    line: int
    needed: Decimal


class MovementItem(NamedTuple):
    """One item of a movement."""

    product: str
    label: str
    quantity: Decimal
    location: str = ""
    pool: int = 0
    order: str = ""
    line: int = 0
    to_location: str = ""
    to_pool: int = 0
    to_order: str = ""
    to_line: int = 0
    allow_overage: bool = False


class UndoStep(NamedTuple):
    """What undo takes back: goods that came into the hand, or (with legs) goods that left it."""

    goods: tuple[Goods, ...]
    items: tuple[MovementItem, ...] = ()
    at: str = ""
    """When the goods left it. In that same moment the books do not know of it: what comes in one read is kept at its
    end."""


class MoveChoice(NamedTuple):
    """One numbered way on; what key and quantity mean depends on its kind."""

    kind: str
    key: str = ""
    quantity: Decimal = ZERO
    line: int = 0


class ClearanceTask(NamedTuple):
    """Goods of an order line that a clearance wants moved from their place; once they are elsewhere, nobody's."""

    id: str
    product: str
    label: str
    location: str
    order: str
    line: int
    quantity: Decimal
    allows_decimals: bool = False
    unit: str = ""

    @property
    def stock_line(self) -> StockLine:
        """As the move job knows goods of a line."""
        hold = HeldGoods(self.order, self.line, self.quantity, self.location)
        return StockLine(self.product, self.label, ZERO, (), (hold,), self.allows_decimals, self.unit)


class MoveState(NamedTuple):
    """Goods being moved."""

    phase: str = "from"
    """`from`, `take`, `load` and `put` (a cart), `where` (for an order), `pool`, `leave`."""
    uses_locations: bool = True
    """The store keeps places."""
    is_started: bool = False
    """Goods can be taken: from a place, from an order, or from no place."""
    location: str = ""
    order: str = ""
    """The order that goods are taken from."""
    order_lines: tuple[StockLine, ...] = ()
    """What that order has."""
    source_stock: tuple[StockLine, ...] = ()
    """What the books have here, as far as it was looked up."""
    is_source_known: bool = False
    """The books have said what lies here: that is the shelf, unless it is too much to be read at once."""
    has_unread_stock: bool = False
    """It is, and the shelf has only a part of it."""
    product_count: int = 0
    """So many products lie here by the books."""
    default_pool: int = 0
    """The pool that the place takes from first; 0 where none is known."""
    in_hand: tuple[Goods, ...] = ()
    current_index: int = -1
    """Index of the goods whose quantity is open."""
    portion: Decimal = ZERO
    """So many of the goods on the screen go with the next place or order; 0 for all."""
    from_pool: int = 0
    to_pool: int = 0
    choosing_pool: str = ""
    """`from` or `to`, while a pool is chosen."""
    return_phase: str = ""
    """The phase to return to from a question."""
    pools: tuple[Pool, ...] = ()
    target_order: str = ""
    """The order that goods are brought to."""
    needs: tuple[OrderNeed, ...] = ()
    pending_scan: Match | None = None
    """A scan of a product that has still to be looked up."""
    looked_up_number: Decimal = ZERO
    """Digits that are looked up: a quantity, or the number of something."""
    is_undoing: bool = False
    is_undone: bool = False
    """A move was taken back last: the books have the goods where they came from, whether a hand has them or not."""
    choices: tuple[MoveChoice, ...] = ()
    history: tuple[UndoStep, ...] = ()
    opened_at: str = ""
    """When the job was opened; what was refused before then is no news."""
    reported_refusals: tuple[str, ...] = ()
    """Refusals that were told."""
    task: ClearanceTask | None = None
    """What it was opened for; it closes when that is moved."""
    large_quantity: Decimal = LARGE_QUANTITY
    """So many are asked about where the books are silent."""
    are_locations_unknown: bool = False
    """The service has not said of any goods at which place they lie."""

    @property
    def is_on_cart(self) -> bool:
        """Goods are loaded on a cart."""
        return "load" in (self.phase, self.return_phase) or "put" in (self.phase, self.return_phase)

    @property
    def current_goods(self) -> Goods | None:
        """The goods on the screen."""
        return self.in_hand[self.current_index] if 0 <= self.current_index < len(self.in_hand) else None

    @property
    def goods_to_put_down(self) -> tuple[Goods, ...]:
        """What the next place or order takes: all that is in hand, or the goods on the screen from the cart."""
        part = self.current_goods
        less = part._replace(quantity=self.portion) if part and self.portion else part
        if "put" in (self.phase, self.return_phase):
            return (less,) if less else ()
        return tuple(less if less and index == self.current_index else each for index, each in enumerate(self.in_hand))


# What the store's data says


def parse_stock_lines(row: Mapping[str, Any]) -> tuple[StockLine, ...]:
    """What lies at a place (a row of the read `place`)."""
    first = int(to_decimal(row.get("default_stock_pool")))
    return tuple(_parse_stock_line(each, first) for each in row.get("products") or ())


def _parse_stock_line(row: Mapping[str, Any], first: int) -> StockLine:
    product = str(row["product_number"])
    held = tuple(
        HeldGoods(str(hold["order_number"]), int(hold["line_number"]), to_decimal(hold.get("quantity")))
        for hold in row.get("held") or ()
    )
    pools = sort_pools(row.get("pools") or {}, first)
    label = str(row.get("description") or product)
    free = UNKNOWN_QUANTITY
    if row.get("quantity") is not None:
        free = max(ZERO, to_decimal(row["quantity"]) - sum((hold.quantity for hold in held), ZERO))
    if held and (len(pools) > 1 or not free):
        pools = ()  # nobody knows from which pools the held goods came
    elif held and pools:
        pools = (PoolQuantity(pools[0].pool, free),)
    return StockLine(product, label, free, pools, held, bool(row.get("allow_decimal")), str(row.get("unit") or ""))


def sort_pools(quantities: Mapping[str, Any], first: int) -> tuple[PoolQuantity, ...]:
    """Pools with something in them: the first, then ascending, as the books take from them."""
    found = [PoolQuantity(int(pool), to_decimal(quantity)) for pool, quantity in quantities.items()]
    wanted = first or 1
    return tuple(
        sorted((each for each in found if each.quantity > 0), key=lambda each: (each.pool != wanted, each.pool))
    )


def parse_unlocated_stock(row: Mapping[str, Any]) -> StockLine:
    """What of a product (a row of the read `product`) lies at no place, without what is in hand for orders."""
    product = str(row["product_number"])
    label = str(row.get("product_name") or row.get("product_description") or product)
    left = {str(pool["pool"]): to_decimal(pool.get("quantity")) for pool in row.get("pools") or ()}
    total = row.get("most_likely_quantity")
    free = UNKNOWN_QUANTITY if total is None else to_decimal(total)
    for place in row.get("places") or ():
        unknown = free == UNKNOWN_QUANTITY or place.get("quantity") is None
        free = UNKNOWN_QUANTITY if unknown else free - to_decimal(place["quantity"])
        for pool, quantity in (place.get("pools") or {}).items():
            left[str(pool)] = left.get(str(pool), ZERO) - to_decimal(quantity)
    hand = to_decimal(row.get("in_hand"))  # nobody knows from which pools
    known = UNKNOWN_QUANTITY if free == UNKNOWN_QUANTITY else max(ZERO, free - hand)
    return StockLine(
        product,
        label,
        known,
        () if hand else sort_pools(left, 0),
        (),
        bool(row.get("allow_decimal")),
        str(row.get("unit") or ""),
    )


def parse_held_goods(row: Mapping[str, Any], location: str) -> tuple[StockLine, ...]:
    """What an order (a row of the read `order`) has of each product: at this place, or in hand and everywhere."""
    found: dict[str, StockLine] = {}
    for line in row.get("lines") or ():
        product, at = str(line.get("product_number") or ""), int(line["line_number"])
        order = str(row["order_number"])
        kept = [
            HeldGoods(order, at, to_decimal(each.get("quantity")), str(each["location_code"]))
            for each in line.get("kept") or ()
        ]
        lying = sum((hold.quantity for hold in kept), ZERO)
        if any(each.get("quantity") is None for each in line.get("kept") or ()):
            lying = to_decimal(line.get("picked_quantity"))  # so much of it lies there as is in no hand
        hand = to_decimal(line.get("picked_quantity")) - max(to_decimal(line.get("moved_quantity")), lying)
        hand = ZERO if line.get("is_stock") is False else hand
        kept.append(HeldGoods(order, at, hand))
        wanted = location.casefold()
        mine = tuple(hold for hold in kept if hold.quantity > 0 and wanted in ("", hold.location.casefold()))
        known = found.get(product) or StockLine(product, str(line.get("description") or product), ZERO)
        more = bool(line.get("allow_decimal")), str(line.get("unit") or "")
        found[product] = known._replace(held=(*known.held, *mine), allows_decimals=more[0], unit=more[1])
    return tuple(found.values())


def parse_order_needs(row: Mapping[str, Any]) -> tuple[OrderNeed, ...]:
    """What the lines of an order still take."""
    return tuple(
        OrderNeed(
            str(line.get("product_number") or ""),
            int(line["line_number"]),
            max(ZERO, to_decimal(line.get("quantity")) - to_decimal(line.get("picked_quantity"))),
        )
        for line in row.get("lines") or ()
    )


def reply(
    state: MoveState, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal | Msg
) -> Turn[MoveState]:
    """A turn that says something."""
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))
