"""Catalogue products, and the bodies that write them (interface: Product)."""

from __future__ import annotations

from aisle.contract.models.base import (
    DateTime,
    Double,
    ExactNumber,
    Int32,
    Int64,
    RequestModel,
    ResponseModel,
    StrictBool,
)


class ProductFreeField(ResponseModel):
    """Free key and value of a product."""

    sort_order: Int32
    key: str | None = None
    value: str | None = None


class SetProduct(ResponseModel):
    """Component of a set."""

    set_item_quantity: str | None = None
    set_product_number: str | None = None


class ProductUnit(ResponseModel):
    """Handling unit of a product."""

    unit_quantity: Double
    unit_barcode: str | None = None
    unit_name: str | None = None


class Product(ResponseModel):
    """Product of the catalogue (interface: Product)."""

    barcode: str
    carrier_item_quantity: Double
    edit_min_max_percentage: Int32
    price_compare_multiplier: Double
    product_name: str
    product_number: str
    shelf_label_quantity: Int32
    allow_decimal: bool | None = None
    attention_code: str | None = None
    average_weight: Double | None = None
    barcodes_array: str | None = None
    base_unit_name: str | None = None
    brand_code: str | None = None
    brand_description: str | None = None
    category_code: str | None = None
    color: str | None = None
    color_code: str | None = None
    size: str | None = None
    size_code: str | None = None
    variant_code: str | None = None
    variant_family: str | None = None
    variant_factor: Double | None = None
    countries_allowed: list[str] | None = None
    countries_not_allowed: list[str] | None = None
    country_code: str | None = None
    deprecation_date: DateTime | None = None
    expiration_min_range: Int32 | None = None
    free_fields: list[ProductFreeField] | None = None
    general_ledger: str | None = None
    image_url: str | None = None
    product_url: str | None = None
    is_active: bool | None = None
    is_counted: bool | None = None
    is_edit_min_max: bool | None = None
    is_edit_replenishment: bool | None = None
    is_expiration: bool | None = None
    is_order_manually: bool | None = None
    is_promotion: bool | None = None
    is_set: bool | None = None
    is_stock: bool | None = None
    is_store_product: bool | None = None
    is_template: bool | None = None
    margin_category: str | None = None
    moq: Double | None = None
    old_price: Double | None = None
    price: Double | None = None
    special_price: Double | None = None
    promotion_price: Double | None = None
    purchase_price: Double | None = None
    price_compare_unit: str | None = None
    price_lines: str | None = None
    product_details: str | None = None
    product_type: str | None = None
    promo_stores_allowed: list[str] | None = None
    promo_stores_not_allowed: list[str] | None = None
    promotion: str | None = None
    promotion_week: str | None = None
    purchase_unit_barcode: str | None = None
    purchase_unit_name: str | None = None
    purchase_unit_product_number: str | None = None
    purchase_unit_quantity: Double | None = None
    referral_product_id: str | None = None
    reset_store_stock: bool | None = None
    set_product: list[SetProduct] | None = None
    shelf_label: bool | None = None
    shelf_label_barcode: bool | None = None
    shelf_label_price: bool | None = None
    shelf_label_layout: Int32 | None = None
    smallest_product_number: str | None = None
    smallest_quantity: Double | None = None
    stores_allowed: list[str] | None = None
    stores_not_allowed: list[str] | None = None
    supplier_id: str | None = None
    supplier_name: str | None = None
    supplier_product_number: str | None = None
    units: list[ProductUnit] | None = None
    volume: str | None = None


class ProductList(ResponseModel):
    """Page of the catalogue, in its own envelope (interface: Product)."""

    page_number: Int64
    page_size: Int32
    total_record_count: Int64
    records: list[Product] | None = None


class AttributeResult(ResponseModel):
    """Response to a product attribute update (interface: Product)."""

    data: bool
    code: Int32 | None = None
    message: str | None = None
    status: str | None = None


class ProductFreeFieldCreate(RequestModel):
    """Free key and value of a product to write."""

    sort_order: ExactNumber
    key: str | None = None
    value: str | None = None


class SetProductCreate(RequestModel):
    """Component of a set to write."""

    set_item_quantity: str | None = None
    set_product_number: str | None = None


class ProductUnitCreate(RequestModel):
    """Handling unit to write."""

    unit_quantity: ExactNumber
    unit_barcode: str | None = None
    unit_name: str | None = None


