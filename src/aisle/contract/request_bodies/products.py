"""Products of the catalogue, their prices and free fields (interface: Product)."""

from __future__ import annotations

from typing import Required

from aisle.contract.request_bodies import ExactNumber, OrNull, RequestBody, StrictBool, list_body


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
