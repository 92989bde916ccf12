"""Products of the catalogue; their stock, settings and movements in a store (interface: Product, Store products)."""

from __future__ import annotations

from typing import Required

from aisle.contract.models.base import (
    ExactNumber,
    OrNull,
    RequestBody,
    StockPoolsRequest,
    StrictBool,
    list_body,
)


class ProductFreeFieldCreate(RequestBody, total=False):
    """Free key and value of a product to write."""

    sort_order: Required[ExactNumber]
    key: OrNull[str]
    value: OrNull[str]


class SetProductCreate(RequestBody, total=False):
    """Component of a set to write."""

    set_item_quantity: OrNull[str]
    set_product_number: OrNull[str]


class ProductUnitCreate(RequestBody, total=False):
    """Handling unit to write."""

    unit_quantity: Required[ExactNumber]
    unit_barcode: OrNull[str]
    unit_name: OrNull[str]


class ProductAttributes(RequestBody, total=False):
    """Descriptive fields of a product, as the catalogue names them."""

    product_number: Required[str]
    attention_code: OrNull[str]
    average_weight: OrNull[ExactNumber]
    brand_code: OrNull[str]
    brand_description: OrNull[str]
    category_code: OrNull[str]
    color: OrNull[str]
    color_code: OrNull[str]
    country_code: OrNull[str]
    margin_category: OrNull[str]
    product_details: OrNull[str]
    product_type: OrNull[str]
    size: OrNull[str]
    size_code: OrNull[str]
    variant_code: OrNull[str]
    variant_factor: OrNull[ExactNumber]
    variant_family: OrNull[str]
    volume: OrNull[str]


class ProductWrite(ProductAttributes, total=False):
    """Product to create or update, with the catalogue's fields; an update needs only the number."""

    barcode: OrNull[str]
    carrier_item_quantity: OrNull[ExactNumber]
    edit_min_max_percentage: OrNull[ExactNumber]
    price_compare_multiplier: OrNull[ExactNumber]
    product_name: OrNull[str]
    shelf_label_quantity: OrNull[ExactNumber]
    allow_decimal: OrNull[StrictBool]
    barcodes_array: OrNull[str]
    base_unit_name: OrNull[str]
    countries_allowed: OrNull[list[str]]
    countries_not_allowed: OrNull[list[str]]
    deprecation_date: OrNull[str]
    expiration_min_range: OrNull[ExactNumber]
    free_fields: OrNull[list[ProductFreeFieldCreate]]
    general_ledger: OrNull[str]
    image_url: OrNull[str]
    product_url: OrNull[str]
    is_active: OrNull[StrictBool]
    is_counted: OrNull[StrictBool]
    is_edit_min_max: OrNull[StrictBool]
    is_edit_replenishment: OrNull[StrictBool]
    is_expiration: OrNull[StrictBool]
    is_order_manually: OrNull[StrictBool]
    is_promotion: OrNull[StrictBool]
    is_set: OrNull[StrictBool]
    is_stock: OrNull[StrictBool]
    is_store_product: OrNull[StrictBool]
    is_template: OrNull[StrictBool]
    moq: OrNull[ExactNumber]
    old_price: OrNull[ExactNumber]
    price: OrNull[ExactNumber]
    special_price: OrNull[ExactNumber]
    promotion_price: OrNull[ExactNumber]
    purchase_price: OrNull[ExactNumber]
    price_compare_unit: OrNull[str]
    price_lines: OrNull[str]
    promo_stores_allowed: OrNull[list[str]]
    promo_stores_not_allowed: OrNull[list[str]]
    promotion: OrNull[str]
    promotion_week: OrNull[str]
    purchase_unit_barcode: OrNull[str]
    purchase_unit_name: OrNull[str]
    purchase_unit_product_number: OrNull[str]
    purchase_unit_quantity: OrNull[ExactNumber]
    referral_product_id: OrNull[str]
    reset_store_stock: OrNull[StrictBool]
    set_product: OrNull[list[SetProductCreate]]
    shelf_label: OrNull[StrictBool]
    shelf_label_barcode: OrNull[StrictBool]
    shelf_label_price: OrNull[StrictBool]
    shelf_label_layout: OrNull[ExactNumber]
    smallest_product_number: OrNull[str]
    smallest_quantity: OrNull[ExactNumber]
    stores_allowed: OrNull[list[str]]
    stores_not_allowed: OrNull[list[str]]
    supplier_id: OrNull[str]
    supplier_name: OrNull[str]
    supplier_product_number: OrNull[str]
    units: OrNull[list[ProductUnitCreate]]


ProductsRequest = list_body("ProductsRequest", "products", ProductWrite)


class DeleteProductsRequest(RequestBody, total=False):
    """Body that names the products to delete."""

    product_numbers: Required[list[str]]


ProductAttributesRequest = list_body("ProductAttributesRequest", "products", ProductAttributes)


class ProductPrice(RequestBody, total=False):
    """Prices of a product, in the store `store_number` or in all stores without it."""

    product_number: Required[str]
    price: Required[ExactNumber]
    store_number: OrNull[str]
    old_price: OrNull[ExactNumber]
    purchase_price: OrNull[ExactNumber]
    special_price: OrNull[ExactNumber]
    price_compare_unit: OrNull[str]
    price_compare_multiplier: OrNull[ExactNumber]


PricesRequest = list_body("PricesRequest", "products", ProductPrice)


class ProductDiscountPrice(RequestBody, total=False):
    """Discount price of a product, in the store `store_number` or in all stores without it."""

    product_number: Required[str]
    discount_price: Required[ExactNumber]
    store_number: OrNull[str]
    promotion: OrNull[str]
    promotion_week: OrNull[str]
    is_promotion: OrNull[StrictBool]


DiscountPricesRequest = list_body("DiscountPricesRequest", "products", ProductDiscountPrice)


class ProductFreeFields(RequestBody, total=False):
    """Free fields of one product."""

    product_number: Required[str]
    free_fields: Required[list[ProductFreeFieldCreate]]


ProductFreeFieldsRequest = list_body("ProductFreeFieldsRequest", "products", ProductFreeFields)


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
