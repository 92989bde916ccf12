"""Orders, deliveries and stock of products that are not for their store: loaded, with a warning.

The service refuses prices and settings of such a product, but takes its goods, which may lie there all the same.
"""

from __future__ import annotations

from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.columns import DELIVERIES, ORDERS, STOCK, STORE_PRODUCTS
from aisle.client.csv_load.service_reads import as_file_warning, product_rows
from aisle.client.paging import Row

_FILES = (ORDERS, DELIVERIES, STOCK, STORE_PRODUCTS)
_WHAT = (
    "the product is not for the store (its stores_allowed or stores_not_allowed), and the row is loaded all the same"
)


class _Stores(NamedTuple):
    """Stores of a product: those that it is for, all if there are none, and those that it is not for."""

    allowed: frozenset[str]
    forbidden: frozenset[str]

    def has(self, store: str) -> bool:
        return store not in self.forbidden and (not self.allowed or store in self.allowed)


async def warn_of_products_of_other_stores(table: CsvTable, client: Client) -> None:
    """Add a warning for each row of a product that is not for the row's store.

    Raise TransportError if the service does not respond.
    """
    if table.layout not in _FILES:
        return
    cells = ("store_number", "product_number")
    named = {product for _, (_, product) in table.select_cells(cells) if product}
    if not named:
        return
    limited: dict[str, _Stores] = {}
    with as_file_warning(table, "which products are for which stores could not be read"):
        async for row in product_rows(client, named):
            number, stores = str(row.get("product_number") or ""), _stores_of(row)
            if number in named and any(stores):
                limited[number] = stores
    for line, (store, product) in table.select_cells(cells) if limited else ():
        if store and product in limited and not limited[product].has(store):
            table.notes.add_warning(_WHAT, f"{product} in store {store}", line, loaded=line)


def _stores_of(row: Row) -> _Stores:
    allowed, forbidden = (row.get(name) for name in ("stores_allowed", "stores_not_allowed"))
    return _Stores(frozenset(map(str, allowed or ())), frozenset(map(str, forbidden or ())))
