"""Moving goods between places of one store (interface: Movement)."""

from __future__ import annotations

from aisle.contract.models._base import Exact, Flag, RequestModel


class MovementPlace(RequestModel):
    """One end of a movement: a place, a pool, or an order line."""

    customer_order_line_number: Exact | None = None
    customer_order_number: str | None = None
    customer_order_shipment_line_number: Exact | None = None
    customer_order_shipment_number: str | None = None
    location_code: str | None = None
    stock_pool: Exact | None = None


class MovementItem(RequestModel):
    """Goods to move; the body is a bare array of these. Here `reason_code` is a string (interface: Create movement)."""

    allow_overage: Flag | None = None
    from_location: MovementPlace | None = None
    to_location: MovementPlace | None = None
    product_number: str | None = None
    quantity: Exact | None = None
    reason_code: str | None = None
    reference: str | None = None
    source: str | None = None
