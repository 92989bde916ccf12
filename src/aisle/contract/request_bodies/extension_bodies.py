"""Bodies of our own operations (README: Extensions)."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, Required

from pydantic import Field, TypeAdapter, ValidationError

from aisle.contract.operations import Operation
from aisle.contract.request_bodies import ExactNumber, OrNull, RequestBody, StrictBool, body_adapter, list_body
from aisle.contract.request_bodies.deliveries import MultiStoreDeliveryCreate, StoreDeliveryCreate
from aisle.contract.request_bodies.orders import CustomerOrderLineUpdate, CustomerOrderUpdate
from aisle.contract.request_bodies.products import ProductWrite
from aisle.contract.request_bodies.store_products_logs_movements import (
    MovementItem,
    StoreProductLogCreate,
    StoreProductUpdate,
)
from aisle.contract.request_bodies.stores import StoreCreate


class LocationWrite(RequestBody, total=False):
    """Location to create, or fields of one to change."""

    store_number: Required[str]
    location_code: Required[str]
    location_order: OrNull[ExactNumber]
    default_stock_pool: OrNull[str | ExactNumber]
    tags: OrNull[list[str]]
    carrier_code: OrNull[str]


LocationsRequest = list_body("LocationsRequest", "locations", LocationWrite, required=True)


class DeliveryMark(RequestBody, total=False):
    """Announced delivery with fields set since."""

    order_number: Required[str]
    external_reference_number: OrNull[str]
    is_downloaded: OrNull[StrictBool]


DeliveryMarksRequest = list_body("DeliveryMarksRequest", "deliveries", DeliveryMark, required=True)


class PersonWrite(RequestBody, total=False):
    """Person of the store. Without `role` or `pin` the present one stays; a `pin` of '' removes it."""

    badge: Required[str]
    name: Required[str]
    user: Required[str]
    role: Literal["staff", "supervisor"]
    """A new person is staff by default."""
    pin: OrNull[str]
    is_active: Annotated[OrNull[StrictBool], Field(json_schema_extra={"default": True})]
    """False if the person no longer works here."""


PeopleRequest = list_body("PeopleRequest", "people", PersonWrite, required=True)


class SignInRequest(RequestBody, total=False):
    """Sign-in for a user token: by badge or user name, and PIN."""

    store_number: Required[str]
    badge: OrNull[str]
    user: OrNull[str]
    pin: Required[str]


class TokenRequest(RequestBody, total=False):
    """Token to create: its name, role and stores; `["*"]` is all stores."""

    name: Required[str]
    role: Required[Literal["staff", "supervisor", "integration", "admin", "metrics"]]
    stores: Required[list[str]]
    days: OrNull[ExactNumber]
    """Days until it expires; without it the token never does."""


class TokenRevokeRequest(RequestBody, total=False):
    """Token to revoke, by its name or id."""

    name: Required[str]


class ReviewWrite(RequestBody, total=False):
    """Log entry that was reviewed."""

    id: Required[ExactNumber]
    review_status: Annotated[ExactNumber, Field(json_schema_extra={"default": 2})]


class ReviewsRequest(RequestBody, total=False):
    """Body that reviews entries of the log."""

    reviews: Required[list[ReviewWrite]]


class RecountWrite(RequestBody, total=False):
    """Count to order: of a log entry (`log_id`), or of a product at a location or in the whole store.

    With `id`: an ordered count to withdraw.
    """

    id: OrNull[ExactNumber]
    state: OrNull[str]
    log_id: OrNull[ExactNumber]
    product_number: OrNull[str]
    location_code: OrNull[str]
    note: OrNull[str]


RecountsRequest = list_body("RecountsRequest", "recounts", RecountWrite, required=True)


class LineRejection(RequestBody, total=False):
    """Line to reject with a reason, or to reopen."""

    line_number: Required[ExactNumber]
    is_rejected: Annotated[OrNull[StrictBool], Field(json_schema_extra={"default": True})]
    rejection_reason_code: OrNull[str]
    rejection_reason_code_description: OrNull[str]


class LineRejectionsRequest(RequestBody, total=False):
    """Body that rejects lines of an order."""

    order_number: Required[str]
    lines: Required[list[LineRejection]]


class ExtendedLineUpdate(CustomerOrderLineUpdate, total=False):
    """Line with the picked quantity that its sender started from (`pick-base`) and a reason (`line-reasons`)."""

    base_picked_quantity: OrNull[ExactNumber]
    rejection_reason_code: OrNull[str]
    rejection_reason_code_description: OrNull[str]


class ExtendedOrderUpdate(CustomerOrderUpdate, total=False):
    """Order with extended lines."""

    order_lines: OrNull[list[ExtendedLineUpdate]]  # type: ignore[misc]


class ExtendedOrderUpdateRequest(RequestBody, total=False):
    """Body that updates an order."""

    orders: OrNull[ExtendedOrderUpdate]


class ExtendedLogEntry(StoreProductLogCreate, total=False):
    """Log entry with the line of its delivery (`receipt-line`)."""

    line_number: OrNull[ExactNumber]


ExtendedLogsRequest = list_body("ExtendedLogsRequest", "storeproductlog", ExtendedLogEntry)


class ExtendedMovementItem(MovementItem, total=False):
    """Goods to move: when they were taken from their location (`taken-time`), and when the movement was that this one
    undoes (`undone-time`)."""

    taken_datetime: OrNull[str]
    undone_datetime: OrNull[str]


class ExtendedStoreProductUpdate(StoreProductUpdate, total=False):
    """Settings of a product in a store, with what people find at its expiry checks (`expiry-dates`)."""

    is_nearest: OrNull[StrictBool]
    label_expiry_date: OrNull[str]
    label_check_date: OrNull[str]
    undone_expiry_date: OrNull[str]


class ExtendedProduct(ProductWrite, total=False):
    """Product with the fields of its category that the stock list shows and filters by."""

    category_name: OrNull[str]
    category_order: OrNull[ExactNumber]
    group_code: OrNull[str]
    parent_category_code: OrNull[str]


ExtendedProductsRequest = list_body("ExtendedProductsRequest", "products", ExtendedProduct)


class ExtendedStore(StoreCreate, total=False):
    """Store with fields that the list has and its creation has not."""

    invent_location: OrNull[str]
    legal_entity: OrNull[str]
    last_order_line_exported_on: OrNull[str]


ExtendedStoresRequest = list_body("ExtendedStoresRequest", "stores", ExtendedStore)


class ExtendedDelivery(StoreDeliveryCreate, total=False):
    """Delivery with its external number."""

    external_reference_number: OrNull[str]


ExtendedDeliveriesRequest = list_body("ExtendedDeliveriesRequest", "orders", ExtendedDelivery)


class ExtendedMultiStoreDelivery(MultiStoreDeliveryCreate, total=False):
    """Delivery that names its store, with its external number."""

    external_reference_number: OrNull[str]


ExtendedMultiStoreDeliveriesRequest = list_body(
    "ExtendedMultiStoreDeliveriesRequest", "orders", ExtendedMultiStoreDelivery
)


_EXTENDED_BODIES: dict[str, Any] = {
    "update-customer-order": ExtendedOrderUpdateRequest,
    "create-or-update-products": ExtendedProductsRequest,
    "create-movement": list[ExtendedMovementItem],
    "update-store-products": list[ExtendedStoreProductUpdate],
    "create-store-product-logs": ExtendedLogsRequest,
    "create-store-deliveries": ExtendedDeliveriesRequest,
    "create-multi-store-deliveries": ExtendedMultiStoreDeliveriesRequest,
    "create-stores": ExtendedStoresRequest,
}


@cache
def request_body_adapter(operation: Operation) -> TypeAdapter[Any]:
    """Return the adapter for a body of this operation: the interface's type, or its extension."""
    extended = _EXTENDED_BODIES.get(operation.name)
    return TypeAdapter(extended) if extended else body_adapter(operation)


def is_optional_body(adapter: TypeAdapter[Any]) -> bool:
    """Return True if a request may come without a body, because an empty object is valid."""
    try:
        adapter.validate_python({})
    except ValidationError:
        return False
    return True
