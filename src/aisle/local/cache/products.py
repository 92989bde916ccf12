"""Products and their stock into the cache, many at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import apsw

from aisle.local.cache.below import SIGN, below_of
from aisle.local.cache.rows import (
    Malformed,
    Overlong,
    ProductRow,
    StockRow,
    clamped,
    codes_of,
    codes_text,
    effective_codes,
    product_text,
    with_places,
    without_surrogates,
)
from aisle.local.db import fetch, fetch_one
from aisle.scan.meaning import PRODUCT
from aisle.tuples import NamedTuple

CHUNK = 1000
"""Rows looked up together."""

T = TypeVar("T")


class Skipped(NamedTuple):
    """A row that was left out."""

    row: Any
    why: str
    field: str = ""
    """The field that makes no sense, where it is one."""


class Written(NamedTuple):
    """What became of some rows."""

    keys: tuple[str, ...]
    """Of all that made sense."""
    changed: tuple[str, ...]
    """Of those that were not in the cache like this before."""
    skipped: tuple[Skipped, ...]


def parsed(rows: Iterable[Any], parse: Callable[[Any], T]) -> tuple[list[T], tuple[Skipped, ...]]:
    """The rows that make sense, and the others with the reason."""
    good: list[T] = []
    bad: list[Skipped] = []
    for row in rows:
        try:
            good.append(_parsed(row, parse))
        except (Malformed, RecursionError) as error:
            bad.append(Skipped(row, str(error), getattr(error, "field", "")))
    return good, tuple(bad)


def _parsed(row: Any, parse: Callable[[Any], T]) -> T:
    try:
        return parse(row)
    except UnicodeEncodeError:
        return _parsed(without_surrogates(row), parse)
    except Overlong:
        return parse(clamped(row))


def chunks(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """The rows in pieces that are looked up together."""
    for first in range(0, len(rows), CHUNK):
        yield rows[first : first + CHUNK]


def names(rows: Iterable[str]) -> str:
    """Keys as one parameter for json_each."""
    return json.dumps(list(rows))


class _Known(NamedTuple):
    """What the cache has of a product."""

    id: int
    text: str
    codes: str
    raw: str
    """Empty when the catalogue does not have it."""
    stock_barcode: str
    stock: str | None
    """Its stock entry."""
    began: float | None
    """When the read of that began."""


class Texts:
    """Changes of search index and codes, gathered for a bulk write."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._gone_texts: list[tuple[int, str]] = []
        self._texts: list[tuple[int, str]] = []
        self._gone_codes: list[tuple[str, str, str]] = []
        self._codes: list[tuple[str, str, str, str]] = []

    def text(self, id_: int, before: str | None, after: str | None) -> None:
        """The searched text of a product changes; None stands for no such product."""
        if before == after:
            return
        if before is not None:
            self._gone_texts.append((id_, before))
        if after is not None:
            self._texts.append((id_, after))

    def codes(self, key: str, before: dict[str, str], after: dict[str, str]) -> None:
        """The codes of a product change."""
        if before == after:
            return
        if before:
            self._gone_codes += [(code, PRODUCT, key) for code in before if code not in after]
            after = {code: factor for code, factor in after.items() if before.get(code) != factor}
        for code, factor in after.items():
            self._codes.append((code, PRODUCT, key, factor))

    def write(self) -> None:
        """All at once."""
        many = self._db.executemany
        many("INSERT INTO search (search, rowid, text) VALUES ('delete', ?, ?)", self._gone_texts)
        many("INSERT INTO search (rowid, text) VALUES (?, ?)", self._texts)
        many("DELETE FROM code WHERE code = ? AND kind = ? AND key = ?", self._gone_codes)
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
INSERT INTO stock (id, began, quantity, barcode, raw) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET began = excluded.began, quantity = excluded.quantity, barcode = excluded.barcode,
  raw = excluded.raw
