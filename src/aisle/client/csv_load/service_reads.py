"""Reads of the service for a load: lists of a store, its location codes and people, and units of products."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.report import unread_error
from aisle.client.errors import (
    ClientError,
    Forbidden,
    InvalidResponse,
    NotFound,
    TransportError,
    Unauthorized,
    status_error,
)
from aisle.client.paging import Row
from aisle.client.response_and_json_limits import Response
from aisle.contract.request_encoding import QueryValue, encode_segment
from aisle.errors import ContractError

MAX_SINGLE_READS = 20
"""Number of rows up to which they are read one by one."""
Query = dict[str, QueryValue]
NAMED_ORDERS = 100
"""Maximum number of orders in a request by numbers."""


def queries_for(field: str, values: Collection[str], **others: QueryValue) -> list[Query]:
    """Return a query for each value of a field if they are few, otherwise one for all rows of a list."""
    is_few = len(values) <= MAX_SINGLE_READS
    return [{field: value, **others} for value in sorted(values)] if is_few else [{**others}]


async def product_rows(client: Client, products: Collection[str]) -> AsyncGenerator[Row, None]:
    """Yield these products; all of the chain if they are many."""
    for query in queries_for("product_number", products):
        async for row in client.rows("list-products", query=query):
            yield row


async def store_rows(
    client: Client, operation: str, store: str, query: Mapping[str, QueryValue] | None = None, *, in_path: bool = True
) -> AsyncGenerator[Row, None]:
    """Yield the rows of a list of a store; none if the store is unknown, of others, or no path can name it.

    The rows of the file for such a store are refused with a reason. `in_path` is False if the query names the store.
    """
    named = {"store_number": store} if store else {}
    path, asked = (named, {**(query or {})}) if in_path else ({}, {**(query or {}), **named})
    try:
        async for row in client.rows(operation, path=path, query=asked):
            yield row
    except (Unauthorized, Forbidden, NotFound):
        return
    except ContractError as error:
        if isinstance(error, ClientError):
            raise


@contextmanager
def as_file_warning(table: CsvTable, what: str) -> Iterator[None]:
    """Add a warning on the file, with the reason, if the service refuses or fails a read in the block.

    Raise TransportError if it does not respond.
    """
    try:
        yield
    except TransportError:
        raise
    except ClientError as error:
        table.notes.add_file_warning(f"{what}: {error}")


async def store_numbers(client: Client) -> list[str]:
    """Return the numbers of the stores of the chain."""
    return [str(row["storeNo"]) async for row in client.rows("list-stores") if row.get("storeNo")]


async def location_codes(client: Client, store: str) -> list[str]:
    """Return the codes of a store's locations; none if the store is unknown or of others."""
    return [
        str(code) async for row in store_rows(client, "list-locations", store) if (code := row.get("location_code"))
    ]


async def fetch_people(client: Client, store: str) -> list[Row] | None:
    """Return the people of a store; None if the service refuses to list them.

    Raise ClientError if the service does not respond, fails, or its response holds no people.
    """
    response, people = await client.extension_list(f"/aisle/v1/stores/{encode_segment(store)}/people", "people")
    return None if _is_refused(response, "list-people") else people


async def people_rows(client: Client, store: str) -> AsyncGenerator[Row, None]:
    """Yield the people of a store; none if the service refuses to list them, or no path can name the store."""
    try:
        people = await fetch_people(client, store)
    except ContractError as error:
        if isinstance(error, ClientError):
            raise
        return
    for row in people or ():
        yield row


async def fetch_store(client: Client, store: str) -> Row:
    """Return a store with the fields of its creation; empty if the service does not show them.

    Raise ClientError if the service does not respond or fails.
    """
    response = await client.request_extension("GET", f"/aisle/v1/stores/{encode_segment(store)}")
    if _is_refused(response, "retrieve-store"):
        return {}
    try:
        return dict(response.json())
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidResponse("The answer to retrieve-store holds no store.") from error


async def fetch_orders(client: Client, store: str, numbers: Sequence[str]) -> dict[str, Row]:
    """Return the named orders of a store in any state, with their lines; none if the service does not list them so.

    Raise ClientError if the service does not respond or fails.
    """
    found: dict[str, Row] = {}
    try:
        path = f"/aisle/v1/stores/{encode_segment(store)}/orders"
    except ContractError:
        return found  # no path can name this store
    waiting = [numbers[at : at + NAMED_ORDERS] for at in range(0, len(numbers), NAMED_ORDERS)]
    while waiting:
        batch = waiting.pop()
        response = await client.request_extension("GET", path, query={"numbers": "\n".join(batch)})
        if response.status == _TOO_LARGE and len(batch) > 1:
            middle = len(batch) // 2
            waiting += [batch[:middle], batch[middle:]]
            continue
        if _is_refused(response, "list-named-orders"):
            return {}
        try:
            found |= {str(row["order_number"]): row for row in response.json()["list"]}
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise InvalidResponse("The answer to list-named-orders holds no orders.") from error
    return found


def _is_refused(response: Response, operation: str) -> bool:
    """Return True if the service refuses a read, or does not know it. Raise ClientError if it fails."""
    is_refused = 400 <= response.status < 500 or response.status == _NOT_IMPLEMENTED
    if not is_refused and not response.is_success:
        raise status_error(operation, response)
    return is_refused


_TOO_LARGE = 413
_NOT_IMPLEMENTED = 501


async def read_units(table: CsvTable, client: Client) -> None:
    """Give the table the units of the products that its quantities name with a unit (`12 kg`).

    Raise LoadError if the service does not respond.
    """
    products = table.products_with_units()
    try:
        async for row in product_rows(client, products):
            if (product := str(row.get("product_number"))) in products:
                table.units[product] = str(row.get("base_unit_name") or "")
    except TransportError as error:
        raise unread_error("The units of products", error) from error
    except ClientError as error:
        table.notes.add_file_warning(f"the units of products could not be read: {error}")
