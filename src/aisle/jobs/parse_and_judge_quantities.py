"""Quantities: parsed from rows, and judged if they are plausible."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

MAX_DIGITS = 30
"""Most digits before or after the decimal point of a number that can be used in calculations and be written out."""


def to_decimal(value: Any, default: Decimal = Decimal(0)) -> Decimal:
    """Return a number of the store's data as Decimal. Missing, invalid and extreme values give the default."""
    if value is None or isinstance(value, bool):
        return default
    try:
        found = value if isinstance(value, Decimal) else Decimal(str(value))
    except ArithmeticError:
        return default
    return found if found.is_finite() and -MAX_DIGITS <= found.adjusted() <= MAX_DIGITS else default


def to_decimal_or_none(value: Any) -> Decimal | None:
    """Return the same; None if it is missing."""
    return None if value is None else to_decimal(value)


IMPLAUSIBLE_FACTOR = Decimal(10)
"""Factor above the expected quantity from which a confirmation is asked."""

ALWAYS_ASKED_FROM = Decimal(10**6)
"""Quantity from which a confirmation is always asked."""

DROP_QUANTITY = "not_so_many"
"""Kind of the choice that drops the quantity in question."""


def is_implausible(
    value: Decimal, expected: Decimal, limit: Decimal, entered: Decimal = Decimal(0), added: Decimal | None = None
) -> bool:
    """Return True if a quantity must be confirmed. It is implausible if it is far more than `expected`, or at least
    `limit` if nothing is expected; seven digits always are. Values up to `entered` are plausible, and so are those not
    far above it, unless at least `limit` was entered at once (`added`: by a scan, which adds to the others)."""
    if value <= entered:
        return False
    if value >= ALWAYS_ASKED_FROM:
        return True
    is_large = bool(limit) and (value if added is None else added) >= limit
    if value <= IMPLAUSIBLE_FACTOR * entered and not is_large:
        return False
    return value > IMPLAUSIBLE_FACTOR * expected if expected > 0 else bool(limit) and value >= limit


def is_implausible_scan(value: Decimal, known: Decimal, limit: Decimal) -> bool:
    """Return True if the sum of single scans must be confirmed. One more piece is plausible while the sum is below
    `limit`."""
    return value >= ALWAYS_ASKED_FROM or (bool(limit) and value >= limit and value > IMPLAUSIBLE_FACTOR * known)
