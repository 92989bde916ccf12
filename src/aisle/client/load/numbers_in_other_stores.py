"""Orders and deliveries whose number is open in another store, as where a store was corrected after a load."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection

from aisle.client.client import Client
from aisle.client.errors import ClientError, ServerError, TransportError
from aisle.client.load.columns import DELIVERIES, ORDERS
from aisle.client.load.csv_table import CsvTable, RecordKey
from aisle.client.load.service_reads import MAX_SINGLE_READS, NAMED_ORDERS, fetch_orders, store_rows
from aisle.contract.request_encoding import QueryValue

_NOUNS = {ORDERS.file: "order", DELIVERIES.file: "delivery"}
_COLUMNS = ("store_number", "order_number")


async def warn_of_other_stores(table: CsvTable, client: Client, known_keys: Collection[RecordKey]) -> None:
    """Add a warning for each new order or delivery of a file whose number is open in a store that the file does not
    name for it. Raise ClientError if the service does not respond.
    """
    new, keys = _new_numbers(table, known_keys) if table.name in _NOUNS else ({}, set())
    if not new:
        return
    read = _open_orders if table.name == ORDERS.file else _open_deliveries
    what = f"an open {_NOUNS[table.name]} of another store has this number; if it is the same, take one of them away"
    try:
        async for store, number in read(client, new):
            if number in new and hash((store, number)) not in keys:
                table.notes.add_warning(what, f"{number} is in store {store} too", new[number])
    except (TransportError, ServerError):
        raise
    except ClientError as error:
        table.notes.add_file_warning(f"whether other stores have its numbers could not be read: {error}")


def _new_numbers(table: CsvTable, known_keys: Collection[RecordKey]) -> tuple[dict[str, int], set[int]]:
    """Return the numbers that a store does not have, with their first row, and hashes of all keys of the file."""
    new: dict[str, int] = {}
    keys: set[int] = set()
    for line, (store, number) in table.select_cells(_COLUMNS):
        keys.add(hash((store, number)))
        if store and number and (store, number) not in known_keys:
            new.setdefault(number, line)
    return new, keys


async def _open_orders(client: Client, numbers: Collection[str]) -> AsyncGenerator[tuple[str, str], None]:
    """Yield store and number of open orders: of those with these numbers if they are few, otherwise of all."""
    stores = [store async for row in client.rows("list-stores") if (store := str(row.get("storeNo") or ""))]
    for store in stores if len(stores) > 1 else ():
        if len(numbers) <= NAMED_ORDERS:
            for number, order in (await fetch_orders(client, store, list(numbers))).items():
                if order.get("is_active"):
                    yield store, number
        else:
            async for row in store_rows(client, "list-customer-orders", store):
                yield store, str(row.get("order_number"))


async def _open_deliveries(client: Client, numbers: Collection[str]) -> AsyncGenerator[tuple[str, str], None]:
    """Yield store and number of open deliveries: of those with these numbers if they are few, otherwise of all."""
    is_few = len(numbers) <= MAX_SINGLE_READS
    queries: list[dict[str, QueryValue]] = [{"order_number": number} for number in numbers]
    for query in queries if is_few else [{}]:
        async for row in client.rows("list-deliveries", query={"is_submitted": False, **query}):
            yield str(row.get("store_number")), str(row.get("order_number"))
