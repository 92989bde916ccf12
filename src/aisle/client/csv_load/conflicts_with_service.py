"""Comparison of a file with what the service has: keys first, then whatever its list shows; orders and deliveries.

A new key that differs from an existing one by zeros, blanks or case only is refused.

A spreadsheet removes the zeros of `0226`. The row then names a product that does not exist, and would create it. The
service's keys are read page by page, and only if it has any; of the file only hashes are kept.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from decimal import Decimal
from typing import NamedTuple, Protocol

from aisle.client.client import Client
from aisle.client.csv_load.batch_responses import Difference, listed_differences
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.clean_cells_and_keys import (
    CLEAR_WORDS,
    comparable_key,
    difference_reason,
    fold_key,
    nearest,
    suggestion,
)
from aisle.client.csv_load.codes_with_two_meanings import check_meanings
from aisle.client.csv_load.conflicting_rows import find_divided_records
from aisle.client.csv_load.fields_replaced_by_other_file import ReplacedFields
from aisle.client.csv_load.file_layouts_and_columns import (
    DELIVERIES,
    DISCOUNT_PRICES,
    FREE_FIELDS,
    ORDERS,
    PEOPLE,
    PRICES,
    PRODUCTS,
    STOCK,
    STORE_PRODUCTS,
    STORES,
    ServiceList,
    price_of,
)
from aisle.client.csv_load.implausible_values import ContainerComparison, warn_of_numbers_of_days_and_products
from aisle.client.csv_load.lost_leading_zeros import LostZeros
from aisle.client.csv_load.price_conflicts_with_store import PriceComparison, compare_prices, warn_of_line_prices
from aisle.client.csv_load.records import STORE_FLAGS, Record, ServiceFindings
from aisle.client.csv_load.report import BECOMES, FileNotes, unread_error
from aisle.client.csv_load.rows_left_out import Placeless
from aisle.client.csv_load.service_reads import (
    NAMED_ORDERS,
    as_file_warning,
    fetch_orders,
    fetch_people,
    fetch_store,
    location_codes,
    people_rows,
    product_rows,
    queries_for,
    read_zone,
    store_numbers,
    store_rows,
    zones_of_times,
)
from aisle.client.csv_load.settings_changed_while_in_use import (
    DefaultPoolComparison,
    SettingsTurnedOff,
    warn_of_inactive_stores,
    warn_of_pools,
)
from aisle.client.csv_load.shared_codes import CodeComparison
from aisle.client.csv_load.wrong_keys import (
    KeysBesideOthers,
    KeysWithoutZeros,
    keys_not_held,
    warn_of_unfit_products,
    warn_of_unknown_products,
)
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError, ServerError, TransportError
from aisle.errors import ContractError

_STORE_LISTS = ("stores_allowed", "stores_not_allowed", "promo_stores_allowed", "promo_stores_not_allowed")
_STORE_COLUMNS = {PRODUCTS.file: _STORE_LISTS, DELIVERIES.file: ("store_origin",)}
"""Columns that name other stores than that of the row."""


async def compare_with_service(table: CsvTable, client: Client, replaced: ReplacedFields) -> ServiceFindings:
    """Compare the keys of a file that creates records, and other codes and prices, with those of the service.

    Raise LoadError if the service does not respond. What it cannot list is noted and not compared.
    """
    listed = table.layout.listed
    try:
        flags = await _kept_store_flags(table, client) if table.layout is STORES else {}
        zeros = LostZeros(table)
        off = SettingsTurnedOff(table, client)
        others = (zeros, off, replaced) if table.layout is PRODUCTS else (zeros, off)
        findings = await _compare_keys(table, client, listed, others) if listed else ServiceFindings()
        await zeros.warn(client)
        await warn_of_unknown_orders(table, client, findings.known_keys)
        await warn_of_other_stores(table, client, findings.known_keys)
        await off.warn()
        await warn_of_inactive_stores(table, client, findings.known_keys)
        await warn_of_unfit_products(table, client, findings.known_keys)
        await warn_of_unknown_products(table, client)
        await warn_of_pools(table, client, findings.known_keys)
        if table.layout in (PRICES, DISCOUNT_PRICES, STORE_PRODUCTS):
            await compare_prices(table, client)
        await warn_of_line_prices(table, client, findings.known_keys)
        warn_of_numbers_of_days_and_products(table)
        refused = await check_meanings(table, client, findings.held_codes) | dict(findings.refused_rows)
        refused |= await similar_field_keys(table, client)
        divided = await find_divided_records(table, client, findings.known_keys)
        findings = findings._replace(refused_rows={**divided.refused_rows, **refused}, left_out=divided.left_out)
        zones = await zones_of_times(table, client)
        findings = findings._replace(zones=zones, store_flags=flags)
        return await _with_placeless(table, client, findings) if table.layout is STOCK else findings
    except ClientError as error:
        # Without the people of the store, an empty role would make a supervisor staff.
        if not isinstance(error, TransportError | ServerError) and table.layout is not PEOPLE:
            table.notes.add_file_warning(f"could not be compared with what the service has: {error}")
            return ServiceFindings()
        raise unread_error(f"Whether the service has what {table.name} names", error) from error


async def _kept_store_flags(table: CsvTable, client: Client) -> dict[str, Row]:
    """Return the flags of the service's stores that have an empty cell for one; the interface needs them all."""
    wanted = {store for _, (store, *cells) in table.select_cells(("store_number", *STORE_FLAGS)) if not all(cells)}
    present = await store_numbers(client) if wanted else []
    stores = {store: await fetch_store(client, store) for store in present if store in wanted}
    return {store: {name: row[name] for name in STORE_FLAGS if name in row} for store, row in stores.items()}


