"""State of a move, and the parsing of stock and order rows.

Taken goods are in hand, or on the cart, until a location or an order is scanned for them. Only then a movement is
written. Quantities are Decimals in base units.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.count.count_state import LaterCount
from aisle.jobs.job import Turn
from aisle.jobs.names_in_messages import Pools, measured
from aisle.jobs.store_time import to_utc_text
from aisle.jobs.view import Msg
from aisle.jobs.walk_order_sort_keys import NO_WALK_ORDER
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import Match
from aisle.settings.setting_definitions import LARGE_QUANTITY

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationRow, ProductHereRow
    from aisle.jobs.row_types.orders import OrderRow
    from aisle.jobs.row_types.products import ProductRow
    from aisle.jobs.row_types.raw_service_rows import Number

MAX_UNDO = 50

UNKNOWN_QUANTITY = Decimal(-1)

ZERO = Decimal(0)

ASSIGNMENT_PREFIX = "assignment/"
"""Prefix of the key under which an open job claims a clearance task, as it claims orders."""


class PoolQuantity(NamedTuple):
    """Quantity in a pool."""

    pool: int
    quantity: Decimal


class HeldGoods(NamedTuple):
    """Goods that an order line holds at a location; without a location they are in hand."""

    order: str
    line: int
    quantity: Decimal
    location: str = ""


class StockLine(NamedTuple):
    """Stock of one product at the source."""

    product: str
    label: str
    free: Decimal = UNKNOWN_QUANTITY
    """Quantity that is held for no order."""
    pools: tuple[PoolQuantity, ...] = ()
    """That quantity by pool, as far as known; the pool that is taken from first comes first."""
    held: tuple[HeldGoods, ...] = ()
    allows_decimals: bool = False
    unit: str = ""


class Take(NamedTuple):
    """Quantity that was taken at once."""

    quantity: Decimal
    at: str
    """ISO 8601 UTC."""


class Goods(NamedTuple):
    """Goods of one product from one location, in hand or on the cart."""

    product: str
    label: str
    quantity: Decimal
    location: str = ""
    """Location they were taken from; empty for none."""
    pool: int = 0
    """Pool that was chosen when they were taken; 0 leaves the choice to the service."""
    order: str = ""
    """Order that they are held for."""
    line: int = 0
    stays_held: bool = False
    """True if they stay held for their order wherever they are put."""
    available: Decimal = UNKNOWN_QUANTITY
    """Known stock at the source."""
    pools: tuple[PoolQuantity, ...] = ()
    allows_decimals: bool = False
    unit: str = ""
    allow_overage: bool = False
    """True if the user chose to move more than the known stock."""
    suggested_location: str = ""
    """Suggested destination: the first location in walking order that has more of the product; empty if unknown."""
    suggested_order: Decimal = NO_WALK_ORDER
    takes: tuple[Take, ...] = ()
    """When their quantity was taken, the earliest first."""
    later: LaterCount | None = None
    """Count that somebody made of these goods at their location since; it lacks what was taken before."""
    largest_stock_at: str = ""
    """Location with the most stock apart from their own; empty if unknown."""
    largest_stock: Decimal = ZERO
    to_pool: int = 0
    """Pool that they go to, chosen like `pool`; 0 if they stay in theirs."""

    @property
    def taken_before_count(self) -> Decimal:
        """Quantity that a count of their location lacks already. Of goods of an order no count lacks any."""
        counted_at = to_utc_text(self.later.at) if self.later and not self.order else ""
        return sum((take.quantity for take in self.takes if to_utc_text(take.at) < counted_at), ZERO)


class OrderNeed(NamedTuple):
    """Quantity that a line of the target order still needs."""

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
    taken_at: str = ""
    """When they left their location; empty without one."""
    undone_at: str = ""
    """When the movement was that this one undoes; empty if it undoes none."""


class UndoStep(NamedTuple):
    """Step that can be undone: goods taken into hand, or (with items) goods moved."""

    goods: tuple[Goods, ...]
    items: tuple[MovementItem, ...] = ()
    at: str = ""
    """Time when the goods were moved. The cached stock lacks movements of the same time, because inputs of one read are
    committed together."""


class MoveChoice(NamedTuple):
    """One numbered choice; the meaning of key and quantity depends on its kind."""

    kind: str
    key: str = ""
    quantity: Decimal = ZERO
    line: int = 0
    label: str = ""
    """Name of a record that digits may be the number of."""
    unit: str = ""
    """Unit of the quantity; empty for pieces."""

    @property
    def amount(self) -> Decimal | Msg:
        """Quantity with its unit."""
        return measured(self.quantity, self.unit)


class ClearanceTask(NamedTuple):
    """Goods of an order line that a clearance wants moved; once moved they belong to no order."""

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
        """Stock line of the task's goods, as the move job uses it."""
        held = HeldGoods(self.order, self.line, self.quantity, self.location)
        return StockLine(self.product, self.label, ZERO, (), (held,), self.allows_decimals, self.unit)


