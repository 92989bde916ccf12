"""Stock pools for which a store has no name, and names and default pools that change while there is stock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.clean_cells import fold_code
from aisle.client.csv_load.file_layouts_and_columns import DELIVERIES, LOCATIONS, ORDERS, STOCK, STORES
from aisle.client.csv_load.service_reads import as_file_warning, fetch_store, store_rows
from aisle.client.errors import ClientError
from aisle.client.paging import Row
from aisle.errors import ContractError

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
