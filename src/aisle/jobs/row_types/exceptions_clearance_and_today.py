"""Rows of a supervisor's pages: exceptions, clearance and figures of the day."""

from decimal import Decimal
from typing import TypedDict

from aisle.jobs.row_types.deliveries import DeliveryLineRow
from aisle.jobs.view import MissingList, UnusableRows


class ExceptionsRow(TypedDict):
    """Number of exceptions of each kind."""

    unconfirmed: int
    differences: int
    value: Decimal
    """Total value of the differences."""
    negative_stock: int
    stuck: int
    late: int
    recounts: int
    excess_receipts: int
    entries_to_review: int
    uncollected: int
    """Picked orders that wait too long for their customers."""
    unread_lists: tuple[str, ...]
    """Lists that were never read, so that the kinds found in them are unknown."""


class PickedOrdersRow(TypedDict):
    """Orders that wait for their customers, and the first one of them."""

    picked: int
    uncollected: int
    order_number: str
    customer_name: str


class DifferencesRow(TypedDict):
    """Count that differs from the expected quantity."""

    key: str
    at: str
    user_name: str
    product_number: str
    label: str
    location_code: str
    counted: Decimal
    expected: Decimal | None
    difference: Decimal
    price: Decimal | None
    review_status: str
    known: bool
    """False without a price."""
    value: Decimal
    """Difference times price."""


class NegativeStockRow(TypedDict):
    """Impossible stock."""

    key: str
    kind: str
    """`below`, `more`, `missing` or `overdrawn`."""
    product_number: str
    label: str
    location_code: str
    """Empty for the whole store."""
    quantity: Decimal
    order_number: str
    line_number: int
    picked: Decimal
    other_quantity: Decimal
    """Quantity that was possible."""
    is_corrected: bool
    """True if an operation that waits, such as a count, ends it."""


class RecountsRow(TypedDict):
    """Ordered recount."""

    key: str
    kind: str
    """`at_service`, `queued` for it, or `local` only."""
    product_number: str
    label: str
    location_code: str
    at: str
    user_name: str


class ExcessReceiptsRow(DeliveryLineRow):
    """Line of a delivery of which more was received than announced."""

    key: str
    note_key: str
    """Key of the note that accepts it."""
    order_number: str
    to_review: list[str]
    """Log entries of these goods that the service wants reviewed."""
    supplier_name: str


class TagsRow(TypedDict):
    """Tag of locations."""

    tag: str
    locations: int


class HeldByCategoryRow(TypedDict):
    """Goods held at the locations of a tag."""

    category_code: str
    lines: int
    quantity: Decimal


class AssignmentsRow(TypedDict):
    """Goods that a clearance wants moved."""

    id: str
    product_number: str
    label: str
    location_code: str
    quantity: Decimal
    order_number: str
    line_number: int
    tag: str
    since: str
    allow_decimal: bool
    unit: str
    taken_by: str
    """Name of who works on it at this host; empty for nobody."""
    taken_user: str


class AssignmentLeftRow(TypedDict):
    """What is left of one assignment."""

    quantity: Decimal


class TodayRow(TypedDict):
    """Figures of the day. Times are seconds since 1970, 0 for none."""

    orders_open: int
    orders_partial: int
    orders_picked: int
    orders_rejected: int
    orders_in: int
    """New orders."""
    seen_all_day: bool
    unread: tuple[str, ...]
    lacking: tuple[MissingList, ...]
    left_out: tuple[UnusableRows, ...]
    due: int
    due_done: int
    late: int
    work_pick: int
    work_count: int
    work_move: int
    work_short: int
    link: str
    last_ok: float
    why: str
    read_at: float
    courier_at: float
    outbox: dict[str, int]
    """Number of live operations by state."""


class TodayHoursRow(TypedDict):
    """Work of a person."""

    user: str
    name: str
    is_here: bool
    """True if only this host knows of it."""
    hours: dict[int, dict[str, int]]
    """By hour since midnight the amount of each kind."""


class TodayLocationsRow(TypedDict):
    """Work at a location."""

    location: str
    n: int


class TodayTerminalsRow(TypedDict):
    """Person at a terminal of this host. Times are seconds since 1970, 0 for none."""

    terminal: str
    user: str
    name: str
    job: str
    """Empty at home."""
    since: float
    last: float
