"""Names of products, and their prices in this store as far as they are certain."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import apsw

from aisle.cache.parse_stored_row import Row
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch
from aisle.named_tuple_json import to_text


def product_names(cache: apsw.Connection, numbers: Iterable[str]) -> dict[str, str]:
    """Return the names of those of these products that have one."""
    sql = "SELECT p.product_number, p.name FROM json_each(?) e JOIN product p ON p.product_number = e.value"
    return {str(number): str(name) for number, name in fetch(cache, sql, to_text(sorted(set(numbers)))) if name}


_TEMPORARY_PRICES = ("special_price", "promotion_price", "discount_price")


_CATALOGUE_AND_STOCK = """
SELECT p.product_number, p.raw, s.raw FROM json_each(?) e JOIN product p ON p.product_number = e.value
LEFT JOIN stock s ON s.id = p.id
"""


def merge_stock_entry(item: Row, stock: Row) -> Row:
    """Return catalogue row and stock entry in one, with the store's own prices, which only our own service sends.

    Beside a price of the store the catalogue's previous and special price do not stand.
    """
    found = stock.get("aisle")
    own: Row = found if isinstance(found, dict) else {}
    if "price" in own or stock.get("price") not in (None, item.get("price")):
        item = {name: value for name, value in item.items() if name not in ("old_price", "special_price")}
    return {name: value for name, value in (item | stock | own).items() if name != "aisle"}


def price_of(item: Row, stock: Row) -> Any:
    """Return the price of a base unit from catalogue row and stock entry; None if unknown.

    If a temporary or promotion price differs, a label may have been computed with either, so the price is unknown.
    """
    merged = merge_stock_entry(item, stock)
    price = merged.get("price") or item.get("price")
    return price if price and all(merged.get(name) in (None, 0, price) for name in _TEMPORARY_PRICES) else None


def prices_of(connection: apsw.Connection, products: Iterable[str]) -> dict[str, Decimal]:
    """Return the prices of a base unit of these products; products with an unknown price are left out."""
    found = {
        str(product): price_of(json.loads(item) if item else {}, json.loads(stock) if stock else {})
        for product, item, stock in fetch(connection, _CATALOGUE_AND_STOCK, to_text(list(products)))
    }
    return {product: to_decimal(price) for product, price in found.items() if price is not None}