class MoveState(NamedTuple):
    """State of the move job."""

    phase: str = "from"
    """`from`, `take`, `load` and `put` (with a cart), `where` (for an order), `pool`, `leave`."""
    uses_locations: bool = True
    is_started: bool = False
    """True if goods can be taken: from a location, an order, or stock at no location."""
    location: str = ""
    order: str = ""
    """Order that goods are taken from."""
    order_lines: tuple[StockLine, ...] = ()
    """Goods of that order."""
    source_stock: tuple[StockLine, ...] = ()
    """Stock at the current location, as far as it was read."""
    is_source_known: bool = False
    """True if the stock here was read; see `has_unread_stock` for the rest."""
    has_unread_stock: bool = False
    """True if the location has more products than were read."""
    product_count: int = 0
    """Number of products in stock here."""
    in_hand: tuple[Goods, ...] = ()
    current_index: int = -1
    """Index of the goods whose quantity is open."""
    selection: tuple[int, int, int] = (-1, -1, -1)
    """Last selection on the cart: index of the goods before and after it, and number of steps then."""
    portion: Decimal = ZERO
    """Quantity of the goods on the screen that goes to the next location or order; 0 for all if nothing was said."""
    from_pool: int = 0
    to_pool: int = 0
    choosing_pool: str = ""
    """`from` or `to` while a pool is chosen."""
    return_phase: str = ""
    """Phase to return to after a question."""
    pools: Pools = ()
    target_order: str = ""
    needs: tuple[OrderNeed, ...] = ()
    pending_scan: Match | None = None
    """Scan of a product that is being looked up."""
    looked_up_number: Decimal = ZERO
    """Digits that are being looked up: a quantity or a record's number."""
    is_undoing: bool = False
    undo_rest: UndoStep | None = None
    """What is left of the move that is undone, while it is asked whether to move that back."""
    is_undone: bool = False
    """True if the last step was an undone move: the goods are in stock at their source, in hand or not."""
    choices: tuple[MoveChoice, ...] = ()
    covered_choices: tuple[MoveChoice, ...] = ()
    """Choices about a scan in question while it is asked what a number means."""
    history: tuple[UndoStep, ...] = ()
    opened_at: str = ""
    """Time when the job was opened; earlier refusals are not reported."""
    reported_refusals: tuple[str, ...] = ()
    task: ClearanceTask | None = None
    """Clearance task that the job was opened for; the job closes when it is done."""
    large_quantity: Decimal = LARGE_QUANTITY
    """Quantity that has to be confirmed where the stock is unknown."""
    are_locations_unknown: bool = False
    """True if the service has reported no stock locations at all."""
    named_product: str = ""
    """Product that the job was opened for, until it is scanned: one piece of it is in hand without a scan."""

    @property
    def is_on_cart(self) -> bool:
        """True while a cart is loaded or unloaded."""
        return "load" in (self.phase, self.return_phase) or "put" in (self.phase, self.return_phase)

    @property
    def current_goods(self) -> Goods | None:
        """Goods on the screen."""
        return self.in_hand[self.current_index] if 0 <= self.current_index < len(self.in_hand) else None

    @property
    def goods_to_put_down(self) -> tuple[Goods, ...]:
        """Goods for the next location or order: all in hand, or those on the screen from the cart."""
        part = self.current_goods
        current = part._replace(quantity=self.portion) if part and self.portion else part
        if "put" in (self.phase, self.return_phase):
            return (current,) if current else ()
        return tuple(
            current if current and index == self.current_index else each for index, each in enumerate(self.in_hand)
        )


Result = Turn[MoveState]


def at_source(state: MoveState, location: str = "") -> MoveState:
    """Return the state at the start of taking goods from this location, or from none; its stock is not read yet."""
    return state._replace(
        is_started=True,
        location=location,
        order="",
        order_lines=(),
        source_stock=(),
        is_source_known=False,
        has_unread_stock=False,
    )


# Cached data


