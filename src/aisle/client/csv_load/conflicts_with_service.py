"""Comparison of a file with what the service has: keys first, then whatever else its list shows in the same pass.

A new key that differs from an existing one by zeros, blanks or case only is refused.

A spreadsheet removes the zeros of `0226`. The row then names a product that does not exist, and would create it. The
service's keys are read page by page, and only if it has any; of the file only hashes are kept.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from typing import Protocol

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.clean_cells import CLEAR_WORDS
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
)
from aisle.client.csv_load.implausible_values import ContainerComparison, warn_of_numbers_of_days_and_products
from aisle.client.csv_load.key_forms import comparable_key, difference_reason, fold_key
from aisle.client.csv_load.keys_near_others import KeysBesideOthers, KeysWithoutZeros, keys_not_held
from aisle.client.csv_load.lost_leading_zeros import LostZeros
from aisle.client.csv_load.order_and_delivery_conflicts_with_service import warn_of_other_stores, warn_of_unknown_orders
from aisle.client.csv_load.price_conflicts_with_store import PriceComparison, compare_prices, warn_of_line_prices
from aisle.client.csv_load.product_reference_warnings import warn_of_unfit_products, warn_of_unknown_products
from aisle.client.csv_load.records import STORE_FLAGS, ServiceFindings
from aisle.client.csv_load.report import BECOMES, unread_error
from aisle.client.csv_load.service_reads import (
    as_file_warning,
    fetch_orders,
    fetch_people,
    fetch_store,
    location_codes,
    people_rows,
    product_rows,
    store_numbers,
    store_rows,
)
from aisle.client.csv_load.settings_turned_off import SettingsTurnedOff, warn_of_inactive_stores
from aisle.client.csv_load.shared_codes import CodeComparison
from aisle.client.csv_load.stock_pool_names import DefaultPoolComparison, warn_of_pools
from aisle.client.csv_load.store_time_zones import zones_of_times
from aisle.client.csv_load.totals_and_unplaced_stock import Placeless
from aisle.client.errors import ClientError, ServerError, TransportError
from aisle.client.paging import Row
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
