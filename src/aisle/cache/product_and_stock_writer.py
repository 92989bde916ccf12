"""Products and their stock, of this store and those nearby: parsing and writing, with codes and search index.

Negative stock has a table of its own, so that no list scans all stock.

interface: Product, Store product stock entry, Stock location entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from aisle.cache.product_code_writer import CodeChanges, all_codes, decode_codes, encode_codes, parse_codes
from aisle.cache.row_parsing_and_writing import (
    InvalidRow,
    RawRow,
    check_entries,
    dump_row,
    encode_keys,
    flag_field,
    index_texts,
    key_field,
    negative_stock,
    require_object,
    required_number,
    split_chunks,
    text_field,
    unseen_sql,
    upsert,
)
from aisle.host.database import fetch, fetch_one
from aisle.row_values import to_decimal
from aisle.store_product_settings import expiry_check_day, least_on_shop_floor

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
    order_level: float
    """Quantity below which the shop floor is replenished; 0 for never."""


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
        float(least_on_shop_floor(raw)),
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


NEGATIVE_MARK = ":-"
"""Text in every stock entry with a negative number."""


class _KnownProduct(NamedTuple):
    """Cached columns of a product."""

    id: int
    codes: str
    raw: str
    """Catalogue row; empty if the catalogue does not have the product."""
    stock_barcode: str
    stock: str | None
    """Stock entry."""
    read_began: float | None
    """Time at which the read of the stock entry began."""


_PRODUCT_COLUMNS = ("id", *ProductRow._fields)
_STOCK_COLUMNS = ("id", "read_began", "quantity", "barcode", "raw", "expiry_check", "order_level")


def write_products(connection: apsw.Connection, rows: Sequence[ProductRow]) -> tuple[str, ...]:
    """Write products of the catalogue inside a transaction. Return the numbers of those that changed."""
    changed: list[str] = []
    for chunk in split_chunks(rows):
        stored = _known_products(connection, [row.product_number for row in chunk])
        next_id = _next_id(connection)
        codes = CodeChanges(connection)
        fresh = []
        for row in {row.product_number: row for row in chunk}.values():
            old = stored.get(row.product_number)
            if old is not None and old.raw == row.raw:
                continue
            id_, next_id = (old.id, next_id) if old is not None else (next_id, next_id + 1)
            barcode = old.stock_barcode if old else ""
            before = all_codes(decode_codes(old.codes), row.product_number, barcode) if old else {}
            codes.change(row.product_number, before, all_codes(row.codes, row.product_number, barcode))
            fresh.append((id_, *row[:-2], encode_codes(row.codes), row.raw))
            changed.append(row.product_number)
        _upsert_products(connection, fresh)
        codes.write()
    return tuple(changed)


def _upsert_products(connection: apsw.Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write products, and index the texts of new ones at once; triggers index those that are changed or deleted."""
    first_new = _next_id(connection)
    upsert(connection, "product", _PRODUCT_COLUMNS, rows)
    connection.execute("INSERT INTO search (rowid, text) SELECT id, text FROM product WHERE id >= ?", (first_new,))


def write_stock(connection: apsw.Connection, rows: Sequence[StockRow], read_began: float) -> tuple[str, ...]:
    """Write stock entries inside a transaction. Return the numbers of those that changed.

    `read_began`: time at which their read began. A product that is not in the cached catalogue gets name and codes of
    its stock entry.
    """
    changed: list[str] = []
    for chunk in split_chunks(rows):
        stored = _known_products(connection, [row.product_number for row in chunk])
        bulk = _StockBatch(connection, _next_id(connection), read_began)
        for row in {row.product_number: row for row in chunk}.values():
            if bulk.add(row, stored.get(row.product_number)):
                changed.append(row.product_number)
        bulk.write()
    return tuple(changed)


