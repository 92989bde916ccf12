"""Reads of the service for a load: lists of a store, its location codes and people, units of products, time zones.

A service that does not name its zone is taken to have that of this process (None).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aisle.client.client import Client
from aisle.client.csv_load.cells_of_columns import DATE
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.report import unread_error
from aisle.client.paging import Row
from aisle.client.responses_and_errors import (
    ClientError,
    Forbidden,
    InvalidResponse,
    NotFound,
    Response,
    TransportError,
    Unauthorized,
    status_error,
)
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


TIME_ZONE_HEADER = "aisle-time-zone"


async def read_zone(client: Client, store: str) -> tzinfo | None:
    """Return the zone in which the service reads the times of a store, also of a new one; None if it does not say."""
    try:
        response = await client.request_extension("GET", f"/aisle/v1/stores/{encode_segment(store)}")
        name = response.headers.get(TIME_ZONE_HEADER, "")
        return ZoneInfo(name) if name else None
    except (ClientError, ContractError, ZoneInfoNotFoundError, ValueError):
        return None


async def zones_of_times(table: CsvTable, client: Client) -> Mapping[str, tzinfo | None]:
    """Return the zones of the stores for which a file has times without a zone."""
    names = table.columns_of_kind(DATE)
    rows = table.select_cells(("store_number", *names)) if names else ()
    stores = {store for _, (store, *cells) in rows if store and any(map(_has_local_time, cells))}
    return {store: await read_zone(client, store) for store in sorted(stores)}


def clock_reason(text: str, zone: tzinfo | None) -> tuple[str, bool]:
    """Return why a time without a zone is not one moment, and True if there is no such time; else an empty text."""
    if not _has_local_time(text):
        return "", False
    first, second = _moments(text, zone)
    if first > second:
        return "does not exist, because clocks go forward then; write the time that is meant", True
    if first < second:
        return f"comes twice, because clocks go back then, and is read as the first, {first:%H:%M} UTC", False
    return "", False


def moment_of(value: object, zone: tzinfo | None) -> datetime | None:
    """Return a time in UTC; one without a zone is of the store. None if it is no time."""
    try:
        return _moments(str(value), zone)[0]
    except (ValueError, OverflowError):
        return None


def _moments(text: str, zone: tzinfo | None) -> Sequence[datetime]:
    when = datetime.fromisoformat(text)
    local = [when] * 2 if when.tzinfo else [when.replace(fold=fold, tzinfo=zone) for fold in (0, 1)]
    return [one.astimezone(UTC) for one in local]


def _has_local_time(text: str) -> bool:
    try:
        return len(text) > len("2026-11-29") and datetime.fromisoformat(text).tzinfo is None
    except ValueError:
        return False
