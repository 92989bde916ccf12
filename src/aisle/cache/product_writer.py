"""Writing of products, stock, codes and search index.

Negative stock has a table of its own, so that no list scans all stock. interface: Product, Store product stock entry,
Stock location entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Protocol, TypeVar

import apsw

from aisle.cache.service_row_parsing import (
    InvalidRow,
    OverlongRow,
    ProductRow,
    RawRow,
    StockRow,
    all_codes,
    decode_codes,
    encode_codes,
    keep_known_locations,
    product_index_text,
    replace_surrogates,
    truncate_texts,
)
from aisle.host.database import fetch, fetch_one
from aisle.jobs.quantities_and_plausibility import to_decimal
from aisle.scan.grammar_types import PRODUCT

NEGATIVE_MARK = ":-"
"""Text in every stock entry with a negative number."""


def negative_stock(entry: RawRow) -> list[tuple[str, Decimal]]:
    """Return the locations with a negative quantity; an empty code is the stock outside of locations."""
    locations = entry.get("store_locations")
    quantities = [
        (str(location.get("store_location_code") or ""), to_decimal(location.get("quantity")))
        for location in (locations if isinstance(locations, list) else ())
        if isinstance(location, dict)
    ]
    at_places = sum((quantity for _, quantity in quantities), Decimal(0))
    total = to_decimal(entry.get("most_likely_quantity"))
    if total < at_places or (total < 0 and not quantities):
        quantities.insert(0, ("", total - at_places))
    return [(location, quantity) for location, quantity in quantities if quantity < 0]


Code = tuple[str, str, str]
"""A code, the kind of object it identifies, and the key of that object."""


def insert_codes(connection: apsw.Connection, codes: Iterable[Code]) -> None:
    """Insert codes of one base unit each."""
    connection.executemany("INSERT OR REPLACE INTO code (code, kind, key, factor) VALUES (?, ?, ?, '1')", sorted(codes))


def delete_codes(connection: apsw.Connection, codes: Iterable[Code]) -> None:
    """Delete codes."""
    connection.executemany("DELETE FROM code WHERE code = ? AND kind = ? AND key = ?", codes)


CHUNK_ROWS = 1000
"""Rows that are looked up in one query."""

T = TypeVar("T")


class StoredRow(Protocol):
    """Row with its text as stored."""

    @property
    def raw(self) -> str:
        """The row as JSON text."""


R = TypeVar("R", bound=StoredRow)


class SkippedRow(NamedTuple):
    """A row that was left out."""

    row: Any
    reason: str
    field: str = ""
    """Invalid field, if the error concerns one."""


class WriteResult(NamedTuple):
    """Result of writing rows."""

    keys: tuple[str, ...]
    """Keys of all valid rows."""
    changed: tuple[str, ...]
    """Keys of the rows that differ from the cached ones."""
    skipped: tuple[SkippedRow, ...]


def parse_rows(rows: Iterable[Any], parse: Callable[[Any], T]) -> tuple[list[T], tuple[SkippedRow, ...]]:
    """Return the valid rows, and the invalid ones with the reason."""
    good: list[T] = []
    bad: list[SkippedRow] = []
    for row in rows:
        try:
            good.append(_parse_row(row, parse))
        except (ValueError, OverflowError, RecursionError) as error:
            bad.append(SkippedRow(row, str(error), error.field if isinstance(error, InvalidRow) else ""))
    return good, tuple(bad)


def _parse_row(row: Any, parse: Callable[[Any], T]) -> T:
    try:
        return parse(row)
    except (UnicodeEncodeError, OverlongRow):  # A row may be both.
        return parse(truncate_texts(replace_surrogates(row)))


def split_chunks(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the rows in chunks of `CHUNK_ROWS`."""
    for first in range(0, len(rows), CHUNK_ROWS):
        yield rows[first : first + CHUNK_ROWS]


def encode_keys(rows: Iterable[str]) -> str:
    """Return keys as one parameter for json_each."""
    return json.dumps(list(rows))


def changed_rows(connection: apsw.Connection, table: str, key: str, rows: Mapping[str, R]) -> list[R]:
    """Return those of the rows (by key) that are not stored, or stored with another text."""
    sql = f"SELECT t.{key}, t.raw FROM json_each(?) e JOIN {table} t ON t.{key} = e.value"  # noqa: S608 - names of our own
    stored = dict(fetch(connection, sql, encode_keys(rows)))
    return [row for name, row in rows.items() if stored.get(name) != row.raw]


