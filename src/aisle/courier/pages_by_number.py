"""Reading of lists page by number, for services whose next-page links do not advance; probes of one row; extensions.

An extension is a request that only our own service knows.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple, TypeVar

from aisle.client import Client
from aisle.client.errors import ClientError, InvalidResponse, PagingLoop, TransportError, status_error
from aisle.client.paging import Envelope, Row, rows_of
from aisle.client.response import Response
from aisle.contract.wire import QueryValue, get_operation

Page = tuple[list[Row], Envelope]
T = TypeVar("T")


async def pages_by_count(
    client: Client, name: str, *, path: Mapping[str, str] | None = None, query: Mapping[str, QueryValue]
) -> AsyncGenerator[Page, None]:
    """Yield rows and envelope of each page, as `Client.pages`.

    If a page's link to the next one does not advance, the next page is requested by number; an empty page is the end.
    Raise PagingLoop if a page repeats the one before it, or if pages never end.
    """
    number, before = 1, None
    while True:
        page_count = 0
        try:
            async with aclosing(client.pages(name, path=path, query={**query, "page_start": number})) as pages:
                async for page in pages:
                    page_count += 1
                    yield page
                    del page  # frees the page before the next one arrives
            return
        except PagingLoop as error:
            if _is_no_progress(error.rows, before, page_count):
                raise
            if not error.rows:
                return
            number, before = number + page_count, error.rows


def _is_no_progress(rows: Sequence[Any], before: Sequence[Any] | None, page_count: int) -> bool:
    """Return True if the last page brought neither new rows nor the end."""
    return page_count > 1 if not rows else rows == before


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
