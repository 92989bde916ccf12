"""Keys under which the catalogue stores a product's barcodes (`aisle.barcode_keys`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.barcode_keys import guessed_keys, index_keys, lookup_keys, split_codes
from aisle.service.db.database import Transaction
from aisle.service.db.statements.products import PRODUCTS_OF_CODES


def code_keys_of_product(product: Mapping[str, Any]) -> list[str]:
    """Return the keys of all barcodes of a product: its own, further ones, and those of its units."""
    codes = [product.get("barcode", ""), product.get("purchase_unit_barcode", "")]
    codes += split_codes(product.get("barcodes_array", ""))
    codes += [unit.get("unit_barcode", "") for unit in product.get("units", [])]
    return list(dict.fromkeys(key for code in codes for key in index_keys(code)))


async def lookup_code_keys(tx: Transaction, code: str) -> list[str]:
    """Return the keys to look up for a code: the certain ones.

    Return the guessed ones instead if no product has a certain key and exactly one product has a guessed key.
    """
    certain, guessed = list(lookup_keys(code)), list(guessed_keys(code))
    if not guessed or await tx.all(PRODUCTS_OF_CODES, certain):
        return certain
    return guessed if len(await tx.all(PRODUCTS_OF_CODES, guessed)) == 1 else certain


async def find_products_by_code(tx: Transaction, code: str) -> list[str]:
    """Return the numbers of the products with this code, at most two."""
    rows = await tx.all(PRODUCTS_OF_CODES, await lookup_code_keys(tx, code)) if code.strip() else []
    return [row[0] for row in rows]
