"""Products in a store: their settings, log and movements (interface: Store products)."""

from __future__ import annotations

from typing import Required

from aisle.contract.request_bodies import (
    ExactNumber,
    OrNull,
    RequestBody,
    StockPoolsRequest,
    StrictBool,
    list_body,
)


class StoreProductUpdate(RequestBody, total=False):
    """New settings of a product in a store; the body is a bare array of these (interface: Update store products)."""

    product_number: Required[str]
    attention_codes: OrNull[list[str]]
    average_array: OrNull[list[ExactNumber]]
    average_keys: OrNull[list[str]]
    default_salesorder_type: OrNull[str]
    demand_until_delivery: OrNull[ExactNumber]
    discount_price: OrNull[ExactNumber]
    expiry_date_time: OrNull[str]
    forecast_array: OrNull[list[ExactNumber]]
    forecast_keys: OrNull[list[str]]
    history_array: OrNull[list[ExactNumber]]
    history_keys: OrNull[list[str]]
    is_promotion: OrNull[StrictBool]
    is_replenishment: OrNull[StrictBool]
    max: OrNull[ExactNumber]
    min: OrNull[ExactNumber]
    next_delivery_date: OrNull[str]
    next_ordering_date: OrNull[str]
    order_level: OrNull[ExactNumber]
    price: OrNull[ExactNumber]
    validate_expiry_date_time: OrNull[str]


class StoreProductCreate(StoreProductUpdate, total=False):
    """Product to add to a store's range. Assumed: the interface shows no body; the fields are those of the update."""

    is_stock: OrNull[StrictBool]


StoreProductsRequest = list_body("StoreProductsRequest", "store_products", StoreProductCreate)


class StoreProductLogCreate(StockPoolsRequest, total=False):
    """Log entry to create; every field is optional (interface: Create store product logs)."""

    app_user_name: OrNull[str]
    customer_order_number: OrNull[str]
    location_code: OrNull[str]
    loss_comment: OrNull[str]
    loss_image: OrNull[str]
    loss_order_number: OrNull[str]
    product_number: OrNull[str]
    reference: OrNull[str]
    source: OrNull[str]
    counted_quantity: OrNull[ExactNumber]
    customer_order_line_number: OrNull[ExactNumber]
    expected_quantity: OrNull[ExactNumber]
    pool_location: OrNull[ExactNumber]
    quantity: OrNull[ExactNumber]
    reason_code: OrNull[ExactNumber]
    modification_datetime: OrNull[str]
    order_after_date: OrNull[str]
    scanned_datetime: OrNull[str]


StoreProductLogsRequest = list_body("StoreProductLogsRequest", "storeproductlog", StoreProductLogCreate)


class MovementEnd(RequestBody, total=False):
    """End of a movement: a location, a pool, or an order line."""

    customer_order_line_number: OrNull[ExactNumber]
    customer_order_number: OrNull[str]
    customer_order_shipment_line_number: OrNull[ExactNumber]
    customer_order_shipment_number: OrNull[str]
    location_code: OrNull[str]
    stock_pool: OrNull[ExactNumber]


class MovementItem(RequestBody, total=False):
    """Goods to move; the body is a bare array of these. Here `reason_code` is a string (interface: Create movement)."""

    allow_overage: OrNull[StrictBool]
    from_location: OrNull[MovementEnd]
    to_location: OrNull[MovementEnd]
    product_number: OrNull[str]
    quantity: OrNull[ExactNumber]
    reason_code: OrNull[str]
    reference: OrNull[str]
    source: OrNull[str]
