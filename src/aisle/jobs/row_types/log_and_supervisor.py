"""Rows of the store's log and of the other pages of a supervisor."""

from __future__ import annotations

from decimal import Decimal
from typing import NotRequired, TypedDict

from aisle.jobs.row_types.service_resources import Number
from aisle.jobs.view import MissingList, UnusableRows


class EntryRow(TypedDict):
    """Entry of the log or of this host."""

    key: str
    id: str
    """Number that the service gave it; empty if unknown."""
    at: str
    """ISO 8601 UTC."""
    said: str
    """Time that the entry itself states."""
    product_number: str
    location_code: str
    app_user_name: str
    reference: str
    reason_code: str | Number | None
    pool: int
    """0 if it names none or several."""
    counted_quantity: Decimal | None
    difference: Decimal | None
    """Change of stock; None if unknown."""
    reason: str
    source: str
    outcome: str
    """State of the operation."""
    why: str
    description: NotRequired[str]
    """Name of the product; in every answer of a query."""


class MyEntriesRow(EntryRow):
    """Entry of the day."""

    undone: bool
    later_count: Decimal | None
    """Quantity of a later count of the same pool there; None without one."""


class LogRow(EntryRow):
    """Entry of the whole log."""

    work: str
    expected_quantity: Decimal | None
    quantity: Decimal
    review_status: str
    customer_order_number: str
    customer_order_line_number: Number | None
    stock_pool: str
    price: Decimal | None
    reason_code_description: str
    user_name: str
    """Name of the user; empty in an export."""
    value: Decimal | None
    """Value of the change; None without a price."""


class LogSumsRow(TypedDict):
    """Sums over the entries of a filter."""

    lost: Decimal
    """Quantity of the losses."""
    value: Decimal
    """Value of those with a price."""
    unpriced: Decimal
    """Quantity of those without one."""
    counts: dict[str, int]
    """Number of entries of the period by kind; all for an empty one, losses for `loss`."""


class ReasonsRow(TypedDict):
    """Reason in the store's log."""

    reason_code: int
    reason_code_description: str
    adds: bool
    """True if its entries add to the stock."""


class ShortReasonsRow(TypedDict):
    """Rejection reason of orders and lines."""

    code: str
    text: str


class LossesRow(TypedDict):
    """Losses of a reason."""

    reason_code: str
    description: str
    weeks: list[Decimal]
    """Quantity of each of the last weeks, oldest first."""
    total: Decimal


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


class TodayRow(TypedDict):
    """Figures of the day. Times are seconds since 1970, 0 for none."""

    orders_open: int
    orders_partial: int
    orders_picked: int
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
