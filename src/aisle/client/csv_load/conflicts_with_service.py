"""Comparison of a file with what the service has: similar keys, price jumps, kept codes and flags, unknown orders.

A new key that differs from an existing one by zeros, blanks or case only is refused.

A spreadsheet removes the zeros of `0226`. The row then names a product that does not exist, and would create it. The
service's keys are read page by page, and only if it has any; of the file only hashes are kept.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.cell_cleaning import CLEAR_WORDS
from aisle.client.csv_load.code_conflicts_with_service import check_meanings
from aisle.client.csv_load.codes_of_several_products import (
    BARCODE_COLUMNS,
    CODE_COLUMNS,
    FURTHER_BARCODES,
    CodeOwner,
    codes_in_cell,
    keys_in_column,
)
from aisle.client.csv_load.columns import (
    DELIVERIES,
    DISCOUNT_PRICES,
    FREE_FIELDS,
    LOCATIONS,
    ORDERS,
    PEOPLE,
    PRODUCTS,
    REMOVABLE_PRICES,
    STOCK,
    STORES,
    price_of,
)
from aisle.client.csv_load.conflicting_rows import find_divided_records
from aisle.client.csv_load.csv_table import CsvTable, RecordKey
from aisle.client.csv_load.describe_record_differences import Difference, listed_differences
from aisle.client.csv_load.implausible_values import CONTAINER_COLUMN, container_key
from aisle.client.csv_load.keys_beside_others import KeysBesideOthers
from aisle.client.csv_load.lost_leading_zeros import LostZeros
from aisle.client.csv_load.mistaken_keys import keys_not_held
from aisle.client.csv_load.near_keys import comparable_key, difference_reason, fold_key
from aisle.client.csv_load.price_conflicts_with_store import warn_of_discounts
from aisle.client.csv_load.records import STORE_FLAGS, Placeless, Record, ServiceFindings
from aisle.client.csv_load.report import FROM_PRICE_BEFORE, FileNotes, LoadError
from aisle.client.csv_load.service_reads import (
    MAX_SINGLE_READS,
    NAMED_ORDERS,
    fetch_orders,
    fetch_people,
    fetch_store,
    location_codes,
    store_rows,
)
from aisle.client.csv_load.settings_turned_off import SettingsTurnedOff, warn_of_inactive_stores
from aisle.client.csv_load.store_time_zones import read_zone, zones_of_times
from aisle.client.errors import ClientError, ServerError, TransportError
from aisle.client.paging import Row
from aisle.contract.request_encoding import QueryValue
from aisle.errors import ContractError

_PRICE_JUMP = 20
"""Factor beyond which a new price is doubted: a lost decimal mark makes 99 of 0.99."""
_STORE_LISTS = ("stores_allowed", "stores_not_allowed", "promo_stores_allowed", "promo_stores_not_allowed")


class _ServiceList(NamedTuple):
    """List in which the service shows what a file creates: the operation, the field with the key, and a noun for it."""

    operation: str
    field: str
    noun: str
    in_path: bool = False


_SERVICE_LISTS = {
    STORES.file: _ServiceList("list-stores", "storeNo", "store"),
    PRODUCTS.file: _ServiceList("list-products", "product_number", "product"),
    LOCATIONS.file: _ServiceList("list-locations", "location_code", "location", in_path=True),
    ORDERS.file: _ServiceList("list-customer-orders", "order_number", "order", in_path=True),
    DELIVERIES.file: _ServiceList("list-deliveries", "order_number", "delivery"),
    PEOPLE.file: _ServiceList("", "badge", "badge"),
}


async def compare_with_service(table: CsvTable, client: Client) -> ServiceFindings:
    """Compare the keys of a file that creates records, and other codes and prices, with those of the service.

    Raise LoadError if the service does not respond. What it cannot list is noted and not compared.
    """
    listed = _SERVICE_LISTS.get(table.name)
    try:
        flags = await _kept_store_flags(table, client) if table.name == STORES.file else {}
        zeros = LostZeros(table)
        off = SettingsTurnedOff(table, client)
        findings = await _Comparison(table, client, listed, zeros, off).run() if listed else ServiceFindings()
        await zeros.read(client)
        zeros.warn()
        await _warn_of_unknown_orders(table, client)
        await warn_of_other_stores(table, client, findings.known_keys)
        await off.warn()
        await warn_of_inactive_stores(table, client, findings.known_keys)
        if table.name == DISCOUNT_PRICES.file:
            await warn_of_discounts(table, client)
        refused = await check_meanings(table, client) | dict(findings.refused_rows)
        refused |= await similar_field_keys(table, client)
        divided = await find_divided_records(table, client, findings.known_keys)
        findings = findings._replace(refused_rows={**divided.refused_rows, **refused}, left_out=divided.left_out)
        zones = await zones_of_times(table, client)
        findings = findings._replace(zones=zones, store_flags=flags)
        return await _with_placeless(table, client, findings) if table.name == STOCK.file else findings
    except ClientError as error:
        # Without the people of the store, an empty role would make a supervisor staff.
        if not isinstance(error, TransportError | ServerError) and table.name != PEOPLE.file:
            table.notes.add_file_warning(f"could not be compared with what the service has: {error}")
            return ServiceFindings()
        raise LoadError(
            f"Whether the service has what {table.name} names cannot be read: {error} Load again later: it goes on,"
            " and doubles nothing."
        ) from error


async def _kept_store_flags(table: CsvTable, client: Client) -> dict[str, Row]:
    """Return the flags of the service's stores that have an empty cell for one; the interface needs them all."""
    wanted = {store for _, (store, *cells) in table.select_cells(("store_number", *STORE_FLAGS)) if not all(cells)}
    present = [str(row.get("storeNo")) async for row in client.rows("list-stores")] if wanted else []
    stores = {store: await fetch_store(client, store) for store in present if store in wanted}
    return {store: {name: row[name] for name in STORE_FLAGS if name in row} for store, row in stores.items()}


