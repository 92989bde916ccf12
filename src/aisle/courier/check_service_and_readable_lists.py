"""Checks of whether the service answers, and which lists can be read, by requests for one row of a list."""

from __future__ import annotations

from typing import Literal, NamedTuple

from aisle.client import Client
from aisle.client.errors import ClientError, InvalidResponse, NotSent, TransportError, Unauthorized, status_error
from aisle.client.paging import rows_of
from aisle.client.response_and_json_limits import Response
from aisle.contract.request_encoding import QueryValue, encode_segment, get_operation
from aisle.courier.service_features import Features, read_extension

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
