"""Parsing of stored rows, and values that several queries read from them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import apsw

from aisle.host.database import fetch
from aisle.jobs.job import Json
from aisle.jobs.quantities_and_plausibility import to_decimal
from aisle.named_tuple_json import to_text

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


ORDER_LINES = "SELECT line_number, raw FROM line WHERE order_number = ? ORDER BY line_number"
_LINES_OF_PRODUCT = (
    "SELECT line_number, raw FROM line WHERE order_number = ? AND product_number = ? ORDER BY line_number"
)


def parse_header(raw: str, number: str, pickup: str) -> Row:
    """Parse the header of an order and set the fields that every order has."""
    row = parse_row(raw)
    row["order_number"] = number
    row.setdefault("pickup_date", "" if pickup == "~" else pickup)
    row["is_active"] = row.get("is_active") is not False
    for name in ("is_claimed", "is_picked", "is_rejected"):
        row[name] = bool(row.get(name))
    return row


def load_lines(cache: apsw.Connection, number: str, product: str = "") -> list[Row]:
    """Return the cached lines of an order, or those of one product."""
    rows = fetch(cache, _LINES_OF_PRODUCT, number, product) if product else fetch(cache, ORDER_LINES, number)
    return [{**parse_row(raw), "line_number": line} for line, raw in rows]


def round_sum(value: float) -> Decimal:
    """Return a stored sum as Decimal, rounded to six digits; digits beyond are rounding errors."""
    return Decimal(int(value)) if value.is_integer() else to_decimal(round(value, 6))


def iso_time(at: float) -> str:
    """Return seconds since 1970 as ISO 8601 UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def product_names(cache: apsw.Connection, numbers: Iterable[str]) -> dict[str, str]:
    """Return the names of those of these products that have one."""
    sql = "SELECT p.product_number, p.name FROM json_each(?) e JOIN product p ON p.product_number = e.value"
    return {str(number): str(name) for number, name in fetch(cache, sql, to_text(sorted(set(numbers)))) if name}


# Prices in this store, as far as they are certain


_TEMPORARY_PRICES = ("special_price", "promotion_price", "discount_price")


_CATALOGUE_AND_STOCK = """
SELECT p.product_number, p.raw, s.raw FROM json_each(?) e JOIN product p ON p.product_number = e.value
LEFT JOIN stock s ON s.id = p.id
"""


def price_of(item: Row, stock: Row) -> Any:
    """Return the price of a base unit from catalogue row and stock entry; None if unknown.

    If a temporary or promotion price differs, a label may have been computed with either, so the price is unknown.
    """
    price = stock.get("price") or item.get("price")
    if price and not any(row.get(name) not in (None, 0, price) for row in (item, stock) for name in _TEMPORARY_PRICES):
        return price
    return None


def prices_of(connection: apsw.Connection, products: Iterable[str]) -> dict[str, Decimal]:
    """Return the prices of a base unit of these products; products with an unknown price are left out."""
    found = {
        str(product): price_of(json.loads(item) if item else {}, json.loads(stock) if stock else {})
        for product, item, stock in fetch(connection, _CATALOGUE_AND_STOCK, to_text(list(products)))
    }
    return {product: to_decimal(price) for product, price in found.items() if price is not None}


NO_WALK_ORDER = Decimal(10) ** 12
"""Sort value of a location without a walking order."""
