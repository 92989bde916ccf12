"""Settings that a file changes while the service has goods or open work: features, stores, stock pools.

A slip in one cell makes a store inactive, lets a product keep no stock, or makes kilograms of its pieces. The load
takes it as it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.cells_of_columns import parse_objects
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.clean_cells_and_keys import CLEAR_WORDS, fold_code
from aisle.client.csv_load.file_layouts_and_columns import (
    DELIVERIES,
    LOCATIONS,
    ORDERS,
    PRODUCTS,
    STOCK,
    STORE_PRODUCTS,
    STORES,
    price_of,
)
from aisle.client.csv_load.report import first_of
from aisle.client.csv_load.service_reads import (
    MAX_SINGLE_READS,
    as_file_warning,
    fetch_store,
    store_numbers,
    store_rows,
)
from aisle.client.csv_load.shared_codes import UNITS
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError
from aisle.contract.request_encoding import QueryValue
from aisle.errors import ContractError

_FALSE = ("false", "0")
_MAX_STORES_READ_WHOLE = 50
"""Number of stores up to which all their orders are read, and their stock if the file has many products."""
_MAX_SHOWN = 5
_IN_STOCK, _ORDERED, _COMING = "stock", "orders", "deliveries"
_IN_PARTS, _ORDERED_IN_PARTS, _COMING_IN_PARTS = "stock in parts", "orders in parts", "deliveries in parts"
"""Uses that a store or product has."""
_NOT_KEPT = "no stock"
"""State of a store's product that keeps no stock before the load."""


_LISTS = ("stores_allowed", "stores_not_allowed")
_LEFT_OUT = {
    _IN_STOCK: "the product is in the stock",
    _ORDERED: "the product is in open orders",
    _COMING: "the product is in open deliveries",
}


class StoresOfProduct(NamedTuple):
    """Stores of a product: those that it is for, all if there are none, and those that it is not for."""

    allowed: frozenset[str]
    forbidden: frozenset[str]

    @classmethod
    def of(cls, row: Row) -> StoresOfProduct:
        return cls(*(frozenset(map(str, row.get(name) or ())) for name in _LISTS))

    def has(self, store: str) -> bool:
        return store not in self.forbidden and (not self.allowed or store in self.allowed)


class _TurnedOff(NamedTuple):
    """Warning on a column of a file that becomes false, or on a unit that changes, while the service has such a use."""

    file: str
    column: str
    use: str
    words: str


_WARNINGS = (
    _TurnedOff(STORES.file, "is_active", _IN_STOCK, "the store has stock"),
    _TurnedOff(STORES.file, "is_active", _ORDERED, "the store has open orders"),
    _TurnedOff(STORES.file, "is_active", _COMING, "the store has open deliveries"),
    _TurnedOff(PRODUCTS.file, "is_active", _IN_STOCK, "the product has stock"),
    _TurnedOff(PRODUCTS.file, "is_active", _ORDERED, "the product is in open orders"),
    _TurnedOff(PRODUCTS.file, "is_stock", _IN_STOCK, "the product has stock"),
    _TurnedOff(PRODUCTS.file, "is_stock", _COMING, "the product is in open deliveries"),
    *(
        _TurnedOff(PRODUCTS.file, column, f"{use} left out", f"{words} of a store that it leaves out")
        for column in _LISTS
        for use, words in _LEFT_OUT.items()
    ),
    _TurnedOff(PRODUCTS.file, "allow_decimal", _IN_PARTS, "the product has stock with a fraction"),
    _TurnedOff(PRODUCTS.file, "allow_decimal", _ORDERED_IN_PARTS, "the product is in open orders of a fraction"),
    _TurnedOff(PRODUCTS.file, "allow_decimal", _COMING_IN_PARTS, "the product is in open deliveries of a fraction"),
    _TurnedOff(PRODUCTS.file, "base_unit_name", _IN_STOCK, "the product has stock, which is not converted"),
    _TurnedOff(PRODUCTS.file, "base_unit_name", _ORDERED, "the product is in open orders, which are not converted"),
    _TurnedOff(PRODUCTS.file, "base_unit_name", _COMING, "the product is in open deliveries, which are not converted"),
    _TurnedOff(PRODUCTS.file, "purchase_unit_quantity", _COMING, "the product is in open deliveries"),
    _TurnedOff(PRODUCTS.file, UNITS, _COMING, "the product is in open deliveries"),
    _TurnedOff(STORE_PRODUCTS.file, "is_stock", _IN_STOCK, "the store has stock of the product"),
    _TurnedOff(STORE_PRODUCTS.file, "is_stock", _COMING, "the product is in open deliveries of the store"),
)
_UNITS = ("base_unit_name", "purchase_unit_quantity", UNITS)
"""Columns of which each change is warned of."""
BROUGHT = {STOCK.file: "the stock", ORDERS.file: "the new order", DELIVERIES.file: "the new delivery"}
"""Files with rows for stores, with words for what a row brings."""