def parse_stock_lines(row: LocationRow) -> tuple[StockLine, ...]:
    """Return the stock at a location (a row of the query `location`)."""
    first = int(to_decimal(row.get("default_stock_pool")))
    return tuple(_parse_stock_line(each, first) for each in row.get("products") or ())


def _parse_stock_line(row: ProductHereRow, first: int) -> StockLine:
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
        pools = ()  # the pools of the held goods are unknown
    elif held and pools:
        pools = (PoolQuantity(pools[0].pool, free),)
    return StockLine(product, label, free, pools, held, bool(row.get("allow_decimal")), str(row.get("unit") or ""))


def sort_pools(quantities: Mapping[str, Number], first: int) -> tuple[PoolQuantity, ...]:
    """Return the pools with stock in the order they are taken from: the first one, then ascending."""
    pools = [PoolQuantity(int(pool), to_decimal(quantity)) for pool, quantity in quantities.items()]
    first_pool = first or 1
    return tuple(
        sorted((each for each in pools if each.quantity > 0), key=lambda each: (each.pool != first_pool, each.pool))
    )


def parse_unlocated_stock(row: ProductRow) -> StockLine:
    """Return the stock of a product (a row of the query `product`) at no location, without goods in hand for orders."""
    product = str(row["product_number"])
    label = str(row.get("product_name") or row.get("product_description") or product)
    left = {str(pool["pool"]): to_decimal(pool.get("quantity")) for pool in row.get("pools") or ()}
    total = row.get("most_likely_quantity")
    free = UNKNOWN_QUANTITY if total is None else to_decimal(total)
    for location in row.get("locations") or ():
        unknown = free == UNKNOWN_QUANTITY or location.get("quantity") is None
        free = UNKNOWN_QUANTITY if unknown else free - to_decimal(location["quantity"])
        for pool, quantity in (location.get("pools") or {}).items():
            left[str(pool)] = left.get(str(pool), ZERO) - to_decimal(quantity)
    in_hand = to_decimal(row.get("in_hand"))  # from unknown pools
    stock = UNKNOWN_QUANTITY if free == UNKNOWN_QUANTITY else max(ZERO, free - in_hand)
    return StockLine(
        product,
        label,
        stock,
        () if in_hand else sort_pools(left, 0),
        (),
        bool(row.get("allow_decimal")),
        str(row.get("unit") or ""),
    )


def is_open_order(row: OrderRow) -> bool:
    """Return True if goods can be moved from this order or to it."""
    return bool(row.get("is_active", True)) and not row.get("is_rejected")


def parse_held_goods(row: OrderRow, location: str) -> tuple[StockLine, ...]:
    """Return the goods of an order (a row of the query `order`) by product: at this location, or everywhere."""
    by_product: dict[str, StockLine] = {}
    for line in row.get("lines") or ():
        product, at = str(line.get("product_number") or ""), int(line["line_number"])
        order = str(row["order_number"])
        kept = [
            HeldGoods(order, at, to_decimal(each.get("quantity")), str(each["location_code"]))
            for each in line.get("put_down") or ()
        ]
        at_locations = sum((hold.quantity for hold in kept), ZERO)
        if any(each.get("quantity") is None for each in line.get("put_down") or ()):
            at_locations = to_decimal(line.get("picked_quantity"))  # the rest of the picked quantity is in hand
        in_hand = to_decimal(line.get("picked_quantity")) - max(to_decimal(line.get("moved_quantity")), at_locations)
        in_hand = ZERO if line.get("is_stock") is False else in_hand
        kept.append(HeldGoods(order, at, in_hand))
        wanted = location.casefold()
        mine = tuple(hold for hold in kept if hold.quantity > 0 and wanted in ("", hold.location.casefold()))
        known = by_product.get(product) or StockLine(product, str(line.get("description") or product), ZERO)
        more = bool(line.get("allow_decimal")), str(line.get("unit") or "")
        by_product[product] = known._replace(held=(*known.held, *mine), allows_decimals=more[0], unit=more[1])
    return tuple(by_product.values())


def parse_order_needs(row: OrderRow) -> tuple[OrderNeed, ...]:
    """Return the quantities that the lines of an order still need."""
    return tuple(
        OrderNeed(
            str(line.get("product_number") or ""),
            int(line["line_number"]),
            max(ZERO, to_decimal(line.get("quantity")) - to_decimal(line.get("picked_quantity"))),
        )
        for line in row.get("lines") or ()
    )
