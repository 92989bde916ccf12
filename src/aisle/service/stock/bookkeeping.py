"""What an entry of the log tells bookkeepers: prices and accounts as they were when it happened (README: The log)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from aisle.service.encode import compact, member
from aisle.service.stock.book import Place, Product

_FIGURES = ("purchase_price", "purchase_unit_quantity")


def bookkeeping(product: Product, quantity: int | None, said: Mapping[str, Any]) -> Iterator[str]:
    """The members of an entry of this product; `said` are members that the entry has anyway."""
    if product.price:
        yield f'"price":{product.price}'
    if product.own_price:
        yield f'"store_products_price":{product.own_price}'
    for name in _FIGURES:
        value = None if name in said else product.told(name)
        if value is not None:
            yield f'"{name}":{compact(value)}'
    yield member("cost_center", product.cost_center or None)
    if quantity:
        # The account of the product is debited with what comes, and credited with what goes.
        side = "debit" if quantity > 0 else "credit"
        yield member(f"general_ledger_{side}", product.told("general_ledger"))


def tag_of(place: Place) -> str:
    """The tags of a place, as a member."""
    return member("location_tag", ",".join(json.loads(place.tags)) or None)
