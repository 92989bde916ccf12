"""Dates in texts and times, for client and service: a date alone, or midnight UTC."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta


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
