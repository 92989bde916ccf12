"""Moments as text: UTC, ISO 8601, always the same width, so that they sort as they happened.

What comes in is read as a store means it: a date alone is a day of the store, a time without a zone is the store's.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from math import floor

from aisle.days import is_date, is_midnight_of_utc
from aisle.service.answers import malformed

_WIDTH = len("2026-05-04T10:20:30.123")

Clock = Callable[[], float]
"""Seconds since 1970, such as `time.time`."""

Zone = tzinfo | None
"""The time zone of a store; None for that in which this process works."""


@lru_cache(maxsize=64)
def moment(seconds: float) -> str:
    """Seconds since 1970 as `2026-05-04T10:20:30.123Z`: of its microseconds, rounded as datetime does it, no part.

    A request asks for its own one several times.
    """
    whole = floor(seconds)
    micro = round((seconds - whole) * 1e6)
    if micro == 1_000_000:
        whole, micro = whole + 1, 0
    return f"{_second(whole)}.{micro // 1000:03d}Z"


@lru_cache(maxsize=16)
def _second(whole: int) -> str:
    """A whole second without its zone; every request asks for a few moments, mostly of the same seconds."""
    return datetime.fromtimestamp(whole, UTC).isoformat()[: len("2026-05-04T10:20:30")]


def parsed(text: str, field: str, zone: Zone = None) -> str:
    """Any ISO 8601 date or time as a moment; a date alone is the beginning of that day. Raises Refusal (400).

    Without a zone it is in that of the store. What a zone would push out of the calendar is held at its edge.
    """
    return _moment(_read(text, field), zone)


def moment_of_day(text: str, field: str, zone: Zone = None) -> str:
    """The same of a field that names a day: a midnight of UTC is the beginning of that day in the store, too."""
    when = _read(text, field)
    return _moment(when.replace(tzinfo=None) if is_midnight_of_utc(when) else when, zone)


def moment_or_day(text: str, field: str, zone: Zone = None) -> str:
    """The same, but a date alone stays one, as `yyyy-MM-dd`: what is expected on a day is late when the day is over.

    A midnight of UTC is that day: senders that have nothing but date-times say a day by it.
    """
    when = _read(text, field)
    return when.date().isoformat() if is_date(text) or is_midnight_of_utc(when) else _moment(when, zone)


def day(text: str, field: str, zone: Zone = None) -> str:
    """A date as `yyyy-MM-dd`; of a time, its day in the store. Raises Refusal (400)."""
    return _day(_read(text, field), zone)


def day_of(text: str, zone: Zone = None) -> str:
    """The day in the store of a date or time that was looked at before."""
    try:
        return _day(datetime.fromisoformat(text.strip()), zone)
    except ValueError:  # stored before it was looked at
        return text[:10]


def day_after(text: str, field: str, zone: Zone = None) -> str:
    """The moment at which the day of a date or time is over in the store. Raises Refusal (400)."""
    try:
        following = date.fromisoformat(day(text, field, zone)) + timedelta(days=1)
    except OverflowError:
        return _text(datetime.max)
    return _moment(datetime(following.year, following.month, following.day), zone)


def shifted(seconds: float, days: float, zone: Zone = None) -> str:
    """The store's date so many days after a moment, as `yyyy-MM-dd`; held inside the calendar."""
    try:
        return (datetime.fromtimestamp(seconds, UTC).astimezone(zone).date() + timedelta(days=days)).isoformat()
    except OverflowError:
        return "9999-12-31" if days > 0 else "0001-01-01"


def _read(text: str, field: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise malformed(f"{text!r} is not an ISO 8601 date or time.", field) from None


def _moment(when: datetime, zone: Zone) -> str:
    try:
        return _text((when if when.tzinfo or zone is None else when.replace(tzinfo=zone)).astimezone(UTC))
    except (OverflowError, ValueError, OSError):  # the host's own zone raises any of them beyond its years
        return _text(datetime.min if when.year == 1 else datetime.max)


def _day(when: datetime, zone: Zone) -> str:
    """A midnight of UTC is the day that it begins there, as for `moment_or_day`."""
    try:
        return (when if when.tzinfo is None or is_midnight_of_utc(when) else when.astimezone(zone)).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return when.date().isoformat()


def earlier(when: str, seconds: float) -> str:
    """A moment so many seconds before another one; held inside the calendar."""
    try:
        return _text(datetime.fromisoformat(when) - timedelta(seconds=seconds))
    except OverflowError:
        return _text(datetime.min if seconds > 0 else datetime.max)


def _text(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")[:_WIDTH] + "Z"  # without a zone, if it says one
