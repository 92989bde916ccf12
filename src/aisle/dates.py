"""How a text or a moment names a day, for client and service alike: a date alone, or a midnight of UTC."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta


def is_date(text: str) -> bool:
    """Whether a text is a date alone (ISO 8601)."""
    try:
        date.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def is_utc_midnight(moment: datetime) -> bool:
    """Whether a moment is a midnight of UTC: senders that have nothing but date-times say a day by it."""
    return moment.time() == time() and moment.utcoffset() == timedelta()
