"""Codes that mean several things in a store: a number, location, badge or user that is also one of another kind.

A file is compared with what the service lists of each other kind. Products and locations are loaded before people,
orders and deliveries, so that the lists are up to date. Barcodes of lines are compared with those of products.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from itertools import chain
from typing import NamedTuple

from aisle.barcode_numbers import index_keys, lookup_keys, may_identify
from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.clean_cells_and_keys import fold_code, nearest
from aisle.client.csv_load.file_layouts_and_columns import DELIVERIES, LOCATIONS, ORDERS, PEOPLE, PRODUCTS
from aisle.client.csv_load.service_reads import (
    MAX_SINGLE_READS,
    as_file_warning,
    location_codes,
    people_rows,
    store_numbers,
    store_rows,
)
from aisle.client.csv_load.shared_codes import CODE_COLUMNS, NUMBER_COLUMN, code_keys, codes_in_cell, codes_of

_LOCATION_COLUMN = "preferred_location_code"
_MEANS_MORE = "is also another code of the store, and a scan of it has to ask which is meant"
_ONE_CHARACTER = "of one character is also an answer or a command; a code of two or more is none"
_ANSWERS = "0123456789yn"
_LOOK_ALIKES = str.maketrans("OoIil", "00111")
_LOOKS_ALIKE = "looks like another, as O and 0 or I and 1 do; if it is the same, write it in one way"
_PRODUCT = "product "
_LINE_BARCODE = "barcode is on two products"
_MAX_STORES_OF_PRODUCTS = 50
"""Number of stores up to which new codes of products are compared with the codes of all stores."""
_MAX_SEARCHES = 3
"""Number of codes up to which the orders of a store are searched for each of them."""


async def check_meanings(table: CsvTable, client: Client, held: Collection[int]) -> dict[int, str]:
    """Add warnings for codes that also mean something else. Return reasons of refused rows, by line.

    `held` has the hashes of products with their codes, which were compared when they got them.

    Raise ContractError if a list cannot be read.
    """
    if table.name in _SCANNED:
        await _warn_of_other_meanings(table, client, held)
    if table.name in _LOOKED_AT:
        await _warn_of_look_alikes(table, client)
    if table.layout is PEOPLE:
        await _warn_of_users_that_are_badges(table, client)
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

        self.codes = {use.code for keyed in self._by_key.values() for use in keyed}

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def compare(self, code: str, number: str, meaning: str, *, owner: str = "") -> None:
        """Add a warning for each use of this code of the service, which identifies the object `number`.

        The object itself, `owner`, may use it.
        """
        for key in index_keys(code):
            for use in self._by_key.get(key, ()):
                if use.owner != owner and use not in self._warned and may_identify(key, number, use.code):
                    self._warned.add(use)
                    value = f"{use.code} of {use.owner} is also {meaning}"
                    self._table.notes.add_warning(f"{use.column}{self._what}", value, use.line)


class _Meaning(NamedTuple):
    """Code of the service: the name of its object, the code, and what a scan of it means."""

    name: str
    code: str
    what: str


_Meanings = AsyncGenerator[_Meaning, None]


async def _locations(client: Client, store: str, _: Collection[str]) -> _Meanings:
    for code in await location_codes(client, store):
        yield _Meaning(code, code, f"location {code}")


async def _people(client: Client, store: str, _: Collection[str]) -> _Meanings:
    async for row in people_rows(client, store):
        for column in ("badge", "user"):
            if code := str(row.get(column) or ""):
                yield _Meaning(code, code, f"the {column} of {row.get('name') or row.get('user')}")


async def _orders(client: Client, store: str, codes: Collection[str]) -> _Meanings:
    """Yield the numbers of orders; those alone that are like a code, if these are few."""
    words = sorted({code.lstrip("0") or code for code in codes})
    for query in [{"search_text": word} for word in words] if len(words) <= _MAX_SEARCHES else [{}]:
        async for row in store_rows(client, "list-customer-orders", store, query):
            if number := str(row.get("order_number") or ""):
                yield _Meaning(number, number, f"order {number}")


async def _deliveries(client: Client, store: str, _: Collection[str]) -> _Meanings:
    """Yield the numbers of deliveries that are still to come."""
    async for row in store_rows(client, "list-deliveries", store, {"is_submitted": False}, in_path=False):
        if number := str(row.get("order_number") or ""):
            yield _Meaning(number, number, f"delivery {number}")


async def _products(client: Client, file: str, codes: Collection[str]) -> _Meanings:
    """Yield the codes of products; those alone that have one of a few numbers of orders or deliveries."""
    is_few = file in (ORDERS.file, DELIVERIES.file) and len(codes) <= MAX_SINGLE_READS
    queries = [{name: code} for name in ("product_number", "barcode") for code in sorted(codes)] if is_few else [{}]
    for query in queries:
        async for row in store_rows(client, "list-products", "", query):
            for number, code, is_own in codes_of(row):
                yield _Meaning(number, code, f"product {number}" if is_own else f"a code of product {number}")


_OF_STORE: dict[str, Callable[[Client, str, Collection[str]], _Meanings]] = {
    LOCATIONS.file: _locations,
    PEOPLE.file: _people,
    ORDERS.file: _orders,
    DELIVERIES.file: _deliveries,
}
"""Lists of a store with codes that people scan, by the files that create their records."""
_SCANNED = {
    PRODUCTS.file: CODE_COLUMNS,
    LOCATIONS.file: ("location_code",),
    PEOPLE.file: ("badge", "user"),
    ORDERS.file: ("order_number",),
    DELIVERIES.file: ("order_number", "container_barcode"),
}
"""Columns of the files with codes that people scan."""


async def _warn_of_other_meanings(table: CsvTable, client: Client, held: Collection[int]) -> None:
    """Add a warning for each code of a file that means something of another kind too."""
    uses = _uses_by_store(table)
    all_uses = list(chain.from_iterable(uses.values()))
    if all_uses and table.layout is not PRODUCTS:
        products = _products(client, table.name, {use.code for use in all_uses})
        await _compare(table, "products.csv", _Uses(table, f" {_MEANS_MORE}", all_uses), products)
    if table.layout is PRODUCTS:
        all_uses = [use for use in all_uses if hash((use.owner.removeprefix(_PRODUCT), use.code)) not in held]
        stores: list[str] = []
        with as_file_warning(table, "its codes could not be compared with those of the stores"):
            stores = await store_numbers(client) if all_uses else []
        found = _Uses(table, f" {_MEANS_MORE}", all_uses)
        compared = dict.fromkeys(stores if len(stores) <= _MAX_STORES_OF_PRODUCTS else (), found)
    else:
        compared = {store: _Uses(table, f" {_MEANS_MORE}", found) for store, found in uses.items() if store}
    for store, found in compared.items():
        for file, read in _OF_STORE.items() if found else ():
            if file != table.name:
                await _compare(table, file, found, read(client, store, found.codes))


async def _compare(table: CsvTable, file: str, uses: _Uses, meanings: _Meanings) -> None:
    with as_file_warning(table, f"its codes could not be compared with those of {file.removesuffix('.csv')}"):
        async for one in meanings:
            uses.compare(one.code, one.name, one.what)


def _uses_by_store(table: CsvTable) -> dict[str, list[_Use]]:
    """Return the codes of a file, each once, by store ('' for products). Add warnings for answers and commands."""
    found: dict[str, dict[tuple[str, str], _Use]] = {}
    columns = _SCANNED[table.name]
    for line, (store, name, *cells) in table.select_cells(("store_number", _OWNERS.get(table.name, ""), *columns)):
        for column, cell in zip(columns, cells, strict=True):
            for code in codes_in_cell(column, cell) if table.layout is PRODUCTS else filter(None, [cell]):
                owner = f"{_PRODUCT}{name}" if table.layout is PRODUCTS else name or f"store {store}"
                found.setdefault(store, {}).setdefault((column, code), _Use(line, column, code, owner))
    for use in chain.from_iterable(of_store.values() for of_store in found.values()):
        is_answer = table.layout is LOCATIONS or use.code in _ANSWERS
        if len(use.code) == 1 and is_answer and use.column not in CODE_COLUMNS[1:]:
            table.notes.add_warning(f"{use.column} {_ONE_CHARACTER}", f"{use.code} of {use.owner}", use.line)
    return {store: list(of_store.values()) for store, of_store in found.items()}


_OWNERS = {PRODUCTS.file: NUMBER_COLUMN, PEOPLE.file: "name"}
"""Columns that name whom or what a code is for; else it is the store."""
_LOOKED_AT = {LOCATIONS.file: "location_code", PEOPLE.file: "user"}
"""Columns whose codes are compared with look-alikes."""


async def _warn_of_look_alikes(table: CsvTable, client: Client) -> None:
    """Add warnings for codes that look like another one of the store or the file."""
    column = _LOOKED_AT[table.name]
    seen: dict[tuple[str, str], str] = {}
    for line, (store, code) in table.select_cells(("store_number", column)):
        if not store or not code:
            continue
        if (store, "") not in seen:
            seen[store, ""] = ""
            held = await location_codes(client, store) if table.layout is LOCATIONS else await _users(client, store)
            for one in held:
                seen.setdefault((store, _look_of(one)), one)
        other = seen.setdefault((store, _look_of(code)), code)
        if fold_code(other) != fold_code(code):
            table.notes.add_warning(f"{column} {_LOOKS_ALIKE}", f"{code} beside {other}", line)


async def _warn_of_users_that_are_badges(table: CsvTable, client: Client) -> None:
    """Add a warning for each user that is the badge of another person of the store, if the file has one of them."""
    rows = list(table.select_cells(("store_number", "badge", "user", "name")))
    people: dict[tuple[str, str], tuple[str, str, int]] = {}
    """Users, names and rows of people, by store and folded badge; the row is 0 for those of the service."""
    for store in dict.fromkeys(store for _, (store, *_) in rows if store):
        async for one in people_rows(client, store):
            people[store, fold_code(str(one.get("badge")))] = str(one.get("user")), str(one.get("name")), 0
    people |= {(store, fold_code(badge)): (user, name, line) for line, (store, badge, user, name) in rows}
    for (store, badge), (user, name, line) in people.items():
        _, its, at = people.get((store, fold_code(user)), ("", "", 0))
        if its and fold_code(user) != badge and (line or at):
            what = "user is the badge of another person, who is meant by it at the sign-in"
            table.notes.add_warning(what, f"{user} of {name} is the badge of {its}", line or at)


async def _users(client: Client, store: str) -> list[str]:
    return [str(row.get("user") or "") async for row in people_rows(client, store)]


def _look_of(code: str) -> str:
    return code.translate(_LOOK_ALIKES).casefold()


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
        for number, code, is_number in codes_of(row):
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
        locations = known[store]
        if locations and code not in locations:
            near = nearest(code, locations)
            hint = f"; {near}?" if near else ", and a pick would send people there; write one of its locations, or none"
            refused[line] = f"{_LOCATION_COLUMN} {code!r}: store {store} has no such location{hint}"
    return refused
