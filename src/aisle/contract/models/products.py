"""The catalogue, as it is read (interface: Product)."""

from __future__ import annotations

from aisle.contract.models._base import AnswerModel, DateTime, Double, Int32, Int64


class ProductFreeField(AnswerModel):
    """A free key and value of a product."""

    sort_order: Int32
    key: str | None = None
    value: str | None = None


class SetProduct(AnswerModel):
    """A component of a set."""

    set_item_quantity: str | None = None
    set_product_number: str | None = None


class ProductUnit(AnswerModel):
    """A handling unit of a product."""

    unit_quantity: Double
    unit_barcode: str | None = None
    unit_name: str | None = None


class Product(AnswerModel):
    """One product of the catalogue (interface: Product)."""

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


class ProductList(AnswerModel):
    """A page of the catalogue, in its own envelope (interface: Product)."""

    page_number: Int64
    page_size: Int32
    total_record_count: Int64
    records: list[Product] | None = None


class AttributeResult(AnswerModel):
    """The answer to a product attribute update (interface: Product)."""

    data: bool
    code: Int32 | None = None
    message: str | None = None
    status: str | None = None
