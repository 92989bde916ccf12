"""Codes that mean several things: of two products, or of a person or location and something else of the service.

Products and locations are loaded before people, orders and deliveries, so that the service's lists are up to date.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from aisle.barcode_keys import index_keys, lookup_keys, may_identify, split_codes
from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey, TableRow
from aisle.client.csv_load.clean_cells import fold_code
from aisle.client.csv_load.columns import DELIVERIES, LOCATIONS, ORDERS, PEOPLE, PRODUCTS
from aisle.client.csv_load.near_keys import are_near
from aisle.client.csv_load.parse_cells import parse_objects
from aisle.client.csv_load.service_reads import location_codes, store_rows
from aisle.client.paging import Row


class CodeOwner(NamedTuple):
    """Product of the service with a code in a column.

    `replaced_in` is the row of the file that gives the column other codes; 0 if none does. The product keeps the code
    if that row is refused.
    """

    product: str
    column: str
    replaced_in: int


class SharedCodes:
    """Codes that several products of a file share: barcodes, or one's barcode and another's number.

    Ask in the order of the rows.
    """

    def __init__(self, table: CsvTable) -> None:
        seen: set[int] = set()
        self._shared: set[int] = set()
        self._first: dict[str, tuple[int, str]] = {}
        self._numbers: set[str] = set()
        """Keys of which the first use is a product's number."""
        for name in CODE_COLUMNS:
            for _, (cell,) in table.select_cells((name,)) if table.has_column(name) else ():
                for key in map(hash, {key for code in codes_in_cell(name, cell) for key in keys_in_column(name, code)}):
                    if key in seen:
                        self._shared.add(key)
                    seen.add(key)

    def earlier_product(self, column: str, code: str, product: str, line: int) -> tuple[int, str] | None:
        """Return the earlier row, and its product, with this code; None if there is none."""
        shared = [key for key in keys_in_column(column, code) if hash(key) in self._shared]
        for key in shared:
            if column == NUMBER_COLUMN and key not in self._first:
                self._numbers.add(key)
        firsts = [(key, self._first.setdefault(key, (line, product))) for key in shared]
        return next(
            (
                first
                for key, first in firsts
                if first[1] != product and not (column == NUMBER_COLUMN and key in self._numbers)
            ),
            None,
        )


NUMBER_COLUMN = "product_number"
FURTHER_BARCODES = "barcodes_array"
BARCODE_COLUMNS = ("barcode", "purchase_unit_barcode", FURTHER_BARCODES)
"""Columns with barcodes of a product."""
UNITS = "units"
CODE_COLUMNS = ("product_number", *BARCODE_COLUMNS, UNITS)
"""Columns with the codes by which a product is found."""


def codes_in_cell(column: str, cell: Any) -> list[str]:
    """Return the codes of a cell of that column; those of a barcode's cell as `CsvTable.select_cells` joins them.

    The units of a product are JSON in a file, and a list in a record.
    """
    if column == UNITS:
        return [code for unit in _units_in(cell) if (code := str(unit.get("unit_barcode") or ""))]
    parts = split_codes(cell) if column == FURTHER_BARCODES else cell.split(",") if column != NUMBER_COLUMN else [cell]
    return list(dict.fromkeys(code for code in parts if code))


def _units_in(cell: Any) -> Sequence[Mapping[str, Any]]:
    try:
        return parse_objects(cell) if isinstance(cell, str) else cell or ()
    except ValueError:
        return ()


def code_keys(code: str) -> tuple[str, ...]:
    """Return the keys under which a code is stored or looked up."""
    return tuple(dict.fromkeys((*index_keys(code), *lookup_keys(code))))


def keys_in_column(column: str, code: str) -> tuple[str, ...]:
    """Return the keys of a code of that column; a product's number has no other forms."""
    return index_keys(code) if column == NUMBER_COLUMN else code_keys(code)


