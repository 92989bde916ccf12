"""Deliveries: goods on their way to a store (interface: Delivery order, Deliveries)."""

from __future__ import annotations

from typing import Required

from pydantic import Field

from aisle.contract.models.base import (
    ExactNumber,
    Number,
    OrNull,
    PageCounts,
    PageEnvelope,
    RequestBody,
    ResponseModel,
    list_body,
)


class DeliveryLine(ResponseModel):
    """Line of a delivery, as listed (interface: Delivery order)."""

    barcode: str | None = None
    base_unit: str | None = None
    category_code: str | None = None
    container_barcode: str | None = None
    customer_order_number: str | None = None
    customer_order_shipment_number: str | None = None
    customer_order_shipment_number_line_number: Number | None = None
    description: str | None = None
    group_code: str | None = None
    line_number: Number | None = None
    product_number: str | None = None
    purchase_unit_barcode: str | None = None
    purchase_unit_product_number: str | None = None
    purchase_unit_quantity: Number | None = None
    quantity: Number | None = None
    received_quantity: Number | None = None
    target_stock_pool: Number | None = None


class Delivery(ResponseModel):
    """Delivery order, as listed (interface: Delivery order)."""

    datetime_created: str | None = None
    datetime_expected: str | None = None
    external_reference_number: str | None = None
    import_id: Number | None = None
    is_downloaded: bool | None = None
    no_of_containers: Number | None = None
    order_lines: list[DeliveryLine] | None = None
    order_number: str | None = None
    order_type: str | None = None
    status: str | None = None
    store_gln: str | None = None
    store_number: str | None = None
    store_origin: Number | None = None
    supplier_code: str | None = None
    supplier_name: str | None = None
    tracing_url: str | None = None
    updated_on: str | None = None


class DeliveryList(PageEnvelope):
    """Page of deliveries."""

    rows: list[Delivery] = Field(alias="list")


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


class ReceiptLine(ResponseModel):
    """Line of a receipt (interface: Receipt order)."""

    id: Number | None = None
    barcode: str | None = None
    category_code: str | None = None
    container_barcode: str | None = None
    description: str | None = None
    group_code: str | None = None
    line_number: Number | None = None
    product_number: str | None = None
    received_quantity: Number | None = None
    shipped_quantity: Number | None = None
    updated_on: str | None = None


class Receipt(ResponseModel):
    """Receipt order with its lines (interface: Receipt order)."""

    order_number: str
    store_number: str
    datetime_created: str | None = None
    datetime_expected: str | None = None
    import_id: Number | None = None
    order_type_id: Number | None = None
    receipt_lines: list[ReceiptLine] | None = None
    status: str | None = None
    store_gln: str | None = None
    supplier_code: str | None = None
    supplier_name: str | None = None


class ReceiptList(PageCounts):
    """Page of receipts, in the reduced envelope."""

    rows: list[Receipt] = Field(alias="list")
