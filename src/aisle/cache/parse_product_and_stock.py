"""Parses products of the catalogue, their stock in the store, and that of surrounding stores.

interface: Product, Store product stock entry, Stock location entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from aisle.cache.product_code_writer import parse_codes
from aisle.cache.service_row_parsing import (
    InvalidRow,
    RawRow,
    check_entries,
    dump_row,
    flag_field,
    index_texts,
    key_field,
    require_object,
    required_number,
    text_field,
)
from aisle.decimal_of_row import to_decimal
from aisle.store_product_settings import expiry_check_day

FLAG_BITS = {"is_promotion": (1, True), "is_set": (2, True), "is_active": (4, False), "is_order_manually": (8, True)}
"""Rare flags that people filter by: the flag with its bit and the value that sets the bit."""


class ProductRow(NamedTuple):
    """A product of the catalogue."""

    product_number: str
    name: str
    brand: str
    barcode: str
    unit: str
    allow_decimal: int
    category: str
    supplier: str
    family: str
    marks: int
    """Sum of the bits of `FLAG_BITS`."""
    text: str
    codes: dict[str, str]
    """Every code of the product, each with its quantity in base units."""
    raw: str


class LocationStock(NamedTuple):
    """A location with stock of a product."""

    location_code: str
    quantity: float | None
    """Quantity at the location; None if the service does not state it."""
    has_stock: bool
    """True if there is any stock, in total or in a pool, or if the quantity is unknown."""


class StockRow(NamedTuple):
    """Stock of a product in the store."""

    product_number: str
    name: str
    quantity: int | float
    barcode: str
    raw: str
    locations: tuple[LocationStock, ...]
    """Each location in `raw` once."""
    expiry_check: str
    """Day of the store on which its expiry date is checked next; empty if none is set."""


def parse_product(service_row: object) -> ProductRow:
    """Parse a product of the catalogue. Raise InvalidRow if it is malformed. interface: Product (catalogue item)."""
    raw = require_object(service_row)
    text = dump_row(raw)
    product_number = key_field(raw, "product_number")
    name, brand = text_field(raw, "product_name"), text_field(raw, "brand_description")
    barcode = text_field(raw, "barcode")
    return ProductRow(
        product_number,
        name,
        brand,
        barcode,
        text_field(raw, "base_unit_name"),
        int(flag_field(raw, "allow_decimal")),
        text_field(raw, "category_code"),
        text_field(raw, "supplier_id"),
        text_field(raw, "variant_family"),
        sum(mark for name, (mark, sign) in FLAG_BITS.items() if name in raw and flag_field(raw, name) is sign),
        product_index_text(name, brand, product_number, barcode),
        parse_codes(raw, product_number, barcode),
        text,
    )


def product_index_text(*parts: str) -> str:
    """Return the search text of a product. Trailing spaces let each letter begin a trigram of the index."""
    return f"{index_texts(*parts)}  "


def parse_stock(service_row: object, store: str) -> StockRow:
    """Parse a stock entry. Raise InvalidRow for one of another store. interface: Store product stock entry."""
    raw = require_object(service_row)
    product_number = key_field(raw, "product_number")
    if text_field(raw, "store_number") not in ("", store):
        raise InvalidRow(f"it belongs to store {text_field(raw, 'store_number')[:40]}", "store_number")
    locations = raw.get("store_locations") or []
    if not isinstance(locations, list):
        raise InvalidRow("store_locations is no list", "store_locations")
    check_entries(locations, "store_locations")
    return StockRow(
        product_number,
        text_field(raw, "product_description"),
        required_number(raw, "most_likely_quantity"),
        text_field(raw, "barcode"),
        dump_row(raw),
        parse_location_stock(locations),
        expiry_check_day(raw),
    )


_POOL_FIELDS = tuple(f"stock_pool_{number}" for number in range(1, 11))


def parse_location_stock(locations: Iterable[object]) -> tuple[LocationStock, ...]:
    """Return the locations of a stock entry, including those without a code.

    Entries of the same location (several carriers) are added up. interface: Stock location entry.
    """
    entries = [require_object(location) for location in locations]
    codes = [text_field(entry, "store_location_code") for entry in entries]
    if len(set(codes)) == len(codes):
        return tuple(_sum_location(code, (entry,)) for code, entry in zip(codes, entries, strict=True))
    same: dict[str, list[RawRow]] = {}
    for code, entry in zip(codes, entries, strict=True):
        same.setdefault(code, []).append(entry)
    return tuple(_sum_location(code, found) for code, found in same.items())


def _sum_location(code: str, entries: Sequence[RawRow]) -> LocationStock:
    if any(has_no_quantity(entry) for entry in entries):
        return LocationStock(code, None, True)
    quantity = round(sum(_total_quantity(entry) for entry in entries), _SUM_DECIMALS)
    return LocationStock(code, quantity, bool(quantity) or any(_sum_field(entries, pool) for pool in _POOL_FIELDS))


def has_no_quantity(entry: RawRow) -> bool:
    """Return True if the entry of a location states no quantity, neither in total nor by pool."""
    return entry.get("quantity") is None and all(entry.get(pool) is None for pool in _POOL_FIELDS)


def _total_quantity(entry: RawRow) -> float:
    """Return the total quantity of an entry; the sum of its pools if it states only these."""
    if entry.get("quantity") is not None:
        return _to_float(entry["quantity"])
    return sum(_to_float(entry.get(pool)) for pool in _POOL_FIELDS)


def _sum_field(entries: Sequence[RawRow], name: str) -> float:
    if len(entries) == 1:
        return _to_float(entries[0].get(name))
    return round(sum(_to_float(entry.get(name)) for entry in entries), _SUM_DECIMALS)


_SUM_DECIMALS = 6
"""Decimal places of a sum; digits beyond are rounding errors of added fractions."""


_MAX_PLAIN_NUMBER = 1e12
"""Limit below which a number is taken as it is, without `to_decimal`."""


def _to_float(value: Any) -> float:
    """Return a number as queries see it: 0 for a value that is no number or too large."""
    if not value:
        return 0.0
    return (
        value
        if type(value) in (int, float) and -_MAX_PLAIN_NUMBER < value < _MAX_PLAIN_NUMBER
        else float(to_decimal(value))
    )


def parse_surrounding(service_row: object) -> str:
    """Return a surrounding stock entry as stored text. Raise InvalidRow unless it names a store and a quantity.

    interface: Surrounding stock entry.
    """
    raw = require_object(service_row)
    if not text_field(raw, "store_number") and not text_field(raw, "store_name"):
        raise InvalidRow("it names no store", "store_number")
    required_number(raw, "most_likely_quantity")
    return dump_row(raw)
