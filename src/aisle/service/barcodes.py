"""Barcodes of the catalogue: the products that a list or a delivery asks for by one."""

from __future__ import annotations

from aisle.code_forms import guessed_keys, lookup_keys
from aisle.service.sql.products import PRODUCTS_OF_CODES
from aisle.service.storage.base import Tx


async def asked_keys(tx: Tx, code: str) -> list[str]:
    """The keys of a code that is asked for: those that are certain, or those of a guess where exactly one product has
    one of them and none has a certain one."""
    certain, guessed = list(lookup_keys(code)), list(guessed_keys(code))
    if not guessed or await tx.all(PRODUCTS_OF_CODES, certain):
        return certain
    return guessed if len(await tx.all(PRODUCTS_OF_CODES, guessed)) == 1 else certain


async def products_of(tx: Tx, code: str) -> list[str]:
    """The numbers of the products that have this code, two at most."""
    rows = await tx.all(PRODUCTS_OF_CODES, await asked_keys(tx, code)) if code.strip() else []
    return [row[0] for row in rows]
