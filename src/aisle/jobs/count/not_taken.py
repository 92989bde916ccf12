"""Entries of the log that the service refused: they changed nothing, and of them there is nothing to take back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aisle.jobs.base import Query
from aisle.jobs.told import words
from aisle.jobs.view import WRONG, Verdict, msg

NOT_TAKEN = "not_taken"
"""The id of the query for them."""

Rows = tuple[Mapping[str, Any], ...]


def asked(moments: Iterable[str]) -> Query:
    """Asks what was refused of entries that were said at these moments, or later."""
    args = {"operation": "create-store-product-logs", "since": min(moments)}
    return Query(NOT_TAKEN, "refusals", args)


def refused(rows: Rows, product: str, moment: str) -> Mapping[str, Any] | None:
    """The refusal of the entry of this product and moment; None where there is none."""
    for row in rows:
        for entry in row["body"].get("storeproductlog") or ():
            if (entry.get("product_number"), entry.get("scanned_datetime")) == (product, moment):
                return row
    return None


def told(row: Mapping[str, Any]) -> Verdict:
    """Why it was refused."""
    return Verdict(WRONG, msg("receive.refused", why=words(str(row["why"])), label=str(row["label"])))