class _Use(NamedTuple):
    """Goods or open work of a store and product: the quantity, or the number of the order or delivery."""

    kind: str
    store: str
    product: str
    what: str


_Keys = Collection[RecordKey]


class SettingsTurnedOff:
    """Check of the settings that a file turns off."""

    def __init__(self, table: CsvTable, client: Client) -> None:
        """Read the cells of the file that say false, or name a unit."""
        self._table = table
        self._client = client
        self._warnings = [one for one in _WARNINGS if one.file == table.name and table.has_column(one.column)]
        self._off: dict[tuple[RecordKey, str], int] = {}
        """Row in which a setting of a record is false, or has a unit."""
        self._units: dict[tuple[RecordKey, str], str] = {}
        """Units in the file by record and column; of those that change also the one before and the price."""
        self._lists: dict[RecordKey, dict[str, list[str]]] = {}
        """Lists of stores in the file, by record and column."""
        self._stores_of: dict[RecordKey, tuple[StoresOfProduct, StoresOfProduct]] = {}
        """Stores of products before and after the load, where they change."""
        columns = list(dict.fromkeys(one.column for one in self._warnings))
        at = len(table.key_columns)
        for line, cells in table.select_cells((*table.key_columns, *columns)) if columns else ():
            for column, cell in zip(columns, cells[at:], strict=True):
                if column in _UNITS and cell:
                    self._units[cells[:at], column] = cell
                if column in _LISTS and cell:
                    stores = [] if cell.casefold() in CLEAR_WORDS else cell.split("|")
                    self._lists.setdefault(cells[:at], {})[column] = stores
                if cell if column in (*_UNITS, *_LISTS) else cell.casefold() in _FALSE:
                    self._off[cells[:at], column] = line
        # A store or product that the service does not list is new. The state of a store's product comes with its stock.
        self._changed = dict(self._off) if table.layout is STORE_PRODUCTS else {}

    def see(self, key: RecordKey, row: Row) -> None:
        """Record which settings of a record of the service become false, and which units change."""
        for column in {one.column for one in self._warnings} if self._off else ():
            if (line := self._off.get((key, column))) and self._is_changed(key, column, row):
                self._changed[key, column] = line

    def _is_changed(self, key: RecordKey, column: str, row: Row) -> bool:
        """Return True if a setting becomes false, or a unit another one. Keep both units, with the price."""
        if column in _LISTS:
            before, after = StoresOfProduct.of(row), StoresOfProduct.of({**row, **self._lists[key]})
            self._stores_of[key] = before, after
            return column == next(iter(self._lists[key])) and before != after
        if column not in _UNITS:
            return row.get(column) is not False
        unit, cell = row.get(column), self._units[key, column]
        if column == UNITS:
            changes = _changed_units(unit, cell)
            self._units[key, column] = f"{', '.join(changes)}; "
            return bool(changes)
        is_same = price_of(unit) == price_of(cell) if price_of(unit) is not None else _unit(unit) == _unit(cell)
        price = f", at a price of {price_of(row['price']):f}" if row.get("price") and column == _UNITS[0] else ""
        self._units[key, column] = f"{unit or 'none'} then, {cell} now{price}; "
        return not is_same and bool(unit or column == _UNITS[0])

    async def warn(self) -> None:
        """Add a warning for each setting that becomes false, and what the service has of the store or product."""
        try:
            await self._remove_inactive_stores()
            uses = await self._find_uses()
        except ClientError as error:
            self._table.notes.add_file_warning(f"what stores have of what becomes false could not be read: {error}")
            return
        if self._table.layout is STORE_PRODUCTS:
            self._changed = {one: line for one, line in self._changed.items() if (_NOT_KEPT, one[0]) not in uses}
        for warning in self._warnings:
            for (key, column), line in self._changed.items():
                if column == warning.column and (found := uses.get((warning.use, key))):
                    unit = self._units.get((key, column), "")
                    verb = "changes" if unit or column in _LISTS else "becomes false"
                    what = f"{column} {verb}, while {warning.words}"
                    self._table.notes.add_warning(
                        what, f"{key[-1]}: {unit}{first_of(found, _MAX_SHOWN)}", line, loaded=line
                    )

    async def _remove_inactive_stores(self) -> None:
        """Take out the stores that are inactive already, which no list of the interface says."""
        for key, column in list(self._changed) if self._table.layout is STORES else ():
            if (await fetch_store(self._client, key[0])).get(column) is False:
                del self._changed[key, column]

    async def _find_uses(self) -> dict[tuple[str, RecordKey], list[str]]:
        """Return the uses of records, as texts, by kind and key."""
        stores = await self._stores() if self._changed else []
        found: dict[tuple[str, RecordKey], list[str]] = {}
        for read, kinds in _READERS.items():
            keys = {key for key, column in self._changed if any(self._needs(column, kinds))}
            if keys and not self._is_too_much(read, keys, stores):
                async for use in read(self._client, self._queries(keys), stores):
                    key, text = self._key_of(use), self._text_of(use)
                    for kind in self._kinds_of(use, key) if key in keys else ():
                        if text not in found.setdefault((kind, key), []):
                            found[kind, key].append(text)
        return found

    def _kinds_of(self, use: _Use, key: RecordKey) -> Iterator[str]:
        """Yield the kind of a use, and that of one in a store for which the product is no longer."""
        yield use.kind
        before, after = self._stores_of.get(key, (None, None))
        if before and after and before.has(use.store) and not after.has(use.store):
            yield f"{use.kind} left out"

    def _needs(self, column: str, kinds: Collection[str]) -> Iterator[bool]:
        return (one.column == column and one.use.removesuffix(" left out") in kinds for one in self._warnings)

    async def _stores(self) -> list[str]:
        """Return the stores of the records; for products of the chain all stores."""
        if self._table.name != PRODUCTS.file:
            return sorted({key[0] for key, _ in self._changed})
        return await store_numbers(self._client)

    def _is_too_much(self, read: _Reader, keys: _Keys, stores: Collection[str]) -> bool:
        """Return True if a read of a large chain would take too long; add a warning then."""
        is_whole = read is _read_orders or (read is _read_stock and len(keys) > MAX_SINGLE_READS)
        is_large = self._table.layout is PRODUCTS and is_whole and len(stores) > _MAX_STORES_READ_WHOLE
        if is_large:
            what = f"settings of {len(keys)} products change; the {_READERS[read][0]} of the stores"
            self._table.notes.add_file_warning(f"{what} were not looked through for them, as the chain is large")
        return is_large

    def _queries(self, keys: _Keys) -> list[dict[str, QueryValue]]:
        """Return queries for the records: for each one if they are few, else for each store or the chain."""
        is_few = len(keys) <= MAX_SINGLE_READS
        names = [name for name in self._table.key_columns if is_few or name != "product_number"]
        places = [self._table.key_columns.index(name) for name in names]
        wanted = sorted({tuple(key[at] for at in places) for key in keys})
        return [dict(zip(names, one, strict=True)) for one in wanted]

    def _key_of(self, use: _Use) -> RecordKey:
        values = {"store_number": use.store, "product_number": use.product}
        return tuple(values[name] for name in self._table.key_columns)

    def _text_of(self, use: _Use) -> str:
        """Return a use as text, without the store and product that the record names."""
        is_goods, columns = use.kind in (_IN_STOCK, _IN_PARTS), self._table.key_columns
        product = f" of {use.product}" if is_goods and "product_number" not in columns else ""
        store = f" in store {use.store}" if "store_number" not in columns else ""
        return f"{use.what}{product}{store}"


