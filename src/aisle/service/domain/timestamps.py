"""Moments as text: UTC, ISO 8601, always the same width, so that they sort as they happened.

What comes in is read as a store means it: a date alone is a day of the store, a time without a zone is the store's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from math import floor
from typing import NamedTuple

from aisle.dates import is_date, is_utc_midnight
from aisle.service.errors import bad_request

_WIDTH = len("2026-05-04T10:20:30.123")

Clock = Callable[[], float]
"""Seconds since 1970, such as `time.time`."""

TimeZone = tzinfo | None
"""The time zone of a store; None for that in which this process works."""


@lru_cache(maxsize=64)
def format_timestamp(seconds: float) -> str:
    """Seconds since 1970 as `2026-05-04T10:20:30.123Z`: of its microseconds, rounded as datetime does it, no part.

    A request asks for its own one several times.
    """
    whole = floor(seconds)
    micro = round((seconds - whole) * 1e6)
    if micro == 1_000_000:
        whole, micro = whole + 1, 0
    return f"{_format_whole_second(whole)}.{micro // 1000:03d}Z"


@lru_cache(maxsize=16)
def _format_whole_second(seconds: int) -> str:
    """A whole second without its zone; every request asks for a few moments, mostly of the same seconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[: len("2026-05-04T10:20:30")]


def parse_timestamp(text: str, field: str, zone: TimeZone = None) -> str:
    """Any ISO 8601 date or time as a moment; a date alone is the beginning of that day. Raises Refusal (400).

    Without a zone it is in that of the store. What a zone would push out of the calendar is held at its edge.
    """
    return _format_datetime_utc(_parse_datetime(text, field), zone)


def parse_start_of_day(text: str, field: str, zone: TimeZone = None) -> str:
    """The same of a field that names a day: a midnight of UTC is the beginning of that day in the store, too."""
    when = _parse_datetime(text, field)
    return _format_datetime_utc(when.replace(tzinfo=None) if is_utc_midnight(when) else when, zone)


def parse_timestamp_or_day(text: str, field: str, zone: TimeZone = None) -> str:
    """The same, but a date alone stays one, as `yyyy-MM-dd`: what is expected on a day is late when the day is over.

    A midnight of UTC is that day: senders that have nothing but date-times say a day by it.
    """
    when = _parse_datetime(text, field)
    return when.date().isoformat() if is_date(text) or is_utc_midnight(when) else _format_datetime_utc(when, zone)


def parse_day(text: str, field: str, zone: TimeZone = None) -> str:
    """A date as `yyyy-MM-dd`; of a time, its day in the store. Raises Refusal (400)."""
    return _format_day(_parse_datetime(text, field), zone)


def day_of_stored_time(text: str, zone: TimeZone = None) -> str:
    """The day in the store of a date or time that was looked at before."""
    try:
        return _format_day(datetime.fromisoformat(text.strip()), zone)
    except ValueError:  # stored before it was looked at
        return text[:10]


def parse_end_of_day(text: str, field: str, zone: TimeZone = None) -> str:
    """The moment at which the day of a date or time is over in the store. Raises Refusal (400)."""
    try:
        following = date.fromisoformat(parse_day(text, field, zone)) + timedelta(days=1)
    except OverflowError:
        return _format_datetime(datetime.max)
    return _format_datetime_utc(datetime(following.year, following.month, following.day), zone)


def day_after_days(seconds: float, days: float, zone: TimeZone = None) -> str:
    """The store's date so many days after a moment, as `yyyy-MM-dd`; held inside the calendar."""
    try:
        return (datetime.fromtimestamp(seconds, UTC).astimezone(zone).date() + timedelta(days=days)).isoformat()
    except OverflowError:
        return "9999-12-31" if days > 0 else "0001-01-01"


def _parse_datetime(text: str, field: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise bad_request(f"{text!r} is not an ISO 8601 date or time.", field) from None


def _format_datetime_utc(when: datetime, zone: TimeZone) -> str:
    try:
        return _format_datetime((when if when.tzinfo or zone is None else when.replace(tzinfo=zone)).astimezone(UTC))
    except (OverflowError, ValueError, OSError):  # the host's own zone raises any of them beyond its years
        return _format_datetime(datetime.min if when.year == 1 else datetime.max)


def _format_day(when: datetime, zone: TimeZone) -> str:
    """A midnight of UTC is the day that it begins there, as for `moment_or_day`."""
    try:
        return (when if when.tzinfo is None or is_utc_midnight(when) else when.astimezone(zone)).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return when.date().isoformat()


def subtract_seconds(timestamp: str, seconds: float) -> str:
    """A moment so many seconds before another one; held inside the calendar."""
    try:
        return _format_datetime(datetime.fromisoformat(timestamp) - timedelta(seconds=seconds))
    except OverflowError:
        return _format_datetime(datetime.min if seconds > 0 else datetime.max)


def _format_datetime(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")[:_WIDTH] + "Z"  # without a zone, if it says one


class TimeZones(NamedTuple):
    """By which time zone each store reads dates and times that name none."""

    default: TimeZone = None
    stores: Mapping[str, TimeZone] = {}

    def zone_of(self, store_number: str | None = None) -> TimeZone:
        """The zone of a store; without one, or where nothing is said of it, that of all."""
        return self.stores.get(store_number, self.default) if store_number else self.default


HOST_TIME_ZONE = TimeZones()
"""All stores live by the time in which this process works."""
