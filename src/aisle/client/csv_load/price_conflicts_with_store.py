"""Warnings for prices beside those in force: jumps, discounts above the price, stores with a price of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal

from aisle.client.client import Client
from aisle.client.csv_load.cells_of_columns import MONEY, REMOVABLE_PRICES
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.clean_cells_and_keys import CLEAR_WORDS
from aisle.client.csv_load.file_layouts_and_columns import (
    DELIVERIES,
    DISCOUNT_PRICES,
    ORDERS,
    PRICES,
    PRODUCTS,
    price_of,
)
from aisle.client.csv_load.report import FROM_PRICE, FROM_PRICE_BEFORE
from aisle.client.csv_load.service_reads import (
    MAX_SINGLE_READS,
    as_file_warning,
    product_rows,
    queries_for,
    store_numbers,
    store_rows,
)
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError

PRICE_JUMP = 20
"""Factor beyond which a new price is doubted: a lost decimal mark makes 99 of 0.99."""
_SHOWN_AS = dict.fromkeys(("discount_price", "promotion_price"), ("discount_price", "promotion_price"))
"""Fields of the service's lists that show a price before, if not the one of its name."""
_LOWER_PRICES = ("discount_price", "promotion_price", "special_price")
_OF_STORE = ("price", "discount_price", "special_price", "is_promotion")
"""Fields of a product in a store that say what its price is there."""
_BESIDE_PRICE = (*_LOWER_PRICES, "old_price")
"""Prices that are compared with the price of the product, if there was none before."""
_LINE_PRICES = {ORDERS.file: "price", DELIVERIES.file: "purchase_price"}
"""Price of a line by file, and of its product."""
CHAIN_PRICES = {PRODUCTS.file: "price", PRICES.file: "price", DISCOUNT_PRICES.file: "discount_price"}
"""Price of the chain by file, in place of which a store may have one of its own."""
_MAX_STORES_READ_WHOLE = 50
"""Number of stores up to which all their prices are read, if the file has many products."""
_MAX_SHOWN_STORES = 10
_KEPT = "a store that has a price of its own keeps it, until a row with its store_number changes it"
_Own = dict[str, list[tuple[str, Decimal]]]
"""Stores with their own prices, by product."""


def is_far(price: Decimal, other: Decimal) -> bool:
    """Return True if a price is far above another one, or far below it; 0 is none."""
    return price > other * PRICE_JUMP or 0 < price * PRICE_JUMP < other


