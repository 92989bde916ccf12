"""Warnings for prices beside those of a store: its own price hides one of the chain, a discount is above the price."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal

from aisle.client.client import Client
from aisle.client.csv_load.columns import price_of
from aisle.client.csv_load.csv_table import CsvTable
from aisle.client.csv_load.service_reads import MAX_SINGLE_READS, store_rows
from aisle.client.errors import ClientError
from aisle.contract.request_encoding import QueryValue

_MAX_STORES_READ_WHOLE = 50
"""Number of stores up to which all their prices are read, if the file has many products."""
_MAX_SHOWN_STORES = 10
_KEPT = "a store that has a price of its own keeps it, until a row with its store_number changes it"

_Own = dict[str, list[tuple[str, Decimal]]]
"""Stores with their own prices, by product."""


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
    stores = [str(row["storeNo"]) async for row in client.rows("list-stores") if row.get("storeNo")]
    is_few = len(prices) <= MAX_SINGLE_READS
    if not is_few and len(stores) > _MAX_STORES_READ_WHOLE:
        return None
    queries: list[dict[str, QueryValue]] = [{"product_number": product} for product in prices] if is_few else [{}]
    found: _Own = {}
    for store in stores:
        for query in queries:
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
    is_few = len(products) <= MAX_SINGLE_READS
    queries: list[dict[str, QueryValue]] = [{"product_number": product} for product in products] if is_few else [{}]
    return {
        str(row.get("product_number")): price_of(row.get("price"))
        for query in queries
        async for row in store_rows(client, "list-store-products-stock", store, query, in_path=False)
    }