class CodeComparison:
    """Codes of products.csv that the service has on other products, and those that a product keeps."""

    def __init__(self, table: CsvTable) -> None:
        self._table = table
        self._is_scanned = table.layout is not PRODUCTS
        self._products: dict[int, int] = {}
        """Products of the file by the keys of their codes, all as hashes; 0 for a code of several."""
        self._empty: set[int] = set()
        self._codes: dict[str, dict[tuple[str, str], None]] = {}
        """Products and columns of the service with codes that the file gives to other products, by key."""
        self._kept: dict[str, list[tuple[str, str]]] = {}

    def see(self, key: RecordKey, row: Row) -> None:
        """Compare the codes of a product."""
        if not self._is_scanned:
            self._scan()
        product = key[-1]
        for field in CODE_COLUMNS if self._products or self._empty else ():
            if row.get(field) and hash((product, field)) in self._empty:
                self._kept.setdefault(product, []).append((field, str(row[field])))
            for code in _code_keys_of_cells([(field, row.get(field) or "")]):
                if self._products.get(hash(code), hash(product)) != hash(product):
                    self._codes.setdefault(code, {})[product, field] = None

    def _scan(self) -> None:
        self._is_scanned = True
        for _, (product, *cells) in self._table.select_cells(CODE_COLUMNS):
            mine = hash(product)
            self._empty |= {hash((product, name)) for name in self._empty_columns(cells)}
            for key in _code_keys_of_cells(zip(CODE_COLUMNS, (product, *cells), strict=True)):
                self._products[hash(key)] = mine if self._products.get(hash(key), mine) == mine else 0

    def _empty_columns(self, cells: Sequence[str]) -> Iterator[str]:
        """Yield the columns of codes that are empty in a row, or of which only the barcode is named."""
        for name, cell in zip(BARCODE_COLUMNS, cells[: len(BARCODE_COLUMNS)], strict=True):
            is_whole = self._table.has_column(name) or (name == FURTHER_BARCODES and cells[0] and "," not in cells[0])
            if not cell and is_whole:
                yield name

    def warn(self) -> None:
        """Add warnings for codes that products keep because the file does not name them."""
        for line, (product,) in self._table.select_cells(("product_number",)) if self._kept else ():
            for name, codes in self._kept.get(product, ()):
                what = f"{name} is empty, and the service keeps its codes; write (empty) to take them away"
                self._table.notes.add_warning(what, f"{codes} of {product}", line)

    def owners(self) -> dict[str, list[CodeOwner]]:
        """Return who has the codes, by key, with the row of the file that replaces them in the same column."""
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