class PriceComparison:
    """Prices of a file beside those in force: jumps, discounts above the price, and prices that a row takes away."""

    def __init__(self, table: CsvTable) -> None:
        self._table = table
        self._is_of_products = table.layout is PRODUCTS
        self.names = table.columns_of_kind(MONEY)
        self._new: dict[int, list[Decimal | None]] | None = None
        """New prices, by hashes of stores (empty for the chain) and products; read with the first product."""
        self._odd: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        """Warnings on prices and the values that show it, by store, product and column."""
        self._removable = [name for name in REMOVABLE_PRICES if table.has_column(name)]
        self.removable: set[tuple[str, str]] = set()
        """Products with a price that a row can take away, and its column."""
        self._promoted: set[int] = set()
        """Hashes of the products in promotion."""

    def see(self, key: RecordKey, row: Row) -> None:
        """Compare the prices of a product with those of a file of products."""
        if self._is_of_products:
            self.compare("", key[-1], row, row)
            self._promoted |= {hash(key[-1])} if row.get("is_promotion") else set()
            self.removable |= {(key[-1], column) for column in self._removable if row.get(column)}

    def compare(self, store: str, product: str, row: Row, kept: Row) -> None:
        """Compare the prices of a product in a store, or in the chain. `kept` are those that stay beside a new one."""
        if self._new is None:
            self._new = {hash(key): list(map(_price_or_none_left, cells)) for _, key, cells in self._cells()}
        prices = dict(zip(self.names, self._new.get(hash((store, product)), ()), strict=False))
        # A price in the row itself is compared with its others by `implausible_values`.
        price = price_of(row.get("price")) if prices.get("price") is None else None
        for name, new in prices.items():
            before = next(filter(None, (price_of(row.get(one)) for one in _SHOWN_AS.get(name, (name,)))), None)
            if new is None:
                continue
            odd: list[tuple[str, str]] = []
            if before and is_far(new, before):
                shown = f"{before:f} then, {new:f} now, of {product}"
                odd.append((f"{name} is more than {PRICE_JUMP} {FROM_PRICE_BEFORE}", shown))
            if not before and price and name in _BESIDE_PRICE and is_far(new, price):
                odd.append((f"{name} is more than {PRICE_JUMP} {FROM_PRICE}", f"{new:f} and {price:f}, of {product}"))
            if price is not None and name in _LOWER_PRICES and new > price:
                odd.append((f"{name} is above the price", f"{new} and {price}"))
            for lower in _LOWER_PRICES if name == "price" else ():
                left = price_of(kept.get(lower)) if prices.get(lower) is None and _is_in_force(lower, kept) else None
                if left and left > new:
                    odd.append((f"{lower}, which stays, is above the price", f"{left:f} and {new:f}, of {product}"))
            if odd:
                self._odd[store, product, name] = odd

    def _cells(self) -> Iterator[tuple[int, tuple[str, str], list[str]]]:
        """Yield line, store and product, and the cells with prices of each row."""
        for line, (store, product, *cells) in self._table.select_cells(("store_number", "product_number", *self.names)):
            yield line, (store, product), cells

    def warn(self) -> None:
        """Add warnings for prices that jump, are above another, or of a product that is not in promotion."""
        for line, (store, product), _ in self._cells() if self._odd else ():
            for name in self.names:
                for what, value in self._odd.get((store, product, name), ()):
                    self._table.notes.add_warning(what, value, line)
        if self._is_of_products:
            self._warn_of_promotions()

    def _warn_of_promotions(self) -> None:
        """Add a warning for each promotion price of a product for which nothing says whether it is in promotion."""
        names = ("product_number", "promotion_price", "is_promotion")
        for line, (product, price, flag) in self._table.select_cells(names) if self._table.has_column(names[1]) else ():
            if price_of(price) and not flag and hash(product) not in self._promoted:
                what = "promotion_price alone starts no promotion; write is_promotion true to start one"
                self._table.notes.add_warning(what, f"{price} of {product}", line)


def _price_or_none_left(cell: str) -> Decimal | None:
    """Return the price in a cell, and 0 for a word that takes it away."""
    return Decimal(0) if cell.casefold() in CLEAR_WORDS else price_of(cell)


def _is_in_force(name: str, row: Row) -> bool:
    """Return False for the price of a promotion that has not been started."""
    return name == "special_price" or bool(row.get("is_promotion"))


async def compare_prices(table: CsvTable, client: Client) -> None:
    """Compare the prices of a file with those in force, of a row's store or the chain. Add warnings."""
    named: dict[str, set[str]] = {}
    for _, (store, product) in table.select_cells(("store_number", "product_number")):
        named.setdefault(store, set()).add(product)
    prices, chain = PriceComparison(table), dict[str, Row]()
    if not prices.names:
        return
    with as_file_warning(table, "its prices could not be compared with those before"):
        async for row in product_rows(client, set().union(*named.values())):
            chain[str(row.get("product_number"))] = {
                name: value for name, value in row.items() if name.endswith("price") or name == "is_promotion"
            }
        for store, products in named.items():
            own = await _store_prices(client, store, products) if store else {}
            for product in products & chain.keys():
                row = chain[product] | own.get(product, {})
                # Beside a price of the store the chain's special price does not stand.
                kept = {**row, "special_price": own.get(product, {}).get("special_price")} if store else row
                prices.compare(store, product, row, kept)
    prices.warn()


