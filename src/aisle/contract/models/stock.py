"""Stock of a product in a store, and its settings there (interface: Store product stock entry, Store products)."""

from __future__ import annotations

from typing import Required

from pydantic import Field

from aisle.contract.models.base import (
    DateTime,
    Double,
    ExactNumber,
    Int32,
    Int64,
    LocationPools,
    MostLikelyPools,
    Number,
    OrNull,
    PageEnvelope,
    RequestBody,
    ResponseModel,
    StockPools,
    StockPoolsRequest,
    StrictBool,
    list_body,
)


class StockLocation(StockPools):
    """Stock of the product at one location of the store (interface: Stock location entry)."""

    quantity: Double
    carrier_code: str | None = None
    default_stock_pool: str | None = None
    store_location_code: str | None = None
    tags: list[str] | None = None


class StoreProductStock(MostLikelyPools):
    """Stock and settings of a product in a store; `most_likely_*` are estimates (interface: Store product stock)."""

    id: Int64
    is_replenishment: bool
    is_stock: bool
    most_likely_quantity: Double
    adjusted_order_level: Double | None = None
    attention_codes: str | None = None
    average_array: str | None = None
    barcode: str | None = None
    category_code: str | None = None
    category_name: str | None = None
    category_order: Int32 | None = None
    delivery_datetimes: list[str] | None = None
    demand_until_delivery: Double | None = None
    forecast: Double | None = None
    forecast_array: str | None = None
    group_code: str | None = None
    history_array: str | None = None
    last_counted_datetime: DateTime | None = None
    last_expiry_datetime: DateTime | None = None
    last_expiry_updatedby: str | None = None
    last_loss_updatedby: str | None = None
    last_minmax_updatedby: str | None = None
    last_receipt_updatedby: str | None = None
    max: Int32 | None = None
    min: Int32 | None = None
    most_likely_datetime: DateTime | None = None
    next_delivery_datetime: DateTime | None = None
    next_ordering_datetime: DateTime | None = None
    order_level: Double | None = None
    ordering_datetimes: list[str] | None = None
    original_max: Int32 | None = None
    original_min: Int32 | None = None
    price: Double | None = None
    product_description: str | None = None
    product_number: str | None = None
    promotion_week: str | None = None
    purchase_unit_name: str | None = None
    purchase_unit_quantity: Double | None = None
    referral_product: str | None = None
    smallest_item_quantity: Double | None = None
    smallest_product_number: str | None = None
    store_locations: list[StockLocation] | None = None
    store_number: str | None = None
    storeproduct_attention_codes: str | None = None
    validate_expiry_datetime: DateTime | None = None


class StoreProductStockList(PageEnvelope):
    """Page of store product stock."""

    rows: list[StoreProductStock] = Field(alias="list")


class ProductStock(StockPools):
    """Stock of one product in one store (interface: Single product stock result)."""

    most_likely_stock: Double
    delivery_datetimes: list[str] | None = None
    edit_min_max_percentage: Int32 | None = None
    is_edit_min_max: bool | None = None
    max: Int32 | None = None
    min: Int32 | None = None
    next_delivery_datetime: DateTime | None = None
    next_ordering_datetime: DateTime | None = None
    ordering_datetimes: list[str] | None = None
    product_number: str | None = None
    store_locations: list[StockLocation] | None = None
    store_number: str | None = None


class ProductStockResult(ResponseModel):
    """Response with one product's stock (interface: Single product stock result)."""

    products: list[ProductStock] | None = None


class SurroundingStock(MostLikelyPools):
    """Stock of the product in a store or warehouse nearby (interface: Surrounding stock entry)."""

    is_warehouse: bool
    most_likely_quantity: Double
    area_description: str | None = None
    area_id: str | None = None
    store_name: str | None = None
    store_number: str | None = None


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


class StoreProductLog(StockPools):
    """Log entry, as listed (interface: Store product log entry)."""

    product_number: str
    store_number: str
    id: Number | None = None
    app_user_name: str | None = None
    barcode: str | None = None
    cost_center: str | None = None
    counted_quantity: Number | None = None
    counting_assignment_id: Number | None = None
    counting_lines_remaining: Number | None = None
    counting_lines_remaining_stockpool: StockPools | None = None
    created_on: str | None = None
    customer_order_line_number: Number | None = None
    customer_order_number: str | None = None
    customer_order_shipment_number: str | None = None
    customer_order_shipment_number_line_number: Number | None = None
    expected_quantity: Number | None = None
    general_ledger_credit: str | None = None
    general_ledger_debit: str | None = None
    location: Number | None = None
    location_code: str | None = None
    location_tag: str | None = None
    moved_on: str | None = None
    price: Number | None = None
    purchase_price: Number | None = None
    purchase_unit_quantity: Number | None = None
    quantity: Number | None = None
    reason_code: Number | None = None
    reason_code_description: str | None = None
    reference: str | None = None
    reference_id: Number | None = None
    review_status: str | None = None
    source: str | None = None
    stock_pool: str | None = None
    store_products_price: Number | None = None
    updated_on: str | None = None


class StoreProductLogList(PageEnvelope):
    """Page of log entries."""

    rows: list[StoreProductLog] = Field(alias="list")


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


class LogResult(ResponseModel):
    """Response to creating log entries: `data` is an array of numbers."""

    data: list[Number] | None = None
    message: str | None = None
    success: bool | None = None


class LocationStock(LocationPools):
    """Stock of one product at a location (interface: Location)."""

    customer_order_line_number: Number | None = None
    customer_order_number: str | None = None
    customer_order_shipment_line_number: Number | None = None
    customer_order_shipment_number: str | None = None
    product_description: str | None = None
    product_number: str | None = None
    quantity: Number | None = None
    tags: list[str] | None = None


class Location(ResponseModel):
    """Location of a store, with the stock on it (interface: Location)."""

    location_code: str
    id: Number | None = None
    counter: Number | None = None
    created_on: str | None = None
    customer_orders: list[str] | None = None
    default_stock_pool: str | None = None
    location_order: Number | None = None
    quantity: Number | None = None
    stock: list[LocationStock] | None = None


class LocationList(PageEnvelope):
    """Page of locations."""

    rows: list[Location] = Field(alias="list")


class LocationProduct(ResponseModel):
    """Product at a location (interface: Location product)."""

    product_number: str
    barcode: str | None = None
    customer_order_line_number: Number | None = None
    customer_order_number: str | None = None
    customer_order_shipment_line_number: Number | None = None
    customer_order_shipment_number: str | None = None
    image_url: str | None = None
    product_description: str | None = None
    quantity: Number | None = None


class LocationProductList(PageEnvelope):
    """Page of the products at a location."""

    rows: list[LocationProduct] = Field(alias="list")


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