def _changed_units(before: object, cell: str) -> list[str]:
    """Return the units, by their barcodes, that get another quantity, as texts with both."""
    quantities = {
        str(unit.get("unit_barcode")): price_of(unit.get("unit_quantity"))
        for unit in (before if isinstance(before, list) else ())
        if unit.get("unit_barcode")
    }
    found: list[str] = []
    try:
        units = parse_objects(cell)
    except ValueError:
        return found  # the row is refused
    for unit in units:
        code, quantity = str(unit.get("unit_barcode")), price_of(unit.get("unit_quantity"))
        its = quantities.get(code)
        if its is not None and quantity is not None and its != quantity:
            found.append(f"{its:f} in {code} then, {quantity:f} now")
    return found


def _unit(text: object) -> str:
    """Return a unit in the form in which units are compared."""
    return "" if str(text).casefold() in CLEAR_WORDS else fold_code(str(text)).rstrip(".")


_Queries = Iterable[dict[str, QueryValue]]


async def _read_stock(client: Client, queries: _Queries, _: Iterable[str]) -> AsyncGenerator[_Use, None]:
    """Yield the stock of products that keep any."""
    for query in queries:
        async for row in store_rows(client, "list-store-products-stock", "", query):
            store, product = str(row.get("store_number") or ""), str(row.get("product_number") or "")
            quantity = price_of(row.get("most_likely_quantity"))
            if row.get("is_stock") is False:
                yield _Use(_NOT_KEPT, store, product, "")
                continue
            if not quantity:
                continue
            yield _Use(_IN_STOCK, store, product, f"{quantity:f}")
            if quantity % 1:
                yield _Use(_IN_PARTS, store, product, f"{quantity:f}")


