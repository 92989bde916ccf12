"""Orders and deliveries of a file beside those of the service: orders that are missing, elsewhere, or were changed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from decimal import Decimal
from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.describe_record_differences import Difference, listed_differences
from aisle.client.csv_load.file_layouts_and_columns import DELIVERIES, ORDERS, price_of
from aisle.client.csv_load.key_forms import nearest, suggestion
from aisle.client.csv_load.records import Record
from aisle.client.csv_load.report import FileNotes
from aisle.client.csv_load.service_reads import NAMED_ORDERS, fetch_orders, queries_for, store_numbers, store_rows
from aisle.client.csv_load.store_time_zones import read_zone
from aisle.client.errors import ClientError, ServerError, TransportError
from aisle.client.paging import Row


async def warn_of_unknown_orders(table: CsvTable, client: Client, known_keys: Collection[RecordKey]) -> None:
    """Add warnings for lines of deliveries that are for orders, or lines of them, that the store does not have.

    Of new deliveries also for orders that are closed.
    """
    wanted: dict[str, dict[str, list[_Reservation]]] = {}
    names = ("store_number", "customer_order_number", "order_number", "customer_order_line_number", "product_number")
    is_used = table.layout is DELIVERIES and table.has_column(names[1])
    for line, (store, order, *cells) in table.select_cells(names, only_readable=True) if is_used else ():
        if store and order:
            wanted.setdefault(store, {}).setdefault(order, []).append(_Reservation(line, *cells))
    for store, orders in wanted.items():
        known: dict[str, _KnownOrder] = {}
        for query in queries_for("order_number", orders, is_active=False, show_lines=True):
            async for row in store_rows(client, "list-customer-orders", store, query):
                if (number := str(row.get("order_number"))) in orders:
                    known[number] = _KnownOrder.of(row)
        near = await _near_orders(client, store, [order for order in orders if order not in known])
        for order, reservations in orders.items():
            for one in reservations:
                is_new = (store, one.delivery) not in known_keys
                what, value = _reservation_fault(order, one, known.get(order), is_new=is_new)
                value += f" ({near[order]})" if order in near else ""
                if what:
                    table.notes.add_warning(what, value, one.line, beside=one.delivery)


async def _near_orders(client: Client, store: str, unknown: Sequence[str]) -> dict[str, str]:
    """Return for unknown orders the open one of the store that can be meant, as a question; none if there is none."""
    numbers: list[str] = []
    if unknown:
        with suppress(ClientError):  # it is only a hint
            rows = store_rows(client, "list-customer-orders", store)
            numbers = [str(row.get("order_number")) async for row in rows]
    return {order: suggestion(order, other) for order in unknown if (other := nearest(order, numbers))}


class _Reservation(NamedTuple):
    """Line of a delivery that is for a line of an order."""

    line: int
    delivery: str
    order_line: str
    product: str


class _KnownOrder(NamedTuple):
    """Order of the service: the products of its lines, and the word for its end if it is closed."""

    lines: Mapping[Decimal | None, str]
    end: str

    @classmethod
    def of(cls, row: Row) -> _KnownOrder:
        lines = {
            price_of(one.get("line_number")): str(one.get("product_number") or "") for one in row.get("lines") or ()
        }
        end = "rejected" if row.get("is_rejected") else "finished" if row.get("is_active") is False else ""
        return cls(lines, end)


def _reservation_fault(order: str, one: _Reservation, its: _KnownOrder | None, *, is_new: bool) -> tuple[str, str]:
    """Return why goods that come for an order are not kept for it, and the value that shows it; empty if they are.

    `its` is None if the store does not have the order; `is_new` says that of the delivery.
    """
    if its is None:
        return "customer_order_number names an order that the store does not have, so the goods are free", order
    if its.end and is_new:
        return f"customer_order_number names an order that is {its.end}, so the goods are free", order
    of_line = its.lines.get(price_of(one.order_line)) if one.order_line else one.product
    if of_line is None:
        what = "customer_order_line_number names a line that the order does not have"
        return what, f"{one.order_line} of {order}"
    if of_line and of_line != one.product:
        what = "customer_order_line_number names a line of another product, so the goods are free"
        return what, f"{one.product} for line {one.order_line} of {order}, which is of {of_line}"
    return "", ""


_COLUMNS = ("store_number", "order_number")


async def warn_of_other_stores(table: CsvTable, client: Client, known_keys: Collection[RecordKey]) -> None:
    """Add a warning for each new order or delivery of a file whose number is open in a store that the file does not
    name for it. Raise ClientError if the service does not respond.
    """
    new, keys = _new_numbers(table, known_keys) if table.layout in (ORDERS, DELIVERIES) else ({}, set())
    if not new:
        return
    read = _open_orders if table.layout is ORDERS else _open_deliveries
    what = f"an open {table.layout.noun} of another store has this number; if it is the same, take one of them away"
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
    stores = await store_numbers(client)
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
    for query in queries_for("order_number", numbers, is_submitted=False):
        async for row in client.rows("list-deliveries", query=query):
            yield str(row.get("store_number")), str(row.get("order_number"))


_VALUE_WIDTH = 40
"""Characters of a value in a warning."""


class ChangedOrders:
    """Orders of one batch, as the service holds them before the batch is sent."""

    def __init__(self, client: Client, notes: FileNotes) -> None:
        self._client = client
        self._notes = notes
        self._held: dict[str, Row] = {}
        self._zone: tzinfo | None = None

    async def read(self, batch: Sequence[Record]) -> None:
        """Read the orders of a batch, all of one store. Raise ClientError if the service does not respond."""
        store = batch[0].store
        self._held = await fetch_orders(self._client, store, [_number_of(record) for record in batch])
        self._zone = await read_zone(self._client, store) if self._held else None

    def differences(self, record: Record) -> list[Difference]:
        """Return what the service holds otherwise; nothing of an order that it did not have."""
        held = self._held.get(_number_of(record))
        return listed_differences(record.body, held, "order", self._zone) if held else []

    def warn_of_work(self, record: Record, differences: Sequence[Difference]) -> None:
        """Add a warning for an order of which work changed what the file names."""
        what = "work on the order changed what the file names, and the load leaves it as it is"
        shown = "; ".join(one.text(_VALUE_WIDTH) for one in differences)
        self._notes.add_warning(what, f"{_number_of(record)}: {shown}", record.line)


def _number_of(record: Record) -> str:
    return str(record.body.get("order_number") or "")