async def _with_placeless(table: CsvTable, client: Client, findings: ServiceFindings) -> ServiceFindings:
    """Add what rows of stock without a location are compared with: the locations of their stores, and unknown keys."""
    placeless = Placeless(table)
    places = {store: set(await location_codes(client, store)) for store in sorted(placeless.stores)}
    return findings._replace(places=places, unknown=await keys_not_held(table, client) if placeless.is_mixed else {})


class Comparison(Protocol):
    """Comparison of a file with the records that the service lists, each of which it sees once."""

    def see(self, key: RecordKey, row: Row) -> None:
        """Compare a record of the service."""


class KeyComparison:
    """Keys of the service that are those of the file, or like them, and users with their badges."""

    def __init__(self, table: CsvTable, noun: str) -> None:
        """Store the table. `noun` is what it creates."""
        self._table = table
        self._noun = noun
        self._hashes: set[int] = set()
        self._similar: dict[RecordKey, list[RecordKey]] = {}
        self._users: dict[tuple[str, str], tuple[str, str]] = {}
        self.roles: dict[RecordKey, str] = {}
        """Roles of people, by store and badge."""

    @property
    def known(self) -> frozenset[RecordKey]:
        """Keys of the service that the file has, in this writing or a like one."""
        return frozenset(key for keys in self._similar.values() for key in keys)

    def see(self, key: RecordKey, row: Row) -> None:
        """Keep the key if the file has a like one, and the user."""
        self._hashes = self._hashes or {hash(comparable_key(one)) for _, one, _ in self._table.record_keys()}
        if isinstance(user := row.get("user"), str):
            self._users[key[0], fold_key(user)] = user, key[-1]
            self.roles[key] = str(row.get("role") or "")
        form_of = comparable_key(key)
        if hash(form_of) in self._hashes:
            self._similar.setdefault(form_of, []).append(key)

    def refused_rows(self, known: Collection[RecordKey]) -> Iterator[tuple[int, str]]:
        """Yield the rows with a new key that is like one of the service, with the reason."""
        for line, key, _ in self._table.record_keys() if known or self._users else ():
            if key not in known and (others := self._similar.get(comparable_key(key))):
                yield line, f"{self._noun} {difference_reason(key[-1], others[0][-1])}"
        rows = self._table.select_cells(("store_number", "badge", "user")) if self._users else ()
        for line, (store, badge, user) in rows:
            other, its = self._users.get((store, fold_key(user)), (user, badge))
            if other != user and its != badge:
                yield line, f"user {difference_reason(user, other)}"
            elif other != user:
                what = f"user is written in another way than before, {BECOMES} what the file has"
                self._table.notes.add_warning(what, f"{other} then, {user} now", line)


async def _compare_keys(
    table: CsvTable, client: Client, listed: ServiceList, others: Sequence[Comparison]
) -> ServiceFindings:
    """Compare a file with the list in which the service shows what it creates, in one pass over that list."""
    keys = KeyComparison(table, table.layout.noun)
    codes, beside, prices = CodeComparison(table), KeysBesideOthers(table, table.layout.noun), PriceComparison(table)
    short = KeysWithoutZeros(table, table.layout.noun)
    alone = (ContainerComparison(table), DefaultPoolComparison(table))
    comparisons: tuple[Comparison, ...] = (keys, codes, beside, short, prices, *alone, *others)
    has_store = len(table.key_columns) > 1
    for store in _stores(table) if has_store else [""]:
        async for row in _listed_rows(table, client, listed, store):
            if isinstance(name := row.get(listed.field), str):
                for one in comparisons:
                    one.see((store, name) if has_store else (name,), row)
    if table.layout is ORDERS:
        await _see_finished_orders(table, client, keys)
    known = keys.known
    codes.warn()
    beside.warn(known)
    short.warn(known)
    prices.warn()
    refused = dict(keys.refused_rows(known)) | dict(await _rows_with_wrong_stores(table, client))
    kept = prices.removable if table.layout is PRODUCTS else None
    return ServiceFindings(refused, known, codes.owners(), codes.held, codes.own, roles=keys.roles, prices=kept)


