"""Rows of locations and of the goods there."""

from decimal import Decimal
from typing import NotRequired, TypedDict

from aisle.jobs.row_types.raw_service_rows import Number


class LocationHeader(TypedDict):
    """Location without its goods."""

    location_code: str
    location_order: Number | None
    """Walking order."""
    default_stock_pool: int
    """0 if unknown."""
    tags: list[str]


class LocationSums(TypedDict):
    """Sums over all goods at a location."""

    products: int
    """Number of products there."""
    quantity: Decimal | None
    """Total quantity; None if unknown."""


class LocationsRow(LocationHeader, LocationSums):
    """Location in a list."""


class HeldGoodsRow(TypedDict):
    """Goods held for an order line."""

    order_number: str
    line_number: int
    quantity: Decimal


class ProductHereRow(TypedDict):
    """Product at a location."""

    product_number: str
    description: str
    quantity: Decimal | None
    """Held goods included; None if unknown."""
    pools: dict[str, Decimal]
    allow_decimal: bool
    unit: str
    price: Decimal
    held: list[HeldGoodsRow]


class LocationRow(LocationHeader):
    """One location with everything at it."""

    is_stock_unknown: bool
    """True if no stock is cached at all."""
    unnamed: bool
    """True if no stock entry names a location."""
    total: int
    """Number of all products there."""
    quantity: Decimal | None
    products: list[ProductHereRow]
    before: str
    """Location before it in walking order, or empty."""
    after: str


class LocationsOfProductsRow(TypedDict):
    """Location of a product."""

    product_number: str
    location_code: str
    location_order: Number | None
    quantity: Decimal | None
    """None if unknown; 0 at a location that order lines prefer."""


class OtherLocationsRow(TypedDict):
    """Location with free stock of a product."""

    location_code: str
    quantity: Decimal
    pool: int
    """First allowed pool with stock; 0 without pools."""


class StockAtLocationRow(TypedDict):
    """Stock of a product at a location."""

    pools: dict[str, Decimal]
    quantity: Decimal
    held_goods: NotRequired[list[HeldGoodsRow]]
    """What is held there for order lines."""


class PickupLocationsRow(TypedDict):
    """Pick-up locations."""

    locations: list[str]
    """Codes of some of them, the most similar first."""
    count: int
    """Number of all."""


class LocationUseRow(TypedDict):
    """Use of a location."""

    tags: list[str]
    goods: int
    """Number of products for sale there."""
    is_used: bool
    """True if goods of orders are there."""


class RecordsByNumberRow(TypedDict):
    """Record with a code."""

    kind: str
    key: str
    label: str
    is_guess: bool
    has_other_zeros: bool
    """True if nothing has exactly these digits."""
    is_active: bool
    """False for an order that is finished or rejected."""
