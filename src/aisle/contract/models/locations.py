"""Places of a store and what lies on them (interface: Location, Location product)."""

from __future__ import annotations

from pydantic import Field

from aisle.contract.models._base import AnswerModel, Number
from aisle.contract.models._pools import LocationPools
from aisle.contract.models.common import PageEnvelope


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


class Location(AnswerModel):
    """One place of a store, with the stock on it (interface: Location)."""

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
    """A page of locations."""

    rows: list[Location] = Field(alias="list")


class LocationProduct(AnswerModel):
    """One product at a location (interface: Location product)."""

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
    """A page of the products at a location."""

    rows: list[LocationProduct] = Field(alias="list")
