"""Features that a service announces beyond the interface, whether it answers, and which lists can be read.

`Aisle-Features: idempotency=30d, occurred-at, clock-ahead, app-user, pick-place, pick-base, line-reasons, claims,
changes, people, receipt-line, taken-time, undone-time, expiry-dates`.

A service that only implements the interface announces nothing, and is sent nothing beyond the interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar

from aisle.client import Client
from aisle.client.paging import Row, rows_of
from aisle.client.responses_and_errors import (
    ClientError,
    InvalidResponse,
    NotSent,
    Response,
    TransportError,
    Unauthorized,
    status_error,
)
from aisle.contract.request_encoding import QueryValue, encode_segment, get_operation

T = TypeVar("T")

FEATURES_HEADER = "aisle-features"
DEFAULT_KEY_LIFETIME_S = 30 * 86400.0
"""Seconds that a service keeps keys if it does not announce a time."""
_MIN_KEY_LIFETIME_S = 2 * 86400.0
"""Seconds below which keys are not relied on: an operation may have to be sent again a day later."""

_MAX_DIGITS = 9
"""Digits of a duration that are read; a longer one is no duration."""
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Features(NamedTuple):
    """Announced extensions."""

    idempotency: bool = False
    """A write is carried out once for its `Idempotency-Key`, however often it is sent."""
    key_lifetime_s: float = DEFAULT_KEY_LIFETIME_S
    """Seconds after which the service may forget a key."""
    occurred_at: bool = False
    clock_skew: bool = False
    """Requests may state the offset of this host's clock, and the service corrects times by it."""
    app_user: bool = False
    pick_location: bool = False
    """`preferred_location_code` and `stock_pool` of an update line name where the goods were picked."""
    pick_base: bool = False
    """`base_picked_quantity` of an update line is the figure its picker started from; the difference is applied."""
    line_reasons: bool = False
    """An update line may give a reason for a shortage; the order's lines return it."""
    claims: bool = False
    """`is_claimed` comes with the person and the terminal that claimed the order."""
    changes: bool = False
    """The change cursor, `/aisle/v1/stores/{store}/changes`."""
    people: bool = False
    sign_in: bool = False
    """A person gets a user token for a PIN."""
    reviews: bool = False
    """Entries of the log that need a review can be reviewed."""
    recounts: bool = False
    """Counts can be ordered, and a count closes them."""
    assignments: bool = False
    """Moves that clearances require can be listed."""
    line_rejection: bool = False
    """Single lines of an order can be rejected and reopened."""
    receipt_line: bool = False
    """An entry that comes from a receipt may name the line of its delivery."""
    taken_time: bool = False
    """`taken_datetime` of a movement's item is when the goods left their location, before they arrived."""
    undone_time: bool = False
    """`undone_datetime` of a movement's item is when the movement was that it undoes."""
    expiry_dates: bool = False
    """The service keeps the dates that people give at the expiry checks of a product, and the nearest one stands."""
    named_orders: bool = False
    """Several orders can be read in one request, by their numbers."""
    audit: bool = False
    """The service lists who changed an order."""
    known_keys: bool = False
    """The service lists the keys it does not know, so that operations lost in a restore can be found."""
    demo_store: bool = False
    """The service has the demo store, whose people the sign-in page names."""

    @property
    def header_value(self) -> str:
        """Value of the header that announces these features."""
        announced = self._asdict()
        words = [word for field, word in _WORD_BY_FIELD.items() if announced[field]]
        return ", ".join(f"{word}={self.key_lifetime_s:.0f}s" if word == "idempotency" else word for word in words)


_WORD_BY_FIELD = {
    **{field: field.replace("_", "-") for field in Features._fields if field != "key_lifetime_s"},
    "clock_skew": "clock-ahead",
    "pick_location": "pick-place",
}
"""Words of the header by the field that they set."""


def features_of_headers(headers: Mapping[str, str]) -> Features | None:
    """Return the features in the headers of a response (names in lower case); None if there is no such header."""
    value = headers.get(FEATURES_HEADER)
    return None if value is None else parse_features(value)


@lru_cache(maxsize=8)  # every response repeats it
def parse_features(text: str) -> Features:
    """Return the features that a header value announces; unknown words are ignored."""
    values: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        values[name.strip().lower()] = value.strip().strip('"')
    lifetime_s = _parse_duration(values.get("idempotency", ""))
    if lifetime_s < _MIN_KEY_LIFETIME_S:
        values.pop("idempotency")
        lifetime_s = DEFAULT_KEY_LIFETIME_S
    announced = {field: word in values for field, word in _WORD_BY_FIELD.items()}
    return Features(**announced)._replace(key_lifetime_s=lifetime_s)


def _parse_duration(text: str) -> float:
    number, unit = text[:-1], text[-1:].lower()
    return (
        float(int(number) * _UNIT_SECONDS[unit])
        if number.isascii() and number.isdigit() and len(number) <= _MAX_DIGITS and unit in _UNIT_SECONDS
        else DEFAULT_KEY_LIFETIME_S
    )


async def read_extension_list(client: Client, path: str, name: str) -> list[Row]:
    """Return all rows of a list of our own service. Raise ClientError."""
    response, rows = await client.extension_list(path, name)
    if not response.is_success:
        raise status_error(f"list-{name}", response)
    return rows


