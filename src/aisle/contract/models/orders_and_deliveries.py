"""Customer orders and deliveries: their creation and changes (interface: Customer order, Deliveries)."""

from __future__ import annotations

from typing import Required

from aisle.contract.models.base import (
    ExactNumber,
    OrNull,
    RequestBody,
    StrictBool,
    list_body,
)


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
