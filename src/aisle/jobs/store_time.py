"""Dates and times as the store means them: one that names no zone is in the store's, in which this process works.

A date alone is a day of the store: it begins at its midnight and is over at the next one, also where it has 23 hours or
25.
"""

from __future__ import annotations

from datetime import date, datetime, time

_DATE = len("2026-11-27")


def read(text: str) -> datetime | None:
    """A date or time (ISO 8601) in the zone of the store; None where it is none."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def is_day(text: str) -> bool:
    """Whether it names a day and no time; the midnight at which a day of the store begins stands for that day."""
    moment = read(text)
    return moment is not None and (_is_date(text) or moment == midnight_of(moment.date()))


def day_of(text: str) -> date | None:
    """The day in the store of a date or time; None where it is none."""
    moment = read(text)
    return None if moment is None else date.fromisoformat(text) if _is_date(text) else moment.date()


def midnight_of(day: date) -> datetime:
    """When a day of the store begins."""
    return datetime.combine(day, time()).astimezone()


def midnight(now: str) -> datetime:
    """When the day of this moment began."""
    return midnight_of(datetime.fromisoformat(now).astimezone().date())


def local(text: str) -> str:
    """A date or time as it is compared with others of the store: a date alone, or a time of the store without its zone.

    What is neither stays as it is.
    """
    if len(text) <= _DATE:
        return text
    moment = read(text)
    if moment is None:
        return text
    if is_day(text):
        return moment.date().isoformat()
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
