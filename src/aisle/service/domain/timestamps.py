"""Timestamps as text: UTC, ISO 8601, of fixed width, so that they sort by time.

Dates and times of requests are read in the store's time zone. A date is a day of the store, a time without a zone is
local.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from math import floor
from typing import NamedTuple
from zoneinfo import ZoneInfo

from aisle.row_values import is_date, is_utc_midnight
from aisle.service.errors import bad_request

_WIDTH = len("2026-05-04T10:20:30.123")

Clock = Callable[[], float]
"""Clock that returns seconds since 1970, such as `time.time`."""

TimeZone = tzinfo | None
"""Time zone of a store; None is the zone of this process."""


@lru_cache(maxsize=64)
def format_timestamp(seconds: float) -> str:
    """Format seconds since 1970 as `2026-05-04T10:20:30.123Z`.

    Microseconds are rounded as datetime does, then cut to milliseconds. The result is cached, since a request formats
    its own time several times.
    """
    whole = floor(seconds)
    micro = round((seconds - whole) * 1e6)
    if micro == 1_000_000:
        whole, micro = whole + 1, 0
    return f"{_format_whole_second(whole)}.{micro // 1000:03d}Z"


@lru_cache(maxsize=16)
def _format_whole_second(seconds: int) -> str:
    """Format a whole second without zone. It is cached, since requests format few different seconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[: len("2026-05-04T10:20:30")]


def parse_timestamp(text: str, field: str, zone: TimeZone = None) -> str:
    """Parse an ISO 8601 date or time into a timestamp; a date is the start of its day. Raise Refusal (400).

    Without a zone it is in the store's. A result outside the calendar becomes its first or last moment.
    """
    return _format_datetime_utc(_parse_datetime(text, field), zone)


def parse_start_of_day(text: str, field: str, zone: TimeZone = None) -> str:
    """Parse a date or time of a field that names a day. Midnight UTC is the start of that day in the store, too."""
    parsed = _parse_datetime(text, field)
    return _format_datetime_utc(parsed.replace(tzinfo=None) if is_utc_midnight(parsed) else parsed, zone)


def parse_timestamp_or_day(text: str, field: str, zone: TimeZone = None) -> str:
    """Parse a date or time into a timestamp, but keep a date as `yyyy-MM-dd`, which is late when the day is over.

    Midnight UTC is that date, since some senders have only date-times.
    """
    parsed = _parse_datetime(text, field)
    return parsed.date().isoformat() if is_date(text) or is_utc_midnight(parsed) else _format_datetime_utc(parsed, zone)


def parse_day(text: str, field: str, zone: TimeZone = None) -> str:
    """Parse a date or time into `yyyy-MM-dd` in the store's zone. Raise Refusal (400) if it is invalid."""
    return _format_day(_parse_datetime(text, field), zone)


def day_of_stored_time(text: str, zone: TimeZone = None) -> str:
    """Return the day in the store of a stored date or time."""
    try:
        return _format_day(datetime.fromisoformat(text.strip()), zone)
    except ValueError:  # Stored before it was validated.
        return text[:10]


def parse_end_of_day(text: str, field: str, zone: TimeZone = None) -> str:
    """Return the end of the day of a date or time in the store. Raise Refusal (400) if it is invalid."""
    try:
        following = date.fromisoformat(parse_day(text, field, zone)) + timedelta(days=1)
    except OverflowError:
        return _format_datetime(datetime.max)
    return _format_datetime_utc(datetime(following.year, following.month, following.day), zone)


def day_after_days(seconds: float, days: float, zone: TimeZone = None) -> str:
    """Return the store's date this many days after a moment, as `yyyy-MM-dd`, limited to the calendar."""
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
    except (OverflowError, ValueError, OSError):  # The host's zone raises any of these outside its years.
        return _format_datetime(datetime.min if when.year == 1 else datetime.max)


def _format_day(when: datetime, zone: TimeZone) -> str:
    """Format the day in the zone. Midnight UTC is the day that begins there, as for `parse_timestamp_or_day`."""
    try:
        return (when if when.tzinfo is None or is_utc_midnight(when) else when.astimezone(zone)).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return when.date().isoformat()


def subtract_seconds(timestamp: str, seconds: float) -> str:
    """Return the timestamp this many seconds earlier, limited to the calendar."""
    try:
        return _format_datetime(datetime.fromisoformat(timestamp) - timedelta(seconds=seconds))
    except OverflowError:
        return _format_datetime(datetime.min if seconds > 0 else datetime.max)


def _format_datetime(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")[:_WIDTH] + "Z"  # Cuts the zone off.


class TimeZones(NamedTuple):
    """Time zones by which each store's dates and times without a zone are read."""

    default: TimeZone = None
    stores: Mapping[str, TimeZone] = {}

    def zone_of(self, store_number: str | None = None) -> TimeZone:
        """Return the time zone of a store, or the default."""
        return self.stores.get(store_number, self.default) if store_number else self.default


HOST_TIME_ZONE = TimeZones()
"""Time zone of this process for all stores."""


def zone_header(zone: TimeZone) -> dict[str, str]:
    """Return the header of an answer that names the zone, if it has a name."""
    return {"Aisle-Time-Zone": zone.key} if type(zone) is ZoneInfo and zone.key else {}
