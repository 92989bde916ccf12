"""Deliveries: their creation (interface: Deliveries)."""

from __future__ import annotations

from typing import Required

from aisle.contract.request_bodies import ExactNumber, OrNull, RequestBody, list_body


class _DeliveryLineCreate(RequestBody, total=False):
    """Fields of a line of a delivery to create, for one store or several."""

    quantity: Required[ExactNumber]
    barcode: OrNull[str]
    container_barcode: OrNull[str]
    customer_order_line_number: OrNull[ExactNumber]
    customer_order_number: OrNull[str]
    customer_order_shipment_number: OrNull[str]
    customer_order_shipment_number_line_number: OrNull[ExactNumber]
    description: OrNull[str]
    line_number: OrNull[ExactNumber]
    secondary_order_line_number: OrNull[ExactNumber]
    secondary_order_number: OrNull[str]
    target_stock_pool: OrNull[ExactNumber]


class StoreDeliveryLineCreate(_DeliveryLineCreate, total=False):
    """Line of a delivery to create for one store (interface: Create store deliveries)."""

    product_number: Required[str]
    purchase_price: OrNull[ExactNumber]


class MultiStoreDeliveryLineCreate(_DeliveryLineCreate, total=False):
    """Line of a delivery to create for any store (interface: Create multi store deliveries)."""

    product_number: OrNull[str]


class _DeliveryCreate(RequestBody, total=False):
    """Fields of a delivery to create, for one store or several."""

    no_of_containers: Required[ExactNumber]
    order_number: Required[str]
    datetime_created: OrNull[str]
    datetime_expected: OrNull[str]
    description: OrNull[str]
    order_type: OrNull[ExactNumber]
    reason_code: OrNull[ExactNumber]
    supplier_code: OrNull[str]
    tracing_url: OrNull[str]


class StoreDeliveryCreate(_DeliveryCreate, total=False):
    """Delivery to create for one store (interface: Create store deliveries)."""

    order_lines: OrNull[list[StoreDeliveryLineCreate]]
    store_origin: OrNull[ExactNumber]
    supplier_name: OrNull[str]


class MultiStoreDeliveryCreate(_DeliveryCreate, total=False):
    """Delivery that names its own store (interface: Create multi store deliveries)."""

    store_number: Required[str]
    supplier_name: Required[str]
    order_lines: OrNull[list[MultiStoreDeliveryLineCreate]]


StoreDeliveriesRequest = list_body("StoreDeliveriesRequest", "orders", StoreDeliveryCreate)

MultiStoreDeliveriesRequest = list_body("MultiStoreDeliveriesRequest", "orders", MultiStoreDeliveryCreate)