async def warn_of_line_prices(table: CsvTable, client: Client, known_keys: Collection[RecordKey]) -> None:
    """Add a warning for each line of a new order or delivery with a price that is far from its product's."""
    column = _LINE_PRICES.get(table.name, "")
    if not table.has_column(column):
        return
    lines = [
        (line, store, product, price)
        for line, (store, number, product, cell) in table.select_cells((*table.key_columns, "product_number", column))
        if (price := price_of(cell)) and (store, number) not in known_keys
    ]
    if not lines:
        return
    chain: dict[str, Row] = {}
    own: dict[str, dict[str, Row]] = {}
    with as_file_warning(table, "its prices could not be compared with those of the products"):
        async for row in product_rows(client, {product for *_, product, _ in lines}):
            chain[str(row.get("product_number"))] = row
        for store in sorted({one[1] for one in lines} if column == "price" else ()):
            own[store] = await _store_prices(client, store, {one[2] for one in lines if one[1] == store})
    for line, store, product, price in lines:
        its = price_of((chain.get(product, {}) | own.get(store, {}).get(product, {})).get(column))
        if its and is_far(price, its):
            what = f"{column} of the line is more than {PRICE_JUMP} times that of the product, or as much below it"
            table.notes.add_warning(what, f"{price:f} and {its:f}, of {product}", line)


async def warn_of_own_prices(table: CsvTable, others: Iterable[CsvTable], client: Client, bad: Collection[int]) -> None:
    """Add a warning for each loaded price of the chain with the stores that keep one of their own.

    Stores for which the file or the `others` have a price of the product are left out, and so are products of which
    another file has the price of the chain. `bad` are the rows that were not loaded.
    """
    column = CHAIN_PRICES[table.name]
    prices: dict[str, tuple[int, Decimal]] = {}
    named: set[tuple[str, str]] = set()
    for at, one in enumerate((table, *others)):
        for line, (store, product, cell) in one.select_cells(("store_number", "product_number", column)):
            price = price_of(cell)
            if price is None or (at == 0 and line in bad):
                continue
            if store:
                named.add((store, product))
            elif at:
                prices.pop(product, None)
            else:
                prices[product] = line, price
    if not prices:
        return
    own, why = None, ""
    try:
        own = await _own_prices(client, column, prices, named)
    except ClientError as error:
        why = f" ({error})"
    if own is None:
        table.notes.add_file_warning(f"its prices without a store are those of the chain; {_KEPT}{why}")
        return
    for product, stores in own.items():
        shown = ", ".join(f"{price:f} in store {store}" for store, price in stores[:_MAX_SHOWN_STORES])
        more = f" and {len(stores) - _MAX_SHOWN_STORES} more stores" if len(stores) > _MAX_SHOWN_STORES else ""
        line, price = prices[product]
        what = f"the {column} is that of the chain; {_KEPT}"
        table.notes.add_warning(what, f"{product} has {price:f} in the chain, {shown}{more}", line)


async def _own_prices(
    client: Client, column: str, prices: Mapping[str, tuple[int, Decimal]], named: Collection[tuple[str, str]]
) -> _Own | None:
    """Return the stores with another price than that of the chain; None if they are too many to read."""
    stores = await store_numbers(client)
    if len(prices) > MAX_SINGLE_READS and len(stores) > _MAX_STORES_READ_WHOLE:
        return None
    found: _Own = {}
    for store in stores:
        for query in queries_for("product_number", prices):
            async for row in store_rows(client, "list-store-products-stock", store, query, in_path=False):
                product, price = str(row.get("product_number") or ""), price_of(row.get(column))
                of_chain = prices.get(product)
                if of_chain and price is not None and price != of_chain[1] and (store, product) not in named:
                    found.setdefault(product, []).append((store, price))
    return found


async def _store_prices(client: Client, store: str, products: Collection[str]) -> dict[str, Row]:
    """Return the prices in force in a store, of some products at least."""
    return {
        str(row.get("product_number")): {
            name: value for name, value in (row | (row.get("aisle") or {})).items() if name in _OF_STORE and value
        }
        for query in queries_for("product_number", products)
        async for row in store_rows(client, "list-store-products-stock", store, query, in_path=False)
    }
