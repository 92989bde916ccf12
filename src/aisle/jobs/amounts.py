"""Amounts as rows of the store have them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

FARTHEST = 30
"""So many digits before or behind the point a number may have, and be reckoned with and written out."""


def number(value: Any, default: Decimal = Decimal(0)) -> Decimal:
    """A number of the store's data as Decimal; whatever is missing, no number or beyond all reckoning gives the
    default."""
    if value is None or isinstance(value, bool):
        return default
    try:
        found = value if isinstance(value, Decimal) else Decimal(str(value))
    except ArithmeticError:
        return default
    return found if found.is_finite() and -FARTHEST <= found.adjusted() <= FARTHEST else default


def said(value: Any) -> Decimal | None:
    """The same; None where it is missing."""
    return None if value is None else number(value)


def far(row: Mapping[str, Any]) -> tuple[Decimal, Decimal]:
    """(picked, ordered) of an order; in pieces where some of it is measured, for kilos and pieces have no sum."""
    if "pieces" in row:
        return number(row["picked_pieces"]), number(row["pieces"])
    return number(row.get("picked_quantity")), number(row.get("total_quantity"))