_MOST_ZEROS = 3
"""Number of lost zeros up to which a finished order is looked for."""


async def _see_finished_orders(table: CsvTable, client: Client, keys: KeyComparison) -> None:
    """Compare numbers of orders with those of finished orders, which no list shows: with and without zeros before."""
    wanted: dict[str, dict[str, None]] = {}
    for _, (store, number), _ in table.record_keys():
        if number.isascii() and number.isdecimal() and (store, number) not in keys.known:
            bare = number.lstrip("0") or "0"
            forms = (bare.zfill(length) for length in range(len(bare), len(number) + _MOST_ZEROS + 1))
            wanted.setdefault(store, {}).update((form, None) for form in forms if form != number)
    for store, numbers in wanted.items():
        for number, row in (await fetch_orders(client, store, [*numbers])).items():
            keys.see((store, number), row)


async def _rows_with_wrong_stores(table: CsvTable, client: Client) -> list[tuple[int, str]]:
    """Return rows that list a store without its leading zeros; add warnings for unknown stores.

    The number of a store from which a delivery comes has no zeros before it.
    """
    names = [name for name in _STORE_COLUMNS.get(table.name, ()) if table.has_column(name)]
    if not names:
        return []
    stores: dict[RecordKey, str] = {}
    with as_file_warning(table, "whether the stores that it lists are there could not be read"):
        stores = {comparable_key((store,)): store for store in await store_numbers(client)}
    found: list[tuple[int, str]] = []
    for line, (of, *cells) in table.select_cells(("store_number", *names)) if stores else ():
        for name, cell in zip(names, cells, strict=True):
            for store in cell.split("|") if cell and cell.casefold() not in CLEAR_WORDS else ():
                its = stores.get(comparable_key((store,)))
                if its is None:
                    table.notes.add_warning(f"{name} names a store that the service does not have", store, line)
                elif its == of:
                    table.notes.add_warning(f"{name} is the store itself", store, line)
                elif its != store and name in _STORE_LISTS:
                    found.append((line, f"{name} {difference_reason(store, its)}"))
    return found


async def _listed_rows(table: CsvTable, client: Client, listed: ServiceList, store: str) -> AsyncGenerator[Row, None]:
    """Yield the records of the service of the kind that a file creates; nothing of a store that no path can name."""
    if table.layout is not PEOPLE:
        async for row in store_rows(client, listed.operation, store, in_path=listed.in_path):
            yield row
        return
    async for row in people_rows(client, store):
        yield row


async def warn_of_missing_supervisors(table: CsvTable, client: Client) -> None:
    """Add a warning for each store of the file in which no supervisor has a PIN.

    Of a file of orders, stores without people are left out: theirs may still come.
    """
    for store in _stores(table):
        try:
            people = await fetch_people(client, store)
        except (ClientError, ContractError):
            continue  # it is only a hint
        if people is None or (not people and table.layout is not PEOPLE):
            continue
        if not any(one.get("role") == "supervisor" and one.get("has_pin") for one in people):
            table.notes.add_file_warning(
                f"no supervisor of store {store} has a PIN, so nobody does a supervisor's work there; give one a PIN"
            )


def _stores(table: CsvTable) -> list[str]:
    return list(dict.fromkeys(store for _, (store, *_) in table.select_cells(("store_number",)) if store))


async def similar_field_keys(table: CsvTable, client: Client) -> dict[int, str]:
    """Return reasons of rows of free fields, by line, whose key the product has in another writing only.

    Add warnings for places in the order that another field of the product keeps.
    Raise ClientError if the products cannot be read.
    """
    rows = list(table.select_cells(_FIELD_NAMES)) if table.layout is FREE_FIELDS else []
    products = {product for _, (product, key, _) in rows if product and key}
    named = {(product, key) for _, (product, key, _) in rows}
    held: dict[tuple[str, str], list[str]] = {}
    kept: dict[tuple[str, str], str] = {}
    async for row in product_rows(client, products):
        product = str(row.get("product_number"))
        for field in (row.get("free_fields") or ()) if product in products else ():
            key = str(field.get("key") or "")
            held.setdefault((product, fold_key(key)), []).append(key)
            if (product, key) not in named:
                kept[product, str(field.get("sort_order"))] = key
    found: dict[int, str] = {}
    for line, (product, key, place) in rows:
        others = held.get((product, fold_key(key)), ())
        if key and others and key not in others:
            found[line] = f"key {difference_reason(key, others[0], f' on product {product}')}"
        elif other := kept.get((product, place)):
            what = "sort_order is that of another field, which the product keeps"
            table.notes.add_warning(what, f"{place} of {other} and {key}, of {product}", line)
    return found


_FIELD_NAMES = ("product_number", "key", "sort_order")


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
