"""Bodies of our own operations (README: Extensions)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from aisle.contract.models import ExactNumber, RequestModel, StrictBool, body_adapter
from aisle.contract.models.deliveries import (
    MultiStoreDeliveriesRequest,
    MultiStoreDeliveryCreate,
    StoreDeliveriesRequest,
    StoreDeliveryCreate,
)
from aisle.contract.models.orders import CustomerOrderLineUpdate, CustomerOrderUpdate, CustomerOrderUpdateRequest
from aisle.contract.models.products import ProductsRequest, ProductWrite
from aisle.contract.models.stock import StoreProductLogCreate, StoreProductLogsRequest
from aisle.contract.models.stores import StoreCreate, StoresRequest
from aisle.contract.operations import Operation


class LocationWrite(RequestModel):
    """Location to create, or fields of one to change."""

    store_number: str
    location_code: str
    location_order: ExactNumber | None = None
    default_stock_pool: str | ExactNumber | None = None
    tags: list[str] | None = None
    carrier_code: str | None = None


class LocationsRequest(RequestModel):
    """Body that creates or updates locations."""

    locations: list[LocationWrite]


class DeliveryMark(RequestModel):
    """Announced delivery with fields set since."""

    order_number: str
    external_reference_number: str | None = None
    is_downloaded: StrictBool | None = None


class DeliveryMarksRequest(RequestModel):
    """Body that sets fields of deliveries."""

    deliveries: list[DeliveryMark]


class PersonWrite(RequestModel):
    """Person of the store. Without `pin` the present one stays; '' removes it."""

    badge: str
    name: str
    user: str
    role: Literal["staff", "supervisor"] = "staff"
    pin: str | None = None
    is_active: StrictBool | None = True
    """False if the person no longer works here."""


class PeopleRequest(RequestModel):
    """Body that adds, changes or removes people."""

    people: list[PersonWrite]


class SignInRequest(RequestModel):
    """Sign-in for a user token: by badge or user name, and PIN."""

    store_number: str
    badge: str | None = None
    user: str | None = None
    pin: str


class TokenRequest(RequestModel):
    """Token to create: its name, role and stores; `["*"]` is all stores."""

    name: str
    role: Literal["staff", "supervisor", "integration", "admin", "metrics"]
    stores: list[str]
    days: ExactNumber | None = None
    """Days until it expires; without it the token never does."""


class TokenRevokeRequest(RequestModel):
    """Token to revoke, by its name or id."""

    name: str


class ReviewWrite(RequestModel):
    """Log entry that was reviewed."""

    id: ExactNumber
    review_status: ExactNumber = 2


class ReviewsRequest(RequestModel):
    """Body that reviews entries of the log."""

    reviews: list[ReviewWrite]


class RecountWrite(RequestModel):
    """Count to order: of a log entry (`log_id`), or of a product at a location or in the whole store.

    With `id`: an ordered count to withdraw.
    """

    id: ExactNumber | None = None
    state: str | None = None
    log_id: ExactNumber | None = None
    product_number: str | None = None
    location_code: str | None = None
    note: str | None = None


class RecountsRequest(RequestModel):
    """Body that orders counts, or withdraws them."""

    recounts: list[RecountWrite]


class LineRejection(RequestModel):
    """Line to reject with a reason, or to reopen."""

    line_number: ExactNumber
    is_rejected: StrictBool | None = True
    rejection_reason_code: str | None = None
    rejection_reason_code_description: str | None = None


class LineRejectionsRequest(RequestModel):
    """Body that rejects lines of an order."""

    order_number: str
    lines: list[LineRejection]


class ExtendedLineUpdate(CustomerOrderLineUpdate):
    """Line with the picked quantity that its sender started from (`pick-base`) and a reason (`line-reasons`)."""

    base_picked_quantity: ExactNumber | None = None
    rejection_reason_code: str | None = None
    rejection_reason_code_description: str | None = None


class ExtendedOrderUpdate(CustomerOrderUpdate):
    """Order with extended lines."""

    order_lines: list[ExtendedLineUpdate] | None = None  # type: ignore[assignment]


class ExtendedOrderUpdateRequest(CustomerOrderUpdateRequest):
    """Body that updates an order."""

    orders: ExtendedOrderUpdate | None = None


class ExtendedLogEntry(StoreProductLogCreate):
    """Log entry with the line of its delivery (`receipt-line`)."""

    line_number: ExactNumber | None = None


class ExtendedLogsRequest(StoreProductLogsRequest):
    """Body that writes log entries."""

    storeproductlog: list[ExtendedLogEntry] | None = None  # type: ignore[assignment]


class ExtendedProduct(ProductWrite):
    """Product with the fields of its category that the stock list shows and filters by."""

    category_name: str | None = None
    category_order: ExactNumber | None = None
    group_code: str | None = None
    parent_category_code: str | None = None


class ExtendedProductsRequest(ProductsRequest):
    """Body that creates or updates products."""

    products: list[ExtendedProduct] | None = None  # type: ignore[assignment]


class ExtendedStore(StoreCreate):
    """Store with fields that the list has and its creation has not."""

    invent_location: str | None = None
    legal_entity: str | None = None
    last_order_line_exported_on: str | None = None


class ExtendedStoresRequest(StoresRequest):
    """Body that creates or updates stores."""

    stores: list[ExtendedStore] | None = None  # type: ignore[assignment]


class ExtendedDelivery(StoreDeliveryCreate):
    """Delivery with its external number."""

    external_reference_number: str | None = None


class ExtendedDeliveriesRequest(StoreDeliveriesRequest):
    """Body that announces deliveries to a store."""

    orders: list[ExtendedDelivery] | None = None  # type: ignore[assignment]


class ExtendedMultiStoreDelivery(MultiStoreDeliveryCreate):
    """Delivery that names its store, with its external number."""

    external_reference_number: str | None = None


class ExtendedMultiStoreDeliveriesRequest(MultiStoreDeliveriesRequest):
    """Body that announces deliveries to several stores."""

    orders: list[ExtendedMultiStoreDelivery] | None = None  # type: ignore[assignment]


_EXTENDED_BODIES: dict[str, TypeAdapter[Any]] = {
    "update-customer-order": TypeAdapter(ExtendedOrderUpdateRequest),
    "create-or-update-products": TypeAdapter(ExtendedProductsRequest),
    "create-store-product-logs": TypeAdapter(ExtendedLogsRequest),
    "create-store-deliveries": TypeAdapter(ExtendedDeliveriesRequest),
    "create-multi-store-deliveries": TypeAdapter(ExtendedMultiStoreDeliveriesRequest),
    "create-stores": TypeAdapter(ExtendedStoresRequest),
}


def request_body_adapter(operation: Operation) -> TypeAdapter[Any]:
    """Return the adapter for a body of this operation: the interface's model, or its extension."""
    return _EXTENDED_BODIES.get(operation.name) or body_adapter(operation)


def is_optional_body(adapter: TypeAdapter[Any]) -> bool:
    """Return True if a request may come without a body, because an empty object is valid."""
    try:
        adapter.validate_python({})
    except ValidationError:
        return False
    return True
