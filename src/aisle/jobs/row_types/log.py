"""Rows of the store's log: entries, sums, losses and reasons."""

from decimal import Decimal
from typing import NotRequired, TypedDict

from aisle.jobs.row_types.raw_service_rows import Number


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

    user_name: str
    undone: bool
    later_count: Decimal | None
    """Quantity of a later count of the same pool there; None without one."""
    is_not_used: bool
    """True for a count that the service does not use, because it had a later one. It changes no stock."""
    unused_before: Decimal | None
    """Quantity of the count before this one that is not used because of this one; None without one."""
    absorbed: Decimal
    """What a count took back of changes that came late: after its undo they change the stock."""
    keeps_date: bool
    """True for a count whose date stays when it is undone: only our own service is known to take that back."""


class LaterCountsRow(TypedDict):
    """Last count of goods after the one asked about."""

    product_number: str
    location_code: str
    pool: int
    """Pool asked about; 0 for any."""
    counted_quantity: Decimal
    at: str
    """ISO 8601 UTC."""
    user_name: str


class MovesSinceRow(TypedDict):
    """Goods that came to a location or left it by a movement, pick or receipt."""

    product_number: str
    location_code: str
    pool: int
    """Pool; 0 if it is not known."""
    quantity: Decimal
    """What came; negative for what left."""
    at: str
    """ISO 8601 UTC."""
    undone_at: str
    """Time of the movement that this one undoes; empty for another one."""


class UnusedCountsRow(TypedDict):
    """Count that the service does not use, because it had a later one of the same goods."""

    key: str
    label: str
    """Name of the product."""
    location_code: str
    counted_quantity: Decimal
    later_quantity: Decimal | None
    """Quantity of the later count; None if that is undone."""
    user_name: str
    """Person who made the later count; empty if that is undone."""


class CountsBookedOtherwiseRow(TypedDict):
    """Count of this host whose difference the service booked otherwise than its page showed."""

    key: str
    label: str
    """Name of the product."""
    shown: Decimal
    booked: Decimal


class CountsSinceRow(TypedDict):
    """Count of goods that somebody made since a move."""

    product_number: str
    location_code: str
    counted_quantity: Decimal


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
    """Price that the entry states: the store's own, else the chain's."""
    reason_code_description: str
    user_name: str
    """Name of the user; empty in an export."""
    value: Decimal | None
    """Value of the change; None without a price."""
    superseded_at: str
    """Time of the later count of the same goods, ISO 8601 UTC; empty without one, and in lists."""


class ActivePersonRow(TypedDict):
    """Person who worked in a period."""

    user: str
    name: str
    count: int | None
    """Number of entries of the person that the other fields of the filter leave; None if not counted."""


class LogSumsRow(TypedDict):
    """Sums over the entries of a filter."""

    lost: Decimal
    """Quantity of the losses."""
    value: Decimal
    """Value of those with a price."""
    unpriced: Decimal
    """Quantity of those without one."""
    counts: dict[str, int]
    """Number of entries by kind that the other fields of the filter leave; all for an empty one, losses for `loss`.
    Empty if not counted."""
    to_review: int | None
    """Number of those to review."""
    everybody: int | None
    """Number of entries of all people."""
    people: list[ActivePersonRow]
    """People who worked most in the period, the first one most."""


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