_INSERT_NEGATIVE_STOCK = """
INSERT INTO negative_stock (id, n, name, product_number, location_code, quantity)
SELECT id, ?, name, product_number, ?, ? FROM product WHERE id = ?
"""


class _StockBatch:
    """Stock entries collected for a bulk write."""

    def __init__(self, connection: apsw.Connection, next_id: int, read_began: float) -> None:
        self._db = connection
        self._next_id = next_id
        self._read_began = read_began
        self._codes = CodeChanges(connection)
        self._products: list[tuple[Any, ...]] = []
        self._stock: list[tuple[Any, ...]] = []
        self._confirmed: list[tuple[float, int]] = []
        self._replaced_locations: list[tuple[int]] = []
        self._locations: list[tuple[int, int, str, float | None, bool]] = []
        self._corrected: list[tuple[int]] = []
        """Products that had a negative quantity."""
        self._negative_stock: list[tuple[int, str, str, int]] = []

    def add(self, row: StockRow, old: _KnownProduct | None) -> bool:
        """Collect a stock entry. Return True if it differs from the cached one."""
        began = self._read_began
        if old is not None and old.stock is not None:
            if row.raw == old.stock:
                if began != old.read_began:
                    self._confirmed.append((began, old.id))
                return False
            self._replaced_locations.append((old.id,))
            if NEGATIVE_MARK in old.stock:
                self._corrected.append((old.id,))
        if old is None or not old.raw:
            old = self._add_uncatalogued(row, old)
        elif row.barcode != old.stock_barcode:
            codes = decode_codes(old.codes)
            before = all_codes(codes, row.product_number, old.stock_barcode)
            self._codes.change(row.product_number, before, all_codes(codes, row.product_number, row.barcode))
        self._stock.append((old.id, began, row.quantity, row.barcode, row.raw, row.expiry_check, row.order_level))
        if NEGATIVE_MARK in row.raw:
            negative = enumerate(negative_stock(json.loads(row.raw)))
            self._negative_stock += [(n, code, str(quantity), old.id) for n, (code, quantity) in negative]
        self._locations += [(old.id, n, *location) for n, location in enumerate(row.locations)]
        return True

    def _add_uncatalogued(self, row: StockRow, old: _KnownProduct | None) -> _KnownProduct:
        """Return a product that is not in the catalogue, made from its stock entry."""
        text = product_index_text(row.name, row.product_number, row.barcode)
        codes: dict[str, str] = {}
        if old is None:
            old = _KnownProduct(self._next_id, "", "", "", None, None)
            self._next_id += 1
        else:
            codes = all_codes({}, row.product_number, old.stock_barcode)
        self._codes.change(row.product_number, codes, all_codes({}, row.product_number, row.barcode))
        product = (old.id, row.product_number, row.name, "", row.barcode, "", 0, "", "", "", 0, text, "", "")
        self._products.append(product)
        return old

    def write(self) -> None:
        """Write everything collected."""
        many = self._db.executemany
        _upsert_products(self._db, self._products)
        upsert(self._db, "stock", _STOCK_COLUMNS, self._stock)
        many("UPDATE stock SET read_began = ? WHERE id = ?", self._confirmed)
        many("DELETE FROM stock_location WHERE id = ?", self._replaced_locations)
        many(
            "INSERT INTO stock_location (id, n, location_code, quantity, has_goods) VALUES (?, ?, ?, ?, ?)",
            self._locations,
        )
        many("DELETE FROM negative_stock WHERE id = ?", self._corrected)
        many(_INSERT_NEGATIVE_STOCK, self._negative_stock)
        self._codes.write()


def _known_products(connection: apsw.Connection, numbers: Iterable[str]) -> dict[str, _KnownProduct]:
    rows = fetch(
        connection,
        "SELECT p.product_number, p.id, p.codes, p.raw, ifnull(s.barcode, ''), s.raw, s.read_began"
        " FROM json_each(?) e JOIN product p ON p.product_number = e.value LEFT JOIN stock s ON s.id = p.id",
        encode_keys(numbers),
    )
    return {number: _KnownProduct(*rest) for number, *rest in rows}


