"""Product codes that lines of orders and deliveries name, and their deletion when a line is corrected.

With them goods can be picked and received before the catalogue is cached. They stay when an order or delivery ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import apsw

from aisle.barcode_keys import index_keys
from aisle.cache.product_writer import delete_codes, encode_keys
from aisle.cache.service_row_parsing import all_codes, decode_codes
from aisle.host.database import fetch
from aisle.scan.grammar_types import PRODUCT

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