async def read_extension(
    client: Client, name: str, path: str, parse: Callable[[Any], T], query: Mapping[str, QueryValue] | None = None
) -> T:
    """Return what `parse` makes of the response to an extension of our own service.

    Raise ClientError; InvalidResponse if it is no JSON, or if `parse` raises ValueError, TypeError or LookupError.
    """
    response = await client.request_extension("GET", path, query=query)
    if not response.is_success:
        raise status_error(name, response)
    try:
        return parse(response.json())
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise InvalidResponse(f"The answer to {name} cannot be read: {error!r}.") from error


_INTERMEDIARY_STATUSES = (*range(200, 400), 400, 404, 405, 406, 410, 413, 414, 415, 421, 422, 431, 451)
"""Statuses that prove nothing without a JSON body: a gateway or captive portal sends them too."""


class OneRowRequest(NamedTuple):
    """Request for one row of a list."""

    operation: str
    store_in: Literal["path", "query", "nowhere"]
    """Where a request names the store."""
    query: dict[str, QueryValue]


ONE_ROW_REQUESTS = {
    "headers": OneRowRequest("list-customer-orders", "path", {"page_size": 1}),
    "lines": OneRowRequest("list-customer-orders", "path", {"page_size": 1, "show_lines": True}),
    "stock": OneRowRequest("list-store-products-stock", "query", {"page_size": 1}),
    "locations": OneRowRequest("list-locations", "path", {"page_size": 1}),
    "deliveries": OneRowRequest("list-deliveries", "query", {"page_size": 1}),
    "receipts": OneRowRequest("list-store-receipts", "path", {"page_size": 1, "receipt_type": 1}),
    "logs": OneRowRequest("list-store-product-logs", "query", {"page_size": 1}),
    "products": OneRowRequest("list-products", "nowhere", {"page_size": 1}),
    "stores": OneRowRequest("list-stores", "nowhere", {"page_size": "1"}),
}
"""Requests by the names that a sync uses for the lists."""

EXTENSION_LISTS = ("people", "changes")
"""Lists of a store that only our own service has: each has the name of its feature and of the field with its rows."""

CHECKED_LISTS = ("headers", "stock", "locations", "deliveries")
"""Lists of a store that are requested, in this order, to check that the service accepts requests."""


async def send_one_row_request(client: Client, name: str, store: str) -> Response:
    """Request one row of a list once, and return the response whatever its status. Raise ClientError."""
    request = ONE_ROW_REQUESTS[name]
    path = {"store_number": store} if request.store_in == "path" else {}
    query = {**request.query, "store_number": store} if request.store_in == "query" else request.query
    return await client.request(request.operation, path=path, query=query)


async def request_one_row(client: Client, name: str, store: str) -> Response:
    """Request one row of a list once, and return the response.

    Raise TransportError if the response is not the service's, and ClientError for every status that is not a success.
    """
    response = await send_one_row_request(client, name, store)
    if not response.is_json_object and response.status in _INTERMEDIARY_STATUSES:
        raise TransportError(f"Something else answers where the service should be: status {response.status}.")
    if not response.is_success:
        raise status_error(ONE_ROW_REQUESTS[name].operation, response)
    return response


def lists_of_service(features: Features | None) -> tuple[str, ...]:
    """Return the lists that a service with these features has."""
    announced = features._asdict() if features else {}
    return (*ONE_ROW_REQUESTS, *(name for name in EXTENSION_LISTS if announced.get(name)))


async def _read_extension_list(client: Client, name: str, store: str) -> None:
    path = f"/aisle/v1/stores/{encode_segment(store)}/{name}"
    await read_extension(client, f"list-{name}", path, lambda body: [dict(row) for row in body[name]])


async def list_error(client: Client, name: str, store: str) -> ClientError | None:
    """Return why a list cannot be read; None if its first row can."""
    try:
        if name in EXTENSION_LISTS:
            await _read_extension_list(client, name, store)
            return None
        response = await request_one_row(client, name, store)
        rows_of(get_operation(ONE_ROW_REQUESTS[name].operation), response.json())
    except ClientError as error:
        return error
    except (ValueError, RecursionError) as error:
        return InvalidResponse(f"The answer to {ONE_ROW_REQUESTS[name].operation} cannot be read: {error}.")
    return None


class ServiceCheck:
    """Check that the service responds and accepts the token, by a request for one row."""

    def __init__(self, client: Client, store: str) -> None:
        self._client = client
        self._store = store
        self._answering_list = CHECKED_LISTS[0]
        """List that responded to the last check; it is tried first."""

    async def run(self) -> None:
        """Check the service once.

        A list that fails proves nothing about the others, so the next one is tried until one responds. Raise the first
        error if none does. Errors of the token or the connection apply to all and are raised at once.
        """
        first: ClientError | None = None
        for name in (self._answering_list, *(other for other in CHECKED_LISTS if other != self._answering_list)):
            try:
                await request_one_row(self._client, name, self._store)
            except (Unauthorized, NotSent):
                raise
            except ClientError as error:
                first = first or error
            else:
                self._answering_list = name
                return
        assert first is not None
        raise first
