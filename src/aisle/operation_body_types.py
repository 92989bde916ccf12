"""Types of the bodies of operations, as jobs build them and outbox, cache and courier read them.

interface: Update customer order, Create movement, Create store product logs, Update store products.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import TypedDict

UNDO_PREFIX = "undo-"
"""Prefix of the reference by which a log entry names the entry that it undoes.

The service's number of that entry, or its time, follows.
"""

COUNT_FIELDS = ("counted_quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))
"""Fields of a log entry that may hold a counted quantity."""


def is_undo(entry: Mapping[str, object]) -> bool:
    """Return True if a log entry undoes another one."""
    return str(entry.get("reference") or "").startswith(UNDO_PREFIX)


Quantity = Decimal | int


class RejectionReason(TypedDict, total=False):
    """Reason of an order or line; empty fields are left out."""

    rejection_reason_code: str
    rejection_reason_code_description: str


class LineUpdate(RejectionReason, total=False):
    """New values of an order line. Lines with a base say what their picker found."""

    line_number: int
    product_number: str
    base_picked_quantity: Quantity
    picked_quantity: Quantity
    quantity: Quantity
    """Ordered quantity; only of a line that is restored."""
    is_picked: bool
    """True if the line is closed."""
    preferred_location_code: str
    stock_pool: int


class OrderUpdate(RejectionReason, total=False):
    """New values of an order."""

    order_number: str
    order_lines: list[LineUpdate]
    is_active: bool
    is_claimed: bool
    is_picked: bool
    is_rejected: bool


class LineExcess(TypedDict, total=False):
    """Line that could not take picked goods, in the answer to an order update."""

    line_number: int
    product_number: str
    left: Quantity
    """Quantity that no line took."""
    picked_quantity: Quantity
    picked_username: str
    picked_name: str
    """Added by the query."""
    quantity: Quantity
    moved_quantity: Quantity


class LineRejection(RejectionReason, total=False):
    """Line to reject with a reason, or to reopen."""

    line_number: int
    is_rejected: bool


class LineRejectionsBody(TypedDict):
    """Body of `reject-lines`."""

    order_number: str
    lines: list[LineRejection]


class MovementEnd(TypedDict, total=False):
    """Place that goods leave or reach: a location, or in hand without one; held for an order line or free."""

    location_code: str
    stock_pool: int
    customer_order_number: str
    customer_order_line_number: int


class MovementEntry(TypedDict, total=False):
    """Item of `create-movement`, whose body is a list of them."""

    product_number: str
    quantity: Quantity
    from_location: MovementEnd
    to_location: MovementEnd
    source: str
    allow_overage: bool
    taken_datetime: str
    """When the goods left their location; ISO 8601."""
    undone_datetime: str
    """When the movement was that this one undoes; ISO 8601."""


class LogEntry(TypedDict, total=False):
    """Count, loss, find or receipt."""

    product_number: str
    location_code: str
    counted_quantity: Quantity
    expected_quantity: Quantity
    quantity: Quantity
    pool_location: int
    reason_code: int
    reason_code_description: str
    reference: str
    line_number: int
    """Line of the delivery."""
    customer_order_number: str
    customer_order_line_number: int
    scanned_datetime: str
    """ISO 8601."""
    app_user_name: str
    source: str
    loss_comment: str
    stock_pool_1: Quantity
    stock_pool_2: Quantity
    stock_pool_3: Quantity
    stock_pool_4: Quantity
    stock_pool_5: Quantity
    stock_pool_6: Quantity
    stock_pool_7: Quantity
    stock_pool_8: Quantity
    stock_pool_9: Quantity
    stock_pool_10: Quantity


class RequestAnswer(TypedDict, total=False):
    """Answer to a request of a session, as the courier stores it."""

    how: str
    why: str
    fresh: int | None
    """Number of new tasks."""
    until: float
    """Seconds since 1970 until which the PIN counts."""
