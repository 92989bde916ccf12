"""Bodies that change the catalogue. All are assumed: the document shows none of them (interface: Products)."""

from __future__ import annotations

from aisle.contract.models._base import Exact, Flag, RequestModel


class ProductFreeFieldCreate(RequestModel):
    """A free key and value of a product to write."""

    sort_order: Exact
    key: str | None = None
    value: str | None = None


class SetProductCreate(RequestModel):
    """A component of a set to write."""

    set_item_quantity: str | None = None
    set_product_number: str | None = None


class ProductUnitCreate(RequestModel):
    """A handling unit to write."""

    unit_quantity: Exact
    unit_barcode: str | None = None
    unit_name: str | None = None


class ProductWrite(RequestModel):
    """A product to create or update: the catalogue's fields, of which only the number is needed for an update."""

    product_number: str
    barcode: str | None = None
    carrier_item_quantity: Exact | None = None
    edit_min_max_percentage: Exact | None = None
    price_compare_multiplier: Exact | None = None
    product_name: str | None = None
    shelf_label_quantity: Exact | None = None
    allow_decimal: Flag | None = None
    attention_code: str | None = None
    average_weight: Exact | None = None
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
    variant_factor: Exact | None = None
    countries_allowed: list[str] | None = None
    countries_not_allowed: list[str] | None = None
    country_code: str | None = None
    deprecation_date: str | None = None
    expiration_min_range: Exact | None = None
    free_fields: list[ProductFreeFieldCreate] | None = None
    general_ledger: str | None = None
    image_url: str | None = None
    product_url: str | None = None
    is_active: Flag | None = None
    is_counted: Flag | None = None
    is_edit_min_max: Flag | None = None
    is_edit_replenishment: Flag | None = None
    is_expiration: Flag | None = None
    is_order_manually: Flag | None = None
    is_promotion: Flag | None = None
    is_set: Flag | None = None
    is_stock: Flag | None = None
    is_store_product: Flag | None = None
    is_template: Flag | None = None
    margin_category: str | None = None
    moq: Exact | None = None
    old_price: Exact | None = None
    price: Exact | None = None
    special_price: Exact | None = None
    promotion_price: Exact | None = None
    purchase_price: Exact | None = None
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
    purchase_unit_quantity: Exact | None = None
    referral_product_id: str | None = None
    reset_store_stock: Flag | None = None
    set_product: list[SetProductCreate] | None = None
    shelf_label: Flag | None = None
    shelf_label_barcode: Flag | None = None
    shelf_label_price: Flag | None = None
    shelf_label_layout: Exact | None = None
    smallest_product_number: str | None = None
    smallest_quantity: Exact | None = None
    stores_allowed: list[str] | None = None
    stores_not_allowed: list[str] | None = None
    supplier_id: str | None = None
    supplier_name: str | None = None
    supplier_product_number: str | None = None
    units: list[ProductUnitCreate] | None = None
    volume: str | None = None


class ProductsRequest(RequestModel):
    """The body that creates or updates products."""

    products: list[ProductWrite] | None = None


class DeleteProductsRequest(RequestModel):
    """The body that names the products to delete."""

    product_numbers: list[str]


class ProductAttributes(RequestModel):
    """The descriptive fields of a product, as the catalogue names them."""

    product_number: str
    attention_code: str | None = None
    average_weight: Exact | None = None
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
    variant_factor: Exact | None = None
    variant_family: str | None = None
    volume: str | None = None


class ProductAttributesRequest(RequestModel):
    """The body that updates attributes of products."""

    products: list[ProductAttributes] | None = None


class ProductPrice(RequestModel):
    """A product's prices; of one store where `store_number` is given, else of all."""

    product_number: str
    price: Exact
    store_number: str | None = None
    old_price: Exact | None = None
    purchase_price: Exact | None = None
    special_price: Exact | None = None
    price_compare_unit: str | None = None
    price_compare_multiplier: Exact | None = None


class PricesRequest(RequestModel):
    """The body that sets prices."""

    products: list[ProductPrice] | None = None


class ProductDiscountPrice(RequestModel):
    """A product's discount price; of one store where `store_number` is given, else of all."""

    product_number: str
    discount_price: Exact
    store_number: str | None = None
    promotion: str | None = None
    promotion_week: str | None = None
    is_promotion: Flag | None = None


class DiscountPricesRequest(RequestModel):
    """The body that sets discount prices."""

    products: list[ProductDiscountPrice] | None = None


class ProductFreeFields(RequestModel):
    """The free fields of one product."""

    product_number: str
    free_fields: list[ProductFreeFieldCreate]


class ProductFreeFieldsRequest(RequestModel):
    """The body that sets free fields."""

    products: list[ProductFreeFields] | None = None