async def _with_placeless(table: CsvTable, client: Client, findings: ServiceFindings) -> ServiceFindings:
    """Add what rows of stock without a location are compared with: the locations of their stores, and unknown keys."""
    placeless = Placeless(table)
    places = {store: set(await location_codes(client, store)) for store in sorted(placeless.stores)}
    return findings._replace(places=places, unknown=await keys_not_held(table, client) if placeless.is_mixed else {})


class _Comparison:
    """Comparison of one file."""

    def __init__(
        self, table: CsvTable, client: Client, listed: _ServiceList, zeros: LostZeros, off: SettingsTurnedOff
    ) -> None:
        self._table = table
        self._client = client
        self._list = listed
        self._has_store = len(table.key_columns) > 1
        self._key_hashes: set[int] = set()
        self._code_owners: dict[int, int] = {}
        self._similar_keys: dict[RecordKey, list[RecordKey]] = {}
        self._codes: dict[str, dict[tuple[str, str], None]] = {}
        """Products and columns of the service with codes that the file gives to other products, by key."""
        self._empty_columns: set[int] = set()
        self._kept_codes: dict[str, list[tuple[str, str]]] = {}
        self._containers: dict[int, list[tuple[int, str, str]]] = {}
        self._warned: set[tuple[int, str]] = set()
        self._users: dict[tuple[str, str], tuple[str, str]] = {}
        self._roles: dict[RecordKey, str] = {}
        self._beside = KeysBesideOthers(table, listed.noun)
        self._prices: dict[int, Decimal] = {}
        self._changes_prices = False
        self._removable = [name for name in REMOVABLE_PRICES if table.has_column(name)]
        self._kept_prices: set[tuple[str, str]] = set()
        self._price_jumps: dict[str, Decimal] = {}
        self._zeros = zeros
        self._off = off

    async def run(self) -> ServiceFindings:
        for store in _stores(self._table) if self._has_store else [""]:
            async for row in self._read_rows(store):
                if not self._key_hashes:
                    self._scan_file()
                self._compare_row(store, row)
        known_keys = frozenset(key for keys in self._similar_keys.values() for key in keys)
        self._warn_of_kept_codes()
        self._beside.warn(known_keys)
        self._warn_of_price_jumps()
        if self._changes_prices:
            self._table.notes.add_file_warning(
                "its prices are those of the chain; a store that has a price of its own keeps it, until prices.csv"
                " changes it"
            )
        refused = dict(self._refused_rows(known_keys)) if known_keys or self._users else {}
        refused |= dict(await self._rows_with_wrong_stores())
        prices = self._kept_prices if self._table.name == PRODUCTS.file else None
        return ServiceFindings(refused, known_keys, self._owners_of_codes(), roles=self._roles, prices=prices)

    async def _rows_with_wrong_stores(self) -> list[tuple[int, str]]:
        """Return rows of products that list a store without its leading zeros; add warnings for unknown stores."""
        names = [name for name in _STORE_LISTS if self._table.has_column(name)]
        if self._table.name != PRODUCTS.file or not names:
            return []
        stores: dict[RecordKey, str] = {}
        try:
            async for row in self._client.rows("list-stores"):
                if name := str(row.get("storeNo") or ""):
                    stores[comparable_key((name,))] = name
        except TransportError:
            raise
        except ClientError as error:
            self._table.notes.add_file_warning(f"whether the stores that it lists are there could not be read: {error}")
            return []
        found: list[tuple[int, str]] = []
        for line, cells in self._table.select_cells(names) if stores else ():
            for name, cell in zip(names, cells, strict=True):
                for store in cell.split("|") if cell and cell.casefold() not in CLEAR_WORDS else ():
                    its = stores.get(comparable_key((store,)))
                    if its is None:
                        self._table.notes.add_warning(
                            f"{name} names a store that the service does not have", store, line
                        )
                    elif its != store:
                        found.append((line, f"{name} {difference_reason(store, its)}"))
        return found

    def _scan_file(self) -> None:
        """Keep hashes of the file's keys, once it is known that the service has rows to compare."""
        self._key_hashes = {hash(comparable_key(key)) for _, key, _ in self._table.record_keys()}
        if self._table.name == DELIVERIES.file and self._table.has_column(CONTAINER_COLUMN):
            for line, (order, code) in self._table.select_cells(("order_number", CONTAINER_COLUMN)):
                if code:
                    self._containers.setdefault(hash(container_key(code)), []).append((line, order, code))
        if self._table.name == PRODUCTS.file:
            for _, (price, product, *cells) in self._table.select_cells(("price", *CODE_COLUMNS)):
                mine = hash(product)
                if (new := price_of(price)) is not None:
                    self._prices[mine] = new
                self._empty_columns |= {hash((product, name)) for name in self._empty_code_columns(cells)}
                for key in _code_keys_of_cells(zip(CODE_COLUMNS, (product, *cells), strict=True)):
                    self._code_owners[hash(key)] = mine if self._code_owners.get(hash(key), mine) == mine else 0

    def _compare_row(self, store: str, row: Row) -> None:
        name = row.get(self._list.field)
        if not isinstance(name, str):
            return
        key = (store, name) if self._has_store else (name,)
        self._zeros.see(row)
        self._off.see(key, row)
        if isinstance(user := row.get("user"), str):
            self._users[store, fold_key(user)] = user, name
            self._roles[key] = str(row.get("role") or "")
        self._beside.see(key)
        if self._prices and (price := price_of(row.get("price"))):
            new = self._prices.get(hash(name), price)
            self._changes_prices |= new != price
            if new > price * _PRICE_JUMP or 0 < new * _PRICE_JUMP < price:
                self._price_jumps[name] = price
        self._kept_prices |= {(name, column) for column in self._removable if row.get(column)}
        form_of = comparable_key(key)
        if hash(form_of) in self._key_hashes:
            self._similar_keys.setdefault(form_of, []).append(key)
        if self._code_owners or self._empty_columns:
            self._compare_codes(name, row)
        if self._containers:
            self._compare_containers(store, name, row)

    def _compare_containers(self, store: str, order: str, row: Row) -> None:
        for line in row.get("order_lines") or []:
            key = container_key(str(line.get(CONTAINER_COLUMN) or "")) if isinstance(line, dict) else ""
            for at, mine, code in self._containers.get(hash(key), ()) if key else ():
                if mine != order:
                    value = f"{code} of {mine} is also of {order}"
                    what = f"{CONTAINER_COLUMN} is on a delivery that the service has"
                    if (at, value) not in self._warned:
                        self._warned.add((at, value))
                        self._table.notes.add_warning(what, value, at)

    def _empty_code_columns(self, cells: Sequence[str]) -> Iterator[str]:
        """Yield the columns of codes that are empty in a row, or of which only the barcode is named."""
        for name, cell in zip(BARCODE_COLUMNS, cells[: len(BARCODE_COLUMNS)], strict=True):
            is_whole = self._table.has_column(name) or (name == FURTHER_BARCODES and cells[0] and "," not in cells[0])
            if not cell and is_whole:
                yield name

    def _warn_of_kept_codes(self) -> None:
        """Add warnings for codes that products keep because the file does not name them."""
        for line, (product, *_) in self._table.select_cells(("product_number",)) if self._kept_codes else ():
            for name, codes in self._kept_codes.get(product, ()):
                self._table.notes.add_warning(
                    f"{name} is empty, and the service keeps its codes; write (empty) to take them away",
                    f"{codes} of {product}",
                    line,
                )

    def _compare_codes(self, product: str, row: Row) -> None:
        for field in CODE_COLUMNS:
            if row.get(field) and hash((product, field)) in self._empty_columns:
                self._kept_codes.setdefault(product, []).append((field, str(row[field])))
            for key in _code_keys_of_cells([(field, row.get(field) or "")]):
                if self._code_owners.get(hash(key), hash(product)) != hash(product):
                    self._codes.setdefault(key, {})[product, field] = None

    def _refused_rows(self, known: frozenset[RecordKey]) -> Iterator[tuple[int, str]]:
        for line, key, _ in self._table.record_keys():
            if key not in known and (others := self._similar_keys.get(comparable_key(key))):
                yield line, f"{self._list.noun} {difference_reason(key[-1], others[0][-1])}"
        for line, (store, badge, user) in self._users_in_file() if self._users else ():
            other, its = self._users.get((store, fold_key(user)), (user, badge))
            if other != user and its != badge:
                yield line, f"user {difference_reason(user, other)}"

    def _warn_of_price_jumps(self) -> None:
        for line, (product, price) in (
            self._table.select_cells(("product_number", "price")) if self._price_jumps else ()
        ):
            if before := self._price_jumps.get(product):
                what = f"price is more than {_PRICE_JUMP} {FROM_PRICE_BEFORE}"
                self._table.notes.add_warning(what, f"{before:f} then, {price} now, of {product}", line)

    def _users_in_file(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        return self._table.select_cells(("store_number", "badge", "user"))

    def _owners_of_codes(self) -> dict[str, list[CodeOwner]]:
        """Return who has the codes, with the row of the file that replaces them in the same column."""
        owners = {product for places in self._codes.values() for product, _ in places}
        replaced: dict[tuple[str, str], int] = {}
        for line, (product, *cells) in self._table.select_cells(CODE_COLUMNS) if owners else ():
            if product in owners:
                named = [name for name, cell in zip(CODE_COLUMNS[1:], cells, strict=True) if cell]
                named += [FURTHER_BARCODES] if "," in cells[0] else []
                replaced |= {(product, name): line for name in named}
        return {
            code: [CodeOwner(*place, replaced.get(place, 0)) for place in places]
            for code, places in self._codes.items()
        }

    async def _read_rows(self, store: str) -> AsyncGenerator[Row, None]:
        if self._table.name == PEOPLE.file:
            try:
                people = await fetch_people(self._client, store)
            except ContractError as error:
                if isinstance(error, ClientError):
                    raise
                return  # no path can name this store
            for row in people or ():
                yield row
            return
        async for row in store_rows(self._client, self._list.operation, store, in_path=self._list.in_path):
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
        if people is None or (not people and table.name != PEOPLE.file):
            continue
        if not any(one.get("role") == "supervisor" and one.get("has_pin") for one in people):
            table.notes.add_file_warning(
                f"no supervisor of store {store} has a PIN, so nobody does a supervisor's work there; give one a PIN"
            )


async def _warn_of_unknown_orders(table: CsvTable, client: Client) -> None:
    """Add warnings for lines of deliveries that are for orders, or lines of them, that the store does not have."""
    wanted: dict[str, dict[str, list[_Reservation]]] = {}
    names = ("store_number", "customer_order_number", "order_number", "customer_order_line_number", "product_number")
    for line, (store, order, *cells) in (
        table.select_cells(names) if table.name == DELIVERIES.file and table.has_column(names[1]) else ()
    ):
        if store and order:
            wanted.setdefault(store, {}).setdefault(order, []).append(_Reservation(line, *cells))
    for store, orders in wanted.items():
        known: dict[str, dict[Decimal | None, str]] = {}
        is_few = len(orders) <= MAX_SINGLE_READS
        queries: list[dict[str, QueryValue]] = [{"order_number": order} for order in orders] if is_few else [{}]
        for query in queries:
            query |= {"is_active": False, "show_lines": True}
            async for row in store_rows(client, "list-customer-orders", store, query):
                if (number := str(row.get("order_number"))) in orders:
                    known[number] = {
                        price_of(one.get("line_number")): str(one.get("product_number") or "")
                        for one in row.get("lines") or ()
                    }
        for order, reservations in orders.items():
            for one in reservations:
                what, value = _reservation_fault(order, one, known.get(order))
                if what:
                    table.notes.add_warning(what, value, one.line, beside=one.delivery)


class _Reservation(NamedTuple):
    """Line of a delivery that is for a line of an order."""

    line: int
    delivery: str
    order_line: str
    product: str


def _reservation_fault(order: str, one: _Reservation, lines: Mapping[Decimal | None, str] | None) -> tuple[str, str]:
    """Return why goods that come for an order are not kept for it, and the value that shows it; empty if they are.

    `lines` are the products of the order's lines; None if the store does not have the order.
    """
    if lines is None:
        return "customer_order_number names an order that the store does not have, so the goods are free", order
    of_line = lines.get(price_of(one.order_line)) if one.order_line else one.product
    if of_line is None:
        what = "customer_order_line_number names a line that the order does not have"
        return what, f"{one.order_line} of {order}"
    if of_line and of_line != one.product:
        what = "customer_order_line_number names a line of another product, so the goods are free"
        return what, f"{one.product} for line {one.order_line} of {order}, which is of {of_line}"
    return "", ""


def _stores(table: CsvTable) -> list[str]:
    return list(dict.fromkeys(store for _, (store, *_) in table.select_cells(("store_number",)) if store))


def _code_keys_of_cells(cells: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """Yield the keys of all codes in these columns."""
    for name, cell in cells:
        for code in codes_in_cell(name, cell):
            yield from keys_in_column(name, code)


async def similar_field_keys(table: CsvTable, client: Client) -> dict[int, str]:
    """Return reasons of rows of free fields, by line, whose key the product has in another writing only.

    Raise ClientError if the products cannot be read.
    """
    named = ("product_number", "key")
    rows = list(table.select_cells(named)) if table.name == FREE_FIELDS.file else []
    products = {product for _, (product, key) in rows if product and key}
    queries: list[dict[str, QueryValue]] = [{"product_number": product} for product in sorted(products)]
    held: dict[tuple[str, str], list[str]] = {}
    for query in queries if len(products) <= MAX_SINGLE_READS else [{}]:
        async for row in client.rows("list-products", query=query):
            product = str(row.get("product_number"))
            for field in (row.get("free_fields") or ()) if product in products else ():
                key = str(field.get("key") or "")
                held.setdefault((product, fold_key(key)), []).append(key)
    found: dict[int, str] = {}
    for line, (product, key) in rows:
        others = held.get((product, fold_key(key)), ())
        if key and others and key not in others:
            found[line] = f"key {difference_reason(key, others[0], f' on product {product}')}"
    return found


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