"""


def write_products(connection: apsw.Connection, rows: Sequence[ProductRow]) -> tuple[str, ...]:
    """Writes products of the catalogue inside a transaction; the numbers of those that changed."""
    changed: list[str] = []
    for chunk in chunks(rows):
        known = _known(connection, [row.product_number for row in chunk])
        next_id = _next_id(connection)
        texts = Texts(connection)
        fresh = []
        for row in {row.product_number: row for row in chunk}.values():
            old = known.get(row.product_number)
            if old is not None and old.raw == row.raw:
                continue
            id_, next_id = (old.id, next_id) if old is not None else (next_id, next_id + 1)
            texts.text(id_, old.text if old else None, row.text)
            barcode = old.stock_barcode if old else ""
            before = effective_codes(codes_of(old.codes), row.product_number, barcode) if old else {}
            texts.codes(row.product_number, before, effective_codes(row.codes, row.product_number, barcode))
            fresh.append((id_, *row[:-2], codes_text(row.codes), row.raw))
            changed.append(row.product_number)
        connection.executemany(_UPSERT_PRODUCT, fresh)
        texts.write()
    return tuple(changed)


def write_stock(connection: apsw.Connection, rows: Sequence[StockRow], began: float) -> tuple[str, ...]:
    """Writes stock entries inside a transaction; the numbers of those that changed.

    `began` is the moment at which their read began. A product that the catalogue does not have (yet) is known by what
    the stock list says of it.
    """
    changed: list[str] = []
    for chunk in chunks(rows):
        known = _known(connection, [row.product_number for row in chunk])
        bulk = _Stock(connection, _next_id(connection), began)
        for row in {row.product_number: row for row in chunk}.values():
            if bulk.add(row, known.get(row.product_number)):
                changed.append(row.product_number)
        bulk.write()
    return tuple(changed)


_BELOW = """
INSERT INTO below (id, n, name, product_number, location_code, quantity)
SELECT id, ?, name, product_number, ?, ? FROM product WHERE id = ?
"""


class _Stock:
    """Stock entries gathered for a bulk write."""

    def __init__(self, connection: apsw.Connection, next_id: int, began: float) -> None:
        self._db = connection
        self._next = next_id
        self._began = began
        self._texts = Texts(connection)
        self._products: list[tuple[Any, ...]] = []
        self._stock: list[tuple[Any, ...]] = []
        self._touched: list[tuple[float, int]] = []
        self._gone: list[tuple[int]] = []
        self._places: list[tuple[int, int, str, float | None, bool]] = []
        self._unfounded: list[tuple[int]] = []
        """Products of which there was less than none somewhere."""
        self._below: list[tuple[int, str, str, int]] = []

    def add(self, row: StockRow, old: _Known | None) -> bool:
        """True when it says something new."""
        began = self._began
        if old is not None and old.stock is not None:
            if row.places is None and '"store_locations"' in old.stock:
                row, began = with_places(row, old.stock), old.began or 0.0
            if row.raw == old.stock:
                if began != old.began:
                    self._touched.append((began, old.id))
                return False
            self._gone.append((old.id,))
            if SIGN in old.stock:
                self._unfounded.append((old.id,))
        if old is None or not old.raw:
            old = self._name(row, old)
        elif row.barcode != old.stock_barcode:
            codes = codes_of(old.codes)
            before = effective_codes(codes, row.product_number, old.stock_barcode)
            self._texts.codes(row.product_number, before, effective_codes(codes, row.product_number, row.barcode))
        self._stock.append((old.id, began, row.quantity, row.barcode, row.raw))
        if SIGN in row.raw:
            spots = enumerate(below_of(json.loads(row.raw)))
            self._below += [(n, place, str(quantity), old.id) for n, (place, quantity) in spots]
        if row.places:
            self._places += [(old.id, n, *spot) for n, spot in enumerate(row.places)]
        return True

    def _name(self, row: StockRow, old: _Known | None) -> _Known:
        """A product that is not in the catalogue is what its stock entry says."""
        text = product_text(row.name, row.product_number, row.barcode)
        codes: dict[str, str] = {}
        if old is None:
            old = _Known(self._next, text, "", "", "", None, None)
            self._next += 1
            self._texts.text(old.id, None, text)
        else:
            codes = effective_codes({}, row.product_number, old.stock_barcode)
            self._texts.text(old.id, old.text, text)
        self._texts.codes(row.product_number, codes, effective_codes({}, row.product_number, row.barcode))
        kept = (old.id, row.product_number, row.name, "", row.barcode, "", 0, "", "", "", 0, text, "", "")
        self._products.append(kept)
        return old

    def write(self) -> None:
        """All at once."""
        many = self._db.executemany
        many(_UPSERT_PRODUCT, self._products)
        many(_UPSERT_STOCK, self._stock)
        many("UPDATE stock SET began = ? WHERE id = ?", self._touched)
        many("DELETE FROM place WHERE id = ?", self._gone)
        many("INSERT INTO place (id, n, location_code, quantity, lies) VALUES (?, ?, ?, ?, ?)", self._places)
        many("DELETE FROM below WHERE id = ?", self._unfounded)
        many(_BELOW, self._below)
        self._texts.write()


def _known(connection: apsw.Connection, numbers: Iterable[str]) -> dict[str, _Known]:
    rows = fetch(
        connection,
        "SELECT p.product_number, p.id, p.text, p.codes, p.raw, ifnull(s.barcode, ''), s.raw, s.began"
        " FROM json_each(?) e JOIN product p ON p.product_number = e.value LEFT JOIN stock s ON s.id = p.id",
        names(numbers),
    )
    return {number: _Known(*rest) for number, *rest in rows}


def _next_id(connection: apsw.Connection) -> int:
    row = fetch_one(connection, "SELECT max(id) FROM product")
    return int(row[0] or 0) + 1 if row else 1


def drop_products(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Takes products out that a pass of the catalogue has not seen; those with stock stay, known by that alone."""
    gone = fetch(
        connection,
        "SELECT p.id, p.product_number, p.codes, ifnull(t.barcode, '') FROM product p LEFT JOIN stock t ON t.id = p.id"
        " WHERE p.raw <> '' AND NOT EXISTS (SELECT 1 FROM seen s"
        " WHERE s.topic = 'product' AND s.generation = ? AND s.key = p.product_number)",
        generation,
    )
    texts = Texts(connection)
    for _, number, codes, barcode in gone:
        texts.codes(number, effective_codes(codes_of(codes), number, barcode), effective_codes({}, number, barcode))
    texts.write()
    connection.executemany(
        "UPDATE product SET codes = '', raw = '', category = '', supplier = '', family = '', marks = 0 WHERE id = ?",
        [(row[0],) for row in gone],
    )
    _drop_unknown(connection, [row[0] for row in gone])
    return tuple(str(number) for _, number, _, _ in gone)