def replaced_keys(connection: apsw.Connection, table: str, key: str, rows: Mapping[str, R]) -> tuple[str, ...]:
    """Return the keys that are added, changed or removed if these rows replace all of a table."""
    stored = dict(fetch(connection, f"SELECT {key}, raw FROM {table}"))  # noqa: S608 - names of our own
    changed = [name for name, row in rows.items() if stored.get(name) != row.raw]
    return (*changed, *(str(name) for name in stored if name not in rows))


def unseen_sql(topic: str, key: str) -> str:
    """Return the condition for rows that a complete pass has not seen; the parameter is its number."""
    return f"NOT EXISTS (SELECT 1 FROM seen_key s WHERE s.topic = '{topic}' AND s.generation = ? AND s.key = {key})"  # noqa: S608


class _KnownProduct(NamedTuple):
    """Cached columns of a product."""

    id: int
    text: str
    codes: str
    raw: str
    """Catalogue row; empty if the catalogue does not have the product."""
    stock_barcode: str
    stock: str | None
    """Stock entry."""
    read_began: float | None
    """Time at which the read of the stock entry began."""


class IndexChanges:
    """Changes of search index and codes, collected for a bulk write."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._deleted_texts: list[tuple[int, str]] = []
        self._texts: list[tuple[int, str]] = []
        self._deleted_codes: list[tuple[str, str, str]] = []
        self._codes: list[tuple[str, str, str, str]] = []

    def change_text(self, id_: int, before: str | None, after: str | None) -> None:
        """Collect a change of a product's search text; None means no such product."""
        if before == after:
            return
        if before is not None:
            self._deleted_texts.append((id_, before))
        if after is not None:
            self._texts.append((id_, after))

    def change_codes(self, key: str, before: dict[str, str], after: dict[str, str]) -> None:
        """Collect a change of a product's codes."""
        if before == after:
            return
        if before:
            self._deleted_codes += [(code, PRODUCT, key) for code in before if code not in after]
            after = {code: factor for code, factor in after.items() if before.get(code) != factor}
        for code, factor in after.items():
            self._codes.append((code, PRODUCT, key, factor))

    def write(self) -> None:
        """Write everything collected."""
        many = self._db.executemany
        many("INSERT INTO search (search, rowid, text) VALUES ('delete', ?, ?)", self._deleted_texts)
        many("INSERT INTO search (rowid, text) VALUES (?, ?)", self._texts)
        many("DELETE FROM code WHERE code = ? AND kind = ? AND key = ?", self._deleted_codes)
        many("INSERT OR REPLACE INTO code (code, kind, key, factor) VALUES (?, ?, ?, ?)", sorted(self._codes))


_UPSERT_PRODUCT = """
INSERT INTO product (id, product_number, name, brand, barcode, unit, allow_decimal, category, supplier, family, marks,
  text, codes, raw)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, brand = excluded.brand, barcode = excluded.barcode,
  unit = excluded.unit, allow_decimal = excluded.allow_decimal, category = excluded.category,
  supplier = excluded.supplier, family = excluded.family, marks = excluded.marks,
  text = excluded.text, codes = excluded.codes,
  raw = excluded.raw
"""

_UPSERT_STOCK = """
INSERT INTO stock (id, read_began, quantity, barcode, raw) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET read_began = excluded.read_began, quantity = excluded.quantity,
  barcode = excluded.barcode, raw = excluded.raw
"""


