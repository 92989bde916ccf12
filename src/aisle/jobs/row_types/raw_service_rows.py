"""Rows of the service (order, order line, product, store) as the cache stores them; any field may be missing."""

from decimal import Decimal
from typing import TypedDict

from aisle.jobs.job import Json

Number = int | Decimal
"""Number of a stored row: whole numbers as int, fractions as Decimal."""

Pools = dict[str, Number]
"""Quantities by number of the stock pool."""


class ServiceOrder(TypedDict, total=False):
    """Order. interface: Customer order; extension: claims."""

    aisle: Json
    """Fields that the interface accepts and never returns; our own service returns them."""
    claimed_by: str
    claimed_name: str
    claimed_on: str
    """ISO 8601."""
    claimed_terminal: str
    comment: str | None
    customer_name: str | None
    description: str | None
    order_type_code: str | None
    order_type_description: str | None
    reference: str | None
    rejection_reason_code: str | None
    rejection_reason_code_description: str | None
    sales_order_id: str | None
    status_id: Number
    store_number: str | None
    stores_allowed: str | None
    total_delivery_quantity: Number | None
    total_lines: Number
    total_quantity: Number


class ServiceLine(TypedDict, total=False):
    """Line of an order. interface: Order line."""

    aisle: Json
    barcode: str | None
    delivery_date: str | None
    delivery_qty: Number | None
    explicit_order: bool
    id: Number
    is_picked_from_warehouse: Json
    is_rejected: bool
    is_template: bool
    next_ordering_datetime: str | None
    picked_username: str | None
    pickup_date: str | None
    reference: str | None
    rejection_reason_code: str | None
    rejection_reason_code_description: str | None
    stock_location: str | None


class ServiceProduct(TypedDict, total=False):
    """Product of the catalogue with its stock entry. interface: Product, Store product stock entry."""

    adjusted_order_level: Number | None
    attention_code: str | None
    attention_codes: str | None
    average_array: str | None
    barcodes_array: Json
    category_code: str | None
    category_name: str | None
    default_salesorder_type: str | None
    delivery_datetimes: list[str] | None
    demand_until_delivery: Number | None
    deprecation_date: str | None
    discount_price: Number | None
    edit_min_max_percentage: Number
    expiration_min_range: Number | None
    forecast: Number | None
    forecast_array: str | None
    group_code: str | None
    history_array: str | None
    is_active: bool
    is_edit_min_max: bool | None
    is_edit_replenishment: bool | None
    is_promotion: bool | None
    is_stock: bool
    is_template: bool | None
    last_counted_datetime: str | None
    last_expiry_updatedby: str | None
    last_loss_updatedby: str | None
    last_minmax_updatedby: str | None
    last_receipt_updatedby: str | None
    max: Number | None
    min: Number | None
    most_likely_datetime: str | None
    next_delivery_datetime: str | None
    next_ordering_datetime: str | None
    order_level: Number | None
    ordering_datetimes: list[str] | None
    original_max: Number | None
    original_min: Number | None
    price: Number | None
    product_description: str | None
    promotion_week: str | None
    purchase_unit_barcode: str | None
    purchase_unit_name: str | None
    purchase_unit_quantity: Number | None
    referral_product: str | None
    referral_product_id: str | None
    set_product: Json
    units: Json
    variant_family: str | None


class ServiceStore(TypedDict, total=False):
    """Store, with the field names of its creation. interface: Store, Create stores."""

    area_description: str | None
    area_id: str | None
    free_fields: Json
    opening_hours: Json
    ordering_schema: Json
    store_printers: Json
