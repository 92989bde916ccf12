"""Dates and times as the store means them: one that names no zone is in the store's, in which this process works.

A date alone is a day of the store: it begins at its midnight and is over at the next one, also where it has 23 hours or
25. Some fields name a day where their text has a time, too: the pickup of an order, the day a delivery is expected, an
expiry, the end of a sale. Services that send nothing but date-times say such a day by a midnight, of the store or of
UTC; `day_meant` takes both for that day. A midnight of UTC in any other field is a moment like all others.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from aisle.dates import is_date, is_utc_midnight

_DATE_LENGTH = len("2026-11-27")


def parse_time(text: str) -> datetime | None:
    """A date or time (ISO 8601) in the zone of the store; None where it is none."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def to_utc_text(text: str) -> str:
    """A moment in UTC, so that moments can be compared as texts; what is none, in UTC at least, is empty."""
    moment = parse_time(text)
    try:
        said = None if moment is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        said = None
    return "" if said is None else said.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def is_whole_day(text: str) -> bool:
    """Whether it names a day and no time; the midnight at which a day of the store begins stands for that day."""
    moment = parse_time(text)
    return moment is not None and (is_date(text) or moment == start_of_day(moment.date()))


def named_day(text: str) -> date | None:
    """The day that a field says which names a day, by itself or by a midnight (see above); None for any other time."""
    if is_whole_day(text):
        return day_in_store(text)
    return datetime.fromisoformat(text).date() if _is_midnight_of_utc(text) else None


def day_in_store(text: str) -> date | None:
    """The day in the store of a date or time; None where it is none."""
    moment = parse_time(text)
    return None if moment is None else date.fromisoformat(text) if is_date(text) else moment.date()


def start_of_day(day: date) -> datetime:
    """When a day of the store begins."""
    return datetime.combine(day, time()).astimezone()


def start_of_today(now: str) -> datetime:
    """When the day of this moment began."""
    return start_of_day(datetime.fromisoformat(now).astimezone().date())


def to_local_text(text: str) -> str:
    """A field that names a day as it is compared with others of the store: that day, or a time of the store without
    its zone.

    What is neither stays as it is.
    """
    if len(text) <= _DATE_LENGTH:
        return text
    moment = parse_time(text)
    if moment is None:
        return text
    if day := named_day(text):
        return day.isoformat()
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")


def _is_midnight_of_utc(text: str) -> bool:
    try:
        return is_utc_midnight(datetime.fromisoformat(text))
    except ValueError:
        return False
