"""Warnings about products that rows name: not for the store of the row, inactive, or unknown to service and file.

The service refuses prices and settings of a product not for the store, but takes its goods, which may lie there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.file_layouts_and_columns import DELIVERIES, ORDERS, PRODUCTS, STOCK, STORE_PRODUCTS
from aisle.client.csv_load.key_forms import nearest
from aisle.client.csv_load.parse_cleaned_cells import parse_objects
from aisle.client.csv_load.service_reads import as_file_warning, product_rows
from aisle.client.csv_load.settings_turned_off import BROUGHT, StoresOfProduct
from aisle.client.csv_load.shared_codes import NUMBER_COLUMN

_FILES = (ORDERS, DELIVERIES, STOCK, STORE_PRODUCTS)
_WHAT = (
    "the product is not for the store (its stores_allowed or stores_not_allowed), and the row is loaded all the same"
)


async def warn_of_unfit_products(table: CsvTable, client: Client, known_keys: Collection[RecordKey]) -> None:
    """Add a warning for each row of a product that is not for the row's store, or inactive, or keeps no stock.

    Raise TransportError if the service does not respond.
    """
    if table.layout not in _FILES:
        return
    cells = ("store_number", "product_number", table.key_columns[1])
    named = {product for _, (_, product, _) in table.select_cells(cells) if product}
    if not named:
        return
    limited: dict[str, StoresOfProduct] = {}
    off: set[tuple[str, str]] = set()
    with as_file_warning(table, "which products are active, and for which stores, could not be read"):
        async for row in product_rows(client, named):
            number, stores = str(row.get("product_number") or ""), StoresOfProduct.of(row)
            if number in named and any(stores):
                limited[number] = stores
            off |= {(number, name) for name in _FLAGS.get(table.name, ()) if number in named and row.get(name) is False}
    for line, (store, product, name) in table.select_cells(cells) if limited or off else ():
        value = f"{product} in store {store}"
        if store and product in limited and not limited[product].has(store):
            table.notes.add_warning(_WHAT, value, line, loaded=line)
        for flag in _FLAGS.get(table.name, ()) if (store, name) not in known_keys else ():
            if (product, flag) in off:
                what = f"{BROUGHT[table.name]} is of a product whose {flag} is false"
                table.notes.add_warning(what, value, line, loaded=line)


_FLAGS = {STOCK.file: ("is_active",), ORDERS.file: ("is_active",), DELIVERIES.file: ("is_active", "is_stock")}
"""Flags that a product needs for the goods of a file; a row of stock for one that keeps none is not loaded."""


_MAY_BE_ITSELF = "smallest_product_number"
_NUMBERS = ("purchase_unit_product_number", "referral_product_id", _MAY_BE_ITSELF)


_PARTS = "set_product"
"""Column with the products of a set, as JSON."""


async def warn_of_unknown_products(table: CsvTable, client: Client) -> None:
    """Add a warning for each product that a row names and nobody has. Raise TransportError without a response."""
    if table.layout is not PRODUCTS:
        return
    rows = dict(table.select_cells((NUMBER_COLUMN,)))
    own, named = {number for (number,) in rows.values()}, []
    for line, column, number in _references(table):
        if (number,) == rows[line] and column != _MAY_BE_ITSELF:
            what = "has the set itself as a part" if column == _PARTS else "is the product itself"
            table.notes.add_warning(f"{column} {what}", number, line)
        elif number not in own:
            named.append((line, column, number))
    missing = {number for *_, number in named}
    if not missing:
        return
    with as_file_warning(table, "whether the products that it names are there could not be read"):
        missing -= {str(row.get(NUMBER_COLUMN) or "") async for row in product_rows(client, missing)}
        if not missing:
            return
        known = own | {str(row.get(NUMBER_COLUMN) or "") async for row in client.rows("list-products")}
        for line, column, number in named:
            if number in missing:
                near = nearest(number, known)
                value = f"{number}; {near}?" if near else number
                table.notes.add_warning(f"{column} names a product that the service does not have", value, line)


def _references(table: CsvTable) -> Iterator[tuple[int, str, str]]:
    """Yield row, column and number of each product that a row names."""
    names = [name for name in (*_NUMBERS, _PARTS) if table.has_column(name)]
    for line, cells in table.select_cells(names, only_readable=True) if names else ():
        for name, cell in zip(names, cells, strict=True):
            for number in _parts(cell) if name == _PARTS else (cell,):
                if number:
                    yield line, name, number


def _parts(cell: str) -> list[str]:
    try:
        return [str(part.get("set_product_number") or "") for part in parse_objects(cell)] if cell else []
    except ValueError:
        return []
