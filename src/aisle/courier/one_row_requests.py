"""Requests for one row of a list, which show whether the service answers and whether a list can be read."""

from __future__ import annotations

from typing import NamedTuple

from aisle.client import Client
from aisle.client.errors import ClientError, InvalidResponse, NotSent, TransportError, Unauthorized, status_error
from aisle.client.paging import rows_of
from aisle.client.response import Response
from aisle.contract.request_encoding import QueryValue, get_operation

_INTERMEDIARY_STATUSES = (*range(200, 400), 400, 404, 405, 406, 410, 413, 414, 415, 421, 422, 431, 451)
"""Statuses that prove nothing without a JSON body: a gateway or captive portal sends them too."""


class OneRowRequest(NamedTuple):
    """Request for one row of a list."""

    operation: str
    is_store_list: bool
    """True for a list of one store; False for a list of the chain."""
    query: dict[str, QueryValue]


ONE_ROW_REQUESTS = {
    "headers": OneRowRequest("list-customer-orders", True, {"page_size": 1}),
    "stock": OneRowRequest("list-store-products-stock", True, {"page_size": 1}),
    "locations": OneRowRequest("list-locations", True, {"page_size": 1}),
    "deliveries": OneRowRequest("list-deliveries", True, {"page_size": 1}),
    "receipts": OneRowRequest("list-store-receipts", True, {"page_size": 1, "receipt_type": 1}),
    "logs": OneRowRequest("list-store-product-logs", True, {"page_size": 1}),
    "products": OneRowRequest("list-products", False, {"page_size": 1}),
    "stores": OneRowRequest("list-stores", False, {"page_size": "1"}),
}
"""Requests by the names that a sync uses for the lists."""

CHECKED_LISTS = ("headers", "stock", "locations", "deliveries")
"""Lists of a store that are requested, in this order, to check that the service accepts requests."""


async def request_one_row(client: Client, name: str, store: str) -> Response:
    """Request one row of a list once, and return the response.

    Raise TransportError if the response is not the service's, and ClientError for every status that is not a success.
    """
    request = ONE_ROW_REQUESTS[name]
    in_path = any(param.name == "store_number" for param in get_operation(request.operation).params_in("path"))
    path = {"store_number": store} if request.is_store_list and in_path else {}
    query = request.query if in_path or not request.is_store_list else {**request.query, "store_number": store}
    response = await client.request(request.operation, path=path, query=query)
    if not response.is_json_object and response.status in _INTERMEDIARY_STATUSES:
        raise TransportError(f"Something else answers where the service should be: status {response.status}.")
    if not response.is_success:
        raise status_error(request.operation, response)
    return response


async def list_error(client: Client, name: str, store: str) -> ClientError | None:
    """Return why a list cannot be read; None if its first row can."""
    try:
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
