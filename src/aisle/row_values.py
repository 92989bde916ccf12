"""Values in rows of the interface: numbers as Decimal, and dates without a time."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
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


def is_date(text: str) -> bool:
    """Return True if a text is a date alone (ISO 8601)."""
    try:
        date.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def is_utc_midnight(moment: datetime) -> bool:
    """Return True if a time is midnight UTC, which senders with date-times only use for a day."""
    return moment.time() == time() and moment.utcoffset() == timedelta()
