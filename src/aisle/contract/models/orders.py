"""Customer orders, their creation and changes (interface: Customer order)."""

from __future__ import annotations

from typing import Required

from pydantic import Field

from aisle.contract.models.base import (
    ExactNumber,
    MostLikelyPools,
    Number,
    OrNull,
    PageEnvelope,
    RequestBody,
    ResponseModel,
    StrictBool,
    list_body,
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


class _LineWrite(RequestBody, total=False):
    """Fields of a line in every request."""

    line_number: Required[ExactNumber]
    product_number: Required[str]
    barcode: OrNull[str]
    delivery_date: OrNull[str]
    description: OrNull[str]
    is_picked: OrNull[StrictBool]
    is_picked_from_warehouse: OrNull[StrictBool]
    ordering_datetime: OrNull[str]
    picked_quantity: OrNull[ExactNumber]
    pickup_date: OrNull[str]
    price: OrNull[ExactNumber]
    stock_pool: OrNull[ExactNumber]


class MultiStoreCustomerOrderLineCreate(_LineWrite, total=False):
    """Line of an order to create in any store (interface: Create customer orders, several stores)."""

    quantity: Required[ExactNumber]


class CustomerOrderLineCreate(MultiStoreCustomerOrderLineCreate, total=False):
    """Line of an order to create in one store (interface: Create customer orders, one store)."""

    full_fillment_status: OrNull[str]
    picking_stock_pool_array: OrNull[list[str]]
    preferred_location_code: OrNull[str]
    reference: OrNull[str]


class CustomerOrderLineUpdate(_LineWrite, total=False):
    """New values of a line; omitted fields are not sent (interface: Update customer order)."""

    preferred_location_code: OrNull[str]
    quantity: OrNull[ExactNumber]


class _OrderCreate(RequestBody, total=False):
    """Fields of an order to create, in one store or several."""

    order_number: Required[str]
    customer_city: OrNull[str]
    customer_country: OrNull[str]
    customer_email: OrNull[str]
    customer_name: OrNull[str]
    customer_number: OrNull[str]
    customer_phone: OrNull[str]
    customer_street: OrNull[str]
    customer_zipcode: OrNull[str]
    delivery_city: OrNull[str]
    delivery_country: OrNull[str]
    delivery_street: OrNull[str]
    delivery_zipcode: OrNull[str]
    description: OrNull[str]
    is_picked: OrNull[StrictBool]
    order_comment: OrNull[str]
    order_type_code: OrNull[str]
    order_type_description: OrNull[str]
    reference: OrNull[str]


class CustomerOrderCreate(_OrderCreate, total=False):
    """Order to create in one store (interface: Create customer orders, one store)."""

    file_name: OrNull[str]
    is_active: OrNull[StrictBool]
    is_rejected: OrNull[StrictBool]
    order_lines: OrNull[list[CustomerOrderLineCreate]]
    order_type: OrNull[str]
    sales_order_id: OrNull[str]
    status_id: OrNull[ExactNumber]


class MultiStoreCustomerOrderCreate(_OrderCreate, total=False):
    """Order that names its own store (interface: Create customer orders, several stores)."""

    order_lines: OrNull[list[MultiStoreCustomerOrderLineCreate]]
    store_number: OrNull[str]
    stores_allowed: OrNull[list[str]]


CustomerOrdersRequest = list_body("CustomerOrdersRequest", "orders", CustomerOrderCreate)
MultiStoreCustomerOrdersRequest = list_body("MultiStoreCustomerOrdersRequest", "orders", MultiStoreCustomerOrderCreate)


class CustomerOrderUpdate(RequestBody, total=False):
    """New values of an order (interface: Update customer order)."""

    order_number: Required[str]
    is_active: OrNull[StrictBool]
    is_claimed: OrNull[StrictBool]
    is_picked: OrNull[StrictBool]
    is_rejected: OrNull[StrictBool]
    order_lines: OrNull[list[CustomerOrderLineUpdate]]
    rejection_reason_code: OrNull[str]
    rejection_reason_code_description: OrNull[str]


class CustomerOrderUpdateRequest(RequestBody, total=False):
    """Body that updates an order: `orders` is one object, not an array."""

    orders: OrNull[CustomerOrderUpdate]


class ClearanceRequest(RequestBody, total=False):
    """Body of a clearance; without category codes it clears every category (interface: Create customer order
    clearance).
    """

    category_codes: OrNull[list[str]]
