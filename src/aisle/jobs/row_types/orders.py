"""Rows of orders, their lines and their history. Quantities are in the unit of the product."""

from decimal import Decimal
from typing import NotRequired, TypedDict

from aisle.jobs.row_types.locations import HeldGoodsRow
from aisle.jobs.row_types.raw_service_rows import Number, Pools, ServiceLine, ServiceOrder


class WorkerRow(TypedDict):
    """Person who has the order open at a terminal of this host."""

    user: str
    name: str
    terminal: str


class RefusalOfUserRow(TypedDict):
    """Last refused operation of a person on the order."""

    n: int
    """Number of the operation."""
    why: str


class MeasuredGoodsRow(TypedDict):
    """Measured lines of an order with one unit."""

    unit: str
    quantity: Decimal
    picked_quantity: Decimal
    missing: Decimal
    """Quantity still to pick; nothing of a complete line."""
    lines: int
    complete_lines: int
    """Lines of which something is picked and nothing is left to pick."""


class OrderHeader(ServiceOrder):
    """Order without its lines, with pending operations applied, and what this host knows of its people."""

    order_number: str
    pickup_date: str
    """ISO 8601, with or without a time; empty if there is none."""
    is_active: bool
    is_claimed: bool
    is_picked: bool
    is_rejected: bool
    lines_known: bool
    """False if only the header is cached."""
    picked_quantity: Decimal
    pieces: NotRequired[Decimal]
    """Ordered pieces, a measured line counts as one; only of orders with measured goods."""
    picked_pieces: NotRequired[Decimal]
    complete_lines: NotRequired[int]
    """Lines of which something is picked and nothing is left to pick; only of orders with measured goods."""
    counted_lines: NotRequired[int]
    """All lines of such an order."""
    measured: NotRequired[list[MeasuredGoodsRow]]
    """Measured goods of such an order, by unit."""
    is_claim_active: NotRequired[bool]
    """True if its owner has a claimed order open; missing if this host cannot know."""
    claim_ended_at: NotRequired[str]
    """Time at which the owner closed it after the claim, ISO 8601."""
    is_priority: NotRequired[bool]
    """True if a supervisor set priority. This and the next fields are in every answer of a query."""
    priority_by: NotRequired[str]
    assigned_to: NotRequired[str]
    """User to whom a supervisor assigned it; empty for nobody."""
    assigned_name: NotRequired[str]
    assigned_by: NotRequired[str]
    assigned_on: NotRequired[str]
    """ISO 8601."""
    released_on: NotRequired[str]
    """Time at which its claim was released here, ISO 8601."""
    redirected: NotRequired[str]
    """Stored other locations of its stops, as JSON text."""


class OrdersRow(OrderHeader):
    """Open order in a list."""

    is_started: NotRequired[bool]
    """True if the person who asks started to pick it here, and nobody took it over; missing if they began none."""
    not_put_down: NotRequired[Number]
    """Quantity picked and not put down; only if the list has such orders."""
    put_down_at: NotRequired[list[str]]
    """Locations of a picked order; only of one that was searched for."""


class OrdersByNumberRow(OrderHeader):
    """Order asked for by number, or stuck."""

    status: str
    """`open`, `partial`, `picked`, `rejected` or `finished`."""
    seen_at: str
    """Time of the first read here, ISO 8601."""
    short: int
    """Number of lines closed short."""
    put_down_at: list[str]
    """Locations where its picked goods lie."""
    position: NotRequired[int]
    """Position in the list; only of `order_board`."""
    idle_since: NotRequired[str]
    """Time of the last event, ISO 8601; empty if nobody works on it."""
    picker: NotRequired[str]
    """User who has it in an open batch; empty for nobody."""
    picker_name: NotRequired[str]
    picker_terminal: NotRequired[str]


class OrderBoardRow(OrdersByNumberRow):
    """Order on the board."""


class OrderCountRow(TypedDict):
    """Number of orders of a view of the board."""

    count: int | None
    """None if the number is known only after a search."""


