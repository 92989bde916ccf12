"""Parsing of stored rows, and values that several queries read from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from aisle.host.database import fetch
from aisle.jobs.job import Json
from aisle.jobs.quantities_and_plausibility import to_decimal
from aisle.named_tuple_json import to_text
from aisle.search_text import natural_key

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import LocatedRow, LocationStockRow, PutDownRow
    from aisle.jobs.row_types.raw_service_rows import Number

Row = dict[str, Json]
"""Object of the service as stored. It may lack any field of the interface and have others."""

L = TypeVar("L", bound="LocatedRow")


NO_WALK_ORDER = Decimal(10) ** 12
"""Sort value of a location without a walking order."""


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


def pool_quantities(raw: Row, prefix: str) -> dict[str, Json]:
    """Return the pools of a row that have a value, by number as text."""
    return {pool: value for pool, name in _pool_fields(prefix) if (value := raw.get(name))}


@cache
def _pool_fields(prefix: str) -> tuple[tuple[str, str], ...]:
    return tuple((str(pool), f"{prefix}{pool}") for pool in range(1, 11))


def used_pools(names: Mapping[str, Json], configured_pools: Mapping[int, str]) -> dict[str, Json]:
    """Return the pools in use, by number as text: the configured ones with the store's names, else all named ones."""
    return (
        {str(pool): names.get(str(pool)) or name for pool, name in configured_pools.items()}
        if configured_pools
        else dict(names)
    )


def load_walk_orders(cache: apsw.Connection, codes: Iterable[str]) -> dict[str, Number]:
    """Return the walking order of those of these locations that have one."""
    rows = fetch(
        cache,
        "SELECT l.location_code, l.location_order FROM json_each(?) e JOIN location l ON l.location_code = e.value"
        " WHERE l.location_order IS NOT NULL",
        to_text(list(codes)),
    )
    return {str(code): to_decimal(order) for code, order in rows}


def product_names(cache: apsw.Connection, numbers: Iterable[str]) -> dict[str, str]:
    """Return the names of those of these products that have one."""
    sql = "SELECT p.product_number, p.name FROM json_each(?) e JOIN product p ON p.product_number = e.value"
    return {str(number): str(name) for number, name in fetch(cache, sql, to_text(sorted(set(numbers)))) if name}


def location_entries(raw: Row) -> list[Row]:
    """Return the location entries of a row."""
    entries = raw.get("store_locations")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def stock_locations(raw: Row) -> list[LocationStockRow]:
    """Return the locations of a stock entry. interface: Stock location entry."""
    return [
        _location_row(entry, "store_location_code", "stock_pool_")
        for entry in location_entries(raw)
        if entry.get("store_location_code")
    ]


def line_locations(raw: Row) -> list[LocationStockRow]:
    """Return the locations of an order line with free goods. interface: Line location."""
    return [
        _location_row(entry, "location_code", "most_likely_pool_")
        for entry in location_entries(raw)
        if entry.get("location_code") and not entry.get("customer_order_number")
    ]


def held_locations(raw: Row) -> list[PutDownRow]:
    """Return the locations where goods of an order line are held. interface: Line location."""
    return [
        {"location_code": str(entry["location_code"]), "quantity": entry_quantity(entry, "most_likely_pool_")}
        for entry in location_entries(raw)
        if entry.get("location_code") and entry.get("customer_order_number")
    ]


def entry_quantity(entry: Row, pool_prefix: str) -> Decimal | None:
    """Return the quantity of an entry, in total or else over its pools; None if it states neither."""
    if entry.get("quantity") is not None:
        return to_decimal(entry["quantity"])
    pool_values = [entry[name] for _, name in _pool_fields(pool_prefix) if entry.get(name) is not None]
    return sum((to_decimal(quantity) for quantity in pool_values), Decimal(0)) if pool_values else None


def _location_row(entry: Row, code: str, pool_prefix: str) -> LocationStockRow:
    return {
        "location_code": str(entry[code]),
        "location_order": entry.get("location_order"),
        "quantity": entry_quantity(entry, pool_prefix),
        "pools": pool_quantities(entry, pool_prefix),
        "default_stock_pool": entry.get("default_stock_pool"),
    }


def sort_by_walk_order(locations: Sequence[L], orders: Mapping[str, Number]) -> list[L]:
    """Return locations in walking order; sets `location_order` of each that has one, in place."""
    for location in locations:
        location["location_order"] = location["location_order"] or orders.get(location["location_code"])
    return sorted(
        locations,
        key=lambda location: (
            to_decimal(location["location_order"]) or NO_WALK_ORDER,
            natural_key(str(location["location_code"])),
        ),
    )


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