class ProductWrite(RequestModel):
    """Product to create or update, with the catalogue's fields; an update needs only the number."""

    product_number: str
    barcode: str | None = None
    carrier_item_quantity: ExactNumber | None = None
    edit_min_max_percentage: ExactNumber | None = None
    price_compare_multiplier: ExactNumber | None = None
    product_name: str | None = None
    shelf_label_quantity: ExactNumber | None = None
    allow_decimal: StrictBool | None = None
    attention_code: str | None = None
    average_weight: ExactNumber | None = None
    barcodes_array: str | None = None
    base_unit_name: str | None = None
    brand_code: str | None = None
    brand_description: str | None = None
    category_code: str | None = None
    color: str | None = None
    color_code: str | None = None
    size: str | None = None
    size_code: str | None = None
    variant_code: str | None = None
    variant_family: str | None = None
    variant_factor: ExactNumber | None = None
    countries_allowed: list[str] | None = None
    countries_not_allowed: list[str] | None = None
    country_code: str | None = None
    deprecation_date: str | None = None
    expiration_min_range: ExactNumber | None = None
    free_fields: list[ProductFreeFieldCreate] | None = None
    general_ledger: str | None = None
    image_url: str | None = None
    product_url: str | None = None
    is_active: StrictBool | None = None
    is_counted: StrictBool | None = None
    is_edit_min_max: StrictBool | None = None
    is_edit_replenishment: StrictBool | None = None
    is_expiration: StrictBool | None = None
    is_order_manually: StrictBool | None = None
    is_promotion: StrictBool | None = None
    is_set: StrictBool | None = None
    is_stock: StrictBool | None = None
    is_store_product: StrictBool | None = None
    is_template: StrictBool | None = None
    margin_category: str | None = None
    moq: ExactNumber | None = None
    old_price: ExactNumber | None = None
    price: ExactNumber | None = None
    special_price: ExactNumber | None = None
    promotion_price: ExactNumber | None = None
    purchase_price: ExactNumber | None = None
    price_compare_unit: str | None = None
    price_lines: str | None = None
    product_details: str | None = None
    product_type: str | None = None
    promo_stores_allowed: list[str] | None = None
    promo_stores_not_allowed: list[str] | None = None
    promotion: str | None = None
    promotion_week: str | None = None
    purchase_unit_barcode: str | None = None
    purchase_unit_name: str | None = None
    purchase_unit_product_number: str | None = None
    purchase_unit_quantity: ExactNumber | None = None
    referral_product_id: str | None = None
    reset_store_stock: StrictBool | None = None
    set_product: list[SetProductCreate] | None = None
    shelf_label: StrictBool | None = None
    shelf_label_barcode: StrictBool | None = None
    shelf_label_price: StrictBool | None = None
    shelf_label_layout: ExactNumber | None = None
    smallest_product_number: str | None = None
    smallest_quantity: ExactNumber | None = None
    stores_allowed: list[str] | None = None
    stores_not_allowed: list[str] | None = None
    supplier_id: str | None = None
    supplier_name: str | None = None
    supplier_product_number: str | None = None
    units: list[ProductUnitCreate] | None = None
    volume: str | None = None


class ProductsRequest(RequestModel):
    """Body that creates or updates products."""

    products: list[ProductWrite] | None = None


class DeleteProductsRequest(RequestModel):
    """Body that names the products to delete."""

    product_numbers: list[str]


class ProductAttributes(RequestModel):
    """Descriptive fields of a product, as the catalogue names them."""

    product_number: str
    attention_code: str | None = None
    average_weight: ExactNumber | None = None
    brand_code: str | None = None
    brand_description: str | None = None
    category_code: str | None = None
    color: str | None = None
    color_code: str | None = None
    country_code: str | None = None
    margin_category: str | None = None
    product_details: str | None = None
    product_type: str | None = None
    size: str | None = None
    size_code: str | None = None
    variant_code: str | None = None
    variant_factor: ExactNumber | None = None
    variant_family: str | None = None
    volume: str | None = None


class ProductAttributesRequest(RequestModel):
    """Body that updates attributes of products."""

    products: list[ProductAttributes] | None = None


class ProductPrice(RequestModel):
    """Prices of a product, in the store `store_number` or in all stores without it."""

    product_number: str
    price: ExactNumber
    store_number: str | None = None
    old_price: ExactNumber | None = None
    purchase_price: ExactNumber | None = None
    special_price: ExactNumber | None = None
    price_compare_unit: str | None = None
    price_compare_multiplier: ExactNumber | None = None


class PricesRequest(RequestModel):
    """Body that sets prices."""

    products: list[ProductPrice] | None = None


class ProductDiscountPrice(RequestModel):
    """Discount price of a product, in the store `store_number` or in all stores without it."""

    product_number: str
    discount_price: ExactNumber
    store_number: str | None = None
    promotion: str | None = None
    promotion_week: str | None = None
    is_promotion: StrictBool | None = None


class DiscountPricesRequest(RequestModel):
    """Body that sets discount prices."""

    products: list[ProductDiscountPrice] | None = None


class ProductFreeFields(RequestModel):
    """Free fields of one product."""

    product_number: str
    free_fields: list[ProductFreeFieldCreate]


class ProductFreeFieldsRequest(RequestModel):
    """Body that sets free fields."""

    products: list[ProductFreeFields] | None = None