def _code_keys_of_cells(cells: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """Yield the keys of all codes in these columns."""
    for name, cell in cells:
        for code in codes_in_cell(name, cell):
            yield from keys_in_column(name, code)


def warn_of_unit(table: CsvTable, row: TableRow) -> None:
    """Add a warning for a code of both one piece and a whole unit: a scan of it counts one piece."""
    pieces = {
        key
        for name in BARCODE_COLUMNS[::2]
        for code in codes_in_cell(name, row.values.get(name, ""))
        for key in code_keys(code)
    }
    code = row.values.get("purchase_unit_barcode", "")
    if code and not pieces.isdisjoint(code_keys(code)) and row.values.get("purchase_unit_quantity") != 1:
        value = f"{code}: a scan of the unit counts one piece"
        table.notes.add_warning("purchase_unit_barcode is also the code of one piece", value, row.line)


_LOCATION_COLUMN = "preferred_location_code"
_BADGE_ADVICE = "is also another code of the store, and a scan of it has to ask which is meant"
_ONE_CHARACTER = "location_code of one character is also an answer or a command; a code of two or more is none"
_LOOK_ALIKES = str.maketrans("OoIil", "00111")
_LOOKS_ALIKE = "location_code looks like another, as O and 0 or I and 1 do; if it is the same, write it in one way"
_LINE_BARCODE = "barcode is on two products"


async def check_meanings(table: CsvTable, client: Client) -> dict[int, str]:
    """Add warnings for codes that also mean something else. Return reasons of refused rows, by line.

    Raise ContractError if a list cannot be read.
    """
    if table.layout is PEOPLE:
        await _warn_of_badges(table, client)
    if table.layout is LOCATIONS:
        await _warn_of_locations(table, client)
    if table.layout in (ORDERS, DELIVERIES) and table.has_column("barcode"):
        await _warn_of_barcodes(table, client)
    if table.layout is ORDERS and table.has_column(_LOCATION_COLUMN):
        return await _unknown_locations(table, client)
    return {}


class _Use(NamedTuple):
    """Code in a cell: its row and column, and whom or what it is for."""

    line: int
    column: str
    code: str
    owner: str


class _Uses:
    """Codes of a file by their look-up keys. Each code is warned of once."""

    def __init__(self, table: CsvTable, what: str, uses: Iterable[_Use]) -> None:
        self._table = table
        self._what = what
        self._by_key: dict[str, list[_Use]] = {}
        self._warned: set[_Use] = set()
        for use in uses:
            for key in lookup_keys(use.code):
                self._by_key.setdefault(key, []).append(use)

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def compare(self, code: str, number: str, meaning: str, *, owner: str = "") -> None:
        """Add a warning for each use of this code of the service, which identifies the object `number`.

        The object itself, `owner`, may use it.
        """
        for key in _index_keys(code):
            for use in self._by_key.get(key, ()):
                if use.owner != owner and use not in self._warned and may_identify(key, number, use.code):
                    self._warned.add(use)
                    value = f"{use.code} of {use.owner} is also {meaning}"
                    self._table.notes.add_warning(f"{use.column}{self._what}", value, use.line)


def _index_keys(code: str) -> tuple[str, ...]:
    return (code,) if code.isascii() and code.isdecimal() and code[0] != "0" else index_keys(code)


async def _warn_of_badges(table: CsvTable, client: Client) -> None:
    stores: dict[str, list[_Use]] = {}
    for line, (store, badge, user, name) in table.select_cells(("store_number", "badge", "user", "name")):
        for column, code in (("badge", badge), ("user", user)):
            if code:
                stores.setdefault(store, []).append(_Use(line, column, code, name or user))
    await _compare_with_products(table, client.rows("list-products"), stores)
    for store, uses in stores.items():
        of_places = _Uses(table, f" {_BADGE_ADVICE}", uses)
        for place in await location_codes(client, store):
            of_places.compare(place, place, f"place {place}")


async def _warn_of_locations(table: CsvTable, client: Client) -> None:
    """Add warnings for locations that are a product, an order, an answer or a command too, or look like another."""
    stores: dict[str, list[_Use]] = {}
    for line, (store, code) in table.select_cells(("store_number", "location_code")):
        if store and code:
            stores.setdefault(store, []).append(_Use(line, "location_code", code, f"store {store}"))
            if len(code) == 1:
                table.notes.add_warning(_ONE_CHARACTER, f"{code} of store {store}", line)
    await _compare_with_products(table, store_rows(client, "list-products", ""), stores)
    for store, uses in stores.items():
        of_orders = _Uses(table, f" {_BADGE_ADVICE}", uses)
        async for row in store_rows(client, "list-customer-orders", store):
            if order := str(row.get("order_number") or ""):
                of_orders.compare(order, order, f"order {order}")
        seen: dict[str, str] = {}
        for place in await location_codes(client, store):
            seen.setdefault(place.translate(_LOOK_ALIKES), place)
        for use in uses:
            other = seen.setdefault(use.code.translate(_LOOK_ALIKES), use.code)
            if fold_code(other) != fold_code(use.code):
                table.notes.add_warning(_LOOKS_ALIKE, f"{use.code} beside {other}", use.line)


async def _compare_with_products(
    table: CsvTable, products: AsyncIterator[Row], stores: Mapping[str, Iterable[_Use]]
) -> None:
    """Add warnings for the uses, by store, of codes that identify a product too. Products are read if there are any."""
    found = _Uses(table, f" {_BADGE_ADVICE}", chain.from_iterable(stores.values()))
    if not found:
        return
    async for row in products:
        for number, code, is_number in _codes_of(row):
            found.compare(code, number, f"product {number}" if is_number else f"a code of product {number}")


async def _warn_of_barcodes(table: CsvTable, client: Client) -> None:
    """Add warnings for barcodes of lines that are on another product, in the file or in the service."""
    uses: list[_Use] = []
    first: dict[str, tuple[str, int]] = {}
    for line, (cell, product) in table.select_cells(("barcode", "product_number")):
        if not (code := cell.partition(",")[0]) or not product:
            continue
        keys = code_keys(code)
        its, at = next((first[key] for key in keys if key in first and first[key][0] != product), ("", 0))
        if its:
            table.notes.add_warning(_LINE_BARCODE, f"{code} of {product} is also of {its} (row {at})", line)
        else:
            uses.append(_Use(line, "", code, product))
        for key in keys:
            first.setdefault(key, (product, line))
    found = _Uses(table, _LINE_BARCODE, uses)
    if not uses:
        return
    async for row in client.rows("list-products"):
        for number, code, is_number in _codes_of(row):
            meaning = "the number of another product" if is_number else f"of {number}, which the service has"
            found.compare(code, number, meaning, owner=number)


async def _unknown_locations(table: CsvTable, client: Client) -> dict[int, str]:
    """Return why rows with a location that their store does not have are refused. A store may have no locations."""
    known: dict[str, list[str]] = {}
    refused: dict[int, str] = {}
    for line, (store, code) in table.select_cells(("store_number", _LOCATION_COLUMN)):
        if not code:
            continue
        if store not in known:
            known[store] = await location_codes(client, store)
        places = known[store]
        if places and code not in places:
            near = next((place for place in places if are_near(place, code)), "")
            hint = f"; {near}?" if near else ", and a pick would send people there; write one of its places, or none"
            refused[line] = f"{_LOCATION_COLUMN} {code!r}: store {store} has no such place{hint}"
    return refused


def _codes_of(row: Row) -> Iterator[tuple[str, str, bool]]:
    """Yield number, code, and True for the number itself, of each code of a product."""
    number = str(row.get("product_number") or "")
    if number:
        yield number, number, True
    for column in BARCODE_COLUMNS if number else ():
        for code in codes_in_cell(column, str(row.get(column) or "")):
            yield number, code, False
