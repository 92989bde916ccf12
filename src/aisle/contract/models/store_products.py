"""Stock of a product in a store, and its settings there (interface: Store product stock entry, Store products)."""

from __future__ import annotations

from pydantic import Field

from aisle.contract.models._base import AnswerModel, DateTime, Double, Exact, Flag, Int32, Int64, RequestModel
from aisle.contract.models._pools import MostLikelyPools, StockPools
from aisle.contract.models.common import PageEnvelope


class StockLocation(StockPools):
    """Stock of the product at one place of the store (interface: Stock location entry)."""

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
    """A page of store product stock."""

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


class ProductStockResult(AnswerModel):
    """The answer to one product's stock (interface: Single product stock result)."""

    products: list[ProductStock] | None = None


class SurroundingStock(MostLikelyPools):
    """Stock of the product in a store or warehouse nearby (interface: Surrounding stock entry)."""

    is_warehouse: bool
    most_likely_quantity: Double
    area_description: str | None = None
    area_id: str | None = None
    store_name: str | None = None
    store_number: str | None = None


class StoreProductUpdate(RequestModel):
    """New settings of a product in a store; the body is a bare array of these (interface: Update store products)."""

    product_number: str
    attention_codes: list[str] | None = None
    average_array: list[Exact] | None = None
    average_keys: list[str] | None = None
    default_salesorder_type: str | None = None
    demand_until_delivery: Exact | None = None
    discount_price: Exact | None = None
    expiry_date_time: str | None = None
    forecast_array: list[Exact] | None = None
    forecast_keys: list[str] | None = None
    history_array: list[Exact] | None = None
    history_keys: list[str] | None = None
    is_promotion: Flag | None = None
    is_replenishment: Flag | None = None
    max: Exact | None = None
    min: Exact | None = None
    next_delivery_date: str | None = None
    next_ordering_date: str | None = None
    order_level: Exact | None = None
    price: Exact | None = None
    validate_expiry_date_time: str | None = None


class StoreProductCreate(StoreProductUpdate):
    """A product to range in a store. Assumed: the document shows no body; the fields are those of the update."""

    is_stock: Flag | None = None


class StoreProductsRequest(RequestModel):
    """The body that ranges products in a store. Assumed."""

    store_products: list[StoreProductCreate] | None = None
