"""Barcodes of the catalogue: the keys that one is stored under, and those that a list or a delivery asks for."""

from __future__ import annotations

from aisle.code_forms import guessed_keys, index_keys, lookup_keys
from aisle.service.sql.products import PRODUCTS_OF_CODES
from aisle.service.storage.base import Tx


def stored_keys(code: str) -> list[str]:
    """Every key of a stored code; the plain one first, as databases of all versions have it."""
    return list(dict.fromkeys((_plain(code), *index_keys(code)))) if code.strip() else []


async def asked_keys(tx: Tx, code: str) -> list[str]:
    """The keys of a code that is asked for: those that are certain, or those of a guess where exactly one product has
    one of them and none has a certain one."""
    certain = list(dict.fromkeys((_plain(code), *lookup_keys(code))))
    guessed = list(guessed_keys(code))
    if not guessed or await tx.all(PRODUCTS_OF_CODES, certain):
        return certain
    return guessed if len(await tx.all(PRODUCTS_OF_CODES, guessed)) == 1 else certain


async def products_of(tx: Tx, code: str) -> list[str]:
    """The numbers of the products that have this code, two at most."""
    rows = await tx.all(PRODUCTS_OF_CODES, await asked_keys(tx, code)) if code.strip() else []
    return [row[0] for row in rows]


def _plain(code: str) -> str:
    """The code without the zeros before it."""
    code = code.strip()
    return code.lstrip("0") or code if code.isdecimal() else code
