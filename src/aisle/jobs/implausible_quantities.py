"""Judges if a quantity is so large that it must be confirmed."""

from __future__ import annotations

from decimal import Decimal

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
