"""Customer orders, their creation and changes (interface: Customer order)."""

from __future__ import annotations

from pydantic import Field

from aisle.contract.models.base import (
    ExactNumber,
    MostLikelyPools,
    Number,
    PageEnvelope,
    RequestModel,
    ResponseModel,
    StrictBool,
)


class CustomerOrderLineLocation(MostLikelyPools):
    """Location of goods for an order line (interface: Line location)."""

    location_order: Number
    quantity: Number
    customer_order_line_number: Number | None = None
    customer_order_number: str | None = None
    customer_order_shipment_line_number: Number | None = None
    customer_order_shipment_number: str | None = None
    default_stock_pool: str | None = None
    location_code: str | None = None
    tags: list[str] | None = None


class CustomerOrderLine(ResponseModel):
    """Line of an order, as listed (interface: Order line)."""

    id: Number
    explicit_order: bool
    is_picked: bool
    is_template: bool
    line_number: Number
    picked_quantity: Number
    price: Number
    quantity: Number
    stock_pool: Number
    store_walking_order: Number
    barcode: str | None = None
    delivery_date: str | None = None
    delivery_qty: Number | None = None
    description: str | None = None
    moved_quantity: Number | None = None
    next_ordering_datetime: str | None = None
    picked_username: str | None = None
    picking_stock_pool_array: list[str] | None = None
    pickup_date: str | None = None
    preferred_location_code: str | None = None
    product_number: str | None = None
    reference: str | None = None
    stock_location: str | None = None
    store_locations: list[CustomerOrderLineLocation] | None = None


class CustomerOrder(ResponseModel):
    """Customer order, with lines if they were requested (interface: Customer order)."""

    is_active: bool
    is_claimed: bool
    is_picked: bool
    is_rejected: bool
    status_id: Number
    total_lines: Number
    total_quantity: Number
    comment: str | None = None
    customer_name: str | None = None
    description: str | None = None
    lines: list[CustomerOrderLine] | None = None
    order_number: str | None = None
    order_type_code: str | None = None
    order_type_description: str | None = None
    pickup_date: str | None = None
    reference: str | None = None
    rejection_reason_code: str | None = None
    rejection_reason_code_description: str | None = None
    sales_order_id: str | None = None
    store_number: str | None = None
    stores_allowed: str | None = None
    total_delivery_quantity: Number | None = None


class CustomerOrderList(PageEnvelope):
    """Page of orders; its rows are optional and its counts required (interface: Paged list envelope)."""

    rows: list[CustomerOrder] | None = Field(default=None, alias="list")
    page_size: Number  # required here
    page_start: Number  # required here
    total_count: Number  # required here


class CustomerOrderLineCreate(RequestModel):
    """Line of an order to create in one store (interface: Create customer orders, one store)."""

    line_number: ExactNumber
    product_number: str
    quantity: ExactNumber
    barcode: str | None = None
    delivery_date: str | None = None
    description: str | None = None
    full_fillment_status: str | None = None
    is_picked: StrictBool | None = None
    is_picked_from_warehouse: StrictBool | None = None
    ordering_datetime: str | None = None
    picked_quantity: ExactNumber | None = None
    picking_stock_pool_array: list[str] | None = None
    pickup_date: str | None = None
    preferred_location_code: str | None = None
    price: ExactNumber | None = None
    reference: str | None = None
    stock_pool: ExactNumber | None = None


class CustomerOrderCreate(RequestModel):
    """Order to create in one store (interface: Create customer orders, one store)."""

    order_number: str
    customer_city: str | None = None
    customer_country: str | None = None
    customer_email: str | None = None
    customer_name: str | None = None
    customer_number: str | None = None
    customer_phone: str | None = None
    customer_street: str | None = None
    customer_zipcode: str | None = None
    delivery_city: str | None = None
    delivery_country: str | None = None
    delivery_street: str | None = None
    delivery_zipcode: str | None = None
    description: str | None = None
    file_name: str | None = None
    is_active: StrictBool | None = None
    is_picked: StrictBool | None = None
    is_rejected: StrictBool | None = None
    order_comment: str | None = None
    order_lines: list[CustomerOrderLineCreate] | None = None
    order_type: str | None = None
    order_type_code: str | None = None
    order_type_description: str | None = None
    reference: str | None = None
    sales_order_id: str | None = None
    status_id: ExactNumber | None = None


class CustomerOrdersRequest(RequestModel):
    """Body that creates orders in one store."""

    orders: list[CustomerOrderCreate] | None = None


class MultiStoreCustomerOrderLineCreate(RequestModel):
    """Line of an order to create in any store (interface: Create customer orders, several stores)."""

    line_number: ExactNumber
    product_number: str
    quantity: ExactNumber
    barcode: str | None = None
    delivery_date: str | None = None
    description: str | None = None
    is_picked: StrictBool | None = None
    is_picked_from_warehouse: StrictBool | None = None
    ordering_datetime: str | None = None
    pickup_date: str | None = None
    picked_quantity: ExactNumber | None = None
    price: ExactNumber | None = None
    stock_pool: ExactNumber | None = None


class MultiStoreCustomerOrderCreate(RequestModel):
    """Order that names its own store (interface: Create customer orders, several stores)."""

    order_number: str
    customer_city: str | None = None
    customer_country: str | None = None
    customer_email: str | None = None
    customer_name: str | None = None
    customer_number: str | None = None
    customer_phone: str | None = None
    customer_street: str | None = None
    customer_zipcode: str | None = None
    delivery_city: str | None = None
    delivery_country: str | None = None
    delivery_street: str | None = None
    delivery_zipcode: str | None = None
    description: str | None = None
    is_picked: StrictBool | None = None
    order_comment: str | None = None
    order_lines: list[MultiStoreCustomerOrderLineCreate] | None = None
    order_type_code: str | None = None
    order_type_description: str | None = None
    reference: str | None = None
    store_number: str | None = None
    stores_allowed: list[str] | None = None


class MultiStoreCustomerOrdersRequest(RequestModel):
    """Body that creates orders in several stores."""

    orders: list[MultiStoreCustomerOrderCreate] | None = None


class CustomerOrderLineUpdate(RequestModel):
    """New values of a line; omitted fields are not sent (interface: Update customer order)."""

    line_number: ExactNumber
    product_number: str
    barcode: str | None = None
    delivery_date: str | None = None
    description: str | None = None
    is_picked: StrictBool | None = None
    is_picked_from_warehouse: StrictBool | None = None
    ordering_datetime: str | None = None
    picked_quantity: ExactNumber | None = None
    pickup_date: str | None = None
    preferred_location_code: str | None = None
    price: ExactNumber | None = None
    quantity: ExactNumber | None = None
    stock_pool: ExactNumber | None = None


class CustomerOrderUpdate(RequestModel):
    """New values of an order (interface: Update customer order)."""

    order_number: str
    is_active: StrictBool | None = None
    is_claimed: StrictBool | None = None
    is_picked: StrictBool | None = None
    is_rejected: StrictBool | None = None
    order_lines: list[CustomerOrderLineUpdate] | None = None
    rejection_reason_code: str | None = None
    rejection_reason_code_description: str | None = None


class CustomerOrderUpdateRequest(RequestModel):
    """Body that updates an order: `orders` is one object, not an array."""

    orders: CustomerOrderUpdate | None = None


class ClearanceRequest(RequestModel):
    """Body of a clearance; without category codes it clears every category (interface: Create customer order
    clearance).
    """

    category_codes: list[str] | None = None
