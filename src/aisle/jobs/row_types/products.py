"""Rows of products and of the search over all records: stock, catalogue, and the settings of a store."""

from decimal import Decimal
from typing import NotRequired, TypedDict

from aisle.jobs.job import Json
from aisle.jobs.row_types.orders import LocationStockRow
from aisle.jobs.row_types.raw_service_rows import Number, Pools, ServiceProduct


class SearchRow(TypedDict):
    """Product in a list of hits."""

    product_number: str
    product_name: str
    brand_description: str
    barcode: str
    unit: str
    allow_decimal: bool
    most_likely_quantity: Decimal | None
    """Estimated stock; None if no stock is kept of it."""


class PoolStockRow(TypedDict):
    """Stock of a pool, with the store's name for it."""

    pool: int
    name: str
    quantity: Decimal


class ProductRow(ServiceProduct, SearchRow):
    """One product with its stock."""

    pools: list[PoolStockRow]
    locations: list[LocationStockRow]
    in_catalogue: bool
    in_hand: Decimal
    """Quantity picked for open orders and at no location."""


class NearbyStoreRow(TypedDict):
    """Stock of a product in a nearby store or warehouse."""

    store_number: str
    store_name: str
    is_warehouse: bool
    quantity: Decimal
    pools: Pools


class SurroundingRow(TypedDict):
    """Stock of a product in nearby stores, those with stock first."""

    product_number: str
    stores: list[NearbyStoreRow]
    read_at: str
    """ISO 8601."""
    refused: str
    """Reason for a refusal, or empty."""


class LabelledProduct(TypedDict):
    """Product with its name."""

    product_number: str
    label: str


class OrderOfCustomerRow(TypedDict):
    """Order with its customer."""

    order_number: str
    customer_name: str


class UnexpectedProductRow(TypedDict):
    """Product that no order of a pick needs."""

    deprecation_date: NotRequired[str | None]
    is_active: NotRequired[bool]
    is_template: bool
    referral: str
    """Product that replaces it, or empty."""
    referral_label: str
    wholes: list[LabelledProduct]
    """Open products that contain it."""
    parts: list[LabelledProduct]
    """Open products it consists of."""
    orders: list[OrderOfCustomerRow]
    """Other orders that need it."""


class NextDeliveriesRow(TypedDict):
    """Delivery that still expects a product."""

    order_number: str
    missing: Decimal | None
    """None if unknown."""
    datetime_expected: str


class PendingChangeRow(TypedDict):
    """Change of a product's settings from this host."""

    op_id: str
    outcome: str
    fields: list[tuple[str, str, str]]
    """Name, value before, value after."""
    user: str
    user_name: str
    at: str
    """ISO 8601."""
    why: str


class StoreProductRow(ProductRow):
    """Product with the store's settings."""

    is_ranged: bool
    """True if it is in the store's stock list."""
    read_at: str
    """ISO 8601."""
    may_edit: bool
    """True if the user may change it, as far as known."""
    keeps_all: bool
    """True if the service returns every field that it accepts."""
    said: list[PendingChangeRow]
    """Youngest first."""


class ExpiryCheckRow(TypedDict):
    """Product whose expiry date is to be checked."""

    product_number: str
    product_name: str
    location_code: str
    """First of its locations in walking order; empty if none is known."""
    due: str
    """Day of the check, yyyy-MM-dd."""
    expiry: str
    """Expiry date known so far, yyyy-MM-dd; empty if the service returns none."""
    most_likely_quantity: Decimal | None


class CatalogueRow(TypedDict):
    """Product in the catalogue list."""

    product_number: str
    product_name: str
    brand_description: str
    category_code: str
    in_catalogue: bool
    in_store: bool
    promotion: bool
    set: bool
    ended: bool
    by_hand: bool


class VariantRow(TypedDict):
    """Product of the same family."""

    product_number: str
    product_name: str
    color: Json
    size: Json
    factor: Number | None


class SetPartRow(TypedDict):
    """Part of a set."""

    product_number: str
    product_name: str
    quantity: str


class CataloguePageRow(ProductRow):
    """Product with its catalogue row."""

    catalogue: ServiceProduct
    """All fields as the service sends them; empty if it is in no catalogue."""
    variants: list[VariantRow]
    parts: list[SetPartRow]


class FacetsRow(TypedDict):
    """Category or supplier."""

    code: str
    name: str
    """Empty if unknown."""
    count: int
    """Number of products."""


class RecordRow(TypedDict):
    """Record found by the command palette."""

    kind: str
    """Kind of a meaning: `order`, `product`, `location` or `delivery`."""
    key: str
    label: str
    """Customer, product name, description or supplier; empty if there is none."""


class ReplenishmentRow(TypedDict):
    """Move of a product from the backroom to the shop floor."""

    product_number: str
    product_name: str
    location_code: str
    """Location in the backroom."""
    quantity: Decimal
    """Quantity to move: what is missing, but not more than `available`."""
    available: Decimal
    """Free stock at the location."""
    pools: dict[str, Decimal]
    """The same by pool; empty if unknown."""
    on_floor: Decimal
    """Free stock on the shop floor."""
    order_level: Decimal
    """Quantity below which the shop floor is replenished."""
    allow_decimal: bool
    unit: str
    to_location: str
    """Location on the shop floor; empty if unknown."""
    to_order: Number | None
    """Its walking order."""
    worker: str
    """User who has the goods on the cart at a terminal of this host, or empty."""
    worker_name: str
