"""Values of rows as cache.db stores them: JSON, sums, times, names of products, and prices as far as certain.

Rows of the service before they are stored: `row_parsing_and_writing`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import apsw

from aisle.host.database import fetch
from aisle.jobs.job import Json
from aisle.jobs.walk_order_sort_keys import NO_WALK_ORDER
from aisle.named_tuple_json import to_text
from aisle.row_values import to_decimal

Row = dict[str, Json]
"""Object of the service as stored. It may lack any field of the interface and have others."""


def _parse_fraction(text: str) -> Decimal | int:
    value = Decimal(text)
    return int(value) if value.adjusted() < NO_WALK_ORDER.adjusted() and value == value.to_integral_value() else value


def _parse_constant(word: str) -> None:
    """Return None for NaN and the infinities."""


_DECODER = json.JSONDecoder(parse_float=_parse_fraction, parse_constant=_parse_constant)
"""Shared decoder, because making one takes as long as parsing a row."""


def parse_row(raw: str) -> Row:
    """Parse a stored row: whole numbers as int, fractions as Decimal."""
    row: Row = _DECODER.decode(raw)
    return row


def round_sum(value: float) -> Decimal:
    """Return a stored sum as Decimal, rounded to six digits; digits beyond are rounding errors."""
    return Decimal(int(value)) if value.is_integer() else to_decimal(round(value, 6))


def iso_time(at: float) -> str:
    """Return seconds since 1970 as ISO 8601 UTC, in the form of `to_utc_text`."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
