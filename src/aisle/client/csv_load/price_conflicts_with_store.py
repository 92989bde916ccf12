"""Warnings for prices beside those of a store: its own price hides one of the chain, a discount is above the price."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.file_layouts_and_columns import PRODUCTS, REMOVABLE_PRICES, price_of
from aisle.client.csv_load.report import FROM_PRICE_BEFORE
from aisle.client.csv_load.service_reads import MAX_SINGLE_READS, queries_for, store_numbers, store_rows
from aisle.client.errors import ClientError
from aisle.client.paging import Row

_PRICE_JUMP = 20
"""Factor beyond which a new price is doubted: a lost decimal mark makes 99 of 0.99."""
_MAX_STORES_READ_WHOLE = 50
"""Number of stores up to which all their prices are read, if the file has many products."""
_MAX_SHOWN_STORES = 10
_KEPT = "a store that has a price of its own keeps it, until a row with its store_number changes it"
_Own = dict[str, list[tuple[str, Decimal]]]
"""Stores with their own prices, by product."""


class PriceComparison:
    """Prices of products.csv beside those of the chain: jumps, and prices that a row can take away."""

    def __init__(self, table: CsvTable) -> None:
        self._table = table
        self._is_of_products = table.layout is PRODUCTS
        self._new: dict[int, Decimal] | None = None
        """New prices, by hashes of products; read with the first product of the service."""
        self._jumps: dict[str, Decimal] = {}
        self._is_changed = False
        self._removable = [name for name in REMOVABLE_PRICES if table.has_column(name)]
        self.removable: set[tuple[str, str]] = set()
        """Products with a price that a row can take away, and its column."""

    def see(self, key: RecordKey, row: Row) -> None:
        """Compare the prices of a product."""
        if not self._is_of_products:
            return
        if self._new is None:
            cells = self._table.select_cells(("product_number", "price")) if self._table.has_column("price") else ()
            prices = {hash(product): price_of(cell) for _, (product, cell) in cells}
            self._new = {product: price for product, price in prices.items() if price is not None}
        if price := price_of(row.get("price")):
            new = self._new.get(hash(key[-1]), price)
            self._is_changed |= new != price
            if new > price * _PRICE_JUMP or 0 < new * _PRICE_JUMP < price:
                self._jumps[key[-1]] = price
        self.removable |= {(key[-1], column) for column in self._removable if row.get(column)}

    def warn(self) -> None:
        """Add warnings for prices that jump, and for stores that keep a price of their own."""
        for line, (product, price) in self._table.select_cells(("product_number", "price")) if self._jumps else ():
            if before := self._jumps.get(product):
                what = f"price is more than {_PRICE_JUMP} {FROM_PRICE_BEFORE}"
                self._table.notes.add_warning(what, f"{before:f} then, {price} now, of {product}", line)
        if self._is_changed:
            self._table.notes.add_file_warning(
                "its prices are those of the chain; a store that has a price of its own keeps it, until prices.csv"
                " changes it"
            )


async def warn_of_own_prices(table: CsvTable, client: Client, bad: Collection[int]) -> None:
    """Add a warning for each loaded price of the chain with the stores that keep one of their own.

    Stores for which the file has a price of the product are left out. `bad` are the rows that were not loaded.
    """
    prices: dict[str, tuple[int, Decimal]] = {}
    named: set[tuple[str, str]] = set()
    for line, (store, product, cell) in table.select_cells(("store_number", "product_number", "price")):
        price = price_of(cell)
        if line in bad:
            continue
        if store:
            named.add((store, product))
        elif price is not None:
            prices[product] = line, price
    if not prices:
        return
    try:
        own = await _own_prices(client, prices, named)
    except ClientError as error:
        table.notes.add_file_warning(f"its prices without a store are those of the chain; {_KEPT} ({error})")
        return
    if own is None:
        table.notes.add_file_warning(f"its prices without a store are those of the chain; {_KEPT}")
        return
    for product, stores in own.items():
        shown = ", ".join(f"{price:f} in store {store}" for store, price in stores[:_MAX_SHOWN_STORES])
        more = f" and {len(stores) - _MAX_SHOWN_STORES} more stores" if len(stores) > _MAX_SHOWN_STORES else ""
        line, price = prices[product]
        what = f"the price is that of the chain; {_KEPT}"
        table.notes.add_warning(what, f"{product} has {price:f} in the chain, {shown}{more}", line)


async def _own_prices(
    client: Client, prices: Mapping[str, tuple[int, Decimal]], named: Collection[tuple[str, str]]
) -> _Own | None:
    """Return the stores with another price than that of the chain; None if they are too many to read."""
    stores = await store_numbers(client)
    if len(prices) > MAX_SINGLE_READS and len(stores) > _MAX_STORES_READ_WHOLE:
        return None
    found: _Own = {}
    for store in stores:
        for query in queries_for("product_number", prices):
            async for row in store_rows(client, "list-store-products-stock", store, query, in_path=False):
                product, price = str(row.get("product_number") or ""), price_of(row.get("price"))
                of_chain = prices.get(product)
                if of_chain and price is not None and price != of_chain[1] and (store, product) not in named:
                    found.setdefault(product, []).append((store, price))
    return found


async def warn_of_discounts(table: CsvTable, client: Client) -> None:
    """Add warnings for discount prices above the price that is in force: that of the row's store, or the chain's."""
    discounts: dict[str, dict[str, list[tuple[int, Decimal]]]] = {}
    for line, (store, product, cell) in table.select_cells(("store_number", "product_number", "discount_price")):
        if (discount := price_of(cell)) is not None:
            discounts.setdefault(store, {}).setdefault(product, []).append((line, discount))
    if not discounts:
        return
    chain = {str(row.get("product_number")): price_of(row.get("price")) async for row in client.rows("list-products")}
    for store, products in discounts.items():
        prices = {**chain, **(await _store_prices(client, store, products) if store else {})}
        for product, lines in products.items():
            price = prices.get(product)
            for line, discount in lines:
                if price is not None and discount > price:
                    table.notes.add_warning("discount_price is above the price", f"{discount} and {price}", line)


async def _store_prices(client: Client, store: str, products: Collection[str]) -> dict[str, Decimal | None]:
    """Return the prices in force in a store, of some products at least."""
    return {
        str(row.get("product_number")): price_of(row.get("price"))
        for query in queries_for("product_number", products)
        async for row in store_rows(client, "list-store-products-stock", store, query, in_path=False)
    }
