"""Codes of records, by which scans find them.

Lines of orders and deliveries name codes too, so that goods can be picked and received before the catalogue is cached.
These stay when an order or delivery ends, and are deleted when a line is corrected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import apsw

from aisle.barcode_numbers import index_keys, split_codes
from aisle.cache.row_parsing_and_writing import InvalidRow, RawRow, encode_keys, number_field, text_field
from aisle.host.database import fetch
from aisle.scan.grammar_and_meaning_types import PRODUCT

Code = tuple[str, str, str]
"""A code, the kind of object it identifies, and the key of that object."""


def insert_codes(connection: apsw.Connection, codes: Iterable[Code]) -> None:
    """Insert codes of one base unit each."""
    connection.executemany("INSERT OR REPLACE INTO code (code, kind, key, factor) VALUES (?, ?, ?, '1')", sorted(codes))


def delete_codes(connection: apsw.Connection, codes: Iterable[Code]) -> None:
    """Delete codes."""
    connection.executemany("DELETE FROM code WHERE code = ? AND kind = ? AND key = ?", codes)


class CodeChanges:
    """Changes of products' codes, collected for a bulk write."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._deleted: list[Code] = []
        self._added: list[tuple[str, str, str, str]] = []

    def change(self, key: str, before: dict[str, str], after: dict[str, str]) -> None:
        """Collect a change of a product's codes."""
        self._deleted += [(code, PRODUCT, key) for code in before if code not in after]
        self._added += [(code, PRODUCT, key, factor) for code, factor in after.items() if before.get(code) != factor]

    def write(self) -> None:
        """Write everything collected."""
        delete_codes(self._db, self._deleted)
        sql = "INSERT OR REPLACE INTO code (code, kind, key, factor) VALUES (?, ?, ?, ?)"
        self._db.executemany(sql, sorted(self._added))


_FURTHER_CODE_FIELDS = frozenset({"barcodes_array", "units", "purchase_unit_barcode"})
"""Fields of a product that may hold further codes."""


def parse_codes(raw: RawRow, product_number: str, barcode: str) -> dict[str, str]:
    """Return every code of a product with its quantity in base units; the first mention of a code wins."""
    codes: dict[str, str] = {}
    _add_code(codes, product_number, "1")
    _add_code(codes, barcode, "1")
    if not raw.keys().isdisjoint(_FURTHER_CODE_FIELDS):
        for code, factor in _parse_further_codes(raw):
            _add_code(codes, code, factor)
    return codes


def _add_code(codes: dict[str, str], code: str, factor: str) -> None:
    for form in index_keys(code) if factor else ():
        if form.isprintable():
            codes.setdefault(form, factor)


def _parse_further_codes(raw: RawRow) -> Iterator[tuple[str, str]]:
    further = raw.get("barcodes_array")
    if further:
        for code in further if isinstance(further, list) else split_codes(str(further)):
            yield str(code), "1"
    units = raw.get("units")
    for unit in units if isinstance(units, list) else ():
        if isinstance(unit, dict):
            yield text_field(unit, "unit_barcode"), _parse_factor(unit, "unit_quantity")
    if raw.get("purchase_unit_barcode"):
        yield text_field(raw, "purchase_unit_barcode"), _parse_factor(raw, "purchase_unit_quantity")


def _parse_factor(raw: RawRow, name: str) -> str:
    """Return the base units of a code; empty if invalid, because a code with a wrong factor would miscount."""
    try:
        quantity = number_field(raw, name)
    except InvalidRow:
        return ""
    if quantity is None:
        return "1"
    return str(quantity) if quantity > 0 else ""


def all_codes(codes: Mapping[str, str], *further: str) -> dict[str, str]:
    """Return the codes of a product: those of the catalogue, then its number and the codes of the stock list."""
    merged = dict(codes)
    for code in further:
        for form in index_keys(code) if code and code not in merged else ():
            merged.setdefault(form, "1")
    return merged


def encode_codes(codes: Mapping[str, str]) -> str:
    """Return the codes as stored: lines of `code TAB factor`."""
    return "\n".join([f"{code}\t{factor}" for code, factor in codes.items()])


def decode_codes(text: str) -> dict[str, str]:
    """Return the codes from the text of `encode_codes`."""
    return dict(line.split("\t") for line in text.split("\n")) if text else {}


# Codes that lines name


ProductBarcode = tuple[str, str]
"""A product number, and a barcode that a line has for it."""


_OWN_CODES = """
SELECT p.product_number, p.codes, ifnull(s.barcode, '') FROM json_each(?) e
JOIN product p ON p.product_number = e.value LEFT JOIN stock s ON s.id = p.id
"""


_LINE_BARCODES = """
WITH asked AS (SELECT value AS number FROM json_each(?))
SELECT product_number, raw ->> 'barcode' FROM line WHERE product_number IN asked
UNION SELECT product_number, raw ->> 'barcode' FROM delivery_line WHERE product_number IN asked
UNION SELECT product_number, raw ->> 'purchase_unit_barcode' FROM delivery_line WHERE product_number IN asked
"""


_BARCODES_OF_DELIVERY = """
SELECT product_number, raw ->> 'barcode' FROM delivery_line WHERE order_number = ?1 AND raw ->> 'barcode' <> ''
UNION SELECT product_number, raw ->> 'purchase_unit_barcode' FROM delivery_line
WHERE order_number = ?1 AND raw ->> 'purchase_unit_barcode' <> ''
"""


def barcodes_of_delivery(connection: apsw.Connection, number: str) -> list[ProductBarcode]:
    """Return the barcodes that the lines of a delivery have, also those of purchase units."""
    rows = fetch(connection, _BARCODES_OF_DELIVERY, number)
    return [(str(product), str(barcode)) for product, barcode in rows]


def delete_unnamed_codes(connection: apsw.Connection, former: Iterable[ProductBarcode]) -> None:
    """Delete the codes of barcodes that lines had, unless the catalogue, the stock list or another line has them."""
    candidates = {(code, product) for product, barcode in former for code in index_keys(barcode)}
    if not candidates:
        return
    named = _named_codes(connection, {product for _, product in candidates})
    unnamed = [(code, PRODUCT, product) for code, product in candidates if code not in named[product]]
    delete_codes(connection, sorted(unnamed))


def _named_codes(connection: apsw.Connection, products: Iterable[str]) -> defaultdict[str, set[str]]:
    """Return the codes of these products that something in the cache names."""
    asked = encode_keys(sorted(products))
    named = defaultdict[str, set[str]](set)
    for number in products:
        named[number].update(index_keys(number))
    for number, codes, barcode in fetch(connection, _OWN_CODES, asked):
        named[number].update(all_codes(decode_codes(codes), number, barcode))
    for number, barcode in fetch(connection, _LINE_BARCODES, asked):
        named[number].update(index_keys(str(barcode)) if barcode else ())
    return named


def delete_orphan_codes(connection: apsw.Connection) -> None:
    """Delete the codes of products that are not cached and that no delivery or order line names any more."""
    connection.execute(
        "DELETE FROM code WHERE kind = ?"
        " AND NOT EXISTS (SELECT 1 FROM product p WHERE p.product_number = code.key)"
        " AND NOT EXISTS (SELECT 1 FROM delivery_line d WHERE d.product_number = code.key)"
        " AND NOT EXISTS (SELECT 1 FROM line l WHERE l.product_number = code.key)",
        (PRODUCT,),
    )