class LocatedRow(TypedDict):
    """Location with its walking order."""

    location_code: str
    location_order: Number | None


class LocationStockRow(LocatedRow):
    """Location with stock of a product."""

    quantity: Decimal | None
    """None if unknown."""
    pools: Pools
    default_stock_pool: str | Number | None


class PutDownRow(TypedDict):
    """Location where goods of a line are held."""

    location_code: str
    quantity: Decimal | None


class HeldAtLocationRow(HeldGoodsRow):
    """Goods of a line's product that are held for an order line at a location."""

    location_code: str


class OrderLineRow(ServiceLine):
    """Line of an order with pending operations applied."""

    line_number: int
    product_number: str
    description: str
    quantity: Decimal
    picked_quantity: Decimal
    moved_quantity: Decimal
    """Part of the picked quantity that is at a location."""
    is_picked: bool
    """True if the line is closed."""
    locations: list[LocationStockRow]
    put_down: list[PutDownRow]
    allow_decimal: bool
    unit: str
    is_stock: bool
    """False if no stock is kept of the product."""
    price: Number | None
    stock_pool: Number | None
    picking_stock_pool_array: list[str] | None
    store_walking_order: Number | None
    preferred_location_code: str | None
    stock: NotRequired[dict[str, Decimal]]
    """Known quantity by location, of the empty code if none has any; only of `order_to_pick`."""
    stock_by_pool: NotRequired[dict[str, Pools]]
    """Quantity by location and pool, of locations where pools are known; only of `order_to_pick`."""
    held_goods: NotRequired[list[HeldAtLocationRow]]
    """Goods of its product that are held at locations; only of `order_to_pick`."""
    picked_name: NotRequired[str]
    """Name of the last picker."""
    may_lack: NotRequired[Decimal]
    """Quantity that it may lack when it is picked, because it is weighed; only of `order`."""


class OrderRow(OrderHeader):
    """One order with its lines."""

    lines: list[OrderLineRow]
    moved_by: dict[str, int]
    """By user of this host, number of their last movement or rejection that the read does not include."""
    unsure: bool
    """True while an operation of this host may or may not be included."""
    at_work: list[WorkerRow]


class OrderToPickRow(OrderRow):
    """One order with its lines and their stock."""

    refused_by: dict[str, RefusalOfUserRow]
    learns_locations: bool
    """False if the service does not learn where goods are picked."""


class PickListRow(TypedDict):
    """One order of a pick list."""

    order: OrderRow
    barcodes: dict[str, str]
    """Barcode of each of its products that has one."""


class OrderToActOnRow(OrderHeader):
    """Order for an action of a supervisor: one with its lines, or one of several with its picker."""

    lines: NotRequired[list[OrderLineRow]]
    picker: NotRequired[str]
    picker_name: NotRequired[str]


class OrdersWithProductRow(TypedDict):
    """Unclosed order with a product: the quantity it still needs and the quantity it holds."""

    order_number: str
    customer_name: str
    pickup_date: str
    needed: Decimal
    held: Decimal


class AssignedOrdersRow(TypedDict):
    """Open order assigned to the user."""

    order_number: str
    by: str
    """Name of who assigned it."""
    at: str
    """ISO 8601."""


class AbsentOrderRow(TypedDict):
    """Order that the service says it does not have."""

    order_number: str


class OrderHistoryRow(TypedDict):
    """Event of an order."""

    at: str
    """ISO 8601."""
    user: str
    event: str
    label: str
    quantity: Decimal
    location: str
    why: str
    outcome: str
    """State of the operation, for events of this host; else empty."""


class OrderOutcomesRow(TypedDict):
    """Worst state of the pending operations of an order."""

    order_number: str
    outcome: str
    why: str


class SavedFilterRow(TypedDict, total=False):
    """Filter of the board as saved; see aisle.jobs.supervisor.order_filter."""

    state: str
    due: str
    claim: str
    shorts: str
    sort: str
    reference: str


class SavedViewsRow(TypedDict):
    """Saved filter of a person."""

    name: str
    filter: SavedFilterRow