def drop_stock(connection: apsw.Connection, generation: int) -> tuple[str, ...]:
    """Takes stock out that a pass of the stock list has not seen, and products that nobody else knows."""
    gone = fetch(
        connection,
        "SELECT p.id, p.product_number, p.codes, t.barcode FROM stock t JOIN product p ON p.id = t.id"
        " WHERE NOT EXISTS (SELECT 1 FROM seen s"
        " WHERE s.topic = 'stock' AND s.generation = ? AND s.key = p.product_number)",
        generation,
    )
    texts = Texts(connection)
    for _, number, kept, barcode in gone:
        codes = codes_of(kept)
        texts.codes(number, effective_codes(codes, number, barcode), effective_codes(codes, number))
    texts.write()
    ids = [(row[0],) for row in gone]
    connection.executemany("DELETE FROM place WHERE id = ?", ids)
    connection.executemany("DELETE FROM below WHERE id = ?", ids)
    connection.executemany("DELETE FROM stock WHERE id = ?", ids)
    _drop_unknown(connection, [row[0] for row in gone])
    return tuple(str(number) for _, number, _, _ in gone)


def _drop_unknown(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Deletes products that are neither in the catalogue nor in the stock list."""
    rows = fetch(
        connection,
        "SELECT p.id, p.product_number, p.text FROM json_each(?) e JOIN product p ON p.id = e.value"
        " WHERE p.raw = '' AND NOT EXISTS (SELECT 1 FROM stock s WHERE s.id = p.id)",
        json.dumps(list(ids)),
    )
    texts = Texts(connection)
    for id_, _, text in rows:
        texts.text(id_, text, None)
    texts.write()
    numbers = [str(number) for _, number, _ in rows]
    connection.execute(
        "DELETE FROM code WHERE kind = 'product' AND key IN (SELECT value FROM json_each(?))", (names(numbers),)
    )
    connection.executemany("DELETE FROM product WHERE id = ?", [(id_,) for id_, _, _ in rows])


SURROUNDINGS = 2000
"""Products whose surroundings are kept, those asked for last."""


def write_surrounding(
    connection: apsw.Connection, number: str, began: float, refused: str, stores: Iterable[str]
) -> None:
    """What is around (rows as they are kept), inside a transaction; an older read changes nothing."""
    connection.execute(
        "INSERT INTO surrounding (product_number, began, refused, raw) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (product_number) DO UPDATE SET began = excluded.began, refused = excluded.refused,"
        " raw = excluded.raw WHERE excluded.began >= began",
        (number, began, refused, f"[{','.join(stores)}]"),
    )
    connection.execute(
        "DELETE FROM surrounding WHERE product_number IN"
        " (SELECT product_number FROM surrounding ORDER BY began DESC LIMIT -1 OFFSET ?)",
        (SURROUNDINGS,),
    )
