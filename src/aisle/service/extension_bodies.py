"""The bodies of our own operations (README: Extensions)."""

from __future__ import annotations

from typing import Literal

from aisle.contract.models import Exact, Flag, RequestModel


class LocationWrite(RequestModel):
    """A location to create, or its named fields to change."""

    store_number: str
    location_code: str
    location_order: Exact | None = None
    default_stock_pool: str | Exact | None = None
    tags: list[str] | None = None
    carrier_code: str | None = None


class LocationsRequest(RequestModel):
    """The body that creates or updates locations."""

    locations: list[LocationWrite]


class DeliveryMark(RequestModel):
    """A delivery that was announced, and what is said of it since."""

    order_number: str
    external_reference_number: str | None = None
    is_downloaded: Flag | None = None


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
    is_active: Flag | None = True
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
    days: Exact | None = None
    """Days until it expires; never, where nobody says."""


class TokenRevokeRequest(RequestModel):
    """A token to end, by its name or id."""

    name: str


class Review(RequestModel):
    """An entry of the log that was looked at."""

    id: Exact
    review_status: Exact = 2


class ReviewsRequest(RequestModel):
    """The body that reviews entries of the log."""

    reviews: list[Review]


class Recount(RequestModel):
    """A count that is ordered: of what a log entry (`log_id`) says, or of a product at a place or in the whole store.

    With `id`: one that was ordered, and is withdrawn.
    """

    id: Exact | None = None
    state: str | None = None
    log_id: Exact | None = None
    product_number: str | None = None
    location_code: str | None = None
    note: str | None = None


class RecountsRequest(RequestModel):
    """The body that orders counts, or withdraws them."""

    recounts: list[Recount]


class LineRejection(RequestModel):
    """A line that is rejected, and why; or is taken up again."""

    line_number: Exact
    is_rejected: Flag | None = True
    rejection_reason_code: str | None = None
    rejection_reason_code_description: str | None = None


class LineRejectionsRequest(RequestModel):
    """The body that rejects lines of an order."""

    order_number: str
    lines: list[LineRejection]
