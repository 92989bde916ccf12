"""Customer orders: their creation and changes (interface: Customer order)."""

from __future__ import annotations

from typing import Required

from aisle.contract.request_bodies import ExactNumber, OrNull, RequestBody, StrictBool, list_body


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
