"""Codes of a file that mean something else in the service too, or nothing: badges, barcodes, locations of orders.

Products and locations are loaded before people, orders and deliveries, so that the service's lists are up to date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from aisle.barcode_keys import index_keys, lookup_keys, may_identify
from aisle.client.client import Client
from aisle.client.csv_load.cell_cleaning import fold_code
from aisle.client.csv_load.codes_of_several_products import BARCODE_COLUMNS, code_keys, codes_in_cell
from aisle.client.csv_load.columns import DELIVERIES, LOCATIONS, ORDERS, PEOPLE
from aisle.client.csv_load.csv_table import CsvTable
from aisle.client.csv_load.near_keys import are_near
from aisle.client.csv_load.service_reads import location_codes, store_rows
from aisle.client.paging import Row

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
    if table.name == PEOPLE.file:
        await _warn_of_badges(table, client)
    if table.name == LOCATIONS.file:
        await _warn_of_locations(table, client)
    if table.name in (ORDERS.file, DELIVERIES.file) and table.has_column("barcode"):
        await _warn_of_barcodes(table, client)
    if table.name == ORDERS.file and table.has_column(_LOCATION_COLUMN):
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
    of_products = _Uses(table, f" {_BADGE_ADVICE}", (use for uses in stores.values() for use in uses))
    if not of_products:
        return
    async for row in client.rows("list-products"):
        for number, code, is_number in _codes_of(row):
            of_products.compare(code, number, f"product {number}" if is_number else f"a code of product {number}")
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
    of_products = _Uses(table, f" {_BADGE_ADVICE}", (use for uses in stores.values() for use in uses))
    if not of_products:
        return
    async for row in store_rows(client, "list-products", ""):
        for number, code, is_number in _codes_of(row):
            of_products.compare(code, number, f"product {number}" if is_number else f"a code of product {number}")
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
