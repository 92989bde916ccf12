"""Moments as text: UTC, ISO 8601, always the same width, so that they sort as they happened."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from math import floor

from aisle.service.answers import malformed

_WIDTH = len("2026-05-04T10:20:30.123")

Clock = Callable[[], float]
"""Seconds since 1970, such as `time.time`."""


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


def parsed(text: str, field: str) -> str:
    """Any ISO 8601 date or time in the one form; without a zone it is UTC. Raises Refusal (400).

    What its zone would push out of the calendar is held at its edge.
    """
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        raise malformed(f"{text!r} is not an ISO 8601 date or time.", field) from None
    try:
        return _text(when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC))
    except OverflowError:
        return _text(datetime.min if when.year == 1 else datetime.max)


def day(text: str, field: str) -> str:
    """A date as `yyyy-MM-dd`; of a time, its UTC date. Raises Refusal (400)."""
    return parsed(text, field)[:10]


def written_day(text: str) -> str:
    """The day that a date or time names, as it is written there: who comes for goods goes by his own calendar."""
    try:
        return datetime.fromisoformat(text.strip()).date().isoformat()
    except ValueError:  # stored before it was looked at
        return text[:10]


def following_day(text: str) -> str:
    """The day after a `yyyy-MM-dd`."""
    return (date.fromisoformat(text) + timedelta(days=1)).isoformat()


def shifted(seconds: float, days: float) -> str:
    """The UTC date so many days after a moment, as `yyyy-MM-dd`; held inside the calendar."""
    try:
        return (datetime.fromtimestamp(seconds, UTC) + timedelta(days=days)).date().isoformat()
    except OverflowError:
        return "9999-12-31" if days > 0 else "0001-01-01"


def earlier(when: str, seconds: float) -> str:
    """A moment so many seconds before another one; held inside the calendar."""
    try:
        return _text(datetime.fromisoformat(when) - timedelta(seconds=seconds))
    except OverflowError:
        return _text(datetime.min if seconds > 0 else datetime.max)


def _text(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")[:_WIDTH] + "Z"  # without a zone, if it says one
