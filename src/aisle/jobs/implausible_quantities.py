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
    `limit` if nothing is expected; seven digits always are.

    `entered` was entered before and is plausible, and so is what is not far above it if `entered` itself is far more
    than expected. A scan adds to it: it is implausible only if what it adds (`added`) is more than expected, and later
    only if that is far more, or at least `limit`.
    """
    if value <= entered:
        return False
    if value >= ALWAYS_ASKED_FROM:
        return True
    is_large = bool(limit) and (value if added is None else added) >= limit
    if expected <= 0:
        return bool(limit) and value >= limit and (is_large or value > IMPLAUSIBLE_FACTOR * entered)
    usual = IMPLAUSIBLE_FACTOR * expected
    if value <= usual:
        return False
    is_far_before = entered > usual
    if added is None:
        return is_large or not is_far_before or value > IMPLAUSIBLE_FACTOR * entered
    return is_large or added > (usual if is_far_before else expected)


def is_implausible_sum(value: Decimal, expected: Decimal, limit: Decimal, entered: Decimal, scanned: Decimal) -> bool:
    """Return True if a typed quantity, or the sum after `scanned` more, must be confirmed."""
    if scanned == 1:
        return is_implausible_scan(value, max(expected, entered), limit)
    return is_implausible(value, expected, limit, entered, scanned or None)


def is_implausible_scan(value: Decimal, known: Decimal, limit: Decimal) -> bool:
    """Return True if the sum of single scans must be confirmed. One more piece is plausible while the sum is below
    `limit`."""
    return value >= ALWAYS_ASKED_FROM or (bool(limit) and value >= limit and value > IMPLAUSIBLE_FACTOR * known)
