"""Deliveries: goods on their way to a store (interface: Delivery order, Deliveries)."""

from __future__ import annotations

from pydantic import Field

from aisle.contract.models.base import ExactNumber, Number, PageCounts, PageEnvelope, RequestModel, ResponseModel


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


class StoreDeliveryLineCreate(RequestModel):
    """Line of a delivery to create for one store (interface: Create store deliveries)."""

    product_number: str
    quantity: ExactNumber
    barcode: str | None = None
    container_barcode: str | None = None
    customer_order_line_number: ExactNumber | None = None
    customer_order_number: str | None = None
    customer_order_shipment_number: str | None = None
    customer_order_shipment_number_line_number: ExactNumber | None = None
    description: str | None = None
    line_number: ExactNumber | None = None
    purchase_price: ExactNumber | None = None
    secondary_order_line_number: ExactNumber | None = None
    secondary_order_number: str | None = None
    target_stock_pool: ExactNumber | None = None


class StoreDeliveryCreate(RequestModel):
    """Delivery to create for one store (interface: Create store deliveries)."""

    no_of_containers: ExactNumber
    order_number: str
    datetime_created: str | None = None
    datetime_expected: str | None = None
    description: str | None = None
    order_lines: list[StoreDeliveryLineCreate] | None = None
    order_type: ExactNumber | None = None
    reason_code: ExactNumber | None = None
    store_origin: ExactNumber | None = None
    supplier_code: str | None = None
    supplier_name: str | None = None
    tracing_url: str | None = None


class StoreDeliveriesRequest(RequestModel):
    """Body that creates deliveries for one store."""

    orders: list[StoreDeliveryCreate] | None = None


class MultiStoreDeliveryLineCreate(RequestModel):
    """Line of a delivery to create for any store (interface: Create multi store deliveries)."""

    quantity: ExactNumber
    barcode: str | None = None
    container_barcode: str | None = None
    customer_order_line_number: ExactNumber | None = None
    customer_order_number: str | None = None
    customer_order_shipment_number: str | None = None
    customer_order_shipment_number_line_number: ExactNumber | None = None
    description: str | None = None
    line_number: ExactNumber | None = None
    product_number: str | None = None
    secondary_order_line_number: ExactNumber | None = None
    secondary_order_number: str | None = None
    target_stock_pool: ExactNumber | None = None


class MultiStoreDeliveryCreate(RequestModel):
    """Delivery that names its own store (interface: Create multi store deliveries)."""

    no_of_containers: ExactNumber
    order_number: str
    store_number: str
    supplier_name: str
    datetime_created: str | None = None
    datetime_expected: str | None = None
    description: str | None = None
    order_lines: list[MultiStoreDeliveryLineCreate] | None = None
    order_type: ExactNumber | None = None
    reason_code: ExactNumber | None = None
    supplier_code: str | None = None
    tracing_url: str | None = None


class MultiStoreDeliveriesRequest(RequestModel):
    """Body that creates deliveries for several stores."""

    orders: list[MultiStoreDeliveryCreate] | None = None


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
