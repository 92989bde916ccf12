"""Rows of deliveries, their lines and receipts. Quantities are in the unit of the product."""

from decimal import Decimal
from typing import NotRequired, TypedDict

from aisle.jobs.row_types.orders import WorkerRow
from aisle.jobs.row_types.raw_service_rows import Number


class DeliveriesRow(TypedDict):
    """Delivery in a list."""

    order_number: str
    supplier_name: str
    datetime_expected: str
    external_reference_number: str
    order_type: str
    no_of_containers: Number | None
    store_origin: Number | None
    tracing_url: str
    state: str
    """`open`, `partial` or `received`."""
    total_lines: int
    complete_lines: int
    is_mixed: bool
    """True if the sums say nothing: a line of measured goods, or one without a quantity."""
    quantity: Decimal
    received_quantity: Decimal | None
    """None if unknown."""


class ReceivedLine(TypedDict):
    """Quantities of a line of a delivery with this host's receipts."""

    line_number: int
    """0 for an unannounced line without a number."""
    product_number: str
    quantity: Decimal | None
    """Announced quantity; None if there is none."""
    received: Decimal
    is_quantity_unknown: NotRequired[bool]
    """True if the service does not tell the received quantity."""
    may_lack: NotRequired[Decimal]
    """Part of a measured quantity that may be missing from a complete line."""


class DeliveryLineRow(ReceivedLine):
    """Line of a delivery."""

    description: str
    container_barcode: str
    customer_order_number: str
    target_stock_pool: int
    unit: str
    allow_decimal: bool


class OrderNeedRow(TypedDict):
    """Quantity of a product that a customer order still needs."""

    order_number: str
    product_number: str
    needed: Decimal


class DeliveryRow(DeliveriesRow):
    """One delivery with its lines."""

    lines: list[DeliveryLineRow]
    order_needs: NotRequired[list[OrderNeedRow]]
    """Needs of the orders that its lines name, as far as they are cached."""
    at_work: NotRequired[list[WorkerRow]]


class DeliveriesExpectingRow(DeliveriesRow):
    """Delivery that still expects a product."""

    missing: Decimal | None
    """None if unknown."""


class ReceiptsRow(TypedDict):
    """Receipt of the service."""

    order_number: str
    kind: str
    status: str
    supplier_name: str
    at: str
    lines: int
    complete_lines: int
    is_mixed: bool
    """True if the sums say nothing, as of a delivery."""
    received_quantity: Decimal | None
    """Received part of what was shipped; None if a line lacks it."""
    shipped_quantity: Decimal | None


class ReceiptKindsRow(TypedDict):
    """Type of receipts."""

    kind: str
    count: int


class PartlyReceivedRow(TypedDict):
    """Delivery that was left partly received."""

    order_number: str