async def _read_orders(client: Client, _: _Queries, stores: Iterable[str]) -> AsyncGenerator[_Use, None]:
    """Yield the products of the open orders of stores."""
    for store in stores:
        async for row in store_rows(client, "list-customer-orders", store, {"show_lines": True}):
            if not row.get("is_rejected"):
                for use in _uses_of_lines(_ORDERED, store, row, "lines"):
                    yield use


async def _read_deliveries(client: Client, queries: _Queries, _: Iterable[str]) -> AsyncGenerator[_Use, None]:
    """Yield the products of open deliveries."""
    for store in dict.fromkeys(str(query.get("store_number", "")) for query in queries):
        async for row in store_rows(client, "list-deliveries", store, {"is_submitted": False}, in_path=False):
            at = str(row.get("store_number") or store)
            for use in _uses_of_lines(_COMING, at, row, "order_lines"):
                yield use


def _uses_of_lines(kind: str, store: str, row: Row, field: str) -> Iterator[_Use]:
    """Yield the products of the lines of an order or delivery, a second time those whose quantity has a fraction."""
    for line in row.get(field) or ():
        of_line = store, str(line.get("product_number") or ""), str(row.get("order_number"))
        yield _Use(kind, *of_line)
        if (price_of(line.get("quantity")) or 0) % 1:
            yield _Use(_PARTS_OF[kind], *of_line)


_PARTS_OF = {_ORDERED: _ORDERED_IN_PARTS, _COMING: _COMING_IN_PARTS}


_Reader = Callable[[Client, _Queries, Iterable[str]], AsyncGenerator[_Use, None]]
_READERS: dict[_Reader, tuple[str, ...]] = {
    _read_stock: (_IN_STOCK, _IN_PARTS),
    _read_orders: (_ORDERED, _ORDERED_IN_PARTS),
    _read_deliveries: (_COMING, _COMING_IN_PARTS),
}
"""Reads of the service, with the uses that they find."""


async def warn_of_inactive_stores(table: CsvTable, client: Client, known_keys: _Keys) -> None:
    """Add a warning for each record of a file that the service does not have, for a store that is inactive."""
    if table.name not in BROUGHT:
        return
    states: dict[str, bool] = {}
    seen: set[int] = set()
    for line, key, _ in table.record_keys():
        if not key or not key[0] or key in known_keys or hash(key) in seen:
            continue
        seen.add(hash(key))
        store, number = key[:2]
        if store not in states:
            states[store] = await _is_inactive(client, store)
        if states[store]:
            what = f"{BROUGHT[table.name]} is for a store that is inactive (its is_active is false)"
            table.notes.add_warning(what, f"{number} of store {store}", line, loaded=line)


async def _is_inactive(client: Client, store: str) -> bool:
    """Return True if the service says that a store is inactive."""
    try:
        return (await fetch_store(client, store)).get("is_active") is False
    except (ClientError, ContractError):
        return False  # it is only a hint


_POOLS = range(1, 11)
_COLUMNS = {
    STOCK.file: ("stock_pool",),
    ORDERS.file: ("stock_pool", "picking_stock_pool_array"),
    DELIVERIES.file: ("target_stock_pool",),
    LOCATIONS.file: ("default_stock_pool",),
}
"""Columns that name a stock pool."""