def write_products(connection: apsw.Connection, rows: Sequence[ProductRow]) -> tuple[str, ...]:
    """Write products of the catalogue inside a transaction. Return the numbers of those that changed."""
    changed: list[str] = []
    for chunk in split_chunks(rows):
        stored = _known_products(connection, [row.product_number for row in chunk])
        next_id = _next_id(connection)
        texts = IndexChanges(connection)
        fresh = []
        for row in {row.product_number: row for row in chunk}.values():
            old = stored.get(row.product_number)
            if old is not None and old.raw == row.raw:
                continue
            id_, next_id = (old.id, next_id) if old is not None else (next_id, next_id + 1)
            texts.change_text(id_, old.text if old else None, row.text)
            barcode = old.stock_barcode if old else ""
            before = all_codes(decode_codes(old.codes), row.product_number, barcode) if old else {}
            texts.change_codes(row.product_number, before, all_codes(row.codes, row.product_number, barcode))
            fresh.append((id_, *row[:-2], encode_codes(row.codes), row.raw))
            changed.append(row.product_number)
        connection.executemany(_UPSERT_PRODUCT, fresh)
        texts.write()
    return tuple(changed)


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
        self._texts = IndexChanges(connection)
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
            if row.locations is None and '"store_locations"' in old.stock:
                row, began = keep_known_locations(row, old.stock), old.read_began or 0.0
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
            self._texts.change_codes(row.product_number, before, all_codes(codes, row.product_number, row.barcode))
        self._stock.append((old.id, began, row.quantity, row.barcode, row.raw))
        if NEGATIVE_MARK in row.raw:
            negative = enumerate(negative_stock(json.loads(row.raw)))
            self._negative_stock += [(n, code, str(quantity), old.id) for n, (code, quantity) in negative]
        if row.locations:
            self._locations += [(old.id, n, *location) for n, location in enumerate(row.locations)]
        return True

    def _add_uncatalogued(self, row: StockRow, old: _KnownProduct | None) -> _KnownProduct:
        """Return a product that is not in the catalogue, made from its stock entry."""
        text = product_index_text(row.name, row.product_number, row.barcode)
        codes: dict[str, str] = {}
        if old is None:
            old = _KnownProduct(self._next_id, text, "", "", "", None, None)
            self._next_id += 1
            self._texts.change_text(old.id, None, text)
        else:
            codes = all_codes({}, row.product_number, old.stock_barcode)
            self._texts.change_text(old.id, old.text, text)
        self._texts.change_codes(row.product_number, codes, all_codes({}, row.product_number, row.barcode))
        product = (old.id, row.product_number, row.name, "", row.barcode, "", 0, "", "", "", 0, text, "", "")
        self._products.append(product)
        return old

    def write(self) -> None:
        """Write everything collected."""
        many = self._db.executemany
        many(_UPSERT_PRODUCT, self._products)
        many(_UPSERT_STOCK, self._stock)
        many("UPDATE stock SET read_began = ? WHERE id = ?", self._confirmed)
        many("DELETE FROM stock_location WHERE id = ?", self._replaced_locations)
        many(
            "INSERT INTO stock_location (id, n, location_code, quantity, has_goods) VALUES (?, ?, ?, ?, ?)",
            self._locations,
        )
        many("DELETE FROM negative_stock WHERE id = ?", self._corrected)
        many(_INSERT_NEGATIVE_STOCK, self._negative_stock)
        self._texts.write()


def _known_products(connection: apsw.Connection, numbers: Iterable[str]) -> dict[str, _KnownProduct]:
    rows = fetch(
        connection,
        "SELECT p.product_number, p.id, p.text, p.codes, p.raw, ifnull(s.barcode, ''), s.raw, s.read_began"
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
    texts = IndexChanges(connection)
    for _, number, codes, barcode in deleted:
        texts.change_codes(number, all_codes(decode_codes(codes), number, barcode), all_codes({}, number, barcode))
    texts.write()
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
    texts = IndexChanges(connection)
    for _, number, stored_codes, barcode in deleted:
        codes = decode_codes(stored_codes)
        texts.change_codes(number, all_codes(codes, number, barcode), all_codes(codes, number))
    texts.write()
    ids = [(row[0],) for row in deleted]
    connection.executemany("DELETE FROM stock_location WHERE id = ?", ids)
    connection.executemany("DELETE FROM negative_stock WHERE id = ?", ids)
    connection.executemany("DELETE FROM stock WHERE id = ?", ids)
    _delete_unknown_products(connection, [row[0] for row in deleted])
    return tuple(str(number) for _, number, _, _ in deleted)


def _delete_unknown_products(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Delete products that are neither in the catalogue nor in the stock list."""
    rows = fetch(
        connection,
        "SELECT p.id, p.product_number, p.text FROM json_each(?) e JOIN product p ON p.id = e.value"
        " WHERE p.raw = '' AND NOT EXISTS (SELECT 1 FROM stock s WHERE s.id = p.id)",
        json.dumps(list(ids)),
    )
    texts = IndexChanges(connection)
    for id_, _, text in rows:
        texts.change_text(id_, text, None)
    texts.write()
    numbers = [str(number) for _, number, _ in rows]
    connection.execute(
        "DELETE FROM code WHERE kind = 'product' AND key IN (SELECT value FROM json_each(?))", (encode_keys(numbers),)
    )
    connection.executemany("DELETE FROM product WHERE id = ?", [(id_,) for id_, _, _ in rows])


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
