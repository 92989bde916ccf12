"""The bodies of our own operations (README: Extensions)."""

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
    """A location to create, or its named fields to change."""

    store_number: str
    location_code: str
    location_order: ExactNumber | None = None
    default_stock_pool: str | ExactNumber | None = None
    tags: list[str] | None = None
    carrier_code: str | None = None


class LocationsRequest(RequestModel):
    """The body that creates or updates locations."""

    locations: list[LocationWrite]


class DeliveryMark(RequestModel):
    """A delivery that was announced, and what is said of it since."""

    order_number: str
    external_reference_number: str | None = None
    is_downloaded: StrictBool | None = None


class DeliveryMarksRequest(RequestModel):
    """The body that marks deliveries."""

    deliveries: list[DeliveryMark]


class PersonWrite(RequestModel):
    """Somebody who works in the store. Without a `pin` the one before stays, '' takes it away."""

    badge: str
    name: str
    user: str
    role: Literal["staff", "supervisor"] = "staff"
    pin: str | None = None
    is_active: StrictBool | None = True
    """False: does not work here any more."""


class PeopleRequest(RequestModel):
    """The body that adds, changes or removes people."""

    people: list[PersonWrite]


class SignInRequest(RequestModel):
    """Who wants a token of his own: by badge or user name, and the PIN."""

    store_number: str
    badge: str | None = None
    user: str | None = None
    pin: str


class TokenRequest(RequestModel):
    """A token to make: what it is for, what it may, and where; `["*"]` is all stores."""

    name: str
    role: Literal["staff", "supervisor", "integration", "admin", "metrics"]
    stores: list[str]
    days: ExactNumber | None = None
    """Days until it expires; never, where nobody says."""


class TokenRevokeRequest(RequestModel):
    """A token to end, by its name or id."""

    name: str


class ReviewWrite(RequestModel):
    """An entry of the log that was looked at."""

    id: ExactNumber
    review_status: ExactNumber = 2


class ReviewsRequest(RequestModel):
    """The body that reviews entries of the log."""

    reviews: list[ReviewWrite]


class RecountWrite(RequestModel):
    """A count that is ordered: of what a log entry (`log_id`) says, or of a product at a place or in the whole store.

    With `id`: one that was ordered, and is withdrawn.
    """

    id: ExactNumber | None = None
    state: str | None = None
    log_id: ExactNumber | None = None
    product_number: str | None = None
    location_code: str | None = None
    note: str | None = None


class RecountsRequest(RequestModel):
    """The body that orders counts, or withdraws them."""

    recounts: list[RecountWrite]


class LineRejection(RequestModel):
    """A line that is rejected, and why; or is taken up again."""

    line_number: ExactNumber
    is_rejected: StrictBool | None = True
    rejection_reason_code: str | None = None
    rejection_reason_code_description: str | None = None


class LineRejectionsRequest(RequestModel):
    """The body that rejects lines of an order."""

    order_number: str
    lines: list[LineRejection]


class ExtendedLineUpdate(CustomerOrderLineUpdate):
    """A line with what its sender believed to be picked before (`pick-base`), and why it is short (`line-reasons`)."""

    base_picked_quantity: ExactNumber | None = None
    rejection_reason_code: str | None = None
    rejection_reason_code_description: str | None = None


class ExtendedOrderUpdate(CustomerOrderUpdate):
    """An order with such lines."""

    order_lines: list[ExtendedLineUpdate] | None = None  # type: ignore[assignment]


class ExtendedOrderUpdateRequest(CustomerOrderUpdateRequest):
    """The body that updates an order."""

    orders: ExtendedOrderUpdate | None = None


class ExtendedLogEntry(StoreProductLogCreate):
    """An entry with the line of its delivery (`receipt-line`)."""

    line_number: ExactNumber | None = None


class ExtendedLogsRequest(StoreProductLogsRequest):
    """The body that writes log entries."""

    storeproductlog: list[ExtendedLogEntry] | None = None  # type: ignore[assignment]


class ExtendedProduct(ProductWrite):
    """A product with what the stock list says of its category, and filters by."""

    category_name: str | None = None
    category_order: ExactNumber | None = None
    group_code: str | None = None
    parent_category_code: str | None = None


class ExtendedProductsRequest(ProductsRequest):
    """The body that creates or updates products."""

    products: list[ExtendedProduct] | None = None  # type: ignore[assignment]


class ExtendedStore(StoreCreate):
    """A store with what its list has fields for, and its creation has not."""

    invent_location: str | None = None
    legal_entity: str | None = None
    last_order_line_exported_on: str | None = None


class ExtendedStoresRequest(StoresRequest):
    """The body that creates or updates stores."""

    stores: list[ExtendedStore] | None = None  # type: ignore[assignment]


class ExtendedDelivery(StoreDeliveryCreate):
    """A delivery with the number under which others know it."""

    external_reference_number: str | None = None


class ExtendedDeliveriesRequest(StoreDeliveriesRequest):
    """The body that announces deliveries to a store."""

    orders: list[ExtendedDelivery] | None = None  # type: ignore[assignment]


class ExtendedMultiStoreDelivery(MultiStoreDeliveryCreate):
    """The same of a delivery that names its store."""

    external_reference_number: str | None = None


class ExtendedMultiStoreDeliveriesRequest(MultiStoreDeliveriesRequest):
    """The body that announces deliveries to several stores."""

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
    """What a body of this operation has to fit: the interface's model, or ours around it."""
    return _EXTENDED_BODIES.get(operation.name) or body_adapter(operation)


def is_optional_body(adapter: TypeAdapter[Any]) -> bool:
    """Whether a request may come without a body: an object without fields is as good."""
    try:
        adapter.validate_python({})
    except ValidationError:
        return False
    return True
