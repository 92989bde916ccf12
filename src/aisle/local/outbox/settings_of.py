"""What a store says of a product (`update-store-products`), as courier, overlay and cards compare it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs.chain.store_product_fields import BASE, FIELDS, said_of, values_of

SEEN = BASE
"""In an item: what its fields stood at for the person who changed them."""

__all__ = ["SEEN", "laid", "said_of", "values_of", "without_base"]


def without_base(items: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The items as they are sent."""
    return [{name: item[name] for name in item if name != SEEN} for item in items]


def laid(stock: dict[str, Any], item: Mapping[str, Any]) -> None:
    """A stock entry, changed in place to what an item says."""
    for field in FIELDS:
        if field.name in item:
            value = item[field.name]
            stock[field.shown] = ",".join(value) if isinstance(value, list | tuple) else value