def _next_id(connection: apsw.Connection) -> int:
    row = fetch_one(connection, "SELECT max(id) FROM product")
    return int(row[0] or 0) + 1 if row else 1


def delete_unseen_products(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Delete and return the products that a pass of the catalogue has not seen.

    Those with stock lose the catalogue row only.
    """
    unseen = unseen_sql("product", "p.product_number")
    sql = f"""SELECT p.id, p.product_number, p.codes, ifnull(t.barcode, '') FROM product p
      LEFT JOIN stock t ON t.id = p.id WHERE p.raw <> '' AND {unseen}"""  # noqa: S608
    deleted = fetch(connection, sql, generation)
    changes = CodeChanges(connection)
    for _, number, codes, barcode in deleted:
        changes.change(number, all_codes(decode_codes(codes), number, barcode), all_codes({}, number, barcode))
    changes.write()
    connection.executemany(
        "UPDATE product SET codes = '', raw = '', category = '', supplier = '', family = '', marks = 0 WHERE id = ?",
        [(row[0],) for row in deleted],
    )
    _delete_unknown_products(connection, [row[0] for row in deleted])
    return tuple(str(number) for _, number, _, _ in deleted)


def delete_unseen_stock(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Delete and return the stock entries that a pass has not seen.

    Products that the catalogue does not have are deleted with them.
    """
    unseen = unseen_sql("stock", "p.product_number")
    sql = f"""SELECT p.id, p.product_number, p.codes, t.barcode FROM stock t JOIN product p ON p.id = t.id
      WHERE {unseen}"""  # noqa: S608
    deleted = fetch(connection, sql, generation)
    changes = CodeChanges(connection)
    for _, number, stored_codes, barcode in deleted:
        codes = decode_codes(stored_codes)
        changes.change(number, all_codes(codes, number, barcode), all_codes(codes, number))
    changes.write()
    ids = [(row[0],) for row in deleted]
    for table in ("stock_location", "negative_stock", "stock"):
        connection.executemany(f"DELETE FROM {table} WHERE id = ?", ids)  # noqa: S608 - names of our own
    _delete_unknown_products(connection, [row[0] for row in deleted])
    return tuple(str(number) for _, number, _, _ in deleted)


def _delete_unknown_products(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Delete products that are neither in the catalogue nor in the stock list."""
    rows = fetch(
        connection,
        "DELETE FROM product WHERE id IN (SELECT value FROM json_each(?)) AND raw = ''"
        " AND NOT EXISTS (SELECT 1 FROM stock s WHERE s.id = product.id) RETURNING product_number",
        json.dumps(list(ids)),
    )
    connection.execute(
        "DELETE FROM code WHERE kind = 'product' AND key IN (SELECT value FROM json_each(?))",
        (encode_keys(str(number) for (number,) in rows),),
    )


MAX_SURROUNDING = 2000
"""Greatest number of products with surrounding stock; the last read ones are kept."""


def write_surrounding(
    connection: apsw.Connection, number: str, read_began: float, refusal: str, stores: Iterable[str]
) -> None:
    """Write the surrounding stock (stored rows) inside a transaction; an older read changes nothing."""
    connection.execute(
        "INSERT INTO surrounding (product_number, read_began, refused, raw) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (product_number) DO UPDATE SET read_began = excluded.read_began, refused = excluded.refused,"
        " raw = excluded.raw WHERE excluded.read_began >= read_began",
        (number, read_began, refusal, f"[{','.join(stores)}]"),
    )
    connection.execute(
        "DELETE FROM surrounding WHERE product_number IN"
        " (SELECT product_number FROM surrounding ORDER BY read_began DESC LIMIT -1 OFFSET ?)",
        (MAX_SURROUNDING,),
    )