async def warn_of_pools(table: CsvTable, client: Client, known_keys: Collection[RecordKey]) -> None:
    """Add a warning for each new row with a pool, not the first, for which its store has no name, but for others.

    Give the table the names of pools of stores for which rows write a pool's name.
    """
    if table.layout is STORES:
        await _warn_of_names(table, client)
    columns = [name for name in _COLUMNS.get(table.name, ()) if table.has_column(name)]
    named: dict[str, set[str]] = {}
    rows = table.select_cells((*table.key_columns[:2], *columns), only_readable=True) if columns else ()
    for line, (store, of, *cells) in rows:
        cells_of = zip(columns, cells, strict=True)
        pools = {(name, pool.lstrip("0")) for name, cell in cells_of for pool in cell.split("|") if pool.isdigit()}
        has_name = any(cell and not cell.isdigit() for cell in cells) and store not in table.pool_names
        if has_name or (pools and store not in named):
            names = {pool: name for pool, name in (await _names(client, store)).items() if name}
            named[store] = {str(pool) for pool in names}
            forms = Counter(map(fold_code, names.values()))
            table.pool_names[store] = {
                form: pool for pool, name in names.items() if forms[form := fold_code(name)] == 1
            }
        for name, pool in sorted(pools) if (store, of) not in known_keys else ():
            if named[store] and pool not in named[store] | {"1"}:
                value = f"{pool} in store {store}"
                table.notes.add_warning(f"{name} is a pool for which the store has no name", value, line)


async def _names(client: Client, store: str) -> dict[int, str]:
    """Return the names of a store's pools; none if they cannot be read, as this is only for hints."""
    try:
        found = await fetch_store(client, store)
    except (ClientError, ContractError):
        return {}
    return {pool: str(found.get(f"store_stock_pool_{pool}") or "") for pool in _POOLS}


async def _warn_of_names(table: CsvTable, client: Client) -> None:
    """Add a warning for each name of a pool that becomes another one while the store has stock in the pool."""
    pools = [pool for pool in _POOLS if table.has_column(f"store_stock_pool_{pool}")]
    columns = ("store_number", *(f"store_stock_pool_{pool}" for pool in pools))
    for line, (store, *cells) in table.select_cells(columns) if pools else ():
        before = await _names(client, store) if any(cells) else {}
        changed = {
            pool: f"{before[pool]} then, {cell} now"
            for pool, cell in zip(pools, cells, strict=True)
            if cell and before.get(pool) and fold_code(before[pool]) != fold_code(cell)
        }
        if not changed:
            continue
        with as_file_warning(table, "whether pools that change their name have stock could not be read"):
            async for row in store_rows(client, "list-store-products-stock", store, in_path=False):
                for pool in [pool for pool in changed if row.get(f"most_likely_pool_{pool}")]:
                    what = f"store_stock_pool_{pool} changes, while the store has stock in that pool"
                    goods = f"{row[f'most_likely_pool_{pool}']} of {row.get('product_number')}"
                    table.notes.add_warning(what, f"{store}: {changed.pop(pool)}; {goods}", line, loaded=line)
                if not changed:
                    break


class DefaultPoolComparison:
    """Default pools of a file of locations beside those of the service."""

    def __init__(self, table: CsvTable) -> None:
        self._table = table
        names = ("store_number", "location_code", "default_stock_pool")
        rows = table.select_cells(names, only_readable=True) if table.has_column(names[-1]) else ()
        self._pools = {(store, code): (line, pool.lstrip("0")) for line, (store, code, pool) in rows if pool}

    def see(self, key: RecordKey, row: Row) -> None:
        """Add a warning if the default pool of a location changes while it has stock in another pool than the new."""
        if key not in self._pools:
            return
        line, now = self._pools[key]
        before = str(row.get("default_stock_pool") or 1)
        others = [pool for pool in _POOLS if str(pool) != now]
        names = {pool: f"mostlikelypool{pool}" for pool in others}
        held = next((pool for pool in others if any(one.get(names[pool]) for one in row.get("stock") or ())), None)
        if before != now and held:
            what = "default_stock_pool changes, while the location has stock in another pool"
            value = f"{key[-1]} in store {key[0]}: {before} then, {now} now; stock in {held}"
            self._table.notes.add_warning(what, value, line, loaded=line)
