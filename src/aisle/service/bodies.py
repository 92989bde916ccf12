"""Bodies of the interface with the fields that we understand beside it (README: Extensions)."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from aisle.contract.models import Exact, body_adapter
from aisle.contract.models.customer_orders import (
    CustomerOrderLineUpdate,
    CustomerOrderUpdate,
    CustomerOrderUpdateRequest,
)
from aisle.contract.models.deliveries import (
    MultiStoreDeliveriesRequest,
    MultiStoreDeliveryCreate,
    StoreDeliveriesRequest,
    StoreDeliveryCreate,
)
from aisle.contract.models.logs import StoreProductLogCreate, StoreProductLogsRequest
from aisle.contract.models.product_writes import ProductsRequest, ProductWrite
from aisle.contract.models.stores import StoreCreate, StoresRequest
from aisle.contract.operation import Operation


class LineUpdate(CustomerOrderLineUpdate):
    """A line with what its sender believed to be picked before (`pick-base`), and why it is short (`line-reasons`)."""

    base_picked_quantity: Exact | None = None
    rejection_reason_code: str | None = None
    rejection_reason_code_description: str | None = None


class OrderUpdate(CustomerOrderUpdate):
    """An order with such lines."""

    order_lines: list[LineUpdate] | None = None  # type: ignore[assignment]


class OrderUpdateRequest(CustomerOrderUpdateRequest):
    """The body that updates an order."""

    orders: OrderUpdate | None = None


class LogEntry(StoreProductLogCreate):
    """An entry with the line of its delivery (`receipt-line`)."""

    line_number: Exact | None = None


class LogsRequest(StoreProductLogsRequest):
    """The body that writes log entries."""

    storeproductlog: list[LogEntry] | None = None  # type: ignore[assignment]


class CatalogueProduct(ProductWrite):
    """A product with what the stock list says of its category, and filters by."""

    category_name: str | None = None
    category_order: Exact | None = None
    group_code: str | None = None
    parent_category_code: str | None = None


class Products(ProductsRequest):
    """The body that creates or updates products."""

    products: list[CatalogueProduct] | None = None  # type: ignore[assignment]


class StoreWithBooks(StoreCreate):
    """A store with what its list has fields for, and its creation has not."""

    invent_location: str | None = None
    legal_entity: str | None = None
    last_order_line_exported_on: str | None = None


class Stores(StoresRequest):
    """The body that creates or updates stores."""

    stores: list[StoreWithBooks] | None = None  # type: ignore[assignment]


class Delivery(StoreDeliveryCreate):
    """A delivery with the number under which others know it."""

    external_reference_number: str | None = None


class Deliveries(StoreDeliveriesRequest):
    """The body that announces deliveries to a store."""

    orders: list[Delivery] | None = None  # type: ignore[assignment]


class MultiStoreDelivery(MultiStoreDeliveryCreate):
    """The same of a delivery that names its store."""

    external_reference_number: str | None = None


class MultiStoreDeliveries(MultiStoreDeliveriesRequest):
    """The body that announces deliveries to several stores."""

    orders: list[MultiStoreDelivery] | None = None  # type: ignore[assignment]


_OURS: dict[str, TypeAdapter[Any]] = {
    "update-customer-order": TypeAdapter(OrderUpdateRequest),
    "create-or-update-products": TypeAdapter(Products),
    "create-store-product-logs": TypeAdapter(LogsRequest),
    "create-store-deliveries": TypeAdapter(Deliveries),
    "create-multi-store-deliveries": TypeAdapter(MultiStoreDeliveries),
    "create-stores": TypeAdapter(Stores),
}


def read_body(op: Operation) -> TypeAdapter[Any]:
    """What a body of this operation has to fit: the interface's model, or ours around it."""
    return _OURS.get(op.name) or body_adapter(op)


def may_be_left_out(adapter: TypeAdapter[Any]) -> bool:
    """Whether a request may come without a body: an object without fields is as good."""
    try:
        adapter.validate_python({})
    except ValidationError:
        return False
    return True
